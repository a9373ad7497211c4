//! What a person should be told of a CSV file whose columns are not what they seem.

use std::collections::HashSet;

use csv::ByteRecord;

use super::header::names;
use super::layout::{LINES, checked_delimiter, is_missing, is_number, records};
use crate::read::error::shown;
use crate::read::options::{CsvRole, CsvSchema};
use crate::read::source::Peek;

/// Fewer cells than this say little about a column.
const FEWEST: usize = 20;

/// Sentences about the first rows, of which `layout` was made: names that the header repeats, and columns of categories (but those
/// that were asked for, `asked`) that are nearly all numbers, or nearly all different.
pub(crate) fn notes(peek: &Peek<'_>, layout: &CsvSchema, asked: &[String]) -> Vec<String> {
    let Ok(delimiter) = checked_delimiter(layout.delimiter) else { return vec![] };
    let rows = records(peek, delimiter, LINES);
    let mut notes = Vec::new();
    let (first, rest) = rows.split_at(usize::from(layout.header).min(rows.len()));
    if let Some(Ok(found)) = first.first().map(|first| names(first, true))
        && let Some((at, more)) = found.repeated.split_first()
    {
        let others = if more.is_empty() { String::new() } else { format!(", and {} more so", more.len()) };
        let (name, number) = (shown(&found.names[*at]), at + 1);
        notes.push(format!(
            "the header has a name twice: column number {number} is called {name} here{others}"
        ));
    }
    let width = layout.fields.len();
    let rows: Vec<&ByteRecord> = rest.iter().filter(|row| row.len() == width).collect();
    for (at, field) in layout.fields.iter().enumerate() {
        let by_hand = asked.iter().any(|name| *name == field.name || *name == (at + 1).to_string());
        if field.role == CsvRole::Categorical && !by_hand {
            notes.extend(about_categories(&field.name, rows.iter().map(|row| &row[at])));
        }
    }
    notes
}

/// What is odd about the cells of a column that is read as categories.
fn about_categories<'a>(name: &str, cells: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let (mut numbers, mut count, mut odd, mut distinct) = (0, 0, None, HashSet::new());
    for cell in cells.filter(|cell| !cell.is_empty()) {
        count += 1;
        distinct.insert(cell);
        if is_number(cell) {
            numbers += 1;
        } else if !is_missing(cell) {
            odd.get_or_insert(cell);
        }
    }
    let name = shown(name);
    if let Some(odd) = odd.filter(|_| 10 * numbers >= 9 * count && numbers > 1) {
        return Some(format!(
            "column {name} is read as categories, {} distinct values, nearly all numeric ({numbers} of the first {count}): {} is no number",
            distinct.len(),
            shown(odd)
        ));
    }
    (count >= FEWEST && 10 * distinct.len() >= 9 * count).then(|| {
        format!(
            "column {name} has {} distinct values in the first {count} rows, each a category of its own: a text, a time or a name of the row teaches little so",
            distinct.len()
        )
    })
}
