//! Forecasts, a line for each row: for people's spreadsheets, and for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use noregret::algorithm::Forecast;
use noregret::example::{Label, Target, Truth};
use noregret::prediction::Prediction;
use noregret_stream::Replacement;
use noregret_stream::encode::labels::Labels;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, Sink};
use noregret_stream::watch::explain::{Explanation, size};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::note::printable;

/// What a line says beside the label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) id: bool,
    pub(crate) confidence: bool,
    pub(crate) truth: bool,
    /// An object a line instead of cells.
    pub(crate) json: bool,
    /// In an object, the probabilities of classes.
    pub(crate) probabilities: Option<Shown>,
}

/// Which probabilities are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// Those of all classes, in their order.
    All,
    /// The largest ones, so many, the largest first; among equals the first.
    Best(usize),
}

/// What is forecast for a row.
pub(crate) struct Row<'a> {
    pub(crate) id: &'a str,
    pub(crate) label: Label,
    pub(crate) prediction: &'a Prediction,
    pub(crate) target: Option<Target<'a>>,
    /// Whether the label is given: not where it is not sure enough.
    pub(crate) answered: bool,
    /// What columns contribute to the scores, if that is asked for.
    pub(crate) explanation: Option<&'a Explanation>,
}

impl Columns {
    /// The names of the cells, if lines have several.
    pub(crate) fn header(self) -> Option<String> {
        let names =
            [("id", self.id), ("label", true), ("confidence", self.confidence), ("truth", self.truth)];
        let names: Vec<&str> = names.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect();
        (!self.json && names.len() > 1).then(|| names.join(","))
    }

    /// The line of a row, without its end.
    pub(crate) fn line(self, forecast: Forecast, row: &Row<'_>, labels: &Labels) -> String {
        let value = forecast == Forecast::Value;
        let label = match value {
            true => row.prediction.scores[0].to_string(),
            false if !row.answered => String::new(),
            false => labels.name(row.label).into_owned(),
        };
        let sure = row.prediction.probabilities.get(row.label.index()).copied().filter(|_| !value);
        let truth = match row.target.map(|target| target.truth) {
            Some(Truth::Class(class)) => labels.name(class).into_owned(),
            Some(Truth::Value(value)) => value.to_string(),
            Some(Truth::Distribution(_)) | None => String::new(),
        };
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
                    false => label.into(),
                },
            );
            if let Some(sure) = sure.filter(|_| self.confidence) {
                object.insert("confidence".to_owned(), sure.into());
            }
            if self.truth && !truth.is_empty() {
                object.insert("truth".to_owned(), truth.into());
            }
            if let Some(shown) = self.probabilities.filter(|_| !value) {
                let probabilities = &row.prediction.probabilities;
                let mut classes: Vec<usize> = (0..probabilities.len()).collect();
                if let Shown::Best(count) = shown {
                    classes.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
                    classes.truncate(count);
                }
                let pairs = classes
                    .into_iter()
                    .map(|class| (labels.name(class.into()).into_owned(), probabilities[class].into()));
                object.insert("probabilities".to_owned(), Value::Object(pairs.collect()));
            }
            if let Some(Explanation { columns, contributions, rest, .. }) = row.explanation {
                let scores = |numbers: &[f64]| of_scores(numbers, value, labels);
                let columns = columns.iter().zip(contributions);
                let contributions = columns.map(|(name, numbers)| (name.clone(), scores(numbers)));
                object.insert("contributions".to_owned(), Value::Object(contributions.collect()));
                object.insert("rest".to_owned(), scores(rest));
            }
            return Value::Object(object).to_string();
        }
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

/// One number for each class by its name, or that of the forecast alone.
fn of_scores(numbers: &[f64], value: bool, labels: &Labels) -> Value {
    if value {
        return numbers[0].into();
    }
    let named = numbers.iter().enumerate();
    Value::Object(
        named.map(|(class, number)| (labels.name(class.into()).into_owned(), (*number).into())).collect(),
    )
}

/// What columns contribute on average, as CSV or NDJSON: a line a column, the most important first.
pub(crate) fn explained(found: &Explanation, value: bool, json: bool, labels: &Labels) -> Vec<String> {
    let rows = found.columns.iter().zip(&found.contributions);
    if json {
        let object = |(name, numbers): (&String, &Vec<f64>)| {
            json!({"column": name, "size": size(numbers), "contributions": of_scores(numbers, value, labels)})
                .to_string()
        };
        return rows.map(object).collect();
    }
    let classes = 0..found.rest.len();
    let names = classes.map(|class| match value {
        true => "forecast".to_owned(),
        false => labels.name(class.into()).into_owned(),
    });
    let header = ["column".to_owned(), "size".to_owned()].into_iter().chain(names);
    let mut lines = vec![header.map(|name| cell(&name)).collect::<Vec<_>>().join(",")];
    lines.extend(rows.map(|(name, numbers)| {
        let numbers = std::iter::once(size(numbers)).chain(numbers.iter().copied());
        std::iter::once(cell(name))
            .chain(numbers.map(|number| format!("{number:.6}")))
            .collect::<Vec<_>>()
            .join(",")
    }));
    lines
}

/// A cell of CSV, quoted where it has to be. A label alone is a line, and no cell.
fn quoted(cell: &str, columns: Columns) -> String {
    if columns.header().is_some() { self::cell(cell) } else { printable(cell).into_owned() }
}

fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        printable(text).into_owned()
    }
}

/// A file with the forecast of every row of a run, as it was made before the row was learnt.
pub(crate) struct Forecasts {
    out: Replacement,
    path: PathBuf,
    columns: Columns,
    forecast: Forecast,
    labels: Labels,
}

impl Forecasts {
    /// Begins the file, which appears when it is complete.
    pub(crate) fn open(
        path: &Path,
        columns: Columns,
        forecast: Forecast,
        labels: Labels,
    ) -> Result<Self, Failure> {
        let failure = |error: std::io::Error| file_failure(path, &error);
        let mut out = Replacement::open(path).map_err(failure)?;
        if let Some(header) = columns.header() {
            writeln!(out, "{header}").map_err(failure)?;
        }
        Ok(Self { out, path: path.to_owned(), columns, forecast, labels })
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        self.out.finish().map_err(|error| file_failure(&path, &error))
    }
}

fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("--predictions {}: cannot be written: {error}", path.display()))
}

impl Sink for Forecasts {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        let row = Row {
            id: outcome.example.tag(),
            label: outcome.played,
            prediction: outcome.prediction,
            target: outcome.target,
            answered: true,
            explanation: None,
        };
        writeln!(self.out, "{}", self.columns.line(self.forecast, &row, &self.labels))
    }
}
