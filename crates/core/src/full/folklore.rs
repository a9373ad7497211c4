//! # FOLKLORE: efficient improper online multiclass logistic regression
//!
//! Predicts with the minimiser of past quadratic surrogates plus the average loss of the *coming* prediction
//! over all labels. The prediction is a non-linear function of $x_t$ (improper), the regret logarithmic in
//! $T$, and there is no learning rate.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: Algorithm 1, Lemma 3.1 and Theorem 3.3, both corrected (theory: folklore 1.1,
//! curvature 3.1). `references.bib`: `agarwal2022folklore`; theory: folklore 1.2, 3.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $K, d, T$ | `problem` | classes, features, rounds |
//! | $B, R$ | `norm`, `radius` | bounds on the rows of the comparator and on $\lVert x \rVert_2$ |
//! | $\lambda$ | `regularization` | weight of $\lVert W \rVert_F^2$ |
//! | $\gamma$ | `gamma` | curvature of the surrogates |
//! | $A_t^{-1}$ | `state` | in the $K-1$ coordinates of [`LogitBasis`]: $P = M_t^{-1}$ |
//! | $G_t$ | `state` | in the same coordinates: $G = (V \otimes I)\ G'$ |
//! | $z_t = W_t x_t$ | `scores` | logits |
//! | $\tilde A$, $h$ | `a`, `h` | $\tfrac12(I \otimes x)^\top Y$, $Y^\top G'$ for $Y = P(I \otimes x)$ |
//!
//! With $q = K - 1$ and Helmert's $V$, a round is
//!
//! $$ g' = -\tfrac12 h + \tfrac12 V^\top \mathrm{diag}(V \tilde A V^\top), \tag{1} $$
//! $$ z' = g' - \tilde A\ V^\top\sigma(Vz'), \qquad z_t = V z' + \tfrac{1}{4K}(2\ \mathrm{tr} \tilde A -
//!    \lVert x \rVert^2/\lambda)\ 1, \tag{2} $$
//! $$ G' \mathrel{+}= V^\top (p - y - 2\gamma S z_t) \otimes x, \qquad S = \mathrm{diag}(p) - pp^\top =
//!    CC^\top, \tag{3} $$
//! $$ P \mathrel{-}= FF^\top, \quad F = \sqrt\gamma\ Y C' L^{-\top}, \quad LL^\top = I + 2\gamma C'^\top
//!    \tilde A C', \quad C' = V^\top C. \tag{4} $$
//!
//! For every $W$ with rows of norm at most $B$, data-dependent and at its worst (the paper's Theorem 3.3,
//! with constants; theory: folklore 2.1, 2.3):
//!
//! $$ \mathrm{Regret}(W) \le \lambda K B^2 + \textstyle\sum_t (\langle p-y, z\rangle - \gamma z^\top S z) +
//!    \tfrac14 G^\top A_T^{-1} G \tag{5} $$
//! $$ \phantom{\mathrm{Regret}(W)} \le \lambda K B^2 + \tfrac{(K-1)d}{4\gamma} \ln(1 + 2\gamma T R^2 /
//!    (\lambda K d)). \tag{6} $$
//!
//! ## Deviations
//!
//! * The update of $G$ carries the term $-2\gamma S z$ that the paper's pseudo-code drops and its argmin
//!   needs; without it the regret is linear.
//! * The printed curvature $1/(BR + \ln(K)/2)$ is larger than any valid one, and the algorithm then violates
//!   its own theorem. The default is $1/(2 + 2BR + \ln(K-1))$; `curvature = paper` has the printed one,
//!   without guarantee.
//! * The state has $(K-1)d$ coordinates instead of $Kd$: gradients and Hessians vanish on the rest.
//!   Predictions are identical (theory: second-order 3.1).
//! * The inner problem is solved to machine precision by damped Newton, not by gradient descent (theory:
//!   extensions 5.1).
//! * $B$ has no theoretical default: `norm` is $30/R$, so that the best comparator reaches logits of $\pm 30$
//!   whatever the units of $x$.
//! * Importance weights multiply a round's surrogate; (5) then bounds the weighted regret (theory: extensions
//!   1.2). (6) needs weights of 1: a weight is not known when its round is predicted.
//! * Late feedback expands a round's surrogate at the scores that were played: (5) still holds (theory:
//!   extensions 4.1), (6) does not.
//!
//! ## Cost
//!
//! `predict` $2q^2d^2$ flops, `update` $q^3d^2$ (amortised by the blocked engine), the inner problem $O(K^3)$
//! a Newton step; memory $(K-1)^2d^2$ numbers.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Batch, Features, Target};
use crate::guarantee::{Ball, Guarantee, Promise, curved, setting};
use crate::kernel::basis::LogitBasis;
use crate::kernel::curvature::{self, Curvature};
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::{Lesson, SecondOrder};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor};
use crate::merge::{self, Merge, MergeError};
use crate::parallel::Workers;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Folklore`].
    pub struct FolkloreParams {
        /// Bound $B$ on the Euclidean norm of every row of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared Frobenius norm, > 0; the guarantee needs at least
        /// $\gamma R^2$.
        regularization: f64 = "2 radius / norm",
        /// Curvature $\gamma$ of the surrogates: `safe`, `tight`, `paper` (no guarantee) or a number > 0.
        curvature: Curvature = "safe: 1 / (2 + 2 norm radius + ln(classes - 1))",
        /// Whether the linear term $B_t$ of the paper is kept; `false` drops it, for study (K >= 3).
        linear_term: bool = "true",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Folklore {
    params: FolkloreParams,
    problem: Problem,
    /// $\lambda$.
    regularization: f64,
    /// $\gamma$.
    gamma: f64,
    linear_term: bool,
    inner: FixedPoint,
    /// $P$ and $G'$.
    state: SecondOrder,
    /// $\sum_t \langle p - y, z \rangle - \gamma z^\top S z$.
    slack: f64,
    /// $\sum_t \mathrm{tr}(S N) = \sum_t \mathrm{tr}(A_{t-1}^{-1} H_t)$.
    trace: f64,
    rounds: u64,
    /// Learners that were merged into this one, itself included: 1 if none were.
    parts: u64,
    /// The scratch of rounds whose prediction is outgrown.
    spare: Vec<f64>,
    /// Room for the update.
    work: Vec<f64>,
}

/// The scratch of a prediction, behind the by-products of the state. The first two parts are what `update`
/// reuses.
struct Scratch<'a> {
    a: &'a mut [f64],
    factor: &'a mut [f64],
    h: &'a mut [f64],
    g: &'a mut [f64],
    z: &'a mut [f64],
    diagonal: &'a mut [f64],
    rest: &'a mut [f64],
}

impl Folklore {
    /// $q = K - 1$.
    fn q(&self) -> usize {
        self.inner.dimension()
    }

    fn scratch_len(&self) -> usize {
        let (q, k) = (self.q(), self.problem.classes);
        2 * q * q + 3 * q + k + self.inner.scratch_len().max(2 * k * q) + self.state.scratch_len()
    }

    fn make_room(&mut self) {
        let (k, q) = (self.problem.classes, self.q());
        self.spare = vec![0.0; self.scratch_len()];
        self.work = vec![0.0; 2 * k + q + 2 * q * q];
    }

    /// Divides the scratch; what is behind its parts is for the state.
    fn divide<'a>(&self, scratch: &'a mut [f64]) -> (Scratch<'a>, &'a mut [f64]) {
        let (q, k) = (self.q(), self.problem.classes);
        let rest = &mut { scratch };
        let s = Scratch {
            a: take(rest, q * q),
            factor: take(rest, q * q),
            h: take(rest, q),
            g: take(rest, q),
            z: take(rest, q),
            diagonal: take(rest, k),
            rest: take(rest, self.inner.scratch_len().max(2 * k * q)),
        };
        (s, std::mem::take(rest))
    }

    /// What depends on $x$ and the state but not on the scores: $\tilde A$ and $h$.
    fn project<'a>(&self, x: Features<'_>, scratch: &'a mut [f64]) -> Scratch<'a> {
        let (s, rest) = self.divide(scratch);
        let projection = self.state.project(x, rest);
        for (a, n) in s.a.iter_mut().zip(&*projection.gram) {
            *a = 0.5 * n;
        }
        s.h.copy_from_slice(projection.image);
        s
    }

    /// The largest $\gamma$ with which surrogates are lower bounds of the loss.
    fn largest_gamma(&self) -> f64 {
        let (norm, radius) = (self.params.norm.expect("resolved"), self.params.radius.expect("resolved"));
        curvature::tight(curvature::log_odds(curvature::rows_spread(norm, radius), self.problem.classes))
    }

    /// Where the by-products of the state begin in the scratch.
    fn own_scratch(&self) -> usize {
        self.scratch_len() - self.state.scratch_len()
    }

    /// $\sum_t \mathrm{tr}(A_{t-1}^{-1} H_t)$, the data-dependent part of the paper's regret decomposition; a
    /// bound only where all weights are 1.
    pub fn trace(&self) -> f64 {
        self.trace
    }
}

impl Algorithm for Folklore {
    type Params = FolkloreParams;

    const ABOUT: About = About {
        name: "folklore",
        summary: "improper second-order logistic regression with logarithmic regret and no learning rate",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 1, Theorem 3.3" },
        guarantee: "regret <= lambda K B^2 + (K-1)d/(4 gamma) ln(1 + 2 gamma T R^2/(lambda K d)), rows of norm B",
        cost: "2(K-1)^2 d^2 + (K-1)^3 d^2 flops a round",
        memory: "(K-1)^2 d^2 numbers",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true },
    };

    fn new(params: FolkloreParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let regularization =
            positive("regularization", params.regularization.unwrap_or(2.0 * radius / norm))?;
        let log_odds = curvature::log_odds(curvature::rows_spread(norm, radius), k);
        let paper = curvature::folklore_paper(norm * radius, k);
        let gamma = params.curvature.unwrap_or_default().coefficient(log_odds, paper);
        let gamma = curvature::checked(gamma)?;
        let linear_term = params.linear_term.unwrap_or(true);

        let q = k - 1;
        let mut learner = Self {
            params: FolkloreParams {
                norm: Some(norm),
                radius: Some(radius),
                regularization: Some(regularization),
                curvature: Some(Curvature::Value(gamma)),
                linear_term: Some(linear_term),
            },
            problem: Problem { radius: Some(radius), ..problem },
            regularization,
            gamma,
            linear_term,
            inner: FixedPoint::reduced(LogitBasis::new(k)),
            state: SecondOrder::new(q, d, regularization),
            slack: 0.0,
            trace: 0.0,
            rounds: 0,
            parts: 1,
            spare: Vec::new(),
            work: Vec::new(),
        };
        learner.make_room();
        Ok(learner)
    }

    fn params(&self) -> FolkloreParams {
        self.params.clone()
    }

    fn numbers(problem: &Problem) -> usize {
        SecondOrder::numbers(problem.classes - 1, problem.features)
    }

    /// $A$, $G$, slack, trace and rounds add up.
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        merge::by_statistics(parts, how)
    }

    fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        merge::statistics(&self.state, [self.slack, self.trace, self.rounds as f64, self.parts as f64])
    }

    fn with_statistics(
        &self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        problem: Problem,
    ) -> Result<Self, MergeError> {
        let regularization = Some(how.regularization(self.regularization, parts));
        let mut merged = Self::new(FolkloreParams { regularization, ..self.params() }, problem, 0)?;
        let [slack, trace, rounds, models] =
            merge::restore(&mut merged.state, sum, parts, how, self.regularization)?;
        (merged.slack, merged.trace) = (slack, trace);
        (merged.rounds, merged.parts) = (rounds as u64, models as u64);
        Ok(merged)
    }
}

impl Predictor for Folklore {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.problem.classes, self.scratch_len())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scores, probabilities, scratch, stamp, .. } = out;
        let s = self.project(x, scratch);
        self.forecast(x, s, scores, probabilities);
        *stamp = Some(self.rounds);
    }

    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        self.state.project_batch(rows, |at, gram, image| {
            let Prediction { scores, probabilities, scratch, stamp, .. } = &mut *out;
            let (s, _) = self.divide(scratch);
            s.a.iter_mut().zip(gram).for_each(|(a, n)| *a = 0.5 * n);
            s.h.copy_from_slice(image);
            self.forecast(rows.features(at), s, scores, probabilities);
            *stamp = None;
            each(at, out);
        });
    }
}

impl Folklore {
    /// Writes the forecast for `x` from $\tilde A$ and $h$, and by-products of it to the rest of `s`.
    fn forecast(&self, x: Features<'_>, s: Scratch<'_>, scores: &mut [f64], probabilities: &mut [f64]) {
        let (q, k) = (self.q(), self.problem.classes);
        let basis = self.inner.basis().expect("folklore works in the reduced basis");

        // g' = -½ YᵀG' + ½ Vᵀ diag(V Ã Vᵀ)                                                          eq. (1)
        if self.linear_term {
            basis.expanded_diagonal(s.a, s.diagonal, s.rest);
            basis.reduce(s.diagonal, s.g);
        } else {
            s.g.fill(0.0);
        }
        for (g, h) in s.g.iter_mut().zip(&*s.h) {
            *g = 0.5 * (*g - h);
        }

        // z' = g' - Ã Vᵀσ(Vz');  z = Vz' + shift 1                                                   eq. (2)
        let solution = self.inner.solve(s.a, s.g, s.z, s.rest);
        probabilities.copy_from_slice(solution.probabilities);
        basis.expand(s.z, scores);
        let (tails, column) = s.rest.split_at_mut(k);
        self.inner.covariance_factor(probabilities, s.factor, tails, &mut column[..k]);
        if self.linear_term {
            let trace: f64 = s.a.iter().step_by(q + 1).sum();
            let shift = 2.0 * trace - x.norm_squared() / self.regularization;
            for score in scores.iter_mut() {
                *score += shift / (4.0 * self.problem.classes as f64);
            }
        }
    }
}

impl OnlineLearner for Folklore {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (q, k) = (self.q(), self.problem.classes);
        let weight = y.weight;
        // A prediction from an earlier state keeps its scores, at which the loss is expanded; Y, Ã and C are
        // redone.
        let (mut spare, own) = (std::mem::take(&mut self.spare), self.own_scratch());
        // Growing changes the layout of by-products, but not the number of rounds.
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == spare.len();
        let by_products = if fresh && self.state.can_reuse(&at.scratch[own..]) {
            &at.scratch
        } else {
            let s = self.project(x, &mut spare);
            let (tails, column) = s.rest.split_at_mut(k);
            self.inner.covariance_factor(&at.probabilities, s.factor, tails, &mut column[..k]);
            &spare
        };
        let (a, factor) = by_products[..2 * q * q].split_at(q * q);
        let rest = &mut &mut self.work[..];
        let (residual, curved, coefficient) = (take(rest, k), take(rest, k), take(rest, q));
        let (system, mix) = (take(rest, q * q), take(rest, q * q));

        // G' += Vᵀ(p - y - 2γSz) ⊗ x                                                                eq. (3)
        let (p, z) = (&at.probabilities, &at.scores);
        residual.copy_from_slice(p);
        y.truth.subtract_from(residual);
        covariance_times(p, z, curved);
        self.slack += weight * (dot(residual, z) - self.gamma * dot(z, curved));
        for (residual, curved) in residual.iter_mut().zip(&*curved) {
            *residual -= 2.0 * self.gamma * curved;
        }
        self.inner.reduce(residual, coefficient);
        coefficient.iter_mut().for_each(|c| *c *= weight);

        // LLᵀ = I + 2γ C'ᵀ Ã C';  P -= FFᵀ with F = √γ Y C' L^{-T}                                   eq. (4)
        let gamma = weight * self.gamma;
        let c = columns(factor, q, q);
        product(columns_mut(mix, q, q), Store::Replace, 2.0, columns(a, q, q), c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c.transpose(), columns(mix, q, q));
        self.trace += weight * system.iter().step_by(q + 1).sum::<f64>();
        for (at, entry) in system.iter_mut().enumerate() {
            *entry = gamma * *entry + f64::from(at % (q + 1) == 0);
        }
        let definite = linalg::cholesky(system, q);
        debug_assert!(definite, "I + 2γC'ᵀÃC' has eigenvalues >= 1");
        for (mix, c) in mix.iter_mut().zip(factor) {
            *mix = gamma.sqrt() * c;
        }
        linalg::divide_by_transposed_lower(mix, q, system, q);
        self.state.absorb(x, &by_products[own..], Lesson { coefficients: coefficient, mix });
        self.rounds += 1;
        self.spare = spare;
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Equation (6).
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let (norm, radius) = (self.params.norm.expect("resolved"), self.params.radius.expect("resolved"));
        let bound = curved(self.gamma, self.largest_gamma(), || {
            if self.parts > 1 {
                return Err(merge::NO_CLOSED_FORM.to_owned());
            }
            if self.regularization < self.gamma * radius * radius {
                return Err("regularization is below curvature * radius^2".to_owned());
            }
            let setting = setting(&self.problem, norm, self.rounds);
            Ok(bounds::folklore(&setting, self.regularization, self.gamma))
        });
        Some(Guarantee::Regret { ball: Some(Ball::Rows), norm, bound })
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

    /// New classes and features start at the regulariser, exactly as if they had been there with all-zero
    /// features; the curvature keeps the value that it was made with (theory: extensions 2.1).
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes < self.problem.classes || features < self.problem.features {
            return false;
        }
        self.state.grow(classes - 1, features, self.regularization);
        self.inner = FixedPoint::reduced(LogitBasis::new(classes));
        self.problem = Problem { classes, features, ..self.problem.clone() };
        self.make_room();
        true
    }

    /// Equation (5).
    fn certificate(&self) -> Option<Promise> {
        Some(curved(self.gamma, self.largest_gamma(), || {
            let norm = self.params.norm.expect("resolved");
            let prior = self.regularization * self.problem.classes as f64 * norm * norm;
            Ok(prior + self.slack + 0.25 * self.state.square())
        }))
    }
}

impl State for Folklore {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.state.tensors("gradient");
        tensors.push(Tensor::number("slack", &mut self.slack));
        tensors.push(Tensor::number("trace", &mut self.trace));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::count("parts", &mut self.parts));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.state.is_consistent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K = 2, d = 1, x = 1, λ = 3/4, γ = 1/2, B = 1; V = (1, -1)/√2.
    ///
    /// Round 1, y = 0: G' = 0 and p = 1/2 each, so the scores are shift = 0 and G' becomes Vᵀ(p - y) = -1/√2.
    /// As S = ½VVᵀ, tr(SN) = 1/(2λ) = 2/3 and M = λ + γ/2 = 1. (5) is λKB² + 0 + ¼G'²/M = 3/2 + 1/8. Round 2:
    /// N = 1 and h = -1/√2, so that the difference D of the scores solves D = ½ - ½tanh(D/2).
    #[test]
    fn two_rounds_by_hand() {
        let params = FolkloreParams {
            norm: Some(1.0),
            regularization: Some(0.75),
            curvature: Some(Curvature::Value(0.5)),
            ..Default::default()
        };
        let mut folklore = Folklore::new(params, Problem::new(2, 1), 0).expect("valid parameters");
        let mut at = folklore.prediction();
        folklore.predict(Features::Dense(&[1.0]), &mut at);
        assert_eq!((&at.scores[..], &at.probabilities[..]), (&[0.0; 2][..], &[0.5; 2][..]));
        folklore.update(Features::Dense(&[1.0]), Target::class(0), &at);
        assert!((folklore.trace() - 2.0 / 3.0).abs() < 1e-15, "{}", folklore.trace());
        let certificate = 1.5 + folklore.slack + 0.25 * folklore.state.square();
        assert!((certificate - 1.625).abs() < 1e-15, "{certificate}");
        // Such a curvature is easy to compute with and larger than any valid one.
        assert!(folklore.certificate().expect("folklore has one").is_err());
        folklore.predict(Features::Dense(&[1.0]), &mut at);
        let difference = at.scores[0] - at.scores[1];
        assert!((difference + 0.5 * (0.5 * difference).tanh() - 0.5).abs() < 1e-15, "{difference}");
    }

    #[test]
    fn defaults_are_the_theorems() {
        let resolved =
            |problem: Problem| Folklore::new(FolkloreParams::default(), problem, 0).map(|new| new.params());
        let params = resolved(Problem::new(4, 2).with_radius(5.0)).expect("valid parameters");
        // B = 30/R, λ = 2R/B, γ = 1/(2 + 2BR + ln(K-1)).
        let gamma = 1.0 / (62.0 + 3f64.ln());
        assert_eq!(
            (params.norm, params.radius, params.regularization),
            (Some(6.0), Some(5.0), Some(10.0 / 6.0))
        );
        assert_eq!(params.linear_term, Some(true));
        let Some(Curvature::Value(used)) = params.curvature else { panic!("resolved") };
        assert!((used - gamma).abs() < 1e-16, "{used} instead of {gamma}");
        assert_eq!(resolved(Problem::new(4, 2)).expect("valid parameters").radius, Some(1.0));
    }
}
