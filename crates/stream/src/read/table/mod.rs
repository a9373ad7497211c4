//! Tables as people have them: what each column holds, and the features that its cells become.
//!
//! [`roles`] decides what columns hold, by their first rows; `cell` writes one to a row, in whatever format
//! it came; `text`, `time` and `amount` read one kind each. What was decided is saved with a model, so that
//! the rows of tomorrow are read as today's were.

mod amount;
mod cell;
mod roles;
mod text;
mod time;

pub(crate) use cell::{Cell, absent_note, absent_numbers, is_needed};
pub(crate) use roles::{Decided, Sample, decide};
use text::Words;

use crate::read::columns::ColumnMap;
use crate::read::options::{CsvField, CsvRole, Style};
use crate::read::row::Row;

/// What stands behind a column's name where its cell is missing.
pub(crate) const MISSING: &str = "=missing";

/// The features that a column of numbers, times or text becomes. Labels, weights and categories are not its
/// concern.
pub(crate) enum Cells {
    /// A number, and the feature that says that it is missing, where there is one.
    Number { style: Option<Style>, value: Option<u32>, missing: Option<u32> },
    /// A time: its numbers, and for each the feature that says that it is missing.
    Time { style: Style, values: Vec<(Option<u32>, Option<u32>)> },
    /// Free text.
    Text(Box<Words>),
    /// Anything else.
    Other,
}

impl Cells {
    /// Writes a cell that is a number or a time, or is missing, to a row. False if there is something else in
    /// it, which then counts as missing.
    pub(crate) fn push(&mut self, name: &str, cell: &str, columns: &mut ColumnMap, row: &mut Row) -> bool {
        match self {
            Cells::Number { style, value, missing } => match amount::parse(cell.as_bytes(), *style) {
                Some(number) => {
                    if let Some(value) = value {
                        row.push(*value, number);
                    }
                    true
                }
                None => {
                    push_one(*missing, row);
                    false
                }
            },
            Cells::Time { style, values } => match time::parse(cell, *style) {
                Some(moment) => {
                    for (number, (value, _)) in moment.numbers().into_iter().zip(values) {
                        if let Some(value) = value {
                            row.push(*value, number);
                        }
                    }
                    if let Some(weekday) = columns.by_name(&format!("{name}:weekday={}", moment.weekday())) {
                        row.push(weekday, 1.0);
                    }
                    true
                }
                None => {
                    self.push_missing(row);
                    false
                }
            },
            Cells::Text(words) => {
                words.push(cell, columns, row);
                true
            }
            Cells::Other => true,
        }
    }

    /// Says in a row that there is nothing in the cell.
    pub(crate) fn push_missing(&self, row: &mut Row) {
        match self {
            Cells::Number { missing, .. } => push_one(*missing, row),
            Cells::Time { values, .. } => values.iter().for_each(|(_, missing)| push_one(*missing, row)),
            Cells::Text(_) | Cells::Other => {}
        }
    }

    /// Forgets the features from `count` on: they were taken back.
    pub(crate) fn forget(&mut self, count: u32) {
        if let Cells::Text(words) = self {
            words.forget(count);
        }
    }
}

fn push_one(feature: Option<u32>, row: &mut Row) {
    if let Some(feature) = feature {
        row.push(feature, 1.0);
    }
}

/// The names of the numbers that a field becomes.
pub(crate) fn numbers_of(field: &CsvField) -> Vec<String> {
    match field.role {
        CsvRole::Numeric => vec![field.name.clone()],
        CsvRole::Time => time::NUMBERS.iter().map(|number| format!("{}:{number}", field.name)).collect(),
        _ => vec![],
    }
}

/// Gives the fields of a table their features: numbers come first, and after them, if `says_missing`, those
/// that say where they are missing.
pub(crate) fn cells(fields: &[CsvField], says_missing: bool, columns: &mut ColumnMap) -> Vec<Cells> {
    let numbers: Vec<String> = fields.iter().flat_map(numbers_of).collect();
    let values: Vec<Option<u32>> = numbers.iter().map(|name| columns.by_name(name)).collect();
    let missing: Vec<Option<u32>> = match says_missing {
        true => numbers.iter().map(|name| columns.by_name(&format!("{name}{MISSING}"))).collect(),
        false => vec![None; numbers.len()],
    };
    let mut pairs = values.into_iter().zip(missing);
    let mut cells = vec![];
    for field in fields {
        cells.push(match field.role {
            CsvRole::Numeric => {
                let (value, missing) = pairs.next().expect("a pair for each number");
                Cells::Number { style: field.style, value, missing }
            }
            CsvRole::Time => {
                let style = field.style.unwrap_or(Style::Iso);
                Cells::Time { style, values: pairs.by_ref().take(time::NUMBERS.len()).collect() }
            }
            CsvRole::Text => Cells::Text(Box::new(Words::new(&field.name, columns.columns()))),
            _ => Cells::Other,
        });
    }
    cells
}
