//! The state of a model: learner, encoder and pending decisions; events change it (`learn`,
//! `decide`, `answers`, `shadow`). Equal events give bit-equal states, so that a killed service can
//! recover from the log.

use std::sync::{Arc, OnceLock};

use noregret::algorithm::{AnyModel, Forecast};
use noregret::prediction::{Decision, Prediction};
use noregret::rng::Rng;
use noregret_stream::decisions::pending::Pending;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::encode::{Encoder, Example, Kept};
use noregret_stream::run::bandit::Play;
use noregret_stream::{Columns, GivenLabel, Row, Schema, TableRows};
use serde_json::Value;

use super::event::{Event, Outcome};
use super::found::Ahead;
use super::spec::{Made, RowKind, Spec};
use super::standing::Standing;
use super::waiting::{Asked, Waits};
use crate::refusal::Refusal;
use crate::safety::limits::Limits;
use crate::threads;

/// The state of a model.
pub(crate) struct Engine {
    pub(super) spec: Spec,
    pub(crate) kind: RowKind,
    pub(super) learner: AnyModel,
    pub(super) encoder: Encoder,
    pub(super) schema: Schema,
    /// For a model of a file whose rows are those of a table.
    pub(super) table: Option<TableRows>,
    pub(super) play: Play,
    pub(super) waiting: Pending<Arc<Waits>>,
    pub(super) asked: Pending<Arc<Asked>>,
    pub(crate) standing: Standing,
    pub(super) limits: Limits,
    /// The labels that are no longer on offer, ascending.
    pub(super) retired: Vec<u32>,
    /// Largest number of columns, where new names share the last of them; `None`: rows with more columns than
    /// there is room for are refused.
    pub(super) most: Option<usize>,
    pub(super) seed: u64,
    /// What the present event changes before it is accepted.
    pub(super) before: Option<Before>,
    pub(super) prediction: Prediction,
    /// The last decision of the learner, with its scratch memory, and the row that it was for.
    pub(super) decision: Decision,
    pub(super) decided: Example,
    /// What the learner says of decisions that wait.
    pub(super) ahead: Ahead,
    pub(super) row: Row,
    pub(super) example: Example,
    /// A buffer for the scaling as it was.
    pub(super) room: Scaler,
    /// Whether the learner can take more labels, and more columns; found when it is asked for.
    pub(super) grows: OnceLock<(bool, bool)>,
}

/// What a row changes before it is known whether it is accepted, as it was.
pub(super) struct Before {
    encoding: Kept,
    /// The scaling, in a model of before whose rows move it when they are decided on.
    scaler: Option<Scaler>,
    columns: u32,
    generator: Rng,
    /// The learner and its pending decisions, if they made it grow.
    pub(super) grown: Option<(AnyModel, Pending<Arc<Waits>>)>,
}

/// The result of an event.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Done.
    Done,
    /// A stored row is gone, and nothing was learnt: its label is missing, or its weight is 0.
    Unlearnt,
    /// The forecast made before learning.
    Forecast(Forecasted),
    /// The played labels, one for each slot.
    Chosen(Vec<Chosen>),
}

/// A forecast.
#[derive(Clone, Debug)]
pub(crate) struct Forecasted {
    /// The label, or the number.
    pub(crate) label: Value,
    /// Labels with their probabilities.
    pub(crate) p: Vec<(String, f64)>,
    /// Whether the row was to be learnt, and was not: its label is missing, or its weight is 0.
    pub(crate) unlearnt: bool,
}

/// A played label.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// The decision.
    pub(crate) id: String,
    /// The label, as it was given.
    pub(crate) label: GivenLabel,
    /// Labels on offer with their probabilities.
    pub(crate) p: Vec<(String, f64)>,
}

/// The parts that a model keeps when its state is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The pending decisions that the new learner can learn from.
    Waiting,
    /// The counts, too: the new state is that of a shadow, which has the pending decisions.
    Scores,
}

pub(super) type Done = Result<(Answer, Outcome), Refusal>;

impl Engine {
    pub(crate) fn new(spec: Spec, limits: &Limits) -> Result<Self, Refusal> {
        let Made { saved, play, seed, kind } = spec.make(limits)?;
        let standing = Standing::new(saved.learner.about().forecast);
        let waiting = Pending::new(limits.waiting);
        let mut engine = Self::of(spec, kind, saved, play, seed, waiting, standing, limits);
        engine.encoder.set_scales_when_learnt(true);
        engine.most = engine.most_columns();
        Ok(engine)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a snapshot")]
    pub(super) fn of(
        spec: Spec,
        kind: RowKind,
        saved: noregret_stream::save::Saved,
        play: Play,
        seed: u64,
        waiting: Pending<Arc<Waits>>,
        standing: Standing,
        limits: &Limits,
    ) -> Self {
        let prediction = match &saved.learner {
            AnyModel::Full(learner) => learner.prediction(),
            AnyModel::Bandit(_) => Prediction::default(),
        };
        let noregret_stream::save::Saved { mut learner, encoder, schema, .. } = saved;
        learner.set_workers(threads::shared());
        let play = Play { explore: spec.service.explore.unwrap_or(0.0), ..play };
        let table = TableRows::of(&schema);
        let mut engine = Self {
            spec,
            kind,
            learner,
            encoder,
            schema,
            table,
            play,
            waiting,
            asked: Pending::new(limits.waiting),
            standing,
            limits: limits.clone(),
            retired: Vec::new(),
            most: None,
            seed,
            before: None,
            prediction,
            decision: Decision::default(),
            decided: Example::default(),
            ahead: Ahead::default(),
            row: Row::new(),
            example: Example::default(),
            room: Scaler::new(Scaling::None),
            grows: OnceLock::new(),
        };
        let retired = std::mem::take(&mut engine.spec.retired);
        engine.retire(&retired);
        engine
    }

    /// Applies `event` with the time `at`. After an error the state is unchanged: whatever can be refused is
    /// refused before the learner learns and before anything is counted or kept, and what changes earlier is
    /// taken back from memory.
    pub(crate) fn apply(&mut self, at: i64, event: &Event) -> Done {
        if !matches!(event, Event::Decide(_)) {
            self.ahead.forget();
        }
        let done = self.applied(at, event);
        match &done {
            Ok(_) => {
                self.before = None;
                self.standing.seq += 1;
                self.standing.at = at;
            }
            Err(_) => self.take_back(),
        }
        done
    }

    fn applied(&mut self, at: i64, event: &Event) -> Done {
        let told = matches!(
            event,
            Event::Followed { .. } | Event::Restored { .. } | Event::Configure { .. } | Event::Renewed
        );
        if let Some(live) = self.spec.shadow_of.as_ref().filter(|_| !told) {
            let what = format!(
                "the model is a shadow of {live}, whose events it learns from; only predict is possible"
            );
            return Err(Refusal::conflict(what));
        }
        match event {
            Event::Learn { x, y, weight, row } => self.learn((x, row.as_ref()), y, *weight, None),
            Event::Ask { id, x, row } => self.ask(at, id, (x, row.as_ref())),
            Event::Label { id, y, weight } => self.label(id, y, *weight),
            Event::Followed { seq, of, outcome } => self.followed(at, *seq, of, outcome),
            Event::Decide(decide) => self.decide(at, decide),
            Event::Feedback { id, reward, cost } => {
                let done = self.feedback(id, *reward, cost.is_some())?;
                let costs = self.encoder.costs().unwrap_or_default();
                self.standing.clipped_costs += u64::from(cost.is_some_and(|cost| costs.clips(cost)));
                Ok(done)
            }
            Event::Activate { id } => self.activate(at, id),
            Event::Expire { ids } => self.expire(ids),
            Event::Restored { digest } => {
                let what = format!("the snapshot {digest}, by which the model was replaced, is missing");
                Err(Refusal::failed(what))
            }
            Event::Renewed => {
                self.encoder.set_scales_when_learnt(true);
                Ok((Answer::Done, Outcome::default()))
            }
            Event::Labels { add, retire } => self.change_labels(add, retire),
            Event::Configure { service } => {
                service.check()?;
                self.spec.service = (**service).clone();
                self.play.explore = service.explore.unwrap_or(0.0);
                Ok((Answer::Done, Outcome::default()))
            }
        }
    }

    /// Notes what a row changes before it is accepted.
    pub(super) fn remember(&mut self) {
        self.before = Some(Before {
            encoding: self.encoder.kept(),
            scaler: (!self.encoder.scales_when_learnt()).then(|| self.encoder.scaler().clone()),
            columns: self.schema.columns.count(),
            generator: self.play.generator.clone(),
            grown: None,
        });
    }

    /// Counts the present row, which is learnt, in the scaling of those that follow.
    pub(super) fn count_in_scaling(&mut self) {
        if self.encoder.scales_when_learnt() {
            std::mem::swap(self.encoder.scaler_mut(), &mut self.room);
        }
    }

    /// Takes back what a refused row has changed.
    pub(super) fn take_back(&mut self) {
        let Some(before) = self.before.take() else { return };
        let Before { encoding, scaler, columns, generator, grown } = before;
        self.encoder.take_back(encoding);
        self.decision = Decision::default();
        self.ahead.forget();
        if let Some(scaler) = scaler {
            *self.encoder.scaler_mut() = scaler;
        }
        self.play.generator = generator;
        if let Columns::Named(names) = &mut self.schema.columns {
            names.truncate(columns);
        }
        if let Some((learner, waiting)) = grown {
            (self.learner, self.waiting) = (learner, waiting);
            if let AnyModel::Full(learner) = &self.learner {
                self.prediction = learner.prediction();
            }
        }
    }

    /// Replaces `before`, by event `seq` with the time `at`.
    pub(crate) fn go_on_behind(&mut self, before: &Self, seq: u64, at: i64, keep: Keep) {
        let mut waiting = Pending::new(self.limits.waiting);
        let (problem, accepts) = (self.learner.problem(), self.learner.about().accepts);
        for (id, waits) in before.waiting.iter() {
            let mine = match keep {
                Keep::Waiting
                    if waits.example.fits(problem, accepts) && waits.taken.check(problem.classes).is_ok() =>
                {
                    Arc::clone(waits)
                }
                // A shadow has its own rows for the same decisions.
                Keep::Scores => match self.waiting.take(id) {
                    Ok(mine) => {
                        let (since, active, heard) = (waits.since, waits.active, waits.heard);
                        Arc::new(Waits { since, active, heard, ..Arc::unwrap_or_clone(mine) })
                    }
                    Err(_) => continue,
                },
                Keep::Waiting => continue,
            };
            // Ids are unique.
            let _ = waiting.insert(id, mine);
        }
        self.waiting = waiting;
        self.asked = before.asked.clone();
        self.spec.service = before.spec.service.clone();
        self.play.explore = before.play.explore;
        if keep == Keep::Waiting {
            self.set_floor(before.play.floor);
        }
        self.retire(&before.spec.retired);
        self.encoder.set_scales_when_learnt(before.encoder.scales_when_learnt());
        if keep == Keep::Scores {
            self.spec.shadow_of = None;
            self.encoder.set_costs(before.encoder.costs());
            self.standing.go_on_from(&before.standing);
        }
        (self.standing.seq, self.standing.at) = (seq, at);
    }

    /// Sets the least probability of every label, as far as there is room for it.
    pub(crate) fn set_floor(&mut self, floor: f64) {
        self.play.floor = floor.min(1.0 / self.learner.problem().classes as f64);
    }

    /// Sets the share of decisions whose label is drawn uniformly.
    pub(crate) fn set_explore(&mut self, share: f64) {
        self.play.explore = share;
    }

    /// Sets the limits of what comes.
    pub(crate) fn set_limits(&mut self, limits: &Limits) {
        self.limits = limits.clone();
    }

    /// Its settings.
    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The name of its learner.
    pub(crate) fn learner_name(&self) -> &'static str {
        self.learner.about().name
    }

    /// Encodes the present row, as one to learn from. The scaling counts it when it is learnt; in a model of
    /// before, now.
    pub(super) fn encode(&mut self) -> Result<(), Refusal> {
        let done = match self.encoder.scales_when_learnt() {
            true => self.encoder.encode_ahead(&self.row, &mut self.room, &mut self.example),
            false => self.encoder.encode(&self.row, &mut self.example),
        };
        done.map_err(|what| Refusal::invalid("x", what))
    }
}

/// Refuses a row whose values are too large for its forecast.
pub(super) fn check_forecast(at: &Prediction, of: Forecast) -> Result<(), Refusal> {
    if at.is_sound(of) {
        return Ok(());
    }
    Err(Refusal::invalid("x", "the scores are not finite or 2^53 and more: values are too large"))
}

/// Refuses a row whose values are too large for a decision.
pub(super) fn check_scores(taken: &Decision) -> Result<(), Refusal> {
    if taken.scores.iter().all(|score| score.is_finite()) {
        return Ok(());
    }
    Err(Refusal::invalid("x", "the scores are not finite: values are too large"))
}

#[cfg(test)]
mod tests;
