//! A mixture of given predictors whose average over the rounds has a small risk with high probability.
//!
//! For independent rounds of one distribution, the average of the forecasts of Vovk's mixture
//! ([`crate::experts::mixture`]) has an expected risk of at most $\frac1T\ln M$ more than the best one of $M$
//! predictors, but no such bound with high probability (Audibert 2007; theory: online-to-batch 2.5). With the
//! midpoint rule for weights there is one (after van der Hoeven, Zhivotovskiy, Cesa-Bianchi 2023; theory:
//! online-to-batch 2.3, 2.4): if member $i$ gives the probability $g^i_y$ to the label $y$,
//!
//! $$ f = \textstyle\sum_i w^i g^i, \tag{1} $$
//! $$ w^i \leftarrow w^i\ \frac{f_y + g^i_y}{2 f_y}. \tag{2} $$
//!
//! The weights sum to 1, and the average of all forecasts is a mixture, too, with the average of the weights:
//! no copies are needed.

use crate::bounds;
use crate::kernel::vector::dot;

/// The weights of a mixture, see the [module](self).
#[derive(Clone, Debug)]
pub struct Midpoint {
    weights: Vec<f64>,
    /// The sum of the weights before each of the rounds.
    sums: Vec<f64>,
    rounds: u64,
}

impl Midpoint {
    /// Equal weights for `members` $M$ predictors.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(members: usize) -> Self {
        assert!(members > 0, "a mixture needs at least one member");
        Self { weights: vec![1.0 / members as f64; members], sums: vec![0.0; members], rounds: 0 }
    }

    /// The weights of the members in the forecast (1).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weights of the members in the average of all forecasts; without rounds, those of the first one.
    pub fn average(&self) -> Vec<f64> {
        if self.rounds == 0 {
            return self.weights.clone();
        }
        self.sums.iter().map(|sum| sum / self.rounds as f64).collect()
    }

    /// Learns a round, in which member $i$ gave the probability `of_truth[i]` > 0 to the label.
    pub fn update(&mut self, of_truth: &[f64]) {
        let forecast = dot(&self.weights, of_truth); // eq. (1)
        self.rounds += 1;
        let mut total = 0.0;
        for ((weight, sum), p) in self.weights.iter_mut().zip(&mut self.sums).zip(of_truth) {
            *sum += *weight;
            *weight *= 0.5 + 0.5 * p / forecast; // eq. (2)
            total += *weight;
        }
        // It is 1 but for rounding.
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// What the risk (the expected log loss of a new round) of the [average](Self::average) exceeds that of
    /// the best member by at most, with probability 1 - `miss`, where members give no label a probability
    /// below `least` > 0.
    pub fn excess_risk(&self, least: f64, miss: f64) -> f64 {
        bounds::midpoint_excess_risk(self.weights.len(), -least.ln(), miss) / self.rounds as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{assert_all_close, assert_close};

    /// f = 0.6: (1 + 0.8/0.6)/2 = 7/6, (1 + 0.4/0.6)/2 = 5/6.
    #[test]
    fn by_hand() {
        let mut mixture = Midpoint::new(2);
        mixture.update(&[0.8, 0.4]);
        assert_all_close(mixture.weights(), &[7.0 / 12.0, 5.0 / 12.0], 1e-15, "weights");
        assert_eq!(mixture.average(), [0.5, 0.5]);
        mixture.update(&[0.5, 0.5]);
        assert_all_close(&mixture.average(), &[13.0 / 24.0, 11.0 / 24.0], 1e-15, "average");
        let want = (2.0 * 2f64.ln() + (2.0 + 1.5 * 10f64.ln()) * 20f64.ln()) / 2.0;
        assert_close(mixture.excess_risk(0.1, 0.05), want, 1e-14, "excess");
    }

    /// On random streams, and with the label that the forecast holds for least probable: the weight of a
    /// member is exactly what the proof has, and the regret is at most $2\ln M$.
    #[test]
    fn regret_on_every_stream() {
        const MEMBERS: usize = 4;
        let mut largest = f64::NEG_INFINITY;
        for adversarial in [false, true] {
            let mut rng = Rng::new(5, u64::from(adversarial));
            let mut mixture = Midpoint::new(MEMBERS);
            let (mut midpoints, mut regrets) = ([0.0f64; MEMBERS], [0.0f64; MEMBERS]);
            for _ in 0..2000 {
                // Two labels; the first member is right more often.
                let p: [f64; MEMBERS] = std::array::from_fn(|_| 0.02 + 0.96 * rng.uniform());
                let forecast = dot(mixture.weights(), &p);
                let label = if adversarial { forecast < 0.5 } else { rng.uniform() < p[0] };
                let of = |p: f64| if label { p } else { 1.0 - p };
                let of_truth = p.map(of);
                for ((midpoint, regret), p) in midpoints.iter_mut().zip(&mut regrets).zip(&of_truth) {
                    let ratio = p / of(forecast);
                    *midpoint += (0.5 + 0.5 * ratio).ln();
                    *regret += ratio.ln();
                }
                mixture.update(&of_truth);
            }
            let log = (MEMBERS as f64).ln();
            for ((weight, midpoint), regret) in mixture.weights().iter().zip(midpoints).zip(regrets) {
                // Otherwise it may have become 0.
                if midpoint > -500.0 {
                    assert_close(weight.ln(), midpoint - log, 1e-9, "logarithm of the weight");
                }
                assert!(regret <= 2.0 * log, "{regret}");
                largest = largest.max(regret);
            }
        }
        assert!(largest > 0.5 * (MEMBERS as f64).ln(), "{largest}: the streams are too easy");
    }

    /// Two predictors that differ much and have nearly equal risks, as in Audibert's proof. The excess risk
    /// of Vovk's mixture, averaged over the rounds, is beyond the bound of the midpoint rule far more often
    /// than that permits, and that of the midpoint rule is not. Vovk's keeps the larger bound that every
    /// learner has.
    #[test]
    fn the_midpoint_rule_has_small_deviations() {
        const ROUNDS: usize = 4000;
        const RUNS: u64 = 400;
        const MISS: f64 = 0.05;
        let (members, one) = ([0.73_f64, 0.27], 0.505);
        let risk = |p: f64| -one * p.ln() - (1.0 - one) * (1.0 - p).ln();
        let range = (members[0] / members[1]).ln();
        let sharp = bounds::midpoint_excess_risk(2, -members[1].ln(), MISS);
        let general = bounds::excess_risk(2f64.ln(), 2.0 * range, ROUNDS as f64, MISS);
        assert!(sharp < 0.25 * general, "{sharp} {general}");
        let share = |over: &dyn Fn(&[f64; 3]) -> bool, runs: &[[f64; 3]]| {
            runs.iter().filter(|run| over(run)).count() as f64 / RUNS as f64
        };
        let runs: Vec<[f64; 3]> = (0..RUNS)
            .map(|seed| {
                let mut rng = Rng::new(9, seed);
                let (mut midpoint, mut log_odds) = (Midpoint::new(2), 0.0f64);
                let mut excess = [0.0; 3];
                for _ in 0..ROUNDS {
                    let first = 1.0 / (1.0 + (-log_odds).exp());
                    let vovk = first * members[0] + (1.0 - first) * members[1];
                    excess[0] += risk(dot(midpoint.weights(), &members)) - risk(members[0]);
                    excess[1] += risk(vovk) - risk(members[0]);
                    let label = rng.uniform() < one;
                    midpoint.update(&members.map(|p| if label { p } else { 1.0 - p }));
                    log_odds += if label { range } else { -range };
                }
                let average = dot(&midpoint.average(), &members);
                excess[2] = ROUNDS as f64 * (risk(average) - risk(members[0]));
                excess
            })
            .collect();
        assert!(share(&|run| run[0] > sharp || run[2] > sharp, &runs) <= MISS, "midpoint");
        assert!(
            runs.iter().all(|run| run[2] <= run[0]),
            "the average is better than the forecasts on average"
        );
        assert!(share(&|run| run[1] > sharp, &runs) > 1.2 * MISS, "Vovk's is beyond the sharp bound");
        assert!(share(&|run| run[1] > general, &runs) <= MISS, "and within the general one");
    }
}
