//! Whether the learner's confidence can be trusted: calibration, and the error among the rounds it is surest of.

/// Ranges of equal width for the reliability curve.
const BINS: usize = 15;
/// Ranges of confidence: eight for each halving of the remaining doubt.
const STEPS: usize = 8 * 40;

/// Counts by the probability of the label played.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    bins: [Sums; BINS],
    steps: Vec<Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    rounds: f64,
    probability: f64,
    errors: f64,
}

/// A point of the reliability curve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Bin {
    pub(super) rounds: u64,
    pub(super) probability: f64,
    pub(super) frequency: f64,
}

impl Default for Trust {
    fn default() -> Self {
        Self { bins: [Sums::default(); BINS], steps: vec![Sums::default(); STEPS] }
    }
}

impl Trust {
    /// The label was played with this `probability` of being right.
    pub(super) fn add(&mut self, probability: f64, error: f64) {
        let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
        let step = ((-8.0 * (1.0 - probability).log2()) as usize).min(STEPS - 1);
        for sums in [&mut self.bins[bin], &mut self.steps[step]] {
            sums.rounds += 1.0;
            sums.probability += probability;
            sums.errors += error;
        }
    }

    /// The ranges that have come up.
    pub(super) fn reliability(&self) -> Vec<Bin> {
        let bins = self.bins.iter().filter(|sums| sums.rounds > 0.0);
        bins.map(|sums| Bin {
            rounds: sums.rounds as u64,
            probability: sums.probability / sums.rounds,
            frequency: 1.0 - sums.errors / sums.rounds,
        })
        .collect()
    }

    /// Expected calibration error: the mean of |frequency - probability| over the rounds.
    pub(super) fn calibration_error(&self) -> f64 {
        let rounds: f64 = self.bins.iter().map(|sums| sums.rounds).sum();
        let gap: f64 =
            self.bins.iter().map(|sums| (sums.rounds - sums.errors - sums.probability).abs()).sum();
        gap / rounds.max(1.0)
    }

    /// Points (share of rounds answered, error rate among them), the surest first.
    pub(super) fn risk(&self) -> Vec<(f64, f64)> {
        let all: f64 = self.steps.iter().map(|sums| sums.rounds).sum();
        let (mut rounds, mut errors) = (0.0, 0.0);
        let steps = self.steps.iter().rev().filter(|sums| sums.rounds > 0.0);
        steps
            .map(|sums| {
                rounds += sums.rounds;
                errors += sums.errors;
                (rounds / all, errors / rounds)
            })
            .collect()
    }

    /// The same for somebody who knew which rounds would be errors, with this error rate over all.
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

    /// Four rounds at 0.9 of which three come true, one at 0.5 that does: |3 - 3.6| + |1 - 0.5| over 5.
    #[test]
    fn calibration_error_is_the_mean_gap() {
        let mut trust = Trust::default();
        [0.0, 0.0, 0.0, 1.0].into_iter().for_each(|error| trust.add(0.9, error));
        trust.add(0.5, 0.0);
        assert!((trust.calibration_error() - 1.1 / 5.0).abs() < 1e-12);
        assert_eq!(trust.reliability().len(), 2);
        let risk = trust.risk();
        assert_eq!(risk.len(), 2);
        assert_eq!((risk[0], risk[1]), ((0.8, 0.25), (1.0, 0.2)));
    }

    #[test]
    fn certainty_has_a_place() {
        let mut trust = Trust::default();
        trust.add(1.0, 0.0);
        trust.add(1.0 - 1e-9, 1.0);
        assert_eq!(trust.risk(), [(0.5, 0.0), (1.0, 0.5)]);
        assert_eq!(Trust::least_risk(0.25).last(), Some(&(1.0, 0.25)));
    }
}
