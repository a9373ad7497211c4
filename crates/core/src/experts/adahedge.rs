//! # AdaHedge: exponential weights with an adaptive learning rate
//!
//! Exponential weights over experts. The learning rate decreases with the cumulative mixability gap: the
//! difference between the loss of the weighted experts and that of Vovk's mix of them. Neither a horizon nor
//! a learning rate has to be chosen.
//!
//! ## Reference
//!
//! Steven de Rooij, Tim van Erven, Peter Grünwald, Wouter Koolen, *Follow the Leader If You Can, Hedge If You
//! Must*, JMLR 15, 2014, section 2. `references.bib`: `derooij2014adahedge`; theory: abstention 1.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $K$ | `problem.features` | number of experts, $N$ below |
//! | $L$ | `losses` | total loss of each expert |
//! | $\Delta$ | `gap` | cumulative mixability gap |
//! | $V$ | `variance` | $\sum_t \mathrm{Var}_{i \sim w_t} l_t^i$ |
//!
//! $$ \eta = \ln N / \Delta, \qquad w_i \propto e^{-\eta(L_i - \min L)}; \quad
//!    \text{if } \Delta = 0: \text{ uniform on } \lbrace i : L_i = \min L\rbrace , \tag{1} $$
//! $$ M(L) = \min L - \tfrac1\eta \ln \tfrac1N \textstyle\sum_i e^{-\eta(L_i - \min L)}, \qquad
//! \Delta \mathrel{+}= \max\big(0, \langle w, l\rangle - (M(L + l) - M(L))\big), \quad L \mathrel{+}= l.
//!    \tag{2} $$
//!
//! Regret against every expert, for losses in [0, 1]: at most $2\sqrt{V \ln N} + \tfrac43 \ln N + 2$
//! ([`crate::bounds::adahedge`]).
//!
//! ## Deviations
//!
//! None.
//!
//! ## Cost
//!
//! $O(N)$ a round.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::learner::{Accepts, Classes, ExpertLearner, own};
use crate::param::ParamError;
use crate::params;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`AdaHedge`]: there are none.
    pub struct AdaHedgeParams {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct AdaHedge {
    problem: Problem,
    /// $L$.
    losses: Vec<f64>,
    /// $\Delta$.
    gap: f64,
    /// $V$.
    variance: f64,
    rounds: u64,
    /// $w$.
    weights: Vec<f64>,
}

impl AdaHedge {
    /// The learning rate $\eta$; infinite while $\Delta = 0$.
    pub fn rate(&self) -> f64 {
        if self.gap == 0.0 { f64::INFINITY } else { (self.losses.len() as f64).ln() / self.gap }
    }

    /// $\Delta$.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// $V$.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    fn least(&self) -> f64 {
        self.losses.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Computes the weights, eq. (1).
    fn compute_weights(&mut self) {
        let (rate, least) = (self.rate(), self.least());
        for (weight, loss) in self.weights.iter_mut().zip(&self.losses) {
            *weight = if rate.is_finite() {
                (-rate * (loss - least)).exp()
            } else {
                f64::from(u8::from(*loss == least))
            };
        }
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// $M(L)$ at the learning rate `rate`, eq. (2).
    fn mix(&self, rate: f64) -> f64 {
        let least = self.least();
        if rate.is_infinite() {
            return least;
        }
        let mean = self.losses.iter().map(|loss| (-rate * (loss - least)).exp()).sum::<f64>();
        least - (mean / self.losses.len() as f64).ln() / rate
    }
}

impl Algorithm for AdaHedge {
    type Params = AdaHedgeParams;

    const ABOUT: About = About {
        name: "adahedge",
        summary: "follows experts by exponential weights whose learning rate tunes itself",
        paper: Paper { key: "derooij2014adahedge", place: "section 2, Theorem 8" },
        guarantee: "regret <= 2 sqrt(V ln N) + 4/3 ln N + 2 against every expert, V the sum of the losses' variances",
        cost: "N a round",
        memory: "2 N numbers",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Two, soft_labels: false, weights: false, plain: false },
    };

    fn new(_params: AdaHedgeParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let experts = problem.features;
        let mut learner = Self {
            problem,
            losses: vec![0.0; experts],
            gap: 0.0,
            variance: 0.0,
            rounds: 0,
            weights: vec![0.0; experts],
        };
        learner.compute_weights();
        Ok(learner)
    }

    fn params(&self) -> AdaHedgeParams {
        AdaHedgeParams {}
    }

    fn numbers(problem: &Problem) -> usize {
        problem.features
    }
}

impl ExpertLearner for AdaHedge {
    own! { problem, rounds }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn learn(&mut self, losses: &[f64]) {
        assert_eq!(losses.len(), self.losses.len(), "as many losses as experts");
        let mean = crate::kernel::vector::dot(&self.weights, losses);
        let spread = |(weight, loss): (&f64, &f64)| weight * (loss - mean) * (loss - mean);
        self.variance += self.weights.iter().zip(losses).map(spread).sum::<f64>();
        let rate = self.rate();
        let before = self.mix(rate);
        for (total, loss) in self.losses.iter_mut().zip(losses) {
            *total += loss;
        }
        if self.losses.len() > 1 {
            // By Jensen's inequality the gap is not negative, except for rounding.
            self.gap += (mean - (self.mix(rate) - before)).max(0.0); // eq. (2)
        }
        self.rounds += 1;
        self.compute_weights();
    }

    fn losses(&self) -> &[f64] {
        &self.losses
    }

    fn bound(&self) -> f64 {
        bounds::adahedge(self.losses.len(), self.variance)
    }
}

impl State for AdaHedge {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::vector("losses", &mut self.losses),
            Tensor::number("gap", &mut self.gap),
            Tensor::number("variance", &mut self.variance),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        self.compute_weights();
        self.gap >= 0.0 && self.variance >= 0.0 && self.weights.iter().all(|weight| weight.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn experts(count: usize) -> AdaHedge {
        AdaHedge::new(AdaHedgeParams {}, Problem::new(2, count), 0).expect("no parameters")
    }

    /// Losses (1, 0): at first η = ∞ and w = (1/2, 1/2), h = 1/2, M moves from 0 to 0, so Δ = 1/2. Then η = 2
    /// ln 2, and w ∝ (e^{-2 ln 2}, 1) = (1/4, 1).
    #[test]
    fn a_round_by_hand() {
        let mut learner = experts(2);
        assert_eq!(learner.weights(), [0.5, 0.5]);
        learner.learn(&[1.0, 0.0]);
        assert_eq!((learner.gap(), learner.variance()), (0.5, 0.25));
        assert_close(learner.weights()[0], 0.2, 1e-15, "weight");
    }

    #[test]
    fn one_expert_has_weight_one_and_constant_losses_change_nothing() {
        let mut one = experts(1);
        (0..50).for_each(|_| one.learn(&[0.7]));
        assert_eq!((one.weights(), one.gap(), one.bound()), (&[1.0][..], 0.0, 2.0));
        let mut equal = experts(3);
        (0..50).for_each(|_| equal.learn(&[0.25; 3]));
        assert_eq!((equal.weights(), equal.gap()), (&[1.0 / 3.0; 3][..], 0.0));
    }

    /// Against adversaries that charge the expert with the largest weight, keep all experts equal, or
    /// alternate the leader, the regret is positive and below the bound.
    #[test]
    fn adversaries_stay_below_the_bound() {
        for experts_count in [2, 5, 50] {
            for adversary in 0..4 {
                let mut learner = experts(experts_count);
                let mut total = 0.0;
                for t in 0..3000usize {
                    let heaviest = crate::prediction::argmax(learner.weights());
                    let losses: Vec<f64> = (0..experts_count)
                        .map(|i| match adversary {
                            0 => f64::from(u8::from(i == heaviest)),
                            1 => f64::from(u8::from((t + i) % experts_count == 0)),
                            2 => f64::from(u8::from((t / 100) % experts_count != i)),
                            _ => learner.weights()[i].min(1.0),
                        })
                        .collect();
                    total += crate::kernel::vector::dot(learner.weights(), &losses);
                    learner.learn(&losses);
                    let regret = total - learner.least();
                    assert!(
                        regret <= learner.bound(),
                        "N = {experts_count}, {adversary}, round {t}: {regret}"
                    );
                }
                let regret = total - learner.least();
                assert!(
                    adversary > 1 || regret > 0.02 * learner.bound(),
                    "{adversary}: {regret} is no challenge"
                );
            }
        }
    }

    #[test]
    fn a_tiny_gap_is_a_huge_finite_rate() {
        let mut learner = experts(3);
        learner.learn(&[0.0, 1e-300, 0.5]);
        learner.learn(&[0.0, 1e-9, 1.0]);
        (0..2000).for_each(|t| learner.learn(&[1e-3, f64::from(t % 2), 1.0]));
        assert!(
            learner.weights().iter().all(|weight| (0.0..=1.0).contains(weight)),
            "{:?}",
            learner.weights()
        );
        assert!(learner.restored());
    }
}
