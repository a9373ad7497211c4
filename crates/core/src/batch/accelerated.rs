//! Accelerated projected gradient descent, for many parameters.
//!
//! FISTA (Beck, Teboulle, 2009) with step sizes found by backtracking; momentum is reset when it points
//! uphill (O'Donoghue, Candès, 2015, the gradient scheme).

use super::constrained::{Constrained, Found, Stop, dot};

pub(super) fn solve(problem: &Constrained<'_>, stop: Stop) -> Found {
    let n = problem.objective.dimension();
    let mut u = vec![0.0; n];
    let mut gradient = vec![0.0; n];
    let value = problem.objective.value_and_gradient(&u, &mut gradient);
    let mut best = Found { gap: problem.gap(&u, value, &gradient), u: u.clone(), value, iterations: 0 };
    let mut passes = 1;
    let mut iterations = 0;

    // The point from which the next step starts, its gradient, and the momentum coefficient.
    let (mut ahead, mut slope) = (u.clone(), gradient.clone());
    let mut momentum = 1.0_f64;
    let mut lipschitz = dot(&gradient, &gradient).sqrt() / problem.norm;

    while best.gap > stop.tolerance * best.value.max(1.0) && passes < stop.passes {
        let (next, next_value) = loop {
            let mut next: Vec<f64> = ahead.iter().zip(&slope).map(|(u, g)| u - g / lipschitz).collect();
            project(problem, &mut next);
            let value = problem.objective.value_and_gradient(&next, &mut gradient);
            passes += 1;
            let step: Vec<f64> = next.iter().zip(&ahead).map(|(a, b)| a - b).collect();
            let bend: f64 = gradient.iter().zip(&slope).zip(&step).map(|((a, b), s)| (a - b) * s).sum();
            if bend <= lipschitz * dot(&step, &step) || passes >= stop.passes {
                break (next, value);
            }
            lipschitz *= 2.0;
        };
        iterations += 1;
        let gap = problem.gap(&next, next_value, &gradient);
        if gap < best.gap {
            best = Found { u: next.clone(), value: next_value, gap, iterations };
        }

        let uphill: f64 = ahead.iter().zip(&next).zip(&u).map(|((a, n), u)| (a - n) * (n - u)).sum();
        if uphill > 0.0 {
            momentum = 1.0;
            lipschitz *= 0.5;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let share = (momentum - 1.0) / grown;
        ahead = next.iter().zip(&u).map(|(n, u)| n + share * (n - u)).collect();
        (u, momentum) = (next, grown);
        if share == 0.0 {
            slope.copy_from_slice(&gradient);
        } else {
            problem.objective.value_and_gradient(&ahead, &mut slope);
            passes += 1;
        }
    }
    best.iterations = iterations;
    best
}

/// Projects every group to its ball, by scaling.
fn project(problem: &Constrained<'_>, u: &mut [f64]) {
    for u in u.chunks_exact_mut(problem.group()) {
        let norm = dot(u, u).sqrt();
        if norm > problem.norm {
            u.iter_mut().for_each(|u| *u *= problem.norm / norm);
        }
    }
}
