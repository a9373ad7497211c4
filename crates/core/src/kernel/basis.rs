//! An orthonormal basis of the differences of logits.

use super::linalg::{Store, columns, columns_mut, product};

/// An orthonormal basis $V \in \mathbb{R}^{K \times (K-1)}$ of the logit differences (Helmert: column $j$ has
/// $j$ ones, then $-j$, divided by $\sqrt{j(j+1)}$), orthogonal to the all-ones vector.
///
/// Hessians and gradients of the logistic loss vanish along the all-ones vector, so that second-order
/// learners use these $K-1$ coordinates (theory: second-order 3.2). An additional class adds a column, and
/// changes no other.
#[derive(Clone, Debug)]
pub struct LogitBasis {
    classes: usize,
    /// $1/\sqrt{j(j+1)}$ for $j = 1..K-1$.
    scale: Vec<f64>,
    /// $V$, column-major.
    dense: Vec<f64>,
}

impl LogitBasis {
    /// The basis for `classes` $= K \ge 2$ classes.
    pub fn new(classes: usize) -> Self {
        let scale: Vec<f64> = (1..classes).map(|j| 1.0 / ((j * (j + 1)) as f64).sqrt()).collect();
        let mut dense = vec![0.0; classes * scale.len()];
        for (column, (j, scale)) in dense.chunks_exact_mut(classes).zip((1..).zip(&scale)) {
            column[..j].fill(*scale);
            column[j] = -(j as f64) * scale;
        }
        Self { classes, scale, dense }
    }

    /// $K$.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// $K - 1$.
    pub fn dimension(&self) -> usize {
        self.scale.len()
    }

    /// Writes $Vz$ (length $K$) to `logits`, in $O(K)$.
    pub fn expand(&self, z: &[f64], logits: &mut [f64]) {
        let mut later = 0.0;
        for i in (1..self.classes).rev() {
            let scaled = self.scale[i - 1] * z[i - 1];
            logits[i] = later - i as f64 * scaled;
            later += scaled;
        }
        logits[0] = later;
    }

    /// Writes $V^\top a$ (length $K-1$) to `out`, in $O(K)$.
    pub fn reduce(&self, a: &[f64], out: &mut [f64]) {
        let mut before = 0.0;
        for j in 1..self.classes {
            before += a[j - 1];
            out[j - 1] = self.scale[j - 1] * (before - j as f64 * a[j]);
        }
    }

    /// Writes $V N V^\top$ ($K \times K$) to `out` for a symmetric `n` of $(K-1)^2$ numbers, in $O(K^2)$;
    /// `scratch` has $K^2$.
    pub fn expand_symmetric(&self, n: &[f64], out: &mut [f64], scratch: &mut [f64]) {
        let (k, q) = (self.classes, self.dimension());
        let (half, row) = scratch.split_at_mut(k * q);
        for (n, half) in n.chunks_exact(q).zip(half.chunks_exact_mut(k)) {
            self.expand(n, half);
        }
        for (at, out) in out.chunks_exact_mut(k).enumerate() {
            for (row, half) in row.iter_mut().zip(half.chunks_exact(k)) {
                *row = half[at];
            }
            self.expand(&row[..q], out);
        }
    }

    /// Writes the diagonal of $V N V^\top$ to `out` (length $K$) for a symmetric `n` of $(K-1)^2$ numbers;
    /// `scratch` has $K(K-1)$.
    pub fn expanded_diagonal(&self, n: &[f64], out: &mut [f64], scratch: &mut [f64]) {
        let (k, q) = (self.classes, self.dimension());
        let v = columns(&self.dense, k, q);
        product(columns_mut(scratch, k, q), Store::Replace, 1.0, v, columns(n, q, q));
        out.fill(0.0);
        for (column, v) in scratch[..k * q].chunks_exact(k).zip(self.dense.chunks_exact(k)) {
            for ((out, a), b) in out.iter_mut().zip(column).zip(v) {
                *out += a * b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;

    #[test]
    fn columns_are_orthonormal_and_orthogonal_to_ones() {
        for classes in 2..12 {
            let basis = LogitBasis::new(classes);
            for (i, a) in basis.dense.chunks_exact(classes).enumerate() {
                assert!(a.iter().sum::<f64>().abs() < 1e-15);
                for (j, b) in basis.dense.chunks_exact(classes).enumerate() {
                    assert!((dot(a, b) - f64::from(i == j)).abs() < 1e-15, "K = {classes}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn fast_products_equal_dense_ones() {
        let basis = LogitBasis::new(5);
        let z = [0.3, -1.2, 0.7, 2.0];
        let a = [1.0, -0.4, 0.2, 0.9, -3.0];
        let (mut logits, mut reduced) = ([0.0; 5], [0.0; 4]);
        basis.expand(&z, &mut logits);
        basis.reduce(&a, &mut reduced);
        for (k, logit) in logits.iter().enumerate() {
            let expected: f64 = (0..4).map(|j| basis.dense[j * 5 + k] * z[j]).sum();
            assert!((logit - expected).abs() < 1e-15);
        }
        for (column, entry) in basis.dense.chunks_exact(5).zip(&reduced) {
            assert!((entry - dot(column, &a)).abs() < 1e-15);
        }
        let n: Vec<f64> = (0..16).map(|i| f64::from(1 + (i % 5) * (i / 4))).collect();
        let n: Vec<f64> = (0..16).map(|i| n[i] + n[(i % 4) * 4 + i / 4]).collect();
        let (mut diagonal, mut scratch) = ([0.0; 5], [0.0; 25]);
        basis.expanded_diagonal(&n, &mut diagonal, &mut scratch);
        let mut expanded = [0.0; 25];
        basis.expand_symmetric(&n, &mut expanded, &mut scratch);
        for (k, entry) in diagonal.iter().enumerate() {
            let row: Vec<f64> = (0..4).map(|j| basis.dense[j * 5 + k]).collect();
            let expected: f64 = (0..16).map(|i| row[i % 4] * n[i] * row[i / 4]).sum();
            assert!((entry - expected).abs() < 1e-13);
        }
    }
}
