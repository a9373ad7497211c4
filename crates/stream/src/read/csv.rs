//! Delimited text, by the csv crate: numbers, one-hot categories, a label column.
//!
//! A numeric cell is missing, and read as 0, if it is empty, a word for a missing value
//! ([`missing`](crate::read::missing)), or not a number; in a table with text, times or styled numbers the
//! feature
//! `column=missing` is then 1. An empty categorical cell is no category, an empty label cell means
//! an unlabelled row. Blanks around a cell are ignored. A category is the feature `column=cell` of
//! value 1. Numeric columns come first, then categories in order of appearance; for other kinds of
//! columns see [`table`](crate::read::table).
//!
//! With a saved schema, columns are matched by name if there is a header; columns unknown to the
//! schema are dropped and counted, absent columns count as missing in every row, and the label
//! column may be absent.

pub(crate) mod header;
pub(crate) mod layout;
mod marks;
mod orange;
mod text;

use std::collections::HashSet;
use std::sync::Arc;

use csv::{ByteRecord, Reader as RecordReader};

use self::layout::{Found, builder};
use self::text::{CsvText, is_aligned, plain_line_ends, squeezed};
use crate::fault::Fault;
use crate::read::blank::Blank;
use crate::read::columns::ColumnMap;
use crate::read::error::{ReadError, ReadErrorKind, delimiter_name, shown};
use crate::read::format::Format;
use crate::read::offer;
use crate::read::options::{ReadOptions, Speech};
use crate::read::reader::{Reader, describe_source};
use crate::read::remark::Remark;
use crate::read::row::Row;
use crate::read::source::{Peek, Source};
use crate::read::table::schema::{CsvRole, CsvSchema};
use crate::read::table::{self, Column, Features, Inferred, Records, Table, find_column, is_needed, names};
use crate::words::counted;

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let mut columns = options.map(columns);
    let saved = table::saved_layout(options);
    let saved = saved.as_deref();
    let (found, aligned) = match saved {
        Some(saved) => as_saved(&mut source, options, saved)?,
        None => inferred(&mut source, options)?,
    };
    let Found { inferred: Inferred { mut layout, missing, notes: mut said }, above, ends } = found;
    let delimiter =
        layout::checked_delimiter(layout.delimiter).map_err(|message| source.file_error(message))?;
    let ends = match saved {
        None => Some(ends),
        Some(_) if source.size().is_some() => {
            Some(!aligned && layout::file_ends_in_delimiters(&source.peek(layout::LINES, 2)?, delimiter))
        }
        Some(_) => None,
    };
    let before = source.line();
    let records = builder(delimiter).from_reader(CsvText::new(source, aligned));
    let mut rows = CsvRows {
        records,
        record: ByteRecord::new(),
        before,
        line: 0,
        held: false,
        delimiter,
        header: ByteRecord::new(),
        headed: layout.header,
        missing_numbers: !options.missing().words.is_empty(),
        id: None,
        offered: None,
        ends,
        blank: Blank::default(),
    };
    let (first, remark) = rows.begin(&layout, saved.is_some(), above)?;
    said.extend(remark);
    let names = match saved {
        Some(_) => saved_names(&first, &layout).map_err(|message| rows.source().file_error(message))?,
        None => layout.fields.iter().map(|field| field.name.clone()).collect(),
    };
    if saved.is_some() {
        let asked = table::check_asked(&layout, &names, options);
        asked
            .and_then(|()| table::agree(&mut layout, &names, options))
            .map_err(|message| rows.source().file_error(message))?;
    }
    let (cells, absent) = table::assign(&names, &layout, &Arc::new(options.missing()), &mut columns);
    let find = |column: &Option<String>| {
        let found = column.as_ref().map(|column| find_column(&names, column)).transpose();
        found.map_err(|message| rows.source().file_error(message))
    };
    (rows.id, rows.offered) = (find(&options.id)?, find(&options.offered)?);
    for _ in 1..layout.header_rows() {
        if rows.held || !rows.next()? {
            break;
        }
        // A continuation of another file may have a single header.
        let mut pairs = cells.iter().zip(&rows.record);
        rows.held = pairs.any(|(column, text)| {
            column.role == Some(CsvRole::Numeric) && table::words::is_number(text.trim_ascii())
        });
    }
    let used = [rows.id, rows.offered];
    let mut table = Table { records: rows, cells, absent, layout, columns, missing, notes: said };
    table.note_differences(&used);
    Ok(Box::new(table))
}

/// Number of lines that show whether the first one has names.
const BELOW: usize = 20;

/// The layout of a saved model with the delimiter of the file; whether columns are aligned by blanks.
fn as_saved(
    source: &mut Source,
    options: &ReadOptions,
    saved: &CsvSchema,
) -> Result<(Found, bool), ReadError> {
    let there = |peek: &Peek<'_>| u8::try_from(saved.delimiter).is_ok_and(|byte| peek.bytes.contains(&byte));
    // A first line that is no row, as UCI's are, has none; on a pipe, the next one may not come.
    let lines = if saved.header || source.size().is_none() { 1 } else { 2 };
    let kept = if there(&source.peek(lines, 1)?) {
        saved.delimiter
    } else {
        // Another delimiter, or a title.
        let peek = source.peek(if saved.header { header::MOST_ABOVE + 2 } else { 1 }, 1)?;
        layout::detect_delimiter(&peek).map_or(saved.delimiter, char::from)
    };
    let delimiter = options.delimiter.map_or(kept, char::from);
    let aligned = delimiter == ' ' && is_aligned(&source.peek(2, 1)?, options);
    if !saved.header && options.header.is_none() && source.size().is_some() && !aligned {
        let rows = match layout::checked_delimiter(delimiter) {
            Ok(delimiter) => layout::records(&source.peek(BELOW, 2)?, delimiter, BELOW),
            Err(_) => vec![],
        };
        if let Some(name) = header::names_above_numbers(&rows) {
            return Err(source.file_error(format!(
                "begins with names, such as {}, and the rows that the model has learnt had none: if the columns are in their order, leave \
                 the first line out, as in tail -n +2",
                shown(name)
            )));
        }
    }
    let layout = CsvSchema { delimiter, header: options.header.unwrap_or(saved.header), ..saved.clone() };
    let inferred = Inferred { layout, missing: vec![], notes: vec![] };
    Ok((Found { inferred, above: 0, ends: false }, aligned))
}

/// The layout that the first rows of the file show; whether columns are aligned by blanks.
fn inferred(source: &mut Source, options: &ReadOptions) -> Result<(Found, bool), ReadError> {
    let peek = source.peek(layout::LINES, 2)?;
    if peek.all && peek.bytes.trim_ascii().is_empty() {
        return Err(ReadError::new(source.name(), 0, ReadErrorKind::Empty));
    }
    let aligned = is_aligned(&peek, options);
    let bytes = &if aligned { squeezed(peek.bytes) } else { plain_line_ends(peek.bytes) };
    let peek = Peek { bytes, all: peek.all };
    let found = layout::infer(&peek, options).map_err(|message| source.file_error(message))?;
    Ok((found, aligned))
}

/// The names of a file's columns as the saved layout has them. `first` is the file's first row.
fn saved_names(first: &ByteRecord, layout: &CsvSchema) -> Result<Vec<String>, ReadErrorKind> {
    if !layout.header {
        let fields = |all: bool| {
            let kept = layout.fields.iter().filter(move |field| all || is_needed(field.role));
            kept.map(|field| field.name.clone()).collect::<Vec<_>>()
        };
        let found = [fields(true), fields(false)].into_iter().find(|fields| fields.len() == first.len());
        return found.ok_or_else(|| {
            let (all, found) = (layout.fields.len(), counted(first.len() as u64, "column"));
            format!(
                "has {found} in its first row, but the saved model was trained on {all}, the label among them; if the first line is no row, \
                 leave it out, as in tail -n +2"
            )
            .into()
        });
    }
    let names = names(first, true)?.names;
    let there = names.iter().map(String::as_str).collect();
    let is_row = "; if its first line is a row and no header, the option header = no says so";
    let way_out = if table::other_case(layout, &there).is_some() { "" } else { is_row };
    table::check_known(layout, &there).map_err(|what| format!("{what}{way_out}"))?;
    Ok(names)
}

/// The rows of the csv crate with their lines.
struct CsvRows {
    records: RecordReader<CsvText>,
    record: ByteRecord,
    /// Lines before the text.
    before: u64,
    /// Line where `record` begins.
    line: u64,
    /// `record` is the next row.
    held: bool,
    delimiter: u8,
    /// The first row, if it is a header.
    header: ByteRecord,
    headed: bool,
    /// Whether some numbers count as missing.
    missing_numbers: bool,
    /// The column that names the rows.
    id: Option<usize>,
    /// The column of the labels on offer.
    offered: Option<usize>,
    /// Whether a delimiter ends all rows below the names, as the first rows of a file say; on a pipe, the
    /// first one.
    ends: Option<bool>,
    /// Rows of empty cells.
    blank: Blank,
}

impl CsvRows {
    fn source(&self) -> &Source {
        &self.records.get_ref().source
    }

    /// Reads the next non-blank row into `record`.
    fn next(&mut self) -> Result<bool, ReadError> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        while self.records.read_byte_record(&mut self.record).map_err(|error| self.read_error(error))? {
            let inside = memchr::memchr_iter(b'\n', self.record.as_slice()).count() as u64;
            let after = self.before + self.records.position().line();
            // The text ends in a line end, so that only an open quote can extend a row to the end
            // of the file.
            if self.records.get_ref().ended {
                let line = after.saturating_sub(inside);
                let mut message = "a quotation mark that opens here is never closed".to_owned();
                let kind = if inside > 1 {
                    // No bad row among others: what follows is lost with it.
                    let lines = counted(inside - 1, "line");
                    message += &format!(", and {lines} after it would be lost; close it, or double it");
                    ReadErrorKind::Layout(message)
                } else {
                    ReadErrorKind::Row(message)
                };
                return Err(ReadError::new(self.source().name(), line, kind));
            }
            // With blanks as delimiter, a blank line has many cells.
            let cut = self.record.len() == 1 || self.delimiter == b' ';
            if !cut || !self.record.as_slice().trim_ascii().is_empty() {
                // The parser is at the line after the row.
                self.line = after.saturating_sub(1 + inside);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the first row of the data. Returns the row with the names of the columns, or if there is none
    /// the first one of the data; and a remark on rows above the names of a saved layout's columns.
    fn begin(
        &mut self,
        layout: &CsvSchema,
        is_saved: bool,
        above: usize,
    ) -> Result<(ByteRecord, Option<String>), ReadError> {
        // The layout was determined without empty rows; skip those before the header.
        let mut more = self.next_filled()?;
        for _ in 0..above {
            more = more && self.next_filled()?;
        }
        let remark = if is_saved && layout.header { self.skip_above(layout)? } else { None };
        self.held = more && !layout.header;
        let mut first = self.record.clone();
        if layout.header {
            self.header.clone_from(&first);
        }
        if layout.header && first.len() + 1 == layout.fields.len() && layout.fields[0].name == "1" {
            // The names of rows have no name; with a saved layout, a column may be absent instead.
            self.held = self.next_filled()?;
            if !is_saved || (self.held && self.record.len() == layout.fields.len()) {
                first = layout::with_row_names(&first);
            }
        }
        Ok((first, remark))
    }

    /// As [`CsvRows::next`], for the next row in which some cell is not empty.
    fn next_filled(&mut self) -> Result<bool, ReadError> {
        while self.next()? {
            if self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Skips rows above the names of a saved layout's columns: those that have none of the names and fewer
    /// cells than there are names. Returns a remark on them.
    fn skip_above(&mut self, layout: &CsvSchema) -> Result<Option<String>, ReadError> {
        let names: HashSet<&[u8]> = layout.fields.iter().map(|field| field.name.as_bytes()).collect();
        let needed = layout.fields.iter().filter(|field| is_needed(field.role)).count();
        let mut above = vec![];
        loop {
            let cells = || self.record.iter().map(<[u8]>::trim_ascii).filter(|cell| !cell.is_empty());
            let foreign = cells().all(|cell| !names.contains(cell)) && cells().count() < needed;
            if !foreign || above.len() == header::MOST_ABOVE {
                return Ok(layout::note_above(&above));
            }
            above.push(self.record.clone());
            if !self.next_filled()? {
                // The error is about the first row.
                self.record = above.swap_remove(0);
                return Ok(None);
            }
        }
    }

    #[cold]
    fn read_error(&self, error: csv::Error) -> ReadError {
        let source = self.source();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => match error.downcast::<ReadError>() {
                Ok(error) => error,
                Err(error) => ReadError::new(source.name(), 0, ReadErrorKind::Io(error)),
            },
            kind => source.file_error(format!("{kind:?}")),
        }
    }
}

impl Records for CsvRows {
    const FORMAT: Format = Format::Csv;

    fn next(&mut self) -> Result<bool, ReadError> {
        CsvRows::next(self)
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn hand_over(
        &mut self,
        cells: &mut [Column],
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let record = &self.record;
        // A delimiter at the end of all rows begins no column.
        let one_more = record.len() == cells.len() + 1 && record[cells.len()].trim_ascii().is_empty();
        let ends = one_more && *self.ends.get_or_insert(true);
        if record.len() != cells.len() && !ends && *record != self.header {
            let (found, width) = (record.len(), cells.len());
            return Err(ReadErrorKind::Width { found, width, by: "the first row" });
        }
        if *record != self.header {
            self.ends.get_or_insert(false);
        }
        if record.get(0) == self.header.get(0) && *record == self.header {
            let what = "the row repeats the header; if the first line is a row and no header, the option header = no says so";
            return Err(ReadErrorKind::Row(what.into()));
        }
        if record.as_slice().trim_ascii().is_empty() {
            self.blank.count(self.line);
        }
        if let Some(id) = self.id {
            row.tag.push_str(&String::from_utf8_lossy(record[id].trim_ascii()));
        }
        if let Some(offered) = self.offered {
            offer(&record[offered], &cells[offered].name, row)?;
        }
        for (column, raw) in cells.iter_mut().zip(record) {
            // The most frequent cell in wide tables.
            if let ([digit @ b'0'..=b'9'], Features::Number { value: Some(value), .. }) =
                (raw, &column.features)
                && !self.missing_numbers
            {
                row.push(*value, f64::from(digit - b'0'));
                continue;
            }
            column.text(raw.trim_ascii(), columns, row)?;
        }
        Ok(())
    }

    fn source(&self) -> Option<&Source> {
        Some(CsvRows::source(self))
    }

    fn odd(&self) -> Option<Remark> {
        self.blank.remark("empty cells only")
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut decided = describe_source(self.source(), Format::Csv);
        decided.push(("delimiter", delimiter_name(self.delimiter.into())));
        decided.push(("header", if self.headed { "yes" } else { "no" }.to_owned()));
        decided
    }
}

/// Adds the labels on offer in the cell `cell` of the column `column` to a row.
fn offer(cell: &[u8], column: &str, row: &mut Row) -> Result<(), ReadErrorKind> {
    let text = std::str::from_utf8(cell).map_err(|_| ReadErrorKind::InvalidUtf8)?;
    let wrong =
        |what: Fault| ReadErrorKind::Cell { noun: "column", column: column.to_owned(), message: what.into() };
    for name in offer::names(text).map_err(wrong)? {
        row.push_offered(&name);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
