//! What happens to a model: events, in the order in which the log has them. A model is its first snapshot and
//! its events, nothing else; the clock is read by whoever makes an event, never by what an event does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use noregret::prediction::Decision;

use super::flat::Flat;
use super::spec::Service;

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A row with its label is learnt from, after it was predicted.
    Learn {
        /// The features.
        x: Value,
        /// The label, a number for learners of numbers, or a list of probabilities.
        y: Value,
        /// The importance weight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
    },
    /// A row is forecast whose label comes later.
    Ask {
        /// What the row is called.
        id: String,
        /// The features.
        x: Value,
    },
    /// The label of a row that was forecast before.
    Label {
        /// The row.
        id: String,
        /// The label, as in [`Event::Learn`].
        y: Value,
        /// The importance weight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
    },
    /// What happened to the model that this one shadows.
    Followed {
        /// As which event of that model.
        seq: u64,
        /// The event.
        of: Box<Event>,
        /// What it came to.
        outcome: Box<Outcome>,
    },
    /// A label is decided on, or one for each slot.
    Decide(Decide),
    /// What a decision earned.
    Feedback {
        /// The decision.
        id: String,
        /// The reward; for learners of right and wrong 1 or 0.
        reward: f64,
    },
    /// A decision that was deferred has been acted on: from here its waiting time runs, and rewards count.
    Activate {
        /// The decision.
        id: String,
    },
    /// The waiting time of these decisions is over.
    Expire {
        /// The decisions, the oldest first.
        ids: Vec<String>,
    },
    /// The model was replaced by a snapshot, which has this digest.
    Restored {
        /// The digest.
        digest: String,
    },
    /// Other waiting time, default reward, mode and so on, from here on.
    Configure {
        /// All of it.
        service: Box<Service>,
    },
}

/// A decision that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decide {
    /// Its id.
    pub id: String,
    /// The features of the round.
    pub x: Flat,
    /// The labels on offer; `None`: all that the model knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<Offered>>,
    /// Labels on offer that must not be played.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Slots that are filled one after the other, each with a label of its own; empty: one label is wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// Whether nothing counts until the decision is activated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

/// A label on offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// Its name.
    pub label: String,
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
    /// The label that would have been played without a learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// What the log keeps of an event beside the event: what it must come to when it is done again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was heard of decisions, in order: a reward, or that nothing ever will be. Before the decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<(String, Option<f64>)>,
    /// The decisions that were taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Decision>,
    /// Whether the learner did not choose their labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imposed: bool,
}

impl Event {
    /// The decision that it is about, if it is about one.
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

    /// The id that it gives to what it begins, if it begins something.
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

    /// How many labels are wanted.
    pub fn wanted(&self) -> usize {
        self.slots.len().max(1)
    }
}

/// The id of the decision about a slot.
pub fn slot_id(event: &str, slot: &str) -> String {
    format!("{event}/{slot}")
}
