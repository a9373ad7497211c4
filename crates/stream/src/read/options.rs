//! Options for reading data, and the schema that is saved with a model.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::read::columns::{ColumnMap, Columns, Names};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use crate::read::live::Stop;
use crate::read::logs::{Keys, LogUse};
use crate::read::missing::Missing;
use crate::read::table::schema::{CsvRole, CsvSchema};

/// How the address of a Redis stream begins.
pub(crate) const REDIS: &str = "redis://";

/// The name of the stream, if `data` is the address of a Redis stream, and not the path of a file; empty if
/// the address lacks it.
///
/// ```
/// assert_eq!(noregret_stream::redis_stream("redis://localhost:6379/0?stream=tickets"), Some("tickets"));
/// assert_eq!(noregret_stream::redis_stream("tickets.csv"), None);
/// ```
pub fn redis_stream(data: &str) -> Option<&str> {
    let asked = data.strip_prefix(REDIS)?.split_once('?').map_or("", |(_, asked)| asked);
    Some(asked.split('&').find_map(|part| part.strip_prefix("stream=")).unwrap_or_default())
}

/// Options for reading. By default everything is recognised.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; recognised by file name, else by the first lines, if `None`.
    pub format: Option<Format>,
    /// Label column of CSV or Parquet by name or number from 1, or label key of NDJSON. If `None`, the one
    /// called `label`, `class`, `target`, `y` or `_label` in any case; for CSV and Parquet otherwise the last
    /// one.
    pub label: Option<String>,
    /// Column of CSV or Parquet (name or number) or key of NDJSON with the weight. NDJSON recognises
    /// `weight` by default.
    pub weight: Option<String>,
    /// Delimiter of CSV, one byte; recognised if `None`.
    pub delimiter: Option<u8>,
    /// Whether CSV begins with a header; recognised if `None`.
    pub header: Option<bool>,
    /// Columns of CSV and Parquet (names or numbers) and keys of NDJSON (paths) to read as categories.
    pub categorical: Vec<String>,
    /// Columns to read as numbers, and true and false as 1 and 0; other cells count as missing.
    pub numeric: Vec<String>,
    /// Columns to read as free text.
    pub text: Vec<String>,
    /// Columns to read as days or times.
    pub time: Vec<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Column of CSV or Parquet (name or number) or key of NDJSON with the names of rows, in addition to
    /// its role.
    pub id: Option<String>,
    /// What counts as missing besides the usual words, and what does not.
    pub missing: Missing,
    /// Labels that are classes, whatever they are called.
    pub classes: Vec<String>,
    /// Hash features into `2^bits` columns, 1 to 31, instead of keeping names and numbers.
    pub hash_bits: Option<u32>,
    /// Number of the first LIBSVM feature, 0 or 1. If `None`: 0 if one of the first 1,000 lines has a feature
    /// 0, else 1.
    pub index_base: Option<u32>,
    /// If given, the key `labels` of NDJSON and the lines of actions in VW text are the labels on offer. A
    /// label with features of its own has a block of this many columns.
    pub offers: Option<u32>,
    /// Whether rows of labels with features of their own keep these by name, for explanations. Rows are then
    /// not read ahead.
    pub describes: bool,
    /// Column of CSV (name or number) or key of NDJSON with the labels on offer: a list, or names separated
    /// by spaces; empty: all. If `None`, and `offers` is given, `labels` of NDJSON.
    pub offered: Option<String>,
    /// For the log of another program: its columns. The label is that of [`Keys::decision`].
    pub logged: Option<Keys>,
    /// What is made of a log of decisions in our own format.
    pub decisions: LogUse,
    /// The schema of an earlier reader, which determines columns and types.
    pub schema: Option<Schema>,
    /// With a schema: new features become new columns up to this number; further ones are dropped
    /// and counted.
    pub room: u32,
    /// Without a schema: where numbers of a column are missing that are far from 0 otherwise, the feature
    /// `name:missing` says so, from the first missing number on or, where the first lines of a file lack
    /// some, in all rows; unless columns are hashed, or the first rows of a table have decided. For data that
    /// are read to their end before the learner is made, which has a column for it then.
    pub tells_missing: bool,
    /// Sentences name rows by their numbers from 0, as those of a data frame, and not by their lines, if this
    /// is the line of row 0.
    pub row_0: Option<u64>,
    /// Interrupts the reading of a pipe.
    pub stop: Stop,
    /// The id of the entry of a Redis stream after which it is read; from its beginning if `None`.
    pub after: Option<String>,
}

/// The schema of data, saved with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Format of the data.
    pub format: Format,
    /// The columns. Data in another format are accepted if features are named or numbered in the
    /// same way.
    pub columns: Columns,
    /// Name of the label column (CSV, Parquet) or key (NDJSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Name of the weight column (CSV, Parquet) or key (NDJSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// The kinds of columns: for CSV and Parquet, and for NDJSON whose rows are a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<CsvSchema>,
    /// How rows state the labels on offer, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers: Option<Offers>,
    /// What counts as missing besides the usual words, and what does not.
    #[serde(default, skip_serializing_if = "Missing::is_default")]
    pub missing: Missing,
    /// Whether hashed columns of lines, which are no table, have others that say where their numbers are
    /// missing; not in models of before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

/// How rows state the labels on offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offers {
    /// By name.
    Named,
    /// With features of their own. The name of a label is its position in the row, from 0, and each label
    /// has a block of this many columns.
    Blocks(u32),
}

impl Offers {
    /// Default number of columns of a block.
    pub const WIDTH: u32 = 4096;
    /// Default for the largest number of labels on offer that have features of their own.
    pub const LABELS: usize = 50;
}

impl Schema {
    /// Columns without labels, weights, tables or offers of their own.
    pub(crate) fn plain(format: Format, columns: Columns) -> Self {
        let missing = Missing::default();
        Self { format, columns, label: None, weight: None, csv: None, offers: None, missing, marked: false }
    }

    /// `columns` columns without names, numbered from 0, as arrays have them.
    pub fn of_arrays(columns: usize) -> Self {
        let columns = Columns::Numbered { base: 0, count: u32::try_from(columns).unwrap_or(u32::MAX) };
        Self::plain(Format::Ndjson, columns)
    }

    /// Number of columns of a block, if labels on offer have features of their own.
    pub fn block(&self) -> Option<u32> {
        match self.offers {
            Some(Offers::Blocks(width)) => Some(width),
            _ => None,
        }
    }

    /// For a table with indicators of missing numbers, with named columns: the number of numeric features,
    /// which come first, followed by as many indicators.
    pub fn numbers(&self) -> Option<u32> {
        let named = matches!(self.columns, Columns::Named(_));
        self.csv.as_ref().and_then(|csv| csv.numbers).filter(|_| named)
    }
}

/// Whether features are named or numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Names,
    /// With the number of the first feature.
    Numbers(u32),
}

impl ReadOptions {
    /// The columns whose roles are given, by role.
    pub(crate) fn given(&self) -> Vec<(&[String], CsvRole)> {
        let mut given: Vec<(&[String], CsvRole)> = vec![
            (&self.categorical, CsvRole::Categorical),
            (&self.numeric, CsvRole::Numeric),
            (&self.text, CsvRole::Text),
            (&self.time, CsvRole::Time),
            (&self.drop, CsvRole::Drop),
        ];
        if let Some(keys) = &self.logged {
            given.push((std::slice::from_ref(&keys.probability), CsvRole::Probability));
            given.push((std::slice::from_ref(&keys.reward), CsvRole::Reward));
        }
        // The labels on offer are no feature; a saved model says what its columns are.
        if self.logged.is_some() || self.schema.is_none() {
            given.push((self.offered.as_slice(), CsvRole::Drop));
        }
        given
    }

    /// The same for the rows of a log, if they are: its label is the one that was played.
    pub(crate) fn of_log(&self) -> Cow<'_, Self> {
        let Some(keys) = &self.logged else { return Cow::Borrowed(self) };
        let (label, offered) = (Some(keys.decision.clone()), keys.offered.clone());
        Cow::Owned(Self { label, offered, ..self.clone() })
    }

    /// The names of all of them.
    pub(crate) fn given_names(&self) -> impl Iterator<Item = &String> {
        self.given().into_iter().flat_map(|(names, _)| names)
    }

    /// The initial columns, for named or numbered features.
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
            (Columns::Numbered { base, .. }, Speech::Names) => Err(ReadErrorKind::Layout(format!(
                "the saved model numbers its features, as those of an array; rows of LIBSVM, numbered from {base}, or of NDJSON with lists ({{\"x\": [0.5, -1]}}) were needed"
            ))),
            (columns, _) => Ok(columns.clone()),
        }
    }

    /// What counts as missing, by the saved model and these options.
    pub(crate) fn missing(&self) -> Missing {
        self.schema
            .as_ref()
            .map_or_else(Missing::default, |schema| schema.missing.clone())
            .with(&self.missing)
    }

    /// These columns, to which a reader adds those of the data.
    pub(crate) fn map(&self, columns: Columns) -> ColumnMap {
        match &self.schema {
            Some(schema) => ColumnMap::new(columns, self.room).marking(schema.marked),
            None if self.tells_missing => ColumnMap::new(columns, u32::MAX).watching().marking(true),
            None => ColumnMap::new(columns, u32::MAX).marking(true),
        }
    }
}
