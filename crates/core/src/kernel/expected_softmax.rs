//! The expectation of the softmax function under a Gaussian, $\mathbb{E}\ \sigma(m + F\xi)$ with
//! $\xi \sim N(0, I)$.
//!
//! $m \in \mathbb{R}^K$ are the mean logits and $F \in \mathbb{R}^{K \times (K-1)}$ (column-major) spans
//! their differences; adding a multiple of the all-ones vector to either changes nothing. For two and three
//! classes by quadrature, for any number by sampling (theory: gaf 2.3).

use super::basis::LogitBasis;
use super::softmax::softmax;
use super::vector::{axpy, max_abs};

/// The standard normal is integrated over this many standard deviations on either side.
const RANGE: f64 = 9.0;

/// Logits with a larger spread per standard deviation than this are scaled down to it, for two and for three
/// classes: $\sigma$ is then a step function up to $\pi^2/(3 \cdot 100^2)$ or $\pi^2/(3 \cdot 20^2)$ of the
/// variance, and the expectation changes by less than $10^{-4}$ or $2 \cdot 10^{-3}$.
const WIDEST: [f64; 2] = [100.0, 20.0];

/// The largest number of nodes on one axis for three classes.
const MOST_NODES: usize = 2 * 365 + 1;

/// Whether [`quadrature`] supports `classes` $= K$ classes.
pub fn has_quadrature(classes: usize) -> bool {
    (2..=3).contains(&classes)
}

/// Writes the expectation to `out` by the trapezoidal rule, for 2 or 3 classes.
///
/// The integrand is analytic in a strip of half-width $\pi / s$, for a spread $s$ of the logits along an
/// axis, so the step $\pi^2 / (20 s)$ leaves an error of $e^{-40}$: machine precision, at $36 s$ nodes an
/// axis.
///
/// # Panics
/// For another number of classes.
pub fn quadrature(mean: &[f64], factor: &[f64], out: &mut [f64]) {
    match out.len() {
        2 => binary(mean, factor, out),
        3 => ternary(mean, factor, out),
        classes => panic!("no quadrature for {classes} classes"),
    }
}

/// Step, and number of steps to either side, for logits of `spread` along an axis.
fn grid(spread: f64) -> (f64, i32) {
    let step = (std::f64::consts::PI.powi(2) / (20.0 * spread)).min(0.25);
    (step, (RANGE / step).floor() as i32)
}

fn binary(mean: &[f64], factor: &[f64], out: &mut [f64]) {
    let (centre, spread) = (mean[0] - mean[1], (factor[0] - factor[1]).abs());
    let shrinkage = (WIDEST[0] / spread).min(1.0);
    let (step, steps) = grid(shrinkage * spread);
    let mut total = 0.0;
    out.fill(0.0);
    for at in -steps..=steps {
        let xi = f64::from(at) * step;
        let (weight, mut p) = ((-0.5 * xi * xi).exp(), [0.0; 2]);
        softmax(&[shrinkage * (centre + spread * xi), 0.0], &mut p);
        total += weight;
        axpy(weight, &p, out);
    }
    out.iter_mut().for_each(|p| *p /= total);
}

fn ternary(mean: &[f64], factor: &[f64], out: &mut [f64]) {
    let mut axes = principal_axes(factor);
    let mut centre = [mean[0], mean[1], mean[2]];
    let shrinkage = (WIDEST[1] / spread(&axes[0]).max(spread(&axes[1]))).min(1.0);
    for numbers in [&mut centre].into_iter().chain(&mut axes) {
        numbers.iter_mut().for_each(|number| *number *= shrinkage);
    }
    // e^{m + aξ + bη} is a product with one factor for each axis, so that exponentials are computed for
    // single nodes only. Each factor is scaled to a maximum of 1 over the classes; the product does not
    // underflow, since b spreads at most by WIDEST.
    let mut table = [[0.0; 4]; MOST_NODES];
    let (step, steps) = grid(spread(&axes[1]));
    let inner = &mut table[..2 * steps as usize + 1];
    for (node, at) in inner.iter_mut().zip(-steps..) {
        *node = scaled_exponentials(&[0.0; 3], &axes[1], f64::from(at) * step);
    }
    let (step, steps) = grid(spread(&axes[0]));
    let (mut sum, mut total) = ([0.0; 3], 0.0);
    for at in -steps..=steps {
        let [a0, a1, a2, weight] = scaled_exponentials(&centre, &axes[0], f64::from(at) * step);
        let mut part = [0.0; 4];
        for [b0, b1, b2, weight] in &*inner {
            let (e0, e1, e2) = (a0 * b0, a1 * b1, a2 * b2);
            let scale = weight / (e0 + e1 + e2);
            part[0] += e0 * scale;
            part[1] += e1 * scale;
            part[2] += e2 * scale;
            part[3] += weight;
        }
        axpy(weight, &part[..3], &mut sum);
        total += weight * part[3];
    }
    for (out, sum) in out.iter_mut().zip(sum) {
        *out = sum / total;
    }
}

/// $e^{m + a\xi}$ over its maximum, and the weight $e^{-\xi^2/2}$ of the node.
fn scaled_exponentials(mean: &[f64; 3], axis: &[f64; 3], xi: f64) -> [f64; 4] {
    let logit = |k: usize| mean[k] + axis[k] * xi;
    let max = logit(0).max(logit(1)).max(logit(2));
    let exponential = |k: usize| (logit(k) - max).exp();
    [exponential(0), exponential(1), exponential(2), (-0.5 * xi * xi).exp()]
}

fn spread(axis: &[f64]) -> f64 {
    let max = axis.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let min = axis.iter().copied().fold(f64::INFINITY, f64::min);
    max - min
}

/// Rotates the two columns of `factor` until they are orthogonal, which minimises the number of nodes.
fn principal_axes(factor: &[f64]) -> [[f64; 3]; 2] {
    // Only ratios of products matter; in units of the largest entry they do not overflow.
    let unit = max_abs(factor).max(f64::MIN_POSITIVE);
    let product = |i: usize, j: usize| -> f64 {
        (0..3).map(|k| (factor[3 * i + k] / unit) * (factor[3 * j + k] / unit)).sum()
    };
    let (sin, cos) = (0.5 * (2.0 * product(0, 1)).atan2(product(0, 0) - product(1, 1))).sin_cos();
    let combine = |a: f64, b: f64| std::array::from_fn(|k| a * factor[k] + b * factor[3 + k]);
    [combine(cos, sin), combine(-sin, cos)]
}

/// Writes the average of `samples` $\ge 1$ softmaxes to `out`. `draw` is given the number of the sample and
/// fills $\xi$ (length $K-1$). `scratch` has $3K$ numbers.
pub fn monte_carlo(
    mean: &[f64],
    factor: &[f64],
    samples: u64,
    mut draw: impl FnMut(u64, &mut [f64]),
    out: &mut [f64],
    scratch: &mut [f64],
) {
    let classes = out.len();
    let (logits, rest) = scratch.split_at_mut(classes);
    let (p, xi) = rest.split_at_mut(classes);
    let xi = &mut xi[..classes - 1];
    out.fill(0.0);
    for sample in 0..samples {
        draw(sample, xi);
        logits.copy_from_slice(mean);
        for (xi, column) in xi.iter().zip(factor.chunks_exact(classes)) {
            axpy(*xi, column, logits);
        }
        softmax(logits, p);
        axpy(1.0 / samples as f64, p, out);
    }
}

/// Writes $F = VL$ to `factor`, for the covariance $LL^\top$ (`covariance`, $(K-1)^2$ numbers, semidefinite)
/// of the coordinates in `basis` $= V$. `scratch` has $(K-1)(K+1)$ numbers.
pub fn factor(basis: &LogitBasis, covariance: &[f64], factor: &mut [f64], scratch: &mut [f64]) {
    let (k, q) = (basis.classes(), basis.dimension());
    let (lower, column) = scratch.split_at_mut(q * q);
    semidefinite_cholesky(covariance, q, lower);
    for (j, out) in factor.chunks_exact_mut(k).enumerate() {
        let column = &mut column[..q];
        for (i, entry) in column.iter_mut().enumerate() {
            *entry = lower[i * q + j];
        }
        basis.expand(column, out);
    }
}

/// Row-major $L$ with $LL^\top = a$; rounding errors in directions without variance are dropped.
fn semidefinite_cholesky(a: &[f64], side: usize, lower: &mut [f64]) {
    lower.fill(0.0);
    for j in 0..side {
        let square = |row: &[f64]| row[..j].iter().map(|l| l * l).sum::<f64>();
        let pivot = a[j * side + j] - square(&lower[j * side..]);
        if pivot <= 4.0 * f64::EPSILON * a[j * side + j] {
            continue;
        }
        lower[j * side + j] = pivot.sqrt();
        for i in j + 1..side {
            let known: f64 = (0..j).map(|l| lower[i * side + l] * lower[j * side + l]).sum();
            lower[i * side + j] = (a[i * side + j] - known) / lower[j * side + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::testing::{assert_all_close, assert_close, items, numbers, vector};

    /// F of a K x K covariance, by way of the coordinates.
    fn factor_of(covariance: &[f64]) -> Vec<f64> {
        let k = covariance.len().isqrt();
        let basis = LogitBasis::new(k);
        let q = k - 1;
        let columns: Vec<f64> = covariance.chunks_exact(k).flat_map(|row| reduced(&basis, row)).collect();
        let reduced: Vec<f64> = (0..q)
            .flat_map(|j| reduced(&basis, &(0..k).map(|i| columns[i * q + j]).collect::<Vec<_>>()))
            .collect();
        let mut out = vec![0.0; k * q];
        factor(&basis, &reduced, &mut out, &mut vec![0.0; q * (k + 1)]);
        out
    }

    fn reduced(basis: &LogitBasis, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; basis.dimension()];
        basis.reduce(a, &mut out);
        out
    }

    #[test]
    fn reference_values() {
        let reference = vector("expected_softmax");
        let cases = items(&reference["cases"]);
        assert_eq!(cases.len(), 8);
        for case in cases {
            let (mean, want) = (numbers(&case["mean"]), numbers(&case["expected"]));
            let factor = factor_of(&numbers(&case["cov"]));
            let mut got = vec![0.0; mean.len()];
            quadrature(&mean, &factor, &mut got);
            assert_all_close(&got, &want, 1e-10, &case.to_string());
            // 2^16 antithetic samples: a standard error of at most 0.002.
            let mut rng = Rng::new(3, 0);
            let draw = |sample, xi: &mut [f64]| {
                xi.iter_mut().for_each(|xi| *xi = if sample % 2 == 0 { rng.normal() } else { -*xi });
            };
            let mut sampled = vec![0.0; mean.len()];
            monte_carlo(&mean, &factor, 1 << 16, draw, &mut sampled, &mut vec![0.0; 3 * mean.len()]);
            for (sampled, want) in sampled.iter().zip(&want) {
                assert!((sampled - want).abs() < 0.01, "{case}: {sampled}");
            }
        }
    }

    /// Two logits with the same distribution are equally likely, whatever it is; and without variance the
    /// expectation is the softmax itself.
    #[test]
    fn symmetric_and_degenerate_cases() {
        for scale in [0.0, 1.0, 30.0, 1e3, 1e150] {
            let mut p = [0.0; 2];
            quadrature(&[0.0, 0.0], &[scale, -scale], &mut p);
            assert_close(p[0], 0.5, 1e-14, "two classes");
            let mut p = [0.0; 3];
            quadrature(&[0.0; 3], &[scale, -scale, 0.0, scale, scale, -2.0 * scale], &mut p);
            assert_close(p[0], p[1], 1e-13, "three classes");
            assert_close(p.iter().sum(), 1.0, 1e-13, "sum");
        }
        let (mut p, mut q) = ([0.0; 3], [0.0; 3]);
        quadrature(&[1.0, -2.0, 700.0], &[0.0; 6], &mut p);
        softmax(&[1.0, -2.0, 700.0], &mut q);
        assert_eq!(p[2], q[2]);
    }

    /// σ(δ) = P(δ > ε) for logistic noise ε: for a large variance the expectation is Φ(m/s), and Φ(1) =
    /// 0.841344746.
    #[test]
    fn wide_gaussians_approach_the_normal_distribution_function() {
        let mut p = [0.0; 2];
        quadrature(&[1e6, 0.0], &[1e6, 0.0], &mut p);
        assert!((p[0] - 0.841_344_746).abs() < 1e-4, "{p:?}");
        let mut p = [0.0; 3];
        quadrature(&[1e6, 0.0, -1e9], &[1e6, 0.0, 0.0, 0.0, 0.0, 0.0], &mut p);
        assert!((p[0] - 0.841_344_746).abs() < 2e-3, "{p:?}");
    }
}
