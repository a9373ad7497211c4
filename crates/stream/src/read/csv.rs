//! Delimited text, by the csv crate: numbers, one-hot categories, a label column.
//!
//! A missing numeric cell is 0: one that is empty, `?`, or `NA`, `N/A`, `NaN`, `null`, `None` in any case, or
//! something that is no number at all; in a table with text, times or styled numbers the feature
//! `column=missing` is 1 beside it. An empty categorical cell is no category, an empty label cell an
//! unlabelled row. Blanks around a cell do not count. A category is the feature `column=cell` of value 1.
//! Numeric columns come first, categories in order of appearance; what else columns may hold is the business
//! of [`table`](crate::read::table).
//!
//! With a saved schema, columns are found by their names if there is a header; columns that the schema does
//! not know are dropped and counted, columns that are not there count as missing in every row, the label
//! column may be absent.

mod header;
pub(crate) mod layout;
mod text;

use std::collections::{HashMap, HashSet};

use csv::{ByteRecord, Reader as RecordReader};

use self::header::names;
use self::layout::{builder, describe_roles};
use self::text::{CsvText, plain_line_ends};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, delimiter_name, shown};
use crate::read::format::Format;
use crate::read::options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema, Speech};
use crate::read::reader::{Reader, describe_source};
use crate::read::row::{Duplicates, Row};
use crate::read::source::{Peek, Source};
use crate::read::table::{self, Cell, Cells, absent_note, absent_numbers, is_needed};
use crate::words::counted;

struct CsvReader {
    rows: Rows,
    cells: Vec<Cell>,
    layout: CsvSchema,
    columns: ColumnMap,
    /// The words that stand for missing numbers in the first rows, quoted.
    missing: Vec<String>,
    /// What is odd about the first rows.
    notes: Vec<String>,
    /// The first row, if it names the columns.
    header: ByteRecord,
    feature: String,
    /// The column that names the rows.
    id: Option<usize>,
    /// Numbers that the file has no column for.
    absent: Vec<Cell>,
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let mut columns = ColumnMap::new(columns, options.most_columns());
    let saved = options.schema.as_ref().and_then(|schema| schema.csv.as_ref());
    let (mut missing, mut said) = (vec![], vec![]);
    let layout = match saved {
        Some(saved) => {
            let peek = source.peek(1, 1)?;
            let seen = || layout::detect_delimiter(&peek).map(char::from);
            let there = u8::try_from(saved.delimiter).is_ok_and(|byte| peek.bytes.contains(&byte));
            let kept = if there { saved.delimiter } else { seen().unwrap_or(saved.delimiter) };
            let delimiter = options.delimiter.map_or(kept, char::from);
            CsvSchema {
                delimiter,
                header: options.header.unwrap_or(saved.header),
                fields: saved.fields.clone(),
                ..*saved
            }
        }
        None => {
            let peek = source.peek(layout::LINES, 2)?;
            if peek.all && peek.bytes.trim_ascii().is_empty() {
                return Err(ReadError::new(source.name(), 0, ReadErrorKind::Empty));
            }
            let bytes = &plain_line_ends(peek.bytes);
            let peek = Peek { bytes, all: peek.all };
            let layout = layout::infer(&peek, options);
            let (layout, decided) = layout.map_err(|message| source.file_error(message))?;
            missing = layout::missing_words(&peek, &layout);
            said = decided;
            layout
        }
    };
    let delimiter =
        layout::checked_delimiter(layout.delimiter).map_err(|message| source.file_error(message))?;
    let before = source.line();
    let records = builder(delimiter).from_reader(CsvText::new(source));
    let mut rows = Rows {
        records,
        record: ByteRecord::new(),
        before,
        line: 0,
        held: false,
        blank_delimiter: delimiter == b' ',
    };
    // The layout was decided without empty rows; one before the header is not the header.
    let mut more = rows.next()?;
    while more && rows.record.iter().all(|cell| cell.trim_ascii().is_empty()) {
        more = rows.next()?;
    }
    rows.held = more && !layout.header;
    let header = if layout.header { rows.record.clone() } else { ByteRecord::new() };
    let fields = match saved {
        Some(_) => saved_fields(&rows.record, &layout),
        None => Ok(layout.fields.iter().map(|field| (field.name.clone(), Some(field.clone()))).collect()),
    };
    let fields = fields.map_err(|message| rows.source().file_error(message))?;
    let features = table::cells(&layout.fields, layout.numbers.is_some(), &mut columns);
    columns.commit();
    let places: HashMap<&str, usize> =
        layout.fields.iter().enumerate().map(|(at, field)| (&*field.name, at)).collect();
    let mut features: Vec<Option<Cells>> = features.into_iter().map(Some).collect();
    let mut cells = vec![];
    for (name, field) in fields {
        let at = field.as_ref().and_then(|field| places.get(&*field.name));
        let found = at.and_then(|at| features[*at].take());
        cells.push(Cell::new(name, field, found.unwrap_or(Cells::Other)));
    }
    let absent: Vec<Cell> = (layout.fields.iter().zip(features))
        .filter(|(field, _)| is_needed(field.role))
        .filter_map(|(field, cells)| Some(Cell::new(field.name.clone(), Some(field.clone()), cells?)))
        .collect();
    said.extend(absent_note(absent.iter()));
    if layout.header_rows() > 1 && rows.next()? {
        // A file that goes on from another one may have a single header.
        let mut pairs = cells.iter().zip(&rows.record);
        rows.held = pairs
            .any(|(cell, text)| cell.role == Some(CsvRole::Numeric) && layout::is_number(text.trim_ascii()));
    }
    let id = match &options.id {
        Some(column) => {
            let names: Vec<String> = cells.iter().map(|cell| cell.name.clone()).collect();
            let found = layout::find_column(&names, column);
            Some(found.map_err(|message| rows.source().file_error(message))?)
        }
        None => None,
    };
    Ok(Box::new(CsvReader {
        rows,
        cells,
        layout,
        columns,
        missing,
        notes: said,
        header,
        feature: String::new(),
        id,
        absent,
    }))
}

/// What the positions of a file mean to a saved layout: names, and what is known of them. `first` is its
/// first row.
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

    /// Reads the next row that is not blank into `record`.
    fn next(&mut self) -> Result<bool, ReadError> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        while self.records.read_byte_record(&mut self.record).map_err(|error| self.read_error(error))? {
            let inside = memchr::memchr_iter(b'\n', self.record.as_slice()).count() as u64;
            let after = self.before + self.records.position().line();
            // The text ends in a line end, so that only an open quote can lead a row to the end of the file.
            if self.records.get_ref().ended {
                let message = "a quote opens here that nothing closes".to_owned();
                let line = after.saturating_sub(inside);
                return Err(ReadError::new(self.source().name(), line, ReadErrorKind::Row(message)));
            }
            // Cut at blanks, a blank line has many cells.
            let cut = self.record.len() == 1 || self.blank_delimiter;
            if !cut || !self.record.as_slice().trim_ascii().is_empty() {
                // The parser stands at the line after the row.
                self.line = after.saturating_sub(1 + inside);
                return Ok(true);
            }
        }
        Ok(false)
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
        if record.len() != self.cells.len() {
            let (found, width) = (record.len(), self.cells.len());
            let s = if found == 1 { "" } else { "s" };
            return Err(ReadErrorKind::Row(format!(
                "the row has {found} cell{s}, not {width} as the first row"
            )));
        }
        if record.get(0) == self.header.get(0) && *record == self.header {
            return Err(ReadErrorKind::Row("the row is the header once more".into()));
        }
        if let Some(id) = self.id {
            row.tag.push_str(&String::from_utf8_lossy(record[id].trim_ascii()));
        }
        for (cell, raw) in self.cells.iter_mut().zip(record) {
            // The commonest cell of all, in wide tables.
            if let ([digit @ b'0'..=b'9'], Cells::Number { value: Some(column), .. }) = (raw, &cell.cells) {
                row.push(*column, f64::from(digit - b'0'));
                continue;
            }
            let line = self.rows.line;
            cell.read(raw.trim_ascii(), line, &mut self.feature, &mut self.columns, row)?;
        }
        for cell in &self.absent {
            cell.cells.push_missing(row);
        }
        // Only hashes can meet.
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    /// Forgets what was taken back.
    fn forget(&mut self) {
        let count = self.columns.columns().count();
        self.cells.iter_mut().for_each(|cell| cell.cells.forget(count));
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
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
                // Whoever answers line by line still says which row it was.
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
        self.cells.iter().filter_map(Cell::odd).collect()
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
