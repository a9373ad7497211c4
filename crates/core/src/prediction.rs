//! What a round computed before the truth was known.

use serde::{Deserialize, Serialize};

use crate::example::{LEAST_PROBABILITY, Label};
use crate::kernel::softmax::quick_logarithms;

/// A prepared row, from whose products a learner with a second-order state made its scratch.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparedRow {
    /// The block of prepared rows, by its number among all of the learner.
    pub(crate) block: u64,
    /// The row's place in it.
    pub(crate) at: usize,
}

/// Everything that one prediction computed: made by the learner, owned and reused by the caller.
///
/// `update` takes the prediction back and reuses what is still true of it. A prediction that the learner has
/// outgrown (other rounds were learnt in between) keeps its scores, and `update` recomputes the rest. Only
/// that is saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Scores $z_t$: logits of a probabilistic learner, margins of the others, the forecast itself for
    /// regression.
    pub scores: Vec<f64>,
    /// Probabilities $p_t$ of the classes: what is played, sampled from, or scored by log loss. Empty for
    /// regression.
    pub probabilities: Vec<f64>,
    /// Probability of no answer, in [0, 1]: 0 for learners that always answer.
    pub abstain: f64,
    /// Standard normals to use in the next `predict` instead of the learner's own: $K$ a sample, for learners
    /// that sample a distribution of logits. Usually empty; for traces and tests.
    pub normals: Vec<f64>,
    /// By-products of `predict` that `update` reuses; the layout belongs to the learner.
    #[serde(skip)]
    pub(crate) scratch: Vec<f64>,
    /// Which state of the learner the scratch was computed with, see [`Prediction::stamp`].
    #[serde(skip)]
    pub(crate) stamp: Option<u64>,
    /// Where the scratch of learners with a second-order state comes from.
    #[serde(skip)]
    pub(crate) prepared: Option<PreparedRow>,
    /// By-products that `update` cannot recompute from the scores: they are kept while feedback is late.
    pub(crate) kept: Vec<f64>,
    /// The same for classes, nodes of trees and the like.
    pub(crate) indices: Vec<u32>,
    /// The members' own predictions, for learners made of learners.
    pub(crate) members: Vec<Prediction>,
}

impl Prediction {
    /// A prediction with room for `scores` scores, as many probabilities, and `scratch` numbers of the
    /// learner's own.
    pub fn sized(scores: usize, scratch: usize) -> Self {
        Self {
            scores: vec![0.0; scores],
            probabilities: vec![0.0; scores],
            abstain: 0.0,
            normals: Vec::new(),
            scratch: vec![0.0; scratch],
            stamp: None,
            prepared: None,
            kept: Vec::new(),
            indices: Vec::new(),
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

    /// Whether this, which comes from outside, has the sizes and none but finite numbers of a prediction like
    /// `model`; it may have fewer members.
    pub fn fits(&self, model: &Prediction) -> bool {
        let finite = |list: &[f64]| list.iter().all(|number| number.is_finite());
        let sizes = |at: &Prediction| (at.scores.len(), at.probabilities.len());
        let alike = sizes(self) == sizes(model) && self.kept.len() == model.kept.len();
        alike
            && finite(&self.scores)
            && finite(&self.probabilities)
            && finite(&self.kept)
            && self.members.len() <= model.members.len()
            && self.members.iter().zip(&model.members).all(|(mine, theirs)| mine.fits(theirs))
    }

    /// Copies scores and probabilities of `other`, and drops the by-products that can be recomputed: the
    /// small part that is worth keeping while feedback is late.
    pub fn keep(&mut self, other: &Prediction) {
        self.scores.clone_from(&other.scores);
        self.probabilities.clone_from(&other.probabilities);
        self.abstain = other.abstain;
        self.kept.clone_from(&other.kept);
        self.indices.clone_from(&other.indices);
        self.stamp = None;
        self.members.resize_with(other.members.len(), Prediction::default);
        for (mine, theirs) in self.members.iter_mut().zip(&other.members) {
            mine.keep(theirs);
        }
    }

    /// Makes the scores the logarithms of the probabilities, finite where those are 0.
    pub(crate) fn set_scores_to_logarithms(&mut self) {
        quick_logarithms(&self.probabilities, LEAST_PROBABILITY, &mut self.scores);
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

/// Writes the distribution that plays class `top`, but with probability `rate` $= \varepsilon$ a uniformly
/// random class: $p_k = \varepsilon/K$, plus $1 - \varepsilon$ on `top`. `rate` is in [0, 1].
pub fn mix(top: usize, rate: f64, probabilities: &mut [f64]) {
    probabilities.fill(rate / probabilities.len() as f64);
    probabilities[top] += 1.0 - rate;
}

/// The smallest class with `uniform` < p_0 + … + p_k (inverse CDF in class order); if rounding leaves none,
/// the last class of positive probability.
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

/// What a played label earned: 1 if it was right, 0 if it was wrong, or a number between.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Reward(f64);

impl Reward {
    /// The label was right.
    pub const RIGHT: Self = Self(1.0);

    /// The label was wrong.
    pub const WRONG: Self = Self(0.0);

    /// The reward `value`, if it is in [0, 1].
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The reward of `cost` between `least` and `most`: 1 for `least`, 0 for `most`. `None` outside, and
    /// where `least` < `most` fails.
    pub fn of_cost(cost: f64, least: f64, most: f64) -> Option<Self> {
        (least < most).then(|| Self::new((most - cost) / (most - least)))?
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether it is 1.
    pub fn is_right(self) -> bool {
        self.0 == 1.0
    }

    /// Whether it is 0 or 1: right or wrong, which every bandit learner accepts.
    pub fn is_verdict(self) -> bool {
        self.0 == 0.0 || self.0 == 1.0
    }
}

impl From<bool> for Reward {
    fn from(right: bool) -> Self {
        if right { Self::RIGHT } else { Self::WRONG }
    }
}

/// A round under bandit feedback, as plain data: log it, store it, send it, learn from it later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// The round of the learner in which it was taken, from 1.
    pub round: u64,
    /// The class that was played.
    pub label: u32,
    /// The probability with which it was played, > 0: the one that importance weights use.
    pub probability: f64,
    /// The class with the best score.
    pub greedy: u32,
    /// The exploration rate $\gamma_t$ in force, in [0, 1].
    pub exploration: f64,
    /// Whether the explore coin came up, for learners that toss one.
    pub explored: Option<bool>,
    /// Scores of all classes.
    pub scores: Vec<f64>,
    /// The whole distribution $p_t$ the label was drawn from.
    pub distribution: Vec<f64>,
    /// The distribution $q_t$ that exploration was mixed into, for learners whose $q_t$ is not all on
    /// `greedy`; else empty.
    pub forecast: Vec<f64>,
    /// The labels that could be played, strictly increasing; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<u32>,
    /// Room for the learner's `predict`, and what its `learn` can reuse. Never needed to learn.
    #[serde(skip)]
    pub(crate) work: Work,
}

/// By-products of a decision, which its copies do not carry: a decision that waits for feedback is small.
#[derive(Debug, Default)]
pub(crate) struct Work(pub(crate) Prediction);

impl Clone for Work {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Work {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Why a learner cannot learn from a decision, in one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the decision's {field} is {value}: must be {need}")]
pub struct DecisionError {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What was needed.
    pub need: String,
}

impl Decision {
    /// Checks a decision that comes from outside (a log, a client) for a learner of `classes` classes.
    pub fn check(&self, classes: usize) -> Result<(), DecisionError> {
        let refuse = |field, value: &dyn std::fmt::Display, need: String| {
            Err(DecisionError { field, value: value.to_string(), need })
        };
        for (field, label) in [("label", self.label), ("greedy", self.greedy)] {
            if label as usize >= classes {
                return refuse(field, &label, format!("a class from 0 to {}", classes - 1));
            }
        }
        if !(self.probability > 0.0 && self.probability <= 1.0) {
            return refuse("probability", &self.probability, "in (0, 1]".to_owned());
        }
        if !(0.0..=1.0).contains(&self.exploration) {
            return refuse("exploration", &self.exploration, "in [0, 1]".to_owned());
        }
        if self.round == 0 {
            return refuse("round", &self.round, "at least 1".to_owned());
        }
        let increasing = self.offered.is_sorted_by(|a, b| a < b);
        if !increasing || self.offered.last().is_some_and(|last| *last as usize >= classes) {
            let need = format!("strictly increasing classes from 0 to {}", classes - 1);
            return refuse("offered", &format!("{:?}", self.offered), need);
        }
        if !self.offered.is_empty() && self.offered.binary_search(&self.label).is_err() {
            return refuse("label", &self.label, "one of those on offer".to_owned());
        }
        let lists = [
            ("scores", &self.scores, f64::NEG_INFINITY),
            ("distribution", &self.distribution, 0.0),
            ("forecast", &self.forecast, 0.0),
        ];
        for (field, list, least) in lists {
            let empty = field == "forecast" && list.is_empty();
            if list.len() != classes && !empty {
                return refuse(field, &format!("of length {}", list.len()), format!("of length {classes}"));
            }
            if let Some(number) = list.iter().find(|number| !number.is_finite() || **number < least) {
                let need = if least == 0.0 { "finite numbers >= 0" } else { "finite numbers" };
                return refuse(field, number, need.to_owned());
            }
        }
        Ok(())
    }

    /// Starts the decision of round `round` among `classes` classes, with room for a score and a probability
    /// of each.
    pub(crate) fn start(&mut self, classes: usize, round: u64) {
        self.round = round;
        self.explored = None;
        self.scores.resize(classes, 0.0);
        self.distribution.resize(classes, 0.0);
        self.forecast.clear();
        self.offered.clear();
    }

    /// Plays the best score, but with probability `rate` a uniformly random class.
    pub(crate) fn explore_greedily(&mut self, rate: f64) {
        let top = argmax(&self.scores);
        self.greedy = Label::from(top).0;
        self.exploration = rate;
        mix(top, rate, &mut self.distribution);
    }

    /// Plays `forecast`, but with probability `rate` $= \gamma$ a uniformly random class:
    /// $p = (1 - \gamma) q + \gamma/K$.
    pub(crate) fn explore_forecast(&mut self, rate: f64) {
        self.greedy = Label::from(argmax(&self.scores)).0;
        self.exploration = rate;
        let uniform = rate / self.forecast.len() as f64;
        for (p, q) in self.distribution.iter_mut().zip(&self.forecast) {
            *p = (1.0 - rate) * q + uniform;
        }
    }

    /// Says which labels could be played; `None`: all.
    pub(crate) fn offer(&mut self, offered: Option<&[u32]>) {
        self.offered.clear();
        self.offered.extend_from_slice(offered.unwrap_or_default());
    }

    /// Says that `best` is the greedy label, and how much of the distribution is uniform play of the labels
    /// on offer.
    pub(crate) fn explores_around(&mut self, best: usize) {
        self.greedy = Label::from(best).0;
        let labels = crate::kernel::inverse_gap::indices(
            self.distribution.len(),
            Some(&self.offered[..]).filter(|offered| !offered.is_empty()),
        );
        let least = labels.map(|label| self.distribution[label]).fold(1.0, f64::min);
        self.exploration = (self.choices() as f64 * least).clamp(0.0, 1.0);
    }

    /// How many labels could be played.
    pub fn choices(&self) -> usize {
        if self.offered.is_empty() { self.distribution.len() } else { self.offered.len() }
    }

    /// Draws the label from the distribution by `uniform` in [0, 1).
    pub(crate) fn draw(&mut self, uniform: f64) {
        self.label = draw(&self.distribution, uniform).0;
        self.probability = self.distribution[self.label as usize];
    }

    /// Tosses the explore coin by `coin` in [0, 1), then draws the label by `uniform`: uniformly, or from the
    /// forecast.
    pub(crate) fn toss_and_draw(&mut self, coin: f64, uniform: f64) {
        let explored = coin < self.exploration;
        self.explored = Some(explored);
        self.label = if explored {
            let classes = self.distribution.len();
            ((uniform * classes as f64) as usize).min(classes - 1) as u32
        } else {
            draw(&self.forecast, uniform).0
        };
        self.probability = self.distribution[self.label as usize];
    }
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

    fn decision() -> Decision {
        let mut decision = Decision { scores: vec![1.0, 2.0, 0.0], ..Decision::default() };
        decision.start(3, 1);
        decision.explore_greedily(0.3);
        decision.draw(0.05);
        decision
    }

    #[test]
    fn decisions_survive_json() {
        let decision = decision();
        assert_eq!((decision.label, decision.greedy, decision.probability), (0, 1, 0.3 / 3.0));
        let json = serde_json::to_string(&decision).expect("plain data");
        let back: Decision = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, decision);
    }

    #[test]
    fn bad_decisions_are_refused() {
        assert_eq!(decision().check(3), Ok(()));
        let error = |change: fn(&mut Decision)| {
            let mut decision = decision();
            change(&mut decision);
            decision.check(3).expect_err("changed for the worse").to_string()
        };
        assert_eq!(error(|d| d.label = 3), "the decision's label is 3: must be a class from 0 to 2");
        assert_eq!(error(|d| d.probability = 0.0), "the decision's probability is 0: must be in (0, 1]");
        assert_eq!(
            error(|d| d.exploration = f64::NAN),
            "the decision's exploration is NaN: must be in [0, 1]"
        );
        assert_eq!(error(|d| d.round = 0), "the decision's round is 0: must be at least 1");
        assert_eq!(
            error(|d| d.scores.truncate(2)),
            "the decision's scores is of length 2: must be of length 3"
        );
        assert_eq!(
            error(|d| d.scores[1] = f64::INFINITY),
            "the decision's scores is inf: must be finite numbers"
        );
        assert_eq!(
            error(|d| d.forecast = vec![0.5, -0.5, 1.0]),
            "the decision's forecast is -0.5: must be finite numbers >= 0"
        );
    }

    /// The coin decides between the uniform distribution and the forecast; over both, the label has
    /// distribution p.
    #[test]
    fn a_tossed_coin_gives_the_same_distribution() {
        let mut decision = decision();
        decision.forecast = vec![0.5, 0.25, 0.25];
        decision.explore_forecast(0.25);
        let (steps, mut counts) = (48, [0.0; 3]);
        for coin in 0..steps {
            for uniform in 0..steps {
                let at = |step: i32| (f64::from(step) + 0.5) / f64::from(steps);
                decision.toss_and_draw(at(coin), at(uniform));
                assert_eq!(decision.explored, Some(4 * coin < steps));
                counts[decision.label as usize] += 1.0 / f64::from(steps * steps);
            }
        }
        for (count, p) in counts.iter().zip(&decision.distribution) {
            assert!((count - p).abs() < 1e-12, "{counts:?} for {:?}", decision.distribution);
        }
    }
}
