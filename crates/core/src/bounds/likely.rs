//! Right-hand sides that hold with high probability. `miss` is $\delta$, the probability with which a bound
//! may fail.

use super::Setting;

/// The largest $j$ in [`drawn_mistakes`]; beyond, a step is worth less than rounding.
const FINEST: i32 = 40;

/// The mistakes of labels that are drawn, in all rounds at once, where the sum of their probabilities given
/// the past is at most `expected` $E$: the least of $2^j\bigl((e^{2^{-j}} - 1) E +
/// \ln\frac{(j+1)(j+2)}\delta\bigr)$ over the integers $j \ge 0$.
///
/// Derived (theory: gaptron 3.1), as Freedman (1975).
pub fn drawn_mistakes(expected: f64, miss: f64) -> f64 {
    let of = |power: i32| {
        let (factor, j) = (2f64.powi(power), f64::from(power));
        factor * ((1.0 / factor).exp_m1() * expected + ((j + 1.0) * (j + 2.0) / miss).ln())
    };
    (0..=FINEST).map(of).fold(f64::INFINITY, f64::min)
}

/// Gaptron's rates under bandit feedback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaptronRates {
    /// $\eta$, below `largest`.
    pub rate: f64,
    /// $\eta_0$, see [`crate::loss::gap::Surrogate::bandit_rate`].
    pub largest: f64,
    /// $\gamma$.
    pub exploration: f64,
    /// $c_0 G$: the largest rate with full information times the largest norm of a gradient.
    pub slope: f64,
}

/// Gaptron's sum of the probabilities of mistakes given the past under bandit feedback, beyond the
/// comparator's surrogate loss, in all rounds and for all comparators at once: with $v = 1 - \eta/\eta_0$,
/// $\frac{U^2}{2\eta} + \frac{U^2}{v\eta_0} + \frac{10.8 D^2 + 5.4 (c_0G)^2}{v\eta_0} \ln\frac1\delta +
/// \gamma T\frac{K-1}K$.
///
/// For comparators of Frobenius norm at most $U$ (`setting.norm`) in the ball of radius $D$ (`ball`) that
/// Gaptron projects to. Derived (theory: gaptron 3.3).
pub fn gaptron_likely(setting: &Setting, ball: f64, rates: GaptronRates, miss: f64) -> f64 {
    let GaptronRates { rate, largest, exploration, slope } = rates;
    let spare = largest - rate;
    let square = setting.norm.powi(2);
    let variance = 10.8 * ball.powi(2) + 5.4 * slope.powi(2);
    let forced = exploration * setting.rounds * (setting.k() - 1.0) / setting.k();
    0.5 * square / rate + (square - variance * miss.ln()) / spare + forced
}

/// The sum over the rounds of the squared Hellinger distance of the forecasts from the probabilities with
/// which labels are drawn, in all rounds at once, where these are the probabilities of a comparator that the
/// learner's `regret` is about: $R + 2\ln\frac1\delta$.
///
/// For any rows. Derived (theory: online-to-batch 2.1).
pub fn squared_distance(regret: f64, miss: f64) -> f64 {
    regret - 2.0 * miss.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::gap::Surrogate;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::assert_close;

    /// Without any expected mistakes $j = 0$ is best; with many, the bound is between the two of theory that
    /// a fixed $j$ and the best real one have.
    #[test]
    fn drawn_mistakes_by_hand() {
        assert_close(drawn_mistakes(0.0, 0.1), 20f64.ln(), 1e-14, "none");
        // u = 1/8: 8 (e^{1/8} - 1) 1000 + 8 ln(20 / 0.05) = 1065.2 + 47.9; u = 1/16: 1031.9 + 102.3.
        let want = 8.0 * (0.125f64.exp_m1() * 1000.0 + 400f64.ln());
        assert_close(drawn_mistakes(1000.0, 0.05), want, 1e-12, "u = 1/8");
    }

    /// The inequality of a round on which Gaptron's bound rests, at two outcomes with the constants of the
    /// theorem: $\mathbb{E} e^{sY} \le \exp(\frac s2\eta_0 g/p)$. With 3 in place of 5 in $V$ it fails.
    #[test]
    fn a_round_of_gaptron_pays_for_its_variance() {
        let mut rng = Rng::new(11, 0);
        let (mut closest, mut with_less) = (0.0f64, 0.0f64);
        for _ in 0..200_000 {
            let surrogate = [Surrogate::Logistic, Surrogate::Hinge, Surrogate::Smooth][rng.below(3) as usize];
            let classes = [2, 3, 10, 50][rng.below(4) as usize];
            let (ball, gamma) = (10f64.powf(4.0 * rng.uniform() - 2.0), 10f64.powf(-4.0 * rng.uniform()));
            let full = surrogate.full_information_rate(classes, 1.0);
            let largest = surrogate.bandit_rate(classes, 1.0, ball, gamma);
            let least = largest / full;
            let p = least.powf([1.0, 0.5, 0.0, rng.uniform()][rng.below(4) as usize]);
            let norm = surrogate.steepest() * [1.0, rng.uniform()][rng.below(2) as usize];
            let (g, b) = (norm * norm, 2.0 * ball * norm * [1.0, -1.0][rng.below(2) as usize]);
            let share = [0.1, 0.25, 0.5, 0.9][rng.below(4) as usize];
            let (rate, ghost) = (share * largest, 0.5 * (1.0 - share) * largest);
            let right = 0.5 * g * (rate / (p * p) + ghost * (1.0 / p - 1.0).powi(2)) - (1.0 / p - 1.0) * b;
            let wrong = 0.5 * ghost * g + b;
            let mean = 0.5 * g * (rate / p + ghost * (1.0 / p - 1.0));
            let ratio = |of_ball: f64| {
                let slope = full * surrogate.steepest();
                let variance = of_ball * ball * ball + 2.5 * slope * slope;
                let s = (1.0 - share) * largest / (4.0 * 0.54 * variance);
                // e^v - 1 - v without cancellation.
                let curved = |v: f64| {
                    if v.abs() < 1e-3 { v * v * (0.5 + v / 6.0 + v * v / 24.0) } else { v.exp_m1() - v }
                };
                let log = (p * curved(s * right) + (1.0 - p) * curved(s * wrong) + s * mean).ln_1p();
                log / (0.5 * s * largest * g / p)
            };
            closest = closest.max(ratio(5.0));
            with_less = with_less.max(ratio(3.0));
        }
        assert!(closest <= 1.0 && closest > 0.9, "{closest}");
        assert!(with_less > 1.0, "{with_less}");
    }
}
