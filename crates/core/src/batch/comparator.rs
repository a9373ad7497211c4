//! The best linear predictor in hindsight: $L^*(B) = \min_W \sum_t \omega_t \ell(Wx_t, y_t)$ over a norm
//! ball.
//!
//! Regret is measured relative to its value, which therefore comes with a proof: the Frank-Wolfe duality gap
//! $\langle \nabla, W \rangle + B \lVert \nabla \rVert_*$ at the returned predictor, an upper bound on the
//! difference between its value and the minimum. The bound holds for any predictor, however it was found
//! (theory: baselines 5.1).
//!
//! Two methods find the predictor. Up to about 2000 parameters, a primal-dual interior-point method with
//! exact Hessians, which usually takes 5 to 20 Newton steps, for any conditioning, and whether the optimum is
//! inside the ball or on its sphere, as for separable data. For more parameters, accelerated projected
//! gradient descent with restarts. (The quasi-Newton methods of general-purpose crates do not support such
//! constraints.)

use thiserror::Error;

use super::accelerated;
use super::constrained::Constrained;
pub use super::constrained::Stop;
use super::data::Data;
use super::interior_point;
use super::objective::Objective;
pub use crate::bounds::Ball;

/// A predictor in the ball, with a bound on its distance from the minimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparator {
    /// Its total loss, in nats.
    pub value: f64,
    /// $W$, $K \times d$ row by row; for [`Ball::Euclidean`] the $d$ entries of $\theta$.
    pub weights: Vec<f64>,
    /// No predictor in the ball has a total loss below `value - gap`. The gap is above the tolerance only if
    /// the passes are exhausted or rounding prevents progress.
    pub gap: f64,
    /// Number of steps of the method.
    pub iterations: usize,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ComparatorError {
    /// A ball whose radius is not positive and finite.
    #[error("the norm bound of the comparator is {0}, a finite number above 0 is needed")]
    Norm(f64),
    /// A tolerance that cannot be reached.
    #[error("the tolerance of the comparator is {0}, a finite number above 0 is needed")]
    Tolerance(f64),
    /// A single vector describes two classes only.
    #[error("a comparator that is one vector was asked for with {0} classes, 2 are needed")]
    Classes(usize),
}

/// The predictor with the least total logistic loss on `data` among those with `ball` norm at most `norm`
/// $B$.
///
/// Without rows the result is 0.
///
/// # Errors
/// If `norm` or the tolerance is not finite and above 0, or the ball is Euclidean and the classes are not
/// two.
pub fn best_in_hindsight(
    data: &Data<'_>,
    ball: Ball,
    norm: f64,
    stop: Stop,
) -> Result<Comparator, ComparatorError> {
    let is_positive = |value: f64| value.is_finite() && value > 0.0;
    if !is_positive(norm) {
        return Err(ComparatorError::Norm(norm));
    }
    if !is_positive(stop.tolerance) {
        return Err(ComparatorError::Tolerance(stop.tolerance));
    }
    let (objective, groups) = match ball {
        Ball::Rows => (Objective::full(*data), data.classes()),
        Ball::Frobenius => (Objective::centred(*data), 1),
        Ball::Euclidean if data.classes() != 2 => return Err(ComparatorError::Classes(data.classes())),
        Ball::Euclidean => (Objective::binary(*data), 1),
    };
    let prefers_newton = objective.prefers_newton();
    let problem = Constrained { objective, groups, norm };
    let found = if prefers_newton {
        interior_point::solve(&problem, stop)
    } else {
        accelerated::solve(&problem, stop)
    };
    let weights = match ball {
        Ball::Euclidean => found.u,
        Ball::Rows | Ball::Frobenius => problem.objective.weights(&found.u),
    };
    Ok(Comparator { value: found.value, weights, gap: found.gap, iterations: found.iterations })
}

#[cfg(test)]
mod tests;
