//! A reader of files whose rows are parsed ahead of their use.

use std::sync::Arc;

use crate::ahead::Ahead;
use crate::columns::Columns;
use crate::options::Schema;
use crate::read_error::{ReadError, ReadErrorKind};
use crate::reader::Reader;
use crate::row::Row;

/// Batches that are parsed ahead.
const BATCHES: usize = 4;
/// A batch has at most so many rows,
const ROWS: usize = 256;
/// and no further row once it has so many values: it stays in the cache.
const VALUES: usize = 16 * 1024;

/// Reads as the reader that it was made of, which is now read on a thread of its own.
///
/// Rows are exchanged, not copied: the row that the caller hands in goes back to the thread to be filled anew.
pub(crate) struct ReadAhead {
    batches: Ahead<Batch>,
    batch: Batch,
    /// Rows of `batch` handed out.
    used: usize,
    columns: Columns,
    dropped: u64,
    size: Option<u64>,
    /// But for the columns.
    schema: Schema,
    described: Vec<(&'static str, String)>,
}

#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    /// What was known after each row; as many as there are good rows.
    marks: Vec<Mark>,
    /// Number of columns before the first row.
    first: u32,
    /// Names of the columns from there on.
    names: Vec<Arc<str>>,
    /// What came after the rows.
    error: Option<ReadError>,
    position: u64,
}

struct Mark {
    columns: u32,
    dropped: u64,
}

impl ReadAhead {
    pub(crate) fn boxed(mut reader: Box<dyn Reader>, name: &str) -> Result<Box<dyn Reader>, ReadError> {
        let (columns, dropped) = (reader.columns().clone(), reader.dropped_features());
        let (size, schema, described) = (reader.size(), reader.schema(), reader.describe());
        let batches = Ahead::start("read", BATCHES, move |batch| fill(batch, &mut *reader));
        let batches = batches.map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?;
        let batch = Batch::default();
        Ok(Box::new(Self { batches, batch, used: 0, columns, dropped, size, schema, described }))
    }
}

/// Reads the next rows. False if none can follow.
fn fill(batch: &mut Batch, reader: &mut dyn Reader) -> bool {
    batch.marks.clear();
    batch.names.clear();
    batch.first = reader.columns().count();
    let (mut values, mut more) = (0, true);
    while batch.marks.len() < ROWS && values < VALUES {
        if batch.rows.len() == batch.marks.len() {
            batch.rows.push(Row::new());
        }
        let row = &mut batch.rows[batch.marks.len()];
        match reader.read(row) {
            Ok(true) => {
                values += row.values().len();
                let (columns, dropped) = (reader.columns().count(), reader.dropped_features());
                batch.marks.push(Mark { columns, dropped });
            }
            Ok(false) => {
                more = false;
                break;
            }
            Err(error) => {
                more = error.is_row_error();
                batch.error = Some(error);
                break;
            }
        }
    }
    if let Columns::Named(names) = reader.columns() {
        batch.names.extend_from_slice(names.since(batch.first));
    }
    batch.position = reader.position();
    more
}

impl Reader for ReadAhead {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        loop {
            if let Some(mark) = self.batch.marks.get(self.used) {
                std::mem::swap(row, &mut self.batch.rows[self.used]);
                self.used += 1;
                self.dropped = mark.dropped;
                match &mut self.columns {
                    Columns::Numbered { count, .. } => *count = mark.columns,
                    Columns::Named(names) => {
                        let new = (names.len() - self.batch.first) as usize
                            ..(mark.columns - self.batch.first) as usize;
                        names.append(&self.batch.names[new]);
                    }
                    Columns::Hashed { .. } => {}
                }
                return Ok(true);
            }
            if let Some(error) = self.batch.error.take() {
                row.clear();
                return Err(error);
            }
            self.batch.marks.clear();
            self.used = 0;
            if !self.batches.next(&mut self.batch) {
                row.clear();
                return Ok(false);
            }
        }
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn dropped_features(&self) -> u64 {
        self.dropped
    }

    fn position(&self) -> u64 {
        self.batch.position
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn schema(&self) -> Schema {
        Schema { columns: self.columns.clone(), ..self.schema.clone() }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        self.described.clone()
    }
}
