//! Newline-delimited JSON: one object a line, by serde_json without building a tree.
//!
//! The shape of the objects is that of the first valid row:
//!
//! - `{"x": [1, 0.5], "y": "a"}`: numbered features; every array has the length of the first one;
//! - `{"x": {"age": 31, "hue": "red"}, "y": "a"}`: named features;
//! - `{"age": 31, "hue": "red", "label": "a"}`: every key that is not label, weight, `tag` or `id` is a
//!   feature.
//!
//! Named features are columns of a [`table`], whose roles are inferred from the first 1,000 rows.
//! With a model saved without such roles, a feature is a number, a bool (1 or 0), a string
//! (`key=string` of value 1) or null (absent). A label is a string, a number, a bool, an array of
//! class probabilities or null (unlabelled). Its key is the one given in the options, or the first
//! of `label`, `class`, `target`, `y`, `_label` (in any case) in the first 1,000 lines. `weight` is the
//! weight if there is a key `x`; in a flat object it is a feature, unless the options name it.
//! `tag` or `id` is the name of the row, unless the options name another key. Further keys beside
//! `x` are ignored. Repeated features and labels are errors. With the option for labels on offer, those
//! of a row are under `labels`: a list of names, or what [`offers`] reads.

mod keys;
pub(crate) mod nan;
pub(crate) mod offers;
mod remarks;
pub(crate) mod single;
mod syntax;
mod table;
mod visit;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use self::nan::without_nan;

use self::keys::{Keys, LABELS, Shape};
use self::table::Table;
use self::visit::{Scratch, parse_object};
use crate::decisions::line::begins_a_log;
use crate::decisions::reader::LogReader;
use crate::decisions::rows::LoggedRows;
use crate::decisions::{NO_DATA, OURS};
use crate::read::blank::Blank;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::holes::lacking;
use crate::read::logs::{self, LogUse};
use crate::read::options::{Offers, ReadOptions, Schema, Speech};
use crate::read::reader::{LineParser, LineReader, Parsed, Reader};
use crate::read::recognise;
use crate::read::remark::Remark;
use crate::read::row::{Duplicates, FeatureFault, Row};
use crate::read::source::{Line, Peek, Source};
use crate::read::table::schema::{CsvRole, CsvSchema};
use crate::read::table::words::LABEL_NAMES;
use crate::read::table::{self as tables, Column, absent_note, absent_numbers, agree, describe_roles};
use crate::read::vw::json;
use crate::words::counted;

const LINES: usize = 1000;

/// What a whole table in one object is answered.
const WHOLE_TABLE: &str = "is one object of JSON with a whole table, where an object for each row was needed, as pandas writes them by \
                           to_json(orient=\"records\", lines=True), and jq -c '.data[]' those of a list under the key data";

/// What actions of Elasticsearch between rows are answered.
const BULK: &str =
    "has an action of Elasticsearch before each row, which is none; leave them out, as in sed -n 'n;p'";

struct Ndjson {
    keys: Keys,
    /// Length of the arrays, once known.
    width: Option<u32>,
    /// Whether a row without any known feature is rejected, for which a saved model would predict a
    /// constant.
    strict: bool,
    scratch: Scratch,
    /// The table; `None` if features have no common columns.
    table: Option<Table>,
    /// Numbers of the saved model that the data do not have.
    absent: Vec<u32>,
    /// Objects without a key.
    blank: Blank,
    notes: Vec<String>,
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let saved = options.schema.as_ref();
    let label = options.label.clone().or_else(|| saved.and_then(|schema| schema.label.clone()));
    let layout = match options.logged {
        Some(_) => tables::saved_layout(options),
        None => saved.and_then(|schema| schema.csv.as_ref()).map(Cow::Borrowed),
    };
    let layout = layout.as_deref();
    // The first rows of a file are searched for known columns; on a pipe the writer may wait for an
    // answer.
    let wanted = match saved {
        Some(_) if layout.is_none() || source.size().is_none() => 1,
        _ => LINES,
    };
    let (rows, more) = first_rows(&mut source, wanted, label.is_some() || saved.is_some())?;
    let alone = rows.first().filter(|row| saved.is_none() && !more && rows.len() == 1 && !json::is_row(row));
    if alone.is_some_and(recognise::is_whole_table) {
        return Err(source.file_error(WHOLE_TABLE));
    }
    if saved.is_none() && is_bulk(&rows) {
        return Err(source.file_error(BULK));
    }
    if is_own_log(&source, options, &rows)? {
        return LoggedRows::boxed(LogReader::of_source(source), options);
    }
    options.decisions.check_data().map_err(|what| source.file_error(what))?;
    if label.is_none() && layout.is_none() && rows.first().is_some_and(json::is_row) {
        return json::reader(source, options, &rows);
    }
    let offers = offers_of(options, &rows);
    let keys = keys(&rows, label, options, layout, offers);
    match offers {
        Some(Offers::Blocks(width)) => rounds(source, options, keys, width),
        _ => plain(source, options, keys, layout, (&rows, more)),
    }
}

/// Whether every other row is an action of Elasticsearch, whose only key says what to do with the next one.
fn is_bulk(rows: &[Map<String, Value>]) -> bool {
    let is_action = |row: &Map<String, Value>| {
        let only = row.iter().next().filter(|_| row.len() == 1);
        only.is_some_and(|(key, value)| {
            ["index", "create", "update"].contains(&key.as_str()) && value.is_object()
        })
    };
    rows.len() > 3 && rows.iter().enumerate().all(|(at, row)| is_action(row) == (at % 2 == 0))
}

/// A reader of rounds whose labels on offer have features of their own, in blocks of `width` columns.
fn rounds(
    source: Source,
    options: &ReadOptions,
    keys: Keys,
    width: u32,
) -> Result<Box<dyn Reader>, ReadError> {
    if options.hash_bits.is_some() {
        let what =
            "labels on offer have features of their own, which are hashed into blocks of columns already";
        return Err(source.file_error(what));
    }
    check_lists(&source, &keys, options)?;
    let columns = options.columns(Speech::Numbers(0)).map_err(|kind| source.file_error(kind))?;
    let parser = offers::Blocks::new(keys, width, options.describes);
    Ok(LineReader::boxed(source, options.map(columns), parser))
}

/// A reader of other rows, with the first of them, and whether there are more.
fn plain(
    mut source: Source,
    options: &ReadOptions,
    keys: Keys,
    layout: Option<&CsvSchema>,
    (rows, more): (&[Map<String, Value>], bool),
) -> Result<Box<dyn Reader>, ReadError> {
    let saved = options.schema.as_ref();
    check_lists(&source, &keys, options)?;
    let is_list = keys.shape == Shape::Array;
    let speech = if is_list { Speech::Numbers(0) } else { Speech::Names };
    let columns = options.columns(speech).map_err(|kind| source.file_error(kind))?;
    let width = width(&columns, keys.shape, saved);
    let mut columns = options.map(columns);
    if options.tells_missing && saved.is_none() && is_list && options.hash_bits.is_none() {
        let rows = objects(&source.peek(LINES, 1)?);
        columns.indicate(&lacking(|| rows.iter().filter_map(places)));
    }
    let (layout, mut notes) =
        layout_of(rows, &keys, options, layout, more).map_err(|message| source.file_error(message))?;
    if !more && let Some(absent) = absent_asked(rows, options) {
        return Err(source.file_error(absent));
    }
    let table = layout.map(|layout| Table::new(layout, &Arc::new(options.missing()), &mut columns));
    columns.commit();
    notes.extend(remarks::of(rows, options, &keys).map_err(|message| source.file_error(message))?);
    let mut absent = vec![];
    if let Some(table) = table.as_ref().filter(|_| saved.is_some() && source.size().is_some()) {
        let there = table::paths(rows, &keys);
        let missing = || table.missing(&there);
        notes.extend(absent_note(missing()));
        absent = absent_numbers(missing());
    }
    let (strict, scratch) = (saved.is_some() && options.room == 0, Scratch::default());
    let blank = Blank::default();
    let parser = Ndjson { keys, width, strict, scratch, table, absent, blank, notes };
    Ok(LineReader::boxed(source, columns, parser))
}

/// Refuses lists of numbers for a model whose features have names.
fn check_lists(source: &Source, keys: &Keys, options: &ReadOptions) -> Result<(), ReadError> {
    let saved = options.schema.as_ref().filter(|schema| schema.format == Format::Libsvm);
    if keys.shape == Shape::Array && saved.is_some_and(|schema| matches!(schema.columns, Columns::Named(_))) {
        return Err(source.file_error(
            "has lists of numbers, but the saved model has features with names, which are LIBSVM's numbers, as some numbers were \
             missing: objects name them, as in {\"x\": {\"1\": 0.5}}",
        ));
    }
    Ok(())
}

/// A sentence on a key that the options name for a saved model, and that none of `rows`, all rows of a file,
/// has.
fn absent_asked(rows: &[Map<String, Value>], options: &ReadOptions) -> Option<String> {
    let saved = options.schema.as_ref()?;
    // Rows to be predicted may lack the label that the model knows.
    let label = options.label.clone().filter(|label| saved.label.as_ref() != Some(label));
    table::absent_key(rows, [&label, &options.weight, &options.offered, &options.id])
}

/// Whether the rows are those of a decision log of ours, and are read as such.
fn is_own_log(
    source: &Source,
    options: &ReadOptions,
    rows: &[Map<String, Value>],
) -> Result<bool, ReadError> {
    let header = rows.first().is_some_and(|row| row.contains_key("noregret"));
    let refused = options.decisions == LogUse::Refused;
    let ours = if options.logged.is_some() { header } else { options.schema.is_none() || !refused };
    if !ours || !begins_a_log(rows) {
        return Ok(false);
    }
    if options.logged.is_some() {
        return Err(source.file_error(OURS));
    }
    if refused {
        return Err(source.file_error(NO_DATA));
    }
    Ok(true)
}

/// How rows state the labels on offer, if they may.
fn offers_of(options: &ReadOptions, rows: &[Map<String, Value>]) -> Option<Offers> {
    let saved = options.schema.as_ref();
    let named = options.offered.is_some() || options.offers.is_some_and(|_| !has_column(saved, LABELS));
    match saved {
        // A row may state what is on offer although no row has when the model learnt.
        Some(schema) => schema.offers.or(named.then_some(Offers::Named)),
        None if options.offered.is_some() => Some(Offers::Named),
        None if options.logged.is_some() => None,
        None => options.offers.and_then(|width| offers::recognise(rows, width)),
    }
}

/// The length of the arrays, if the columns of a saved model say it.
fn width(columns: &Columns, shape: Shape, saved: Option<&Schema>) -> Option<u32> {
    match columns {
        Columns::Numbered { count, .. } if saved.is_some_and(|schema| schema.format == Format::Ndjson) => {
            Some(*count)
        }
        // Names are places, and features that say which of them lack their number.
        Columns::Named(_) if shape == Shape::Array => {
            let marks = columns.marks().len() as u32;
            (marks > 0).then(|| columns.count() - marks)
        }
        _ => None,
    }
}

/// The layout of the table that the rows are, and remarks on it: `saved`, if the model has one; `None` if
/// features have no common columns.
fn layout_of(
    rows: &[Map<String, Value>],
    keys: &Keys,
    options: &ReadOptions,
    saved: Option<&CsvSchema>,
    more: bool,
) -> Result<(Option<CsvSchema>, Vec<String>), ReadErrorKind> {
    match saved {
        _ if keys.shape == Shape::Array => Ok((options.logged.as_ref().map(logs::Keys::alone), vec![])),
        Some(saved) => {
            let mut layout = saved.clone();
            let names: Vec<String> = saved.fields.iter().map(|field| field.name.clone()).collect();
            agree(&mut layout, &names, options)?;
            Ok((Some(layout), vec![]))
        }
        None if options.schema.is_some() || rows.is_empty() => Ok((None, vec![])),
        None => {
            let (layout, notes) = table::decide(rows, keys, options, more)?;
            Ok((Some(layout), notes))
        }
    }
}

/// Whether a model has a column of the key `key`: a number, categories, or what is inside.
fn has_column(saved: Option<&Schema>, key: &str) -> bool {
    let Some(Columns::Named(names)) = saved.map(|schema| &schema.columns) else { return false };
    names.iter().any(|name| {
        name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '.', '[', '~']))
    })
}

/// Whether a row has no column of the model: neither a categorical one, in any category, nor another without
/// a value.
#[cold]
fn is_foreign(line: &str, columns: &Columns) -> bool {
    let Columns::Named(names) = columns else { return true };
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(line) else { return true };
    let features = match object.get("x") {
        Some(Value::Object(features)) => features,
        _ => &object,
    };
    let is_known = |key: &String| {
        let rest =
            |name: &str| name.strip_prefix(key.as_str()).map(|rest| rest.is_empty() || rest.starts_with('='));
        names.iter().any(|name| rest(name) == Some(true))
    };
    !features.keys().any(is_known)
}

/// The first rows, with whether there are more: up to [`LINES`], or `wanted`, if the label is `known`.
fn first_rows(
    source: &mut Source,
    wanted: usize,
    known: bool,
) -> Result<(Vec<Map<String, Value>>, bool), ReadError> {
    let mut lines = if known { 1 } else { LINES };
    loop {
        let peek = source.peek(lines, 1)?;
        let (rows, all) = (objects(&peek), peek.all);
        let enough = lines >= wanted || (known && shape(&rows) == Shape::Array);
        if all || lines >= LINES || (enough && !rows.is_empty()) {
            return Ok((rows, !all));
        }
        lines = if rows.is_empty() { LINES.min(2 * lines) } else { wanted };
    }
}

fn objects(peek: &Peek<'_>) -> Vec<Map<String, Value>> {
    let object = |line: &[u8]| {
        let without = || serde_json::from_str(&without_nan(std::str::from_utf8(line).ok()?)?).ok();
        serde_json::from_slice(line).ok().or_else(without)
    };
    peek.lines().filter_map(object).take(LINES).collect()
}

/// The numbers of a list with their places, NaN for a missing one.
fn places(row: &Map<String, Value>) -> Option<Vec<(u64, f64)>> {
    let number = |value: &Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
    let list = row.get("x")?.as_array()?;
    Some((0..).zip(list).filter_map(|(place, value)| Some((place, number(value)?))).collect())
}

fn shape(rows: &[Map<String, Value>]) -> Shape {
    match rows.first().and_then(|row| row.get("x")) {
        Some(Value::Array(_)) => Shape::Array,
        Some(Value::Object(_)) => Shape::Object,
        _ => Shape::Flat,
    }
}

/// What the keys mean. `label` is that of the options, or of a saved model, whose layout is `layout`.
fn keys(
    rows: &[Map<String, Value>],
    label: Option<String>,
    options: &ReadOptions,
    layout: Option<&CsvSchema>,
    offers: Option<Offers>,
) -> Keys {
    let shape = shape(rows);
    // A model that leaves a column out has learnt from a log, of whose decisions it is no label.
    let is_dropped = |key: &str| {
        layout.is_some_and(|layout| layout.fields.iter().any(|of| of.role == CsvRole::Drop && of.name == key))
    };
    let label = label.or_else(|| {
        let seen: HashSet<&String> = rows.iter().flat_map(Map::keys).collect();
        let called = |name: &str| {
            let other = || seen.iter().copied().filter(|key| key.eq_ignore_ascii_case(name)).min();
            seen.iter().copied().find(|key| *key == name).or_else(other).cloned()
        };
        LABEL_NAMES.iter().find_map(|name| called(name)).filter(|name| !is_dropped(name))
    });
    let saved = options.schema.as_ref().and_then(|schema| schema.weight.clone());
    let usual = || (shape != Shape::Flat).then(|| "weight".to_owned());
    Keys {
        shape,
        label,
        weight: options.weight.clone().or(saved).or_else(usual),
        id: options.id.clone(),
        offers: offers.map(|_| options.offered.clone().unwrap_or_else(|| LABELS.to_owned())),
        played: options.logged.as_ref().map(|keys| [keys.probability.clone(), keys.reward.clone()]),
    }
}

/// Ends a row.
fn finish(row: &mut Row, duplicates: Duplicates, columns: &ColumnMap) -> Result<(), ReadErrorKind> {
    row.finish(duplicates).map_err(|fault| {
        ReadErrorKind::Row(match fault {
            FeatureFault::Duplicate(column) => {
                format!("feature {} appears twice", shown(&*columns.columns().name(column)))
            }
            FeatureFault::Overflow(_) => "features of one hash sum to infinity".into(),
        })
    })
}

impl LineParser for Ndjson {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        row.line = line.number();
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        if let Some(table) = &mut self.table {
            table.begin();
        }
        let Self { keys, table, scratch, .. } = self;
        let length = match parse_object(line, keys, table, scratch, row, columns) {
            Ok(length) => length,
            Err(error) => {
                // NaN is no JSON, but programs write it for a missing number.
                let plain = without_nan(line).ok_or(error)?;
                let line = row.line;
                row.clear();
                row.line = line;
                table.iter_mut().for_each(Table::begin);
                parse_object(&plain, keys, table, scratch, row, columns)?
            }
        };
        if line.trim_ascii().strip_prefix('{').is_some_and(|rest| rest.trim_ascii() == "}") {
            self.blank.count(row.line);
        }
        if self.keys.shape == Shape::Array {
            let width = *self.width.get_or_insert(length);
            if length != width {
                let message = format!(
                    "\"x\" has {}, where the rows before it have {width}",
                    counted(u64::from(length), "number")
                );
                return Err(ReadErrorKind::Row(message));
            }
        }
        if self.strict
            && self.scratch.known == 0
            && (self.scratch.unknown > 0 || self.keys.shape == Shape::Flat)
            && is_foreign(line, columns.columns())
        {
            let what = "the saved model has none of the row's features";
            return Err(ReadErrorKind::Row(what.to_owned()));
        }
        if let Some(table) = &mut self.table {
            table.finish(columns, row)?;
        }
        // Hashes of different features may collide.
        let hashed = matches!(columns.columns(), Columns::Hashed { .. });
        finish(row, if hashed { Duplicates::Sum } else { Duplicates::Refuse }, columns)?;
        Ok(true)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let Keys { label, weight, .. } = &self.keys;
        let csv = self.table.as_ref().map(|table| table.layout.clone());
        let offers = self.keys.offers.as_ref().map(|_| Offers::Named);
        let (label, weight) = (label.clone(), weight.clone());
        Schema { label, weight, csv, offers, ..Schema::plain(Format::Ndjson, columns) }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let cells = self.table.iter().flat_map(|table| &table.cells).filter_map(Column::odd);
        cells.chain(self.blank.remark("no key")).collect()
    }

    fn absent(&self) -> Vec<u32> {
        self.absent.clone()
    }

    fn forget(&mut self, count: u32) {
        if let Some(table) = &mut self.table {
            table.forget(count);
        }
    }

    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)> {
        let shown_key = |key: &Option<String>| {
            key.as_ref().map_or("none".to_owned(), |key| format!("key {}", shown(key)))
        };
        let features = match self.keys.shape {
            Shape::Array => "the array \"x\"",
            Shape::Object => "the keys of \"x\"",
            Shape::Flat => "all other keys",
        };
        let hashed = match columns {
            Columns::Hashed { bits } => format!(", hashed into 2^{bits} columns"),
            _ => String::new(),
        };
        let mut described = vec![
            ("label", shown_key(&self.keys.label)),
            ("weight", shown_key(&self.keys.weight)),
            ("features", format!("{features}{hashed}")),
        ];
        if let Some(key) = &self.keys.offers {
            described.push(("offers", format!("labels on offer under {}", shown(key))));
        }
        if let Some(table) = &self.table {
            described
                .extend(describe_roles(table.cells.iter().map(|cell| (&*cell.name, cell.field.as_ref()))));
        }
        described
    }
}

#[cfg(test)]
mod tests;
