//! A learner shared by threads. Threads that wait for it do not hold the interpreter's lock.

use std::sync::{Mutex, PoisonError, RwLock};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A lock for many readers or one writer.
pub(crate) struct Shared<T> {
    inner: RwLock<T>,
    /// The thread of a running [`Shared::work`], on which signal handlers run, which would
    /// deadlock.
    working: Mutex<Option<ThreadId>>,
}

impl<T: Send + Sync> Shared<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner: RwLock::new(inner), working: Mutex::new(None) }
    }

    /// Shared access.
    pub(crate) fn read<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&T) -> R + Send) -> PyResult<R> {
        self.check()?;
        Ok(py.detach(|| look(&self.inner.read().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Exclusive access.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        self.check()?;
        Ok(py.detach(|| change(&mut self.inner.write().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Exclusive access, in a call that handles signals.
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
            let what = "the learner is running, and cannot be used by a signal handler";
            return Err(PyRuntimeError::new_err(what));
        }
        Ok(())
    }
}

/// Marks this thread as running, until dropped.
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
