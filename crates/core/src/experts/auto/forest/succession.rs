//! When a forest gets a successor, and when the successor takes its place.
//!
//! After the stream has changed, the trees of a forest split by what used to be true. Below such splits they
//! learn from a few rows each, and no node removes them as long as the forecasts below it are still better
//! than its own. So, when the losses $\ell_t$ of the forest become larger than they used to be, a second
//! forest begins, which learns the same rows, and replaces the first one when its losses are smaller. With
//! the running mean $u_t$ of the losses, a second forest begins if
//!
//! $$ e_t = \max(0, e_{t-1} + \ell_t - u_{t-1} - \epsilon) \ge C \tag{1} $$
//!
//! (the test of Page and Hinkley). It first learns the rows since $e$ was last 0, about where the stream has
//! changed. Let $A_t$ be the total of the differences of $\ell_t$ and the loss of the second forest in its
//! first $t$ rounds. The second forest
//!
//! $$ \text{replaces the first if } A_t - \min_{s \le t} A_s \ge D, \qquad
//!    \text{is dropped if } A_t \le -F \text{ or } t \ge R. \tag{2} $$
//!
//! A false alarm costs the time of the second forest until it is dropped, and changes no forecast.
//!
//! ## Reference
//!
//! E. S. Page, *Continuous inspection schemes*, Biometrika 41, 1954, for (1); Heitor M. Gomes and others,
//! *Adaptive random forests for evolving data stream classification*, Machine Learning 106, 2017, for trees
//! that learn in the background. `references.bib`: `page1954inspection`, `gomes2017arf`;
//! theory: mixtures 2.7.

use crate::state::Tensor;

/// $\epsilon$, in nats a round.
const MARGIN: f64 = 0.1;

/// $C$, in nats.
const ALARM: f64 = 16.0;

/// $D$, in nats.
const LEAD: f64 = 16.0;

/// $F$, in nats.
const DEFICIT: f64 = 64.0;

/// $R$, in rounds.
const LONGEST: f64 = 3000.0;

/// $u$ is the mean of about this number of rounds.
const MEMORY: f64 = 500.0;

/// What becomes of the forests after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// All remains as it is.
    Same,
    /// A second forest begins.
    Begins,
    /// The second forest replaces the first.
    Replaces,
    /// The second forest is dropped.
    Dropped,
}

/// The numbers of (1) and (2).
#[derive(Clone, Debug, Default)]
pub(super) struct Succession {
    /// Rounds of the first forest, up to [`MEMORY`]; then $u$, $e$, the rounds since $e$ was 0, the rounds of
    /// the second forest, $A$, and the smallest $A$.
    numbers: [f64; 7],
}

impl Succession {
    /// Records the loss of the forest in a round, and that of the second one, if there is one.
    pub(super) fn judge(&mut self, own: f64, second: Option<f64>) -> Verdict {
        let [rounds, usual, excess, since, age, lead, least] = &mut self.numbers;
        let Some(second) = second else {
            if *rounds >= MEMORY {
                *excess = (*excess + own - *usual - MARGIN).max(0.0); // eq. (1)
                *since = if *excess > 0.0 { *since + 1.0 } else { 0.0 };
            }
            *rounds = (*rounds + 1.0).min(MEMORY);
            *usual += (own - *usual) / *rounds;
            if *excess < ALARM {
                return Verdict::Same;
            }
            (*age, *lead, *least) = (0.0, 0.0, 0.0);
            return Verdict::Begins;
        };
        *age += 1.0;
        *lead += own - second;
        *least = least.min(*lead);
        // eq. (2)
        let verdict = if *lead - *least >= LEAD {
            Verdict::Replaces
        } else if *lead <= -DEFICIT || *age >= LONGEST {
            Verdict::Dropped
        } else {
            return Verdict::Same;
        };
        (*excess, *since) = (0.0, 0.0);
        if verdict == Verdict::Replaces {
            (*rounds, *usual) = (0.0, 0.0);
        }
        verdict
    }

    /// The number of rounds since $e$ was last 0.
    pub(super) fn since(&self) -> u32 {
        self.numbers[3] as u32
    }

    pub(super) fn tensor(&mut self) -> Tensor<'_> {
        Tensor::vector("succession", &mut self.numbers)
    }

    /// Whether a loaded state is possible.
    pub(super) fn is_consistent(&self) -> bool {
        self.numbers.iter().all(|number| number.is_finite()) && (0.0..=MEMORY).contains(&self.numbers[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 500 rounds at 0.5 nats, 1.1 nats a round exceed the mean, which follows them, by less and less:
    /// the excess of round $n$ is the sum of $0.6 (1 - 1/500)^i - 0.1$ over $i < n$.
    #[test]
    fn a_second_forest_begins_when_losses_rise() {
        let mut succession = Succession::default();
        assert!((0..500).all(|_| succession.judge(0.5, None) == Verdict::Same));
        let kept: f64 = 1.0 - 1.0 / MEMORY;
        let excess = |n: i32| (0..n).map(|i| 0.6 * kept.powi(i) - 0.1).sum::<f64>();
        let want = (1..).find(|n| excess(*n) >= ALARM).expect("reached");
        let began = (1..).find(|_| succession.judge(1.1, None) == Verdict::Begins);
        assert_eq!((began, want), (Some(34), 34));
        assert_eq!(succession.since(), 34);
        // The first rounds of a stream, and small differences, raise no alarm.
        let mut calm = Succession::default();
        assert!((0..3000).all(|t| calm.judge(if t < 400 { 2.0 } else { 0.59 }, None) == Verdict::Same));
    }

    /// 0.5 nats lost for 40 rounds, then 0.25 gained for 64: 16 nats since the least. Without the gain it is
    /// dropped after 128 rounds, and after 3,000 rounds as good as the first.
    #[test]
    fn it_takes_over_or_is_dropped() {
        let begun = || {
            let mut succession = Succession::default();
            assert!((0..500).all(|_| succession.judge(0.0, None) == Verdict::Same));
            while succession.judge(9.0, None) != Verdict::Begins {}
            succession
        };
        let mut better = begun();
        assert!((0..40).all(|_| better.judge(1.0, Some(1.5)) == Verdict::Same));
        assert!((0..63).all(|_| better.judge(1.0, Some(0.75)) == Verdict::Same));
        assert_eq!(better.judge(1.0, Some(0.75)), Verdict::Replaces);
        assert!((0..500).all(|_| better.judge(9.0, None) == Verdict::Same));
        for (second, rounds) in [(1.5, 128), (1.0, 3000)] {
            let mut worse = begun();
            assert!((1..rounds).all(|_| worse.judge(1.0, Some(second)) == Verdict::Same));
            assert_eq!(worse.judge(1.0, Some(second)), Verdict::Dropped, "{second}");
        }
        assert!(begun().is_consistent());
    }
}
