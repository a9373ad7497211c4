//! Parses the features of a decision: an array of all features, or an object of some.

use super::{Features, ListOrMap};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::shown;
use crate::read::row::{Duplicates, FeatureFault, Row};

/// Reads `x` into `row`.
pub(super) fn features(x: Features, columns: &mut ColumnMap, row: &mut Row) -> Result<(), String> {
    let push = |row: &mut Row, column: Option<u32>, value: f64| {
        if let Some(column) = column {
            row.push(column, value);
        }
    };
    match x {
        ListOrMap::List(list) => {
            for (at, value) in (0u64..).zip(list) {
                let base = match columns.columns() {
                    Columns::Numbered { base, .. } => u64::from(*base),
                    _ => 0,
                };
                let number = scalar(&value, &(at + base).to_string())?;
                push(row, columns.by_number(at + base), number);
            }
        }
        ListOrMap::Map(pairs) => {
            for (name, value) in pairs {
                if let serde_json::Value::String(text) = &value {
                    let column = columns.by_name(&format!("{name}={text}"));
                    push(row, column, 1.0);
                } else {
                    let number = scalar(&value, &name)?;
                    let column = column(&name, columns)?;
                    push(row, column, number);
                }
            }
        }
    }
    row.finish(Duplicates::Refuse).map_err(|fault| {
        let (FeatureFault::Duplicate(column) | FeatureFault::Overflow(column)) = fault;
        format!("feature {} appears twice", shown(&*columns.columns().name(column)))
    })
}

/// The column of a feature: by name, by number, or by bucket of a hash.
fn column(name: &str, columns: &mut ColumnMap) -> Result<Option<u32>, String> {
    match columns.columns() {
        Columns::Numbered { base, .. } => {
            let base = *base;
            let number = name.parse::<u32>().ok().filter(|number| *number >= base && *number < u32::MAX);
            let number = number.ok_or_else(|| format!("feature {} has no number", shown(name)))?;
            Ok(columns.by_number(u64::from(number)))
        }
        Columns::Hashed { bits } => {
            match name.strip_prefix('#').and_then(|bucket| bucket.parse::<u32>().ok()) {
                Some(bucket) if bucket >> bits == 0 => Ok(Some(bucket)),
                _ => Ok(columns.by_name(name)),
            }
        }
        Columns::Named(_) => Ok(columns.by_name(name)),
    }
}

fn scalar(value: &serde_json::Value, name: &str) -> Result<f64, String> {
    match value {
        serde_json::Value::Number(number) => number.as_f64(),
        serde_json::Value::Bool(bool) => Some(f64::from(u8::from(*bool))),
        serde_json::Value::Null => Some(0.0),
        _ => None,
    }
    .ok_or_else(|| format!("feature {} is not a number, text, bool or null", shown(name)))
}
