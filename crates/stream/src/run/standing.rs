//! Where a run stands between two rows: what it needs beside learner, encoder and rows to go on as if it had
//! never stopped.

use noregret::guarantee::RunFacts;
use noregret::learner::OnlineLearner;
use noregret::model::{Archive, Data, ModelError, Numbers};
use noregret::prediction::{Decision, Prediction};
use noregret::problem::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::encode::Example;
use crate::run::delay::{Delay, Waiting};
use crate::run::full::RunOptions;
use crate::run::score::Score;

/// Where a run stands. `K` is what is kept of a round while its label is late.
#[derive(Debug)]
pub struct Standing<K> {
    /// Rows that were predicted.
    pub rounds: u64,
    /// How well.
    pub score: Score,
    /// The rounds whose labels are late.
    pub(crate) late: Delay<K>,
    /// Rows that are shown to the learner together, before it sees the first of them.
    pub block: u64,
    /// How many of them have come.
    pub into: u64,
}

impl Standing<Prediction> {
    /// Before the first row.
    pub fn new<L: OnlineLearner + ?Sized>(learner: &L, options: &RunOptions) -> Self {
        let lookahead = if options.look_ahead { learner.lookahead() } else { 0 };
        let mut standing = Self { block: lookahead.max(1) as u64, ..Self::first(options) };
        standing.score.facts = RunFacts::new(learner.rounds());
        standing
    }

    /// The stream is over: the labels that are still missing arrive.
    pub fn finish<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        self.late.drain(learner);
        self.score.facts.late = self.late.came_late();
    }
}

impl Standing<Decision> {
    /// Before the first row.
    pub fn bandit(options: &RunOptions) -> Self {
        Self::first(options)
    }
}

/// More rows than any learner has shown together.
const LONGEST_BLOCK: u64 = 1 << 16;

/// What a model file calls the place in a block.
const PLACE: &str = "block";
/// What a model file calls it.
const STANDING: &str = "run/standing";
/// What a model file calls the number of rows that were read for it.
const ROWS: &str = "rows_read";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept<K> {
    rounds: u64,
    score: Score,
    block: u64,
    into: u64,
    late: Waiting<K>,
    /// Rows that were passed over, what was wrong with the first of them, and rows beyond the learner's
    /// radius.
    passed_over: (u64, Option<String>, u64),
    /// Bytes of the decision log, if there is one.
    log: Option<u64>,
    /// Of the rounds that the learner had learnt before the run.
    before: RunFacts,
}

/// What was counted of a run's rows, beside its scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Bad rows that were passed over, and what was wrong with the first of them.
    pub bad_rows: (u64, Option<String>),
    /// Rows beyond the learner's radius.
    pub large_rows: u64,
    /// Bytes of the decision log, if there is one.
    pub log: Option<u64>,
    /// Of the rounds that the learner had learnt before the run.
    pub before: RunFacts,
}

/// What is kept of a round while its label is late.
pub trait Held: Clone + Default + Serialize + DeserializeOwned {
    /// Whether a learner can learn from this, which comes from outside; `like` is one of its own.
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

    /// Writes it into a model file.
    pub fn save(&self, counts: &Counts, archive: &mut Archive) {
        let kept = Kept {
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

    /// What a model file says of a run of these `options`, by a learner of `problem` whose predictions are
    /// `like` this; `None` if it says nothing.
    ///
    /// # Errors
    /// If it contradicts the learner or the options.
    pub fn load(
        archive: &Archive,
        problem: &Problem,
        like: &K,
        options: &RunOptions,
    ) -> Result<Option<(Self, Counts)>, ModelError> {
        let Ok(tensor) = archive.tensor(STANDING) else { return Ok(None) };
        let damaged = |what: String| ModelError::Damaged(format!("where its run stands: {what}"));
        let bytes = unpacked(tensor).ok_or_else(|| damaged("it is no bytes".to_owned()))?;
        let kept: Kept<K> = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if !kept.score.fits(options.forecast, options.window) {
            return Err(damaged(format!("it goes on with another --window than {}", options.window)));
        }
        let fits = |(_, _, example, held): &(u64, u64, Example, K)| {
            example.fits(problem) && held.fits(problem, like)
        };
        if !is_place(kept.block, kept.into) || !kept.late.rounds.iter().all(fits) {
            return Err(damaged("it does not fit the learner".to_owned()));
        }
        let late = Delay::of(kept.late, options.delay, kept.score.facts.late)
            .ok_or_else(|| damaged(format!("it goes on with another --delay than {}", options.delay)))?;
        let (bad, first, large_rows) = kept.passed_over;
        let counts = Counts { bad_rows: (bad, first), large_rows, log: kept.log, before: kept.before };
        let Kept { rounds, score, block, into, .. } = kept;
        Ok(Some((Self { rounds, score, late, block, into }, counts)))
    }

    /// Notes in a model file where in a block of rows its run has ended: it is not always saved where the run
    /// stands.
    pub fn set_place(&self, archive: &mut Archive) {
        archive.set_text(PLACE, format!("{} of {}", self.into, self.block));
    }

    /// Goes on in the block of rows in which the run of a model file has ended, if the file says so.
    pub fn go_on_in(&mut self, archive: &Archive) {
        let numbers = archive.text(PLACE).and_then(|text| text.split_once(" of "));
        let numbers = numbers.and_then(|(into, block)| Some((block.parse().ok()?, into.parse().ok()?)));
        if let Some((block, into)) = numbers.filter(|(block, into)| is_place(*block, *into)) {
            (self.block, self.into) = (block, into);
        }
    }
}

/// Whether `into` rows of a `block` can have come: of files, which may say anything.
fn is_place(block: u64, into: u64) -> bool {
    (1..=LONGEST_BLOCK).contains(&block) && into < block
}

/// Notes in a model file how many rows of its data were read, bad ones included.
pub fn set_rows_read(archive: &mut Archive, rows: u64) {
    archive.set_text(ROWS, rows.to_string());
}

/// How many rows of its data were read for a model, if its file says so.
pub fn rows_read(archive: &Archive) -> Option<u64> {
    archive.text(ROWS)?.parse().ok()
}

/// What watches a run, as a model file keeps it.
pub fn kept<T: Serialize>(watching: &T) -> Numbers {
    packed(serde_json::to_vec(watching).expect("plain data"))
}

/// What [`kept`] wrote, if it is that.
pub fn of_kept<T: DeserializeOwned>(numbers: &Numbers) -> Option<T> {
    serde_json::from_slice(&unpacked(numbers)?).ok()
}

/// Bytes as whole numbers: texts of model files are bounded, and these may be long.
pub(crate) fn packed(mut bytes: Vec<u8>) -> Numbers {
    bytes.resize(bytes.len().next_multiple_of(8), b' ');
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Numbers { shape: vec![words.len()], data: Data::Count(words) }
}

/// The bytes of [`packed`], with blanks behind them.
pub(crate) fn unpacked(numbers: &Numbers) -> Option<Vec<u8>> {
    match &numbers.data {
        Data::Count(words) => Some(words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        Data::Real(_) => None,
    }
}
