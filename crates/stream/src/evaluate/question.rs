//! What can be evaluated on a log (policies, options), and the result.

use std::str::FromStr;

use serde::Serialize;

use super::off_policy::Estimates;
use crate::encode::examples::BadRows;
use crate::read::columns::Columns;
use crate::save::Frozen;

/// The policy that is evaluated.
pub enum Policy {
    /// Every label on offer with equal probability.
    Uniform,
    /// Always this label; rounds in which it was not on offer are left out.
    Constant(String),
    /// The one that took the decisions.
    Logged,
    /// The label to which the logged distribution gives most: the logging policy without exploration.
    Greedy,
    /// The distribution that every line gives as `evaluation`.
    Given,
    /// A saved model as it plays, among the labels on offer; if `greedy`, always the one with its best score.
    Model {
        /// The model.
        model: Box<Frozen>,
        /// Whether it explores no more.
        greedy: bool,
    },
}

/// `uniform`, `logged`, `greedy`, or `constant:LABEL`.
impl FromStr for Policy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "uniform" => Policy::Uniform,
            "logged" => Policy::Logged,
            "greedy" => Policy::Greedy,
            _ => match name.split_once(':') {
                Some(("constant", label)) => Policy::Constant(label.to_owned()),
                _ => return Err("is none of uniform, logged, greedy and constant:LABEL".to_owned()),
            },
        })
    }
}

impl Policy {
    /// A model's.
    ///
    /// # Errors
    /// If it plays no labels.
    pub fn of_model(model: Frozen, greedy: bool) -> Result<Self, String> {
        if model.predictor.problem().classes < 2 {
            return Err("forecasts numbers, and plays no labels".to_owned());
        }
        Ok(Policy::Model { model: Box::new(model), greedy })
    }

    /// The columns that rows must have, if it matters to the policy.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Policy::Model { model, .. } => Some(&model.schema.columns),
            _ => None,
        }
    }
}

/// How a log is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct EvaluateOptions {
    /// Weights beyond this are clipped to it.
    pub clip: Option<f64>,
    /// Of the intervals, in (0, 1).
    pub confidence: f64,
    /// Whether a decision that was never answered counts as wrong; else it is left out.
    pub missing_is_wrong: bool,
    /// How many bad lines are passed over.
    pub bad_rows: BadRows,
    /// How many decisions may wait for feedback at one time.
    pub pending: usize,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Decisions in the log.
    pub decisions: u64,
    /// Decisions that were never answered.
    pub missing: u64,
    /// Rounds that were left out, since none of the labels that the policy plays was on offer.
    pub not_offered: u64,
    /// The learner that took the decisions and learnt meanwhile, as far as the log says. Rounds are then not
    /// independent, as the intervals take them to be: the normal ones hold as the log grows if the policy
    /// settles (Hadad et al. 2021), the Bernstein ones are no theorem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt_meanwhile: Option<String>,
    /// Lines that were passed over.
    pub bad_rows: u64,
    /// What was wrong with the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad_row: Option<String>,
    /// Labels, those of the model included.
    pub labels: usize,
    /// What the logging policy earned: the mean of the rewards.
    pub logged_reward: f64,
    /// Of the mean reward.
    pub logged_reward_standard_error: f64,
    /// The share of the policy's probability that is on labels which the log could not have played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<f64>,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// What is suspicious, in sentences.
    pub warnings: Vec<String>,
}
