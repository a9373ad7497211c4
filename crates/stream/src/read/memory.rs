//! A table in memory, as the Python package has it: names of columns, and their cells.

use std::sync::Arc;

use csv::ByteRecord;

use crate::read::columns::ColumnMap;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::options::ReadOptions;
use crate::read::reader::Reader;
use crate::read::row::Row;
use crate::read::table::schema::{CsvRole, Style};
use crate::read::table::{Cell, Column, Records, Sample, Table, infer, label_and_weight, names};

/// Number of rows examined.
const FIRST: usize = 1000;
/// The line of row 0 in a file with a header.
pub(crate) const ROW_0: u64 = 2;

/// A cell of a [`MemoryTable`].
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryCell {
    /// None.
    Missing,
    /// A finite number.
    Number(f64),
    /// A text, which may be a number or a time.
    Text(Box<str>),
}

/// Columns with names. All have the same number of cells.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    /// Names, which may be repeated or empty as in a file.
    pub names: Vec<String>,
    /// The cells of each column.
    pub columns: Vec<Vec<MemoryCell>>,
    /// The numbers of the columns, from 0, that are durations in seconds.
    pub durations: Vec<usize>,
    /// A number as a text, where it is a label or a category.
    pub written: fn(f64) -> String,
}

impl MemoryTable {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The text of a cell without blanks around it; empty for a missing one.
    fn text<'a>(&self, cell: &'a MemoryCell, buffer: &'a mut String) -> &'a [u8] {
        self.given(cell, buffer).trim_ascii()
    }

    /// The text of a cell, as a label is given.
    fn given<'a>(&self, cell: &'a MemoryCell, buffer: &'a mut String) -> &'a [u8] {
        match cell {
            MemoryCell::Missing => b"",
            MemoryCell::Text(text) => text.as_bytes(),
            MemoryCell::Number(number) => {
                *buffer = (self.written)(*number);
                buffer.as_bytes()
            }
        }
    }
}

/// The rows of a table in turn.
struct MemoryRows {
    table: Arc<MemoryTable>,
    name: String,
    /// Number of rows so far.
    at: usize,
    /// The column that names the rows.
    id: Option<usize>,
    buffer: String,
}

pub(crate) fn reader(
    table: Arc<MemoryTable>,
    name: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    let failed = |kind: ReadErrorKind| ReadError::new(name, 0, kind);
    let named = names(&table.names.iter().collect::<ByteRecord>(), true).map_err(failed)?;
    let inferred = match &options.schema {
        Some(_) => None,
        None if named.names.is_empty() => return Err(failed(ReadErrorKind::Empty)),
        None if table.rows() == 0 => return Err(failed("has a header but no rows".into())),
        None => {
            let mut buffer = String::new();
            let mut row = |at: usize| {
                let mut record = ByteRecord::new();
                table
                    .columns
                    .iter()
                    .for_each(|column| record.push_field(table.text(&column[at], &mut buffer)));
                record
            };
            let rows: Vec<ByteRecord> = (0..table.rows().min(FIRST)).map(&mut row).collect();
            let (label, weight) =
                label_and_weight(&named.names, options).map_err(|message| failed(message.into()))?;
            let declared =
                |at| table.durations.contains(&at).then_some((CsvRole::Numeric, Some(Style::Duration)));
            let sample = Sample {
                names: &named.names,
                rows: &rows.iter().collect::<Vec<_>>(),
                label: Some(label),
                weight,
                comma_first: false,
                more: table.rows() > FIRST,
                whole: true,
                nameless: table.names[0].is_empty(),
                missing: &options.missing(),
                declared: &(0..named.names.len()).map(declared).collect::<Vec<_>>(),
            };
            Some(infer(&named, &sample, options).map_err(|message| failed(message.into()))?)
        }
    };
    let records = |id| MemoryRows {
        table: Arc::clone(&table),
        name: name.to_owned(),
        at: 0,
        id,
        buffer: String::new(),
    };
    Table::open(name, &named.names, inferred, options, records)
}

impl Records for MemoryRows {
    /// Models do not tell the two apart.
    const FORMAT: Format = Format::Csv;

    fn next(&mut self) -> Result<bool, ReadError> {
        let more = self.at < self.table.rows();
        self.at += usize::from(more);
        Ok(more)
    }

    /// The line of the row in a file with a header.
    fn line(&self) -> u64 {
        self.at as u64 + ROW_0 - 1
    }

    fn hand_over(
        &mut self,
        columns: &mut [Column],
        map: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let Self { table, at, id, buffer, .. } = self;
        let at = *at - 1;
        if let Some(id) = *id {
            row.tag.push_str(&String::from_utf8_lossy(table.text(&table.columns[id][at], buffer)));
        }
        for (column, cells) in columns.iter_mut().zip(&table.columns) {
            let cell = match &cells[at] {
                MemoryCell::Missing => Cell::Missing,
                MemoryCell::Number(number) if column.role == Some(CsvRole::Numeric) => Cell::Number(*number),
                other if column.role == Some(CsvRole::Label) => Cell::Text(table.given(other, buffer)),
                other => Cell::Text(table.text(other, buffer)),
            };
            column.add(cell, map, row)?;
        }
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::open::{from_read, from_table};
    use crate::read::reader::sentences;
    use crate::testing::read_all;

    fn rows(mut reader: Box<dyn Reader>) -> Vec<String> {
        read_all(&mut *reader, |row| format!("{} {:?}", row.line, row.label()))
    }

    /// Cells that are handed over are what a file of the same cells has.
    #[test]
    fn the_same_rows_as_of_csv() {
        use MemoryCell::{Missing, Number, Text};
        let text = |text: &str| Text(text.into());
        // There is no 31 February.
        let day = |t| if t == 30 { 31 } else { 1 + t % 28 };
        let days = (0..60).map(|t| text(&format!("2026-02-{:02}", day(t))));
        let sizes = (0..60).map(|t| if t % 7 == 0 { Missing } else { Number(f64::from(t) / 8.0) });
        let kinds = (0..60).map(|t| if t % 2 == 0 { Number(1.5) } else { text(" red ") });
        let labels = (0..60).map(|t| if t == 9 { Missing } else { text(["a", "b"][t % 2]) });
        let table = MemoryTable {
            names: ["at", "size", "kind", "y"].map(str::to_owned).to_vec(),
            columns: vec![days.collect(), sizes.collect(), kinds.collect(), labels.collect()],
            durations: vec![],
            written: |number| number.to_string(),
        };
        let (mut csv, mut buffer) = ("at,size,kind,y\n".to_owned(), String::new());
        for at in 0..table.rows() {
            let cells = table.columns.iter().map(|column| {
                String::from_utf8(table.text(&column[at], &mut buffer).to_vec()).expect("it is text")
            });
            csv += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        let options = ReadOptions { categorical: vec!["kind".into()], ..ReadOptions::default() };
        let of_csv = || from_read(Box::new(std::io::Cursor::new(csv.clone())), "a.csv", &options).unwrap();
        let of_table = || from_table(Arc::new(table.clone()), "a.csv", &options).unwrap();
        assert_eq!(rows(of_table()), rows(of_csv()));
        let (mut a, mut b) = (of_csv(), of_table());
        while a.read(&mut Row::new()).unwrap() && b.read(&mut Row::new()).unwrap() {}
        let [of_csv, of_table] = [&a, &b].map(|reader| sentences(reader.as_ref()));
        assert!(of_csv[0].contains("the first \"2026-02-31\" in line 32"), "{of_csv:?}");
        assert_eq!(of_table, of_csv.iter().map(|told| told.replace("line 32", "row 30")).collect::<Vec<_>>());
        assert_eq!((a.notes(), a.schema()), (b.notes(), b.schema()));
    }
}
