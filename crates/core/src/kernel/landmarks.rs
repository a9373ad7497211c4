//! The rows that span a subspace of a kernel's Hilbert space (theory: aioli 4.1).

use crate::kernel::vector::{dot, widened};

/// Rows $z_1, \dots, z_m$ whose features are linearly independent, with the orthonormal basis of their span
/// that the Cholesky factor $L$ of their kernel matrix gives: the coordinates of $\Phi(x)$'s projection are
/// $a = L^{-1} (k(z_i, x))_i$. A further row appends a coordinate, and changes none.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    /// The rows, one after another.
    rows: Vec<f64>,
    /// The rows of the lower triangle of $L$, one after another.
    factor: Vec<f64>,
    count: usize,
}

impl Landmarks {
    /// $m$.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Writes the coordinates of $\Phi(x)$'s projection to the first entries of `a`, for the kernel $k$.
    /// Returns the square of its distance from the span, $k(x, x) - \lVert a \rVert^2$, for `own` $= k(x,
    /// x)$.
    pub fn project(&self, kernel: impl Fn(&[f64], &[f64]) -> f64, x: &[f64], own: f64, a: &mut [f64]) -> f64 {
        let mut rest = &self.factor[..];
        for (i, row) in self.rows.chunks_exact(x.len()).enumerate() {
            let (line, below) = rest.split_at(i + 1);
            a[i] = (kernel(row, x) - dot(&line[..i], &a[..i])) / line[i];
            rest = below;
        }
        let a = &a[..self.count];
        (own - dot(a, a)).max(0.0)
    }

    /// Appends the row `x`, of which [`project`](Self::project) has written the coordinates `a`, and `last`
    /// is the distance from the span, > 0.
    pub fn add(&mut self, x: &[f64], a: &[f64], last: f64) {
        self.rows.extend_from_slice(x);
        self.factor.extend_from_slice(&a[..self.count]);
        self.factor.push(last);
        self.count += 1;
    }

    /// Appends features of 0 to rows of `old` features.
    pub fn widen(&mut self, old: usize, new: usize) {
        self.rows = widened(&self.rows, old, self.count, new);
    }

    /// The rows and the factor, for [`crate::state::State::tensors`].
    pub(crate) fn lists(&mut self) -> [(&'static str, &mut Vec<f64>); 2] {
        [("landmarks", &mut self.rows), ("factor", &mut self.factor)]
    }

    /// Recomputes $m$ from the lists; false if they are inconsistent, or if there are more than `most` rows.
    pub(crate) fn restored(&mut self, features: usize, most: usize) -> bool {
        self.count = self.rows.len() / features;
        let m = self.count;
        m <= most
            && self.rows.len() == m * features
            && self.factor.len() == m * (m + 1) / 2
            && (0..m).all(|i| self.factor[i * (i + 3) / 2] > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, unit_rows};

    /// Products of coordinates are kernels, for landmarks and for a row that is in their span.
    #[test]
    fn coordinates_are_those_of_the_features() {
        let squared = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(u, v)| (u - v).powi(2)).sum::<f64>();
        let kernel = |u: &[f64], v: &[f64]| (-squared(u, v) / 0.98).exp();
        let rows = unit_rows(5, 6, 3);
        let (mut landmarks, mut coordinates) = (Landmarks::default(), Vec::new());
        for x in &rows {
            let mut a = vec![0.0; 6];
            let rest = landmarks.project(kernel, x, 1.0, &mut a).sqrt();
            assert!(rest > 0.01, "{rest}");
            a[landmarks.count()] = rest;
            landmarks.add(x, &a, rest);
            coordinates.push(a);
        }
        for (u, a) in rows.iter().zip(&coordinates) {
            for (v, b) in rows.iter().zip(&coordinates) {
                assert_close(dot(a, b), kernel(u, v), 1e-12, "kernel");
            }
            let mut again = vec![0.0; 6];
            assert!(landmarks.project(kernel, u, 1.0, &mut again) < 1e-12);
            again.iter().zip(a).for_each(|(again, a)| assert_close(*again, *a, 1e-9, "coordinate"));
        }
    }
}
