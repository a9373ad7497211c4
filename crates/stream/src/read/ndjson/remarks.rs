//! Remarks on keys that are read as data, and may be meant otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::keys::{Keys, LABELS, Shape};
use super::offers;
use crate::fault::Fault;
use crate::read::error::shown;
use crate::read::options::{Offers, ReadOptions};
use crate::read::table::like_a_log;
use crate::read::table::words::LABEL_NAMES;

/// A remark on a key that may have labels on offer.
const LIKE_OFFERS: &str = "\"labels\" looks like the labels on offer, and is read as a feature by learners that see the label: the option \
                           offered = labels makes their forecasts be among them, and with --feedback bandit they are chosen among";

/// Remarks on keys that are read as data by a new model, and may be meant otherwise.
pub(super) fn of(
    rows: &[Map<String, Value>],
    options: &ReadOptions,
    keys: &Keys,
) -> Result<Vec<String>, Fault> {
    let Some(first) = rows.first().filter(|_| options.schema.is_none()) else { return Ok(vec![]) };
    let of_label = |label: &&String| rows.iter().any(|row| row.contains_key(*label));
    let log = keys.label.as_ref().filter(of_label);
    let (apart, has) = (keys.shape != Shape::Flat, |key: &str| first.contains_key(key));
    let log = log.map_or(Ok(None), |label| like_a_log(options, label, apart, has))?;
    let offers = keys.offers.is_none() && offers::recognise(rows, Offers::WIDTH).is_some();
    let notes = log.into_iter().chain(offers.then(|| LIKE_OFFERS.to_owned()));
    let notes = notes.chain(ignored(rows, keys)).chain(blanks(rows)).chain(alike(rows));
    Ok(notes.chain(in_place_of_the_label(rows, keys)).collect())
}

/// What stands under `x` in a row, if it is an object.
fn inside(row: &Map<String, Value>) -> Option<&Map<String, Value>> {
    row.get("x")?.as_object()
}

/// A remark on two keys that differ in the blanks around them alone.
fn blanks(rows: &[Map<String, Value>]) -> Option<String> {
    let all = rows.iter().chain(rows.iter().filter_map(inside));
    let keys: BTreeSet<&str> = all.flat_map(Map::keys).map(String::as_str).collect();
    let key = *keys.iter().find(|key| key.trim() != **key && keys.contains(key.trim()))?;
    Some(format!(
        "the keys {} and {} differ in the blanks around them alone, and are two features; if they are one, write it without blanks",
        shown(key),
        shown(key.trim())
    ))
}

/// A remark on two keys that differ in upper and lower case alone, of which no row has both.
fn alike(rows: &[Map<String, Value>]) -> Option<String> {
    let has = |row: &Map<String, Value>, key: &str| {
        row.contains_key(key) || inside(row).is_some_and(|x| x.contains_key(key))
    };
    let (mut seen, mut known) = (BTreeSet::new(), BTreeMap::new());
    let all = rows.iter().flat_map(|row| row.keys().chain(inside(row).into_iter().flat_map(Map::keys)));
    let (one, other) = all.map(String::as_str).filter(|key| seen.insert(*key)).find_map(|key| {
        let one = *known.entry(key.to_lowercase()).or_insert(key);
        (one != key && !rows.iter().any(|row| has(row, one) && has(row, key))).then_some((one, key))
    })?;
    Some(format!(
        "the keys {} and {} differ in upper and lower case alone, and are two; if they are one, write it alike",
        shown(one),
        shown(other)
    ))
}

/// A remark on rows that have another key in place of the label's, which those with a label do not have.
fn in_place_of_the_label(rows: &[Map<String, Value>], keys: &Keys) -> Option<String> {
    let label = keys.label.as_ref().filter(|label| rows.iter().any(|row| row.contains_key(*label)))?;
    LABEL_NAMES.into_iter().find_map(|name| {
        let (with, without): (Vec<_>, Vec<_>) =
            rows.iter().filter(|row| row.contains_key(name)).partition(|row| row.contains_key(label));
        let count = without.len();
        (count > 0 && with.is_empty()).then(|| {
            format!(
                "in {count} of the first {} rows the key {} stands in place of {}, and is no label; if it is theirs, call all alike",
                rows.len(),
                shown(name),
                shown(label)
            )
        })
    })
}

/// A remark on keys that are ignored, if there are any: those beside `x` that have no other meaning.
fn ignored(rows: &[Map<String, Value>], keys: &Keys) -> Option<String> {
    const SHOWN: usize = 5;
    let named = [&keys.label, &keys.weight, &keys.id, &keys.offers];
    let is_known = |key: &str| {
        ["x", "tag", "id", LABELS].contains(&key)
            || named.into_iter().flatten().any(|known| known == key)
            || keys.plays(key)
    };
    let all = rows.iter().filter(|_| keys.shape != Shape::Flat).flat_map(Map::keys).map(String::as_str);
    let others: BTreeSet<&str> = all.filter(|key| !is_known(key)).collect();
    let names: Vec<String> = others.iter().take(SHOWN).map(shown).collect();
    let more = if others.len() > SHOWN { " and others" } else { "" };
    let [s, are] = if others.len() == 1 { ["", "is"] } else { ["s", "are"] };
    (!others.is_empty()).then(|| {
        let names = names.join(", ");
        format!("the key{s} {names}{more} beside \"x\" {are} ignored: the features are those of \"x\"")
    })
}
