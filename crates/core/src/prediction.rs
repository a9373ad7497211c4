//! What a round computed before the truth was known.

use serde::{Deserialize, Serialize};

use crate::example::Label;

/// Everything that one prediction computed: made by the learner, owned and reused by the caller.
///
/// `update` takes the prediction back and reuses what is still true of it. A prediction that the learner has
/// outgrown (other rounds were learnt in between) keeps its scores, and `update` recomputes the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Scores $z_t$: logits of a probabilistic learner, margins of the others, the forecast itself for regression.
    pub scores: Vec<f64>,
    /// Probabilities $p_t$ of the classes: what is played, sampled from, or scored by log loss. Empty for regression.
    pub probabilities: Vec<f64>,
    /// Standard normals to use in the next `predict` instead of the learner's own: $K$ a sample, for learners that sample
    /// a distribution of logits. Usually empty; for traces and tests.
    pub normals: Vec<f64>,
    /// By-products of `predict` that `update` reuses; the layout belongs to the learner.
    pub(crate) scratch: Vec<f64>,
    /// Which state of the learner the scratch was computed with, see [`Prediction::stamp`].
    pub(crate) stamp: Option<u64>,
    /// The members' own predictions, for learners made of learners.
    pub(crate) members: Vec<Prediction>,
}

impl Prediction {
    /// A prediction with room for `scores` scores, as many probabilities, and `scratch` numbers of the learner's own.
    pub fn sized(scores: usize, scratch: usize) -> Self {
        Self {
            scores: vec![0.0; scores],
            probabilities: vec![0.0; scores],
            normals: Vec::new(),
            scratch: vec![0.0; scratch],
            stamp: None,
            members: Vec::new(),
        }
    }

    /// The class with the highest probability; among equals the first.
    pub fn top(&self) -> Label {
        Label::from(argmax(&self.probabilities))
    }

    /// Whether all scores are finite; otherwise the numbers outgrew what 64 bits can hold.
    pub fn is_finite(&self) -> bool {
        self.scores.iter().all(|score| score.is_finite())
    }

    /// Copies scores and probabilities of `other`, and lets go of the by-products: the small part that is worth
    /// keeping while feedback is late.
    pub fn keep(&mut self, other: &Prediction) {
        self.scores.clone_from(&other.scores);
        self.probabilities.clone_from(&other.probabilities);
        self.stamp = None;
        self.members.resize_with(other.members.len(), Prediction::default);
        for (mine, theirs) in self.members.iter_mut().zip(&other.members) {
            mine.keep(theirs);
        }
    }

    /// Whether the by-products were computed by the learner in the state that it calls `state`.
    pub(crate) fn is_fresh(&self, state: u64) -> bool {
        self.stamp == Some(state)
    }
}

/// The first index of the largest value. Exact comparison: among equal maxima the smallest index wins.
pub fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (at, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = at;
        }
    }
    best
}

/// Writes the distribution that plays class `top`, but with probability `rate` $= \varepsilon$ a uniformly random class:
/// $p_k = \varepsilon/K$, plus $1 - \varepsilon$ on `top`. `rate` is in [0, 1].
pub fn mix(top: usize, rate: f64, probabilities: &mut [f64]) {
    probabilities.fill(rate / probabilities.len() as f64);
    probabilities[top] += 1.0 - rate;
}

/// The smallest class with `uniform` < p_0 + … + p_k (inverse CDF in class order); if rounding leaves none, the
/// last class of positive probability.
///
/// `uniform` is in [0, 1).
pub fn draw(probabilities: &[f64], uniform: f64) -> Label {
    let mut total = 0.0;
    let mut last = 0;
    for (class, &p) in probabilities.iter().enumerate() {
        total += p;
        if uniform < total {
            return Label::from(class);
        }
        if p > 0.0 {
            last = class;
        }
    }
    Label::from(last)
}

/// A round under bandit feedback, as plain data: log it, store it, send it, learn from it later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// The round of the learner in which it was taken, from 1.
    pub round: u64,
    /// The class that was played.
    pub label: u32,
    /// The probability with which it was played: the one that importance weights use.
    pub probability: f64,
    /// The class with the best score.
    pub greedy: u32,
    /// The exploration rate $\gamma_t$ in force.
    pub exploration: f64,
    /// Whether the explore coin came up, for learners that toss one.
    pub explored: Option<bool>,
    /// Scores of all classes.
    pub scores: Vec<f64>,
    /// The whole distribution the label was drawn from.
    pub distribution: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_takes_the_first_of_equals() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(argmax(&[0.0, 0.0]), 0);
    }

    #[test]
    fn mix_explores_uniformly() {
        let mut p = [0.0; 4];
        mix(2, 0.5, &mut p);
        assert_eq!(p, [0.125, 0.125, 0.625, 0.125]);
    }

    #[test]
    fn draw_inverts_the_cdf_in_class_order() {
        let p = [0.25, 0.0, 0.5, 0.25];
        for (uniform, class) in [(0.0, 0), (0.2499, 0), (0.25, 2), (0.74, 2), (0.75, 3), (0.999, 3)] {
            assert_eq!(draw(&p, uniform), Label(class), "u = {uniform}");
        }
        assert_eq!(draw(&[0.3, 0.3, 0.0], 0.9), Label(1), "rounding leaves none: the last with p > 0");
    }
}
