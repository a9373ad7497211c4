//! An inverse $P = A^{-1}$ under low-rank updates of $A$, for second-order learners.
//!
//! A second-order learner keeps such a $P$ of side $n = qd$ ($q$ blocks of $d$ features). In each round it
//! needs the $q$ columns $Y = P\ (I_q \otimes x)$, and then updates $P \leftarrow P - FF^\top$ with $F = Y\
//! M$ of a few columns. Done separately, these steps read and write $n^2$ numbers in every round. Two methods
//! avoid this (theory: second-order 2.1, 4.1, 4.2):
//!
//! * **delayed updates**: $P = P_0 - UU^\top$, where $U$ collects columns until its buffer is full; then one
//!   symmetric product updates $P_0$ (a *flush*);
//! * **look-ahead**: for the announced rows of a block, all $P_0 (I \otimes x_t)$ are one matrix product,
//!   which the columns in the buffer correct in each row's round.
//!
//! Both are exact: the columns equal those of the plain algorithm up to rounding.
//!
//! Layouts: matrices are column-major. $Y$ is $n \times q$, $U$ has columns of length $n$, and little more
//! than half of $P_0$ is kept up to date, see `half_square.rs`.

mod half_square;

use half_square::HalfSquare;

use super::linalg::{
    Store, cholesky, columns, columns_mut, invert, mirror_lower, product, symmetric_downdate,
};
use super::vector::{axpy, dot};
use crate::example::{Batch, Features};
use crate::parallel::Workers;
use crate::state::Tensor;

/// Limit on the columns of $U$; wide products make a flush fast.
const COLUMNS: usize = 384;

/// Delayed updates and prepared rows each take at most this fraction of the inverse's memory, unless they are
/// below [`SMALL`].
const SHARE: usize = 12;

/// 8-byte numbers of $U$ that are read together, half a megabyte.
const CACHED: usize = 1 << 16;

/// 8-byte numbers, 16 MiB.
const SMALL: usize = 1 << 21;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LowRankInverse {
    blocks: usize,
    features: usize,
    /// Number of columns that a round appends.
    rank: usize,
    /// $P_0$, side $n$.
    base: HalfSquare,
    /// $U$: up to `capacity` columns of length $n$; the first `used` are filled, the others 0.
    buffer: Vec<f64>,
    used: u64,
    /// Number of columns of the buffer.
    capacity: usize,
    ahead: Prepared,
}

/// The products of announced rows with $P_0$.
#[derive(Clone, Debug, Default)]
struct Prepared {
    /// The rows, dense, one after another.
    rows: Vec<f64>,
    /// For each row $P_0 (I \otimes x)$ in the layout of $Y$.
    products: Vec<f64>,
    /// The index of the row that is expected next.
    next: u64,
}

impl LowRankInverse {
    /// $P = I / \lambda$ for `blocks` $= q$ blocks of `features` $= d$, with `regularization` $\lambda > 0$;
    /// an update subtracts at most `rank` columns.
    pub fn new(blocks: usize, features: usize, regularization: f64, rank: usize) -> Self {
        let mut whole = Self::small_at_first(blocks, features, regularization, rank);
        whole.base = HalfSquare::new(blocks, features, 1.0 / regularization);
        whole.buffer = vec![0.0; whole.side() * whole.capacity];
        whole
    }

    /// The same, with a $P_0$ that takes no memory until the buffer is full for the first time, and a buffer
    /// that becomes longer with the rows: a learner that has seen few rows is small.
    pub fn small_at_first(blocks: usize, features: usize, regularization: f64, rank: usize) -> Self {
        Self {
            blocks,
            features,
            rank,
            base: HalfSquare::diagonal(blocks, features, 1.0 / regularization),
            buffer: Vec::new(),
            used: 0,
            capacity: rank * Self::delay(blocks, features, rank),
            ahead: Prepared::default(),
        }
    }

    /// The number of rounds that are delayed. A delayed round costs about 2 n r (1 + q) in addition to 2 n²
    /// for the product, so that the number is a fraction of d / 2.
    pub(super) fn delay(blocks: usize, features: usize, rank: usize) -> usize {
        let pays = (features / 4).min(COLUMNS.div_ceil(rank).max(8));
        let fits = (features / SHARE).max(SMALL / (blocks * blocks * features));
        pays.min(fits).max(1)
    }

    /// 8-byte numbers of state for `blocks` blocks of `features`; the largest part is $n^2$.
    pub fn numbers(blocks: usize, features: usize) -> usize {
        blocks.saturating_mul(features).saturating_pow(2)
    }

    /// $q$.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// $d$.
    pub fn features(&self) -> usize {
        self.features
    }

    /// $n = qd$.
    pub fn side(&self) -> usize {
        self.blocks * self.features
    }

    /// Length of the scratch memory of [`LowRankInverse::columns`] and [`LowRankInverse::columns_and_gram`].
    pub fn scratch_len(&self) -> usize {
        (self.blocks * self.capacity + self.features).max(self.blocks * self.blocks)
    }

    /// Writes $Y = A^{-1} (I \otimes x)$, $n \times q$ column-major, to `y`.
    pub fn columns(&self, x: Features<'_>, y: &mut [f64], scratch: &mut [f64]) {
        let (n, q) = (self.side(), self.blocks);
        match self.ahead.find(x, self.features) {
            Some(at) => y.copy_from_slice(self.ahead.columns(at, n * q)),
            None => self.base.columns(x, y),
        }
        // Each part of U is used twice while it is in cache.
        let at_once = (CACHED / n).max(1);
        for u in self.buffer[..n * self.used as usize].chunks(at_once * n) {
            let used = u.len() / n;
            let e = &mut scratch[..q * used];
            project(x, u, n, e);
            let e = columns(e, q, used).transpose();
            product(columns_mut(y, n, q), Store::Add, -1.0, columns(u, n, used), e);
        }
    }

    /// Writes $A^{-1} (c \otimes x)$, $n$ numbers, to `out`, where `coefficients` are the non-zero entries of
    /// $c \in \mathbb{R}^q$ as (block, value): only these blocks are read, in $O(nd)$ each.
    pub fn combination(&self, x: Features<'_>, coefficients: &[(usize, f64)], out: &mut [f64]) {
        let (n, d) = (self.side(), self.features);
        out.fill(0.0);
        for &(block, c) in coefficients {
            self.base.add_product(block, x, c, out);
        }
        for column in self.buffer.chunks_exact(n).take(self.used as usize) {
            let e: f64 = coefficients.iter().map(|&(block, c)| c * x.dot(&column[block * d..][..d])).sum();
            axpy(-e, column, out);
        }
    }

    /// Writes $N = (I \otimes x)^\top Y$, $q \times q$, to `gram`. One triangle is copied from the other, so
    /// that it is exactly symmetric.
    pub fn gram(&self, x: Features<'_>, y: &[f64], gram: &mut [f64]) {
        let q = self.blocks;
        project(x, y, self.side(), gram);
        for j in 0..q {
            for k in j..q {
                // An empty sum is -0, by which a learner might divide.
                let entry = gram[j * q + k] + 0.0;
                (gram[j * q + k], gram[k * q + j]) = (entry, entry);
            }
        }
    }

    /// Writes $Y$ and $N$, or zeros if $N$ is not positive semidefinite because of rounding: this happens if
    /// $A$ is 10^16 times larger in some directions than in others, as after a huge row. For learners, zeros
    /// mean that $A$ is infinite in the direction of `x`.
    pub fn columns_and_gram(&self, x: Features<'_>, y: &mut [f64], gram: &mut [f64], scratch: &mut [f64]) {
        let q = self.blocks;
        self.columns(x, y, scratch);
        self.gram(x, y, gram);
        if !is_semidefinite(gram, 1.0, &mut scratch[..q * q]) {
            y.fill(0.0);
            gram.fill(0.0);
        }
    }

    /// Updates $A^{-1} \leftarrow A^{-1} - FF^\top$ with $F = YM$. `y` $= Y$ has columns of length $n$ (all
    /// $q$ of [`LowRankInverse::columns`], or the one of [`LowRankInverse::combination`]), and `mix` $= M$,
    /// column-major, has a row for each column of $Y$ and `rank` columns.
    pub fn downdate(&mut self, y: &[f64], mix: &[f64]) {
        let n = self.side();
        let (q, rank) = (y.len() / n, self.rank);
        debug_assert_eq!(mix.len(), q * rank);
        self.append(rank, |f, _| {
            product(columns_mut(f, n, rank), Store::Replace, 1.0, columns(y, n, q), columns(mix, q, rank));
        });
        self.ahead.advance(self.features);
    }

    /// Appends `count` columns to the buffer: `write` is called with their memory and the products of the
    /// prepared rows.
    pub(super) fn append(&mut self, count: usize, write: impl FnOnce(&mut [f64], &[f64])) {
        if self.used as usize + count > self.capacity {
            self.flush();
        }
        let (n, at) = (self.side(), self.used as usize * self.side());
        let (len, end) = (self.buffer.len(), at + count * n);
        if len < end {
            // Twice as long, as far as there will be columns.
            let longer = (2 * len).min(self.capacity * n).max(end);
            self.buffer.reserve_exact(longer - len);
            self.buffer.resize(longer, 0.0);
        }
        write(&mut self.buffer[at..at + count * n], &self.ahead.products);
        self.used += count as u64;
    }

    /// Applies the buffered columns to the base: $P_0 \leftarrow P_0 - UU^\top$.
    fn flush(&mut self) {
        let used = self.used as usize * self.side();
        if used > 0 {
            self.base.downdate(&self.buffer, self.used as usize);
            self.used = 0;
            // Unused columns are saved too, and therefore cleared: a saved model must not depend on earlier
            // content.
            self.buffer[..used].fill(0.0);
        }
        self.ahead.forget();
    }

    /// Divides large products among `workers`; results are bit-equal.
    pub fn set_workers(&mut self, workers: Workers) {
        self.base.workers = workers;
    }

    /// $A^{-1}$ itself, of side $n$. Flushes, so that a call in every round disables delayed updates.
    pub fn matrix(&mut self) -> &[f64] {
        if self.used > 0 {
            self.flush();
        }
        self.base.full()
    }

    /// $A$, of side $n$, exactly symmetric, by an inversion; `None` if $A^{-1}$ is not positive definite
    /// because of rounding.
    pub fn precision(&self) -> Option<Vec<f64>> {
        let n = self.side();
        let mut matrix = self.base.lower();
        symmetric_downdate(columns_mut(&mut matrix, n, n), columns(&self.buffer, n, self.used as usize));
        (invert(&mut matrix, n) && matrix.iter().all(|a| a.is_finite())).then_some(matrix)
    }

    /// Sets $A$, symmetric of side $n$. Returns false, and changes nothing, if it is not positive definite.
    pub fn set_precision(&mut self, mut matrix: Vec<f64>) -> bool {
        if !(invert(&mut matrix, self.side()) && matrix.iter().all(|p| p.is_finite())) {
            return false;
        }
        self.base.replace(matrix);
        self.buffer.fill(0.0);
        self.used = 0;
        self.ahead.forget();
        true
    }

    /// Writes $A^{-1} V$ to `out`, for the columns of `v` $= V$ of length $n$.
    pub fn apply(&self, v: &[f64], out: &mut [f64]) {
        self.base.times(v, out);
        subtract_square(&self.buffer[..self.used as usize * self.side()], self.side(), v, out);
    }

    /// The number of rounds that are delayed.
    pub(super) fn delayed(&self) -> usize {
        self.capacity / self.rank
    }

    /// The number of rows that [`LowRankInverse::prepare`] uses: the rounds that are delayed, or the largest
    /// multiple of four below, since products are computed four columns at a time.
    pub fn lookahead(&self) -> usize {
        const AT_ONCE: usize = 4;
        let delayed = self.delayed();
        if delayed < AT_ONCE { delayed } else { delayed / AT_ONCE * AT_ONCE }
    }

    /// Multiplies the announced rows with $P_0$ in one product. Returns false, without a change, if the batch
    /// is so much shorter than [`LowRankInverse::lookahead`] that a flush does not pay off.
    pub fn prepare(&mut self, announced: &dyn Batch) -> bool {
        let len = announced.len().min(self.lookahead());
        if !self.worth_preparing(len) {
            return false;
        }
        self.flush();
        let d = self.features;
        self.ahead.rows.resize(len * d, 0.0);
        for (at, row) in self.ahead.rows.chunks_exact_mut(d).enumerate() {
            announced.features(at).add_to(1.0, row);
        }
        self.multiply_prepared();
        true
    }

    /// Replaces the placeholder rows from index `at` on by `announced`. Returns whether rows are prepared.
    /// All products are computed again, since the last bits of a product may depend on the number of products
    /// in a batch, and on nothing else.
    pub fn prepare_rest(&mut self, at: usize, announced: &dyn Batch) -> bool {
        if self.ahead.rows.is_empty() || at < self.next() {
            return false;
        }
        let rest = self.ahead.rows.chunks_exact_mut(self.features).skip(at).enumerate();
        for (at, row) in rest.take(announced.len()) {
            row.fill(0.0);
            announced.features(at).add_to(1.0, row);
        }
        self.multiply_prepared();
        true
    }

    /// Computes $P_0 (I \otimes x)$ for all prepared rows.
    fn multiply_prepared(&mut self) {
        let numbers = self.side() * self.blocks;
        let delayed = self.delayed();
        let ahead = &mut self.ahead;
        ahead.products.resize(delayed * numbers, 0.0);
        let len = ahead.rows.len() / self.features;
        self.base.products(&ahead.rows, &mut ahead.products[..len * numbers]);
    }

    /// Writes $(I \otimes x)^\top (A^{-1} - FF^\top) (I \otimes x)$, $q \times q$ and exactly symmetric, for
    /// each of the dense rows `rows`, one after another, to the beginning of each of as many parts of `out`.
    /// `f` $= F$ has columns of length $n$.
    pub(super) fn forms(&self, rows: &[f64], f: &[f64], out: &mut [f64]) {
        let (q, d) = (self.blocks, self.features);
        self.base.forms(rows, out);
        let count = rows.len() / d;
        let stride = out.len() / count;
        for u in [&self.buffer[..self.used as usize * self.side()], f] {
            let used = u.len() / self.side();
            if used == 0 {
                continue;
            }
            // The memory of U, interpreted as a d x (q r) matrix.
            let slabs = columns(u, d, q * used).transpose();
            let mut e = vec![0.0; q * used * count];
            product(
                columns_mut(&mut e, q * used, count),
                Store::Replace,
                1.0,
                slabs,
                columns(rows, d, count),
            );
            for (out, e) in out.chunks_exact_mut(stride).zip(e.chunks_exact(q * used)) {
                if q == 1 {
                    // A call of the library takes longer than a short sum.
                    out[0] -= dot(e, e);
                } else {
                    symmetric_downdate(columns_mut(out, q, q), columns(e, q, used));
                    mirror_lower(out, q, q);
                }
            }
        }
    }

    /// The threads among which products with the whole inverse are divided, if it is large.
    pub(super) fn workers(&self) -> Workers {
        self.base.workers_if_large()
    }

    /// Whether a flush pays off for a batch of `len` rows.
    pub(super) fn worth_preparing(&self, len: usize) -> bool {
        len >= 2 && 2 * len >= self.lookahead()
    }

    /// The index of the prepared row that equals `x`.
    pub(super) fn find(&self, x: Features<'_>) -> Option<usize> {
        self.ahead.find(x, self.features)
    }

    /// The prepared rows, one after another, and their products.
    pub(super) fn prepared(&self) -> (&[f64], &[f64]) {
        let len = self.ahead.rows.len() / self.features;
        (&self.ahead.rows, &self.ahead.products[..len * self.side() * self.blocks])
    }

    /// The index of the prepared row that is expected next.
    pub(super) fn next(&self) -> usize {
        self.ahead.next as usize
    }

    /// Sets the index of the prepared row that is expected next.
    pub(super) fn expect(&mut self, next: usize) {
        self.ahead.next = next as u64;
    }

    /// Increases the numbers of blocks and features; new ones are appended, with $A$ equal to $\lambda$ on
    /// the new diagonal.
    pub fn grow(&mut self, blocks: usize, features: usize, regularization: f64, rank: usize) {
        self.flush();
        if self.base.multiple() == Some(1.0 / regularization) {
            let grown = Self::small_at_first(blocks, features, regularization, rank);
            let workers = std::mem::replace(self, grown).base.workers;
            return self.set_workers(workers);
        }
        let mut grown = Self::new(blocks, features, regularization, rank);
        grown.set_workers(self.base.workers.clone());
        let place = |i: usize| i / self.features * features + i % self.features;
        for col in 0..self.side() {
            for row in 0..self.side() {
                grown.base.set(place(row), place(col), self.base.entry(row, col));
            }
        }
        *self = grown;
    }

    /// The state: the base, the buffered columns and their number, and the prepared rows. Saving in the
    /// middle of a block is exact.
    pub fn tensors(&mut self) -> [Tensor<'_>; 5] {
        let n = self.side();
        [
            self.base.tensor("inverse"),
            Tensor::grown("inverse_pending", vec![self.capacity, n], &mut self.buffer),
            Tensor::count("inverse_pending_columns", &mut self.used),
            Tensor::list("prepared_rows", &mut self.ahead.rows),
            Tensor::count("prepared_next", &mut self.ahead.next),
        ]
    }

    /// Computes the products of the prepared rows after loading. False if the numbers of rows or buffered
    /// columns are invalid.
    pub fn restored(&mut self) -> bool {
        let Prepared { rows, next, .. } = &self.ahead;
        let len = rows.len() / self.features;
        let possible = self.used as usize <= self.capacity
            && rows.len().is_multiple_of(self.features)
            && len <= self.delayed()
            && *next <= len as u64
            && rows.iter().all(|value| value.is_finite());
        if possible && len > 0 {
            self.multiply_prepared();
        }
        if possible {
            // Zeros at the end are not loaded.
            let filled = self.used as usize * self.side();
            self.buffer.resize(filled.max(self.buffer.len()), 0.0);
        }
        possible
    }
}

impl Prepared {
    /// Discards the prepared rows.
    fn forget(&mut self) {
        self.rows.clear();
        self.next = 0;
    }

    /// The index of the prepared row that equals `x`; the search starts at the expected one.
    fn find(&self, x: Features<'_>, features: usize) -> Option<usize> {
        (self.next as usize..self.rows.len() / features).find(|at| {
            let row = &self.rows[at * features..][..features];
            match x {
                Features::Dense(x) => x == row,
                Features::Sparse { values, .. } => {
                    // Stored zeros are ignored.
                    let non_zeros = |values: &[f64]| values.iter().filter(|value| **value != 0.0).count();
                    x.iter().all(|(i, value)| row[i] == value) && non_zeros(row) == non_zeros(values)
                }
            }
        })
    }

    /// $P_0 (I \otimes x)$, of `len` numbers.
    fn columns(&self, at: usize, len: usize) -> &[f64] {
        &self.products[at * len..][..len]
    }

    fn advance(&mut self, features: usize) {
        if self.next < (self.rows.len() / features) as u64 {
            self.next += 1;
        }
    }
}

/// Whether the symmetric `gram` $= N$ of $q \times q$ numbers has a non-negative diagonal and $I + \kappa N$
/// is positive definite for `sharpness` $= \kappa$; `system` is a buffer of the same size.
pub(super) fn is_semidefinite(gram: &[f64], sharpness: f64, system: &mut [f64]) -> bool {
    let q = gram.len().isqrt();
    for (entry, n) in system.iter_mut().zip(gram) {
        *entry = sharpness * n;
    }
    system.iter_mut().step_by(q + 1).for_each(|entry| *entry += 1.0);
    gram.iter().step_by(q + 1).all(|n| *n >= 0.0) && cholesky(system, q)
}

/// `out -= U Uᵀ V` for the columns of `u`, `v` and `out`, each of length `side`.
pub(super) fn subtract_square(u: &[f64], side: usize, v: &[f64], out: &mut [f64]) {
    let (used, count) = (u.len() / side, v.len() / side);
    if used == 0 {
        return;
    }
    let mut e = vec![0.0; used * count];
    let (u, v) = (columns(u, side, used), columns(v, side, count));
    product(columns_mut(&mut e, used, count), Store::Replace, 1.0, u.transpose(), v);
    product(columns_mut(out, side, count), Store::Add, -1.0, u, columns(&e, used, count));
}

/// Writes $E = (I \otimes x)^\top U$, $q \times r$ column-major, for the columns `u` $= U$ of length `side`
/// $n = qd$.
pub(super) fn project(x: Features<'_>, u: &[f64], side: usize, e: &mut [f64]) {
    let (r, q) = (u.len() / side, e.len() * side / u.len());
    let d = side / q;
    match x {
        // The memory of U, interpreted as a d x (q r) matrix.
        Features::Dense(x) => {
            let slabs = columns(u, d, q * r).transpose();
            product(columns_mut(e, q * r, 1), Store::Replace, 1.0, slabs, columns(x, d, 1));
        }
        Features::Sparse { .. } => {
            for (e, slab) in e.iter_mut().zip(u.chunks_exact(d)) {
                *e = x.dot(slab);
            }
        }
    }
}

#[cfg(test)]
mod tests;
