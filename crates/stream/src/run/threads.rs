//! Threads that are lent to learners, for their largest matrix products.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use noregret::parallel::{Parallel, Workers};

struct Threads(usize);

impl Parallel for Threads {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || {
            while let at = next.fetch_add(1, Ordering::Relaxed)
                && at < pieces
            {
                piece(at);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.0.min(pieces) {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// Among how many threads, the calling one included, work is shared. They are started for every piece of work
/// that is split, which takes some tens of microseconds.
pub fn workers(threads: usize) -> Workers {
    if threads < 2 { Workers::default() } else { Workers::new(Threads(threads)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_run_once() {
        for threads in 1..4 {
            let mut counts = [0; 10];
            workers(threads).each(counts.iter_mut(), |count| *count += 1);
            assert_eq!(counts, [1; 10], "{threads} threads");
        }
    }
}
