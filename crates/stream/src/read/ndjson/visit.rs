//! Parses one JSON object directly into a row.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::read::columns::ColumnMap;
use crate::read::error::{ReadErrorKind, shown};
use crate::read::label::{LabelType, of_real};
use crate::read::ndjson::keys::{Keys, Shape};
use crate::read::ndjson::syntax::syntax;
use crate::read::ndjson::table::Table;
use crate::read::offer;
use crate::read::row::Row;

/// Buffers reused for every row.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    key: String,
    text: String,
    numbers: Vec<f64>,
    /// Whether the key also names the row.
    names_row: bool,
    /// Number of named features of the row with and without a column.
    pub(crate) known: u64,
    pub(crate) unknown: u64,
    /// The first column that was new with this row, where new ones are made.
    pub(crate) first_new: Option<u32>,
    /// An error of the row other than syntax.
    fault: Option<ReadErrorKind>,
}

impl Scratch {
    /// Counts a named feature without a column of a table.
    fn count(&mut self, column: Option<u32>) {
        match column {
            Some(column) if self.first_new.is_none_or(|first| column < first) => self.known += 1,
            _ => self.unknown += 1,
        }
    }
}

/// Parses the object; returns the length of its feature array, if it has one.
pub(crate) fn parse_object(
    text: &str,
    keys: &Keys,
    table: &mut Option<Table>,
    scratch: &mut Scratch,
    row: &mut Row,
    columns: &mut ColumnMap,
) -> Result<u32, ReadErrorKind> {
    scratch.fault = None;
    (scratch.known, scratch.unknown) = (0, 0);
    let table = table.as_mut();
    let mut json = serde_json::Deserializer::from_str(text);
    let object = Object { keys, table, scratch, row, columns, length: None };
    let result = json.deserialize_map(object).and_then(|length| json.end().map(|()| length));
    result.map_err(|error| scratch.fault.take().unwrap_or_else(|| ReadErrorKind::Row(syntax(text, &error))))
}

struct Object<'a> {
    keys: &'a Keys,
    table: Option<&'a mut Table>,
    scratch: &'a mut Scratch,
    row: &'a mut Row,
    columns: &'a mut ColumnMap,
    length: Option<u32>,
}

/// The role of a value of the object.
#[derive(Clone, Copy)]
enum Part {
    Label,
    Weight,
    Tag,
    Array,
    Features,
    Feature,
    /// An element of the array, with its position.
    Element(u64),
    /// An element of a list that is a feature, with its position.
    Item(u64),
    Probability,
    /// The labels on offer.
    Offers,
    /// One of them.
    Offered,
    Ignored,
}

impl Object<'_> {
    fn part(&self, key: &str) -> Part {
        let is = |wanted: &Option<String>| wanted.as_deref() == Some(key);
        let is_column = || self.table.as_ref().is_some_and(|table| table.has(key));
        match (key, self.keys.shape) {
            _ if is(&self.keys.label) => Part::Label,
            _ if is(&self.keys.weight) => Part::Weight,
            _ if is(&self.keys.offers) => Part::Offers,
            _ if self.keys.plays(key) => Part::Feature,
            ("x", Shape::Array) => Part::Array,
            ("x", Shape::Object) => Part::Features,
            (_, Shape::Array | Shape::Object) if is(&self.keys.id) => Part::Tag,
            ("tag" | "id", Shape::Flat) if is_column() => Part::Feature,
            ("tag" | "id", _) if self.keys.id.is_none() || is(&self.keys.id) => Part::Tag,
            ("tag" | "id", _) => Part::Ignored,
            (_, Shape::Flat) => Part::Feature,
            _ => Part::Ignored,
        }
    }

    /// Records an error of the value of the current key.
    #[cold]
    fn fault<E: Error>(&mut self, message: String) -> E {
        let column = self.scratch.key.clone();
        self.scratch.fault = Some(ReadErrorKind::Cell { noun: "key", column, message });
        E::custom("")
    }

    fn label_text(&mut self, text: &str, of: LabelType) {
        if !text.trim().is_empty() {
            self.row.set_label(text, of);
        }
    }

    /// Adds a label on offer.
    fn offer<E: Error>(&mut self, label: &str, of: LabelType) -> Result<(), E> {
        if label.trim().is_empty() {
            return Err(self.fault("the name of a label is empty".into()));
        }
        self.row.push_offered_as(label, of);
        Ok(())
    }

    /// The position of the current key in the table, if any.
    fn place(&mut self) -> Option<usize> {
        let Scratch { key, names_row, known, .. } = &mut *self.scratch;
        *names_row = self.keys.id.as_deref() == Some(&**key);
        let place = self.table.as_mut()?.place(key)?;
        *known += 1;
        Some(place)
    }

    /// Rejects a second cell of a column.
    fn once<E: Error>(&mut self, first: bool) -> Result<(), E> {
        if first {
            return Ok(());
        }
        let feature = shown(&*self.scratch.key);
        self.scratch.fault = Some(ReadErrorKind::Row(format!("feature {feature} appears twice")));
        Err(E::custom(""))
    }

    /// A number or a bool; `text` is used if the column is not numeric.
    fn scalar<E: Error>(&mut self, number: f64, text: fmt::Arguments<'_>) -> Result<(), E> {
        let place = self.place();
        if self.scratch.names_row {
            self.row.tag.clear();
            self.row.tag.write_fmt(text).expect("writing to a string does not fail");
        }
        let (Some(place), Some(table)) = (place, self.table.as_mut()) else {
            return self.number(Part::Feature, number);
        };
        let first = if table.is_numeric(place) {
            table.number(place, number)
        } else {
            let cell = &mut self.scratch.text;
            cell.clear();
            cell.write_fmt(text).expect("writing to a string does not fail");
            table.text(place, cell)
        };
        self.once(first)
    }

    /// A text feature; `listed` if it is an element of a list.
    fn text<E: Error>(&mut self, value: &str, listed: bool) -> Result<(), E> {
        let place = self.place();
        if self.scratch.names_row {
            self.row.tag.clear();
            self.row.tag.push_str(value);
        }
        if let (Some(place), Some(table)) = (place, self.table.as_mut()) {
            let first = if listed { table.item(place, value) } else { table.text(place, value) };
            return self.once(first);
        }
        let Scratch { key, text, .. } = &mut *self.scratch;
        text.clear();
        text.extend([&**key, "=", value]);
        // An empty text is missing, except in models of before that have learnt it.
        if value.trim_ascii().is_empty() && self.columns.columns().index_of(text).is_none() {
            self.miss();
            return Ok(());
        }
        let column = self.columns.by_name(text);
        self.scratch.count(column);
        // A list is a set: repetitions are ignored.
        if let Some(column) = column.filter(|column| !listed || !self.row.indices().contains(column)) {
            self.row.push(column, 1.0);
        }
        Ok(())
    }

    fn number<E: Error>(&mut self, part: Part, number: f64) -> Result<(), E> {
        match part {
            Part::Feature => {
                let column = self.columns.by_name(&self.scratch.key);
                self.scratch.count(column);
                if let Some(column) = column {
                    self.row.push(column, number);
                }
            }
            Part::Element(position) => {
                if let Some(column) = self.columns.by_number(position) {
                    self.row.push(column, number);
                }
            }
            Part::Weight if number >= 0.0 => self.row.weight = number,
            Part::Weight => return Err(self.fault(format!("weight {number} is negative"))),
            Part::Probability if (0.0..=1.0).contains(&number) => self.scratch.numbers.push(number),
            Part::Probability => {
                return Err(self.fault(format!("probability {number} is not between 0 and 1")));
            }
            _ => unreachable!("labels, tags and containers are handled before"),
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<u32, M::Error> {
        let mut label_seen = false;
        while map.next_key_seed(Key(&mut self.scratch.key))?.is_some() {
            let part = self.part(&self.scratch.key);
            match part {
                Part::Ignored => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Part::Label if label_seen => return Err(self.fault("appears twice in the row".into())),
                Part::Label => label_seen = true,
                Part::Array | Part::Features if self.length.is_some() => {
                    return Err(self.fault("appears twice in the row".into()));
                }
                Part::Tag if self.scratch.key == "id" && !self.row.tag.is_empty() => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Part::Tag => self.row.tag.clear(),
                _ => {}
            }
            map.next_value_seed(Slot { object: &mut self, part })?;
        }
        if self.keys.shape != Shape::Flat && self.length.is_none() {
            self.scratch.key.clear();
            self.scratch.key.push('x');
            return Err(self.fault("missing, but the first row has it".into()));
        }
        Ok(self.length.unwrap_or(0))
    }
}

/// Reads a key into a buffer.
struct Key<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        self.0.clear();
        json.deserialize_str(Rest(self.0))
    }
}

/// Appends a key to the buffer.
struct Rest<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Rest<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Rest<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        self.0.push_str(key);
        Ok(())
    }
}

/// A value with its role.
struct Slot<'s, 'a> {
    object: &'s mut Object<'a>,
    part: Part,
}

impl Slot<'_, '_> {
    #[cold]
    fn unfit<E: Error>(self, found: &str) -> E {
        let wanted = match self.part {
            Part::Label => "a string, a number, a bool, an array of probabilities or null",
            Part::Weight | Part::Element(_) => "a number",
            Part::Probability => {
                "a number (a list holds the probabilities of all classes; of several labels, write a row each)"
            }
            Part::Tag => "a string or a number",
            Part::Array => "an array as in the first row",
            Part::Features => "an object as in the first row",
            Part::Offers => "a list of the labels on offer",
            Part::Offered => "the name of a label",
            Part::Feature | Part::Item(_) | Part::Ignored => "a number, a bool, a string or null",
        };
        self.object.fault(format!("{found} where {wanted} is needed"))
    }
}

impl<'de> DeserializeSeed<'de> for Slot<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Slot<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match self.part {
            Part::Label => {
                self.object.label_text(if value { "true" } else { "false" }, LabelType::Truth);
                Ok(())
            }
            Part::Feature => self.object.scalar(f64::from(u8::from(value)), format_args!("{value}")),
            Part::Item(at) => self
                .object
                .item(at, |object| object.scalar(f64::from(u8::from(value)), format_args!("{value}"))),
            Part::Element(_) => self.object.number(self.part, f64::from(u8::from(value))),
            _ => Err(self.unfit("a bool")),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.whole(value as f64, format_args!("{value}"))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.whole(value as f64, format_args!("{value}"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        match self.part {
            Part::Label | Part::Offered => match of_real(value) {
                Ok(text) => self.visit_text(format_args!("{text}"), LabelType::Real),
                Err(what) => Err(self.object.fault(what.into())),
            },
            Part::Tag => self.visit_text(format_args!("{value}"), LabelType::Real),
            // As written in JSON: 1.0 is not 1.
            Part::Feature => self.object.scalar(value, format_args!("{value:?}")),
            Part::Item(at) => self.object.item(at, |object| object.scalar(value, format_args!("{value:?}"))),
            Part::Array | Part::Features | Part::Offers => Err(self.unfit("a number")),
            part => self.object.number(part, value),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        match self.part {
            Part::Label => {
                self.object.label_text(value, LabelType::Text);
                Ok(())
            }
            Part::Offered => self.object.offer(value, LabelType::Text),
            Part::Offers => match offer::names(value) {
                Ok(names) => names.iter().try_for_each(|name| self.object.offer(name, LabelType::Unstated)),
                Err(what) => Err(self.object.fault(what.into())),
            },
            Part::Tag => {
                self.object.row.tag.push_str(value);
                Ok(())
            }
            Part::Feature => self.object.text(value, false),
            // The order of texts in a list is irrelevant.
            Part::Item(_) => self.object.text(value, true),
            _ => Err(self.unfit("a string")),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.part {
            Part::Element(position) => {
                // A missing number keeps its column.
                if self.object.columns.by_number(position).is_some() {
                    self.object.columns.miss_number(position, self.object.row);
                }
                Ok(())
            }
            Part::Array | Part::Features | Part::Probability | Part::Offered => Err(self.unfit("null")),
            Part::Feature => self.object.null(),
            Part::Item(at) => self.object.item(at, Object::null),
            _ => Ok(()),
        }
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        match self.part {
            Part::Array => {
                let object = self.object;
                let mut length = 0;
                while seq
                    .next_element_seed(Slot { object, part: Part::Element(u64::from(length)) })?
                    .is_some()
                {
                    length += 1;
                }
                object.length = Some(length);
                Ok(())
            }
            Part::Label => {
                let object = self.object;
                object.scratch.numbers.clear();
                while seq.next_element_seed(Slot { object, part: Part::Probability })?.is_some() {}
                let sum: f64 = object.scratch.numbers.iter().sum();
                if (sum - 1.0).abs() > 1e-6 {
                    return Err(object.fault(format!("probabilities sum to {sum}, not to 1")));
                }
                object.row.set_distribution(object.scratch.numbers.iter().copied());
                Ok(())
            }
            Part::Offers => {
                let object = self.object;
                while seq.next_element_seed(Slot { object, part: Part::Offered })?.is_some() {}
                if object.row.offered().is_empty() {
                    return Err(object.fault("an empty list; a label on offer is needed".into()));
                }
                Ok(())
            }
            Part::Feature => self.object.list(seq),
            Part::Item(at) => self.object.item(at, |object| object.list(seq)),
            _ => Err(self.unfit("an array")),
        }
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let object = self.object;
        match self.part {
            Part::Features => {
                object.length = Some(0);
                while map.next_key_seed(Key(&mut object.scratch.key))?.is_some() {
                    map.next_value_seed(Slot { object, part: Part::Feature })?;
                }
                Ok(())
            }
            Part::Feature => object.nested(map),
            Part::Item(at) => object.item(at, |object| object.nested(map)),
            part => Err(Slot { object, part }.unfit("an object")),
        }
    }
}

impl Object<'_> {
    /// Null is a missing cell, or the missing number of a feature that is known.
    fn null<E: Error>(&mut self) -> Result<(), E> {
        match (self.place(), self.table.as_mut()) {
            (Some(place), Some(table)) => {
                let first = table.null(place);
                self.once(first)
            }
            _ => {
                self.miss();
                Ok(())
            }
        }
    }

    /// The number of a feature is missing, if it is known.
    fn miss(&mut self) {
        self.columns.columns().miss(&self.scratch.key, self.row);
    }

    /// Calls `read` for the element at `position` of the list under the current key.
    fn item<T>(&mut self, position: u64, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.scratch.key.len();
        write!(self.scratch.key, "[{position}]").expect("writing to a string does not fail");
        let result = read(self);
        self.scratch.key.truncate(length);
        result
    }

    /// The features in a list.
    fn list<'de, S: SeqAccess<'de>>(&mut self, mut seq: S) -> Result<(), S::Error> {
        let mut position = 0;
        while seq.next_element_seed(Slot { object: self, part: Part::Item(position) })?.is_some() {
            position += 1;
        }
        Ok(())
    }

    /// The features of a nested object, named by path.
    fn nested<'de, M: MapAccess<'de>>(&mut self, mut map: M) -> Result<(), M::Error> {
        let length = self.scratch.key.len();
        loop {
            self.scratch.key.push('.');
            if map.next_key_seed(Rest(&mut self.scratch.key))?.is_none() {
                break;
            }
            let wanted = |key: &Option<String>| key.as_deref() == Some(&*self.scratch.key);
            let part = match (self.keys.shape, &self.keys.label, &self.keys.weight) {
                (Shape::Flat, label, _) if wanted(label) => Part::Label,
                (Shape::Flat, _, weight) if wanted(weight) => Part::Weight,
                _ => Part::Feature,
            };
            map.next_value_seed(Slot { object: self, part })?;
            self.scratch.key.truncate(length);
        }
        self.scratch.key.truncate(length);
        Ok(())
    }
}

impl Slot<'_, '_> {
    /// A whole number, written as `text`.
    fn whole<E: Error>(self, value: f64, text: fmt::Arguments<'_>) -> Result<(), E> {
        match self.part {
            Part::Label | Part::Tag | Part::Offered => self.visit_text(text, LabelType::Whole),
            Part::Feature => self.object.scalar(value, text),
            Part::Item(at) => self.object.item(at, |object| object.scalar(value, text)),
            _ => self.visit_f64(value),
        }
    }

    /// A number as label or tag.
    fn visit_text<E: Error>(self, number: fmt::Arguments<'_>, of: LabelType) -> Result<(), E> {
        if let Part::Tag = self.part {
            self.object.row.tag.write_fmt(number).expect("writing to a string does not fail");
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.object.scratch.text);
        text.clear();
        text.write_fmt(number).expect("writing to a string does not fail");
        let result = match self.part {
            Part::Offered => self.object.offer(&text, of),
            _ => {
                self.object.label_text(&text, of);
                Ok(())
            }
        };
        self.object.scratch.text = text;
        result
    }
}
