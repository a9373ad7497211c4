//! Replays a decision log, which gives the same learner, bit for bit.

use noregret::algorithm::{AnyModel, BanditModel};
use noregret::facts::RunFacts;
use noregret::learner::BanditLearner;
use noregret::model::{Archive, ModelError};
use noregret::param::ParamError;
use noregret::prediction::Decision;
use noregret::registry;
use noregret::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::log::{Header, generator};
use crate::decisions::pending::{Decisions, Verdict, learnt};
use crate::decisions::reader::LogReader;
use crate::encode::scale::{Scaler, Scaling};
use crate::encode::{Encoder, Example, LargeRow, room_for};
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::live::Stop;
use crate::read::options::Schema;
use crate::read::row::Row;
use crate::run::bandit::Play;
use crate::save::{Learning, Saved, snapshot};

/// Limits for untrusted logs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest number of pending decisions; beyond it the oldest are discarded.
    pub waiting: usize,
    /// Memory of the learner, in bytes.
    pub bytes: usize,
}

/// A replayed log.
pub struct Replayed {
    /// The model after the last line.
    pub saved: Saved,
    /// Decisions taken.
    pub decisions: u64,
    /// Decisions with feedback.
    pub answered: u64,
    /// Number of right ones.
    pub right: u64,
    /// Decisions still pending.
    pub pending: Decisions,
    /// The largest id that is a whole number; a continued run numbers its decisions from there.
    pub last_id: Option<u64>,
    /// The floor under the probabilities, see [`Play::floor`].
    pub floor: f64,
    /// Description of an incomplete last line, if there was one.
    pub torn: Option<String>,
}

/// Why a log cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log could not be read, or a line contradicts the lines before it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its header does not describe a learner.
    #[error("the log's header does not describe a learner: {0}")]
    Param(#[from] ParamError),
    /// Its header contradicts itself.
    #[error("the log's header contradicts itself")]
    Model(#[from] ModelError),
    /// It continues from a saved model, which is not given.
    #[error("the log continues from a saved model with digest {0}, which is not given")]
    NeedsModel(String),
    /// The learner would be too large.
    #[error("the log's learner would take {} MiB; that is more than was allowed", .0 >> 20)]
    TooLarge(usize),
    /// It starts with a new learner, but a model is given.
    #[error("the log starts with a new learner, but a model is given")]
    NeedsNoModel,
    /// It continues from another model, or has fewer lines than were to be skipped.
    #[error(transparent)]
    Unfit(#[from] Fault),
}

/// Replays `log`, continuing from `model` if the header requires one.
///
/// The log may contain feedback for decisions that were pending when the model was saved.
///
/// Every decision is compared with that of the learner in the same state: scores and distribution
/// must be bit-equal, and if the header has the generator, the label must be the one that it draws.
/// A change that affects no later score is not detected, for example of the last decisions'
/// feedback.
///
/// # Errors
/// If the log cannot be read, or a line contradicts the lines before it.
pub fn replay(log: LogReader, model: Option<&Archive>, limits: Limits) -> Result<Replayed, ReplayError> {
    let mut replay = Replay::new(log, model, limits)?;
    while replay.step()? {}
    Ok(replay.finish())
}

/// A replay in progress. It can be saved after every line and continued from there
/// ([`Replay::go_on`]), bit for bit.
pub struct Replay {
    log: LogReader,
    learner: Box<dyn BanditModel>,
    encoder: Encoder,
    schema: Schema,
    /// Whether the header has the generator of the labels, so that they can be drawn again.
    drawn: bool,
    /// That generator, before the first decision.
    begins_with: Option<Rng>,
    play: Play,
    pending: Decisions,
    counts: Counts,
    row: Row,
    example: Example,
    /// A row that is learnt after its decision.
    heard: Example,
    room: Scaler,
    /// Whether the program that wrote the log let rows move the scaling when they were learnt.
    when_learnt: bool,
    expected: Decision,
}

/// The counts of a replay, stored in its model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// Decisions and answers.
    lines: u64,
    decisions: u64,
    answered: u64,
    right: u64,
    last_id: Option<u64>,
}

/// The name of the counts in a model file.
const REPLAYED: &str = "replayed";

/// Number of decisions and answers that were replayed for a model file written by a replay.
pub fn lines_replayed(archive: &Archive) -> Option<u64> {
    archive.text(REPLAYED)?;
    archive.json::<Counts>(REPLAYED).ok().map(|counts| counts.lines)
}

impl Replay {
    /// A replay before its first decision; see [`replay`].
    ///
    /// # Errors
    /// If the log has no valid header, or does not continue from `model`.
    pub fn new(log: LogReader, model: Option<&Archive>, limits: Limits) -> Result<Self, ReplayError> {
        let mut replay = Self::begin(log, model, limits, |header| start(header, model, limits.bytes))?;
        replay.play = replay.play.with_generator(replay.begins_with.take());
        Ok(replay)
    }

    /// A replay after the first `lines` decisions and answers of `log`, with which `model` was
    /// made; these are read and not learnt again.
    ///
    /// # Errors
    /// As for [`Replay::new`], or if there are fewer lines. A model made from other lines is
    /// detected at the next decision.
    pub fn go_on(log: LogReader, model: &Archive, limits: Limits, lines: u64) -> Result<Self, ReplayError> {
        let mut replay = Self::begin(log, Some(model), limits, |_| Ok(Saved::from_archive(model)?))?;
        replay.begins_with = None;
        for passed in 0..lines {
            if replay.log.next(&mut replay.row)?.is_none() {
                let what = fault!("the log has {passed} decisions and answers; {lines} were to be skipped");
                return Err(what.into());
            }
        }
        if lines_replayed(model) == Some(lines) {
            replay.counts = model.json(REPLAYED)?;
        }
        replay.counts.lines = lines;
        Ok(replay)
    }

    fn begin(
        mut log: LogReader,
        model: Option<&Archive>,
        limits: Limits,
        start: impl FnOnce(&Header) -> Result<Saved, ReplayError>,
    ) -> Result<Self, ReplayError> {
        let mut row = Row::new();
        let header = match log.next(&mut row)? {
            Some(Event::Header(header)) => header,
            _ => {
                return Err(log.error("the log has no header, which describes the learner").into());
            }
        };
        let Saved { learner, mut encoder, schema, generator: drawn_with, .. } = start(&header)?;
        let large_row = header.on_large_row.parse::<LargeRow>();
        encoder.set_large_row(large_row.map_err(|what| log.error(format!("on_large_row: {what}")))?);
        let play = Play { floor: header.floor, explore: header.explore, ..Play::new(0) };
        if !(0.0..=1.0).contains(&play.floor) {
            return Err(log.error(format!("floor = {}: must be in [0, 1]", play.floor)).into());
        }
        if !(0.0..=1.0).contains(&play.explore) {
            return Err(log.error(format!("explore = {}: must be in [0, 1]", play.explore)).into());
        }
        let AnyModel::Bandit(learner) = learner else {
            return Err(log
                .error(format!("{} learns from the label, not from a log", header.learner))
                .into());
        };
        let (begins_with, play) = (generator(&header), play.with_generator(drawn_with));
        let pending = match model {
            Some(model) => {
                Decisions::load(model, learner.problem(), learner.about().accepts, limits.waiting)?
            }
            None => Decisions::new(limits.waiting),
        };
        Ok(Self {
            log,
            learner,
            encoder,
            schema,
            drawn: begins_with.is_some(),
            begins_with,
            play,
            pending,
            counts: Counts::default(),
            row,
            example: Example::default(),
            heard: Example::default(),
            room: Scaler::new(Scaling::None),
            when_learnt: header.encoding.when_learnt,
            expected: Decision::default(),
        })
    }

    /// Replays `lines` further lines, or until `stop` is requested. Returns false at the end of the
    /// log.
    ///
    /// # Errors
    /// If the log cannot be read, or a line contradicts the lines before it.
    pub fn until(&mut self, stop: &Stop, mut lines: impl FnMut() -> bool) -> Result<bool, ReplayError> {
        while stop.asked().is_none() {
            match self.step() {
                Ok(true) if lines() => return Ok(true),
                Ok(true) => {}
                Ok(false) => return Ok(false),
                // Reading a pipe fails when a stop is requested.
                Err(_) if stop.asked().is_some() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Replays one decision or answer. Returns false at the end of the log.
    ///
    /// # Errors
    /// If the log cannot be read, or a line contradicts the lines before it.
    pub fn step(&mut self) -> Result<bool, ReplayError> {
        match self.log.next(&mut self.row)? {
            None => return Ok(false),
            Some(Event::Header(_)) => unreachable!("the reader rejects a header after the first line"),
            Some(Event::Decision(logged)) => self.decided(*logged)?,
            Some(Event::Feedback { id, reward }) => {
                let heard = heard_of(reward, self.learner.as_ref()).map_err(|what| self.log.error(what))?;
                let Self { pending, learner, encoder, heard: out, .. } = self;
                (pending.hear_late(learner.as_mut(), encoder, out, &id, heard))
                    .map_err(|what| self.log.error(what))?;
                self.counts.answered += u64::from(heard != Verdict::Never);
                self.counts.right += u64::from(heard == Verdict::RIGHT);
            }
        }
        self.counts.lines += 1;
        Ok(true)
    }

    /// Grows as the service does, where a log has more columns than the learner at its start.
    fn make_room(&mut self) {
        let (columns, needed) = (self.encoder.columns(), self.log.columns().count() as usize);
        if !matches!(self.log.columns(), Columns::Named(_)) || needed <= columns {
            return;
        }
        let (before, room) = (self.encoder.features(), room_for(columns, needed));
        let classes = self.encoder.classes();
        // A learner that cannot grow refuses the row, if it has one of the new columns.
        if self.learner.grow(self.learner.problem().classes, before + room - columns) {
            self.encoder.make_room(classes, room);
            self.pending.widen(before, self.encoder.features());
            // Its scratch memory has the size of before.
            self.expected = Decision::default();
        }
    }

    fn decided(&mut self, logged: LoggedDecision) -> Result<(), ReplayError> {
        self.make_room();
        let Self { log, learner, encoder, example, heard, room, expected, counts, .. } = self;
        if encoder.labels().len() < log.labels().len() {
            encoder.labels_mut().clone_from(log.labels());
        }
        if encoder.labels().len() > encoder.classes() {
            let (labels, classes) = (encoder.labels().len(), encoder.classes());
            let what = format!("there are {labels} labels for a learner of {classes} classes");
            return Err(log.error(what).into());
        }
        let checked = log.columns().check_row(self.row.indices(), encoder.columns());
        let encoded = checked.and_then(|()| match self.when_learnt {
            true => encoder.encode_ahead(&self.row, room, example),
            false => encoder.encode(&self.row, example),
        });
        encoded.map_err(|what| log.error(what))?;
        let LoggedDecision { id, probability, distribution, reward, own, .. } = logged;
        counts.decisions += 1;
        counts.last_id = counts.last_id.max(id.parse().ok());
        let own = own.ok_or_else(|| {
            log.error("the decision has no \"learner\" part, without which it cannot be replayed")
        })?;
        let taken = own.decision(probability, distribution);
        taken.check(learner.problem().classes).map_err(|what| log.error(what.to_string()))?;
        if taken.offered.is_empty() {
            learner.predict(example.features(), expected);
        } else if !learner.predict_among(example.features(), &taken.offered, expected) {
            let what = format!("{} cannot play some of its labels only", learner.about().name);
            return Err(log.error(what).into());
        }
        self.play.draw(learner.as_ref(), expected);
        // The distribution of a greedy learner reveals little of its weights; its scores reveal a
        // changed row, and later scores changed feedback.
        let same = (expected.round, &expected.distribution) == (taken.round, &taken.distribution)
            && (&expected.scores, expected.greedy) == (&taken.scores, taken.greedy)
            && (expected.exploration, &expected.forecast) == (taken.exploration, &taken.forecast);
        if !same {
            let what = "the decision is not the learner's: lines are missing, changed or out of order";
            return Err(log.error(what).into());
        }
        if self.drawn && (expected.label, expected.explored) != (taken.label, taken.explored) {
            let drawn = expected.label;
            let what = format!("the label is not the one that the log's generator draws, class {drawn}");
            return Err(log.error(what).into());
        }
        let late = self.when_learnt.then(|| encoder.late(&self.row, taken.label));
        match heard_of(reward, learner.as_ref()).map_err(|what| log.error(what))? {
            Verdict::Never => {
                let kept = self.pending.keep_late(&id, example, &taken, late);
                kept.map_err(|what| log.error(what))?;
            }
            Verdict::Earned(reward) => {
                counts.answered += 1;
                counts.right += u64::from(reward.is_right());
                learner.learn(learnt(encoder, late.as_ref(), example, heard), &taken, reward);
            }
        }
        Ok(())
    }

    /// Number of decisions and answers replayed.
    pub fn lines(&self) -> u64 {
        self.counts.lines
    }

    /// The content of a model file to continue from: the model, the pending decisions, and the
    /// counts.
    pub fn archive(&mut self) -> Archive {
        self.learn_names();
        let generator = self.drawn.then_some(&self.play.generator);
        let learning = Learning::Bandit(self.learner.as_mut());
        let mut archive = snapshot(learning, &self.encoder, &self.schema, generator);
        if !self.pending.is_empty() {
            self.pending.save(&mut archive);
        }
        archive.set_text(REPLAYED, serde_json::to_string(&self.counts).expect("plain data"));
        archive
    }

    /// Classes and columns that were added after the last decision.
    fn learn_names(&mut self) {
        if self.log.labels().len() <= self.encoder.classes() {
            self.encoder.labels_mut().clone_from(self.log.labels());
        }
        self.schema.columns = self.log.columns().clone();
    }

    /// The present model and the counts.
    pub fn finish(mut self) -> Replayed {
        self.learn_names();
        let Self { log, learner, encoder, schema, drawn, play, pending, counts, .. } = self;
        let torn = log.torn().map(str::to_owned);
        let (learner, generator) = (AnyModel::Bandit(learner), drawn.then_some(play.generator));
        let saved = Saved { learner, encoder, schema, generator, facts: RunFacts::default() };
        let Counts { decisions, answered, right, last_id, .. } = counts;
        Replayed { saved, decisions, answered, right, pending, last_id, floor: play.floor, torn }
    }
}

/// The feedback of a logged decision, if the learner can learn from it.
fn heard_of<L: BanditLearner + ?Sized>(reward: Option<f64>, learner: &L) -> Result<Verdict, Fault> {
    let verdict = Verdict::of_log(reward)?;
    verdict.check(learner)?;
    Ok(verdict)
}

/// The learner before the first decision, with its encoder and settings.
fn start(header: &Header, model: Option<&Archive>, most: usize) -> Result<Saved, ReplayError> {
    match (&header.continues, model) {
        (None, None) => {}
        (None, Some(_)) => return Err(ReplayError::NeedsNoModel),
        (Some(needed), None) => return Err(ReplayError::NeedsModel(needed.clone())),
        (Some(needed), Some(model)) => {
            let found = model.digest();
            if found != *needed {
                let what = format!("a model with digest {needed}; the given one has {found}");
                return Err(fault!("the log continues from {what}").into());
            }
            return Ok(Saved::from_archive(model)?);
        }
    }
    let entry = registry::find(&header.learner)?;
    let bytes = entry.numbers(&header.parameters, &header.problem)?.saturating_mul(8);
    if bytes > most {
        return Err(ReplayError::TooLarge(bytes));
    }
    let learner =
        AnyModel::Bandit(entry.make_bandit(&header.parameters, header.problem.clone(), header.seed)?);
    let made = if header.encoding.before_products { Scaler::of_columns } else { Scaler::of_columns_before };
    let scaler = made(header.encoding.scaling, header.schema.numbers(), header.schema.block());
    let scaler = if header.encoding.guarded { scaler.guarded() } else { scaler };
    let encoder =
        header.encoding.encoder(learner.about(), learner.problem(), header.labels.clone(), scaler)?;
    Ok(Saved { learner, encoder, schema: header.schema.clone(), generator: None, facts: RunFacts::default() })
}
