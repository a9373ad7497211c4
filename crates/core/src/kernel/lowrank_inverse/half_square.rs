//! A symmetric matrix of which little more than the lower triangle is kept up to date.

use faer::{MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};

use crate::example::Features;
use crate::kernel::linalg::{
    Store, columns, columns_mut, mirror_lower, part, part_mut, product, symmetric_downdate,
};
use crate::kernel::vector::{axpy, dot, take};
use crate::parallel::Workers;
use crate::state::Tensor;

/// The least number of rows of a diagonal panel: few enough for fast mirroring, enough for fast products.
const PANEL_ROWS: usize = 128;

/// Number of columns of a block that are multiplied together: of what is above the square that they form on
/// the diagonal, nothing is read.
const COLUMNS_AT_ONCE: usize = 64;

/// Number of rows of a tile in products with a large matrix: larger tiles took a tenth more time.
const TILE_ROWS: usize = 192;

/// Number of columns of a tile in downdates of a large matrix.
const TILE_COLUMNS: usize = 128;

/// Number of pieces of a downdate, if the matrix is large: a few for every thread of an ordinary machine, so
/// that threads finish at similar times.
const DOWNDATE_PIECES: usize = 16;

/// A symmetric matrix of side $n = qd$, stored as a full column-major square.
///
/// The lower triangle and the *panels*, squares of whole blocks along the diagonal, are up to date. The
/// entries above them may be outdated: a symmetric downdate writes half of the memory, and a product uses
/// each entry that it reads twice. For small $n$ there is a single panel, and the matrix is an ordinary
/// square.
///
/// A multiple of the identity may take no memory ([`HalfSquare::diagonal`]) until another matrix is made of
/// it. Products with it are those of the whole matrix, to the bit: all other terms are 0.
#[derive(Clone, Debug)]
pub(super) struct HalfSquare {
    blocks: usize,
    features: usize,
    /// The number on the diagonal at first.
    diagonal: f64,
    /// Empty while the matrix is that multiple of the identity, if it takes no memory.
    data: Vec<f64>,
    /// The threads among which products with the whole matrix are divided.
    pub(super) workers: Workers,
}

impl HalfSquare {
    /// `diagonal` times the identity.
    pub(super) fn new(blocks: usize, features: usize, diagonal: f64) -> Self {
        let mut square = Self::diagonal(blocks, features, diagonal);
        square.fill();
        square
    }

    /// The same, without memory.
    pub(super) fn diagonal(blocks: usize, features: usize, diagonal: f64) -> Self {
        Self { blocks, features, diagonal, data: Vec::new(), workers: Workers::default() }
    }

    /// The number on the diagonal, if it is a multiple of the identity without memory.
    pub(super) fn multiple(&self) -> Option<f64> {
        self.data.is_empty().then_some(self.diagonal)
    }

    /// Makes the memory.
    fn fill(&mut self) {
        if self.data.is_empty() {
            self.data = identity(self.side(), self.diagonal);
        }
    }

    /// Sets the matrix to `data`, of `side`² numbers, of which the lower triangle is read.
    pub(super) fn replace(&mut self, data: Vec<f64>) {
        debug_assert_eq!(data.len(), self.side() * self.side());
        self.data = data;
        self.mirror_panels();
    }

    pub(super) fn side(&self) -> usize {
        self.blocks * self.features
    }

    /// Number of rows of a panel; the last one may have fewer.
    fn panel(&self) -> usize {
        PANEL_ROWS.div_ceil(self.features) * self.features
    }

    /// The first row of the panel that contains `block`.
    fn start(&self, block: usize) -> usize {
        block * self.features / self.panel() * self.panel()
    }

    /// Writes $P (I \otimes x)$, $n \times q$ column-major, to `y`. For a dense `x`, half of the matrix is
    /// read, once.
    pub(super) fn columns(&self, x: Features<'_>, y: &mut [f64]) {
        let (n, d) = (self.side(), self.features);
        y.fill(0.0);
        if let Some(diagonal) = self.multiple() {
            let columns = y.chunks_exact_mut(n).enumerate();
            return columns.for_each(|(block, y)| x.add_to(diagonal, &mut y[block * d..][..d]));
        }
        let Features::Dense(x) = x else {
            return y
                .chunks_exact_mut(n)
                .enumerate()
                .for_each(|(block, y)| self.add_product(block, x, 1.0, y));
        };
        for (block, columns) in self.data.chunks_exact(n * d).enumerate() {
            let (known, later) = y.split_at_mut((block + 1) * n);
            let own = &mut known[block * n..];
            add_symmetric(&columns[block * d..], n, x, &mut own[block * d..][..d]);
            for (other, out) in (block + 1..).zip(later.chunks_exact_mut(n)) {
                let (tile, transposed) = (&columns[other * d..], &mut out[block * d..][..d]);
                let out = &mut own[other * d..][..d];
                Arch::new().dispatch(Product { b: tile, stride: n, x, own: x, out, transposed });
            }
        }
    }

    /// `out += scale P (e ⊗ x)` for the unit vector of `block`.
    pub(super) fn add_product(&self, block: usize, x: Features<'_>, scale: f64, out: &mut [f64]) {
        let (n, d, start) = (self.side(), self.features, self.start(block));
        if let Some(diagonal) = self.multiple() {
            return x.add_to(scale * diagonal, &mut out[block * d..][..d]);
        }
        match x {
            Features::Dense(x) => self.add_block(block, scale, part(x, d, d, 1), columns_mut(out, n, 1)),
            Features::Sparse { .. } => {
                let (above, below) = out.split_at_mut(start);
                for (i, value) in x.iter() {
                    axpy(scale * value, &self.data[(block * d + i) * n..][start..n], below);
                }
                for (out, column) in above.iter_mut().zip(self.data.chunks_exact(n)) {
                    *out += scale * x.dot(&column[block * d..][..d]);
                }
            }
        }
    }

    /// Writes $PV$ to `out`, for the columns of `v` $= V$ of length $n$.
    pub(super) fn times(&self, v: &[f64], out: &mut [f64]) {
        let (n, d, count) = (self.side(), self.features, v.len() / self.side());
        out.fill(0.0);
        if let Some(diagonal) = self.multiple() {
            return axpy(diagonal, v, out);
        }
        for block in 0..self.blocks {
            self.add_block(block, 1.0, part(&v[block * d..], n, d, count), columns_mut(out, n, count));
        }
    }

    /// `out += scale P (e ⊗ x)` for the unit vector of `block` and every column of `x`.
    fn add_block(&self, block: usize, scale: f64, x: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let (n, d, start) = (self.side(), self.features, self.start(block));
        let (above, below) = out.split_at_row_mut(start);
        product(below, Store::Add, scale, part(&self.data[block * d * n + start..], n, n - start, d), x);
        if start > 0 {
            product(above, Store::Add, scale, part(&self.data[block * d..], n, d, start).transpose(), x);
        }
    }

    /// Writes $(I \otimes x)^\top P (I \otimes x)$, $q \times q$ and exactly symmetric, for each of the rows
    /// `x`, one after another, to the beginning of each of as many parts of `out`.
    ///
    /// Half of the flops of [`HalfSquare::products`]: each entry below the diagonal is multiplied once.
    pub(super) fn forms(&self, x: &[f64], out: &mut [f64]) {
        let (n, d, q) = (self.side(), self.features, self.blocks);
        let rows = x.len() / d;
        let stride = out.len() / rows;
        if let Some(diagonal) = self.multiple() {
            let mut image = vec![0.0; d];
            for (out, x) in out.chunks_exact_mut(stride).zip(x.chunks_exact(d)) {
                image.fill(0.0);
                axpy(diagonal, x, &mut image);
                let entry = dot(x, &image) + 0.0;
                out[..q * q].fill(0.0);
                out[..q * q].iter_mut().step_by(q + 1).for_each(|out| *out = entry);
            }
            return;
        }
        let mut sums = vec![0.0; n * rows];
        for block in 0..q {
            // P below the diagonal, times x; twice within the block, where no other product has the mirrored
            // entries.
            let (tall, corner) = (n - block * d, block * d * (n + 1));
            let sums = &mut sums[..tall * rows];
            sums.fill(0.0);
            for start in (0..d).step_by(COLUMNS_AT_ONCE) {
                let end = d.min(start + COLUMNS_AT_ONCE);
                let own = part(&x[start..], d, end - start, rows);
                let columns = &self.data[corner + start * n..];
                for (top, bottom, scale) in [(start, end, 1.0), (end, d, 2.0)] {
                    let tile = part(&columns[top..], n, bottom - top, end - start);
                    let sums = part_mut(&mut sums[top..], tall, bottom - top, rows);
                    product(sums, Store::Add, scale, tile, own);
                }
            }
            if tall > d {
                let tile = part(&self.data[corner + d..], n, tall - d, d);
                product(
                    part_mut(&mut sums[d..], tall, tall - d, rows),
                    Store::Add,
                    1.0,
                    tile,
                    part(x, d, d, rows),
                );
            }
            let rows = x.chunks_exact(d).zip(sums.chunks_exact(tall));
            for (out, (x, sums)) in out.chunks_exact_mut(stride).zip(rows) {
                for (other, sums) in (block..).zip(sums.chunks_exact(d)) {
                    // An empty sum is -0, by which a learner might divide.
                    let entry = dot(x, sums) + 0.0;
                    (out[block * q + other], out[other * q + block]) = (entry, entry);
                }
            }
        }
    }

    /// Writes $P (I \otimes x)$ for the rows `x`, one after another, to `out`, one after another.
    pub(super) fn products(&self, x: &[f64], out: &mut [f64]) {
        let (n, d, q) = (self.side(), self.features, self.blocks);
        if let Some(diagonal) = self.multiple() {
            out.fill(0.0);
            for (out, x) in out.chunks_exact_mut(n * q).zip(x.chunks_exact(d)) {
                let columns = out.chunks_exact_mut(n).enumerate();
                columns.for_each(|(block, out)| axpy(diagonal, x, &mut out[block * d..][..d]));
            }
            return;
        }
        let rows = x.len() / d;
        let x = part(x, d, d, rows);
        // The pieces are rows of the blocks of P (I ⊗ x), and do not depend on the number of threads.
        let tall = if self.is_large() { TILE_ROWS } else { n };
        let places = (0..q).flat_map(|block| {
            let start = self.start(block);
            let above = (0..start).step_by(tall).map(move |at| (block, at, tall.min(start - at)));
            above.chain((start..n).step_by(tall).map(move |at| (block, at, tall.min(n - at))))
        });
        let mut rest = Some(part_mut(out, n * q, n * q, rows));
        let tiles = places.map(|(block, at, rows)| {
            let (tile, later) = rest.take().expect("the tiles are the whole").split_at_row_mut(rows);
            rest = Some(later);
            (block, at, tile)
        });
        self.workers.each(tiles, |(block, at, tile)| {
            let rows = tile.nrows();
            if at < self.start(block) {
                let above = part(&self.data[at * n + block * d..], n, d, rows).transpose();
                product(tile, Store::Replace, 1.0, above, x);
            } else {
                let below = part(&self.data[block * d * n + at..], n, rows, d);
                product(tile, Store::Replace, 1.0, below, x);
            }
        });
    }

    /// The threads, if products are large enough to be divided.
    pub(super) fn workers_if_large(&self) -> Workers {
        if self.is_large() { self.workers.clone() } else { Workers::none() }
    }

    /// Whether products are large enough to be divided.
    fn is_large(&self) -> bool {
        const LARGE: usize = 1024;
        self.side() >= LARGE
    }

    /// `P -= f fᵀ` for `f` of `rank` columns.
    pub(super) fn downdate(&mut self, f: &[f64], rank: usize) {
        self.fill();
        let n = self.side();
        if !self.is_large() {
            symmetric_downdate(columns_mut(&mut self.data, n, n), columns(f, n, rank));
            return self.mirror_panels();
        }
        let mut rest = &mut self.data[..];
        let mut first = 0;
        let parts = (1..=DOWNDATE_PIECES).map(|share| {
            // The pieces have equal areas of the lower triangle.
            let end = n - (n as f64 * (1.0 - share as f64 / DOWNDATE_PIECES as f64).sqrt()) as usize;
            let columns = take(&mut rest, (end - first) * n);
            (columns, std::mem::replace(&mut first, end))
        });
        self.workers.each(parts, |(columns, start)| {
            downdate_columns(columns, n, start, part(&f[start..], n, n - start, rank));
        });
        self.mirror_panels();
    }

    fn mirror_panels(&mut self) {
        let (side, panel) = (self.side(), self.panel());
        for start in (0..side).step_by(panel) {
            let rows = panel.min(side - start);
            mirror_lower(&mut self.data[start * side + start..], side, rows);
        }
    }

    /// The whole matrix, exactly symmetric.
    pub(super) fn full(&mut self) -> &mut [f64] {
        self.fill();
        let side = self.side();
        mirror_lower(&mut self.data, side, side);
        &mut self.data
    }

    /// A copy in which only the lower triangle is valid.
    pub(super) fn lower(&self) -> Vec<f64> {
        match self.multiple() {
            Some(diagonal) => identity(self.side(), diagonal),
            None => self.data.clone(),
        }
    }

    /// The matrix as a part of a learner's state.
    pub(super) fn tensor(&mut self, name: &'static str) -> Tensor<'_> {
        let side = self.side();
        match self.multiple() {
            Some(diagonal) => Tensor::diagonal(name, side, diagonal, &mut self.data),
            None => Tensor::symmetric(name, side, self.full()),
        }
    }

    /// The entry, read from the triangle that is up to date.
    pub(super) fn entry(&self, row: usize, col: usize) -> f64 {
        if let Some(diagonal) = self.multiple() {
            return if row == col { diagonal } else { 0.0 };
        }
        self.data[row.min(col) * self.side() + row.max(col)]
    }

    /// Sets the entry in the triangle that is up to date; within panels both entries have to be set.
    pub(super) fn set(&mut self, row: usize, col: usize, value: f64) {
        self.fill();
        let side = self.side();
        self.data[col * side + row] = value;
    }
}

/// `diagonal` times the identity of `side`² numbers.
fn identity(side: usize, diagonal: f64) -> Vec<f64> {
    let mut data = vec![0.0; side * side];
    data.iter_mut().step_by(side + 1).for_each(|entry| *entry = diagonal);
    data
}

/// `c -= f fᵀ` for the lower triangle of some columns of a matrix of `n` rows, tile by tile; `start` is the
/// first of these columns, and `f` has the rows from `start` on.
fn downdate_columns(c: &mut [f64], n: usize, start: usize, f: MatRef<'_, f64>) {
    for (at, c) in (0..).step_by(TILE_COLUMNS).zip(c.chunks_mut(TILE_COLUMNS * n)) {
        let (own, below) = f.split_at_row(at).1.split_at_row(c.len() / n);
        let diagonal = start + at;
        symmetric_downdate(part_mut(&mut c[diagonal..], n, own.nrows(), own.nrows()), own);
        for top in (0..below.nrows()).step_by(TILE_ROWS) {
            let rows = TILE_ROWS.min(below.nrows() - top);
            let tile = part_mut(&mut c[diagonal + own.nrows() + top..], n, rows, own.nrows());
            product(tile, Store::Add, -1.0, below.subrows(top, rows), own.transpose());
        }
    }
}

/// `out += b x` for a symmetric `b` of the side of `x`, of which little more than the lower triangle is read;
/// successive columns are `stride` numbers apart.
fn add_symmetric(b: &[f64], stride: usize, x: &[f64], out: &mut [f64]) {
    let arch = Arch::new();
    for start in (0..x.len()).step_by(COLUMNS_AT_ONCE) {
        let end = x.len().min(start + COLUMNS_AT_ONCE);
        let ((x, own), (out, out_below)) =
            (x[start..].split_at(end - start), out[start..].split_at_mut(end - start));
        let columns = &b[start * stride..];
        arch.dispatch(Product {
            b: &columns[start..],
            stride,
            x,
            own: x,
            out: &mut *out,
            transposed: &mut [],
        });
        if !own.is_empty() {
            let b = &columns[end..];
            arch.dispatch(Product { b, stride, x, own, out: out_below, transposed: out });
        }
    }
}

/// `out += b x` and, in the same pass, `transposed += bᵀ own` unless that is empty, for a `b` with a column
/// for each number of `x` and a row for each of `own`; successive columns are `stride` numbers apart.
///
/// In vectors, since the compiler finds none in the loops: they would be three to four times as slow.
struct Product<'a> {
    b: &'a [f64],
    stride: usize,
    x: &'a [f64],
    own: &'a [f64],
    out: &'a mut [f64],
    transposed: &'a mut [f64],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const AT_ONCE: usize = 4;
        let Self { b, stride, x, own, out, transposed } = self;
        let (own_vectors, own_rest) = S::as_simd_f64s(own);
        let (out_vectors, out_rest) = S::as_mut_simd_f64s(out);
        for (at, scales) in x.chunks(AT_ONCE).enumerate() {
            // If fewer columns remain, the others are replaced by the first one times 0.
            let mut scale = [0.0; AT_ONCE];
            scale[..scales.len()].copy_from_slice(scales);
            let parts: [_; AT_ONCE] = std::array::from_fn(|k| {
                let k = if k < scales.len() { k } else { 0 };
                S::as_simd_f64s(&b[(at * AT_ONCE + k) * stride..][..own.len()])
            });
            let [a, b, c, d] = parts.map(|(vectors, _)| vectors);
            let of = scale.map(|scale| simd.splat_f64s(scale));
            let [mut sum_a, mut sum_b, mut sum_c, mut sum_d] = [simd.splat_f64s(0.0); AT_ONCE];
            let both = out_vectors.iter_mut().zip(own_vectors);
            for ((out, &own), (((&a, &b), &c), &d)) in both.zip(a.iter().zip(b).zip(c).zip(d)) {
                let two = simd.mul_add_e_f64s(of[1], b, simd.mul_add_e_f64s(of[0], a, *out));
                *out = simd.mul_add_e_f64s(of[3], d, simd.mul_add_e_f64s(of[2], c, two));
                sum_a = simd.mul_add_e_f64s(a, own, sum_a);
                sum_b = simd.mul_add_e_f64s(b, own, sum_b);
                sum_c = simd.mul_add_e_f64s(c, own, sum_c);
                sum_d = simd.mul_add_e_f64s(d, own, sum_d);
            }
            let rests = parts.map(|(_, rest)| rest);
            for (i, out) in out_rest.iter_mut().enumerate() {
                let [a, b, c, d] = rests.map(|rest| rest[i]);
                *out += (scale[0] * a + scale[1] * b) + (scale[2] * c + scale[3] * d);
            }
            let sums = [sum_a, sum_b, sum_c, sum_d];
            for (k, out) in transposed.iter_mut().skip(at * AT_ONCE).take(AT_ONCE).enumerate() {
                let rest: f64 = rests[k].iter().zip(own_rest).map(|(b, own)| b * own).sum();
                *out += simd.reduce_sum_f64s(sums[k]) + rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, whose sums are exact in any order. What may be outdated is NaN.
    #[test]
    fn symmetric_products_read_little_more_than_a_triangle() {
        const STRIDE: usize = 300;
        for side in [1, 3, 8, 63, 64, 65, 130, 209] {
            let entry = |i: usize, j: usize| ((3 * i.min(j) + 5 * i.max(j)) % 7) as f64 - 3.0;
            let mut b = vec![f64::NAN; STRIDE * side];
            for j in 0..side {
                for i in j / COLUMNS_AT_ONCE * COLUMNS_AT_ONCE..side {
                    b[j * STRIDE + i] = entry(i, j);
                }
            }
            let x: Vec<f64> = (0..side).map(|i| (i % 5) as f64 - 2.0).collect();
            let mut out = vec![1.0; side];
            add_symmetric(&b, STRIDE, &x, &mut out);
            for (i, out) in out.iter().enumerate() {
                let want = 1.0 + (0..side).map(|j| entry(i, j) * x[j]).sum::<f64>();
                assert_eq!(*out, want, "row {i} of {side}");
            }
        }
    }
}
