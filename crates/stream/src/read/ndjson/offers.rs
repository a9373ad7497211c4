//! Rounds whose labels on offer have features of their own, an object a line:
//! `{"x": {"age": 31}, "labels": {"a": {"price": 3}, "b": {"price": 5}}, "y": "a"}`.
//!
//! Without `x`, all keys but those of label, weight, `labels`, `tag` and `id` are features of the round.
//! `labels` may also be a list of `{"label": "a", "x": {…}}`, as requests to the service have it.

use serde_json::{Map, Value};

use super::keys::{Keys, LABELS};
use super::nan::without_nan;
use crate::fault::{Fault, fault};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadErrorKind, json_fault, shown};
use crate::read::format::Format;
use crate::read::label::{GivenLabel, LabelType};
use crate::read::offer::{Round, flatten};
use crate::read::options::{Offers, Schema};
use crate::read::reader::{LineParser, Parsed};
use crate::read::round::Described;
use crate::read::row::Row;
use crate::read::source::Line;

/// The form of the labels on offer, from the first row that has them.
pub(crate) fn recognise(rows: &[Map<String, Value>], width: u32) -> Option<Offers> {
    rows.iter().find_map(|row| match row.get(LABELS)? {
        Value::Array(list) if list.iter().any(Value::is_object) => Some(Offers::Blocks(width)),
        Value::Array(_) => Some(Offers::Named),
        Value::Object(_) => Some(Offers::Blocks(width)),
        _ => None,
    })
}

/// Makes blocks of the labels on offer.
pub(super) struct Blocks {
    keys: Keys,
    width: u32,
    round: Round,
}

impl Blocks {
    pub(super) fn new(keys: Keys, width: u32, describes: bool) -> Self {
        Self { keys, width, round: Round::new(describes) }
    }

    fn object(&mut self, object: Map<String, Value>, row: &mut Row) -> Result<(), Fault> {
        self.round.clear();
        let nested = object.contains_key("x");
        let mut label = None;
        for (key, value) in object {
            let is = |wanted: &Option<String>| wanted.as_deref() == Some(key.as_str());
            if is(&self.keys.offers) {
                self.offered(&value)?;
            } else if is(&self.keys.label) {
                label = given(&value)?.map(|label| label.text);
            } else if is(&self.keys.weight) {
                match value.as_f64() {
                    Some(weight) if weight >= 0.0 => row.weight = weight,
                    _ => return Err(fault!("weight {value} is not a number of at least 0")),
                }
            } else if is(&self.keys.id) || ((key == "tag" || key == "id") && row.tag.is_empty()) {
                row.tag = tag(&value);
            } else if key == "x" {
                self.round.context = described(&value, "\"x\"")?;
            } else if !nested {
                flatten(&mut key.clone(), &value, &mut self.round.context)?;
            }
        }
        if let Some(label) = label {
            let position = self.round.position(&label);
            let position = position.ok_or_else(|| format!("the label {} is not on offer", shown(&*label)))?;
            row.set_name(&position.to_string());
        }
        self.round.fill(self.width, row)
    }

    /// The labels on offer: `{"a": {…}}`, or a list of `{"label": "a", "x": {…}}` and names.
    fn offered(&mut self, labels: &Value) -> Result<(), Fault> {
        match labels {
            Value::Object(labels) => {
                for (name, features) in labels {
                    self.offer(name, LabelType::Unstated, features)?;
                }
            }
            Value::Array(labels) => {
                for one in labels {
                    let (name, features) = match one {
                        Value::Object(one) => (one.get("label"), one.get("x")),
                        name => (Some(name), None),
                    };
                    let label = given(name.unwrap_or(&Value::Null))?;
                    let label = label.ok_or_else(|| format!("{one} is not a label on offer"))?;
                    self.offer(&label.text, label.of, features.unwrap_or(&Value::Null))?;
                }
            }
            _ => return Err("\"labels\" is neither an object nor an array".into()),
        }
        Ok(())
    }

    fn offer(&mut self, name: &str, of: LabelType, features: &Value) -> Result<(), Fault> {
        let features = described(features, &format!("the label {}", shown(name)))?;
        self.round.offer_as(name, of, features)
    }
}

/// A label; nothing for null and a text of blanks.
fn given(value: &Value) -> Result<Option<GivenLabel>, Fault> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        value => GivenLabel::read(value).map(Some),
    }
}

/// The name of a row.
fn tag(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The features `features` of `what`.
fn described(features: &Value, what: &str) -> Result<Described, Fault> {
    let mut described = Vec::new();
    match features {
        Value::Null => {}
        Value::Object(_) | Value::Array(_) => flatten(&mut String::new(), features, &mut described)?,
        other => return Err(fault!("{what} is {other}; an object of features was needed")),
    }
    Ok(described)
}

impl LineParser for Blocks {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        row.line = line.number();
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        let without = |error| without_nan(line).map_or(Err(error), |plain| serde_json::from_str(&plain));
        let object = serde_json::from_str(line).or_else(without).map_err(|error| {
            ReadErrorKind::Row(format!("is not a round with labels on offer: {}", json_fault(&error)))
        })?;
        self.object(object, row).map_err(|what| ReadErrorKind::Row(what.into()))?;
        room(self.round.len(), self.width, columns)?;
        Ok(true)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let Keys { label, weight, .. } = &self.keys;
        let (label, weight) = (label.clone(), weight.clone());
        let offers = Some(Offers::Blocks(self.width));
        Schema { label, weight, offers, ..Schema::plain(Format::Ndjson, columns) }
    }

    fn describe(&self, _: &Columns) -> Vec<(&'static str, String)> {
        let label = self.keys.label.as_ref().map_or("none".to_owned(), |key| format!("key {}", shown(key)));
        vec![("label", label), ("offers", offers_described(self.width))]
    }
}

/// The description of rows whose labels have features of their own.
pub(crate) fn offers_described(width: u32) -> String {
    format!("labels with features of their own, hashed into {width} columns each")
}

/// The refusal of `count` labels on offer.
pub(crate) fn no_room(count: usize, room: usize) -> String {
    format!(
        "{count} labels are on offer; the model has room for {room}: one that is made with classes={count} takes them"
    )
}

/// Counts the columns of `count` blocks.
/// Fails if a saved model has room for fewer.
pub(crate) fn room(count: usize, width: u32, columns: &mut ColumnMap) -> Result<(), ReadErrorKind> {
    let needed = count as u64 * u64::from(width);
    match columns.numbered() {
        Some((_, most)) if needed > u64::from(most) => {
            Err(ReadErrorKind::Row(no_room(count, (most / width) as usize)))
        }
        _ => {
            columns.saw(needed as u32, 0);
            Ok(())
        }
    }
}
