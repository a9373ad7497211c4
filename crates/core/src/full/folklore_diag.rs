//! # FOLKLORE with a diagonal matrix
//!
//! [FOLKLORE](crate::full::folklore) with a diagonal matrix, so that a round takes about the time of gradient
//! descent: for many, mostly zero features. There is no theorem for it.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020, Algorithm 1, with a diagonal $A$; the diagonal version is not in the paper.
//! `references.bib`: `agarwal2022folklore`; theory: extensions 6.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $B, R$ | `norm`, `radius` | bounds on the rows of the comparator and on $\lVert x \rVert_2$ |
//! | $\lambda$ | `regularization` | initial value of the diagonal |
//! | $\gamma$ | `gamma` | curvature of the surrogates |
//! | $a_{kj}$ | `cells` | diagonal of $A$, class $k$ and feature $j$; stored as $a_{kj} - \lambda$ |
//! | $G_{kj}$ | `cells` | linear term |
//! | $z_t$ | `scores` | logits |
//!
//! $$ \tilde a_k = \tfrac12 \sum_j x_j^2/a_{kj}, \qquad
//!    g_k = -\tfrac12 \sum_j x_j G_{kj}/a_{kj} + \tfrac12 \tilde a_k, \tag{1} $$
//! $$ z = g - \tilde a \circ \sigma(z), \tag{2} $$
//! $$ a_{kj} \mathrel{+}= \gamma\ p_k(1-p_k)\ x_j^2, \qquad G \mathrel{+}= (p - y - 2\gamma S z) \otimes x.
//!    \tag{3} $$
//!
//! ## Deviations
//!
//! * All $Kd$ coordinates are kept, since the diagonal has no meaning in the reduced $(K-1)d$ coordinates.
//! * The diagonal is not a lower bound of the matrix that it replaces: therefore surrogates are not lower
//!   bounds of the losses, and there is no certificate.
//! * Defaults and importance weights are those of FOLKLORE.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `update`, plus $O(K)$ for each Newton step of (2); memory
//! $2K$ numbers for every feature that has occurred.

use super::folklore::{FolkloreParams, Resolved};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::{Features, Target};
use crate::kernel::cells::Cells;
use crate::kernel::diagonal_fixed_point::{scratch_len, solve};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{axpy, take, widen};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::Curvature;
use crate::loss::heavy;
use crate::merge::{self, Merge, MergeError};
use crate::param::ParamError;
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`FolkloreDiag`].
    pub struct FolkloreDiagParams {
        /// Bound $B$ on the Euclidean norm of every row of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Start $\lambda$ of the diagonal, > 0.
        regularization: f64 = "2 radius / norm",
        /// Curvature $\gamma$: `safe`, `tight`, `paper` or a number > 0.
        curvature: Curvature = "safe: 1 / (2 + 2 norm radius + ln(classes - 1))",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct FolkloreDiag {
    params: FolkloreDiagParams,
    problem: Problem,
    /// $\lambda$.
    regularization: f64,
    /// $\gamma$.
    gamma: f64,
    /// For every feature $K$ numbers $a_{kj} - \lambda$, then $K$ numbers $G_{kj}$, side by side in memory;
    /// both are 0 for features that have not occurred.
    cells: Cells<f64>,
    rounds: u64,
    /// $p - y - 2\gamma Sz$ of the round, then $\gamma p(1-p)$.
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

impl Algorithm for FolkloreDiag {
    type Params = FolkloreDiagParams;

    const ABOUT: About = About {
        name: "folklore-diag",
        summary: "FOLKLORE with a diagonal matrix, for many features",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 1, with a diagonal matrix" },
        guarantee: "none: the theorem is about the full matrix",
        cost: "10 K nnz(x) flops a round",
        memory: "2 K numbers a feature seen",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: FolkloreDiagParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let FolkloreDiagParams { norm, radius, regularization, curvature } = params;
        let shared = FolkloreParams { norm, radius, regularization, curvature, linear_term: None };
        let Resolved { norm, radius, regularization, gamma } = Resolved::new(shared, &problem)?;
        Ok(Self {
            params: FolkloreDiagParams {
                norm: Some(norm),
                radius: Some(radius),
                regularization: Some(regularization),
                curvature: Some(Curvature::Value(gamma)),
            },
            problem: Problem { radius: Some(radius), ..problem },
            regularization,
            gamma,
            cells: Cells::new(2 * k, d, usize::MAX),
            rounds: 0,
            work: vec![0.0; 2 * k],
            ahead: Prediction::default(),
        })
    }

    own! { params }

    fn numbers(problem: &Problem) -> usize {
        problem.classes.saturating_mul(problem.features).saturating_mul(2)
    }

    fn numbers_at_first(_params: &Self::Params, problem: &Problem) -> usize {
        problem.classes.saturating_mul(2)
    }

    /// The sums of all $a_{kj} - \lambda$ and $G_{kj}$.
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let (first, problem) = merge::check(parts, Predictor::problem)?;
        let regularization = how.regularization(first.regularization, parts.len());
        let params = FolkloreDiagParams { regularization: Some(regularization), ..first.params() };
        let mut merged = Self::new(params, problem, 0)?;
        for part in parts {
            merged.cells.take_in(&part.cells, |own, sum| axpy(1.0, own, sum));
            merged.rounds += part.rounds;
        }
        Ok(merged)
    }
}

impl FolkloreDiag {
    /// Adds $\tilde a$ of eq. (1) to `a`.
    fn add_squares(&self, x: Features<'_>, a: &mut [f64]) {
        for (feature, value) in x.iter() {
            let cell = self.cells.get(feature);
            for (class, a) in a.iter_mut().enumerate() {
                let growth = cell.map_or(0.0, |cell| cell[class]);
                *a += 0.5 * value / (self.regularization + growth) * value;
            }
        }
    }
}

impl Predictor for FolkloreDiag {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let k = self.problem.classes;
        Prediction::sized(k, 2 * k + scratch_len(k))
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let k = self.problem.classes;
        let rest = &mut &mut out.scratch[..];
        let (a, g) = (take(rest, k), take(rest, k));
        a.fill(0.0);
        g.fill(0.0);
        let mut unseen = 0.0;
        for (feature, value) in x.iter() {
            let Some(cell) = self.cells.get(feature) else {
                unseen += 0.5 * value / self.regularization * value;
                continue;
            };
            let (growth, gradient) = cell.split_at(k);
            for (((a, g), growth), gradient) in a.iter_mut().zip(&mut *g).zip(growth).zip(gradient) {
                let half = 0.5 * value / (self.regularization + growth);
                *a += half * value;
                *g -= half * gradient;
            }
        }
        for (g, a) in g.iter_mut().zip(a.iter_mut()) {
            *a += unseen;
            *g += 0.5 * *a; // eq. (1)
        }
        solve(a, g, &mut out.scores, &mut out.probabilities, rest); // eq. (2)
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for FolkloreDiag {
    /// The surrogate is taken at the scores of the prediction, of which nothing else is used.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let k = self.problem.classes;
        let mut ahead = std::mem::take(&mut self.ahead);
        let at =
            if y.weight > 1.0 { heavy::diagonal(|a| self.add_squares(x, a), y, at, &mut ahead) } else { at };
        let (coefficient, curved) = self.work.split_at_mut(k);
        let p = &at.probabilities;
        covariance_times(p, &at.scores, curved);
        coefficient.copy_from_slice(p);
        y.truth.subtract_from(coefficient);
        for ((coefficient, curved), p) in coefficient.iter_mut().zip(curved.iter_mut()).zip(p) {
            *coefficient = y.weight * (*coefficient - 2.0 * self.gamma * *curved);
            *curved = y.weight * self.gamma * p * (1.0 - p);
        }
        for (feature, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let (growth, gradient) = self.cells.get_mut(feature).split_at_mut(k);
            let parts = growth.iter_mut().zip(gradient).zip(&*curved).zip(&*coefficient);
            for (((growth, gradient), curved), coefficient) in parts {
                *growth += curved * value * value; // eq. (3)
                *gradient += coefficient * value;
            }
        }
        self.rounds += 1;
        self.ahead = ahead;
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        let k = self.problem.classes;
        self.cells.grow(2 * classes, features, |old, new| widen(old, k, new, classes));
        self.work = vec![0.0; 2 * classes];
        self.problem = problem;
        true
    }
}

impl State for FolkloreDiag {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::listed("cells", &mut self.cells), Tensor::count("rounds", &mut self.rounds)]
    }

    fn restored(&mut self) -> bool {
        let mut valid = true;
        self.cells.each(|cell| valid &= cell[..self.problem.classes].iter().all(|growth| *growth >= 0.0));
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fixed_point::FixedPoint;
    use crate::loss::logistic::sigmoid;
    use crate::testing::{assert_close, unit_rows};

    fn learner(classes: usize, features: usize) -> FolkloreDiag {
        let params = FolkloreDiagParams::new().norm(2.0);
        FolkloreDiag::new(params, Problem::new(classes, features), 0).expect("valid parameters")
    }

    /// K = 2, d = 1, B = 2, R = 1: λ = 1, γ = 1/6. Round 1 at x = 1: ã = ½, g = ¼, and z = ¼ - ½·½ = 0 solves
    /// (2). With y = 0: a = 1 + γ/4, G = (-½, ½). Round 2 at x = 1: ã = 1/(2a), g = ±1/(4a) + ã/2, so that δ
    /// = z_0 - z_1 solves δ = 1/(2a) - (σ(δ) - σ(-δ))/(2a), that is aδ = σ(-δ).
    #[test]
    fn by_hand() {
        let mut learner = learner(2, 1);
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[1.0]), &mut at);
        assert_eq!((&at.scores, &at.probabilities), (&vec![0.0; 2], &vec![0.5; 2]));
        learner.update(Features::Dense(&[1.0]), Target::class(0), &at);
        learner.predict(Features::Dense(&[1.0]), &mut at);
        let delta = at.scores[0] - at.scores[1];
        assert_close((1.0 + 1.0 / 24.0) * delta, sigmoid(-delta), 1e-15, "δ");
        assert_close(at.probabilities[0], sigmoid(delta), 1e-15, "p");
    }

    /// Comparison with the formulas in dense diagonal matrices, for dense and sparse rows, hard and soft
    /// labels, and weights up to 1 (larger ones: [`heavy`]).
    #[test]
    fn follows_the_plain_recursion() {
        let (k, d, lambda) = (3, 4, 1.0);
        let mut learner = learner(k, d);
        let gamma = learner.gamma;
        let (mut a, mut g) = (vec![lambda; k * d], vec![0.0; k * d]);
        let inner = FixedPoint::full(k);
        let (mut at, mut scratch) = (learner.prediction(), vec![0.0; inner.scratch_len()]);
        for (t, mut x) in unit_rows(6, 200, d).into_iter().enumerate() {
            x[t % d] = 0.0;
            let indices: Vec<u32> = (0..d as u32).filter(|i| *i as usize != t % d).collect();
            let values: Vec<f64> = indices.iter().map(|i| x[*i as usize]).collect();
            let sparse = Features::Sparse { indices: &indices, values: &values };
            let features = if t % 2 == 0 { Features::Dense(&x) } else { sparse };
            learner.predict(features, &mut at);

            let (mut tilde, mut linear, mut z) = (vec![0.0; k * k], vec![0.0; k], vec![0.0; k]);
            for class in 0..k {
                for j in 0..d {
                    tilde[class * (k + 1)] += 0.5 * x[j] * x[j] / a[class * d + j];
                    linear[class] -= 0.5 * x[j] * g[class * d + j] / a[class * d + j];
                }
                linear[class] += 0.5 * tilde[class * (k + 1)];
            }
            let p = inner.solve(&tilde, &linear, &mut z, &mut scratch).probabilities.to_vec();
            (0..k).for_each(|class| assert_close(at.scores[class], z[class], 1e-12, "z"));

            let soft = [0.5, 0.25, 0.25];
            let (y, weight) = if t % 3 == 0 {
                (soft.to_vec(), 0.5)
            } else {
                ((0..k).map(|c| f64::from(c == t % k)).collect(), 1.0)
            };
            let target = if t % 3 == 0 { Target::distribution(&soft) } else { Target::class(t % k) };
            learner.update(features, target.weighted(weight), &at);
            let mean: f64 = p.iter().zip(&z).map(|(p, z)| p * z).sum();
            for class in 0..k {
                let c = p[class] - y[class] - 2.0 * gamma * p[class] * (z[class] - mean);
                for j in 0..d {
                    a[class * d + j] += weight * gamma * p[class] * (1.0 - p[class]) * x[j] * x[j];
                    g[class * d + j] += weight * c * x[j];
                }
            }
        }
    }
}
