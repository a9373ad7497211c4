//! From JSON to rows: nested objects are columns by path, texts are categories, labels on offer are blocks of
//! hashed columns.

use noregret::bandit::offers::{Offer, OfferRow, OfferedLabel, key};
use noregret::example::Features;
use noregret_stream::encode::LARGEST_NORM;
use noregret_stream::{Columns, Row, hash_name};
use serde_json::Value;

use super::event::Offered;
use super::spec::shown;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// Objects within objects beyond this depth are refused.
const DEEPEST: usize = 16;
/// Bits of the hash of a feature of a label on offer, before it is hashed into the block.
const BITS: u32 = 31;
/// Of rounds with more categories than this, no products of two are made: 12 have 66.
const MOST_PAIRED: usize = 12;
/// The value of a product: on simulated sites, the reward hardly differs between 3 and 8, and is less at 1.
const PAIR: f64 = 4.0;

/// The features of a JSON value by name: `{"user": {"age": 31}, "hue": "red"}` has `user.age` = 31 and
/// `hue=red` = 1.
///
/// # Errors
/// Values that are no features, numbers too large, too many features.
pub(crate) fn flatten(field: &str, x: &Value, limits: &Limits) -> Result<Vec<(String, f64)>, Refusal> {
    let mut flat = Flat { out: Vec::new(), field, most: limits.columns };
    match x {
        Value::Null => {}
        Value::Object(map) => {
            for (name, value) in map {
                flat.value(&mut name.clone(), value, 0)?;
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                flat.value(&mut at.to_string(), value, 0)?;
            }
        }
        other => {
            let what = format!(
                "the features are {}; an object of them, or an array, was needed",
                shown(&other.to_string())
            );
            return Err(Refusal::invalid(field, what));
        }
    }
    Ok(flat.out)
}

struct Flat<'a> {
    out: Vec<(String, f64)>,
    field: &'a str,
    most: usize,
}

impl Flat<'_> {
    fn value(&mut self, path: &mut String, value: &Value, depth: usize) -> Result<(), Refusal> {
        match value {
            Value::Null => Ok(()),
            Value::Bool(value) => self.push(path.clone(), f64::from(u8::from(*value))),
            Value::Number(number) => match number.as_f64() {
                Some(number) if number.abs() <= LARGEST_NORM => self.push(path.clone(), number),
                _ => {
                    let what = format!(
                        "feature {} is {number}; a number of at most {LARGEST_NORM:e} was needed",
                        shown(path)
                    );
                    Err(Refusal::invalid(self.field, what))
                }
            },
            Value::String(text) => self.push(format!("{path}={text}"), 1.0),
            Value::Array(_) | Value::Object(_) if depth == DEEPEST => {
                let what = format!("feature {} is nested more than {DEEPEST} deep", shown(path));
                Err(Refusal::invalid(self.field, what))
            }
            Value::Array(list) => {
                let length = path.len();
                for (at, value) in list.iter().enumerate() {
                    // Texts in a list are a set: their order says nothing.
                    if !value.is_string() {
                        path.push('.');
                        path.push_str(&at.to_string());
                    }
                    self.value(path, value, depth + 1)?;
                    path.truncate(length);
                }
                Ok(())
            }
            Value::Object(map) => {
                let length = path.len();
                for (name, value) in map {
                    path.push('.');
                    path.push_str(name);
                    self.value(path, value, depth + 1)?;
                    path.truncate(length);
                }
                Ok(())
            }
        }
    }

    fn push(&mut self, name: String, value: f64) -> Result<(), Refusal> {
        const LONGEST: usize = 1024;
        if name.len() > LONGEST {
            let what = format!("feature {} has a name of more than {LONGEST} bytes", shown(&name));
            return Err(Refusal::invalid(self.field, what));
        }
        if self.out.len() == self.most {
            let what = format!("there are more than {} features, which is the limit", self.most);
            return Err(Refusal::invalid(self.field, what));
        }
        self.out.push((name, value));
        Ok(())
    }
}

/// How many of `features` have no column yet.
pub(crate) fn unknown(columns: &Columns, features: &[(String, f64)]) -> usize {
    let mut new: Vec<&str> = features
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| columns.index_of(name).is_none())
        .collect();
    new.sort_unstable();
    new.dedup();
    new.len()
}

/// Fills in `features`; those without a column get the next ones.
///
/// # Errors
/// Where values of one name add up to infinity.
pub(crate) fn fill(columns: &mut Columns, features: &[(String, f64)], row: &mut Row) -> Result<(), Refusal> {
    for (name, value) in features {
        let column = match &mut *columns {
            Columns::Named(names) => names.intern(name),
            columns => columns.index_of(name),
        };
        if let Some(column) = column {
            row.push(column, *value);
        }
    }
    summed(row)
}

/// The same where nothing is learnt: features without a column are left out.
///
/// # Errors
/// Where values of one name add up to infinity.
pub(crate) fn fill_known(
    columns: &Columns,
    features: &[(String, f64)],
    row: &mut Row,
) -> Result<(), Refusal> {
    for (name, value) in features {
        if let Some(column) = columns.index_of(name) {
            row.push(column, *value);
        }
    }
    summed(row)
}

fn summed(row: &mut Row) -> Result<(), Refusal> {
    row.sum_duplicates()
        .map_err(|_| Refusal::invalid("x", "a feature is given twice, and the sum is infinite"))
}

/// Features as a list of hashed columns, increasing.
fn hashed(features: &[(String, f64)]) -> (Vec<u32>, Vec<f64>) {
    let mut list: Vec<(u32, f64)> =
        features.iter().map(|(name, value)| (hash_name(name, BITS), *value)).collect();
    list.sort_by_key(|(column, _)| *column);
    list.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    list.into_iter().unzip()
}

/// Adds the products of every two categories of a round, where there are few: what somebody likes in the
/// morning is neither what they like, nor what is liked in the morning. There are few rounds of each, so each
/// counts for more.
fn pair(context: &mut Vec<(String, f64)>) {
    let of_text = |(name, _): &&(String, f64)| name.contains('=');
    let own: Vec<(String, f64)> = context.iter().filter(of_text).cloned().collect();
    if own.len() > MOST_PAIRED {
        return;
    }
    for (at, (first, a)) in own.iter().enumerate() {
        let others = own[at + 1..].iter();
        context.extend(others.map(|(second, b)| (format!("{first}*{second}"), PAIR * a * b)));
    }
}

/// Fills in the row of a round in which `labels` are on offer, in blocks of `width` columns.
///
/// # Errors
/// Features that are none.
pub(crate) fn fill_offer(
    x: &Value,
    slot: Option<&Value>,
    labels: &[Offered],
    width: u32,
    limits: &Limits,
    row: &mut Row,
) -> Result<(), Refusal> {
    let mut context = flatten("x", x, limits)?;
    if let Some(slot) = slot {
        let own = flatten("slots", slot, limits)?;
        context.extend(own.into_iter().map(|(name, value)| (format!("slot.{name}"), value)));
    }
    pair(&mut context);
    let (indices, values) = hashed(&context);
    let mut described = Vec::with_capacity(labels.len());
    for (at, label) in labels.iter().enumerate() {
        let own = match &label.x {
            Value::Null => Vec::new(),
            x => flatten(&format!("labels[{at}]"), x, limits)?,
        };
        described.push((key(&label.label), hashed(&own)));
    }
    let offered: Vec<OfferedLabel<'_>> = described
        .iter()
        .map(|(key, (indices, values))| OfferedLabel {
            key: *key,
            features: Features::Sparse { indices, values },
        })
        .collect();
    let offer = Offer { context: Features::Sparse { indices: &indices, values: &values }, labels: &offered };
    let mut made = OfferRow::default();
    offer.encode(width, &mut made);
    for (column, value) in made.features().iter() {
        if !value.is_finite() || value.abs() > LARGEST_NORM {
            return Err(Refusal::invalid("x", "products of the features are too large to be computed with"));
        }
        row.push(column as u32, value);
    }
    Ok(())
}
