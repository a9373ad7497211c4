//! Predictions and decisions.

use serde::{Deserialize, Serialize};

use crate::example::{LEAST_PROBABILITY, Label};
use crate::kernel::inverse_gap::largest;
pub use crate::kernel::second_order::PreparedRow;
use crate::kernel::softmax::quick_logarithms;
pub use crate::kernel::vector::argmax;

/// The meaning of a learner's scores and probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Forecast {
    /// Scores are logits and probabilities their softmax: scored by log loss, deterministic.
    Probabilities,
    /// Scores are margins, and the best class has probability 1: scored by mistakes.
    Label,
    /// Scores are margins, the played label is drawn from the probabilities: scored by expected mistakes.
    RandomisedLabel,
    /// One score, a real number.
    Value,
}

/// A prediction with its by-products: written by the learner, owned and reused by the caller.
///
/// `update` reuses the by-products if the learner has not changed since; otherwise it recomputes
/// them from the scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Scores $z_t$: logits of a probabilistic learner, margins of the others, the forecast itself for
    /// regression.
    pub scores: Vec<f64>,
    /// Probabilities $p_t$ of the classes: what is played, sampled from, or scored by log loss. Empty for
    /// regression.
    pub probabilities: Vec<f64>,
    /// Probability of abstaining, in [0, 1]: 0 for learners that always predict.
    pub abstain: f64,
    /// Standard normals for the next `predict` in place of the learner's own: $K$ for each sample, for
    /// learners that sample a distribution of logits. Usually empty; for traces and tests.
    pub normals: Vec<f64>,
    /// By-products of `predict` that `update` reuses; the layout depends on the learner.
    #[serde(skip)]
    pub(crate) scratch: Vec<f64>,
    /// The state of the learner that computed the scratch, see [`Prediction::stamp`].
    #[serde(skip)]
    pub(crate) stamp: Option<u64>,
    /// The prepared row from which the scratch memory was computed, for learners with a second-order state.
    #[serde(skip)]
    pub(crate) prepared: Option<PreparedRow>,
    /// By-products that `update` cannot recompute from the scores: they are kept until feedback arrives.
    pub(crate) kept: Vec<f64>,
    /// As `kept`, for classes, nodes of trees and other integers.
    pub(crate) indices: Vec<u32>,
    /// The predictions of members, for learners that consist of learners.
    pub(crate) members: Vec<Prediction>,
    /// By-products as `scratch`, in the form of a prediction, for learners that replace a learner of their
    /// own.
    #[serde(skip)]
    pub(crate) nested: Option<Box<Prediction>>,
}

impl Prediction {
    /// A prediction with `scores` scores, as many probabilities, and scratch memory of `scratch` numbers.
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
            nested: None,
        }
    }

    /// The class with the highest probability; the first of several.
    pub fn top(&self) -> Label {
        Label::from(argmax(&self.probabilities))
    }

    /// Whether all scores are finite; otherwise there was an overflow.
    pub fn is_finite(&self) -> bool {
        self.scores.iter().all(|score| score.is_finite())
    }

    /// Whether all scores are finite and, for probabilities, below $2^{53}$ in magnitude: neighbouring
    /// numbers beyond are more than 1 apart, so that a softmax would consist of rounding errors.
    pub fn is_sound(&self, forecast: Forecast) -> bool {
        const LARGEST: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
        match forecast {
            Forecast::Probabilities => self.scores.iter().all(|score| score.abs() < LARGEST),
            _ => self.is_finite(),
        }
    }

    /// Whether this prediction, from an untrusted source, has the sizes of `model` (possibly fewer
    /// members) and only finite numbers.
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

    /// Copies scores and probabilities of `other`, and drops the by-products that can be recomputed, to save
    /// memory while feedback is late.
    pub fn keep(&mut self, other: &Prediction) {
        self.scores.clone_from(&other.scores);
        self.probabilities.clone_from(&other.probabilities);
        self.abstain = other.abstain;
        self.kept.clone_from(&other.kept);
        self.indices.clone_from(&other.indices);
        self.stamp = None;
        self.nested = None;
        self.members.resize_with(other.members.len(), Prediction::default);
        for (mine, theirs) in self.members.iter_mut().zip(&other.members) {
            mine.keep(theirs);
        }
    }

    /// Sets the scores to the logarithms of the probabilities, finite for probabilities of 0.
    pub(crate) fn set_scores_to_logarithms(&mut self) {
        quick_logarithms(&self.probabilities, LEAST_PROBABILITY, &mut self.scores);
    }

    /// Whether the by-products were computed by the learner in the state with the number `state`.
    pub(crate) fn is_fresh(&self, state: u64) -> bool {
        self.stamp == Some(state)
    }
}

/// Writes the distribution that plays class `top`, but with probability `rate` $= \varepsilon$ a uniformly
/// random class: $p_k = \varepsilon/K$, plus $1 - \varepsilon$ for `top`. `rate` is in [0, 1].
pub fn mix(top: usize, rate: f64, probabilities: &mut [f64]) {
    probabilities.fill(rate / probabilities.len() as f64);
    probabilities[top] += 1.0 - rate;
}

/// The smallest class $k$ with `uniform` < p_0 + … + p_k (inverse CDF in class order); if there is none
/// because of rounding, the last class of positive probability.
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

/// The reward of a played label: 1 if it was right, 0 if it was wrong, or a number in between.
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

    /// The reward of `cost` in the range from `least` to `most`: 1 for `least`, 0 for `most`. `None` outside
    /// the range, and unless `least` < `most`.
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

/// A decision under bandit feedback, as plain data that can be logged, stored, sent, and learnt
/// from later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// The number of the learner's round, from 1.
    pub round: u64,
    /// The class that was played.
    pub label: u32,
    /// The probability with which it was played, > 0, for importance weights.
    pub probability: f64,
    /// The class with the best score.
    pub greedy: u32,
    /// The exploration rate $\gamma_t$ in [0, 1].
    pub exploration: f64,
    /// The result of the explore coin, for learners that have one.
    pub explored: Option<bool>,
    /// Scores of all classes.
    pub scores: Vec<f64>,
    /// The distribution $p_t$ from which the label was drawn.
    pub distribution: Vec<f64>,
    /// The distribution $q_t$ that uniform play was mixed into, for learners whose $q_t$ has more than one
    /// class; otherwise empty.
    pub forecast: Vec<f64>,
    /// The labels on offer, strictly increasing; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<u32>,
    /// Scratch memory of the learner's `predict`, which `learn` may reuse but does not need.
    #[serde(skip)]
    pub(crate) work: Work,
}

/// By-products of a decision, omitted in copies, so that pending decisions are small.
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
    /// Takes the by-products of `other`, a decision for the same row, which copies leave out. If the learner
    /// has not changed since, [`BanditLearner::learn`](crate::learner::BanditLearner::learn) need not compute
    /// them again; its results are the same.
    pub fn take_by_products(&mut self, other: &mut Self) {
        self.work = std::mem::take(&mut other.work);
    }

    /// Checks a decision from an untrusted source (a log, a client) for a learner of `classes`
    /// classes.
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

    /// Starts the decision of round `round` among `classes` classes, with a score and a probability for each.
    pub(crate) fn start(&mut self, classes: usize, round: u64) {
        self.round = round;
        self.explored = None;
        self.scores.resize(classes, 0.0);
        self.distribution.resize(classes, 0.0);
        self.forecast.clear();
        self.offered.clear();
    }

    /// Plays the best score among `offered` (`None`: all), but with probability `rate` a uniformly random one
    /// of them.
    pub(crate) fn explore_greedily(&mut self, rate: f64, offered: Option<&[u32]>) {
        self.offer(offered);
        let top = largest(&self.scores, offered);
        self.greedy = Label::from(top).0;
        self.exploration = rate;
        let Some(offered) = offered else { return mix(top, rate, &mut self.distribution) };
        self.distribution.fill(0.0);
        for label in offered {
            self.distribution[*label as usize] = rate / offered.len() as f64;
        }
        self.distribution[top] += 1.0 - rate;
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

    /// Sets the labels on offer; `None` for all.
    pub(crate) fn offer(&mut self, offered: Option<&[u32]>) {
        self.offered.clear();
        self.offered.extend_from_slice(offered.unwrap_or_default());
    }

    /// Sets the greedy label `best`, and the rate of uniform play over the labels on offer.
    pub(crate) fn explores_around(&mut self, best: usize) {
        self.greedy = Label::from(best).0;
        let labels = crate::kernel::inverse_gap::indices(
            self.distribution.len(),
            Some(&self.offered[..]).filter(|offered| !offered.is_empty()),
        );
        let least = labels.map(|label| self.distribution[label]).fold(1.0, f64::min);
        self.exploration = (self.choices() as f64 * least).clamp(0.0, 1.0);
    }

    /// The same decision for a learner that has grown to `classes` classes since it was made: it was among
    /// the classes of then.
    pub fn widen(&mut self, classes: usize) {
        let known = self.distribution.len();
        if known >= classes {
            return;
        }
        if self.offered.is_empty() {
            self.offered.extend((0u32..).take(known));
        }
        self.scores.resize(classes, 0.0);
        self.distribution.resize(classes, 0.0);
        if !self.forecast.is_empty() {
            self.forecast.resize(classes, 0.0);
        }
        self.work = Work::default();
    }

    /// Number of labels on offer.
    pub fn choices(&self) -> usize {
        if self.offered.is_empty() { self.distribution.len() } else { self.offered.len() }
    }

    /// Draws the label from the distribution by `uniform` in [0, 1).
    pub(crate) fn draw(&mut self, uniform: f64) {
        self.label = draw(&self.distribution, uniform).0;
        self.probability = self.distribution[self.label as usize];
    }

    /// Tosses the explore coin with `coin` in [0, 1), then draws the label with `uniform`: uniformly, or from
    /// the forecast.
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

    #[test]
    fn what_is_not_on_offer_is_not_played() {
        let mut decision = Decision { scores: vec![1.0, 3.0, 0.0, 2.0], ..Decision::default() };
        decision.start(4, 1);
        decision.explore_greedily(0.5, Some(&[0, 2, 3]));
        assert_eq!((decision.greedy, decision.choices()), (3, 3));
        let third = 0.5 / 3.0;
        assert_eq!(decision.distribution, [third, 0.0, third, 0.5 + third]);
    }

    /// What was played of two classes, and of three, is a decision among the first of five.
    #[test]
    fn a_decision_is_widened() {
        let mut all = decision();
        all.widen(5);
        assert_eq!((&all.offered[..], all.choices(), all.check(5)), (&[0, 1, 2][..], 3, Ok(())));
        assert_eq!(all.distribution[3..], [0.0, 0.0]);
        let mut some = Decision { scores: vec![1.0, 3.0, 0.0], ..Decision::default() };
        some.start(3, 1);
        some.explore_greedily(0.5, Some(&[0, 2]));
        some.draw(0.9);
        some.widen(4);
        assert_eq!((&some.offered[..], some.label, some.check(4)), (&[0, 2][..], 2, Ok(())));
        some.widen(3);
        assert_eq!(some.check(4), Ok(()), "nothing shrinks");
    }

    fn decision() -> Decision {
        let mut decision = Decision { scores: vec![1.0, 2.0, 0.0], ..Decision::default() };
        decision.start(3, 1);
        decision.explore_greedily(0.3, None);
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

    /// The coin selects the uniform distribution or the forecast; in total, the label has distribution p.
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
