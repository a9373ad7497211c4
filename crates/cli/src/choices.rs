//! The words that options choose among.

use clap::ValueEnum;

/// What is revealed to a learner after a round: the label, or whether the label that it played was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedbackChoice {
    Full,
    Bandit,
}

/// Whose probabilities a calibration is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrationOf {
    Top,
    Classes,
}

/// What contributions of columns are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainOf {
    Rows,
    Columns,
}

/// What the table of `noregret compare` is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortBy {
    Given,
    Error,
    LogLoss,
    Speed,
}

/// What becomes of decisions that were never answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    Skip,
    Wrong,
}
