//! Replaying a decision log: the learner becomes what it was, to the bit.

use noregret::algorithm::AnyModel;
use noregret::guarantee::RunFacts;
use noregret::learner::BanditLearner;
use noregret::model::{Archive, ModelError};
use noregret::param::ParamError;
use noregret::registry;

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::log::{Header, generator};
use crate::decisions::pending::{Decisions, Verdict};
use crate::decisions::reader::LogReader;
use crate::encode::scale::Scaler;
use crate::encode::{Example, LargeRow};
use crate::read::error::ReadError;
use crate::read::live::Stop;
use crate::read::row::Row;
use crate::run::bandit::Play;
use crate::save::Saved;

/// What a log from outside may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Decisions that wait at one time; beyond that, the oldest are forgotten.
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
    /// How many of them were.
    pub right: u64,
    /// Decisions that wait still.
    pub pending: Decisions,
    /// The largest id that is a whole number: where it goes on, ids are counted from there.
    pub last_id: Option<u64>,
    /// The floor under the probabilities, see [`Play::floor`].
    pub floor: f64,
    /// What was dropped at the end of the log, if it was cut off.
    pub torn: Option<String>,
}

/// Why a log cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log could not be read, or a line does not follow from the lines before it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its header does not describe a learner.
    #[error("the log's header does not describe a learner: {0}")]
    Param(#[from] ParamError),
    /// Its header contradicts itself.
    #[error("the log's header contradicts itself")]
    Model(#[from] ModelError),
    /// It goes on from a model.
    #[error("the log goes on from a saved model, that of digest {0}, which is not given")]
    NeedsModel(String),
    /// It goes on from another model.
    #[error("the log goes on from another model: that of digest {needed}, not {found}")]
    WrongModel {
        /// The digest of the given model.
        found: String,
        /// The digest that the log names.
        needed: String,
    },
    /// The learner would be too large.
    #[error("the log's learner would take {} MiB; that is more than was allowed", .0 >> 20)]
    TooLarge(usize),
    /// It begins with a new learner.
    #[error("the log begins with a new learner, and a model is given")]
    NeedsNoModel,
}

/// Replays `log`, which goes on from `model` if its header says so.
///
/// Decisions that waited when the model was saved, and are in its file, can be answered by the log.
///
/// Every decision is checked against the learner as it then is: scores and distribution must be the learner's own, to the bit,
/// and where the header gives the generator, the label must be the one that it draws. What changes no later score is not
/// found: the answers to the last decisions, and whatever the learner learns nothing from.
///
/// # Errors
/// What cannot be read, or does not follow from the lines before.
pub fn replay(log: LogReader, model: Option<&Archive>, limits: Limits) -> Result<Replayed, ReplayError> {
    replay_until(log, model, limits, &Stop::default())
}

/// The same, as far as the line at which `stop` is asked for.
///
/// # Errors
/// As for [`replay`].
pub fn replay_until(
    mut log: LogReader,
    model: Option<&Archive>,
    limits: Limits,
    stop: &Stop,
) -> Result<Replayed, ReplayError> {
    let mut row = Row::new();
    let header = match log.next(&mut row)? {
        Some(Event::Header(header)) => header,
        _ => {
            return Err(log.error("the log has no header, which says what learnt from it").into());
        }
    };
    let mut saved = start(&header, model, limits.bytes)?;
    saved.encoder.large_row =
        header.on_large_row.parse::<LargeRow>().map_err(|what| log.error(format!("on_large_row: {what}")))?;
    let mut play = Play { floor: header.floor, ..Play::new(0) };
    if !(0.0..=1.0).contains(&play.floor) {
        return Err(log.error(format!("floor = {}: must be in [0, 1]", play.floor)).into());
    }
    let drawn = generator(&header).map(|rng| play.generator = rng).is_some();
    let AnyModel::Bandit(mut learner) = saved.learner else {
        return Err(log.error(format!("{} learns from the label, not from a log", header.learner)).into());
    };
    let mut pending = match model {
        Some(model) => Decisions::load(model, learner.problem(), limits.waiting)?,
        None => Decisions::new(limits.waiting),
    };
    let (mut decisions, mut answered, mut right, mut last_id) = (0, 0, 0, None);
    let (mut example, mut expected) = (Example::default(), noregret::prediction::Decision::default());
    while stop.asked().is_none() {
        let event = match log.next(&mut row) {
            Ok(Some(event)) => event,
            Ok(None) => break,
            // A pipe that is waited for ends by an error.
            Err(_) if stop.asked().is_some() => break,
            Err(error) => return Err(error.into()),
        };
        match event {
            Event::Header(_) => unreachable!("refused behind the first line"),
            Event::Decision(logged) => {
                decisions += 1;
                let encoder = &mut saved.encoder;
                if encoder.labels.len() < log.labels().len() {
                    encoder.labels.clone_from(log.labels());
                }
                if encoder.labels.len() > encoder.classes {
                    let (labels, classes) = (encoder.labels.len(), encoder.classes);
                    let what = format!("there are {labels} labels for a learner of {classes} classes");
                    return Err(log.error(what).into());
                }
                let checked = log.columns().check_row(row.indices(), encoder.columns);
                checked.and_then(|()| encoder.encode(&row, &mut example)).map_err(|what| log.error(what))?;
                let LoggedDecision { id, probability, distribution, reward, own, .. } = *logged;
                last_id = last_id.max(id.parse().ok());
                let own = own.ok_or_else(|| {
                    log.error("the decision has no \"learner\" part, without which it cannot be replayed")
                })?;
                let taken = own.decision(probability, distribution);
                taken.check(learner.problem().classes).map_err(|what| log.error(what.to_string()))?;
                if taken.offered.is_empty() {
                    learner.predict(example.features(), &mut expected);
                } else if !learner.predict_among(example.features(), &taken.offered, &mut expected) {
                    let what = format!("{} cannot play some of its labels only", header.learner);
                    return Err(log.error(what).into());
                }
                play.draw(learner.as_ref(), &mut expected);
                // Distributions of greedy players say little of the weights: scores reveal a changed row, and the next ones a
                // changed answer.
                let same = (expected.round, &expected.distribution) == (taken.round, &taken.distribution)
                    && (&expected.scores, expected.greedy) == (&taken.scores, taken.greedy)
                    && (expected.exploration, &expected.forecast) == (taken.exploration, &taken.forecast);
                if !same {
                    return Err(log
                        .error(
                            "the decision is not the learner's: lines are missing, changed or out of order",
                        )
                        .into());
                }
                if drawn && (expected.label, expected.explored) != (taken.label, taken.explored) {
                    return Err(log
                        .error(format!(
                            "the label is not the one that the log's generator draws, class {}",
                            expected.label
                        ))
                        .into());
                }
                match heard_of(reward, learner.as_ref()).map_err(|what| log.error(what))? {
                    Verdict::Never => {
                        pending.keep(&id, &example, &taken).map_err(|what| log.error(what.to_string()))?;
                    }
                    Verdict::Earned(reward) => {
                        answered += 1;
                        right += u64::from(reward.is_right());
                        learner.learn(example.features(), &taken, reward);
                    }
                }
            }
            Event::Feedback { id, reward } => {
                let heard = heard_of(reward, learner.as_ref()).map_err(|what| log.error(what))?;
                pending.hear(learner.as_mut(), &id, heard).map_err(|what| log.error(what.to_string()))?;
                answered += u64::from(heard != Verdict::Never);
                right += u64::from(heard == Verdict::RIGHT);
            }
        }
    }
    if log.labels().len() <= saved.encoder.classes {
        saved.encoder.labels.clone_from(log.labels());
    }
    saved.schema.columns = log.columns().clone();
    let torn = log.torn().map(str::to_owned);
    let generator = drawn.then_some(play.generator);
    let saved = Saved { learner: AnyModel::Bandit(learner), generator, ..saved };
    Ok(Replayed { saved, decisions, answered, right, pending, last_id, floor: play.floor, torn })
}

/// What a log says of a decision, if the learner can learn from it.
fn heard_of<L: BanditLearner + ?Sized>(reward: Option<f64>, learner: &L) -> Result<Verdict, String> {
    let verdict = Verdict::of_log(reward)?;
    verdict.check(learner).map_err(|error| error.to_string())?;
    Ok(verdict)
}

/// The learner before the first decision, and what stands around it.
fn start(header: &Header, model: Option<&Archive>, most: usize) -> Result<Saved, ReplayError> {
    match (&header.continues, model) {
        (None, None) => {}
        (None, Some(_)) => return Err(ReplayError::NeedsNoModel),
        (Some(needed), None) => return Err(ReplayError::NeedsModel(needed.clone())),
        (Some(needed), Some(model)) => {
            let found = model.digest();
            if found != *needed {
                return Err(ReplayError::WrongModel { found, needed: needed.clone() });
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
    let scaler = Scaler::new(header.encoding.scaling);
    let encoder =
        header.encoding.encoder(learner.about(), learner.problem(), header.labels.clone(), scaler)?;
    Ok(Saved { learner, encoder, schema: header.schema.clone(), generator: None, facts: RunFacts::default() })
}
