//! Parallel work. This crate starts no threads: the caller provides them.
//!
//! How work is split never depends on the number of threads, and pieces write to separate memory,
//! so that results are bit-equal for every number of threads.
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

/// Number of items that are collected before they are worked on.
const AT_ONCE: usize = 64;

/// Runs pieces of work on threads.
pub trait Parallel: Send + Sync {
    /// Calls `piece` with every number below `pieces`, once each, and returns after all calls. The most
    /// expensive pieces have the lowest numbers, so that the calls should start in order.
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync));
}

/// A handle to threads that run pieces of work, cheap to copy. The default runs the pieces one after another.
#[derive(Clone, Default)]
pub struct Workers(Option<Arc<dyn Parallel>>);

impl Workers {
    /// No threads but the caller's.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A handle to `parallel`.
    pub fn new(parallel: impl Parallel + 'static) -> Self {
        Self(Some(Arc::new(parallel)))
    }

    /// Whether there are threads besides the caller's.
    pub fn are_several(&self) -> bool {
        self.0.is_some()
    }

    /// Calls `work` with every one of `items`; by default in order and in this thread. Allocates no memory.
    pub fn each<T: Send>(&self, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        self.each_by_cost(items.map(|item| (0.0, item)), work);
    }

    /// As [`Workers::each`], for items with their costs, in any unit: with threads, the most expensive items
    /// are first, so that all threads finish at nearly the same time.
    pub fn each_by_cost<T: Send>(&self, items: impl Iterator<Item = (f64, T)>, work: impl Fn(T) + Sync) {
        let Some(parallel) = &self.0 else { return items.for_each(|(_, item)| work(item)) };
        let mut items = items.fuse();
        loop {
            let (mut pieces, mut costs) = (0, [0.0; AT_ONCE]);
            // Every item is taken by the one call that has its number.
            let places: [_; AT_ONCE] = std::array::from_fn(|at| {
                Mutex::new(items.next().map(|(cost, item)| {
                    (pieces, costs[at]) = (at + 1, cost);
                    item
                }))
            });
            let mut order: [usize; AT_ONCE] = std::array::from_fn(|at| at);
            order[..pieces].sort_unstable_by(|a, b| costs[*b].total_cmp(&costs[*a]).then(a.cmp(b)));
            let take = |at: usize| places[order[at]].lock().unwrap_or_else(PoisonError::into_inner).take();
            match pieces {
                0 => return,
                1 => take(0).into_iter().for_each(&work),
                _ => parallel.run(pieces, &|at| take(at).into_iter().for_each(&work)),
            }
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
            for len in [0, 1, 2, 6, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE + 3] {
                let mut counts = vec![0; len];
                let counted: Vec<_> = counts.iter_mut().enumerate().collect();
                Workers::new(Threads(threads)).each(counted.into_iter(), |(at, count)| *count += at + 1);
                assert_eq!(counts, (1..=len).collect::<Vec<_>>(), "{threads} threads");
            }
        }
    }
}
