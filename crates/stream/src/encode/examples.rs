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
        }
    }

    /// The same rows, with classes and scaling left as they are: for prediction without learning.
    pub fn frozen(self) -> Self {
        Self { frozen: true, ..self }
    }

    /// The row that the last example was made of.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// How many bad rows were passed over.
    pub fn bad_rows(&self) -> u64 {
        self.bad
    }

    fn encode(&mut self, out: &mut Example) -> Result<(), String> {
        self.reader.columns().check_row(self.row.indices(), self.encoder.columns)?;
        if self.frozen {
            self.encoder.encode_frozen(&self.row, out)
        } else {
            self.encoder.encode(&self.row, out)
        }
    }

    /// What was wrong with the first of them.
    pub fn first_bad_row(&self) -> Option<&str> {
        self.first_bad.as_deref()
    }
}

impl Examples for ReadExamples {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        loop {
            let error = match self.reader.read(&mut self.row) {
                Ok(false) => return Ok(false),
                Ok(true) => match self.encode(out) {
                    Ok(()) => return Ok(true),
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
        }
    }

    fn raw(&self) -> Option<Raw<'_>> {
        Some(Raw { row: &self.row, columns: self.reader.columns(), labels: &self.encoder.labels })
    }
}
