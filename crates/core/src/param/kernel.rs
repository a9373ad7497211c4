//! A reproducing kernel as parameters (theory: aioli 3.1).

use crate::kernel::vector::dot;
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
