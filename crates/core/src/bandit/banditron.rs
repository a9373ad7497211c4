//! # Banditron: the Perceptron with bandit feedback
//!
//! Plays the best class, mixed with a uniformly random one, and takes the Perceptron's step with the label
//! replaced by an unbiased estimate from the played one.
//!
//! ## Reference
//!
//! Sham M. Kakade, Shai Shalev-Shwartz, Ambuj Tewari, *Efficient Bandit Algorithms for Online Multiclass
//! Prediction*, ICML 2008: Algorithm 1, Theorem 2. `references.bib`: `kakade2008banditron`; theory: bandit
//! 1.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W^t$ | `weights` | $K \times d$, starts at 0 |
//! | $\gamma$ | `exploration` | rate of uniform play |
//! | $\hat y_t$, $\tilde y_t$ | `greedy`, `label` | best class, played class |
//! | $P(\tilde y)$ | `probability` | probability with which the class was played |
//!
//! $$ \hat y = \arg\max_k (Wx)_k, \quad p = (1 - \gamma)\ e_{\hat y} + \tfrac{\gamma}{K} 1, \quad \tilde y
//!    \sim p, \tag{1} $$
//! $$ W \mathrel{+}= \big(\tfrac{1[\tilde y = y]}{p_{\tilde y}}\ e_{\tilde y} - e_{\hat y}\big)\ x^\top.
//!    \tag{2} $$
//!
//! In expectation (2) is the Perceptron's $(e_y - e_{\hat y})\ x^\top$. For $\gamma \le 1/2$ and every $U$
//! with total hinge loss $H$, the expected mistakes of the best class satisfy
//! $M_g \le H + X\lVert U \rVert\sqrt{2(\tfrac K\gamma M_g + \gamma T)}$, and those that are played
//! $M \le M_g + \gamma T$ ([`crate::bounds::banditron`]).
//!
//! ## Deviations
//!
//! * The default rate has the order of the theorem's, $(K/T)^{1/3}$, and is at most 1/2; it is 1/20 if $T$ is
//!   unknown.
//! * If only some labels are on offer, the greedy label and uniform play are restricted to them. If the right
//!   label is on offer, the step is unbiased as before, and the mistakes are bounded with the hinge losses
//!   over the labels on offer.
//! * Late feedback subtracts the row from the class that was greedy at the decision, and uses the probability
//!   of the decision: the step is an unbiased estimate of the Perceptron's step at the decision.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `learn`; memory $Kd$ numbers, allocated only for features
//! that occur.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::Features;
use crate::guarantee::{Guarantee, MistakeBound, Promise, reference_norm, setting};
use crate::kernel::weights::Weights;
use crate::learner::{Accepts, BanditLearner, Classes, grow, own};
use crate::loss::hinge::hinge;
use crate::param::{ParamError, fraction};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::state;

params! {
    /// Parameters of [`Banditron`].
    pub struct BanditronParams {
        /// Rate $\gamma$ of uniform play, in [0, 1]; the guarantee needs at most 1/2.
        exploration: f64 = "min(1/2, (classes / horizon)^(1/3)); 0.05 if the horizon is unknown",
        /// Number of rounds $T$, >= 1, for the default exploration.
        horizon: u64 = "the stream's, if known",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Banditron {
    problem: Problem,
    exploration: f64,
    horizon: Option<u64>,
    weights: Weights,
    rounds: u64,
    step: Vec<f64>,
}

impl Algorithm for Banditron {
    type Params = BanditronParams;

    const ABOUT: About = About {
        name: "banditron",
        summary: "the Perceptron with bandit feedback: random play now and then, unbiased steps",
        paper: Paper { key: "kakade2008banditron", place: "Algorithm 1, Theorem 2" },
        guarantee: "expected mistakes <= M + gamma T, M <= H + X |U| sqrt(2 (K M / gamma + gamma T)), every U of hinge loss H",
        cost: "4 K nnz(x) flops a round",
        memory: "K d numbers; sparse rows: K a feature seen",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: BanditronParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let horizon = params.horizon.or(problem.horizon);
        let theory = horizon.map(|t| (k as f64 / t.max(1) as f64).cbrt().min(0.5));
        Ok(Self {
            exploration: fraction("exploration", params.exploration.or(theory).unwrap_or(0.05))?,
            horizon,
            weights: Weights::new(k, d, problem.sparse),
            problem,
            rounds: 0,
            step: vec![0.0; k],
        })
    }

    fn params(&self) -> BanditronParams {
        BanditronParams { exploration: Some(self.exploration), horizon: self.horizon }
    }

    own! { weights }
}

impl BanditLearner for Banditron {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        self.weights.scores(x, &mut out.scores);
        out.explore_greedily(self.exploration, offered); // eq. (1)
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        self.step.fill(0.0);
        self.step[taken.greedy as usize] -= 1.0;
        if reward.is_right() {
            self.step[taken.label as usize] += 1.0 / taken.probability;
        }
        let scores = (taken.round == self.rounds).then_some(&taken.scores[..]);
        self.weights.add(&self.step, x, scores); // eq. (2)
    }

    grow! { weights, step }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound: Promise<MistakeBound<'_>> = match self.problem.radius {
            None => Err("the largest norm of a row is not known".into()),
            Some(_) if !(self.exploration > 0.0 && self.exploration <= 0.5) => {
                Err(format!("exploration is {}; the theorem needs it in (0, 1/2]", self.exploration).into())
            }
            Some(_) => Ok(Box::new(|u| {
                let setting = setting(&self.problem, u.norm, self.rounds);
                bounds::banditron(&setting, u.total(hinge), self.exploration)
            })),
        };
        Some(Guarantee::Mistakes { norm: reference_norm(&self.problem), bound, drawn: None })
    }
}

state! { Banditron; weights; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_unbiased;

    /// K = 2, d = 1, γ = 1/2: class 0 is greedy at first, p = (3/4, 1/4). Class 1 is played and right: W =
    /// (-1, 4). At x = 1 class 1 is greedy, p = (1/4, 3/4); it is played and wrong: x is subtracted from W_1
    /// and added to no row, W = (-1, 3).
    #[test]
    fn two_rounds_by_hand() {
        let params = BanditronParams::new().exploration(0.5);
        let mut learner = Banditron::new(params, Problem::new(2, 1), 0).expect("valid parameters");
        let mut at = Decision::default();
        let x = Features::Dense(&[1.0]);
        learner.predict(x, &mut at);
        at.draw(0.9);
        assert_eq!((at.greedy, at.label, at.probability, at.round), (0, 1, 0.25, 1));
        learner.learn(x, &at, true.into());
        learner.predict(x, &mut at);
        assert_eq!((&at.scores[..], &at.distribution[..]), (&[-1.0, 4.0][..], &[0.25, 0.75][..]));
        at.draw(0.5);
        learner.learn(x, &at, false.into());
        learner.predict(x, &mut at);
        assert_eq!((&at.scores[..], at.round), (&[-1.0, 3.0][..], 3));
    }

    /// The mean of the step over the played label is the Perceptron's step.
    #[test]
    fn the_step_is_unbiased() {
        let params = BanditronParams::new().exploration(0.3);
        let learner = Banditron::new(params, Problem::new(4, 3), 0).expect("valid parameters");
        assert_unbiased(learner, |at, y| {
            let mut step = vec![0.0; 4];
            step[y] += 1.0;
            step[at.greedy as usize] -= 1.0;
            step
        });
    }

    #[test]
    fn the_default_rate_follows_the_horizon() {
        let rate = |problem| {
            let learner = Banditron::new(BanditronParams::default(), problem, 0).expect("defaults");
            learner.exploration
        };
        let problem = || Problem::new(3, 2);
        assert_eq!((rate(problem()), rate(problem().with_horizon(3))), (0.05, 0.5));
        assert!((rate(problem().with_horizon(3000)) - 0.1).abs() < 1e-15);
    }
}
