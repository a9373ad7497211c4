//! # FOLKLORE: efficient improper online multiclass logistic regression
//!
//! Predicts with the minimiser of the past quadratic surrogates plus the average loss of the *coming*
//! prediction over all labels. The prediction is a non-linear function of $x_t$ (improper), the regret is
//! logarithmic in $T$, and there is no learning rate.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: Algorithm 1, equations (3.1) to (3.3), Lemma 3.1 and Theorem 3.3, lemma and
//! theorem corrected (theory: folklore 1.1, curvature 3.1). `references.bib`: `agarwal2022folklore`; theory:
//! folklore 1.2, 3.1.
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
//! | $B_t$ | `linear_term` | linear term of the coming round, (3.1); it leaves the second summand of (1) and the shift in (2) |
//! | $z_t = W_t x_t$ | `scores` | logits |
//! | $p_t = \sigma(z_t)$ | `probabilities` | forecast |
//! | $\tilde A$, $h$ | `a`, `h` | $\tfrac12(I \otimes x)^\top Y$, $Y^\top G'$ for $Y = P(I \otimes x)$ |
//!
//! The paper's (3.3) is $W_t = \arg\min_W \lVert W \rVert_{A_{t-1}}^2 + \langle W, G_{t-1} \rangle +
//! \tfrac1K \sum_k \ell(Wx_t, k) + \langle W, B_t \rangle$. Only its logits are needed, which solve
//! $z + \tilde A \sigma(z) = \tfrac12(\mathrm{diag}(\tilde A) - h)$ with $A_{t-1}^{-1}$ in place of $P$
//! (theory: folklore 1.2). In $q = K - 1$ coordinates, with Helmert's $V$, a round is
//!
//! $$ g' = -\tfrac12 h + \tfrac12 V^\top \mathrm{diag}(V \tilde A V^\top), \tag{1} $$
//! $$ z' = g' - \tilde A\ V^\top\sigma(Vz'), \qquad z_t = V z' + \tfrac{1}{4K}(2\ \mathrm{tr} \tilde A -
//!    \lVert x \rVert^2/\lambda)\ 1, \tag{2} $$
//! $$ G' \mathrel{+}= V^\top (p - y - 2\gamma S z_t) \otimes x, \qquad S = \mathrm{diag}(p) - pp^\top =
//!    CC^\top, \tag{3} $$
//! $$ P \mathrel{-}= FF^\top, \quad F = \sqrt\gamma\ Y C' L^{-\top}, \quad LL^\top = I + 2\gamma C'^\top
//!    \tilde A C', \quad C' = V^\top C. \tag{4} $$
//!
//! For every $W$ with rows of norm at most $B$, in terms of the data and in the worst case (the paper's
//! Theorem 3.3, with constants; theory: folklore 2.1, 2.3):
//!
//! $$ \mathrm{Regret}(W) \le \lambda K B^2 + \textstyle\sum_t (\langle p-y, z\rangle - \gamma z^\top S z) +
//!    \tfrac14 G^\top A_T^{-1} G \tag{5} $$
//! $$ \phantom{\mathrm{Regret}(W)} \le \lambda K B^2 + \tfrac{(K-1)d}{4\gamma} \ln(1 + 2\gamma T R^2 /
//!    (\lambda K d)). \tag{6} $$
//!
//! ## Deviations
//!
//! * The update of $G$ has the term $-2\gamma S z$, which the paper's pseudo-code omits, but its argmin
//!   requires; without it the regret is linear.
//! * The printed curvature $1/(BR + \ln(K)/2)$ is larger than any valid one, and the algorithm then violates
//!   its own theorem. The default is $1/(2 + 2BR + \ln(K-1))$; `curvature = paper` selects the printed one,
//!   without guarantee.
//! * The state has $(K-1)d$ coordinates in place of $Kd$: gradients and Hessians vanish on the others.
//!   Predictions are identical (theory: second-order 3.1).
//! * The inner problem is solved to machine precision by damped Newton, not by gradient descent (theory:
//!   extensions 5.1).
//! * The theory has no default for $B$: `norm` is $30/R$, so that the best comparator reaches logits of $\pm
//!   30$ in every unit of $x$.
//! * Importance weights multiply a round's surrogate; (5) then bounds the weighted regret (theory: extensions
//!   1.2). (6) needs weights of 1, because the weight is unknown when its round is predicted. For weights
//!   above 1 the surrogate is taken where as many rounds of weight 1 would lead (theory: extensions 1.3).
//! * Late feedback: the surrogate is taken at the scores of the prediction; (5) still holds (theory:
//!   extensions 4.1), (6) does not.
//!
//! ## Cost
//!
//! `predict` $2q^2d^2$ flops, `update` $q^3d^2$ (with delayed updates of the matrix), the inner problem
//! $O(K^3)$ for each Newton step; memory $(K-1)^2d^2$ numbers.

use super::second_order::{Described, Row, SecondOrderLearner, Sums, Surrogate};
use crate::algorithm::{About, Forecast, Paper};
use crate::batch::passes::Coordinates;
use crate::bounds;
use crate::example::Target;
use crate::guarantee::{Ball, Guarantee, Promise, Terms, curved};
use crate::kernel::basis::LogitBasis;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::RoundUpdate;
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::learner::{Accepts, Classes};
use crate::loss::curvature::{self, Curvature};
use crate::loss::heavy;
use crate::param::{ParamError, invertible};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};

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

/// The parameters that FOLKLORE and its diagonal variant share, with defaults computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    /// $B$.
    pub norm: f64,
    /// $R$.
    pub radius: f64,
    /// $\lambda$.
    pub regularization: f64,
    /// $\gamma$.
    pub gamma: f64,
}

impl Resolved {
    /// Computes the defaults by the theorem, and checks all parameters.
    pub(super) fn new(params: FolkloreParams, problem: &Problem) -> Result<Self, ParamError> {
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let regularization = params.regularization.unwrap_or(2.0 * radius / norm);
        let regularization = invertible("regularization", regularization, radius)?;
        let log_odds = curvature::log_odds(curvature::rows_spread(norm, radius), problem.classes);
        let paper = curvature::folklore_paper(norm * radius, problem.classes);
        let gamma = params.curvature.unwrap_or_default().coefficient(log_odds, paper);
        Ok(Self { norm, radius, regularization, gamma: curvature::checked(gamma)? })
    }
}

/// See the [module](self).
pub type Folklore = SecondOrderLearner<FolkloreSurrogate>;

/// Surrogates of the multiclass logistic loss, with the parameters in use.
#[derive(Clone, Debug)]
pub struct FolkloreSurrogate {
    resolved: Resolved,
    linear_term: bool,
    inner: FixedPoint,
}

/// The algorithm's part of a prediction's scratch memory. `update` reuses the first two fields.
struct Scratch<'a> {
    a: &'a mut [f64],
    factor: &'a mut [f64],
    g: &'a mut [f64],
    z: &'a mut [f64],
    diagonal: &'a mut [f64],
    rest: &'a mut [f64],
}

impl FolkloreSurrogate {
    /// $q = K - 1$.
    fn q(&self) -> usize {
        self.inner.dimension()
    }

    /// $K$.
    fn classes(&self) -> usize {
        self.q() + 1
    }

    fn rest_len(&self) -> usize {
        self.inner.scratch_len().max(2 * self.classes() * self.q())
    }

    fn divide<'a>(&self, scratch: &'a mut [f64]) -> Scratch<'a> {
        let (q, k) = (self.q(), self.classes());
        let rest = &mut { scratch };
        Scratch {
            a: take(rest, q * q),
            factor: take(rest, q * q),
            g: take(rest, q),
            z: take(rest, q),
            diagonal: take(rest, k),
            rest: take(rest, self.rest_len()),
        }
    }

    /// The largest $\gamma$ for which the surrogates are lower bounds of the loss.
    fn largest_gamma(&self) -> f64 {
        let spread = curvature::rows_spread(self.resolved.norm, self.resolved.radius);
        curvature::tight(curvature::log_odds(spread, self.classes()))
    }
}

/// Writes $\tilde A = N/2$.
fn halve(gram: &[f64], a: &mut [f64]) {
    for (a, n) in a.iter_mut().zip(gram) {
        *a = 0.5 * n;
    }
}

impl Folklore {
    /// $\sum_t \mathrm{tr}(A_{t-1}^{-1} H_t)$, the data-dependent part of the paper's regret decomposition;
    /// it implies a bound only if all weights are 1.
    pub fn trace(&self) -> f64 {
        self.sums.growth
    }
}

impl Described for FolkloreSurrogate {
    type Params = FolkloreParams;

    const ABOUT: About = About {
        name: "folklore",
        summary: "improper second-order logistic regression with logarithmic regret and no learning rate",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 1, Theorem 3.3" },
        guarantee: "regret <= lambda K B^2 + (K-1)d/(4 gamma) ln(1 + 2 gamma T R^2/(lambda K d)), rows of norm B",
        cost: "2(K-1)^2 d^2 + (K-1)^3 d^2 flops a round",
        memory: "(K-1)^2 d^2 numbers",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn resolve(params: FolkloreParams, problem: &Problem, _seed: u64) -> Result<Self, ParamError> {
        let linear_term = params.linear_term.unwrap_or(true);
        let inner = FixedPoint::reduced(LogitBasis::new(problem.classes));
        Ok(Self { resolved: Resolved::new(params, problem)?, linear_term, inner })
    }

    fn params(&self) -> FolkloreParams {
        FolkloreParams {
            norm: Some(self.resolved.norm),
            radius: Some(self.resolved.radius),
            regularization: Some(self.resolved.regularization),
            curvature: Some(Curvature::Value(self.resolved.gamma)),
            linear_term: Some(self.linear_term),
        }
    }

    fn radius(&self) -> f64 {
        self.resolved.radius
    }
}

impl Surrogate for FolkloreSurrogate {
    const VECTOR: &'static str = "gradient";

    /// $\sum_t \mathrm{tr}(S N) = \sum_t \mathrm{tr}(A_{t-1}^{-1} H_t)$.
    const GROWTH: Option<&'static str> = Some("trace");

    const COORDINATES: Option<Coordinates> = Some(Coordinates::Centred);

    fn blocks(&self) -> usize {
        self.q()
    }

    fn outputs(&self) -> (usize, usize) {
        (self.classes(), self.classes())
    }

    fn regularization(&self) -> f64 {
        self.resolved.regularization
    }

    fn scratch_len(&self) -> usize {
        let q = self.q();
        2 * q * q + 2 * q + self.classes() + self.rest_len()
    }

    fn work_len(&self) -> usize {
        let q = self.q();
        2 * self.classes() + q + 2 * q * q
    }

    fn forecast(&self, row: Row<'_>, own: &mut [f64], scores: &mut [f64], probabilities: &mut [f64]) {
        let (q, k) = (self.q(), self.classes());
        let basis = self.inner.basis().expect("folklore works in the reduced basis");
        let s = self.divide(own);
        halve(row.gram, s.a);

        // g' = -½ YᵀG' + ½ Vᵀ diag(V Ã Vᵀ)                                                          eq. (1)
        if self.linear_term {
            basis.expanded_diagonal(s.a, s.diagonal, s.rest);
            basis.reduce(s.diagonal, s.g);
        } else {
            s.g.fill(0.0);
        }
        for (g, h) in s.g.iter_mut().zip(row.image) {
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
            let shift = 2.0 * trace - row.x.norm_squared() / self.resolved.regularization;
            for score in scores.iter_mut() {
                *score += shift / (4.0 * k as f64);
            }
        }
    }

    /// Writes $\tilde A$ and $C$.
    fn renew(&self, row: Row<'_>, at: &Prediction, own: &mut [f64]) {
        let (s, k) = (self.divide(own), self.classes());
        halve(row.gram, s.a);
        let (tails, column) = s.rest.split_at_mut(k);
        self.inner.covariance_factor(&at.probabilities, s.factor, tails, &mut column[..k]);
    }

    fn ahead(&self, y: Target<'_>, at: &Prediction, gram: &[f64], out: &mut Prediction) -> bool {
        heavy::matrix(&self.inner, |a| halve(gram, a), y, at, out);
        true
    }

    /// The surrogate is taken at the scores of the prediction.
    fn learn<'w>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        own: &[f64],
        _gram: &[f64],
        sums: &mut Sums,
        work: &'w mut [f64],
    ) -> RoundUpdate<'w> {
        let (q, k, weight) = (self.q(), self.classes(), y.weight);
        let (a, factor) = own[..2 * q * q].split_at(q * q);
        let rest = &mut { work };
        let (residual, curved, coefficient) = (take(rest, k), take(rest, k), take(rest, q));
        let (system, mix) = (take(rest, q * q), take(rest, q * q));

        // G' += Vᵀ(p - y - 2γSz) ⊗ x                                                                eq. (3)
        let (p, z, gamma) = (&at.probabilities, &at.scores, self.resolved.gamma);
        residual.copy_from_slice(p);
        y.truth.subtract_from(residual);
        covariance_times(p, z, curved);
        sums.slack += weight * (dot(residual, z) - gamma * dot(z, curved));
        for (residual, curved) in residual.iter_mut().zip(&*curved) {
            *residual -= 2.0 * gamma * curved;
        }
        self.inner.reduce(residual, coefficient);
        coefficient.iter_mut().for_each(|c| *c *= weight);

        // LLᵀ = I + 2γ C'ᵀ Ã C';  P -= FFᵀ with F = √γ Y C' L^{-T}                                   eq. (4)
        let gamma = weight * gamma;
        let c = columns(factor, q, q);
        product(columns_mut(mix, q, q), Store::Replace, 2.0, columns(a, q, q), c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c.transpose(), columns(mix, q, q));
        sums.growth += weight * system.iter().step_by(q + 1).sum::<f64>();
        for (at, entry) in system.iter_mut().enumerate() {
            *entry = gamma * *entry + f64::from(at % (q + 1) == 0);
        }
        let definite = linalg::cholesky(system, q);
        debug_assert!(definite, "I + 2γC'ᵀÃC' has eigenvalues >= 1");
        for (mix, c) in mix.iter_mut().zip(factor) {
            *mix = gamma.sqrt() * c;
        }
        linalg::divide_by_transposed_lower(mix, q, system, q);
        RoundUpdate { coefficients: coefficient, mix }
    }

    fn grow(&mut self, classes: usize) -> bool {
        self.inner = FixedPoint::reduced(LogitBasis::new(classes));
        true
    }

    /// Equation (6).
    fn guarantee(learner: &Folklore) -> Option<Guarantee<'_>> {
        let Resolved { norm, radius, regularization, gamma } = learner.surrogate.resolved;
        let bound = curved(gamma, learner.surrogate.largest_gamma(), || {
            learner.closed_form(norm, |setting| {
                if !learner.surrogate.linear_term && setting.classes > 2 {
                    return Err("it needs linear_term = true".into());
                }
                if regularization < gamma * radius * radius {
                    return Err("regularization is below curvature * radius^2".into());
                }
                Ok(bounds::folklore(setting, regularization, gamma))
            })
        });
        Some(Guarantee::Regret { ball: Some(Ball::Rows), norm, bound })
    }

    /// Equation (5).
    fn certificate(learner: &Folklore) -> Option<Promise> {
        let Resolved { norm, regularization, gamma, .. } = learner.surrogate.resolved;
        Some(curved(gamma, learner.surrogate.largest_gamma(), || {
            let prior = regularization * learner.problem.classes as f64 * norm * norm;
            Ok(prior + learner.sums.slack + 0.25 * learner.state.square())
        }))
    }

    fn certificate_terms(learner: &Folklore) -> Option<Terms> {
        let Resolved { norm, regularization, gamma, .. } = learner.surrogate.resolved;
        let prior = regularization * learner.problem.classes as f64 * norm * norm;
        // S <= 1/2.
        Some(learner.terms(prior, 0.25 * learner.state.square(), 0.5 * gamma))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::example::Features;
    use crate::learner::{OnlineLearner as _, Predictor as _};

    /// K = 2, d = 1, x = 1, λ = 3/4, γ = 1/2, B = 1; V = (1, -1)/√2.
    ///
    /// Round 1, y = 0: G' = 0 and p = 1/2 each, so that the scores are shift = 0, and G' becomes Vᵀ(p - y) =
    /// -1/√2. Since S = ½VVᵀ, tr(SN) = 1/(2λ) = 2/3 and M = λ + γ/2 = 1. (5) is λKB² + 0 + ¼G'²/M = 3/2 +
    /// 1/8. Round 2: N = 1 and h = -1/√2, so that the difference D of the scores solves D = ½ - ½tanh(D/2).
    #[test]
    fn two_rounds_by_hand() {
        let params = FolkloreParams::new().norm(1.0).regularization(0.75).curvature(Curvature::Value(0.5));
        let mut folklore = Folklore::new(params, Problem::new(2, 1), 0).expect("valid parameters");
        let mut at = folklore.prediction();
        folklore.predict(Features::Dense(&[1.0]), &mut at);
        assert_eq!((&at.scores[..], &at.probabilities[..]), (&[0.0; 2][..], &[0.5; 2][..]));
        folklore.update(Features::Dense(&[1.0]), Target::class(0), &at);
        assert!((folklore.trace() - 2.0 / 3.0).abs() < 1e-15, "{}", folklore.trace());
        let certificate = 1.5 + folklore.sums.slack + 0.25 * folklore.state.square();
        assert!((certificate - 1.625).abs() < 1e-15, "{certificate}");
        // The curvature of this example is larger than any valid one.
        assert!(folklore.certificate().expect("folklore has one").is_err());
        folklore.predict(Features::Dense(&[1.0]), &mut at);
        let difference = at.scores[0] - at.scores[1];
        assert!((difference + 0.5 * (0.5 * difference).tanh() - 0.5).abs() < 1e-15, "{difference}");
    }

    /// With two classes, forecasts do not depend on the linear term (theory: folklore 3.1).
    #[test]
    fn the_closed_form_needs_the_linear_term() {
        for (classes, holds) in [(2, true), (3, false)] {
            let params = FolkloreParams::new().linear_term(false);
            let folklore = Folklore::new(params, Problem::new(classes, 1), 0).expect("valid parameters");
            let bound = folklore.guarantee().and_then(|guarantee| guarantee.regret_bound()).expect("has one");
            assert_eq!(bound.is_ok(), holds, "{classes}: {bound:?}");
        }
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
