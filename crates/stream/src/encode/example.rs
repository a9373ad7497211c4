//! Examples, the input of learners.

use noregret::example::{Batch, Features, Label, Target, Truth};
use noregret::learner::Accepts;
use noregret::prediction::Reward;
use noregret::problem::Problem;
use serde::{Deserialize, Serialize};

/// One example, with reused buffers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Example {
    pub(super) sparse: bool,
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
    pub(super) truth: OwnedTruth,
    pub(super) distribution: Vec<f64>,
    pub(super) weight: f64,
    #[serde(default)]
    pub(super) tag: String,
    /// The classes on offer, ascending; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offered: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum OwnedTruth {
    #[default]
    Missing,
    Class(Label),
    Distribution,
    Value(f64),
    /// The rewards of all classes are in the distribution.
    Rewards,
    /// Another policy has played a class.
    Logged(Logged),
}

/// A class that another policy has played, and its reward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// The class.
    pub label: Label,
    /// The probability with which it was played, in (0, 1].
    pub probability: f64,
    /// Its reward, in [0, 1].
    pub reward: f64,
}

impl Example {
    /// The features.
    pub fn features(&self) -> Features<'_> {
        if self.sparse {
            Features::Sparse { indices: &self.indices, values: &self.values }
        } else {
            Features::Dense(&self.values)
        }
    }

    /// Whether this example, from an untrusted source, fits a learner of `problem` that accepts `accepts`.
    pub fn fits(&self, problem: &Problem, accepts: Accepts) -> bool {
        let layout = self.features().fits(problem.features, accepts.plain);
        let truth = match self.truth {
            OwnedTruth::Missing => true,
            OwnedTruth::Class(label) => label.index() < problem.classes,
            OwnedTruth::Distribution | OwnedTruth::Rewards => self.distribution.len() == problem.classes,
            OwnedTruth::Value(value) => value.is_finite(),
            OwnedTruth::Logged(Logged { label, probability, reward }) => {
                label.index() < problem.classes
                    && probability > 0.0
                    && probability <= 1.0
                    && Reward::new(reward).is_some()
            }
        };
        let offered = self.offered.is_sorted_by(|a, b| a < b)
            && self.offered.last().is_none_or(|last| (*last as usize) < problem.classes);
        let mut numbers = self.values.iter().chain(&self.distribution).chain([&self.weight]);
        layout && truth && offered && self.weight >= 0.0 && numbers.all(|number| number.is_finite())
    }

    /// Sets the importance weight, >= 0; examples of weight 0 are not learnt.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// The target; `None` for an unlabelled example, or one of weight 0.
    pub fn target(&self) -> Option<Target<'_>> {
        if self.weight == 0.0 {
            return None;
        }
        let target = match self.truth {
            OwnedTruth::Missing | OwnedTruth::Rewards | OwnedTruth::Logged(_) => return None,
            OwnedTruth::Class(label) => Target::class(label),
            OwnedTruth::Distribution => Target::distribution(&self.distribution),
            OwnedTruth::Value(value) => Target::value(value),
        };
        Some(target.weighted(self.weight))
    }

    /// The decision of another policy, if there is one.
    pub fn logged(&self) -> Option<Logged> {
        match self.truth {
            OwnedTruth::Logged(logged) if self.weight > 0.0 => Some(logged),
            _ => None,
        }
    }

    /// The reward of class `label`, if the rewards of all classes are known: 1 for the right class and 0
    /// for others, or a given reward.
    pub fn reward(&self, label: u32) -> Option<Reward> {
        match self.truth {
            OwnedTruth::Class(right) if self.weight > 0.0 => Some((right.0 == label).into()),
            OwnedTruth::Rewards if self.weight > 0.0 => Reward::new(self.distribution[label as usize]),
            _ => None,
        }
    }

    /// The classes that are on offer, ascending; empty: all.
    pub fn offered(&self) -> &[u32] {
        &self.offered
    }

    /// The name of the row, empty if it has none.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// An unlabelled example of the features `x`.
    pub fn of(x: Features<'_>) -> Self {
        let indices = match x {
            Features::Dense(_) => None,
            Features::Sparse { indices, .. } => Some(indices.to_vec()),
        };
        let (sparse, values) = (indices.is_some(), x.values().to_vec());
        Self { sparse, indices: indices.unwrap_or_default(), values, weight: 1.0, ..Self::default() }
    }

    /// A dense example of weight 1, for tests and generators.
    pub fn dense(values: &[f64], label: Option<Label>) -> Self {
        let truth = label.map_or(OwnedTruth::Missing, OwnedTruth::Class);
        Self { values: values.to_vec(), truth, weight: 1.0, ..Self::default() }
    }

    /// Sets the target; `None` makes the example unlabelled, of weight 1.
    pub fn set_target(&mut self, target: Option<Target<'_>>) {
        self.weight = target.map_or(1.0, |target| target.weight);
        self.truth = match target.map(|target| target.truth) {
            None => OwnedTruth::Missing,
            Some(Truth::Class(label)) => OwnedTruth::Class(label),
            Some(Truth::Value(value)) => OwnedTruth::Value(value),
            Some(Truth::Distribution(y)) => {
                self.distribution.clear();
                self.distribution.extend_from_slice(y);
                OwnedTruth::Distribution
            }
        };
    }

    /// The same for a learner that has grown from `before` to `after` features, the new ones being 0.
    pub fn widen(&mut self, before: usize, after: usize) {
        if self.sparse || after <= before {
            return;
        }
        let more = after - before;
        // Of two views, the first ends in the middle.
        if self.values.len() == 2 * before {
            self.values.splice(before..before, std::iter::repeat_n(0.0, more));
        }
        self.values.resize(self.values.len() + more, 0.0);
    }

    /// Sets these features, given in increasing order, to 0.
    pub(super) fn remove(&mut self, features: &[u32]) {
        if !self.sparse {
            features.iter().for_each(|feature| self.values[*feature as usize] = 0.0);
            return;
        }
        let kept = |feature: &u32| features.binary_search(feature).is_err();
        // One value for every index, or several ([`Features::views`]).
        let pairs = self.indices.iter().cycle().zip(&self.values);
        self.values = pairs.filter(|(feature, _)| kept(feature)).map(|(_, value)| *value).collect();
        self.indices.retain(kept);
    }

    /// Copies `other`, reusing the buffers.
    pub fn copy_from(&mut self, other: &Example) {
        self.sparse = other.sparse;
        self.indices.clone_from(&other.indices);
        self.values.clone_from(&other.values);
        self.truth = other.truth;
        self.distribution.clone_from(&other.distribution);
        self.weight = other.weight;
        self.tag.clone_from(&other.tag);
        self.offered.clone_from(&other.offered);
    }
}

/// Examples that have not been learnt yet.
#[derive(Debug)]
pub struct Announced<'a> {
    /// The available examples.
    pub known: &'a [Example],
    /// Their number including those that are not available yet, which are represented by empty rows.
    pub len: usize,
}

impl Batch for Announced<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn features(&self, at: usize) -> Features<'_> {
        self.known.get(at).map_or(Features::Sparse { indices: &[], values: &[] }, Example::features)
    }
}
