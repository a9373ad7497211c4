//! Remarks on rows as values, of which fronts make sentences.

use std::fmt;

use crate::read::error::{Place, shown};
use crate::read::table::amount;
use crate::words::counted;

/// What a reader remarks on the rows so far. `Display` is the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Cells that are not what their column holds, and count as missing.
    Misfit {
        /// The name of the column.
        column: String,
        /// What it holds: `number` or `time`.
        held: &'static str,
        /// Number of these cells.
        count: u64,
        /// The first of them, in display form.
        first: String,
        /// The row of that one.
        place: Place,
    },
    /// Rows whose label is a word for a missing one.
    Unlabelled {
        /// The word.
        word: String,
        /// Number of these rows.
        rows: u64,
    },
    /// Anything else, in a sentence.
    Other(String),
}

impl Remark {
    /// The same, with another way to name places.
    pub(crate) fn with_row_0(mut self, row_0: Option<u64>) -> Self {
        if let Self::Misfit { place, .. } = &mut self {
            place.row_0 = row_0;
        }
        self
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misfit { column, held, count, first, place } => {
                let (column, one) = (shown(column), *count == 1);
                let (cells, s) = if one { ("cell is", "") } else { ("cells are", "s") };
                let count_as = if one { "it counts" } else { "they count" };
                write!(
                    f,
                    "column {column}: {count} {cells} no {held}{s}, the first {first} in {place}: {count_as} as missing"
                )?;
                // 1,234.5 is a number, though not beside 0.5.
                let is_other = *held == "number" && amount::is_amount(first.trim_matches('"').as_bytes());
                let other = "; the first is a number in another notation than the column's: write all alike";
                f.write_str(if is_other { other } else { "" })
            }
            Self::Unlabelled { word, rows } => {
                let (word, rows) = (shown(word), counted(*rows, "row"));
                write!(
                    f,
                    "the label {word} counts as missing in {rows}: predicted, and not learnt; the option not-missing makes it a class"
                )
            }
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_or_rows() {
        let misfit = |count, place| {
            let (column, first) = ("age".to_owned(), shown("forty"));
            Remark::Misfit { column, held: "number", count, first, place }
        };
        let one = misfit(1, Place::line(9));
        let sentence =
            "column \"age\": 1 cell is no number, the first \"forty\" in line 9: it counts as missing";
        assert_eq!(one.to_string(), sentence);
        // After a header.
        assert_eq!(one.with_row_0(Some(2)).to_string(), sentence.replace("line 9", "row 7"));
        let two =
            "column \"age\": 2 cells are no numbers, the first \"forty\" in line 9: they count as missing";
        assert_eq!(misfit(2, Place::line(9)).to_string(), two);
        let first = shown("1,234.5");
        let other =
            Remark::Misfit { column: "a".to_owned(), held: "number", count: 1, first, place: Place::line(9) };
        let sentence = "it counts as missing; the first is a number in another notation than the column's: write all alike";
        assert!(other.to_string().ends_with(sentence), "{other}");
        // The words of a name are no place.
        let word = Remark::Unlabelled { word: "NA in line 9:".to_owned(), rows: 1 };
        assert_eq!(word.clone().with_row_0(Some(2)), word);
    }
}
