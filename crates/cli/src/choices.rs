//! Enumerations of option values.

use clap::ValueEnum;

/// The feedback: the label, or whether the played label was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedbackChoice {
    Full,
    Bandit,
}

/// The classes of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrationOf {
    Top,
    Classes,
}

/// The form of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainOf {
    Rows,
    Columns,
}

/// The sort order of the table of `noregret compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortBy {
    Given,
    Error,
    LogLoss,
    Speed,
}

/// Treatment of decisions without feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    Skip,
    Wrong,
}
