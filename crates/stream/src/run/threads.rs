//! Threads for learners: used for members of a mixture, and for large matrix products.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use noregret::parallel::{Parallel, Workers};
use rayon::{ThreadPool, ThreadPoolBuilder};

pub use crate::ahead::processors;

/// The calling thread and a pool, whose threads spin for a while when idle, since there is new work
/// every few microseconds.
struct Threads(Arc<ThreadPool>);

impl Parallel for Threads {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let threads = self.0.current_num_threads().min(pieces);
        self.0.install(|| share(threads, pieces, &next, piece));
    }
}

/// A pool for callers on several threads, which works for one of them at a time.
struct Shared {
    pool: Threads,
    /// Held by the caller that it works for.
    used: Mutex<()>,
}

impl Parallel for Shared {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        // Parts of a piece belong to the same caller.
        if self.pool.0.current_thread_index().is_some() {
            return self.pool.run(pieces, piece);
        }
        let used = self.used.try_lock();
        match used {
            // In its queue, a few microseconds of work would wait for all of the other caller's.
            Err(TryLockError::WouldBlock) => (0..pieces).for_each(piece),
            Ok(_) | Err(TryLockError::Poisoned(_)) => self.pool.run(pieces, piece),
        }
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
    pool.map_or_else(|_| Workers::default(), |pool| Workers::new(Threads(Arc::new(pool))))
}

/// As [`workers`], for callers on several threads: none of them belongs to the pool, and one of them waits
/// while its pieces are run there. Whoever comes meanwhile runs its pieces itself.
pub fn shared_workers(threads: usize) -> Workers {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("learner {at}"));
    let pool = (threads > 1).then(|| builder.build().ok()).flatten();
    pool.map_or_else(Workers::default, |pool| {
        Workers::new(Shared { pool: Threads(Arc::new(pool)), used: Mutex::new(()) })
    })
}

/// Calls `work` on one of `threads` new threads, with all of them as its workers, while the calling
/// thread waits and calls `meanwhile` every `interval`. Without new threads, if `threads` is below 2
/// or the system cannot start any, the calling thread does all work, and `meanwhile` is not called.
///
/// For calls within a longer program: the calling thread belongs to no pool afterwards.
pub fn on_threads<T: Send>(
    threads: usize,
    interval: Duration,
    work: impl FnOnce(Workers) -> T + Send,
    mut meanwhile: impl FnMut(),
) -> T {
    let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten();
    let Some(pool) = pool.map(Arc::new) else { return work(Workers::default()) };
    let workers = Workers::new(Threads(Arc::clone(&pool)));
    let (done, is_done) = mpsc::channel::<()>();
    let mut out = None;
    let place = &mut out;
    pool.in_place_scope(|scope| {
        scope.spawn(move |_| {
            // Dropped at the end, even of a panic, which the scope passes on.
            let _done = done;
            *place = Some(work(workers));
        });
        while is_done.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            meanwhile();
        }
    });
    out.expect("the scope has waited for the work")
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    use super::*;

    #[test]
    fn every_piece_is_run_once() {
        for threads in 1..4 {
            let mut counts = [0; 10];
            workers(threads).each(counts.iter_mut(), |count| *count += 1);
            assert_eq!(counts, [1; 10], "{threads} threads");
        }
    }

    #[test]
    fn threads_are_shared_by_several_callers() {
        for threads in 1..4 {
            let (shared, mut lists) = (shared_workers(threads), [[0; 10]; 3]);
            std::thread::scope(|scope| {
                for list in &mut lists {
                    let shared = &shared;
                    scope.spawn(move || shared.each(list.iter_mut(), |count| *count += 1));
                }
            });
            assert_eq!(lists, [[1; 10]; 3], "{threads} threads");
        }
    }

    #[test]
    fn nobody_waits_for_the_work_of_another() {
        let (shared, all_busy, done) = (shared_workers(2), Barrier::new(3), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                shared.each(0..2, |_| {
                    all_busy.wait();
                    while !done.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
            });
            all_busy.wait();
            let other = scope.spawn(|| {
                let mut counts = [0; 10];
                shared.each(counts.iter_mut(), |count| *count += 1);
                counts
            });
            let begun = Instant::now();
            while !other.is_finished() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::yield_now();
            }
            let waited = !other.is_finished();
            done.store(true, Ordering::Release);
            assert_eq!(other.join().expect("no panic"), [1; 10]);
            assert!(!waited, "it waited for the other's work");
        });
    }

    #[test]
    fn work_on_other_threads_is_waited_for() {
        for threads in 1..4 {
            let (mut counts, mut waits) = ([0; 10], 0);
            let here = std::thread::current().id();
            let away = on_threads(
                threads,
                Duration::from_millis(1),
                |workers| {
                    workers.each(counts.iter_mut(), |count| *count += 1);
                    std::thread::sleep(Duration::from_millis(20));
                    std::thread::current().id() != here
                },
                || waits += 1,
            );
            assert_eq!((counts, away, waits > 0), ([1; 10], threads > 1, threads > 1), "{threads} threads");
        }
    }

    #[test]
    #[should_panic = "at work"]
    fn a_panic_at_work_is_passed_on() {
        on_threads(2, Duration::from_secs(1), |_| panic!("at work"), || ());
    }

    /// Products within a member use the same threads.
    #[test]
    fn pieces_may_be_nested() {
        let (workers, mut counts) = (workers(2), [[0; 5]; 7]);
        workers.each(counts.iter_mut(), |row| workers.each(row.iter_mut(), |count| *count += 1));
        assert_eq!(counts, [[1; 5]; 7]);
    }
}
