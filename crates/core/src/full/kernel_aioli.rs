//! # Kernel AIOLI: improper online logistic regression in a reproducing kernel Hilbert space
//!
//! [AIOLI](super::aioli) with a kernel $k(x, x')$ in place of $x^\top x'$: two classes, non-linear
//! comparators, logarithmic regret in the effective dimension. Every round stores its row, so that time and
//! memory grow.
//!
//! ## Reference
//!
//! Rémi Jézéquel, Pierre Gaillard, Alessandro Rudi, *Efficient improper learning for online logistic
//! regression*, COLT 2020, arXiv:2003.08109: section 4.1. `references.bib`: `jezequel2020aioli`; theory:
//! aioli 3.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $B$ | `norm` | bound on the comparator's norm in the Hilbert space |
//! | $R$ | `radius` | bound on $\sqrt{k(x, x)}$ |
//! | $\lambda, \kappa, \rho$ | `regularization`, `kappa`, `improper_weight` | as in [AIOLI](super::aioli) |
//! | $x_1 \dots x_t$ | `rows` | the rows stored |
//! | $w_s$ | `root_weights` | weight $\kappa p_0p_1$ of $x_s$ in $A = \lambda I + \sum_s w_s \Phi_s\Phi_s^\top$; its root is stored |
//! | $c_s$ | `coefficients` | of $x_s$ in $b = \sum_s c_s \Phi_s$ |
//! | $L$ | `factor` | $LL^\top = \lambda I + D^{1/2} K_t D^{1/2}$ with $D = \mathrm{diag}(w)$ and the kernel matrix $K_t$ |
//! | $f$ | `projected` | $L^{-1} D^{1/2} K_t c$ |
//! | $k_t, a$ | | $(k(x_s, x))_s$ and $L^{-1} D^{1/2} k_t$ |
//!
//! $$ m = (k_t^\top c - a^\top f)/\lambda, \quad v = (k(x, x) - \lVert a \rVert^2)/\lambda, \quad s +
//!    \tfrac{\rho v}{2} \tanh\tfrac s2 = m, \tag{1} $$
//! $$ w_t = \kappa p_0p_1, \qquad c_t = \kappa p_0p_1 s + \tfrac12 r, \qquad r = y_1 p_0 - y_0 p_1, \tag{2}
//!    $$
//! $$ L \text{ is extended by the row } (\sqrt{w_t}\ a, \sqrt{\lambda(1 + w_t v)}), \qquad f \mathrel{+}= c_t
//! a \text{ and one entry.} \tag{3} $$
//!
//! For every comparator of norm at most $B$, in terms of the data and before the labels are known:
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 - \textstyle\sum_t (r_t s_t + \kappa p_0p_1 s_t^2) + (c^\top
//!    K_T c - \lVert f \rVert^2)/\lambda \tag{4} $$
//! $$ \phantom{\mathrm{Regret}(\theta)} \le \lambda B^2 + \tfrac{1}{2\kappa} \ln\det(I +
//!    \tfrac{\kappa}{4\lambda} K_T). \tag{5} $$
//!
//! ## Deviations
//!
//! * As in [AIOLI](super::aioli): the factor ½, the stable coefficients, the scalar equation, soft labels,
//!   weights.
//! * $f$ is updated in $O(t)$ by the prediction's $a$; coefficients are never divided by $\sqrt{w}$, which
//!   underflows.
//! * At most `max_rounds` rows are stored. Afterwards the learner predicts, but does not learn; it then has
//!   no certificate, which would have to cover all rounds. 4096 rows take 67 megabytes.
//!   [With landmarks](super::kernel_aioli_landmarks) there is no limit.
//! * For a row with $k(x, x) > 10^{300}\lambda$, whose squares overflow, the forecast is ½, and nothing is
//!   learnt.
//!
//! ## Cost
//!
//! `predict` $2td + t^2$ flops and `update` $4t$ after $t$ rounds; memory $t^2/2 + td$ numbers. The scratch
//! memory of a prediction grows with $t$, so that this learner allocates memory in its rounds.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::bounds::aioli_certificate;
use crate::example::{Features, Target};
use crate::guarantee::{
    Ball, Guarantee, Promise, Terms, curved, digits_of, is_beyond, provided, setting, were,
};
use crate::kernel::vector::{axpy, dot, widened};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::Curvature;
use crate::loss::heavy;
use crate::loss::improper::{AioliSurrogate, Taken};
use crate::merge::{self, Merge, MergeError};
pub use crate::param::kernel::Kernel;
use crate::param::kernel::Reproducing;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// Length of the first part of the scratch memory: $k(x, x)$ and $v$.
const HEAD: usize = 2;

params! {
    /// Parameters of [`KernelAioli`].
    pub struct KernelAioliParams {
        /// `linear`, `polynomial` or `rbf`.
        kernel: Kernel = "rbf",
        /// Degree of the polynomial kernel, from 1 to 100.
        degree: u64 = "2",
        /// Offset of the polynomial kernel, >= 0.
        offset: f64 = "1",
        /// Length scale of the rbf kernel, > 0.
        length_scale: f64 = "sqrt(features)",
        /// Bound $B$ on the norm of the comparator in the kernel's Hilbert space, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on $\sqrt{k(x, x)}$, > 0.
        radius: f64 = "from the stream's r, or r = 1: r for linear, (r^2 + offset)^(degree/2) for polynomial, 1 for rbf",
        /// Weight $\lambda$ of the comparator's squared norm, > 0.
        regularization: f64 = "1 / norm^2",
        /// Curvature $\kappa$ of the surrogates: `paper`, `safe`, `tight` or a number > 0.
        curvature: Curvature = "paper: 1 / (2 (1 + norm radius))",
        /// Weight $\rho$ of the coming round's losses, >= 0; the guarantee needs 1.
        improper_weight: f64 = "1",
        /// Rows that are stored at most, >= 1: after that the learner stops learning.
        max_rounds: u64 = "4096",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct KernelAioli {
    params: KernelAioliParams,
    problem: Problem,
    kernel: Reproducing,
    /// $B$, $R$, $\lambda$, $\kappa$, $\rho$.
    surrogate: AioliSurrogate,
    max_rounds: usize,
    /// $x_1 \dots x_t$, dense, one after another.
    rows: Vec<f64>,
    /// $\sqrt{w_s}$.
    root_weights: Vec<f64>,
    /// $c_s$.
    coefficients: Vec<f64>,
    /// $L$: the rows of the lower triangle, one after another.
    factor: Vec<f64>,
    /// $f$.
    projected: Vec<f64>,
    /// $c^\top K_t c$.
    quadratic: f64,
    /// $-\sum_t (r_t s_t + \kappa p_0p_1 s_t^2)$.
    slack: f64,
    rounds: u64,
    /// The number of merged learners: 1 if none were merged.
    parts: u64,
    /// Number of rounds that were not learnt.
    dropped: u64,
    /// Number of rounds with $\sqrt{k(x, x)} > R$.
    beyond_radius: u64,
    /// Scratch memory for rounds whose prediction is outdated.
    spare: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

/// The quantities that depend on $x$ and the state, but not on the score.
#[derive(Clone, Copy)]
struct Projection<'a> {
    /// $k(x, x)$.
    own: f64,
    v: f64,
    /// $x$, dense.
    x: &'a [f64],
    /// $k_t$.
    k: &'a [f64],
    a: &'a [f64],
}

impl<'a> Projection<'a> {
    /// Reads the scratch memory of a prediction that was made with `stored` rows.
    fn read(scratch: &'a [f64], features: usize, stored: usize) -> Self {
        let (x, rest) = scratch[HEAD..].split_at(features);
        Self { own: scratch[0], v: scratch[1], x, k: &rest[..stored], a: &rest[stored..2 * stored] }
    }
}

impl KernelAioli {
    fn stored(&self) -> usize {
        self.coefficients.len()
    }

    /// Writes $k(x, x)$, $v$, $x$, $k_t$ and $a$ to the scratch memory of a prediction.
    fn project(&self, x: Features<'_>, scratch: &mut Vec<f64>) {
        let (d, t) = (self.problem.features, self.stored());
        scratch.clear();
        scratch.resize(HEAD + d + 2 * t, 0.0);
        let (head, rest) = scratch.split_at_mut(HEAD);
        let (dense, rest) = rest.split_at_mut(d);
        let (k, a) = rest.split_at_mut(t);
        x.add_to(1.0, dense);
        head[0] = self.kernel.value(dense, dense);
        if !self.surrogate.can_learn(head[0]) {
            return;
        }
        for (k, row) in k.iter_mut().zip(self.rows.chunks_exact(d)) {
            *k = self.kernel.value(row, dense);
        }
        // a = L^{-1} D^{1/2} k_t
        let mut rest = &self.factor[..];
        for i in 0..t {
            let (row, below) = rest.split_at(i + 1);
            a[i] = (self.root_weights[i] * k[i] - dot(&row[..i], &a[..i])) / row[i];
            rest = below;
        }
        head[1] = ((head[0] - dot(a, a)) / self.surrogate.regularization).max(0.0); // eq. (1)
    }

    /// Equation (3): appends a row with weight `root_weight`² $= w$ and coefficient `c`.
    fn store(&mut self, Projection { own, v, x, k, a }: Projection<'_>, root_weight: f64, c: f64) {
        let score = dot(k, &self.coefficients) + c * own;
        self.quadratic += c * (2.0 * score - c * own);
        axpy(c, a, &mut self.projected);
        let pivot = (self.surrogate.regularization * (1.0 + root_weight * root_weight * v)).sqrt();
        let known = root_weight * dot(a, &self.projected);
        self.projected.push((root_weight * score - known) / pivot);
        self.factor.extend(a.iter().map(|a| root_weight * a));
        self.factor.push(pivot);
        self.rows.extend_from_slice(x);
        self.root_weights.push(root_weight);
        self.coefficients.push(c);
    }

    /// Returns `promise`, provided that surrogates are lower bounds of the losses and every round was learnt.
    fn promised(&self, promise: impl FnOnce() -> Promise) -> Promise {
        let AioliSurrogate { radius, kappa, .. } = self.surrogate;
        curved(kappa, self.surrogate.largest_kappa(), || {
            let why = match (self.dropped, self.beyond_radius) {
                (0, 0) => return promise(),
                (0, rows) => format!(
                    "{} beyond the learner's radius {}, which is about sqrt(k(x, x))",
                    were(rows, "row"),
                    digits_of(radius)
                ),
                (dropped, _) => format!(
                    "{} not learnt: it needs at most max_rounds rounds, and kernel-aioli-landmarks needs no limit",
                    were(dropped, "round")
                ),
            };
            Err(why.into())
        })
    }

    /// $\ln\det(I + D^{1/2} K_T D^{1/2}/\lambda)$, see [`crate::bounds::aioli_log_det`].
    pub fn log_det(&self) -> f64 {
        let diagonal = (0..self.stored()).map(|i| self.factor[i * (i + 3) / 2]);
        diagonal.map(|l| 2.0 * l.ln() - self.surrogate.regularization.ln()).sum()
    }
}

impl Algorithm for KernelAioli {
    type Params = KernelAioliParams;

    const ABOUT: About = About {
        name: "kernel-aioli",
        summary: "AIOLI with a kernel: non-linear logistic regression for two classes",
        paper: Paper { key: "jezequel2020aioli", place: "section 4.1" },
        guarantee: "regret <= lambda B^2 + 1/(2 kappa) ln det(I + kappa/(4 lambda) K_T), RKHS norm <= B, up to max_rounds",
        cost: "t^2 + 2 t d flops in round t",
        memory: "t^2/2 + t d numbers after t <= max_rounds rounds",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Two, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: KernelAioliParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let KernelAioliParams { kernel, degree, offset, length_scale, .. } = params;
        let kernel = Reproducing::checked(kernel, degree, offset, length_scale, problem.features)?;
        let default = kernel.radius(problem.radius.unwrap_or(1.0));
        let radius = positive("radius", params.radius.unwrap_or(default))?;
        let KernelAioliParams { norm, regularization, curvature, improper_weight, .. } = params;
        let surrogate = AioliSurrogate::resolved(norm, radius, regularization, curvature, improper_weight)?;
        let max_rounds = params.max_rounds.unwrap_or(4096);
        if max_rounds == 0 {
            return Err(ParamError::invalid("max_rounds", max_rounds, "at least 1"));
        }
        Ok(Self {
            params: KernelAioliParams {
                kernel: Some(kernel.kernel),
                degree: Some(kernel.degree.into()),
                offset: Some(kernel.offset),
                length_scale: Some(kernel.length_scale),
                norm: Some(surrogate.norm),
                radius: Some(radius),
                regularization: Some(surrogate.regularization),
                curvature: Some(Curvature::Value(surrogate.kappa)),
                improper_weight: Some(surrogate.improper_weight),
                max_rounds: Some(max_rounds),
            },
            problem,
            kernel,
            surrogate,
            max_rounds: usize::try_from(max_rounds).unwrap_or(usize::MAX),
            rows: Vec::new(),
            root_weights: Vec::new(),
            coefficients: Vec::new(),
            factor: Vec::new(),
            projected: Vec::new(),
            quadratic: 0.0,
            slack: 0.0,
            rounds: 0,
            parts: 1,
            dropped: 0,
            beyond_radius: 0,
            spare: Vec::new(),
            ahead: Prediction::default(),
        })
    }

    own! { params }

    /// Nothing: the state is empty at first.
    fn numbers(_problem: &Problem) -> usize {
        0
    }

    /// The rows of all parts, one part after another, with their weights and coefficients.
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let (first, problem) = merge::check(parts, Predictor::problem)?;
        let regularization = Some(how.regularization(first.surrogate.regularization, parts.len()));
        let params = KernelAioliParams { regularization, ..first.params() };
        let mut merged = Self::new(params, problem, 0)?;
        let rows = parts.iter().map(|part| part.stored()).sum();
        if rows > merged.max_rounds {
            return Err(MergeError::TooManyRows { rows, most: merged.max_rounds });
        }
        let (d, mut scratch) = (merged.problem.features, Vec::new());
        merged.parts = 0;
        for part in parts {
            let values = part.root_weights.iter().zip(&part.coefficients);
            for (x, (root_weight, c)) in part.rows.chunks_exact(d).zip(values) {
                merged.project(Features::Dense(x), &mut scratch);
                merged.store(Projection::read(&scratch, d, merged.stored()), *root_weight, *c);
            }
            merged.slack += part.slack;
            merged.rounds = merged.rounds.saturating_add(part.rounds);
            merged.parts = merged.parts.saturating_add(part.parts);
            merged.dropped = merged.dropped.saturating_add(part.dropped);
            merged.beyond_radius = merged.beyond_radius.saturating_add(part.beyond_radius);
        }
        Ok(merged)
    }
}

impl Predictor for KernelAioli {
    own! { problem }

    fn prediction(&self) -> Prediction {
        Prediction::sized(2, HEAD + self.problem.features + 2 * self.stored())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.project(x, &mut out.scratch);
        let at = Projection::read(&out.scratch, self.problem.features, self.stored());
        let m = (dot(at.k, &self.coefficients) - dot(at.a, &self.projected)) / self.surrogate.regularization;
        self.surrogate.write_forecast(m, at.v, &mut out.scores, &mut out.probabilities); // eq. (1)
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for KernelAioli {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        // For an outdated prediction, only the score is used, at which the surrogate is taken; everything
        // else is computed again.
        let mut spare = std::mem::take(&mut self.spare);
        let scratch = if at.is_fresh(self.rounds)
            && at.scratch.len() == HEAD + self.problem.features + 2 * self.stored()
        {
            &at.scratch
        } else {
            self.project(x, &mut spare);
            &spare
        };
        let row = Projection::read(scratch, self.problem.features, self.stored());
        self.rounds += 1;
        self.beyond_radius += u64::from(is_beyond(row.own, self.surrogate.radius));
        if self.surrogate.can_learn(row.own) && self.stored() < self.max_rounds {
            let at = if y.weight > 1.0 {
                let ahead = heavy::binary(row.v, y, at, &mut self.ahead);
                self.slack += heavy::excess(y, at, ahead);
                ahead
            } else {
                at
            };
            let Taken { lost, coefficient, curvature } = self.surrogate.taken(y, at); // eq. (2)
            self.slack -= lost;
            self.store(row, curvature.sqrt(), coefficient);
        } else if row.own != 0.0 {
            self.dropped += 1;
        }
        self.spare = spare;
    }

    own! { rounds }

    /// The bound with the log-determinant of the stream's own kernel matrix, for comparators in the kernel's
    /// Hilbert space.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let AioliSurrogate { norm, regularization, kappa, improper_weight, .. } = self.surrogate;
        let bound = self.promised(|| {
            if self.parts > 1 {
                return Err(merge::NO_CLOSED_FORM.into());
            }
            provided(improper_weight == 1.0, "it needs improper_weight = 1", || {
                let setting = setting(&self.problem, norm, self.rounds);
                bounds::aioli_log_det(&setting, regularization, kappa, self.log_det()) // eq. (5)
            })
        });
        let ball = (self.kernel.kernel == Kernel::Linear).then_some(Ball::Euclidean);
        Some(Guarantee::Regret { ball, norm, bound })
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let d = self.problem.features;
        if classes != 2 || features < d {
            return false;
        }
        self.rows = widened(&self.rows, d, self.stored(), features);
        self.problem.features = features;
        true
    }

    /// Equation (4), if every round was learnt.
    fn certificate(&self) -> Option<Promise> {
        let AioliSurrogate { norm, regularization, .. } = self.surrogate;
        Some(self.promised(|| {
            let quadratic = (self.quadratic - dot(&self.projected, &self.projected)) / regularization;
            Ok(aioli_certificate(regularization, norm * norm, self.slack, quadratic))
        }))
    }

    fn certificate_terms(&self) -> Option<Terms> {
        let AioliSurrogate { norm, radius, regularization, .. } = self.surrogate;
        let quadratic = (self.quadratic + dot(&self.projected, &self.projected)) / regularization;
        let size = regularization * norm * norm + self.slack.abs() + quadratic;
        // k(x, x) is at most the radius squared.
        let largest = dot(&self.root_weights, &self.root_weights) * radius * radius;
        Some(Terms { size, regularization, growth: 0.0, largest: Some(largest), weights: true })
    }
}

impl State for KernelAioli {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::list("rows", &mut self.rows),
            Tensor::list("root_weights", &mut self.root_weights),
            Tensor::list("coefficients", &mut self.coefficients),
            Tensor::list("factor", &mut self.factor),
            Tensor::list("projected", &mut self.projected),
            Tensor::number("quadratic", &mut self.quadratic),
            Tensor::number("slack", &mut self.slack),
            Tensor::count("rounds", &mut self.rounds),
            Tensor::count("parts", &mut self.parts),
            Tensor::count("dropped", &mut self.dropped),
            Tensor::count("beyond_radius", &mut self.beyond_radius),
        ]
    }

    fn restored(&mut self) -> bool {
        let t = self.stored();
        t <= self.max_rounds
            && self.rows.len() == t * self.problem.features
            && self.root_weights.len() == t
            && self.projected.len() == t
            && self.factor.len() == t * (t + 1) / 2
            && (0..t).all(|i| self.factor[i * (i + 3) / 2] > 0.0)
    }
}

#[cfg(test)]
mod tests;
