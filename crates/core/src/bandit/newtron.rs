//! # Newtron and PNewtron: Newton steps with bandit feedback
//!
//! Online Newton steps on the logistic loss of scaled scores, with a gradient that is estimated from the
//! played label after right and wrong guesses. PNewtron keeps the diagonal of the matrix.
//!
//! ## Reference
//!
//! Elad Hazan, Satyen Kale, *Newtron: an Efficient Bandit Algorithm for Online Multiclass Prediction*, NIPS
//! 2011: Algorithm 1 and the experiments. `references.bib`: `hazan2011newtron`; theory: bandit 4.1, 4.2.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `model` | [`Leader`] |
//! | $\alpha$ | `alpha` | sharpness of the softmax |
//! | $\beta$ | `beta` | curvature of the quadratic losses |
//! | $\gamma$ | `exploration` | rate of uniform play |
//! | $D$ | `norm` | radius of the ball of weights; $A_0 = I/D$ |
//! | $P_t$ | `forecast` | $q$ |
//! | $\kappa_t$ | | $p_{\tilde y}$ after a right guess, else 1 |
//!
//! $$ q = \sigma(\alpha W x), \quad p = (1 - \gamma)\ q + \tfrac\gamma K 1, \quad \tilde y \sim p, \tag{1} $$
//! $$ c = \frac{1 - q_{\tilde y}}{p_{\tilde y}}\Big(\tfrac1K 1 - e_{\tilde y}\Big) \text{ if } \tilde y = y,
//!    \quad
//! c = \frac{q_{\tilde y}}{p_{\tilde y}}\Big(e_{\tilde y} - \tfrac1K 1\Big) \text{ otherwise}; \qquad G = c
//!    \otimes x, \tag{2} $$
//! $$ A \mathrel{+}= \kappa\beta GG^\top, \quad b \mathrel{+}= (1 - \kappa\beta\langle G, C \rangle)\ G,
//!    \quad
//!    W = \arg\min_{\lVert W \rVert \le D} \tfrac12 W^\top AW + b^\top W, \tag{3} $$
//!
//! with $C = W$. In expectation $G$ is $(q - e_y) \otimes x$, the gradient of $\tfrac1\alpha\ln(1/q_y)$.
//!
//! ## Deviations
//!
//! * $\alpha = 10$, $\beta = 0.01$ and $D = 1$ are those of the paper's experiments, not of its theorem,
//!   whose regret $O(K^3d\min(e^{4\alpha XD}\ln T, XDT^{2/3}))$ has no explicit constants. The paper's
//!   experiments try many $\gamma$; the default is 0.01.
//! * `projection = scale` is the default of PNewtron, and `none` is possible; whether the paper projects
//!   PNewtron is unclear.
//! * `centre = played` first draws a coin of probability $\gamma$ and uses $C = 0$ if the coin decides for
//!   uniform play, as public implementations do; labels have the same distribution.
//! * Late feedback uses $q$ and $p$ of the decision, so that the estimate is unbiased for the gradient at the
//!   decision, and the current weights for $C$.
//!
//! ## Cost
//!
//! Newtron: `learn` $3K^2d^2$ flops, an active exact projection $\tfrac13K^3d^3$ for each of a few Newton
//! steps; memory $K^2d^2$ numbers, twice that with the exact projection. PNewtron: $O(K\ \mathrm{nnz}(x))$ a
//! round ($O(Kd)$ with the exact projection), memory $3Kd$ numbers, allocated only for features that occur.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bandit::quadratic_leader::{DiagonalLeader, FullLeader, Leader, Projection};
use crate::example::Features;
use crate::kernel::softmax::softmax;
use crate::kernel::vector::dot;
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::param::{ParamError, fraction, non_negative, positive};
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::rng::Uniforms;
use crate::state::state;
use crate::{param_words, params};

param_words! {
    /// The point that the quadratic losses are centred at.
    pub enum Centre {
        /// The weights.
        Current = "current",
        /// The weights, or 0 where an explore coin, tossed before the label is drawn, came up.
        Played = "played",
    }
}

params! {
    /// Parameters of [`Newtron`].
    pub struct NewtronParams {
        /// Rate $\gamma$ of uniform play, in [0, 1].
        exploration: f64 = "0.01",
        /// Sharpness $\alpha$ of the softmax, > 0.
        alpha: f64 = "10",
        /// Curvature $\beta$ of the quadratic losses, >= 0.
        beta: f64 = "0.01",
        /// Radius $D$ of the ball of weights, > 0.
        norm: f64 = "1",
        /// How weights are brought into the ball: `exact` in the matrix's norm, `scale`, or `none`.
        projection: Projection = "newtron: exact; pnewtron: scale",
        /// Where quadratic losses are centred: `current` weights, or 0 on explored rounds (`played`).
        centre: Centre = "current",
    }
}

/// A [`Leader`] for which there is a learner of the registry.
pub trait NewtronVariant: Leader {
    /// The description.
    const ABOUT: About;
    /// The default projection.
    const PROJECTION: Projection;
}

impl NewtronVariant for FullLeader {
    const PROJECTION: Projection = Projection::Exact;
    const ABOUT: About = About {
        name: "newtron",
        summary: "Newton steps on logistic loss, its gradient estimated from the played label",
        paper: Paper { key: "hazan2011newtron", place: "Algorithm 1" },
        guarantee: "log-loss regret O(K^3 d min(exp(4 alpha X D) ln T, X D T^(2/3))) for the paper's parameters, which are not the defaults",
        cost: "3 K^2 d^2 flops a round, and K^3 d^3 where the exact projection is active",
        memory: "K^2 d^2 numbers, twice that with the exact projection",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };
}

impl NewtronVariant for DiagonalLeader {
    const PROJECTION: Projection = Projection::Scale;
    const ABOUT: About = About {
        name: "pnewtron",
        summary: "Newtron with a diagonal matrix, for many features",
        guarantee: "none: the theorem is about the full matrix",
        cost: "4 K nnz(x) flops a round",
        memory: "3 K d numbers",
        ..<FullLeader as NewtronVariant>::ABOUT
    };
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Newtron<L> {
    problem: Problem,
    params: NewtronParams,
    exploration: f64,
    alpha: f64,
    beta: f64,
    centre: Centre,
    model: L,
    rounds: u64,
    /// Buffer for the current scores, if the decision is outdated.
    scores: Vec<f64>,
    coefficients: Vec<f64>,
}

impl<L: NewtronVariant> Algorithm for Newtron<L> {
    type Params = NewtronParams;

    const ABOUT: About = <L as NewtronVariant>::ABOUT;

    fn new(params: NewtronParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let exploration = fraction("exploration", params.exploration.unwrap_or(0.01))?;
        let alpha = positive("alpha", params.alpha.unwrap_or(10.0))?;
        let beta = non_negative("beta", params.beta.unwrap_or(0.01))?;
        let norm = positive("norm", params.norm.unwrap_or(1.0))?;
        let projection = params.projection.unwrap_or(L::PROJECTION);
        let centre = params.centre.unwrap_or(Centre::Current);
        Ok(Self {
            params: NewtronParams {
                exploration: Some(exploration),
                alpha: Some(alpha),
                beta: Some(beta),
                norm: Some(norm),
                projection: Some(projection),
                centre: Some(centre),
            },
            exploration,
            alpha,
            beta,
            centre,
            model: L::new(k, d, 1.0 / norm, norm, projection),
            problem,
            rounds: 0,
            scores: vec![0.0; k],
            coefficients: vec![0.0; k],
        })
    }

    own! { params }

    fn numbers(problem: &Problem) -> usize {
        L::numbers(problem.classes, problem.features)
    }
}

impl<L: Leader> BanditLearner for Newtron<L> {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        if offered.is_some() {
            return false;
        }
        let k = self.problem.classes;
        out.start(k, self.rounds + 1);
        out.forecast.resize(k, 0.0);
        self.model.scores(x, &mut out.scores);
        for (sharpened, score) in out.distribution.iter_mut().zip(&out.scores) {
            *sharpened = self.alpha * score;
        }
        softmax(&out.distribution, &mut out.forecast);
        out.explore_forecast(self.exploration); // eq. (1)
        true
    }

    fn play(&self, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        match self.centre {
            Centre::Current => out.draw(uniforms.uniform()),
            Centre::Played => {
                let coin = uniforms.coin();
                out.toss_and_draw(coin, uniforms.uniform());
            }
        }
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        let (label, k) = (taken.label as usize, self.problem.classes as f64);
        let (q, p) = (taken.forecast[label], taken.probability);
        let (size, kappa) = if reward.is_right() { (-(1.0 - q) / p, p) } else { (q / p, 1.0) };
        self.coefficients.fill(-size / k);
        self.coefficients[label] += size; // eq. (2)
        let scores = if taken.round == self.rounds {
            &taken.scores
        } else {
            self.model.scores(x, &mut self.scores);
            &self.scores
        };
        let explored = self.centre == Centre::Played && taken.explored == Some(true);
        let at_centre = if explored { 0.0 } else { dot(&self.coefficients, scores) };
        let curvature = kappa * self.beta;
        self.model.learn(x, &self.coefficients, curvature, 1.0 - curvature * at_centre); // eq. (3)
    }
}

state! { Newtron<L>, L: Leader; model; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_unbiased};

    /// With β = 0, D = 1 and no projection, W is minus the sum of the estimates, whose mean over the played
    /// label is (q - e_y) ⊗ x.
    #[test]
    fn the_estimate_is_unbiased() {
        fn check<L: NewtronVariant>(centre: Centre) {
            let params = NewtronParams::new()
                .exploration(0.3)
                .alpha(2.0)
                .beta(0.0)
                .projection(Projection::None)
                .centre(centre);
            let learner = Newtron::<L>::new(params, Problem::new(4, 3), 0).expect("valid parameters");
            assert_unbiased(learner, |at, y| {
                let mut step: Vec<f64> = at.forecast.iter().map(|q| -q).collect();
                step[y] += 1.0;
                step
            });
        }
        check::<FullLeader>(Centre::Current);
        check::<DiagonalLeader>(Centre::Played);
    }

    /// K = 2, d = 1, x = 1, D = 1, γ = 1/2, β = 1/2. At W = 0, q = p = 1/2. If class 0 is played and right: G
    /// = (-1/2, 1/2), κβ = 1/4, b = G. Full: A⁻¹G = G/(1 + 1/8), W = (4/9, -4/9); diagonal: A = 1 + 1/16, W =
    /// (8/17, -8/17). If it is wrong: G = (1/2, -1/2), κβ = 1/2. Full: W = -G/(1 + 1/4) = (-2/5, 2/5);
    /// diagonal: A = 1 + 1/8, W = (-4/9, 4/9).
    #[test]
    fn a_round_by_hand() {
        fn check<L: NewtronVariant>(right: f64, wrong: f64) {
            let params = NewtronParams::new().exploration(0.5).beta(0.5);
            let learner = Newtron::<L>::new(params, Problem::new(2, 1), 0).expect("valid parameters");
            let mut at = Decision::default();
            for (correct, w) in [(true, right), (false, wrong)] {
                let mut learner = learner.clone();
                learner.predict(Features::Dense(&[1.0]), &mut at);
                at.draw(0.0);
                assert_eq!((at.label, at.probability), (0, 0.5));
                learner.learn(Features::Dense(&[1.0]), &at, correct.into());
                learner.predict(Features::Dense(&[1.0]), &mut at);
                at.scores.iter().zip([w, -w]).for_each(|(got, w)| assert_close(*got, w, 1e-14, "score"));
            }
        }
        check::<FullLeader>(4.0 / 9.0, -0.4);
        check::<DiagonalLeader>(8.0 / 17.0, -4.0 / 9.0);
    }
}
