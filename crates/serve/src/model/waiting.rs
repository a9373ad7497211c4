//! What waits for an answer: decisions for their rewards, rows for their labels.

use noregret::prediction::Decision;
use noregret_stream::encode::{Example, Unscaled};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::flat::Flat;

/// A pending decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waits {
    pub(super) example: Example,
    pub(super) taken: Decision,
    /// Start of its waiting time, in milliseconds since 1970.
    pub(super) since: i64,
    /// Whether rewards count.
    pub(super) active: bool,
    /// The reward so far, if it is not learnt at once.
    pub(super) heard: Option<f64>,
    /// The row before scaling, which it moves when it is learnt; `None` in models of before, where it has
    /// moved it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unscaled: Option<Unscaled>,
}

impl Waits {
    /// A decision since `since`, without feedback so far. The learner's scratch memory, which a copy leaves
    /// out, is not kept: it can be larger than all the rest.
    pub(super) fn new(example: Example, taken: &Decision, since: i64, active: bool) -> Self {
        Self { example, taken: taken.clone(), since, active, heard: None, unscaled: None }
    }

    /// The same with the row before scaling.
    pub(super) fn with_row(self, unscaled: Option<Unscaled>) -> Self {
        Self { unscaled, ..self }
    }
}

/// A row without its label so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(super) x: Value,
    /// See [`Event::Ask`](super::event::Event::Ask).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) row: Option<Flat>,
    pub(super) scores: Vec<f64>,
    pub(super) probabilities: Vec<f64>,
    pub(super) played: u32,
    /// Time of the forecast, in milliseconds since 1970.
    pub(super) since: i64,
}
