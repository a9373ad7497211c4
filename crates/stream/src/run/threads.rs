//! Threads for learners: used for members of a mixture, and for large matrix products.

use std::sync::atomic::{AtomicUsize, Ordering};

use noregret::parallel::{Parallel, Workers};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The calling thread and a pool, whose threads spin for a while when idle, since there is new work
/// every few microseconds.
struct Threads(ThreadPool);

impl Parallel for Threads {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let threads = self.0.current_num_threads().min(pieces);
        self.0.install(|| share(threads, pieces, &next, piece));
    }
}

/// Calls `piece` with each number below `pieces` once, on `threads` threads, each of which takes
/// the next free number.
fn share(threads: usize, pieces: usize, next: &AtomicUsize, piece: &(dyn Fn(usize) + Sync)) {
    if threads > 1 {
        let half = threads / 2;
        rayon::join(|| share(threads - half, pieces, next, piece), || share(half, pieces, next, piece));
        return;
    }
    while let at = next.fetch_add(1, Ordering::Relaxed)
        && at < pieces
    {
        piece(at);
    }
}

/// Sets the number of threads, the calling one included. They are started once; if the system
/// cannot start any, the calling thread does all work.
pub fn workers(threads: usize) -> Workers {
    if threads < 2 {
        return Workers::default();
    }
    // The calling thread joins the pool, unless it belongs to another one already.
    let builder = || ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("learner {at}"));
    let pool = builder().use_current_thread().build().or_else(|_| builder().build());
    pool.map_or_else(|_| Workers::default(), |pool| Workers::new(Threads(pool)))
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

    /// Products within a member use the same threads.
    #[test]
    fn pieces_may_be_nested() {
        let (workers, mut counts) = (workers(2), [[0; 5]; 7]);
        workers.each(counts.iter_mut(), |row| workers.each(row.iter_mut(), |count| *count += 1));
        assert_eq!(counts, [[1; 5]; 7]);
    }
}
