//! Logged decisions of any origin, as the evaluation sees them: decision logs, and Vowpal Wabbit's
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
use crate::read::options::{ReadOptions, Schema};
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
        /// What the file is called.
        name: String,
    },
}

impl Logged {
    /// Opens `path`, in `format` if that is given: NDJSON and Parquet are decision logs. Features are those
    /// of `columns`, if given.
    ///
    /// # Errors
    /// If it cannot be read, or is in a format that has no place for decisions.
    pub fn open(path: &str, format: Option<Format>, columns: Option<&Columns>) -> Result<Self, ReadError> {
        match format.or_else(|| Format::from_file_name(path)).unwrap_or(Format::Ndjson) {
            Format::Ndjson | Format::Parquet => {
                let log = LogReader::open(path)?;
                Ok(Self::Log(Box::new(match columns {
                    Some(columns) => log.with_columns(columns.clone()),
                    None => log,
                })))
            }
            Format::Vw => {
                let schema = columns.map(|columns| Schema {
                    format: Format::Vw,
                    columns: columns.clone(),
                    label: None,
                    weight: None,
                    csv: None,
                });
                let room = columns.map_or(0, Columns::count);
                let options =
                    ReadOptions { format: Some(Format::Vw), schema, room, ..ReadOptions::default() };
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
                    "is {other}, which has no place for decisions; ndjson, parquet or vw was needed"
                )),
            )),
        }
    }

    /// Opens what another program logged, in CSV or NDJSON, with columns called `keys`. Features are those of
    /// `columns`, if given.
    ///
    /// # Errors
    /// If it cannot be read, or is in another format.
    pub fn open_foreign(
        path: &str,
        format: Option<Format>,
        keys: &Keys,
        columns: Option<&Columns>,
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
        Ok(Self::Log(Box::new(match columns {
            Some(columns) => log.with_columns(columns.clone()),
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

    /// What was dropped at the end of a log that was cut off, see [`LogReader::torn`].
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
    /// What is wrong with it.
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
        row.unlabel();
        Ok(Some(Event::Decision(Box::new(LoggedDecision {
            id: format!("line {}", row.line),
            label,
            probability,
            distribution: Vec::new(),
            offered: Vec::new(),
            reward: Some(0.0 - cost),
            own: None,
            evaluation: Vec::new(),
            estimates: Vec::new(),
        }))))
    }
}
