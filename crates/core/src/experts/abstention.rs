//! # AdaHedge with abstention: predict a class, or abstain
//!
//! Experts vote in [-1, 1] on a binary label -1 or 1. AdaHedge weights them; with probability |vote| of the
//! weighted vote the learner predicts its sign, otherwise it abstains: the closer to 0 the vote, the likelier
//! it abstains. With costs of abstaining below 1/2 the expected loss exceeds that of the best expert by a
//! constant that does not grow with the number of rounds.
//!
//! ## Reference
//!
//! Dirk van der Hoeven, *Exploiting the Surrogate Gap in Online Multiclass Classification*, NeurIPS 2020,
//! arXiv:2007.12618, appendix E, Theorem 7. `references.bib`: `vanderhoeven2020gaptron`; theory: abstention
//! 2.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $y^i$ | `votes` | $v^i$ below: the expert's vote in [-1, 1] |
//! | $\hat y$ | `vote` | the weighted vote |
//! | $b$ | `abstain_probability` | the probability of abstaining |
//! | $c$ | `cost` | the cost of abstaining |
//!
//! $$ \hat y = \langle w, v \rangle, \qquad b = 1 - |\hat y|, \qquad
//! \text{no answer with probability } b, \text{ else } \mathrm{sign}(\hat y); \qquad l^i = \tfrac12(1 - y
//!    v^i). \tag{1} $$
//!
//! With costs $c_t < \tfrac12$, for every expert $i$ and the $V$ of [`adahedge`](super::adahedge)
//! ([`crate::bounds::abstention`]),
//!
//! $$ \sum_t (1 - b_t)[\mathrm{sign}_t \ne y_t] + b_t c_t \le \sum_t l_t^i
//!    + \min\Big(\frac{\ln N}{1 - 2 \max c},\ 2\sqrt{V \ln N}\Big) + \tfrac43\ln N + 2. \tag{2} $$
//!
//! The term with the square root alone also holds for $c_t = \tfrac12$; above that there is no guarantee.
//!
//! ## Deviations
//!
//! * The sign of 0 is 1, but this has no effect: there $b = 1$.
//!
//! ## Cost
//!
//! $O(N)$ a round.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::experts::adahedge::{AdaHedge, AdaHedgeParams};
use crate::guarantee::Promise;
use crate::hand_on;
use crate::learner::{Accepts, Classes, ExpertLearner, Verdict};
use crate::param::ParamError;
use crate::problem::Problem;
use crate::state::state;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct AdaHedgeAbstain {
    hedge: AdaHedge,
}

/// Writes the losses $\tfrac12(1 - y v^i)$ of experts with votes $v^i$ in [-1, 1] and the label $y$, -1 or 1,
/// to `losses`.
pub fn vote_losses(votes: &[f64], y: i8, losses: &mut Vec<f64>) {
    losses.clear();
    losses.extend(votes.iter().map(|vote| 0.5 * (1.0 - f64::from(y) * vote)));
}

impl AdaHedgeAbstain {
    /// The right-hand side of (2) without the expert's loss, for costs of at most `cost`; or why there is
    /// none.
    ///
    /// # Errors
    /// If `cost` is above 1/2.
    pub fn guarantee(&self, cost: f64) -> Promise {
        if cost > 0.5 {
            let why = format!("abstaining cost up to {cost}: the theorem needs costs of at most 1/2");
            return Err(why.into());
        }
        Ok(bounds::abstention(self.hedge.weights().len(), self.hedge.variance(), cost))
    }

    /// The learner that weights the experts.
    pub fn hedge(&self) -> &AdaHedge {
        &self.hedge
    }
}

impl Algorithm for AdaHedgeAbstain {
    type Params = AdaHedgeParams;

    const ABOUT: About = About {
        name: "adahedge-abstain",
        summary: "follows experts on yes or no, and abstains the more the closer their vote is",
        paper: Paper { key: "vanderhoeven2020gaptron", place: "appendix E, Theorem 7" },
        guarantee: "expected loss <= best expert's + min(ln N/(1 - 2c), 2 sqrt(V ln N)) + 4/3 ln N + 2, costs c <= 1/2",
        cost: "N a round",
        memory: "2 N numbers",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Two, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: AdaHedgeParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        AdaHedge::new(params, problem, seed).map(|hedge| Self { hedge })
    }

    fn params(&self) -> AdaHedgeParams {
        self.hedge.params()
    }

    fn numbers(problem: &Problem) -> usize {
        AdaHedge::numbers(problem)
    }
}

impl ExpertLearner for AdaHedgeAbstain {
    hand_on! { self.hedge;
        fn problem(&self) -> &Problem;
        fn weights(&self) -> &[f64];
        fn learn(&mut self, losses: &[f64]);
        fn losses(&self) -> &[f64];
        fn rounds(&self) -> u64;
        fn bound(&self) -> f64;
    }

    fn abstention_bound(&self, cost: f64) -> Option<Promise> {
        Some(self.guarantee(cost))
    }

    fn verdict(&self, votes: &[f64]) -> Option<Verdict> {
        let vote = crate::kernel::vector::dot(self.weights(), votes).clamp(-1.0, 1.0);
        let sign = if vote >= 0.0 { 1 } else { -1 };
        Some(Verdict { vote, sign, abstain_probability: 1.0 - vote.abs() }) // eq. (1)
    }
}

state! { AdaHedgeAbstain; hedge; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms};

    fn experts(count: usize) -> AdaHedgeAbstain {
        AdaHedgeAbstain::new(AdaHedgeParams {}, Problem::new(2, count), 0).expect("no parameters")
    }

    /// Theorem 7 for labels that oppose the vote, random labels, and experts that agree, with costs up to
    /// 1/2.
    #[test]
    fn the_theorem_holds_on_adversarial_labels() {
        for (cost, adversary, seed) in
            [0.0, 0.2, 0.4, 0.49, 0.5].into_iter().flat_map(|c| (0..3).map(move |a| (c, a, a + 7)))
        {
            let (count, mut learner) = (8, experts(8));
            let (mut rng, mut losses, mut total) = (Rng::new(seed, 0), Vec::new(), 0.0);
            for t in 0..2000 {
                let mut votes: Vec<f64> = (0..count)
                    .map(|i| if rng.uniform() < 0.5 + 0.05 * f64::from(i) { 1.0 } else { -1.0 })
                    .collect();
                if adversary == 2 {
                    votes.iter_mut().for_each(|vote| *vote *= rng.uniform());
                }
                let verdict = learner.verdict(&votes).expect("it abstains");
                let y = match adversary {
                    0 => -verdict.sign,
                    1 => 1,
                    _ => {
                        if rng.uniform() < 0.6 {
                            1
                        } else {
                            -1
                        }
                    }
                };
                total += verdict.expected_loss(y, cost);
                vote_losses(&votes, y, &mut losses);
                learner.learn(&losses);
                let best = learner.hedge().losses().iter().copied().fold(f64::INFINITY, f64::min);
                let bound = learner.guarantee(cost).expect("costs of at most 1/2");
                assert!(
                    total - best <= bound,
                    "cost {cost}, adversary {adversary}, round {t}: {total} {best}"
                );
            }
        }
        assert!(experts(2).guarantee(0.6).is_err());
    }
}
