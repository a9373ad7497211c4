//! The only module that uses the linear-algebra crate: dense `f64` products and factorisations on slices.
//!
//! Matrices are column-major unless a name says otherwise. Products use one thread; for several threads the
//! caller divides them.

use std::array;
use std::mem::MaybeUninit;
use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{matmul, triangular_solve};
use faer::{Accum, MatMut, MatRef, Par};

use super::vector::widest;

/// Whether a product replaces its destination or is added to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// `c = …`
    Replace,
    /// `c += …`
    Add,
}

impl From<Store> for Accum {
    fn from(store: Store) -> Self {
        match store {
            Store::Replace => Accum::Replace,
            Store::Add => Accum::Add,
        }
    }
}

/// A borrowed matrix of `rows` x `cols`, column-major or, transposed, row-major.
pub(crate) fn columns(data: &[f64], rows: usize, cols: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(&data[..rows * cols], rows, cols)
}

/// A borrowed mutable matrix of `rows` x `cols`, column-major.
pub(crate) fn columns_mut(data: &mut [f64], rows: usize, cols: usize) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_mut(&mut data[..rows * cols], rows, cols)
}

/// A part of `rows` x `cols` of a column-major matrix; successive columns are `stride` numbers apart, and
/// `data` starts with the part.
pub(crate) fn part(data: &[f64], stride: usize, rows: usize, cols: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice_with_stride(data, rows, cols, stride)
}

/// As [`part`], mutable.
pub(crate) fn part_mut(data: &mut [f64], stride: usize, rows: usize, cols: usize) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_with_stride_mut(data, rows, cols, stride)
}

/// `c = alpha a b` or `c += alpha a b`.
pub(crate) fn product(c: MatMut<'_, f64>, into: Store, alpha: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(c, into.into(), a, b, alpha, Par::Seq);
}

/// `c -= f fᵀ` for the lower triangle of a symmetric `c`. The entries above the diagonal are not changed.
pub(crate) fn symmetric_downdate(c: MatMut<'_, f64>, f: MatRef<'_, f64>) {
    triangular::matmul(
        c,
        BlockStructure::TriangularLower,
        Accum::Add,
        f,
        BlockStructure::Rectangular,
        f.transpose(),
        BlockStructure::Rectangular,
        -1.0,
        Par::Seq,
    );
}

/// Copies the lower triangle of the leading square of `side` in a column-major matrix of `stride` rows to the
/// upper one, tile by tile so that both stay in cache.
pub(crate) fn mirror_lower(c: &mut [f64], stride: usize, side: usize) {
    const TILE: usize = 32;
    widest(
        #[inline(always)]
        || {
            for left in (0..side).step_by(TILE) {
                for top in (left..side).step_by(TILE) {
                    mirror_tile(c, stride, left..(left + TILE).min(side), top..(top + TILE).min(side));
                }
            }
        },
    );
}

/// [`mirror_lower`] for the entries of these columns and rows that are below the diagonal, in squares that
/// fit into registers.
#[inline(always)]
fn mirror_tile(c: &mut [f64], stride: usize, cols: Range<usize>, rows: Range<usize>) {
    const SIDE: usize = 4;
    for left in cols.clone().step_by(SIDE) {
        for top in (rows.start.max(left)..rows.end).step_by(SIDE) {
            if top > left && left + SIDE <= cols.end && top + SIDE <= rows.end {
                let square: [[f64; SIDE]; SIDE] =
                    array::from_fn(|col| array::from_fn(|row| c[stride * (left + col) + top..][..SIDE][row]));
                for row in 0..SIDE {
                    let out = &mut c[stride * (top + row) + left..][..SIDE];
                    out.copy_from_slice(&square.map(|col| col[row]));
                }
            } else {
                for col in left..(left + SIDE).min(cols.end) {
                    for row in top.max(col + 1)..(top + SIDE).min(rows.end) {
                        c[stride * row + col] = c[stride * col + row];
                    }
                }
            }
        }
    }
}

/// Replaces the symmetric positive definite `a` (`side`², lower triangle read) by its lower Cholesky factor;
/// the entries above the diagonal are not changed. Returns false if `a` is not positive definite.
pub(crate) fn cholesky(a: &mut [f64], side: usize) -> bool {
    // The factorisation needs one column of temporary memory, on the stack if it is short.
    const ON_STACK: usize = 4096;
    let need = llt::factor::cholesky_in_place_scratch::<f64>(side, Par::Seq, Default::default());
    let mut small = [MaybeUninit::<u8>::uninit(); ON_STACK];
    let mut large;
    let stack = if need.unaligned_bytes_required() <= ON_STACK {
        MemStack::new(&mut small)
    } else {
        large = MemBuffer::new(need);
        MemStack::new(&mut large)
    };
    let a = columns_mut(a, side, side);
    llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, Default::default()).is_ok()
}

/// Replaces the symmetric positive definite `a` (`side`², lower triangle read) by its inverse, exactly
/// symmetric. Returns false, with unspecified content of `a`, if it is not positive definite.
pub(crate) fn invert(a: &mut [f64], side: usize) -> bool {
    if !cholesky(a, side) {
        return false;
    }
    let factor = a.to_vec();
    let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(side, Par::Seq));
    let factor = columns(&factor, side, side);
    llt::inverse::inverse(columns_mut(a, side, side), factor, Par::Seq, MemStack::new(&mut memory));
    mirror_lower(a, side, side);
    true
}

/// Solves `l x = b` in place for a lower triangular `l` (`side`²) and `b` of `side` x `cols`.
pub(crate) fn solve_lower(l: &[f64], side: usize, b: &mut [f64], cols: usize) {
    triangular_solve::solve_lower_triangular_in_place(
        columns(l, side, side),
        columns_mut(b, side, cols),
        Par::Seq,
    );
}

/// Solves `lᵀ x = b` in place for a lower triangular `l` (`side`²) and `b` of `side` x `cols`.
pub(crate) fn solve_lower_transposed(l: &[f64], side: usize, b: &mut [f64], cols: usize) {
    triangular_solve::solve_upper_triangular_in_place(
        columns(l, side, side).transpose(),
        columns_mut(b, side, cols),
        Par::Seq,
    );
}

/// `b ← b l⁻ᵀ` in place for a lower triangular `l` (`side`²) and `b` of `rows` x `side`.
pub(crate) fn divide_by_transposed_lower(b: &mut [f64], rows: usize, l: &[f64], side: usize) {
    let b = columns_mut(b, rows, side).transpose_mut();
    triangular_solve::solve_lower_triangular_in_place(columns(l, side, side), b, Par::Seq);
}

/// Solves `a x = b` in place, by elimination with partial pivoting, for any regular `a` (`side`², destroyed).
/// For small systems: faer's factorisation would allocate memory for permutations in every round.
pub(crate) fn solve(a: &mut [f64], side: usize, b: &mut [f64]) {
    let at = |row: usize, col: usize| row + side * col;
    for step in 0..side {
        let pivot = (step..side)
            .max_by(|&i, &j| a[at(i, step)].abs().total_cmp(&a[at(j, step)].abs()))
            .expect("not empty");
        (step..side).for_each(|col| a.swap(at(step, col), at(pivot, col)));
        b.swap(step, pivot);
        for row in step + 1..side {
            let factor = a[at(row, step)] / a[at(step, step)];
            for col in step + 1..side {
                a[at(row, col)] -= factor * a[at(step, col)];
            }
            b[row] -= factor * b[step];
        }
    }
    for row in (0..side).rev() {
        let known: f64 = (row + 1..side).map(|col| a[at(row, col)] * b[col]).sum();
        b[row] = (b[row] - known) / a[at(row, row)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_triangle_is_copied_and_nothing_else() {
        for (side, stride) in [(0, 1), (1, 1), (3, 5), (4, 4), (31, 31), (33, 40), (66, 70), (101, 101)] {
            let number = |row: usize, col: usize| (row * 1000 + col) as f64;
            let mut c: Vec<f64> = (0..stride * side).map(|at| number(at % stride, at / stride)).collect();
            mirror_lower(&mut c, stride, side);
            for (at, c) in c.iter().enumerate() {
                let (row, col) = (at % stride, at / stride);
                let want = if row < side { number(row.max(col), row.min(col)) } else { number(row, col) };
                assert_eq!(*c, want, "row {row}, column {col} of {side}");
            }
        }
    }

    /// 2y + z = 7, x + y = 3, 4x + z = 4 has the solution (1/2, 5/2, 2); the first pivot requires a row
    /// exchange.
    #[test]
    fn solves_with_row_exchanges() {
        let mut a = [0.0, 1.0, 4.0, 2.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        let mut b = [7.0, 3.0, 4.0];
        solve(&mut a, 3, &mut b);
        for (got, want) in b.iter().zip([0.5, 2.5, 2.0]) {
            assert!((got - want).abs() < 1e-15, "{b:?}");
        }
    }
}
