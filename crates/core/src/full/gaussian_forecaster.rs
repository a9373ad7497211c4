//! The Gaussian aggregating forecaster for any mixable loss: what [GAF](super::gaf) does for the logistic loss, and
//! [VAW](super::vaw) in closed form for the squared loss.
//!
//! A loss $\ell_y(z)$ of $z = \Phi(x)\theta \in \mathbb{R}^q$, $\Phi(x) = I_q \otimes x^\top$, is described by a
//! [`MixableLoss`]; the sum of its quadratic surrogates is $\theta^\top A \theta + b^\top \theta$ up to a constant, and the
//! forecast a substitution for the posterior $\theta \sim N(-\tfrac12 A^{-1}b,\, A^{-1}/(2\alpha))$:
//!
//! $$ Y = A^{-1}(I_q \otimes x), \quad \tilde A = \tfrac12 (I_q \otimes x)^\top Y, \quad z_0 = -\tfrac12 Y^\top b, \quad z \sim N(z_0, \tilde A/\alpha), \tag{1} $$
//! $$ z^+ = z_0 - \omega \tilde A\,\nabla\ell(z^+), \quad \nabla^2\ell(z^+) = CC^\top, \tag{2} $$
//! $$ b \mathrel{+}= \omega (\nabla\ell(z^+) - \beta CC^\top z^+) \otimes x, \tag{3} $$
//! $$ A \mathrel{+}= \tfrac{\omega\beta}{2} CC^\top \otimes xx^\top. \tag{4} $$
//!
//! The surrogates are expanded at $z^+$, found after the label is known, with importance weight $\omega$. They are lower
//! bounds of the losses of comparators, so that whatever was forecast, for $\lVert \theta \rVert \le B$,
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 + \textstyle\sum_t \omega (\ell(\hat y_t) - \ell(z^+) + \langle \nabla\ell(z^+), z^+ \rangle - \tfrac\beta2 \lVert C^\top z^+ \rVert^2) + \tfrac14 b^\top A_T^{-1} b. \tag{5} $$

use crate::example::{Batch, Features, Target, Truth};
use crate::kernel::linalg::{self, Into, columns, columns_mut, product};
use crate::kernel::second_order::{Lesson, SecondOrder};
use crate::kernel::vector::{axpy, dot, max_abs, take};
use crate::learner::{OnlineLearner, Predictor};
use crate::merge::{self, Merge, MergeError};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// A convex loss of $z = \Phi(x)\theta \in \mathbb{R}^q$ that is $\alpha$-mixable and has curvature $\beta$.
///
/// Matrices are column-major. `scratch` has at least [`MixableLoss::scratch_len`] numbers.
pub trait MixableLoss: Clone + Send + Sync {
    /// $q$.
    fn dimension(&self) -> usize;

    /// How many scores and how many probabilities a forecast has.
    fn outputs(&self) -> (usize, usize);

    /// Numbers of scratch that the other functions take.
    fn scratch_len(&self) -> usize;

    /// $\alpha$.
    fn mixability(&self) -> f64;

    /// $\beta$: for every $z$ and every comparator's $a$,
    /// $\ell(a) \ge \ell(z) + \langle \nabla\ell(z), a - z \rangle + \tfrac\beta2 (a-z)^\top \nabla^2\ell(z)\,(a-z)$.
    fn curvature(&self) -> f64;

    /// $\ell_y(z)$.
    fn value(&self, z: &[f64], y: Truth<'_>, scratch: &mut [f64]) -> f64;

    /// Writes $\nabla\ell_y(z)$ to `gradient`, and a $q \times q$ matrix $C$ with $CC^\top = \nabla^2\ell_y(z)$ to `factor`.
    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], scratch: &mut [f64]);

    /// Writes a forecast whose loss is at most $-\tfrac1\alpha \ln \mathbb{E} e^{-\alpha\ell_y(z)}$ for every label, for
    /// $z$ from the posterior. Pure.
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, scratch: &mut [f64]);

    /// The loss of a forecast's scores.
    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64;

    /// Writes the solution of $z = z_0 - A\,\nabla\ell_y(z)$ to `z`, for a symmetric semidefinite `a`. `room` has
    /// [`settle_len`] numbers.
    ///
    /// The default is damped Newton on the dual, $z = z_0 - Au$, which never inverts $A$.
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
}

/// The distribution of $z$ before the label is known.
#[derive(Clone, Copy, Debug)]
pub struct Posterior<'a> {
    /// $z_0$.
    pub mean: &'a [f64],
    /// $\tilde A/\alpha$, column-major.
    pub covariance: &'a [f64],
    /// Rounds learnt so far: what draws of this round are seeded with.
    pub round: u64,
    /// Standard normals given from outside, see [`Prediction::normals`]; usually none.
    pub normals: &'a [f64],
}

/// Where a forecast goes.
#[derive(Debug)]
pub struct Forecast<'a> {
    /// See [`Prediction::scores`].
    pub scores: &'a mut [f64],
    /// See [`Prediction::probabilities`].
    pub probabilities: &'a mut [f64],
}

/// Numbers of room that [`MixableLoss::settle`] is given for $q$ dimensions.
pub const fn settle_len(q: usize) -> usize {
    3 * q * q + 6 * q
}

/// See [`MixableLoss::settle`].
pub(super) fn newton<L: MixableLoss>(
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
        product(columns_mut(a_factor, q, q), Into::Replace, 1.0, a, c);
        product(columns_mut(system, q, q), Into::Replace, 1.0, c, columns(a_factor, q, q).transpose());
        (0..q).for_each(|j| system[j * q + j] += 1.0);
        for (delta, r) in delta.iter_mut().zip(&*r) {
            *delta = -r;
        }
        linalg::solve(system, q, delta);
        product(columns_mut(a_delta, q, 1), Into::Replace, 1.0, a, columns(delta, q, 1));

        // Backtracking on ½uᵀAu + ℓ(z0 - Au), while its differences do not cancel.
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

/// The scratch of a prediction, before the by-products of the state. The first two parts are what `update` reuses.
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

    /// $\ln\det(A_T/\lambda)$: what the theorem's data-dependent bound needs, see [`crate::bounds::gaf_log_det`].
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

    /// Makes room for more features, and for more dimensions of a larger `loss`; new ones are appended and start at the
    /// regulariser.
    pub fn grow_to(&mut self, loss: L, problem: Problem) {
        self.state.grow(loss.dimension(), problem.features, self.regularization);
        (self.loss, self.problem) = (loss, problem);
        self.make_room();
    }

    /// Gives this forecaster, which is new, the added-up statistics of `parts`: $A$, $b$, slack, $\ln\det$ (what the parts
    /// and then the merged forecaster pay in the theorem's data-dependent bound) and rounds. See [`merge`].
    pub(super) fn add_up(&mut self, parts: &[&Self], how: Merge) -> Result<(), MergeError> {
        let regularization = parts.first().ok_or(MergeError::Nothing)?.regularization;
        let states = parts.iter().map(|part| &part.state);
        merge::add_up(&mut self.state, states, how, regularization)?;
        self.parts = 0;
        for part in parts {
            self.slack += part.slack;
            self.log_det += part.log_det;
            self.rounds = self.rounds.saturating_add(part.rounds);
            self.parts = self.parts.saturating_add(part.parts);
        }
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
        product(columns_mut(whitened, q, 1), Into::Replace, 1.0, c.transpose(), columns(z, q, 1));
        coefficient.copy_from_slice(gradient);
        product(columns_mut(coefficient, q, 1), Into::Add, -beta, c, columns(whitened, q, 1));
        coefficient.iter_mut().for_each(|c| *c *= y.weight);
        let surplus = self.loss.forecast_loss(&at.scores, y.truth) - self.loss.value(z, y.truth, rest);
        self.slack += y.weight * (surplus + dot(gradient, z) - 0.5 * beta * dot(whitened, whitened)); // eq. (5)

        // LLᵀ = I + ωβ CᵀÃC;  P -= FFᵀ with F = √(ωβ/2) Y C L^{-T}                                   eq. (4)
        product(columns_mut(mix, q, q), Into::Replace, beta, columns(weighted, q, q), c);
        product(columns_mut(system, q, q), Into::Replace, 1.0, c.transpose(), columns(mix, q, q));
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

    fn set_threads(&mut self, threads: usize) {
        self.state.set_threads(threads);
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

/// The squared loss $(z - y)^2$ of targets in $[-Y, Y]$: mixable with $\alpha = 1/(2Y^2)$, and its own surrogate.
#[derive(Clone, Debug)]
pub struct SquaredLoss {
    /// $Y$.
    pub target_bound: f64,
}

impl MixableLoss for SquaredLoss {
    fn dimension(&self) -> usize {
        1
    }

    fn outputs(&self) -> (usize, usize) {
        (1, 0)
    }

    fn scratch_len(&self) -> usize {
        0
    }

    fn mixability(&self) -> f64 {
        0.5 / (self.target_bound * self.target_bound)
    }

    fn curvature(&self) -> f64 {
        1.0
    }

    fn value(&self, z: &[f64], y: Truth<'_>, _: &mut [f64]) -> f64 {
        (z[0] - value_of(y)).powi(2)
    }

    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], _: &mut [f64]) {
        gradient[0] = 2.0 * (z[0] - value_of(y));
        factor[0] = std::f64::consts::SQRT_2;
    }

    /// $\hat y = (g(-Y) - g(Y))/(4Y)$ with $g(y) = -\tfrac1\alpha \ln \mathbb{E} e^{-\alpha(z-y)^2} = (z_0 - y)^2/(1 +
    /// 2\alpha s^2)$ up to a constant, for $z \sim N(z_0, s^2)$.
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, _: &mut [f64]) {
        let bound = self.target_bound;
        let width = 1.0 + 2.0 * self.mixability() * posterior.covariance[0];
        let g = |y: f64| (posterior.mean[0] - y).powi(2) / width;
        out.scores[0] = (g(-bound) - g(bound)) / (4.0 * bound);
    }

    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64 {
        (scores[0] - value_of(y)).powi(2)
    }
}

fn value_of(y: Truth<'_>) -> f64 {
    match y {
        Truth::Value(value) => value,
        other => panic!("a regression was given the class target {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::full::vaw::{Vaw, VawParams};
    use crate::rng::{Rng, Uniforms};
    use crate::testing::assert_close;

    #[test]
    fn squared_loss_is_vaw() {
        for target_bound in [1.0, 30.0] {
            let params = VawParams { norm: Some(2.0), regularization: Some(0.1), ..Default::default() };
            let mut vaw = Vaw::new(params, Problem::new(1, 5), 0).expect("valid");
            let mut gaf = GaussianForecaster::new(SquaredLoss { target_bound }, Problem::new(1, 5), 0.1);
            let (mut theirs, mut ours) = (vaw.prediction(), gaf.prediction());
            let mut rng = Rng::new(5, 0);
            for _ in 0..60 {
                let x: Vec<f64> = (0..5).map(|_| rng.uniform() - 0.5).collect();
                let (x, y) =
                    (Features::Dense(&x), Target::value(rng.uniform()).weighted(0.5 + rng.uniform()));
                vaw.predict(x, &mut theirs);
                gaf.predict(x, &mut ours);
                assert_close(ours.scores[0], theirs.scores[0], 1e-12, "forecast");
                vaw.update(x, y, &theirs);
                gaf.update(x, y, &ours);
            }
            let certificate = vaw.certificate().expect("has one");
            assert_close(gaf.certificate_for(2.0), certificate, 1e-11, "certificate");
        }
    }

    /// ℓ(z) = e^z - yz (Poisson), whose Newton steps must be damped.
    #[derive(Clone)]
    struct Poisson;

    impl MixableLoss for Poisson {
        fn dimension(&self) -> usize {
            1
        }
        fn outputs(&self) -> (usize, usize) {
            (1, 0)
        }
        fn scratch_len(&self) -> usize {
            0
        }
        fn mixability(&self) -> f64 {
            1.0
        }
        fn curvature(&self) -> f64 {
            0.1
        }
        fn value(&self, z: &[f64], y: Truth<'_>, _: &mut [f64]) -> f64 {
            z[0].exp() - value_of(y) * z[0]
        }
        fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], _: &mut [f64]) {
            gradient[0] = z[0].exp() - value_of(y);
            factor[0] = (0.5 * z[0]).exp();
        }
        fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, _: &mut [f64]) {
            out.scores[0] = posterior.mean[0];
        }
        fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64 {
            self.value(scores, y, &mut [])
        }
    }

    #[test]
    fn a_users_loss_settles_at_the_stationary_point() {
        for z0 in [-30.0, 0.0, 5.0, 40.0] {
            for a in [0.0, 1e-3, 1.0, 1e4] {
                for y in [0.0, 3.0, 1e3] {
                    let mut z = [0.0];
                    Poisson.settle(&[a], &[z0], Truth::Value(y), &mut z, &mut [0.0; 9], &mut []);
                    let residual = z[0] - z0 + a * (z[0].exp() - y);
                    let slope = 1.0 + a * z[0].exp();
                    assert!((residual / slope).abs() < 1e-10 * (1.0 + z[0].abs()), "{z0} {a} {y}: {}", z[0]);
                }
            }
        }
    }

    /// θ_{t+1} = -½A_t^{-1}b_t is the minimiser found after the label: predicting x again gives z⁺ as the mean.
    #[test]
    fn the_next_mean_is_the_settled_point() {
        let mut gaf = GaussianForecaster::new(Poisson, Problem::new(1, 3), 0.7);
        let mut at = gaf.prediction();
        for (x, y) in [([0.5, -0.3, 0.2], 2.0), ([0.1, 0.9, -0.4], 0.0), ([0.6, 0.2, 0.7], 5.0)] {
            let x = Features::Dense(&x);
            gaf.predict(x, &mut at);
            let z0 = at.scores[0];
            let a = 0.5 * gaf.inverse_quadratic(x);
            gaf.update(x, Target::value(y), &at);
            gaf.predict(x, &mut at);
            let z = at.scores[0];
            assert_close(z, z0 - a * (z.exp() - y), 1e-12, "mean");
        }
    }

    impl<L: MixableLoss> GaussianForecaster<L> {
        fn inverse_quadratic(&self, x: Features<'_>) -> f64 {
            self.state.project(x, &mut vec![f64::NAN; self.state.scratch_len()]).gram[0]
        }
    }
}
