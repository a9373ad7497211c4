//! Reproducing kernels, and the rows that span a subspace of a kernel's Hilbert space (theory: aioli 3.1,
//! 4.1).

use crate::kernel::vector::{dot, widened};
use crate::param::{ParamError, non_negative, positive};
use crate::param_words;

param_words! {
    /// A kernel $k(u, v)$.
    pub enum Kernel {
        /// $u^\top v$.
        Linear = "linear",
        /// $(u^\top v + \text{offset})^{\text{degree}}$.
        Polynomial = "polynomial",
        /// $\exp(-\lVert u - v \rVert^2 / (2\ \text{length scale}^2))$.
        Rbf = "rbf",
    }
}

/// A kernel with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reproducing {
    /// The kind of kernel.
    pub kernel: Kernel,
    /// The degree of a polynomial.
    pub degree: u32,
    /// The offset of a polynomial.
    pub offset: f64,
    /// The length scale of the rbf kernel.
    pub length_scale: f64,
}

impl Reproducing {
    /// The kernel with these parameters, or with their defaults for rows of `features` columns: two rows of
    /// standardised columns are at a squared distance of about twice their number.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn checked(
        kernel: Option<Kernel>,
        degree: Option<u64>,
        offset: Option<f64>,
        length_scale: Option<f64>,
        features: usize,
    ) -> Result<Self, ParamError> {
        let degree = degree.unwrap_or(2);
        if !(1..=100).contains(&degree) {
            return Err(ParamError::invalid("degree", degree, "from 1 to 100"));
        }
        Ok(Self {
            kernel: kernel.unwrap_or(Kernel::Rbf),
            degree: degree as u32,
            offset: non_negative("offset", offset.unwrap_or(1.0))?,
            length_scale: positive("length_scale", length_scale.unwrap_or((features as f64).sqrt()))?,
        })
    }

    /// A bound on $\sqrt{k(x, x)}$ for rows of norm at most `of_rows`.
    pub fn radius(&self, of_rows: f64) -> f64 {
        match self.kernel {
            Kernel::Linear => of_rows,
            Kernel::Polynomial => (of_rows * of_rows + self.offset).powf(0.5 * f64::from(self.degree)),
            Kernel::Rbf => 1.0,
        }
    }

    /// $k(u, v)$.
    pub fn value(&self, u: &[f64], v: &[f64]) -> f64 {
        match self.kernel {
            Kernel::Linear => dot(u, v),
            Kernel::Polynomial => (dot(u, v) + self.offset).powi(self.degree as i32),
            Kernel::Rbf => {
                let squared: f64 = u.iter().zip(v).map(|(u, v)| ((u - v) / self.length_scale).powi(2)).sum();
                (-0.5 * squared).exp()
            }
        }
    }
}

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

    /// Writes the coordinates of $\Phi(x)$'s projection to the first entries of `a`. Returns the square of
    /// its distance from the span, $k(x, x) - \lVert a \rVert^2$, for `own` $= k(x, x)$.
    pub fn project(&self, kernel: &Reproducing, x: &[f64], own: f64, a: &mut [f64]) -> f64 {
        let mut rest = &self.factor[..];
        for (i, row) in self.rows.chunks_exact(x.len()).enumerate() {
            let (line, below) = rest.split_at(i + 1);
            a[i] = (kernel.value(row, x) - dot(&line[..i], &a[..i])) / line[i];
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
        let kernel = Reproducing::checked(None, None, None, Some(0.7), 3).expect("valid");
        let rows = unit_rows(5, 6, 3);
        let (mut landmarks, mut coordinates) = (Landmarks::default(), Vec::new());
        for x in &rows {
            let mut a = vec![0.0; 6];
            let rest = landmarks.project(&kernel, x, 1.0, &mut a).sqrt();
            assert!(rest > 0.01, "{rest}");
            a[landmarks.count()] = rest;
            landmarks.add(x, &a, rest);
            coordinates.push(a);
        }
        for (u, a) in rows.iter().zip(&coordinates) {
            for (v, b) in rows.iter().zip(&coordinates) {
                assert_close(dot(a, b), kernel.value(u, v), 1e-12, "kernel");
            }
            let mut again = vec![0.0; 6];
            assert!(landmarks.project(&kernel, u, 1.0, &mut again) < 1e-12);
            again.iter().zip(a).for_each(|(again, a)| assert_close(*again, *a, 1e-9, "coordinate"));
        }
    }
}
