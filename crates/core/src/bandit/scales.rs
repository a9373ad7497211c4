//! Learnt exploration: several scales of inverse gap weighting, each weighted by an estimate of the reward
//! that it would have earned.
//!
//! $$ p = \sum_c u(c)\ p^c, \quad p^c_a = \frac{1}{K + c\sqrt{Kt}\ (\hat f_b - \hat f_a)}\ (a \ne b = \arg\max \hat f), \tag{1} $$
//! $$ \hat\ell_c = \sum_a p^c_a (1 - \hat f_a) + \frac{p^c_{a_t}}{p_{a_t}} (\hat f_{a_t} - r_t), \qquad
//!    u(c) \propto e^{-\eta_t \sum \hat\ell_c}, \quad \eta_t = \frac{0.3}{\sqrt{1 + t/100}}, \tag{2} $$
//!
//! for $K$ labels on offer; every scale keeps a weight of at least 0.02, so that $p^c/p \le 50$. The estimate
//! $\hat\ell_c$ is doubly robust: it is unbiased for all forecasts $\hat f$, and its variance is small if
//! they are accurate.

use crate::kernel::inverse_gap;
use crate::loss::logistic::sigmoid;
use crate::prediction::{Decision, Reward};
use crate::state::Tensor;

/// $c$: multiples of $\sqrt{Kt}$.
const SCALES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// The least weight of a scale.
const KEPT: f64 = 0.02;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Scales {
    /// $\sum \hat\ell_c$.
    sums: [f64; SCALES.len()],
    rounds: u64,
    losses: Vec<f64>,
    play: Vec<f64>,
}

impl Scales {
    /// $u_t$.
    fn weights(&self) -> [f64; SCALES.len()] {
        let rate = 0.3 / (1.0 + self.rounds as f64 / 100.0).sqrt();
        let least = self.sums.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights = self.sums.map(|sum| (-rate * (sum - least)).exp());
        let total: f64 = weights.iter().sum();
        let rest = 1.0 - KEPT * SCALES.len() as f64;
        weights.iter_mut().for_each(|weight| *weight = KEPT + rest * *weight / total);
        weights
    }

    /// Writes the distribution and the greedy label of `out`, whose scores are the log-odds of the forecast
    /// rewards.
    pub(super) fn decide(&self, offered: Option<&[u32]>, out: &mut Decision) {
        out.offer(offered);
        // The decision's `forecast` is not used otherwise, and serves as a buffer.
        let (mut losses, mut play) =
            (std::mem::take(&mut out.forecast), std::mem::take(&mut out.work.0.kept));
        losses.clear();
        losses.extend(out.scores.iter().map(|score| sigmoid(-score)));
        play.clear();
        play.resize(losses.len(), 0.0);
        out.distribution.fill(0.0);
        let best = inverse_gap::largest(&out.scores, offered);
        for (weight, scale) in self.weights().into_iter().zip(SCALES) {
            play_at(scale, out.round, &losses, best, offered, &mut play); // eq. (1)
            out.distribution.iter_mut().zip(&play).for_each(|(p, of)| *p += weight * of);
        }
        out.explores_around(best);
        losses.clear();
        (out.work.0.kept, out.forecast) = (play, losses);
    }

    /// Learns the reward of the label of `taken`.
    pub(super) fn learn(&mut self, taken: &Decision, reward: Reward) {
        let label = taken.label as usize;
        let offered = Some(&taken.offered[..]).filter(|offered| !offered.is_empty());
        self.losses.clear();
        self.losses.extend(taken.scores.iter().map(|score| sigmoid(-score)));
        self.play.resize(self.losses.len(), 0.0);
        for (sum, scale) in self.sums.iter_mut().zip(SCALES) {
            play_at(scale, taken.round, &self.losses, taken.greedy as usize, offered, &mut self.play);
            let direct: f64 = self.play.iter().zip(&self.losses).map(|(p, loss)| p * loss).sum();
            // A reported probability may be arbitrarily small; the probabilities of (1) imply this bound.
            let weight = (self.play[label] / taken.probability).min(1.0 / KEPT);
            *sum += direct + weight * (1.0 - reward.value() - self.losses[label]); // eq. (2)
        }
        self.rounds += 1;
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 2] {
        [Tensor::vector("sums", &mut self.sums), Tensor::count("rounds", &mut self.rounds)]
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.sums.iter().all(|sum| sum.is_finite())
    }
}

/// Writes $p^c$ for $c$ = `scale` in round `round`, where `best` is the best label.
fn play_at(scale: f64, round: u64, losses: &[f64], best: usize, offered: Option<&[u32]>, out: &mut [f64]) {
    let k = offered.map_or(losses.len(), <[u32]>::len) as f64;
    inverse_gap::square(losses, best, offered, scale * (k * round as f64).sqrt(), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn decision(scales: &Scales, scores: &[f64]) -> Decision {
        let mut out = Decision { scores: scores.to_vec(), ..Decision::default() };
        out.start(scores.len(), 1);
        scales.decide(None, &mut out);
        out
    }

    /// K = 2, forecasts 1/2 and 1/4 (log-odds 0 and -ln 3), t = 1: p^c of the second label is 1/(2 + c √2/4),
    /// and all scales have the weight 1/4.
    #[test]
    fn a_round_by_hand() {
        let mut scales = Scales::default();
        let taken = decision(&scales, &[0.0, -(3f64.ln())]);
        let other = |c: f64| 1.0 / (2.0 + c * 2f64.sqrt() / 4.0);
        let p = SCALES.iter().map(|c| 0.25 * other(*c)).sum::<f64>();
        assert_close(taken.distribution[1], p, 1e-12, "the second label");
        assert_eq!(taken.greedy, 0);
        // The second label is played and right: its loss is 0, its forecast 3/4.
        let taken = Decision { label: 1, probability: p, ..taken };
        scales.learn(&taken, Reward::RIGHT);
        for (sum, c) in scales.sums.iter().zip(SCALES) {
            let play = other(c);
            let want = (1.0 - play) * 0.5 + play * 0.75 - play / p * 0.75;
            assert_close(*sum, want, 1e-12, "the estimate");
        }
        assert!(scales.weights()[0] > scales.weights()[3], "exploring has paid");
    }

    /// The mean of the estimate over the played label is the scale's loss, whatever the forecasts.
    #[test]
    fn estimates_are_unbiased() {
        let scales = Scales { sums: [3.0, 0.0, 1.0, 2.0], rounds: 50, ..Scales::default() };
        let (scores, rewards) = ([0.3, -1.0, 2.0], [0.9, 0.2, 0.4]);
        let taken = decision(&scales, &scores);
        let mut mean = [0.0; SCALES.len()];
        for (label, reward) in rewards.iter().enumerate() {
            let probability = taken.distribution[label];
            let mut after = scales.clone();
            let taken = Decision { label: label as u32, probability, ..taken.clone() };
            after.learn(&taken, Reward::new(*reward).expect("a reward"));
            for ((mean, after), before) in mean.iter_mut().zip(after.sums).zip(scales.sums) {
                *mean += probability * (after - before);
            }
        }
        let losses: Vec<f64> = scores.iter().map(|score| sigmoid(-score)).collect();
        let mut play = [0.0; 3];
        for (mean, c) in mean.iter().zip(SCALES) {
            play_at(c, 1, &losses, 2, None, &mut play);
            let want: f64 = play.iter().zip(rewards).map(|(p, r)| p * (1.0 - r)).sum();
            assert_close(*mean, want, 1e-12, "a scale's loss");
        }
    }
}
