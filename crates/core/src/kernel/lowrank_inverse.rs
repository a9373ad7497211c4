//! The second-order engine: an inverse $P = A^{-1}$ under low-rank growth of $A$.
//!
//! Every second-order learner keeps such a $P$ of side $n = qd$ ($q$ blocks of $d$ features) and, each round, needs the
//! $q$ columns $Y = P\,(I_q \otimes x)$ and then takes $P \leftarrow P - FF^\top$ with $F = Y\,M$ of a few columns. Done
//! one by one this reads and writes $n^2$ numbers again and again. Here instead (spec 6):
//!
//! * **delayed updates**: $P = P_0 - UU^\top$, where $U$ collects columns until a full buffer is flushed by one symmetric
//!   product;
//! * **look-ahead**: for the coming rows of a block, all $P_0 (I \otimes x_t)$ are one matrix product; each is corrected
//!   by the buffered columns when its turn comes.
//!
//! Both are exact: the columns equal those of the plain recursion up to rounding.
//!
//! Layouts: $P_0$ is a full square, symmetric to the bit. $Y$ is $n \times q$ row-major, so that the product above reads
//! the memory of $P_0$ as one $d \times nq$ matrix. $U$ is column-major.

use super::linalg::{Into, cholesky, columns, columns_mut, invert, product, symmetric_downdate};
use super::vector::{axpy, dot};
use crate::example::{Batch, Features};
use crate::state::Tensor;

/// The buffer of delayed columns is kept within this many bytes. A wide product is what makes a flush cheap (at n = 3,200,
/// four times this buys nothing more, a quarter of it halves the speed); a larger buffer only leaves the caches.
const BUFFER_BYTES: usize = 1 << 22;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LowRankInverse {
    blocks: usize,
    features: usize,
    /// Columns that a round appends.
    rank: usize,
    /// $P_0$, side $n$.
    base: Vec<f64>,
    /// $U$: room for `capacity` columns of length $n$, the first `used` of them filled, the others 0.
    buffer: Vec<f64>,
    used: u64,
    /// Columns that $U$ has room for.
    capacity: usize,
    ahead: Ahead,
}

/// The products of coming rows with $P_0$.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// The rows, dense, one after the other.
    rows: Vec<f64>,
    /// For each row $P_0 (I \otimes x)$ in the layout of $Y$.
    products: Vec<f64>,
    /// Rows that are still of use.
    len: usize,
    /// The row to expect next.
    next: usize,
}

impl LowRankInverse {
    /// $P = I / \lambda$ for `blocks` $= q$ blocks of `features` $= d$, with `regularization` $\lambda > 0$, to which a round
    /// subtracts at most `rank` columns.
    pub fn new(blocks: usize, features: usize, regularization: f64, rank: usize) -> Self {
        let side = blocks * features;
        let mut base = vec![0.0; side * side];
        for i in 0..side {
            base[i * side + i] = 1.0 / regularization;
        }
        // A delayed round costs about 2 n r (1 + q) on top of 2 n² for the product, so delay a fraction of d / 2 rounds.
        let rounds = (features / 4).clamp(1, 64);
        let fits = (BUFFER_BYTES / (8 * side * rank)).max(1);
        let capacity = rank * rounds.min(fits);
        let buffer = vec![0.0; side * capacity];
        Self { blocks, features, rank, base, buffer, used: 0, capacity, ahead: Ahead::default() }
    }

    /// How many numbers the state takes for `blocks` blocks of `features`: dominated by $n^2$.
    pub fn numbers(blocks: usize, features: usize) -> usize {
        blocks.saturating_mul(features).saturating_pow(2)
    }

    /// $q$.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// $n = qd$.
    pub fn side(&self) -> usize {
        self.blocks * self.features
    }

    /// Scratch for [`LowRankInverse::columns`] and [`LowRankInverse::columns_and_gram`].
    pub fn scratch_len(&self) -> usize {
        (self.blocks * self.capacity + self.features).max(self.blocks * self.blocks)
    }

    /// Writes $Y = A^{-1} (I \otimes x)$, $n \times q$ row-major, to `y`.
    pub fn columns(&self, x: Features<'_>, y: &mut [f64], scratch: &mut [f64]) {
        let (n, q, d) = (self.side(), self.blocks, self.features);
        match self.ahead.find(x, d) {
            Some(at) => y.copy_from_slice(&self.ahead.products[at * n * q..][..n * q]),
            None => self.base_columns(x, y),
        }
        let used = self.used as usize;
        if used > 0 {
            // E = (I ⊗ x)ᵀ U, q x used: U's memory read as a d x (q used) matrix.
            let (e, dense) = scratch.split_at_mut(q * self.capacity);
            match x {
                Features::Dense(x) => self.project(x, e),
                Features::Sparse { .. } => {
                    dense.fill(0.0);
                    x.add_to(1.0, dense);
                    self.project(dense, e);
                }
            }
            let y = columns_mut(y, q, n);
            product(y, Into::Add, -1.0, columns(e, q, used), columns(&self.buffer, n, used).transpose());
        }
    }

    fn project(&self, x: &[f64], e: &mut [f64]) {
        let (q, d, used) = (self.blocks, self.features, self.used as usize);
        let slabs = columns(&self.buffer, d, q * used);
        product(columns_mut(e, q * used, 1), Into::Replace, 1.0, slabs.transpose(), columns(x, d, 1));
    }

    /// $P_0 (I \otimes x)$.
    fn base_columns(&self, x: Features<'_>, y: &mut [f64]) {
        let (n, q, d) = (self.side(), self.blocks, self.features);
        match x {
            Features::Dense(x) => {
                let base = columns(&self.base, d, n * q);
                product(columns_mut(y, n * q, 1), Into::Replace, 1.0, base.transpose(), columns(x, d, 1));
            }
            Features::Sparse { .. } => {
                for (y, base) in y.iter_mut().zip(self.base.chunks_exact(d)) {
                    *y = x.dot(base);
                }
            }
        }
    }

    /// Writes $A^{-1} (c \otimes x)$, $n$ numbers, to `out`, for the $c \in \mathbb{R}^q$ with the non-zero entries
    /// `coefficients` (block, value): only their blocks are read, $O(nd)$ each.
    pub fn combination(&self, x: Features<'_>, coefficients: &[(usize, f64)], out: &mut [f64]) {
        let (n, d) = (self.side(), self.features);
        out.fill(0.0);
        for &(block, c) in coefficients {
            let base = &self.base[block * d * n..][..d * n];
            match x {
                Features::Dense(x) => {
                    product(columns_mut(out, n, 1), Into::Add, c, columns(base, n, d), columns(x, d, 1));
                }
                Features::Sparse { .. } => {
                    for (i, value) in x.iter() {
                        axpy(c * value, &base[i * n..][..n], out);
                    }
                }
            }
        }
        for column in self.buffer.chunks_exact(n).take(self.used as usize) {
            let e: f64 = coefficients.iter().map(|&(block, c)| c * x.dot(&column[block * d..][..d])).sum();
            axpy(-e, column, out);
        }
    }

    /// Writes $N = (I \otimes x)^\top Y$, $q \times q$, to `gram`: one triangle is computed, so it is symmetric to the bit.
    pub fn gram(&self, x: Features<'_>, y: &[f64], gram: &mut [f64]) {
        let (q, d) = (self.blocks, self.features);
        gram.fill(0.0);
        for (k, (slab, row)) in y.chunks_exact(d * q).zip(gram.chunks_exact_mut(q)).enumerate() {
            for (i, x) in x.iter() {
                for (out, y) in row[..=k].iter_mut().zip(&slab[i * q..]) {
                    *out += x * y;
                }
            }
        }
        for k in 0..q {
            for j in 0..k {
                gram[j * q + k] = gram[k * q + j];
            }
        }
    }

    /// Writes $Y$ and $N$, or zeros where rounding has left nothing of $A^{-1}$ along `x`: once $A$ is 10^16 times larger in
    /// some direction than in others, as after a huge row, $N$ may come out indefinite. Learners that rely on its being
    /// semidefinite then see a direction that is known.
    pub fn columns_and_gram(&self, x: Features<'_>, y: &mut [f64], gram: &mut [f64], scratch: &mut [f64]) {
        let q = self.blocks;
        self.columns(x, y, scratch);
        self.gram(x, y, gram);
        let system = &mut scratch[..q * q];
        for (at, (entry, n)) in system.iter_mut().zip(&*gram).enumerate() {
            *entry = n + f64::from(at % (q + 1) == 0);
        }
        let diagonal = gram.iter().step_by(q + 1);
        if !(diagonal.copied().all(|n| n >= 0.0) && cholesky(system, q)) {
            y.fill(0.0);
            gram.fill(0.0);
        }
    }

    /// Takes $A^{-1} \leftarrow A^{-1} - FF^\top$ with $F = YM$, for `y` $= Y$ of $n$ rows, row-major (all $q$ columns of
    /// [`LowRankInverse::columns`], or the one of [`LowRankInverse::combination`]), and `mix` $= M$ with a row for each
    /// column of $Y$ and `rank` columns, column-major.
    pub fn downdate(&mut self, y: &[f64], mix: &[f64]) {
        let n = self.side();
        let q = y.len() / n;
        debug_assert_eq!(mix.len(), q * self.rank);
        if self.used as usize + self.rank > self.capacity {
            self.flush();
        }
        let at = self.used as usize * n;
        let f = columns_mut(&mut self.buffer[at..], n, self.rank);
        product(f, Into::Replace, 1.0, columns(y, q, n).transpose(), columns(mix, q, self.rank));
        self.used += self.rank as u64;
        self.ahead.advance();
    }

    /// Applies the buffered columns to the base: $P_0 \leftarrow P_0 - UU^\top$.
    fn flush(&mut self) {
        let n = self.side();
        symmetric_downdate(&mut self.base, n, &self.buffer, self.used as usize);
        self.used = 0;
        // Unused columns are part of the saved state: a saved model must not depend on what once stood there.
        self.buffer.fill(0.0);
        self.ahead.len = 0;
    }

    /// $A^{-1}$ itself, of side $n$. Flushes, so asking for it every round forgoes the delayed updates.
    pub fn matrix(&mut self) -> &[f64] {
        if self.used > 0 {
            self.flush();
        }
        &self.base
    }

    /// $A$, of side $n$, symmetric to the bit, at the cost of an inversion; `None` where rounding has left no positive
    /// definite $A^{-1}$.
    pub fn precision(&self) -> Option<Vec<f64>> {
        let n = self.side();
        let mut matrix = self.base.clone();
        symmetric_downdate(&mut matrix, n, &self.buffer, self.used as usize);
        (invert(&mut matrix, n) && matrix.iter().all(|a| a.is_finite())).then_some(matrix)
    }

    /// Sets $A$, symmetric of side $n$. Returns false, and changes nothing, if it is not positive definite.
    pub fn set_precision(&mut self, mut matrix: Vec<f64>) -> bool {
        if !(invert(&mut matrix, self.side()) && matrix.iter().all(|p| p.is_finite())) {
            return false;
        }
        self.base = matrix;
        self.buffer.fill(0.0);
        self.used = 0;
        self.ahead.len = 0;
        true
    }

    /// Writes $A^{-1} v$ to `out`.
    pub fn apply(&self, v: &[f64], out: &mut [f64]) {
        let (n, used) = (self.side(), self.used as usize);
        product(columns_mut(out, n, 1), Into::Replace, 1.0, columns(&self.base, n, n), columns(v, n, 1));
        for column in self.buffer.chunks_exact(n).take(used) {
            axpy(-dot(column, v), column, out);
        }
    }

    /// How many coming rows [`LowRankInverse::prepare`] can use.
    pub fn lookahead(&self) -> usize {
        self.capacity / self.rank
    }

    /// Multiplies the coming rows with $P_0$ at once. A batch much shorter than [`LowRankInverse::lookahead`] is not
    /// worth its flush and is ignored.
    pub fn prepare(&mut self, coming: &dyn Batch) {
        let len = coming.len().min(self.lookahead());
        if len < 2 || 2 * len < self.lookahead() {
            return;
        }
        if self.used > 0 {
            self.flush();
        }
        let (n, q, d) = (self.side(), self.blocks, self.features);
        let ahead = &mut self.ahead;
        ahead.rows.clear();
        ahead.rows.resize(len * d, 0.0);
        for (at, row) in ahead.rows.chunks_exact_mut(d).enumerate() {
            coming.features(at).add_to(1.0, row);
        }
        ahead.products.resize(self.capacity / self.rank * n * q, 0.0);
        let base = columns(&self.base, d, n * q);
        let products = columns_mut(&mut ahead.products, n * q, len);
        product(products, Into::Replace, 1.0, base.transpose(), columns(&ahead.rows, d, len));
        (ahead.len, ahead.next) = (len, 0);
    }

    /// Makes room for `blocks` and `features`, new ones appended, with $A$ equal to $\lambda$ on the new diagonal.
    pub fn grow(&mut self, blocks: usize, features: usize, regularization: f64, rank: usize) {
        self.flush();
        let mut grown = Self::new(blocks, features, regularization, rank);
        let (n, grown_n) = (self.side(), grown.side());
        let place = |i: usize| i / self.features * features + i % self.features;
        for col in 0..n {
            for row in 0..n {
                grown.base[place(col) * grown_n + place(row)] = self.base[col * n + row];
            }
        }
        *self = grown;
    }

    /// The state: the base, the buffered columns and their number. A save in mid-block is exact.
    pub fn tensors(&mut self) -> [Tensor<'_>; 3] {
        let n = self.side();
        [
            Tensor::symmetric("inverse", n, &mut self.base),
            Tensor::real("inverse_pending", vec![self.capacity, n], &mut self.buffer),
            Tensor::count("inverse_pending_columns", &mut self.used),
        ]
    }

    /// Whether the number of buffered columns is possible: asked after loading.
    pub fn is_consistent(&self) -> bool {
        self.used as usize <= self.capacity
    }
}

impl Ahead {
    /// The prepared row that equals `x`, looked for from the one to expect.
    fn find(&self, x: Features<'_>, features: usize) -> Option<usize> {
        (self.next..self.len).find(|at| {
            let row = &self.rows[at * features..][..features];
            match x {
                Features::Dense(x) => x == row,
                Features::Sparse { values, .. } => {
                    // Stored zeros say nothing about the entries that are not stored.
                    let non_zeros = |values: &[f64]| values.iter().filter(|value| **value != 0.0).count();
                    x.iter().all(|(i, value)| row[i] == value) && non_zeros(row) == non_zeros(values)
                }
            }
        })
    }

    fn advance(&mut self) {
        if self.next < self.len {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests;
