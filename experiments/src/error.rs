//! Why a figure could not be made.

use noregret::batch::comparator::ComparatorError;
use noregret::param::ParamError;
use noregret_stream::encode::survey::SurveyError;
use noregret_stream::run::RunError;
use noregret_stream::{Fault, ReadError};

/// Why a figure could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A learner or stream refused its parameters.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Data could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Data could not be surveyed.
    #[error("{0}: {1}")]
    Survey(String, SurveyError),
    /// A run ended early.
    #[error("{0}: {1}")]
    Run(String, RunError),
    /// There is no comparator.
    #[error(transparent)]
    Certify(#[from] Fault),
    /// There is no comparator.
    #[error(transparent)]
    Comparator(#[from] ComparatorError),
    /// A size that the figure does not have, or cannot have.
    #[error("{0}")]
    Size(String),
    /// None of the data is there.
    #[error("--data: a folder with {0} was needed")]
    NoData(String),
    /// A result could not be drawn or written.
    #[error("{0}: cannot be written: {1}")]
    Write(String, String),
}
