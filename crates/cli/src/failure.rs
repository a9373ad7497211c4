//! Failures of commands, with one sentence and an exit code.

use std::fmt;
use std::path::Path;

use noregret_stream::ReadError;
use noregret_stream::run::RunError;
use noregret_stream::save::file::ModelFileError;
use noregret_stream::setup::SetupError;
use signal_hook::consts::SIGINT;

use crate::hint;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid usage: exit code 1.
    Usage(String),
    /// A learner cannot be used, and why: exit code 1.
    Learner(&'static str, String),
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

    /// Invalid usage of `learner`, among several.
    pub(crate) fn of(self, learner: &'static str, several: bool) -> Self {
        match self {
            Self::Usage(what) if several => Self::Learner(learner, what),
            failure => failure,
        }
    }

    /// The sentence behind the name of `learner`.
    pub(crate) fn about(&self, learner: &str) -> String {
        match self {
            Self::Learner(name, what) if *name == learner => what.clone(),
            failure => failure.to_string(),
        }
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Learner(..) => 1,
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
            Self::Learner(name, what) => write!(f, "{name}: {what}"),
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

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Unfit(learner, why) => Self::Learner(learner, why.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<noregret::param::ParamError> for Failure {
    fn from(error: noregret::param::ParamError) -> Self {
        Self::Usage(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learners_are_named_once() {
        let failure = Failure::Learner("ogd", "needs a file".to_owned());
        assert_eq!(failure.about("ogd"), "needs a file");
        assert_eq!(failure.about("auto"), "ogd: needs a file");
        assert_eq!(failure.of("ogd", true).to_string(), "ogd: needs a file");
        let unnamed = || Failure::usage("--set rate=0: must be positive");
        assert_eq!(unnamed().of("ogd", true).about("ogd"), "--set rate=0: must be positive");
        assert_eq!(unnamed().of("ogd", false).to_string(), unnamed().to_string());
    }
}
