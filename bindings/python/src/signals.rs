//! Signals in long calls: Ctrl-C ends a run between two rounds. Also reports progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use noregret::parallel::Workers;
use noregret::param::ParamError;
use noregret_stream::run::threads::on_threads;
use pyo3::prelude::*;

use crate::error::{Done, Failure};

/// Approximate interval of checks for signals. Shorter ones would slow other threads down, because
/// each check takes the interpreter's lock.
const PATIENCE: Duration = Duration::from_millis(50);

/// Checks for signals at intervals, and runs their handlers.
pub(crate) struct Signals {
    last: Instant,
    /// Number of rows between two readings of the clock, and rows left.
    stride: u32,
    left: u32,
    raised: Option<PyErr>,
    /// Set by another thread, on which handlers run, to end the call.
    stop: Arc<AtomicBool>,
    /// Called with the rows since the last call.
    progress: Option<Py<PyAny>>,
    /// Rows not reported yet.
    untold: u64,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self::telling(None)
    }

    /// Calls `progress`, if given, with the number of rows since the last call.
    pub(crate) fn telling(progress: Option<Py<PyAny>>) -> Self {
        Self {
            last: Instant::now(),
            stride: 1,
            left: 1,
            raised: None,
            stop: Arc::default(),
            progress,
            untold: 0,
        }
    }

    /// Whether the call shall end, because a handler has raised an exception. Called once per row.
    pub(crate) fn end(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.untold += u64::from(self.stride);
        if self.last.elapsed() < PATIENCE {
            self.stride = self.stride.saturating_mul(2);
        } else if self.raised.is_none() {
            self.stride = (self.stride / 2).max(1);
            let told = std::mem::take(&mut self.untold);
            self.raised = Python::attach(|py| {
                py.check_signals()?;
                self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (told,)).map(|_| ()))
            })
            .err();
            self.last = Instant::now();
        }
        let ends = self.raised.is_some() || self.stop.load(Ordering::Relaxed);
        self.left = if ends { 1 } else { self.stride };
        ends
    }

    /// The exception of a handler that ran on this thread, if any.
    pub(crate) fn into_result(self) -> Done<()> {
        self.raised.map_or(Ok(()), |error| Err(Failure::Raised(error)))
    }
}

/// Largest number of threads, as in the command line; more are considered a typing error.
const MOST_THREADS: usize = 1024;

/// Calls `work` with `threads` threads and with signals. Python runs handlers of signals on its main thread
/// only: if the work is done by other threads, this one waits for signals.
pub(crate) fn with_threads<T: Send>(
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Workers, Signals) -> Done<T> + Send,
) -> Done<T> {
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(ParamError::invalid("threads", threads, format!("from 1 to {MOST_THREADS}")).into());
    }
    let signals = Signals::telling(progress);
    let (stop, mut raised) = (Arc::clone(&signals.stop), None);
    let heed = || {
        if raised.is_none() {
            raised = Python::attach(|py| py.check_signals()).err();
            stop.store(raised.is_some(), Ordering::Relaxed);
        }
    };
    let done = on_threads(threads, PATIENCE, |workers| work(workers, signals), heed);
    raised.map_or(done, |error| Err(Failure::Raised(error)))
}
