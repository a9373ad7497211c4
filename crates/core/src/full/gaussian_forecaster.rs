//! The Gaussian aggregating forecaster for any mixable loss: what [GAF](super::gaf) does for the logistic
//! loss, and [VAW](super::vaw) in closed form for the squared loss (theory: gaf 1.1, 1.3).
//!
//! A loss $\ell_y(z)$ of $z = \Phi(x)\theta \in \mathbb{R}^q$, $\Phi(x) = I_q \otimes x^\top$, is described
//! by a [`MixableLoss`]; the sum of its quadratic surrogates is $\theta^\top A \theta + b^\top \theta$ up to
//! a constant, and the forecast a substitution for the posterior
//! $\theta \sim N(-\tfrac12 A^{-1}b,\ A^{-1}/(2\alpha))$:
//!
//! $$ Y = A^{-1}(I_q \otimes x), \quad \tilde A = \tfrac12 (I_q \otimes x)^\top Y, \quad z_0 = -\tfrac12
//!    Y^\top b, \quad z \sim N(z_0, \tilde A/\alpha), \tag{1} $$
//! $$ z^+ = z_0 - \omega \tilde A\ \nabla\ell(z^+), \quad \nabla^2\ell(z^+) = CC^\top, \tag{2} $$
//! $$ b \mathrel{+}= \omega (\nabla\ell(z^+) - \beta CC^\top z^+) \otimes x, \tag{3} $$
//! $$ A \mathrel{+}= \tfrac{\omega\beta}{2} CC^\top \otimes xx^\top. \tag{4} $$
//!
//! The surrogates are expanded at $z^+$, found after the label is known, with importance weight $\omega$.
//! They are lower bounds of the losses of comparators, so that whatever was forecast, for
//! $\lVert \theta \rVert \le B$,
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 + \textstyle\sum_t \omega (\ell(\hat y_t) - \ell(z^+) + \langle
//!    \nabla\ell(z^+), z^+ \rangle - \tfrac\beta2 \lVert C^\top z^+ \rVert^2) + \tfrac14 b^\top A_T^{-1} b.
//!    \tag{5} $$

mod mixable_loss;
mod squared_loss;

#[cfg(test)]
pub(super) use mixable_loss::newton;
pub use mixable_loss::{Forecast, MixableLoss, Posterior, settle_len};
pub use squared_loss::SquaredLoss;

use crate::example::{Batch, Features, Target};
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::{Lesson, SecondOrder};
use crate::kernel::vector::{dot, take};
use crate::learner::{OnlineLearner, Predictor};
use crate::merge::{self, Merge, MergeError};
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct GaussianForecaster<L> {
    loss: L,
    problem: Problem,
    /// $\lambda$.
    regularization: f64,
    /// $A^{-1}$ and $b$.
    state: SecondOrder,
    /// The sum of equation (5).
    slack: f64,
    /// $\ln\det(A_T/\lambda)$.
    log_det: f64,
    rounds: u64,
    /// Learners that were merged into this one, itself included: 1 if none were.
    parts: u64,
    /// The scratch of rounds whose prediction is outgrown.
    spare: Vec<f64>,
    /// Room for the update.
    work: Vec<f64>,
}

/// The scratch of a prediction, before the by-products of the state. The first two parts are what `update`
/// reuses.
struct Scratch<'a> {
    a: &'a mut [f64],
    z0: &'a mut [f64],
    covariance: &'a mut [f64],
    rest: &'a mut [f64],
}

impl<L: MixableLoss> GaussianForecaster<L> {
    /// A forecaster for `problem` with `regularization` $= \lambda > 0$.
    pub fn new(loss: L, problem: Problem, regularization: f64) -> Self {
        let (q, d) = (loss.dimension(), problem.features);
        let state = SecondOrder::new(q, d, regularization);
        let mut forecaster = Self {
            loss,
            problem,
            regularization,
            state,
            slack: 0.0,
            log_det: 0.0,
            rounds: 0,
            parts: 1,
            spare: Vec::new(),
            work: Vec::new(),
        };
        forecaster.make_room();
        forecaster
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// The loss, to be changed by its owner.
    pub(super) fn loss_mut(&mut self) -> &mut L {
        &mut self.loss
    }

    /// $\ln\det(A_T/\lambda)$: what the theorem's data-dependent bound needs, see
    /// [`crate::bounds::gaf_log_det`].
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    /// Learners that were merged into this one, itself included.
    pub(super) fn parts(&self) -> u64 {
        self.parts
    }

    /// Equation (5) for comparators with $\lVert \theta \rVert \le$ `norm`.
    pub fn certificate_for(&self, norm: f64) -> f64 {
        self.regularization * norm * norm + self.slack + 0.25 * self.state.square()
    }

    /// Makes room for more features, and for more dimensions of a larger `loss`; new ones are appended and
    /// start at the regulariser.
    pub fn grow_to(&mut self, loss: L, problem: Problem) {
        self.state.grow(loss.dimension(), problem.features, self.regularization);
        (self.loss, self.problem) = (loss, problem);
        self.make_room();
    }

    /// $A$, $b$, slack, $\ln\det$ (what the parts grew by, for the sum of their bounds), rounds and parts, as numbers that
    /// add up.
    pub(super) fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        let sums = [self.slack, self.log_det, self.rounds as f64, self.parts as f64];
        merge::statistics(&self.state, sums)
    }

    /// Gives this forecaster, which is new, the `sum` of the statistics of `parts` ones with `regularization`.
    pub(super) fn restore(
        &mut self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        regularization: f64,
    ) -> Result<(), MergeError> {
        let [slack, log_det, rounds, models] =
            merge::restore(&mut self.state, sum, parts, how, regularization)?;
        (self.slack, self.log_det) = (slack, log_det);
        (self.rounds, self.parts) = (rounds as u64, models as u64);
        Ok(())
    }

    fn scratch_len(&self) -> usize {
        self.own_scratch() + self.state.scratch_len()
    }

    /// Where the by-products of the state begin in the scratch.
    fn own_scratch(&self) -> usize {
        let q = self.loss.dimension();
        2 * q * q + q + self.loss.scratch_len()
    }

    fn make_room(&mut self) {
        let q = self.loss.dimension();
        self.spare = vec![0.0; self.scratch_len()];
        self.work = vec![0.0; 4 * q * q + 4 * q + settle_len(q) + self.loss.scratch_len()];
    }

    /// Equation (1), but for the covariance.
    fn project<'a>(&self, x: Features<'_>, scratch: &'a mut [f64]) -> Scratch<'a> {
        let q = self.loss.dimension();
        let rest = &mut { scratch };
        let (a, z0, covariance) = (take(rest, q * q), take(rest, q), take(rest, q * q));
        let s = Scratch { a, z0, covariance, rest: take(rest, self.loss.scratch_len()) };
        let projection = self.state.project(x, std::mem::take(rest));
        for (a, n) in s.a.iter_mut().zip(&*projection.gram) {
            *a = 0.5 * n;
        }
        for (z0, h) in s.z0.iter_mut().zip(&*projection.image) {
            *z0 = -0.5 * h;
        }
        s
    }
}

impl<L: MixableLoss> Predictor for GaussianForecaster<L> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn prediction(&self) -> Prediction {
        let (scores, probabilities) = self.loss.outputs();
        let mut prediction = Prediction::sized(scores, self.scratch_len());
        prediction.probabilities.resize(probabilities, 0.0);
        prediction
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scores, probabilities, scratch, stamp, normals, .. } = out;
        let s = self.project(x, scratch);
        for (covariance, a) in s.covariance.iter_mut().zip(&*s.a) {
            *covariance = a / self.loss.mixability();
        }
        let posterior = Posterior { mean: s.z0, covariance: s.covariance, round: self.rounds, normals };
        self.loss.substitute(posterior, Forecast { scores, probabilities }, s.rest);
        *stamp = Some(self.rounds);
    }
}

impl<L: MixableLoss> OnlineLearner for GaussianForecaster<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let q = self.loss.dimension();
        let (mut spare, own) = (std::mem::take(&mut self.spare), self.own_scratch());
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == spare.len();
        let by_products = if fresh && self.state.can_reuse(&at.scratch[own..]) {
            &at.scratch
        } else {
            self.project(x, &mut spare);
            &spare
        };
        let (a, z0) = by_products[..q * q + q].split_at(q * q);
        let rest = &mut &mut self.work[..];
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
        self.slack += y.weight * (surplus + dot(gradient, z) - 0.5 * beta * dot(whitened, whitened)); // eq. (5)

        // LLᵀ = I + ωβ CᵀÃC;  P -= FFᵀ with F = √(ωβ/2) Y C L^{-T}                                   eq. (4)
        product(columns_mut(mix, q, q), Store::Replace, beta, columns(weighted, q, q), c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c.transpose(), columns(mix, q, q));
        (0..q).for_each(|j| system[j * q + j] += 1.0);
        let definite = linalg::cholesky(system, q);
        debug_assert!(definite, "I + ωβCᵀÃC has eigenvalues >= 1");
        self.log_det += 2.0 * system.iter().step_by(q + 1).map(|l| l.ln()).sum::<f64>();
        for (mix, c) in mix.iter_mut().zip(&*factor) {
            *mix = (0.5 * y.weight * beta).sqrt() * c;
        }
        linalg::divide_by_transposed_lower(mix, q, system, q);
        self.state.absorb(x, &by_products[own..], Lesson { coefficients: coefficient, mix });
        self.rounds += 1;
        self.spare = spare;
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn lookahead(&self) -> usize {
        self.state.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        self.state.prepare(coming);
    }

    fn set_workers(&mut self, workers: Workers) {
        self.state.set_workers(workers);
    }
}

impl<L: MixableLoss> State for GaussianForecaster<L> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.state.tensors("b");
        tensors.push(Tensor::number("slack", &mut self.slack));
        tensors.push(Tensor::number("log_det", &mut self.log_det));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::count("parts", &mut self.parts));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.state.is_consistent()
    }
}

#[cfg(test)]
mod tests;
