//! Reading examples one at a time: the trait, and opening a file of any format.

use std::io::Read;

use crate::read::ahead::ReadAhead;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::decompress::PARQUET;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::{self, Format};
use crate::read::options::{ReadOptions, Schema};
use crate::read::row::Row;
use crate::read::source::{Line, Source};
use crate::read::{csv, libsvm, ndjson, vw};

/// A stream of examples.
pub trait Reader: Send {
    /// Reads the next example into `row`. False at the end; `row` is then empty.
    ///
    /// # Errors
    ///
    /// After an error for which [`ReadError::is_row_error`] holds, the next call goes on with the next line, and the
    /// bad row has left no trace in [`Reader::columns`]. After any other error the stream is at its end.
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError>;

    /// What the columns mean, as known so far.
    fn columns(&self) -> &Columns;

    /// The row just read is refused: forgets the columns that it was the first to have. To be called once, if at all.
    ///
    /// A reader of a file may have read on in the meantime; it then does nothing.
    fn take_back(&mut self) {}

    /// Keeps all rows in memory for [`Reader::again`], if they take at most so many bytes. To be called before the first row.
    ///
    /// Only what [`open`] opens, and is a file, can keep its rows.
    fn keep(&mut self, _bytes: usize) {}

    /// A reader of the same rows, from the first one, after the last of them was read. Its columns are those that are known
    /// now, as if they came from [`ReadOptions::schema`], and it does not look at the file any more.
    ///
    /// `None` if the rows were not kept: they are too many, bad rows or dropped features are among them, or nobody asked.
    fn again(&mut self) -> Option<Box<dyn Reader>> {
        None
    }

    /// How many features were dropped because a saved model does not know them.
    fn dropped_features(&self) -> u64;

    /// Bytes read so far of the file as stored, hence compressed where it is.
    fn position(&self) -> u64;

    /// Size in bytes of the file as stored. `None` for standard input and pipes.
    fn size(&self) -> Option<u64>;

    /// What to keep with a model in order to read more data of this kind, as known so far.
    fn schema(&self) -> Schema;

    /// What was decided about the data, for a person: pairs such as `("delimiter", "comma")`.
    fn describe(&self) -> Vec<(&'static str, String)>;
}

/// Opens a file, or standard input for `-`.
///
/// Gzip (of one or several members) and zstd are recognised by their first bytes, whatever the name. Where there are
/// several cores, a file is decompressed and parsed on threads of their own, ahead of the rows that are asked for.
///
/// # Errors
///
/// The file cannot be read, has no rows, or does not fit the options.
pub fn open(path: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    #[cfg(feature = "parquet")]
    if let Some(file) = parquet_file(path, options.format) {
        return ahead(crate::read::parquet::reader(file, path, options)?, path);
    }
    from_source(Source::open(path)?, options)
}

/// Reads examples from any stream of bytes, as [`open`] does; `name` stands for it in errors and tells the format.
///
/// # Errors
///
/// As for [`open`].
pub fn from_read(
    input: Box<dyn Read + Send>,
    name: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    from_source(Source::from_read(input, name, None)?, options)
}

fn from_source(source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let name = source.name().to_owned();
    ahead(parsed(source, options)?, &name)
}

/// Parses files ahead of their use.
fn ahead(reader: Box<dyn Reader>, name: &str) -> Result<Box<dyn Reader>, ReadError> {
    // Whoever writes to a pipe may be waiting for the answer to a row before the next one.
    if reader.size().is_some() { ReadAhead::boxed(reader, name) } else { Ok(reader) }
}

/// The file, if it is to be read as Parquet: by its first bytes, or because it was asked for. Whatever is wrong with it
/// otherwise is said where all files are opened.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_file(path: &str, format: Option<Format>) -> Option<std::fs::File> {
    if path == "-" || !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let mut head = [0; 4];
    let magic = file.read_exact(&mut head).is_ok() && head == *b"PAR1";
    (magic || format == Some(Format::Parquet)).then_some(file)
}

fn parsed(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    match recognise(&mut source, options)? {
        Format::Libsvm => libsvm::reader(source, options),
        Format::Vw => vw::reader(source, options),
        Format::Csv => csv::reader(source, options),
        Format::Ndjson => ndjson::reader(source, options),
        Format::Parquet if cfg!(feature = "parquet") => Err(source.file_error("is no Parquet file")),
        Format::Parquet => Err(source.file_error(format!("is to be read as {PARQUET}"))),
    }
}

/// Beyond so many blank lines a format is not looked for.
const MOST_BLANK_LINES: usize = 1 << 20;

fn recognise(source: &mut Source, options: &ReadOptions) -> Result<Format, ReadError> {
    let known = options.format.or_else(|| Format::from_file_name(source.name()));
    let saved = options.schema.as_ref().map(|schema| match schema.format {
        // The text with the same columns.
        Format::Parquet => Format::Csv,
        format => format,
    });
    // With a format given or saved, a row is answered as soon as it comes, even on a pipe.
    let mut lines = if known.or(saved).is_some() { 1 } else { format::LINES };
    let mut peek = source.peek(lines)?;
    while peek.bytes.trim_ascii().is_empty() && lines < MOST_BLANK_LINES {
        if peek.all {
            return Err(ReadError::new(source.name(), 0, ReadErrorKind::Empty));
        }
        lines *= 2;
        peek = source.peek(lines)?;
    }
    if let Some(known) = known {
        return Ok(known);
    }
    let seen = format::from_content(&peek);
    let seen = match saved {
        Some(saved) if !matches!(seen, Some(Format::Ndjson | Format::Vw)) => Some(saved),
        _ => seen,
    };
    seen.ok_or_else(|| source.file_error("has no format that is recognised; pass --format"))
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
                    row.clear();
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
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
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
    let mut decided = vec![("format", format.to_string())];
    decided.extend(source.compression().map(|compression| ("compression", compression.to_owned())));
    decided
}
