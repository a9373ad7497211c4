//! # ONS: online Newton step on the multiclass logistic loss
//!
//! The proper second-order baseline: one matrix of weights, steps preconditioned by the gradients' outer
//! products, and a projection to the ball of comparators in the metric of that matrix. Its regret is
//! logarithmic in $T$, with a factor exponential in $BR$ that the improper learners avoid.
//!
//! ## Reference
//!
//! Elad Hazan, Amit Agarwal, Satyen Kale, *Logarithmic Regret Algorithms for Online Convex Optimization*,
//! Machine Learning 69 (2007): section 3.2, Theorem 2, for the logistic loss. `references.bib`:
//! `hazan2007ons`; theory: baselines 2.1, 2.2.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $w_t$ | `weights` | in the $K-1$ coordinates of [`LogitBasis`], starts at 0 |
//! | $B, R$ | `norm`, `radius` | bounds on $\lVert W \rVert_F$ of the comparator and on $\lVert x \rVert_2$ |
//! | $G, D$ | | $\sqrt2 R$ and $2B$: bounds on gradients and on the ball's diameter |
//! | $\alpha$ | | exp-concavity, here $e^{-\sqrt2 BR}/(K-1)$ |
//! | $\beta$ | `rate` | $\gamma_o$: step size's inverse, $\tfrac12\min\lbrace 1/(4GD), \alpha\rbrace $ in the theorem |
//! | $\varepsilon$ | `regularization` | $A_0 = \varepsilon I$, $1/(\gamma_o D)^2$ in the theorem |
//! | $A_t^{-1}$ | `inverse` | in the same coordinates |
//!
//! $$ z_t = V W_t x_t, \quad p = \sigma(z_t), \quad g_t = V^\top (p - y) \otimes x_t, \tag{1} $$
//! $$ A_t = A_{t-1} + g_t g_t^\top, \quad v = w_t - \tfrac{1}{\gamma_o} A_t^{-1} g_t, \tag{2} $$
//! $$ w_{t+1} = \arg\min_{\lVert u \rVert \le B} (u - v)^\top A_t (u - v) = (I + \nu A_t^{-1})^{-1} v.
//!    \tag{3} $$
//!
//! For every $\lVert W \rVert_F \le B$: $\mathrm{Regret}(W) \le 5(1/\alpha + GD)\ Kd \ln T$.
//!
//! ## Deviations
//!
//! * Gradients vanish along the all-ones direction, so that the weights have $(K-1)d$ coordinates in place of
//!   $Kd$; steps and projections commute with this reduction, and predictions are identical.
//! * The exp-concavity constant is exact for the logistic loss: at logits $z$ it is $p_y/(1-p_y)$.
//! * $\nu$ in equation (3) is found by Newton's method on $A_t^{-1}$, which is available, without decomposing
//!   $A_t$.
//! * The theory has no default for $B$: `norm` is $30/R$, as for the other learners. The theorem's $\gamma_o$
//!   is then tiny and the learner slow; experiments use another `rate` and `projection = false`.
//! * An importance weight multiplies a round's quadratic surrogate: $A \mathrel{+}= \omega gg^\top$, and a
//!   step with $\omega g$.
//! * Late feedback takes the gradient at the probabilities of the prediction, and steps from the current
//!   weights.
//!
//! ## Cost
//!
//! `predict` $2Kd$ flops, `update` $3(K-1)^2d^2$ (with delayed updates of the matrix), an active projection
//! $\tfrac13(K-1)^3d^3$ for each of a few Newton steps; memory $(K-1)^2d^2$ numbers, twice that with
//! projection.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::capability::LookAhead;
use crate::example::{Batch, Features, Target};
use crate::guarantee::{Ball, Guarantee, provided, setting};
use crate::kernel::basis::LogitBasis;
use crate::kernel::newton_step::NewtonStep;
use crate::kernel::softmax::softmax;
use crate::kernel::vector::{dot, take};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::frobenius_spread;
use crate::param::{ParamError, invertible, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};
use crate::state::state;

params! {
    /// Parameters of [`Ons`] and of [`OnsDiag`](super::ons_diag::OnsDiag).
    pub struct OnsParams {
        /// Bound $B$ on the Frobenius norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Inverse step size $\gamma_o$, > 0.
        rate: f64 = "min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) / (classes - 1)) / 2",
        /// Weight $\varepsilon$ of the identity in $A_0$, > 0.
        regularization: f64 = "1 / (2 rate norm)^2",
        /// Whether the weights are projected to the ball; the guarantee needs it.
        projection: bool = "true",
    }
}

/// [`OnsParams`] with defaults computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resolved {
    /// $B$.
    pub norm: f64,
    /// $R$.
    pub radius: f64,
    /// $\gamma_o$.
    pub rate: f64,
    /// $\varepsilon$.
    pub regularization: f64,
    pub projection: bool,
}

impl Resolved {
    /// Computes the defaults by the theorem, and checks all parameters.
    pub(super) fn new(params: OnsParams, problem: &Problem) -> Result<Self, ParamError> {
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let gradient_diameter = std::f64::consts::SQRT_2 * radius * 2.0 * norm;
        let concavity = (-frobenius_spread(norm, radius)).exp() / (problem.classes - 1) as f64;
        let theory = 0.5 * (0.25 / gradient_diameter).min(concavity);
        let rate = params.rate.unwrap_or(theory);
        let default = (2.0 * rate * norm).powi(-2);
        let none = rate == 0.0 || params.regularization.is_none() && !default.is_finite();
        if params.rate.is_none() && none {
            // The norm may be derived: then the radius is what was set.
            let (name, value, derived) = match params.norm {
                Some(_) => ("norm", norm.to_string(), String::new()),
                None => {
                    ("radius", format!("{radius:e}"), format!(" and the norm {norm:.1e} derived from it"))
                }
            };
            let need = format!(
                "of another size: with it{derived} the theorem's rate is 0 or its regularization infinite; or set rate and regularization"
            );
            return Err(ParamError::invalid(name, value, need));
        }
        let rate = positive("rate", rate)?;
        let regularization = positive("regularization", params.regularization.unwrap_or(default))?;
        Ok(Self { norm, radius, rate, regularization, projection: params.projection.unwrap_or(true) })
    }

    pub(super) fn params(self) -> OnsParams {
        OnsParams {
            norm: Some(self.norm),
            radius: Some(self.radius),
            rate: Some(self.rate),
            regularization: Some(self.regularization),
            projection: Some(self.projection),
        }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ons {
    resolved: Resolved,
    problem: Problem,
    basis: LogitBasis,
    /// $A^{-1}$ and the weights.
    model: NewtonStep,
    rounds: u64,
    /// Buffers of the update.
    work: Vec<f64>,
}

impl Ons {
    /// $q = K - 1$.
    fn q(&self) -> usize {
        self.basis.dimension()
    }

    fn make_room(&mut self) {
        let inverse = self.model.inverse();
        let (n, q, k) = (inverse.side(), self.q(), self.problem.classes);
        self.work = vec![0.0; n * q + q * q + q + k + inverse.scratch_len()];
    }
}

impl Algorithm for Ons {
    type Params = OnsParams;

    const ABOUT: About = About {
        name: "ons",
        summary: "online Newton step on the logistic loss, proper second-order baseline",
        paper: Paper { key: "hazan2007ons", place: "section 3.2, Theorem 2" },
        guarantee: "regret <= 5 (exp(sqrt(2) B R)(K-1) + 2 sqrt(2) B R) K d ln T in the Frobenius ball",
        cost: "3(K-1)^2 d^2 flops a round, and (K-1)^3 d^3 where the projection is active",
        memory: "(K-1)^2 d^2 numbers, twice that with projection",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: OnsParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (q, d) = (problem.classes - 1, problem.features);
        let resolved = Resolved::new(params, &problem)?;
        invertible("regularization", resolved.regularization, resolved.radius)?;
        let Resolved { norm, radius, rate, regularization, projection } = resolved;
        let ball = if projection { norm } else { f64::INFINITY };
        let mut learner = Self {
            resolved,
            problem: Problem { radius: Some(radius), ..problem },
            basis: LogitBasis::new(q + 1),
            model: NewtonStep::new(q, d, regularization, rate, ball),
            rounds: 0,
            work: Vec::new(),
        };
        learner.make_room();
        Ok(learner)
    }

    fn params(&self) -> OnsParams {
        self.resolved.params()
    }

    fn numbers(problem: &Problem) -> usize {
        NewtonStep::numbers(problem.classes - 1, problem.features)
    }
}

impl Predictor for Ons {
    own! { problem }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.problem.classes, self.q())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        for (z, w) in out.scratch.iter_mut().zip(self.model.weights().chunks_exact(self.problem.features)) {
            *z = x.dot(w);
        }
        self.basis.expand(&out.scratch, &mut out.scores); // eq. (1)
        softmax(&out.scores, &mut out.probabilities);
    }
}

impl OnlineLearner for Ons {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (n, q, k) = (self.model.inverse().side(), self.q(), self.problem.classes);
        let rest = &mut &mut self.work[..];
        let (columns, gram) = (take(rest, n * q), take(rest, q * q));
        let (coefficient, residual) = (take(rest, q), take(rest, k));
        residual.copy_from_slice(&at.probabilities);
        y.truth.subtract_from(residual);
        self.basis.reduce(residual, coefficient);

        // With Y = A^{-1}(I ⊗ x) and g = r ⊗ x, A^{-1}g is Yr.
        self.model.inverse().columns_and_gram(x, columns, gram, rest);
        let image = gram.chunks_exact(q).map(|row| dot(row, coefficient));
        // A negative square is the result of rounding.
        let square = image.zip(&*coefficient).map(|(a, b)| a * b).sum::<f64>().max(0.0);
        self.model.step(columns, coefficient, square, y.weight); // eq. (2), (3)
        self.rounds += 1;
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let Resolved { norm, radius, .. } = self.resolved;
        let defaults = OnsParams::new().norm(norm).radius(radius);
        // There are no defaults for every norm.
        let holds = Resolved::new(defaults, &self.problem).is_ok_and(|theorem| self.resolved == theorem);
        let why = "it needs the default rate and regularization, and the projection";
        let bound = provided(holds, why, || bounds::ons(&setting(&self.problem, norm, self.rounds.max(2))));
        Some(Guarantee::Regret { ball: Some(Ball::Frobenius), norm, bound })
    }

    fn look_ahead(&mut self) -> Option<&mut dyn LookAhead> {
        Some(self)
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        self.model.grow(classes - 1, features, self.resolved.regularization);
        self.basis = LogitBasis::new(classes);
        self.problem = problem;
        self.make_room();
        true
    }
}

impl LookAhead for Ons {
    fn lookahead(&self) -> usize {
        self.model.inverse().lookahead()
    }

    fn prepare(&mut self, announced: &dyn Batch) {
        self.model.inverse_mut().prepare(announced);
    }

    fn prepare_rest(&mut self, at: usize, announced: &dyn Batch) {
        self.model.inverse_mut().prepare_rest(at, announced);
    }
}

state! { Ons; model; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, plays};

    fn ons(params: OnsParams, classes: usize, features: usize) -> Ons {
        Ons::new(params, Problem::new(classes, features), 0).expect("valid")
    }

    #[test]
    fn parameters_are_resolved() {
        let params = ons(OnsParams::new().norm(1.0), 3, 2).params();
        // G = √2, D = 2: 1/(4GD) = 0.0884, α = e^{-√2}/2 = 0.1216.
        let rate = 0.5 / (8.0 * 2f64.sqrt());
        assert_close(params.rate.expect("in use"), rate, 1e-15, "rate");
        assert_close(params.regularization.expect("in use"), 0.25 / (rate * rate), 1e-15, "regularization");
        assert_eq!(params.projection, Some(true));
    }

    /// The theorem's rate is of the order $e^{-\sqrt2BR}$, which is 0 for a large norm: then there is a
    /// learner with numbers of its own, without a bound.
    #[test]
    fn a_norm_may_have_no_defaults() {
        let own = || OnsParams::new().norm(1000.0).rate(0.3).regularization(1.0);
        let mut learner = ons(own(), 3, 2);
        plays(&mut learner, 5);
        let bound = learner.guarantee().and_then(|guarantee| guarantee.regret_bound()).expect("regret");
        let why = bound.expect_err("no defaults").to_string();
        assert_eq!(why, "it needs the default rate and regularization, and the projection");
        for params in [OnsParams { rate: None, ..own() }, OnsParams::new().norm(1000.0)] {
            let error = Ons::new(params, Problem::new(3, 2), 0).expect_err("no rate").to_string();
            assert!(error.starts_with("norm = 1000: must be of another size: "), "{error}");
        }
    }

    /// K = 2, d = 1, ε = 1, γ_o = 1, x = 1, label 0. Round 1: p = (½, ½), g = (-½, ½), A = I + ggᵀ, gᵀg = ½,
    /// so A^{-1}g = g/(3/2) and W = (1/3, -1/3): the logits of round 2 are W for x = 1.
    #[test]
    fn one_round_by_hand() {
        let params = OnsParams::new().rate(1.0).regularization(1.0);
        let mut learner = ons(params, 2, 1);
        let x = Features::Dense(&[1.0]);
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        assert_eq!(at.probabilities, [0.5, 0.5]);
        learner.update(x, Target::class(0), &at);
        learner.predict(x, &mut at);
        assert_close(at.scores[0], 1.0 / 3.0, 1e-15, "class 0");
        assert_close(at.scores[1], -1.0 / 3.0, 1e-15, "class 1");
    }

    /// The plain algorithm in all Kd coordinates, with A itself and the projection by bisection.
    fn plain(rounds: usize, norm: f64, rate: f64, epsilon: f64) -> (Vec<Vec<f64>>, usize) {
        struct Plain {
            problem: Problem,
            w: Vec<f64>,
            inverse: Vec<f64>,
            settings: [f64; 2],
            active: usize,
        }
        impl Predictor for Plain {
            fn problem(&self) -> &Problem {
                &self.problem
            }
            fn prediction(&self) -> Prediction {
                Prediction::sized(3, 0)
            }
            fn predict(&self, x: Features<'_>, out: &mut Prediction) {
                out.scores = self.w.chunks_exact(2).map(|w| x.dot(w)).collect();
                softmax(&out.scores, &mut out.probabilities);
            }
        }
        impl OnlineLearner for Plain {
            fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
                let [norm, rate] = self.settings;
                let n = self.w.len();
                let mut r = at.probabilities.clone();
                y.truth.subtract_from(&mut r);
                let g: Vec<f64> = (0..n).map(|i| r[i / 2] * x.values()[i % 2]).collect();
                let times =
                    |m: &[f64], v: &[f64]| -> Vec<f64> { m.chunks_exact(n).map(|row| dot(row, v)).collect() };
                let pg = times(&self.inverse, &g);
                let growth = 1.0 + dot(&g, &pg);
                for i in 0..n * n {
                    self.inverse[i] -= pg[i / n] * pg[i % n] / growth;
                }
                let v: Vec<f64> = (0..n).map(|i| self.w[i] - pg[i] / (rate * growth)).collect();
                // (I + νP)u = v by Gauss-Seidel iterations; ν by bisection.
                let at_nu = |nu: f64| {
                    let mut u = v.clone();
                    for _ in 0..2000 {
                        for i in 0..n {
                            let row = &self.inverse[i * n..][..n];
                            let others = dot(row, &u) - row[i] * u[i];
                            u[i] = (v[i] - nu * others) / (1.0 + nu * row[i]);
                        }
                    }
                    u
                };
                self.w = v.clone();
                if dot(&v, &v).sqrt() > norm {
                    self.active += 1;
                    let (mut low, mut high) = (0.0, 1e4);
                    for _ in 0..60 {
                        let nu = 0.5 * (low + high);
                        let u = at_nu(nu);
                        if dot(&u, &u).sqrt() > norm { low = nu } else { high = nu }
                    }
                    self.w = at_nu(high);
                }
            }
            fn rounds(&self) -> u64 {
                0
            }
        }
        let inverse = (0..36).map(|at| f64::from(at % 7 == 0) / epsilon).collect();
        let problem = Problem::new(3, 2);
        let mut plain = Plain { problem, w: vec![0.0; 6], inverse, settings: [norm, rate], active: 0 };
        (plays(&mut plain, rounds), plain.active)
    }

    #[test]
    fn reduced_coordinates_follow_the_plain_recursion_projected_and_not() {
        for (norm, some_active) in [(0.3, true), (1e3, false)] {
            let params = OnsParams::new().norm(norm).rate(0.3).regularization(1.0);
            let ours = plays(&mut ons(params, 3, 2), 12);
            let (theirs, active) = plain(12, norm, 0.3, 1.0);
            assert_eq!(active > 0, some_active, "{active} projections");
            for (t, (a, b)) in ours.iter().zip(&theirs).enumerate() {
                (0..3).for_each(|k| assert_close(a[k], b[k], 1e-10, &format!("norm {norm}, round {t}")));
            }
        }
    }

    #[test]
    fn projected_weights_stay_in_the_ball() {
        let params = OnsParams::new().norm(0.2).rate(0.05).regularization(0.1);
        let mut learner = ons(params, 4, 3);
        plays(&mut learner, 40);
        let norm = dot(learner.model.weights(), learner.model.weights()).sqrt();
        assert!(norm <= 0.2 * (1.0 + 1e-15) && norm > 0.1, "{norm}");
    }
}
