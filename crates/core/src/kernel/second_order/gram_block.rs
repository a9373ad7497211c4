//! A block of prepared rows, learnt in the space that they span.
//!
//! With the prepared rows $X$ and $Z = P_0 (I \otimes X)$, a round only needs $q \times q$ blocks of $N = (I
//! \otimes X)^\top Z$, minus the updates of earlier rows (theory: second-order 4.3). Learning row $s$ with
//! $F_s = Y_s M_s$ is a step of a blocked Cholesky factorisation: for $t > s$
//!
//! $$ E_{ts} = (I \otimes x_t)^\top F_s = \Bigl(N_{ts} - \sum_{r<s} E_{tr} E_{sr}^\top\Bigr) M_s, \tag{1} $$
//! $$ (I \otimes x_t)^\top A^{-1} (I \otimes x_t) = N_{tt} - \sum_s E_{ts} E_{ts}^\top, \tag{2} $$
//! $$ (I \otimes x_t)^\top A^{-1} b = g_t - \sum_s E_{ts} f_s, \qquad g = Z^\top b, \quad f = F^\top b.
//!    \tag{3} $$
//!
//! (3) holds for every vector $b$: $g$ and $f$ have one column for each. At the end, $F = ZT$ is one product
//! with the block upper triangular matrix $T_s = \bigl(I_s - \sum_{r<s} T_r E_{sr}^\top\bigr) M_s$. Rows are
//! learnt in their order; a skipped row has $M = 0$.

use crate::example::Features;
use crate::kernel::linalg::{Store, columns, columns_mut, part, part_mut, product};
use crate::kernel::lowrank_inverse::project;
use crate::kernel::vector::dot;

/// Number of columns of $F$ that are computed at a time.
const AT_ONCE: usize = 48;

/// Number of rows of $F$ that are computed at a time, so that those of $Z$ stay in cache.
const ROWS_AT_ONCE: usize = 192;

/// The update of a round, see [`SecondOrder::absorb`](super::SecondOrder::absorb).
pub struct RoundUpdate<'a> {
    /// $c$, $q$ numbers for every vector.
    pub coefficients: &'a [f64],
    /// $M$, $q \times q$, column-major.
    pub mix: &'a [f64],
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct GramBlock {
    q: usize,
    /// Number of vectors $b$.
    vectors: usize,
    /// Number of prepared rows.
    len: usize,
    live: bool,
    /// Number of blocks started so far.
    serial: u64,
    /// $N$ for rows that are not yet learnt; below the diagonal of learnt rows, $E$. Column-major, of side
    /// `len` q.
    gram: Vec<f64>,
    /// $T$, of the same shape.
    triangle: Vec<f64>,
    /// $g$, a column for every vector.
    image: Vec<f64>,
    /// $f$, of the same shape.
    shares: Vec<f64>,
    /// Buffer for a column of blocks.
    room: Vec<f64>,
}

impl GramBlock {
    /// Whether the block is in use.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// The number of the block, which no other block of this learner has.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Ends the block; returns whether it was in use.
    pub(super) fn end(&mut self) -> bool {
        std::mem::replace(&mut self.live, false)
    }

    fn side(&self) -> usize {
        self.len * self.q
    }

    /// The largest number of 8-byte numbers of a block of at most `most` rows.
    #[cfg(test)]
    pub(super) fn most_numbers(most: usize, q: usize) -> usize {
        2 * (most * q).pow(2) + 2 * most * q + most * q * q + q
    }

    /// Starts the block with the prepared `rows`, one after another, and their `products` $Z$, for vectors
    /// `b` of this number; at most `most` rows.
    pub(super) fn start(
        &mut self,
        rows: &[f64],
        products: &[f64],
        (b, vectors): (&[f64], usize),
        q: usize,
        most: usize,
    ) {
        let (n, d) = (b.len() / vectors, b.len() / vectors / q);
        (self.q, self.len, self.live, self.serial) = (q, rows.len() / d, true, self.serial + 1);
        self.vectors = vectors;
        let side = self.side();
        for (vector, len) in [
            (&mut self.gram, most * q * most * q),
            (&mut self.triangle, most * q * most * q),
            (&mut self.image, most * q * vectors),
            (&mut self.shares, most * q * vectors),
            (&mut self.room, most * q * q + q * vectors),
        ] {
            vector.resize(len, 0.0);
        }
        let x = columns(rows, d, self.len);
        for k in 0..q {
            let slab = part(&products[k * d..], n, d, side);
            let out = part_mut(&mut self.gram[k * side..], q * side, side, self.len);
            product(out, Store::Replace, 1.0, slab.transpose(), x);
        }
        let image = columns_mut(&mut self.image, side, vectors);
        product(image, Store::Replace, 1.0, columns(products, n, side).transpose(), columns(b, n, vectors));
    }

    /// (2) and (3) for the prepared row `at`, which is not before the expected row `next`.
    pub(super) fn project(&self, at: usize, next: usize, gram: &mut [f64], image: &mut [f64]) {
        let (q, side, learnt, vectors) = (self.q, self.side(), next * self.q, self.vectors);
        let first = at * q;
        for (j, column) in gram.chunks_exact_mut(q).enumerate() {
            column.copy_from_slice(&self.gram[(first + j) * side + first..][..q]);
        }
        for (image, column) in image.chunks_exact_mut(q).zip(self.image.chunks_exact(side)) {
            image.copy_from_slice(&column[first..][..q]);
        }
        if learnt > 0 {
            let e = part(&self.gram[first..], side, q, learnt);
            product(columns_mut(gram, q, q), Store::Add, -1.0, e, e.transpose());
            let shares = part(&self.shares, side, learnt, vectors);
            product(columns_mut(image, q, vectors), Store::Add, -1.0, e, shares);
        }
        for j in 0..q {
            for k in 0..j {
                gram[j * q + k] = gram[k * q + j];
            }
        }
    }

    /// Learns the `update` for the prepared row `at`, with its `gram` and `image`; `next` was the
    /// expected row. Eq. (1)
    pub(super) fn absorb(
        &mut self,
        at: usize,
        next: usize,
        gram: &[f64],
        image: &[f64],
        update: RoundUpdate<'_>,
    ) {
        let (q, side, first) = (self.q, self.side(), at * self.q);
        for skipped in next * q..first {
            self.gram[skipped * side + (skipped / q + 1) * q..][..side - (skipped / q + 1) * q].fill(0.0);
            self.triangle[skipped * side..][..side].fill(0.0);
            self.shares[skipped..].iter_mut().step_by(side).for_each(|share| *share = 0.0);
        }
        let vectors = self.vectors;
        let (mix, c) = (columns(update.mix, q, q), columns(update.coefficients, q, vectors));
        let later = side - first - q;
        let (learnt, column) = self.gram.split_at_mut(first * side);

        // g += N_{·s} c for later rows; f += E_s·ᵀ c for earlier ones; f_s = M_sᵀ (h + N c) with the present
        // N.
        if later > 0 {
            let fresh = part(&column[first + q..], side, later, q);
            product(part_mut(&mut self.image[first + q..], side, later, vectors), Store::Add, 1.0, fresh, c);
        }
        let e = part(&learnt[first.min(learnt.len())..], side, q, first);
        if first > 0 {
            let earlier = part_mut(&mut self.shares, side, first, vectors);
            product(earlier, Store::Add, 1.0, e.transpose(), c);
        }
        let grown = &mut self.room[..q * vectors];
        grown.copy_from_slice(image);
        product(columns_mut(grown, q, vectors), Store::Add, 1.0, columns(gram, q, q), c);
        let own = part_mut(&mut self.shares[first..], side, q, vectors);
        product(own, Store::Replace, 1.0, mix.transpose(), columns(grown, q, vectors));

        // T_s, above its diagonal block and within it.
        let (known, triangle) = self.triangle.split_at_mut(first * side);
        let triangle = &mut triangle[..q * side];
        for (column, mix) in triangle.chunks_exact_mut(side).zip(update.mix.chunks_exact(q)) {
            column[first..first + q].copy_from_slice(mix);
            column[first + q..].fill(0.0);
        }
        if first > 0 {
            let room = &mut self.room[..first * q];
            product(
                columns_mut(room, first, q),
                Store::Replace,
                -1.0,
                part(known, side, first, first),
                e.transpose(),
            );
            product(part_mut(triangle, side, first, q), Store::Replace, 1.0, columns(room, first, q), mix);
        }

        if later > 0 {
            let room = &mut self.room[..later * q];
            for (room, column) in room.chunks_exact_mut(later).zip(column.chunks_exact(side)) {
                room.copy_from_slice(&column[first + q..]);
            }
            if first > 0 {
                let below = part(&learnt[first + q..], side, later, first);
                product(columns_mut(room, later, q), Store::Add, -1.0, below, e.transpose());
            }
            let out = part_mut(&mut column[first + q..], side, later, q);
            product(out, Store::Replace, 1.0, columns(room, later, q), mix);
        }
    }

    /// Writes $F = ZT$ to `f`, as many columns as `f` has; `products` $= Z$ has `n` rows.
    pub(super) fn columns(&self, n: usize, products: &[f64], f: &mut [f64]) {
        let (side, learnt) = (self.side(), f.len() / n);
        // A few columns at a time, so that few of T's zeros are multiplied.
        let step = (AT_ONCE / self.q).max(1) * self.q;
        for top in (0..n).step_by(ROWS_AT_ONCE) {
            let rows = ROWS_AT_ONCE.min(n - top);
            for (start, f) in (0..learnt).step_by(step).zip(f.chunks_mut(step * n)) {
                let end = (start + step).min(learnt);
                let t = part(&self.triangle[start * side..], side, end, end - start);
                let z = part(&products[top..], n, rows, end);
                product(part_mut(&mut f[top..], n, rows, end - start), Store::Replace, 1.0, z, t);
            }
        }
    }

    /// `y -= F Fᵀ (I ⊗ x)` for any row, after the first `next` rows were learnt. `scratch` has $2q^2$ numbers
    /// for each of them.
    pub(super) fn correct(
        &self,
        x: Features<'_>,
        z: &[f64],
        next: usize,
        y: &mut [f64],
        scratch: &mut [f64],
    ) {
        let (q, learnt) = (self.q, next * self.q);
        if learnt == 0 {
            return;
        }
        let n = y.len() / q;
        let (e, room) = scratch.split_at_mut(q * learnt);
        let t = part(&self.triangle, self.side(), learnt, learnt);
        let z = &z[..n * learnt];
        project(x, z, n, e);
        product(columns_mut(room, q, learnt), Store::Replace, 1.0, columns(e, q, learnt), t);
        product(columns_mut(e, q, learnt), Store::Replace, 1.0, columns(room, q, learnt), t.transpose());
        let (z, e) = (columns(z, n, learnt), columns(e, q, learnt));
        product(columns_mut(y, n, q), Store::Add, -1.0, z, e.transpose());
    }

    /// $\lVert F^\top b \rVert^2$ for the first vector and the first `learnt` columns; 0 if the block is not
    /// in use.
    pub(super) fn square(&self, learnt: usize) -> f64 {
        if self.live { dot(&self.shares[..learnt], &self.shares[..learnt]) } else { 0.0 }
    }
}
