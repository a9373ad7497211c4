//! The best linear predictor in hindsight: $L^*(B) = \min_W \sum_t \omega_t \ell(Wx_t, y_t)$ over a norm
//! ball.
//!
//! Regret is measured against it, so its value comes with a proof: the Frank-Wolfe duality gap
//! $\langle \nabla, W \rangle + B \lVert \nabla \rVert_*$ at the returned predictor, an upper bound of how
//! much better anything in the ball can be. It holds whatever way the predictor was found (theory: baselines
//! 5.1).
//!
//! Two methods find it. Up to about 2000 parameters a primal-dual interior-point method with exact Hessians:
//! usually 5 to 20 Newton steps, whatever the conditioning and whether the optimum is inside the ball or, as
//! on separable data, on its sphere. Beyond, accelerated projected gradient descent with restarts.
//! (General-purpose optimisers do not fit: the quasi-Newton methods of the usual crates know no such
//! constraints.)

use thiserror::Error;

use super::accelerated;
use super::data::Data;
use super::interior_point;
use super::objective::Objective;

/// The norm that is bounded by $B$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ball {
    /// Every row of $W$: $\max_k \lVert w_k \rVert_2 \le B$ (FOLKLORE's theorem).
    Rows,
    /// $\lVert W \rVert_F \le B$ (GAF's theorem, gradient descent, online Newton step).
    Frobenius,
    /// Two classes, one vector: $\lVert \theta \rVert_2 \le B$, with $\theta^\top x$ the logit of class 1
    /// over class 0 (AIOLI's theorem).
    Euclidean,
}

/// When to be content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The gap to reach, as a fraction of max(1, value): above 0. Below about 1e-13 rounding is in the way.
    pub tolerance: f64,
    /// The largest number of passes over the data. A Hessian counts as one.
    pub passes: usize,
}

impl Default for Stop {
    /// A gap of 1e-8, and 20 000 passes.
    fn default() -> Self {
        Self { tolerance: 1e-8, passes: 20_000 }
    }
}

/// A predictor of the ball, and a proof of how good it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparator {
    /// Its total loss, in nats.
    pub value: f64,
    /// $W$, $K \times d$ row by row; for [`Ball::Euclidean`] the $d$ entries of $\theta$.
    pub weights: Vec<f64>,
    /// Nothing in the ball has a total loss below `value - gap`. Above the tolerance only where the passes
    /// ran out or rounding stopped all progress.
    pub gap: f64,
    /// Steps of the method.
    pub iterations: usize,
}

/// What makes the question meaningless.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ComparatorError {
    /// A ball of no, or no finite, size.
    #[error("the norm bound of the comparator is {0}, a finite number above 0 is needed")]
    Norm(f64),
    /// A tolerance that cannot be met.
    #[error("the tolerance of the comparator is {0}, a finite number above 0 is needed")]
    Tolerance(f64),
    /// One vector describes two classes, not more.
    #[error("a comparator that is one vector was asked for with {0} classes, 2 are needed")]
    Classes(usize),
}

/// The predictor with the least total logistic loss on `data` among those with `ball` norm at most `norm`
/// $B$.
///
/// Without rows it is 0.
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

/// Minimise the objective where each of `groups` equal parts of the parameters has Euclidean norm at most
/// `norm`.
pub(super) struct Constrained<'a> {
    pub(super) objective: Objective<'a>,
    pub(super) groups: usize,
    pub(super) norm: f64,
}

/// Where a method ended.
pub(super) struct Found {
    pub(super) u: Vec<f64>,
    pub(super) value: f64,
    pub(super) gap: f64,
    pub(super) iterations: usize,
}

impl Constrained<'_> {
    /// How many parameters a group has.
    pub(super) fn group(&self) -> usize {
        self.objective.dimension() / self.groups
    }

    /// The Frank-Wolfe gap at a feasible `u` with this value and gradient: the sum over groups of
    /// $\langle \nabla_k, u_k \rangle + B \lVert \nabla_k \rVert_2$; or the value, as no loss is below 0.
    pub(super) fn gap(&self, u: &[f64], value: f64, gradient: &[f64]) -> f64 {
        let groups = u.chunks_exact(self.group()).zip(gradient.chunks_exact(self.group()));
        let gap: f64 = groups.map(|(u, g)| (dot(u, g) + self.norm * dot(g, g).sqrt()).max(0.0)).sum();
        gap.min(value)
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
