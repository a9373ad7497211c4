//! One example as read: label, weight, tag, line number and sparse features.

use super::label::{GivenLabel, LabelType};

pub(crate) use packed::{PackedRows, Room};

use crate::read::round::{DescribedRound, HashedRound};

mod packed;

/// One action of a cost-sensitive or contextual-bandit label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionCost {
    /// Name of the action, as given.
    pub action: String,
    /// The type of the name.
    pub of: LabelType,
    /// Its cost, finite. `None` where the data names the action without a cost.
    pub cost: Option<f64>,
    /// Probability in `[0, 1]` with which a logging policy took the action. `None` for cost-sensitive labels.
    pub probability: Option<f64>,
}

/// The label of a [`Row`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowLabel<'a> {
    /// The row is unlabelled.
    Missing,
    /// A class, as given; [`Row::label_type`] is its type.
    Name(&'a str),
    /// Class probabilities, non-negative with sum 1, in class order.
    Distribution(&'a [f64]),
    /// Costs per action, in the order of the data; at least one action.
    Costs(&'a [ActionCost]),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LabelKind {
    #[default]
    Missing,
    Name,
    Distribution,
    Costs,
}

/// The caller-owned buffer that a reader fills, one example at a time.
///
/// Its buffers are reused: after the first rows, reading allocates nothing. Values are finite, never zero (an
/// explicit zero in the data is left out), and columns strictly increase.
#[derive(Clone, Debug)]
pub struct Row {
    /// Importance weight: finite and not negative, 1 by default. A row of weight 0 is counted but
    /// not learnt.
    pub weight: f64,
    /// The name of the row (`'tag` in VW, `tag` or `id` in NDJSON), empty if there is none.
    pub tag: String,
    /// Line of the (decompressed) file where the row starts, from 1.
    pub line: u64,
    /// As [`ReadOptions::row_0`](crate::ReadOptions::row_0).
    pub(crate) row_0: Option<u64>,
    kind: LabelKind,
    name: String,
    /// The type of the name.
    of: LabelType,
    distribution: Vec<f64>,
    /// The first `cost_count` are the label; the rest is reused for later rows.
    costs: Vec<ActionCost>,
    cost_count: usize,
    /// The first `offered_count` are the labels on offer; the rest keep their strings for later rows.
    offered: Vec<GivenLabel>,
    offered_count: usize,
    /// The first `count` are the features; the rest is unused space.
    indices: Vec<u32>,
    values: Vec<f64>,
    count: usize,
    increasing: bool,
    unsorted: Vec<(u32, u32, f64)>,
    /// Columns whose number the data name as missing; empty in most rows.
    missing: Vec<u32>,
    /// What the columns of a log say of the label: its probability, and what it has earned.
    played: (Option<f64>, Option<Earned>),
    /// The features of a round whose labels on offer have features of their own; there are no others then.
    round: Option<Box<HashedRound>>,
    /// The features by name, of a round whose labels have features of their own, if the options ask for them.
    described: Option<Box<DescribedRound>>,
}

/// What a label has earned, as the data have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Earned {
    Number(f64),
    Truth(bool),
}

/// An error in the features of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureFault {
    /// The column was pushed more than once.
    Duplicate(u32),
    /// The values pushed for the column sum to infinity.
    Overflow(u32),
}

/// Treatment of a repeated column in [`Row::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Sum,
    Refuse,
}

impl Default for Row {
    fn default() -> Self {
        Row {
            weight: 1.0,
            tag: String::new(),
            line: 0,
            row_0: None,
            kind: LabelKind::Missing,
            name: String::new(),
            of: LabelType::Unstated,
            distribution: Vec::new(),
            costs: Vec::new(),
            cost_count: 0,
            offered: Vec::new(),
            offered_count: 0,
            indices: Vec::new(),
            values: Vec::new(),
            count: 0,
            increasing: true,
            unsorted: Vec::new(),
            missing: Vec::new(),
            played: (None, None),
            round: None,
            described: None,
        }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.label() == other.label()
            && self.offered() == other.offered()
            && self.weight == other.weight
            && self.tag == other.tag
            && self.line == other.line
            && self.indices() == other.indices()
            && self.values() == other.values()
            && self.missing == other.missing
            && self.round == other.round
    }
}

impl Row {
    /// An empty, unlabelled row of weight 1.
    pub fn new() -> Self {
        Row::default()
    }

    /// The label.
    pub fn label(&self) -> RowLabel<'_> {
        match self.kind {
            LabelKind::Missing => RowLabel::Missing,
            LabelKind::Name => RowLabel::Name(&self.name),
            LabelKind::Distribution => RowLabel::Distribution(&self.distribution),
            LabelKind::Costs => RowLabel::Costs(&self.costs[..self.cost_count]),
        }
    }

    /// The type of a label that is a class; unstated for other labels.
    pub fn label_type(&self) -> LabelType {
        if self.kind == LabelKind::Name { self.of } else { LabelType::Unstated }
    }

    /// The labels on offer, in the order of the data; none if the data do not state them.
    pub fn offered(&self) -> &[GivenLabel] {
        &self.offered[..self.offered_count]
    }

    /// Columns of the features, strictly increasing.
    pub fn indices(&self) -> &[u32] {
        &self.indices[..self.count]
    }

    /// Values of the features, finite and not zero, one for each of [`Row::indices`].
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count]
    }

    /// Columns whose number the data name as missing, increasing. What stands for a missing number,
    /// [`Encoder`](crate::encode::Encoder) decides. Columns that the data do not name are none of these.
    pub fn missing(&self) -> &[u32] {
        &self.missing
    }

    /// Notes that the number of a column is missing. After the last one comes [`Row::sum_duplicates`].
    pub fn miss(&mut self, index: u32) {
        self.missing.push(index);
    }

    /// Makes the row empty and unlabelled again, with weight 1; keeps the buffers.
    pub fn clear(&mut self) {
        self.weight = 1.0;
        self.tag.clear();
        self.line = 0;
        self.kind = LabelKind::Missing;
        self.name.clear();
        self.distribution.clear();
        self.cost_count = 0;
        self.offered_count = 0;
        self.played = (None, None);
        self.round = None;
        self.described = None;
        self.missing.clear();
        (self.count, self.increasing) = (0, true);
    }

    /// Makes the features those of a round whose labels on offer have features of their own.
    pub(crate) fn set_round(&mut self, round: HashedRound) {
        self.round = Some(Box::new(round));
    }

    /// The features of a round whose labels on offer have features of their own, if it is one.
    pub(crate) fn round(&self) -> Option<&HashedRound> {
        self.round.as_deref()
    }

    /// Keeps the features of a round by name.
    pub(crate) fn describe(&mut self, round: DescribedRound) {
        self.described = Some(Box::new(round));
    }

    /// The features by name, if they were kept ([`ReadOptions::describes`](crate::ReadOptions::describes)).
    pub fn described(&self) -> Option<&DescribedRound> {
        self.described.as_deref()
    }

    /// Sets the probability of a label that another program has played.
    pub(crate) fn set_probability(&mut self, probability: f64) {
        self.played.0 = Some(probability);
    }

    /// Sets what this label has earned.
    pub(crate) fn set_earned(&mut self, earned: Earned) {
        self.played.1 = Some(earned);
    }

    /// Takes both.
    pub(crate) fn take_played(&mut self) -> (Option<f64>, Option<Earned>) {
        std::mem::take(&mut self.played)
    }

    /// Removes the features with one of these values.
    pub(crate) fn remove_values(&mut self, removed: &[f64]) {
        let mut kept = 0;
        for at in 0..self.count {
            if !removed.contains(&self.values[at]) {
                (self.indices[kept], self.values[kept]) = (self.indices[at], self.values[at]);
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Removes the label.
    pub(crate) fn unlabel(&mut self) {
        self.kind = LabelKind::Missing;
        self.cost_count = 0;
    }

    /// Removes the labels on offer.
    pub(crate) fn clear_offered(&mut self) {
        self.offered_count = 0;
    }

    /// Labels the row with a class whose type the data do not state.
    pub fn set_name(&mut self, text: &str) {
        self.set_label(text, LabelType::Unstated);
    }

    /// Labels the row with a class of a type.
    pub fn set_label(&mut self, text: &str, of: LabelType) {
        self.name.clear();
        self.name.push_str(text);
        (self.kind, self.of) = (LabelKind::Name, of);
    }

    /// Labels the row with class probabilities, which the caller has checked.
    pub fn set_distribution(&mut self, probabilities: impl IntoIterator<Item = f64>) {
        self.distribution.clear();
        self.distribution.extend(probabilities);
        self.kind = LabelKind::Distribution;
    }

    /// Adds an action to the label, which becomes one of costs. The caller has checked cost and probability.
    pub fn push_cost(&mut self, action: &str, cost: Option<f64>, probability: Option<f64>) {
        self.push_cost_as(action, LabelType::Unstated, cost, probability);
    }

    /// The same for an action whose name is of a type.
    pub fn push_cost_as(&mut self, action: &str, of: LabelType, cost: Option<f64>, probability: Option<f64>) {
        let slot = self.next_cost(cost, probability);
        slot.action.push_str(action);
        slot.of = of;
        self.cost_count += 1;
        self.kind = LabelKind::Costs;
    }

    /// Adds a label on offer whose type the data do not state.
    pub fn push_offered(&mut self, label: &str) {
        self.push_offered_as(label, LabelType::Unstated);
    }

    /// Adds a label on offer of a type.
    pub fn push_offered_as(&mut self, label: &str, of: LabelType) {
        self.next_offered(of).push_str(label);
        self.offered_count += 1;
    }

    /// Makes the actions of a label of costs the labels on offer, if there are several, or if no cost of them
    /// is known.
    pub(crate) fn offer_costs(&mut self) {
        self.offered_count = 0;
        let offers =
            self.cost_count > 1 || self.costs[..self.cost_count].iter().all(|one| one.cost.is_none());
        for at in 0..if offers { self.cost_count } else { 0 } {
            let (action, of) = (std::mem::take(&mut self.costs[at].action), self.costs[at].of);
            self.next_offered(of).push_str(&action);
            self.costs[at].action = action;
            self.offered_count += 1;
        }
    }

    /// The name of another label on offer, still empty. It is not part of the row until
    /// `offered_count` is increased.
    fn next_offered(&mut self, of: LabelType) -> &mut String {
        if self.offered_count == self.offered.len() {
            self.offered.push(GivenLabel { text: String::new(), of });
        }
        let slot = &mut self.offered[self.offered_count];
        slot.text.clear();
        slot.of = of;
        &mut slot.text
    }

    /// Begins another action of a label of costs: its name, still empty.
    fn next_cost(&mut self, cost: Option<f64>, probability: Option<f64>) -> &mut ActionCost {
        if self.cost_count == self.costs.len() {
            self.costs.push(ActionCost::default());
        }
        let slot = &mut self.costs[self.cost_count];
        (slot.cost, slot.probability) = (cost, probability);
        slot.action.clear();
        slot
    }

    /// Adds a feature, in any order of columns. `value` is finite; a zero is left out. After the last one
    /// comes [`Row::sum_duplicates`].
    #[inline]
    pub fn push(&mut self, index: u32, value: f64) {
        debug_assert!(value.is_finite(), "readers refuse values that are not finite");
        if value != 0.0 {
            self.increasing &= self.indices().last().is_none_or(|&last| last < index);
            if self.count == self.indices.len() {
                self.indices.push(index);
                self.values.push(value);
            } else {
                (self.indices[self.count], self.values[self.count]) = (index, value);
            }
            self.count += 1;
        }
    }

    /// Space for at least `least` features of an empty row; [`Row::filled`] then sets their number.
    pub(crate) fn room(&mut self, least: usize) -> (&mut [u32], &mut [f64]) {
        if self.indices.len() < least {
            self.indices.resize(least, 0);
            self.values.resize(least, 0.0);
        }
        (&mut self.indices, &mut self.values)
    }

    /// Declares the first `count` places of [`Row::room`] to be features, finite and not zero;
    /// `increasing` if their columns are known to increase.
    pub(crate) fn filled(&mut self, count: usize, increasing: bool) {
        self.count = count;
        self.increasing = increasing || self.indices().is_sorted_by(|a, b| a < b);
        debug_assert!(self.values().iter().all(|value| value.is_finite() && *value != 0.0));
        debug_assert!(!self.increasing || self.indices().is_sorted_by(|a, b| a < b));
    }

    /// Sorts the features and the missing numbers, and sums the values of equal columns, in the order in
    /// which they were pushed.
    ///
    /// # Errors
    ///
    /// The column whose sum overflows.
    pub fn sum_duplicates(&mut self) -> Result<(), u32> {
        self.finish(Duplicates::Sum).map_err(|fault| match fault {
            FeatureFault::Duplicate(column) | FeatureFault::Overflow(column) => column,
        })
    }

    pub(crate) fn finish(&mut self, duplicates: Duplicates) -> Result<(), FeatureFault> {
        if !self.missing.is_empty() {
            self.missing.sort_unstable();
            self.missing.dedup();
        }
        if self.increasing {
            return Ok(());
        }
        self.unsorted.clear();
        let pairs = self.indices[..self.count].iter().zip(&self.values);
        self.unsorted.extend(pairs.zip(0..).map(|((&index, &value), position)| (index, position, value)));
        // The position is part of the key, so that sums are in the order of the data and
        // bit-reproducible.
        self.unsorted.sort_unstable_by_key(|&(index, position, _)| (index, position));
        (self.count, self.increasing) = (0, true);
        for run in self.unsorted.chunk_by(|a, b| a.0 == b.0) {
            let index = run[0].0;
            if run.len() > 1 && duplicates == Duplicates::Refuse {
                return Err(FeatureFault::Duplicate(index));
            }
            let sum: f64 = run.iter().map(|&(_, _, value)| value).sum();
            if !sum.is_finite() {
                return Err(FeatureFault::Overflow(index));
            }
            if sum != 0.0 {
                (self.indices[self.count], self.values[self.count]) = (index, sum);
                self.count += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_text_that_was_given() {
        let mut row = Row::new();
        for text in ["1", "+1", "1.0", "1.10", "3E5", "01", "Nan", "Infinity", "setosa"] {
            row.set_name(text);
            assert_eq!((row.label(), row.label_type()), (RowLabel::Name(text), LabelType::Unstated));
            row.set_label(text, LabelType::Text);
            assert_eq!((row.label(), row.label_type()), (RowLabel::Name(text), LabelType::Text));
        }
        row.clear();
        assert_eq!((row.label(), row.label_type()), (RowLabel::Missing, LabelType::Unstated));
    }

    #[test]
    fn finish_sorts_and_sums() {
        let mut row = Row::new();
        for (index, value) in [(5, 1.0), (2, 3.0), (5, 0.25), (9, 0.0), (7, 1.0), (7, -1.0)] {
            row.push(index, value);
        }
        row.sum_duplicates().unwrap();
        assert_eq!((row.indices(), row.values()), (&[2, 5][..], &[3.0, 1.25][..]));

        row.clear();
        row.push(3, f64::MAX);
        row.push(3, f64::MAX);
        assert_eq!(row.clone().finish(Duplicates::Refuse), Err(FeatureFault::Duplicate(3)));
        assert_eq!(row.sum_duplicates(), Err(3));
    }

    #[test]
    fn clear_forgets_the_last_row() {
        let mut row = Row::new();
        row.push(1, 1.0);
        row.push_cost("a", Some(1.0), None);
        row.push_offered("1.0");
        assert_eq!(row.offered()[0].text, "1.0");
        row.weight = 3.0;
        row.clear();
        assert_eq!(row, Row::new());
        row.push_cost("2.0", None, None);
        assert_eq!(
            row.label(),
            RowLabel::Costs(&[ActionCost { action: "2.0".into(), ..ActionCost::default() }])
        );
    }
}
