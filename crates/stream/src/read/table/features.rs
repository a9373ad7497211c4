//! The features of columns of numbers, times and text.

use super::text::Words;
use super::time;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::row::Row;
use crate::read::table::schema::{CsvField, CsvRole, CsvSchema, MISSING, Style};

/// The features of a column of numbers, times or text.
pub(crate) enum Features {
    /// A number, and the indicator for a missing one, if there is one. With `fills` a missing number counts
    /// as the mean beside its indicator; otherwise it is 0 there.
    Number { style: Option<Style>, value: Option<u32>, missing: Option<u32>, fills: bool },
    /// A time: its numbers, each with an indicator for missing ones.
    Time { style: Style, values: Vec<(Option<u32>, Option<u32>)> },
    /// Free text.
    Text(Box<Words>),
    /// Categories: what is between the name of the column and a category in the name of its feature.
    Category(&'static str),
    /// Other columns.
    Other,
}

impl Features {
    /// Adds a missing cell to a row: the indicator, if there is one, or else, or besides, the column of the
    /// number.
    pub(crate) fn push_missing(&self, row: &mut Row) {
        match self {
            Features::Number { value: Some(value), missing, fills, .. } if *fills || missing.is_none() => {
                row.miss(*value);
                push_one(*missing, row);
            }
            _ => self.push_absent(row),
        }
    }

    /// Adds a cell that a row does not have at all: without an indicator, or in hashed rows of numbers, it is
    /// 0.
    pub(crate) fn push_absent(&self, row: &mut Row) {
        match self {
            Features::Number { fills: true, .. } => {}
            Features::Number { missing, .. } => push_one(*missing, row),
            Features::Time { values, .. } => values.iter().for_each(|(_, missing)| push_one(*missing, row)),
            Features::Text(_) | Features::Category(_) | Features::Other => {}
        }
    }

    /// What is between the name of the column and a category.
    pub(crate) fn sign(&self) -> &'static str {
        if let Features::Category(sign) = self { sign } else { "=" }
    }

    /// Takes in the columns from `first` on, which others have made.
    pub(crate) fn take_in(&mut self, columns: &Columns, first: u32) {
        if let Features::Text(words) = self {
            words.take_in(columns, first);
        }
    }

    /// Removes the features from `count` on, which were taken back.
    pub(crate) fn forget(&mut self, count: u32) {
        if let Features::Text(words) = self {
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
fn numbers_of(field: &CsvField) -> Vec<String> {
    match field.role {
        CsvRole::Numeric => vec![field.name.clone()],
        CsvRole::Time => time::NUMBERS.iter().map(|number| format!("{}:{number}", field.name)).collect(),
        _ => vec![],
    }
}

/// See `CsvSchema::numbers`.
pub(crate) fn count_numbers(fields: &[CsvField]) -> Option<u32> {
    let rich = fields.iter().any(|field| {
        matches!(field.role, CsvRole::Text | CsvRole::Time)
            || (field.role == CsvRole::Numeric && (field.style.is_some() || field.unit.is_some()))
    });
    rich.then(|| all_numbers(fields))
}

/// The number of numeric features of all fields.
pub(crate) fn all_numbers(fields: &[CsvField]) -> u32 {
    fields.iter().map(|field| numbers_of(field).len() as u32).sum()
}

/// Assigns features to the fields of a table: first the numbers, then the indicators of missing numbers, if
/// it has them.
pub(crate) fn features(layout: &CsvSchema, columns: &mut ColumnMap) -> Vec<Features> {
    let numbers: Vec<String> = layout.fields.iter().flat_map(numbers_of).collect();
    let values: Vec<Option<u32>> = numbers.iter().map(|name| columns.by_name(name)).collect();
    let missing: Vec<Option<u32>> = match layout.numbers {
        Some(_) => numbers.iter().map(|name| columns.by_name(&format!("{name}{MISSING}"))).collect(),
        None => vec![None; numbers.len()],
    };
    columns.are_numbers(&values, layout.numbers.is_some());
    // Hashed tables with texts or times have 0 there, as in models of before.
    let is_hashed = matches!(columns.columns(), Columns::Hashed { .. });
    let fills = is_hashed && layout.numbers.is_some() && count_numbers(&layout.fields).is_none();
    let mut pairs = values.into_iter().zip(missing);
    let mut of = |field: &CsvField| match field.role {
        CsvRole::Numeric => {
            let (value, missing) = pairs.next().expect("a pair for each number");
            Features::Number { style: field.style, value, missing, fills }
        }
        CsvRole::Time => {
            let style = field.style.unwrap_or(Style::Iso);
            Features::Time { style, values: pairs.by_ref().take(time::NUMBERS.len()).collect() }
        }
        CsvRole::Text => Features::Text(Box::new(Words::new(&field.name, columns.columns()))),
        CsvRole::Categorical => Features::Category(sign(&field.name, &numbers, columns.columns())),
        _ => Features::Other,
    };
    layout.fields.iter().map(&mut of).collect()
}

/// What is between the name of a column of categories and one of them: `==` where the feature of a category
/// with `=` may be called as a column of `numbers` is, such as `hue=red` beside `hue`. Models of before that
/// have learnt such categories with `=` go on so.
fn sign(name: &str, numbers: &[String], columns: &Columns) -> &'static str {
    let category = |feature: &str| Some(feature.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    let clashes = numbers.iter().any(|number| category(number).is_some());
    let Columns::Named(names) = columns else { return "=" };
    if !clashes {
        return "=";
    }
    let number = |feature: &str| feature.ends_with(MISSING) || numbers.iter().any(|name| name == feature);
    let mut known = names.iter().filter(|feature| !number(feature)).filter_map(category);
    if known.any(|category| !category.starts_with('=')) { "=" } else { "==" }
}
