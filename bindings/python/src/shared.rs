//! A learner that threads share. Nobody who waits for it holds the interpreter.

use std::sync::{Mutex, PoisonError, RwLock};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Looked at by many, or changed by one.
pub(crate) struct Shared<T> {
    inner: RwLock<T>,
    /// The thread on which [`Shared::work`] is under way. Handlers of signals run on it meanwhile, and would
    /// wait for themselves.
    working: Mutex<Option<ThreadId>>,
}

impl<T: Send + Sync> Shared<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner: RwLock::new(inner), working: Mutex::new(None) }
    }

    /// Looks at it, beside others who look.
    pub(crate) fn read<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&T) -> R + Send) -> PyResult<R> {
        self.check()?;
        Ok(py.detach(|| look(&self.inner.read().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Changes it, alone.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        self.check()?;
        Ok(py.detach(|| change(&mut self.inner.write().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Changes it, alone, in a call that lets signals through.
    pub(crate) fn work<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        self.write(py, |inner| {
            let _working = Working::begin(&self.working);
            change(inner)
        })
    }

    fn check(&self) -> PyResult<()> {
        if *self.working.lock().unwrap_or_else(PoisonError::into_inner) == Some(thread::current().id()) {
            let what = "the learner is in the middle of a run, and cannot be used by the handler of a signal";
            return Err(PyRuntimeError::new_err(what));
        }
        Ok(())
    }
}

/// Says that this thread is at work, as long as it lives.
struct Working<'a>(&'a Mutex<Option<ThreadId>>);

impl<'a> Working<'a> {
    fn begin(thread: &'a Mutex<Option<ThreadId>>) -> Self {
        *thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
        Self(thread)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
