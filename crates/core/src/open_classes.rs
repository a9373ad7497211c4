//! Open sets of classes: the learner grows when a new class appears, and probability is reserved
//! for the next one.
//!
//! In round $t = 1, 2, \dots$ new classes have probability $1/t$, and the known ones the rest, in
//! the learner's proportions. The first appearance of a class in round $t$ has loss $\ln t$, and
//! the reserve costs $\ln T$ in $T$ rounds; both are part of the reported loss (theory: extensions
//! 2.2). For learners without probabilities nothing is reserved.
//!
//! Choices that depend on the number of classes (parameters of theorems, members of a mixture) are
//! made for two classes.

use crate::algorithm::Forecast;
use crate::capability::{Inside, LookAhead};
use crate::example::{Features, LEAST_PROBABILITY, Target, Truth};
use crate::hand_on;
use crate::learner::{OnlineLearner, Predictor};
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::problem::Problem;

/// The least number of classes for which a learner is made.
pub const FEWEST: usize = 2;

/// A learner that grows by every new class. Classes are numbered in order of appearance; the last
/// class of a prediction stands for any new one.
///
/// Feedback must be immediate.
#[derive(Debug)]
pub struct OpenClasses<L> {
    inner: L,
    /// Whether probability is reserved for new classes.
    reserves: bool,
    /// Number of known classes.
    seen: usize,
    rounds: u64,
    /// Losses of first appearances, in nats.
    costs: Vec<f64>,
    /// A prediction in the learner's state after it has grown.
    grown: Prediction,
}

impl<L: OnlineLearner> OpenClasses<L> {
    /// Wraps `inner`, which must be able to grow, without known classes.
    pub fn new(inner: L, forecast: Forecast) -> Self {
        let (reserves, grown) = (forecast == Forecast::Probabilities, inner.prediction());
        Self { inner, reserves, seen: 0, rounds: 0, costs: Vec::new(), grown }
    }

    /// The learner, and the loss of the first appearance of every class.
    pub fn into_parts(self) -> (L, Vec<f64>) {
        (self.inner, self.costs)
    }

    /// The probability of new classes.
    fn reserve(&self) -> f64 {
        match (self.reserves, self.seen) {
            (_, 0) => 1.0,
            (true, _) => 1.0 / (self.rounds + 1) as f64,
            (false, _) => 0.0,
        }
    }
}

impl<L: OnlineLearner> Predictor for OpenClasses<L> {
    fn problem(&self) -> &Problem {
        self.inner.problem()
    }

    fn prediction(&self) -> Prediction {
        Prediction { members: vec![self.inner.prediction()], ..Prediction::sized(self.seen + 1, 0) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scores, probabilities, members, .. } = out;
        let inner = &mut members[0];
        if inner.scores.len() != self.inner.problem().classes {
            *inner = self.inner.prediction();
        }
        self.inner.predict(x, inner);
        let (known, reserve) = (self.seen, self.reserve());
        let total: f64 = inner.probabilities[..known].iter().sum();
        let share = |p: &f64| if total > 0.0 { p / total } else { 1.0 / known as f64 };
        probabilities.clear();
        probabilities.extend(inner.probabilities[..known].iter().map(|p| (1.0 - reserve) * share(p)));
        probabilities.push(reserve);
        if self.reserves {
            scores.resize(known + 1, 0.0);
            out.set_scores_to_logarithms();
        } else {
            let least = inner.scores[..known].iter().copied().fold(0.0, f64::min);
            scores.clear();
            scores.extend_from_slice(&inner.scores[..known]);
            scores.push(least - 1.0);
        }
    }
}

impl<L: OnlineLearner> OnlineLearner for OpenClasses<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        match y.truth {
            Truth::Class(label) if label.index() >= self.seen => {
                // Avoids -0 for the first class.
                self.costs.push(0.0 - at.probabilities[self.seen].max(LEAST_PROBABILITY).ln());
                self.seen = label.index() + 1;
                if self.seen > self.inner.problem().classes {
                    let grown = self.inner.grow(self.seen, self.inner.problem().features);
                    assert!(grown, "only learners that can grow are given an open set of classes");
                    self.grown = self.inner.prediction();
                }
                // The prediction of the learner that has room for the class.
                self.inner.predict(x, &mut self.grown);
                self.inner.update(x, y, &self.grown);
            }
            _ => self.inner.update(x, y, &at.members[0]),
        }
        self.rounds += 1;
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let grown = self.inner.grow(classes, features);
        if grown {
            self.grown = self.inner.prediction();
        }
        grown
    }

    hand_on! { self.inner;
        fn rounds(&self) -> u64;
        fn look_ahead(&mut self) -> Option<&mut dyn LookAhead>;
        fn set_workers(&mut self, workers: Workers);
        fn inside(&self) -> Option<&dyn Inside>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Model;
    use crate::registry::find;

    fn learner(name: &str) -> Box<dyn Model> {
        find(name).expect("registered").make(&Default::default(), Problem::new(FEWEST, 2), 0).expect("valid")
    }

    /// The loss of every round, and the learner afterwards.
    fn play(name: &str, labels: &[usize]) -> (Vec<f64>, Box<dyn Model>, Vec<f64>) {
        let inner = learner(name);
        let forecast = inner.about().forecast;
        let mut open = OpenClasses::new(inner, forecast);
        let mut at = open.prediction();
        let mut losses = Vec::new();
        for (t, label) in labels.iter().enumerate() {
            let x = [1.0, f64::from(t as u32 % 3)];
            open.predict(Features::Dense(&x), &mut at);
            assert!((at.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12 && at.is_finite());
            losses.push(-at.probabilities[*label].ln());
            open.update(Features::Dense(&x), Target::class(*label), &at);
        }
        let (inner, costs) = open.into_parts();
        (losses, inner, costs)
    }

    /// The first class has loss 0. A second one in round 2 has loss ln 2, a third in round 5 loss ln 5.
    #[test]
    fn first_appearances_cost_the_logarithm_of_the_round() {
        for name in ["auto", "folklore", "ogd"] {
            let (losses, learner, costs) = play(name, &[0, 1, 0, 1, 2, 2, 0]);
            for (cost, round) in costs.iter().zip([1.0f64, 2.0, 5.0]) {
                assert!((cost - round.ln()).abs() < 1e-12, "{name}: {costs:?}");
            }
            assert_eq!((costs.len(), learner.problem().classes), (3, 3), "{name}");
            assert!(losses.iter().all(|loss| loss.is_finite()), "{name}: {losses:?}");
        }
    }

    /// In rounds without a new class, the loss is the learner's own plus that of the reserve; the sum of the
    /// latter telescopes to ln T.
    #[test]
    fn the_reserve_costs_the_logarithm_of_the_rounds() {
        let labels: Vec<usize> = (0..200).map(|t| t % 2).collect();
        let (losses, ..) = play("folklore", &labels);
        let mut closed = learner("folklore");
        let (mut at, mut total) = (closed.prediction(), 0.0);
        for (t, label) in labels.iter().enumerate() {
            let x = [1.0, f64::from(t as u32 % 3)];
            closed.predict(Features::Dense(&x), &mut at);
            total += if t > 1 { -at.probabilities[*label].ln() } else { 0.0 };
            closed.update(Features::Dense(&x), Target::class(*label), &at);
        }
        let open: f64 = losses.iter().sum();
        assert!((open - total - 200f64.ln()).abs() < 1e-9, "{open} against {total}");
    }
}
