//! The state of learners with quadratic surrogates: $A^{-1}$, and one or several vectors $b$ that are updated
//! with the same rows.
//!
//! A round needs $N = (I \otimes x)^\top A^{-1} (I \otimes x)$ and $h = (I \otimes x)^\top A^{-1} b$, and
//! then updates $A^{-1} \leftarrow A^{-1} - FF^\top$ with $F = A^{-1} (I \otimes x)\ M$, and $b \leftarrow b
//! + c \otimes x$. Additional vectors $b$ with the same $A$ have their own $h$ and $c$, at little cost.
//!
//! Prepared rows are learnt in a `GramBlock`, which needs no vector of length $n$; others by
//! [`LowRankInverse`], one at a time. Both compute the same numbers up to rounding.

mod gram_block;

use std::borrow::Cow;

use gram_block::GramBlock;
pub use gram_block::RoundUpdate;

use super::linalg::{Store, columns, columns_mut, part, part_mut, product};
use super::lowrank_inverse::{LowRankInverse, is_semidefinite, subtract_square};
use super::vector::{NEGLIGIBLE, dot, shrink, take, widen};
use crate::example::{Batch, Features};
use crate::parallel::Workers;
use crate::state::Tensor;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SecondOrder {
    inverse: LowRankInverse,
    /// Number of vectors $b$, which are stored one after another.
    vectors: usize,
    /// In a block, the updates of its rows may be missing here: see [`SecondOrder::add_updates`].
    b: Vec<f64>,
    /// The largest factor by which the learner multiplies $N$, see [`SecondOrder::project`].
    sharpness: f64,
    block: GramBlock,
    /// While a block is in use: every $b$ at its beginning, and the updates of its rows, each preceded by the
    /// row index. The block is recomputed from these after loading. Empty otherwise.
    before: Vec<f64>,
    updates: Vec<f64>,
}

/// A prepared row from whose products a prediction's scratch memory was computed, for learners with a
/// second-order state.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparedRow {
    /// The number of the block of prepared rows.
    pub(crate) block: u64,
    /// The row's index in the block.
    pub(crate) at: usize,
}

/// By-products of a row, see [`SecondOrder::project`].
pub struct Projection<'a> {
    /// $N$, $q \times q$, exactly symmetric.
    pub gram: &'a mut [f64],
    /// $h$, $q$ numbers for every vector.
    pub image: &'a mut [f64],
    /// The prepared row from which the by-products were computed, to be passed on with them.
    pub prepared: Option<PreparedRow>,
}

impl SecondOrder {
    /// $A = \lambda I$ for `blocks` $= q$ blocks of `features` $= d$, with `regularization` $\lambda > 0$,
    /// and $b = 0$.
    pub fn new(blocks: usize, features: usize, regularization: f64) -> Self {
        Self::of(LowRankInverse::new(blocks, features, regularization, blocks), 1, 1.0)
    }

    /// As [`SecondOrder::new`], with `vectors` vectors, for a learner that multiplies $N$ by up to
    /// `sharpness`. Its matrices take no memory before there are rows.
    pub fn with_vectors(
        blocks: usize,
        features: usize,
        regularization: f64,
        vectors: usize,
        sharpness: f64,
    ) -> Self {
        let inverse = LowRankInverse::small_at_first(blocks, features, regularization, blocks);
        Self::of(inverse, vectors, sharpness)
    }

    fn of(inverse: LowRankInverse, vectors: usize, sharpness: f64) -> Self {
        Self {
            vectors,
            b: vec![0.0; vectors * inverse.side()],
            inverse,
            sharpness,
            block: GramBlock::default(),
            before: Vec::new(),
            updates: Vec::new(),
        }
    }

    /// 8-byte numbers of state for `blocks` blocks of `features`; the largest part is $n^2$.
    pub fn numbers(blocks: usize, features: usize) -> usize {
        LowRankInverse::numbers(blocks, features)
    }

    fn kept(&self) -> usize {
        let (n, q) = (self.inverse.side(), self.inverse.blocks());
        q * q + self.vectors * q + n * q
    }

    /// Length of the scratch memory of [`SecondOrder::project`].
    pub fn scratch_len(&self) -> usize {
        let q = self.inverse.blocks();
        self.kept() + self.inverse.scratch_len().max(2 * q * q * self.inverse.delayed())
    }

    /// Writes the quantities that depend on `x` and the state to the beginning of `scratch`: those that it
    /// returns, and those that [`SecondOrder::absorb`] reuses.
    ///
    /// All of them are 0 if $I + \kappa N$ is not positive definite because of rounding, where $\kappa$ is
    /// the learner's `sharpness`: this happens if $A$ is 10^16 times larger in some directions than in
    /// others, as after a huge row. For learners, zeros mean that $A$ is infinite in the direction of `x`.
    pub fn project<'a>(&self, x: Features<'_>, scratch: &'a mut [f64]) -> Projection<'a> {
        let (n, q) = (self.inverse.side(), self.inverse.blocks());
        let rest = &mut { scratch };
        let (gram, image) = (take(rest, q * q), take(rest, self.vectors * q));
        let y = take(rest, n * q);
        let rest = std::mem::take(rest);
        let mut prepared = None;
        match self.inverse.find(x).filter(|_| self.block.is_live()) {
            Some(at) => {
                self.block.project(at, self.inverse.next(), gram, image);
                prepared = Some(PreparedRow { block: self.block.serial(), at });
            }
            None => {
                self.inverse.columns(x, y, rest);
                if self.block.is_live() {
                    self.block.correct(x, self.inverse.prepared().1, self.inverse.next(), y, rest);
                }
                self.inverse.gram(x, y, gram);
                let b = self.vector();
                let image = columns_mut(image, q, self.vectors);
                let y = columns(y, n, q).transpose();
                product(image, Store::Replace, 1.0, y, columns(&b, n, self.vectors));
            }
        }
        if !is_semidefinite(gram, self.sharpness, &mut rest[..q * q]) {
            [&mut *gram, &mut *image, y].into_iter().for_each(|part| part.fill(0.0));
            prepared = None;
        }
        Projection { gram, image, prepared }
    }

    /// The number of numbers that [`SecondOrder::project_many`] writes for a row.
    pub fn foreseen_len(&self) -> usize {
        let q = self.inverse.blocks();
        q * q + self.vectors * q
    }

    /// Writes $N$ followed by $h$ for each of some rows, one after another, to `out`: the numbers of
    /// [`SecondOrder::project`], by wide products, for predictions that are not learnt. `row` is called with
    /// the number of a row and zeros, to which it adds the row.
    ///
    /// $h = (I \otimes x)^\top W$ with $W = A^{-1} b$, and of $A^{-1}$, which is symmetric, $N$ needs one
    /// triangle: neither needs $A^{-1} (I \otimes x)$.
    pub fn project_many(&self, row: impl Fn(usize, &mut [f64]) + Sync, out: &mut [f64]) {
        /// Number of rows that are computed at a time, by one thread.
        const AT_ONCE: usize = 128;
        let (n, q, d, vectors) =
            (self.inverse.side(), self.inverse.blocks(), self.inverse.features(), self.vectors);
        let len = self.foreseen_len();
        if out.len() / len <= vectors {
            // W would take longer than the rows one by one.
            let mut scratch = vec![0.0; self.scratch_len()];
            let mut x = vec![0.0; d];
            for (at, out) in out.chunks_exact_mut(len).enumerate() {
                x.fill(0.0);
                row(at, &mut x);
                let Projection { gram, image, .. } = self.project(Features::Dense(&x), &mut scratch);
                out[..q * q].copy_from_slice(gram);
                out[q * q..].copy_from_slice(image);
            }
            return;
        }
        // The updates that are still in the block.
        let learnt = if self.block.is_live() { self.inverse.next() * q } else { 0 };
        let mut f = vec![0.0; learnt * n];
        if learnt > 0 {
            self.block.columns(n, self.inverse.prepared().1, &mut f);
        }
        let b = self.vector();
        let mut w = vec![0.0; vectors * n];
        self.inverse.apply(&b, &mut w);
        subtract_square(&f, n, &b, &mut w);
        // The memory of W, interpreted as a d x (q vectors) matrix.
        let w = columns(&w, d, q * vectors);
        self.inverse.workers().each(out.chunks_mut(AT_ONCE * len).enumerate(), |(portion, out)| {
            let count = out.len() / len;
            // Written in portions, since few rows stay in the cache until they are multiplied.
            let mut rows = Vec::with_capacity(count * d);
            for at in 0..count {
                rows.resize((at + 1) * d, 0.0);
                row(portion * AT_ONCE + at, &mut rows[at * d..]);
            }
            let images = part_mut(&mut out[q * q..], len, q * vectors, count);
            product(images, Store::Replace, 1.0, w.transpose(), columns(&rows, d, count));
            self.inverse.forms(&rows, &f, out);
            let mut system = vec![0.0; q * q];
            for out in out.chunks_exact_mut(len) {
                if !is_semidefinite(&out[..q * q], self.sharpness, &mut system) {
                    out.fill(0.0);
                }
            }
        });
    }

    /// Calls `each` with the index, $N$ and $h$ of each of `rows`, in order: see
    /// [`SecondOrder::project_many`].
    pub fn project_batch(&self, rows: &dyn Batch, mut each: impl FnMut(usize, &[f64], &[f64])) {
        /// Number of rows that are computed at a time.
        const AT_ONCE: usize = 256;
        let (q, len) = (self.inverse.blocks(), self.foreseen_len());
        let mut foreseen = vec![0.0; rows.len().min(AT_ONCE) * len];
        for start in (0..rows.len()).step_by(AT_ONCE) {
            let foreseen = &mut foreseen[..AT_ONCE.min(rows.len() - start) * len];
            self.project_many(|at, row| rows.features(start + at).add_to(1.0, row), foreseen);
            for (at, foreseen) in foreseen.chunks_exact(len).enumerate() {
                let (gram, image) = foreseen.split_at(q * q);
                each(start + at, gram, image);
            }
        }
    }

    /// $N$ among the by-products of [`SecondOrder::project`].
    pub fn gram<'a>(&self, by_products: &'a [f64]) -> &'a [f64] {
        let q = self.inverse.blocks();
        &by_products[..q * q]
    }

    /// $h$ among the by-products of [`SecondOrder::project`].
    pub fn image<'a>(&self, by_products: &'a [f64]) -> &'a [f64] {
        let q = self.inverse.blocks();
        &by_products[q * q..][..self.vectors * q]
    }

    /// Whether by-products of [`SecondOrder::project`] can be given to [`SecondOrder::absorb`], provided that
    /// nothing was learnt since: not if other rows were prepared in between.
    pub fn can_reuse(&self, prepared: Option<PreparedRow>) -> bool {
        prepared.is_none_or(|row| self.block.is_live() && row.block == self.block.serial())
    }

    /// Learns the `update` for the row `x`. `by_products` begins with the by-products that
    /// [`SecondOrder::project`] wrote, and `prepared` is the row from which they were computed.
    pub fn absorb(
        &mut self,
        x: Features<'_>,
        by_products: &[f64],
        prepared: Option<PreparedRow>,
        update: RoundUpdate<'_>,
    ) {
        let (n, q, d) = (self.inverse.side(), self.inverse.blocks(), self.inverse.features());
        let (gram, rest) = by_products[..self.kept()].split_at(q * q);
        let (image, y) = rest.split_at(self.vectors * q);
        if let Some(PreparedRow { at, .. }) = prepared {
            self.updates.push(at as f64);
            self.updates.extend_from_slice(update.coefficients);
            self.updates.extend_from_slice(update.mix);
            self.block.absorb(at, self.inverse.next(), gram, image, update);
            self.inverse.expect(at + 1);
        } else {
            self.settle();
            for (b, c) in self.b.chunks_exact_mut(d).zip(update.coefficients) {
                x.add_to(*c, b);
            }
            self.inverse.downdate(&y[..n * q], update.mix);
        }
    }

    /// $b \mathrel{+}= X^\top C$ for the rows $X$ of the block that were learnt and their coefficients: one
    /// product at the end of the block, instead of as many passes over $b$.
    fn add_updates(&self, b: &mut [f64]) {
        let (len, d) = (self.update_len(), self.inverse.features());
        let width = self.vectors * self.inverse.blocks();
        let (rows, _) = self.inverse.prepared();
        let count = self.updates.len() / len;
        if self.updates.iter().step_by(len).zip(0..).any(|(at, place)| *at as usize != place) {
            // Some rows were not learnt.
            for update in self.updates.chunks_exact(len) {
                let x = Features::Dense(&rows[update[0] as usize * d..][..d]);
                b.chunks_exact_mut(d).zip(&update[1..]).for_each(|(b, c)| x.add_to(*c, b));
            }
        } else if count > 0 {
            let coefficients = part(&self.updates[1..], len, width, count).transpose();
            product(columns_mut(b, d, width), Store::Add, 1.0, columns(rows, d, count), coefficients);
        }
    }

    /// Every $b$, with the updates of the block.
    pub(crate) fn vector(&self) -> Cow<'_, [f64]> {
        if self.updates.is_empty() {
            return Cow::Borrowed(&self.b);
        }
        let mut b = self.before.clone();
        self.add_updates(&mut b);
        Cow::Owned(b)
    }

    /// Adds the updates of the block to `b`, as [`SecondOrder::vector`] but in place: every block ends with
    /// it, and rounds allocate nothing.
    fn refresh(&mut self) {
        if !self.updates.is_empty() {
            let mut b = std::mem::take(&mut self.b);
            b.copy_from_slice(&self.before);
            self.add_updates(&mut b);
            self.b = b;
        }
    }

    /// Appends the updates of the block to the columns of the inverse; the remaining rows of the block are
    /// then corrected one by one.
    fn settle(&mut self) {
        let learnt = self.inverse.next() * self.inverse.blocks();
        if self.end_block() && learnt > 0 {
            let (n, block) = (self.inverse.side(), &self.block);
            self.inverse.append(learnt, |f, products| block.columns(n, products, f));
        }
    }

    /// Ends the block; returns whether it was in use.
    fn end_block(&mut self) -> bool {
        self.refresh();
        self.before.clear();
        self.updates.clear();
        self.block.end()
    }

    /// Divides large products among the threads of `workers`; results are bit-equal.
    pub fn set_workers(&mut self, workers: Workers) {
        self.inverse.set_workers(workers);
    }

    /// The number of rows that [`SecondOrder::prepare`] uses.
    pub fn lookahead(&self) -> usize {
        self.inverse.lookahead()
    }

    /// Multiplies the announced rows with $A^{-1}$ in one product. A batch much shorter than
    /// [`SecondOrder::lookahead`] is ignored, since it does not pay off.
    pub fn prepare(&mut self, announced: &dyn Batch) {
        if !self.inverse.worth_preparing(announced.len()) {
            return;
        }
        self.settle();
        if self.inverse.prepare(announced) {
            self.before.extend_from_slice(&self.b);
            // Memory is reserved here, so that learning allocates none.
            self.updates.reserve(self.update_len() * self.inverse.delayed());
            self.start_block();
        }
    }

    /// Replaces the placeholder rows of the last prepared batch from index `at` on by `announced`. Results
    /// are bit-equal to those without placeholders.
    pub fn prepare_rest(&mut self, at: usize, announced: &dyn Batch) {
        if self.inverse.prepare_rest(at, announced) && self.block.is_live() {
            self.learn_again();
        }
    }

    /// Starts the block of prepared rows, without updates.
    fn start_block(&mut self) {
        let (rows, products) = self.inverse.prepared();
        let (blocks, most) = (self.inverse.blocks(), self.inverse.delayed());
        self.block.start(rows, products, (&self.before, self.vectors), blocks, most);
    }

    /// Length of a stored update.
    fn update_len(&self) -> usize {
        let q = self.inverse.blocks();
        1 + self.vectors * q + q * q
    }

    /// Starts the block again, and learns the stored updates.
    fn learn_again(&mut self) {
        let q = self.inverse.blocks();
        self.start_block();
        let (mut gram, mut image) = (vec![0.0; q * q], vec![0.0; self.vectors * q]);
        let mut next = 0;
        for update in self.updates.chunks_exact(self.update_len()) {
            let (place, update) = update.split_first().expect("longer");
            let (coefficients, mix) = update.split_at(self.vectors * q);
            let at = *place as usize;
            self.block.project(at, next, &mut gram, &mut image);
            self.block.absorb(at, next, &gram, &image, RoundUpdate { coefficients, mix });
            next = at + 1;
        }
        self.inverse.expect(next);
    }

    /// $b^\top A^{-1} b$ for the first vector; reads the whole inverse.
    pub fn square(&self) -> f64 {
        let b = self.vector();
        let b = &b[..self.inverse.side()];
        let mut image = vec![0.0; b.len()];
        self.inverse.apply(b, &mut image);
        dot(b, &image) - self.block.square(self.inverse.next() * self.inverse.blocks())
    }

    /// $A$, exactly symmetric, by an inversion; `None` if $A^{-1}$ is not positive definite because of
    /// rounding.
    pub fn precision(&self) -> Option<Vec<f64>> {
        if self.block.is_live() {
            let mut settled = self.clone();
            settled.settle();
            return settled.inverse.precision();
        }
        self.inverse.precision()
    }

    /// Sets $A$ to `a`, symmetric of side $n$, and $b$ to `b`. Returns false if `a` is not positive definite.
    pub fn become_sum(&mut self, a: Vec<f64>, b: &[f64]) -> bool {
        self.end_block();
        if !self.inverse.set_precision(a) {
            return false;
        }
        self.b.copy_from_slice(b);
        true
    }

    /// Forgetting: multiplies $A - \lambda I$ and every $b$ by `keep`. `regularization` is the initial
    /// $\lambda$. Takes two inversions; changes nothing if $A$ is not positive definite because of rounding.
    pub fn discount(&mut self, keep: f64, regularization: f64) {
        self.settle();
        let Some(mut a) = self.inverse.precision() else { return };
        let negligible = NEGLIGIBLE * regularization;
        shrink(&mut a, keep, negligible);
        a.iter_mut()
            .step_by(self.inverse.side() + 1)
            .for_each(|entry| *entry += (1.0 - keep) * regularization);
        if self.inverse.set_precision(a) {
            shrink(&mut self.b, keep, negligible);
        }
    }

    /// Adds `change` times the identity to $A$, by two inversions. Returns false, and changes nothing, if the
    /// result is not positive definite.
    pub fn shift(&mut self, change: f64) -> bool {
        self.settle();
        let Some(mut a) = self.inverse.precision() else { return false };
        a.iter_mut().step_by(self.inverse.side() + 1).for_each(|entry| *entry += change);
        self.inverse.set_precision(a)
    }

    /// $n = qd$.
    pub fn side(&self) -> usize {
        self.inverse.side()
    }

    /// Increases the numbers of blocks and features; new ones are appended, with $A$ equal to $\lambda$ on
    /// the new diagonal (theory: extensions 2.1, 2.3).
    pub fn grow(&mut self, blocks: usize, features: usize, regularization: f64) {
        self.grow_vectors(blocks, features, regularization, self.vectors);
    }

    /// As [`SecondOrder::grow`], also for the number of vectors: new ones are appended, and are 0.
    pub fn grow_vectors(&mut self, blocks: usize, features: usize, regularization: f64, vectors: usize) {
        self.settle();
        let (n, old) = (self.inverse.side(), self.inverse.features());
        let mut b = vec![0.0; vectors * blocks * features];
        for (b, vector) in self.b.chunks_exact(n).zip(b.chunks_exact_mut(blocks * features)) {
            widen(b, old, vector, features);
        }
        (self.b, self.vectors) = (b, vectors);
        self.inverse.grow(blocks, features, regularization, blocks);
    }

    /// The state; `b` is the name under which the vectors are saved. Saving in the middle of a block is
    /// exact.
    pub fn tensors(&mut self, b: &'static str) -> Vec<Tensor<'_>> {
        self.refresh();
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector(b, &mut self.b));
        tensors.push(Tensor::list("prepared_before", &mut self.before));
        tensors.push(Tensor::list("prepared_lessons", &mut self.updates));
        tensors
    }

    /// Recomputes the block of prepared rows after loading. False if the state is inconsistent.
    pub fn restored(&mut self) -> bool {
        self.block.end();
        if !self.inverse.restored() {
            return false;
        }
        if self.before.is_empty() {
            return self.updates.is_empty();
        }
        let rows = self.inverse.prepared().0.len() / self.inverse.features();
        let mut next = 0;
        let fits = |update: &[f64]| {
            let at = update[0] as usize;
            let follows = update[0] == at as f64 && (next..rows).contains(&at);
            next = at + 1;
            follows
        };
        let whole = self.updates.len().is_multiple_of(self.update_len());
        let possible = rows > 0
            && self.before.len() == self.b.len()
            && whole
            && self.updates.chunks_exact(self.update_len()).all(fits)
            && next == self.inverse.next();
        if possible {
            self.learn_again();
        }
        possible
    }

    /// The largest number of 8-byte numbers: $A^{-1}$, $b$, delayed columns, products of prepared rows, their
    /// block, and the by-products of a round.
    #[cfg(test)]
    fn most_numbers(q: usize, d: usize) -> usize {
        let (n, ahead) = (q * d, LowRankInverse::delay(q, d, q));
        let (delayed, prepared) = (ahead * q * n, ahead * (q * n + d));
        n * n + n + delayed + prepared + GramBlock::most_numbers(ahead, q) + 2 * (n * q + 3 * ahead * q * q)
    }
}

#[cfg(test)]
mod tests;
