//! A reader that parses files ahead in batches, on a thread, and keeps the rows for a second pass
//! on request.

use std::sync::Arc;
use std::vec::IntoIter;

use crate::ahead::{WorkAhead, several_cores};
use crate::read::columns::Columns;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::Schema;
use crate::read::reader::Reader;
use crate::read::remark::Remark;
use crate::read::row::{PackedRows, Room, Row};

/// Batches that are parsed ahead.
const BATCHES: usize = 4;
/// A batch is complete when its rows take this many bytes: small enough for the cache, and large
/// enough that waking a thread costs little in comparison.
const BYTES: usize = 256 * 1024;

/// Wraps a reader, which is read on a separate thread if there is more than one core.
pub(crate) struct ReadAhead {
    supply: Supply,
    batch: Batch,
    /// Rows of `batch` returned.
    used: usize,
    columns: Columns,
    dropped: u64,
    size: Option<u64>,
    /// But for the columns.
    schema: Schema,
    described: Vec<(&'static str, String)>,
    notes: Vec<String>,
    absent: Vec<u32>,
    /// Remarks on cells of the batches so far.
    odd_cells: Vec<Remark>,
    kept: Option<Returned>,
}

/// The source of batches.
enum Supply {
    Thread(WorkAhead<Batch>),
    /// The reader, and whether it may have more.
    Here(Box<Filler>, bool),
    /// All rows and columns are in memory.
    Kept(IntoIter<Batch>),
}

#[derive(Default)]
struct Batch {
    rows: PackedRows,
    /// State after each row.
    marks: Vec<Mark>,
    /// Number of columns before the first row.
    first: u32,
    /// Names of the columns from there on.
    names: Vec<Arc<str>>,
    /// The result after the last row, and the name of the row concerned.
    error: Option<(ReadError, String)>,
    /// Remarks on cells so far.
    odd_cells: Vec<Remark>,
    position: u64,
}

struct Mark {
    columns: u32,
    dropped: u64,
}

/// Batches that have been returned.
struct Returned {
    batches: Vec<Batch>,
    /// The number of bytes left for them.
    left: usize,
    /// Whether all batches are here.
    complete: bool,
}

impl ReadAhead {
    pub(crate) fn boxed(reader: Box<dyn Reader>, name: &str) -> Result<Box<dyn Reader>, ReadError> {
        let (columns, dropped) = (reader.columns().clone(), reader.dropped_features());
        let (size, schema, described) = (reader.size(), reader.schema(), reader.describe());
        let (absent, notes) = (reader.absent(), reader.notes());
        let mut filler = Filler { reader, row: Row::new(), room: Room::default() };
        let supply = if several_cores() {
            let batches = WorkAhead::start("read", BATCHES, move |batch| filler.fill(batch));
            Supply::Thread(batches.map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?)
        } else {
            Supply::Here(Box::new(filler), true)
        };
        Ok(Box::new(Self {
            supply,
            batch: Batch::default(),
            used: 0,
            columns,
            dropped,
            size,
            schema,
            described,
            notes,
            absent,
            odd_cells: vec![],
            kept: None,
        }))
    }

    /// Exchanges the used batch for the next one. Returns false after the last.
    fn next_batch(&mut self) -> bool {
        self.used = 0;
        if let Some(kept) = &mut self.kept {
            let mut done = std::mem::take(&mut self.batch);
            self.batch.position = done.position;
            (done.marks, done.names) = (Vec::new(), Vec::new());
            if done.rows.len() > 0 && !kept.keep(done) {
                self.kept = None;
            }
        }
        let more = match &mut self.supply {
            Supply::Thread(batches) => batches.next(&mut self.batch),
            Supply::Here(filler, more) => {
                let had = *more;
                *more = had && filler.fill(&mut self.batch);
                had
            }
            Supply::Kept(batches) => batches.next().map(|batch| self.batch = batch).is_some(),
        };
        if more && !matches!(self.supply, Supply::Kept(_)) {
            self.odd_cells = std::mem::take(&mut self.batch.odd_cells);
        }
        if !more {
            self.batch.rows.clear();
            self.kept.iter_mut().for_each(|kept| kept.complete = true);
        }
        more
    }
}

impl Returned {
    /// Keeps a batch. Returns false if the rows of this file cannot be kept.
    fn keep(&mut self, batch: Batch) -> bool {
        let bytes = batch.rows.bytes();
        let fits = bytes <= self.left;
        self.left = self.left.saturating_sub(bytes);
        self.batches.push(batch);
        fits
    }
}

/// Reads batches.
struct Filler {
    reader: Box<dyn Reader>,
    row: Row,
    /// Size of the last batch.
    room: Room,
}

impl Filler {
    /// Reads the next rows. Returns false if none can follow.
    fn fill(&mut self, batch: &mut Batch) -> bool {
        let reader = &mut self.reader;
        batch.rows.clear();
        batch.rows.reserve(self.room);
        batch.marks.clear();
        batch.names.clear();
        batch.first = reader.columns().count();
        let mut more = true;
        while more && batch.rows.bytes() < BYTES {
            match reader.read(&mut self.row) {
                Ok(true) => {
                    batch.rows.push(&self.row);
                    let (columns, dropped) = (reader.columns().count(), reader.dropped_features());
                    batch.marks.push(Mark { columns, dropped });
                }
                Ok(false) => more = false,
                Err(error) => {
                    more = error.is_row_error();
                    batch.error = Some((error, std::mem::take(&mut self.row.tag)));
                    break;
                }
            }
        }
        if let Columns::Named(names) = reader.columns() {
            batch.names.extend_from_slice(names.since(batch.first));
        }
        batch.position = reader.position();
        batch.odd_cells = reader.odd_cells();
        self.room = batch.rows.used();
        more
    }
}

impl Reader for ReadAhead {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        loop {
            if self.used < self.batch.rows.len() {
                self.batch.rows.copy_to(self.used, row);
                if let Some(mark) = self.batch.marks.get(self.used) {
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
                }
                self.used += 1;
                return Ok(true);
            }
            if let Some((error, tag)) = self.batch.error.take() {
                row.clear();
                row.tag = tag;
                // A bad row must be reported in the second pass, too.
                self.kept = None;
                return Err(error);
            }
            if !self.next_batch() {
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

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn absent(&self) -> Vec<u32> {
        self.absent.clone()
    }

    fn odd_cells(&self) -> Vec<Remark> {
        self.odd_cells.clone()
    }

    fn keep(&mut self, bytes: usize) {
        self.kept = Some(Returned { batches: Vec::new(), left: bytes, complete: false });
    }

    fn again(&mut self) -> Option<Box<dyn Reader>> {
        let Returned { batches, .. } = self.kept.take().filter(|kept| kept.complete && self.dropped == 0)?;
        Some(Box::new(Self {
            supply: Supply::Kept(batches.into_iter()),
            batch: Batch::default(),
            used: 0,
            columns: self.columns.clone(),
            dropped: 0,
            size: self.size,
            schema: self.schema.clone(),
            described: self.described.clone(),
            notes: self.notes.clone(),
            absent: self.absent.clone(),
            odd_cells: self.odd_cells.clone(),
            kept: None,
        }))
    }
}
