//! The inner problem of the improper logistic learners: $z = g - A\,\sigma(z)$.

use super::basis::LogitBasis;
use super::linalg::{self, Into, columns, columns_mut, product};
use super::softmax::{covariance_factor_column, softmax, tails};
use super::vector::{axpy, dot, max_abs, take};

/// Solves $z = g - A\,s(z)$ for a symmetric positive semidefinite $A$, possibly singular or 0 (spec 4.1).
///
/// In the coordinates of a [`LogitBasis`] $V$, $z \in \mathbb{R}^{K-1}$ and $s(z) = V^\top\sigma(Vz)$. Without a basis, $z
/// \in \mathbb{R}^K$ and $s = \sigma$.
///
/// Damped Newton on the dual $f(u) = \tfrac12 u^\top A u + \mathrm{lse}(g - Au)$ with $z = g - Au$: $A$ is never inverted. A
/// step solves a system of size $K - 1$ with eigenvalues at least 1. The solution is unique and exact to rounding.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    classes: usize,
    basis: Option<LogitBasis>,
}

/// The by-products of a solution that the update of a learner needs.
pub struct Solution<'a> {
    /// $\sigma$ at the solution, length $K$.
    pub probabilities: &'a [f64],
    /// $V^\top C$, column-major with $K-1$ columns, for the factor $CC^\top = \mathrm{diag}(p) - pp^\top$.
    pub factor: &'a [f64],
    /// Newton steps taken.
    pub steps: usize,
}

struct Work<'a> {
    logits: &'a mut [f64],
    p: &'a mut [f64],
    tails: &'a mut [f64],
    column: &'a mut [f64],
    u: &'a mut [f64],
    r: &'a mut [f64],
    a_r: &'a mut [f64],
    delta: &'a mut [f64],
    a_delta: &'a mut [f64],
    trial: &'a mut [f64],
    factor: &'a mut [f64],
    a_factor: &'a mut [f64],
    system: &'a mut [f64],
    y: &'a mut [f64],
}

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

    /// How many numbers of scratch [`FixedPoint::solve`] takes.
    pub fn scratch_len(&self) -> usize {
        let (k, m, c) = (self.classes, self.dimension(), self.classes - 1);
        4 * k + 6 * m + 2 * m * c + c * c + c
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

    /// Writes $V^\top C$ for the covariance factor of `p` to `factor`; `tails_` and `column` are scratch of length $K$.
    pub fn covariance_factor(&self, p: &[f64], factor: &mut [f64], tails_: &mut [f64], column: &mut [f64]) {
        tails(p, tails_);
        for (j, out) in factor.chunks_exact_mut(self.dimension()).enumerate() {
            covariance_factor_column(p, tails_, j, column);
            self.reduce(column, out);
        }
    }

    /// Writes the solution to `z` and its by-products to `scratch`. `a` is column-major, symmetric.
    pub fn solve<'a>(&self, a: &[f64], g: &[f64], z: &mut [f64], scratch: &'a mut [f64]) -> Solution<'a> {
        const MAX_STEPS: usize = 200;
        let (m, c) = (self.dimension(), self.classes - 1);
        let a = columns(a, m, m);
        let mut work = self.layout(scratch);
        let w = &mut work;

        // Start at u = σ(g).
        z.copy_from_slice(g);
        self.probabilities(z, w.logits, w.p);
        self.reduce(w.p, w.u);
        multiply(a, w.u, z);
        let scale = max_abs(g);
        for (z, g) in z.iter_mut().zip(g) {
            *z = g - *z;
        }

        let mut steps = 0;
        let mut last_step = f64::INFINITY;
        loop {
            // r = u - s(z), the gradient of f up to the factor A.
            self.probabilities(z, w.logits, w.p);
            self.reduce(w.p, w.delta);
            for ((r, u), s) in w.r.iter_mut().zip(&*w.u).zip(&*w.delta) {
                *r = u - s;
            }
            self.covariance_factor(w.p, w.factor, w.tails, w.column);
            if steps == MAX_STEPS {
                break;
            }
            // M = I + CᵀAC;  M y = CᵀAr;  δ = Cy - r;  Aδ = ACy - Ar.
            multiply(a, w.r, w.a_r);
            product(columns_mut(w.a_factor, m, c), Into::Replace, 1.0, a, columns(w.factor, m, c));
            let factor = columns(w.factor, m, c);
            let a_factor = columns(w.a_factor, m, c);
            product(columns_mut(w.system, c, c), Into::Replace, 1.0, factor.transpose(), a_factor);
            for j in 0..c {
                w.system[j * c + j] += 1.0;
            }
            product(columns_mut(w.y, c, 1), Into::Replace, 1.0, factor.transpose(), columns(w.a_r, m, 1));
            let definite = linalg::cholesky(w.system, c);
            debug_assert!(definite, "I + CᵀAC has eigenvalues >= 1");
            linalg::solve_lower(w.system, c, w.y, 1);
            linalg::solve_lower_transposed(w.system, c, w.y, 1);
            product(columns_mut(w.delta, m, 1), Into::Replace, 1.0, factor, columns(w.y, c, 1));
            product(columns_mut(w.a_delta, m, 1), Into::Replace, 1.0, a_factor, columns(w.y, c, 1));
            axpy(-1.0, w.r, w.delta);
            axpy(-1.0, w.a_r, w.a_delta);

            let step = max_abs(w.a_delta);
            let tau = if step <= 0.5 { 1.0 } else { self.step_size(z, w) };
            for (z, a_delta) in z.iter_mut().zip(&*w.a_delta) {
                *z -= tau * a_delta;
            }
            axpy(tau, w.delta, w.u);
            steps += 1;
            // The step is the error; once it stops halving, rounding is all that is left of it.
            let a_u = z.iter().zip(g).fold(0.0, |max: f64, (z, g)| max.max((g - z).abs()));
            let converged = step <= 4.0 * f64::EPSILON * scale.max(a_u);
            if converged || (step < 1e-3 && step > 0.5 * last_step) {
                self.probabilities(z, w.logits, w.p);
                self.covariance_factor(w.p, w.factor, w.tails, w.column);
                break;
            }
            last_step = step;
        }
        Solution { probabilities: work.p, factor: work.factor, steps }
    }

    /// An inexact line search on the derivative along the step, h(τ) = ⟨u + τδ - s(z - τAδ), Aδ⟩, which increases in τ.
    /// (Differences of f itself would cancel.)
    fn step_size(&self, z: &[f64], w: &mut Work<'_>) -> f64 {
        let start = dot(w.r, w.a_delta);
        let slope = |tau: f64| {
            for ((trial, z), a_delta) in w.trial.iter_mut().zip(z).zip(&*w.a_delta) {
                *trial = z - tau * a_delta;
            }
            self.expand(w.trial, w.logits);
            softmax(w.logits, w.column);
            self.reduce(w.column, w.trial);
            let mut total = 0.0;
            for (((u, delta), s), a_delta) in w.u.iter().zip(&*w.delta).zip(&*w.trial).zip(&*w.a_delta) {
                total += (u + tau * delta - s) * a_delta;
            }
            total
        };
        inexact_step(start, slope)
    }

    fn probabilities(&self, z: &[f64], logits: &mut [f64], p: &mut [f64]) {
        self.expand(z, logits);
        softmax(logits, p);
    }

    fn layout<'a>(&self, scratch: &'a mut [f64]) -> Work<'a> {
        let (k, m, c) = (self.classes, self.dimension(), self.classes - 1);
        let rest = &mut { scratch };
        Work {
            logits: take(rest, k),
            p: take(rest, k),
            tails: take(rest, k),
            column: take(rest, k),
            u: take(rest, m),
            r: take(rest, m),
            a_r: take(rest, m),
            delta: take(rest, m),
            a_delta: take(rest, m),
            trial: take(rest, m),
            factor: take(rest, m * c),
            a_factor: take(rest, m * c),
            system: take(rest, c * c),
            y: take(rest, c),
        }
    }
}

/// A step size in (0, 1] at which `slope`, increasing from `start` < 0 at 0, has lost most of its size: 1 if it is still
/// negative there.
pub(super) fn inexact_step(start: f64, mut slope: impl FnMut(f64) -> f64) -> f64 {
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

fn multiply(a: faer::MatRef<'_, f64>, x: &[f64], out: &mut [f64]) {
    let m = x.len();
    product(columns_mut(out, m, 1), Into::Replace, 1.0, a, columns(x, m, 1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, items, numbers, vector};
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
            for (got, want) in solved.z.iter().zip(numbers(&case["z"])) {
                assert_close(*got, want, 1e-9, &format!("case {at}: z"));
            }
            for (got, want) in solved.probabilities.iter().zip(numbers(&case["p"])) {
                assert_close(*got, want, 1e-9, &format!("case {at}: p"));
            }
            assert!(solved.steps < 60, "case {at}: {} steps", solved.steps);
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
        let (mut factor, mut tails, mut column) = ([0.0; 4], [0.0; 3], [0.0; 3]);
        problem.covariance_factor(&p, &mut factor, &mut tails, &mut column);
        assert_eq!(solution.factor, factor);
    }

    /// A positive semidefinite matrix of `side` whose norm is about 10^`magnitude`, singular where `rank` < `side`.
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
        fn problems()(classes in 2..7usize)(
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
            prop_assert!(solved.steps < 60, "{} steps", solved.steps);
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
            prop_assert!(small.steps < 60, "{} steps", small.steps);
        }
    }
}
