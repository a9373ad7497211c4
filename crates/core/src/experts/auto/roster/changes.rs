//! Members that join and that are dropped.

use crate::problem::Problem;

use super::super::choice::{Limits, diagonals};
use super::super::description::Description;
use super::super::kinds::KINDS;
use super::super::member::Member;
use super::Roster;
use super::seat::{Seat, Workshop};

/// Factor between neighbouring regularizations of a grid.
const GRID_STEP: f64 = 10.0;

/// The best member of a grid leads the next one by at least this many nats before the grid is extended.
const LEAST_LEAD: f64 = 1.0;

/// A member is dropped if the stacks would have lost fewer nats without it so far than this, for each budget
/// of time that it takes.
const WORTH_OF_BUDGET: f64 = 1.0;

/// Limit on the number of members that join.
const MOST_JOINING: u64 = 12;

/// Which members are dropped because they are not worth their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum ByWorth {
    Nobody,
    /// Those that do not learn late.
    Early,
    Everybody,
}

impl ByWorth {
    /// Those of a mixture in which members are `judged`, before or after the round in which all are within
    /// the budget.
    pub(in super::super) fn of(judged: bool, settled: bool) -> Self {
        match (judged, settled) {
            (false, _) => Self::Nobody,
            (true, false) => Self::Early,
            (true, true) => Self::Everybody,
        }
    }
}

impl Roster {
    /// Drops members until the others cost at most `limit` multiply-adds; `budget` is the user's. Those of
    /// `by_worth` are dropped, too, if they are not worth their time. The best member of all is kept, and
    /// so are cheap ones and one cheap `shared` family: whether thresholds or lines represent the stream well
    /// may change. Of the others, the one goes first that is worth least to the stacks for its time, whatever
    /// its own loss is; those that remain are then worth more, if they are like it.
    pub(in super::super) fn retire(&mut self, limit: f64, budget: f64, by_worth: ByWorth) {
        let in_order = self.in_order_of_loss();
        let work = |at: usize| self.costs.work(self.seats[at].description, &self.problem);
        let once = |at: usize| work(at) <= self.seats[at].kind().traits().tolerated_once * budget;
        let shared = in_order.iter().copied().find(|at| once(*at));
        let is_certain = |at: usize| {
            in_order.first() == Some(&at)
                || shared == Some(at)
                || work(at) <= self.seats[at].kind().traits().tolerated * budget
        };
        let mut others: Vec<usize> = in_order.iter().copied().filter(|at| !is_certain(*at)).collect();
        let mut total: f64 = in_order.iter().copied().map(work).sum();
        let mut worth = self.combined.worth();
        let is_judged = |at: usize| match by_worth {
            ByWorth::Nobody => false,
            ByWorth::Early => !self.seats[at].kind().traits().learns_late,
            ByWorth::Everybody => true,
        };
        let mut dropped = Vec::new();
        loop {
            let excess = total > limit;
            let of_work = |at: usize| worth.of(self.combined.columns_of(at)) / work(at);
            let may_leave = others.iter().rev().filter(|at| excess || is_judged(**at));
            let each = may_leave.map(|at| (*at, of_work(*at)));
            let Some((at, nats)) = each.min_by(|one, other| one.1.total_cmp(&other.1)) else { break };
            if !excess && nats * budget >= WORTH_OF_BUDGET {
                break;
            }
            worth.remove(self.combined.columns_of(at));
            others.retain(|other| *other != at);
            total -= work(at);
            dropped.push(at);
        }
        dropped.into_iter().for_each(|at| self.drop_member(at));
    }

    /// The active members: the best of each kind, and then the others, each in order of their losses.
    fn in_order_of_loss(&self) -> Vec<usize> {
        let log_weight: Vec<f64> = (0..self.seats.len()).map(|at| self.combined.log_weight(at)).collect();
        let mut active: Vec<usize> =
            (0..self.seats.len()).filter(|at| self.seats[*at].member.is_some()).collect();
        active.sort_by(|a, b| log_weight[*b].total_cmp(&log_weight[*a]));
        let mut kinds = Vec::new();
        let (best, others): (Vec<usize>, Vec<usize>) = active.into_iter().partition(|at| {
            let kind = self.seats[*at].kind().traits().name;
            let first = !kinds.contains(&kind);
            kinds.push(kind);
            first
        });
        best.into_iter().chain(others).collect()
    }

    /// If the best member of a grid of regularizations is at its edge, adds a member beyond the edge,
    /// provided that all members stay within `limits`.
    pub(in super::super) fn extend(&mut self, limits: Limits) {
        let before = self.joined;
        for kind in KINDS.iter().filter(|kind| kind.traits().has_grid) {
            let Some((at, ratio)) = self.beyond(kind.traits().name) else { continue };
            let description = self.seats[at].description.with_ratio(ratio);
            let in_time = self.work() + limits.costs.work(description, &self.problem) <= limits.work;
            let in_memory =
                self.numbers().saturating_add(description.numbers(&self.problem)) <= limits.numbers;
            let fits = in_time && in_memory && self.joined < MOST_JOINING;
            let edge = self.seats[at].member.as_ref().filter(|_| fits && (1e-9..=1e9).contains(&ratio));
            let Some(member) = edge.and_then(|edge| edge.neighbour(ratio)) else { continue };
            self.join(description, member);
        }
        if self.joined > before {
            self.combined.grow(self.problem.classes);
        }
    }

    /// The index of the best member of the grid of `kind` and the regularization to add, if this member is at
    /// the edge of the grid and leads by [`LEAST_LEAD`].
    fn beyond(&self, kind: &str) -> Option<(usize, f64)> {
        let of_kind = || {
            let seats = self.seats.iter().enumerate().filter(|(_, seat)| seat.kind().traits().name == kind);
            seats.filter_map(|(at, seat)| seat.description.extensible_ratio().map(|ratio| (at, ratio)))
        };
        let log_weight = |at: usize| self.combined.log_weight(at);
        let (at, leader) = of_kind().max_by(|a, b| log_weight(a.0).total_cmp(&log_weight(b.0)))?;
        let others = || of_kind().filter(|(other, _)| *other != at);
        let next = others().map(|(other, _)| log_weight(other)).max_by(f64::total_cmp)?;
        // Rounded to six digits, since it is part of the parameter `members`.
        let neat = |ratio: f64| format!("{ratio:.5e}").parse().expect("a number");
        if log_weight(at) < next + LEAST_LEAD {
            None
        } else if others().all(|(_, ratio)| ratio > leader) {
            Some((at, neat(leader / GRID_STEP)))
        } else if others().all(|(_, ratio)| ratio < leader) {
            Some((at, neat(leader * GRID_STEP)))
        } else {
            None
        }
    }

    /// Drops the member with the index `at`.
    fn drop_member(&mut self, at: usize) {
        self.combined.retire(at);
        self.seats[at].member = None;
    }

    /// Grows all members; trees are replaced by new ones. With `limits` (and the budget), members that have
    /// become too expensive are dropped before they grow, and diagonal learners join if no family is left.
    pub(in super::super) fn grow(&mut self, classes: usize, features: usize, limits: Option<(Limits, f64)>) {
        let more_classes = classes > self.problem.classes;
        self.problem = Problem { classes, features, ..self.problem.clone() };
        if let Some((limits, budget)) = limits {
            self.shrink(limits, budget);
        }
        let workshop = Workshop { problem: &self.problem, seed: self.seed, workers: &self.workers };
        for seat in &mut self.seats {
            seat.grow(&workshop);
            seat.portion = None;
        }
        self.announced.clear();
        self.unit.grow(classes, features);
        let joined = limits.is_some_and(|(limits, _)| self.join_diagonals(limits));
        if joined || more_classes {
            self.combined.grow(classes);
        }
    }

    /// Drops members that would not have been chosen for the present problem, with `budget` multiply-adds for
    /// each member and those of `limits` for all. Diagonal learners are kept, and counts of labels as the
    /// first member: they are always affordable.
    fn shrink(&mut self, limits: Limits, budget: f64) {
        for at in 0..self.seats.len() {
            let Seat { description, member, .. } = &self.seats[at];
            let (description, is_active) = (*description, member.is_some());
            let counts = description.kind().traits().counts_labels;
            let work = self.costs.work(description, &self.problem);
            let in_time = description.kind().suits(&self.problem) && work <= budget;
            let in_memory = description.numbers(&self.problem) <= limits.numbers;
            let always_kept = description.kind().traits().is_diagonal || (counts && at == 0);
            let affordable = in_memory && (counts || in_time);
            if !always_kept && !affordable && is_active {
                self.drop_member(at);
            }
        }
        self.retire(limits.work, budget, ByWorth::Nobody);
    }

    /// Adds diagonal learners, untrained, if there are none and no family is left.
    fn join_diagonals(&mut self, limits: Limits) -> bool {
        let enough =
            |member: Description| member.kind().traits().is_family || member.kind().traits().is_diagonal;
        if self.descriptions().any(enough) {
            return false;
        }
        let description = diagonals(&self.problem, limits, limits.numbers.saturating_sub(self.numbers()));
        let member = self.workshop().make(description).expect("diagonals are made for every problem");
        self.join(description, member);
        true
    }

    /// Adds a member.
    fn join(&mut self, description: Description, member: Box<dyn Member>) {
        self.joined += 1;
        self.combined.join(description, self.joined);
        self.seats.push(Seat::new(description, Some(member)));
    }
}
