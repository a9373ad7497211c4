//! The interface of a loss for the Gaussian forecaster, and the computation of the point at which it is
//! expanded.

use super::super::second_order::SecondOrderLearner;
use crate::batch::passes::Coordinates;
use crate::example::Truth;
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::vector::{axpy, dot, max_abs, take};
use crate::state::Tensor;

/// See the [module](super).
pub type GaussianForecaster<L> = SecondOrderLearner<Gaussian<L>>;

/// The surrogates of a mixable loss.
#[derive(Clone, Debug)]
pub struct Gaussian<L> {
    /// The loss.
    pub loss: L,
    /// $\lambda > 0$.
    pub regularization: f64,
}

/// A convex loss of $z = \Phi(x)\theta \in \mathbb{R}^q$ that is $\alpha$-mixable and has curvature $\beta$.
///
/// Matrices are column-major. `scratch` has at least [`MixableLoss::scratch_len`] numbers.
pub trait MixableLoss: Clone + Send + Sync {
    /// See [`Surrogate::COORDINATES`](crate::full::second_order::Surrogate::COORDINATES).
    const COORDINATES: Option<Coordinates> = None;

    /// $q$.
    fn dimension(&self) -> usize;

    /// The number of scores and the number of probabilities of a forecast.
    fn outputs(&self) -> (usize, usize);

    /// Length of the scratch memory that the other functions need.
    fn scratch_len(&self) -> usize;

    /// $\alpha$.
    fn mixability(&self) -> f64;

    /// $\beta$: for every $z$ and every comparator's $a$, $\ell(a) \ge \ell(z) + \langle \nabla\ell(z), a - z
    /// \rangle + \tfrac\beta2 (a-z)^\top \nabla^2\ell(z)\ (a-z)$.
    fn curvature(&self) -> f64;

    /// $\ell_y(z)$.
    fn value(&self, z: &[f64], y: Truth<'_>, scratch: &mut [f64]) -> f64;

    /// Writes $\nabla\ell_y(z)$ to `gradient`, and a $q \times q$ matrix $C$ with
    /// $CC^\top = \nabla^2\ell_y(z)$ to `factor`.
    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], scratch: &mut [f64]);

    /// Writes a forecast whose loss is at most $-\tfrac1\alpha \ln \mathbb{E} e^{-\alpha\ell_y(z)}$ for every
    /// label, for $z$ from the posterior. Pure.
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, scratch: &mut [f64]);

    /// The loss of a forecast's scores.
    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64;

    /// Writes the solution of $z = z_0 - A\ \nabla\ell_y(z)$ to `z`, for a symmetric semidefinite `a`. `room`
    /// has [`settle_len`] numbers.
    ///
    /// The default is damped Newton on the dual, $z = z_0 - Au$, which does not invert $A$.
    fn settle(
        &self,
        a: &[f64],
        z0: &[f64],
        y: Truth<'_>,
        z: &mut [f64],
        room: &mut [f64],
        scratch: &mut [f64],
    ) {
        newton(self, a, z0, y, z, room, scratch);
    }

    /// See [`Surrogate::grow`](crate::full::second_order::Surrogate::grow).
    fn grow(&mut self, _classes: usize) -> bool {
        false
    }

    /// Tensors on which learning depends besides the parameters, for
    /// [`State::tensors`](crate::state::State::tensors).
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        Vec::new()
    }

    /// The theorem for this loss, see [`OnlineLearner::guarantee`](crate::learner::OnlineLearner::guarantee).
    fn guarantee(_learner: &GaussianForecaster<Self>) -> Option<Guarantee<'_>> {
        None
    }

    /// See [`OnlineLearner::certificate`](crate::learner::OnlineLearner::certificate).
    fn certificate(_learner: &GaussianForecaster<Self>) -> Option<Promise> {
        None
    }

    /// See [`crate::learner::OnlineLearner::certificate_terms`].
    fn certificate_terms(_learner: &GaussianForecaster<Self>) -> Option<Terms> {
        None
    }
}

/// The distribution of $z$ before the label is known.
#[derive(Clone, Copy, Debug)]
pub struct Posterior<'a> {
    /// $z_0$.
    pub mean: &'a [f64],
    /// $\tilde A/\alpha$, column-major.
    pub covariance: &'a [f64],
    /// Number of rounds learnt so far: the seed of random draws in this round.
    pub round: u64,
    /// Standard normals given by the caller, see [`crate::prediction::Prediction::normals`]; usually none.
    pub normals: &'a [f64],
}

/// The fields of a prediction that a forecast is written to.
#[derive(Debug)]
pub struct Forecast<'a> {
    /// See [`crate::prediction::Prediction::scores`].
    pub scores: &'a mut [f64],
    /// See [`crate::prediction::Prediction::probabilities`].
    pub probabilities: &'a mut [f64],
}

/// Length of the buffer of [`MixableLoss::settle`] for $q$ dimensions.
pub const fn settle_len(q: usize) -> usize {
    3 * q * q + 6 * q
}

/// See [`MixableLoss::settle`].
pub(in crate::full) fn newton<L: MixableLoss>(
    loss: &L,
    a: &[f64],
    z0: &[f64],
    y: Truth<'_>,
    z: &mut [f64],
    room: &mut [f64],
    scratch: &mut [f64],
) {
    const MAX_STEPS: usize = 100;
    let q = z.len();
    let a = columns(a, q, q);
    let rest = &mut { room };
    let (factor, a_factor, system) = (take(rest, q * q), take(rest, q * q), take(rest, q * q));
    let (u, gradient, r) = (take(rest, q), take(rest, q), take(rest, q));
    let (delta, a_delta, trial) = (take(rest, q), take(rest, q), take(rest, q));
    z.copy_from_slice(z0);
    u.fill(0.0);
    let mut last = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        // r = u - ∇ℓ(z);  (I + CCᵀA) δ = -r.
        loss.expand(z, y, gradient, factor, scratch);
        for ((r, u), g) in r.iter_mut().zip(&*u).zip(&*gradient) {
            *r = u - g;
        }
        let c = columns(factor, q, q);
        product(columns_mut(a_factor, q, q), Store::Replace, 1.0, a, c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c, columns(a_factor, q, q).transpose());
        (0..q).for_each(|j| system[j * q + j] += 1.0);
        for (delta, r) in delta.iter_mut().zip(&*r) {
            *delta = -r;
        }
        linalg::solve(system, q, delta);
        product(columns_mut(a_delta, q, 1), Store::Replace, 1.0, a, columns(delta, q, 1));

        // Backtracking on ½uᵀAu + ℓ(z0 - Au), as long as its differences are above the rounding error.
        let step = max_abs(a_delta);
        let mut tau = 1.0;
        if step > 1e-3 * (1.0 + max_abs(z)) {
            let mut objective = |tau: f64| {
                let mut total = 0.0;
                for i in 0..q {
                    trial[i] = z[i] - tau * a_delta[i];
                    total += 0.5 * (u[i] + tau * delta[i]) * (z0[i] - trial[i]);
                }
                total + loss.value(trial, y, scratch)
            };
            let (start, slope) = (objective(0.0), dot(r, a_delta));
            let improves = |value: f64, tau: f64| value <= start + 1e-4 * tau * slope;
            while tau > 1e-12 && !improves(objective(tau), tau) {
                tau *= 0.5;
            }
        }
        axpy(-tau, a_delta, z);
        axpy(tau, delta, u);
        if step <= 4.0 * f64::EPSILON * max_abs(z0).max(max_abs(z)) || (step < 1e-3 && step > 0.5 * last) {
            return;
        }
        last = step;
    }
}
