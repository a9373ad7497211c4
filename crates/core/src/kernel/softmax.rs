//! Softmax and the factor of its covariance.

use pulp::bytemuck::{Pod, cast_slice, cast_slice_mut};
use pulp::{Arch, Simd, WithSimd};

use super::vector::max_in_lanes;

/// Writes $\sigma(z)_k = e^{z_k} / \sum_j e^{z_j}$ to `p`, for any finite logits: the maximum is subtracted
/// first.
pub fn softmax(z: &[f64], p: &mut [f64]) {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for (p, z) in p.iter_mut().zip(z) {
        *p = (z - max).exp();
        total += *p;
    }
    for p in p.iter_mut() {
        *p /= total;
    }
}

/// [`softmax`] to a few units in the last place: for iterations that tolerate small errors.
///
/// Written in vectors, as the compiler finds none in the loops over few classes.
pub(crate) fn quick_softmax(z: &[f64], p: &mut [f64]) {
    assert_eq!(z.len(), p.len(), "a probability for each class");
    Arch::new().dispatch(QuickSoftmax { z, p });
}

struct QuickSoftmax<'a> {
    z: &'a [f64],
    p: &'a mut [f64],
}

impl WithSimd for QuickSoftmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { z, p } = self;
        let max = simd.splat_f64s(max_in_lanes(z));
        let ((vectors, rest), (out, out_rest)) = (S::as_simd_f64s(z), S::as_mut_simd_f64s(p));
        let mut sums = simd.splat_f64s(0.0);
        for (out, &z) in out.iter_mut().zip(vectors) {
            *out = exp_of_negative(simd, simd.sub_f64s(z, max));
            sums = simd.add_f64s(sums, *out);
        }
        // What is behind the last class is computed, and not stored.
        let rest = simd.sub_f64s(simd.partial_load_f64s(rest), max);
        simd.partial_store_f64s(out_rest, exp_of_negative(simd, rest));
        let total = simd.reduce_sum_f64s(sums) + out_rest.iter().sum::<f64>();
        let scale = 1.0 / total;
        p.iter_mut().for_each(|p| *p *= scale);
    }
}

/// Added to a number, it leaves the nearest integer in the last bits: $1.5 \cdot 2^{52}$.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// $\ln 2$ in two parts, the first with trailing zeros.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// $e^x$ for every $x \le 0$; $e^{-708}$ below -708.
#[inline(always)]
pub(super) fn exp_of_negative<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let x = simd.max_f64s(x, simd.splat_f64s(-708.0));
    let shifted = simd.mul_add_e_f64s(x, simd.splat_f64s(std::f64::consts::LOG2_E), simd.splat_f64s(ROUND));
    let n = simd.sub_f64s(shifted, simd.splat_f64s(ROUND));
    let r = simd.mul_add_e_f64s(n, simd.splat_f64s(-LN_2[0]), x);
    let r = simd.mul_add_e_f64s(n, simd.splat_f64s(-LN_2[1]), r);
    // Taylor's polynomial: |r| <= ln(2)/2, and the next term is below 2^-57.
    let mut sum = simd.splat_f64s(1.0 / 6_227_020_800.0);
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        sum = simd.mul_add_e_f64s(sum, r, simd.splat_f64s(1.0 / factorial));
    }
    let (mut sum, shifted) = (simd.transmute_u64s_f64s(sum), simd.transmute_u64s_f64s(shifted));
    for (bits, shifted) in lanes_mut::<u64, _>(&mut sum).iter_mut().zip(lanes::<u64, _>(&shifted)) {
        *bits = bits.wrapping_add(shifted << 52);
    }
    simd.transmute_f64s_u64s(sum)
}

/// Replaces every number $x \le 0$ by $e^x$, to a few units in the last place; by 0 below -700.
pub(crate) fn quick_exponentials(numbers: &mut [f64]) {
    Arch::new().dispatch(QuickExponentials(numbers));
}

struct QuickExponentials<'a>(&'a mut [f64]);

impl WithSimd for QuickExponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (vectors, rest) = S::as_mut_simd_f64s(self.0);
        for vector in vectors {
            *vector = exp_or_zero(simd, *vector);
        }
        let last = exp_or_zero(simd, simd.partial_load_f64s(rest));
        simd.partial_store_f64s(rest, last);
    }
}

/// $e^x$ for every $x \le 0$; 0 below -700.
#[inline(always)]
fn exp_or_zero<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let negligible = simd.less_than_f64s(x, simd.splat_f64s(-700.0));
    simd.select_f64s(negligible, simd.splat_f64s(0.0), exp_of_negative(simd, x))
}

/// The numbers of a vector.
#[inline(always)]
pub(super) fn lanes<T: Pod, V: Pod>(vector: &V) -> &[T] {
    cast_slice(std::slice::from_ref(vector))
}

#[inline(always)]
pub(super) fn lanes_mut<T: Pod, V: Pod>(vector: &mut V) -> &mut [T] {
    cast_slice_mut(std::slice::from_mut(vector))
}

/// Writes $\ln p$ for probabilities `p`, or $\ln$ `least` (>= 1e-300) if that is larger, to `out`: to a few
/// units in the last place.
pub(crate) fn quick_logarithms(p: &[f64], least: f64, out: &mut [f64]) {
    assert_eq!(p.len(), out.len(), "logarithms of as many probabilities");
    Arch::new().dispatch(QuickLogarithms { p, least, out });
}

struct QuickLogarithms<'a> {
    p: &'a [f64],
    least: f64,
    out: &'a mut [f64],
}

impl WithSimd for QuickLogarithms<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { p, least, out } = self;
        let least = simd.splat_f64s(least);
        let ((vectors, rest), (out, out_rest)) = (S::as_simd_f64s(p), S::as_mut_simd_f64s(out));
        for (out, &p) in out.iter_mut().zip(vectors) {
            *out = ln_of_normal(simd, simd.max_f64s(p, least));
        }
        let rest = simd.max_f64s(simd.partial_load_f64s(rest), least);
        simd.partial_store_f64s(out_rest, ln_of_normal(simd, rest));
    }
}

/// $\ln x$ for positive normal numbers.
#[inline(always)]
pub(super) fn ln_of_normal<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    /// The bits of $\sqrt{1/2}$: mantissas are in $[\sqrt{1/2}, \sqrt2)$.
    const START: u64 = 0x3FE6_A09E_667F_3BCD;
    /// The bits of $2^{52}$: the last ones are a whole number that is added to it.
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    /// $2^{52} + 2^{11}$.
    const SHIFT: f64 = 4_503_599_627_372_544.0;
    let (mut mantissa, mut exponent) = (simd.transmute_u64s_f64s(x), simd.transmute_u64s_f64s(x));
    for (mantissa, exponent) in
        lanes_mut::<u64, _>(&mut mantissa).iter_mut().zip(lanes_mut::<u64, _>(&mut exponent))
    {
        let above = mantissa.wrapping_sub(START);
        *mantissa = (above & 0x000F_FFFF_FFFF_FFFF).wrapping_add(START);
        // The exponent is at least -2048.
        *exponent = WHOLE | ((above >> 52).wrapping_add(2048) & 0xFFF);
    }
    let (mantissa, exponent) = (simd.transmute_f64s_u64s(mantissa), simd.transmute_f64s_u64s(exponent));
    let exponent = simd.sub_f64s(exponent, simd.splat_f64s(SHIFT));
    // ln m = 2 artanh(s), s = (m-1)/(m+1), |s| < 0.172: the next term is below 2^-57 of the first.
    let one = simd.splat_f64s(1.0);
    let s = simd.div_f64s(simd.sub_f64s(mantissa, one), simd.add_f64s(mantissa, one));
    let square = simd.mul_f64s(s, s);
    let mut sum = simd.splat_f64s(1.0 / 21.0);
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = simd.mul_add_e_f64s(sum, square, simd.splat_f64s(1.0 / odd));
    }
    let twice = simd.add_f64s(s, s);
    let cubed = simd.mul_f64s(simd.mul_f64s(twice, square), sum);
    let tail = simd.mul_add_e_f64s(exponent, simd.splat_f64s(LN_2[1]), cubed);
    simd.mul_add_e_f64s(exponent, simd.splat_f64s(LN_2[0]), simd.add_f64s(twice, tail))
}

/// Writes $S(p)\ z = \mathrm{diag}(p)\ z - p\ \langle p, z\rangle$ to `out`.
pub fn covariance_times(p: &[f64], z: &[f64], out: &mut [f64]) {
    let mean = super::vector::dot(p, z);
    for ((out, p), z) in out.iter_mut().zip(p).zip(z) {
        *out = p * (z - mean);
    }
}

/// The smallest eigenvalue of $S(p)$ on the vectors of sum 0, rounded down.
///
/// With $p_1$ the smallest probability it is the root of $\sum_k p_k/(p_k - \mu) = 0$ between $p_1$ and
/// $p_1 K/(K-1)$ (theory: sketches 2.2).
pub(crate) fn least_eigenvalue(p: &[f64]) -> f64 {
    let (mut at, mut low) = (0, f64::INFINITY);
    for (k, p) in p.iter().enumerate() {
        if *p < low {
            (at, low) = (k, *p);
        }
    }
    let least = low;
    let others = || p.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, p)| *p);
    let next = others().fold(f64::INFINITY, f64::min);
    let mut high = next.min(least * (p.len() as f64 / (p.len() - 1) as f64));
    while high - low > 1e-12 * low {
        let middle = 0.5 * (low + high);
        // Between the two smallest probabilities the sum increases from -∞ to ∞.
        let sum: f64 = others().map(|p| p / (p - middle)).sum();
        if sum * (middle - least) < least {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Writes column `j` (of $K-1$) of the lower trapezoidal factor $C$ with
/// $CC^\top = \mathrm{diag}(p) - pp^\top$ to `column` (length $K$), given `tails` with
/// $r_j = \sum_{l \ge j} p_l$ (theory: second-order 1.2).
///
/// Exact to rounding even for saturated `p`: the ratios are at most 1, nothing overflows, and every column
/// sums to 0.
pub fn covariance_factor_column(p: &[f64], tails: &[f64], j: usize, column: &mut [f64]) {
    column.fill(0.0);
    let (r, next) = (tails[j], tails[j + 1]);
    if p[j] == 0.0 || r == 0.0 || next == 0.0 {
        return;
    }
    let c = (p[j] * (next / r)).sqrt();
    column[j] = c;
    for i in j + 1..p.len() {
        column[i] = -(p[i] / next) * c;
    }
}

/// Writes the tails $r_j = \sum_{l \ge j} p_l$, summed from the end to avoid cancellation.
pub fn tails(p: &[f64], tails: &mut [f64]) {
    let mut total = 0.0;
    for (tail, p) in tails.iter_mut().zip(p).rev() {
        total += p;
        *tail = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::eigen::jacobi;
    use proptest::prelude::*;

    proptest! {
        /// The second smallest eigenvalue of $S$, whose smallest one is 0.
        #[test]
        fn the_least_eigenvalue_is_that_of_the_matrix(z in prop::collection::vec(-8.0..8.0f64, 2..6)) {
            let k = z.len();
            let (mut p, mut vectors) = (vec![0.0; k], vec![0.0; k * k]);
            softmax(&z, &mut p);
            let entry = |i: usize, j: usize| if i == j { p[i] * (1.0 - p[i]) } else { -p[i] * p[j] };
            let mut s: Vec<f64> = (0..k * k).map(|at| entry(at / k, at % k)).collect();
            jacobi(&mut s, k, &mut vectors);
            let mut values: Vec<f64> = s.iter().step_by(k + 1).copied().collect();
            values.sort_by(f64::total_cmp);
            let least = least_eigenvalue(&p);
            prop_assert!((least - values[1]).abs() <= 1e-15 + 1e-10 * least, "{least} instead of {}", values[1]);
        }
    }

    #[test]
    fn the_least_eigenvalue_of_equal_and_vanishing_probabilities() {
        assert_eq!(least_eigenvalue(&[0.25; 4]), 0.25);
        assert_eq!(least_eigenvalue(&[0.0, 0.5, 0.5]), 0.0);
        assert_eq!(least_eigenvalue(&[1.0, 0.0]), 0.0);
        let tiny = least_eigenvalue(&[1e-300, 1.0]);
        assert!((tiny / 2e-300 - 1.0).abs() < 1e-11, "{tiny}");
    }

    #[test]
    fn quick_logarithms_are_as_good() {
        let p: Vec<f64> = (0..4000)
            .map(|i| (-0.17 * f64::from(i)).exp() * 0.999)
            .chain([1.0, 0.0, 0.5, 1.0 - 1e-16])
            .collect();
        let mut got = vec![0.0; p.len()];
        quick_logarithms(&p, 1e-300, &mut got);
        for (got, p) in got.iter().zip(&p) {
            let want = p.max(1e-300).ln();
            assert!((got - want).abs() <= 1e-15 * want.abs(), "ln {p} = {want}, not {got}");
        }
    }

    #[test]
    fn quick_exponentials_are_as_good() {
        let x: Vec<f64> = (0..4001)
            .map(|i| -0.175 * f64::from(i))
            .chain([-1e-9, -1e-300, -1e12, f64::NEG_INFINITY])
            .collect();
        for count in [1, 2, 3, 4, x.len()] {
            let mut got = x[x.len() - count..].to_vec();
            quick_exponentials(&mut got);
            for (got, x) in got.iter().zip(&x[x.len() - count..]) {
                let want = if *x < -700.0 { 0.0 } else { x.exp() };
                assert!((got - want).abs() <= 4.0 * f64::EPSILON * want, "e^{x} = {want}, not {got}");
            }
        }
    }

    #[test]
    fn the_quick_one_is_as_good() {
        for len in 1..20 {
            let z: Vec<f64> =
                (0..len).map(|i| 40.0 * f64::sin(f64::from(i * i) + 0.3 * f64::from(len))).collect();
            let (mut p, mut quick) = (vec![0.0; z.len()], vec![f64::NAN; z.len()]);
            softmax(&z, &mut p);
            quick_softmax(&z, &mut quick);
            for (p, quick) in p.iter().zip(&quick) {
                assert!((p - quick).abs() <= 4.0 * f64::EPSILON * p, "{p} {quick}");
            }
        }
        let mut p = [0.0; 3];
        quick_softmax(&[1e9, -1e300, 1e9], &mut p);
        assert!((p[0] - 0.5).abs() < 1e-15 && p[1] < 1e-300 && (p[2] - 0.5).abs() < 1e-15, "{p:?}");
    }

    #[test]
    fn huge_logits_do_not_overflow() {
        let mut p = [0.0; 3];
        softmax(&[800.0, -800.0, 799.0], &mut p);
        assert!((p[0] - 0.731_058_578_630_004_9).abs() < 1e-15 && p[1] == 0.0, "{p:?}");
    }

    proptest! {
        #[test]
        fn factor_reproduces_the_covariance(z in prop::collection::vec(-60.0..60.0f64, 2..8)) {
            let k = z.len();
            let (mut p, mut r, mut column) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
            softmax(&z, &mut p);
            tails(&p, &mut r);
            let mut product = vec![0.0; k * k];
            for j in 0..k - 1 {
                covariance_factor_column(&p, &r, j, &mut column);
                prop_assert!(column.iter().sum::<f64>().abs() <= 1e-15);
                for a in 0..k {
                    for b in 0..k {
                        product[a * k + b] += column[a] * column[b];
                    }
                }
            }
            for a in 0..k {
                for b in 0..k {
                    let expected = if a == b { p[a] * (1.0 - p[a]) } else { -p[a] * p[b] };
                    prop_assert!((product[a * k + b] - expected).abs() <= 1e-15, "{} {expected}", product[a * k + b]);
                }
            }
        }
    }
}
