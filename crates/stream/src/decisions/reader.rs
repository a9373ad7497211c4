//! Reading a decision log ([`crate::decisions::log`]), line by line.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::decisions::event::Event;
use crate::decisions::line::{Known, parse};
use crate::encode::labels::Labels;
use crate::read::columns::{ColumnMap, Columns, Names};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::live::Stop;
use crate::read::row::Row;
use crate::read::source::{Line, Source};

#[cfg(feature = "parquet")]
use crate::decisions::parquet_reader::LinesOfParquet;

/// The source of lines.
enum Lines {
    Text(Source),
    /// Rows, of a file of this name.
    #[cfg(feature = "parquet")]
    Parquet(Box<LinesOfParquet>, String),
}

/// Reads a log line by line.
pub struct LogReader {
    source: Lines,
    known: Known,
    first: bool,
    /// Description of an incomplete last line.
    torn: Option<String>,
}

/// Whether the compressed data are truncated.
fn is_cut(error: &ReadError) -> bool {
    matches!(error.kind(), ReadErrorKind::Truncated { .. })
}

impl LogReader {
    /// Opens a log, or standard input for `-`; gzip, zstd and Parquet are recognised.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &str) -> Result<Self, ReadError> {
        Self::open_until(path, &Stop::default())
    }

    /// The same; reading a pipe fails when `stop` is requested.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_until(path: &str, stop: &Stop) -> Result<Self, ReadError> {
        #[cfg(feature = "parquet")]
        if let Some(file) = crate::read::source::parquet_file(path, false) {
            let lines = LinesOfParquet::open(file)
                .map_err(|what| ReadError::new(path, 0, ReadErrorKind::Layout(what.into())))?;
            return Ok(Self::over(Lines::Parquet(Box::new(lines), path.to_owned())));
        }
        Ok(Self::over(Lines::Text(Source::open(path, stop)?)))
    }

    /// Opens the log in the file `path`, called `name` in errors.
    pub(super) fn open_named(path: &Path, name: &str) -> Result<Self, ReadError> {
        let failed = |error| ReadError::new(name, 0, ReadErrorKind::Io(error));
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Ok(Self::over(Lines::Text(Source::from_read(Box::new(file), name, Some(size))?)))
    }

    /// Reads a log from any stream of bytes, called `name` in errors.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn from_read(input: Box<dyn std::io::Read + Send>, name: &str) -> Result<Self, ReadError> {
        Ok(Self::over(Lines::Text(Source::from_read(input, name, None)?)))
    }

    /// Reads the lines of `source`.
    pub(crate) fn of_source(source: Source) -> Self {
        Self::over(Lines::Text(source))
    }

    fn over(source: Lines) -> Self {
        let columns = ColumnMap::new(Columns::Named(Names::default()), u32::MAX);
        let (labels, stated) = (Labels::default(), Labels::default());
        let known =
            Known { labels, stated, columns, block: None, ordered: false, own_columns: false, unread: None };
        Self { source, known, first: true, torn: None }
    }

    /// Uses the features of `columns`; others are ignored and counted.
    #[must_use]
    pub fn with_columns(mut self, columns: Columns) -> Self {
        let most = columns.count();
        self.known.columns = ColumnMap::new(columns, most);
        self.known.own_columns = true;
        self
    }

    /// The classes so far.
    pub fn labels(&self) -> &Labels {
        &self.known.labels
    }

    /// The columns so far.
    pub fn columns(&self) -> &Columns {
        self.known.columns.columns()
    }

    /// Number of features that the columns of the caller do not have.
    pub(crate) fn dropped_features(&self) -> u64 {
        self.known.columns.dropped()
    }

    /// The line last read, from 1; the row of a Parquet file.
    pub fn line(&self) -> u64 {
        match &self.source {
            Lines::Text(source) => source.line(),
            #[cfg(feature = "parquet")]
            Lines::Parquet(lines, _) => lines.row(),
        }
    }

    /// If the log ends with an incomplete line, because its writer was killed, a sentence that says
    /// so. Known after the last event.
    pub fn torn(&self) -> Option<&str> {
        self.torn.as_deref()
    }

    /// A sentence about keys of the first decision that may have been meant as features: it has no `x`.
    pub(crate) fn unread(&self) -> Option<String> {
        let keys = self.known.unread.as_ref().filter(|keys| !keys.is_empty())?;
        let named: Vec<String> = keys.iter().take(5).map(|key| format!("{key:?}")).collect();
        Some(format!("the keys {} are not read: features of a decision stand under \"x\"", named.join(", ")))
    }

    /// Size of the stored file; `None` for pipes, which cannot be read twice.
    pub fn size(&self) -> Option<u64> {
        match &self.source {
            Lines::Text(source) => source.size(),
            #[cfg(feature = "parquet")]
            Lines::Parquet(lines, _) => Some(lines.size()),
        }
    }

    /// An error at the line last read.
    pub fn error(&self, what: impl Into<String>) -> ReadError {
        self.fault(ReadErrorKind::Row(what.into()))
    }

    /// An error at the line last read, of another kind.
    pub(super) fn fault(&self, kind: ReadErrorKind) -> ReadError {
        match &self.source {
            Lines::Text(source) => source.error(kind),
            #[cfg(feature = "parquet")]
            Lines::Parquet(lines, name) => ReadError::new(name, lines.row(), kind),
        }
    }

    fn is_open_line(&self) -> bool {
        match &self.source {
            Lines::Text(source) => source.is_open_line(),
            #[cfg(feature = "parquet")]
            Lines::Parquet(..) => false,
        }
    }

    /// The next event; features of a decision are read into `row`. `None` at the end.
    ///
    /// # Errors
    /// If the line is invalid; the next call continues after it.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        loop {
            row.clear();
            let line = match &mut self.source {
                Lines::Text(source) => match source.next_line() {
                    Ok(line) => line.map(Line::text),
                    Err(error) if is_cut(&error) && !self.first => {
                        self.torn = Some(format!("the log is truncated: {error}"));
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                },
                #[cfg(feature = "parquet")]
                Lines::Parquet(lines, name) => {
                    let row = lines.row() + 1;
                    lines.next().map_err(|kind| ReadError::new(name, row, kind))?
                }
            };
            let Some(line) = line else { return Ok(None) };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let first = std::mem::replace(&mut self.first, false);
            let parsed = parse(line, first, &mut self.known, row);
            let unfinished =
                parsed.is_err() && serde_json::from_slice::<Value>(line).is_err_and(|error| error.is_eof());
            row.line = self.line();
            match parsed {
                Ok(event) => {
                    self.known.columns.commit();
                    if event.is_some() {
                        return Ok(event);
                    }
                }
                Err(what) => {
                    self.known.columns.roll_back();
                    row.clear();
                    let error = self.error(what);
                    if unfinished && !first && self.is_open_line() {
                        self.torn =
                            Some(format!("the log's last line is incomplete and was ignored: {error}"));
                        return Ok(None);
                    }
                    return Err(error);
                }
            }
        }
    }
}
