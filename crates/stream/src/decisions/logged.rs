//! Logged decisions for evaluation: our decision logs, logs of other programs, and Vowpal Wabbit's
//! `action:cost:probability`.

use std::path::Path;

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::foreign::Keys;
use crate::decisions::reader::LogReader;
use crate::encode::costs::Costs;
use crate::encode::labels::Labels;
use crate::encode::offered_twice;
use crate::evaluate::off_policy::check_weight;
use crate::read::columns::Columns;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::live::Stop;
use crate::read::open::open;
use crate::read::options::{Offers, ReadOptions, Schema};
use crate::read::reader::Reader;
use crate::read::recognise;
use crate::read::row::{Row, RowLabel};
use crate::read::source::Source;
use crate::read::vw::json;
use crate::words::counted;

/// A file of logged decisions.
pub enum Logged {
    /// A decision log.
    Log(Box<LogReader>),
    /// Vowpal Wabbit's text or JSON; the reward of an action is minus its cost.
    Vw(Box<LoggedVw>),
}

/// Decisions of Vowpal Wabbit, or of its decision service.
pub struct LoggedVw {
    reader: Box<dyn Reader>,
    /// Actions so far.
    labels: Labels,
    name: String,
    /// The range of costs, if rewards are from 0 to 1.
    costs: Option<Costs>,
    /// Rows without a label.
    unlabelled: u64,
    /// The line of the last decision, and its number on this line, from 0: slots of a round may share one.
    last: (u64, u64),
}

/// How a log is written.
enum Kind {
    Format(Format),
    /// Vowpal Wabbit's JSON.
    VwJson,
}

impl Kind {
    /// That of the file `path`, if `format` is not given: by its name, and by its first lines.
    fn of(path: &str, format: Option<Format>) -> Self {
        let format = format.or_else(|| Format::from_file_name(path));
        // What cannot be opened, or not as text, is reported where it is read. A pipe would lose what is read
        // of it.
        let file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let examined = file && matches!(format, None | Some(Format::Ndjson));
        let source = examined.then(|| Source::open(path, &Stop::default()).ok()).flatten();
        let Some(mut source) = source else {
            return Self::Format(format.unwrap_or(Format::Ndjson));
        };
        let Ok(peek) = source.peek(recognise::LINES, 1) else { return Self::Format(Format::Ndjson) };
        let first = peek.lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        match serde_json::from_slice(first) {
            Ok(object) if json::is_row(&object) => Self::VwJson,
            _ => Self::Format(format.or_else(|| recognise::from_content(&peek)).unwrap_or(Format::Ndjson)),
        }
    }
}

impl Logged {
    /// Opens `path`, in `format` if it is given, else as its name or its first lines say. NDJSON and Parquet
    /// are decision logs, or rows of Vowpal Wabbit's JSON; CSV and ARFF are the log of another program with
    /// our names of columns. If `schema` is given, other features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or its format cannot contain decisions.
    pub fn open(path: &str, format: Option<Format>, schema: Option<&Schema>) -> Result<Self, ReadError> {
        match Kind::of(path, format) {
            Kind::Format(Format::Ndjson | Format::Parquet) => {
                Ok(Self::Log(Box::new(with_columns(LogReader::open(path)?, schema))))
            }
            Kind::Format(format @ (Format::Csv | Format::Arff)) => {
                Self::open_foreign(path, Some(format), &Keys::default(), schema)
            }
            Kind::Format(Format::Vw) => Self::open_vw(path, Format::Vw, schema, None),
            Kind::VwJson => Self::open_vw(path, Format::Ndjson, schema, None),
            Kind::Format(other) => Err(ReadError::new(
                path,
                0,
                ReadErrorKind::Layout(format!(
                    "is {other}, which cannot contain decisions; ndjson, csv, arff, parquet or vw was needed"
                )),
            )),
        }
    }

    /// Opens the decision log in the file `path`, called `name` in errors. If `schema` is given, other
    /// features are ignored.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_log(path: &Path, name: &str, schema: Option<&Schema>) -> Result<Self, ReadError> {
        Ok(Self::Log(Box::new(with_columns(LogReader::open_named(path, name)?, schema))))
    }

    /// Opens a log of another program: in CSV, ARFF, NDJSON or Parquet, with columns named by `keys`, or
    /// Vowpal Wabbit's, with costs in the range of `keys`. If `schema` is given, other features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or is in another format.
    pub fn open_foreign(
        path: &str,
        format: Option<Format>,
        keys: &Keys,
        schema: Option<&Schema>,
    ) -> Result<Self, ReadError> {
        let unnamed = Keys { costs: keys.costs, missing: keys.missing.clone(), ..Keys::default() } == *keys;
        let log = match Kind::of(path, format) {
            Kind::Format(format @ (Format::Csv | Format::Arff | Format::Ndjson | Format::Parquet)) => {
                LogReader::open_foreign(path, keys.clone(), format)?
            }
            Kind::Format(Format::Vw) if unnamed => {
                return Self::open_vw(path, Format::Vw, schema, keys.costs);
            }
            Kind::VwJson if unnamed => return Self::open_vw(path, Format::Ndjson, schema, keys.costs),
            other => {
                let other = match other {
                    Kind::Format(format) => format.name(),
                    Kind::VwJson => "Vowpal Wabbit's JSON",
                };
                let what = format!(
                    "is {other}, whose columns cannot be named; csv, arff, ndjson or parquet was needed"
                );
                return Err(ReadError::new(path, 0, ReadErrorKind::Layout(what)));
            }
        };
        Ok(Self::Log(Box::new(with_columns(log, schema))))
    }

    fn open_vw(
        path: &str,
        format: Format,
        schema: Option<&Schema>,
        costs: Option<Costs>,
    ) -> Result<Self, ReadError> {
        let schema =
            schema.map(|schema| Schema { format, label: None, weight: None, csv: None, ..schema.clone() });
        let room = schema.as_ref().map_or(0, |schema| schema.columns.count());
        let options = ReadOptions {
            format: Some(format),
            schema,
            room,
            offers: Some(Offers::WIDTH),
            ..ReadOptions::default()
        };
        let (reader, labels, name) = (open(path, &options)?, Labels::default(), path.to_owned());
        Ok(Self::Vw(Box::new(LoggedVw { reader, labels, name, costs, unlabelled: 0, last: (0, 0) })))
    }

    /// Whether the file can be read twice.
    pub fn is_file(&self) -> bool {
        match self {
            Self::Log(log) => log.size().is_some(),
            Self::Vw(rows) => rows.reader.size().is_some(),
        }
    }

    /// Sentences about what was left out: an incomplete last line, see [`LogReader::torn`], and rows without
    /// a label. Known after the last event.
    pub fn remarks(&self) -> Vec<String> {
        match self {
            Self::Log(log) => log.torn().map(str::to_owned).into_iter().collect(),
            Self::Vw(rows) => {
                let unlabelled = (rows.unlabelled > 0)
                    .then(|| format!("left out {} without a label", counted(rows.unlabelled, "row")));
                unlabelled.into_iter().chain(rows.reader.odd_cells()).collect()
            }
        }
    }

    /// The error of a decision log that ends in the middle of a line. Known after the last event.
    pub(crate) fn torn(&self) -> Option<ReadError> {
        let Self::Log(log) = self else { return None };
        let error = |why: &str| log.fault(ReadErrorKind::Layout(format!("{why}; end it after a whole line")));
        log.torn().map(error)
    }

    /// The columns of another program's log that are no features, in sentences.
    pub fn left_out(&self) -> Vec<String> {
        match self {
            Self::Log(log) => log.left_out(),
            Self::Vw(_) => vec![],
        }
    }

    /// The labels so far.
    pub fn labels(&self) -> &Labels {
        match self {
            Self::Log(log) => log.labels(),
            Self::Vw(rows) => &rows.labels,
        }
    }

    /// The columns so far.
    pub fn columns(&self) -> &Columns {
        match self {
            Self::Log(log) => log.columns(),
            Self::Vw(rows) => rows.reader.columns(),
        }
    }

    /// Number of features that the columns of the caller do not have.
    pub(crate) fn dropped_features(&self) -> u64 {
        match self {
            Self::Log(log) => log.dropped_features(),
            Self::Vw(rows) => rows.reader.dropped_features(),
        }
    }

    /// An error at the line last read.
    pub(crate) fn error(&self, row: &Row, what: impl Into<String>) -> ReadError {
        self.fault(row, ReadErrorKind::Row(what.into()))
    }

    /// An error at the line last read, of another kind.
    pub(crate) fn fault(&self, row: &Row, kind: ReadErrorKind) -> ReadError {
        match self {
            Self::Log(log) => log.fault(kind),
            Self::Vw(rows) => ReadError::new(&rows.name, row.line, kind),
        }
    }

    /// The next event. `None` at the end.
    ///
    /// # Errors
    /// If the line is invalid.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        match self {
            Self::Log(log) => log.next(row),
            Self::Vw(rows) => rows.next(row),
        }
    }
}

/// The log with the columns of a model, if one is given.
fn with_columns(log: LogReader, schema: Option<&Schema>) -> LogReader {
    match schema {
        Some(schema) => log.with_columns(schema.columns.clone()),
        None => log,
    }
}

impl LoggedVw {
    fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        loop {
            if !self.reader.read(row)? {
                return Ok(None);
            }
            // A row without costs is one to predict.
            let asked = match row.label() {
                RowLabel::Missing => true,
                RowLabel::Costs(costs) => costs.iter().all(|one| one.cost.is_none()),
                _ => false,
            };
            if !asked {
                let decision = self.decision(row);
                let decision = decision
                    .map_err(|what| ReadError::new(&self.name, row.line, ReadErrorKind::Row(what)))?;
                // The event has both.
                row.unlabel();
                row.clear_offered();
                return Ok(Some(Event::Decision(Box::new(decision))));
            }
            self.unlabelled += 1;
        }
    }

    fn decision(&mut self, row: &Row) -> Result<LoggedDecision, String> {
        let RowLabel::Costs(costs) = row.label() else {
            return Err("the label is a class, where action:cost:probability was needed".to_owned());
        };
        if row.weight != 1.0 {
            return Err(format!("the row has weight {}; decisions of a log have none", row.weight));
        }
        let labels = &mut self.labels;
        let mut offered: Vec<u32> =
            row.offered().iter().map(|label| labels.intern_as(&label.text, label.of).0).collect();
        offered.sort_unstable();
        if let Some(pair) = offered.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(offered_twice(&labels.name(noregret::example::Label(pair[0])), row));
        }
        let (mut taken, mut distribution) = (None, vec![]);
        for one in costs {
            let label = labels.intern_as(&one.action, one.of);
            if distribution.len() < labels.len() {
                distribution.resize(labels.len(), 0.0);
            }
            distribution[label.index()] = one.probability.unwrap_or(0.0);
            if let (Some(cost), Some(probability)) = (one.cost, one.probability) {
                if taken.is_some() {
                    return Err("the label has two actions with a cost and a probability".to_owned());
                }
                taken = Some((label.0, cost, probability));
            }
        }
        let Some((label, cost, probability)) = taken else {
            return Err(
                "the label has costs of actions and no probability, so that nobody has played one of them: a run with bandit feedback \
                 plays against such costs"
                    .to_owned(),
            );
        };
        let name = labels.name(noregret::example::Label(label));
        if probability <= 0.0 {
            return Err(format!(
                "the action {name:?} was played with probability {probability}: must be in (0, 1]"
            ));
        }
        check_weight(probability).map_err(|what| format!("the action {name:?} {what}"))?;
        let reward = match self.costs {
            Some(costs) => costs.reward(cost)?.value(),
            None => 0.0 - cost,
        };
        // Probabilities of all labels on offer are a distribution, if they sum to 1 up to their digits.
        let whole = costs.iter().all(|one| one.probability.is_some());
        let near = (distribution.iter().sum::<f64>() - 1.0).abs() <= 0.01;
        if !whole || !near || costs.len() < 2 {
            distribution.clear();
        }
        self.last = (row.line, if self.last.0 == row.line { self.last.1 + 1 } else { 0 });
        let id = match self.last {
            (line, 0) => format!("line {line}"),
            (line, at) => format!("line {line}, decision {at} (from 0)"),
        };
        Ok(LoggedDecision {
            id,
            label,
            probability,
            distribution,
            offered,
            reward: Some(reward),
            own: None,
            evaluation: Vec::new(),
            estimates: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_the_name_that_it_is_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.jsonl");
        let refused = |path: &Path| {
            let mut log = Logged::open_log(path, "the log", None).map_err(|error| error.to_string())?;
            log.next(&mut Row::new()).map(drop).map_err(|error| error.to_string())
        };
        let missing = refused(&path).expect_err("there is none");
        assert!(missing.starts_with("the log: ") && !missing.contains("kept"), "{missing}");
        std::fs::write(&path, "\n{}\n").expect("written");
        let wrong = refused(&path).expect_err("no event");
        assert!(wrong.starts_with("the log:2: "), "{wrong}");
    }
}
