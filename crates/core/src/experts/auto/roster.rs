//! The list of members, active and dropped, and the mixture over their heads.

use std::ops::Range;

use crate::example::{Batch, Features, Target};
use crate::parallel::Workers;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::ahead::{Ahead, Portion};
use super::choice::{Limits, diagonals};
use super::costs::Costs;
use super::description::{Description, Lineup, Place};
use super::kind::KINDS;
use super::member::Member;
use super::record::Record;
use super::row::{Row, View};
use super::unit::Unit;
use crate::experts::mixture::Mixture;
use rounds::ROWS_TO_ANNOUNCE;

pub(super) mod rounds;

/// Factor between neighbouring regularizations of a grid.
const GRID_STEP: f64 = 10.0;

/// The best member of a grid leads the next one by at least this many nats before the grid is extended.
const LEAST_LEAD: f64 = 1.0;

/// Limit on the number of members that join.
const MOST_JOINING: u64 = 12;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Roster {
    problem: Problem,
    pub(super) descriptions: Vec<Description>,
    /// In the order of `descriptions`; `None` for members that were dropped.
    members: Vec<Option<Box<dyn Member>>>,
    /// In the order of `descriptions`.
    records: Vec<Record>,
    /// Over all heads of all members.
    pub(super) base: Mixture,
    unit: Unit,
    /// The machine's factors of the members' costs.
    costs: Costs,
    /// Number of members that have joined.
    joined: u64,
    /// Seed of the random draws of trees and forests.
    seed: u64,
    ahead: Ahead,
    workers: Workers,
    losses: Vec<f64>,
    /// Buffer for a row in multiples of the unit.
    row: Vec<f64>,
}

impl Roster {
    pub(super) fn new(lineup: Lineup, costs: Costs, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let member = |place: &Place| (!place.dropped).then(|| place.member.make(&problem, seed)).transpose();
        let members = lineup.0.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        let descriptions: Vec<Description> = lineup.0.iter().map(|place| place.member).collect();
        let each = |description: &Description| vec![1.0 / description.heads() as f64; description.heads()];
        let mut base = Mixture::new(&descriptions.iter().flat_map(each).collect::<Vec<f64>>());
        for (_, heads) in members.iter().zip(heads(&descriptions)).filter(|(member, _)| member.is_none()) {
            heads.for_each(|head| base.retire(head));
        }
        Ok(Self {
            losses: vec![0.0; base.weights().len()],
            unit: Unit::new(&problem),
            costs,
            joined: 0,
            records: descriptions.iter().copied().map(Record::new).collect(),
            descriptions,
            members,
            base,
            problem,
            seed,
            ahead: Ahead::default(),
            workers: Workers::default(),
            row: Vec::new(),
        })
    }

    /// All members in order, with whether each was dropped.
    pub(super) fn lineup(&self) -> Lineup {
        let places = self.descriptions.iter().zip(&self.members);
        Lineup(places.map(|(member, made)| Place { member: *member, dropped: made.is_none() }).collect())
    }

    /// The active members, with their weights in the mixture.
    pub(super) fn active(&self) -> impl Iterator<Item = (Description, f64)> + '_ {
        let places = self.descriptions.iter().zip(&self.members).zip(self.shares());
        places.filter(|((_, made), _)| made.is_some()).map(|((member, _), share)| (*member, share))
    }

    /// The number of columns that a stack needs for all members.
    pub(super) fn columns(&self) -> usize {
        self.descriptions.iter().map(|description| description.columns()).sum()
    }

    /// Each of the predictions `inputs`, with its number of columns.
    pub(super) fn with_columns<'a>(
        &self,
        inputs: &'a [Prediction],
    ) -> impl Iterator<Item = (&'a Prediction, usize)> {
        inputs.iter().zip(self.descriptions.iter().map(|description| description.columns()))
    }

    /// Multiply-adds in a round, of all active members.
    pub(super) fn work(&self) -> f64 {
        self.active().map(|(description, _)| self.costs.work(description, &self.problem)).sum()
    }

    /// 8-byte numbers of state, of all active members.
    fn numbers(&self) -> usize {
        self.active()
            .map(|(description, _)| description.numbers(&self.problem))
            .fold(0, usize::saturating_add)
    }

    /// The weight of every member in the mixture, in order.
    pub(super) fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        heads(&self.descriptions).map(|heads| self.base.weights()[heads].iter().sum())
    }

    /// Buffers for the predictions of the members, in order; empty for those that were dropped.
    pub(super) fn predictions(&self) -> Vec<Prediction> {
        let member = |member: &Option<Box<dyn Member>>| {
            member.as_ref().map_or_else(Prediction::default, |member| member.prediction())
        };
        self.members.iter().map(member).collect()
    }

    /// How many rows [`Roster::foresee`] should be given: so many that the products are wide, and so few that
    /// their numbers and forecasts take some 32 MB at most.
    pub(super) fn rows_foreseen_together(&self) -> usize {
        const MOST_NUMBERS: usize = 1 << 22;
        let foreseen = self.active().filter(|(description, _)| description.kind().is_foreseen());
        let heads: usize = foreseen.map(|(description, _)| description.heads()).sum();
        let numbers = heads * self.problem.classes + 4 * self.problem.features;
        (MOST_NUMBERS / numbers.max(1)).clamp(16, 1024)
    }

    /// Calls [`Member::foresee`], with the rows of `range`, for the members that are
    /// [foreseen](super::kind::Kind::is_foreseen); an empty list for every other member. In the order of the
    /// members.
    pub(super) fn foresee(&self, rows: &dyn Batch, range: Range<usize>) -> Vec<Vec<f64>> {
        let features = self.problem.features;
        if !self.active().any(|(description, _)| description.kind().is_foreseen()) {
            return vec![Vec::new(); self.descriptions.len()];
        }
        let mut scaled = vec![0.0; range.len() * features];
        for (at, row) in range.zip(scaled.chunks_exact_mut(features)) {
            rows.features(at).views(features).0.add_to(self.unit.scale(), row);
        }
        let scaled = Portion { features, rows: &scaled };
        let mut foreseen = vec![Vec::new(); self.descriptions.len()];
        let descriptions = self.descriptions.iter().zip(&self.members).zip(&mut foreseen);
        let members = descriptions.filter_map(|((description, member), foreseen)| {
            let member = member.as_ref().filter(|_| description.kind().is_foreseen())?;
            Some((description.work(&self.problem), (member, foreseen)))
        });
        self.workers.each_by_cost(members, |(member, foreseen)| *foreseen = member.foresee(&scaled));
        foreseen
    }

    /// Writes the members' forecasts to `inputs`, and their mixture to `base`. `foreseen` holds the lists of
    /// [`Roster::foresee`], the index of this row among its rows, and the number of rows.
    pub(super) fn predict(
        &self,
        x: Features<'_>,
        foreseen: Option<(&[Vec<f64>], usize, usize)>,
        inputs: &mut [Prediction],
        base: &mut Prediction,
    ) {
        let mut room = std::mem::take(&mut base.scratch);
        let row = Row::new(x, &self.unit, self.problem.features, &mut room);
        let problem = &self.problem;
        let members = self.descriptions.iter().zip(&self.members).zip(&self.records);
        let places = members.zip(inputs.iter_mut()).enumerate();
        let costs = places.map(|place| (place.1.0.0.0.work(problem), place));
        self.helpers().each_by_cost(costs, |(place, (((description, member), record), at))| {
            let Some(member) = member else {
                // The buffers may hold a prediction from before the member was dropped.
                at.scores.clear();
                at.members.clear();
                return;
            };
            let own = row.seen_as(description.kind().view());
            match foreseen.map(|(all, row, count)| (&all[place], row, count)) {
                Some((all, row, count)) if !all.is_empty() => {
                    let len = all.len() / count;
                    member.predict_foreseen(own, &all[row * len..][..len], at);
                }
                _ => member.predict(own, at),
            }
            record.mix(at);
        });
        mix_heads(&self.descriptions, self.base.weights(), inputs.iter(), base);
        base.scratch = room;
    }

    /// Learns the target of a round in which `inputs` and `base` were predicted.
    ///
    /// Members that joined after the prediction are charged the loss of the mixture `base`, and learn from a
    /// prediction that is made here. `late` if the learner has changed since the prediction.
    pub(super) fn update(
        &mut self,
        x: Features<'_>,
        y: Target<'_>,
        inputs: &[Prediction],
        base: &Prediction,
        late: bool,
    ) {
        let mut room = std::mem::take(&mut self.row);
        let row = Row::new(x, &self.unit, self.problem.features, &mut room);
        let workers = self.helpers().clone();
        write_losses(&self.descriptions, y, inputs.iter(), base, &mut self.losses);
        let places = self.descriptions.iter().zip(&mut self.members).zip(&mut self.records).zip(inputs);
        let costs = places.map(|place| (place.0.0.0.work(&self.problem), place));
        workers.each_by_cost(costs, |(((description, member), record), at)| {
            if let Some(member) = member {
                let without = record.without_by_products(late, at);
                member.update(row.seen_as(description.kind().view()), y, without.as_ref().unwrap_or(at));
                record.update(y, at);
            }
        });
        let latest =
            self.descriptions.iter().zip(&mut self.members).zip(&mut self.records).skip(inputs.len());
        for ((description, member), record) in latest {
            let (Some(member), own) = (member, row.seen_as(description.kind().view())) else { continue };
            let mut at = member.prediction();
            member.predict(own, &mut at);
            record.mix(&mut at);
            member.update(own, y, &at);
            record.update(y, &at);
        }
        self.row = room;
        self.base.update(&self.losses);
        self.ahead.advance(1);
        self.renew(y, inputs);
        if self.unit.measure(x, y) {
            self.begin_anew();
        }
        self.unit.settle();
        self.ahead.hand_on(&mut self.members, self.problem.features, self.unit.scale(), &self.workers);
    }

    /// Replaces members by new ones that have fallen behind the frequencies of the classes, see [`Renewal`].
    fn renew(&mut self, y: Target<'_>, inputs: &[Prediction]) {
        let mut descriptions = self.descriptions.iter();
        let counts = descriptions.position(|description| *description == Description::labels());
        let Some([frequencies, ..]) = counts.and_then(|at| inputs.get(at)).map(|at| &at.members[..]) else {
            return;
        };
        let frequencies = y.log_loss(&frequencies.probabilities);
        let members = self.descriptions.iter().zip(&mut self.members).zip(&mut self.records);
        for (place, (((description, member), record), at)) in members.zip(inputs).enumerate() {
            let Some(member) = member.as_mut().filter(|_| description.kind().keeps_all()) else { continue };
            if record.renewal.is_due(y.log_loss(&at.probabilities), frequencies) {
                let mut fresh = description.make(&self.problem, self.seed).expect("made before");
                fresh.set_workers(&self.workers);
                *member = fresh;
                self.ahead.begin_anew_at(place);
            }
        }
    }

    /// Replaces the members that depend on the unit by new ones, which learn the rows so far in the new unit.
    fn begin_anew(&mut self) {
        self.ahead.begin_anew();
        let features = self.problem.features;
        let members = self.descriptions.iter().zip(&mut self.members).zip(&self.records);
        for ((description, member), record) in
            members.filter(|((description, made), _)| description.has_unit() && made.is_some())
        {
            let mut fresh = description.make(&self.problem, self.seed).expect("made before");
            let mut at = fresh.prediction();
            self.unit.replay(|x, y| {
                let own = if description.kind().view() == View::Both { x } else { x.views(features).0 };
                fresh.predict(own, &mut at);
                record.mix(&mut at);
                fresh.update(own, y, &at);
            });
            fresh.set_workers(&self.workers);
            *member = Some(fresh);
        }
    }

    /// See [`OnlineLearner::set_workers`](crate::learner::OnlineLearner::set_workers).
    pub(super) fn set_workers(&mut self, workers: Workers) {
        self.members.iter_mut().flatten().for_each(|member| member.set_workers(&workers));
        self.workers = workers;
    }

    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// The threads among which the members of a round are divided: none if the members cost less than the
    /// division.
    fn helpers(&self) -> &Workers {
        /// In multiply-adds, about 20 microseconds.
        const WORTH_SHARING: f64 = 100_000.0;
        const NONE: &Workers = &Workers::none();
        if self.work() < WORTH_SHARING { NONE } else { &self.workers }
    }

    /// The logarithm of the largest weight among `heads`, without sharing: minus their smallest total loss,
    /// up to a constant that is the same for all heads.
    fn log_weight(&self, heads: std::ops::Range<usize>) -> f64 {
        heads.map(|head| self.base.log_weight(head)).fold(f64::MIN, f64::max)
    }

    /// Drops members until the others cost at most `limit` multiply-adds; `budget` is the user's. The best
    /// member of all is kept, and so are cheap ones and one cheap `shared` family: whether thresholds or
    /// lines represent the stream well may change. The remaining multiply-adds are given to the
    /// best member of each kind first, since the stacks gain most from members of different kinds, and then
    /// to the others in order of their loss.
    pub(super) fn retire(&mut self, limit: f64, budget: f64) {
        let log_weight: Vec<f64> = heads(&self.descriptions).map(|heads| self.log_weight(heads)).collect();
        let mut active: Vec<usize> =
            (0..self.descriptions.len()).filter(|at| self.members[*at].is_some()).collect();
        active.sort_by(|a, b| log_weight[*b].total_cmp(&log_weight[*a]));
        let mut kinds = Vec::new();
        let (best, others): (Vec<usize>, Vec<usize>) = active.into_iter().partition(|at| {
            let kind = self.descriptions[*at].kind().name();
            let first = !kinds.contains(&kind);
            kinds.push(kind);
            first
        });
        let in_order: Vec<usize> = best.into_iter().chain(others).collect();
        let work = |at: usize| self.costs.work(self.descriptions[at], &self.problem);
        let once = |at: usize| work(at) <= self.descriptions[at].kind().tolerated_once() * budget;
        let shared = in_order.iter().copied().find(|at| once(*at));
        let is_certain = |at: usize| {
            in_order.first() == Some(&at)
                || shared == Some(at)
                || work(at) <= self.descriptions[at].kind().tolerated() * budget
        };
        let (certain, others): (Vec<usize>, Vec<usize>) =
            in_order.iter().copied().partition(|at| is_certain(*at));
        let mut room = limit - certain.into_iter().map(work).sum::<f64>();
        let mut dropped = Vec::new();
        for at in others {
            let own = work(at);
            if own <= room { room -= own } else { dropped.push(at) }
        }
        dropped.into_iter().for_each(|at| self.drop_member(at));
    }

    /// If the best member of a grid of regularizations is at its edge, adds a member beyond the edge,
    /// provided that all members stay within `limits`. Returns the number of added members.
    pub(super) fn extend(&mut self, limits: Limits) -> usize {
        let mut count = 0;
        for kind in KINDS.iter().filter(|kind| kind.has_grid()) {
            let Some((at, ratio)) = self.beyond(kind.name()) else { continue };
            let description = self.descriptions[at].with_ratio(ratio);
            let in_time = self.work() + limits.costs.work(description, &self.problem) <= limits.work;
            let in_memory =
                self.numbers().saturating_add(description.numbers(&self.problem)) <= limits.numbers;
            let fits = in_time && in_memory && self.joined < MOST_JOINING;
            let edge = self.members[at].as_ref().filter(|_| fits && (1e-9..=1e9).contains(&ratio));
            let Some(member) = edge.and_then(|edge| edge.neighbour(ratio)) else { continue };
            count += 1;
            self.join(description, member);
        }
        count
    }

    /// The index of the best member of the grid of `kind` and the regularization to add, if this member is at
    /// the edge of the grid and leads by [`LEAST_LEAD`].
    fn beyond(&self, kind: &str) -> Option<(usize, f64)> {
        let of_kind = || {
            let descriptions = self
                .descriptions
                .iter()
                .enumerate()
                .filter(|(_, description)| description.kind().name() == kind);
            descriptions
                .filter_map(|(at, description)| description.extensible_ratio().map(|ratio| (at, ratio)))
        };
        let log_weight = |at: usize| {
            self.log_weight(heads(&self.descriptions).nth(at).expect("one range for each member"))
        };
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
        let dropped = heads(&self.descriptions).nth(at).expect("one range for each member");
        dropped.for_each(|head| self.base.retire(head));
        self.members[at] = None;
    }

    /// The largest number of rows that a member can use.
    fn used_rows(&self) -> usize {
        self.members.iter().flatten().map(|member| member.lookahead()).max().unwrap_or(0)
    }

    /// A multiple of [`Roster::used_rows`], so large that members and stacks can work at the same time.
    pub(super) fn lookahead(&self) -> usize {
        ROWS_TO_ANNOUNCE.next_multiple_of(self.used_rows().max(1))
    }

    pub(super) fn prepare(&mut self, coming: &dyn Batch) {
        if self.used_rows() > 0 {
            self.ahead.start(coming, self.problem.features, self.members.len());
            self.ahead.hand_on(&mut self.members, self.problem.features, self.unit.scale(), &self.workers);
        }
    }

    pub(super) fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        self.ahead.rest(at, coming, self.problem.features, &mut self.members, self.unit.scale());
    }

    /// Grows all members; trees are replaced by new ones. With `limits` (and the budget), members that have
    /// become too expensive are dropped before they grow, and diagonal learners join if no family is left.
    /// Returns whether they did.
    pub(super) fn grow(&mut self, classes: usize, features: usize, limits: Option<(Limits, f64)>) -> bool {
        self.problem = Problem { classes, features, ..self.problem.clone() };
        if let Some((limits, budget)) = limits {
            self.shrink(limits, budget);
        }
        for (description, member) in self.descriptions.iter().zip(&mut self.members) {
            let Some(member) = member else { continue };
            if !member.grow(classes, features) {
                *member = description.make(&self.problem, self.seed).expect("made before");
            }
        }
        self.ahead.clear();
        self.unit.grow(classes, features);
        limits.is_some_and(|(limits, _)| self.join_diagonals(limits))
    }

    /// Drops members that would not have been chosen for the present problem, with `budget` multiply-adds for
    /// each member and those of `limits` for all. Diagonal learners are kept, and counts of labels as the
    /// first member: they are always affordable.
    fn shrink(&mut self, limits: Limits, budget: f64) {
        for (at, description) in self.descriptions.clone().into_iter().enumerate() {
            let counts = description.kind().counts_labels();
            let work = self.costs.work(description, &self.problem);
            let in_time = description.kind().suits(&self.problem) && work <= budget;
            let in_memory = description.numbers(&self.problem) <= limits.numbers;
            let always_kept = description.kind().is_diagonal() || (counts && at == 0);
            let affordable = in_memory && (counts || in_time);
            if !always_kept && !affordable && self.members[at].is_some() {
                self.drop_member(at);
            }
        }
        self.retire(limits.work, budget);
    }

    /// Adds diagonal learners, untrained, if there are none and no family is left.
    fn join_diagonals(&mut self, limits: Limits) -> bool {
        let enough =
            |description: Description| description.kind().is_family() || description.kind().is_diagonal();
        if self.active().any(|(description, _)| enough(description)) {
            return false;
        }
        let description = diagonals(&self.problem, limits, limits.numbers.saturating_sub(self.numbers()));
        let mut member =
            description.make(&self.problem, self.seed).expect("diagonals are made for every problem");
        member.set_workers(&self.workers);
        self.join(description, member);
        true
    }

    /// Adds a member.
    fn join(&mut self, description: Description, member: Box<dyn Member>) {
        self.joined += 1;
        self.base.join(description.heads(), (self.joined as f64 + 1.0).powi(-2));
        self.losses.resize(self.base.weights().len(), 0.0);
        self.descriptions.push(description);
        self.members.push(Some(member));
        self.records.push(Record::new(description));
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (at, member) in self.members.iter_mut().enumerate() {
            let prefix = format!("member/{at}");
            let own = member.as_mut().map_or_else(Vec::new, |member| member.tensors());
            tensors.extend(own.into_iter().map(|tensor| tensor.within(&prefix)));
        }
        for (at, record) in self.records.iter_mut().enumerate() {
            let prefix = format!("record/{at}");
            tensors.extend(record.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.extend(self.base.tensors().into_iter().map(|tensor| tensor.within("base")));
        tensors.extend(self.unit.tensors());
        tensors.extend(self.ahead.tensors());
        tensors.push(Tensor::count("joined", &mut self.joined));
        tensors.push(Tensor::count("seed", &mut self.seed));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        self.members.iter_mut().flatten().all(|member| member.restored())
            && self.base.restored()
            && self.unit.is_consistent()
            && self.records.iter_mut().all(Record::restored)
            && self.ahead.is_consistent(self.problem.features, self.members.len())
    }
}

/// The range of each member's heads among all heads.
pub(super) fn heads(descriptions: &[Description]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    descriptions.iter().scan(0, |start, description| {
        let range = *start..*start + description.heads();
        *start = range.end;
        Some(range)
    })
}

/// Writes the mixture of all heads of all `inputs`, with `weights`, to `base`: eq. (1) of [`auto`](super).
fn mix_heads<'a>(
    descriptions: &[Description],
    weights: &[f64],
    inputs: impl Iterator<Item = &'a Prediction>,
    base: &mut Prediction,
) {
    base.probabilities.fill(0.0);
    for (heads, at) in heads(descriptions).zip(inputs) {
        for (weight, head) in weights[heads].iter().zip(&at.members) {
            for (base, p) in base.probabilities.iter_mut().zip(&head.probabilities) {
                *base += weight * p;
            }
        }
    }
    base.set_scores_to_logarithms();
}

/// Writes the losses of all heads of `inputs` to `losses`: infinite for members that were dropped, and that
/// of `base` for members that joined after the prediction.
fn write_losses<'a>(
    descriptions: &[Description],
    y: Target<'_>,
    inputs: impl Iterator<Item = &'a Prediction>,
    base: &Prediction,
    losses: &mut [f64],
) {
    losses.fill(y.log_loss(&base.probabilities));
    for (heads, at) in heads(descriptions).zip(inputs) {
        losses[heads.clone()].fill(f64::INFINITY);
        for (loss, head) in losses[heads].iter_mut().zip(&at.members) {
            *loss = y.log_loss(&head.probabilities);
        }
    }
}
