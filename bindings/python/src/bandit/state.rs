//! The state of a bandit between the calls of Python: its learner, what waits, and its open log.

use std::sync::{Mutex, PoisonError};

use noregret::algorithm::{AnyModel, BanditModel};
use noregret::facts::RunFacts;
use noregret::merge::Merge;
use noregret::model::{Archive, ModelError};
use noregret_stream::decisions::log::Start;
use noregret_stream::decisions::pending::{Decisions, Verdict};
use noregret_stream::decisions::replay::Replayed;
use noregret_stream::encode::{Encoder, Example, LargeRow};
use noregret_stream::run::bandit::Play;
use noregret_stream::save::merge::merge;
use noregret_stream::save::{Learning, Saved, snapshot};
use noregret_stream::words::counted;
use noregret_stream::{Row, Schema};
use serde::{Deserialize, Serialize};

use crate::error::{Done, Failure};
use crate::log::Log;
use crate::places;

/// The name of the decisions' state in a model file.
const GOING_ON: &str = "going_on";

/// A bandit learner with what it needs between its calls.
pub(super) struct Inner {
    pub(super) learner: Box<dyn BanditModel>,
    pub(super) encoder: Encoder,
    pub(super) schema: Schema,
    /// The names of the columns of the first table, if columns count by their places.
    pub(super) places: Option<Vec<String>>,
    pub(super) play: Play,
    /// Pending decisions.
    pub(super) pending: Decisions,
    pub(super) continuation: Continuation,
    /// The seed of a new learner; `None` after its first change.
    pub(super) fresh: Option<u64>,
    /// The open decision log. Exclusive access, because compressors cannot be shared by threads.
    pub(super) log: Mutex<Option<Log>>,
    pub(super) row: Row,
    pub(super) example: Example,
}

/// The state of decisions; model files store the generator separately.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Continuation {
    /// The id of the next decision.
    pub(super) next: u64,
    /// Largest number of pending decisions.
    pub(super) most: usize,
    /// See [`Play::floor`].
    pub(super) floor: f64,
}

/// Default for the largest number of pending decisions.
const MOST_WAITING: usize = 1_000_000;

impl Inner {
    pub(super) fn new(
        learner: Box<dyn BanditModel>,
        encoder: Encoder,
        schema: Schema,
        play: Play,
        most: usize,
    ) -> Self {
        let most = most.max(1);
        Self {
            learner,
            encoder,
            schema,
            places: None,
            continuation: Continuation { next: 0, most, floor: play.floor },
            play,
            pending: Decisions::new(most),
            fresh: None,
            log: Mutex::new(None),
            row: Row::new(),
            example: Example::default(),
        }
    }
}

/// A copy writes no log.
impl Clone for Inner {
    fn clone(&self) -> Self {
        Self {
            learner: self.learner.boxed_clone(),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            places: self.places.clone(),
            play: self.play.clone(),
            pending: self.pending.clone(),
            continuation: self.continuation,
            fresh: self.fresh,
            log: Mutex::new(None),
            row: Row::new(),
            example: Example::default(),
        }
    }
}

impl Inner {
    fn saved(&self) -> Saved {
        Saved {
            learner: AnyModel::Bandit(self.learner.boxed_clone()),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            generator: Some(self.play.generator.clone()),
            facts: RunFacts::default(),
        }
    }

    /// The content of a model file, without a copy of the learner.
    pub(super) fn archive(&mut self) -> Archive {
        let learner = Learning::Bandit(self.learner.as_mut());
        let mut archive = snapshot(learner, &self.encoder, &self.schema, Some(&self.play.generator));
        self.pending.save(&mut archive);
        archive.set_text(GOING_ON, serde_json::to_string(&self.continuation).expect("plain numbers"));
        places::write(self.places.as_deref(), false, &mut archive);
        archive
    }

    /// Loads a model file. Files of the command line have no pending decisions.
    pub(super) fn from_archive(archive: &Archive) -> Done<Self> {
        let Saved { learner, encoder, schema, generator, .. } = Saved::from_archive(archive)?;
        let learner = learner.bandit()?;
        let continuation = match archive.text(GOING_ON) {
            None => Continuation { next: 0, most: MOST_WAITING, floor: 0.0 },
            Some(_) => archive.json::<Continuation>(GOING_ON)?,
        };
        if !(0.0..=1.0).contains(&continuation.floor) || continuation.most == 0 {
            return Err(ModelError::Damaged(format!("its '{GOING_ON}' cannot be")).into());
        }
        let play = Play { floor: continuation.floor, ..Play::new(0) }.with_generator(generator);
        let pending =
            Decisions::load(archive, learner.problem(), learner.about().accepts, continuation.most)?;
        let places = places::read(archive)?;
        let inner = Self::new(learner, encoder, schema, play, continuation.most);
        Ok(Self { pending, continuation, places, ..inner })
    }

    /// The learner with the sums of `parts`; generator, floor and the like are those of the first.
    pub(super) fn merged(parts: &[Self], how: Merge) -> Done<Self> {
        if let Some((at, part)) = (0..).zip(parts).find(|(_, part)| !part.pending.is_empty()) {
            return Err(Failure::Value(format!(
                "bandits[{at}] has {}; before merging, each must get its feedback or be forgotten",
                counted(part.pending.waiting() as u64, "pending decision")
            )));
        }
        let Saved { learner, encoder, schema, .. } = merge(parts.iter().map(Self::saved).collect(), how)?;
        let Self { play, continuation, .. } = &parts[0];
        let mut inner = Self::new(learner.bandit()?, encoder, schema, play.clone(), continuation.most);
        inner.continuation.next = parts.iter().map(|part| part.continuation.next).max().unwrap_or(0);
        Ok(inner)
    }

    /// The learner of a log, which starts from `model` if there is one.
    pub(super) fn replayed(replayed: Replayed, model: Option<&Archive>, most: usize) -> Done<Self> {
        let Replayed {
            saved: Saved { learner, encoder, schema, generator, .. },
            pending,
            last_id,
            floor,
            ..
        } = replayed;
        let play = Play { floor, ..Play::new(0) }.with_generator(generator);
        // As after loading: the treatment of large rows is not part of a model.
        let encoder = encoder.with_large_row(LargeRow::default());
        let mut inner = Self::new(learner.bandit()?, encoder, schema, play, most);
        let before = model.and_then(|model| model.json::<Continuation>(GOING_ON).ok());
        let next = last_id.map_or(0, |last| last.saturating_add(1));
        inner.continuation.next = before.map_or(next, |before| before.next.max(next));
        inner.pending = pending;
        Ok(inner)
    }

    /// Writes the header of an open log that has none.
    pub(super) fn head_log(&mut self) -> Done<()> {
        let slot = self.log.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(mut log) = slot.take_if(|log| log.is_empty()) else { return Ok(()) };
        let begun = self.begin(&mut log);
        self.log = Mutex::new(Some(log));
        begun
    }

    /// Writes the header of a log.
    pub(super) fn begin(&mut self, log: &mut Log) -> Done<()> {
        let learner = AnyModel::Bandit(self.learner.boxed_clone());
        // After earlier decisions the log starts from the present model, which a replay needs.
        let continues = self.fresh.is_none().then(|| self.archive().digest());
        log.begin(&Start {
            learner: &learner,
            seed: self.fresh.unwrap_or(0),
            continues,
            play: &self.play,
            encoder: &self.encoder,
            schema: self.schema.clone(),
            when_learnt: false,
        })
    }

    /// Discards the oldest pending decision if there is no room for one more.
    pub(super) fn make_room(&mut self) -> Done<()> {
        if self.pending.waiting() < self.continuation.most {
            return Ok(());
        }
        let oldest = self.pending.ids().next().map(str::to_owned);
        oldest.map_or(Ok(()), |id| self.hear(&id, Verdict::Never).map(drop))
    }

    /// Learns the feedback of a decision. Returns whether it was pending.
    pub(super) fn hear(&mut self, id: &str, verdict: Verdict) -> Done<bool> {
        if !self.pending.contains(id) {
            return Ok(false);
        }
        verdict.check(self.learner.as_ref()).map_err(|error| Failure::Value(error.to_string()))?;
        if let Some(log) = self.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
            log.heard(id, verdict)?;
        }
        self.pending.hear(self.learner.as_mut(), id, verdict).expect("it waits");
        Ok(true)
    }
}
