//! Parses the features of a decision: an array of all features, or an object of some.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fault::{Fault, fault};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::shown;
use crate::read::round::HashedRound;
use crate::read::row::{Duplicates, FeatureFault, Row};
use crate::read::table::moment_features;

/// Features: in order, or by name.
pub(super) type Features = ListOrMap<serde_json::Value>;

/// A list, or pairs in the order of the line.
pub(super) enum ListOrMap<T> {
    List(Vec<T>),
    Map(Vec<(String, T)>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListOrMap<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = ListOrMap<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or an object")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(ListOrMap::List(list))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(ListOrMap::Map(pairs))
            }
        }
        from.deserialize_any(Either(PhantomData))
    }
}

/// Reads `x` into `row`; where labels on offer have features of their own, in blocks of `block` columns, as a
/// round, unless it has columns of products, as in logs of before.
pub(super) fn features(
    x: Features,
    block: Option<u32>,
    columns: &mut ColumnMap,
    row: &mut Row,
) -> Result<(), Fault> {
    let push = |row: &mut Row, column: Option<u32>, value: Option<f64>| match (column, value) {
        (Some(column), Some(value)) => row.push(column, value),
        (Some(column), None) => row.miss(column),
        (None, _) => {}
    };
    match x {
        ListOrMap::Map(pairs) if block.is_some() && pairs.iter().any(|(name, _)| name.starts_with("0#")) => {
            let number = |(name, value): (String, serde_json::Value)| {
                let number = scalar(&value, &name)?;
                Ok((name, number.unwrap_or(f64::NAN)))
            };
            let named = pairs.into_iter().map(number).collect::<Result<Vec<_>, Fault>>()?;
            let round = HashedRound::of_named(block.unwrap_or(0), named, columns.columns().count())?;
            row.set_round(round);
        }
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
                    if let Some(features) = moment_features(&name, text) {
                        for (name, value) in features {
                            let column = columns.by_name(&name);
                            push(row, column, Some(value));
                        }
                        continue;
                    }
                    let column = columns.by_name(&format!("{name}={text}"));
                    push(row, column, Some(1.0));
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
        fault!("feature {} appears twice", shown(&*columns.columns().name(column)))
    })
}

/// The column of a feature: by name, by number, or by bucket of a hash.
fn column(name: &str, columns: &mut ColumnMap) -> Result<Option<u32>, Fault> {
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

/// The number of a feature; none if it is missing.
fn scalar(value: &serde_json::Value, name: &str) -> Result<Option<f64>, Fault> {
    match value {
        serde_json::Value::Number(number) => number.as_f64().map(Some),
        serde_json::Value::Bool(bool) => Some(Some(f64::from(u8::from(*bool)))),
        serde_json::Value::Null => Some(None),
        _ => None,
    }
    .ok_or_else(|| fault!("feature {} is not a number, text, bool or null", shown(name)))
}
