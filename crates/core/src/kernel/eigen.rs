//! Eigenvalues of small Gram matrices, by Jacobi's method.
//!
//! A Gram matrix is $DCD$ with the lengths of its rows in the diagonal $D$. Jacobi's method finds small
//! eigenvalues beside huge ones as accurately as $C$ allows, while methods that reduce a matrix to a
//! tridiagonal one lose every eigenvalue below $10^{-16}$ of the largest one (Demmel, Veselić, "Jacobi's
//! method is more accurate than QR", 1992). It also needs no temporary memory.

/// A sweep rotates every pair once; a few are enough, since the method converges quadratically.
const MOST_SWEEPS: usize = 30;

/// Diagonalises the symmetric positive semidefinite `a` of `side`² numbers: its diagonal becomes the
/// eigenvalues, in no particular order, and row $i$ of `vectors` the eigenvector of the $i$-th one. Rounding
/// may make an eigenvalue of 0 negative.
pub(crate) fn jacobi(a: &mut [f64], side: usize, vectors: &mut [f64]) {
    vectors.fill(0.0);
    vectors.iter_mut().step_by(side + 1).for_each(|entry| *entry = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..side {
            for q in p + 1..side {
                rotated |= rotate(a, side, vectors, p, q);
            }
        }
        if !rotated {
            return;
        }
    }
}

/// Makes the entry in row `p` < `q` 0 by a rotation. Returns false if it is 0 up to rounding.
fn rotate(a: &mut [f64], side: usize, vectors: &mut [f64], p: usize, q: usize) -> bool {
    let (first, second, mixed) = (a[p * side + p], a[q * side + q], a[p * side + q]);
    // The product of two diagonal entries could overflow.
    if mixed.abs() <= f64::EPSILON * first.abs().sqrt() * second.abs().sqrt() {
        return false;
    }
    let cotangent = 0.5 * (second - first) / mixed;
    let t = 1f64.copysign(cotangent) / (cotangent.abs() + cotangent.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for i in 0..side {
        let (x, y) = (a[i * side + p], a[i * side + q]);
        (a[i * side + p], a[i * side + q]) = (c * x - s * y, s * x + c * y);
    }
    // The matrix is symmetric: its rows are the columns just computed.
    for i in 0..side {
        (a[p * side + i], a[q * side + i]) = (a[i * side + p], a[i * side + q]);
    }
    a[p * side + p] = first - t * mixed;
    a[q * side + q] = second + t * mixed;
    (a[p * side + q], a[q * side + p]) = (0.0, 0.0);
    let (above, below) = vectors.split_at_mut(q * side);
    for (x, y) in above[p * side..][..side].iter_mut().zip(&mut below[..side]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    /// The Gram matrix of rows of `features` numbers.
    fn gram(rows: &[f64], features: usize) -> Vec<f64> {
        let rows: Vec<&[f64]> = rows.chunks_exact(features).collect();
        rows.iter().flat_map(|a| rows.iter().map(|b| dot(a, b))).collect()
    }

    proptest! {
        /// Also of matrices without full rank: rows of 3 numbers.
        #[test]
        fn vectors_and_values_belong_together(rows in prop::collection::vec(-1.0..1.0f64, 15)) {
            let (side, whole) = (5, gram(&rows, 3));
            let (mut a, mut vectors) = (whole.clone(), vec![0.0; 25]);
            jacobi(&mut a, side, &mut vectors);
            for (i, v) in vectors.chunks_exact(side).enumerate() {
                for (row, entry) in whole.chunks_exact(side).zip(v) {
                    prop_assert!((dot(row, v) - a[i * side + i] * entry).abs() < 1e-13);
                }
                for (j, other) in vectors.chunks_exact(side).enumerate() {
                    prop_assert!((dot(v, other) - f64::from(i == j)).abs() < 1e-13);
                }
            }
        }
    }

    /// Rows of length 10^100, 1 and 10^-100. The two small eigenvalues are what is left beside the longer
    /// rows: for the unit directions u = (3, 4)/5 and v = (4, -3)/5 and w orthogonal to both, the rows
    /// 10^100 u, u + v, 10^-100 (u + v + w) have the eigenvalues 10^200, 1 and 10^-200.
    #[test]
    fn small_values_beside_huge_ones_are_accurate() {
        let (huge, tiny) = (1e100, 1e-100);
        let rows = [[0.6 * huge, 0.8 * huge, 0.0], [1.4, 0.2, 0.0], [1.4 * tiny, 0.2 * tiny, tiny]];
        let (mut a, mut vectors) = (gram(&rows.concat(), 3), vec![0.0; 9]);
        jacobi(&mut a, 3, &mut vectors);
        let mut values = [a[0], a[4], a[8]];
        values.sort_by(f64::total_cmp);
        for (got, want) in values.iter().zip([tiny * tiny, 1.0, huge * huge]) {
            assert_close(got / want, 1.0, 1e-14, "eigenvalue");
        }
    }
}
