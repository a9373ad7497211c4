//! # FOLKLORE with a sketched matrix
//!
//! [FOLKLORE](crate::full::folklore) with one matrix for all classes, of which a sketch with few rows is
//! kept:
//! between gradient descent and the full matrix in time, memory and accuracy, for many features with
//! correlations that matter.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020, Algorithm 1, with the *frequent directions* of Mina Ghashami, Edo Liberty,
//! Jeff M. Phillips, David P. Woodruff, *Frequent Directions: Simple and Deterministic Matrix Sketching*,
//! SIAM Journal on Computing 45 (2016), Algorithm 2. The combination is not in the papers. `references.bib`:
//! `agarwal2022folklore`, `ghashami2016frequent`; theory: sketches 1.2, 1.4, 2.1, 2.3, 2.4.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $B, R$ | `norm`, `radius` | bounds on the rows of the comparator and on $\lVert x \rVert_2$ |
//! | $\lambda$ | `regularization` | weight of $\lVert W \rVert_F^2$ |
//! | $\gamma$ | `gamma` | curvature of the surrogates |
//! | $m$ | `rank` | rows of the sketch after it shrinks; at most $2m - 1$ |
//! | $s$ | `eigenvalue` | $S = \mathrm{diag}(p) - pp^\top$ becomes $s \Pi$, $\Pi = I - \tfrac1K 11^\top$ |
//! | $A = \lambda I + \mathcal S^\top \mathcal S$ | `sketch` | $d \times d$, the same for all classes |
//! | $G_k$ | `sketch` | linear term of class $k$, kept with the matrix |
//! | $z_t$ | `scores` | logits |
//!
//! $$ \tilde a = \tfrac12 x^\top A^{-1} x, \qquad h_k = x^\top A^{-1} G_k, \qquad z = -\tfrac12 h - \tilde a
//!    \bigl(\sigma(z) - \tfrac1K 1\bigr), \tag{1} $$
//! $$ \mathcal S \text{ gets the row } \sqrt{\gamma s}\ x^\top, \qquad
//!    G \mathrel{+}= (p - y - 2\gamma s \Pi z) \otimes x, \tag{2} $$
//! $$ s = \frac{1 - \lVert p \rVert^2}{K-1} \quad
//!    \text{or the smallest eigenvalue of } S \text{ on the vectors of sum } 0. \tag{3} $$
//!
//! When the sketch shrinks, the part $D$ of $A$ that is lost is subtracted about the minimiser
//! $C_k = -\tfrac12 A^{-1}G_k$ of the accumulated quadratic, which stays: $G_k \mathrel{-}= DA^{-1}G_k$
//! (theory: sketches 1.4). Where $s\Pi \preceq S$, for every $W$ with rows of norm at most $B$
//! (theory: sketches 2.3)
//!
//! $$ \mathrm{Regret}(W) \le \lambda K B^2 + \textstyle\sum_t (\langle p-y, z\rangle - \gamma s \lVert \Pi z
//!    \rVert^2) + \textstyle\sum C_k^\top DC_k + \tfrac14 \sum_k G_k^\top A^{-1} G_k. \tag{4} $$
//!
//! ## Deviations
//!
//! * The mean eigenvalue in (3), the default, is no lower bound for three or more classes, so that there is a
//!   certificate only for two; `eigenvalue = least` has one for every number of classes, and learns more
//!   slowly. For two classes they are the same, and with `rank` $\ge d$ the learner is FOLKLORE.
//! * With one matrix the linear term $B_t$ of the paper adds the same number to all logits, and is left out.
//!   The logits sum to 0.
//! * The sketch shrinks as soon as its $2m$ rows are in use. There is no bound in closed form: what is
//!   discarded is known only as it occurs.
//! * $h$ is limited to $\pm 10^8$, which only rows far beyond $R$ can exceed; (4) holds for any logits.
//! * Defaults, importance weights and late feedback are those of FOLKLORE.
//!
//! ## Cost
//!
//! $O((m + K)\ \mathrm{nnz}(x) + m^2 + mK)$ for `predict` and for `update`, plus $O(K)$ for each Newton step
//! of (1). Every $m$ rounds the sketch shrinks, in $O(m^2 + mK)$ for each feature that has occurred and
//! $O(m^3)$: amortised $O(m + K)$ a round and feature. Memory $2m + K$ numbers for every feature that has
//! occurred.

use super::folklore::{FolkloreParams, Resolved};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::capability::Inside;
use crate::example::{Features, Target};
use crate::guarantee::{Ball, Guarantee, Promise, Terms, curved};
use crate::kernel::diagonal_fixed_point::{scratch_len, solve};
use crate::kernel::sketched_inverse::SketchedInverse;
use crate::kernel::softmax::least_eigenvalue;
use crate::kernel::vector::{dot, take};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::{self, Curvature};
use crate::loss::heavy;
use crate::merge::{self, Merge, MergeError};
use crate::param::{ParamError, checked_rank};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::state;
use crate::{param_words, params};

/// The largest $|h_k|$.
const LARGEST_IMAGE: f64 = 1e8;

param_words! {
    /// The number that replaces the matrix $S$ of a round.
    pub enum Eigenvalue {
        /// The mean of its $K - 1$ eigenvalues on the vectors of sum 0.
        Mean = "mean",
        /// The smallest of them.
        Least = "least",
    }
}

params! {
    /// Parameters of [`FolkloreSketch`].
    pub struct FolkloreSketchParams {
        /// Number $m$ of rows that the sketch keeps when it shrinks, from 1 to 1000.
        rank: u64 = "10",
        /// Number $s$ that replaces the matrix $S$ of a round: `mean`, the mean of its eigenvalues, or
        /// `least`, the smallest one, which has a certificate also for three and more classes.
        eigenvalue: Eigenvalue = "mean",
        /// Bound $B$ on the Euclidean norm of every row of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared Frobenius norm, > 0.
        regularization: f64 = "2 radius / norm",
        /// Curvature $\gamma$ of the surrogates: `safe`, `tight`, `paper` (no guarantee) or a number > 0.
        curvature: Curvature = "safe: 1 / (2 + 2 norm radius + ln(classes - 1))",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct FolkloreSketch {
    rank: usize,
    eigenvalue: Eigenvalue,
    resolved: Resolved,
    problem: Problem,
    /// $A$ and $G$.
    sketch: SketchedInverse,
    /// $\sum_t (\langle p-y, z\rangle - \gamma s \lVert \Pi z \rVert^2)$, and the constants of the
    /// shrinkings.
    slack: f64,
    rounds: u64,
    /// Products of the row, then $\Pi z$ and $p - y - 2\gamma s \Pi z$; in rounds of weight above 1, before
    /// that, a vector of the sketch behind the products.
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

impl FolkloreSketch {
    fn make_room(&mut self) {
        self.work = vec![0.0; 2 * (self.sketch.width() + self.problem.classes)];
    }

    /// $s$.
    fn spread(&self, p: &[f64]) -> f64 {
        match self.eigenvalue {
            Eigenvalue::Mean => ((1.0 - dot(p, p)) / (p.len() - 1) as f64).max(0.0), // eq. (3)
            Eigenvalue::Least => least_eigenvalue(p),
        }
    }
}

impl Algorithm for FolkloreSketch {
    type Params = FolkloreSketchParams;

    const ABOUT: About = About {
        name: "folklore-sketch",
        summary: "FOLKLORE with a sketch of one matrix for all classes, for many correlated features",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 1, with frequent directions" },
        guarantee: "none in closed form: a certificate for two classes, and for more with eigenvalue = least",
        cost: "(4 m + 4 K) nnz(x) flops a round, and (6 m + 2 K) for every feature seen",
        memory: "2 m + K numbers a feature seen",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: FolkloreSketchParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let rank = checked_rank(params.rank)?;
        let FolkloreSketchParams { norm, radius, regularization, curvature, .. } = params;
        let shared = FolkloreParams { norm, radius, regularization, curvature, linear_term: None };
        let resolved = Resolved::new(shared, &problem)?;
        let (k, d) = (problem.classes, problem.features);
        let mut learner = Self {
            rank,
            eigenvalue: params.eigenvalue.unwrap_or(Eigenvalue::Mean),
            resolved,
            sketch: SketchedInverse::new(rank, 1, k, d, resolved.regularization),
            problem: Problem { radius: Some(resolved.radius), ..problem },
            slack: 0.0,
            rounds: 0,
            work: Vec::new(),
            ahead: Prediction::default(),
        };
        learner.make_room();
        Ok(learner)
    }

    fn params(&self) -> FolkloreSketchParams {
        FolkloreSketchParams {
            rank: Some(self.rank as u64),
            eigenvalue: Some(self.eigenvalue),
            norm: Some(self.resolved.norm),
            radius: Some(self.resolved.radius),
            regularization: Some(self.resolved.regularization),
            curvature: Some(Curvature::Value(self.resolved.gamma)),
        }
    }

    own! { numbers }

    fn numbers_for(params: &FolkloreSketchParams, problem: &Problem) -> usize {
        let rank = checked_rank(params.rank).unwrap_or(1);
        SketchedInverse::numbers(rank, 1, problem.classes, problem.features)
    }

    fn numbers_at_first(params: &FolkloreSketchParams, problem: &Problem) -> usize {
        SketchedInverse::numbers_at_first(checked_rank(params.rank).unwrap_or(1), problem.classes)
    }

    /// A sketch of the sum of the quadratics (theory: sketches 2.5).
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let (first, problem) = merge::check(parts, Predictor::problem)?;
        let regularization = how.regularization(first.resolved.regularization, parts.len());
        let params = FolkloreSketchParams { regularization: Some(regularization), ..first.params() };
        let mut merged = Self::new(params, problem, 0)?;
        let sketches: Vec<&SketchedInverse> = parts.iter().map(|part| &part.sketch).collect();
        let (sketch, constants) =
            SketchedInverse::merged(&sketches, |one, parts| how.regularization(one, parts));
        merged.sketch = sketch;
        merged.slack = constants + parts.iter().map(|part| part.slack).sum::<f64>();
        merged.rounds = parts.iter().map(|part| part.rounds).sum();
        Ok(merged)
    }
}

impl Predictor for FolkloreSketch {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let k = self.problem.classes;
        Prediction::sized(k, self.sketch.width() + 2 * self.rank + 2 * k + scratch_len(k))
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let (k, sketch) = (self.problem.classes, &self.sketch);
        let rest = &mut &mut out.scratch[..];
        let (seen, solved) = (take(rest, sketch.width()), take(rest, 2 * self.rank));
        let (a, g) = (take(rest, k), take(rest, k));
        sketch.project(x, seen);
        let image = sketch.image(seen, 0);
        let solved = &mut solved[..image.len()];
        solved.copy_from_slice(image);
        sketch.solve(solved);
        let half = 0.5 * sketch.quadratic(x.norm_squared(), image, solved);
        a.fill(half);
        for (class, g) in g.iter_mut().enumerate() {
            let h = sketch.applied(sketch.value(seen, class, 0), sketch.product(class), solved);
            *g = half / k as f64 - 0.5 * h.clamp(-LARGEST_IMAGE, LARGEST_IMAGE);
        }
        solve(a, g, &mut out.scores, &mut out.probabilities, rest); // eq. (1)
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for FolkloreSketch {
    /// The surrogate is taken at the scores of the prediction, of which nothing else is used.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (k, gamma) = (self.problem.classes, self.resolved.gamma);
        let mut ahead = std::mem::take(&mut self.ahead);
        let at = if y.weight > 1.0 {
            let (seen, rest) = self.work.split_at_mut(self.sketch.width());
            self.sketch.project(x, seen);
            let image = self.sketch.image(seen, 0);
            let solved = &mut rest[..image.len()];
            solved.copy_from_slice(image);
            self.sketch.solve(solved);
            let half = 0.5 * self.sketch.quadratic(x.norm_squared(), image, solved);
            let ahead = heavy::diagonal(|a| a.fill(half), y, at, &mut ahead);
            self.slack += heavy::excess(y, at, ahead);
            ahead
        } else {
            at
        };
        let spread = self.spread(&at.probabilities);
        let rest = &mut &mut self.work[..];
        let (seen, centred, coefficients) = (take(rest, self.sketch.width()), take(rest, k), take(rest, k));
        let mean = at.scores.iter().sum::<f64>() / k as f64;
        centred.iter_mut().zip(&at.scores).for_each(|(centred, z)| *centred = z - mean);
        coefficients.copy_from_slice(&at.probabilities);
        y.truth.subtract_from(coefficients);
        let touch = dot(coefficients, centred) - gamma * spread * dot(centred, centred);
        self.slack += y.weight * touch;
        for (c, z) in coefficients.iter_mut().zip(&*centred) {
            *c = y.weight * (*c - 2.0 * gamma * spread * z);
        }
        self.sketch.project(x, seen);
        self.sketch.add(coefficients, x, seen); // eq. (2)
        self.sketch.append(&[1.0], y.weight * gamma * spread, x, seen); // eq. (2)
        self.slack += self.sketch.shrink_about_minimum();
        self.rounds += 1;
        self.ahead = ahead;
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        self.sketch.grow(1, classes, features);
        self.problem = problem;
        self.make_room();
        true
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = Err("what the sketch discards is known only as it occurs".into());
        Some(Guarantee::Regret { ball: Some(Ball::Rows), norm: self.resolved.norm, bound })
    }

    /// Equation (4).
    fn certificate(&self) -> Option<Promise> {
        let Resolved { norm, radius, regularization, gamma } = self.resolved;
        let k = self.problem.classes;
        if self.eigenvalue == Eigenvalue::Mean && k > 2 {
            return Some(Err("with three or more classes it needs eigenvalue = least".into()));
        }
        let largest = curvature::tight(curvature::log_odds(curvature::rows_spread(norm, radius), k));
        Some(curved(gamma, largest, || {
            let prior = regularization * k as f64 * norm * norm;
            Ok(prior + self.slack + 0.25 * self.sketch.square())
        }))
    }

    fn certificate_terms(&self) -> Option<Terms> {
        let Resolved { norm, regularization, gamma, .. } = self.resolved;
        let prior = regularization * self.problem.classes as f64 * norm * norm;
        let size = prior + self.slack.abs() + 0.25 * self.sketch.square().abs();
        Some(Terms { size, regularization, growth: 0.5 * gamma, largest: None, weights: true })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for FolkloreSketch {
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("discarded", vec![self.sketch.discarded()])]
    }
}

state! { FolkloreSketch; sketch; number slack, count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::folklore::Folklore;
    use crate::loss::logistic::sigmoid;
    use crate::testing::{assert_all_close, assert_close, plays, unit_rows};

    fn learner(params: FolkloreSketchParams, classes: usize, features: usize) -> FolkloreSketch {
        FolkloreSketch::new(params, Problem::new(classes, features), 0).expect("valid parameters")
    }

    /// K = 2, d = 1, x = 1, λ = 3/4, γ = 1/2, B = 1, m = 1.
    ///
    /// Round 1, y = 0: p = ½ each and z = 0, so that s = ½, G = (-½, ½) and S has the row √(γs) = ½. (4) is
    /// λKB² + 0 + ¼·½/(λ + ¼) = 3/2 + 1/8. Round 2: ã = ½, h = ∓½, so that the difference D of the logits
    /// solves D = ½ - ½(σ(D) - σ(-D)) = ½ - ½tanh(D/2).
    #[test]
    fn two_rounds_by_hand() {
        let params = FolkloreSketchParams::new()
            .rank(1)
            .norm(1.0)
            .regularization(0.75)
            .curvature(Curvature::Value(0.5));
        let mut learner = learner(params, 2, 1);
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[1.0]), &mut at);
        assert_eq!((&at.scores[..], &at.probabilities[..]), (&[0.0; 2][..], &[0.5; 2][..]));
        learner.update(Features::Dense(&[1.0]), Target::class(0), &at);
        let certificate = 1.5 + learner.slack + 0.25 * learner.sketch.square();
        assert_close(certificate, 1.625, 1e-15, "certificate");
        learner.predict(Features::Dense(&[1.0]), &mut at);
        let difference = at.scores[0] - at.scores[1];
        assert_close(difference + 0.5 * (0.5 * difference).tanh(), 0.5, 1e-15, "D");
        assert_close(at.probabilities[0], sigmoid(difference), 1e-15, "p");
        // The second row fills the sketch of 2m = 2 rows; both have one direction, so that nothing is lost.
        learner.update(Features::Dense(&[1.0]), Target::class(0), &at);
        assert_eq!((learner.sketch.used(), learner.sketch.discarded()), (1, 0.0));
    }

    /// For two classes and as many rows as features the sketch is exact, and the learner is FOLKLORE, with
    /// its certificate; for `least` as for `mean`.
    #[test]
    fn is_folklore_for_two_classes_and_full_rank() {
        for eigenvalue in [Eigenvalue::Mean, Eigenvalue::Least] {
            let params = FolkloreSketchParams::new().rank(3).eigenvalue(eigenvalue).norm(4.0);
            let mut sketched = learner(params, 2, 3);
            let exact = FolkloreParams::new().norm(4.0);
            let mut exact = Folklore::build(exact, Problem::new(2, 3), 0).expect("valid");
            let (got, want) = (plays(&mut sketched, 200), plays(&mut exact, 200));
            assert_all_close(&got.concat(), &want.concat(), 1e-10, "p");
            let certificates = (sketched.certificate(), exact.certificate());
            let (Some(Ok(got)), Some(Ok(want))) = certificates else { panic!("{certificates:?}") };
            assert_close(got, want, 1e-9, "certificate");
        }
    }

    /// Correlated rows in 40 dimensions, near 4 directions: a sketch of rank 5 forecasts nearly as the exact
    /// matrix does, one of rank 1 does not.
    #[test]
    fn a_small_rank_suffices_for_few_directions() {
        let (k, d) = (3, 40);
        let directions = unit_rows(1, 4, d);
        let rows: Vec<Vec<f64>> = (unit_rows(2, 300, 4).into_iter().zip(unit_rows(3, 300, d)))
            .map(|(mix, noise)| {
                let sum = |i: usize| mix.iter().zip(&directions).map(|(m, u)| m * u[i]).sum::<f64>();
                (0..d).map(|i| 0.9 * sum(i) + 0.02 * noise[i]).collect()
            })
            .collect();
        let forecasts = |rank: u64| -> Vec<f64> {
            let params = FolkloreSketchParams::new().rank(rank).norm(10.0);
            let mut learner = learner(params, k, d);
            let mut at = learner.prediction();
            let mut all = Vec::new();
            for x in &rows {
                learner.predict(Features::Dense(x), &mut at);
                all.extend_from_slice(&at.probabilities);
                let label = usize::from(x[0] > 0.0) + usize::from(x[1] > 0.0);
                learner.update(Features::Dense(x), Target::class(label), &at);
            }
            all
        };
        let exact = forecasts(40);
        let distance = |rank: u64| {
            let pairs = forecasts(rank).into_iter().zip(&exact);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (five, one) = (distance(5), distance(1));
        assert!(five < 0.02 && one > 0.05, "{five}, {one}");
    }
}
