//! Delimited text, by the csv crate: numbers, one-hot categories, a label column.
//!
//! A missing numeric cell is 0: one that is empty, `?`, or `NA`, `N/A`, `NaN`, `null`, `None` in any case. An empty
//! categorical cell is no category, an empty label cell an unlabelled row. Blanks around a cell do not count. A category
//! is the feature `column=cell` of value 1. Numeric columns come first, categories in order of appearance.
//!
//! With a saved schema, columns are found by their names if there is a header; columns that the schema does not know
//! are dropped and counted, the label column may be absent.

mod header;
pub(crate) mod layout;
mod notes;
mod text;

use std::collections::{HashMap, HashSet};

use csv::{ByteRecord, Reader as RecordReader};

use self::header::names;
use self::layout::{builder, describe_roles, is_missing};
use self::notes::notes;
use self::text::{CsvText, plain_line_ends};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, delimiter_name, shown};
use crate::read::format::Format;
use crate::read::number;
use crate::read::options::{CsvRole, CsvSchema, ReadOptions, Schema, Speech};
use crate::read::reader::{Reader, describe_source};
use crate::read::row::{Duplicates, Row};
use crate::read::source::{Peek, Source};
use crate::words::counted;

struct CsvReader {
    rows: Rows,
    cells: Vec<Cell>,
    layout: CsvSchema,
    columns: ColumnMap,
    /// Whether the types are those of a saved model.
    saved: bool,
    /// The words that stand for missing numbers in the first rows, quoted.
    missing: Vec<String>,
    notes: Vec<String>,
    /// The first row, if it names the columns.
    header: ByteRecord,
    feature: String,
}

/// What to do with the cell at one position of a row.
struct Cell {
    name: String,
    /// `None`: a column that the saved model does not know.
    role: Option<CsvRole>,
    /// Column of a numeric cell.
    column: Option<u32>,
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let mut columns = ColumnMap::new(columns, options.most_columns());
    let saved = options.schema.as_ref().and_then(|schema| schema.csv.as_ref());
    let (mut missing, mut odd) = (vec![], vec![]);
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
            if let Ok(layout) = &layout {
                (missing, odd) =
                    (layout::missing_words(&peek, layout), notes(&peek, layout, &options.categorical));
            }
            layout.map_err(|message| source.file_error(message))?
        }
    };
    let delimiter =
        layout::checked_delimiter(layout.delimiter).map_err(|message| source.file_error(message))?;
    let records = builder(delimiter).from_reader(CsvText::new(source));
    let mut rows =
        Rows { records, record: ByteRecord::new(), line: 0, held: false, blank_delimiter: delimiter == b' ' };
    // The layout was decided without empty rows; one before the header is not the header.
    let mut more = rows.next()?;
    while more && rows.record.iter().all(|cell| cell.trim_ascii().is_empty()) {
        more = rows.next()?;
    }
    rows.held = more && !layout.header;
    let header = if layout.header { rows.record.clone() } else { ByteRecord::new() };
    let cells = match saved {
        Some(_) => saved_cells(&rows.record, &layout),
        None => Ok(layout.fields.iter().map(|field| Cell::new(&field.name, Some(field.role))).collect()),
    };
    let mut cells: Vec<Cell> = cells.map_err(|message| rows.source().file_error(message))?;
    for cell in cells.iter_mut().filter(|cell| cell.role == Some(CsvRole::Numeric)) {
        cell.column = columns.by_name(&cell.name);
    }
    columns.commit();
    Ok(Box::new(CsvReader {
        rows,
        cells,
        layout,
        columns,
        saved: saved.is_some(),
        missing,
        notes: odd,
        header,
        feature: String::new(),
    }))
}

/// What the positions of a file mean to a saved layout. `first` is its first row.
fn saved_cells(first: &ByteRecord, layout: &CsvSchema) -> Result<Vec<Cell>, ReadErrorKind> {
    let needed = |role| matches!(role, CsvRole::Numeric | CsvRole::Categorical);
    if !layout.header {
        let cells = |all: bool| {
            let kept = layout.fields.iter().filter(move |field| all || needed(field.role));
            kept.map(|field| Cell::new(&field.name, Some(field.role))).collect::<Vec<_>>()
        };
        let found = [cells(true), cells(false)].into_iter().find(|cells| cells.len() == first.len());
        return found.ok_or_else(|| {
            let (all, found) = (layout.fields.len(), counted(first.len() as u64, "column"));
            format!("has {found}, but the saved model was trained on {all}, the label among them").into()
        });
    }
    let names = names(first, true)?.names;
    let there: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut fields = layout.fields.iter();
    if let Some(field) = fields.find(|field| needed(field.role) && !there.contains(&*field.name)) {
        let name = shown(&field.name);
        return Err(format!("lacks the column {name} that the saved model was trained on").into());
    }
    let roles: HashMap<&str, CsvRole> =
        layout.fields.iter().map(|field| (&*field.name, field.role)).collect();
    Ok(names.iter().map(|name| Cell::new(name, roles.get(&**name).copied())).collect())
}

impl Cell {
    fn new(name: &str, role: Option<CsvRole>) -> Self {
        Cell { name: name.to_owned(), role, column: None }
    }

    #[cold]
    fn fault(&self, message: String) -> ReadErrorKind {
        ReadErrorKind::Cell { noun: "column", column: self.name.clone(), message }
    }

    fn number(&self, cell: &[u8], saved: bool) -> Result<f64, ReadErrorKind> {
        match number::parse(cell) {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.fault(format!("{} is not finite", shown(cell)))),
            Err(_) if saved || self.role != Some(CsvRole::Numeric) => {
                Err(self.fault(format!("{} is not a number", shown(cell))))
            }
            Err(_) => Err(ReadErrorKind::NotANumber { column: self.name.clone(), cell: shown(cell) }),
        }
    }
}

/// The rows of the csv crate with their lines.
struct Rows {
    records: RecordReader<CsvText>,
    record: ByteRecord,
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
            let after = self.records.position().line();
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
        for (cell, raw) in self.cells.iter().zip(record) {
            // The commonest cell of all, in wide tables.
            if let ([digit @ b'0'..=b'9'], Some(CsvRole::Numeric), Some(column)) =
                (raw, cell.role, cell.column)
            {
                row.push(column, f64::from(digit - b'0'));
                continue;
            }
            let text = raw.trim_ascii();
            if text.is_empty() {
                continue;
            }
            match cell.role {
                Some(CsvRole::Numeric) if is_missing(text) => {}
                Some(CsvRole::Numeric) => {
                    let number = cell.number(text, self.saved)?;
                    match cell.column {
                        Some(column) => row.push(column, number),
                        None => self.columns.drop_one(),
                    }
                }
                Some(CsvRole::Categorical) => {
                    self.feature.clear();
                    self.feature.push_str(&cell.name);
                    self.feature.push('=');
                    self.feature.push_str(utf8(text)?);
                    if let Some(column) = self.columns.by_name(&self.feature) {
                        row.push(column, 1.0);
                    }
                }
                Some(CsvRole::Label) => {
                    if !row.set_name(utf8(text)?) {
                        return Err(cell.fault(format!("label {} is not finite", shown(text))));
                    }
                }
                Some(CsvRole::Weight) => {
                    row.weight = cell.number(text, self.saved)?;
                    if row.weight < 0.0 {
                        return Err(cell.fault(format!("weight {} is negative", shown(text))));
                    }
                }
                None => self.columns.drop_one(),
            }
        }
        // Only hashes can meet.
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
}

fn utf8(text: &[u8]) -> Result<&str, ReadErrorKind> {
    std::str::from_utf8(text).map_err(|_| ReadErrorKind::InvalidUtf8)
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
                row.clear();
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
        decided.extend(describe_roles(self.cells.iter().map(|cell| (&*cell.name, cell.role))));
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
