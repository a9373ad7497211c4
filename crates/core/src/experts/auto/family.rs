//! FOLKLORE learners that share one matrix (theory: mixtures 2.3).
//!
//! A FOLKLORE learner with regularization $\lambda$ and curvature $\gamma$ keeps $A = \lambda I + \gamma \sum
//! S \otimes xx^\top$. If the curvatures $S$ are taken at the forecast $\bar p_t$ of the whole family instead
//! of each learner's own, all learners with the same ratio $\rho = \lambda/\gamma$ have $A = \gamma H$ with
//! the same
//!
//! $$ H = \rho I + \sum_t S(\bar p_t) \otimes x_t x_t^\top, \tag{1} $$
//!
//! so that several heads cost little more than one: each has its own linear term $G$ and solves its own inner
//! problem. As in FOLKLORE, a head's surrogate touches the loss at the head's own scores. (The surrogates
//! need not be lower bounds, so that a head has no theorem of its own. The mixture's theorem is about the
//! heads' losses, whatever they are.)
//!
//! In a round, with $N = (I \otimes x)^\top H^{-1} (I \otimes x)$, each head forecasts $p = \sigma(z)$ and
//! updates $G$:
//!
//! $$ z = g - \tilde A \sigma(z), \qquad \tilde A = N/(2\gamma), \tag{2} $$
//! $$ g = -\tfrac1{2\gamma} (I \otimes x)^\top H^{-1} G + \tfrac12 \mathrm{diag}(\tilde A), \tag{3} $$
//! $$ G \mathrel{+}= (p - y - 2\gamma S(\bar p)\ z) \otimes x. \tag{4} $$
//!
//! With `shared`, $S$ is replaced by $s\ \Pi$ of the same trace, $s = (1 - \lVert \bar p \rVert^2)/(K-1)$,
//! and $H = I \otimes M$ with one matrix of $d \times d$ for all classes: $O(d^2 + Kd)$ a round instead of
//! $O(K^3 d^2)$.
//!
//! If only the reward of one class was revealed (bandit feedback), $p - y$ is replaced by the gradient of
//! that loss, and $S$ is multiplied by the information in it, relative to that in a label.
//!
//! With `forgetting` $\delta$, $H - \rho I$ and $G$ are multiplied by $(1-\delta)^m$ after every $m$ rounds,
//! at the cost of two inversions (theory: extensions 6.2).

use crate::example::{Batch, Features, Target};
use crate::kernel::basis::LogitBasis;
use crate::kernel::diagonal_fixed_point::{
    self,
    rows::{Problems, ROWS, solve_rows},
};
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::second_order::{RoundUpdate, SecondOrder};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::loss::heavy;
use crate::parallel::Workers;
use crate::prediction::{Prediction, PreparedRow};
use crate::state::{State, Tensor};

use super::expansion::Expansion;
use super::member::Member;

pub(super) mod kind;

/// Logits are clipped to ± this before the surrogate is taken at them. With its own $S$ as in FOLKLORE,
/// larger logits have no effect; with the family's $S$, they would dominate after a huge row.
const LARGEST: f64 = 50.0;

/// Number of rounds between two shrinkings of the matrix, $m$ above.
const EVERY: u64 = 64;

/// See the [module](self).
#[derive(Clone, Debug)]
struct Family {
    classes: usize,
    /// Number of features before expansion.
    features: usize,
    expansion: Expansion,
    shared: bool,
    /// $\rho$.
    ratio: f64,
    /// $\delta$.
    forgetting: f64,
    /// $\gamma$ of each head.
    curvatures: Vec<f64>,
    /// For matrices with one block for every pair of classes.
    reduced: FixedPoint,
    inner: FixedPoint,
    /// $H^{-1}$ and $G$ of each head, in the coordinates of [`LogitBasis`]; with `shared`, $M^{-1}$ and,
    /// class by class, the rows of every head's $G$.
    state: SecondOrder,
    rounds: u64,
    /// For rounds whose predictions were made before the last one; made by the first of them.
    spare: Vec<f64>,
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
    /// The announced rows if they are dense, and their expansions.
    announced: Vec<f64>,
    expansions: Vec<f64>,
    /// The first announced row that was not learnt yet.
    next: usize,
}

/// A batch of expanded rows.
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
    fn new(
        classes: usize,
        features: usize,
        expansion: Expansion,
        shared: bool,
        (ratio, forgetting): (f64, f64),
        curvatures: &[f64],
    ) -> Self {
        let (blocks, vectors) = Self::shape(classes, shared, curvatures.len());
        let smallest = curvatures.iter().copied().fold(f64::INFINITY, f64::min);
        // The inner problems use N/(2γ), where N is that of all classes.
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
            ahead: Prediction::default(),
            announced: Vec::new(),
            expansions: Vec::new(),
            next: 0,
        };
        family.make_room();
        family
    }

    /// The number of blocks in a row of the matrix, and of vectors beside it.
    fn shape(classes: usize, shared: bool, heads: usize) -> (usize, usize) {
        if shared { (1, classes * heads) } else { (classes - 1, heads) }
    }

    /// 8-byte numbers of state; `wide` is the number of features after expansion.
    fn numbers(classes: usize, wide: usize, shared: bool, heads: usize) -> usize {
        let blocks = if shared { 1 } else { classes - 1 };
        let gradients = heads.saturating_mul(classes).saturating_mul(wide);
        SecondOrder::numbers(blocks, wide).saturating_add(gradients)
    }

    /// Number of features after expansion.
    fn wide(&self) -> usize {
        self.expansion.features(self.features)
    }

    /// Length of an expanded row in the scratch memory, which is followed by the by-products of `state`.
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
        self.spare = Vec::new();
        self.work = vec![0.0; 3 * k + k * heads + 3 * k * k];
        self.expansions = Vec::new();
        self.announced.clear();
    }

    /// Writes the expansions of the announced rows to `expansions`, as many as can be prepared. Returns how
    /// many numbers were written.
    fn expand(&mut self, announced: &dyn Batch) -> usize {
        let wide = self.room();
        let len = announced.len().min(self.state.lookahead());
        // Where rows come one by one, none are announced, and this memory is never made.
        self.expansions.resize(self.state.lookahead() * wide, 0.0);
        self.announced.clear();
        self.next = 0;
        for (at, row) in self.expansions.chunks_exact_mut(wide).take(len).enumerate() {
            let x = announced.features(at);
            self.expansion.apply(x, row);
            match x {
                Features::Dense(x) if self.announced.len() == at * self.features => {
                    self.announced.extend_from_slice(x);
                }
                _ => {}
            }
        }
        len * wide
    }

    /// The position of `x` among the announced rows that were not learnt yet.
    fn announced(&self, x: Features<'_>) -> Option<usize> {
        let Features::Dense(x) = x else { return None };
        let rows = self.announced.chunks_exact(self.features);
        rows.enumerate().skip(self.next).find(|(_, row)| *row == x).map(|(at, _)| at)
    }

    /// The expanded row, in `room`: copied if the row was announced.
    fn expanded<'a>(&self, x: Features<'a>, room: &'a mut [f64]) -> Features<'a> {
        match self.announced(x) {
            Some(at) if !room.is_empty() => {
                room.copy_from_slice(&self.expansions[at * room.len()..][..room.len()]);
                Features::Dense(room)
            }
            _ => self.expansion.apply(x, room),
        }
    }

    /// Writes the expanded row and its by-products to `scratch`, and returns the prepared row that these are
    /// taken from, if any.
    fn project(&self, x: Features<'_>, scratch: &mut [f64]) -> Option<PreparedRow> {
        let (row, rest) = scratch.split_at_mut(self.room());
        let x = self.expanded(x, row);
        self.state.project(x, rest).prepared
    }

    /// The forecasts with a matrix over all classes: (2) and (3), for all $K$ logits, which sum to 0.
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
            a.iter_mut().zip(&*n).for_each(|(a, n)| *a = scale * n); // eq. (2)
            basis.expand(h, g);
            for (g, n) in g.iter_mut().zip(n.iter().step_by(k + 1)) {
                *g = scale * (0.5 * (n - mean) - *g); // eq. (3)
            }
            // The solution of one head is a good starting point for the next one.
            self.inner.solve_from(a, g, &mut at.scores, guess, rest); // eq. (2)
            at.probabilities.copy_from_slice(guess);
        }
    }

    /// The forecasts with one matrix of $d$ rows for all classes.
    fn forecast_shared(&self, gram: f64, image: &[f64], rest: &mut [f64], heads: &mut [Prediction]) {
        let rest = &mut { rest };
        let (a, g) = (take(rest, self.classes), take(rest, self.classes));
        for (head, gamma) in self.curvatures.iter().enumerate() {
            let (before, at) = heads.split_at_mut(head);
            let (near, at) = (before.last().map(|near| &near.probabilities[..]), &mut at[0]);
            let scale = 0.5 / gamma;
            a.fill(scale * gram); // eq. (2)
            for (g, h) in g.iter_mut().zip(image.iter().skip(head).step_by(self.curvatures.len())) {
                *g = scale * (0.5 * gram - h); // eq. (3)
            }
            diagonal_fixed_point::solve_single(a, g, near, &mut at.scores, &mut at.probabilities, rest);
        }
    }

    /// [`Family::forecast_shared`] of many rows, whose $N$ and $h$ are in `projected`, one row after another:
    /// for each row, the probabilities of every head.
    fn forecast_rows(&self, projected: &[f64]) -> Vec<f64> {
        let (k, heads) = (self.classes, self.curvatures.len());
        let (len, own) = (self.state.foreseen_len(), heads * k);
        let mut forecasts = vec![0.0; projected.len() / len * own];
        let list = || vec![[0.0; ROWS]; k];
        let (mut a, mut g, mut p, mut near) = ([0.0; ROWS], list(), list(), list());
        let mut scratch = vec![[0.0; ROWS]; 3 * k];
        let mut spare = vec![0.0; 3 * k + diagonal_fixed_point::scratch_len(k)];
        for (rows, out) in projected.chunks(ROWS * len).zip(forecasts.chunks_mut(ROWS * own)) {
            for (head, gamma) in self.curvatures.iter().enumerate() {
                let scale = 0.5 / gamma;
                for (row, projected) in rows.chunks_exact(len).enumerate() {
                    let (gram, image) = (projected[0], &projected[1..]);
                    a[row] = scale * gram; // eq. (2)
                    for (g, h) in g.iter_mut().zip(image.iter().skip(head).step_by(heads)) {
                        g[row] = scale * (0.5 * gram - h); // eq. (3)
                    }
                }
                let problems = Problems { a: &a, g: &g, near: (head > 0).then_some(&near) };
                let solved = solve_rows(problems, &mut p, &mut scratch);
                for (row, out) in out.chunks_exact_mut(own).enumerate() {
                    let (before, own) = out[..k * (head + 1)].split_at_mut(k * head);
                    if !solved[row] {
                        let rest = &mut &mut spare[..];
                        let (matrix, linear, scores) = (take(rest, k), take(rest, k), take(rest, k));
                        matrix.fill(a[row]);
                        linear.iter_mut().zip(&g).for_each(|(linear, g)| *linear = g[row]);
                        let near = before.rchunks_exact(k).next();
                        diagonal_fixed_point::solve_single(matrix, linear, near, scores, own, rest);
                        p.iter_mut().zip(&*own).for_each(|(p, own)| p[row] = *own);
                    }
                    own.iter_mut().zip(&p).for_each(|(own, p)| *own = p[row]);
                }
                std::mem::swap(&mut p, &mut near);
            }
        }
        forecasts
    }

    /// Writes to `out` the forecasts at which a round of weight above 1 is linearised.
    fn write_ahead<'a>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        gram: &[f64],
        out: &'a mut Prediction,
    ) -> &'a Prediction {
        heavy::heads(at, out, |head, own, out| {
            let scale = 0.5 / self.curvatures[head];
            if self.shared {
                heavy::diagonal(|a| a.fill(scale * gram[0]), y, own, out);
            } else {
                let write = |a: &mut [f64]| a.iter_mut().zip(gram).for_each(|(a, n)| *a = scale * n);
                heavy::matrix(&self.reduced, write, y, own, out);
            }
        })
    }

    /// Writes the coefficients of (4), $p - y - 2\gamma S(\bar p)\ z$, to `out`, for every head.
    fn slopes(&self, y: Target<'_>, at: &Prediction, spread: f64, work: &mut [f64], out: &mut [f64]) {
        let (k, heads) = (self.classes, self.curvatures.len());
        let work = &mut { work };
        let (residual, curved, bounded) = (take(work, k), take(work, k), take(work, k));
        for (head, (own, gamma)) in at.members.iter().zip(&self.curvatures).enumerate() {
            residual.copy_from_slice(&own.probabilities);
            y.residual(residual);
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
                *residual = y.weight * (*residual - 2.0 * gamma * y.information() * curved); // eq. (4)
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

    /// Writes $M = C' L^{-\top}$ to `mix`, where $C'C'^\top = S$ in the reduced coordinates and $LL^\top = I
    /// + C'^\top N C'$.
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
        let x = self.expanded(x, row);
        let projection = self.state.project(x, by_products);
        *prepared = projection.prepared;
        if self.shared {
            self.forecast_shared(projection.gram[0], projection.image, rest, members);
        } else {
            self.forecast(projection.gram, projection.image, rest, members);
        }
        *stamp = Some(self.rounds);
    }

    fn batch(&self, rows: &dyn Batch) -> Vec<f64> {
        let mut numbers = vec![0.0; rows.len() * self.state.foreseen_len()];
        let expand = |at, room: &mut [f64]| {
            if let Expansion::Plain = self.expansion {
                rows.features(at).add_to(1.0, room);
            } else {
                self.expansion.apply(rows.features(at), room);
            }
        };
        self.state.project_many(expand, &mut numbers);
        if self.shared { self.forecast_rows(&numbers) } else { numbers }
    }

    fn predict_in_batch(&self, _: Features<'_>, numbers: &[f64], out: &mut Prediction) {
        let Prediction { scratch, stamp, members, .. } = out;
        if self.shared {
            for (at, own) in members.iter_mut().zip(numbers.chunks_exact(self.classes)) {
                at.probabilities.copy_from_slice(own);
            }
        } else {
            let rest = &mut scratch[self.room() + self.state.scratch_len()..];
            let (gram, image) = numbers.split_at((self.classes - 1).pow(2));
            self.forecast(gram, image, rest, members);
        }
        *stamp = None;
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (k, room) = (self.classes, self.room());
        let learnt = self.announced(x);
        let (mut spare, mut work) = (std::mem::take(&mut self.spare), std::mem::take(&mut self.work));
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == self.scratch_len();
        let (scratch, prepared) = if fresh && self.state.can_reuse(at.prepared) {
            (&at.scratch, at.prepared)
        } else {
            spare.resize(self.scratch_len(), 0.0);
            let prepared = self.project(x, &mut spare);
            (&spare, prepared)
        };
        let (row, by_products) = scratch.split_at(room);
        let x = if row.is_empty() { x } else { Features::Dense(row) };

        let gram = self.state.gram(by_products);
        let mut ahead = std::mem::take(&mut self.ahead);
        let at = if y.weight > 1.0 { self.write_ahead(y, at, gram, &mut ahead) } else { at };
        let p = &at.probabilities;
        let rest = &mut &mut work[..];
        let (blocks, vectors) = Self::shape(k, self.shared, self.curvatures.len());
        let (coefficients, mix) = (take(rest, blocks * vectors), take(rest, blocks * blocks));
        let spread = ((1.0 - dot(p, p)) / (k - 1) as f64).max(0.0);
        self.slopes(y, at, spread, rest, coefficients);
        if self.shared {
            let weight = y.curvature() * spread;
            mix[0] = (weight / (1.0 + weight * gram[0])).sqrt();
        } else {
            self.mix(p, y.curvature(), gram, rest, mix);
        }
        self.state.absorb(x, by_products, prepared, RoundUpdate { coefficients, mix }); // eqs. (1), (4)
        self.rounds += 1;
        self.next = learnt.map_or(self.next, |at| at + 1);
        (self.spare, self.work, self.ahead) = (spare, work, ahead);
        if self.forgetting > 0.0 && self.rounds.is_multiple_of(EVERY) {
            self.state.discount((1.0 - self.forgetting).powi(EVERY as i32), self.ratio);
        }
    }

    fn lookahead(&self) -> usize {
        self.state.lookahead()
    }

    fn prepare(&mut self, announced: &dyn Batch) {
        if self.room() == 0 {
            return self.state.prepare(announced);
        }
        let len = self.expand(announced);
        self.state.prepare(&Expanded { rows: &self.expansions[..len], features: self.room() });
    }

    fn prepare_rest(&mut self, at: usize, announced: &dyn Batch) {
        if self.room() == 0 {
            return self.state.prepare_rest(at, announced);
        }
        let len = self.expand(announced);
        self.state.prepare_rest(at, &Expanded { rows: &self.expansions[..len], features: self.room() });
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

    /// $H$ is exactly what it would be with this ratio; the gradients are those taken at the old ratio's
    /// scores.
    fn neighbour(&self, ratio: f64) -> Option<Box<dyn Member>> {
        let mut other = self.clone();
        other.ratio = ratio;
        other.state.shift(ratio - self.ratio).then(|| -> Box<dyn Member> { Box::new(other) })
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
