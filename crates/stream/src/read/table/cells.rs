//! The features of columns of numbers, times and text.

use super::text::Words;
use super::{amount, time};
use crate::read::columns::ColumnMap;
use crate::read::options::{CsvField, CsvRole, Style};
use crate::read::row::Row;

/// The suffix of the feature for a missing cell.
pub(crate) const MISSING: &str = "=missing";

/// The features of a column of numbers, times or text.
pub(crate) enum Cells {
    /// A number, and the indicator for a missing one, if there is one.
    Number { style: Option<Style>, value: Option<u32>, missing: Option<u32> },
    /// A time: its numbers, each with an indicator for missing ones.
    Time { style: Style, values: Vec<(Option<u32>, Option<u32>)> },
    /// Free text.
    Text(Box<Words>),
    /// Other columns.
    Other,
}

impl Cells {
    /// Adds a number, a time or a text to a row. Returns false, and adds nothing, for any other cell.
    pub(crate) fn push(&mut self, name: &str, cell: &str, columns: &mut ColumnMap, row: &mut Row) -> bool {
        match self {
            Cells::Number { style, value, .. } => match amount::parse(cell.as_bytes(), *style) {
                Some(number) => {
                    if let Some(value) = value {
                        row.push(*value, number);
                    }
                    true
                }
                None => false,
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
                None => false,
            },
            Cells::Text(words) => {
                words.push(cell, columns, row);
                true
            }
            Cells::Other => true,
        }
    }

    /// Adds a missing cell to a row.
    pub(crate) fn push_missing(&self, row: &mut Row) {
        match self {
            Cells::Number { missing, .. } => push_one(*missing, row),
            Cells::Time { values, .. } => values.iter().for_each(|(_, missing)| push_one(*missing, row)),
            Cells::Text(_) | Cells::Other => {}
        }
    }

    /// Removes the features from `count` on, which were taken back.
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

/// The names of a field's numeric features.
pub(crate) fn numbers_of(field: &CsvField) -> Vec<String> {
    match field.role {
        CsvRole::Numeric => vec![field.name.clone()],
        CsvRole::Time => time::NUMBERS.iter().map(|number| format!("{}:{number}", field.name)).collect(),
        _ => vec![],
    }
}

/// Assigns features to the fields of a table: first the numbers, then, if `says_missing`, the
/// indicators of missing numbers.
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
