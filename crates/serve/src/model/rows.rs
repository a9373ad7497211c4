//! From features by name to rows: names are columns, labels on offer are blocks of hashed columns.

use noregret::bandit::offers::{Offer, OfferRow, OfferedLabel, key};
use noregret::example::Features;
use noregret_stream::encode::LARGEST_NORM;
use noregret_stream::{Columns, Row, hash_name};

use super::event::Offered;
use super::flat::Flat;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// Bits of the hash of a feature of a label on offer, before it is hashed into the block.
const BITS: u32 = 31;
/// Of rounds with more categories than this, no products of two are made: 12 have 66.
const MOST_PAIRED: usize = 12;
/// The value of a product: on simulated sites, the reward hardly differs between 3 and 8, and is less at 1.
const PAIR: f64 = 4.0;

/// How many of `features` have no column yet.
pub(crate) fn unknown(columns: &Columns, features: &Flat) -> usize {
    let mut new: Vec<&str> =
        features.iter().map(|(name, _)| name).filter(|name| columns.index_of(name).is_none()).collect();
    new.sort_unstable();
    new.dedup();
    new.len()
}

/// Fills in `features`; those without a column get the next ones.
///
/// # Errors
/// Where values of one name add up to infinity.
pub(crate) fn fill(columns: &mut Columns, features: &Flat, row: &mut Row) -> Result<(), Refusal> {
    for (name, value) in features.iter() {
        let column = match &mut *columns {
            Columns::Named(names) => names.intern(name),
            columns => columns.index_of(name),
        };
        if let Some(column) = column {
            row.push(column, value);
        }
    }
    summed(row)
}

/// The same where nothing is learnt: features without a column are left out.
///
/// # Errors
/// Where values of one name add up to infinity.
pub(crate) fn fill_known<'a>(
    columns: &Columns,
    features: impl Iterator<Item = (&'a str, f64)>,
    row: &mut Row,
) -> Result<(), Refusal> {
    for (name, value) in features {
        if let Some(column) = columns.index_of(name) {
            row.push(column, value);
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
    x: &Flat,
    slot: Option<&Flat>,
    labels: &[Offered],
    width: u32,
    limits: &Limits,
    row: &mut Row,
) -> Result<(), Refusal> {
    OfferFeatures::of(x, slot, labels, limits)?.fill(width, row)
}

fn listed(features: &Flat) -> Vec<(String, f64)> {
    features.iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The features of a round in which labels are on offer, by name.
#[derive(Clone)]
pub(crate) struct OfferFeatures {
    /// Of the round, those of its slot with `slot.` before their names.
    pub(crate) context: Vec<(String, f64)>,
    /// Of every label, with the key of its name.
    pub(crate) labels: Vec<(u64, Vec<(String, f64)>)>,
}

impl OfferFeatures {
    /// # Errors
    /// Features that are none.
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
            context.extend(slot.iter().map(|(name, value)| (format!("slot.{name}"), value)));
        }
        let mut described = Vec::with_capacity(labels.len());
        for (at, label) in labels.iter().enumerate() {
            label.x.check(&format!("labels[{at}]"), limits)?;
            described.push((key(&label.label), listed(&label.x)));
        }
        Ok(Self { context, labels: described })
    }

    /// Fills in the row, in blocks of `width` columns.
    ///
    /// # Errors
    /// Products that are too large.
    pub(crate) fn fill(mut self, width: u32, row: &mut Row) -> Result<(), Refusal> {
        pair(&mut self.context);
        let described: Vec<_> = self.labels.iter().map(|(key, own)| (*key, hashed(own))).collect();
        fill_blocks(&hashed(&self.context), &described, width, row)
    }
}

/// Hashed columns with their values.
type Hashed = (Vec<u32>, Vec<f64>);

fn fill_blocks(
    (indices, values): &Hashed,
    described: &[(u64, Hashed)],
    width: u32,
    row: &mut Row,
) -> Result<(), Refusal> {
    let offered: Vec<OfferedLabel<'_>> = described
        .iter()
        .map(|(key, (indices, values))| OfferedLabel {
            key: *key,
            features: Features::Sparse { indices, values },
        })
        .collect();
    let offer = Offer { context: Features::Sparse { indices, values }, labels: &offered };
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
