//! # ONS-diag: online Newton step with a diagonal matrix
//!
//! [ONS](super::ons) with a diagonal matrix, so that a round takes about the time of a gradient step: for
//! many, sparse features. There is no theorem for it.
//!
//! ## Reference
//!
//! After Elad Hazan, Amit Agarwal, Satyen Kale, *Logarithmic Regret Algorithms for Online Convex
//! Optimization*, Machine Learning 69 (2007): section 3.2. `references.bib`: `hazan2007ons`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $w_t$ | `cells` | $K \times d$, starts at 0, stored feature by feature |
//! | $\mathrm{diag}\ A_t$ | `cells` | behind them, starts at $\varepsilon$ |
//! | $B, \gamma_o, \varepsilon$ | `norm`, `rate`, `regularization` | as in [ONS](super::ons) |
//!
//! $$ z_t = W_t x_t, \quad p = \sigma(z_t), \quad g = (p - y)\ x_t^\top, \tag{1} $$
//! $$ a_{kj} \mathrel{+}= g_{kj}^2, \quad w_{kj} \mathrel{-}= g_{kj} / (\gamma_o a_{kj}), \tag{2} $$
//! $$ W \leftarrow \arg\min_{\lVert U \rVert_F \le B} \textstyle\sum_{kj} a_{kj} (u_{kj} - w_{kj})^2. \tag{3}
//!    $$
//!
//! ## Deviations
//!
//! * A diagonal in place of the matrix; the rest is as in [ONS](super::ons), including the default
//!   parameters.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and `update`; an active projection reads all memory, $2K$ numbers
//! for every feature that has occurred.

use super::ons::{OnsParams, Resolved};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::{Features, Target};
use crate::kernel::ball;
use crate::kernel::cells::Cells;
use crate::kernel::softmax::softmax;
use crate::kernel::vector::dot;
use crate::kernel::weights::scores_by_feature;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// The norm is updated incrementally, and computed from the weights after this many rounds, so that rounding
/// errors do not accumulate.
const REFRESH: u64 = 1 << 16;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct OnsDiag {
    params: OnsParams,
    problem: Problem,
    norm: f64,
    /// $\gamma_o$.
    rate: f64,
    /// $\varepsilon$.
    regularization: f64,
    projection: bool,
    /// For every feature $K$ weights, then their diagonal, where 0 stands for $\varepsilon$ before the first
    /// update.
    cells: Cells<f64>,
    /// $\lVert W \rVert_F^2$.
    norm_squared: f64,
    rounds: u64,
    residual: Vec<f64>,
}

impl Algorithm for OnsDiag {
    type Params = OnsParams;

    const ABOUT: About = About {
        name: "ons-diag",
        summary: "online Newton step with a diagonal matrix, for many sparse features",
        paper: Paper { key: "hazan2007ons", place: "section 3.2, diagonal" },
        guarantee: "none: the theorem is about the full matrix",
        cost: "8 K nnz(x) flops a round",
        memory: "2 K numbers a feature seen",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: OnsParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let resolved = Resolved::new(params, &problem)?;
        let Resolved { norm, radius, rate, regularization, projection } = resolved;
        Ok(Self {
            norm,
            rate,
            regularization,
            projection,
            problem: Problem { radius: Some(radius), ..problem },
            params: resolved.params(),
            cells: Cells::new(2 * k, d, usize::MAX),
            norm_squared: 0.0,
            rounds: 0,
            residual: vec![0.0; k],
        })
    }

    own! { params }

    fn numbers(problem: &Problem) -> usize {
        problem.classes.saturating_mul(problem.features).saturating_mul(2)
    }

    fn numbers_at_first(_params: &Self::Params, problem: &Problem) -> usize {
        problem.classes.saturating_mul(2)
    }
}

impl OnsDiag {
    /// $\lVert W \rVert_F^2$, computed from the weights.
    fn square(&self) -> f64 {
        let (k, mut square) = (self.problem.classes, 0.0);
        self.cells.each(|cell| square += dot(&cell[..k], &cell[..k]));
        square
    }
}

impl Predictor for OnsDiag {
    own! { problem, prediction }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        scores_by_feature(&self.cells, 0, x, &mut out.scores); // eq. (1)
        softmax(&out.scores, &mut out.probabilities);
    }
}

impl OnlineLearner for OnsDiag {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let k = self.problem.classes;
        self.residual.copy_from_slice(&at.probabilities);
        y.truth.subtract_from(&mut self.residual);
        for (i, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let (weights, diagonal) = self.cells.get_mut(i).split_at_mut(k);
            if diagonal[0] == 0.0 {
                diagonal.fill(self.regularization);
            }
            for ((w, a), r) in weights.iter_mut().zip(diagonal).zip(&self.residual) {
                let g = r * value;
                *a += y.weight * (g * g);
                let before = *w;
                *w -= y.weight / self.rate * (g / *a); // eq. (2)
                self.norm_squared += (*w - before) * (*w + before);
            }
        }
        self.rounds += 1;
        if self.rounds.is_multiple_of(REFRESH) {
            self.norm_squared = self.square();
        }
        if self.projection && self.norm_squared > self.norm * self.norm {
            let cells = &mut self.cells;
            let mut each = |see: &mut ball::VisitPart<'_>| {
                cells.each_mut(|cell| {
                    let (weights, diagonal) = cell.split_at_mut(k);
                    see(weights, diagonal);
                });
            };
            ball::project_parts(&mut each, self.norm); // eq. (3)
            self.norm_squared = self.square();
        }
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        let (k, start) = (self.problem.classes, self.regularization);
        self.cells.grow(2 * classes, features, |old, new| {
            new[..k].copy_from_slice(&old[..k]);
            let (known, fresh) = new[classes..].split_at_mut(k);
            known.copy_from_slice(&old[k..]);
            fresh.fill(start);
        });
        self.residual = vec![0.0; classes];
        self.problem = problem;
        true
    }
}

impl State for OnsDiag {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::listed("cells", &mut self.cells),
            Tensor::number("norm_squared", &mut self.norm_squared),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        let mut valid = true;
        self.cells.each(|cell| valid &= cell[self.problem.classes..].iter().all(|a| *a > 0.0));
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, plays};

    fn ons_diag(params: OnsParams, classes: usize, features: usize) -> OnsDiag {
        OnsDiag::new(params, Problem::new(classes, features), 0).expect("valid")
    }

    /// K = 2, x = (1, 2), ε = 1, γ_o = ½, label 0: g = (-½, ½)(1, 2)ᵀ, so a = 1 + 1/4 and 1 + 1, and
    /// w_0 = 2 (½/(5/4), 1/2) = (4/5, 1) = -w_1.
    #[test]
    fn one_round_by_hand() {
        let params = OnsParams::new().rate(0.5).regularization(1.0);
        let mut learner = ons_diag(params, 2, 2);
        let x = Features::Dense(&[1.0, 2.0]);
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        learner.update(x, Target::class(0), &at);
        assert_eq!(learner.cells.get(0), Some(&[0.8, -0.8, 1.25, 1.25][..]));
        assert_eq!(learner.cells.get(1), Some(&[1.0, -1.0, 2.0, 2.0][..]));
        assert_close(learner.norm_squared, 3.28, 1e-15, "norm");
    }

    #[test]
    fn projected_weights_stay_in_the_ball_and_the_norm_is_known() {
        for norm in [0.2, 50.0] {
            let params = OnsParams::new().norm(norm).rate(0.05).regularization(0.1);
            let mut learner = ons_diag(params, 4, 3);
            plays(&mut learner, 60);
            let squared = learner.square();
            assert!(squared > 0.01 && squared.sqrt() <= norm * (1.0 + 1e-15), "{squared}");
            assert_close(learner.norm_squared, squared, 1e-12, "norm");
        }
    }
}
