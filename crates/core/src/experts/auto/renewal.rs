//! Members that have learnt something which is no longer true begin anew.
//!
//! Let $A$ be the log loss of the frequencies of the classes minus that of a member, in total since the
//! member began. After the stream has changed, a member may forecast worse than the frequencies, and $A$
//! falls: an untrained member would be better. A member is replaced by a new one when $A$ has once been at
//! least $C$ and has then fallen by $C$ from its largest value. A member that forecasts with the
//! probabilities of a stream that does not change is replaced at most with the probability $e^{-C}$ after
//! each of its largest values, since $e^{-A}$ is then a martingale.

use crate::prediction::Prediction;
use crate::state::Tensor;

/// $C$, in nats. With 16, the forest begins anew again and again while it is still learning.
const LEAST_FALL: f64 = 48.0;

/// The largest value of $A$ of every member, how much $A$ is below it now, and how often the member began
/// anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Renewal {
    largest: Vec<f64>,
    fallen: Vec<f64>,
    times: Vec<f64>,
}

impl Renewal {
    /// Records that a member lost `own` nats in a round in which the frequencies lost `frequencies`. True if
    /// the member should begin anew.
    pub(super) fn is_due(&mut self, member: usize, own: f64, frequencies: f64) -> bool {
        let members = self.largest.len().max(member + 1);
        self.largest.resize(members, 0.0);
        self.fallen.resize(members, 0.0);
        self.times.resize(members, 0.0);
        let (largest, fallen) = (&mut self.largest[member], &mut self.fallen[member]);
        *fallen += own - frequencies;
        if *fallen < 0.0 {
            *largest -= *fallen;
            *fallen = 0.0;
        }
        let due = largest.min(*fallen) >= LEAST_FALL;
        if due {
            (*largest, *fallen) = (0.0, 0.0);
            self.times[member] += 1.0;
        }
        due
    }

    /// The prediction `at` of a member as its update may take it, or `None` if that is `at` itself. A `late`
    /// prediction may be one of the member's predecessor, whose by-products must not be reused: rounds are
    /// counted from 0 again, so that the stamp alone does not show it.
    pub(super) fn without_by_products(
        &self,
        member: usize,
        late: bool,
        at: &Prediction,
    ) -> Option<Prediction> {
        let renewed = self.times.get(member).is_some_and(|times| *times > 0.0);
        (late && renewed).then(|| Prediction { stamp: None, ..at.clone() })
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::list("largest_gains", &mut self.largest),
            Tensor::list("fallen", &mut self.fallen),
            Tensor::list("renewals", &mut self.times),
        ]
    }

    /// Whether a loaded state is valid for `members` members.
    pub(super) fn is_consistent(&self, members: usize) -> bool {
        let valid = |number: &f64| (0.0..f64::INFINITY).contains(number);
        let lists = [&self.largest, &self.fallen, &self.times];
        self.largest.len() <= members
            && lists.iter().all(|list| list.len() == self.largest.len() && list.iter().all(valid))
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
            assert!((0..gained).all(|_| !renewal.is_due(1, 0.75, 1.0)));
            // A member of its own, without any gain.
            assert!((0..500).all(|_| !renewal.is_due(0, 2.0, 1.0)));
            let lost = (1..=500).find(|_| renewal.is_due(1, 2.0, 1.0));
            assert_eq!(lost, want, "after {gained} rounds");
            let mut at = Prediction::sized(3, 2);
            at.stamp = Some(7);
            assert!(renewal.without_by_products(1, false, &at).is_none(), "of the member as it is");
            assert!(renewal.without_by_products(0, true, &at).is_none(), "it never began anew");
            let late = renewal.without_by_products(1, true, &at).map(|at| at.stamp);
            assert_eq!(late, lost.map(|_| None), "after {gained} rounds");
            // It begins from nothing.
            assert!((0..500).all(|_| !renewal.is_due(1, 2.0, 1.0)));
            assert!(renewal.is_consistent(2) && !renewal.is_consistent(1));
        }
    }
}
