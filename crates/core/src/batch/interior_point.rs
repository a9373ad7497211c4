//! A primal-dual interior-point method, for few parameters.
//!
//! Minimises $f(u)$ subject to $s_k = (B^2 - \lVert u_k \rVert^2)/2 \ge 0$ with multipliers $\lambda_k$:
//! Newton steps on
//!
//! $$\nabla_k f + \lambda_k u_k = 0, \qquad \lambda_k s_k = \tau \qquad (1)$$
//!
//! while $\tau$ goes to 0. Eliminating the multipliers leaves a system of the size of $u$,
//!
//! $$\Big(\nabla^2 f + \mathrm{blkdiag}\big(\lambda_k I + \tfrac{\lambda_k}{s_k} u_k u_k^\top\big)\Big)
//!    \delta
//!   = -\nabla f - \big(\tfrac{\tau}{s_k} u_k\big)_k, \qquad
//! \delta\lambda_k = \frac{\tau - \lambda_k s_k + \lambda_k \langle u_k, \delta_k \rangle}{s_k}, \qquad (2)$$
//!
//! whose right-hand side is the negative gradient of the barrier function $f - \tau \sum_k \ln s_k$: $\delta$
//! is a descent direction, and a line search on that function determines the length of a step. $\tau$
//! decreases only when (1) holds approximately (Wächter and Biegler, "On the implementation of an
//! interior-point filter line-search algorithm", 2006, section 2). With a fixed schedule for $\tau$, steps
//! would stall at the sphere, and a line search on the residual of (1) is slow where the loss is saturated.

use faer::{Mat, Side, linalg::solvers::Solve};

use super::constrained::{Constrained, Found, Stop, dot};

/// The largest fraction of the distance to the boundary that a step may take.
const BOUNDARY: f64 = 0.995;

/// The largest factor between a product of multiplier and slack and $\tau$.
const NEIGHBOURHOOD: f64 = 1e6;

/// $\tau$ decreases when the residual of (1) is at most this many times $\tau$ for each group.
const SLOPPINESS: f64 = 10.0;

pub(super) fn solve(problem: &Constrained<'_>, stop: Stop) -> Found {
    let n = problem.objective.dimension();
    let mut gradient = vec![0.0; n];
    let mut hessian = Mat::zeros(n, n);
    let mut u = vec![0.0; n];
    let mut value = problem.objective.value_and_gradient(&u, &mut gradient);
    let mut multipliers: Vec<f64> = gradient
        .chunks_exact(problem.group())
        .map(|g| (dot(g, g).sqrt() / problem.norm).max(f64::MIN_POSITIVE))
        .collect();
    let mut best = Found { gap: problem.gap(&u, value, &gradient), u: u.clone(), value, iterations: 0 };
    let mut tau = 0.1 * dot(&multipliers, &slacks(problem, &u)) / problem.groups as f64;
    let (mut passes, mut iterations) = (1, 0);

    while best.gap > stop.tolerance * best.value.max(1.0) && passes < stop.passes {
        let slacks = slacks(problem, &u);
        problem.objective.hessian(&u, &mut hessian);
        let Some(step) = step(problem, &u, &gradient, &multipliers, &slacks, tau, &mut hessian) else {
            break;
        };
        passes += 1;

        let merit = |u: &[f64], value: f64| {
            value - tau * self::slacks(problem, u).iter().map(|s| s.ln()).sum::<f64>()
        };
        let before = merit(&u, value);
        let mut length = reach(problem, &u, &step.u);
        let moved = loop {
            let next_u = add(&u, length, &step.u);
            let next_value = problem.objective.value_and_gradient(&next_u, &mut gradient);
            passes += 1;
            // Near the minimum, the decrease is below the rounding error, and the full step is taken.
            if merit(&next_u, next_value) <= before - 1e-4 * length * step.decrease + 1e-14 * value.abs() {
                (u, value) = (next_u, next_value);
                break true;
            }
            length *= 0.5;
            if length < 1e-10 || passes >= stop.passes {
                break false;
            }
        };
        if !moved {
            break;
        }
        iterations += 1;
        step_multipliers(&mut multipliers, &step.multipliers);
        for (multiplier, slack) in multipliers.iter_mut().zip(self::slacks(problem, &u)) {
            *multiplier = multiplier.clamp(tau / (NEIGHBOURHOOD * slack), NEIGHBOURHOOD * tau / slack);
        }
        let floor = f64::MIN_POSITIVE;
        while tau > floor && error(problem, &u, &gradient, &multipliers, tau) <= SLOPPINESS * tau {
            tau *= 0.1;
        }
        let gap = problem.gap(&u, value, &gradient);
        if gap < best.gap {
            best = Found { u: u.clone(), value, gap, iterations };
        }
    }
    best.iterations = iterations;
    best
}

/// A direction for the parameters and for the multipliers.
struct Step {
    u: Vec<f64>,
    multipliers: Vec<f64>,
    /// The derivative of the barrier function along `u`, with the opposite sign.
    decrease: f64,
}

/// The solution of (2). `None` if the system is singular because of rounding.
fn step(
    problem: &Constrained<'_>,
    u: &[f64],
    gradient: &[f64],
    multipliers: &[f64],
    slacks: &[f64],
    tau: f64,
    hessian: &mut Mat<f64>,
) -> Option<Step> {
    let size = problem.group();
    let mut right = Mat::zeros(u.len(), 1);
    for (k, u) in u.chunks_exact(size).enumerate() {
        let first = k * size;
        for i in 0..size {
            right[(first + i, 0)] = -gradient[first + i] - tau / slacks[k] * u[i];
            hessian[(first + i, first + i)] += multipliers[k];
            let scaled = multipliers[k] / slacks[k] * u[i];
            for j in 0..=i {
                hessian[(first + i, first + j)] += scaled * u[j];
            }
        }
    }
    let downhill: Vec<f64> = (0..u.len()).map(|i| right[(i, 0)]).collect();
    solve_positive(hessian, &mut right)?;
    let step: Vec<f64> = (0..u.len()).map(|i| right[(i, 0)]).collect();
    let decrease = dot(&downhill, &step);
    let multipliers = (0..problem.groups)
        .map(|k| {
            let range = k * size..(k + 1) * size;
            let along = dot(&u[range.clone()], &step[range]);
            (tau - multipliers[k] * slacks[k] + multipliers[k] * along) / slacks[k]
        })
        .collect();
    Some(Step { u: step, multipliers, decrease })
}

/// Solves with a positive semidefinite matrix, of which the lower triangle is given. To directions in which
/// it is zero up to rounding (features that never occur, or copies of each other), a small part of its
/// largest entry is added.
pub(super) fn solve_positive(matrix: &mut Mat<f64>, right: &mut Mat<f64>) -> Option<()> {
    let n = matrix.nrows();
    let largest = (0..n).map(|i| matrix[(i, i)]).fold(0.0, f64::max);
    let mut ridge = 1e-15 * largest;
    while ridge <= 1e-6 * largest && largest > 0.0 {
        (0..n).for_each(|i| matrix[(i, i)] += ridge);
        if let Ok(factor) = matrix.llt(Side::Lower) {
            factor.solve_in_place(right.as_mut());
            return Some(());
        }
        ridge *= 100.0;
    }
    None
}

/// The length of the step along `step`, at most 1: most of the distance to the boundary.
fn reach(problem: &Constrained<'_>, u: &[f64], step: &[f64]) -> f64 {
    let mut length = 1.0_f64;
    for (u, step) in u.chunks_exact(problem.group()).zip(step.chunks_exact(problem.group())) {
        // The positive root of |u + a step|² = B².
        let (square, along) = (dot(step, step), dot(u, step));
        let room = problem.norm * problem.norm - dot(u, u);
        if square > 0.0 {
            let root = (along * along + square * room).sqrt();
            let reach = if along > 0.0 { room / (along + root) } else { (root - along) / square };
            length = length.min(BOUNDARY * reach);
        }
    }
    length
}

/// Moves the multipliers along `step`, by the largest common length that keeps them positive.
fn step_multipliers(multipliers: &mut [f64], step: &[f64]) {
    let mut length = 1.0_f64;
    for (value, change) in multipliers.iter().zip(step) {
        if *change < 0.0 {
            length = length.min(-BOUNDARY * value / change);
        }
    }
    multipliers.iter_mut().zip(step).for_each(|(m, s)| *m += length * s);
}

fn slacks(problem: &Constrained<'_>, u: &[f64]) -> Vec<f64> {
    let square = problem.norm * problem.norm;
    u.chunks_exact(problem.group()).map(|u| 0.5 * (square - dot(u, u))).collect()
}

/// The residual of (1), in units of loss, averaged over the groups.
fn error(problem: &Constrained<'_>, u: &[f64], gradient: &[f64], multipliers: &[f64], tau: f64) -> f64 {
    let size = problem.group();
    let slacks = slacks(problem, u);
    let (mut stationarity, mut complementarity) = (0.0, 0.0);
    for (k, (u, g)) in u.chunks_exact(size).zip(gradient.chunks_exact(size)).enumerate() {
        stationarity += u.iter().zip(g).map(|(u, g)| (g + multipliers[k] * u).powi(2)).sum::<f64>();
        complementarity += (multipliers[k] * slacks[k] - tau).abs();
    }
    complementarity.max(problem.norm * stationarity.sqrt()) / problem.groups as f64
}

fn add(u: &[f64], length: f64, step: &[f64]) -> Vec<f64> {
    u.iter().zip(step).map(|(u, s)| u + length * s).collect()
}
