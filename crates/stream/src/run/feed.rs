//! Reads rows once for many runs: batches of examples by each of several encoders.

use noregret::example::Label;

use crate::encode::examples::BadRows;
use crate::encode::holes::Holes;
use crate::encode::{Encoder, Example, row_error};
use crate::read::error::ReadError;
use crate::read::live::Stop;
use crate::read::reader::Reader;
use crate::read::row::Row;
use crate::read::source::data_name;

/// Limit on the rows of a batch.
const MOST_ROWS: usize = 1024;

/// A batch ends with the row in which it reaches this many numbers.
const MOST_NUMBERS: usize = 1 << 17;

/// A reader and several encoders. Each encoder gets the same rows as alone, with its own count of
/// bad ones.
pub struct Feed {
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// The encoders and their counts.
    pub encodings: Vec<EncoderRun>,
    name: String,
    bad_rows: BadRows,
    limit: Option<u64>,
    row: Row,
    /// Counts of the classes, by the first encoder that has not ended.
    classes: Vec<u64>,
    over: bool,
    stop: Stop,
}

/// An encoder in a [`Feed`].
pub struct EncoderRun {
    /// The encoder, updated by every row.
    pub encoder: Encoder,
    /// Examples made.
    pub rows: u64,
    /// Number of bad rows skipped.
    pub bad_rows: u64,
    /// The error of the first of them.
    pub first_bad_row: Option<String>,
    /// Missing numbers.
    pub holes: Holes,
    /// The row that ended it, as it cannot be encoded and bad rows are not skipped.
    pub refused: Option<ReadError>,
}

/// Some rows, as examples of each encoder.
#[derive(Debug, Default)]
pub(crate) struct Batch(Vec<Filled>);

/// Examples whose buffers are reused.
#[derive(Debug, Default)]
struct Filled {
    examples: Vec<Example>,
    filled: usize,
}

impl Batch {
    /// The examples that `encoder` made.
    pub(crate) fn examples(&self, encoder: usize) -> &[Example] {
        self.0.get(encoder).map_or(&[], |Filled { examples, filled }| &examples[..*filled])
    }
}

impl Filled {
    fn next(&mut self) -> &mut Example {
        if self.filled == self.examples.len() {
            self.examples.push(Example::default());
        }
        &mut self.examples[self.filled]
    }
}

impl EncoderRun {
    /// Skips a bad row, if allowed.
    fn pass_over(&mut self, error: &ReadError, policy: BadRows) -> bool {
        if !error.is_row_error() || !policy.allow(self.bad_rows + 1) {
            return false;
        }
        self.bad_rows += 1;
        self.first_bad_row.get_or_insert_with(|| error.to_string());
        true
    }
}

impl Feed {
    /// Encodes the rows of `reader`, called `name` in errors, by all `encoders`, with at most
    /// `limit` examples each.
    pub fn new(
        reader: Box<dyn Reader>,
        encoders: Vec<Encoder>,
        name: &str,
        bad_rows: BadRows,
        limit: Option<u64>,
    ) -> Self {
        let encoding = |encoder| {
            let (holes, refused) = (Holes::default(), None);
            EncoderRun { encoder, rows: 0, bad_rows: 0, first_bad_row: None, holes, refused }
        };
        Self {
            reader,
            encodings: encoders.into_iter().map(encoding).collect(),
            name: data_name(name).to_owned(),
            bad_rows,
            limit,
            row: Row::new(),
            classes: Vec::new(),
            over: false,
            stop: Stop::default(),
        }
    }

    /// Ends the rows when `stop` is requested.
    pub fn stop_by(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    /// Error rate of always playing the class that is most frequent in hindsight; `None` before the
    /// first class.
    pub fn majority_error_rate(&self) -> Option<f64> {
        let rows: u64 = self.classes.iter().sum();
        let most = *self.classes.iter().max()?;
        Some((rows - most) as f64 / rows as f64)
    }

    /// Overwrites `batch` with the next batch. Returns false at the end. An encoder that refuses a row ends,
    /// the others go on.
    /// Fails if a row cannot be read; `batch` then has the rows before it.
    pub(crate) fn fill(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        batch.0.resize_with(self.encodings.len(), Filled::default);
        batch.0.iter_mut().for_each(|filled| filled.filled = 0);
        let (mut rows, mut numbers) = (0, 0);
        while rows < MOST_ROWS && numbers < MOST_NUMBERS && !self.over {
            self.row(batch)?;
            rows += 1;
            let dense = self.encodings.first().is_some_and(|encoding| !encoding.encoder.is_sparse());
            numbers += if dense { self.reader.columns().count() as usize } else { self.row.values().len() };
        }
        Ok(batch.0.iter().any(|filled| filled.filled > 0) || !self.over)
    }

    /// Reads a row into `batch`.
    fn row(&mut self, batch: &mut Batch) -> Result<(), ReadError> {
        let (policy, limit) = (self.bad_rows, self.limit);
        let needs_more = |encoding: &EncoderRun| encoding.refused.is_none() && limit != Some(encoding.rows);
        if !self.encodings.iter().any(needs_more) || self.stop.asked().is_some() {
            self.over = true;
            return Ok(());
        }
        match self.reader.read(&mut self.row) {
            Ok(true) => {}
            Ok(false) => {
                self.over = true;
                return Ok(());
            }
            // Reading a pipe fails when a stop is requested.
            Err(_) if self.stop.asked().is_some() => {
                self.over = true;
                return Ok(());
            }
            Err(error) => {
                let mut needs_more = self.encodings.iter_mut().filter(|encoding| needs_more(encoding));
                if needs_more.all(|encoding| encoding.pass_over(&error, policy)) {
                    return Ok(());
                }
                return Err(error);
            }
        }
        let first = self.encodings.iter().position(|encoding| encoding.refused.is_none());
        for (at, (encoding, filled)) in self.encodings.iter_mut().zip(&mut batch.0).enumerate() {
            if !needs_more(encoding) {
                continue;
            }
            let example = filled.next();
            let columns = encoding.encoder.columns();
            let encoded = self.reader.columns().check_row(self.row.indices(), columns);
            if encoded.is_ok() {
                encoding.holes.see(&self.row, &encoding.encoder, true);
            }
            if let Err(what) = encoded.and_then(|()| encoding.encoder.encode(&self.row, example)) {
                let error = row_error(&self.name, &self.row, what);
                if !encoding.pass_over(&error, policy) {
                    encoding.refused = Some(error);
                }
                continue;
            }
            if Some(at) == first
                && let Some(label) = example.target().and_then(|target| target.label())
            {
                count(&mut self.classes, label);
            }
            filled.filled += 1;
            encoding.rows += 1;
        }
        Ok(())
    }
}

fn count(classes: &mut Vec<u64>, label: Label) {
    if classes.len() <= label.index() {
        classes.resize(label.index() + 1, 0);
    }
    classes[label.index()] += 1;
}
