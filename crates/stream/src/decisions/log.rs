//! The decision log: the decisions of a bandit learner and their feedback, as append-only lines of
//! JSON.
//!
//! There are four kinds of lines:
//!
//! - the **header**, first: `{"noregret": "decisions", "version": 1, "learner": …}`, everything
//!   needed to make the learner as it was before the first decision. Only needed for replay;
//! - **names**: `{"labels": ["dog"], "columns": ["age"]}`, new classes and columns, in order; for
//!   numbered features their count, `{"columns": 57}`; a label that was given as a number is
//!   `{"whole": "7"}`, as in the header;
//! - a **decision**:
//!   `{"id": "17", "x": {"age": 31}, "label": "dog", "probability": 0.9, "p": [0.1, 0.9]}`, and
//!   under `learner` the learner's intermediate results. `x` is an object of features by name or an
//!   array of all features; a text is a category; where labels on offer have features of their own, those
//!   are called by the hashes of their names, see `HashedRound::named`. `p` is the whole distribution, in
//!   the order of the labels or by name; either `p` or `probability` is required. If the feedback
//!   `correct` (or `reward`, a number) is known immediately, it is part of the line;
//! - **feedback**: `{"id": "17", "correct": true}` or `{"id": "17", "reward": 0.7}`, at any time
//!   later, in any order; `null` means that there will never be feedback.
//!
//! The order of the lines is the order of events, so that replaying them
//! ([`crate::decisions::replay`]) gives the same learner, bit for bit. If the writing program is
//! killed, the log is valid up to its last complete line.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::decisions::pending::Verdict;
use noregret::algorithm::AnyModel;
use noregret::param::Values;
use noregret::prediction::{Decision, Reward};
use noregret::problem::Problem;
use noregret::rng::Rng;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

use crate::encode::Encoder;
use crate::encode::examples::Raw;
use crate::encode::labels::{Labels, Written};
use crate::read::columns::Columns;
use crate::read::options::Schema;
use crate::run::bandit::{Journal, Play};
use crate::save::Encoding;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line: the learner before its first decision, and how rows are encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always `decisions`.
    pub noregret: Cow<'static, str>,
    /// The version of the format, [`VERSION`].
    pub version: u32,
    /// The learner.
    pub learner: String,
    /// Its parameters in use.
    pub parameters: Values,
    /// The problem that it was made for.
    pub problem: Problem,
    /// The seed that it was made with.
    pub seed: u64,
    /// The digest of the model file that it was loaded from
    /// ([`Archive::digest`](noregret::model::Archive::digest)), if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The generator of the labels, before the first draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<[u64; 4]>,
    /// The least probability of every label, see [`Play::floor`].
    #[serde(default)]
    pub floor: f64,
    /// The share of uniform draws, see [`Play::explore`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub explore: f64,
    /// Classes known before the first row.
    pub labels: Labels,
    /// How the data was read, with the columns known before the first row.
    pub schema: Schema,
    /// The treatment of rows beyond the learner's radius.
    pub on_large_row: String,
    /// The scaling and the intercept.
    pub(crate) encoding: Encoding,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The start of a log.
pub struct Start<'a> {
    /// The learner, before its first decision.
    pub learner: &'a AnyModel,
    /// The seed that it was made with.
    pub seed: u64,
    /// The digest of the model file that it was loaded from.
    pub continues: Option<String>,
    /// How labels are played.
    pub play: &'a Play,
    /// The encoder.
    pub encoder: &'a Encoder,
    /// How the data is read.
    pub schema: Schema,
    /// Whether rows move the scaling when they are learnt, and not when they are decided on.
    pub when_learnt: bool,
}

impl Start<'_> {
    fn header(&self) -> Header {
        Header {
            noregret: "decisions".into(),
            version: VERSION,
            learner: self.learner.about().name.to_owned(),
            parameters: self.learner.values(),
            problem: self.learner.problem().clone(),
            seed: self.seed,
            continues: self.continues.clone(),
            generator: Some(self.play.generator.state()),
            floor: self.play.floor,
            explore: self.play.explore,
            labels: self.encoder.labels().clone(),
            schema: self.schema.clone(),
            on_large_row: self.encoder.large_row().to_string(),
            encoding: Encoding { when_learnt: self.when_learnt, ..Encoding::of(self.encoder) },
        }
    }
}

/// The learner's part of a decision: what its `learn` needs in addition to the rest of the line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerPart {
    /// The class that was played, by number.
    pub label: u32,
    /// The learner's round, from 1.
    pub round: u64,
    /// The class with the best score.
    pub greedy: u32,
    /// The exploration rate in this round.
    pub exploration: f64,
    /// Whether the label was drawn by exploration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<bool>,
    /// Scores of all classes.
    pub scores: Vec<f64>,
    /// The distribution before exploration was mixed in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecast: Vec<f64>,
    /// The labels that could be played, by number; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<u32>,
}

impl LearnerPart {
    /// The decision, with this part filled in.
    pub fn decision(self, probability: f64, distribution: Vec<f64>) -> Decision {
        let mut taken = Decision::default();
        taken.round = self.round;
        taken.label = self.label;
        taken.probability = probability;
        taken.greedy = self.greedy;
        taken.exploration = self.exploration;
        taken.explored = self.explored;
        taken.scores = self.scores;
        taken.distribution = distribution;
        taken.forecast = self.forecast;
        taken.offered = self.offered;
        taken
    }
}

#[derive(Serialize)]
struct NamesLine<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<NewColumns<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum NewColumns<'a> {
    Count(u32),
    Names(Vec<&'a str>),
}

#[derive(Serialize)]
struct DecisionLine<'a> {
    id: &'a str,
    x: X<'a>,
    label: &'a str,
    probability: f64,
    p: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    correct: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evaluation: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    learner: Option<OwnRef<'a>>,
}

#[derive(Serialize)]
struct OwnRef<'a> {
    label: u32,
    round: u64,
    greedy: u32,
    exploration: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored: Option<bool>,
    scores: &'a [f64],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    forecast: &'a [f64],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    offered: &'a [u32],
}

#[derive(Serialize)]
struct FeedbackLine<'a> {
    id: &'a str,
    correct: Option<bool>,
}

#[derive(Serialize)]
struct RewardLine<'a> {
    id: &'a str,
    reward: f64,
}

/// The features of a row: an array of all columns where they are numbered and most are there, else an object.
struct X<'a>(Raw<'a>);

impl Serialize for X<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Raw { row, columns, .. } = self.0;
        if let Some(round) = row.round() {
            return to.collect_map(round.named().map(|(name, value)| (name, Short(value))));
        }
        let (indices, values) = (row.indices(), row.values());
        // Without columns that have a number after all, as hashes may.
        let missing = row.missing().iter().copied();
        let missing: Vec<u32> = missing.filter(|column| indices.binary_search(column).is_err()).collect();
        let dense =
            matches!(columns, Columns::Numbered { .. }) && 2 * indices.len() >= columns.count() as usize;
        if !dense {
            let mut map = to.serialize_map(Some(indices.len() + missing.len()))?;
            for (column, value) in indices.iter().zip(values) {
                map.serialize_entry(&*columns.name(*column), &Short(*value))?;
            }
            for column in missing {
                map.serialize_entry(&*columns.name(column), &())?;
            }
            return map.end();
        }
        let mut array = to.serialize_seq(Some(columns.count() as usize))?;
        let mut entries = indices.iter().zip(values).peekable();
        for column in 0..columns.count() {
            if missing.binary_search(&column).is_ok() {
                array.serialize_element(&())?;
                continue;
            }
            let entry = entries.next_if(|(at, _)| **at == column);
            array.serialize_element(&Short(entry.map_or(0.0, |(_, value)| *value)))?;
        }
        array.end()
    }
}

/// A number, without `.0` if it is whole.
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 == self.0.trunc() && self.0.abs() < 1e15 && (self.0 != 0.0 || self.0.is_sign_positive()) {
            to.serialize_i64(self.0 as i64)
        } else {
            to.serialize_f64(self.0)
        }
    }
}

/// Writes a log.
pub struct LogWriter<W> {
    out: W,
    line: Vec<u8>,
    /// Number of classes and columns written so far.
    labels: usize,
    columns: u32,
    /// Whether every line is flushed.
    live: bool,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log with its header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(out: W, start: &Start<'_>) -> io::Result<Self> {
        let header = start.header();
        let (labels, columns) = (header.labels.len(), header.schema.columns.count());
        let mut log = Self { out, line: Vec::new(), labels, columns, live: false };
        log.write(&header)?;
        Ok(log)
    }

    /// Continues a log that already contains the names in `labels` and `columns`.
    pub fn go_on(out: W, labels: &Labels, columns: &Columns) -> Self {
        Self { out, line: Vec::new(), labels: labels.len(), columns: columns.count(), live: false }
    }

    /// Flushes every line: the program that sends the rows may be waiting for the decision.
    #[must_use]
    pub fn live(self, live: bool) -> Self {
        Self { live, ..self }
    }

    /// Writes new names, before the line that uses them.
    fn names(&mut self, labels: &Labels, columns: &Columns) -> io::Result<()> {
        if labels.len() <= self.labels && columns.count() <= self.columns {
            return Ok(());
        }
        let new_labels = labels.written(self.labels);
        let new_columns = (columns.count() > self.columns).then(|| match columns {
            Columns::Named(names) => NewColumns::Names(names.iter().skip(self.columns as usize).collect()),
            columns => NewColumns::Count(columns.count()),
        });
        (self.labels, self.columns) = (labels.len(), columns.count());
        self.write(&NamesLine { labels: new_labels, columns: new_columns })
    }

    fn write(&mut self, what: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, what)?;
        self.line.push(b'\n');
        // One write per line, so that at most one line is cut off.
        self.out.write_all(&self.line)?;
        if self.live { self.out.flush() } else { Ok(()) }
    }

    /// Writes the decision `id` for the row `raw`, with the reward that it `earned` if the feedback is
    /// known immediately. If another program chose the label (`learners` is false), the learner's part
    /// is omitted, and the log cannot be replayed. `evaluation` is the distribution of a policy that is to be
    /// evaluated, or empty.
    ///
    /// # Errors
    /// If writing fails.
    pub fn decision(
        &mut self,
        id: &str,
        raw: Raw<'_>,
        taken: &Decision,
        earned: Option<Reward>,
        learners: bool,
        evaluation: &[f64],
    ) -> io::Result<()> {
        self.names(raw.labels, raw.columns)?;
        let label = raw.labels.name(noregret::example::Label(taken.label));
        self.write(&DecisionLine {
            id,
            x: X(raw),
            label: &label,
            probability: taken.probability,
            p: &taken.distribution,
            correct: earned.filter(|reward| reward.is_verdict()).map(Reward::is_right),
            reward: earned.filter(|reward| !reward.is_verdict()).map(Reward::value),
            evaluation,
            learner: learners.then_some(OwnRef {
                label: taken.label,
                round: taken.round,
                greedy: taken.greedy,
                exploration: taken.exploration,
                explored: taken.explored,
                scores: &taken.scores,
                forecast: &taken.forecast,
                offered: &taken.offered,
            }),
        })
    }

    /// Writes the feedback of the decision `id`: right, wrong, a reward between 0 and 1, or that
    /// there will never be feedback.
    ///
    /// # Errors
    /// If writing fails.
    pub fn heard_of(&mut self, id: &str, verdict: Verdict) -> io::Result<()> {
        match verdict {
            Verdict::Never => self.write(&FeedbackLine { id, correct: None }),
            Verdict::Earned(reward) if reward.is_verdict() => {
                self.write(&FeedbackLine { id, correct: Some(reward.is_right()) })
            }
            Verdict::Earned(reward) => self.write(&RewardLine { id, reward: reward.value() }),
        }
    }

    /// The output.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Finishes the log and returns the output.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Journal for LogWriter<W> {
    fn decided(
        &mut self,
        round: u64,
        raw: Raw<'_>,
        taken: &Decision,
        earned: Option<Reward>,
    ) -> io::Result<()> {
        self.decision(&round.to_string(), raw, taken, earned, true, &[])
    }

    fn heard(&mut self, round: u64, reward: Reward) -> io::Result<()> {
        self.heard_of(&round.to_string(), Verdict::Earned(reward))
    }
}

/// The generator that a header describes.
pub(crate) fn generator(header: &Header) -> Option<Rng> {
    header.generator.map(Rng::from_state)
}
