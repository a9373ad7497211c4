//! A source of examples: a reader and its encoder, with a policy for bad rows.

use std::fmt;
use std::str::FromStr;

use crate::encode::encoder::{Encoder, row_error};
use crate::encode::example::Example;
use crate::encode::holes::Holes;
use crate::encode::labels::Labels;
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::reader::Reader;
use crate::read::row::Row;
use crate::read::source::data_name;

/// Number of bad rows that are skipped before reading fails.
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
    /// Whether `count` bad rows are allowed.
    pub fn allow(self, count: u64) -> bool {
        match self {
            BadRows::Fail => false,
            BadRows::Skip => true,
            BadRows::AtMost(most) => count <= most,
        }
    }
}

impl FromStr for BadRows {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        match text {
            "fail" => Ok(BadRows::Fail),
            "skip" => Ok(BadRows::Skip),
            _ => text
                .parse()
                .map(BadRows::AtMost)
                .map_err(|_| fault!("{text:?} is none of fail, skip and a number")),
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

/// A source of examples.
pub trait Examples {
    /// Makes the next example. Returns false at the end.
    ///
    /// # Errors
    /// If a row cannot be read or learnt from.
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError>;

    /// The row of the last example; `None` for examples that do not come from rows.
    fn raw(&self) -> Option<Raw<'_>> {
        None
    }
}

/// A row with the names of its columns and classes.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The row.
    pub row: &'a Row,
    /// The names of its columns.
    pub columns: &'a Columns,
    /// The names of the classes so far.
    pub labels: &'a Labels,
}

/// The examples of a file or pipe.
pub struct ReadExamples {
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// The encoder, updated by every row.
    pub encoder: Encoder,
    name: String,
    bad_rows: BadRows,
    bad: u64,
    first_bad: Option<String>,
    row: Row,
    /// The name of the last row that had one.
    last: String,
    frozen: bool,
    holes: Holes,
    unscored: u64,
    first_unscored: Option<String>,
    /// Number of rows read, bad ones included, and of examples made.
    read: u64,
    made: u64,
    pause: Option<Pause>,
    paused: bool,
    on_bad_row: Option<OnBadRow>,
}

/// Called for every bad row that is skipped, with the number of examples made before it, the name of the
/// row, and the error.
pub type OnBadRow = Box<dyn FnMut(u64, &str, &ReadError) + Send>;

/// A condition for pausing, tested between two examples at intervals.
pub struct Pause {
    /// The interval, in examples.
    pub every: u64,
    /// Whether to pause.
    pub asked: Box<dyn FnMut() -> bool + Send>,
}

/// The result of reading a row.
#[derive(Debug)]
pub enum Step {
    /// An example.
    Example,
    /// A bad row, which was skipped.
    Bad(ReadError),
    /// The end.
    End,
}

impl ReadExamples {
    /// The rows of `reader`, which is called `name` in errors.
    pub fn new(reader: Box<dyn Reader>, mut encoder: Encoder, name: &str, bad_rows: BadRows) -> Self {
        encoder.set_absent(reader.absent());
        Self {
            reader,
            encoder,
            name: data_name(name).to_owned(),
            bad_rows,
            bad: 0,
            first_bad: None,
            row: Row::new(),
            last: String::new(),
            frozen: false,
            holes: Holes::default(),
            unscored: 0,
            first_unscored: None,
            read: 0,
            made: 0,
            pause: None,
            paused: false,
            on_bad_row: None,
        }
    }

    /// The same rows with fixed classes and scaling, for prediction without learning. Rows with
    /// invalid labels are accepted.
    pub fn frozen(self) -> Self {
        Self { frozen: true, ..self }
    }

    /// The row that the last example was made of.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Makes the source pause when `pause` returns true.
    pub fn pause_by(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    /// Calls `call` for every bad row that is skipped.
    pub fn on_bad_row(&mut self, call: OnBadRow) {
        self.on_bad_row = Some(call);
    }

    /// Whether the source has paused because of [`ReadExamples::pause_by`]; the next call
    /// continues.
    pub fn take_paused(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    /// Number of rows read so far, bad ones included.
    pub fn rows_read(&self) -> u64 {
        self.read
    }

    /// The name of the last row read, bad ones included; empty if no row had one.
    pub fn last_name(&self) -> &str {
        &self.last
    }

    /// Continues the count of rows of an interrupted run that has read `rows` rows, the last one called
    /// `name`, if the reader begins behind them.
    pub fn begin_behind(&mut self, rows: u64, name: String) {
        (self.read, self.last) = (rows, name);
    }

    /// Skips the first `rows` rows, valid or not.
    ///
    /// # Errors
    /// If reading fails, or there are not more rows than that.
    pub fn skip(&mut self, rows: u64) -> Result<(), Fault> {
        while self.read < rows {
            match self.reader.read(&mut self.row) {
                Ok(true) => {}
                Ok(false) => {
                    let (name, read) = (&self.name, self.read);
                    return Err(fault!("{name}: has {read} rows; {rows} were to be skipped"));
                }
                Err(error) if error.is_row_error() => {}
                Err(error) => return Err(error.to_string().into()),
            }
            self.read += 1;
        }
        Ok(())
    }

    /// Continues the count of bad rows of an interrupted run.
    pub fn count_on(&mut self, bad: u64, first: Option<String>) {
        (self.bad, self.first_bad) = (bad, first);
    }

    /// Whether to pause here.
    fn is_paused(&mut self) -> bool {
        let made = self.made;
        let pause = self.pause.as_mut().filter(|pause| made.is_multiple_of(pause.every));
        self.paused = pause.is_some_and(|pause| (pause.asked)());
        self.paused
    }

    /// Number of bad rows skipped.
    pub fn bad_rows(&self) -> u64 {
        self.bad
    }

    fn encode(&mut self, out: &mut Example) -> Result<(), Fault> {
        self.reader.columns().check_row(self.row.indices(), self.encoder.columns())?;
        self.holes.see(&self.row, &self.encoder, !self.frozen);
        if !self.frozen {
            return self.encoder.encode(&self.row, out);
        }
        if let Some(what) = self.encoder.encode_frozen(&self.row, out)? {
            self.unscored += 1;
            self.first_unscored.get_or_insert_with(|| row_error(&self.name, &self.row, what).to_string());
        }
        Ok(())
    }

    /// With fixed classes: number of rows whose label cannot be compared with a prediction, and the
    /// first reason.
    pub fn unscored(&self) -> (u64, Option<&str>) {
        (self.unscored, self.first_unscored.as_deref())
    }

    /// A remark on missing numbers that count as 0, if there were any, because columns are not standardised.
    pub fn zeros(&self) -> Option<String> {
        self.holes.zeros()
    }

    /// A remark on missing numbers of learnt rows that count as a mean far from 0, if there were any and no
    /// feature says that they are missing.
    pub fn untold(&self) -> Option<String> {
        self.holes.untold(self.reader.as_ref())
    }

    /// With fixed classes: a remark on numbers far outside of what the model has learnt, if there were any.
    pub fn outside(&self) -> Option<String> {
        self.encoder.outside(self.reader.columns())
    }

    /// The error of the first of them.
    pub fn first_bad_row(&self) -> Option<&str> {
        self.first_bad.as_deref()
    }
}

impl ReadExamples {
    /// Reads the next row, which may be a skipped bad one.
    ///
    /// # Errors
    /// If reading fails, or there are too many bad rows.
    pub fn step(&mut self, out: &mut Example) -> Result<Step, ReadError> {
        let read = self.reader.read(&mut self.row);
        self.read += u64::from(!matches!(read, Ok(false)));
        if !self.row.tag.is_empty() {
            self.last.clone_from(&self.row.tag);
        }
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
        if let Some(call) = &mut self.on_bad_row {
            call(self.made, &self.row.tag, &error);
        }
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
                // Reading a pipe fails when the run is to stop.
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
        Some(Raw { row: &self.row, columns: self.reader.columns(), labels: self.encoder.labels() })
    }
}
