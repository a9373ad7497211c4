//! The trait of readers, and the common part of line formats.

use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::options::Schema;
use crate::read::remark::Remark;
use crate::read::row::Row;
use crate::read::source::{Line, Source};

/// A stream of examples.
pub trait Reader: Send {
    /// Reads the next example into `row`. Returns false at the end; `row` is then empty.
    ///
    /// # Errors
    ///
    /// After an error for which [`ReadError::is_row_error`] holds, the next call continues with the
    /// next line, and [`Reader::columns`] has no columns of the bad row. Any other error ends the
    /// stream.
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError>;

    /// The columns so far.
    fn columns(&self) -> &Columns;

    /// Rejects the last row: removes the columns that it added. May be called once per row.
    ///
    /// Has no effect if the reader has read ahead.
    fn take_back(&mut self) {}

    /// Keeps all rows in memory for [`Reader::again`], if they take at most `bytes` bytes. Must be
    /// called before the first row.
    ///
    /// Only supported for files opened by [`open`](crate::open).
    fn keep(&mut self, _bytes: usize) {}

    /// After the last row: a reader of the same rows from memory, with the present columns, as if
    /// given in [`ReadOptions::schema`](crate::ReadOptions::schema).
    ///
    /// `None` if the rows were not kept: because they are too large, bad rows or dropped features
    /// occurred, or [`Reader::keep`] was not called.
    fn again(&mut self) -> Option<Box<dyn Reader>> {
        None
    }

    /// Number of features dropped because a saved model does not have them.
    fn dropped_features(&self) -> u64;

    /// Numeric columns of a saved model that are absent from the data.
    fn absent(&self) -> Vec<u32> {
        vec![]
    }

    /// Cells so far that did not fit their column and count as missing, a remark for each column, and other
    /// remarks on the rows, such as one on features that were dropped.
    fn odd_cells(&self) -> Vec<Remark> {
        vec![]
    }

    /// Number of stored (possibly compressed) bytes read so far.
    fn position(&self) -> u64;

    /// Size of the stored file in bytes. `None` for standard input and pipes.
    fn size(&self) -> Option<u64>;

    /// The schema so far, to be saved with a model.
    fn schema(&self) -> Schema;

    /// Description of the recognised properties: pairs such as `("delimiter", "comma")`.
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// Remarks on suspicious columns, one sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The sentences of [`Reader::odd_cells`].
#[cfg(test)]
pub(crate) fn sentences(reader: &dyn Reader) -> Vec<String> {
    reader.odd_cells().iter().map(ToString::to_string).collect()
}

/// Whether a line was a row.
pub(crate) type Parsed = Result<bool, ReadErrorKind>;

/// Parses lines; the part that is specific to a line format.
pub(crate) trait LineParser: Send {
    /// Fills an empty row. Returns false if the line is not a row, such as a comment. A row of another line
    /// says of which it is.
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed;

    /// Fills an empty row with another row of the lines that were parsed. Returns false if there is none.
    fn more(&mut self, _row: &mut Row) -> bool {
        false
    }

    /// At the end of the stream: fills an empty row with the lines of a row that is not complete. Returns
    /// false if there are none.
    fn end(&mut self, _row: &mut Row, _columns: &mut ColumnMap) -> Result<bool, ReadErrorKind> {
        Ok(false)
    }

    /// The schema without the fields that [`LineReader`] fills in.
    fn schema(&self, columns: Columns) -> Schema;

    /// The format of the data, if it is not that of the schema.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The recognised properties other than format and compression.
    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)>;

    /// As [`Reader::notes`].
    fn notes(&self) -> Vec<String> {
        vec![]
    }

    /// As [`Reader::odd_cells`].
    fn odd_cells(&self) -> Vec<Remark> {
        vec![]
    }

    /// As [`Reader::absent`].
    fn absent(&self) -> Vec<u32> {
        vec![]
    }

    /// Removes the columns from `count` on, which were taken back.
    fn forget(&mut self, _count: u32) {}
}

/// A reader of a format in which every row is a line.
pub(crate) struct LineReader<P> {
    source: Source,
    columns: ColumnMap,
    parser: P,
}

impl<P: LineParser + 'static> LineReader<P> {
    pub(crate) fn boxed(source: Source, columns: ColumnMap, parser: P) -> Box<dyn Reader> {
        Box::new(LineReader { source, columns, parser })
    }
}

impl<P: LineParser> Reader for LineReader<P> {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        loop {
            row.clear();
            if self.parser.more(row) {
                self.columns.see(row);
                self.columns.commit();
                return Ok(true);
            }
            let line = self.source.next_line()?;
            let over = line.is_none();
            let parsed = match line {
                Some(line) => self.parser.parse(line, row, &mut self.columns),
                None => self.parser.end(row, &mut self.columns),
            };
            match parsed {
                Ok(false) if over => return Ok(false),
                Ok(false) => {}
                Ok(true) => {
                    self.columns.see(row);
                    self.columns.commit();
                    if row.line == 0 {
                        row.line = self.source.line();
                    }
                    return Ok(true);
                }
                Err(kind) => {
                    self.columns.roll_back();
                    self.parser.forget(self.columns.columns().count());
                    // The row keeps its name, for programs that answer line by line.
                    let tag = std::mem::take(&mut row.tag);
                    row.clear();
                    row.tag = tag;
                    return Err(self.source.error(kind));
                }
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.columns.columns()
    }

    fn take_back(&mut self) {
        self.columns.take_back();
        self.parser.forget(self.columns.columns().count());
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
    }

    fn absent(&self) -> Vec<u32> {
        self.parser.absent()
    }

    fn odd_cells(&self) -> Vec<Remark> {
        self.parser.odd_cells().into_iter().chain(self.columns.unknown()).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.parser.notes()
    }

    fn position(&self) -> u64 {
        self.source.position()
    }

    fn size(&self) -> Option<u64> {
        self.source.size()
    }

    fn schema(&self) -> Schema {
        let marked = self.columns.has_hashed_marks();
        Schema { marked, ..self.parser.schema(self.columns().clone()) }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let format = self.parser.format().unwrap_or_else(|| self.schema().format);
        let mut decided = describe_source(&self.source, format);
        decided.extend(self.parser.describe(self.columns()));
        decided
    }
}

/// The part of [`Reader::describe`] common to all formats.
pub(crate) fn describe_source(source: &Source, format: Format) -> Vec<(&'static str, String)> {
    let mut decided = vec![("format", format.to_string())];
    decided.extend(source.compression().map(|compression| ("compression", compression.to_owned())));
    decided
}
