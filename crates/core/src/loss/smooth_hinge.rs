//! The smooth multiclass hinge loss: linear on mistakes, quadratic up to margin 1, then 0.

/// $1 - 2m$ for $m \le 0$, $(1-m)^2$ for $0 < m < 1$, else 0, of the margin $m$ (see
/// [`super::hinge::margin`]).
pub fn smooth_hinge(m: f64) -> f64 {
    if m <= 0.0 {
        1.0 - 2.0 * m
    } else {
        let short = (1.0 - m).max(0.0);
        short * short
    }
}

/// The derivative of [`smooth_hinge`] in the margin: -2 for $m \le 0$, then $-2[1-m]_+$.
pub fn smooth_hinge_slope(m: f64) -> f64 {
    -2.0 * (1.0 - m).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::{finite_difference, hinge};
    use super::*;

    #[test]
    fn by_hand() {
        for (m, loss) in [(-2.0, 5.0), (0.0, 1.0), (0.5, 0.25), (1.0, 0.0), (3.0, 0.0)] {
            assert_eq!(smooth_hinge(m), loss, "m = {m}");
        }
    }

    #[test]
    fn gradients_are_derivatives() {
        let mut c = [0.0; 3];
        for scores in [[0.2, 0.5, -0.3], [2.0, 0.1, 0.4], [0.7, 0.0, 0.1]] {
            for label in 0..3 {
                let at = hinge::margin(&scores, label);
                hinge::margin_gradient(smooth_hinge_slope(at.value), label, at.rival, &mut c);
                finite_difference::check(|s| smooth_hinge(hinge::margin(s, label).value), &scores, &c);
            }
        }
    }
}
