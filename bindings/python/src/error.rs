//! The exceptions that the crates' errors become. The sentence is the one that the command line prints.

use noregret::merge::MergeError;
use noregret::model::ModelError;
use noregret::param::ParamError;
use noregret_stream::run::RunError;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyOverflowError, PyTypeError, PyValueError};

/// What went wrong, before it is an exception. It can be made without the interpreter.
#[derive(Debug)]
pub(crate) enum Failure {
    /// `ValueError`.
    Value(String),
    /// `TypeError`.
    Type(String),
    /// `MemoryError`.
    Memory(String),
    /// `OverflowError`.
    Overflow(String),
    /// `OSError`, or the subclass that Python has for its number.
    Os(std::io::Error, String),
}

pub(crate) type Done<T> = Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(what) => PyValueError::new_err(what),
            Failure::Type(what) => PyTypeError::new_err(what),
            Failure::Memory(what) => PyMemoryError::new_err(what),
            Failure::Overflow(what) => PyOverflowError::new_err(what),
            Failure::Os(source, path) => match source.raw_os_error() {
                // With a number and a file name Python chooses the subclass itself: FileNotFoundError and so on.
                Some(number) => PyOSError::new_err((number, source.to_string(), path)),
                None => PyOSError::new_err(format!("{path}: {source}")),
            },
        }
    }
}

/// What a row, a target or a weight lacks.
impl From<String> for Failure {
    fn from(what: String) -> Self {
        Failure::Value(what)
    }
}

impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        match error {
            // An unknown keyword is a TypeError in Python.
            ParamError::UnknownName { .. } => Failure::Type(error.to_string()),
            _ => Failure::Value(error.to_string()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Io { path, source, .. } => Failure::Os(source, path.display().to_string()),
            _ => Failure::Value(error.to_string()),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        Failure::Value(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotFinite(_) => Failure::Overflow(error.to_string()),
            RunError::Read(error) => Failure::Value(error.to_string()),
            RunError::Write(error) => Failure::Value(error.to_string()),
        }
    }
}
