//! The problem of the two methods that find the best predictor, and what they return.

use super::objective::Objective;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The gap to reach, as a fraction of max(1, value): above 0. Below about 1e-13 rounding prevents
    /// progress.
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

/// Minimises the objective where each of `groups` equal parts of the parameters has Euclidean norm at most
/// `norm`.
pub(super) struct Constrained<'a> {
    pub(super) objective: Objective<'a>,
    pub(super) groups: usize,
    pub(super) norm: f64,
}

/// The result of a method.
pub(super) struct Found {
    pub(super) u: Vec<f64>,
    pub(super) value: f64,
    pub(super) gap: f64,
    pub(super) iterations: usize,
}

impl Constrained<'_> {
    /// The number of parameters of a group.
    pub(super) fn group(&self) -> usize {
        self.objective.dimension() / self.groups
    }

    /// The Frank-Wolfe gap at a feasible `u` with this value and gradient: the sum over groups of $\langle
    /// \nabla_k, u_k \rangle + B \lVert \nabla_k \rVert_2$; or the value, if that is smaller, since losses
    /// are not negative.
    pub(super) fn gap(&self, u: &[f64], value: f64, gradient: &[f64]) -> f64 {
        duality_gap(u, gradient, self.groups, self.norm, value)
    }
}

/// See [`Constrained::gap`]; `u` may be outside the balls.
pub(super) fn duality_gap(u: &[f64], gradient: &[f64], groups: usize, norm: f64, value: f64) -> f64 {
    let size = u.len() / groups;
    let groups = u.chunks_exact(size).zip(gradient.chunks_exact(size));
    let gap: f64 = groups.map(|(u, g)| (dot(u, g) + norm * dot(g, g).sqrt()).max(0.0)).sum();
    gap.min(value)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
