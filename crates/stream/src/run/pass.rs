//! Many runs over one pass of the data: every row is read once, and every run has the same result
//! as alone.
//!
//! A run is the unchanged loop of [`run`] or [`run_bandit`], on a separate thread that takes its
//! examples from shared batches; the calling thread reads. A run that fails ends, the others go on.
//! The caller limits the number of threads
//! that work at a time; the others wait for a batch or for their turn, so that slow and fast
//! learners share the cores without being assigned to them. Only the examples are shared, so
//! results are bit-equal to those of separate runs, for any number of threads. Additional memory: a
//! few batches of about a MiB for each encoder.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use noregret::algorithm::AnyModel;

use crate::encode::Example;
use crate::encode::examples::Examples;
use crate::read::error::ReadError;
use crate::run::bandit::{Play, run_bandit};
use crate::run::feed::{Batch, Feed};
use crate::run::full::{RunError, Sink, run};
use crate::run::options::RunOptions;
use crate::run::score::Score;

/// Number of batches that a run may be behind.
const WAITING: usize = 2;

/// One of the runs of a pass.
pub struct Entrant<S> {
    /// The learner.
    pub learner: AnyModel,
    /// Which encoder of the [`Feed`] makes its examples.
    pub encoder: usize,
    /// Its options.
    pub options: RunOptions,
    /// Under bandit feedback, the floor under the probabilities of labels, see [`Play::floor`].
    pub floor: f64,
    /// Its observer.
    pub sink: S,
}

/// A finished run.
pub struct Finished<S> {
    /// The trained learner.
    pub learner: AnyModel,
    /// Its scores.
    pub score: Score,
    /// Its observer.
    pub sink: S,
    /// Its working time by the clock of [`PassOptions`], without reading and waiting.
    pub worked: Duration,
}

/// Options of a pass.
pub struct PassOptions<'a> {
    /// Number of runs that work at a time, at least 1. Does not affect results.
    pub threads: usize,
    /// A clock: time since an arbitrary moment.
    pub clock: &'a (dyn Fn() -> Duration + Sync),
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The data could not be read.
    #[error(transparent)]
    Read(ReadError),
    /// The system cannot start enough threads.
    #[error("there are not enough threads for {0} runs: {1}")]
    Threads(usize, #[source] io::Error),
}

/// Runs all of `entrants` over the rows of `feed`, and returns them in order, with the error of each
/// that could not go on. `progress` is called with the number of rows of each batch when it is read,
/// slightly ahead of the runs.
///
/// # Panics
/// If one of them is an expert learner without rows.
///
/// # Errors
/// If the data cannot be read. It does not depend on the threads.
pub fn pass<S: Sink + Send>(
    feed: &mut Feed,
    entrants: Vec<Entrant<S>>,
    options: &PassOptions<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Result<Finished<S>, RunError>>, PassError> {
    let turns = Turns { free: Mutex::new(options.threads.max(1)), given: Condvar::new() };
    let failed = &AtomicUsize::new(0);
    let count = entrants.len();
    let encoders: Vec<usize> = entrants.iter().map(|entrant| entrant.encoder).collect();
    let (fed, mut runs) = thread::scope(|scope| -> Result<_, PassError> {
        let (mut senders, mut threads) = (Vec::new(), Vec::new());
        for entrant in entrants {
            let (sender, batches) = sync_channel(WAITING);
            let turn = Turn { turns: &turns, clock: options.clock, since: None, worked: Duration::ZERO };
            let share = Share { batches, batch: Arc::default(), at: 0, encoder: entrant.encoder, turn };
            // Without senders, the started threads end.
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || entrant.learn(share, failed))
                .map_err(|error| PassError::Threads(count, error))?;
            senders.push(sender);
            threads.push(thread);
        }
        let fed = send(feed, senders, failed, progress);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok((fed, threads.into_iter().map(join).collect::<Vec<_>>()))
    })?;
    fed.map_err(PassError::Read)?;
    // A run whose encoder has ended has not seen all rows.
    for (run, encoder) in runs.iter_mut().zip(encoders) {
        if let (Ok(_), Some(error)) = (&run, &feed.encodings[encoder].refused) {
            *run = Err(RunError::Refused(error.to_string()));
        }
    }
    Ok(runs)
}

/// Reads until the end, an error, or the failure of all runs, and sends every batch to all.
fn send(
    feed: &mut Feed,
    senders: Vec<SyncSender<Arc<Batch>>>,
    failed: &AtomicUsize,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ReadError> {
    let mut pool: Vec<Arc<Batch>> = Vec::new();
    loop {
        let free = pool.iter().position(|batch| Arc::strong_count(batch) == 1);
        let mut batch = free.map_or_else(Arc::default, |at| pool.swap_remove(at));
        let filled = feed.fill(Arc::get_mut(&mut batch).expect("the only owner"));
        if let Ok(false) = filled {
            return Ok(());
        }
        progress(batch.examples(0).len() as u64);
        for sender in &senders {
            // A finished run takes no more batches.
            let _ = sender.send(Arc::clone(&batch));
        }
        filled?;
        if failed.load(Ordering::Relaxed) == senders.len() {
            return Ok(());
        }
        pool.push(batch);
    }
}

impl<S: Sink> Entrant<S> {
    fn learn(self, mut share: Share<'_>, failed: &AtomicUsize) -> Result<Finished<S>, RunError> {
        let Self { mut learner, options, floor, mut sink, .. } = self;
        let score = match &mut learner {
            AnyModel::Full(learner) => run(&mut share, learner.as_mut(), &mut sink, &options),
            AnyModel::Bandit(learner) => {
                let mut play = Play { floor, ..Play::new(options.seed) };
                run_bandit(&mut share, learner.as_mut(), &mut sink, &options, &mut play)
            }
        };
        share.turn.give();
        let worked = share.turn.worked;
        match score {
            Ok(score) => Ok(Finished { learner, score, sink, worked }),
            Err(error) => {
                failed.fetch_add(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

/// The examples of one run.
struct Share<'a> {
    batches: Receiver<Arc<Batch>>,
    batch: Arc<Batch>,
    /// The next example of the batch.
    at: usize,
    encoder: usize,
    turn: Turn<'a>,
}

impl Examples for Share<'_> {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        loop {
            if let Some(example) = self.batch.examples(self.encoder).get(self.at) {
                out.copy_from(example);
                self.at += 1;
                return Ok(true);
            }
            // A run that waits for a batch, or has finished one, gives up its turn.
            self.turn.give();
            let batch = self.batches.recv();
            self.turn.take();
            self.at = 0;
            let over = batch.is_err();
            self.batch = batch.unwrap_or_default();
            if over {
                return Ok(false);
            }
        }
    }
}

/// Number of free turns.
struct Turns {
    free: Mutex<usize>,
    given: Condvar,
}

/// The turn of a run, returned on drop.
struct Turn<'a> {
    turns: &'a Turns,
    clock: &'a (dyn Fn() -> Duration + Sync),
    /// The time at which it was taken.
    since: Option<Duration>,
    worked: Duration,
}

impl Turn<'_> {
    fn take(&mut self) {
        let free = self.turns.free.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self.turns.given.wait_while(free, |free| *free == 0);
        *wait.unwrap_or_else(PoisonError::into_inner) -= 1;
        self.since = Some((self.clock)());
    }

    fn give(&mut self) {
        if let Some(since) = self.since.take() {
            self.worked += (self.clock)().saturating_sub(since);
            *self.turns.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.turns.given.notify_one();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.give();
    }
}

#[cfg(test)]
mod tests;
