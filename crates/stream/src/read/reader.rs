//! Reading examples one at a time: the trait, and what the formats of lines share.

use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::options::Schema;
use crate::read::row::Row;
use crate::read::source::{Line, Source};

/// A stream of examples.
pub trait Reader: Send {
    /// Reads the next example into `row`. False at the end; `row` is then empty.
    ///
    /// # Errors
    ///
    /// After an error for which [`ReadError::is_row_error`] holds, the next call goes on with the next line,
    /// and the bad row has left no trace in [`Reader::columns`]. After any other error the stream is at its
    /// end.
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError>;

    /// What the columns mean, as known so far.
    fn columns(&self) -> &Columns;

    /// The row just read is refused: forgets the columns that it was the first to have. To be called once, if
    /// at all.
    ///
    /// A reader of a file may have read on in the meantime; it then does nothing.
    fn take_back(&mut self) {}

    /// Keeps all rows in memory for [`Reader::again`], if they take at most so many bytes. To be called
    /// before the first row.
    ///
    /// Only what [`open`](crate::open) opens, and is a file, can keep its rows.
    fn keep(&mut self, _bytes: usize) {}

    /// A reader of the same rows, from the first one, after the last of them was read. Its columns are those
    /// that are known now, as if they came from [`ReadOptions::schema`](crate::ReadOptions::schema), and it
    /// does not look at the file any more.
    ///
    /// `None` if the rows were not kept: they are too many, bad rows or dropped features are among them, or
    /// [`Reader::keep`] was not called.
    fn again(&mut self) -> Option<Box<dyn Reader>> {
        None
    }

    /// How many features were dropped because a saved model does not know them.
    fn dropped_features(&self) -> u64;

    /// Numeric columns of a saved model that the data do not have: neither 0 nor anything else is known of
    /// them.
    fn absent(&self) -> Vec<u32> {
        vec![]
    }

    /// Cells so far that were not what their column holds and count as missing: one sentence for each such
    /// column.
    fn odd_cells(&self) -> Vec<String> {
        vec![]
    }

    /// Bytes read so far of the file as stored, hence compressed where it is.
    fn position(&self) -> u64;

    /// Size in bytes of the file as stored. `None` for standard input and pipes.
    fn size(&self) -> Option<u64>;

    /// What to keep with a model in order to read more data of this kind, as known so far.
    fn schema(&self) -> Schema;

    /// What was decided about the data, for a person: pairs such as `("delimiter", "comma")`.
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// What a person should know before they trust it, each in a sentence: columns that are not what they
    /// seem.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Makes rows of lines; the part in which the line formats differ.
pub(crate) trait LineParser: Send {
    /// Fills an empty row. False if the line holds none, such as a comment.
    fn parse(
        &mut self,
        line: Line<'_>,
        row: &mut Row,
        columns: &mut ColumnMap,
    ) -> Result<bool, ReadErrorKind>;

    /// The schema without what [`LineReader`] knows.
    fn schema(&self, columns: Columns) -> Schema;

    /// What was decided beyond format and compression.
    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)>;

    /// As [`Reader::notes`].
    fn notes(&self) -> Vec<String> {
        vec![]
    }

    /// As [`Reader::odd_cells`].
    fn odd_cells(&self) -> Vec<String> {
        vec![]
    }

    /// As [`Reader::absent`].
    fn absent(&self) -> Vec<u32> {
        vec![]
    }

    /// Forgets the columns from `count` on: they were taken back.
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
            let Some(line) = self.source.next_line()? else {
                return Ok(false);
            };
            match self.parser.parse(line, row, &mut self.columns) {
                Ok(false) => {}
                Ok(true) => {
                    self.columns.commit();
                    row.line = self.source.line();
                    return Ok(true);
                }
                Err(kind) => {
                    self.columns.roll_back();
                    self.parser.forget(self.columns.columns().count());
                    // Whoever answers line by line still says which row it was.
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

    fn odd_cells(&self) -> Vec<String> {
        self.parser.odd_cells()
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
        self.parser.schema(self.columns().clone())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let schema = self.schema();
        let mut decided = describe_source(&self.source, schema.format);
        decided.extend(self.parser.describe(self.columns()));
        decided
    }
}

/// The part of [`Reader::describe`] that every format has.
pub(crate) fn describe_source(source: &Source, format: Format) -> Vec<(&'static str, String)> {
    let mut decided = vec![("format", source.original().unwrap_or(format).to_string())];
    decided.extend(source.compression().map(|compression| ("compression", compression.to_owned())));
    decided
}
