//! The error of the readers: place and cause in one sentence.

use std::{error, fmt, io};

use crate::fault::Fault;
use crate::words::counted;

/// Why data could not be read. One word wide, so that results stay small.
///
/// `Display` is one sentence that begins with the file and, where there is one, the line:
/// `data.svm:17: feature index 3 follows 5; LIBSVM indices must increase`; or with the row, where rows are
/// counted and not lines: `row 7: column "a": "inf" is not finite`.
pub struct ReadError(Box<Inner>);

struct Inner {
    source_name: String,
    /// Line 0 is none.
    place: Place,
    kind: ReadErrorKind,
}

/// Where a row is. `Display` names it in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub(crate) line: u64,
    /// As [`ReadOptions::row_0`](crate::ReadOptions::row_0).
    pub(crate) row_0: Option<u64>,
}

impl Place {
    pub(crate) fn line(line: u64) -> Self {
        Self { line, row_0: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row_0 {
            None => write!(f, "line {}", self.line),
            Some(first) => write!(f, "row {}", self.line.saturating_sub(first)),
        }
    }
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// There is no such file.
    NotFound,
    /// The path is a directory.
    IsDirectory,
    /// The operating system could not open or read the file.
    Io(io::Error),
    /// There are no rows: no bytes, or nothing but blank lines.
    Empty,
    /// Compressed data are truncated.
    Truncated {
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// Compressed data are damaged.
    Corrupt {
        /// `gzip` or `zstd`.
        compression: &'static str,
        /// The decompressor's message.
        detail: String,
    },
    /// The file as a whole cannot be read as asked: unknown format, no such label column, a single column and
    /// so on.
    Layout(String),
    /// No format is recognised, and none was given.
    UnknownFormat,
    /// A table has one column where at least a feature and a label were needed.
    SingleColumn {
        /// The delimiter, if one was given.
        delimiter: Option<char>,
        /// The delimiter that the data seem to have.
        seen: Option<char>,
    },
    /// The row is not UTF-8.
    InvalidUtf8,
    /// The row is malformed.
    Row(String),
    /// The row of a table has another number of cells than the others.
    Width {
        /// Its number of cells.
        found: usize,
        /// That of the others.
        width: usize,
        /// What says so: `the first row` or `the header`.
        by: &'static str,
    },
    /// One named cell of the row is malformed.
    Cell {
        /// `column` or `key`.
        noun: &'static str,
        /// Its name.
        column: String,
        /// The cause, with the value.
        message: String,
    },
    /// A cell of a column of numbers holds an infinite one. It may stand for a missing one.
    NotFinite {
        /// The name of the column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// LIBSVM data taken as numbered from 1 have a feature of number 0.
    IndexZero,
    /// A feature number too large for a column. It can be hashed.
    IndexTooLarge(u64),
}

/// An error of the file as a whole.
impl From<String> for ReadErrorKind {
    fn from(message: String) -> Self {
        ReadErrorKind::Layout(message)
    }
}

/// An error of the file as a whole.
impl From<Fault> for ReadErrorKind {
    fn from(fault: Fault) -> Self {
        ReadErrorKind::Layout(fault.into())
    }
}

/// An error of the file as a whole.
impl From<&str> for ReadErrorKind {
    fn from(message: &str) -> Self {
        ReadErrorKind::Layout(message.to_owned())
    }
}

impl ReadError {
    pub(crate) fn new(source_name: &str, line: u64, kind: ReadErrorKind) -> Self {
        ReadError(Box::new(Inner { source_name: source_name.to_owned(), place: Place::line(line), kind }))
    }

    /// The error of a row in memory, the `at`-th from 0.
    #[must_use]
    pub fn of_row(at: usize, what: impl Into<String>) -> Self {
        Self::new("", at as u64 + 1, ReadErrorKind::Row(what.into())).with_row_0(Some(1))
    }

    /// The same, with another way to name places.
    pub(crate) fn with_row_0(mut self, row_0: Option<u64>) -> Self {
        self.0.place.row_0 = row_0;
        self
    }

    /// The same about rows in memory that are called `name`, of which the file is a copy, one in a line: the
    /// place is the row, from 0.
    #[must_use]
    pub fn of_memory(mut self, name: &str) -> Self {
        name.clone_into(&mut self.0.source_name);
        self.with_row_0(Some(1))
    }

    /// Whether the error concerns one row, so that reading can continue with the next.
    pub fn is_row_error(&self) -> bool {
        matches!(
            self.kind(),
            ReadErrorKind::InvalidUtf8
                | ReadErrorKind::Row(_)
                | ReadErrorKind::Width { .. }
                | ReadErrorKind::Cell { .. }
                | ReadErrorKind::NotFinite { .. }
                | ReadErrorKind::IndexZero
                | ReadErrorKind::IndexTooLarge(_)
        )
    }

    /// What went wrong.
    pub fn kind(&self) -> &ReadErrorKind {
        &self.0.kind
    }

    /// The path as it was given, or `standard input`.
    pub fn source_name(&self) -> &str {
        &self.0.source_name
    }

    /// Line from 1 where the bad row begins, if the error belongs to a row.
    pub fn line(&self) -> Option<u64> {
        (self.0.place.line > 0).then_some(self.0.place.line)
    }

    /// The column or key concerned, if any.
    pub fn column(&self) -> Option<&str> {
        match self.kind() {
            ReadErrorKind::Cell { column, .. } | ReadErrorKind::NotFinite { column, .. } => Some(column),
            _ => None,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { source_name, place, kind } = &*self.0;
        match place {
            Place { line: 0, .. } => write!(f, "{source_name}: {kind}"),
            Place { line, row_0: None } => write!(f, "{source_name}:{line}: {kind}"),
            Place { row_0: Some(_), .. } => write!(f, "{place}: {kind}"),
        }
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadErrorKind::NotFound => f.write_str("no such file"),
            ReadErrorKind::IsDirectory => f.write_str("is a directory, not a file of examples"),
            ReadErrorKind::Io(error) => write!(f, "{error}"),
            ReadErrorKind::Empty => f.write_str("has no rows"),
            ReadErrorKind::Truncated { compression } => {
                write!(f, "{compression} data end in the middle; the file is cut off")
            }
            ReadErrorKind::Corrupt { compression, detail } => {
                write!(f, "{compression} data are damaged: {detail}")
            }
            ReadErrorKind::InvalidUtf8 => f.write_str("the row is not UTF-8 text"),
            ReadErrorKind::Layout(message) | ReadErrorKind::Row(message) => f.write_str(message),
            ReadErrorKind::Width { found, width, by } => {
                write!(f, "the row has {}, not {width} as {by}", counted(*found as u64, "cell"))
            }
            ReadErrorKind::UnknownFormat => f.write_str("has no format that is recognised"),
            ReadErrorKind::SingleColumn { delimiter: None, .. } => f.write_str("has a single column"),
            ReadErrorKind::SingleColumn { delimiter: Some(delimiter), .. } => {
                write!(f, "has a single column if the delimiter is {}", delimiter_name(*delimiter))
            }
            ReadErrorKind::Cell { noun, column, message } => write!(f, "{noun} {}: {message}", shown(column)),
            ReadErrorKind::NotFinite { column, cell } => {
                write!(f, "column {}: {} is not finite", shown(column), shown(cell))
            }
            ReadErrorKind::IndexZero => f.write_str("feature index 0 in data taken as numbered from 1"),
            ReadErrorKind::IndexTooLarge(index) => {
                write!(f, "feature index {index} is too large for a column")
            }
        }
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadError({:?}: {self})", self.0.kind)
    }
}

impl error::Error for ReadError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self.kind() {
            ReadErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The display name of a delimiter.
pub(crate) fn delimiter_name(delimiter: char) -> String {
    let name = match delimiter {
        '\t' => "tab",
        ';' => "semicolon",
        ',' => "comma",
        '|' => "bar",
        ' ' => "space",
        other => return shown(other.to_string()),
    };
    name.to_owned()
}

/// Data for a message: quoted, with control characters escaped, truncated to 40 characters.
pub(crate) fn shown(text: impl AsRef<[u8]>) -> String {
    const LONGEST: usize = 40;
    // A character has at most 4 bytes; the rest would be truncated.
    let bytes = text.as_ref();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    let cut: String = text.chars().take(LONGEST).collect();
    let mut quoted = format!("{cut:?}");
    if cut.len() < text.len() || bytes.len() > 4 * LONGEST + 4 {
        quoted.insert(quoted.len() - 1, '…');
    }
    quoted
}

/// What is wrong with a line of JSON, and at which character.
pub(crate) fn json_fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    // Python and JavaScript write texts with half of a pair of UTF-16 in this way.
    if what == "lone leading surrogate in hex escape" || what == "unexpected end of hex escape" {
        return format!(
            "half of a character before character {}, from \\ud800 to \\udfff, which is no text; write \\ufffd in its place",
            error.column()
        );
    }
    format!("{what} at character {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_on_one_line() {
        let error = ReadError::new(
            "a.csv",
            3,
            ReadErrorKind::Cell { noun: "column", column: "age".into(), message: "is x".into() },
        );
        assert_eq!(error.to_string(), r#"a.csv:3: column "age": is x"#);
        assert_eq!((error.is_row_error(), error.line(), error.column()), (true, Some(3), Some("age")));
        assert_eq!(error.with_row_0(Some(2)).to_string(), r#"row 1: column "age": is x"#);
        let error = ReadError::new("standard input", 0, ReadErrorKind::Empty);
        assert_eq!(error.to_string(), "standard input: has no rows");
        assert_eq!((error.is_row_error(), error.line()), (false, None));
        assert_eq!(size_of::<ReadError>(), size_of::<usize>());
    }

    #[test]
    fn half_of_a_character_is_named() {
        for text in
            [r#"{"a": "\ud800"}"#, r#"{"a": "x\ud800y"}"#, r#"{"a": "\udc00"}"#, r#"{"a": "\ud800\ud800"}"#]
        {
            let error = serde_json::from_str::<serde_json::Value>(text).expect_err(text);
            let fault = json_fault(&error);
            assert!(fault.starts_with("half of a character before character 1"), "{text}: {fault}");
        }
        let error = serde_json::from_str::<serde_json::Value>(r#"{"a": "\u12"}"#).expect_err("no escape");
        assert!(!json_fault(&error).contains("half"), "{}", json_fault(&error));
    }

    #[test]
    fn pieces_are_escaped_and_cut() {
        assert_eq!(shown("a\n\0é"), r#""a\n\0é""#);
        assert_eq!(shown("it's"), "\"it's\"");
        assert_eq!(shown(b"\xff"), "\"\u{fffd}\"");
        assert_eq!(shown("x".repeat(41)), format!("\"{}…\"", "x".repeat(40)));
        assert_eq!(shown("x".repeat(999)), format!("\"{}…\"", "x".repeat(40)));
    }
}
