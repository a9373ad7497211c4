//! Threads that are lent to learners: members of a mixture, and the largest matrix products.

use std::sync::atomic::{AtomicUsize, Ordering};

use noregret::parallel::{Parallel, Workers};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The calling thread and others that wait for work, a while awake, since a round brings it every few
/// microseconds.
struct Threads(ThreadPool);

impl Parallel for Threads {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let threads = self.0.current_num_threads().min(pieces);
        self.0.install(|| share(threads, pieces, &next, piece));
    }
}

/// On each of `threads` threads, calls `piece` with the numbers below `pieces` that no thread has taken, in
/// order.
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

/// Among how many threads, the calling one included, work is shared. They are started once; where the system
/// gives none, all is done by the calling thread.
pub fn workers(threads: usize) -> Workers {
    if threads < 2 {
        return Workers::default();
    }
    // The caller takes part, unless it belongs to another such pool already.
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

    /// A member's products are shared by the threads that share members.
    #[test]
    fn pieces_have_pieces_of_their_own() {
        let (workers, mut counts) = (workers(2), [[0; 5]; 7]);
        workers.each(counts.iter_mut(), |row| workers.each(row.iter_mut(), |count| *count += 1));
        assert_eq!(counts, [[1; 5]; 7]);
    }
}
