//! # FTRL: follow the regularised leader, solved exactly
//!
//! Plays the weights that minimise the regularised logistic loss of all rounds so far. It is the yardstick
//! for proper learners: all rounds are stored, and every round solves an optimisation problem.
//!
//! ## Reference
//!
//! Shai Shalev-Shwartz, Yoram Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine
//! Learning 69, 2007, for the logistic loss and a fixed quadratic regulariser. `references.bib`:
//! `shalevshwartz2007ftrl`; theory: baselines 1.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `weights` | in the $K-1$ coordinates of [`LogitBasis`]: $W = VW'$ |
//! | $\lambda$ | `regularization` | weight of $\lVert W \rVert_F^2$ |
//! | $\ell_s$ | `examples` | one record for every distinct row: $x$, and the number of rounds of each class
//! with this row |
//!
//! $$ W_t = \arg\min_W \sum_{s<t} \ell_s(W) + \lambda\lVert W \rVert_F^2, \qquad z_t = W_t x_t. \tag{1} $$
//!
//! A Newton step solves $H\ \Delta = -g$ with, over the distinct rows $x$ of count $c$ per class and
//! $n = \sum_k c_k$,
//!
//! $$ g = 2\lambda W' + \textstyle\sum V^\top (np - c) \otimes x, \qquad
//!    H = 2\lambda I + \sum n\ V^\top S V \otimes xx^\top, \tag{2} $$
//! $$ W' \leftarrow W' + \tfrac{\ln(1+r)}{r} \Delta, \qquad
//!    r = \max_x \big(\max_k (V\Delta x)_k - \min_k (V\Delta x)_k\big). \tag{3} $$
//!
//! For every $U$: $\mathrm{Regret}(U) \le \lambda\lVert U \rVert_F^2 + R^2T/(2\lambda)$. There is no
//! logarithmic bound.
//!
//! ## Deviations
//!
//! * There is no ball and no horizon: $\lambda$ is 1 by default, as in the experiments of AIOLI's paper. In
//!   binary terms, with $\theta = w_1 - w_0$, the regulariser is $\frac\lambda2\lVert \theta \rVert^2$.
//! * The weights have $(K-1)d$ coordinates: with the regulariser, the rows of the optimal $W$ sum to 0.
//! * The step (3) minimises an upper bound of the objective along $\Delta$ (the third derivative of the
//!   logistic loss is at most the range of the logits times the second), so that it never overshoots, and
//!   approaches Newton's step near the solution. The iteration ends if $r \le 10^{-9}$, where the error is of
//!   the order of $r^2$, or if rounding prevents progress.
//! * A soft label counts as a fraction of each class, an importance weight as a number of repetitions: both
//!   exact.
//!
//! ## Cost
//!
//! With $m$ distinct rows so far and $n = (K-1)d$, a Newton step takes $O(mn^2 + n^3)$; a round needs three
//! to five of them for $\lambda = 1$, and more for smaller $\lambda$. The time of a whole stream is quadratic
//! in $T$. Memory $m(d + K) + n^2$ numbers, which grows with the rounds.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{Ball, Guarantee, reference_norm, setting};
use crate::kernel::basis::LogitBasis;
use crate::kernel::linalg;
use crate::kernel::softmax::{covariance_times, softmax};
use crate::kernel::vector::{axpy, dot, widened};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Ftrl`].
    pub struct FtrlParams {
        /// Weight $\lambda$ of the squared Frobenius norm of the weights, > 0.
        regularization: f64 = "1",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ftrl {
    problem: Problem,
    regularization: f64,
    basis: LogitBasis,
    /// $W'$, by coordinate.
    weights: Vec<f64>,
    /// Records of $d + K$ numbers.
    examples: Vec<f64>,
    rounds: u64,
    /// $H$ and its factor.
    hessian: Vec<f64>,
    /// $g$ and $\Delta$.
    step: Vec<f64>,
    work: Work,
}

/// Buffers for one record: vectors of length $K$, and $V^\top S V$.
#[derive(Clone, Debug)]
struct Work {
    reduced: Vec<f64>,
    logits: Vec<f64>,
    p: Vec<f64>,
    column: Vec<f64>,
    image: Vec<f64>,
    curvature: Vec<f64>,
}

impl Work {
    fn new(k: usize) -> Self {
        let zeros = || vec![0.0; k];
        let curvature = vec![0.0; (k - 1) * (k - 1)];
        Self { reduced: zeros(), logits: zeros(), p: zeros(), column: zeros(), image: zeros(), curvature }
    }
}

impl Ftrl {
    /// $q = K - 1$.
    fn q(&self) -> usize {
        self.basis.dimension()
    }

    /// The length of a record.
    fn record(&self) -> usize {
        self.problem.features + self.problem.classes
    }

    /// Adds `weight` times `y` to the record of `x`, which is created if the row is new.
    fn remember(&mut self, x: Features<'_>, y: Target<'_>) {
        let (d, record) = (self.problem.features, self.record());
        let start = self.examples.len();
        self.examples.resize(start + record, 0.0);
        x.add_to(1.0, &mut self.examples[start..][..d]);
        let (known, new) = self.examples.split_at(start);
        let known = known.chunks_exact(record).position(|example| example[..d] == new[..d]);
        let at = known.map_or(start, |at| at * record);
        if known.is_some() {
            self.examples.truncate(start);
        }
        y.truth.add_to(y.weight, &mut self.examples[at + d..][..self.problem.classes]);
    }

    /// Minimises (1), starting from the present weights.
    fn solve(&mut self) {
        const MAX_STEPS: usize = 500;
        let mut last_reach = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            if !self.newton_step() {
                return;
            }
            let reach = self.reach();
            let damping = if reach > 1e-12 { reach.ln_1p() / reach } else { 1.0 };
            axpy(damping, &self.step, &mut self.weights); // eq. (3)
            if reach <= 1e-9 || (reach < 1e-3 && reach > 0.5 * last_reach) {
                return;
            }
            last_reach = reach;
        }
    }

    /// Writes $\Delta$ to `step`; false if rounding errors prevent this.
    fn newton_step(&mut self) -> bool {
        let (q, d, record) = (self.q(), self.problem.features, self.record());
        let n = q * d;
        for (g, w) in self.step.iter_mut().zip(&self.weights) {
            *g = -2.0 * self.regularization * w;
        }
        self.hessian.fill(0.0);
        for i in 0..n {
            self.hessian[i * n + i] = 2.0 * self.regularization;
        }
        let work = &mut self.work;
        for example in self.examples.chunks_exact(record) {
            let (x, counts) = example.split_at(d);
            let count: f64 = counts.iter().sum();
            for (z, w) in work.reduced.iter_mut().zip(self.weights.chunks_exact(d)) {
                *z = dot(w, x);
            }
            self.basis.expand(&work.reduced, &mut work.logits);
            softmax(&work.logits, &mut work.p);
            for ((residual, p), c) in work.column.iter_mut().zip(&work.p).zip(counts) {
                *residual = c - count * p;
            }
            self.basis.reduce(&work.column, &mut work.reduced);
            for (g, c) in self.step.chunks_exact_mut(d).zip(&work.reduced[..q]) {
                axpy(*c, x, g);
            }
            // VᵀSV, column by column, and its Kronecker product with xxᵀ: the blocks on and below the
            // diagonal. eq. (2)
            for (j, column) in work.curvature.chunks_exact_mut(q).enumerate() {
                work.reduced.fill(0.0);
                work.reduced[j] = count;
                self.basis.expand(&work.reduced, &mut work.column);
                covariance_times(&work.p, &work.column, &mut work.image);
                self.basis.reduce(&work.image, column);
                for (k, s) in column.iter().enumerate().skip(j) {
                    for (i, value) in x.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                        axpy(s * value, x, &mut self.hessian[(j * d + i) * n + k * d..][..d]);
                    }
                }
            }
        }
        if !linalg::cholesky(&mut self.hessian, n) {
            return false;
        }
        linalg::solve_lower(&self.hessian, n, &mut self.step, 1);
        linalg::solve_lower_transposed(&self.hessian, n, &mut self.step, 1);
        self.step.iter().all(|step| step.is_finite())
    }

    /// $r$: the largest change of the range of a row's logits in the step.
    fn reach(&mut self) -> f64 {
        let (d, record) = (self.problem.features, self.record());
        let work = &mut self.work;
        let mut reach: f64 = 0.0;
        for example in self.examples.chunks_exact(record) {
            for (z, step) in work.reduced.iter_mut().zip(self.step.chunks_exact(d)) {
                *z = dot(step, &example[..d]);
            }
            self.basis.expand(&work.reduced, &mut work.logits);
            let (low, high) = work
                .logits
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (z.min(low), z.max(high)));
            reach = reach.max(high - low);
        }
        reach
    }

    fn make_room(&mut self) {
        let n = self.weights.len();
        self.hessian = vec![0.0; n * n];
        self.step = vec![0.0; n];
        self.work = Work::new(self.problem.classes);
    }
}

impl Algorithm for Ftrl {
    type Params = FtrlParams;

    const ABOUT: About = About {
        name: "ftrl",
        summary: "follow the regularised leader: logistic regression on all rounds so far, solved anew each round",
        paper: Paper {
            key: "shalevshwartz2007ftrl",
            place: "primal-dual framework, the dual solved exactly",
        },
        guarantee: "regret <= lambda |U|^2 + R^2 T/(2 lambda) for every U",
        cost: "3 to 5 Newton steps of T (K-1)^2 d^2 flops: for short streams",
        memory: "(d + K) numbers per distinct row, and (K-1)^2 d^2",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: FtrlParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let regularization = positive("regularization", params.regularization.unwrap_or(1.0))?;
        let mut learner = Self {
            problem,
            regularization,
            basis: LogitBasis::new(k),
            weights: vec![0.0; (k - 1) * d],
            examples: Vec::new(),
            rounds: 0,
            hessian: Vec::new(),
            step: Vec::new(),
            work: Work::new(k),
        };
        learner.make_room();
        Ok(learner)
    }

    fn params(&self) -> FtrlParams {
        FtrlParams { regularization: Some(self.regularization) }
    }

    /// The weights, and the matrix of second derivatives, which is no part of the state.
    fn numbers(problem: &Problem) -> usize {
        let weights = (problem.classes - 1).saturating_mul(problem.features);
        weights.saturating_mul(weights).saturating_add(weights)
    }
}

impl Predictor for Ftrl {
    own! { problem }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.problem.classes, self.q())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        for (z, w) in out.scratch.iter_mut().zip(self.weights.chunks_exact(self.problem.features)) {
            *z = x.dot(w);
        }
        self.basis.expand(&out.scratch, &mut out.scores);
        softmax(&out.scores, &mut out.probabilities);
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Ftrl {
    /// The prediction is not used: the loss depends only on the row and the label.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, _at: &Prediction) {
        self.remember(x, y);
        self.solve(); // eq. (1)
        self.rounds += 1;
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let norm = reference_norm(&self.problem);
        let bound = match self.problem.radius {
            Some(_) => Ok(bounds::ftrl(&setting(&self.problem, norm, self.rounds), self.regularization)),
            None => Err("the largest norm of a row is not known".into()),
        };
        Some(Guarantee::Regret { ball: Some(Ball::Frobenius), norm, bound })
    }

    /// The weights are computed again, with the new classes.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        let (k, d, record) = (self.problem.classes, self.problem.features, self.record());
        let weights = widened(&self.weights, d, classes - 1, features);
        let mut examples = vec![0.0; self.examples.len() / record * (features + classes)];
        for (old, new) in
            self.examples.chunks_exact(record).zip(examples.chunks_exact_mut(features + classes))
        {
            new[..d].copy_from_slice(&old[..d]);
            new[features..][..k].copy_from_slice(&old[d..]);
        }
        (self.weights, self.examples) = (weights, examples);
        self.basis = LogitBasis::new(classes);
        self.problem = problem;
        self.make_room();
        self.solve();
        true
    }
}

impl State for Ftrl {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let shape = vec![self.problem.classes - 1, self.problem.features];
        vec![
            Tensor::real("weights", shape, &mut self.weights),
            Tensor::list("examples", &mut self.examples),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        let (d, record) = (self.problem.features, self.record());
        self.examples.len().is_multiple_of(record)
            && self
                .examples
                .chunks_exact(record)
                .all(|example| example[d..].iter().all(|count| *count >= 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::logistic;
    use crate::testing::{assert_all_close, assert_close, unit_rows};

    fn ftrl(classes: usize, features: usize, regularization: f64) -> Ftrl {
        let params = FtrlParams { regularization: Some(regularization) };
        Ftrl::new(params, Problem::new(classes, features), 0).expect("valid parameters")
    }

    /// A matrix that does not fit into memory is refused before it is allocated, by its size.
    #[test]
    fn the_matrix_is_part_of_its_size() {
        assert_eq!(Ftrl::numbers(&Problem::new(4, 30_000)), 90_000 * 90_001);
    }

    fn round(learner: &mut Ftrl, x: &[f64], y: Target<'_>) -> Prediction {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(x), &mut at);
        learner.update(Features::Dense(x), y, &at);
        at
    }

    fn logits(learner: &Ftrl, x: &[f64]) -> Vec<f64> {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(x), &mut at);
        at.scores
    }

    /// K = 2, d = 1. After x = 1, y = 1 the minimiser of softplus(-s) + λ s²/2 with s = w_1 - w_0 (w = ±s/2)
    /// satisfies λs = σ(-s); after x = 1, y = 0 as well it is 0, and after a third, y = 0, λs = σ(-s) -
    /// 2σ(s).
    #[test]
    fn by_hand() {
        for lambda in [0.001, 1.0, 50.0] {
            let mut learner = ftrl(2, 1, lambda);
            let spread = |z: Vec<f64>| z[1] - z[0];
            assert_eq!(spread(round(&mut learner, &[1.0], Target::class(1)).scores), 0.0);
            let s = spread(round(&mut learner, &[1.0], Target::class(0)).scores);
            assert_close(lambda * s, logistic::sigmoid(-s), 1e-14, "one row");
            let s = spread(round(&mut learner, &[1.0], Target::class(0)).scores);
            assert_close(s, 0.0, 1e-12, "two rows");
            let s = spread(logits(&learner, &[1.0]));
            assert_close(lambda * s, logistic::sigmoid(-s) - 2.0 * logistic::sigmoid(s), 1e-14, "three rows");
            assert_eq!(learner.examples, [1.0, 2.0, 1.0], "one record for the repeated row");
        }
    }

    /// The gradient of (1) vanishes, in all K d coordinates of W, round after round.
    #[test]
    fn every_round_is_a_minimum() {
        let (k, d) = (4, 3);
        for (lambda, length) in [(1.0, 1.0), (1e-3, 1.0), (0.1, 50.0)] {
            let mut learner = ftrl(k, d, lambda);
            let rows: Vec<Vec<f64>> = unit_rows(9, 60, d)
                .into_iter()
                .map(|x| x.into_iter().map(|x| length * x).collect())
                .collect();
            for (t, x) in rows.iter().enumerate() {
                round(&mut learner, x, Target::class(t * t % k));
                let unit = |i: usize| (0..d).map(|j| f64::from(i == j)).collect::<Vec<f64>>();
                let columns: Vec<Vec<f64>> = (0..d).map(|i| logits(&learner, &unit(i))).collect();
                for class in 0..k {
                    for i in 0..d {
                        let mut gradient = 2.0 * lambda * columns[i][class];
                        for (s, x) in rows[..=t].iter().enumerate() {
                            let mut c = vec![0.0; k];
                            logistic::gradient(&logits(&learner, x), s * s % k, &mut c);
                            gradient += c[class] * x[i];
                        }
                        assert!(gradient.abs() < 1e-9 * length * (1 + t) as f64, "round {t}: {gradient}");
                    }
                }
            }
        }
    }

    /// A soft label is a fraction of each class, a weight a number of repetitions.
    #[test]
    fn soft_labels_and_weights_are_fractions_and_repetitions() {
        let rows = unit_rows(10, 20, 2);
        let (mut soft, mut hard) = (ftrl(3, 2, 0.5), ftrl(3, 2, 0.5));
        for x in &rows {
            round(&mut soft, x, Target::distribution(&[0.5, 0.25, 0.25]).weighted(4.0));
            for class in [0, 1, 0, 2] {
                round(&mut hard, x, Target::class(class));
            }
            assert_all_close(&logits(&soft, &rows[0]), &logits(&hard, &rows[0]), 1e-11, "logit");
        }
        assert_eq!(hard.examples.len(), rows.len() * 5);
    }

    /// A new class, too, which no law tests exactly.
    #[test]
    fn grown_state_is_as_if_it_had_been_there() {
        let (mut small, mut large) = (ftrl(2, 2, 0.3), ftrl(4, 3, 0.3));
        for (t, x) in unit_rows(12, 20, 2).iter().enumerate() {
            round(&mut small, x, Target::class(t % 2));
            round(&mut large, &[x[0], x[1], 0.0], Target::class(t % 2));
        }
        assert!(small.grow(4, 3));
        for x in unit_rows(13, 5, 3) {
            assert_all_close(&logits(&small, &x), &logits(&large, &x), 1e-11, "logit");
        }
    }
}
