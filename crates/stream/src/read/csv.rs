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
mod text;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use csv::{ByteRecord, Reader as RecordReader};

use self::header::names;
use self::layout::{builder, describe_roles};
use self::text::{CsvText, is_aligned, plain_line_ends, squeezed};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, delimiter_name, shown};
use crate::read::format::Format;
use crate::read::missing::Missing;
use crate::read::offer;
use crate::read::options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema, Speech};
use crate::read::reader::{Reader, describe_source};
use crate::read::row::{Duplicates, Row};
use crate::read::source::{Peek, Source};
use crate::read::table::{self, Cell, Cells, absent_note, absent_numbers, is_needed, new_note};
use crate::words::counted;

struct CsvReader {
    rows: Rows,
    cells: Vec<Cell>,
    layout: CsvSchema,
    columns: ColumnMap,
    /// The words for missing numbers in the first rows, quoted.
    missing: Vec<String>,
    /// Remarks on the first rows.
    notes: Vec<String>,
    /// The first row, if it is a header.
    header: ByteRecord,
    feature: String,
    /// Whether some numbers count as missing.
    missing_numbers: bool,
    /// The column that names the rows.
    id: Option<usize>,
    /// The column of the labels on offer.
    offered: Option<usize>,
    /// Numeric columns of the schema that are absent from the file.
    absent: Vec<Cell>,
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let mut columns = ColumnMap::new(columns, options.most_columns());
    let derived = options.schema.as_ref().and_then(named_fields);
    let saved = options.schema.as_ref().and_then(|schema| schema.csv.as_ref().or(derived.as_ref()));
    let (mut missing, mut said) = (vec![], vec![]);
    let mut above = 0;
    let aligned;
    let layout = match saved {
        Some(saved) => {
            let there =
                |peek: &Peek<'_>| u8::try_from(saved.delimiter).is_ok_and(|byte| peek.bytes.contains(&byte));
            let kept = if there(&source.peek(1, 1)?) {
                saved.delimiter
            } else {
                // Another delimiter, or a title.
                let peek = source.peek(if saved.header { header::MOST_ABOVE + 2 } else { 1 }, 1)?;
                layout::detect_delimiter(&peek).map_or(saved.delimiter, char::from)
            };
            let delimiter = options.delimiter.map_or(kept, char::from);
            aligned = delimiter == ' ' && is_aligned(&source.peek(2, 1)?, options);
            CsvSchema { delimiter, header: options.header.unwrap_or(saved.header), ..saved.clone() }
        }
        None => {
            let peek = source.peek(layout::LINES, 2)?;
            if peek.all && peek.bytes.trim_ascii().is_empty() {
                return Err(ReadError::new(source.name(), 0, ReadErrorKind::Empty));
            }
            aligned = is_aligned(&peek, options);
            let bytes = &if aligned { squeezed(peek.bytes) } else { plain_line_ends(peek.bytes) };
            let peek = Peek { bytes, all: peek.all };
            let inferred = layout::infer(&peek, options).map_err(|message| source.file_error(message))?;
            missing = layout::missing_words(&peek, &inferred);
            (above, said) = (inferred.above, inferred.notes);
            inferred.layout
        }
    };
    let delimiter =
        layout::checked_delimiter(layout.delimiter).map_err(|message| source.file_error(message))?;
    let before = source.line();
    let records = builder(delimiter).from_reader(CsvText::new(source, aligned));
    let mut rows = Rows {
        records,
        record: ByteRecord::new(),
        before,
        line: 0,
        held: false,
        blank_delimiter: delimiter == b' ',
    };
    // The layout was determined without empty rows; skip those before the header.
    let mut more = rows.next_filled()?;
    for _ in 0..above {
        more = more && rows.next_filled()?;
    }
    if saved.is_some() && layout.header {
        said.extend(rows.skip_above(&layout)?);
    }
    rows.held = more && !layout.header;
    let mut first = rows.record.clone();
    let header = if layout.header { first.clone() } else { ByteRecord::new() };
    if layout.header && first.len() + 1 == layout.fields.len() {
        // The names of rows have no name; with a saved layout, a column may be absent instead.
        rows.held = rows.next_filled()?;
        if saved.is_none() || (rows.held && rows.record.len() == layout.fields.len()) {
            first = layout::with_row_names(&first);
        }
    }
    let fields = match saved {
        Some(_) => saved_fields(&first, &layout),
        None => Ok(layout.fields.iter().map(|field| (field.name.clone(), Some(field.clone()))).collect()),
    };
    let fields = fields.map_err(|message| rows.source().file_error(message))?;
    let what = Arc::new(options.missing());
    let features = table::cells(&layout.fields, layout.numbers.is_some(), &mut columns);
    columns.commit();
    let places: HashMap<&str, usize> =
        layout.fields.iter().enumerate().map(|(at, field)| (&*field.name, at)).collect();
    let mut features: Vec<Option<Cells>> = features.into_iter().map(Some).collect();
    let mut cells = vec![];
    for (name, field) in fields {
        let at = field.as_ref().and_then(|field| places.get(&*field.name));
        let found = at.and_then(|at| features[*at].take());
        cells.push(Cell::new(name, field, found.unwrap_or(Cells::Other), &what));
    }
    let absent: Vec<Cell> = (layout.fields.iter().zip(features))
        .filter(|(field, _)| is_needed(field.role))
        .filter_map(|(field, cells)| Some(Cell::new(field.name.clone(), Some(field.clone()), cells?, &what)))
        .collect();
    said.extend(absent_note(absent.iter()));
    let names: Vec<String> = cells.iter().map(|cell| cell.name.clone()).collect();
    let find = |column: &Option<String>| {
        let found = column.as_ref().map(|column| layout::find_column(&names, column)).transpose();
        found.map_err(|message| rows.source().file_error(message))
    };
    let (id, offered) = (find(&options.id)?, find(&options.offered)?);
    let new = cells.iter().enumerate().filter(|(at, cell)| cell.role.is_none() && Some(*at) != offered);
    said.extend(new_note(new.map(|(_, cell)| &*cell.name)));
    if layout.header_rows() > 1 && rows.next()? {
        // A continuation of another file may have a single header.
        let mut pairs = cells.iter().zip(&rows.record);
        rows.held = pairs.any(|(cell, text)| {
            cell.role == Some(CsvRole::Numeric) && table::words::is_number(text.trim_ascii())
        });
    }
    Ok(Box::new(CsvReader {
        rows,
        cells,
        layout,
        columns,
        missing,
        notes: said,
        header,
        feature: String::new(),
        missing_numbers: !options.missing().words.is_empty(),
        id,
        offered,
        absent,
    }))
}

/// The layout of a table for a model whose rows were no table, such as the log of another program: a name
/// with `=` is a category of a column, another one a column of numbers.
fn named_fields(schema: &Schema) -> Option<CsvSchema> {
    let Columns::Named(names) = &schema.columns else { return None };
    let mut seen = HashSet::new();
    let fields = names.iter().filter_map(|name| {
        let (name, role) = match name.split_once('=') {
            Some((column, _)) => (column, CsvRole::Categorical),
            None => (name, CsvRole::Numeric),
        };
        seen.insert(name.to_owned()).then(|| CsvField { name: name.to_owned(), role, style: None })
    });
    let fields = fields.collect();
    Some(CsvSchema { delimiter: ',', header: true, fields, numbers: None, marks: vec![], header_rows: None })
}

/// Maps the columns of a file to a saved layout. `first` is the file's first row.
fn saved_fields(
    first: &ByteRecord,
    layout: &CsvSchema,
) -> Result<Vec<(String, Option<CsvField>)>, ReadErrorKind> {
    let known = |field: &CsvField| (field.name.clone(), Some(field.clone()));
    if !layout.header {
        let fields = |all: bool| {
            let kept = layout.fields.iter().filter(move |field| all || is_needed(field.role));
            kept.map(known).collect::<Vec<_>>()
        };
        let found = [fields(true), fields(false)].into_iter().find(|fields| fields.len() == first.len());
        return found.ok_or_else(|| {
            let (all, found) = (layout.fields.len(), counted(first.len() as u64, "column"));
            format!("has {found}, but the saved model was trained on {all}, the label among them").into()
        });
    }
    let names = names(first, true)?.names;
    let there: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut needed = layout.fields.iter().filter(|field| is_needed(field.role)).peekable();
    if let Some(wanted) = needed.peek().map(|field| shown(&field.name))
        && needed.all(|field| !there.contains(&*field.name))
    {
        return Err(format!("lacks all columns that the saved model was trained on, such as {wanted}").into());
    }
    let fields: HashMap<&str, &CsvField> = layout.fields.iter().map(|field| (&*field.name, field)).collect();
    let field = |name: &String| fields.get(name.as_str()).map(|field| (*field).clone());
    Ok(names
        .into_iter()
        .map(|name| {
            let field = field(&name);
            (name, field)
        })
        .collect())
}

/// The rows of the csv crate with their lines.
struct Rows {
    records: RecordReader<CsvText>,
    record: ByteRecord,
    /// Lines before the text.
    before: u64,
    /// Line where `record` begins.
    line: u64,
    /// `record` is the next row.
    held: bool,
    blank_delimiter: bool,
}

impl Rows {
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
                let message = "a quotation mark that opens here is never closed".to_owned();
                let line = after.saturating_sub(inside);
                return Err(ReadError::new(self.source().name(), line, ReadErrorKind::Row(message)));
            }
            // With blanks as delimiter, a blank line has many cells.
            let cut = self.record.len() == 1 || self.blank_delimiter;
            if !cut || !self.record.as_slice().trim_ascii().is_empty() {
                // The parser is at the line after the row.
                self.line = after.saturating_sub(1 + inside);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// As [`Rows::next`], for the next row in which some cell is not empty.
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

impl CsvReader {
    fn parse(&mut self, row: &mut Row) -> Result<(), ReadErrorKind> {
        let record = &self.rows.record;
        if record.len() != self.cells.len() && *record != self.header {
            let (found, width) = (record.len(), self.cells.len());
            let s = if found == 1 { "" } else { "s" };
            return Err(ReadErrorKind::Row(format!(
                "the row has {found} cell{s}, not {width} as the first row"
            )));
        }
        if record.get(0) == self.header.get(0) && *record == self.header {
            return Err(ReadErrorKind::Row("the row repeats the header".into()));
        }
        if let Some(id) = self.id {
            row.tag.push_str(&String::from_utf8_lossy(record[id].trim_ascii()));
        }
        if let Some(offered) = self.offered {
            offer(&record[offered], &self.cells[offered].name, row)?;
        }
        for (cell, raw) in self.cells.iter_mut().zip(record) {
            // The most frequent cell in wide tables.
            if let ([digit @ b'0'..=b'9'], Cells::Number { value: Some(column), .. }) = (raw, &cell.cells)
                && !self.missing_numbers
            {
                row.push(*column, f64::from(digit - b'0'));
                continue;
            }
            let line = self.rows.line;
            cell.read(raw.trim_ascii(), line, &mut self.feature, &mut self.columns, row)?;
        }
        for cell in &self.absent {
            cell.cells.push_missing(row);
        }
        // Only hashed features can collide.
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    /// Removes columns that were taken back.
    fn forget(&mut self) {
        let count = self.columns.columns().count();
        self.cells.iter_mut().for_each(|cell| cell.cells.forget(count));
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
}

/// Adds the labels on offer in the cell `cell` of the column `column` to a row.
fn offer(cell: &[u8], column: &str, row: &mut Row) -> Result<(), ReadErrorKind> {
    let text = std::str::from_utf8(cell).map_err(|_| ReadErrorKind::InvalidUtf8)?;
    let fault = |message: String| ReadErrorKind::Cell { noun: "column", column: column.to_owned(), message };
    for name in offer::names(text).map_err(fault)? {
        row.push_offered(&name);
    }
    Ok(())
}

impl Reader for CsvReader {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.clear();
        if !self.rows.next()? {
            return Ok(false);
        }
        match self.parse(row) {
            Ok(()) => {
                self.columns.commit();
                row.line = self.rows.line;
                Ok(true)
            }
            Err(kind) => {
                self.columns.roll_back();
                self.forget();
                // The row keeps its name, for programs that answer line by line.
                let tag = std::mem::take(&mut row.tag);
                row.clear();
                row.tag = tag;
                Err(ReadError::new(self.rows.source().name(), self.rows.line, kind))
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.columns.columns()
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
    }

    fn take_back(&mut self) {
        self.columns.take_back();
        self.forget();
    }

    fn absent(&self) -> Vec<u32> {
        absent_numbers(self.absent.iter())
    }

    fn odd_cells(&self) -> Vec<String> {
        self.cells.iter().filter_map(Cell::odd).chain(self.columns.unknown()).collect()
    }

    fn position(&self) -> u64 {
        self.rows.source().position()
    }

    fn size(&self) -> Option<u64> {
        self.rows.source().size()
    }

    fn schema(&self) -> Schema {
        Schema {
            format: Format::Csv,
            columns: self.columns().clone(),
            label: self.named(CsvRole::Label),
            weight: self.named(CsvRole::Weight),
            csv: Some(self.layout.clone()),
            offers: None,
            missing: Missing::default(),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut decided = describe_source(self.rows.source(), Format::Csv);
        decided.push(("delimiter", delimiter_name(self.layout.delimiter)));
        decided.push(("header", if self.layout.header { "yes" } else { "no" }.to_owned()));
        decided.extend(describe_roles(self.cells.iter().map(|cell| (&*cell.name, cell.field.as_ref()))));
        if !self.missing.is_empty() {
            decided.push(("missing numbers", self.missing.join(", ")));
        }
        if let Columns::Hashed { bits } = self.columns() {
            decided.push(("features", format!("hashed into 2^{bits} columns")));
        }
        decided
    }
}

#[cfg(test)]
mod tests;
