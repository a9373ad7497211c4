//! A round in which labels with features of their own are on offer. Its row has the features, by the hashes
//! of their names, of the round and of each label, in the order of the round ([`HashedRound`]). The encoder
//! makes of them a block of hashed columns for each label, since products are made of numbers that it has
//! scaled.

use std::collections::HashSet;

use noregret::bandit::offers::{Offer, OfferRow, OfferedLabel};
use noregret::example::Features;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};
use crate::read::error::shown;
use crate::read::hash::hash_name;
use crate::read::label::{GivenLabel, LabelType};
use crate::read::number::LARGEST_NORM;

/// Bits of the hash of a feature, before it is hashed into a block.
const BITS: u32 = 31;

/// Features by name.
pub type Described = Vec<(String, f64)>;

/// Hashed names with their values, increasing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) names: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Part {
    /// The features by the hashes of their names.
    pub(super) fn of(features: &[(String, f64)]) -> Self {
        Self::of_list(features.iter().map(|(name, value)| (hash_name(name, BITS), *value)).collect())
    }

    /// Values of equal names are summed.
    fn of_list(mut list: Vec<(u32, f64)>) -> Self {
        list.sort_by_key(|(name, _)| *name);
        list.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0.0 };
            same
        });
        let (names, values) = list.into_iter().unzip();
        Self { names, values }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, f64)> {
        self.names.iter().copied().zip(self.values.iter().copied())
    }

    /// Adds those of `others`, whose names increase, that are not there.
    pub(crate) fn add_absent(&mut self, others: impl Iterator<Item = (u32, f64)>) {
        let others: Vec<(u32, f64)> =
            others.filter(|(name, _)| self.names.binary_search(name).is_err()).collect();
        if !others.is_empty() {
            *self = Self::of_list(self.pairs().chain(others).collect());
        }
    }

    fn features(&self) -> Features<'_> {
        Features::Sparse { indices: &self.names, values: &self.values }
    }

    /// Whether it, from an untrusted source, is one.
    fn is_sound(&self) -> bool {
        let increase = self.names.is_sorted_by(|a, b| a < b);
        let few = self.names.last().is_none_or(|last| last >> BITS == 0);
        self.names.len() == self.values.len()
            && increase
            && few
            && self.values.iter().all(|value| is_small(*value))
    }
}

/// Infinity and NaN are not.
fn is_small(value: f64) -> bool {
    value.abs() <= LARGEST_NORM
}

/// The features of a round and of the labels on offer in it, by the hashes of their names, as given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashedRound {
    /// The columns of a block.
    pub(crate) width: u32,
    pub(crate) context: Part,
    /// Products of two categories of the round, which are features of the round, too.
    pub(crate) pairs: Part,
    /// Of each label on offer, with its key.
    pub(crate) labels: Vec<(u64, Part)>,
}

impl HashedRound {
    /// The columns and values of the round: a block for each label with the features of the round, of the
    /// label, and their products; of the label at the position `only`, if it is given.
    /// Fails if products are too large.
    pub(crate) fn blocks(&self, width: u32, only: Option<u32>) -> Result<(Vec<u32>, Vec<f64>), Fault> {
        let context = Part::of_list(self.context.pairs().chain(self.pairs.pairs()).collect());
        let all = self.labels.iter().map(|(key, own)| OfferedLabel { key: *key, features: own.features() });
        let first = only.unwrap_or(0);
        let labels: Vec<OfferedLabel<'_>> = match only {
            Some(at) => all.skip(at as usize).take(1).collect(),
            None => all.collect(),
        };
        let mut made = OfferRow::default();
        Offer { context: context.features(), labels: &labels }.encode(width, &mut made);
        let Features::Sparse { indices, values } = made.features() else { unreachable!("blocks are sparse") };
        if !values.iter().all(|value| is_small(*value)) {
            return Err("products of the features are too large".into());
        }
        let there = indices.iter().zip(values).filter(|(_, value)| **value != 0.0);
        Ok(there.map(|(column, value)| (first * width + column, *value)).unzip())
    }

    /// A value that is too large, if there is one.
    pub(super) fn large(&self) -> Option<f64> {
        self.parts().flat_map(|part| &part.values).copied().find(|value| !is_small(*value))
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        [&self.context, &self.pairs].into_iter().chain(self.labels.iter().map(|(_, own)| own))
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> usize {
        let features: usize = self.parts().map(|part| part.names.len()).sum();
        size_of::<Self>() + size_of_val(&*self.labels) + features * (size_of::<u32>() + size_of::<f64>())
    }

    /// Whether it, from an untrusted source, has room in so many `columns`, which have a block for the label
    /// at the position `played`.
    pub(crate) fn fits(&self, columns: usize, played: u32) -> bool {
        self.width > 0
            && (played as usize) < self.labels.len()
            && self.labels.len().checked_mul(self.width as usize).is_some_and(|all| all <= columns)
            && self.parts().all(Part::is_sound)
    }

    /// The features by name of a decision log: `12` is one of the round, `*12` a product of two of its
    /// categories, `3.12` one of the label at the position 3, and `3#key`, which is 1, says that it is on
    /// offer; 12 is the hash of a name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let context = self.context.pairs().map(|(name, value)| (name.to_string(), value));
        let pairs = self.pairs.pairs().map(|(name, value)| (format!("*{name}"), value));
        let labels = self.labels.iter().enumerate().flat_map(|(at, (key, own))| {
            let features = own.pairs().map(move |(name, value)| (format!("{at}.{name}"), value));
            std::iter::once((format!("{at}#{key}"), 1.0)).chain(features)
        });
        context.chain(pairs).chain(labels)
    }

    /// The round that has these features.
    /// Fails if one is none of [`HashedRound::named`], or the columns are too few.
    pub(crate) fn of_named(width: u32, features: Vec<(String, f64)>, columns: u32) -> Result<Self, Fault> {
        let (mut context, mut pairs, mut labels) = (vec![], vec![], Vec::<(u64, Vec<(u32, f64)>)>::new());
        for (text, value) in features {
            let wrong = || fault!("feature {} is none of a round with labels on offer", shown(&*text));
            let hash = |text: &str| text.parse::<u32>().map_err(|_| wrong());
            if !is_small(value) {
                return Err(wrong());
            }
            if let Some((at, key)) = text.split_once('#') {
                let next = at.parse().is_ok_and(|at: usize| at == labels.len());
                let key = key.parse().ok().filter(|_| next).ok_or_else(wrong)?;
                labels.push((key, vec![]));
            } else if let Some((at, name)) = text.split_once('.') {
                let label = at.parse().ok().and_then(|at: usize| labels.get_mut(at)).ok_or_else(wrong)?;
                label.1.push((hash(name)?, value));
            } else if let Some(name) = text.strip_prefix('*') {
                pairs.push((hash(name)?, value));
            } else {
                context.push((hash(&text)?, value));
            }
        }
        let labels = labels.into_iter().map(|(key, own)| (key, Part::of_list(own))).collect();
        let round = Self { width, context: Part::of_list(context), pairs: Part::of_list(pairs), labels };
        if !round.fits(columns as usize, 0) {
            return Err(fault!("{} labels on offer have no room in {columns} columns", round.labels.len()));
        }
        Ok(round)
    }
}

/// The features of a round by name, before they are hashed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedRound {
    pub(super) context: Described,
    /// Of each label on offer, with its key.
    pub(super) labels: Vec<(u64, Described)>,
    /// What the labels on offer are called; empty where one has no name.
    pub(super) called: Vec<GivenLabel>,
}

impl DescribedRound {
    /// A round of these features, with the keys and the features of its labels.
    pub fn new(context: Described, labels: Vec<(u64, Described)>) -> Self {
        Self { context, labels, called: vec![] }
    }

    /// The names of the labels on offer with their types, in their order; nothing where they have none.
    pub fn labels(&self) -> Option<impl Iterator<Item = (&str, LabelType)>> {
        (!self.called.is_empty()).then(|| self.called.iter().map(|label| (&*label.text, label.of)))
    }

    /// The names of all features, each once: those of the round, then those of the labels.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = self.context.iter().chain(self.labels.iter().flat_map(|(_, own)| own));
        all.map(|(name, _)| name.as_str()).filter(|name| seen.insert(*name)).collect()
    }
}
