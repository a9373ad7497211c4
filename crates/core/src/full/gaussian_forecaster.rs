//! The Gaussian aggregating forecaster for any mixable loss: [GAF](super::gaf) is the instance for the
//! logistic loss, and [VAW](super::vaw) its closed form for the squared loss (theory: gaf 1.1, 1.3).
//!
//! A loss $\ell_y(z)$ of $z = \Phi(x)\theta \in \mathbb{R}^q$, $\Phi(x) = I_q \otimes x^\top$, is described
//! by a [`MixableLoss`]. The sum of its quadratic surrogates is $\theta^\top A \theta + b^\top \theta$ up to
//! a constant, and the forecast is computed from the posterior $\theta \sim N(-\tfrac12 A^{-1}b,\
//! A^{-1}/(2\alpha))$:
//!
//! $$ Y = A^{-1}(I_q \otimes x), \quad \tilde A = \tfrac12 (I_q \otimes x)^\top Y, \quad z_0 = -\tfrac12
//!    Y^\top b, \quad z \sim N(z_0, \tilde A/\alpha), \tag{1} $$
//! $$ z^+ = z_0 - \omega \tilde A\ \nabla\ell(z^+), \quad \nabla^2\ell(z^+) = CC^\top, \tag{2} $$
//! $$ b \mathrel{+}= \omega (\nabla\ell(z^+) - \beta CC^\top z^+) \otimes x, \tag{3} $$
//! $$ A \mathrel{+}= \tfrac{\omega\beta}{2} CC^\top \otimes xx^\top. \tag{4} $$
//!
//! The surrogates are taken at $z^+$, which is computed after the label is known, with importance weight
//! $\omega$. They are lower bounds of the losses of comparators. Therefore, for any forecasts and $\lVert
//! \theta \rVert \le B$,
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 + \textstyle\sum_t \omega (\ell(\hat y_t) - \ell(z^+) + \langle
//!    \nabla\ell(z^+), z^+ \rangle - \tfrac\beta2 \lVert C^\top z^+ \rVert^2) + \tfrac14 b^\top A_T^{-1} b.
//!    \tag{5} $$

mod mixable_loss;
mod squared_loss;

#[cfg(test)]
pub(super) use mixable_loss::newton;
pub use mixable_loss::{Forecast, Gaussian, GaussianForecaster, MixableLoss, Posterior, settle_len};
pub use squared_loss::SquaredLoss;

use super::second_order::{Row, Sums, Surrogate};
use crate::batch::passes::Coordinates;
use crate::example::Target;
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::RoundUpdate;
use crate::kernel::vector::{dot, take};
use crate::prediction::Prediction;
use crate::state::Tensor;

/// The algorithm's part of a prediction's scratch memory. `update` reuses the first two fields.
struct Scratch<'a> {
    a: &'a mut [f64],
    z0: &'a mut [f64],
    covariance: &'a mut [f64],
    rest: &'a mut [f64],
}

impl<L: MixableLoss> Gaussian<L> {
    /// Equation (1) without the covariance.
    fn project<'a>(&self, row: Row<'_>, own: &'a mut [f64]) -> Scratch<'a> {
        let q = self.loss.dimension();
        let rest = &mut { own };
        let (a, z0, covariance) = (take(rest, q * q), take(rest, q), take(rest, q * q));
        for (a, n) in a.iter_mut().zip(row.gram) {
            *a = 0.5 * n;
        }
        for (z0, h) in z0.iter_mut().zip(row.image) {
            *z0 = -0.5 * h;
        }
        Scratch { a, z0, covariance, rest: take(rest, self.loss.scratch_len()) }
    }
}

impl<L: MixableLoss> GaussianForecaster<L> {
    /// $\ln\det(A_T/\lambda)$, for the theorem's data-dependent bound, see [`crate::bounds::gaf_log_det`].
    pub fn log_det(&self) -> f64 {
        self.sums.growth
    }

    /// Equation (5) for comparators with $\lVert \theta \rVert \le$ `norm`.
    pub fn certificate_for(&self, norm: f64) -> f64 {
        self.surrogate.regularization * norm * norm + self.sums.slack + 0.25 * self.state.square()
    }
}

impl<L: MixableLoss> Surrogate for Gaussian<L> {
    const VECTOR: &'static str = "b";

    /// $\ln\det(A_T/\lambda)$; after a merger the sum over its parts, for the sum of their bounds.
    const GROWTH: Option<&'static str> = Some("log_det");

    const COORDINATES: Option<Coordinates> = L::COORDINATES;

    fn blocks(&self) -> usize {
        self.loss.dimension()
    }

    fn outputs(&self) -> (usize, usize) {
        self.loss.outputs()
    }

    fn regularization(&self) -> f64 {
        self.regularization
    }

    fn scratch_len(&self) -> usize {
        let q = self.loss.dimension();
        2 * q * q + q + self.loss.scratch_len()
    }

    fn work_len(&self) -> usize {
        let q = self.loss.dimension();
        4 * q * q + 4 * q + settle_len(q) + self.loss.scratch_len()
    }

    fn forecast(&self, row: Row<'_>, own: &mut [f64], scores: &mut [f64], probabilities: &mut [f64]) {
        let s = self.project(row, own);
        for (covariance, a) in s.covariance.iter_mut().zip(&*s.a) {
            *covariance = a / self.loss.mixability();
        }
        let Row { round, normals, .. } = row;
        let posterior = Posterior { mean: s.z0, covariance: s.covariance, round, normals };
        self.loss.substitute(posterior, Forecast { scores, probabilities }, s.rest);
    }

    fn renew(&self, row: Row<'_>, _: &Prediction, own: &mut [f64]) {
        self.project(row, own);
    }

    fn learn<'w>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        own: &[f64],
        _gram: &[f64],
        sums: &mut Sums,
        work: &'w mut [f64],
    ) -> RoundUpdate<'w> {
        let q = self.loss.dimension();
        let (a, z0) = own[..q * q + q].split_at(q * q);
        let rest = &mut { work };
        let (weighted, factor, system) = (take(rest, q * q), take(rest, q * q), take(rest, q * q));
        let (mix, z, gradient) = (take(rest, q * q), take(rest, q), take(rest, q));
        let (whitened, coefficient) = (take(rest, q), take(rest, q));
        let room = take(rest, settle_len(q));

        // z⁺ = z0 - ωÃ∇ℓ(z⁺)                                                                        eq. (2)
        for (weighted, a) in weighted.iter_mut().zip(a) {
            *weighted = y.weight * a;
        }
        self.loss.settle(weighted, z0, y.truth, z, room, rest);
        self.loss.expand(z, y.truth, gradient, factor, rest);

        // b += ω(∇ℓ - βCCᵀz⁺) ⊗ x                                                                   eq. (3)
        let beta = self.loss.curvature();
        let c = columns(factor, q, q);
        product(columns_mut(whitened, q, 1), Store::Replace, 1.0, c.transpose(), columns(z, q, 1));
        coefficient.copy_from_slice(gradient);
        product(columns_mut(coefficient, q, 1), Store::Add, -beta, c, columns(whitened, q, 1));
        coefficient.iter_mut().for_each(|c| *c *= y.weight);
        let surplus = self.loss.forecast_loss(&at.scores, y.truth) - self.loss.value(z, y.truth, rest);
        sums.slack += y.weight * (surplus + dot(gradient, z) - 0.5 * beta * dot(whitened, whitened)); // eq. (5)

        // LLᵀ = I + ωβ CᵀÃC;  P -= FFᵀ with F = √(ωβ/2) Y C L^{-T}                                   eq. (4)
        product(columns_mut(mix, q, q), Store::Replace, beta, columns(weighted, q, q), c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c.transpose(), columns(mix, q, q));
        (0..q).for_each(|j| system[j * q + j] += 1.0);
        let definite = linalg::cholesky(system, q);
        debug_assert!(definite, "I + ωβCᵀÃC has eigenvalues >= 1");
        sums.growth += 2.0 * system.iter().step_by(q + 1).map(|l| l.ln()).sum::<f64>();
        for (mix, c) in mix.iter_mut().zip(&*factor) {
            *mix = (0.5 * y.weight * beta).sqrt() * c;
        }
        linalg::divide_by_transposed_lower(mix, q, system, q);
        RoundUpdate { coefficients: coefficient, mix }
    }

    fn grow(&mut self, classes: usize) -> bool {
        self.loss.grow(classes)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.loss.tensors()
    }

    fn guarantee(learner: &GaussianForecaster<L>) -> Option<Guarantee<'_>> {
        L::guarantee(learner)
    }

    fn certificate(learner: &GaussianForecaster<L>) -> Option<Promise> {
        L::certificate(learner)
    }

    fn certificate_terms(learner: &GaussianForecaster<L>) -> Option<Terms> {
        L::certificate_terms(learner)
    }
}

#[cfg(test)]
mod tests;
