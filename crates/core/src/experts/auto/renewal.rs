//! Members that have learnt something which is no longer true begin anew.
//!
//! Let $A$ be the log loss of the frequencies of the classes minus that of a member, in total since the
//! member began. After the stream has changed, a member may forecast worse than the frequencies, and $A$
//! falls: an untrained member would be better. A member is replaced by a new one when $A$ has once been at
//! least $C$ and has then fallen by $C$ from its largest value. A member that forecasts with the
//! probabilities of a stream that does not change is replaced at most with the probability $e^{-C}$ after
//! each of its largest values, since $e^{-A}$ is then a martingale.

use crate::state::Tensor;

/// $C$, in nats. With 16, the forest begins anew again and again while it is still learning.
const LEAST_FALL: f64 = 48.0;

/// The largest value of $A$ of a member, how much $A$ is below it now, and how often the member began anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Renewal {
    largest: f64,
    fallen: f64,
    times: u64,
}

impl Renewal {
    /// Records that the member lost `own` nats in a round in which the frequencies lost `frequencies`. True
    /// if the member should begin anew.
    pub(super) fn is_due(&mut self, own: f64, frequencies: f64) -> bool {
        self.fallen += own - frequencies;
        if self.fallen < 0.0 {
            self.largest -= self.fallen;
            self.fallen = 0.0;
        }
        let due = self.largest.min(self.fallen) >= LEAST_FALL;
        if due {
            *self = Self { times: self.times + 1, ..Self::default() };
        }
        due
    }

    /// Whether the member has begun anew at least once.
    pub(super) fn has_begun_anew(&self) -> bool {
        self.times > 0
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::number("largest_gain", &mut self.largest),
            Tensor::number("fallen", &mut self.fallen),
            Tensor::count("renewals", &mut self.times),
        ]
    }

    /// Whether a loaded state is valid.
    pub(super) fn is_consistent(&self) -> bool {
        [self.largest, self.fallen].iter().all(|number| (0.0..f64::INFINITY).contains(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.25 nats a round are gained, then 1 a round lost: after 48 such rounds the member is due, provided
    /// that it had gained 48 nats in 192 rounds.
    #[test]
    fn what_was_gained_must_be_lost_again() {
        for (gained, want) in [(191, None), (192, Some(48)), (2000, Some(48))] {
            let mut renewal = Renewal::default();
            assert!((0..gained).all(|_| !renewal.is_due(0.75, 1.0)));
            let lost = (1..=500).find(|_| renewal.is_due(2.0, 1.0));
            assert_eq!(lost, want, "after {gained} rounds");
            assert_eq!(renewal.has_begun_anew(), lost.is_some());
            // It begins from nothing.
            assert!((0..500).all(|_| !renewal.is_due(2.0, 1.0)));
            assert!(renewal.is_consistent());
        }
        assert!(!Renewal { fallen: f64::NAN, ..Renewal::default() }.is_consistent());
    }
}
