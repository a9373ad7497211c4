//! Importance weights of classes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};
use crate::read::number::LARGEST_WEIGHT;

/// Importance weights by the names of classes, with which the weights of rows are multiplied when they are
/// learnt; 1 for a class without one. Saved with a model, which goes on with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct ClassWeights(BTreeMap<String, f64>);

impl ClassWeights {
    /// Whether no class has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The weights by class.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, weight)| (name.as_str(), *weight))
    }

    /// The weight of the class called `name`.
    pub fn of(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(1.0)
    }
}

impl TryFrom<BTreeMap<String, f64>> for ClassWeights {
    type Error = Fault;

    fn try_from(weights: BTreeMap<String, f64>) -> Result<Self, Fault> {
        let wrong = weights.iter().find(|(_, weight)| !(0.0..=LARGEST_WEIGHT).contains(*weight));
        if let Some((name, weight)) = wrong {
            return Err(fault!(
                "the class {name:?} has the weight {weight:?}: a number from 0 to {LARGEST_WEIGHT:e} was needed"
            ));
        }
        Ok(Self(weights))
    }
}

impl From<ClassWeights> for BTreeMap<String, f64> {
    fn from(weights: ClassWeights) -> Self {
        weights.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_not_negative() {
        let weights = |cat: f64| ClassWeights::try_from(BTreeMap::from([("cat".to_owned(), cat)]));
        let of = |name: &str| weights(2.5).expect("a weight").of(name);
        assert_eq!((of("cat"), of("dog")), (2.5, 1.0));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e31] {
            let error = weights(wrong).expect_err("no weight").to_string();
            assert!(error.starts_with(&format!("the class \"cat\" has the weight {wrong:?}")), "{error}");
        }
    }
}
