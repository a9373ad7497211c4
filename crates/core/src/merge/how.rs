//! How models are merged, and why they cannot be.

use std::fmt;
use std::str::FromStr;

use crate::param::ParamError;

/// How many times the regulariser is counted. $S$ is the number of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// $S$ times: everything is added up, and the merged learner's $\lambda$ is $S\lambda$. Equation (1) of
    /// the [module](super).
    #[default]
    SumAll,
    /// Once: the merged learner keeps $\lambda$. Equation (2) of the [module](super), whose bound has the
    /// additional term $(S-1)\lambda\lVert W_m \rVert^2$; the certificate does not have it.
    LambdaOnce,
}

impl Merge {
    /// Both ways.
    pub const ALL: [Merge; 2] = [Merge::SumAll, Merge::LambdaOnce];

    /// Its name, such as `sum-all`.
    pub fn name(self) -> &'static str {
        match self {
            Merge::SumAll => "sum-all",
            Merge::LambdaOnce => "lambda-once",
        }
    }

    /// The merged learner's $\lambda$, if each of `parts` learners has `regularization`.
    pub(crate) fn regularization(self, regularization: f64, parts: usize) -> f64 {
        match self {
            Merge::SumAll => parts as f64 * regularization,
            Merge::LambdaOnce => regularization,
        }
    }
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Merge {
    type Err = MergeError;

    fn from_str(name: &str) -> Result<Self, MergeError> {
        let found = Merge::ALL.into_iter().find(|how| how.name() == name);
        found.ok_or_else(|| MergeError::UnknownWay(name.to_owned()))
    }
}

/// Why models cannot be merged, in one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A name that is none of [`Merge::ALL`].
    #[error("{0:?} is none of sum-all and lambda-once")]
    UnknownWay(String),
    /// No models.
    #[error("there is nothing to merge; at least one model was needed")]
    Nothing,
    /// The algorithm has no sufficient statistics.
    #[error("{0} cannot be merged: what it learns does not add up")]
    Unsupported(&'static str),
    /// A property in which all models must agree.
    #[error("{what} = {found}: must be {needed}, as in the first model")]
    Mismatch {
        /// Which of the models, from 0.
        part: usize,
        /// The name of the difference.
        what: String,
        /// Its value in that model.
        found: String,
        /// Its value in the first model.
        needed: String,
    },
    /// After a huge row, rounding may have destroyed $A^{-1}$ in other directions.
    #[error("its statistics cannot be recovered: rounding has left no positive definite inverse of them")]
    Singular {
        /// Which of the models, from 0; `None`: their sum.
        part: Option<usize>,
    },
    /// A learner that stores rows, up to a limit.
    #[error("together the models store {rows} rows; at most max_rounds = {most} can be merged")]
    TooManyRows {
        /// The number of rows together.
        rows: usize,
        /// The limit.
        most: usize,
    },
    /// Label trees that were grown differently.
    #[error(
        "class {class} (from 0) has another place in its tree of labels than in the models before it: all parts \
         must continue one model that has seen every label"
    )]
    LabelTrees {
        /// Which of the models, from 0.
        part: usize,
        /// The index of the class.
        class: u32,
    },
    /// A list that is not a sum of statistics.
    #[error("a list of {found} numbers is no sum of its statistics, which are {needed}")]
    Length {
        /// Its length.
        found: usize,
        /// The length that was needed.
        needed: usize,
    },
    /// The merged learner cannot be made.
    #[error(transparent)]
    Param(#[from] ParamError),
}

impl MergeError {
    /// The same error for model number `at`.
    pub(super) fn of(self, at: usize) -> Self {
        match self {
            Self::Singular { .. } => Self::Singular { part: Some(at) },
            other => other,
        }
    }

    /// The index of the model that causes the error, if it is one of them.
    pub fn part(&self) -> Option<usize> {
        match self {
            Self::Mismatch { part, .. } | Self::LabelTrees { part, .. } => Some(*part),
            Self::Singular { part } => *part,
            _ => None,
        }
    }
}
