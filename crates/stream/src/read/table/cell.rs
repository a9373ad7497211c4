//! A cell of a table, as every format hands it over.

use super::time::Moment;

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text formats have no times of their own"))]
pub(crate) enum Cell<'a> {
    Missing,
    /// For a column of numbers.
    Number(f64),
    /// Trimmed text that may be anything: its column knows what it is. The label of a typed format is as it
    /// was given.
    Text(&'a [u8]),
    /// For a column of times.
    Time(Moment),
    Truth(bool),
    /// A set of texts without order: each is a category, or a word of a text.
    List(&'a [&'a str]),
}
