//! # GAF: the Gaussian aggregating forecaster for the logistic loss
//!
//! Exponential weights over all linear predictors. Quadratic surrogates keep the posterior Gaussian, so that
//! this is efficient; the forecast is the mean softmax under the posterior. The surrogates are taken at a
//! point that is computed after the label is known.
//!
//! ## Reference
//!
//! Rémi Jézéquel, Pierre Gaillard, Alessandro Rudi, *Mixability made efficient: Fast online multiclass
//! logistic regression*, NeurIPS 2021, arXiv:2110.03960: Algorithm 1, Theorem 1, Corollary 2.
//! `references.bib`: `jezequel2021gaf`; theory: gaf 2.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $K, d, n$ | `problem` | classes, features, rounds |
//! | $B, R$ | `norm`, `radius` | bounds on $\lVert W \rVert_F$ of the comparator and on $\lVert x \rVert_2$ |
//! | $\lambda$ | `regularization` | weight of $\lVert W \rVert_F^2$ |
//! | $\beta$ | `curvature` | curvature of the surrogates |
//! | $A_t, b_t$ | [`GaussianForecaster`] | in the $K-1$ coordinates of [`LogitBasis`] |
//! | $m, \mu$ | `samples`, `smoothing` | samples of the posterior, weight of the uniform distribution |
//! | $\hat p_t$ | `probabilities` | `scores` are $\ln \hat p_t$ |
//!
//! With Helmert's $V$, the posterior of the logits $Vz$ is $z \sim N(z_0, \tilde A)$ with the moments of
//! [`GaussianForecaster`], whose equations (1) to (4) are a round, and
//!
//! $$ \hat p_t = (1 - \mu)\ \mathbb{E}\ \sigma(Vz) + \mu/K, \tag{1} $$
//! $$ z^+ = z_0 + \tilde A V^\top y - \tilde A V^\top \sigma(Vz^+). \tag{2} $$
//!
//! For every $\lVert W \rVert_F \le B$, $\beta$ at most the default, $\lambda \ge 4R^2\max(4, Kd)$ and exact
//! expectations,
//!
//! $$ \mathrm{Regret}(W) \le \lambda B^2 + Kd\ (\tfrac12 + 2\sqrt3/\beta) \ln(1 + T\beta R^2/(2\lambda)).
//!    \tag{3} $$
//!
//! The certificate, equation (5) of [`GaussianForecaster`], needs only the condition on $\beta$: it holds for
//! any forecasts, sampled or not, also with late feedback.
//!
//! ## Deviations
//!
//! * The covariance is $\tfrac12\Phi^\top A^{-1}\Phi$ (the paper's Algorithm 1 lacks the ½), and $b$ uses the
//!   Hessian at the point that is computed after the label: only then is this point the next mean of the
//!   posterior, which the proof uses.
//! * The state has $(K-1)d$ coordinates in place of $Kd$: gradients and Hessians vanish on the others.
//! * For two and three classes the expectation is computed by quadrature. For more classes there are 100
//!   samples in antithetic pairs and $\mu = 10^{-3}$; the paper's $\mu$ exceeds ½ for every affordable $m$.
//! * After $t$ rounds, samples come from stream $2^{63} + t$ of the seed, so that a prediction changes
//!   nothing, and all rows that are predicted in a round share their samples.
//! * The theory has no default for $B$: `norm` is $30/R$, so that the best comparator reaches logits of $\pm
//!   30$ in every unit of $x$. The default $\lambda$ is the corollary's $32dKR^2$, with which forecasts
//!   remain nearly uniform for many rounds; experiments use a smaller one.
//! * Soft labels are accepted: mixability extends to them by Hölder's inequality.
//! * Importance weights multiply a round's loss; the guarantee is then about the weighted regret.
//! * The state does not depend on the forecasts: with late feedback the posterior is that of the order of
//!   arrival.
//!
//! ## Cost
//!
//! `predict` $2q^2d^2$ flops with $q = K-1$, and the expectation: $36s$ nodes in each direction for logits of
//! standard deviation $s$, or $mK^2$; `update` $q^3d^2$ (with delayed updates of the matrix); memory
//! $(K-1)^2d^2$ numbers.

use super::gaussian_forecaster::{Forecast, Gaussian, GaussianForecaster, MixableLoss, Posterior};
use super::second_order::Described;
use crate::algorithm::{self, About, Paper};
use crate::batch::passes::Coordinates;
use crate::bounds;
use crate::example::{LEAST_PROBABILITY, Truth};
use crate::guarantee::{Ball, Guarantee, MISS, Promise, Terms, curved, provided};
use crate::kernel::basis::LogitBasis;
use crate::kernel::expected_softmax::{factor, has_quadrature, monte_carlo, quadrature};
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{Store, columns, columns_mut, product};
use crate::kernel::softmax::softmax;
use crate::kernel::vector::{max_abs, take};
use crate::learner::{Accepts, Classes};
use crate::loss::curvature::{self, checked, gaf_beta};
use crate::loss::logistic;
use crate::param::{ParamError, invertible};
use crate::params;
use crate::problem::{Problem, resolve_norm};
use crate::rng::Rng;
use crate::state::Tensor;

/// The default number of samples, without quadrature.
const SAMPLES: u64 = 100;

/// The most samples. A row draws them all before anything can interrupt it.
const MOST_SAMPLES: u64 = 10_000_000;

/// The default $\mu$ with sampled expectations.
const SMOOTHING: f64 = 1e-3;

/// The first of the generator's streams that are used, one for each round.
const STREAMS: u64 = 1 << 63;

/// The largest trace of $\tilde A$ for which the inner problem is solved: rounding errors dominate for larger
/// ones.
const LARGEST_TRACE: f64 = 1e12;

/// The largest logits at which a surrogate is taken.
const LARGEST_LOGIT: f64 = 1e8;

params! {
    /// Parameters of [`Gaf`].
    pub struct GafParams {
        /// Bound $B$ on the Frobenius norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared Frobenius norm, > 0.
        regularization: f64 = "32 features classes radius^2",
        /// Curvature $\beta$ of the surrogates, > 0; the guarantee needs at most the default.
        curvature: f64 = "1 / (ln(classes)/2 + norm radius + 1)",
        /// Weight $\mu$ of the uniform distribution in the forecast, from 0 to less than 1.
        smoothing: f64 = "0 with quadrature, 0.001 with samples",
        /// Samples $m$ of the posterior, from 1 to 10,000,000. Unset for 2 or 3 classes: quadrature instead.
        samples: u64 = "quadrature for classes <= 3, else 100",
    }
}

/// See the [module](self).
pub type Gaf = GaussianForecaster<LogisticLoss>;

/// The multiclass logistic loss in the coordinates of a [`LogitBasis`], and GAF's forecast for it, with the
/// parameters in use.
#[derive(Clone, Debug)]
pub struct LogisticLoss {
    inner: FixedPoint,
    /// $B$.
    norm: f64,
    /// $R$.
    radius: f64,
    /// $\beta$.
    beta: f64,
    /// $\mu$.
    smoothing: f64,
    /// $m$; `None`: quadrature.
    samples: Option<u64>,
    seed: u64,
}

impl LogisticLoss {
    fn basis(&self) -> &LogitBasis {
        self.inner.basis().expect("made with a basis")
    }

    fn classes(&self) -> usize {
        self.basis().classes()
    }

    /// The largest curvature for which the surrogates are lower bounds of the loss.
    fn largest_curvature(&self) -> f64 {
        let spread = curvature::frobenius_spread(self.norm, self.radius);
        // The curvature of a surrogate is half of beta times the Hessian.
        2.0 * curvature::tight(curvature::log_odds(spread, self.classes()))
    }
}

impl MixableLoss for LogisticLoss {
    const COORDINATES: Option<Coordinates> = Some(Coordinates::Centred);

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn outputs(&self) -> (usize, usize) {
        (self.classes(), self.classes())
    }

    fn scratch_len(&self) -> usize {
        let (k, q) = (self.classes(), self.dimension());
        (4 * k).max(self.inner.scratch_len() + k + 2 * q + q * q).max(k * q + k + (3 * k).max(q * (k + 1)))
    }

    fn mixability(&self) -> f64 {
        1.0
    }

    fn curvature(&self) -> f64 {
        self.beta
    }

    fn value(&self, z: &[f64], y: Truth<'_>, scratch: &mut [f64]) -> f64 {
        let logits = &mut scratch[..self.classes()];
        self.inner.expand(z, logits);
        self.forecast_loss(logits, y)
    }

    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], scratch: &mut [f64]) {
        let k = self.classes();
        let rest = &mut { scratch };
        let (logits, p, tails, column) = (take(rest, k), take(rest, k), take(rest, k), take(rest, k));
        self.inner.expand(z, logits);
        softmax(logits, p);
        self.inner.covariance_factor(p, factor, tails, column);
        y.subtract_from(p);
        self.inner.reduce(p, gradient);
    }

    /// Equation (1).
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, scratch: &mut [f64]) {
        let (k, q) = (self.classes(), self.dimension());
        let rest = &mut { scratch };
        let (mean, spread) = (take(rest, k), take(rest, k * q));
        self.inner.expand(posterior.mean, mean);
        factor(self.basis(), posterior.covariance, spread, rest);
        let p = out.probabilities;
        match self.samples {
            _ if !posterior.normals.is_empty() => {
                let given = |at: u64, xi: &mut [f64]| {
                    self.inner.reduce(&posterior.normals[at as usize * k..][..k], xi);
                };
                monte_carlo(mean, spread, (posterior.normals.len() / k) as u64, given, p, rest);
            }
            None => quadrature(mean, spread, p),
            Some(samples) => {
                let mut rng = Rng::new(self.seed, STREAMS.wrapping_add(posterior.round));
                let draw = |at: u64, xi: &mut [f64]| {
                    xi.iter_mut().for_each(|xi| *xi = if at.is_multiple_of(2) { rng.normal() } else { -*xi });
                };
                monte_carlo(mean, spread, samples, draw, p, rest);
            }
        }
        for (p, score) in p.iter_mut().zip(out.scores) {
            *p = (1.0 - self.smoothing) * *p + self.smoothing / k as f64; // eq. (1)
            *score = p.max(LEAST_PROBABILITY).ln();
        }
    }

    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64 {
        match y {
            Truth::Class(label) => logistic::loss(scores, label.index()),
            Truth::Distribution(y) => logistic::soft_loss(scores, y),
            Truth::Value(value) => panic!("a classifier was given the real-valued target {value}"),
        }
    }

    /// Equation (2): the inner problem of FOLKLORE. For huge rows, $\tilde A$ and the solution are scaled
    /// down; this is permitted, since a surrogate is a lower bound of the loss wherever it is taken.
    fn settle(&self, a: &[f64], z0: &[f64], y: Truth<'_>, z: &mut [f64], _: &mut [f64], scratch: &mut [f64]) {
        let (k, q) = (self.classes(), self.dimension());
        let rest = &mut { scratch };
        let (target, reduced, g) = (take(rest, k), take(rest, q), take(rest, q));
        target.fill(0.0);
        y.subtract_from(target);
        self.inner.reduce(target, reduced);
        let capped = take(rest, q * q);
        let cap = (LARGEST_TRACE / a.iter().step_by(q + 1).sum::<f64>()).min(1.0);
        for (capped, a) in capped.iter_mut().zip(a) {
            *capped = cap * a;
        }
        g.copy_from_slice(z0);
        let a = columns(capped, q, q);
        product(columns_mut(g, q, 1), Store::Add, -1.0, a, columns(reduced, q, 1));
        self.inner.solve(capped, g, z, rest); // eq. (2)
        let cap = (LARGEST_LOGIT / max_abs(z)).min(1.0);
        z.iter_mut().for_each(|z| *z *= cap);
    }

    /// Samples replace the quadrature if there are too many classes for it.
    fn grow(&mut self, classes: usize) -> bool {
        self.inner = FixedPoint::reduced(LogitBasis::new(classes));
        if !has_quadrature(classes) {
            self.samples.get_or_insert(SAMPLES);
        }
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::count("seed", &mut self.seed)]
    }

    /// Equation (3), and what smoothing and sampling cost.
    fn guarantee(learner: &Gaf) -> Option<Guarantee<'_>> {
        let (loss, lambda) = (&learner.surrogate.loss, learner.surrogate.regularization);
        let Self { norm, beta, smoothing, .. } = *loss;
        let bound = curved(beta, loss.largest_curvature(), || {
            learner.closed_form(norm, |setting| {
                let (k, d) = (setting.classes as f64, setting.features as f64);
                let theorem = gaf_beta(norm * setting.radius, setting.classes);
                let holds = beta <= theorem && lambda >= 4.0 * setting.radius.powi(2) * (k * d).max(4.0);
                let why = "it needs the default curvature and regularization";
                let bound = provided(holds, why, || {
                    bounds::gaf(setting, lambda, beta) + bounds::gaf_smoothing(setting.rounds, smoothing)
                })?;
                let Some(samples) = loss.samples else { return Ok(bound) };
                // Samples come in antithetic pairs.
                let sampling = bounds::gaf_sampling(setting, smoothing, (samples / 2) as f64, MISS);
                let few = || format!("{samples} samples are too few for it").into();
                sampling.map(|sampling| bound + sampling).ok_or_else(few)
            })
        });
        Some(Guarantee::Regret { ball: Some(Ball::Frobenius), norm, bound })
    }

    fn certificate(learner: &Gaf) -> Option<Promise> {
        let loss = &learner.surrogate.loss;
        Some(curved(loss.beta, loss.largest_curvature(), || Ok(learner.certificate_for(loss.norm))))
    }

    fn certificate_terms(learner: &Gaf) -> Option<Terms> {
        let loss = &learner.surrogate.loss;
        let prior = learner.surrogate.regularization * loss.norm * loss.norm;
        Some(learner.terms(prior, 0.25 * learner.state.square(), 0.25 * loss.beta))
    }
}

impl Described for Gaussian<LogisticLoss> {
    type Params = GafParams;

    const ABOUT: About = About {
        name: "gaf",
        summary: "Gaussian aggregating forecaster: the mean softmax of a Gaussian posterior",
        paper: Paper { key: "jezequel2021gaf", place: "Algorithm 1, Theorem 1" },
        guarantee: "regret <= lambda B^2 + K d (1/2 + 2 sqrt(3)/beta) ln(1 + T beta R^2/(2 lambda)) in the Frobenius ball; with samples plus their cost, with probability 0.95",
        cost: "2(K-1)^2 d^2 + (K-1)^3 d^2 flops a round, and the expectation",
        memory: "(K-1)^2 d^2 numbers",
        forecast: algorithm::Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    const DRAWS: bool = true;

    fn resolve(params: GafParams, problem: &Problem, seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let default = 32.0 * (d * k) as f64 * radius * radius;
        let regularization = params.regularization.unwrap_or(default);
        let regularization = invertible("regularization", regularization, radius)?;
        let beta = checked(params.curvature.unwrap_or(gaf_beta(norm * radius, k)))?;
        let samples = params.samples.or((!has_quadrature(k)).then_some(SAMPLES));
        if samples == Some(0) {
            return Err(ParamError::invalid("samples", 0, "at least 1"));
        }
        if let Some(samples) = samples.filter(|samples| *samples > MOST_SAMPLES) {
            let need = format!(
                "at most {MOST_SAMPLES}, since a row draws them all before it can be interrupted: left out, they are {SAMPLES}, or none for 2 or 3 classes"
            );
            return Err(ParamError::invalid("samples", samples, need));
        }
        let smoothing = params.smoothing.unwrap_or(if samples.is_some() { SMOOTHING } else { 0.0 });
        if !(0.0..1.0).contains(&smoothing) {
            return Err(ParamError::invalid("smoothing", smoothing, "at least 0 and less than 1"));
        }
        let inner = FixedPoint::reduced(LogitBasis::new(k));
        let loss = LogisticLoss { inner, norm, radius, beta, smoothing, samples, seed };
        Ok(Self { loss, regularization })
    }

    fn params(&self) -> GafParams {
        let LogisticLoss { norm, radius, beta, smoothing, samples, .. } = self.loss;
        GafParams {
            norm: Some(norm),
            radius: Some(radius),
            regularization: Some(self.regularization),
            curvature: Some(beta),
            smoothing: Some(smoothing),
            samples,
        }
    }

    fn radius(&self) -> f64 {
        self.loss.radius
    }

    fn seed(&self) -> u64 {
        self.loss.seed
    }
}

#[cfg(test)]
mod tests;
