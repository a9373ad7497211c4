//! Failures of commands, with one sentence and an exit code.

use std::fmt;
use std::path::Path;

use noregret_stream::ReadError;
use noregret_stream::run::RunError;
use noregret_stream::save::file::ModelFileError;
use signal_hook::consts::SIGINT;

use crate::hint;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid usage: exit code 1.
    Usage(String),
    /// Data, files or output: exit code 2.
    Data(String),
    /// The log of the service has the reason: this exit code.
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "only the service has a log"))]
    Logged(u8),
    /// The reader of standard output has closed the pipe, which is not an error.
    ClosedPipe,
    /// Ended in good order after a signal: exit code 128 plus the signal's number.
    Interrupted {
        /// Its number.
        signal: u8,
        /// What was saved.
        left: String,
    },
}

impl Failure {
    /// Exit code 1.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Exit code 2.
    pub(crate) fn data(message: impl fmt::Display) -> Self {
        Self::Data(message.to_string())
    }

    /// Data could not be read: exit code 2.
    pub(crate) fn reading(error: ReadError) -> Self {
        Self::Data(hint::read_error(&error))
    }

    /// A run over `data` ended early: exit code 2.
    pub(crate) fn running(data: &str, error: RunError) -> Self {
        match error {
            RunError::Read(error) => Self::reading(error),
            RunError::Write(error) => Self::output(error),
            RunError::Refused(what) => Self::data(what),
            RunError::Log(error) => Self::data(format!("--log: cannot be written: {error}")),
            RunError::NotFinite(_)
            | RunError::Closed(_)
            | RunError::Offered(_)
            | RunError::Logged(_)
            | RunError::Reward(..) => Self::data(hint::run_error(data, &error)),
        }
    }

    /// The file of `option` could not be written: exit code 2.
    pub(crate) fn writing(option: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::data(format!("{option} {}: cannot be written: {error}", path.display()))
    }

    /// A model could not be saved: exit code 2.
    pub(crate) fn saving(error: ModelFileError) -> Self {
        Self::Data(hint::saving_error(&error))
    }

    /// Standard output could not be written; or a file, if the error is a failure that names it.
    pub(crate) fn output(error: std::io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(failure) => failure,
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            Err(error) => Self::Data(format!("standard output: {error}")),
        }
    }

    /// Adds the name of the learner concerned, unless the message begins with it.
    pub(crate) fn of(self, learner: &str, several: bool) -> Self {
        match self {
            Self::Usage(what) if several && !what.starts_with(&format!("{learner}: ")) => {
                Self::Usage(format!("{learner}: {what}"))
            }
            failure => failure,
        }
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 1,
            Self::Data(_) => 2,
            Self::ClosedPipe => 0,
            Self::Logged(code) => *code,
            Self::Interrupted { signal, .. } => 128 + signal,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Data(message) => f.write_str(message),
            Self::Logged(_) => f.write_str("the log has the reason"),
            Self::ClosedPipe => f.write_str("the reader of standard output has closed it"),
            Self::Interrupted { signal, left } => {
                let name = if i32::from(*signal) == SIGINT { "SIGINT" } else { "SIGTERM" };
                write!(f, "stopped by {name} {left}")
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<noregret_stream::setup::SetupError> for Failure {
    fn from(error: noregret_stream::setup::SetupError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<noregret::param::ParamError> for Failure {
    fn from(error: noregret::param::ParamError) -> Self {
        Self::Usage(error.to_string())
    }
}
