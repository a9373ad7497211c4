//! Projection to a Euclidean ball in the norm of a matrix.

use super::linalg::{self, Store, columns, columns_mut, product};
use super::vector::dot;

/// Replaces `v` by the point of the ball $\lVert u \rVert_2 \le$ `radius` that minimises
/// $(u-v)^\top A (u-v)$, given $P = A^{-1}$ (`inverse`, symmetric, of `v.len()`² numbers). `scratch` has
/// $n^2 + 2n$ numbers.
///
/// The minimiser is $u = (I + \nu P)^{-1} v$ with the multiplier $\nu \ge 0$ for which $\lVert u \rVert$ is
/// `radius`: only $P$ is needed. Each step for $\nu$ takes a Cholesky factorisation, and few steps are needed
/// (see [`multiplier`]).
pub(crate) fn project(v: &mut [f64], inverse: &[f64], radius: f64, scratch: &mut [f64]) {
    let n = v.len();
    if dot(v, v).sqrt() <= radius {
        return;
    }
    let (system, rest) = scratch.split_at_mut(n * n);
    let (u, image) = rest[..2 * n].split_at_mut(n);
    multiplier(radius, |nu| {
        for (at, (entry, p)) in system.iter_mut().zip(inverse).enumerate() {
            *entry = nu * p + f64::from(at % (n + 1) == 0);
        }
        if !linalg::cholesky(system, n) {
            // P is no longer definite because of rounding: the last u is used, scaled into the ball.
            return None;
        }
        u.copy_from_slice(v);
        solve(system, u);
        product(columns_mut(image, n, 1), Store::Replace, 1.0, columns(inverse, n, n), columns(u, n, 1));
        solve(system, image);
        Some((dot(u, u).sqrt(), dot(u, image)))
    });
    v.copy_from_slice(u);
    shrink_to(v, radius);
}

/// As [`project`], for a diagonal $A$ (`diagonal`), in place and in time linear in its length.
pub(crate) fn project_diagonal(v: &mut [f64], diagonal: &[f64], radius: f64) {
    project_parts(&mut |see| see(v, diagonal), radius);
}

/// A function of a part of a vector and the corresponding part of the diagonal.
pub(crate) type VisitPart<'a> = dyn FnMut(&mut [f64], &[f64]) + 'a;

/// [`project_diagonal`] of a vector in several parts. `each` calls its argument with every part and its
/// diagonal, in the same order each time.
pub(crate) fn project_parts(each: &mut dyn FnMut(&mut VisitPart<'_>), radius: f64) {
    let nu = multiplier(radius, |nu| {
        let (mut norm, mut slope) = (0.0, 0.0);
        each(&mut |v, diagonal| {
            for (v, a) in v.iter().zip(diagonal) {
                let shrinkage = 1.0 / (1.0 + nu / a);
                let u = v * shrinkage;
                norm += u * u;
                slope += u * u * shrinkage / a;
            }
        });
        Some((norm.sqrt(), slope))
    });
    let mut square = 0.0;
    each(&mut |v, diagonal| {
        v.iter_mut().zip(diagonal).for_each(|(v, a)| *v /= 1.0 + nu / a);
        square += dot(v, v);
    });
    let norm = square.sqrt();
    if norm > radius {
        each(&mut |v, _| v.iter_mut().for_each(|v| *v *= radius / norm));
    }
}

/// The $\nu \ge 0$ for which $\lVert u(\nu) \rVert$ is `radius`, or 0 if $u(0)$ is inside, for
/// $u(\nu) = (I + \nu P)^{-1} v$.
///
/// `evaluate` returns $\lVert u \rVert$ and $u^\top (I + \nu P)^{-1} P u$, or `None` where it cannot.
/// Newton's method for $1/\lVert u(\nu) \rVert = 1/$`radius`: the left side is a power mean of affine
/// functions of $\nu$, so increasing and concave, and the iterates rise to the root from the left without a
/// safeguard. They stop just outside the ball.
fn multiplier(radius: f64, mut evaluate: impl FnMut(f64) -> Option<(f64, f64)>) -> f64 {
    const MAX_STEPS: usize = 100;
    let mut nu = 0.0;
    for _ in 0..MAX_STEPS {
        let Some((norm, slope)) = evaluate(nu) else { break };
        let step = (norm - radius) / radius * (norm * norm / slope);
        if norm <= radius * (1.0 + 1e-14) || nu + step == nu || !step.is_finite() {
            break;
        }
        nu += step;
    }
    nu
}

/// Scales `v` into the ball, to remove rounding errors.
fn shrink_to(v: &mut [f64], radius: f64) {
    let norm = dot(v, v).sqrt();
    if norm > radius {
        v.iter_mut().for_each(|v| *v *= radius / norm);
    }
}

/// $x \leftarrow (LL^\top)^{-1} x$.
fn solve(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    linalg::solve_lower(l, n, x, 1);
    linalg::solve_lower_transposed(l, n, x, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn diagonal_matrix(entries: &[f64]) -> Vec<f64> {
        let n = entries.len();
        (0..n * n).map(|at| if at % (n + 1) == 0 { entries[at / n] } else { 0.0 }).collect()
    }

    /// A = diag(1, 3), v = (2, 4): with ν = 1, u = (2/2, 4·3/4) = (1, 3), so that the projection to the ball
    /// of radius √10 is u.
    #[test]
    fn a_projection_worked_by_hand() {
        let (mut dense, mut diagonal) = ([2.0, 4.0], [2.0, 4.0]);
        let inverse = diagonal_matrix(&[1.0, 1.0 / 3.0]);
        project(&mut dense, &inverse, 10f64.sqrt(), &mut [0.0; 8]);
        project_diagonal(&mut diagonal, &[1.0, 3.0], 10f64.sqrt());
        for u in [dense, diagonal] {
            assert_close(u[0], 1.0, 1e-13, "first");
            assert_close(u[1], 3.0, 1e-13, "second");
        }
    }

    #[test]
    fn points_inside_stay() {
        let (mut dense, mut diagonal) = ([0.3, -0.4], [0.3, -0.4]);
        project(&mut dense, &diagonal_matrix(&[5.0, 0.1]), 0.5, &mut [0.0; 8]);
        project_diagonal(&mut diagonal, &[5.0, 0.1], 0.5);
        assert_eq!((dense, diagonal), ([0.3, -0.4], [0.3, -0.4]));
    }

    /// The minimiser satisfies A(u - v) = -νu with ν > 0; A and v are badly scaled.
    #[test]
    fn optimality_holds_over_many_orders_of_magnitude() {
        for scale in [1.0f64, 1e4, 1e8] {
            let root = scale.sqrt();
            let p =
                [2.0 * scale, 0.5 * root, 0.0, 0.5 * root, 1.0, -0.25 / root, 0.0, -0.25 / root, 0.5 / scale];
            let v = [3.0, -2.0, 5.0];
            for radius in [6.0, 1.0, 1e-3] {
                let mut u = v;
                project(&mut u, &p, radius, &mut [0.0; 15]);
                assert_close(dot(&u, &u).sqrt(), radius, 1e-13, "on the sphere");
                // v - u = νPu
                let image: Vec<f64> = (0..3).map(|i| dot(&p[3 * i..][..3], &u)).collect();
                let gap: Vec<f64> = v.iter().zip(&u).map(|(v, u)| v - u).collect();
                let nu = dot(&gap, &image) / dot(&image, &image);
                assert!(nu > 0.0);
                for (gap, image) in gap.iter().zip(&image) {
                    assert!((gap - nu * image).abs() < 1e-7 * (1.0 + gap.abs()), "{scale} {radius}: {gap}");
                }
            }
        }
    }
}
