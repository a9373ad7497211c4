//! Signals in long calls: Ctrl-C ends a run between two rounds. Whoever shows how far it has come is told at
//! the same time.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::{Done, Failure};

/// How long signals may wait, about. Taking the interpreter back more often would be felt where other threads
/// use it.
const PATIENCE: Duration = Duration::from_millis(50);

/// Asks now and then whether a signal has come, and runs its handler.
pub(crate) struct Signals {
    last: Instant,
    /// Rows between two looks at the clock, and how many of them are left.
    stride: u32,
    left: u32,
    raised: Option<PyErr>,
    /// Called with the rows since the last call.
    progress: Option<Py<PyAny>>,
    /// Rows that it has not been told of.
    untold: u64,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self::telling(None)
    }

    /// Tells `progress`, if there is one, how many rows have passed since it was last told.
    pub(crate) fn telling(progress: Option<Py<PyAny>>) -> Self {
        Self { last: Instant::now(), stride: 1, left: 1, raised: None, progress, untold: 0 }
    }

    /// Whether a handler has raised an exception, which is for [`Signals::into_result`]. Called once a row.
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

    /// What a handler has raised.
    pub(crate) fn into_result(self) -> Done<()> {
        self.raised.map_or(Ok(()), |error| Err(Failure::Raised(error)))
    }
}
