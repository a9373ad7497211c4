//! The state of a run between two rows: what is needed, in addition to learner, encoder and rows,
//! to continue it bit for bit.

use noregret::facts::RunFacts;
use noregret::learner::{Accepts, OnlineLearner};
use noregret::model::{Archive, Data, ModelError, Numbers};
use noregret::prediction::{Decision, Prediction};
use noregret::problem::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::encode::Example;
use crate::run::delay::{Delay, Waiting};
use crate::run::options::RunOptions;
use crate::run::score::Score;

/// The state of a run. `K` is the data kept for a round until its label.
#[derive(Debug)]
pub struct Standing<K> {
    /// Number of rows predicted.
    pub rounds: u64,
    /// The scores.
    pub score: Score,
    /// The pending rounds.
    pub(crate) late: Delay<K>,
    /// Number of rows that are announced to the learner together.
    pub block: u64,
    /// Number of rows of the current block so far.
    pub into: u64,
}

impl Standing<Prediction> {
    /// The state before the first row.
    pub fn new<L: OnlineLearner + ?Sized>(learner: &mut L, options: &RunOptions) -> Self {
        let ahead = if options.look_ahead { learner.look_ahead() } else { None };
        let block = ahead.map_or(1, |ahead| ahead.lookahead().max(1));
        let mut standing = Self { block: block as u64, ..Self::first(options) };
        standing.score.facts = RunFacts::new(learner.rounds());
        standing
    }

    /// At the end of the stream: learns all pending labels.
    pub fn finish<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        self.late.drain(learner);
        self.score.facts.late = self.late.came_late();
    }
}

impl Standing<Decision> {
    /// The state before the first row.
    pub fn bandit(options: &RunOptions) -> Self {
        Self::first(options)
    }
}

/// Upper bound on the rows of a block.
const LONGEST_BLOCK: u64 = 1 << 16;

/// The name of the position in a block in a model file.
const PLACE: &str = "block";
/// The name of the state in a model file.
const STANDING: &str = "run/standing";
/// The name of the number of rows read in a model file.
const ROWS: &str = "rows_read";
/// The name of the last entry of a Redis stream in a model file.
const ENTRY: &str = "last_entry";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedStanding<K> {
    rounds: u64,
    score: Score,
    block: u64,
    into: u64,
    late: Waiting<K>,
    /// Number of rows skipped, the error of the first of them, and number of rows beyond the
    /// learner's radius.
    passed_over: (u64, Option<String>, u64),
    /// Length of the decision log in bytes, if there is one.
    log: Option<u64>,
    /// Facts about the rounds before the run.
    before: RunFacts,
}

/// Counts of a run, in addition to its scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Number of bad rows skipped, and the error of the first of them.
    pub bad_rows: (u64, Option<String>),
    /// Number of rows beyond the learner's radius.
    pub large_rows: u64,
    /// Length of the decision log in bytes, if there is one.
    pub log: Option<u64>,
    /// Facts about the rounds before the run.
    pub before: RunFacts,
}

/// The data kept for a round until its label.
pub trait Held: Clone + Default + Serialize + DeserializeOwned {
    /// Whether this value, from an untrusted source, fits a learner; `like` is a value made by the
    /// learner.
    fn fits(&self, problem: &Problem, like: &Self) -> bool;
}

impl Held for Prediction {
    fn fits(&self, _: &Problem, like: &Self) -> bool {
        Prediction::fits(self, like)
    }
}

impl Held for Decision {
    fn fits(&self, problem: &Problem, _: &Self) -> bool {
        self.check(problem.classes).is_ok()
    }
}

impl<K: Held> Standing<K> {
    fn first(options: &RunOptions) -> Self {
        Self {
            rounds: 0,
            score: Score::new(options.forecast, options.window),
            late: Delay::new(options.delay, options.seed),
            block: 1,
            into: 0,
        }
    }

    /// Writes the state into a model file.
    pub fn save(&self, counts: &Counts, archive: &mut Archive) {
        let kept = SavedStanding {
            rounds: self.rounds,
            score: self.score.clone(),
            block: self.block,
            into: self.into,
            late: self.late.waiting(),
            passed_over: (counts.bad_rows.0, counts.bad_rows.1.clone(), counts.large_rows),
            log: counts.log,
            before: counts.before.clone(),
        };
        archive.set_tensor(STANDING, packed(serde_json::to_vec(&kept).expect("plain data")));
    }

    /// Reads the state of a run with `options` from a model file, for a learner of `problem` that accepts
    /// `accepts`, whose predictions are like `like`; `None` if the file has none.
    ///
    /// # Errors
    /// If the state contradicts the learner or the options.
    pub fn load(
        archive: &Archive,
        problem: &Problem,
        accepts: Accepts,
        like: &K,
        options: &RunOptions,
    ) -> Result<Option<(Self, Counts)>, ModelError> {
        let Ok(tensor) = archive.tensor(STANDING) else { return Ok(None) };
        let damaged = |what: String| ModelError::Damaged(format!("the state of its run: {what}"));
        let bytes = unpacked(tensor).ok_or_else(|| damaged("it does not consist of bytes".to_owned()))?;
        let kept: SavedStanding<K> =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if !kept.score.fits(options.forecast, options.window) {
            return Err(damaged(format!("its window is not {}", options.window)));
        }
        let fits = |(_, _, example, held): &(u64, u64, Example, K)| {
            example.fits(problem, accepts) && held.fits(problem, like)
        };
        if !is_place(kept.block, kept.into) || !kept.late.rounds.iter().all(fits) {
            return Err(damaged("it does not fit the learner".to_owned()));
        }
        let late = Delay::of(kept.late, options.delay, kept.score.facts.late)
            .ok_or_else(|| damaged(format!("its delay is not {}", options.delay)))?;
        let (bad, first, large_rows) = kept.passed_over;
        let counts = Counts { bad_rows: (bad, first), large_rows, log: kept.log, before: kept.before };
        let SavedStanding { rounds, score, block, into, .. } = kept;
        Ok(Some((Self { rounds, score, late, block, into }, counts)))
    }

    /// Writes the position in a block into a model file, which may be saved without the state of
    /// the run.
    pub fn set_place(&self, archive: &mut Archive) {
        archive.set_text(PLACE, format!("{} of {}", self.into, self.block));
    }

    /// Restores the position in a block from a model file, if the file has one.
    pub fn go_on_in(&mut self, archive: &Archive) {
        let numbers = archive.text(PLACE).and_then(|text| text.split_once(" of "));
        let numbers = numbers.and_then(|(into, block)| Some((block.parse().ok()?, into.parse().ok()?)));
        if let Some((block, into)) = numbers.filter(|(block, into)| is_place(*block, *into)) {
            (self.block, self.into) = (block, into);
        }
    }
}

/// Whether `into` is a valid position in a block of `block` rows; files may contain any number.
fn is_place(block: u64, into: u64) -> bool {
    (1..=LONGEST_BLOCK).contains(&block) && into < block
}

/// Writes the number of rows read, bad ones included, into a model file.
pub fn set_rows_read(archive: &mut Archive, rows: u64) {
    archive.set_text(ROWS, rows.to_string());
}

/// The number of rows read for a model, if its file has it.
pub fn rows_read(archive: &Archive) -> Option<u64> {
    archive.text(ROWS)?.parse().ok()
}

/// Writes the id of the last entry that was read of the Redis stream called `stream` into a model file.
pub fn set_last_entry(archive: &mut Archive, stream: &str, id: &str) {
    archive.set_text(ENTRY, format!("{id} {stream}"));
}

/// The id of the last entry of the Redis stream called `stream` that was read for a model; `None` if its last
/// rows came from elsewhere.
pub fn last_entry(archive: &Archive, stream: &str) -> Option<String> {
    let (id, of) = archive.text(ENTRY)?.split_once(' ')?;
    (of == stream).then(|| id.to_owned())
}

/// Serialises the state of an observer for a model file.
pub fn kept<T: Serialize>(watching: &T) -> Numbers {
    packed(serde_json::to_vec(watching).expect("plain data"))
}

/// The inverse of [`kept`]; `None` if the tensor is something else.
pub fn of_kept<T: DeserializeOwned>(numbers: &Numbers) -> Option<T> {
    serde_json::from_slice(&unpacked(numbers)?).ok()
}

/// Bytes as a tensor of whole numbers, because the length of texts in model files is limited.
pub(crate) fn packed(mut bytes: Vec<u8>) -> Numbers {
    bytes.resize(bytes.len().next_multiple_of(8), b' ');
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Numbers { shape: vec![words.len()], data: Data::Count(words) }
}

/// The bytes of [`packed`], padded with blanks.
pub(crate) fn unpacked(numbers: &Numbers) -> Option<Vec<u8>> {
    match &numbers.data {
        Data::Count(words) => Some(words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        Data::Real(_) => None,
    }
}
