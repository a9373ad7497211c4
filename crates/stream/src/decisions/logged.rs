//! Logged decisions for evaluation: our decision logs, logs of other programs, and Vowpal Wabbit's
//! `action:cost:probability`.

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::foreign::Keys;
use crate::decisions::reader::LogReader;
use crate::encode::labels::Labels;
use crate::evaluate::off_policy::check_weight;
use crate::read::columns::Columns;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::open::open;
use crate::read::options::{Offers, ReadOptions, Schema};
use crate::read::reader::Reader;
use crate::read::row::{Row, RowLabel};

/// A file of logged decisions.
pub enum Logged {
    /// A decision log.
    Log(Box<LogReader>),
    /// Vowpal Wabbit text; the reward of an action is minus its cost.
    Vw {
        /// The rows.
        reader: Box<dyn Reader>,
        /// Actions so far.
        labels: Labels,
        /// The name of the file.
        name: String,
    },
}

impl Logged {
    /// Opens `path`, in `format` if it is given; NDJSON and Parquet are decision logs. If `schema`
    /// is given, other features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or its format cannot contain decisions.
    pub fn open(path: &str, format: Option<Format>, schema: Option<&Schema>) -> Result<Self, ReadError> {
        match format.or_else(|| Format::from_file_name(path)).unwrap_or(Format::Ndjson) {
            Format::Ndjson | Format::Parquet => {
                let log = LogReader::open(path)?;
                Ok(Self::Log(Box::new(match schema {
                    Some(schema) => log.with_columns(schema.columns.clone()),
                    None => log,
                })))
            }
            Format::Vw => {
                let schema = schema.map(|schema| Schema {
                    format: Format::Vw,
                    label: None,
                    weight: None,
                    csv: None,
                    ..schema.clone()
                });
                let room = schema.as_ref().map_or(0, |schema| schema.columns.count());
                let options = ReadOptions {
                    format: Some(Format::Vw),
                    schema,
                    room,
                    offers: Some(Offers::WIDTH),
                    ..ReadOptions::default()
                };
                Ok(Self::Vw {
                    reader: open(path, &options)?,
                    labels: Labels::default(),
                    name: path.to_owned(),
                })
            }
            other => Err(ReadError::new(
                path,
                0,
                ReadErrorKind::Layout(format!(
                    "is {other}, which cannot contain decisions; ndjson, parquet or vw was needed"
                )),
            )),
        }
    }

    /// Opens a log of another program, in CSV or NDJSON, whose columns are named by `keys`. If
    /// `schema` is given, other features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or is in another format.
    pub fn open_foreign(
        path: &str,
        format: Option<Format>,
        keys: &Keys,
        schema: Option<&Schema>,
    ) -> Result<Self, ReadError> {
        let log = match format.or_else(|| Format::from_file_name(path)).unwrap_or(Format::Ndjson) {
            format @ (Format::Csv | Format::Ndjson) => {
                LogReader::open_foreign(path, keys.clone(), format == Format::Csv)?
            }
            other => {
                let what = format!("is {other}, whose columns cannot be named; csv or ndjson was needed");
                return Err(ReadError::new(path, 0, ReadErrorKind::Layout(what)));
            }
        };
        Ok(Self::Log(Box::new(match schema {
            Some(schema) => log.with_columns(schema.columns.clone()),
            None => log,
        })))
    }

    /// Whether the file can be read twice.
    pub fn is_file(&self) -> bool {
        match self {
            Self::Log(log) => log.size().is_some(),
            Self::Vw { reader, .. } => reader.size().is_some(),
        }
    }

    /// Description of an incomplete last line, see [`LogReader::torn`].
    pub fn torn(&self) -> Option<&str> {
        match self {
            Self::Log(log) => log.torn(),
            Self::Vw { .. } => None,
        }
    }

    /// The labels so far.
    pub fn labels(&self) -> &Labels {
        match self {
            Self::Log(log) => log.labels(),
            Self::Vw { labels, .. } => labels,
        }
    }

    /// The columns so far.
    pub fn columns(&self) -> &Columns {
        match self {
            Self::Log(log) => log.columns(),
            Self::Vw { reader, .. } => reader.columns(),
        }
    }

    /// An error at the line last read.
    pub(crate) fn error(&self, row: &Row, what: impl Into<String>) -> ReadError {
        match self {
            Self::Log(log) => log.error(what),
            Self::Vw { name, .. } => ReadError::new(name, row.line, ReadErrorKind::Row(what.into())),
        }
    }

    /// The next event. `None` at the end.
    ///
    /// # Errors
    /// If the line is invalid.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        let (reader, labels, name) = match self {
            Self::Log(log) => return log.next(row),
            Self::Vw { reader, labels, name } => (reader, labels, name),
        };
        if !reader.read(row)? {
            return Ok(None);
        }
        let refuse = |what: String| ReadError::new(name, row.line, ReadErrorKind::Row(what));
        let RowLabel::Costs(costs) = row.label() else {
            return Err(refuse("the label is none of action:cost:probability".to_owned()));
        };
        let mut taken = None;
        let mut offered: Vec<u32> = row.offered().iter().map(|name| labels.intern(name).0).collect();
        offered.sort_unstable();
        for one in costs {
            let label = labels.intern(&one.action);
            if let (Some(cost), Some(probability)) = (one.cost, one.probability) {
                if taken.is_some() {
                    return Err(refuse("the label has two actions with a cost and a probability".to_owned()));
                }
                taken = Some((label.0, cost, probability));
            }
        }
        let Some((label, cost, probability)) = taken else {
            return Err(refuse("no action of the label has a cost and a probability".to_owned()));
        };
        if probability <= 0.0 {
            return Err(refuse(format!(
                "the action {:?} was played with probability {probability}: must be in (0, 1]",
                labels.name(noregret::example::Label(label))
            )));
        }
        check_weight(probability).map_err(|what| {
            refuse(format!("the action {:?} {what}", labels.name(noregret::example::Label(label))))
        })?;
        // The event has both.
        row.unlabel();
        row.clear_offered();
        Ok(Some(Event::Decision(Box::new(LoggedDecision {
            id: format!("line {}", row.line),
            label,
            probability,
            distribution: Vec::new(),
            offered,
            reward: Some(0.0 - cost),
            own: None,
            evaluation: Vec::new(),
            estimates: Vec::new(),
        }))))
    }
}
