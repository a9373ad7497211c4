//! The first rows of a table.

use csv::ByteRecord;

use crate::read::error::shown;
use crate::read::missing::{Missing, is_missing};
use crate::read::table::schema::{CsvField, CsvRole, Style};

/// Least number of cells for remarks on a column, and for features that say what it lacks.
pub(crate) const FEW: usize = 20;

/// Least number of cells to recognise an identifier, and of rows for remarks on them.
pub(crate) const ENOUGH: usize = 50;

/// The first rows of a table, without its header.
pub(crate) struct Sample<'a> {
    pub(crate) names: &'a [String],
    pub(crate) rows: &'a [&'a ByteRecord],
    pub(crate) label: Option<usize>,
    pub(crate) weight: Option<usize>,
    /// Whether the delimiter is not a comma, so that decimal commas are likely.
    pub(crate) comma_first: bool,
    /// Whether there are more rows.
    pub(crate) more: bool,
    /// Whether the rows have nothing beside these columns, such as keys that few of them have.
    pub(crate) whole: bool,
    /// Whether the first column has no name.
    pub(crate) nameless: bool,
    pub(crate) missing: &'a Missing,
    /// The roles and notations that a typed format gives the columns, if any.
    pub(crate) declared: &'a [Option<(CsvRole, Option<Style>)>],
}

/// Those rows, in words.
pub(crate) fn first_rows(rows: usize, more: bool) -> String {
    if more { format!("the first {rows} rows") } else { format!("all {rows} rows") }
}

/// The distinct words for missing cells in the numeric columns, quoted.
pub(crate) fn missing_words(sample: &Sample<'_>, fields: &[CsvField]) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for row in sample.rows {
        for (cell, field) in row.iter().zip(fields) {
            if field.role == CsvRole::Numeric && !cell.is_empty() && is_missing(cell) {
                let word = shown(cell);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
    }
    words
}
