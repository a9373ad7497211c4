//! Examples as learners see them.

use noregret::example::{Batch, Features, Label, Target, Truth};
use noregret::problem::Problem;
use serde::{Deserialize, Serialize};

/// One example as a learner sees it, owned, its buffers reused.
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
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum OwnedTruth {
    #[default]
    Missing,
    Class(Label),
    Distribution,
    Value(f64),
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

    /// Whether this, which comes from outside, is an example for a learner of `problem`.
    pub fn fits(&self, problem: &Problem) -> bool {
        let layout = if self.sparse {
            self.indices.len() == self.values.len()
                && self.indices.is_sorted_by(|a, b| a < b)
                && self.indices.last().is_none_or(|last| (*last as usize) < problem.features)
        } else {
            self.values.len() == problem.features
        };
        let truth = match self.truth {
            OwnedTruth::Missing => true,
            OwnedTruth::Class(label) => label.index() < problem.classes,
            OwnedTruth::Distribution => self.distribution.len() == problem.classes,
            OwnedTruth::Value(value) => value.is_finite(),
        };
        let mut numbers = self.values.iter().chain(&self.distribution).chain([&self.weight]);
        layout && truth && self.weight >= 0.0 && numbers.all(|number| number.is_finite())
    }

    /// Sets the importance weight, >= 0; 0 teaches nothing.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// The target; `None` for an unlabelled example, or one of weight 0, which teaches nothing.
    pub fn target(&self) -> Option<Target<'_>> {
        if self.weight == 0.0 {
            return None;
        }
        let target = match self.truth {
            OwnedTruth::Missing => return None,
            OwnedTruth::Class(label) => Target::class(label),
            OwnedTruth::Distribution => Target::distribution(&self.distribution),
            OwnedTruth::Value(value) => Target::value(value),
        };
        Some(target.weighted(self.weight))
    }

    /// The row's own name, empty where it has none.
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

    /// A dense example of weight 1, as tests and generators make it.
    pub fn dense(values: &[f64], label: Option<Label>) -> Self {
        let truth = label.map_or(OwnedTruth::Missing, OwnedTruth::Class);
        Self { values: values.to_vec(), truth, weight: 1.0, ..Self::default() }
    }

    /// Sets what is true of the example; `None` for one without a label, of weight 1.
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

    /// Sets these features, whose numbers increase, to 0.
    pub fn remove(&mut self, features: &[u32]) {
        if !self.sparse {
            features.iter().for_each(|feature| self.values[*feature as usize] = 0.0);
            return;
        }
        let kept = |feature: &u32| features.binary_search(feature).is_err();
        let pairs = self.indices.iter().copied().zip(self.values.iter().copied());
        (self.indices, self.values) = pairs.filter(|(feature, _)| kept(feature)).unzip();
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
    }
}

/// Examples that are still to come.
#[derive(Debug)]
pub struct Coming<'a> {
    /// Those that there are.
    pub known: &'a [Example],
    /// How many there are with those that may come; empty rows stand in for them.
    pub len: usize,
}

impl Batch for Coming<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn features(&self, at: usize) -> Features<'_> {
        self.known.get(at).map_or(Features::Sparse { indices: &[], values: &[] }, Example::features)
    }
}
