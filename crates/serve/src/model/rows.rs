//! Converts features to rows: names are columns; where labels are on offer, names are hashed.

use std::collections::{BTreeSet, HashSet};

use noregret::bandit::offers::key;
use noregret_stream::{Columns, Described, Row, fill_round, hash_name};

use super::event::Offered;
use super::flat::Flat;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// The name of the first of the columns that are shared; the others follow it.
const FIRST_SHARED: &str = "(shared 0)";

/// One column in so many is shared where the columns of a model end.
const SHARED: usize = 4;

/// The number of shared columns, which are the last ones.
pub(crate) fn shared(columns: &Columns) -> u32 {
    columns.index_of(FIRST_SHARED).map_or(0, |first| columns.count() - first)
}

/// The column of a name: its own, or a shared one by the hash of the name.
fn column_of(columns: &Columns, name: &str) -> Option<u32> {
    columns.index_of(name).or_else(|| {
        let first = columns.index_of(FIRST_SHARED)?;
        Some(first + hash_name(name, 31) % (columns.count() - first))
    })
}

/// Number of `features` without a column.
fn unknown(columns: &Columns, features: &Flat) -> usize {
    let mut new: Vec<&str> =
        features.iter().map(|(name, _)| name).filter(|name| column_of(columns, name).is_none()).collect();
    new.sort_unstable();
    new.dedup();
    new.len()
}

/// Number of columns for a row with `features`, and whether new names share columns from this row on: if
/// there may be at most `most`, and too few would be left.
pub(crate) fn needed(columns: &Columns, features: &Flat, most: Option<usize>) -> (usize, bool) {
    let new = unknown(columns, features);
    let needed = columns.count() as usize + new;
    match most {
        Some(most) if new > 0 && needed > most - most / SHARED => (most, true),
        _ => (needed, false),
    }
}

/// Whether names can share the last of `most` columns.
pub(crate) fn leaves_room(columns: &Columns, most: usize) -> bool {
    shared(columns) > 0 || columns.count() as usize <= most - most / SHARED
}

/// Writes `features` to a row; new ones get new columns, and where no more than `most` may be, new names
/// share the columns that are left.
/// Fails if the values of a repeated name sum to infinity.
pub(crate) fn fill(
    columns: &mut Columns,
    features: &Flat,
    most: Option<usize>,
    row: &mut Row,
) -> Result<(), Refusal> {
    let (most, share) = needed(columns, features, most);
    if let (Columns::Named(names), true) = (&mut *columns, share) {
        let first = names.len() as usize;
        for at in first..most {
            names.intern(&format!("(shared {})", at - first));
        }
    }
    for (name, value) in features.iter() {
        let column = column_of(columns, name).or_else(|| match &mut *columns {
            Columns::Named(names) => names.intern(name),
            _ => None,
        });
        if let Some(column) = column {
            row.push(column, value);
        }
    }
    miss(columns, features, row);
    summed(row)
}

/// Notes the missing numbers of features that have a column of their own. An empty text is missing, except in
/// models of before that have learnt it.
fn miss(columns: &Columns, features: &Flat, row: &mut Row) {
    for name in features.missing() {
        match (columns.index_of(name), without_text(name)) {
            (Some(category), Some(_)) => row.push(category, 1.0),
            (_, number) => columns.miss(number.unwrap_or(name), row),
        }
    }
}

/// `features` with those that begin with them, which say that a number is missing: of the columns for which
/// `lacks` holds. `None` if none begins.
pub(crate) fn begun(columns: &Columns, features: &Flat, lacks: impl Fn(u32) -> bool) -> Option<Flat> {
    let mark = |name: &str| {
        let number = match without_text(name) {
            Some(_) if columns.index_of(name).is_some() => return None,
            number => number.unwrap_or(name),
        };
        let column = columns.index_of(number).filter(|column| lacks(*column));
        let mark = column.and_then(|_| columns.new_mark(number));
        mark.filter(|mark| features.iter().all(|(given, _)| given != mark.as_str()))
    };
    let begun: BTreeSet<String> = features.missing().filter_map(mark).collect();
    let values = features.iter().map(|(name, value)| (name, Some(value)));
    let marks = begun.iter().map(|name| (name.as_str(), Some(1.0)));
    let all = || Flat::named(values.chain(marks).chain(features.missing().map(|name| (name, None))));
    (!begun.is_empty()).then(all)
}

/// The name of a feature whose text is empty, see [`Flat::missing`].
fn without_text(name: &str) -> Option<&str> {
    name.rsplit_once('=').filter(|(_, text)| text.trim_ascii().is_empty()).map(|(name, _)| name)
}

/// The same without learning: features without a column are ignored.
/// Fails if the values of a repeated name sum to infinity.
pub(crate) fn fill_known(columns: &Columns, features: &Flat, row: &mut Row) -> Result<(), Refusal> {
    fill_listed(columns, features.iter(), features, row)
}

/// The same for some features of `all`.
/// Fails if the values of a repeated name sum to infinity.
pub(crate) fn fill_listed<'a>(
    columns: &Columns,
    features: impl Iterator<Item = (&'a str, f64)>,
    all: &Flat,
    row: &mut Row,
) -> Result<(), Refusal> {
    for (name, value) in features {
        if let Some(column) = column_of(columns, name) {
            row.push(column, value);
        }
    }
    miss(columns, all, row);
    summed(row)
}

/// Whether a row has features, and the model has columns, but the row names none of these, not even in
/// another category.
pub(crate) fn is_foreign(columns: &Columns, features: &Flat) -> bool {
    let Columns::Named(names) = columns else { return false };
    let stem = |name: &str| name.split_once('=').map_or(name.len(), |(stem, _)| stem.len());
    let mut given = features.iter().map(|(name, _)| &name[..stem(name)]).peekable();
    if names.is_empty() || given.peek().is_none() {
        return false;
    }
    let known = |name: &str| column_of(columns, name).is_some();
    if features.iter().any(|(name, _)| known(name)) {
        return false;
    }
    let stems: HashSet<&str> = names.iter().map(|name| &name[..stem(name)]).collect();
    !given.any(|name| stems.contains(name))
}

fn summed(row: &mut Row) -> Result<(), Refusal> {
    row.sum_duplicates()
        .map_err(|_| Refusal::invalid("x", "a feature is given twice, and the sum is infinite"))
}

/// Writes the row of a round with `labels` on offer, of which the encoder makes blocks of `width` columns.
/// Fails if a feature is invalid.
pub(crate) fn fill_offer(
    x: &Flat,
    slot: Option<&Flat>,
    labels: &[Offered],
    width: u32,
    limits: &Limits,
    row: &mut Row,
) -> Result<(), Refusal> {
    OfferFeatures::of(x, slot, labels, limits)?.fill(width, row)
}

/// Features by name, for columns that are hashes: an empty text is a category like others.
fn listed(features: &Flat) -> Described {
    let empty = features.missing().filter(|name| without_text(name).is_some()).map(|name| (name, 1.0));
    features.iter().chain(empty).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The features of a round in which labels are on offer, by name.
#[derive(Clone)]
pub(crate) struct OfferFeatures {
    /// Those of the round; those of its slot have the prefix `slot.`.
    pub(crate) context: Described,
    /// Those of every label, with the key of its name.
    pub(crate) labels: Vec<(u64, Described)>,
}

impl OfferFeatures {
    /// Fails if a feature is invalid.
    pub(crate) fn of(
        x: &Flat,
        slot: Option<&Flat>,
        labels: &[Offered],
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        x.check("x", limits)?;
        let mut context = listed(x);
        if let Some(slot) = slot {
            slot.check("slots", limits)?;
            context.extend(listed(slot).into_iter().map(|(name, value)| (format!("slot.{name}"), value)));
        }
        let mut described = Vec::with_capacity(labels.len());
        for (at, label) in labels.iter().enumerate() {
            label.x.check(&format!("labels[{at}].x"), limits)?;
            described.push((key(&label.label.text), listed(&label.x)));
        }
        Ok(Self { context, labels: described })
    }

    /// Writes the row, of which the encoder makes blocks of `width` columns.
    /// Fails if a feature is too large.
    pub(crate) fn fill(self, width: u32, row: &mut Row) -> Result<(), Refusal> {
        fill_round(&self.context, &self.labels, width, row).map_err(|what| Refusal::invalid("x", what))
    }
}
