//! The squared loss, for which the Gaussian forecaster is VAW.

use super::mixable_loss::{Forecast, MixableLoss, Posterior};
use crate::example::Truth;

/// The squared loss $(z - y)^2$ of targets in $[-Y, Y]$: mixable with $\alpha = 1/(2Y^2)$, and its own
/// surrogate.
#[derive(Clone, Debug)]
pub struct SquaredLoss {
    /// $Y$.
    pub target_bound: f64,
}

impl MixableLoss for SquaredLoss {
    fn dimension(&self) -> usize {
        1
    }

    fn outputs(&self) -> (usize, usize) {
        (1, 0)
    }

    fn scratch_len(&self) -> usize {
        0
    }

    fn mixability(&self) -> f64 {
        0.5 / (self.target_bound * self.target_bound)
    }

    fn curvature(&self) -> f64 {
        1.0
    }

    fn value(&self, z: &[f64], y: Truth<'_>, _: &mut [f64]) -> f64 {
        (z[0] - value_of(y)).powi(2)
    }

    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], _: &mut [f64]) {
        gradient[0] = 2.0 * (z[0] - value_of(y));
        factor[0] = std::f64::consts::SQRT_2;
    }

    /// $\hat y = (g(-Y) - g(Y))/(4Y)$ with
    /// $g(y) = -\tfrac1\alpha \ln \mathbb{E} e^{-\alpha(z-y)^2} = (z_0 - y)^2/(1 + 2\alpha s^2)$ up to a
    /// constant, for $z \sim N(z_0, s^2)$.
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, _: &mut [f64]) {
        let bound = self.target_bound;
        let width = 1.0 + 2.0 * self.mixability() * posterior.covariance[0];
        let g = |y: f64| (posterior.mean[0] - y).powi(2) / width;
        out.scores[0] = (g(-bound) - g(bound)) / (4.0 * bound);
    }

    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64 {
        (scores[0] - value_of(y)).powi(2)
    }
}

pub(super) fn value_of(y: Truth<'_>) -> f64 {
    match y {
        Truth::Value(value) => value,
        other => panic!("a regression was given the class target {other:?}"),
    }
}
