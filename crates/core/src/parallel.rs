//! Work that may be shared among threads. This crate starts no threads: its caller lends them.
//!
//! What is split, and how, never depends on how many threads there are, and pieces write to places of their
//! own. So results are the same to the bit whichever thread runs them, and however many at a time.
//!
//! ```
//! use noregret::parallel::{Parallel, Workers};
//!
//! struct Two;
//!
//! impl Parallel for Two {
//!     fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
//!         std::thread::scope(|scope| {
//!             scope.spawn(|| (0..pieces).step_by(2).for_each(piece));
//!             (1..pieces).step_by(2).for_each(piece);
//!         });
//!     }
//! }
//!
//! let mut numbers = [1.0, 2.0, 3.0];
//! Workers::new(Two).each(numbers.iter_mut(), |number| *number *= 2.0);
//! assert_eq!(numbers, [2.0, 4.0, 6.0]);
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs pieces of work on threads.
pub trait Parallel: Send + Sync {
    /// Calls `piece` with every number below `pieces`, once each, in any order, and returns when all calls
    /// have.
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync));
}

/// A handle to the threads that run pieces of work, cheap to copy. The default runs them one after the other.
#[derive(Clone, Default)]
pub struct Workers(Option<Arc<dyn Parallel>>);

impl Workers {
    /// A handle to `parallel`.
    pub fn new(parallel: impl Parallel + 'static) -> Self {
        Self(Some(Arc::new(parallel)))
    }

    /// Calls `work` with every one of `items`; with the default in order and in this thread, without taking
    /// memory.
    pub fn each<T: Send>(&self, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        let Some(parallel) = &self.0 else { return items.for_each(work) };
        // Every piece is taken out of its place by the one call that has its number.
        let items: Vec<_> = items.map(|item| Mutex::new(Some(item))).collect();
        let take = |at: usize| items[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        match items.len() {
            0 => {}
            1 => take(0).into_iter().for_each(work),
            pieces => parallel.run(pieces, &|at| take(at).into_iter().for_each(&work)),
        }
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Workers(lent)" } else { "Workers(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Threads;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in 1..5 {
            for len in 0..7 {
                let mut counts = vec![0; len];
                let counted: Vec<_> = counts.iter_mut().enumerate().collect();
                Workers::new(Threads(threads)).each(counted.into_iter(), |(at, count)| *count += at + 1);
                assert_eq!(counts, (1..=len).collect::<Vec<_>>(), "{threads} threads");
            }
        }
    }
}
