//! What [`Auto`] can and most learners cannot: look-ahead, rounds together, a better fit at the end; and what
//! is inside of it.

use crate::capability::{Inside, LookAhead, Settle, Together};
use crate::example::{Batch, Rounds};
use crate::hand_on;
use crate::learner::{OnlineLearner as _, Predictor as _};
use crate::prediction::Prediction;

use super::stacks::STACKS;
use super::{Auto, FIRST_CHANGE};

impl LookAhead for Auto {
    hand_on! { self.roster;
        fn lookahead(&self) -> usize;
        fn prepare(&mut self, announced: &dyn Batch);
        fn prepare_rest(&mut self, at: usize, announced: &dyn Batch);
    }
}

impl Together for Auto {
    fn works_ahead(&self) -> bool {
        self.roster.workers().are_several() || self.roster.is_divided()
    }

    fn predict_and_update(
        &mut self,
        rounds: &dyn Rounds,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        let mut start = 0;
        while start < rounds.len() {
            if !self.roster.can_play_stretches() {
                self.predict(rounds.features(start), out);
                self.update(rounds.features(start), rounds.target(start), out);
                each(start, out);
                start += 1;
                continue;
            }
            // Members change after these rounds only.
            let until_change = (self.rounds + 1).next_power_of_two().max(FIRST_CHANGE) - self.rounds;
            let end = rounds.len().min(start.saturating_add(until_change as usize));
            self.make_room(out);
            let Self { roster, stretches, .. } = self;
            roster.play(stretches, (rounds, start..end), out, each);
            self.count_rounds((end - start) as u64);
            start = end;
        }
        out.stamp = None;
    }
}

impl Settle for Auto {
    fn settle(&mut self) {
        self.end = None;
        self.roster.settle();
    }

    fn settle_after(&mut self, rounds: u64) {
        /// Fewer rows take little time, and none of it is worth a loss.
        const MANY: u64 = 512;
        if rounds < MANY {
            return;
        }
        self.end = Some(self.rounds + rounds);
        self.roster.settle_after(rounds);
    }
}

impl Inside for Auto {
    /// The weight in the forecast of every active member and every stack, with its name in English.
    fn weights(&self) -> Vec<(String, f64)> {
        let (first, others) = self.roster.combined.weights();
        let members = self.roster.active();
        let mut numbers: Vec<_> = members.map(|(member, share)| (member.title(), first * share)).collect();
        numbers.extend(STACKS.iter().zip(others).map(|((forgetting, _), share)| {
            let forgets = match *forgetting {
                0.0 => String::new(),
                rate => format!(", forgetting 1/{}", rate.recip()),
            };
            (format!("stack of all members{forgets}"), *share)
        }));
        numbers
    }

    /// The kinds of members that were not chosen at the start.
    fn left_out(&self) -> Vec<String> {
        self.roster.lineup().left_out(&self.problem)
    }
}
