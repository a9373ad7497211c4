//! Signals in long calls: Ctrl-C ends a run between two rounds. Also reports progress.

use std::time::{Duration, Instant};

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
        Self { last: Instant::now(), stride: 1, left: 1, raised: None, progress, untold: 0 }
    }

    /// Whether a handler has raised an exception, which [`Signals::into_result`] returns. Called
    /// once per row.
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
        self.left = if self.raised.is_some() { 1 } else { self.stride };
        self.raised.is_some()
    }

    /// The exception of a handler, if any.
    pub(crate) fn into_result(self) -> Done<()> {
        self.raised.map_or(Ok(()), |error| Err(Failure::Raised(error)))
    }
}
