//! A symmetric matrix of which little more than the lower triangle is kept up to date.

use crate::example::Features;
use crate::kernel::linalg::{Store, columns_mut, mirror_lower, part, part_mut, product, symmetric_downdate};
use crate::kernel::vector::{LANES, axpy, sum_of_lanes, take, widest};
use crate::parallel::Workers;

/// The least number of rows of a diagonal panel: few enough for fast mirroring, enough for fast products.
/// products.
const PANEL_ROWS: usize = 128;

/// Number of rows of a product in one piece of parallel work, if the matrix is large.
const TILE_ROWS: usize = 512;

/// Number of pieces of a downdate, if the matrix is large: a few for every thread of an ordinary machine, so
/// that threads finish at similar times.
const DOWNDATE_PIECES: usize = 16;

/// A symmetric matrix of side $n = qd$, stored as a full column-major square.
///
/// The lower triangle and the *panels*, squares of whole blocks along the diagonal, are up to date. The
/// entries above them may be outdated: a symmetric downdate writes half of the memory, and a product uses
/// each entry that it reads twice. For small $n$ there is a single panel, and the matrix is an ordinary
/// square.
#[derive(Clone, Debug)]
pub(super) struct HalfSquare {
    blocks: usize,
    features: usize,
    data: Vec<f64>,
    /// The threads among which products with the whole matrix are divided.
    pub(super) workers: Workers,
}

impl HalfSquare {
    /// `diagonal` times the identity.
    pub(super) fn new(blocks: usize, features: usize, diagonal: f64) -> Self {
        let side = blocks * features;
        let mut data = vec![0.0; side * side];
        data.iter_mut().step_by(side + 1).for_each(|entry| *entry = diagonal);
        Self { blocks, features, data, workers: Workers::default() }
    }

    /// Sets the matrix to `data`, of `side`² numbers, of which the lower triangle is read.
    pub(super) fn replace(&mut self, data: Vec<f64>) {
        debug_assert_eq!(data.len(), self.data.len());
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
        let Features::Dense(x) = x else {
            return y
                .chunks_exact_mut(n)
                .enumerate()
                .for_each(|(block, y)| self.add_product(block, x, 1.0, y));
        };
        for (block, columns) in self.data.chunks_exact(n * d).enumerate() {
            let (known, later) = y.split_at_mut((block + 1) * n);
            let own = &mut known[block * n..];
            let tile = &columns[block * d..];
            widest(
                #[inline(always)]
                || multiply(tile, n, x, &mut own[block * d..][..d], None),
            );
            for (other, out) in (block + 1..).zip(later.chunks_exact_mut(n)) {
                let (tile, transposed) = (&columns[other * d..], &mut out[block * d..][..d]);
                widest(
                    #[inline(always)]
                    || multiply(tile, n, x, &mut own[other * d..][..d], Some(transposed)),
                );
            }
        }
    }

    /// `out += scale P (e ⊗ x)` for the unit vector of `block`.
    pub(super) fn add_product(&self, block: usize, x: Features<'_>, scale: f64, out: &mut [f64]) {
        let (n, d, start) = (self.side(), self.features, self.start(block));
        let (above, below) = out.split_at_mut(start);
        match x {
            Features::Dense(x) => self.add_products(block, scale, x, above, below, n),
            Features::Sparse { .. } => {
                for (i, value) in x.iter() {
                    axpy(scale * value, &self.data[(block * d + i) * n..][start..n], below);
                }
                for (out, column) in above.iter_mut().zip(self.data.chunks_exact(n)) {
                    *out += scale * x.dot(&column[block * d..][..d]);
                }
            }
        }
    }

    /// Writes $P (I \otimes x)$ for the rows `x`, one after another, to `out`, one after another.
    pub(super) fn products(&self, x: &[f64], out: &mut [f64]) {
        let (n, d, q) = (self.side(), self.features, self.blocks);
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

    /// Whether products are large enough to be divided.
    fn is_large(&self) -> bool {
        const LARGE: usize = 1024;
        self.side() >= LARGE
    }

    fn add_products(
        &self,
        block: usize,
        scale: f64,
        x: &[f64],
        above: &mut [f64],
        below: &mut [f64],
        n: usize,
    ) {
        let (d, start) = (self.features, above.len());
        let x = part(x, d, d, 1);
        let column = part(&self.data[block * d * n + start..], n, n - start, d);
        product(columns_mut(below, n - start, 1), Store::Add, scale, column, x);
        if start > 0 {
            let row = part(&self.data[block * d..], n, d, start).transpose();
            product(columns_mut(above, start, 1), Store::Add, scale, row, x);
        }
    }

    /// `P -= f fᵀ` for `f` of `rank` columns.
    pub(super) fn downdate(&mut self, f: &[f64], rank: usize) {
        let n = self.side();
        let pieces = if self.is_large() { DOWNDATE_PIECES } else { 1 };
        let mut rest = &mut self.data[..];
        let mut first = 0;
        let parts = (1..=pieces).map(|share| {
            // The pieces have equal areas of the lower triangle.
            let end = n - (n as f64 * (1.0 - share as f64 / pieces as f64).sqrt()) as usize;
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
        let side = self.side();
        mirror_lower(&mut self.data, side, side);
        &mut self.data
    }

    /// A copy in which only the lower triangle is valid.
    pub(super) fn lower(&self) -> Vec<f64> {
        self.data.clone()
    }

    /// The entry, read from the triangle that is up to date.
    pub(super) fn entry(&self, row: usize, col: usize) -> f64 {
        self.data[row.min(col) * self.side() + row.max(col)]
    }

    /// Sets the entry in the triangle that is up to date; within panels both entries have to be set.
    pub(super) fn set(&mut self, row: usize, col: usize, value: f64) {
        let side = self.side();
        self.data[col * side + row] = value;
    }
}

/// `c -= f fᵀ` for the lower triangle of some columns of a matrix of `n` rows; `start` is the first of these
/// columns, and `f` has the rows from `start` on.
fn downdate_columns(c: &mut [f64], n: usize, start: usize, f: faer::MatRef<'_, f64>) {
    let (own, below) = f.split_at_row(c.len() / n);
    symmetric_downdate(part_mut(&mut c[start..], n, own.nrows(), own.nrows()), own);
    if below.nrows() > 0 {
        let end = start + own.nrows();
        product(
            part_mut(&mut c[end..], n, below.nrows(), own.nrows()),
            Store::Add,
            -1.0,
            below,
            own.transpose(),
        );
    }
}

/// `out += b x` and, in the same pass, `transposed += bᵀ x`, for a square `b` of the side of `x`; successive
/// columns are `stride` numbers apart.
#[inline(always)]
fn multiply(b: &[f64], stride: usize, x: &[f64], out: &mut [f64], mut transposed: Option<&mut [f64]>) {
    const AT_ONCE: usize = 4;
    let side = x.len();
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    for (at, scales) in x.chunks(AT_ONCE).enumerate() {
        // If fewer columns remain, the others are replaced by the first one times 0.
        let mut scale = [0.0; AT_ONCE];
        scale[..scales.len()].copy_from_slice(scales);
        let column = |k: usize| {
            let k = if k < scales.len() { k } else { 0 };
            &b[(at * AT_ONCE + k) * stride..][..side]
        };
        let columns = [column(0), column(1), column(2), column(3)];
        let blocks = columns.map(|column| column.as_chunks::<LANES>().0);
        let mut lanes = [[0.0; LANES]; AT_ONCE];
        let (out_blocks, out_rest) = out.as_chunks_mut::<LANES>();
        let whole = out_blocks.len();
        let [a, b, c, d] = blocks.map(|blocks| &blocks[..whole]);
        let x_blocks = &x_blocks[..whole];
        for i in 0..whole {
            let (out, x) = (&mut out_blocks[i], &x_blocks[i]);
            let (a, b, c, d) = (&a[i], &b[i], &c[i], &d[i]);
            for lane in 0..LANES {
                out[lane] +=
                    (scale[0] * a[lane] + scale[1] * b[lane]) + (scale[2] * c[lane] + scale[3] * d[lane]);
                lanes[0][lane] += a[lane] * x[lane];
                lanes[1][lane] += b[lane] * x[lane];
                lanes[2][lane] += c[lane] * x[lane];
                lanes[3][lane] += d[lane] * x[lane];
            }
        }
        let rests = columns.map(|column| &column[whole * LANES..]);
        for (i, out) in out_rest.iter_mut().enumerate() {
            let [a, b, c, d] = rests.map(|rest| rest[i]);
            *out += (scale[0] * a + scale[1] * b) + (scale[2] * c + scale[3] * d);
        }
        if let Some(transposed) = &mut transposed {
            for (k, out) in transposed[at * AT_ONCE..].iter_mut().take(scales.len()).enumerate() {
                let rest: f64 = rests[k].iter().zip(x_rest).map(|(b, x)| b * x).sum();
                *out += sum_of_lanes(lanes[k]) + rest;
            }
        }
    }
}
