//! Observes a run for its report, in bounded memory.

use noregret::algorithm::Forecast;
use noregret::example::Truth;
use noregret::guarantee;
use noregret::prediction::argmax;

use super::confusion::Confusion;
use super::curves::{Curves, Promise};
use super::trust::Trust;
use crate::run::score::Score;
use crate::run::{Outcome, Sink};

/// Watches a run for its report.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(super) forecast: Forecast,
    pub(super) curves: Curves,
    pub(super) confusion: Confusion,
    pub(super) trust: Option<Trust>,
    /// The probability of labels other than the greedy one, summed over the rounds.
    explored: f64,
    /// The sum of losses, importance weights counted.
    loss: f64,
    /// Why certificate and bound are void at the end, if they are.
    pub(super) void: [Option<String>; 2],
}

impl Watch {
    /// Watches a learner of `forecast`.
    pub fn new(forecast: Forecast) -> Self {
        Self {
            forecast,
            curves: Curves::default(),
            confusion: Confusion::default(),
            trust: (forecast == Forecast::Probabilities).then(Trust::default),
            explored: 0.0,
            loss: 0.0,
            void: [None, None],
        }
    }

    /// Adds the last point of the run, with `certificate`, `bound` and members' `weights` of all rounds.
    pub fn finish(
        &mut self,
        score: &Score,
        certificate: Option<guarantee::Promise>,
        bound: Option<guarantee::Promise>,
        weights: Vec<(String, f64)>,
    ) {
        self.curves.end(score, self.explored);
        let (rounds, loss) = (score.rounds(), self.loss);
        self.void = [&certificate, &bound].map(|promise| Some(promise.as_ref()?.as_ref().err()?.to_string()));
        let [certificate, bound] = [certificate, bound].map(|promise| promise?.ok());
        self.curves.promise(Promise { rounds, loss, certificate, bound, weights });
    }

    /// The rounds after which the learner's loss, certificate and bound are known.
    pub fn promised_rounds(&self) -> Vec<u64> {
        self.curves.promises.iter().map(|promise| promise.rounds).collect()
    }
}

impl Sink for Watch {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        let Some(target) = outcome.target else { return Ok(()) };
        let before = score.rounds() - 1;
        if self.curves.wants_promise(before) {
            self.curves.promise(Promise {
                rounds: before,
                loss: self.loss,
                certificate: (outcome.certificate)().and_then(Result::ok),
                bound: (outcome.bound)().and_then(Result::ok),
                weights: (outcome.weights)(),
            });
        }
        self.loss += target.weight * outcome.round.loss;
        if let Truth::Class(truth) = target.truth {
            self.confusion.add(truth, outcome.played);
        }
        let probabilities = &outcome.prediction.probabilities;
        if self.forecast == Forecast::RandomisedLabel {
            self.explored += 1.0 - probabilities[argmax(&outcome.prediction.scores)];
        }
        if let Some(trust) = &mut self.trust {
            trust.add(outcome.prediction, target, outcome.round.error);
        }
        self.curves.observe(score, self.explored);
        Ok(())
    }
}
