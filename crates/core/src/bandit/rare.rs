//! What [`auto`](super::auto) adds where rewards are rare: the forecasts of the [pooled](super::pooled)
//! model, and whether the two mixtures still earn their time.
//!
//! The pooled model learns in every round. At rounds 512, 1024, 2048 and so on rewards are *found to be rare*
//! if their mean so far is below 0.05 and the pooled model has lost at least 5 nats less than the two
//! mixtures together. From then on its forecasts $s$ join, by the log losses of all rounds so far,
//!
//! $$ \hat f_a \leftarrow w\ \hat f_a + (1 - w)\ s_a, \tag{1} $$
//!
//! and at that round and the later ones of the list a mixture is dropped, for good, that has lost 20 nats
//! more than the best part in all rounds, and 3 nats more since the round of the list before: it takes most
//! of the time, and rare rewards teach it little. Before rewards are found to be rare, nothing of this
//! changes a bit of what is played.
//!
//! In the rounds from the one in which the pooled model joins, (1) loses at most $2 \ln 2$ nats more than it.

use crate::example::Features;
use crate::experts::mixture::Mixture;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::Tensor;

use super::pooled::Pooled;

/// The indices of the parts: a mixture over all labels, a mixture for each label, and the pooled model.
pub(super) const COUPLED: usize = 0;
pub(super) const SEPARATE: usize = 1;
const POOLED: usize = 2;

/// The number of parts.
pub(super) const PARTS: usize = 3;

/// The first round in which the losses are compared.
const FIRST_CHECK: u64 = 512;

/// Rewards can be rare if their mean is below this one.
const RARE: f64 = 0.05;

/// How many nats less the pooled model has to have lost.
const LEAD: f64 = 5.0;

/// How many nats more than the best part a mixture has to have lost to be dropped, in all rounds and since
/// the last comparison.
const DROP_ABOVE: [f64; 2] = [20.0, 3.0];

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Rare {
    pooled: Pooled,
    /// Weights of the two mixtures together, and of the pooled model.
    weights: Mixture,
    /// 1 if rewards have been found to be rare, otherwise 0.
    found: u64,
    /// For each part 1 if it was dropped, otherwise 0.
    dropped: [u64; PARTS],
    /// The log losses of the parts in all rounds, and since the last comparison.
    losses: [f64; PARTS],
    latest: [f64; PARTS],
    /// The log loss of the two mixtures together.
    together: f64,
}

impl Rare {
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            pooled: Pooled::new(problem.classes, problem.features),
            weights: Mixture::new(&[1.0, 1.0]),
            found: 0,
            dropped: [0; PARTS],
            losses: [0.0; PARTS],
            latest: [0.0; PARTS],
            together: 0.0,
        }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(problem: &Problem) -> usize {
        Pooled::numbers(problem)
    }

    /// Whether `part` still learns and forecasts.
    pub(super) fn keeps(&self, part: usize) -> bool {
        self.dropped[part] == 0
    }

    /// Writes the pooled model's forecasts to `out.probabilities`; `scores` is a buffer for all labels.
    pub(super) fn forecast(&self, x: Features<'_>, out: &mut Prediction, scores: &mut [f64]) {
        out.probabilities.resize(scores.len(), 0.0);
        let mut rewards = std::mem::take(&mut out.probabilities);
        self.pooled.forecast(x, out, scores, &mut rewards);
        out.probabilities = rewards;
    }

    /// Equation (1) for the forecast `together` of the two mixtures and `pooled` of the pooled model.
    pub(super) fn joined(&self, together: f64, pooled: f64) -> f64 {
        if self.found == 0 {
            return together;
        }
        let weights = self.weights.weights();
        weights[0] * together + weights[1] * pooled
    }

    /// Learns the reward of `label`, the log losses of the parts for it, and that of the two mixtures
    /// `together`, whose weights are `pair`.
    pub(super) fn learn(
        &mut self,
        x: Features<'_>,
        (label, reward): (usize, f64),
        losses: [f64; PARTS],
        together: f64,
        pair: &mut Mixture,
    ) {
        self.pooled.learn(x, label, reward);
        if self.keeps(COUPLED) || self.keeps(SEPARATE) {
            self.weights.update(&[together, losses[POOLED]]);
        }
        for (sums, loss) in self.losses.iter_mut().zip(&mut self.latest).zip(losses) {
            *sums.0 += loss;
            *sums.1 += loss;
        }
        self.together += together;
        let rounds = self.pooled.rounds();
        if rounds >= FIRST_CHECK && rounds.is_power_of_two() {
            let rare = self.pooled.rewards() < RARE * rounds as f64;
            self.found |= u64::from(rare && self.losses[POOLED] + LEAD < self.together);
            if rare && self.found > 0 {
                self.drop_worse(pair);
            }
            self.latest = [0.0; PARTS];
        }
    }

    /// Drops mixtures that are far worse than the best part.
    fn drop_worse(&mut self, pair: &mut Mixture) {
        let least = [&self.losses, &self.latest].map(|losses| {
            let kept = (0..PARTS).filter(|part| self.keeps(*part));
            kept.map(|part| losses[part]).fold(f64::INFINITY, f64::min)
        });
        for part in [COUPLED, SEPARATE] {
            let above = [self.losses[part] - least[0], self.latest[part] - least[1]];
            if !self.keeps(part) || above[0] < DROP_ABOVE[0] || above[1] < DROP_ABOVE[1] {
                continue;
            }
            self.dropped[part] = 1;
            if self.keeps(COUPLED) || self.keeps(SEPARATE) {
                pair.retire(part);
            } else {
                self.weights.retire(0);
            }
        }
    }

    pub(super) fn grow(&mut self, classes: usize, features: usize) {
        self.pooled.grow(classes, features);
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = vec![
            Tensor::count("found", &mut self.found),
            Tensor::counts("dropped", &mut self.dropped),
            Tensor::vector("losses", &mut self.losses),
            Tensor::vector("latest", &mut self.latest),
            Tensor::number("together", &mut self.together),
        ];
        tensors.extend(self.pooled.tensors().into_iter().map(|tensor| tensor.within("pooled")));
        tensors.extend(self.weights.tensors().into_iter().map(|tensor| tensor.within("weights")));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        let flags = self.found <= 1 && self.dropped.iter().all(|dropped| *dropped <= 1);
        flags && self.dropped[POOLED] == 0 && self.pooled.restored() && self.weights.restored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// Rounds of one label and the row 1, with a reward in every `every`-th one; the mixtures lose what is
    /// given.
    fn learnt(rounds: u64, every: u64, coupled: f64, separate: f64) -> (Rare, Mixture) {
        let (mut rare, mut pair) = (Rare::new(&Problem::new(2, 1)), Mixture::new(&[1.0, 1.0]));
        for round in 0..rounds {
            let losses = [coupled, separate, 0.1];
            pair.update(&losses[..2]);
            let reward = if round % every == 0 { 1.0 } else { 0.0 };
            let together = coupled.min(separate);
            rare.learn(Features::Dense(&[1.0]), (0, reward), losses, together, &mut pair);
        }
        (rare, pair)
    }

    /// Nothing is found before round 512, where rewards are common, or where the mixtures are as good.
    #[test]
    fn rare_rewards_are_found_by_rate_and_losses() {
        let at = |(rare, _): &(Rare, Mixture)| (rare.found, rare.joined(0.2, 0.4));
        assert_eq!(at(&learnt(511, 100, 0.2, 0.2)), (0, 0.2));
        assert_eq!(at(&learnt(512, 19, 0.2, 0.2)), (0, 0.2), "common");
        assert_eq!(at(&learnt(512, 100, 0.11, 0.109)), (0, 0.2), "as good: 4.6 nats");
        let (found, joined) = at(&learnt(512, 100, 0.11, 0.11));
        assert_eq!(found, 1, "5.1 nats");
        assert!(joined > 0.38 && joined < 0.4, "{joined}");
    }

    /// Per round 0.05 nats are 25.6 in 512 rounds, and 0.03 are 15.4, and 30.7 in 1024.
    #[test]
    fn mixtures_far_behind_are_dropped() {
        let (rare, pair) = learnt(512, 100, 0.15, 0.13);
        assert_eq!(rare.dropped, [1, 0, 0]);
        assert_close(pair.weights()[SEPARATE], 1.0, 1e-12, "what is left");
        let (rare, _) = learnt(1024, 100, 0.15, 0.13);
        assert_eq!(rare.dropped, [1, 1, 0]);
        assert_close(rare.joined(0.9, 0.4), 0.4, 1e-12, "the pooled model alone");
        let (rare, _) = learnt(1024, 19, 0.15, 0.13);
        assert_eq!(rare.dropped, [0, 0, 0], "common");
    }
}
