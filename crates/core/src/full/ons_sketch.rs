//! # ONS-sketch: online Newton step with a sketched matrix
//!
//! [ONS](super::ons) with a sketch of the matrix, so that time and memory are linear in the number of
//! features.
//!
//! ## Reference
//!
//! Haipeng Luo, Alekh Agarwal, Nicolò Cesa-Bianchi, John Langford, *Efficient Second Order Online Learning by
//! Sketching*, NIPS 2016: Algorithms 1 and 2, with frequent directions. `references.bib`: `luo2016sketched`;
//! theory: sketches 3.1, 3.2.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $w_t$ | `sketch`, `scale`, `mix` | $W = \tau u + \mathcal S^\top a$ in $Kd$ coordinates, starts at 0 |
//! | $m$ | `rank` | rows of the sketch after it shrinks; at most $2m - 1$ |
//! | $A = \varepsilon I + \mathcal S^\top \mathcal S$ | `sketch` | sketch of $\varepsilon I + \sum gg^\top$ |
//! | $B, \gamma_o, \varepsilon$ | `norm`, `rate`, `regularization` | as in [ONS](super::ons) |
//!
//! $$ z_t = W_t x_t, \quad p = \sigma(z_t), \quad g = (p - y) \otimes x_t, \quad
//!    \mathcal S \text{ gets the row } g^\top, \tag{1} $$
//! $$ W \leftarrow W - \tfrac{1}{\gamma_o} A^{-1} g
//!    = W - \tfrac{1}{\gamma_o \varepsilon} (g - \mathcal S^\top c), \qquad
//!    (\varepsilon I + \mathcal S \mathcal S^\top)\ c = \mathcal S g, \tag{2} $$
//! $$ W \leftarrow (A + \nu I)^{-1} A W = \theta W + (1 - \theta)\ \mathcal S^\top
//!    ((\varepsilon + \nu) I + \mathcal S \mathcal S^\top)^{-1} \mathcal S W, \quad
//!    \theta = \tfrac{\varepsilon}{\varepsilon + \nu}, \tag{3} $$
//!
//! with the least $\nu \ge 0$ for which $\lVert W \rVert_F \le B$; then the sketch may shrink. For every
//! $\lVert W \rVert_F \le B$, with the matrices of (2),
//!
//! $$ \mathrm{Regret}(W) \le \tfrac12 \gamma_o \varepsilon B^2 + \tfrac{1}{2\gamma_o}
//!    \textstyle\sum_t g_t^\top A_t^{-1} g_t. \tag{4} $$
//!
//! ## Deviations
//!
//! * The projection is that of [ONS](super::ons), to the ball of comparators, in place of the paper's, to the
//!   predictors whose score of the coming row is bounded.
//! * The sketch shrinks as soon as its $2m$ rows are in use.
//! * Defaults, importance weights and late feedback are those of [ONS](super::ons).
//!
//! ## Cost
//!
//! $O(mK\ \mathrm{nnz}(x) + m^2)$ for `predict` and for `update`; an active projection $O(m^3)$ for each of a
//! few Newton steps. Every $m$ rounds the sketch shrinks, in $O(m^2 K)$ for each feature that has occurred
//! and $O(m^3)$: amortised $O(mK)$ a round and feature. Memory $(2m + 1)K$ numbers for every feature that has
//! occurred.

use std::f64::consts::SQRT_2;

use super::ons::{OnsParams, Resolved};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::capability::Inside;
use crate::example::{Features, Target};
use crate::guarantee::{Ball, Guarantee, Promise, Terms, provided};
use crate::kernel::sketched_inverse::{SketchedInverse, difference};
use crate::kernel::softmax::softmax;
use crate::kernel::vector::{axpy, dot, take};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::param::{ParamError, checked_rank, invertible};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// If the scale falls below this, it is multiplied into $u$, long before it could underflow.
const SMALLEST_SCALE: f64 = 1e-6;

params! {
    /// Parameters of [`OnsSketch`].
    pub struct OnsSketchParams {
        /// Number $m$ of rows that the sketch keeps when it shrinks, from 1 to 1000.
        rank: u64 = "10",
        /// Bound $B$ on the Frobenius norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Inverse step size $\gamma_o$, > 0.
        rate: f64 = "min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) / (classes - 1)) / 2",
        /// Weight $\varepsilon$ of the identity in $A_0$, > 0.
        regularization: f64 = "1 / (2 rate norm)^2",
        /// Whether the weights are projected to the ball; the certificate needs it.
        projection: bool = "true",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct OnsSketch {
    rank: usize,
    resolved: Resolved,
    problem: Problem,
    /// $A$ and $u$.
    sketch: SketchedInverse,
    /// $\tau$.
    scale: f64,
    /// $a$.
    mix: Vec<f64>,
    /// $\lVert u \rVert^2$.
    square: f64,
    /// $\sum_t g_t^\top A_t^{-1} g_t$.
    quadratics: f64,
    rounds: u64,
    /// Products of the row, $p - y$, its multiple, and $c$.
    work: Vec<f64>,
    /// Buffers of the projection.
    room: Vec<f64>,
}

impl OnsSketch {
    fn make_room(&mut self) {
        let rows = 2 * self.rank;
        self.work = vec![0.0; self.sketch.width() + 2 * self.problem.classes + 2 * rows];
        self.room = vec![0.0; if self.resolved.projection { rows * rows + 4 * rows } else { 0 }];
    }

    /// (3), if $W$ is outside the ball.
    fn project(&mut self) {
        const MAX_STEPS: usize = 60;
        const TOLERANCE: f64 = 1e-14;
        let (sketch, norm, used) = (&self.sketch, self.resolved.norm, self.sketch.used());
        let (scale, mix, u_squared, sketched) =
            (self.scale, &mut self.mix[..used], self.square, sketch.product(0));
        let rest = &mut &mut self.room[..];
        let factor = take(rest, 4 * self.rank * self.rank);
        let (image, now, now_image, solved) =
            (take(rest, used), take(rest, used), take(rest, used), take(rest, used));
        // The square of the norm for τ and a; writes SW.
        let measure = |scale: f64, mix: &[f64], image: &mut [f64]| {
            sketch.gram_times(mix, image);
            let inner = dot(mix, image) + 2.0 * scale * dot(sketched, mix);
            axpy(scale, sketched, image);
            (scale * scale * u_squared + inner).max(0.0)
        };
        let mut square = measure(scale, mix, image);
        if !(square > norm * norm && square.is_finite()) {
            return;
        }
        let (mut nu, mut theta) = (0.0, 1.0);
        now.copy_from_slice(mix);
        now_image.copy_from_slice(image);
        for _ in 0..MAX_STEPS {
            if square <= norm * norm * (1.0 + TOLERANCE) {
                break;
            }
            // Newton's method for 1/‖W‖, which is nearly linear in ν and approached from the left.
            let shift = sketch.regularization() + nu;
            sketch.factorise(shift, factor);
            solved.copy_from_slice(now_image);
            sketch.solve_with(factor, solved);
            let slope = (square - dot(now_image, solved)) / shift;
            let step = (square.sqrt() / norm - 1.0) * square / slope;
            if !(step > 0.0 && (nu + step).is_finite()) {
                break;
            }
            nu += step;
            theta = sketch.regularization() / (sketch.regularization() + nu);
            sketch.factorise(sketch.regularization() + nu, factor);
            solved.copy_from_slice(image);
            sketch.solve_with(factor, solved);
            for ((now, a), d) in now.iter_mut().zip(&*mix).zip(&*solved) {
                *now = theta * a + (1.0 - theta) * d; // eq. (3)
            }
            square = measure(theta * scale, now, now_image);
        }
        // What rounding leaves outside the ball.
        let inside = (norm / square.sqrt()).min(1.0);
        mix.iter_mut().zip(&*now).for_each(|(mix, now)| *mix = inside * now);
        self.scale *= inside * theta;
    }

    /// Writes $W$ to $u$, so that the rows of the sketch may change.
    fn fold(&mut self) {
        let (scale, mix, rows) = (self.scale, &self.mix, 2 * self.rank);
        let mut square = 0.0;
        self.sketch.rewrite(|columns, entries| {
            for (entry, column) in entries.iter_mut().zip(columns.chunks_exact(rows)) {
                let (own, other) = (scale * *entry, dot(mix, column));
                *entry = difference(own, -other, own.abs() + other.abs());
                square += *entry * *entry;
            }
        });
        self.mix.fill(0.0);
        (self.scale, self.square) = (1.0, square);
    }
}

impl Algorithm for OnsSketch {
    type Params = OnsSketchParams;

    const ABOUT: About = About {
        name: "ons-sketch",
        summary: "online Newton step with a sketched matrix, for many correlated features",
        paper: Paper { key: "luo2016sketched", place: "Algorithms 1 and 2" },
        guarantee: "none in closed form: a certificate in the Frobenius ball",
        cost: "8 m K nnz(x) flops a round, and 6 m K for every feature seen",
        memory: "(2 m + 1) K numbers a feature seen",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: OnsSketchParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let rank = checked_rank(params.rank)?;
        let OnsSketchParams { norm, radius, rate, regularization, projection, .. } = params;
        let shared = OnsParams { norm, radius, rate, regularization, projection };
        let resolved = Resolved::new(shared, &problem)?;
        let regularization = invertible("regularization", resolved.regularization, resolved.radius)?;
        let (k, d) = (problem.classes, problem.features);
        let mut learner = Self {
            rank,
            resolved,
            sketch: SketchedInverse::new(rank, k, 1, d, regularization),
            problem: Problem { radius: Some(resolved.radius), ..problem },
            scale: 1.0,
            mix: vec![0.0; 2 * rank],
            square: 0.0,
            quadratics: 0.0,
            rounds: 0,
            work: Vec::new(),
            room: Vec::new(),
        };
        learner.make_room();
        Ok(learner)
    }

    fn params(&self) -> OnsSketchParams {
        let OnsParams { norm, radius, rate, regularization, projection } = self.resolved.params();
        OnsSketchParams { rank: Some(self.rank as u64), norm, radius, rate, regularization, projection }
    }

    own! { numbers }

    fn numbers_for(params: &OnsSketchParams, problem: &Problem) -> usize {
        let rank = checked_rank(params.rank).unwrap_or(1);
        SketchedInverse::numbers(rank, problem.classes, 1, problem.features)
    }

    fn numbers_at_first(params: &OnsSketchParams, _problem: &Problem) -> usize {
        SketchedInverse::numbers_at_first(checked_rank(params.rank).unwrap_or(1), 1)
    }
}

impl Predictor for OnsSketch {
    own! { problem }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.problem.classes, self.sketch.width())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let seen = &mut out.scratch;
        self.sketch.project(x, seen);
        for (class, score) in out.scores.iter_mut().enumerate() {
            let own = self.scale * self.sketch.value(seen, 0, class);
            let other = dot(self.sketch.image(seen, class), &self.mix[..self.sketch.used()]);
            *score = difference(own, -other, own.abs() + other.abs()); // eq. (1)
        }
        softmax(&out.scores, &mut out.probabilities);
    }
}

impl OnlineLearner for OnsSketch {
    /// The gradient is taken at the probabilities of the prediction, of which nothing else is used.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (k, rows) = (self.problem.classes, 2 * self.rank);
        let rest = &mut &mut self.work[..];
        let (seen, residual, steps) = (take(rest, self.sketch.width()), take(rest, k), take(rest, k));
        let (image, solved) = (take(rest, rows), take(rest, rows));
        residual.copy_from_slice(&at.probabilities);
        y.truth.subtract_from(residual);
        let sketch = &mut self.sketch;
        sketch.project(x, seen);
        sketch.append(residual, y.weight, x, seen); // eq. (1)
        let used = sketch.used();
        let (image, solved) = (&mut image[..used], &mut solved[..used]);
        image.fill(0.0);
        for (class, r) in residual.iter().enumerate() {
            axpy(*r, sketch.image(seen, class), image);
        }
        solved.copy_from_slice(image);
        sketch.solve(solved);
        let length = dot(residual, residual) * x.norm_squared();
        self.quadratics += y.weight * y.weight * sketch.quadratic(length, image, solved);

        let step = y.weight / self.resolved.rate / self.resolved.regularization;
        let along: f64 = residual.iter().enumerate().map(|(class, r)| r * sketch.value(seen, 0, class)).sum();
        let own = -step / self.scale;
        self.square = (self.square + own * (2.0 * along + own * length)).max(0.0);
        steps.iter_mut().zip(&*residual).for_each(|(step, r)| *step = own * r);
        sketch.add(steps, x, seen);
        axpy(step, solved, &mut self.mix[..used]); // eq. (2)
        if self.resolved.projection {
            self.project();
        }
        if self.sketch.is_full() || self.scale < SMALLEST_SCALE {
            self.fold();
            self.sketch.shrink();
        }
        self.rounds += 1;
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        self.sketch.grow(classes, 1, features);
        self.problem = problem;
        self.make_room();
        true
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = Err("what the sketch discards is known only as it occurs".into());
        Some(Guarantee::Regret { ball: Some(Ball::Frobenius), norm: self.resolved.norm, bound })
    }

    /// Equation (4).
    fn certificate(&self) -> Option<Promise> {
        let Resolved { norm, radius, rate, regularization, projection } = self.resolved;
        let defaults = OnsParams::new().norm(norm).radius(radius);
        // There are no defaults for every norm.
        let theorem = Resolved::new(defaults, &self.problem);
        let holds = projection && theorem.is_ok_and(|theorem| rate <= theorem.rate * (1.0 + 1e-9));
        Some(provided(holds, "it needs the projection, and at most the default rate", || {
            0.5 * rate * regularization * norm * norm + 0.5 / rate * self.quadratics
        }))
    }

    /// A weight would change the loss's exp-concavity. Steps that are long beside the ball are projected with
    /// their own rounding errors.
    fn certificate_terms(&self) -> Option<Terms> {
        let Resolved { norm, radius, rate, regularization, .. } = self.resolved;
        let size = 0.5 * rate * regularization * norm * norm + 0.5 / rate * self.quadratics.abs();
        let gradient = SQRT_2 * radius;
        let largest = (gradient * gradient * self.rounds as f64).max(gradient / (rate * norm));
        Some(Terms { size, regularization, growth: 0.0, largest: Some(largest), weights: false })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for OnsSketch {
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("discarded", vec![self.sketch.discarded()])]
    }
}

impl State for OnsSketch {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.sketch.tensors());
        tensors.push(Tensor::number("scale", &mut self.scale));
        tensors.push(Tensor::vector("mix", &mut self.mix));
        tensors.push(Tensor::number("square", &mut self.square));
        tensors.push(Tensor::number("quadratics", &mut self.quadratics));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.scale > 0.0 && self.square >= 0.0 && self.sketch.restored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::ons::Ons;
    use crate::testing::{assert_all_close, assert_close, plays};

    /// K = 2, d = 1, ε = 1, γ_o = 1, x = 1, label 0, m = 1. Round 1: p = (½, ½), g = (-½, ½), A = I + ggᵀ and
    /// gᵀg = ½, so that A^{-1}g = g/(3/2), gᵀA^{-1}g = 1/3 and W = (1/3, -1/3).
    #[test]
    fn one_round_by_hand() {
        let params = OnsSketchParams::new().rank(1).rate(1.0).regularization(1.0);
        let mut learner = OnsSketch::new(params, Problem::new(2, 1), 0).expect("valid");
        let x = Features::Dense(&[1.0]);
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        assert_eq!(at.probabilities, [0.5, 0.5]);
        learner.update(x, Target::class(0), &at);
        learner.predict(x, &mut at);
        assert_close(at.scores[0], 1.0 / 3.0, 1e-15, "class 0");
        assert_close(at.scores[1], -1.0 / 3.0, 1e-15, "class 1");
        assert_close(learner.quadratics, 1.0 / 3.0, 1e-15, "quadratic");
    }

    /// For a large norm there is no theorem, since its rate is 0.
    #[test]
    fn a_norm_may_have_no_certificate() {
        let params = OnsSketchParams::new().rank(1).norm(1000.0).rate(0.3).regularization(1.0);
        let learner = OnsSketch::new(params, Problem::new(3, 2), 0).expect("valid");
        let why = learner.certificate().expect("keeps one").expect_err("no defaults").to_string();
        assert_eq!(why, "it needs the projection, and at most the default rate");
    }

    /// With as many rows as dimensions it is ONS, with and without projection.
    #[test]
    fn is_ons_for_full_rank() {
        for projection in [false, true] {
            let params = OnsParams::new().norm(1.5).rate(0.1).regularization(0.5).projection(projection);
            let mut exact = Ons::new(params, Problem::new(3, 2), 0).expect("valid");
            let params =
                OnsSketchParams::new().rank(6).norm(1.5).rate(0.1).regularization(0.5).projection(projection);
            let mut sketched = OnsSketch::new(params, Problem::new(3, 2), 0).expect("valid");
            let (got, want) = (plays(&mut sketched, 150), plays(&mut exact, 150));
            assert_all_close(&got.concat(), &want.concat(), 1e-9, "p");
            assert_eq!(sketched.sketch.discarded(), 0.0);
        }
    }
}
