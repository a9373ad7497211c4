//! The logistic loss $\ell(z, y) = \ln \sum_k e^{z_k} - \langle y, z \rangle$ of logits $z \in \mathbb{R}^K$,
//! in nats.
//!
//! Nothing overflows for finite logits, and no small result is a difference of large numbers: a confident
//! correct prediction has a loss of about $e^{-\text{gap}}$, not 0.

use crate::kernel::softmax::softmax;
use crate::kernel::vector::argmax;

/// $\ln(1 + e^s)$, the softplus function.
///
/// The loss of the binary logit $s$ (that of class 1 over class 0) is `softplus(-s)` for class 1 and
/// `softplus(s)` for class 0.
pub fn softplus(s: f64) -> f64 {
    s.max(0.0) + (-s.abs()).exp().ln_1p()
}

/// $1/(1 + e^{-s})$, the sigmoid function; accurate for both signs, so that $1 - \sigma(s)$ is `sigmoid(-s)`.
pub fn sigmoid(s: f64) -> f64 {
    let tail = (-s.abs()).exp();
    if s >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
}

/// $\ln \sum_k e^{z_k}$ of at least one finite logit.
pub fn log_sum_exp(logits: &[f64]) -> f64 {
    logits[argmax(logits)] + excess(logits)
}

/// $\ln \sum_k e^{z_k} - \max_k z_k \ge 0$.
fn excess(logits: &[f64]) -> f64 {
    let top = argmax(logits);
    let others = || logits.iter().enumerate().filter(|&(k, _)| k != top);
    others().map(|(_, z)| (z - logits[top]).exp()).sum::<f64>().ln_1p()
}

/// The loss of `logits` when the class is `label`: $-\ln \sigma(z)_y$.
pub fn loss(logits: &[f64], label: usize) -> f64 {
    excess(logits) + (logits[argmax(logits)] - logits[label])
}

/// The loss of `logits` under the soft label `target`, a probability vector: $-\sum_k y_k \ln \sigma(z)_k$.
pub fn soft_loss(logits: &[f64], target: &[f64]) -> f64 {
    let max = logits[argmax(logits)];
    excess(logits) + target.iter().zip(logits).map(|(y, z)| y * (max - z)).sum::<f64>()
}

/// Writes the gradient $p - e_y$ of [`loss`] in the logits to `out`; its entry of the label is
/// $-\sum_{j \ne y} p_j$, without cancellation.
pub fn gradient(logits: &[f64], label: usize, out: &mut [f64]) {
    softmax(logits, out);
    out[label] = 0.0;
    out[label] = -out.iter().sum::<f64>();
}

/// Writes the gradient $p - y$ of [`soft_loss`] in the logits to `out`.
pub fn soft_gradient(logits: &[f64], target: &[f64], out: &mut [f64]) {
    softmax(logits, out);
    out.iter_mut().zip(target).for_each(|(p, y)| *p -= y);
}

/// The loss in bits, $-\log_2 \sigma(z)_y$: at least 1 if the best score is that of another class, as Gaptron
/// requires of a surrogate.
pub fn loss_bits(logits: &[f64], label: usize) -> f64 {
    loss(logits, label) / std::f64::consts::LN_2
}

/// Writes the gradient $(p - e_y)/\ln 2$ of [`loss_bits`] in the logits to `out`.
pub fn gradient_bits(logits: &[f64], label: usize, out: &mut [f64]) {
    gradient(logits, label, out);
    out.iter_mut().for_each(|c| *c /= std::f64::consts::LN_2);
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference;
    use super::*;
    use crate::testing::assert_close;

    const LOGITS: [f64; 4] = [0.3, -1.2, 2.0, 0.0];

    #[test]
    fn by_hand() {
        assert_close(loss(&[0.0, 0.0, 0.0], 1), 3f64.ln(), 1e-15, "uniform");
        assert_close(loss_bits(&[5.0, 5.0], 0), 1.0, 1e-15, "one bit");
        assert_close(log_sum_exp(&[1f64.ln(), 2f64.ln(), 3f64.ln()]), 6f64.ln(), 1e-15, "ln 6");
        assert_close(loss(&[0.0, 3f64.ln()], 0), 4f64.ln(), 1e-15, "p = 1/4");
        assert_close(
            soft_loss(&[0.0, 3f64.ln()], &[0.5, 0.5]),
            0.5 * (4f64.ln() + (4.0 / 3f64).ln()),
            1e-15,
            "",
        );
        assert_close(softplus(0.7) - softplus(-0.7), 0.7, 1e-15, "softplus");
        assert_close(sigmoid(0.7) + sigmoid(-0.7), 1.0, 1e-15, "sigmoid");
    }

    #[test]
    fn gradients_are_derivatives() {
        let mut c = [0.0; 4];
        for label in 0..4 {
            gradient(&LOGITS, label, &mut c);
            finite_difference::check(|z| loss(z, label), &LOGITS, &c);
            gradient_bits(&LOGITS, label, &mut c);
            finite_difference::check(|z| loss_bits(z, label), &LOGITS, &c);
        }
        let target = [0.1, 0.2, 0.3, 0.4];
        soft_gradient(&LOGITS, &target, &mut c);
        finite_difference::check(|z| soft_loss(z, &target), &LOGITS, &c);
    }

    #[test]
    fn a_soft_label_may_be_a_class() {
        let mut hard = [0.0; 4];
        let mut soft = [0.0; 4];
        gradient(&LOGITS, 2, &mut hard);
        soft_gradient(&LOGITS, &[0.0, 0.0, 1.0, 0.0], &mut soft);
        assert_close(soft_loss(&LOGITS, &[0.0, 0.0, 1.0, 0.0]), loss(&LOGITS, 2), 1e-15, "loss");
        for k in 0..4 {
            assert_close(soft[k], hard[k], 1e-15, "gradient");
        }
    }

    #[test]
    fn extreme_logits_keep_their_digits() {
        let mut c = [0.0; 2];
        gradient(&[700.0, 0.0], 0, &mut c);
        let tiny = (-700f64).exp();
        assert_eq!((loss(&[700.0, 0.0], 0), c), (tiny, [-tiny, tiny]));
        assert_eq!((softplus(-700.0), sigmoid(-700.0)), (tiny, tiny));
        assert_eq!(loss(&[1e308, 0.0], 1), 1e308);
        assert_eq!(loss(&[-1e300, 1e300], 1), 0.0);
        assert_eq!((softplus(1e300), sigmoid(1e300), sigmoid(-1e300)), (1e300, 1.0, 0.0));
        gradient(&[1e308, -1e308, 0.0][..2], 1, &mut c);
        assert_eq!(c, [1.0, -1.0]);
    }
}
