//! The rows of labels on offer with features of their own: a block of hashed columns for each label.

use crate::example::Features;

/// If a label has more products of features of the round and of the label than this, they are left out.
const MOST_PRODUCTS: usize = 4096;

/// The labels on offer in a round, with their features.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The features of the round.
    pub context: Features<'a>,
    /// The labels on offer, at least one.
    pub labels: &'a [OfferedLabel<'a>],
}

/// A label on offer.
#[derive(Clone, Copy, Debug)]
pub struct OfferedLabel<'a> {
    /// The [`key`] of its name, which identifies the label in all rounds.
    pub key: u64,
    /// Its own features.
    pub features: Features<'a>,
}

/// A 64-bit hash of the name of a label, the same on all machines.
pub fn key(name: &str) -> u64 {
    // FNV-1a, then SplitMix64's finaliser, since hashes of short names differ in few bits.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mixed(hash)
}

/// The finaliser of SplitMix64.
pub(super) fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Buffers for a row.
#[derive(Clone, Debug, Default)]
pub struct OfferRow {
    indices: Vec<u32>,
    values: Vec<f64>,
    block: Vec<(u32, f64)>,
}

impl OfferRow {
    /// The row.
    pub fn features(&self) -> Features<'_> {
        Features::Sparse { indices: &self.indices, values: &self.values }
    }

    fn add(&mut self, width: u32, kind: u64, first: u64, second: u64, value: f64) {
        let hash = mixed(mixed(mixed(kind.wrapping_add(1)) ^ first).wrapping_add(second));
        // With random signs, the values of features that share a column have the mean 0.
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        self.block.push(((hash % u64::from(width)) as u32, sign * value));
    }
}

impl Offer<'_> {
    /// Writes the round's row for a learner with blocks of `width` columns. The block of a label has the
    /// round's features, the label's features, the products of both, and the identity of the label, alone and
    /// multiplied by the round's features; all are hashed to `width` columns.
    ///
    /// # Panics
    /// If the index of a column exceeds 32 bits, because there are too many labels: a programmer error.
    pub fn encode(&self, width: u32, out: &mut OfferRow) {
        out.indices.clear();
        out.values.clear();
        for (position, label) in self.labels.iter().enumerate() {
            let start = u32::try_from(position).ok().and_then(|position| position.checked_mul(width));
            let start = start.expect("columns of all labels fit in 32 bits");
            out.block.clear();
            out.add(width, 0, 0, 0, 1.0);
            out.add(width, 1, label.key, 0, 1.0);
            let products = self.context.values().len().saturating_mul(label.features.values().len());
            for (column, value) in label.features.iter() {
                out.add(width, 2, column as u64, 0, value);
            }
            for (column, value) in self.context.iter() {
                out.add(width, 3, column as u64, 0, value);
                out.add(width, 4, column as u64, label.key, value);
                if products <= MOST_PRODUCTS {
                    for (own, other) in label.features.iter() {
                        out.add(width, 5, column as u64, own as u64, value * other);
                    }
                }
            }
            out.block.sort_by_key(|(column, _)| *column);
            let first = out.indices.len();
            for (column, value) in &out.block {
                match out.indices[first..].last() {
                    Some(last) if *last == start + column => {
                        *out.values.last_mut().expect("as long") += value
                    }
                    _ => {
                        out.indices.push(start + column);
                        out.values.push(*value);
                    }
                }
            }
        }
    }
}
