//! Off-policy evaluation of a log.
//!
//! Two passes: the first finds the labels, the columns and the range of rewards, the second
//! evaluates. Estimates of rewards are progressive, see [`RewardModel`].

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use noregret::algorithm::Model;
use noregret::learner::{Accepts, Classes};
use noregret::param::ParamError;
use noregret::prediction::{Decision, Prediction};
use noregret::problem::Problem;

use crate::decisions::event::Event;
use crate::decisions::logged::Logged;
use crate::decisions::pending::Pending;
use crate::encode::Encoder;
use crate::encode::examples::BadRows;
use crate::encode::labels::Labels;
use crate::encode::scale::Scaler;
use crate::encode::survey::suitable;
use crate::evaluate::reward_model::RewardModel;
use crate::read::error::ReadError;
use crate::read::row::Row;

use super::bench::{Bench, Waiting};
use super::question::{EvaluateOptions, Evaluation, Policy};
use super::tally::Tally;

/// Largest number of features; more are considered a mistake.
const MOST_COLUMNS: usize = 1 << 27;

/// Makes a learner of two classes for a problem, to estimate rewards.
pub type MakeLearner<'a> = &'a dyn Fn(Problem) -> Result<Box<dyn Model>, ParamError>;

/// Why a log cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A line is invalid.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The learner that estimates rewards cannot be made.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// It is not a file, which can be read twice.
    #[error("must be a file: the log is read twice")]
    NoFile,
    /// No decision has feedback.
    #[error("no decision of the log was answered")]
    Nothing,
    /// The policy plays a label that does not exist.
    #[error("the log has no label {label:?}; there are {known}")]
    NoLabel {
        /// The label.
        label: String,
        /// The labels of the log.
        known: String,
    },
    /// The log has too many features.
    #[error("the log has {0} features; at most {MOST_COLUMNS} can be learnt from")]
    TooManyColumns(usize),
}

/// The result of the first pass.
struct Facts {
    labels: Labels,
    columns: usize,
    rewards: [f64; 2],
    whole: bool,
}

fn survey(log: &mut Logged, bad_rows: BadRows) -> Result<Facts, ReadError> {
    let mut row = Row::new();
    let (mut rewards, mut whole, mut bad) = ([f64::INFINITY, f64::NEG_INFINITY], true, 0);
    loop {
        let reward = match log.next(&mut row) {
            Ok(None) => break,
            Ok(Some(Event::Header(_))) => None,
            Ok(Some(Event::Decision(taken))) => taken.reward,
            Ok(Some(Event::Feedback { reward, .. })) => reward,
            Err(error) if error.is_row_error() && bad_rows.allow(bad + 1) => {
                bad += 1;
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(reward) = reward {
            rewards = [rewards[0].min(reward), rewards[1].max(reward)];
            whole &= reward == 0.0 || reward == 1.0;
        }
    }
    // Right and wrong are 1 and 0, even if only one of them occurred.
    let rewards = if whole { [0.0, 1.0] } else { rewards };
    Ok(Facts { labels: log.labels().clone(), columns: log.columns().count() as usize, rewards, whole })
}

/// Evaluates `policy` on a log, which `open` opens twice. Rewards are estimated by learners made by
/// `make`, if it is given and the log contains no estimates.
///
/// # Errors
/// If reading fails or a line is invalid.
pub fn evaluate(
    open: &dyn Fn() -> Result<Logged, ReadError>,
    policy: &mut Policy,
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    with_terms(open, policy, make, options).map(|(evaluation, _)| evaluation)
}

/// [`evaluate`], also returning the term of every answered round.
pub(super) fn with_terms(
    open: &dyn Fn() -> Result<Logged, ReadError>,
    policy: &mut Policy,
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<(Evaluation, Vec<f64>), EvaluateError> {
    let mut log = open()?;
    if !log.is_file() {
        return Err(EvaluateError::NoFile);
    }
    let facts = survey(&mut log, options.bad_rows)?;
    if facts.columns > MOST_COLUMNS {
        return Err(EvaluateError::TooManyColumns(facts.columns));
    }
    let mut labels = facts.labels.clone();
    if let Policy::Model { model, .. } = policy {
        for (name, of) in model.encoder.labels().typed() {
            labels.intern_as(name, of);
        }
    }
    if let Policy::Constant(label) = policy
        && labels.find(label).is_none()
    {
        let known = labels.iter().take(20).collect::<Vec<_>>().join(", ");
        return Err(EvaluateError::NoLabel { label: label.clone(), known });
    }
    let mut encoder = own_encoder(&facts);
    let problem = match policy {
        Policy::Model { model, .. } => Problem { classes: 2, ..model.predictor.problem().clone() },
        _ => {
            Problem::new(2, encoder.features()).with_radius(encoder.radius()).with_sparse(encoder.is_sparse())
        }
    };
    let mut model = make
        .map(|make| RewardModel::new(labels.len(), facts.rewards, !facts.whole, &|| make(problem.clone())))
        .transpose()?;
    let mut bench = Bench {
        labels,
        options,
        tally: Tally::new(options.clip, facts.rewards),
        room: (Prediction::default(), Decision::default()),
        not_offered: 0,
        terms: Vec::new(),
    };
    if let Policy::Model { model, .. } = policy {
        bench.room.0 = model.predictor.prediction();
    }
    let mut pending = Pending::<Waiting>::new(options.pending);
    let mut seen = HashSet::new();
    let (mut row, mut decisions, mut missing, mut bad, mut first_bad) = (Row::new(), 0, 0, 0, None);
    let mut learnt_meanwhile = None;
    let mut log = open()?;
    loop {
        let event = log.next(&mut row);
        let done = event.and_then(|event| match event {
            None => Ok(false),
            Some(Event::Header(header)) => {
                learnt_meanwhile = Some(header.learner.clone());
                Ok(true)
            }
            Some(Event::Decision(taken)) => {
                let mut hash = DefaultHasher::new();
                taken.id.hash(&mut hash);
                if !taken.id.is_empty() && !seen.insert(hash.finish()) {
                    return Err(
                        log.error(&row, format!("the id {:?} was that of an earlier decision", taken.id))
                    );
                }
                let (id, reward) = (taken.id.clone(), taken.reward);
                let waiting = bench
                    .weigh(*taken, &row, &log, policy, &mut encoder, model.as_mut())
                    .map_err(|what| log.error(&row, what))?;
                decisions += 1;
                if let Some(reward) = reward {
                    bench.settle(waiting, reward, model.as_mut());
                } else if let Some((_, forgotten)) =
                    pending.insert(&id, waiting).map_err(|error| log.error(&row, error.to_string()))?
                {
                    missing += 1;
                    bench.give_up(forgotten, model.as_mut());
                }
                Ok(true)
            }
            Some(Event::Feedback { id, reward }) => {
                let waiting = pending.take(&id).map_err(|error| log.error(&row, error.to_string()))?;
                match reward {
                    Some(reward) => bench.settle(waiting, reward, model.as_mut()),
                    None => {
                        missing += 1;
                        bench.give_up(waiting, model.as_mut());
                    }
                }
                Ok(true)
            }
        });
        match done {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.is_row_error() && options.bad_rows.allow(bad + 1) => {
                bad += 1;
                first_bad.get_or_insert_with(|| error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    for (_, waiting) in pending.into_waiting() {
        missing += 1;
        bench.give_up(waiting, model.as_mut());
    }
    if bench.tally.rounds() == 0 {
        return Err(EvaluateError::Nothing);
    }
    let mut evaluation = bench.tally.evaluation(options.confidence, bench.labels.len());
    if missing > 0 {
        let what = if options.missing_is_wrong { "count as 0" } else { "are left out" };
        let warning = format!("{missing} of {decisions} decisions were never answered and {what}");
        evaluation.warnings.push(warning);
    }
    let not_offered = bench.not_offered;
    if not_offered > 0 {
        let warning =
            format!("in {not_offered} rounds none of the policy's labels was on offer; they are left out");
        evaluation.warnings.push(warning);
    }
    evaluation.warnings.extend(log.remarks());
    evaluation.warnings.extend(log.left_out());
    let whole = Evaluation {
        decisions,
        missing,
        not_offered,
        learnt_meanwhile,
        bad_rows: bad,
        first_bad_row: first_bad,
        reward_model: model.map(|model| model.best()),
        ..evaluation
    };
    let share = bench.tally.share();
    Ok((whole, bench.terms.iter().map(|[ips, control]| ips + share * control).collect()))
}

/// The encoder of the log's rows, if the policy is not a model.
fn own_encoder(facts: &Facts) -> Encoder {
    let scaling = suitable(facts.columns);
    let accepts = Accepts { classes: Classes::Two, soft_labels: true, weights: false, plain: false };
    let radius = scaling.radius(facts.columns.max(1)).unwrap_or(1.0);
    Encoder::new(facts.columns, accepts)
        .with_scaler(Scaler::new(scaling))
        .with_intercept(true)
        .with_sparse(facts.columns > 4096)
        .with_radius(Some((radius * radius + 1.0).sqrt()))
}
