//! A symmetric matrix of which little more than half is kept up to date.

use crate::kernel::linalg::{Into, columns_mut, mirror_lower, part, part_mut, product, symmetric_downdate};
use crate::kernel::vector::axpy;
use crate::example::Features;

/// Diagonal panels have at least this many rows: few enough that mirroring them is cheap, enough for fast products.
const PANEL_ROWS: usize = 128;

/// A symmetric matrix of side $n = qd$, stored as a full column-major square.
///
/// Up to date are the lower triangle and the *panels*, squares of whole blocks along the diagonal. What stands above them
/// may be stale: a symmetric downdate writes half of the memory, and a product reads half of it twice instead of all of
/// it once. One panel, where $n$ is small, makes this an ordinary square.
#[derive(Clone, Debug)]
pub(super) struct HalfSquare {
    blocks: usize,
    features: usize,
    data: Vec<f64>,
}

impl HalfSquare {
    /// `diagonal` times the identity.
    pub(super) fn new(blocks: usize, features: usize, diagonal: f64) -> Self {
        let side = blocks * features;
        let mut data = vec![0.0; side * side];
        data.iter_mut().step_by(side + 1).for_each(|entry| *entry = diagonal);
        Self { blocks, features, data }
    }

    /// The matrix of `side`² numbers, of which the lower triangle is read.
    pub(super) fn replace(&mut self, data: Vec<f64>) {
        debug_assert_eq!(data.len(), self.data.len());
        self.data = data;
        self.mirror_panels();
    }

    pub(super) fn side(&self) -> usize {
        self.blocks * self.features
    }

    /// Rows of a panel; the last one may have fewer.
    fn panel(&self) -> usize {
        PANEL_ROWS.div_ceil(self.features) * self.features
    }

    /// The first row of the panel that `block` is in.
    fn start(&self, block: usize) -> usize {
        block * self.features / self.panel() * self.panel()
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

    /// The same for the rows `x`, one after the other; the results stand `stride` numbers apart in `out`, which starts with
    /// the first of them.
    pub(super) fn products(&self, block: usize, x: &[f64], out: &mut [f64], stride: usize) {
        let (n, d, start) = (self.side(), self.features, self.start(block));
        let rows = x.len() / d;
        let x = part(x, d, d, rows);
        let below = part(&self.data[block * d * n + start..], n, n - start, d);
        product(part_mut(&mut out[start..], stride, n - start, rows), Into::Replace, 1.0, below, x);
        let above = part(&self.data[block * d..], n, d, start).transpose();
        product(part_mut(out, stride, start, rows), Into::Replace, 1.0, above, x);
    }

    fn add_products(&self, block: usize, scale: f64, x: &[f64], above: &mut [f64], below: &mut [f64], n: usize) {
        let (d, start) = (self.features, above.len());
        let x = part(x, d, d, 1);
        let column = part(&self.data[block * d * n + start..], n, n - start, d);
        product(columns_mut(below, n - start, 1), Into::Add, scale, column, x);
        if start > 0 {
            let row = part(&self.data[block * d..], n, d, start).transpose();
            product(columns_mut(above, start, 1), Into::Add, scale, row, x);
        }
    }

    /// `P -= f fᵀ` for `f` of `rank` columns.
    pub(super) fn downdate(&mut self, f: &[f64], rank: usize) {
        let side = self.side();
        symmetric_downdate(&mut self.data, side, f, rank);
        self.mirror_panels();
    }

    fn mirror_panels(&mut self) {
        let (side, panel) = (self.side(), self.panel());
        for start in (0..side).step_by(panel) {
            let rows = panel.min(side - start);
            mirror_lower(&mut self.data[start * side + start..], side, rows);
        }
    }

    /// All of it, symmetric to the bit.
    pub(super) fn full(&mut self) -> &mut [f64] {
        let side = self.side();
        mirror_lower(&mut self.data, side, side);
        &mut self.data
    }

    /// A copy of which only the lower triangle counts.
    pub(super) fn lower(&self) -> Vec<f64> {
        self.data.clone()
    }

    /// The entry, wherever it is kept.
    pub(super) fn entry(&self, row: usize, col: usize) -> f64 {
        self.data[row.min(col) * self.side() + row.max(col)]
    }

    /// Sets the entry where it is kept; panels stay symmetric if both of its places are set.
    pub(super) fn set(&mut self, row: usize, col: usize, value: f64) {
        let side = self.side();
        self.data[col * side + row] = value;
    }
}
