//! AIOLI's surrogates of the logistic loss for two classes, and its forecasts, which count the coming round's
//! losses of both labels in advance (Jézéquel, Gaillard, Rudi, 2020): for rows, and for rows of a kernel's
//! Hilbert space.

use crate::example::Target;
use crate::kernel::scalar_root::shrink;
use crate::loss::curvature::{self, Curvature};
use crate::loss::logistic::sigmoid;
use crate::param::{ParamError, invertible, non_negative};
use crate::prediction::Prediction;
use crate::problem::resolve_norm;

/// The largest $k(x, x)/\lambda$ for which nothing overflows.
const LARGEST_RATIO: f64 = 1e300;

/// Surrogates of the binary logistic loss, with the parameters in use.
#[derive(Clone, Copy, Debug)]
pub struct AioliSurrogate {
    /// $B$.
    pub(crate) norm: f64,
    /// $R$.
    pub(crate) radius: f64,
    /// $\lambda$.
    pub(crate) regularization: f64,
    /// $\kappa$.
    pub(crate) kappa: f64,
    /// $\rho$.
    pub(crate) improper_weight: f64,
}

/// The surrogate of a round at a forecast, times the round's weight.
pub(crate) struct Taken {
    /// $r s + \kappa p_0p_1 s^2$, what it takes from the certificate's sum.
    pub(crate) lost: f64,
    /// $c = \kappa p_0p_1 s + r/2$, the coefficient of the row.
    pub(crate) coefficient: f64,
    /// $\kappa p_0p_1$.
    pub(crate) curvature: f64,
}

impl AioliSurrogate {
    /// The parameters in use, for rows up to `radius`.
    /// Fails if a given one is not valid.
    pub(crate) fn resolved(
        norm: Option<f64>,
        radius: f64,
        regularization: Option<f64>,
        curvature: Option<Curvature>,
        improper_weight: Option<f64>,
    ) -> Result<Self, ParamError> {
        let norm = resolve_norm(norm, radius)?;
        let regularization = regularization.unwrap_or(1.0 / (norm * norm));
        let regularization = invertible("regularization", regularization, radius)?;
        let spread = curvature::euclidean_spread(norm, radius);
        let paper = curvature::aioli_paper(spread);
        let kappa = curvature.unwrap_or(Curvature::Paper).coefficient(spread, paper);
        let kappa = curvature::checked(kappa)?;
        let improper_weight = non_negative("improper_weight", improper_weight.unwrap_or(1.0))?;
        Ok(Self { norm, radius, regularization, kappa, improper_weight })
    }

    /// The largest $\kappa$ for which the surrogates are lower bounds of the loss.
    pub(crate) fn largest_kappa(&self) -> f64 {
        curvature::tight(curvature::euclidean_spread(self.norm, self.radius))
    }

    /// Whether a row with $k(x, x)$ = `own` can be learnt. (If $k(x, x) = 0$, there is nothing to learn.)
    pub(crate) fn can_learn(&self, own: f64) -> bool {
        own > 0.0 && own <= LARGEST_RATIO * self.regularization
    }

    /// Writes the forecast for $m = b^\top A^{-1}x$ and $v = x^\top A^{-1}x$: the root $s$ of $s + \frac{\rho
    /// v}2 \tanh\frac s2 = m$.
    pub(crate) fn write_forecast(&self, m: f64, v: f64, scores: &mut [f64], probabilities: &mut [f64]) {
        let s = shrink(m, 0.5 * self.improper_weight * v);
        scores.copy_from_slice(&[-0.5 * s, 0.5 * s]);
        probabilities.copy_from_slice(&[sigmoid(-s), sigmoid(s)]);
    }

    /// The surrogate of the loss for `y` at the scores of `at`.
    pub(crate) fn taken(&self, y: Target<'_>, at: &Prediction) -> Taken {
        let s = at.scores[1] - at.scores[0];
        let p = [at.probabilities[0], at.probabilities[1]];
        let y_vector = y.truth.binary();
        let c = self.kappa * p[0] * p[1];
        let r = y_vector[1] * p[0] - y_vector[0] * p[1];
        Taken {
            // c s is computed first: s² may overflow where c underflows.
            lost: y.weight * (r * s + c * s * s),
            coefficient: y.weight * (c * s + 0.5 * r),
            curvature: y.weight * c,
        }
    }
}
