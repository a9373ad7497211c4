//! Events of a model, in the order of the log. A model is determined by its first snapshot and its
//! events; the clock is read when an event is created, never when it is applied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use noregret::prediction::Decision;
use noregret_stream::GivenLabel;

use super::flat::Flat;
use super::spec::Service;

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A row with its label, predicted and then learnt.
    Learn {
        /// The features.
        x: Value,
        /// The label, a number for regression, or a list of probabilities.
        y: Value,
        /// The importance weight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        /// The features as the model's table has them, if it has one, and with those that begin with the row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<Flat>,
    },
    /// A row whose label comes later.
    Ask {
        /// The id of the row.
        id: String,
        /// The features.
        x: Value,
        /// The features as the model's table has them, if it has one, and with those that begin with the row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<Flat>,
    },
    /// The label of an earlier row.
    Label {
        /// The row.
        id: String,
        /// The label, as in [`Event::Learn`].
        y: Value,
        /// The importance weight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
    },
    /// An event of the model that this one shadows.
    Followed {
        /// Its number in that model's log.
        seq: u64,
        /// The event.
        of: Box<Event>,
        /// Its outcome.
        outcome: Box<Outcome>,
    },
    /// A decision on a label, or on one for each slot.
    Decide(Decide),
    /// Feedback for a decision.
    Feedback {
        /// The decision.
        id: String,
        /// The reward; 1 or 0 for right or wrong.
        reward: f64,
        /// The cost that the reward was computed from, in the model's range.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// Activation of a deferred decision, which starts its waiting time.
    Activate {
        /// The decision.
        id: String,
    },
    /// The end of the waiting time of decisions.
    Expire {
        /// The decisions, the oldest first.
        ids: Vec<String>,
    },
    /// Replacement of the model by a snapshot.
    Restored {
        /// The digest.
        digest: String,
    },
    /// The model goes on as those of this program do: rows move the scaling when they are learnt. The first
    /// event of a model of before, whose log is applied as it was up to here.
    Renewed,
    /// Labels that are added, and labels that are no longer on offer.
    Labels {
        /// The labels to add: new ones, and retired ones that are on offer again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add: Vec<GivenLabel>,
        /// The labels to retire.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        retire: Vec<GivenLabel>,
    },
    /// New service settings (waiting time, default reward, mode and so on).
    Configure {
        /// The settings.
        service: Box<Service>,
    },
}

/// A requested decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decide {
    /// Its id.
    pub id: String,
    /// The features of the round.
    pub x: Flat,
    /// The same as they were given, for a model whose rows are those of a table.
    #[serde(skip)]
    pub given: Option<Value>,
    /// The features as the model's table has them, if it has one, and with those that begin with the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Flat>,
    /// The labels on offer; `None` for all labels of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<Offered>>,
    /// Labels on offer that must not be played.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Slots, filled one after the other with different labels; empty for a single label.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// Whether the decision is ignored until it is activated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

/// A label on offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// Its name, as it was given.
    pub label: GivenLabel,
    /// Its own features.
    #[serde(default, skip_serializing_if = "Flat::is_null")]
    pub x: Flat,
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Its name.
    pub id: String,
    /// Its own features.
    #[serde(default, skip_serializing_if = "Flat::is_null")]
    pub x: Flat,
    /// Labels that must not be played in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The label played without a learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// The outcome of an event, logged with it and compared when the event is applied again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Feedback of decisions, in order: a reward, or that there will never be one. Precedes the
    /// decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<(String, Option<f64>)>,
    /// The decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Decision>,
    /// Whether the labels were not chosen by the learner.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imposed: bool,
    /// For a change of labels: how many there were before, retired ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<u32>,
}

impl Event {
    /// The decision that the event refers to, if any.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Decide(decide) => Some(&decide.id),
            Self::Feedback { id, .. }
            | Self::Activate { id }
            | Self::Ask { id, .. }
            | Self::Label { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether the settings of the model may be others afterwards.
    pub(crate) fn is_about_settings(&self) -> bool {
        match self {
            Self::Configure { .. } | Self::Labels { .. } => true,
            Self::Followed { of, .. } => matches!(**of, Self::Labels { .. }),
            _ => false,
        }
    }

    /// The id of the decision or row that the event starts, if any.
    pub(crate) fn new_id(&mut self) -> Option<&mut String> {
        match self {
            Self::Decide(decide) => Some(&mut decide.id),
            Self::Ask { id, .. } => Some(id),
            _ => None,
        }
    }
}

impl Decide {
    /// The id of the decision about slot `at`, the event's own without slots.
    pub fn id_of(&self, at: usize) -> String {
        match self.slots.get(at) {
            Some(slot) => slot_id(&self.id, &slot.id),
            None => self.id.clone(),
        }
    }

    /// Number of requested labels.
    pub fn wanted(&self) -> usize {
        self.slots.len().max(1)
    }
}

/// The id of the decision about a slot.
pub fn slot_id(event: &str, slot: &str) -> String {
    format!("{event}/{slot}")
}
