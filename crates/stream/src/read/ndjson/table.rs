//! Objects as rows of a table: each key is a column; keys of nested objects are named by path.
//!
//! The kinds of columns are inferred from the first rows, as for CSV, and cells are parsed in the
//! same way, so that equal rows become equal examples in both formats. In addition:
//!
//! - `{"user": {"age": 31}}` has the column `user.age`;
//! - numbers in a list are columns by position, `size[0]`, as are keys of objects in a list,
//!   `items[0].price`;
//! - texts in a list are a set without order: each is a category, or a word of a text;
//! - a bool is the category `true` or `false`, or 1 or 0 in a numeric column;
//! - a key that is absent from the first rows becomes a feature when it occurs: a number, or a
//!   category.
//!
//! Rows with few of all keys, such as bags of words, are not a table: absent numbers are 0, not
//! missing.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use csv::ByteRecord;
use foldhash::fast::RandomState;
use serde_json::{Map, Value};

use super::keys::{Keys, Shape};
use crate::fault::{Fault, fault};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadErrorKind, shown};
use crate::read::missing::Missing;
use crate::read::options::ReadOptions;
use crate::read::row::Row;
use crate::read::table::schema::{CsvRole, CsvSchema};
use crate::read::table::{self, Cell, Column, Decided, Sample, features, find_column, is_needed};

/// With fewer keys in all, rows are always a table.
const FEW: usize = 50;

/// With more keys, rows with on average less than one in this many of them are bags.
const SPARSE: usize = 10;

/// The columns, and the cells of the current row.
pub(crate) struct Table {
    pub(crate) layout: CsvSchema,
    pub(crate) cells: Vec<Column>,
    places: HashMap<String, usize, RandomState>,
    slots: Vec<Slot>,
    /// The position after the last key found: keys mostly have the same order.
    next: usize,
    /// Texts of the row, one after the other.
    text: String,
    /// Texts of lists, with the positions of their columns.
    items: Vec<(usize, Range<usize>)>,
}

/// The cell of a column in the current row.
#[derive(Clone, Debug)]
enum Slot {
    Absent,
    Null,
    Number(f64),
    Text(Range<usize>),
    List,
}

impl Table {
    /// The columns of a layout, without labels and weights, which the reader handles.
    pub(crate) fn new(layout: CsvSchema, missing: &Arc<Missing>, columns: &mut ColumnMap) -> Self {
        let features = features(&layout, columns);
        let fields = layout.fields.iter().zip(features);
        let cells: Vec<Column> = fields
            .filter(|(field, _)| !matches!(field.role, CsvRole::Label | CsvRole::Weight))
            .map(|(field, features)| Column::new(field.name.clone(), Some(field.clone()), features, missing))
            .collect();
        let places = cells.iter().enumerate().map(|(at, cell)| (cell.name.clone(), at)).collect();
        let slots = vec![Slot::Absent; cells.len()];
        Self { layout, cells, places, slots, next: 0, text: String::new(), items: vec![] }
    }

    /// The position of a column, by name.
    pub(crate) fn place(&mut self, key: &str) -> Option<usize> {
        let place = match self.cells.get(self.next) {
            Some(cell) if cell.name == key => self.next,
            _ => *self.places.get(key)?,
        };
        self.next = place + 1;
        Some(place)
    }

    /// Whether a key is a column with features.
    pub(crate) fn has(&self, key: &str) -> bool {
        let role = self.places.get(key).and_then(|place| self.cells[*place].role);
        role.is_some_and(is_needed)
    }

    /// Whether the column holds numbers.
    pub(crate) fn is_numeric(&self, place: usize) -> bool {
        self.cells[place].role == Some(CsvRole::Numeric)
    }

    fn is_new(&self, place: usize) -> bool {
        matches!(self.slots[place], Slot::Absent)
    }

    /// Sets a missing cell. This and the following return false if the row has the column already.
    pub(crate) fn null(&mut self, place: usize) -> bool {
        let new = self.is_new(place);
        self.slots[place] = Slot::Null;
        new
    }

    pub(crate) fn number(&mut self, place: usize, number: f64) -> bool {
        let new = self.is_new(place);
        self.slots[place] = Slot::Number(number);
        new
    }

    pub(crate) fn text(&mut self, place: usize, text: &str) -> bool {
        let (new, at) = (self.is_new(place), self.kept(text));
        self.slots[place] = Slot::Text(at);
        new
    }

    /// Adds a text of a list.
    pub(crate) fn item(&mut self, place: usize, text: &str) -> bool {
        let fits = self.is_new(place) || matches!(self.slots[place], Slot::List);
        let at = self.kept(text);
        self.items.push((place, at));
        self.slots[place] = Slot::List;
        fits
    }

    fn kept(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text.trim_ascii());
        start..self.text.len()
    }

    /// Clears the cells of the last row.
    pub(crate) fn begin(&mut self) {
        self.slots.fill(Slot::Absent);
        self.next = 0;
        self.text.clear();
        self.items.clear();
    }

    /// Hands the cells over, column by column.
    pub(crate) fn finish(&mut self, columns: &mut ColumnMap, row: &mut Row) -> Result<(), ReadErrorKind> {
        let Self { cells, slots, text, items, .. } = self;
        for (place, (column, slot)) in cells.iter_mut().zip(slots).enumerate() {
            let own: Vec<&str>;
            let cell = match slot {
                Slot::Number(number) => Cell::Number(*number),
                Slot::Absent => {
                    column.features.push_absent(row);
                    continue;
                }
                Slot::Null => Cell::Missing,
                Slot::Text(at) => Cell::Text(text[at.clone()].as_bytes()),
                Slot::List => {
                    let items = items.iter().filter(|(of, _)| *of == place);
                    own = items.map(|(_, at)| &text[at.clone()]).collect();
                    Cell::List(&own)
                }
            };
            column.add(cell, columns, row)?;
        }
        Ok(())
    }

    /// The feature columns that are absent from some rows' keys; none if there are no keys.
    pub(crate) fn missing<'a>(&'a self, there: &'a HashSet<String>) -> impl Iterator<Item = &'a Column> {
        let needed = self.cells.iter().filter(|cell| !there.is_empty() && cell.role.is_some_and(is_needed));
        needed.filter(|cell| !there.contains(&cell.name))
    }

    /// Takes in the columns from `first` on, which others have made.
    pub(crate) fn take_in(&mut self, columns: &Columns, first: u32) {
        self.cells.iter_mut().for_each(|column| column.features.take_in(columns, first));
    }

    /// Removes the features from `count` on, which were taken back.
    pub(crate) fn forget(&mut self, count: u32) {
        self.cells.iter_mut().for_each(|column| column.features.forget(count));
    }
}

/// Statistics of one key.
#[derive(Default)]
struct Seen {
    cells: Vec<(usize, String)>,
    /// Whether there are values other than numbers and bools.
    other: bool,
    /// Whether there are texts in a list.
    list: bool,
}

/// The keys of the first rows in order of appearance.
#[derive(Default)]
struct Survey {
    names: Vec<String>,
    places: HashMap<String, usize>,
    seen: Vec<Seen>,
}

impl Survey {
    fn of(rows: &[Map<String, Value>], keys: &Keys) -> Self {
        let (mut survey, mut path) = (Self::default(), String::new());
        let is = |wanted: &Option<String>, key: &str| wanted.as_deref() == Some(key);
        // A reward may come in later rows only.
        for key in keys.played.iter().flatten() {
            survey.at(key);
        }
        for (at, row) in rows.iter().enumerate() {
            let inside = row.get("x").filter(|_| keys.shape == Shape::Object);
            for (key, value) in row {
                if keys.offers.as_ref() == Some(key) {
                    continue;
                }
                let known = is(&keys.label, key) || is(&keys.weight, key) || keys.plays(key);
                let feature = keys.shape == Shape::Flat && !matches!(key.as_str(), "tag" | "id");
                if (known && !value.is_array() && !value.is_object()) || (feature && !known) {
                    path.clone_from(key);
                    survey.value(at, &mut path, value);
                }
            }
            for (key, value) in inside.and_then(Value::as_object).into_iter().flatten() {
                path.clone_from(key);
                survey.value(at, &mut path, value);
            }
        }
        survey
    }

    fn at(&mut self, name: &str) -> &mut Seen {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.seen.push(Seen::default());
            self.names.len() - 1
        });
        &mut self.seen[place]
    }

    fn value(&mut self, row: usize, path: &mut String, value: &Value) {
        let length = path.len();
        match value {
            Value::Null => self.at(path).cells.push((row, String::new())),
            Value::Bool(_) | Value::Number(_) => self.at(path).cells.push((row, value.to_string())),
            Value::String(text) => {
                let seen = self.at(path);
                seen.cells.push((row, text.trim_ascii().to_owned()));
                seen.other = true;
            }
            Value::Array(list) => {
                let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                if !texts.is_empty() {
                    let seen = self.at(path);
                    seen.cells.push((row, texts.join(" ")));
                    (seen.other, seen.list) = (true, true);
                }
                for (at, value) in list.iter().enumerate().filter(|(_, value)| !value.is_string()) {
                    path.push_str(&format!("[{at}]"));
                    self.value(row, path, value);
                    path.truncate(length);
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    path.extend([".", key]);
                    self.value(row, path, value);
                    path.truncate(length);
                }
            }
        }
    }

    /// Whether the rows have few of all keys.
    fn is_sparse(&self, rows: usize) -> bool {
        let there: usize = self.seen.iter().map(|seen| seen.cells.len()).sum();
        self.names.len() > FEW && there * SPARSE < self.names.len() * rows
    }

    /// The keys that are columns.
    fn columns(&self, rows: usize, keys: &Keys) -> Vec<usize> {
        let sparse = self.is_sparse(rows);
        let holders: HashSet<&str> = self
            .names
            .iter()
            .flat_map(|name| name.match_indices(['.', '[']).map(|(at, _)| &name[..at]))
            .collect();
        let is_column = |place: &usize| {
            let (name, seen) = (&self.names[*place], &self.seen[*place]);
            // null in place of an object or a list.
            let holder =
                holders.contains(name.as_str()) && seen.cells.iter().all(|(_, cell)| cell.is_empty());
            let column = !sparse || seen.other || 2 * seen.cells.len() >= rows;
            (column && !holder) || Some(name) == keys.label.as_ref() || keys.plays(name)
        };
        (0..self.names.len()).filter(is_column).collect()
    }
}

/// The paths of all keys of some rows.
pub(crate) fn paths(rows: &[Map<String, Value>], keys: &Keys) -> HashSet<String> {
    Survey::of(rows, keys).names.into_iter().collect()
}

/// A sentence on a key of `asked` that none of `rows`, all rows of a file, has.
pub(super) fn absent_key<'a>(
    rows: &[Map<String, Value>],
    asked: impl IntoIterator<Item = &'a Option<String>>,
) -> Option<String> {
    let there = |key: &String| {
        let inside = |row: &Map<String, Value>| {
            let mut parts = key.split('.');
            let first = parts.next().and_then(|part| row.get(part));
            first.is_some_and(|first| parts.try_fold(first, |value, part| value.get(part)).is_some())
        };
        rows.iter().any(|row| row.contains_key(key) || inside(row))
    };
    let absent = asked.into_iter().flatten().find(|key| !rows.is_empty() && !there(key))?;
    let near = noregret::param::nearest(absent, rows.iter().flat_map(Map::keys).map(String::as_str));
    let near = near.map(|near| format!(" (did you mean {}?)", shown(near))).unwrap_or_default();
    Some(format!("has no key {}{near}", shown(absent)))
}

/// Infers the kinds of the keys from the first rows, with remarks.
pub(crate) fn decide(
    rows: &[Map<String, Value>],
    keys: &Keys,
    options: &ReadOptions,
    more: bool,
) -> Result<(CsvSchema, Vec<String>), Fault> {
    let survey = Survey::of(rows, keys);
    if let Some(label) = options.label.as_ref()
        && !survey.places.contains_key(label)
        && !rows.iter().any(|row| row.contains_key(label))
    {
        // The label may occur later, unless the name is a typing error.
        let beside = rows.iter().flat_map(Map::keys);
        let names = survey.names.iter().chain(beside).map(String::as_str);
        let other_case = names.clone().find(|name| name.eq_ignore_ascii_case(label));
        if let Some(near) = other_case.or_else(|| noregret::param::nearest(label, names)) {
            let right = options.logged.as_ref().map_or("", |keys| keys.or_right());
            return Err(fault!("has no key {} (did you mean {}?){right}", shown(label), shown(near)));
        }
    }
    let played = keys.played.iter().flatten();
    for key in played.take(if more { 1 } else { 2 }) {
        // Every decision has a probability; rewards may come later.
        let others = survey.names.iter().filter(|name| *name != key).map(String::as_str);
        if survey.seen[survey.places[key]].cells.is_empty()
            && let Some(near) = noregret::param::nearest(key, others)
        {
            return Err(fault!("has no key {} (did you mean {}?)", shown(key), shown(near)));
        }
    }
    if !more && let Some(absent) = absent_key(rows, [&options.weight, &options.offered, &options.id]) {
        return Err(absent.into());
    }
    let columns = survey.columns(rows.len(), keys);
    let names: Vec<String> = columns.iter().map(|place| survey.names[*place].clone()).collect();
    let mut cells = vec![vec![""; names.len()]; rows.len()];
    for (column, place) in columns.iter().enumerate() {
        for (row, cell) in &survey.seen[*place].cells {
            cells[*row][column] = cell;
        }
    }
    let records: Vec<ByteRecord> = cells.into_iter().map(ByteRecord::from).collect();
    // The labels on offer are no column.
    let mut options = ReadOptions { offered: None, ..options.clone() };
    let given: HashSet<String> = options.given_names().cloned().collect();
    let lists = columns.iter().filter(|place| survey.seen[**place].list).map(|place| &survey.names[*place]);
    options.categorical.extend(lists.filter(|name| !given.contains(*name)).cloned());
    let position =
        |key: &Option<String>| key.as_ref().and_then(|key| names.iter().position(|name| name == key));
    let sample = Sample {
        names: &names,
        rows: &records.iter().collect::<Vec<_>>(),
        label: position(&keys.label),
        weight: position(&keys.weight),
        comma_first: false,
        more,
        whole: columns.len() == survey.names.len(),
        nameless: false,
        missing: &options.missing(),
        declared: &[],
    };
    let Decided { fields, numbers, marks, notes } =
        table::decide(&sample, &options, |column| find_column(&names, column))?;
    Ok((CsvSchema { numbers, marks, ..CsvSchema::of(fields) }, notes))
}
