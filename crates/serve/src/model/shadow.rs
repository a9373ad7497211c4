//! Shadows: models that learn from the events of another one. A shadow forecasts and decides in
//! every round, but its decisions are not played; it learns the rewards of the played labels with
//! their probabilities.

use std::sync::Arc;

use noregret::prediction::{Decision, Reward};

use super::engine::{Answer, Done, Engine};
use super::event::{Decide, Event, Outcome};
use super::spec::{Feedback, RowKind, Spec};
use super::waiting::Waits;
use crate::refusal::Refusal;

impl Spec {
    /// Makes it a shadow of `live`, with the same feedback, labels and settings.
    pub(crate) fn shadowing(mut self, live: &Self) -> Self {
        (self.feedback, self.labels) = (live.feedback, live.labels.clone());
        self.retired.clone_from(&live.retired);
        for name in ["width", "classes"] {
            if let Some(value) = live.params.get(name) {
                self.params.entry(name).or_insert_with(|| value.clone());
            }
        }
        self.service = super::spec::Service::default();
        self
    }
}

impl Engine {
    /// Applies an event of the shadowed model.
    pub(super) fn followed(&mut self, at: i64, seq: u64, event: &Event, outcome: &Outcome) -> Done {
        if self.spec.shadow_of.is_none() {
            return Err(Refusal::conflict("the model is not a shadow"));
        }
        for (id, reward) in &outcome.heard {
            if let Some(waits) = self.waiting.get_mut(id) {
                let weight = waits.taken.distribution[waits.taken.label as usize] / waits.taken.probability;
                if let Some(reward) = reward {
                    self.standing.instead.add(weight, *reward);
                }
            }
            let verdict = reward.and_then(Reward::new).and_then(|reward| self.verdict(reward.value()).ok());
            self.settle(id, verdict, &mut Outcome::default());
        }
        let done = match event {
            Event::Learn { x, y, weight, row } => self.learn((x, row.as_ref()), y, *weight, None).map(drop),
            Event::Ask { id, x, row } => self.ask(at, id, (x, row.as_ref())).map(drop),
            Event::Label { id, y, weight } => self.label(id, y, *weight).map(drop),
            Event::Decide(decide) => self.decide_beside(at, decide, &outcome.taken),
            Event::Labels { add, retire } => self.follow_labels(add, retire),
            Event::Expire { ids } => {
                ids.iter().for_each(|id| drop(self.asked.take(id)));
                Ok(())
            }
            _ => Ok(()),
        };
        if done.is_err() {
            // Events that this learner cannot apply are skipped.
            self.take_back();
        }
        self.standing.missed += (seq - 1).saturating_sub(self.standing.followed);
        self.standing.followed = seq;
        Ok((Answer::Done, Outcome::default()))
    }

    /// Learns event `seq` of its own log again, as a shadow learns its model's: what was played then counts,
    /// whatever it would play now. Returns whether the event could be applied.
    pub(crate) fn relearn(&mut self, at: i64, seq: u64, event: Event, outcome: Outcome) -> bool {
        let own = matches!(event, Event::Followed { .. } | Event::Configure { .. } | Event::Renewed);
        if own {
            return self.apply(at, &event).is_ok();
        }
        let is_shadow = self.spec.shadow_of.clone();
        self.spec.shadow_of.get_or_insert_default();
        let before = (self.standing.followed, self.standing.missed);
        let told = Event::Followed { seq, of: Box::new(event), outcome: Box::new(outcome) };
        let done = self.apply(at, &told).is_ok();
        self.spec.shadow_of = is_shadow;
        (self.standing.followed, self.standing.missed) = before;
        done
    }

    /// Makes its own decision for a decided round, and stores it until the feedback.
    fn decide_beside(&mut self, at: i64, decide: &Decide, played: &[Decision]) -> Result<(), Refusal> {
        if self.spec.feedback == Feedback::Full {
            return Ok(());
        }
        let classes = self.learner.problem().classes;
        // What was played before labels were added.
        let is_narrow = |played: &Decision| played.distribution.len() < classes;
        let wide: Vec<Decision>;
        let played = if self.kind == RowKind::Columns && played.iter().any(is_narrow) {
            let mut all = played.to_vec();
            all.iter_mut().for_each(|played| played.widen(classes));
            wide = all;
            &wide
        } else {
            played
        };
        if played.iter().any(|played| played.check(classes).is_err()) {
            return Err(Refusal::invalid("labels", "the decision is among other labels"));
        }
        self.remember();
        if matches!(self.kind, RowKind::Columns) {
            self.fill_round(decide)?;
        }
        let mut rounds = Vec::with_capacity(played.len());
        for (slot, played) in played.iter().enumerate() {
            let offered = (!played.offered.is_empty()).then_some(&*played.offered);
            let mut mine = self.predicted(decide, slot, offered)?;
            self.play.mix_in(&mut mine);
            let explored = 1.0 - mine.distribution[mine.greedy as usize].min(1.0);
            // Learns the played label with its probability.
            (mine.label, mine.probability, mine.explored) = (played.label, played.probability, None);
            rounds.push((self.kept(&mine), self.unscaled(&mine), mine, explored));
        }
        // From here on nothing is refused.
        for (slot, (example, unscaled, taken, explored)) in rounds.into_iter().enumerate() {
            self.standing.explored += explored;
            self.standing.decisions += 1;
            let waits = Waits::new(example, &taken, at, !decide.deferred).with_row(unscaled);
            let forgotten = self.waiting.insert(&decide.id_of(slot), Arc::new(waits));
            // Its model has no two decisions with one id.
            self.standing.forgotten += u64::from(matches!(forgotten, Ok(Some(_))));
        }
        Ok(())
    }
}
