//! Writes forecasts, one line per row, as CSV or NDJSON.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{BufWriter, Stdout, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noregret::algorithm::Forecast;
use noregret::example::{Label, Target, Truth};
use noregret::prediction::{Prediction, argmax};
use noregret_stream::encode::examples::OnBadRow;
use noregret_stream::encode::labels::Labels;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, Sink};
use noregret_stream::watch::explain::Explanation;
use noregret_stream::{Replacement, csv_cell, redis_entries};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::files::{is_redis, is_standard};
use crate::note::printable;

/// The content of a line in addition to the label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) id: bool,
    pub(crate) confidence: bool,
    pub(crate) truth: bool,
    /// JSON objects instead of CSV.
    pub(crate) json: bool,
    /// The probabilities in an object, if any.
    pub(crate) probabilities: Option<Shown>,
}

/// Which probabilities are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// All classes, in order.
    All,
    /// This many largest ones, in descending order; the first of equal ones.
    Best(usize),
}

/// The forecast for a row.
pub(crate) struct Row<'a> {
    pub(crate) id: &'a str,
    pub(crate) label: Label,
    pub(crate) prediction: &'a Prediction,
    /// The classes on offer, ascending; empty: all.
    pub(crate) offered: &'a [u32],
    pub(crate) target: Option<Target<'a>>,
    /// Whether the label is given; false if the learner abstains.
    pub(crate) answered: bool,
    /// Contributions of columns to the scores, if requested.
    pub(crate) explanation: Option<&'a Explanation>,
}

impl Row<'_> {
    /// The classes on offer, of `count` classes.
    fn classes(&self, count: usize) -> Vec<usize> {
        match self.offered {
            [] => (0..count).collect(),
            offered => offered.iter().map(|class| *class as usize).collect(),
        }
    }
}

impl Columns {
    /// The header, if lines have several cells.
    pub(crate) fn header(self) -> Option<String> {
        let names =
            [("id", self.id), ("label", true), ("confidence", self.confidence), ("truth", self.truth)];
        let names: Vec<&str> = names.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect();
        (!self.json && names.len() > 1).then(|| names.join(","))
    }

    /// The line of a row, without its end. `labels` has the classes that were known when it was predicted,
    /// `truths` those that are known now.
    pub(crate) fn line(self, forecast: Forecast, row: &Row<'_>, labels: &Labels, truths: &Labels) -> String {
        let value = forecast == Forecast::Value;
        let shares = if value { vec![] } else { among(&row.prediction.probabilities, labels) };
        let best = named(row, labels).filter(|_| !value);
        let sure = best.and_then(|label| shares.get(label.index()).copied());
        if self.json {
            let mut object = Map::new();
            if self.id {
                object.insert("id".to_owned(), row.id.into());
            }
            object.insert(
                "label".to_owned(),
                match value {
                    true => row.prediction.scores[0].into(),
                    false if !row.answered => Value::Null,
                    false => best.map_or(Value::Null, |label| labels.json(label)),
                },
            );
            if let Some(sure) = sure.filter(|_| self.confidence) {
                object.insert("confidence".to_owned(), sure.into());
            }
            if self.truth {
                let truth = match row.target.map(|target| target.truth) {
                    Some(Truth::Class(class)) => Some(truths.json(class)),
                    Some(Truth::Value(value)) => Some(value.into()),
                    Some(Truth::Distribution(_)) | None => None,
                };
                object.extend(truth.map(|truth| ("truth".to_owned(), truth)));
            }
            if let Some(shown) = self.probabilities.filter(|_| !value) {
                let mut classes = row.classes(shares.len());
                if let Shown::Best(count) = shown {
                    classes.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
                    classes.truncate(count);
                }
                let pairs = classes
                    .into_iter()
                    .map(|class| (labels.name(class.into()).into_owned(), shares[class].into()));
                object.insert("probabilities".to_owned(), Value::Object(pairs.collect()));
            }
            if let Some(Explanation { columns, contributions, rest, .. }) = row.explanation {
                let classes = row.classes(rest.len().min(labels.len()));
                let scores = |numbers: &[f64]| of_scores(numbers, &classes, value, labels);
                let columns = columns.iter().zip(contributions);
                let contributions = columns.map(|(name, numbers)| (name.clone(), scores(numbers)));
                object.insert("contributions".to_owned(), Value::Object(contributions.collect()));
                object.insert("rest".to_owned(), scores(rest));
            }
            return Value::Object(object).to_string();
        }
        let label = match best {
            _ if value => row.prediction.scores[0].to_string(),
            Some(label) if row.answered => labels.name(label).into_owned(),
            _ => String::new(),
        };
        let truth = match row.target.map(|target| target.truth) {
            Some(Truth::Class(class)) => truths.name(class).into_owned(),
            Some(Truth::Value(value)) => value.to_string(),
            Some(Truth::Distribution(_)) | None => String::new(),
        };
        let sure = sure.map_or_else(String::new, |sure| format!("{sure:.6}"));
        self.cells(row.id, &label, &sure, &truth)
    }

    /// The line of a row that could not be read.
    pub(crate) fn failed(self, id: &str, error: &str) -> String {
        if !self.json {
            return self.cells(id, "", "", "");
        }
        match self.id {
            true => json!({"id": id, "label": null, "error": error}).to_string(),
            false => json!({"label": null, "error": error}).to_string(),
        }
    }

    fn cells(self, id: &str, label: &str, sure: &str, truth: &str) -> String {
        let cells = [(id, self.id), (label, true), (sure, self.confidence), (truth, self.truth)];
        let cells: Vec<String> =
            cells.into_iter().filter(|(_, there)| *there).map(|(cell, _)| quoted(cell, self)).collect();
        cells.join(",")
    }
}

/// The probabilities of the labels that there are: room for labels to come has none.
fn among(probabilities: &[f64], labels: &Labels) -> Vec<f64> {
    let shares = &probabilities[..probabilities.len().min(labels.len())];
    let total: f64 = shares.iter().sum();
    match shares.len() == probabilities.len() {
        true => shares.to_vec(),
        false if total > 0.0 => shares.iter().map(|share| share / total).collect(),
        false => vec![1.0 / shares.len() as f64; shares.len()],
    }
}

/// The label of a row, or, where it is room for labels to come, the best of those that there are.
fn named(row: &Row<'_>, labels: &Labels) -> Option<Label> {
    if row.label.index() < labels.len() || labels.is_empty() {
        return Some(row.label).filter(|_| !labels.is_empty());
    }
    let scores = &row.prediction.scores;
    Some(Label::from(argmax(&scores[..scores.len().min(labels.len())])))
}

/// One number for each of `classes` by name, or the forecast value alone.
fn of_scores(numbers: &[f64], classes: &[usize], value: bool, labels: &Labels) -> Value {
    if value {
        return numbers[0].into();
    }
    let named =
        classes.iter().map(|class| (labels.name((*class).into()).into_owned(), numbers[*class].into()));
    Value::Object(named.collect())
}

/// The mean contributions, as CSV or NDJSON: one line per column, the most important first.
pub(crate) fn explained(found: &Explanation, value: bool, json: bool, labels: &Labels) -> Vec<String> {
    let rows = found.columns.iter().zip(&found.contributions).enumerate();
    if json {
        let object = |(at, (name, numbers)): (usize, (&String, &Vec<f64>))| {
            let classes: Vec<usize> = (0..numbers.len().min(labels.len())).collect();
            let contributions = of_scores(numbers, &classes, value, labels);
            json!({"column": name, "size": found.size(at), "contributions": contributions}).to_string()
        };
        return rows.map(object).collect();
    }
    let shown = if value { found.rest.len() } else { found.rest.len().min(labels.len()) };
    let classes = 0..shown;
    let names = classes.map(|class| match value {
        true => "forecast".to_owned(),
        false => labels.name(class.into()).into_owned(),
    });
    let header = ["column".to_owned(), "size".to_owned()].into_iter().chain(names);
    let mut lines = vec![header.map(|name| cell(&name)).collect::<Vec<_>>().join(",")];
    lines.extend(rows.map(|(at, (name, numbers))| {
        let numbers = std::iter::once(found.size(at)).chain(numbers.iter().take(shown).copied());
        std::iter::once(cell(name))
            .chain(numbers.map(|number| format!("{number:.6}")))
            .collect::<Vec<_>>()
            .join(",")
    }));
    lines
}

/// A cell of CSV, quoted if needed. A label alone is written unquoted.
fn quoted(cell: &str, columns: Columns) -> String {
    if columns.header().is_some() { self::cell(cell) } else { printable(cell).into_owned() }
}

fn cell(text: &str) -> String {
    match csv_cell(text) {
        Cow::Owned(quoted) => quoted,
        Cow::Borrowed(text) => printable(text).into_owned(),
    }
}

/// Standard output, a file that is created when it is complete, or a Redis stream.
pub(crate) enum Output {
    Standard(BufWriter<Stdout>),
    File(Replacement),
    Entries(Box<dyn Write + Send>),
}

impl Output {
    /// Opens the output; `-` is standard output.
    pub(crate) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        match path.filter(|path| !is_standard(path)) {
            None => Ok(Self::Standard(BufWriter::new(std::io::stdout()))),
            Some(path) if is_redis(path) => redis_entries(&path.to_string_lossy()).map(Self::Entries),
            Some(path) => Replacement::open(path).map(Self::File),
        }
    }

    /// Completes the output.
    pub(crate) fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Standard(mut out) => out.flush(),
            Self::File(out) => out.finish(),
            Self::Entries(mut out) => out.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
            Self::Entries(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::File(out) => out.flush(),
            Self::Entries(out) => out.flush(),
        }
    }
}

/// A file with the forecast of every row of a run, made before the row was learnt; and an empty forecast for
/// every bad row that is skipped, so that lines correspond to rows.
pub(crate) struct Forecasts {
    lines: Arc<Mutex<Lines>>,
    path: PathBuf,
    columns: Columns,
    forecast: Forecast,
    labels: Labels,
}

impl Forecasts {
    /// Starts the file, which is created when it is complete; `-` is standard output.
    pub(crate) fn open(
        path: &Path,
        columns: Columns,
        forecast: Forecast,
        labels: Labels,
        live: bool,
    ) -> Result<Self, Failure> {
        let failure = |error: std::io::Error| file_failure(path, &error);
        let mut out = Output::open(Some(path)).map_err(failure)?;
        if let Some(header) = columns.header() {
            writeln!(out, "{header}").map_err(failure)?;
        }
        let lines = Lines { out: Some(out), written: 0, ahead: VecDeque::new(), live, error: None };
        let lines = Arc::new(Mutex::new(lines));
        Ok(Self { lines, path: path.to_owned(), columns, forecast, labels })
    }

    /// Writes the lines of bad rows, which may be read ahead.
    pub(crate) fn for_bad_rows(&self) -> OnBadRow {
        let (lines, columns) = (Arc::clone(&self.lines), self.columns);
        Box::new(move |before, id, error| {
            lock(&lines).bad_row(before, columns.failed(id, &error.to_string()));
        })
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let path = &self.path;
        let mut lines = lock(&self.lines);
        let out = lines.out.take().map_or(Ok(()), Output::finish);
        let end = lines.error.take().map_or(out, Err);
        end.map_err(|error| file_failure(path, &error))
    }
}

fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    if is_standard(path) {
        return Failure::output(std::io::Error::new(error.kind(), error.to_string()));
    }
    Failure::writing("--predictions", path, error)
}

impl Sink for Forecasts {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        let row = Row {
            id: outcome.example.tag(),
            label: outcome.played,
            prediction: outcome.prediction,
            offered: outcome.example.offered(),
            target: outcome.target,
            answered: true,
            explanation: None,
        };
        let labels = outcome.labels.unwrap_or(&self.labels);
        let line = self.columns.line(self.forecast, &row, &self.labels, labels);
        let written = lock(&self.lines).forecast(&line);
        written.map_err(|error| std::io::Error::other(file_failure(&self.path, &error)))?;
        // The name of a new class was not known to what was predicted for its first row.
        if let Some(labels) = outcome.labels {
            for (name, of) in labels.typed().skip(self.labels.len()) {
                self.labels.collect(name, of);
            }
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

/// The lines of [`Forecasts`], in the order of the rows.
struct Lines {
    /// None once it is complete.
    out: Option<Output>,
    /// Number of forecasts written.
    written: u64,
    /// Lines of bad rows that were read ahead of their turn, with the number of forecasts before them.
    ahead: VecDeque<(u64, String)>,
    /// Whether the sender of the rows may be waiting for the answer to one.
    live: bool,
    /// An error when the line of a bad row was written.
    error: Option<std::io::Error>,
}

impl Lines {
    /// Writes the line of a forecast, and those of the bad rows after it.
    fn forecast(&mut self, line: &str) -> std::io::Result<()> {
        self.error.take().map_or(Ok(()), Err)?;
        self.write(line)?;
        self.written += 1;
        while let Some((_, line)) = self.ahead.pop_front_if(|(before, _)| *before <= self.written) {
            self.write(&line)?;
        }
        Ok(())
    }

    /// Takes the line of a bad row that comes after `before` forecasts.
    fn bad_row(&mut self, before: u64, line: String) {
        if before > self.written {
            self.ahead.push_back((before, line));
        } else if let Err(error) = self.write(&line) {
            self.error.get_or_insert(error);
        }
    }

    fn write(&mut self, line: &str) -> std::io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        writeln!(out, "{line}")?;
        if self.live { out.flush() } else { Ok(()) }
    }
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}
