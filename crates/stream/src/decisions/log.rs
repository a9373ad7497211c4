//! The decision log: what a bandit learner saw and did, and its feedback, as lines of JSON that are only ever
//! appended.
//!
//! A line is one of four:
//!
//! - the **header**, first: `{"noregret": "decisions", "version": 1, "learner": …}`, everything that is
//!   needed to make the learner as it was before the first decision. Logs that are not to be replayed need
//!   none;
//! - **names**: `{"labels": ["dog"], "columns": ["age"]}`, classes and columns that are new, in their order;
//!   features that are numbered are counted instead, `{"columns": 57}`;
//! - a **decision**: `{"id": "17", "x": {"age": 31}, "label": "dog", "probability": 0.9, "p": [0.1, 0.9]}`,
//!   and under `learner` what it was taken with. `x` names features, or is an array of all of them; a text is
//!   a category. `p` is the whole distribution, in the order of the labels or by name; it may be missing,
//!   `probability` not unless `p` is there. If `correct` (or `reward`, a number) is known at once, it stands
//!   here;
//! - **feedback**: `{"id": "17", "correct": true}` or `{"id": "17", "reward": 0.7}`, any time later, in any
//!   order; `null` says that nothing will ever come.
//!
//! The order of the lines is the order of events, so that replaying them ([`crate::decisions::replay`])
//! learns what was learnt, to the bit. A writer that is killed leaves a log that is good up to its last whole
//! line.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::decisions::pending::Verdict;
use noregret::algorithm::AnyModel;
use noregret::param::Values;
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::rng::Rng;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

use crate::encode::Encoder;
use crate::encode::examples::Raw;
use crate::encode::labels::Labels;
use crate::read::columns::Columns;
use crate::read::options::Schema;
use crate::run::bandit::{Journal, Play};
use crate::save::Encoding;

/// The version of the format.
pub const VERSION: u32 = 1;

/// What the first line says: the learner before its first decision, and what turns rows into its examples.
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
    /// The digest of the model that it was loaded from
    /// ([`Archive::digest`](noregret::model::Archive::digest)), if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// What labels are drawn with, before the first draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<[u64; 4]>,
    /// The floor under the probabilities, see [`Play::floor`].
    #[serde(default)]
    pub floor: f64,
    /// The share of uniform draws, see [`Play::explore`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub explore: f64,
    /// Classes known before the first row.
    pub labels: Labels,
    /// How the data was read, with the columns known before the first row.
    pub schema: Schema,
    /// What was done with rows beyond the learner's radius.
    pub on_large_row: String,
    /// How rows become examples.
    pub(crate) encoding: Encoding,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The start of a log.
pub struct Start<'a> {
    /// The learner, which has decided nothing yet.
    pub learner: &'a AnyModel,
    /// The seed that it was made with.
    pub seed: u64,
    /// The digest of the model that it was loaded from.
    pub continues: Option<String>,
    /// How labels are played.
    pub play: &'a Play,
    /// What turns rows into examples.
    pub encoder: &'a Encoder,
    /// How the data is read.
    pub schema: Schema,
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
            labels: self.encoder.labels.clone(),
            schema: self.schema.clone(),
            on_large_row: self.encoder.large_row.to_string(),
            encoding: Encoding::of(self.encoder),
        }
    }
}

/// The learner's own part of a decision: what its `learn` needs beyond the rest of the line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerPart {
    /// The class that was played, by number.
    pub label: u32,
    /// The round of the learner in which it was taken, from 1.
    pub round: u64,
    /// The class with the best score.
    pub greedy: u32,
    /// The exploration rate in force.
    pub exploration: f64,
    /// Whether the explore coin came up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<bool>,
    /// Scores of all classes.
    pub scores: Vec<f64>,
    /// The distribution that exploration was mixed into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecast: Vec<f64>,
    /// The labels that could be played, by number; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<u32>,
}

impl LearnerPart {
    /// The decision of which this is a part.
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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    labels: &'a [&'a str],
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
        let (indices, values) = (row.indices(), row.values());
        let dense =
            matches!(columns, Columns::Numbered { .. }) && 2 * indices.len() >= columns.count() as usize;
        if !dense {
            let mut map = to.serialize_map(Some(indices.len()))?;
            for (column, value) in indices.iter().zip(values) {
                map.serialize_entry(&*columns.name(*column), &Short(*value))?;
            }
            return map.end();
        }
        let mut array = to.serialize_seq(Some(columns.count() as usize))?;
        let mut entries = indices.iter().zip(values).peekable();
        for column in 0..columns.count() {
            let entry = entries.next_if(|(at, _)| **at == column);
            array.serialize_element(&Short(entry.map_or(0.0, |(_, value)| *value)))?;
        }
        array.end()
    }
}

/// A number without a needless `.0`.
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
    /// Classes and columns that the log knows.
    labels: usize,
    columns: u32,
    /// Whether every line is handed on at once.
    live: bool,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log with its header.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn new(out: W, start: &Start<'_>) -> io::Result<Self> {
        let header = start.header();
        let (labels, columns) = (header.labels.len(), header.schema.columns.count());
        let mut log = Self { out, line: Vec::new(), labels, columns, live: false };
        log.write(&header)?;
        Ok(log)
    }

    /// Goes on with a log whose last row was taken with the classes and columns that `labels` and `columns`
    /// know.
    pub fn go_on(out: W, labels: &Labels, columns: &Columns) -> Self {
        Self { out, line: Vec::new(), labels: labels.len(), columns: columns.count(), live: false }
    }

    /// Hands every line on at once: whoever sends the rows may be waiting for the decision.
    #[must_use]
    pub fn live(self, live: bool) -> Self {
        Self { live, ..self }
    }

    /// Names that have come up since, to be written before the line that uses them.
    fn names(&mut self, labels: &Labels, columns: &Columns) -> io::Result<()> {
        if labels.len() <= self.labels && columns.count() <= self.columns {
            return Ok(());
        }
        let new_labels: Vec<&str> = labels.iter().skip(self.labels).collect();
        let new_columns = (columns.count() > self.columns).then(|| match columns {
            Columns::Named(names) => NewColumns::Names(names.iter().skip(self.columns as usize).collect()),
            columns => NewColumns::Count(columns.count()),
        });
        (self.labels, self.columns) = (labels.len(), columns.count());
        self.write(&NamesLine { labels: &new_labels, columns: new_columns })
    }

    fn write(&mut self, what: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, what)?;
        self.line.push(b'\n');
        // A line at a time: what is cut off is one line at most.
        self.out.write_all(&self.line)?;
        if self.live { self.out.flush() } else { Ok(()) }
    }

    /// Writes the decision `id`, taken for `raw`. `correct` is known if it was heard at once. A decision that
    /// is not the `learners` own, because another program chose the label, goes without the part from which
    /// it could be replayed.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn decision(
        &mut self,
        id: &str,
        raw: Raw<'_>,
        taken: &Decision,
        correct: Option<bool>,
        learners: bool,
    ) -> io::Result<()> {
        self.names(raw.labels, raw.columns)?;
        let label = raw.labels.name(noregret::example::Label(taken.label));
        self.write(&DecisionLine {
            id,
            x: X(raw),
            label: &label,
            probability: taken.probability,
            p: &taken.distribution,
            correct,
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

    /// Writes the feedback of the decision `id`: right, wrong, a reward between, or that there will never be
    /// any.
    ///
    /// # Errors
    /// What cannot be written.
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

    /// The output, when the log is over.
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
        correct: Option<bool>,
    ) -> io::Result<()> {
        self.decision(&round.to_string(), raw, taken, correct, true)
    }

    fn heard(&mut self, round: u64, correct: bool) -> io::Result<()> {
        self.heard_of(&round.to_string(), Some(correct).into())
    }
}

/// The generator that a header describes.
pub(crate) fn generator(header: &Header) -> Option<Rng> {
    header.generator.map(Rng::from_state)
}
