//! A member of the mixture with all that belongs to it, and its part of a round.

use std::ops::Range;

use crate::example::Target;
use crate::parallel::Workers;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;

use super::super::announced::Rows;
use super::super::description::{Description, Place};
use super::super::kind::Kind;
use super::super::member::Member;
use super::super::record::Record;
use super::super::row::Row;
use super::super::unit::Unit;
use super::home::Home;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Seat {
    pub(super) description: Description,
    /// `None` if it was dropped.
    pub(super) member: Option<Box<dyn Member>>,
    pub(super) record: Record,
    /// The announced rows that the member has been given last. `None` if it joined after they were announced.
    pub(super) portion: Option<Range<usize>>,
    pub(super) home: Home,
}

/// What members are made from.
pub(super) struct Workshop<'a> {
    pub(super) problem: &'a Problem,
    pub(super) seed: u64,
    pub(super) workers: &'a Workers,
}

impl Workshop<'_> {
    /// A new member.
    pub(super) fn make(&self, description: Description) -> Result<Box<dyn Member>, ParamError> {
        let mut member = description.make(self.problem, self.seed)?;
        member.set_workers(self.workers);
        Ok(member)
    }

    /// A new member in place of one that was made for the same problem or a smaller one.
    fn make_again(&self, description: Description) -> Box<dyn Member> {
        self.make(description).expect("made before")
    }
}

impl Seat {
    /// The seat of a member, `None` for one that was dropped.
    pub(super) fn new(description: Description, member: Option<Box<dyn Member>>) -> Self {
        Self { description, member, record: Record::new(description), portion: None, home: Home::Here }
    }

    pub(super) fn kind(&self) -> &'static dyn Kind {
        self.description.kind()
    }

    /// The description, and whether the member was dropped.
    pub(super) fn place(&self) -> Place {
        Place { member: self.description, dropped: self.member.is_none() }
    }

    /// A buffer for a prediction, empty if the member was dropped.
    pub(super) fn prediction(&self) -> Prediction {
        self.member.as_ref().map_or_else(Prediction::default, |member| member.prediction())
    }

    /// Writes the forecasts of the heads and their mixture to `at`, from the numbers of [`Member::batch`] for
    /// the row, if there are any. Empties `at` if the member was dropped: it may hold an earlier prediction.
    pub(super) fn predict(&self, row: Row<'_>, numbers: &[f64], at: &mut Prediction) {
        let Some(member) = &self.member else {
            at.scores.clear();
            at.members.clear();
            return;
        };
        let x = row.seen_as(self.kind().traits().view);
        if numbers.is_empty() {
            member.predict(x, at);
        } else {
            member.predict_in_batch(x, numbers, at);
        }
        self.record.mix(at);
    }

    /// Learns the target of the round in which `at` was predicted; `late` if the learner has changed since.
    /// `frequencies` is the loss of the frequencies of the classes in the round, if they are known: a member
    /// that has fallen behind them is replaced by a new one, see [`renewal`](super::super::renewal).
    pub(super) fn learn(
        &mut self,
        row: Row<'_>,
        y: Target<'_>,
        at: &Prediction,
        late: bool,
        frequencies: Option<f64>,
        workshop: &Workshop<'_>,
    ) {
        let kind = self.kind();
        let Some(member) = &mut self.member else { return };
        let without = self.record.without_by_products(late, at);
        member.update(row.seen_as(kind.traits().view), y, without.as_ref().unwrap_or(at));
        self.record.update(y, at);
        if let Some(frequencies) = frequencies.filter(|_| kind.traits().keeps_all)
            && self.record.renewal.is_due(y.log_loss(&at.probabilities), frequencies)
        {
            *member = workshop.make_again(self.description);
            self.forget_portion();
        }
    }

    /// Replaces the member by a new one that learns the recorded rows in the present unit, if it depends on
    /// the unit.
    pub(super) fn learn_again(&mut self, unit: &Unit, workshop: &Workshop<'_>) {
        self.forget_portion();
        if self.member.is_none() || !self.description.has_unit() {
            return;
        }
        self.member = Some(workshop.make_again(self.description));
        let (mut at, view) = (self.prediction(), self.kind().traits().view);
        unit.replay(|row, y| {
            self.predict(row, &[], &mut at);
            self.member.iter_mut().for_each(|member| member.update(row.seen_as(view), y, &at));
        });
    }

    /// A member that was made anew has been given no rows.
    fn forget_portion(&mut self) {
        self.portion.iter_mut().for_each(|portion| *portion = 0..0);
    }

    /// Gives the member its next portion of the announced `rows`, `later` rounds from now, if it has learnt
    /// all of its current one and there are more rows.
    pub(super) fn take_portion(&mut self, rows: Rows<'_>, later: usize) {
        let (Some(member), Some(portion)) = (&mut self.member, &mut self.portion) else { return };
        if !self.home.is_here() {
            return;
        }
        let start = rows.next + later;
        if start >= rows.count() || portion.end > start {
            return;
        }
        *portion = start..rows.count().min(start + member.lookahead());
        if portion.start < portion.end {
            member.prepare(&rows.range(portion.clone()));
        }
    }

    /// Passes those of the announced `rows` on, from index `at` on, that were empty when the member was given
    /// its portion.
    pub(super) fn replace_rows(&mut self, rows: Rows<'_>, at: usize) {
        let (Some(member), Some(portion)) = (&mut self.member, &self.portion) else { return };
        if !self.home.is_here() {
            return;
        }
        let first = at.max(portion.start);
        if at < portion.end {
            member.prepare_rest(first - portion.start, &rows.range(first..portion.end));
        }
    }

    /// Grows the member, or replaces it by a new one.
    pub(super) fn grow(&mut self, workshop: &Workshop<'_>) {
        let Some(member) = &mut self.member else { return };
        if !member.grow(workshop.problem.classes, workshop.problem.features) {
            *member = workshop.make_again(self.description);
        }
    }
}
