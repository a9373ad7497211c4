//! The inner problem of the improper logistic learners: $z = g - A\ \sigma(z)$.

use super::basis::LogitBasis;
use super::flat_start;
use super::linalg;
use super::softmax::{covariance_factor_column, quick_softmax, softmax, tails};
use super::vector::{axpy, dot_in_lanes, max_abs, take};
use crate::kernel::vector::argmax;

/// Solves $z = g - A\ s(z)$ for a symmetric positive semidefinite $A$, possibly singular or 0 (theory:
/// second-order 1.1).
///
/// In the coordinates of a [`LogitBasis`] $V$, $z \in \mathbb{R}^{K-1}$ and $s(z) = V^\top\sigma(Vz)$.
/// Without a basis, $z \in \mathbb{R}^K$ and $s = \sigma$.
///
/// Damped Newton on the dual $f(u) = \tfrac12 u^\top A u + \mathrm{lse}(g - Au)$ with $z = g - Au$; $A$ is
/// not inverted. A step solves a system of size $K - 1$ with eigenvalues at least 1. The solution is unique
/// and exact to rounding.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    classes: usize,
    basis: Option<LogitBasis>,
}

/// By-products of a solution.
pub struct Solution<'a> {
    /// $\sigma$ at the solution, length $K$.
    pub probabilities: &'a [f64],
    /// Newton steps taken.
    pub steps: usize,
}

/// If a step changes no logit by more than this, the remaining error is of the order of its square, which is
/// below rounding. (The third derivative of log-sum-exp along $h$ is at most $2 \lVert h \rVert_\infty$ times
/// the second.)
pub(super) const LAST: f64 = 1e-8;

impl FixedPoint {
    /// The problem in the $K-1$ coordinates of `basis`.
    pub fn reduced(basis: LogitBasis) -> Self {
        Self { classes: basis.classes(), basis: Some(basis) }
    }

    /// The problem in the $K$ logits themselves.
    pub fn full(classes: usize) -> Self {
        Self { classes, basis: None }
    }

    /// The basis, if there is one.
    pub fn basis(&self) -> Option<&LogitBasis> {
        self.basis.as_ref()
    }

    /// The number of unknowns.
    pub fn dimension(&self) -> usize {
        self.basis.as_ref().map_or(self.classes, LogitBasis::dimension)
    }

    /// Length of the scratch memory of [`FixedPoint::solve`].
    pub fn scratch_len(&self) -> usize {
        let (k, c) = (self.classes, self.classes - 1);
        let own = 8 * k + 3 * c + c * c;
        own + self.basis.as_ref().map_or(0, |_| k * k + 2 * k)
    }

    /// $Vz$, or $z$ itself.
    pub fn expand(&self, z: &[f64], logits: &mut [f64]) {
        match &self.basis {
            Some(basis) => basis.expand(z, logits),
            None => logits.copy_from_slice(z),
        }
    }

    /// $V^\top a$, or $a$ itself.
    pub fn reduce(&self, a: &[f64], out: &mut [f64]) {
        match &self.basis {
            Some(basis) => basis.reduce(a, out),
            None => out.copy_from_slice(a),
        }
    }

    /// Writes $V^\top C$ for the covariance factor of `p` to `factor`; `tails_` and `column` are scratch of
    /// length $K$.
    pub fn covariance_factor(&self, p: &[f64], factor: &mut [f64], tails_: &mut [f64], column: &mut [f64]) {
        tails(p, tails_);
        for (j, out) in factor.chunks_exact_mut(self.dimension()).enumerate() {
            covariance_factor_column(p, tails_, j, column);
            self.reduce(column, out);
        }
    }

    /// Writes the solution to `z` and its by-products to `scratch`. `a` is column-major, symmetric.
    pub fn solve<'a>(&self, a: &[f64], g: &[f64], z: &mut [f64], scratch: &'a mut [f64]) -> Solution<'a> {
        let k = self.classes;
        let rest = &mut { scratch };
        let p = take(rest, k);
        let steps = match &self.basis {
            None => {
                quick_softmax(g, p);
                newton(a, g, z, p, rest)
            }
            Some(basis) => {
                let (full_a, full_g, full_z) = (take(rest, k * k), take(rest, k), take(rest, k));
                basis.expand_symmetric(a, full_a, rest);
                basis.expand(g, full_g);
                quick_softmax(full_g, p);
                let steps = newton(full_a, full_g, full_z, p, rest);
                basis.reduce(full_z, z);
                basis.expand(z, full_z);
                softmax(full_z, p);
                steps
            }
        };
        Solution { probabilities: p, steps }
    }

    /// As [`FixedPoint::solve`] in the logits themselves, starting from `p`, an approximation of $\sigma(z)$,
    /// which is replaced by the solution's. Returns the number of steps.
    ///
    /// # Panics
    /// If the problem is in the coordinates of a basis.
    pub fn solve_from(
        &self,
        a: &[f64],
        g: &[f64],
        z: &mut [f64],
        p: &mut [f64],
        scratch: &mut [f64],
    ) -> usize {
        assert!(self.basis.is_none(), "a guess is one of all logits");
        newton(a, g, z, p, scratch)
    }
}

struct Work<'a> {
    u: &'a mut [f64],
    r: &'a mut [f64],
    a_r: &'a mut [f64],
    delta: &'a mut [f64],
    a_delta: &'a mut [f64],
    trial: &'a mut [f64],
    trial_p: &'a mut [f64],
    s: &'a mut [f64],
    b_s: &'a mut [f64],
    y: &'a mut [f64],
    system: &'a mut [f64],
}

impl<'a> Work<'a> {
    fn new(k: usize, scratch: &'a mut [f64]) -> Self {
        let (c, rest) = (k - 1, &mut { scratch });
        Self {
            u: take(rest, k),
            r: take(rest, k),
            a_r: take(rest, k),
            delta: take(rest, k),
            a_delta: take(rest, k),
            trial: take(rest, k),
            trial_p: take(rest, k),
            s: take(rest, c),
            b_s: take(rest, c),
            y: take(rest, c),
            system: take(rest, c * c),
        }
    }
}

/// Writes the solution to `z` and its $\sigma$ to `p`, which contains a guess of it. Returns the number of
/// steps.
fn newton(a: &[f64], g: &[f64], z: &mut [f64], p: &mut [f64], scratch: &mut [f64]) -> usize {
    const MAX_STEPS: usize = 500;
    let w = &mut Work::new(g.len(), scratch);
    flat_start::start(a.iter().step_by(g.len() + 1).copied(), g, p);
    w.u.copy_from_slice(p);
    multiply(a, w.u, z);
    for (z, g) in z.iter_mut().zip(g) {
        *z = g - *z;
    }
    let scale = max_abs(g);
    let mut last_step = f64::INFINITY;
    for steps in 0..MAX_STEPS {
        quick_softmax(z, p);
        // r = u - σ(z), the gradient of f up to the factor A.
        for ((r, u), p) in w.r.iter_mut().zip(&*w.u).zip(&*p) {
            *r = u - p;
        }
        direction(a, p, w);
        multiply(a, w.delta, w.a_delta);
        let step = max_abs(w.a_delta);
        let tau = if step <= 0.5 { 1.0 } else { step_size(z, w) };
        axpy(-tau, w.a_delta, z);
        axpy(tau, w.delta, w.u);
        // The step approximates the error; once it no longer halves, only rounding errors remain.
        let a_u = z.iter().zip(g).fold(0.0, |max: f64, (z, g)| max.max((g - z).abs()));
        let converged = step <= LAST.max(4.0 * f64::EPSILON * scale.max(a_u));
        if converged || (step < 1e-3 && step > 0.5 * last_step) {
            softmax(z, p);
            return steps + 1;
        }
        last_step = step;
    }
    softmax(z, p);
    MAX_STEPS
}

/// Newton's step $\delta$ in $u$, from $r$.
///
/// With the most probable class $*$ as the reference, let $s$ be the roots of the other probabilities, $D =
/// \mathrm{diag}(s)$ and $\tilde A_{ij} = A_{ij} - A_{i*} - A_{*j} + A_{**}$. The covariance of the other
/// classes is $FF^\top$ with $F = D(I - \beta ss^\top)$ and $\beta = 1/(1 + \sqrt{p_*})$, so that $M = I +
/// F^\top \tilde A F$ takes $O(K^2)$ without cancellation, and $\delta = F M^{-1} F^\top (Ar)_{\cdot - *} -
/// r$ for the other classes.
fn direction(a: &[f64], p: &[f64], w: &mut Work<'_>) {
    let (k, c) = (p.len(), p.len() - 1);
    multiply(a, w.r, w.a_r);
    let top = argmax(p);
    let beta = 1.0 / (1.0 + p[top].sqrt());
    let others = || (0..k).filter(|class| *class != top);
    for (s, class) in w.s.iter_mut().zip(others()) {
        *s = p[class].sqrt();
    }
    // B = DÃD, all of it, column by column.
    let reference = &a[top * k..][..k];
    let corner = reference[top];
    for ((column, class), s) in w.system.chunks_exact_mut(c).zip(others()).zip(&*w.s) {
        let own = &a[class * k..][..k];
        let shift = corner - own[top];
        let (before, after) = column.split_at_mut(top);
        let entry = |row: usize| own[row] - reference[row] + shift;
        before.iter_mut().enumerate().for_each(|(row, b)| *b = s * entry(row));
        after.iter_mut().enumerate().for_each(|(row, b)| *b = s * entry(top + 1 + row));
        column.iter_mut().zip(&*w.s).for_each(|(b, s)| *b *= s);
    }
    // M = I + (I - βssᵀ) B (I - βssᵀ)
    multiply(w.system, w.s, w.b_s);
    let square = dot_in_lanes(w.s, w.b_s);
    for (s, b_s) in w.s.iter().zip(&mut *w.b_s) {
        *b_s = beta * (*b_s - 0.5 * beta * square * s);
    }
    for (at, column) in w.system.chunks_exact_mut(c).enumerate() {
        let (s_at, b_at) = (w.s[at], w.b_s[at]);
        for ((m, s), b_s) in column[at..].iter_mut().zip(&w.s[at..]).zip(&w.b_s[at..]) {
            *m -= s * b_at + b_s * s_at;
        }
        column[at] += 1.0;
    }
    // y = M⁻¹ (I - βssᵀ) D (Ar)
    for ((y, s), class) in w.y.iter_mut().zip(&*w.s).zip(others()) {
        *y = s * (w.a_r[class] - w.a_r[top]);
    }
    deflate(beta, w.s, w.y);
    divide(w.system, w.y);
    deflate(beta, w.s, w.y);
    let mut total = 0.0;
    for ((y, s), class) in w.y.iter().zip(&*w.s).zip(others()) {
        let f_y = s * y;
        total += f_y;
        w.delta[class] = f_y - w.r[class];
    }
    w.delta[top] = -total - w.r[top];
}

/// `y -= beta s (s · y)`.
fn deflate(beta: f64, s: &[f64], y: &mut [f64]) {
    let scale = beta * dot_in_lanes(s, y);
    for (y, s) in y.iter_mut().zip(s) {
        *y -= scale * s;
    }
}

/// `y = m⁻¹ y` for the symmetric `m` with eigenvalues >= 1, of which the lower triangle is read. Exact pivots
/// are at least 1; smaller ones are rounding errors, and are replaced by 1. `m` is destroyed.
fn divide(m: &mut [f64], y: &mut [f64]) {
    /// From this size on, the linear-algebra crate is faster.
    const LARGE: usize = 40;
    let side = y.len();
    if side >= LARGE && linalg::cholesky(m, side) {
        linalg::solve_lower(m, side, y, 1);
        linalg::solve_lower_transposed(m, side, y, 1);
        return;
    }
    for at in 0..side {
        let (known, own) = m.split_at_mut(at * side);
        let own = &mut own[..side];
        for column in known.chunks_exact(side) {
            let scale = column[at];
            for (own, other) in own[at..].iter_mut().zip(&column[at..]) {
                *own -= scale * other;
            }
        }
        let inverse = 1.0 / own[at].max(1.0).sqrt();
        own[at] = inverse;
        own[at + 1..].iter_mut().for_each(|entry| *entry *= inverse);
        // Solves L y' = y in the same pass.
        y[at] *= inverse;
        let done = y[at];
        for (y, l) in y[at + 1..].iter_mut().zip(&own[at + 1..]) {
            *y -= done * l;
        }
    }
    for at in (0..side).rev() {
        let column = &m[at * side..][..side];
        let later: f64 = column[at + 1..].iter().zip(&y[at + 1..]).map(|(l, y)| l * y).sum();
        y[at] = (y[at] - later) * column[at];
    }
}

/// An inexact line search on the derivative along the step, h(τ) = ⟨u + τδ - s(z - τAδ), Aδ⟩, which increases
/// in τ. (Differences of f would cancel.)
fn step_size(z: &[f64], w: &mut Work<'_>) -> f64 {
    let start = dot_in_lanes(w.r, w.a_delta);
    let slope = |tau: f64| {
        for ((trial, z), a_delta) in w.trial.iter_mut().zip(z).zip(&*w.a_delta) {
            *trial = z - tau * a_delta;
        }
        quick_softmax(w.trial, w.trial_p);
        let mut total = 0.0;
        for (((u, delta), s), a_delta) in w.u.iter().zip(&*w.delta).zip(&*w.trial_p).zip(&*w.a_delta) {
            total += (u + tau * delta - s) * a_delta;
        }
        total
    };
    inexact_step(start, slope)
}

/// `out = a x` for a symmetric `a`.
fn multiply(a: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, x) in a.chunks_exact(x.len()).zip(x) {
        for (out, a) in out.iter_mut().zip(column) {
            *out += x * a;
        }
    }
}

/// A step size in (0, 1] at which `slope`, which increases from `start` < 0 at 0, is small compared with
/// `start`: 1 if it is still negative there.
fn inexact_step(start: f64, mut slope: impl FnMut(f64) -> f64) -> f64 {
    let full = slope(1.0);
    if full <= 0.0 || full.abs() <= 0.2 * start.abs() {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let tau = 0.5 * (low + high);
        let here = slope(tau);
        if here.abs() <= 0.2 * start.abs() {
            return tau;
        }
        if here > 0.0 { high = tau } else { low = tau }
    }
    low.max(f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;
    use crate::rng::{Rng, Uniforms as _};
    use crate::testing::{assert_all_close, items, numbers, vector};
    use proptest::prelude::*;

    struct Solved {
        z: Vec<f64>,
        probabilities: Vec<f64>,
        steps: usize,
    }

    fn solve(problem: &FixedPoint, a: &[f64], g: &[f64]) -> Solved {
        let mut z = vec![f64::NAN; g.len()];
        let mut scratch = vec![f64::NAN; problem.scratch_len()];
        let Solution { probabilities, steps, .. } = problem.solve(a, g, &mut z, &mut scratch);
        Solved { probabilities: probabilities.to_vec(), steps, z }
    }

    #[test]
    fn references() {
        let reference = vector("inner_problem");
        let cases = items(&reference["cases"]);
        assert_eq!(cases.len(), 30);
        for (at, case) in cases.iter().enumerate() {
            let (a, g) = (numbers(&case["A"]), numbers(&case["g"]));
            let solved = solve(&FixedPoint::full(g.len()), &a, &g);
            assert_all_close(&solved.z, &numbers(&case["z"]), 1e-9, &format!("case {at}: z"));
            assert_all_close(&solved.probabilities, &numbers(&case["p"]), 1e-9, &format!("case {at}: p"));
            assert!(solved.steps < 60, "case {at}: {} steps", solved.steps);
        }
    }

    /// From $\sigma(g)$, such problems take up to several hundred steps (theory: second-order 1.3).
    #[test]
    fn large_multiples_of_the_identity_take_few_steps() {
        let (k, scale, mut rng) = (40, 1e5, Rng::new(1, 0));
        for _ in 0..20 {
            let g: Vec<f64> = (0..k).map(|_| scale * (2.0 * rng.uniform() - 1.0)).collect();
            let mut a = vec![0.0; k * k];
            a.iter_mut().step_by(k + 1).for_each(|diagonal| *diagonal = scale);
            let solved = solve(&FixedPoint::full(k), &a, &g);
            assert!(solved.steps < 20, "{} steps", solved.steps);
            for ((z, g), p) in solved.z.iter().zip(&g).zip(&solved.probabilities) {
                assert!((z + scale * p - g).abs() < 1e-5, "{z} + {scale} {p} is not {g}");
            }
        }
    }

    #[test]
    fn by_products_belong_to_the_solution() {
        let problem = FixedPoint::reduced(LogitBasis::new(3));
        let (a, g) = ([2.0, 0.5, 0.5, 1.0], [1.5, -0.7]);
        let (mut z, mut scratch) = ([0.0; 2], vec![0.0; problem.scratch_len()]);
        let solution = problem.solve(&a, &g, &mut z, &mut scratch);
        let (mut logits, mut p) = ([0.0; 3], [0.0; 3]);
        problem.expand(&z, &mut logits);
        softmax(&logits, &mut p);
        assert_eq!(solution.probabilities, p);
    }

    /// A positive semidefinite matrix of `side` whose norm is about 10^`magnitude`, singular where `rank` <
    /// `side`.
    fn semidefinite(side: usize, rank: usize, magnitude: f64, entries: &[f64]) -> Vec<f64> {
        let mut a = vec![0.0; side * side];
        for column in entries.chunks_exact(side).take(rank) {
            for i in 0..side {
                axpy(column[i], column, &mut a[i * side..][..side]);
            }
        }
        let scale = 10f64.powf(magnitude) / max_abs(&a).max(1e-9);
        a.iter_mut().for_each(|a| *a *= scale);
        a
    }

    prop_compose! {
        fn problems()(classes in 2..24usize)(
            classes in Just(classes),
            rank in 0..=classes,
            magnitude in -6.0..6.0f64,
            g_magnitude in -3.0..6.0f64,
            entries in prop::collection::vec(-1.0..1.0f64, classes * classes),
            g in prop::collection::vec(-1.0..1.0f64, classes),
        ) -> (usize, Vec<f64>, Vec<f64>) {
            let g = g.iter().map(|g| g * 10f64.powf(g_magnitude)).collect();
            (classes, semidefinite(classes, rank, magnitude, &entries), g)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn solutions_are_fixed_points((classes, a, g) in problems()) {
            let solved = solve(&FixedPoint::full(classes), &a, &g);
            prop_assert!(solved.steps < 150, "{} steps", solved.steps);
            let mut p = vec![0.0; classes];
            softmax(&solved.z, &mut p);
            prop_assert_eq!(&p, &solved.probabilities);
            // Rounding z to a double moves the residual by |A| times as much.
            let scale = max_abs(&g) + max_abs(&a);
            let tolerance = scale * (1e-12 + 2.0 * f64::EPSILON * max_abs(&a));
            for ((row, z), g) in a.chunks_exact(classes).zip(&solved.z).zip(&g) {
                let residual = z - g + dot(row, &p);
                prop_assert!(residual.abs() <= tolerance, "residual {residual}, tolerance {tolerance}");
            }
        }

        #[test]
        fn the_reduced_problem_is_the_full_one((classes, a, g) in problems(), shift in -3.0..3.0f64) {
            // With A = V A' Vᵀ and g = V g' + c 1 the solutions are z = V z' + c 1.
            let basis = LogitBasis::new(classes);
            let q = basis.dimension();
            let reduced = FixedPoint::reduced(basis.clone());
            let (a, g): (Vec<f64>, _) = ((0..q * q).map(|at| a[at / q * classes + at % q]).collect(), &g[..q]);
            let mut half = vec![0.0; q * classes];
            for (row, out) in a.chunks_exact(q).zip(half.chunks_exact_mut(classes)) {
                basis.expand(row, out);
            }
            let mut full_a = vec![0.0; classes * classes];
            for (k, out) in full_a.chunks_exact_mut(classes).enumerate() {
                let column: Vec<f64> = (0..q).map(|j| half[j * classes + k]).collect();
                basis.expand(&column, out);
            }
            let mut full_g = vec![0.0; classes];
            basis.expand(g, &mut full_g);
            full_g.iter_mut().for_each(|g| *g += shift);

            let small = solve(&reduced, &a, g);
            let full = solve(&FixedPoint::full(classes), &full_a, &full_g);
            let mut expanded = vec![0.0; classes];
            basis.expand(&small.z, &mut expanded);
            let scale = 1.0 + max_abs(&a) + max_abs(g);
            for (z, expanded) in full.z.iter().zip(&expanded) {
                prop_assert!((z - expanded - shift).abs() <= 1e-12 * scale, "{z} {expanded} {scale}");
            }
            prop_assert!(small.steps < 150, "{} steps", small.steps);
        }
    }
}
