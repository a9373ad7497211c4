//! What may be said about data before reading them, and what is kept about them with a model.

use serde::{Deserialize, Serialize};

use crate::read::columns::{Columns, Names};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use crate::read::live::Stop;

/// How to read. The default recognises everything.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; recognised by file name, else by the first lines, if `None`.
    pub format: Option<Format>,
    /// Label column of CSV by name or number from 1, or label key of NDJSON. If `None`, the one called `label`,
    /// `class`, `target` or `y` in any case; for CSV otherwise the last one.
    pub label: Option<String>,
    /// Column of CSV (name or number) or key of NDJSON with the weight. NDJSON knows `weight` of itself.
    pub weight: Option<String>,
    /// Delimiter of CSV, one byte; recognised if `None`.
    pub delimiter: Option<u8>,
    /// Whether CSV begins with a header; recognised if `None`.
    pub header: Option<bool>,
    /// CSV columns (names or numbers) to read as categories whatever they hold.
    pub categorical: Vec<String>,
    /// Hash features into `2^bits` columns, 1 to 31, instead of keeping names and numbers.
    pub hash_bits: Option<u32>,
    /// Number of the first LIBSVM feature, 0 or 1. If `None`: 0 if one of the first 1,000 lines has a feature 0, else 1.
    pub index_base: Option<u32>,
    /// What a reader of the same kind of data reported before: columns and types are those.
    pub schema: Option<Schema>,
    /// With a schema: new features become new columns as long as there are no more than this many. The rest are
    /// dropped and counted.
    pub room: u32,
    /// Ends the reading of a pipe.
    pub stop: Stop,
}

/// What is needed to read more data of the same kind with a saved model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Format of the data.
    pub format: Format,
    /// What the columns mean. Data in another format fit, if they name or number features alike.
    pub columns: Columns,
    /// Name of the label column (CSV) or key (NDJSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Name of the weight column (CSV) or key (NDJSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Only for CSV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<CsvSchema>,
}

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
}

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvField {
    /// From the header, or the column's number from 1.
    pub name: String,
    /// What its cells are.
    pub role: CsvRole,
}

/// What the cells of a CSV column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CsvRole {
    /// A number; empty is 0.
    Numeric,
    /// Text; `column=text` is a feature of value 1, empty is no feature.
    Categorical,
    /// The label; empty is unlabelled.
    Label,
    /// The weight; empty is 1.
    Weight,
}

/// The two ways in which data speak of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Names,
    /// With the number of the first feature.
    Numbers(u32),
}

impl ReadOptions {
    /// The columns to begin with, for data that name or number their features.
    pub(crate) fn columns(&self, speech: Speech) -> Result<Columns, ReadErrorKind> {
        if let Some(bits) = self.hash_bits {
            let hashed = Columns::Hashed { bits };
            hashed.check()?;
            return match &self.schema {
                Some(schema) if schema.columns != hashed => {
                    let message = format!("the saved model does not hash its features into {bits} bits");
                    Err(ReadErrorKind::Layout(message))
                }
                _ => Ok(hashed),
            };
        }
        let Some(schema) = &self.schema else {
            return Ok(match speech {
                Speech::Names => Columns::Named(Names::default()),
                Speech::Numbers(base) => Columns::Numbered { base, count: 0 },
            });
        };
        schema.columns.check()?;
        match (&schema.columns, speech) {
            (Columns::Numbered { count, .. }, Speech::Numbers(base)) => {
                Ok(Columns::Numbered { base, count: *count })
            }
            (Columns::Numbered { .. }, Speech::Names) => Err(ReadErrorKind::Layout(
                "names its features, but the saved model knows them by number".into(),
            )),
            (columns, _) => Ok(columns.clone()),
        }
    }

    /// How many columns there may be before new features are dropped.
    pub(crate) fn most_columns(&self) -> u32 {
        if self.schema.is_some() { self.room } else { u32::MAX }
    }
}
