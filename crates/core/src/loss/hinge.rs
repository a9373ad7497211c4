//! The multiclass hinge loss and related losses, as functions of the margin $m$ of the true class.

use crate::kernel::vector::argmax;

/// The margin of the true class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// $m = s_y - \max_{k \ne y} s_k$.
    pub value: f64,
    /// The best other class $\bar y = \arg\max_{k \ne y} s_k$; the first of several.
    pub rival: usize,
}

/// The margin of class `label` under `scores` of at least two classes.
pub fn margin(scores: &[f64], label: usize) -> Margin {
    let rival = runner_up(scores, label);
    Margin { value: scores[label] - scores[rival], rival }
}

/// The best class other than `class`; the first of several.
pub(super) fn runner_up(scores: &[f64], class: usize) -> usize {
    let (before, after) = (&scores[..class], &scores[class + 1..]);
    match (before.is_empty(), after.is_empty()) {
        (true, _) => class + 1 + argmax(after),
        (_, true) => argmax(before),
        _ => {
            let (first, second) = (argmax(before), class + 1 + argmax(after));
            if scores[second] > scores[first] { second } else { first }
        }
    }
}

/// Writes the gradient of a loss in the scores to `out`, for its derivative `slope` in the margin: `slope`
/// $(e_y - e_{\bar y})$.
pub fn margin_gradient(slope: f64, label: usize, rival: usize, out: &mut [f64]) {
    out.fill(0.0);
    out[label] = slope;
    out[rival] = -slope;
}

/// The hinge loss $[1 - m]_+$.
pub fn hinge(m: f64) -> f64 {
    (1.0 - m).max(0.0)
}

/// The squared hinge loss $[1 - m]_+^2$.
pub fn squared_hinge(m: f64) -> f64 {
    hinge(m) * hinge(m)
}

/// The $\eta$-loss $1 - 2m/(2-\eta) + \eta m^2/(2-\eta)$ for $m \le 1$, else 0 (Beygelzimer, Orabona, Zhang,
/// SOBA).
///
/// `eta` in [0, 1] goes from [`hinge`] (0) to [`squared_hinge`] (1). Convex, non-increasing, zero iff
/// $m \ge 1$.
pub fn eta_loss(m: f64, eta: f64) -> f64 {
    // 1 - m is a factor of the polynomial; the product is never below 0.
    if m <= 1.0 { (1.0 - m) * (2.0 - eta - eta * m) / (2.0 - eta) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn margins_by_hand() {
        let scores = [1.0, 3.0, 3.0, -2.0];
        assert_eq!(margin(&scores, 1), Margin { value: 0.0, rival: 2 });
        assert_eq!(margin(&scores, 0), Margin { value: -2.0, rival: 1 });
        assert_eq!(margin(&scores, 3), Margin { value: -5.0, rival: 1 });
        assert_eq!(margin(&[0.0, 0.0], 1), Margin { value: 0.0, rival: 0 });
    }

    #[test]
    fn eta_goes_from_hinge_to_squared_hinge() {
        for m in [-3.0, -0.5, 0.0, 0.3, 1.0, 1.5] {
            assert_close(eta_loss(m, 0.0), hinge(m), 1e-15, "hinge");
            assert_close(eta_loss(m, 1.0), squared_hinge(m), 1e-15, "squared hinge");
        }
        assert_close(eta_loss(-1.0, 0.5), 1.0 + 2.0 / 1.5 + 0.5 / 1.5, 1e-15, "by the definition");
    }

    #[test]
    fn every_loss_is_at_least_one_on_a_mistake() {
        for m in [-2.0, -0.1, 0.0] {
            for eta in [0.0, 0.3, 1.0] {
                assert!(eta_loss(m, eta) >= 1.0);
            }
        }
    }
}
