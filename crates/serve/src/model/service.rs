//! The service settings of a model: waiting time, rewards, exploration, log.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::refusal::Refusal;

/// Aggregation of several rewards of one decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// The first counts; a different one is a conflict.
    #[default]
    Earliest,
    /// Their sum counts, at the end of the waiting time.
    Sum,
}

/// How the played label is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By the learner.
    #[default]
    Online,
    /// Always the first label on offer, from which the learner learns.
    Apprentice,
    /// Always the first label on offer, without learning.
    Logging,
}

/// Service settings: waiting time, rewards, exploration, log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// Waiting time for feedback, in seconds. Unlimited by default, up to the largest number of
    /// pending decisions.
    #[schema(example = 600.0, minimum = 0.001, maximum = 31_536_000.0)]
    pub wait_seconds: Option<f64>,
    /// The reward of a decision without feedback in time, from 0 to 1. By default nothing is learnt
    /// from such decisions.
    #[schema(example = 0.0, minimum = 0.0, maximum = 1.0)]
    pub default_reward: Option<f64>,
    /// Number of days after which log entries are deleted. By default the whole log is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 30.0, minimum = 0.00001, maximum = 36_500.0)]
    pub retain_days: Option<f64>,
    /// Size of the log in MiB beyond which its oldest entries are deleted. By default the whole log is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 512.0, minimum = 0.01, maximum = 1_000_000.0)]
    pub retain_mib: Option<f64>,
    /// Share of decisions, from 0 to 1, whose label is drawn uniformly, in addition to the
    /// learner's own exploration. A new log is started when it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 0.1, minimum = 0.0, maximum = 1.0)]
    pub explore: Option<f64>,
    /// Aggregation of several rewards of one decision.
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Aggregation>)]
    pub aggregation: Aggregation,
    /// How the played label is chosen.
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Mode>)]
    pub mode: Mode,
    /// Data stored by a protocol.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub notes: Map<String, Value>,
}

impl Service {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn check(&self) -> Result<(), Refusal> {
        const YEAR: f64 = 31_536_000.0;
        if let Some(wait) = self.wait_seconds.filter(|wait| !(0.001..=YEAR).contains(wait)) {
            let what = format!("wait_seconds is {wait}; a number from 0.001 to {YEAR} was needed");
            return Err(Refusal::invalid("service.wait_seconds", what));
        }
        if let Some(reward) = self.default_reward.filter(|reward| !(0.0..=1.0).contains(reward)) {
            let what = format!("default_reward is {reward}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("service.default_reward", what));
        }
        if let Some(days) = self.retain_days.filter(|days| !(0.00001..=36_500.0).contains(days)) {
            let what = format!("retain_days is {days}; a number from 0.00001 to 36500 was needed");
            return Err(Refusal::invalid("service.retain_days", what));
        }
        if let Some(mib) = self.retain_mib.filter(|mib| !(0.01..=1_000_000.0).contains(mib)) {
            let what = format!("retain_mib is {mib}; a number from 0.01 to 1000000 was needed");
            return Err(Refusal::invalid("service.retain_mib", what));
        }
        if let Some(share) = self.explore.filter(|share| !(0.0..=1.0).contains(share)) {
            let what = format!("explore is {share}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("service.explore", what));
        }
        if self.aggregation == Aggregation::Sum && self.wait_seconds.is_none() {
            let what = "sums are learnt at the end of the waiting time, and there is none";
            return Err(Refusal::invalid("service.wait_seconds", what));
        }
        Ok(())
    }
}

/// Null is the same as absent.
pub(super) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
