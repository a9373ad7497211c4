//! FOLKLOREs that share one matrix (theory: mixtures 2.3).
//!
//! A FOLKLORE with regularization $\lambda$ and curvature $\gamma$ keeps $A = \lambda I + \gamma \sum S
//! \otimes xx^\top$. If the curvatures $S$ are taken at the probabilities of the whole family instead of each
//! one's own, members of one ratio $\rho = \lambda/\gamma$ have $A = \gamma H$ with the same
//!
//! $$ H = \rho I + \sum_t S(\bar p_t) \otimes x_t x_t^\top, $$
//!
//! so that any number of them costs little more than one: each has a linear term $G$ and solves its own inner
//! problem. Their surrogates touch the loss at their own scores, as in FOLKLORE. (They need not be lower
//! bounds: a member is a forecaster without theorem. The mixture's is about its members as they are.)
//!
//! With `shared`, $S$ is replaced by $s\ \Pi$ of the same trace, $s = (1 - \lVert \bar p \rVert^2)/(K-1)$,
//! and $H = I \otimes M$ with one matrix of $d \times d$ for all classes: $O(d^2 + Kd)$ a round instead of
//! $O(K^3 d^2)$.
//!
//! With `forgetting` $\delta$ all of $H - \rho I$ and $G$ shrink by $(1-\delta)^m$ after every $m$ rounds, at
//! the cost of two inversions (theory: extensions 6.2).

use crate::example::{Batch, Features, Target};
use crate::kernel::basis::LogitBasis;
use crate::kernel::diagonal_fixed_point;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::{Lesson, SecondOrder};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::parallel::Workers;
use crate::prediction::{Prediction, PreparedRow};
use crate::state::{State, Tensor};

use super::expansion::Expansion;
use super::member::Member;

/// A surrogate touches the loss at logits within ± this: at its own $S$ a FOLKLORE's larger ones would not
/// matter, at the family's they would take over after a huge row.
const LARGEST: f64 = 50.0;

/// Rounds between two times of forgetting.
pub(super) const EVERY: u64 = 64;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Family {
    classes: usize,
    /// Of a row as it comes.
    features: usize,
    expansion: Expansion,
    shared: bool,
    /// $\rho$.
    ratio: f64,
    /// $\delta$.
    forgetting: f64,
    /// $\gamma$ of each member.
    curvatures: Vec<f64>,
    /// For the coordinates of matrices of all classes.
    reduced: FixedPoint,
    inner: FixedPoint,
    /// $H^{-1}$ and $G$ of each member, in the coordinates of [`LogitBasis`]; or $M^{-1}$ and, class by
    /// class, the rows of every member's $G$.
    state: SecondOrder,
    rounds: u64,
    spare: Vec<f64>,
    work: Vec<f64>,
    ahead: Vec<f64>,
}

/// Rows after expansion.
struct Expanded<'a> {
    rows: &'a [f64],
    features: usize,
}

impl Batch for Expanded<'_> {
    fn len(&self) -> usize {
        self.rows.len() / self.features
    }

    fn features(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[at * self.features..][..self.features])
    }
}

impl Family {
    pub(super) fn new(
        classes: usize,
        features: usize,
        expansion: Expansion,
        shared: bool,
        (ratio, forgetting): (f64, f64),
        curvatures: &[f64],
    ) -> Self {
        let (blocks, vectors) = Self::shape(classes, shared, curvatures.len());
        let smallest = curvatures.iter().copied().fold(f64::INFINITY, f64::min);
        // Of all classes' N, the members see N/(2γ).
        let sharpness = if shared { 1.0 } else { 0.5 / smallest };
        let wide = expansion.features(features);
        let mut family = Self {
            classes,
            features,
            expansion,
            shared,
            ratio,
            forgetting,
            curvatures: curvatures.to_vec(),
            reduced: FixedPoint::reduced(LogitBasis::new(classes)),
            inner: FixedPoint::full(classes),
            state: SecondOrder::with_vectors(blocks, wide, ratio, vectors, sharpness),
            rounds: 0,
            spare: Vec::new(),
            work: Vec::new(),
            ahead: Vec::new(),
        };
        family.make_room();
        family
    }

    /// Blocks of the matrix, and vectors beside it.
    fn shape(classes: usize, shared: bool, heads: usize) -> (usize, usize) {
        if shared { (1, classes * heads) } else { (classes - 1, heads) }
    }

    /// Numbers of state for such a family.
    pub(super) fn numbers(classes: usize, wide: usize, shared: bool, heads: usize) -> usize {
        let blocks = if shared { 1 } else { classes - 1 };
        let gradients = heads.saturating_mul(classes).saturating_mul(wide);
        SecondOrder::numbers(blocks, wide).saturating_add(gradients)
    }

    /// Features after expansion.
    fn wide(&self) -> usize {
        self.expansion.features(self.features)
    }

    /// Numbers of an expanded row, behind which the by-products of the state stand.
    fn room(&self) -> usize {
        self.expansion.room(self.features)
    }

    fn scratch_len(&self) -> usize {
        let k = self.classes;
        let solve = self.inner.scratch_len().max(diagonal_fixed_point::scratch_len(k));
        self.room() + self.state.scratch_len() + 3 * k * k + 3 * k + solve
    }

    fn make_room(&mut self) {
        let (k, heads) = (self.classes, self.curvatures.len());
        self.spare = vec![0.0; self.scratch_len()];
        self.work = vec![0.0; 3 * k + k * heads + 3 * k * k];
        self.ahead = vec![0.0; self.state.lookahead() * self.room()];
    }

    /// Writes as many of the expanded rows to `ahead` as can be prepared. Returns how many numbers these are.
    fn expand(&mut self, coming: &dyn Batch) -> usize {
        let wide = self.room();
        let len = coming.len().min(self.state.lookahead());
        for (at, row) in self.ahead.chunks_exact_mut(wide).take(len).enumerate() {
            self.expansion.apply(coming.features(at), row);
        }
        len * wide
    }

    /// Writes the expanded row and the state's by-products of it to the head of `scratch`, and returns where
    /// these come from.
    fn project(&self, x: Features<'_>, scratch: &mut [f64]) -> Option<PreparedRow> {
        let (row, rest) = scratch.split_at_mut(self.room());
        let x = self.expansion.apply(x, row);
        self.state.project(x, rest).prepared
    }

    /// The forecasts with one matrix of all classes. $\tilde A = N/(2\gamma)$, and $z = g - \tilde A
    /// \sigma(z)$ with $g = -h/(2\gamma) + \mathrm{diag}(\tilde A)/2$, where $h = (I \otimes x)^\top H^{-1}
    /// G$; in all $K$ logits, of sum 0.
    fn forecast(&self, gram: &[f64], image: &[f64], rest: &mut [f64], heads: &mut [Prediction]) {
        let k = self.classes;
        let rest = &mut { rest };
        let (n, a) = (take(rest, k * k), take(rest, k * k));
        let (g, guess) = (take(rest, k), take(rest, k));
        let basis = self.reduced.basis().expect("it is reduced");
        basis.expand_symmetric(gram, n, a);
        let mean = n.iter().step_by(k + 1).sum::<f64>() / k as f64;
        guess.fill(1.0 / k as f64);
        for ((at, gamma), h) in heads.iter_mut().zip(&self.curvatures).zip(image.chunks_exact(k - 1)) {
            let scale = 0.5 / gamma;
            a.iter_mut().zip(&*n).for_each(|(a, n)| *a = scale * n);
            basis.expand(h, g);
            for (g, n) in g.iter_mut().zip(n.iter().step_by(k + 1)) {
                *g = scale * (0.5 * (n - mean) - *g);
            }
            // A member's neighbour is not far from it.
            self.inner.solve_from(a, g, &mut at.scores, guess, rest);
            at.probabilities.copy_from_slice(guess);
        }
    }

    /// The forecasts with one matrix for every class.
    fn forecast_shared(&self, gram: f64, image: &[f64], rest: &mut [f64], heads: &mut [Prediction]) {
        let rest = &mut { rest };
        let (a, g) = (take(rest, self.classes), take(rest, self.classes));
        for (head, gamma) in self.curvatures.iter().enumerate() {
            let (before, at) = heads.split_at_mut(head);
            let (near, at) = (before.last().map(|near| &near.probabilities[..]), &mut at[0]);
            let scale = 0.5 / gamma;
            a.fill(scale * gram);
            for (g, h) in g.iter_mut().zip(image.iter().skip(head).step_by(self.curvatures.len())) {
                *g = scale * (0.5 * gram - h);
            }
            diagonal_fixed_point::solve_single(a, g, near, &mut at.scores, &mut at.probabilities, rest);
        }
    }

    /// Writes $c$ of every vector: $G \mathrel{+}= (p - y - 2\gamma Sz) \otimes x$.
    fn slopes(&self, y: Target<'_>, at: &Prediction, spread: f64, work: &mut [f64], out: &mut [f64]) {
        let (k, heads) = (self.classes, self.curvatures.len());
        let work = &mut { work };
        let (residual, curved, bounded) = (take(work, k), take(work, k), take(work, k));
        for (head, (own, gamma)) in at.members.iter().zip(&self.curvatures).enumerate() {
            residual.copy_from_slice(&own.probabilities);
            y.truth.subtract_from(residual);
            let shift = if self.shared { own.scores.iter().sum::<f64>() / k as f64 } else { 0.0 };
            for (bounded, z) in bounded.iter_mut().zip(&own.scores) {
                *bounded = (z - shift).clamp(-LARGEST, LARGEST);
            }
            if self.shared {
                curved.iter_mut().zip(&*bounded).for_each(|(curved, z)| *curved = spread * z);
            } else {
                covariance_times(&at.probabilities, bounded, curved);
            }
            for (residual, curved) in residual.iter_mut().zip(&*curved) {
                *residual = y.weight * (*residual - 2.0 * gamma * curved);
            }
            if self.shared {
                for (out, residual) in out.iter_mut().skip(head).step_by(heads).zip(&*residual) {
                    *out = *residual;
                }
            } else {
                self.reduced.reduce(residual, &mut out[head * (k - 1)..][..k - 1]);
            }
        }
    }

    /// Writes $M = C' L^{-\top}$ with $LL^\top = I + C'^\top N C'$ to `mix`, where $C'C'^\top = S$ in the
    /// reduced coordinates.
    fn mix(&self, p: &[f64], weight: f64, gram: &[f64], work: &mut [f64], mix: &mut [f64]) {
        let (k, q) = (self.classes, self.classes - 1);
        let work = &mut { work };
        let (tails, column) = (take(work, k), take(work, k));
        let (image, system) = (take(work, q * q), take(work, q * q));
        self.reduced.covariance_factor(p, mix, tails, column);
        mix.iter_mut().for_each(|c| *c *= weight.sqrt());
        let c = columns(mix, q, q);
        product(columns_mut(image, q, q), Store::Replace, 1.0, columns(gram, q, q), c);
        product(columns_mut(system, q, q), Store::Replace, 1.0, c.transpose(), columns(image, q, q));
        system.iter_mut().step_by(q + 1).for_each(|diagonal| *diagonal += 1.0);
        let definite = linalg::cholesky(system, q);
        debug_assert!(definite, "I + C'ᵀNC' has eigenvalues >= 1");
        linalg::divide_by_transposed_lower(mix, q, system, q);
    }
}

impl Member for Family {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); self.curvatures.len()];
        Prediction { members, ..Prediction::sized(self.classes, self.scratch_len()) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scratch, stamp, prepared, members, .. } = out;
        let (row, rest) = scratch.split_at_mut(self.room());
        let (by_products, rest) = rest.split_at_mut(self.state.scratch_len());
        let x = self.expansion.apply(x, row);
        let projection = self.state.project(x, by_products);
        *prepared = projection.prepared;
        if self.shared {
            self.forecast_shared(projection.gram[0], projection.image, rest, members);
        } else {
            self.forecast(projection.gram, projection.image, rest, members);
        }
        *stamp = Some(self.rounds);
    }

    fn foresee(&self, rows: &dyn Batch) -> Vec<f64> {
        let wide = self.wide();
        let mut expanded = vec![0.0; rows.len() * wide];
        for (at, room) in expanded.chunks_exact_mut(wide).enumerate() {
            if let Expansion::Plain = self.expansion {
                rows.features(at).add_to(1.0, room);
            } else {
                self.expansion.apply(rows.features(at), room);
            }
        }
        let mut foreseen = vec![0.0; rows.len() * self.state.foreseen_len()];
        self.state.project_many(&expanded, &mut foreseen);
        foreseen
    }

    fn predict_foreseen(&self, _: Features<'_>, foreseen: &[f64], out: &mut Prediction) {
        let Prediction { scratch, stamp, members, .. } = out;
        let rest = &mut scratch[self.room() + self.state.scratch_len()..];
        let blocks = if self.shared { 1 } else { self.classes - 1 };
        let (gram, image) = foreseen.split_at(blocks * blocks);
        if self.shared {
            self.forecast_shared(gram[0], image, rest, members);
        } else {
            self.forecast(gram, image, rest, members);
        }
        *stamp = None;
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (k, room) = (self.classes, self.room());
        let (mut spare, mut work) = (std::mem::take(&mut self.spare), std::mem::take(&mut self.work));
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == spare.len();
        let (scratch, prepared) = if fresh && self.state.can_reuse(at.prepared) {
            (&at.scratch, at.prepared)
        } else {
            let prepared = self.project(x, &mut spare);
            (&spare, prepared)
        };
        let (row, by_products) = scratch.split_at(room);
        let x = if row.is_empty() { x } else { Features::Dense(row) };

        let p = &at.probabilities;
        let gram = self.state.gram(by_products);
        let rest = &mut &mut work[..];
        let (blocks, vectors) = Self::shape(k, self.shared, self.curvatures.len());
        let (coefficients, mix) = (take(rest, blocks * vectors), take(rest, blocks * blocks));
        let spread = ((1.0 - dot(p, p)) / (k - 1) as f64).max(0.0);
        self.slopes(y, at, spread, rest, coefficients);
        if self.shared {
            let weight = y.weight * spread;
            mix[0] = (weight / (1.0 + weight * gram[0])).sqrt();
        } else {
            self.mix(p, y.weight, gram, rest, mix);
        }
        self.state.absorb(x, by_products, prepared, Lesson { coefficients, mix });
        self.rounds += 1;
        (self.spare, self.work) = (spare, work);
        if self.forgetting > 0.0 && self.rounds.is_multiple_of(EVERY) {
            self.state.discount((1.0 - self.forgetting).powi(EVERY as i32), self.ratio);
        }
    }

    fn lookahead(&self) -> usize {
        self.state.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        if self.room() == 0 {
            return self.state.prepare(coming);
        }
        let len = self.expand(coming);
        self.state.prepare(&Expanded { rows: &self.ahead[..len], features: self.room() });
    }

    fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        if self.room() == 0 {
            return self.state.prepare_rest(at, coming);
        }
        let len = self.expand(coming);
        self.state.prepare_rest(at, &Expanded { rows: &self.ahead[..len], features: self.room() });
    }

    fn set_workers(&mut self, workers: &Workers) {
        self.state.set_workers(workers.clone());
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes != self.classes {
            self.reduced = FixedPoint::reduced(LogitBasis::new(classes));
            self.inner = FixedPoint::full(classes);
        }
        (self.classes, self.features) = (classes, features);
        self.expansion.grow(features);
        let (blocks, vectors) = Self::shape(classes, self.shared, self.curvatures.len());
        self.state.grow_vectors(blocks, self.wide(), self.ratio, vectors);
        self.make_room();
        true
    }

    /// $H$ is exactly the sum of the same curvatures; gradients keep the scores at which they were taken.
    fn neighbour(&self, ratio: f64) -> Option<Box<dyn Member>> {
        let mut other = self.clone();
        other.ratio = ratio;
        other.state.shift(ratio - self.ratio).then(|| -> Box<dyn Member> { Box::new(other) })
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Family {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.state.tensors("gradients");
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.state.restored()
    }
}

#[cfg(test)]
mod tests;
