//! Importance of features: the mean absolute change of the played label's score, over logged
//! decisions, when the feature is removed. It needs forecasts only, so it also covers hashed
//! products.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::path::Path;

use noregret::algorithm::AnyModel;
use noregret::prediction::Decision;
use noregret_stream::Fault;
use noregret_stream::Row;
use noregret_stream::encode::Example;

use super::event::{Decide, Event};
use super::flat::Flat;
use super::reader::Reader;
use super::rows::{self, OfferFeatures};
use super::spec::RowKind;
use crate::refusal::Refusal;
use crate::store::{self, Span};

/// Number of decisions used.
const MOST: usize = 200;

/// The importance of a feature.
pub(crate) struct Importance {
    /// Its kind: `context`, `slot` or `action`.
    pub(crate) part: &'static str,
    /// The path of its name; all values of a category are one feature.
    pub(crate) feature: String,
    /// The mean absolute change of the score of the label that was played.
    pub(crate) score: f64,
}

/// The newest decisions that are kept of the time `range`.
/// Fails if reading fails.
pub(crate) fn last_decisions(
    folder: &Path,
    range: &RangeInclusive<i64>,
) -> Result<Vec<(Decide, Vec<Decision>)>, Fault> {
    let mut last = VecDeque::new();
    store::read_log(folder, Span::Kept, &mut |_| Ok(()), &mut |at, event, outcome| {
        if let (Event::Decide(decide), true) = (event, range.contains(&at)) {
            if last.len() == MOST {
                last.pop_front();
            }
            last.push_back((decide, outcome.taken));
        }
        Ok(true)
    })?;
    Ok(last.into())
}

/// The name of a feature without the value of its category.
fn feature(name: &str) -> &str {
    name.split_once('=').map_or(name, |(name, _)| name)
}

/// The names of the features in `features`, each once.
fn names<'a>(features: impl IntoIterator<Item = &'a (String, f64)>) -> Vec<String> {
    let mut names: Vec<String> = features.into_iter().map(|(name, _)| feature(name).to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn without(features: &mut Vec<(String, f64)>, left_out: &str) {
    features.retain(|(name, _)| feature(name) != left_out);
}

impl Reader {
    /// The features of `rounds`, the most important first.
    /// Fails if the model learns from labels, or a row cannot be restored.
    pub(crate) fn importances(&self, rounds: &[(Decide, Vec<Decision>)]) -> Result<Vec<Importance>, Refusal> {
        let mut sums: BTreeMap<(&'static str, String), f64> = BTreeMap::new();
        let mut count = 0u32;
        // The model may have been replaced by one of fewer labels.
        let classes = self.learner.problem().classes;
        let fits = |label: &u32| (*label as usize) < classes;
        for (decide, taken) in rounds {
            let all = taken.iter().enumerate();
            for (slot, taken) in all.filter(|(_, one)| fits(&one.label) && one.offered.iter().all(fits)) {
                self.changes(decide, slot, taken, &mut |part, feature, change| {
                    *sums.entry((part, feature)).or_default() += change;
                })?;
                count += 1;
            }
        }
        let mut all: Vec<Importance> = sums
            .into_iter()
            .map(|((part, feature), sum)| Importance { part, feature, score: sum / f64::from(count) })
            .collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(all)
    }

    /// The changes for one decision.
    fn changes(
        &self,
        decide: &Decide,
        slot: usize,
        taken: &Decision,
        tell: &mut dyn FnMut(&'static str, String, f64),
    ) -> Result<(), Refusal> {
        let (own, labels) = (decide.slots.get(slot).map(|slot| &slot.x), decide.labels.as_deref());
        let labels = match self.kind {
            RowKind::Offers(_) => labels.unwrap_or_default(),
            RowKind::Columns => &[],
        };
        let all = decide.row.as_ref().unwrap_or(&decide.x);
        let whole = OfferFeatures::of(all, own, labels, &self.limits)?;
        let before = self.score(whole.clone(), all, taken)?;
        for name in names(&whole.context) {
            let mut less = whole.clone();
            without(&mut less.context, &name);
            let change = (self.score(less, all, taken)? - before).abs();
            match name.strip_prefix("slot.").filter(|_| own.is_some()) {
                Some(name) => tell("slot", name.to_owned(), change),
                None => tell("context", name, change),
            }
        }
        for name in names(whole.labels.iter().flat_map(|(_, own)| own)) {
            let mut less = whole.clone();
            less.labels.iter_mut().for_each(|(_, own)| without(own, &name));
            let change = (self.score(less, all, taken)? - before).abs();
            tell("action", name, change);
        }
        Ok(())
    }

    /// The score of the played label for these features of a row; what is missing in `all` of it stays so.
    fn score(&self, features: OfferFeatures, all: &Flat, taken: &Decision) -> Result<f64, Refusal> {
        let mut row = Row::new();
        match self.kind {
            RowKind::Offers(width) => features.fill(width, &mut row)?,
            RowKind::Columns => {
                let context = features.context.iter().map(|(name, value)| (name.as_str(), *value));
                rows::fill_listed(&self.schema.columns, context, all, &mut row)?;
            }
        }
        let mut example = Example::default();
        self.encoder.transform_row(&row, &mut example).map_err(|what| Refusal::invalid("x", what))?;
        let AnyModel::Bandit(learner) = &self.learner else {
            return Err(Refusal::conflict("the model learns from labels and does not decide"));
        };
        let mut again = Decision::default();
        if taken.offered.is_empty() {
            learner.predict(example.features(), &mut again);
        } else if !learner.predict_among(example.features(), &taken.offered, &mut again) {
            return Err(Refusal::conflict("the learner cannot decide among some of its labels"));
        }
        Ok(again.scores.get(taken.label as usize).copied().unwrap_or(0.0))
    }
}
