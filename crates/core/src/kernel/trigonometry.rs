//! Sines and cosines of many numbers.

use super::vector::widest;

/// Largest absolute value for which [`quick_sines_and_cosines`] is accurate: up to it, multiples of the parts
/// of $\pi/2$ are exact.
const LARGEST: f64 = 1e6;

/// Writes $h \sin x$ to `sines` and $h \cos x$ to `cosines`, for every $x$ in `cosines`, $|x| \le 10^6$, and
/// the `height` $h$: to a few units in the last place of $h$, eight at a time.
pub(crate) fn quick_sines_and_cosines(height: f64, cosines: &mut [f64], sines: &mut [f64]) {
    debug_assert!(cosines.iter().all(|x| x.abs() <= LARGEST), "beyond the accurate range");
    widest(
        #[inline(always)]
        || {
            for (cosine, sine) in cosines.iter_mut().zip(sines) {
                let (sin, cos) = sin_cos(*cosine);
                (*sine, *cosine) = (height * sin, height * cos);
            }
        },
    );
}

/// $\sin x$ and $\cos x$ without a branch.
#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    use std::f64::consts::FRAC_2_PI;
    /// Added to a number, it leaves the nearest integer in the last bits: $1.5 \cdot 2^{52}$.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// $\pi/2$ in three parts, the first two with 20 trailing zeros.
    const HALF_PI: [f64; 3] =
        [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_7e-21];
    let shifted = x * FRAC_2_PI + ROUND;
    let n = shifted - ROUND;
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    // Taylor's polynomials: |r| <= π/4, and the next terms are below 2^-58.
    let square = r * r;
    let mut odd = 1.0 / 355_687_428_096_000.0;
    for factorial in [-1_307_674_368_000.0, 6_227_020_800.0, -39_916_800.0, 362_880.0, -5040.0, 120.0, -6.0] {
        odd = odd * square + 1.0 / factorial;
    }
    let sin = r + r * square * odd;
    let mut even = 1.0 / 20_922_789_888_000.0;
    for factorial in [-87_178_291_200.0, 479_001_600.0, -3_628_800.0, 40_320.0, -720.0, 24.0, -2.0] {
        even = even * square + 1.0 / factorial;
    }
    let cos = 1.0 + square * even;
    // With q = n mod 4, the pair (sin x, cos x) is (s, c), (c, -s), (-s, -c), (-c, s).
    let quarters = shifted.to_bits();
    let swapped = 0u64.wrapping_sub(quarters & 1);
    let pick = |a: f64, b: f64| (a.to_bits() & !swapped) | (b.to_bits() & swapped);
    let of_sine = (quarters & 2) << 62;
    let of_cosine = ((quarters + 1) & 2) << 62;
    (f64::from_bits(pick(sin, cos) ^ of_sine), f64::from_bits(pick(cos, sin) ^ of_cosine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn as_the_standard_library() {
        let mut rng = Rng::new(3, 0);
        let mut numbers: Vec<f64> = (-40..=40).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_4).collect();
        numbers.extend([0.0, 1e-300, -1e-9, 1e6, -1e6]);
        for largest in [1.0, 10.0, 1e3, 1e6] {
            numbers.extend((0..10_000).map(|_| largest * rng.normal().clamp(-1.0, 1.0)));
        }
        let (mut cosines, mut sines) = (numbers.clone(), vec![f64::NAN; numbers.len()]);
        quick_sines_and_cosines(0.5, &mut cosines, &mut sines);
        for ((x, cosine), sine) in numbers.iter().zip(cosines).zip(sines) {
            let (sin, cos) = x.sin_cos();
            let error = (sine - 0.5 * sin).abs().max((cosine - 0.5 * cos).abs());
            assert!(error < 4e-16, "{x}: an error of {error:e}");
        }
    }
}
