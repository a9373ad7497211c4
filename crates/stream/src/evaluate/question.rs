//! Policies, options and results of an evaluation.

use std::str::FromStr;

use noregret::registry;
use serde::Serialize;

use super::learning::{Learning, Learnt};
use super::off_policy::Estimates;
use crate::encode::examples::BadRows;
use crate::fault::{Fault, fault};
use crate::read::options::Schema;
use crate::save::Frozen;

/// The policy to evaluate.
pub enum Policy {
    /// Every label on offer with equal probability.
    Uniform,
    /// Always this label; rounds in which it was not on offer are omitted.
    Constant(String),
    /// The logging policy.
    Logged,
    /// The logging policy without exploration: the label with its learner's best score, where the log has the
    /// learner, else the most probable label of the logged distribution.
    Greedy,
    /// Always the label that has earned most in the log: each label's mean reward, shrunk by 100 rounds to
    /// that of all. Its estimate is from the same log, and so rather too high; its intervals are those that
    /// hold for all labels at once.
    Best,
    /// The distribution in each line's `evaluation`.
    Given,
    /// A learner that learns during the log.
    Learning(Learning),
    /// A saved model, restricted to the labels on offer; if `greedy`, always its label with the
    /// best score.
    Model {
        /// The model.
        model: Box<Frozen>,
        /// Whether it does not explore.
        greedy: bool,
    },
}

/// `uniform`, `logged`, `greedy`, `best`, `constant:LABEL`, `learner:NAME`, or `alone:NAME`.
impl FromStr for Policy {
    type Err = Fault;

    fn from_str(name: &str) -> Result<Self, Fault> {
        Ok(match name {
            "uniform" => Policy::Uniform,
            "logged" => Policy::Logged,
            "greedy" => Policy::Greedy,
            "best" => Policy::Best,
            "baseline" => {
                let what = "is what a service plays without its learner, which a log does not say: constant:LABEL always plays one \
                            label; where labels are positions, as in Vowpal Wabbit's JSON, constant:0 plays the first on offer";
                return Err(what.into());
            }
            _ => match name.split_once(':') {
                Some(("constant", label)) => Policy::Constant(label.to_owned()),
                Some((kind @ ("learner" | "alone"), learner)) => {
                    let entry = registry::find(learner).map_err(|error| format!("{learner}: {error}"))?;
                    Policy::Learning(Learning { entry, alone: kind == "alone" })
                }
                _ => {
                    let known = "uniform, logged, greedy, best, constant:LABEL, learner:NAME and alone:NAME";
                    return Err(fault!("is none of {known}"));
                }
            },
        })
    }
}

impl Policy {
    /// The policy of a model.
    ///
    /// # Errors
    /// If it does not predict labels.
    pub fn of_model(model: Frozen, greedy: bool) -> Result<Self, Fault> {
        if model.predictor.problem().classes < 2 {
            return Err("forecasts numbers and does not play labels".into());
        }
        Ok(Policy::Model { model: Box::new(model), greedy })
    }

    /// The format of the rows and the columns that the policy needs, if it is a model.
    pub fn schema(&self) -> Option<&Schema> {
        match self {
            Policy::Model { model, .. } => Some(&model.schema),
            _ => None,
        }
    }
}

/// Options of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct EvaluateOptions {
    /// Weights are clipped at this value.
    pub clip: Option<f64>,
    /// Confidence of the intervals, in (0, 1).
    pub confidence: f64,
    /// Whether a decision without feedback counts as wrong; else it is omitted.
    pub missing_is_wrong: bool,
    /// How many bad lines are skipped.
    pub bad_rows: BadRows,
    /// Largest number of pending decisions.
    pub pending: usize,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Decisions in the log.
    pub decisions: u64,
    /// Decisions without feedback.
    pub missing: u64,
    /// Rounds omitted because none of the policy's labels was on offer.
    pub not_offered: u64,
    /// The name of the logging learner, if it learnt during the log. Rounds are then not independent, as the
    /// normal intervals assume, which hold asymptotically if the policy converges (Hadad et al. 2021);
    /// confidence sequences hold all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt_meanwhile: Option<String>,
    /// Number of lines skipped.
    pub bad_rows: u64,
    /// The error of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad_row: Option<String>,
    /// Number of labels, those of the model included.
    pub labels: usize,
    /// The mean reward of the logging policy.
    pub logged_reward: f64,
    /// Standard error of the mean reward.
    pub logged_reward_standard_error: f64,
    /// The least reward that was observed.
    #[serde(skip)]
    pub least_reward: f64,
    /// The share of the policy's probability on labels that the logging policy could not play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<f64>,
    /// Whether the log plays the policy's labels so rarely that there are no normal intervals, or that they
    /// cannot be relied on: the importance weights have an effective sample size below a hundredth of the
    /// rounds, or their mean is not what it should be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thin: bool,
    /// The model of rewards that has forecast the log best so far; `None` if rewards were not estimated here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward_model: Option<&'static str>,
    /// The label of the policy `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_label: Option<String>,
    /// What a policy that learns has earned meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt: Option<Learnt>,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// Warnings, in sentences.
    pub warnings: Vec<String>,
}

/// The least number of answers that say how answers are.
const LEAST_ANSWERED: u64 = 10;

/// What is said where no answer is 0.
const ONLY_EARNINGS: &str = "; no answer is 0: if nothing is reported where nothing was earned, all estimates are too high, and the \
                             option missing = wrong, or default_reward of a service, counts these decisions as 0";

/// The confidence of intervals of which so many hold at once with `confidence`: each may miss by its share.
pub(super) fn of_all(confidence: f64, intervals: usize) -> f64 {
    1.0 - (1.0 - confidence) / intervals.max(1) as f64
}

impl Evaluation {
    /// The confidence of its intervals where `confidence` was asked for: of a label that the same log has
    /// chosen, that of all labels.
    pub(super) fn own_confidence(&self, confidence: f64) -> f64 {
        if self.best_label.is_some() { of_all(confidence, self.labels) } else { confidence }
    }

    /// The same of a log of so many `decisions`, with warnings about those that were never answered, which
    /// are left out or count as a reward, and about rounds to which the policy did not apply.
    #[must_use]
    pub fn of_decisions(
        mut self,
        decisions: u64,
        missing: u64,
        not_offered: u64,
        counts_as: Option<f64>,
    ) -> Self {
        if missing > 0 {
            let what =
                counts_as.map_or_else(|| "are left out".to_owned(), |reward| format!("count as {reward}"));
            // Revenues and clicks are often reported where there are some, and nowhere else.
            let enough = self.estimates.rounds >= LEAST_ANSWERED && counts_as.is_none();
            let hint = match enough && self.least_reward > 0.0 {
                true => ONLY_EARNINGS,
                false => "",
            };
            self.warnings
                .push(format!("{missing} of {decisions} decisions were never answered and {what}{hint}"));
        }
        if not_offered > 0 {
            self.warnings.push(format!(
                "in {not_offered} rounds none of the policy's labels was on offer; they are left out"
            ));
        }
        Self { decisions, missing, not_offered, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service evaluates its baseline; of a file, the label is to be named.
    #[test]
    fn a_policy_that_a_log_does_not_know_has_a_way_out() {
        let refused = |name: &str| match name.parse::<Policy>() {
            Ok(_) => String::new(),
            Err(what) => what.to_string(),
        };
        let said = refused("baseline");
        assert!(said.contains("constant:0 plays the first on offer"), "{said}");
        let said = refused("first");
        assert!(said.starts_with("is none of uniform, "), "{said}");
        assert!(matches!("constant:0".parse::<Policy>(), Ok(Policy::Constant(label)) if label == "0"));
    }
}
