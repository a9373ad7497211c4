//! Gaptron's gap maps (van der Hoeven, "Exploiting the Surrogate Gap in Online Multiclass Classification",
//! 2020).
//!
//! Gaptron plays the best class $\hat y$, mixed with the uniform distribution at rate $a \in [0, 1]$, where
//! the gap map $a$ depends on the scores. For each surrogate loss $\ell$ the map is such that the expected
//! mistakes of a round plus the squared gradient in the regret bound of gradient descent are at most the
//! loss; the difference is the surrogate gap (theory: gaptron 1.2):
//!
//! $$(1 - a) 1[\hat y \ne y] + a \tfrac{K-1}{K} + \tfrac{\eta}{2} \lVert c \otimes x \rVert^2 \le \ell \qquad
//!    (1)$$
//!
//! at every score vector, for $\eta$ up to [`Surrogate::full_information_rate`].
//!
//! Deviations: the printed map of the hinge loss is negative for top gaps above 1; it is clamped to 0 there.

use std::f64::consts::{LN_2, SQRT_2};

use super::{hinge, logistic, smooth_hinge};
use crate::kernel::vector::argmax;

/// The losses that Gaptron descends on. With $m^*$ the distance between best and second best score:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surrogate {
    /// Logistic loss in bits; gap map $1 - \sigma(s)_{\hat y}$ if $\sigma(s)_{\hat y} \ge 1/2$, else 1.
    Logistic,
    /// Multiclass hinge loss, but 0 where the best class is the true one and $m^* > 1/K$; gap map 0 if
    /// $m^* > 1/K$, else $1 - m^*$.
    Hinge,
    /// Smooth multiclass hinge loss; gap map $(1 - \min(1, m^*))^2$.
    Smooth,
}

impl Surrogate {
    /// The gap map $a \in [0, 1]$ at `scores` of at least two classes.
    pub fn gap(self, scores: &[f64]) -> f64 {
        let top = argmax(scores);
        let lead = scores[top] - scores[hinge::runner_up(scores, top)];
        match self {
            Surrogate::Logistic => {
                let others = || scores.iter().enumerate().filter(|&(k, _)| k != top);
                let odds: f64 = others().map(|(_, s)| (s - scores[top]).exp()).sum();
                if odds <= 1.0 { odds / (1.0 + odds) } else { 1.0 }
            }
            Surrogate::Hinge if is_clear(lead, scores) => 0.0,
            Surrogate::Hinge => 1.0 - lead,
            Surrogate::Smooth => (1.0 - lead.min(1.0)).powi(2),
        }
    }

    /// The surrogate loss $\ell$ of `scores` when the class is `label`.
    pub fn loss(self, scores: &[f64], label: usize) -> f64 {
        let margin = || hinge::margin(scores, label).value;
        match self {
            Surrogate::Logistic => logistic::loss_bits(scores, label),
            Surrogate::Hinge if is_clear(margin(), scores) => 0.0,
            Surrogate::Hinge => hinge::hinge(margin()),
            Surrogate::Smooth => smooth_hinge::smooth_hinge(margin()),
        }
    }

    /// Writes the gradient $c$ of the surrogate loss in the scores to `out`.
    pub fn gradient(self, scores: &[f64], label: usize, out: &mut [f64]) {
        let at = hinge::margin(scores, label);
        let slope = match self {
            Surrogate::Logistic => return logistic::gradient_bits(scores, label, out),
            Surrogate::Hinge if is_clear(at.value, scores) => 0.0,
            Surrogate::Hinge => -1.0,
            Surrogate::Smooth => smooth_hinge::smooth_hinge_slope(at.value),
        };
        hinge::margin_gradient(slope, label, at.rival, out);
    }

    /// The largest norm of a gradient $c$: $\sqrt2/\ln2$ (logistic), $\sqrt2$ (hinge), $2\sqrt2$ (smooth).
    pub fn steepest(self) -> f64 {
        match self {
            Surrogate::Logistic => SQRT_2 / LN_2,
            Surrogate::Hinge => SQRT_2,
            Surrogate::Smooth => 2.0 * SQRT_2,
        }
    }

    /// The largest learning rate $\eta$ of the theorem, for `classes` $K$ and $\lVert x \rVert_2 \le$
    /// `radius` $X$: $\ln 2/(2KX^2)$ (logistic), $(K-1)/(K^2X^2)$ (hinge), $1/(4KX^2)$ (smooth).
    ///
    /// The last two are exactly tight in (1). The paper's table prints twice the rate for the smooth hinge
    /// loss, at which (1) fails at $W = 0$.
    pub fn full_information_rate(self, classes: usize, radius: f64) -> f64 {
        let (k, square) = (classes as f64, radius * radius);
        match self {
            Surrogate::Logistic => LN_2 / (2.0 * k * square),
            Surrogate::Hinge => (k - 1.0) / (k * k * square),
            Surrogate::Smooth => 1.0 / (4.0 * k * square),
        }
    }

    /// The largest learning rate with bandit feedback: $\delta$ times [`Surrogate::full_information_rate`],
    /// where $\delta$ is a lower bound on the probability of the true class.
    ///
    /// `exploration` $= \gamma$ in [0, 1]; weights in the Frobenius ball of radius `norm` $D$.
    /// $\delta = \gamma/K$, and for the logistic loss $\max(\gamma, a_0)/K$: its gap map is at least
    /// $a_0 = (K-1)/(K-1+e^{\sqrt2DX})$ in the ball. The paper's $\delta$ belongs to a mixture that the
    /// algorithm does not play.
    pub fn bandit_rate(self, classes: usize, radius: f64, norm: f64, exploration: f64) -> f64 {
        let k = classes as f64;
        let least = match self {
            Surrogate::Logistic => {
                let odds = (SQRT_2 * norm * radius).min(700.0).exp() / (k - 1.0);
                exploration.max(1.0 / (1.0 + odds))
            }
            Surrogate::Hinge | Surrogate::Smooth => exploration,
        };
        least / k * self.full_information_rate(classes, radius)
    }

    /// The exploration rate of the theorem for bandit feedback over $T$ rounds is this over $\sqrt T$, or 1
    /// if that is larger: $KXD/\sqrt{\ln 2}$ (logistic), $K^2XD/(\sqrt2(K-1))$ (hinge), $\sqrt2KXD$ (smooth;
    /// the proof's, not the table's).
    pub fn exploration_scale(self, classes: usize, radius: f64, norm: f64) -> f64 {
        let (k, xd) = (classes as f64, radius * norm);
        match self {
            Surrogate::Logistic => k * xd / LN_2.sqrt(),
            Surrogate::Hinge => k * k * xd / (SQRT_2 * (k - 1.0)),
            Surrogate::Smooth => SQRT_2 * k * xd,
        }
    }
}

/// Whether the margin `lead` of a class exceeds $1/K$.
fn is_clear(lead: f64, scores: &[f64]) -> bool {
    lead > 1.0 / scores.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_all_close, assert_close, count, items, number, numbers, vector};
    use proptest::prelude::*;

    const ALL: [Surrogate; 3] = [Surrogate::Logistic, Surrogate::Hinge, Surrogate::Smooth];

    fn named(loss: &serde_json::Value) -> Surrogate {
        match loss.as_str() {
            Some("logistic") => Surrogate::Logistic,
            Some("hinge") => Surrogate::Hinge,
            Some("smooth") => Surrogate::Smooth,
            _ => panic!("no surrogate is called {loss}"),
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(ALL.map(|s| s.gap(&[0.0; 3])), [1.0, 1.0, 1.0]);
        assert!(ALL.iter().all(|s| s.gap(&[0.0, 50.0, 2.0]) < 1e-20));
        let scores = [0.25, 0.0, -1.0];
        assert_eq!(Surrogate::Hinge.gap(&scores), 0.75);
        assert_eq!(Surrogate::Smooth.gap(&scores), 0.5625);
        assert_eq!((Surrogate::Hinge.loss(&scores, 0), Surrogate::Hinge.loss(&scores, 1)), (0.75, 1.25));
        assert_eq!(
            (Surrogate::Hinge.loss(&[0.5, 0.0, 0.0], 0), Surrogate::Hinge.gap(&[0.5, 0.0, 0.0])),
            (0.0, 0.0)
        );
        assert_eq!(Surrogate::Logistic.gap(&[0.0, 0.0]), 0.5);
    }

    #[test]
    fn reference_values() {
        let reference = vector("gaptron_maps");
        let cases = items(&reference["cases"]);
        assert!(cases.len() > 300);
        for case in cases {
            let surrogate = named(&case["loss"]);
            let (scores, label) = (numbers(&case["scores"]), count(&case["y"]));
            let what = case.to_string();
            assert_close(surrogate.gap(&scores), number(&case["gap"]), 1e-12, &what);
            assert_close(surrogate.loss(&scores, label), number(&case["surrogate"]), 1e-12, &what);
            let mut c = vec![0.0; scores.len()];
            surrogate.gradient(&scores, label, &mut c);
            assert_all_close(&c, &numbers(&case["coef"]), 1e-12, &what);
        }
    }

    #[test]
    fn reference_rates() {
        let reference = vector("gaptron_settings");
        for case in items(&reference["cases"]) {
            let surrogate = named(&case["loss"]);
            let rate = surrogate.full_information_rate(count(&case["K"]), number(&case["X"]));
            assert_close(rate, number(&case["eta_full"]), 1e-13, &case.to_string());
            let (k, x, d) = (count(&case["K"]), number(&case["X"]), number(&case["D"]));
            let gamma = (surrogate.exploration_scale(k, x, d) / number(&case["T"]).sqrt()).min(1.0);
            assert_close(gamma, number(&case["gamma_bandit"]), 1e-13, &case.to_string());
            let rate = surrogate.bandit_rate(k, x, d, gamma);
            assert_close(rate, number(&case["eta_bandit"]), 1e-13, &case.to_string());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// (1), at random and at tied scores, for $\lVert x \rVert = 1$; and not at twice the rate where it
        /// is tight.
        #[test]
        fn surrogate_gap_is_never_positive(
            mut scores in prop::collection::vec(-3.0..3.0f64, 2..8),
            scale in prop::sample::select(vec![0.0, 0.01, 0.3, 1.0, 30.0]),
            tie in any::<bool>(),
            label in 0..8usize,
        ) {
            scores.iter_mut().for_each(|s| *s *= scale);
            if tie {
                scores[1] = scores[0];
            }
            let (classes, label) = (scores.len(), label % scores.len());
            let mut c = vec![0.0; classes];
            for surrogate in ALL {
                let a = surrogate.gap(&scores);
                prop_assert!((0.0..=1.0).contains(&a));
                surrogate.gradient(&scores, label, &mut c);
                let square: f64 = c.iter().map(|c| c * c).sum();
                prop_assert!(square.sqrt() <= surrogate.steepest() * (1.0 + 1e-12));
                let wrong = if argmax(&scores) == label { 0.0 } else { 1.0 };
                let mistakes = (1.0 - a) * wrong + a * (classes - 1) as f64 / classes as f64;
                let rate = surrogate.full_information_rate(classes, 1.0);
                let gap = mistakes + 0.5 * rate * square - surrogate.loss(&scores, label);
                prop_assert!(gap <= 1e-12, "{surrogate:?}: {gap}");
            }
        }

        /// The same with bandit feedback: the gradient is divided by the probability of the class, and the
        /// least exploration costs up to $\gamma(K-1)/K$. Scores are those of weights in the ball.
        #[test]
        fn bandit_surrogate_gap_is_never_positive(
            mut scores in prop::collection::vec(-3.0..3.0f64, 2..8),
            scale in prop::sample::select(vec![0.0, 0.01, 0.3, 1.0, 3.0]),
            exploration in prop::sample::select(vec![1e-4, 0.05, 0.5, 1.0]),
            tie in any::<bool>(),
            label in 0..8usize,
        ) {
            scores.iter_mut().for_each(|s| *s *= scale);
            if tie {
                scores[1] = scores[0];
            }
            let (classes, label) = (scores.len(), label % scores.len());
            let (least, most) = scores.iter().fold((f64::MAX, f64::MIN), |(a, b), s| (a.min(*s), b.max(*s)));
            let norm = ((most - least) / std::f64::consts::SQRT_2).max(1e-3);
            let (mut c, mut p) = (vec![0.0; classes], vec![0.0; classes]);
            for surrogate in ALL {
                crate::prediction::mix(argmax(&scores), surrogate.gap(&scores).max(exploration), &mut p);
                surrogate.gradient(&scores, label, &mut c);
                let square: f64 = c.iter().map(|c| c * c).sum::<f64>() / p[label];
                let rate = surrogate.bandit_rate(classes, 1.0, norm, exploration);
                let forced = exploration * (classes - 1) as f64 / classes as f64;
                let gap = 1.0 - p[label] - forced + 0.5 * rate * square - surrogate.loss(&scores, label);
                prop_assert!(gap <= 1e-12, "{surrogate:?}: {gap}");
            }
        }
    }

    #[test]
    fn twice_the_smooth_rate_is_too_much() {
        let mut c = [0.0; 4];
        Surrogate::Smooth.gradient(&[0.0; 4], 0, &mut c);
        let square: f64 = c.iter().map(|c| c * c).sum();
        assert!(
            0.75 + Surrogate::Smooth.full_information_rate(4, 1.0) * square
                > Surrogate::Smooth.loss(&[0.0; 4], 0)
        );
    }
}
