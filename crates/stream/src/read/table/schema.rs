//! What is saved of a table: its columns with their kinds and notations.

use serde::{Deserialize, Serialize};

use crate::words::named;

/// The suffix of the feature for a missing cell.
pub(crate) const MISSING: &str = "=missing";

/// Delimiter, header and column types of CSV data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvSchema {
    /// One ASCII character.
    pub delimiter: char,
    /// Whether the first row names the columns.
    pub header: bool,
    /// The columns in file order.
    pub fields: Vec<CsvField>,
    /// In a table with text, times or styled numbers, with missing numbers among others far from 0, or with
    /// hashed columns: the number of numeric features, which come first unless they are hashed, followed by
    /// as many indicators of missing numbers. `None` in other tables of plain numbers and categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<u32>,
    /// Labels that are classes, although they are marks for a missing value elsewhere, such as `-` beside
    /// `+`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// Number of header rows, if not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_rows: Option<u32>,
    /// The column with the labels on offer, if the options named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<String>,
}

impl CsvSchema {
    /// Columns below their names, split at commas.
    pub(crate) fn of(fields: Vec<CsvField>) -> Self {
        let (numbers, marks, header_rows, offered) = (None, vec![], None, None);
        Self { delimiter: ',', header: true, fields, numbers, marks, header_rows, offered }
    }

    /// Number of rows before the data.
    pub(crate) fn header_rows(&self) -> usize {
        if self.header { self.header_rows.map_or(1, |rows| rows as usize) } else { 0 }
    }
}

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvField {
    /// From the header, or the column's number from 1.
    pub name: String,
    /// The kind of its cells.
    pub role: CsvRole,
    /// Their notation, if not plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// The unit of numbers that have one, such as `kg`; other numbers than those with this unit or none count
    /// as missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl CsvField {
    /// A column without a notation or a unit of its own.
    pub(crate) fn plain(name: &str, role: CsvRole) -> Self {
        Self { name: name.to_owned(), role, style: None, unit: None }
    }
}

/// The notation of numbers or times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Style {
    /// `1,234.50`, also with a currency or a percent sign.
    Grouped,
    /// `1.234,50`.
    DecimalComma,
    /// `2026-11-22`, also with a time of day.
    Iso,
    /// `22.11.2026` or `22/11/2026`.
    DayFirst,
    /// `11/22/2026`.
    MonthFirst,
    /// `22 Nov 2026` or `November 22, 2026`.
    Words,
    /// Days in several notations; `02/03/2026` is 2 March.
    MixedDayFirst,
    /// Days in several notations; `02/03/2026` is 3 February.
    MixedMonthFirst,
    /// `0 days 01:02:03`, `PT1H2M3S` or `1:02:03`: a number of seconds. `1:02` has hours and minutes.
    Duration,
    /// The same, but `1:02` has minutes and seconds, as `1:02.5` has.
    Minutes,
}

impl Style {
    /// An example.
    pub fn example(self) -> &'static str {
        match self {
            Style::Grouped => "1,234.50",
            Style::DecimalComma => "1.234,50",
            Style::Iso => "2026-11-22",
            Style::DayFirst => "22.11.2026",
            Style::MonthFirst => "11/22/2026",
            Style::Words => "22 Nov 2026",
            Style::MixedDayFirst => "22/11/2026 and other notations",
            Style::MixedMonthFirst => "11/22/2026 and other notations",
            Style::Duration => "1:02:03, in seconds",
            Style::Minutes => "2:03.5, in seconds",
        }
    }
}

named! {
    /// The role of a column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CsvRole {
        /// A number, or a truth value as 1 and 0; empty is 0.
        Numeric = "numeric",
        /// Text; `column=text` is a feature of value 1, empty is no feature.
        Categorical = "categorical",
        /// Free text: hashed features for words and pairs of words.
        Text = "text",
        /// A day or a time: a trend, and the positions in day, week and year.
        Time = "time",
        /// Ignored.
        Drop = "drop",
        /// The label; empty is unlabelled.
        Label = "label",
        /// The weight; a missing one is 1.
        Weight = "weight",
        /// Of a log of decisions, the probability with which the label was played; models leave it out.
        Probability = "probability",
        /// Of a log of decisions, the reward of the label; models leave it out.
        Reward = "reward",
    }
}
