//! # SOBA by reduction to online Newton steps
//!
//! Bandit multiclass learning by a learner of exp-concave losses: if the greedy class is wrong and
//! exploration happens to play the right one, the oracle learns an importance-weighted quadratic loss of the
//! margin. Also $\tilde O(\sqrt T)$ regret, but weaker than SOBA: for one loss, with known norms, and without
//! updates after right greedy classes.
//!
//! ## Reference
//!
//! Alina Beygelzimer, Francesco Orabona, Chicheng Zhang, *Efficient Online Bandit Multiclass Learning with
//! Õ(√T) Regret*, ICML 2017: appendix E. `references.bib`: `beygelzimer2017soba`; the oracle `hazan2007ons`;
//! theory: bandit 3.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `model` | weights of the oracle, [`NewtonStep`] |
//! | $\gamma$ | `exploration` | rate of uniform play |
//! | $\eta$ | `loss_eta` | of the loss, at most $1/\max(2XD, 1)$ |
//! | $X, D$ | `radius`, `norm` | bounds on $\lVert x \rVert_2$ and on $\lVert W \rVert_F$ |
//! | $b$, $\varepsilon$ | `ons_rate`, `ons_regularization` | inverse step size and $A_0 = \varepsilon I$ of the oracle |
//!
//! $$ \hat y = \arg\max_k (Wx)_k, \quad p = (1 - \gamma)\ e_{\hat y} + \tfrac{\gamma}{K} 1, \quad \tilde y
//!    \sim p, \tag{1} $$
//! $$ \text{if } \tilde y = y \ne \hat y:\quad m = s_y - s_{\hat y}, \quad
//!    g = \frac{1}{p_y}\ \frac{2\eta m - 2}{2 - \eta}\ (e_y - e_{\hat y}) \otimes x, \tag{2} $$
//! $$ A \mathrel{+}= gg^\top, \quad V = W - \tfrac1b A^{-1}g, \quad W = \arg\min_{\lVert W \rVert \le D}
//!    (W-V)^\top A (W-V). \tag{3} $$
//!
//! $g$ is the gradient of $\tfrac1{p_y} f(m)$, $f(m) = 1 - \tfrac{2m}{2-\eta} + \tfrac{\eta m^2}{2-\eta}$,
//! which is $\alpha$-exp-concave with $\alpha = \tfrac\gamma K \eta(2-\eta)/8$ and $G$-Lipschitz with
//! $G = \tfrac K\gamma \tfrac{4\sqrt2X}{2-\eta}$. With $b = \tfrac12\min\lbrace 1/(8GD), \alpha\rbrace $ and
//! $\varepsilon = 1/(bD)^2$ the regret against the $\eta$-loss is
//! $O(\tfrac{K^2d}{\gamma\eta}\ln T) + \gamma T$ ([`crate::bounds::soba_reduction`]).
//!
//! ## Deviations
//!
//! * $\alpha$ and $G$ are sharper than the paper's $\eta/32$ and $16X$, which come from a wrong second
//!   derivative.
//! * The theorem's constants lead to tiny steps: therefore `ons_rate` and `ons_regularization` are
//!   parameters.
//! * Late feedback is learnt as if the row came now: the margin is that of the current weights, relative to
//!   the class that was greedy at the decision, with the probability of the decision.
//!
//! ## Cost
//!
//! `predict` $2K\ \mathrm{nnz}(x)$ flops. `learn` after an explored right guess $4Kd^2 + K^2d^2$, an active
//! projection $\tfrac13K^3d^3$ for each of a few Newton steps; memory $2K^2d^2$ numbers.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::Features;
use crate::guarantee::{Guarantee, MistakeBound, Promise, reference_norm, setting};
use crate::kernel::newton_step::NewtonStep;
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::loss::hinge::eta_loss;
use crate::param::{ParamError, fraction, invertible, positive};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::state;

params! {
    /// Parameters of [`SobaReduction`].
    pub struct SobaReductionParams {
        /// Rate $\gamma$ of uniform play, in [0, 1].
        exploration: f64 = "min(1, classes sqrt(features ln(horizon) / (loss_eta horizon))); 0.05 if the horizon is unknown",
        /// $\eta$ of the loss, in (0, 1]; the guarantee holds up to the default.
        loss_eta: f64 = "1 / max(2 radius norm, 1)",
        /// Bound $X$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Bound $D$ on the Frobenius norm of the comparator, > 0.
        norm: f64 = "10 / radius",
        /// Inverse step size $b$ of the oracle, > 0.
        ons_rate: f64 = "min(1 / (8 G norm), alpha) / 2, alpha = exploration loss_eta (2 - loss_eta) / (8 classes), G = 4 sqrt(2) classes radius / (exploration (2 - loss_eta))",
        /// Weight $\varepsilon$ of the identity in the oracle's $A_0$, > 0.
        ons_regularization: f64 = "1 / (ons_rate norm)^2",
        /// Number of rounds $T$, >= 1, for the default exploration.
        horizon: u64 = "the stream's, if known",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SobaReduction {
    problem: Problem,
    params: SobaReductionParams,
    /// $D$.
    norm: f64,
    exploration: f64,
    loss_eta: f64,
    model: NewtonStep,
    rounds: u64,
    /// $A^{-1}((e_y - e_{\hat y}) \otimes x)$.
    direction: Vec<f64>,
}

impl Algorithm for SobaReduction {
    type Params = SobaReductionParams;

    const ABOUT: About = About {
        name: "soba-reduction",
        summary: "bandit learning by online Newton steps on the mistakes that exploration repairs",
        paper: Paper { key: "beygelzimer2017soba", place: "appendix E" },
        guarantee: "expected mistakes <= L_eta + O(K^2 d ln T / (gamma eta)) + gamma T in the Frobenius ball, one eta",
        cost: "4 K d^2 + K^2 d^2 flops a repaired mistake, and K^3 d^3 where the projection is active",
        memory: "2 K^2 d^2 numbers",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: SobaReductionParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let problem = Problem { radius: Some(radius), ..problem };
        let norm = positive("norm", params.norm.unwrap_or_else(|| reference_norm(&problem)))?;
        let loss_eta = positive("loss_eta", params.loss_eta.unwrap_or(1.0 / (2.0 * radius * norm).max(1.0)))?;
        let loss_eta = fraction("loss_eta", loss_eta)?;
        let horizon = params.horizon.or(problem.horizon);
        let theory = horizon.map(|t| {
            let t = t.max(2) as f64;
            (k as f64 * (d as f64 * t.ln() / (loss_eta * t)).sqrt()).min(1.0)
        });
        let exploration = fraction("exploration", params.exploration.or(theory).unwrap_or(0.05))?;
        let weight = k as f64 / exploration;
        let concavity = loss_eta * (2.0 - loss_eta) / (8.0 * weight);
        let gradient = weight * 4.0 * std::f64::consts::SQRT_2 * radius / (2.0 - loss_eta);
        if exploration == 0.0 && params.ons_rate.is_none() {
            let need = "> 0 where ons_rate is not given: without exploration no mistake is repaired";
            return Err(ParamError::invalid("exploration", exploration, need));
        }
        let rate = 0.5 * (0.125 / (gradient * norm)).min(concavity);
        let rate = positive("ons_rate", params.ons_rate.unwrap_or(rate))?;
        let regularization = params.ons_regularization.unwrap_or((rate * norm).powi(-2));
        let regularization = invertible("ons_regularization", regularization, radius)?;
        Ok(Self {
            params: SobaReductionParams {
                exploration: Some(exploration),
                loss_eta: Some(loss_eta),
                radius: Some(radius),
                norm: Some(norm),
                ons_rate: Some(rate),
                ons_regularization: Some(regularization),
                horizon,
            },
            norm,
            exploration,
            loss_eta,
            model: NewtonStep::new(k, d, regularization, rate, norm),
            problem,
            rounds: 0,
            direction: vec![0.0; k * d],
        })
    }

    own! { params }

    fn numbers(problem: &Problem) -> usize {
        NewtonStep::numbers(problem.classes, problem.features)
    }
}

impl BanditLearner for SobaReduction {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        if offered.is_some() {
            return false;
        }
        out.start(self.problem.classes, self.rounds + 1);
        let rows = self.model.weights().chunks_exact(self.problem.features);
        for (score, row) in out.scores.iter_mut().zip(rows) {
            *score = x.dot(row);
        }
        out.explore_greedily(self.exploration, None); // eq. (1)
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        let (label, greedy) = (taken.label as usize, taken.greedy as usize);
        if !reward.is_right() || label == greedy {
            return;
        }
        let between = |numbers: &[f64]| {
            let row = |class: usize| &numbers[class * self.problem.features..][..self.problem.features];
            x.dot(row(label)) - x.dot(row(greedy))
        };
        let margin = between(self.model.weights());
        let slope = (2.0 * self.loss_eta * margin - 2.0) / (2.0 - self.loss_eta) / taken.probability; // eq. (2)
        self.model.inverse().combination(x, &[(label, 1.0), (greedy, -1.0)], &mut self.direction);
        // A negative square is the result of rounding.
        let square = slope * slope * between(&self.direction).max(0.0);
        self.model.step(&self.direction, &mut [slope], square, 1.0); // eq. (3)
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let norm = self.norm;
        let theory = Self::new(
            SobaReductionParams { ons_rate: None, ons_regularization: None, ..self.params.clone() },
            self.problem.clone(),
            0,
        );
        let theory = theory.is_ok_and(|theory| theory.params == self.params);
        let largest = 1.0 / (2.0 * self.problem.radius.unwrap_or(1.0) * norm).max(1.0);
        let holds = theory && self.loss_eta <= largest * (1.0 + 1e-12);
        let bound: Promise<MistakeBound<'_>> = if holds {
            Ok(Box::new(move |u| {
                let losses = u.total(|margin| eta_loss(margin, self.loss_eta));
                let setting = setting(&self.problem, norm, self.rounds);
                losses + bounds::soba_reduction(&setting, self.loss_eta, self.exploration)
            }))
        } else {
            Err("loss_eta, ons_rate or ons_regularization are not the theorem's".into())
        };
        Some(Guarantee::Mistakes { norm: norm.min(reference_norm(&self.problem)), bound, drawn: None })
    }
}

state! { SobaReduction; model; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// K = 2, d = 1, x = 1, γ = 1: p = 1/2, and at W = 0 class 0 is greedy, while class 1 is played and
    /// right. With η = 1, f'(0) = -2, g = 2·(-2)(-1, 1) = (4, -4), A = I + gg', A⁻¹g = g/33. With b = 1/4: V
    /// = -4g/33 = (-16, 16)/33. The projection to the Frobenius ball of radius 1/2 scales it, since the
    /// metric is isotropic along g: W = (-1, 1)/(2√2).
    #[test]
    fn a_step_by_hand() {
        for (norm, w) in [(10.0, 16.0 / 33.0), (0.5, 0.125f64.sqrt())] {
            let params = SobaReductionParams::new()
                .exploration(1.0)
                .loss_eta(1.0)
                .norm(norm)
                .ons_rate(0.25)
                .ons_regularization(1.0);
            let mut learner = SobaReduction::new(params, Problem::new(2, 1), 0).expect("valid parameters");
            let x = Features::Dense(&[1.0]);
            let mut at = Decision::default();
            learner.predict(x, &mut at);
            for (label, correct) in [(0, false), (1, false), (0, true), (1, true)] {
                (at.label, at.probability) = (label, 0.5);
                let mut taught = learner.clone();
                taught.learn(x, &at, correct.into());
                let mut after = Decision::default();
                taught.predict(x, &mut after);
                let want = if label == 1 && correct { [-w, w] } else { [0.0, 0.0] };
                after.scores.iter().zip(want).for_each(|(got, w)| assert_close(*got, w, 1e-13, "score"));
            }
            learner.learn(x, &at, true.into());
            assert_eq!(learner.rounds(), 1);
        }
    }
}
