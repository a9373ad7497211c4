//! The inner problem with a diagonal matrix, $z = g - a \circ \sigma(z)$, in $O(K)$ for each Newton step.

use pulp::{Arch, Simd, WithSimd};

use super::fixed_point::LAST;
use super::flat_start;
use super::scalar_root::{EXACT, shrink_until};
use super::softmax::{quick_softmax, softmax};
use super::vector::{axpy, larger, max_abs, take};

pub(crate) mod rows;

/// Newton's method squares the error in each step: after a step of this size it is far below 1e-7.
const LAST_SINGLE: f64 = 1e-5;

/// Length of the scratch memory of [`solve`] for `classes` $= K$.
pub fn scratch_len(classes: usize) -> usize {
    3 * classes
}

/// Solves $z = g - a \circ \sigma(z)$ for `a` $\ge 0$; writes the solution to `z` and $\sigma(z)$ to `p`.
///
/// The damped Newton method of [`FixedPoint`](super::fixed_point::FixedPoint): with $z = g - a \circ u$ and
/// $r = u - \sigma(z)$, a step solves $(I + S\ \mathrm{diag}(a))\ \delta = -r$, which for a diagonal is a
/// division and a rank-one correction. A step with $s = \lVert a \circ \delta \rVert_\infty > \frac12$ is
/// damped by $\tau = \ln(1 + 2s)/(2s)$, which decreases the dual function for every $s$ without a search:
/// the third derivative of log-sum-exp along $h$ is at most $2 \lVert h \rVert_\infty$ times the second
/// (Tianxiao Sun, Quoc Tran-Dinh, *Generalized Self-Concordant Functions*, 2019, the damped step for $\nu =
/// 2$; `references.bib`: `sun2019generalized`; theory: second-order 1.1).
///
/// Two classes have one equation in one unknown.
pub fn solve(a: &[f64], g: &[f64], z: &mut [f64], p: &mut [f64], scratch: &mut [f64]) {
    if two(a, g, z, p, EXACT) {
        return;
    }
    quick_softmax(g, p);
    flat_start::start(a.iter().copied(), g, p);
    iterate(a, g, z, p, scratch, LAST);
    softmax(z, p);
}

/// As [`solve`], to more than the seven digits of single precision, starting from `near`, the probabilities
/// at the solution of a similar problem.
pub(crate) fn solve_single(
    a: &[f64],
    g: &[f64],
    near: Option<&[f64]>,
    z: &mut [f64],
    p: &mut [f64],
    scratch: &mut [f64],
) {
    if two(a, g, z, p, LAST_SINGLE) {
        return;
    }
    match near {
        Some(near) => p.copy_from_slice(near),
        None => quick_softmax(g, p),
    }
    flat_start::start(a.iter().copied(), g, p);
    iterate(a, g, z, p, scratch, LAST_SINGLE);
    quick_softmax(z, p);
}

/// The solution for two classes; false if there are more. The difference $s$ of the two logits solves $s +
/// \frac{a_0 + a_1}2 \tanh\frac s2 = g_0 - g_1 + \frac{a_1 - a_0}2$.
#[inline]
fn two(a: &[f64], g: &[f64], z: &mut [f64], p: &mut [f64], last: f64) -> bool {
    let (&[a0, a1], &[g0, g1], [z0, z1], [p0, p1]) = (a, g, z, p) else { return false };
    let s = shrink_until((g0 - g1) + 0.5 * (a1 - a0), 0.5 * (a0 + a1), last);
    let tail = (-s.abs()).exp();
    let (more, less) = (1.0 / (1.0 + tail), tail / (1.0 + tail));
    (*p0, *p1) = if s >= 0.0 { (more, less) } else { (less, more) };
    (*z0, *z1) = (g0 - a0 * *p0, g1 - a1 * *p1);
    true
}

/// Newton's method from the probabilities `p`, until a step is at most `last`. Returns the number of steps.
fn iterate(a: &[f64], g: &[f64], z: &mut [f64], p: &mut [f64], scratch: &mut [f64], last: f64) -> usize {
    const MAX_STEPS: usize = 200;
    let k = a.len();
    let rest = &mut { scratch };
    let (u, delta, a_delta) = (take(rest, k), take(rest, k), take(rest, k));
    u.copy_from_slice(p);
    for (((z, g), a), u) in z.iter_mut().zip(g).zip(a).zip(&*u) {
        *z = g - a * u;
    }
    let (scale, arch) = (max_abs(g), Arch::new());
    let mut last_step = f64::INFINITY;
    let mut steps = 0;
    while steps < MAX_STEPS {
        steps += 1;
        quick_softmax(z, p);
        let step = arch.dispatch(Step { a, p, u, delta, a_delta });
        let tau = damping(step);
        axpy(-tau, a_delta, z);
        axpy(tau, delta, u);
        // The step approximates the error; once it no longer halves, only rounding errors remain.
        let converged = step <= last || step <= 4.0 * f64::EPSILON * scale.max(distance(z, g));
        if converged || (step < 1e-3 && step > 0.5 * last_step) {
            break;
        }
        last_step = step;
    }
    steps
}

/// $\tau$: the part of Newton's step that is taken, where `step` is its $s$.
fn damping(step: f64) -> f64 {
    if step <= 0.5 { 1.0 } else { (2.0 * step).ln_1p() / (2.0 * step) }
}

/// Newton's step.
struct Step<'a> {
    a: &'a [f64],
    p: &'a [f64],
    u: &'a [f64],
    delta: &'a mut [f64],
    a_delta: &'a mut [f64],
}

/// Writes Newton's step for $u$ to `delta` and $a \circ \delta$ to `a_delta`; returns the largest entry of
/// the latter.
///
/// $(M - p (a \circ p)^\top)^{-1}$ with $M = I + \mathrm{diag}(a \circ p)$, by Sherman and Morrison; its
/// denominator $1 - \sum a p^2/M$ is $\sum p/M$. What is behind the last class is 0.
impl WithSimd for Step<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { a, p, u, delta, a_delta } = self;
        let ((a, a_rest), (p, p_rest), (u, u_rest)) =
            (S::as_simd_f64s(a), S::as_simd_f64s(p), S::as_simd_f64s(u));
        let (delta, delta_rest) = S::as_mut_simd_f64s(delta);
        let (a_delta, a_delta_rest) = S::as_mut_simd_f64s(a_delta);
        let [a_rest, p_rest, u_rest] = [a_rest, p_rest, u_rest].map(|rest| simd.partial_load_f64s(rest));
        let zero = simd.splat_f64s(0.0);

        let mut sums = [zero; 2];
        for (((delta, a), p), u) in delta.iter_mut().zip(a).zip(p).zip(u) {
            *delta = add_share(simd, [*a, *p, *u], &mut sums);
        }
        let last = add_share(simd, [a_rest, p_rest, u_rest], &mut sums);
        let [correction, denominator] = sums.map(|sum| simd.reduce_sum_f64s(sum));
        let correction = simd.splat_f64s(correction / denominator);

        let mut largest = zero;
        let parts = delta.iter_mut().zip(a_delta).zip(a).zip(p).zip(u);
        for ((((delta, a_delta), a), p), u) in parts {
            [*delta, *a_delta] = finish(simd, *delta, correction, [*a, *p, *u], &mut largest);
        }
        let [last, a_last] = finish(simd, last, correction, [a_rest, p_rest, u_rest], &mut largest);
        simd.partial_store_f64s(delta_rest, last);
        simd.partial_store_f64s(a_delta_rest, a_last);
        simd.reduce_max_f64s(largest)
    }
}

/// $1/M$ of some classes; adds $(1 - 1/M)(u - p)$ and $p/M$ to `sums`. A function, since closures would not
/// be compiled for the processor's vectors.
#[inline(always)]
fn add_share<S: Simd>(simd: S, [a, p, u]: [S::f64s; 3], sums: &mut [S::f64s; 2]) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let share = simd.div_f64s(one, simd.mul_add_e_f64s(a, p, one));
    let lost = simd.sub_f64s(one, share);
    sums[0] = simd.mul_add_e_f64s(lost, simd.sub_f64s(u, p), sums[0]);
    sums[1] = simd.mul_add_e_f64s(p, share, sums[1]);
    share
}

/// $\delta$ and $a \circ \delta$ of some classes, from `share` = $1/M$; `largest` becomes the largest entry
/// of the latter, if it is smaller.
#[inline(always)]
fn finish<S: Simd>(
    simd: S,
    share: S::f64s,
    correction: S::f64s,
    [a, p, u]: [S::f64s; 3],
    largest: &mut S::f64s,
) -> [S::f64s; 2] {
    let difference = simd.sub_f64s(u, p);
    let delta = simd.neg_f64s(simd.mul_f64s(share, simd.mul_add_e_f64s(p, correction, difference)));
    let a_delta = simd.mul_f64s(a, delta);
    *largest = simd.max_f64s(*largest, simd.abs_f64s(a_delta));
    [delta, a_delta]
}

/// $\max_k |z_k - g_k|$.
fn distance(z: &[f64], g: &[f64]) -> f64 {
    z.iter().zip(g).fold(0.0, |max, (z, g)| larger(max, (g - z).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fixed_point::FixedPoint;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn agrees_with_the_dense_solver(
            entries in prop::collection::vec((0.0..1.0f64, -1.0..1.0f64), 2..24),
            scale in prop::sample::select(vec![0.0, 1e-3, 1.0, 30.0, 1e3, 1e5]),
        ) {
            let k = entries.len();
            let a: Vec<f64> = entries.iter().map(|(a, _)| scale * a).collect();
            let g: Vec<f64> = entries.iter().map(|(_, g)| (1.0 + scale) * g).collect();
            let (mut z, mut p, mut scratch) = (vec![0.0; k], vec![0.0; k], vec![0.0; scratch_len(k)]);
            quick_softmax(&g, &mut p);
            flat_start::start(a.iter().copied(), &g, &mut p);
            let steps = iterate(&a, &g, &mut z, &mut p, &mut scratch, LAST);
            solve(&a, &g, &mut z, &mut p, &mut scratch);
            prop_assert!(steps <= 10 || scale > 30.0 && steps <= 30, "{steps} steps at scale {scale}");

            let mut dense = vec![0.0; k * k];
            (0..k).for_each(|i| dense[i * k + i] = a[i]);
            let full = FixedPoint::full(k);
            let (mut want, mut scratch) = (vec![0.0; k], vec![0.0; full.scratch_len()]);
            let solution = full.solve(&dense, &g, &mut want, &mut scratch);
            for i in 0..k {
                prop_assert!((z[i] - want[i]).abs() <= 1e-13 * (1.0 + scale), "{z:?} {want:?}");
                prop_assert!((p[i] - solution.probabilities[i]).abs() <= 1e-11);
                prop_assert!((z[i] - g[i] + a[i] * p[i]).abs() <= 1e-10 * (1.0 + scale * scale));
            }

            // In single precision, from any probabilities.
            let (mut z_single, mut p_single, mut scratch) = (vec![0.0; k], vec![0.0; k], vec![0.0; scratch_len(k)]);
            let near: Vec<f64> = (0..k).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
            for near in [None, Some(&p[..]), Some(&near[..])] {
                solve_single(&a, &g, near, &mut z_single, &mut p_single, &mut scratch);
                for (single, p) in p_single.iter().zip(&p) {
                    prop_assert!((single - p).abs() <= 1e-7, "{single} for {p} from {near:?}");
                }
            }
        }
    }

    #[test]
    fn huge_entries_stay_finite() {
        for a in [1e6, 1e100, 1e200] {
            for k in [2, 3] {
                let (mut z, mut p, mut scratch) = ([0.0; 3], [0.0; 3], [0.0; 12]);
                let (z, p) = (&mut z[..k], &mut p[..k]);
                solve(&[a, 0.5 * a, 0.0][..k], &[0.3 * a, 0.1 * a, 1.0][..k], z, p, &mut scratch);
                assert!(z.iter().chain(&*p).all(|value| value.is_finite()), "{a}: {z:?} {p:?}");
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
