//! Feedback for decisions: in time, late, repeated, or missing.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::prediction::Reward;
use noregret_stream::Costs;
use noregret_stream::decisions::pending::{Verdict, learnt};

use super::engine::{Answer, Done, Engine};
use super::event::Outcome;
use super::spec::{Aggregation, Mode};
use super::waiting::Waits;
use crate::refusal::{Refusal, shown};

impl Engine {
    /// A reward for the learner, clipped to [0, 1].
    pub(super) fn verdict(&self, reward: f64) -> Result<Reward, Refusal> {
        let reward = Reward::new(reward.clamp(0.0, 1.0)).unwrap_or(Reward::WRONG);
        if let AnyModel::Bandit(learner) = &self.learner {
            Verdict::Earned(reward)
                .check(learner.as_ref())
                .map_err(|error| Refusal::invalid("reward", error.to_string()))?;
        }
        Ok(reward)
    }

    /// The reward of a cost, in the model's range of costs.
    pub(super) fn reward_of(&self, cost: f64) -> Result<f64, Refusal> {
        let costs = self.encoder.costs().unwrap_or_default();
        costs.reward(cost).map(Reward::value).map_err(|what| Refusal::invalid("cost", what))
    }

    pub(super) fn feedback(&mut self, id: &str, reward: f64, is_cost: bool) -> Done {
        if !(reward.is_finite() && (-1.0..=1.0).contains(&reward)) {
            let what = format!("the reward is {reward}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("reward", what));
        }
        let verdict = self.verdict(reward)?;
        let costs = is_cost.then(|| self.encoder.costs().unwrap_or_default());
        let sum = self.spec.service.aggregation == Aggregation::Sum;
        let Some(waits) = self.waiting.get_mut(id).map(Arc::make_mut) else {
            return Err(Refusal::unknown(format!("no decision with the id {} is pending", shown(id))));
        };
        let is_clipped = !sum && waits.heard.is_none() && reward < 0.0;
        self.standing.clipped_rewards += u64::from(is_clipped);
        if waits.active && !sum {
            let mut outcome = Outcome::default();
            self.settle(id, Some(verdict), &mut outcome);
            return Ok((Answer::Done, outcome));
        }
        match waits.heard {
            Some(heard) if !sum && heard != reward => return Err(in_conflict(id, heard, costs)),
            Some(heard) if sum => waits.heard = Some(heard + reward),
            _ => waits.heard = Some(reward),
        }
        Ok((Answer::Done, Outcome::default()))
    }

    /// Learns the feedback of a pending decision, and removes the decision.
    pub(super) fn settle(&mut self, id: &str, reward: Option<Reward>, outcome: &mut Outcome) {
        let Ok(waits) = self.waiting.take(id) else { return };
        outcome.heard.push((id.to_owned(), reward.map(Reward::value)));
        let Some(reward) = reward else {
            self.standing.forgotten += 1;
            return;
        };
        self.standing.earned(reward.value());
        self.standing.chance.add(&waits.taken, reward.value());
        let first = waits.taken.offered.first().copied().unwrap_or(0);
        if waits.taken.label == first {
            self.standing.baseline.0 += reward.value() / waits.taken.probability;
            self.standing.baseline.1 += 1;
        }
        if self.spec.service.mode == Mode::Logging {
            return;
        }
        if let AnyModel::Bandit(learner) = &mut self.learner {
            let Waits { example, unscaled, mut taken, .. } = Arc::unwrap_or_clone(waits);
            let x = learnt(&mut self.encoder, unscaled.as_ref(), &example, &mut self.example);
            // Nothing was learnt since the last decision: its forecast is not made again for its answer.
            let is_last = self.decision.round == learner.rounds() + 1 && self.decided.features() == x;
            if is_last {
                taken.take_by_products(&mut self.decision);
            }
            learner.learn(x, &taken, reward);
            if is_last {
                self.decision.take_by_products(&mut taken);
            }
        }
    }

    pub(super) fn activate(&mut self, at: i64, id: &str) -> Done {
        let sum = self.spec.service.aggregation == Aggregation::Sum;
        let Some(waits) = self.waiting.get_mut(id).map(Arc::make_mut) else {
            return Err(Refusal::unknown(format!("no decision with the id {} is pending", shown(id))));
        };
        let mut outcome = Outcome::default();
        if !waits.active {
            (waits.active, waits.since) = (true, at);
            if let Some(heard) = waits.heard.filter(|_| !sum) {
                let verdict = self.verdict(heard)?;
                self.settle(id, Some(verdict), &mut outcome);
            }
        }
        Ok((Answer::Done, outcome))
    }

    pub(super) fn expire(&mut self, ids: &[String]) -> Done {
        let mut outcome = Outcome::default();
        let default = self.spec.service.default_reward;
        for id in ids {
            if self.asked.take(id).is_ok() {
                self.standing.expired += 1;
            }
            let Some(waits) = self.waiting.get_mut(id) else { continue };
            let reward = if waits.active { waits.heard.or(default) } else { None };
            let verdict = reward.and_then(|reward| self.verdict(reward).ok());
            self.standing.expired += 1;
            self.settle(id, verdict, &mut outcome);
        }
        Ok((Answer::Done, outcome))
    }

    /// Decisions whose waiting time is over at `now`, at most `most`.
    pub(crate) fn overdue(&self, now: i64, most: usize) -> Vec<String> {
        let Some(wait) = self.spec.service.wait_seconds else { return Vec::new() };
        let wait = (wait * 1000.0) as i64;
        // In the order of the decisions, which is nearly the order of their ends: activation may be
        // late.
        let over = |(_, waits): &(&str, &Arc<Waits>)| waits.since + wait <= now;
        let looked = self.waiting.iter().take_while(|(_, waits)| waits.since + wait <= now || !waits.active);
        let asked = self.asked.iter().take_while(|(_, asked)| asked.since + wait <= now);
        looked
            .filter(over)
            .map(|(id, _)| id)
            .chain(asked.map(|(id, _)| id))
            .take(most)
            .map(str::to_owned)
            .collect()
    }
}

/// The refusal of other feedback than before, whose reward was `before`; with the range of `costs` if a cost
/// was given.
pub(super) fn in_conflict(id: &str, before: f64, costs: Option<Costs>) -> Refusal {
    let (field, before) = match costs {
        Some(costs) => {
            // Computed from its reward, its last digits are those of rounding.
            let cost = costs.cost_of(before);
            ("cost", format!("{cost:.11e}").parse().unwrap_or(cost))
        }
        None => ("reward", before),
    };
    let what = format!("the decision {} has feedback already: the {field} {before}", shown(id));
    Refusal::conflict(what).about(field)
}
