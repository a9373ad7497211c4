//! A source of examples: a reader and its encoder, with a policy for bad rows.

use std::fmt;
use std::str::FromStr;

use crate::encode::encoder::{Encoder, row_error};
use crate::encode::example::Example;
use crate::encode::labels::Labels;
use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::reader::Reader;
use crate::read::row::Row;

/// How many bad rows are passed over before reading fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// None.
    #[default]
    Fail,
    /// Any number; they are counted.
    Skip,
    /// At most this many; they are counted.
    AtMost(u64),
}

impl BadRows {
    /// Whether `count` bad rows are still fine.
    pub fn allow(self, count: u64) -> bool {
        match self {
            BadRows::Fail => false,
            BadRows::Skip => true,
            BadRows::AtMost(most) => count <= most,
        }
    }
}

impl FromStr for BadRows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "fail" => Ok(BadRows::Fail),
            "skip" => Ok(BadRows::Skip),
            _ => text
                .parse()
                .map(BadRows::AtMost)
                .map_err(|_| format!("{text:?} is none of fail, skip and a number")),
        }
    }
}

impl fmt::Display for BadRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadRows::Fail => f.write_str("fail"),
            BadRows::Skip => f.write_str("skip"),
            BadRows::AtMost(most) => most.fmt(f),
        }
    }
}

/// What a run learns from: one example after the other.
pub trait Examples {
    /// Makes the next example. False at the end.
    ///
    /// # Errors
    /// What cannot be read or learnt from.
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError>;

    /// The last example as it was read; `None` for examples that are not read.
    fn raw(&self) -> Option<Raw<'_>> {
        None
    }
}

/// An example as it was read, with what its numbers mean.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The row.
    pub row: &'a Row,
    /// What its columns are called.
    pub columns: &'a Columns,
    /// What the classes are called that have come up.
    pub labels: &'a Labels,
}

/// The examples of a file or pipe.
pub struct ReadExamples {
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// The encoder, whose state goes on with every row.
    pub encoder: Encoder,
    name: String,
    bad_rows: BadRows,
    bad: u64,
    first_bad: Option<String>,
    row: Row,
    frozen: bool,
    unscored: u64,
    first_unscored: Option<String>,
    /// Rows that were read, bad ones included, and examples made.
    read: u64,
    made: u64,
    pause: Option<Pause>,
    paused: bool,
}

/// Asked between two examples, after every so many of them: whether the examples are to end here, for now.
pub struct Pause {
    /// After how many.
    pub every: u64,
    /// Whether to end.
    pub asked: Box<dyn FnMut() -> bool + Send>,
}

/// Why rows could not be passed over.
#[derive(Debug, thiserror::Error)]
pub enum SkipError {
    /// They could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// They are fewer.
    #[error("{name}: has {rows} rows; {asked} were to be skipped")]
    Short {
        /// What the data is called.
        name: String,
        /// How many there are.
        rows: u64,
        /// How many were asked for.
        asked: u64,
    },
}

/// What came of reading on.
#[derive(Debug)]
pub enum Step {
    /// An example.
    Example,
    /// A bad row, which was passed over.
    Bad(ReadError),
    /// Nothing is left.
    End,
}

impl ReadExamples {
    /// The rows of `reader`, which is called `name` in errors.
    pub fn new(reader: Box<dyn Reader>, mut encoder: Encoder, name: &str, bad_rows: BadRows) -> Self {
        encoder.absent = reader.absent();
        let name = if name == "-" { "standard input" } else { name };
        Self {
            reader,
            encoder,
            name: name.to_owned(),
            bad_rows,
            bad: 0,
            first_bad: None,
            row: Row::new(),
            frozen: false,
            unscored: 0,
            first_unscored: None,
            read: 0,
            made: 0,
            pause: None,
            paused: false,
        }
    }

    /// The same rows, with classes and scaling left as they are: for prediction without learning. A label
    /// that the learner could not learn from is no reason to refuse its row.
    pub fn frozen(self) -> Self {
        Self { frozen: true, ..self }
    }

    /// The row that the last example was made of.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Lets the examples end, for now, when `pause` says so.
    pub fn pause_by(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    /// Whether the examples have ended because of [`ReadExamples::pause_by`]; they go on behind that.
    pub fn take_paused(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    /// Rows that were read so far, bad ones included.
    pub fn rows_read(&self) -> u64 {
        self.read
    }

    /// Passes over the first `rows` rows, whatever is in them: they were learnt before.
    ///
    /// # Errors
    /// What cannot be read, or if there are no more rows than that.
    pub fn skip(&mut self, rows: u64) -> Result<(), SkipError> {
        while self.read < rows {
            match self.reader.read(&mut self.row) {
                Ok(true) => {}
                Ok(false) => {
                    return Err(SkipError::Short { name: self.name.clone(), rows: self.read, asked: rows });
                }
                Err(error) if error.is_row_error() => {}
                Err(error) => return Err(error.into()),
            }
            self.read += 1;
        }
        Ok(())
    }

    /// Goes on counting bad rows where a run has stopped.
    pub fn count_on(&mut self, bad: u64, first: Option<String>) {
        (self.bad, self.first_bad) = (bad, first);
    }

    /// Whether to end here, for now.
    fn is_paused(&mut self) -> bool {
        let made = self.made;
        let pause = self.pause.as_mut().filter(|pause| made.is_multiple_of(pause.every));
        self.paused = pause.is_some_and(|pause| (pause.asked)());
        self.paused
    }

    /// How many bad rows were passed over.
    pub fn bad_rows(&self) -> u64 {
        self.bad
    }

    fn encode(&mut self, out: &mut Example) -> Result<(), String> {
        self.reader.columns().check_row(self.row.indices(), self.encoder.columns)?;
        if !self.frozen {
            return self.encoder.encode(&self.row, out);
        }
        if let Some(what) = self.encoder.encode_frozen(&self.row, out)? {
            self.unscored += 1;
            self.first_unscored.get_or_insert_with(|| row_error(&self.name, &self.row, what).to_string());
        }
        Ok(())
    }

    /// Of frozen rows: how many have labels that no prediction can be compared with, and what is wrong with
    /// the first of them.
    pub fn unscored(&self) -> (u64, Option<&str>) {
        (self.unscored, self.first_unscored.as_deref())
    }

    /// What was wrong with the first of them.
    pub fn first_bad_row(&self) -> Option<&str> {
        self.first_bad.as_deref()
    }
}

impl ReadExamples {
    /// Reads the next row, which may be a bad one that is passed over.
    ///
    /// # Errors
    /// What cannot be read, or one bad row too many.
    pub fn step(&mut self, out: &mut Example) -> Result<Step, ReadError> {
        let read = self.reader.read(&mut self.row);
        self.read += u64::from(!matches!(read, Ok(false)));
        let error = match read {
            Ok(false) => return Ok(Step::End),
            Ok(true) => match self.encode(out) {
                Ok(()) => {
                    self.made += 1;
                    return Ok(Step::Example);
                }
                Err(what) => {
                    self.reader.take_back();
                    row_error(&self.name, &self.row, what)
                }
            },
            Err(error) => error,
        };
        if !error.is_row_error() || !self.bad_rows.allow(self.bad + 1) {
            return Err(error);
        }
        self.bad += 1;
        self.first_bad.get_or_insert_with(|| error.to_string());
        Ok(Step::Bad(error))
    }
}

impl Examples for ReadExamples {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        if self.is_paused() {
            return Ok(false);
        }
        loop {
            let step = match self.step(out) {
                // A pipe that is waited for ends by an error when the run is to stop.
                Err(error) if !error.is_row_error() && self.is_paused() => {
                    self.read -= 1;
                    drop(error);
                    return Ok(false);
                }
                step => step?,
            };
            match step {
                Step::Example => return Ok(true),
                Step::Bad(_) => {}
                Step::End => return Ok(false),
            }
        }
    }

    fn raw(&self) -> Option<Raw<'_>> {
        Some(Raw { row: &self.row, columns: self.reader.columns(), labels: &self.encoder.labels })
    }
}
