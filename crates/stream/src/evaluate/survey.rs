//! The first pass over a log: its labels, its columns and the range of its rewards.

use noregret::param::ParamError;

use crate::decisions::event::Event;
use crate::decisions::logged::Logged;
use crate::encode::examples::BadRows;
use crate::encode::labels::Labels;
use crate::fault::{Fault, fault};
use crate::read::error::ReadError;
use crate::read::row::Row;
use crate::setup::SetupError;

/// Largest number of features; more are considered a mistake.
const MOST_COLUMNS: usize = 1 << 27;

/// Why a log cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A line is invalid.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The learner that estimates rewards cannot be made.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The learner that is evaluated cannot be made.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The learner that is evaluated hears right and wrong only.
    #[error(
        "{0} learns from right and wrong alone, and the log has other rewards than 0 and 1; auto learns from any"
    )]
    Rewards(&'static str),
    /// It is not a file, which can be read twice.
    #[error("must be a file: the log is read twice")]
    NoFile,
    /// No decision has feedback.
    #[error(
        "no decision of the log was answered: one at least needs the reward or the cost of what was played"
    )]
    Nothing,
    /// The log has too many features, or not the label that the policy plays.
    #[error(transparent)]
    Log(#[from] Fault),
}

/// The result of the first pass.
pub(super) struct Facts {
    pub(super) labels: Labels,
    pub(super) columns: usize,
    /// The range of the rewards that were seen.
    pub(super) rewards: [f64; 2],
    /// Whether all rewards are 0 or 1.
    pub(super) whole: bool,
    /// The least probability > 0 with which a label could be played.
    pub(super) least: f64,
}

impl Facts {
    /// See [`possible`].
    pub(super) fn range(&self) -> [f64; 2] {
        possible(self.rewards)
    }
}

/// The range in which rewards may lie, of which the least and the largest were seen: from 0 to 1, also if few
/// of them were seen, or from -1 where they are costs, and what was seen beyond.
pub(super) fn possible([low, high]: [f64; 2]) -> [f64; 2] {
    [if low < 0.0 { low.min(-1.0) } else { 0.0 }, if high > 0.0 || low >= 0.0 { high.max(1.0) } else { 0.0 }]
}

/// What the confidence sequences suppose of the range of rewards, if nobody has said it.
pub(super) fn supposed([low, high]: [f64; 2]) -> Option<String> {
    (low < -1.0 || high > 1.0).then(|| {
        format!(
            "the confidence sequences hold if no reward is below {low} or above {high}; a range of costs or of rewards says what is possible"
        )
    })
}

/// The first pass.
pub(super) fn survey(log: &mut Logged, bad_rows: BadRows) -> Result<Facts, EvaluateError> {
    if !log.is_file() {
        return Err(EvaluateError::NoFile);
    }
    let mut row = Row::new();
    let (mut rewards, mut whole, mut least, mut bad) = ([f64::INFINITY, f64::NEG_INFINITY], true, 1.0f64, 0);
    loop {
        let reward = match log.next(&mut row) {
            Ok(None) => break,
            Ok(Some(Event::Header(_))) => None,
            Ok(Some(Event::Decision(taken))) => {
                let playable = taken.distribution.iter().copied().filter(|p| *p > 0.0);
                least = playable.fold(least.min(taken.probability), f64::min);
                taken.reward
            }
            Ok(Some(Event::Feedback { reward, .. })) => reward,
            Err(error) if error.is_row_error() && bad_rows.allow(bad + 1) => {
                bad += 1;
                None
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(reward) = reward {
            rewards = [rewards[0].min(reward), rewards[1].max(reward)];
            whole &= reward == 0.0 || reward == 1.0;
        }
    }
    // Right and wrong are 1 and 0, even if only one of them occurred.
    let rewards = if whole { [0.0, 1.0] } else { rewards };
    let (labels, columns) = (log.labels().clone(), log.columns().count() as usize);
    if columns > MOST_COLUMNS {
        let what = fault!("the log has {columns} features; at most {MOST_COLUMNS} can be learnt from");
        return Err(what.into());
    }
    Ok(Facts { labels, columns, rewards, whole, least })
}
