//! The exponentials of a chain's logits: every copy changes one logit, so that only one exponential is
//! computed.

use crate::boosting::regression;
use crate::kernel::softmax::softmax;
use crate::loss::logistic;

/// Logits up to this absolute value have exponentials, and sums of exponentials, that do not overflow.
const WIDE: f64 = 300.0;

/// Logits that start at 0, with their exponentials $e^{s_k}$.
#[derive(Debug)]
pub(super) struct Powers<'a> {
    /// $s$.
    pub(super) logits: &'a mut [f64],
    /// $e^{s_k}$ up to a common factor.
    powers: &'a mut [f64],
    /// Whether a logit has exceeded [`WIDE`], so that the exponentials cannot be used.
    wide: bool,
}

impl<'a> Powers<'a> {
    /// All logits 0, stored in two slices with an entry for each class.
    pub(super) fn new(logits: &'a mut [f64], powers: &'a mut [f64]) -> Self {
        logits.fill(0.0);
        powers.fill(1.0);
        Self { logits, powers, wide: false }
    }

    /// Sets $s_l$.
    pub(super) fn set(&mut self, l: usize, logit: f64) {
        self.logits[l] = logit;
        self.wide |= logit.abs() > WIDE;
        if self.wide {
            softmax(self.logits, self.powers);
        } else {
            self.powers[l] = logit.exp();
        }
    }

    fn others(&self, l: usize) -> f64 {
        self.powers.iter().enumerate().filter(|(k, _)| *k != l).map(|(_, power)| power).sum()
    }

    /// $\ln\sum_{k \ne l} e^{s_k}$.
    pub(super) fn rest(&self, l: usize) -> f64 {
        if self.wide { regression::rest(self.logits, l) } else { self.others(l).ln() }
    }

    /// The log loss of the softmax of $s$ where class `y` is true.
    pub(super) fn loss(&self, y: usize) -> f64 {
        if self.wide { logistic::loss(self.logits, y) } else { (self.others(y) / self.powers[y]).ln_1p() }
    }

    /// Adds `weight` times the softmax of $s$ to `out`.
    pub(super) fn add_softmax(&self, weight: f64, out: &mut [f64]) {
        let scale = weight / self.powers.iter().sum::<f64>();
        out.iter_mut().zip(&*self.powers).for_each(|(out, power)| *out += scale * power);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_exponential_is_as_good_as_all(
            changes in prop::collection::vec((0..4usize, -1.0..1.0f64), 1..12),
            size in prop::sample::select(vec![1.0, 30.0, 290.0, 800.0]),
        ) {
            let (mut logits, mut room, mut plain) = ([0.0; 4], [0.0; 4], [0.0; 4]);
            let mut powers = Powers::new(&mut logits, &mut room);
            for (l, logit) in changes {
                powers.set(l, size * logit);
                plain[l] = size * logit;
                let (mut sigma, mut got) = ([0.0; 4], [0.0; 4]);
                softmax(&plain, &mut sigma);
                powers.add_softmax(1.0, &mut got);
                for k in 0..4 {
                    prop_assert!((got[k] - sigma[k]).abs() <= 1e-14);
                    let (rest, loss) = (regression::rest(&plain, k), logistic::loss(&plain, k));
                    prop_assert!((powers.rest(k) - rest).abs() <= 1e-13 * (1.0 + rest.abs()));
                    prop_assert!((powers.loss(k) - loss).abs() <= 1e-12 * loss.min(1.0));
                }
            }
        }
    }
}
