//! Encodes rows as examples: classes, scaling, intercept.

mod build;
mod features;

use std::sync::Arc;

use noregret::example::Label;
use noregret::learner::{Accepts, Classes};

use super::example::{Example, Logged, OwnedTruth};
use crate::encode::class_weights::ClassWeights;
use crate::encode::labels::Labels;
use crate::encode::outside::Outside;
use crate::encode::scale::Scaler;
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::costs::{Clipped, Costs};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::label::GivenLabel;
use crate::read::logs::check_probability;
use crate::read::number::{LARGEST_NORM, LARGEST_WEIGHT};
use crate::read::remark::Remark;
use crate::read::row::{ActionCost, Row, RowLabel};
use crate::read::table::amount;
use crate::words::named;

/// The refusal of a label with several probabilities.
pub(crate) const TWO_PLAYED: &str = "the label has two actions with a cost and a probability, where the one that was played has both: \
                                     costs of all actions, as csoaa and wap have them, are action:cost";

named! {
    /// Treatment of a row whose norm exceeds the learner's radius.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LargeRow {
        /// Learn from it unchanged, and count it; the guarantee is void from then on.
        #[default]
        Warn = "warn",
        /// Scale it to the radius.
        Clip = "clip",
        /// Reject it.
        Error = "error",
    }
}

/// Encodes rows as examples: maps labels to classes, scales, adds the intercept as feature 0, and
/// rejects rows that the learner cannot learn from. Its state is saved with the model.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// The classes seen so far; empty for a real-valued target. Shared by copies until one of them changes,
    /// so that a copy taken before every row, to undo the row, costs little.
    labels: Arc<Labels>,
    /// Largest number of classes: new ones are added up to this number. [`usize::MAX`] for a
    /// learner that grows.
    classes: usize,
    /// The scaling and its statistics.
    scaler: Scaler,
    /// Whether feature 0 is the constant 1.
    intercept: bool,
    /// Whether examples are sparse.
    sparse: bool,
    /// Number of columns of the data, without the intercept.
    columns: usize,
    /// What the learner accepts (soft labels, weights, targets). If it takes the row before scaling, rows
    /// have it behind the scaled one ([`views`](noregret::example::Features::views)) where scaling depends on
    /// the rows before: dense ones, and sparse ones scaled by the largest magnitude, which have logarithms in
    /// between.
    accepts: Accepts,
    /// Whether features are votes, which must be in [-1, 1].
    votes: bool,
    /// Treatment of rows beyond the learner's radius.
    large_row: LargeRow,
    /// The learner's bound on the norm of rows.
    radius: f64,
    /// Number of rows beyond it.
    large_rows: u64,
    /// Columns that are absent from the data; their values are replaced by the mean.
    absent: Vec<u32>,
    /// Whether [`Scaler::stand_in`] stands for a number that a row names as missing; else it is 0.
    fills_missing: bool,
    /// The range of costs, for a learner that learns from the reward of the played label; `None` for a
    /// learner that needs the true label.
    costs: Option<Costs>,
    /// The costs of rows that it has clipped.
    clipped: Clipped,
    /// Rows that are not learnt, with numbers far outside of what was.
    outside: Outside,
    /// Whether rows of decisions move the scaling when they are learnt, not when they are decided on.
    when_learnt: bool,
    /// The weights of classes.
    class_weights: ClassWeights,
}

/// The part of an encoder that a row and growth change, apart from the scaling, see [`Encoder::kept`].
#[derive(Clone, Debug)]
pub struct Kept {
    labels: Arc<Labels>,
    classes: usize,
    columns: usize,
    large_rows: u64,
}

impl Encoder {
    /// The state of now, without the scaling, to return to. It costs no copy.
    pub fn kept(&self) -> Kept {
        let (classes, columns, large_rows) = (self.classes, self.columns, self.large_rows);
        Kept { labels: Arc::clone(&self.labels), classes, columns, large_rows }
    }

    /// Returns to a state of before.
    pub fn take_back(&mut self, kept: Kept) {
        let Kept { labels, classes, columns, large_rows } = kept;
        (self.labels, self.classes, self.columns, self.large_rows) = (labels, classes, columns, large_rows);
    }

    /// Encodes `row`, after updating the scaler with it.
    ///
    /// # Errors
    /// If the row is invalid. A row with an invalid label or norm still updates the scaler, because
    /// scaling does not depend on labels.
    ///
    /// # Panics
    /// If the row has more columns than [`Encoder::columns`].
    pub fn encode(&mut self, row: &Row, out: &mut Example) -> Result<(), Fault> {
        self.check(row)?;
        self.features_of(row, out, true)?;
        self.target_of(row, out, true)?;
        self.offered_of(row, out, true)?;
        self.earned_of(row, out)?;
        if out.target().is_some() {
            self.scaler.labelled();
        }
        Ok(())
    }

    /// Encodes `row` with fixed classes and scaling, for prediction without learning. If its label
    /// cannot be compared with a prediction, the example is unlabelled, and the reason is returned.
    ///
    /// # Errors
    /// If the features of the row are invalid.
    pub fn encode_frozen(&mut self, row: &Row, out: &mut Example) -> Result<Option<Fault>, Fault> {
        check_values(row)?;
        self.check_votes(row)?;
        self.features_of(row, out, false)?;
        self.offered_of(row, out, false)?;
        let target = check_weight(row).and_then(|()| self.target_of(row, out, false)).and_then(|()| {
            let known =
                matches!(row.label(), RowLabel::Costs(costs) if costs.iter().any(|one| one.cost.is_some()));
            if known {
                return Err("the label gives costs of actions; predictions are scored by classes".into());
            }
            self.check_offered(out)
        });
        Ok(target.inspect_err(|_| out.set_target(None)).err())
    }

    /// Checks the values of a row.
    fn check(&self, row: &Row) -> Result<(), Fault> {
        check_magnitudes(row)?;
        self.check_votes(row)
    }

    fn check_votes(&self, row: &Row) -> Result<(), Fault> {
        match row.values().iter().find(|value| self.votes && value.abs() > 1.0) {
            Some(value) => Err(fault!("the row has the value {value}; a vote in [-1, 1] was needed")),
            None => Ok(()),
        }
    }

    /// Sets the label; with `observe`, a new class is added if there is room.
    fn target_of(&mut self, row: &Row, out: &mut Example, observe: bool) -> Result<(), Fault> {
        out.weight = row.weight;
        out.tag.clone_from(&row.tag);
        if row.weight != 1.0 && row.weight != 0.0 && !self.accepts.weights {
            return Err(fault!("the row has weight {}; the learner takes no importance weights", row.weight));
        }
        out.truth = match row.label() {
            RowLabel::Missing => OwnedTruth::Missing,
            RowLabel::Name(name) if self.accepts.classes == Classes::Real => match name.parse::<f64>() {
                Ok(value) if value.is_finite() => OwnedTruth::Value(value),
                _ => {
                    let way_out = amount::comma_way_out(name);
                    return Err(fault!("the target is {name:?}; a finite number was needed{way_out}"));
                }
            },
            RowLabel::Name(name) if let Some(why) = self.labels.clash(name, row.label_type()) => {
                return Err(why.into());
            }
            RowLabel::Name(name) => match self.labels.find_as(name, row.label_type()) {
                Some(label) => {
                    if observe && self.labels.learns_type(label, row.label_type()) {
                        self.labels_mut().state(label, row.label_type());
                    }
                    OwnedTruth::Class(label)
                }
                None if observe && self.labels.len() < self.classes => {
                    OwnedTruth::Class(self.labels_mut().intern_as(name, row.label_type()))
                }
                None => return Err(self.unknown_class(name, observe)),
            },
            RowLabel::Distribution(_) if !self.accepts.soft_labels => {
                return Err("the label is a list of probabilities; the learner takes classes only".into());
            }
            RowLabel::Distribution(y) => {
                // Declared classes that nobody has named, as on a pipe, have numbers.
                if observe && self.labels.is_empty() && y.len() == self.classes {
                    *self.labels_mut() = Labels::numbered(self.classes);
                }
                if y.len() != self.labels.len() {
                    let needed = if self.labels.is_empty() { self.classes } else { self.labels.len() };
                    return Err(fault!("the label has {} probabilities; {needed} were needed", y.len()));
                }
                out.distribution.clear();
                out.distribution.extend_from_slice(y);
                OwnedTruth::Distribution
            }
            RowLabel::Costs(costs) if self.costs.is_none() && costs.iter().any(|one| one.cost.is_some()) => {
                return Err("the label gives costs of actions; the learner needs a class".into());
            }
            RowLabel::Costs(costs) => {
                if let Some(why) = costs.iter().find_map(|one| self.labels.clash(&one.action, one.of)) {
                    return Err(why.into());
                }
                let takes_in = observe && !self.is_open();
                for one in costs.iter().filter(|_| takes_in) {
                    if self.labels.find_as(&one.action, one.of).is_none() && self.labels.len() < self.classes
                    {
                        self.labels_mut().intern_as(&one.action, one.of);
                    }
                }
                OwnedTruth::Missing
            }
        };
        match out.truth {
            OwnedTruth::Class(label) if observe => self.weigh(label, out),
            _ => Ok(()),
        }
    }

    /// Multiplies the weight of an example that is learnt with that of its class.
    fn weigh(&self, label: Label, out: &mut Example) -> Result<(), Fault> {
        if self.class_weights.is_empty() {
            return Ok(());
        }
        let name = self.labels.name(label);
        out.weight *= self.class_weights.of(&name);
        check_largest(out.weight)
    }

    /// Whether classes are added as rows have them, for a learner that sees the label.
    fn is_open(&self) -> bool {
        self.costs.is_none() && self.classes == usize::MAX
    }

    /// Sets the classes on offer; with `observe`, a new class is added if there is room.
    fn offered_of(&mut self, row: &Row, out: &mut Example, observe: bool) -> Result<(), Fault> {
        out.offered.clear();
        for GivenLabel { text, of } in row.offered() {
            if let Some(why) = self.labels.clash(text, *of) {
                return Err(why.into());
            }
            let label = match self.labels.find_as(text, *of) {
                Some(label) => label,
                None if observe && self.is_open() => {
                    return Err(fault!(
                        "the label {text:?} is on offer before any row has it: classes = K makes room for K labels"
                    ));
                }
                None if observe && self.labels.len() < self.classes => self.labels_mut().intern_as(text, *of),
                None => return Err(self.unknown_class(text, observe)),
            };
            out.offered.push(label.0);
        }
        out.offered.sort_unstable();
        if let Some(pair) = out.offered.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(offered_twice(&self.labels.name(Label(pair[0])), row));
        }
        self.check_offered(out)?;
        if out.offered.len() == self.classes {
            out.offered.clear();
        }
        Ok(())
    }

    /// Checks that the true class is on offer.
    fn check_offered(&self, example: &Example) -> Result<(), Fault> {
        match example.truth {
            OwnedTruth::Class(label)
                if !example.offered.is_empty() && example.offered.binary_search(&label.0).is_err() =>
            {
                Err(fault!("the label {:?} is not on offer", self.labels.name(label)))
            }
            _ => Ok(()),
        }
    }

    /// Sets the truth from a label of costs: the reward and the probability of the action that was played, or
    /// the rewards of all actions.
    fn earned_of(&mut self, row: &Row, out: &mut Example) -> Result<(), Fault> {
        let (RowLabel::Costs(actions), Some(costs)) = (row.label(), self.costs) else { return Ok(()) };
        let class = |one: &ActionCost| {
            let found = self.labels.find_as(&one.action, one.of);
            found.ok_or_else(|| self.unknown_class(&one.action, true))
        };
        let mut played = actions.iter().filter_map(|one| Some((one, one.cost?, one.probability?)));
        if let Some((one, cost, probability)) = played.next() {
            if played.next().is_some() {
                return Err(TWO_PLAYED.into());
            }
            let label = class(one)?;
            check_probability(probability).map_err(|what| format!("the action {:?} {what}", one.action))?;
            if !out.offered.is_empty() && out.offered.binary_search(&label.0).is_err() {
                return Err(fault!("the label {:?} was played although it was not on offer", one.action));
            }
            let reward = costs.reward(cost)?.value();
            self.clipped.count(costs, cost);
            out.truth = OwnedTruth::Logged(Logged { label, probability, reward });
            return Ok(());
        }
        let known = actions.iter().filter(|one| one.cost.is_some()).count();
        if known == 0 {
            return Ok(());
        }
        let choices = if out.offered.is_empty() { self.classes } else { out.offered.len() };
        if known != choices {
            return Err(fault!(
                "the label gives the costs of {known} actions and no probability; the costs of all {choices} actions on offer were needed"
            ));
        }
        out.distribution.clear();
        out.distribution.resize(self.classes, 0.0);
        for one in actions {
            if let Some(cost) = one.cost {
                out.distribution[class(one)?.index()] = costs.reward(cost)?.value();
            }
        }
        for cost in actions.iter().filter_map(|one| one.cost) {
            self.clipped.count(costs, cost);
        }
        out.truth = OwnedTruth::Rewards;
        Ok(())
    }

    /// Counts a cost that was heard beside a row, for [`Encoder::clipped_costs`].
    pub fn count_cost(&mut self, cost: f64) {
        if let Some(costs) = self.costs {
            self.clipped.count(costs, cost);
        }
    }

    /// How many costs were clipped since it was made or loaded.
    pub fn costs_clipped(&self) -> u64 {
        self.clipped.clipped()
    }

    /// What to say of costs that were clipped, if any was.
    pub fn clipped_costs(&self) -> Option<Remark> {
        self.clipped.remark("costs", self.costs?)
    }

    /// What to say of rows that were not learnt and have numbers far outside of what was, if there were any.
    pub(crate) fn outside(&self, columns: &Columns) -> Option<String> {
        self.outside.note(columns)
    }

    /// The refusal of a label, if it is to be learnt with the way out.
    fn unknown_class(&self, name: &str, learnt: bool) -> Fault {
        const SHOWN: usize = 10;
        let known: Vec<&str> = self.labels.iter().take(SHOWN).collect();
        let more = if self.labels.len() > SHOWN { ", …" } else { "" };
        let way_out =
            if learnt { "; there is no room for more: make the learner with all labels" } else { "" };
        fault!(
            "the label {name:?} is none of the {} known classes: {}{more}{way_out}",
            self.labels.len(),
            known.join(", ")
        )
    }
}

/// Checks that no number in `row` is too large.
pub(crate) fn check_magnitudes(row: &Row) -> Result<(), Fault> {
    check_values(row)?;
    check_weight(row)
}

fn check_values(row: &Row) -> Result<(), Fault> {
    match row.values().iter().find(|value| value.abs() > LARGEST_NORM) {
        Some(value) => Err(fault!("the row has the value {value:e}; at most {LARGEST_NORM:e} is allowed")),
        None => Ok(()),
    }
}

fn check_weight(row: &Row) -> Result<(), Fault> {
    check_largest(row.weight)
}

fn check_largest(weight: f64) -> Result<(), Fault> {
    if weight > LARGEST_WEIGHT {
        return Err(fault!("the row has weight {weight:e}; at most {LARGEST_WEIGHT:e} is allowed"));
    }
    Ok(())
}

/// An error of [`Encoder::encode`] with its place: the file and line of `row`, or its number.
pub(crate) fn row_error(source_name: &str, row: &Row, what: Fault) -> ReadError {
    ReadError::new(source_name, row.line, ReadErrorKind::Row(what.into())).with_row_0(row.row_0)
}

#[cfg(test)]
impl Encoder {
    /// With an intercept, for two classes.
    pub(crate) fn unscaled(columns: usize) -> Self {
        let accepts = Accepts { classes: Classes::Any, soft_labels: false, weights: true, plain: false };
        Self::new(columns, accepts).with_labels(Labels::default(), 2).with_intercept(true)
    }
}

/// The refusal of a row in which the label called `name` is on offer twice.
pub(crate) fn offered_twice(name: &str, row: &Row) -> Fault {
    let choice = match row.label() {
        RowLabel::Costs(_) => {
            "; the choice of a policy before the label (vw --eval) is not read: leave it out"
        }
        _ => "",
    };
    fault!("the label {name:?} is on offer twice{choice}")
}

#[cfg(test)]
mod tests;
