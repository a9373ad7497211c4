//! What learners with quadratic surrogates keep: $A^{-1}$, and a vector $b$ that grows along the same rows,
//! or several of them.
//!
//! A round needs $N = (I \otimes x)^\top A^{-1} (I \otimes x)$ and $h = (I \otimes x)^\top A^{-1} b$, and
//! then takes $A^{-1} \leftarrow A^{-1} - FF^\top$ with $F = A^{-1} (I \otimes x)\ M$, and
//! $b \leftarrow b + c \otimes x$. Further vectors $b$ of the same $A$ have an $h$ and a $c$ of their own,
//! and cost little.
//!
//! Rows that were prepared go through a `GramBlock`, which never touches a vector of length $n$; others
//! through [`LowRankInverse`], one at a time. Both give the same numbers up to rounding.

mod gram_block;

use gram_block::GramBlock;

use super::linalg::{Store, columns, columns_mut, product};
use super::lowrank_inverse::{LowRankInverse, is_semidefinite};
use super::vector::{dot, take};
use crate::example::{Batch, Features};
use crate::parallel::Workers;
use crate::prediction::PreparedRow;
use crate::state::Tensor;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SecondOrder {
    inverse: LowRankInverse,
    /// How many vectors $b$ there are, which follow each other.
    vectors: usize,
    b: Vec<f64>,
    /// How many times $N$ matters to the learner: see [`SecondOrder::project`].
    sharpness: f64,
    block: GramBlock,
    /// While the block is live, every $b$ as it was when it began, and the lessons that it has learnt, each
    /// with its row's place before it: from these it is made again after loading. Empty otherwise.
    before: Vec<f64>,
    lessons: Vec<f64>,
}

/// By-products of a row, see [`SecondOrder::project`].
pub struct Projection<'a> {
    /// $N$, $q \times q$, symmetric to the bit.
    pub gram: &'a mut [f64],
    /// $h$, length $q$ for every vector.
    pub image: &'a mut [f64],
    /// To be kept with the by-products.
    pub prepared: Option<PreparedRow>,
}

/// What a round teaches, see [`SecondOrder::absorb`].
pub struct Lesson<'a> {
    /// $c$, length $q$ for every vector.
    pub coefficients: &'a [f64],
    /// $M$, $q \times q$, column-major.
    pub mix: &'a [f64],
}

impl SecondOrder {
    /// $A = \lambda I$ for `blocks` $= q$ blocks of `features` $= d$, with `regularization` $\lambda > 0$,
    /// and $b = 0$.
    pub fn new(blocks: usize, features: usize, regularization: f64) -> Self {
        Self::with_vectors(blocks, features, regularization, 1, 1.0)
    }

    /// The same with `vectors` of them, for a learner that multiplies $N$ by up to `sharpness`.
    pub fn with_vectors(
        blocks: usize,
        features: usize,
        regularization: f64,
        vectors: usize,
        sharpness: f64,
    ) -> Self {
        Self {
            inverse: LowRankInverse::new(blocks, features, regularization, blocks),
            vectors,
            b: vec![0.0; vectors * blocks * features],
            sharpness,
            block: GramBlock::default(),
            before: Vec::new(),
            lessons: Vec::new(),
        }
    }

    /// How many numbers the state takes for `blocks` blocks of `features`: dominated by $n^2$.
    pub fn numbers(blocks: usize, features: usize) -> usize {
        LowRankInverse::numbers(blocks, features)
    }

    fn kept(&self) -> usize {
        let (n, q) = (self.inverse.side(), self.inverse.blocks());
        q * q + self.vectors * q + n * q
    }

    /// How many numbers of scratch [`SecondOrder::project`] takes.
    pub fn scratch_len(&self) -> usize {
        let q = self.inverse.blocks();
        self.kept() + self.inverse.scratch_len().max(2 * q * q * self.inverse.lookahead())
    }

    /// Writes what depends on `x` and the state to the head of `scratch`: what it returns, and what
    /// [`SecondOrder::absorb`] reuses.
    ///
    /// All of it is 0 where rounding has left nothing of $A^{-1}$ along `x`: once $A$ is 10^16 times larger
    /// in some direction than in others, as after a huge row, $N$ may come out indefinite. Learners, which
    /// rely on its being semidefinite after it was multiplied by their `sharpness`, then see a direction that
    /// is known.
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
                let b = columns(&self.b, n, self.vectors);
                let image = columns_mut(image, q, self.vectors);
                product(image, Store::Replace, 1.0, columns(y, n, q).transpose(), b);
            }
        }
        if !is_semidefinite(gram, self.sharpness, &mut rest[..q * q]) {
            [&mut *gram, &mut *image, y].into_iter().for_each(|part| part.fill(0.0));
            prepared = None;
        }
        Projection { gram, image, prepared }
    }

    /// Numbers that [`SecondOrder::project_many`] writes for a row.
    pub fn foreseen_len(&self) -> usize {
        let q = self.inverse.blocks();
        q * q + self.vectors * q
    }

    /// Writes $N$ and behind it $h$ of each of the dense rows `rows`, one after the other, to `out`: the
    /// numbers of [`SecondOrder::project`], by wide products, for predictions that nothing is learnt from.
    pub fn project_many(&self, rows: &[f64], out: &mut [f64]) {
        /// Numbers of all products at a time: 16 MiB.
        const AT_ONCE: usize = 1 << 21;
        if rows.is_empty() {
            return;
        }
        let (n, q, d, vectors) =
            (self.inverse.side(), self.inverse.blocks(), self.inverse.features(), self.vectors);
        // What the block has learnt.
        let learnt = if self.block.is_live() { self.inverse.next() * q } else { 0 };
        let mut f = vec![0.0; learnt * n];
        if learnt > 0 {
            self.block.columns(n, self.inverse.prepared().1, &mut f);
        }
        let most = (AT_ONCE / (n * q)).max(1).min(rows.len() / d);
        let mut y = vec![0.0; most * n * q];
        let mut images = vec![0.0; most * q * vectors];
        let mut system = vec![0.0; q * q];
        let portions = rows.chunks(most * d).zip(out.chunks_mut(most * self.foreseen_len()));
        for (rows, out) in portions {
            let count = rows.len() / d;
            let y = &mut y[..count * n * q];
            self.inverse.columns_of_many(rows, y);
            self.inverse.correct_many(rows, &f, y);
            let b = columns(&self.b, n, vectors);
            let images = &mut images[..count * q * vectors];
            product(
                columns_mut(images, vectors, q * count),
                Store::Replace,
                1.0,
                b.transpose(),
                columns(y, n, q * count),
            );
            let parts = rows.chunks_exact(d).zip(y.chunks_exact(n * q)).zip(images.chunks_exact(q * vectors));
            for (out, ((x, y), images)) in out.chunks_exact_mut(self.foreseen_len()).zip(parts) {
                let (gram, image) = out.split_at_mut(q * q);
                self.inverse.gram(Features::Dense(x), y, gram);
                for (block, of_block) in images.chunks_exact(vectors).enumerate() {
                    for (out, h) in image.iter_mut().skip(block).step_by(q).zip(of_block) {
                        *out = *h;
                    }
                }
                if !is_semidefinite(gram, self.sharpness, &mut system) {
                    out.fill(0.0);
                }
            }
        }
    }

    /// Shows `each` the place, $N$ and $h$ of each of `rows`, in order: see [`SecondOrder::project_many`].
    pub fn project_batch(&self, rows: &dyn Batch, mut each: impl FnMut(usize, &[f64], &[f64])) {
        /// Rows at a time.
        const AT_ONCE: usize = 256;
        let (q, d) = (self.inverse.blocks(), self.inverse.features());
        let most = rows.len().min(AT_ONCE);
        let mut dense = vec![0.0; most * d];
        let mut foreseen = vec![0.0; most * self.foreseen_len()];
        for start in (0..rows.len()).step_by(AT_ONCE) {
            let count = AT_ONCE.min(rows.len() - start);
            let dense = &mut dense[..count * d];
            dense.fill(0.0);
            for (at, row) in dense.chunks_exact_mut(d).enumerate() {
                rows.features(start + at).add_to(1.0, row);
            }
            self.project_many(dense, &mut foreseen[..count * self.foreseen_len()]);
            for (at, foreseen) in foreseen.chunks_exact(self.foreseen_len()).take(count).enumerate() {
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

    /// Whether by-products of [`SecondOrder::project`], since which nothing was learnt, can be given to
    /// [`SecondOrder::absorb`]: not if other rows were prepared in between.
    pub fn can_reuse(&self, prepared: Option<PreparedRow>) -> bool {
        prepared.is_none_or(|row| self.block.is_live() && row.block == self.block.serial())
    }

    /// Learns the `lesson` of the row `x`, whose by-products [`SecondOrder::project`] left at the head of
    /// `by_products`, with where they come from.
    pub fn absorb(
        &mut self,
        x: Features<'_>,
        by_products: &[f64],
        prepared: Option<PreparedRow>,
        lesson: Lesson<'_>,
    ) {
        let (n, q, d) = (self.inverse.side(), self.inverse.blocks(), self.inverse.features());
        let (gram, rest) = by_products[..self.kept()].split_at(q * q);
        let (image, y) = rest.split_at(self.vectors * q);
        for (b, c) in self.b.chunks_exact_mut(d).zip(lesson.coefficients) {
            x.add_to(*c, b);
        }
        if let Some(PreparedRow { at, .. }) = prepared {
            self.lessons.push(at as f64);
            self.lessons.extend_from_slice(lesson.coefficients);
            self.lessons.extend_from_slice(lesson.mix);
            self.block.absorb(at, self.inverse.next(), gram, image, lesson);
            self.inverse.expect(at + 1);
        } else {
            self.settle();
            self.inverse.downdate(&y[..n * q], lesson.mix);
        }
    }

    /// Turns what the block has learnt into columns of the inverse; the rows that it still expects are then
    /// corrected one by one.
    fn settle(&mut self) {
        let learnt = self.inverse.next() * self.inverse.blocks();
        if self.end_block() && learnt > 0 {
            let (n, block) = (self.inverse.side(), &self.block);
            self.inverse.append(learnt, |f, products| block.columns(n, products, f));
        }
    }

    /// Ends the block; returns whether it was live.
    fn end_block(&mut self) -> bool {
        self.before.clear();
        self.lessons.clear();
        self.block.end()
    }

    /// Shares large products among as many `threads`, 1 being the default; results agree up to rounding.
    pub fn set_workers(&mut self, workers: Workers) {
        self.inverse.set_workers(workers);
    }

    /// How many coming rows [`SecondOrder::prepare`] can use.
    pub fn lookahead(&self) -> usize {
        self.inverse.lookahead()
    }

    /// Multiplies the coming rows with $A^{-1}$ at once. A batch much shorter than [`SecondOrder::lookahead`]
    /// is not worth it and is ignored.
    pub fn prepare(&mut self, coming: &dyn Batch) {
        if !self.inverse.worth_preparing(coming.len()) {
            return;
        }
        self.settle();
        if self.inverse.prepare(coming) {
            self.before.extend_from_slice(&self.b);
            // So that learning allocates nothing.
            self.lessons.reserve(self.lesson_len() * self.inverse.lookahead());
            self.start_block();
        }
    }

    /// Takes in the rows that were prepared last, from place `at` on: they are known only now, and others
    /// stood in for them. All is to the bit what it would be if they had been known.
    pub fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        if self.inverse.prepare_rest(at, coming) && self.block.is_live() {
            self.learn_again();
        }
    }

    /// The block of the prepared rows, of which nothing is learnt.
    fn start_block(&mut self) {
        let (rows, products) = self.inverse.prepared();
        let (blocks, most) = (self.inverse.blocks(), self.inverse.lookahead());
        self.block.start(rows, products, (&self.before, self.vectors), blocks, most);
    }

    /// Numbers that are kept of a lesson.
    fn lesson_len(&self) -> usize {
        let q = self.inverse.blocks();
        1 + self.vectors * q + q * q
    }

    /// Begins the block anew with the lessons that it has learnt.
    fn learn_again(&mut self) {
        let q = self.inverse.blocks();
        self.start_block();
        let (mut gram, mut image) = (vec![0.0; q * q], vec![0.0; self.vectors * q]);
        let mut next = 0;
        for lesson in self.lessons.chunks_exact(self.lesson_len()) {
            let (place, lesson) = lesson.split_first().expect("longer");
            let (coefficients, mix) = lesson.split_at(self.vectors * q);
            let at = *place as usize;
            self.block.project(at, next, &mut gram, &mut image);
            self.block.absorb(at, next, &gram, &image, Lesson { coefficients, mix });
            next = at + 1;
        }
        self.inverse.expect(next);
    }

    /// $b^\top A^{-1} b$ for the first vector, at the cost of a pass over the inverse.
    pub fn square(&self) -> f64 {
        let b = &self.b[..self.inverse.side()];
        let mut image = vec![0.0; b.len()];
        self.inverse.apply(b, &mut image);
        dot(b, &image) - self.block.square(self.inverse.next() * self.inverse.blocks())
    }

    /// $A$, symmetric to the bit, at the cost of an inversion; `None` where rounding has left no positive
    /// definite $A^{-1}$.
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

    /// Forgets: what $A$ has beyond $\lambda I$, and every $b$, shrink to the part `keep`. $\lambda$ is that
    /// of the beginning, and the cost is that of two inversions; nothing changes where rounding has left no
    /// positive definite $A$.
    pub fn discount(&mut self, keep: f64, regularization: f64) {
        self.settle();
        let Some(mut a) = self.inverse.precision() else { return };
        a.iter_mut().for_each(|entry| *entry *= keep);
        a.iter_mut()
            .step_by(self.inverse.side() + 1)
            .for_each(|entry| *entry += (1.0 - keep) * regularization);
        if self.inverse.set_precision(a) {
            self.b.iter_mut().for_each(|b| *b *= keep);
        }
    }

    /// Adds `change` times the identity to $A$, at the cost of two inversions. Returns false, and changes
    /// nothing, if that leaves no positive definite matrix.
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

    /// Makes room for `blocks` and `features`, new ones appended, with $A$ equal to $\lambda$ on the new
    /// diagonal (theory: extensions 2.1, 2.3).
    pub fn grow(&mut self, blocks: usize, features: usize, regularization: f64) {
        self.grow_vectors(blocks, features, regularization, self.vectors);
    }

    /// The same, with `vectors` from now on: new ones, appended, are 0.
    pub fn grow_vectors(&mut self, blocks: usize, features: usize, regularization: f64, vectors: usize) {
        self.settle();
        let (n, old) = (self.inverse.side(), self.inverse.features());
        let mut b = vec![0.0; vectors * blocks * features];
        for (b, vector) in self.b.chunks_exact(n).zip(b.chunks_exact_mut(blocks * features)) {
            for (old, new) in b.chunks_exact(old).zip(vector.chunks_exact_mut(features)) {
                new[..old.len()].copy_from_slice(old);
            }
        }
        (self.b, self.vectors) = (b, vectors);
        self.inverse.grow(blocks, features, regularization, blocks);
    }

    /// The state, with $b$ under the name that the learner gives it. A save in mid-block is exact.
    pub fn tensors(&mut self, b: &'static str) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector(b, &mut self.b));
        tensors.push(Tensor::list("prepared_before", &mut self.before));
        tensors.push(Tensor::list("prepared_lessons", &mut self.lessons));
        tensors
    }

    /// Makes the block of prepared rows after loading. False if the state contradicts itself.
    pub fn restored(&mut self) -> bool {
        self.block.end();
        if !self.inverse.restored() {
            return false;
        }
        if self.before.is_empty() {
            return self.lessons.is_empty();
        }
        let rows = self.inverse.prepared().0.len() / self.inverse.features();
        let mut next = 0;
        let fits = |lesson: &[f64]| {
            let at = lesson[0] as usize;
            let follows = lesson[0] == at as f64 && (next..rows).contains(&at);
            next = at + 1;
            follows
        };
        let whole = self.lessons.len().is_multiple_of(self.lesson_len());
        let possible = rows > 0
            && self.before.len() == self.b.len()
            && whole
            && self.lessons.chunks_exact(self.lesson_len()).all(fits)
            && next == self.inverse.next();
        if possible {
            self.learn_again();
        }
        possible
    }

    /// How many numbers are held at most: $A^{-1}$, $b$, delayed columns, products of prepared rows, their
    /// block, and the by-products of a round.
    #[cfg(test)]
    fn most_numbers(q: usize, d: usize) -> usize {
        let (n, ahead) = (q * d, LowRankInverse::delay(q, d, q));
        let (delayed, prepared) = (ahead * q * n, ahead * (q * n + d));
        n * n + n + delayed + prepared + GramBlock::most_numbers(ahead, q) + 2 * (n * q + 3 * ahead * q * q)
    }

    /// $b$.
    pub(crate) fn vector(&self) -> &[f64] {
        &self.b
    }
}

#[cfg(test)]
mod tests;
