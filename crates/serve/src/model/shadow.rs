//! Shadows: models that learn from the events of another one. A shadow forecasts and decides in
//! every round, but its decisions are not played; it learns the rewards of the played labels with
//! their probabilities.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::prediction::{Decision, Reward};

use super::answers::Waits;
use super::engine::{Answer, Done, Engine};
use super::event::{Decide, Event, Outcome};
use super::rows;
use super::spec::{Feedback, RowKind, Spec};
use crate::refusal::Refusal;

impl Spec {
    /// Makes it a shadow of `live`, with the same feedback, labels and settings.
    pub(crate) fn shadowing(mut self, live: &Self) -> Self {
        (self.feedback, self.labels) = (live.feedback, live.labels.clone());
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
            Event::Learn { x, y, weight } => self.learn(x, y, *weight, None).map(drop),
            Event::Ask { id, x } => self.ask(at, id, x).map(drop),
            Event::Label { id, y, weight } => self.label(id, y, *weight).map(drop),
            Event::Decide(decide) => self.decide_beside(at, decide, &outcome.taken),
            Event::Expire { ids } => {
                ids.iter().for_each(|id| drop(self.asked.take(id)));
                Ok(())
            }
            _ => Ok(()),
        };
        if let (Err(refusal), Some(_)) = (done, &self.broken) {
            return Err(refusal);
        }
        // Events that this learner cannot apply are skipped.
        self.standing.followed = seq;
        Ok((Answer::Done, Outcome::default()))
    }

    /// Makes its own decision for a decided round, and stores it until the feedback.
    fn decide_beside(&mut self, at: i64, decide: &Decide, played: &[Decision]) -> Result<(), Refusal> {
        if self.spec.feedback == Feedback::Full {
            return Ok(());
        }
        let classes = self.learner.problem().classes;
        if played.iter().any(|played| played.check(classes).is_err()) {
            return Err(Refusal::invalid("labels", "the decision is among other labels"));
        }
        if matches!(self.kind, RowKind::Columns) {
            decide.x.check("x", &self.limits)?;
            self.make_room(&decide.x, 0)?;
            self.row.clear();
            rows::fill(&mut self.schema.columns, &decide.x, &mut self.row)
                .map_err(|refusal| self.break_off(refusal.detail))?;
        }
        for (slot, played) in played.iter().enumerate() {
            if let RowKind::Offers(width) = self.kind {
                self.row.clear();
                let labels = decide.labels.as_deref().unwrap_or_default();
                let own = decide.slots.get(slot).map(|slot| &slot.x);
                rows::fill_offer(&decide.x, own, labels, width, &self.limits, &mut self.row)
                    .map_err(|refusal| self.break_off(refusal.detail))?;
            }
            if let Err(what) = self.encoder.encode(&self.row, &mut self.example) {
                return Err(self.break_off(what));
            }
            let mut mine = Decision::default();
            let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
            if played.offered.is_empty() {
                learner.predict(self.example.features(), &mut mine);
            } else if !learner.predict_among(self.example.features(), &played.offered, &mut mine) {
                return Err(self.break_off("the learner cannot decide among some of its labels"));
            }
            if !mine.scores.iter().all(|score| score.is_finite()) {
                return Err(self.break_off("the scores are not finite: values are too large"));
            }
            if mine.offered.is_empty() {
                self.play.mix(&mut mine.distribution);
            }
            self.standing.explored += 1.0 - mine.distribution[mine.greedy as usize].min(1.0);
            self.standing.decisions += 1;
            // Learns the played label with its probability.
            (mine.label, mine.probability, mine.explored) = (played.label, played.probability, None);
            let active = !decide.deferred;
            let waits = Waits { example: self.kept(&mine), taken: mine, since: at, active, heard: None };
            match self.waiting.insert(&decide.id_of(slot), Arc::new(waits)) {
                Ok(forgotten) => self.standing.forgotten += u64::from(forgotten.is_some()),
                Err(error) => return Err(self.break_off(error.to_string())),
            }
        }
        Ok(())
    }
}
