//! The inner problem of the binary improper learners: one monotone equation in one unknown.

/// The root $s$ of $s + h \tanh(s/2) = m$ for finite `m` and finite `h` $\ge 0$ (theory: aioli 1.2).
///
/// It has the sign of $m$, and $|m| - h \le |s| \le |m|$: $m$ is shrunk towards 0. Newton's method converges
/// without further measures: for $m > 0$ the left side is increasing and concave, and $\max(m/(1+h/2), m-h)$
/// is at most the root, so that the iterates increase to it.
pub fn shrink(m: f64, h: f64) -> f64 {
    shrink_until(m, h, EXACT)
}

/// The error after a step is at most half of its square: after a step of this many times the root, it is
/// below rounding if the root is below 200. Beyond, $h \tanh(s/2)$ is constant unless $h$ is above $10^{70}$.
pub(crate) const EXACT: f64 = 1e-9;

/// As [`shrink`], until a step is at most `last` times the root. Newton's method squares the error in each
/// step.
pub(crate) fn shrink_until(m: f64, h: f64, last: f64) -> f64 {
    const MAX_STEPS: usize = 200;
    let target = m.abs();
    let mut s = (target / (1.0 + 0.5 * h)).max(target - h);
    for _ in 0..MAX_STEPS {
        let rest = (-s).exp_m1();
        let tail = 1.0 + rest;
        let tanh = -rest / (1.0 + tail);
        let slope = 1.0 + 2.0 * h * tail / ((1.0 + tail) * (1.0 + tail));
        let step = ((target - s) - h * tanh) / slope;
        s += step;
        // A negative step is the result of rounding.
        if step <= last * s {
            break;
        }
    }
    s.clamp(0.0, target).copysign(m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, items, number, vector};
    use proptest::prelude::*;

    #[test]
    fn reference_values() {
        let reference = vector("scalar_root");
        let cases = items(&reference["cases"]);
        assert_eq!(cases.len(), 35);
        for case in cases {
            let (m, h, want) = (number(&case["m"]), number(&case["h"]), number(&case["s"]));
            let got = shrink(m, h);
            assert!((got - want).abs() <= 1e-12 * want.abs(), "{case}: got {got}");
        }
    }

    /// With s = 2 ln 3, tanh(s/2) = (3 - 1/3)/(3 + 1/3) = 4/5, so that m = 2 ln 3 + 4h/5.
    #[test]
    fn a_root_worked_by_hand() {
        let s = 2.0 * 3f64.ln();
        for h in [0.0, 0.5, 5.0, 1e3] {
            assert_close(shrink(s + 0.8 * h, h), s, 1e-13, "positive");
            assert_close(shrink(-s - 0.8 * h, h), -s, 1e-13, "negative");
        }
    }

    #[test]
    fn extremes_stay_finite() {
        for m in [1e-320, 1.0, 1e6, 1e300] {
            for h in [1e-300, 1.0, 1e6, 1e300] {
                let s = shrink(m, h);
                assert!((0.0..=m).contains(&s), "m = {m}, h = {h}: {s}");
            }
        }
        assert_eq!(shrink(0.0, 1e300), 0.0);
    }

    proptest! {
        #[test]
        fn solves_the_equation(m in -1e3..1e3f64, exponent in -8.0..8.0f64) {
            let h = 10f64.powf(exponent);
            let s = shrink(m, h);
            let residual = s + h * (0.5 * s).tanh() - m;
            prop_assert!(residual.abs() <= 1e-13 * (m.abs() + h), "{residual}");
        }
    }
}
