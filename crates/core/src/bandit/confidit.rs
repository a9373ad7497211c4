//! # Confidit: upper confidence bounds on linear margins
//!
//! Plays the class with the largest sum of estimated margin and confidence width, without randomness. Every
//! class has its own ridge regression on the rows for which it was played, with targets $\pm1$.
//!
//! ## Reference
//!
//! Koby Crammer, Claudio Gentile, *Multiclass Classification with Bandit Feedback Using Adaptive
//! Regularization*, Machine Learning 90, 2013: Algorithm 1, Theorem 1. `references.bib`:
//! `crammer2013confidit`; theory: bandit 4.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $A_{k,t}$ | `models` | matrix of class $k$, starts at $(1+\alpha)^2 I$ |
//! | $w_{k,t} = A_k^{-1}b_k$ | `models` | weights of class $k$ |
//! | $\alpha$ | `alpha` | the noise model is $P(y = k \mid x) = (\alpha + u_k^\top x)/(1 + \alpha)$ |
//! | $\eta$ | `width` | confidence width |
//!
//! $$ \tilde y = \arg\max_k w_k^\top x + \sqrt{\eta\ x^\top A_k^{-1} x}, \tag{1} $$
//! $$ A_{\tilde y} \mathrel{+}= xx^\top, \quad b_{\tilde y} \mathrel{\pm}= x \ (+ \text{ if right}), \quad w =
//!    A^{-1} b. \tag{2} $$
//!
//! Under the noise model, with unit rows and the paper's width, the regret is $O(K\sqrt{dT}\ln T)$; no bound
//! is known for adversarial labels.
//!
//! ## Deviations
//!
//! * The paper clips the margins to $[-\alpha, 1]$ and computes the width from the data; here the width is a
//!   constant parameter, as in public implementations.
//! * `confidit-diag` keeps only the diagonals.
//! * With the prior $\rho$ of a mean reward, margins begin at $c = 2\rho - 1$ in place of 0: $c$ is added in
//!   (1), and subtracted from the targets in (2). The theorem is about $c = 0$.
//! * The scores of a decision are the upper confidence bounds of (1); its distribution has probability 1 for
//!   the played class.
//! * If only some labels are on offer, the one with the largest bound is played: each bound is about its
//!   label alone.
//! * Late feedback updates the class that was played, whatever would be played now.
//!
//! ## Cost
//!
//! Full: `predict` $2Kd^2$, `learn` $d^2$ flops, memory $Kd^2$ numbers. Diagonal: $O(K\ \mathrm{nnz}(x))$,
//! memory $3Kd$ numbers.

use std::fmt::Debug;

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::Features;
use crate::kernel::lowrank_inverse::LowRankInverse;
use crate::kernel::vector::axpy;
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::param::{ParamError, non_negative, prior};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Confidit`].
    pub struct ConfiditParams {
        /// Confidence width $\eta$, >= 0.
        width: f64 = "1",
        /// Offset $\alpha$ of the noise model, >= 0; matrices start at $(1 + \alpha)^2 I$.
        alpha: f64 = "1",
        /// The mean reward that is expected before the first round, above 0 and below 1: the margins of all
        /// classes begin at 2 prior - 1.
        prior: f64 = "1/2",
    }
}

/// The ridge regression of one class.
pub trait Ridge: Clone + Debug + Send + Sync + 'static {
    /// The description of Confidit with this regression.
    const ABOUT: About;

    /// $A = \lambda I$ with `regularization` $= \lambda > 0$, $w = 0$.
    fn new(features: usize, regularization: f64) -> Self;

    /// The number of 8-byte numbers of state.
    fn numbers(features: usize) -> usize;

    /// $\langle w, x \rangle$ and $x^\top A^{-1} x$; `room` is a buffer of $d$ numbers.
    fn margin(&self, x: Features<'_>, room: &mut [f64]) -> (f64, f64);

    /// Eq. (2) for a row with the target `target` $= \pm 1 - c$.
    fn learn(&mut self, x: Features<'_>, target: f64, room: &mut [f64]);

    /// The state.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Recomputes what is derived from the state; false if the state is inconsistent.
    fn restored(&mut self) -> bool;
}

/// With the full matrix, stored as its inverse.
#[derive(Clone, Debug)]
pub struct FullRidge {
    inverse: LowRankInverse,
    weights: Vec<f64>,
}

impl Ridge for FullRidge {
    const ABOUT: About = About {
        name: "confidit",
        summary: "plays the class with the largest upper confidence bound on its margin, no randomness",
        paper: Paper { key: "crammer2013confidit", place: "Algorithm 1, Theorem 1" },
        guarantee: "regret O(K sqrt(d T) ln T) where P(y = k given x) is linear in x, for the paper's width; none for adversaries",
        cost: "2 K d^2 flops a round",
        memory: "K d^2 numbers",
        forecast: Forecast::Label,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(features: usize, regularization: f64) -> Self {
        Self { inverse: LowRankInverse::new(1, features, regularization, 1), weights: vec![0.0; features] }
    }

    fn numbers(features: usize) -> usize {
        LowRankInverse::numbers(1, features)
    }

    fn margin(&self, x: Features<'_>, room: &mut [f64]) -> (f64, f64) {
        self.inverse.combination(x, &[(0, 1.0)], room);
        (x.dot(&self.weights), x.dot(room).max(0.0))
    }

    fn learn(&mut self, x: Features<'_>, target: f64, room: &mut [f64]) {
        let (margin, square) = self.margin(x, room);
        axpy((target - margin) / (1.0 + square), room, &mut self.weights);
        self.inverse.downdate(room, &[(1.0 + square).sqrt().recip()]);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector("weights", &mut self.weights));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.inverse.restored()
    }
}

/// With the diagonal of the matrix.
#[derive(Clone, Debug)]
pub struct DiagonalRidge {
    regularization: f64,
    /// The diagonal of $A - \lambda I$.
    growth: Vec<f64>,
    /// $b$.
    sums: Vec<f64>,
}

impl Ridge for DiagonalRidge {
    const ABOUT: About = About {
        name: "confidit-diag",
        summary: "Confidit with diagonal matrices, for many features",
        guarantee: "none: the theorem is about full matrices",
        cost: "6 K nnz(x) flops a round",
        memory: "2 K d numbers",
        ..FullRidge::ABOUT
    };

    fn new(features: usize, regularization: f64) -> Self {
        Self { regularization, growth: vec![0.0; features], sums: vec![0.0; features] }
    }

    fn numbers(features: usize) -> usize {
        features.saturating_mul(2)
    }

    fn margin(&self, x: Features<'_>, _room: &mut [f64]) -> (f64, f64) {
        let (mut margin, mut square) = (0.0, 0.0);
        for (i, value) in x.iter() {
            let share = value / (self.regularization + self.growth[i]);
            margin += share * self.sums[i];
            square += share * value;
        }
        (margin, square)
    }

    fn learn(&mut self, x: Features<'_>, target: f64, _room: &mut [f64]) {
        for (i, value) in x.iter() {
            self.growth[i] += value * value;
            self.sums[i] += target * value;
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::vector("growth", &mut self.growth), Tensor::vector("sums", &mut self.sums)]
    }

    fn restored(&mut self) -> bool {
        self.growth.iter().all(|growth| *growth >= 0.0)
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Confidit<R> {
    problem: Problem,
    width: f64,
    alpha: f64,
    prior: Option<f64>,
    /// One for each class.
    models: Vec<R>,
    rounds: u64,
    room: Vec<f64>,
}

impl<R: Ridge> Confidit<R> {
    /// $c$, the margin before the first round.
    fn centre(&self) -> f64 {
        self.prior.map_or(0.0, |prior| 2.0 * prior - 1.0)
    }
}

impl<R: Ridge> Algorithm for Confidit<R> {
    type Params = ConfiditParams;

    const ABOUT: About = R::ABOUT;

    fn new(params: ConfiditParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let width = non_negative("width", params.width.unwrap_or(1.0))?;
        let alpha = non_negative("alpha", params.alpha.unwrap_or(1.0))?;
        let prior = params.prior.map(prior::checked).transpose()?;
        let (k, d) = (problem.classes, problem.features);
        let models = vec![R::new(d, (1.0 + alpha) * (1.0 + alpha)); k];
        Ok(Self { problem, width, alpha, prior, models, rounds: 0, room: vec![0.0; d] })
    }

    fn params(&self) -> ConfiditParams {
        ConfiditParams { width: Some(self.width), alpha: Some(self.alpha), prior: self.prior }
    }

    fn numbers(problem: &Problem) -> usize {
        problem.classes.saturating_mul(R::numbers(problem.features))
    }
}

impl<R: Ridge> BanditLearner for Confidit<R> {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        out.work.0.scratch.resize(self.problem.features, 0.0);
        let centre = self.centre();
        for (score, model) in out.scores.iter_mut().zip(&self.models) {
            let (margin, square) = model.margin(x, &mut out.work.0.scratch);
            *score = centre + margin + (self.width * square).sqrt();
        }
        out.explore_greedily(0.0, offered); // eq. (1)
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        let target = if reward.is_right() { 1.0 } else { -1.0 };
        let from = target - self.centre();
        self.models[taken.label as usize].learn(x, from, &mut self.room); // eq. (2)
    }
}

impl<R: Ridge> State for Confidit<R> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let models = self.models.iter_mut().enumerate();
        let mut tensors: Vec<_> = models
            .flat_map(|(class, model)| {
                let prefix = format!("class/{class}");
                model.tensors().into_iter().map(move |tensor| tensor.within(&prefix))
            })
            .collect();
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.models.iter_mut().all(R::restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// K = 2, d = 1, α = 1, η = 1: A = 4. At x = 1 both bounds are √(1/4), and class 0 is played. It is
    /// wrong: A_0 = 5, b_0 = -1, w_0 = -1/5, bound -1/5 + √(1/5). Class 1 is played and right: A_1 = 5, w_1 =
    /// 1/5.
    #[test]
    fn two_rounds_by_hand() {
        fn check<R: Ridge>() {
            let mut learner =
                Confidit::<R>::new(ConfiditParams::default(), Problem::new(2, 1), 0).expect("defaults");
            let x = Features::Dense(&[1.0]);
            let mut at = Decision::default();
            let fifth = 0.2f64.sqrt();
            for (want, label, correct) in
                [([0.5, 0.5], 0, false), ([fifth - 0.2, 0.5], 1, true), ([fifth - 0.2, fifth + 0.2], 1, true)]
            {
                learner.predict(x, &mut at);
                at.draw(0.99);
                at.scores.iter().zip(want).for_each(|(got, want)| assert_close(*got, want, 1e-14, "bound"));
                assert_eq!((at.label, at.probability, at.exploration), (label, 1.0, 0.0));
                learner.learn(x, &at, correct.into());
            }
        }
        check::<FullRidge>();
        check::<DiagonalRidge>();
    }

    /// As above with the prior ¼, c = -½: both bounds are -½ + √(1/4) = 0. Class 0 is wrong: b_0 = -½, w_0 =
    /// -1/10. Class 1 is right: b_1 = 3/2, w_1 = 3/10.
    #[test]
    fn margins_begin_at_the_prior() {
        let params = ConfiditParams::new().prior(0.25);
        let mut learner = Confidit::<FullRidge>::new(params, Problem::new(2, 1), 0).expect("valid");
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        let bound = |weight: f64| -0.5 + weight + 0.2f64.sqrt();
        for (want, right) in
            [([0.0, 0.0], false), ([bound(-0.1), 0.0], true), ([bound(-0.1), bound(0.3)], true)]
        {
            learner.predict(x, &mut at);
            at.draw(0.99);
            at.scores.iter().zip(want).for_each(|(got, want)| assert_close(*got, want, 1e-14, "bound"));
            learner.learn(x, &at, right.into());
        }
        assert_eq!(learner.params().prior, Some(0.25));
    }
}
