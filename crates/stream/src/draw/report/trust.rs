//! Reliability of the learner's probabilities: calibration, and the error rate among its most
//! confident rounds.

use noregret::example::Target;
use noregret::prediction::Prediction;

use crate::watch::abstain::{Abstention, Rule};
use crate::watch::calibration::{Calibration, Curve};

/// Counts by the probability of the most probable label.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    calibration: Calibration,
    answers: Abstention,
}

impl Default for Trust {
    fn default() -> Self {
        // The curve is the same for every rule.
        Self { calibration: Calibration::new(false), answers: Abstention::new(Rule::Cost(1.0)) }
    }
}

impl Trust {
    /// Adds a round: the forecast, the true label, and the error of the most probable label.
    pub(super) fn add(&mut self, at: &Prediction, target: Target<'_>, error: f64) {
        self.calibration.add(&at.probabilities, target);
        self.answers.add(at, error);
    }

    /// The reliability curve.
    pub(super) fn calibration(&self) -> Curve {
        self.calibration.report().top
    }

    /// Points (share of rounds answered, error rate among them), starting with the most confident
    /// rounds.
    pub(super) fn risk(&self) -> Vec<(f64, f64)> {
        self.answers.curve().iter().map(|point| (point.coverage, point.risk)).collect()
    }

    /// The same for an oracle that abstains exactly on errors, with this overall error rate.
    pub(super) fn least_risk(error: f64) -> Vec<(f64, f64)> {
        let right = 1.0 - error;
        let at = |step: i32| {
            let share = right + error * f64::from(step) / 20.0;
            (share, if share > 0.0 { 1.0 - right / share } else { 1.0 })
        };
        std::iter::once((0.0, 0.0)).chain((0..=20).map(at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(rounds: &[(f64, f64)]) -> Trust {
        let mut trust = Trust::default();
        for (probability, error) in rounds {
            let truth = usize::from(*error > 0.0);
            let mut at = Prediction::sized(2, 0);
            at.probabilities.copy_from_slice(&[*probability, 1.0 - probability]);
            trust.add(&at, Target::class(truth), *error);
        }
        trust
    }

    #[test]
    fn the_most_confident_rounds_are_first() {
        let trust = trust(&[(0.9, 0.0), (0.9, 0.0), (0.9, 0.0), (0.9, 1.0), (0.5, 0.0)]);
        assert_eq!(trust.risk(), [(0.8, 0.25), (1.0, 0.2)]);
        assert_eq!(trust.calibration().bins.len(), 2);
    }

    #[test]
    fn probability_one_is_counted() {
        let trust = trust(&[(1.0, 0.0), (1.0 - 1e-9, 1.0)]);
        assert_eq!(trust.risk(), [(0.5, 0.0), (1.0, 0.5)]);
        assert_eq!(Trust::least_risk(0.25).last(), Some(&(1.0, 0.25)));
    }
}
