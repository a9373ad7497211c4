//! Converts the crates' errors to exceptions, with the sentences of the command line.

use std::io::ErrorKind;
use std::path::Path;

use noregret::merge::MergeError;
use noregret::model::ModelError;
use noregret::param::ParamError;
use noregret_stream::decisions::file::LogFileError;
use noregret_stream::decisions::replay::ReplayError;
use noregret_stream::evaluate::EvaluateError;
use noregret_stream::run::RunError;
use noregret_stream::save::file::ModelFileError;
use noregret_stream::{Fault, ReadError, ReadErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyOverflowError, PyTypeError, PyValueError};

/// An error before its conversion to an exception, made without the interpreter's lock.
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
    /// `OSError`, or its subclass for the error number.
    Os(std::io::Error, String),
    /// An exception raised by a signal handler.
    Raised(PyErr),
}

pub(crate) type Done<T> = Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(what) => PyValueError::new_err(what),
            Failure::Type(what) => PyTypeError::new_err(what),
            Failure::Memory(what) => PyMemoryError::new_err(what),
            Failure::Overflow(what) => PyOverflowError::new_err(what),
            Failure::Raised(error) => error,
            Failure::Os(source, path) => match number(&source) {
                // With a number and a file name Python selects the subclass, such as
                // FileNotFoundError. Where Rust has several sentences for it, Python's is taken.
                Some(number) => {
                    let plain = source.get_ref().is_none() && source.kind() == ErrorKind::NotFound;
                    let what =
                        if plain { "No such file or directory".to_owned() } else { source.to_string() };
                    PyOSError::new_err((number, what, path))
                }
                None => PyOSError::new_err(format!("{path}: {source}")),
            },
        }
    }
}

/// Errors that are a `ValueError`.
macro_rules! value_errors {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Value(error.to_string())
            }
        })*
    };
}

value_errors! { String, Fault, ModelError, MergeError }

/// Parameters are named by their Python keywords.
impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        let keyword = |name: String| name.replace('.', "__");
        match error {
            ParamError::Invalid { name, value, need } => {
                Failure::Value(ParamError::Invalid { name: keyword(name), value, need }.to_string())
            }
            // An unknown keyword is a TypeError in Python.
            ParamError::UnknownName { learner, name, near, known } => {
                let (name, known) = (keyword(name), keyword(known));
                Failure::Type(ParamError::UnknownName { learner, name, near, known }.to_string())
            }
            _ => Failure::Value(error.to_string()),
        }
    }
}

impl From<ModelFileError> for Failure {
    fn from(error: ModelFileError) -> Self {
        match error {
            ModelFileError::Io { path, source, .. } => Failure::Os(source, path.display().to_string()),
            _ => Failure::Value(error.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotFinite(_) => Failure::Overflow(error.to_string()),
            RunError::Closed(_) | RunError::Offered(_) | RunError::Logged(_) | RunError::Reward(..) => {
                Failure::Value(error.to_string())
            }
            RunError::Read(error) => Failure::Value(error.to_string()),
            RunError::Refused(what) => Failure::Value(what),
            RunError::Write(error) | RunError::Log(error) => Failure::Value(error.to_string()),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let path = error.source_name().to_owned();
        match error.kind() {
            ReadErrorKind::NotFound => Failure::Os(ErrorKind::NotFound.into(), path),
            ReadErrorKind::IsDirectory => Failure::Os(ErrorKind::IsADirectory.into(), path),
            ReadErrorKind::Io(source) => {
                let same = |number| std::io::Error::from_raw_os_error(number);
                let told = || std::io::Error::new(source.kind(), source.to_string());
                Failure::Os(source.raw_os_error().map_or_else(told, same), path)
            }
            _ => Failure::Value(error.to_string()),
        }
    }
}

impl From<LogFileError> for Failure {
    fn from(error: LogFileError) -> Self {
        match error {
            LogFileError::Exists(path) => {
                let what = "exists already; logs are never overwritten";
                let source = std::io::Error::new(ErrorKind::AlreadyExists, what);
                Failure::Os(source, path.display().to_string())
            }
            LogFileError::Io { path, source } => Failure::Os(source, path.display().to_string()),
            LogFileError::Refused(what) => Failure::Value(what.to_string()),
        }
    }
}

/// Python's number for the kind of an error; equal on all systems for those used here.
fn number(error: &std::io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        ErrorKind::NotFound => Some(2),
        ErrorKind::AlreadyExists => Some(17),
        ErrorKind::IsADirectory => Some(21),
        _ => None,
    })
}

impl Failure {
    /// The error of the log at `path`.
    pub(crate) fn of_replay(path: &str, error: ReplayError) -> Self {
        match error {
            ReplayError::Read(error) => error.into(),
            ReplayError::Model(error) => error.into(),
            ReplayError::TooLarge(_) => Failure::Memory(format!("{path}: {error}")),
            _ => Failure::Value(format!("{path}: {error}")),
        }
    }

    /// The same for evaluation.
    pub(crate) fn of_evaluation(path: &str, error: EvaluateError) -> Self {
        match error {
            EvaluateError::Read(error) => error.into(),
            EvaluateError::Param(error) => error.into(),
            _ => Failure::Value(format!("{path}: {error}")),
        }
    }
}

/// A path for readers, which use `-` for standard input and extensions for formats.
pub(crate) fn text_of(path: &Path) -> Done<&str> {
    match path.to_str() {
        Some("-") => Err(Failure::Value("-: must be the path of a file".to_owned())),
        Some(path) => Ok(path),
        None => Err(Failure::Value(format!("{}: the path is not text", path.display()))),
    }
}
