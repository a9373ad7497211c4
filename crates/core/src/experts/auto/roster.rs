//! The members, active and dropped, each in its seat, and their part of a round.

use std::ops::Range;

use crate::example::{Batch, Features, Target};
use crate::parallel::Workers;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{Shapes, State, Tensor};

use super::announced::{Announced, Rows};
use super::combined::{Combined, Parts};
use super::costs::Costs;
use super::description::{Description, Lineup};
use super::unit::Unit;
pub(super) use changes::ByWorth;
use seat::{Seat, Workshop};

mod changes;
mod division;
mod home;
mod seat;
pub(super) mod stretches;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Roster {
    problem: Problem,
    seats: Vec<Seat>,
    pub(super) combined: Combined,
    unit: Unit,
    /// The machine's factors of the members' costs.
    costs: Costs,
    /// Number of members that have joined.
    joined: u64,
    /// Seed of the random draws of trees and forests.
    seed: u64,
    announced: Announced,
    workers: Workers,
    /// Buffer for a row in multiples of the unit.
    room: Vec<f64>,
}

/// The numbers that members computed for the rows of a batch.
pub(super) struct Numbers {
    /// Those of all rows, one list for each member in order; empty for a member that computes none.
    lists: Vec<Vec<f64>>,
    rows: usize,
}

impl Numbers {
    /// Those of the member at `place` for `row`; empty if there are none.
    fn of(&self, place: usize, row: usize) -> &[f64] {
        let list = &self.lists[place];
        let len = list.len() / self.rows;
        &list[row * len..][..len]
    }
}

impl Roster {
    pub(super) fn new(lineup: Lineup, costs: Costs, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let members: Vec<Description> = lineup.0.iter().map(|place| place.member).collect();
        let mut roster = Self {
            seats: Vec::new(),
            combined: Combined::new(problem.classes, &members),
            unit: Unit::new(&problem),
            costs,
            joined: 0,
            problem,
            seed,
            announced: Announced::default(),
            workers: Workers::default(),
            room: Vec::new(),
        };
        for (at, place) in lineup.0.iter().enumerate() {
            let member = (!place.dropped).then(|| roster.workshop().make(place.member)).transpose()?;
            if member.is_none() {
                roster.combined.retire(at);
            }
            roster.seats.push(Seat::new(place.member, member));
        }
        Ok(roster)
    }

    fn workshop(&self) -> Workshop<'_> {
        Workshop { problem: &self.problem, seed: self.seed, workers: &self.workers }
    }

    /// All members in order, with whether each was dropped.
    pub(super) fn lineup(&self) -> Lineup {
        Lineup(self.seats.iter().map(Seat::place).collect())
    }

    /// The active members, with their weights in the mixture.
    pub(super) fn active(&self) -> impl Iterator<Item = (Description, f64)> + '_ {
        let seats = self.seats.iter().zip(self.combined.shares());
        seats.filter(|(seat, _)| seat.member.is_some()).map(|(seat, share)| (seat.description, share))
    }

    /// The active members.
    fn descriptions(&self) -> impl Iterator<Item = Description> + '_ {
        self.seats.iter().filter(|seat| seat.member.is_some()).map(|seat| seat.description)
    }

    /// Multiply-adds in a round, of all active members.
    pub(super) fn work(&self) -> f64 {
        self.descriptions().map(|member| self.costs.work(member, &self.problem)).sum()
    }

    /// 8-byte numbers of state, of all active members.
    fn numbers(&self) -> usize {
        self.descriptions().map(|member| member.numbers(&self.problem)).fold(0, usize::saturating_add)
    }

    /// A buffer for predictions.
    pub(super) fn prediction(&self) -> Prediction {
        self.combined.prediction(self.seats.iter().map(Seat::prediction))
    }

    /// How many rows [`Roster::batch`] should be given: so many that the products are wide, and so few that
    /// their numbers and forecasts take some 32 MB at most.
    pub(super) fn rows_of_batch(&self) -> usize {
        const MOST_NUMBERS: usize = 1 << 22;
        let members = self.descriptions().filter(|member| member.kind().traits().works_in_batches);
        let heads: usize = members.map(Description::heads).sum();
        let numbers = heads * self.problem.classes + 4 * self.problem.features;
        (MOST_NUMBERS / numbers.max(1)).clamp(16, 1024)
    }

    /// What members compute for the rows of `range` at once, see [`Member::batch`](super::member::Member).
    pub(super) fn batch(&self, rows: &dyn Batch, range: Range<usize>) -> Numbers {
        let (features, count) = (self.problem.features, range.len());
        let mut lists = vec![Vec::new(); self.seats.len()];
        if !self.descriptions().any(|member| member.kind().traits().works_in_batches) {
            return Numbers { lists, rows: count };
        }
        let mut scaled = vec![0.0; count * features];
        for (at, row) in range.zip(scaled.chunks_exact_mut(features)) {
            rows.features(at).views(features).0.add_to(self.unit.scale(), row);
        }
        let scaled = Rows::of_batch(&scaled, features);
        let members = self.seats.iter().zip(&mut lists).filter_map(|(seat, list)| {
            let member = seat.member.as_ref().filter(|_| seat.kind().traits().works_in_batches)?;
            Some((seat.description.work(&self.problem), (member, list)))
        });
        self.workers.each_by_cost(members, |(member, list)| *list = member.batch(&scaled));
        Numbers { lists, rows: count }
    }

    /// Predicts `x`. `batch` has the numbers of a batch, and the index of this row in it.
    pub(super) fn predict(&self, x: Features<'_>, batch: Option<(&Numbers, usize)>, out: &mut Prediction) {
        let Prediction { members, probabilities, scratch, .. } = out;
        let Parts { inputs, stacks, base } = Parts::of_room(members);
        let mut room = std::mem::take(&mut base.scratch);
        let row = self.unit.row(x, &mut room);
        let seats = self.seats.iter().zip(inputs.iter_mut()).enumerate();
        let costs = seats.map(|seat| (seat.1.0.description.work(&self.problem), seat));
        self.helpers().each_by_cost(costs, |(place, (seat, at))| {
            let numbers = batch.map_or(&[][..], |(numbers, row)| numbers.of(place, row));
            seat.predict(row, numbers, at);
        });
        base.scratch = room;
        self.combined.predict(inputs.iter(), base, scratch, stacks, probabilities);
        out.set_scores_to_logarithms();
    }

    /// Learns the target of a round in which `at` was predicted; `late` if the learner has changed since.
    /// `columns` are those of the stacks for `at`.
    ///
    /// Members that joined after the prediction learn from one that is made here.
    pub(super) fn update(
        &mut self,
        x: Features<'_>,
        y: Target<'_>,
        at: &Prediction,
        columns: &[f64],
        late: bool,
    ) {
        let Parts { inputs, stacks, base } = Parts::of(&at.members);
        let mut room = std::mem::take(&mut self.room);
        let row = self.unit.row(x, &mut room);
        let frequencies = self.counting().and_then(|place| frequencies(inputs.get(place)?, y));
        let workers = self.helpers().clone();
        let Self { problem, seats, seed, workers: all, .. } = self;
        let workshop = Workshop { problem, seed: *seed, workers: all };
        let (present, joined) = seats.split_at_mut(inputs.len());
        let costs = present.iter_mut().zip(inputs);
        let costs = costs.map(|(seat, at)| (seat.description.work(workshop.problem), (seat, at)));
        workers.each_by_cost(costs, |(seat, at)| seat.learn(row, y, at, late, frequencies, &workshop));
        for seat in joined {
            let mut at = seat.prediction();
            seat.predict(row, &[], &mut at);
            seat.learn(row, y, &at, false, None, &workshop);
        }
        self.room = room;
        self.combined.update(y, inputs.iter(), base, columns, stacks);
        self.announced.advance(1);
        if self.unit.measure(x, y) {
            self.learn_again();
        }
        self.unit.settle();
        self.give_portions();
    }

    /// The place of the member that counts labels.
    fn counting(&self) -> Option<usize> {
        self.seats.iter().position(|seat| seat.description == Description::labels())
    }

    /// Replaces the members that depend on the unit by new ones, which learn the rows so far in the new unit.
    fn learn_again(&mut self) {
        let Self { problem, seats, seed, workers, unit, .. } = self;
        let workshop = Workshop { problem, seed: *seed, workers };
        seats.iter_mut().for_each(|seat| seat.learn_again(unit, &workshop));
    }

    /// See [`OnlineLearner::set_workers`](crate::learner::OnlineLearner::set_workers).
    pub(super) fn set_workers(&mut self, workers: Workers) {
        self.seats
            .iter_mut()
            .flat_map(|seat| &mut seat.member)
            .for_each(|member| member.set_workers(&workers));
        self.workers = workers;
    }

    /// See [`Settle::settle`](crate::capability::Settle::settle).
    pub(super) fn settle(&mut self) {
        self.seats.iter_mut().flat_map(|seat| &mut seat.member).for_each(|member| member.settle());
    }

    /// See [`Settle::settle_after`](crate::capability::Settle::settle_after).
    pub(super) fn settle_after(&mut self, rounds: u64) {
        let members = self.seats.iter_mut().flat_map(|seat| &mut seat.member);
        members.for_each(|member| member.settle_after(rounds));
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

    /// The largest number of rows that a member can use.
    fn used_rows(&self) -> usize {
        let members = self.seats.iter().filter_map(|seat| seat.member.as_ref());
        members.map(|member| member.lookahead()).max().unwrap_or(0)
    }

    pub(super) fn prepare(&mut self, announced: &dyn Batch) {
        if self.used_rows() > 0 {
            self.announced.start(announced, self.problem.features);
            let here = self.seats.iter_mut().filter(|seat| seat.home.is_here());
            here.for_each(|seat| seat.portion = Some(0..0));
            self.give_portions();
        }
    }

    pub(super) fn prepare_rest(&mut self, at: usize, announced: &dyn Batch) {
        self.announced.replace(at, announced, self.problem.features);
        let rows = self.announced.scaled(self.problem.features, self.unit.scale());
        self.seats.iter_mut().for_each(|seat| seat.replace_rows(rows, at));
    }

    /// Gives every member that has learnt its portion of the announced rows the next one.
    fn give_portions(&mut self) {
        if self.announced.are_left(self.problem.features) {
            let rows = self.announced.scaled(self.problem.features, self.unit.scale());
            self.workers.each(self.seats.iter_mut(), |seat| seat.take_portion(rows, 0));
        }
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let Self { seats, combined, unit, announced, joined, seed, .. } = self;
        let mut tensors: Vec<Tensor<'_>> = Vec::new();
        let portions: Vec<_> = seats.iter().map(|seat| seat.portion.clone()).collect();
        let mut records = Vec::new();
        for (at, seat) in seats.iter_mut().enumerate() {
            let (member, record) = (format!("member/{at}"), format!("record/{at}"));
            let own = seat.member.as_mut().map_or_else(Vec::new, |member| member.tensors());
            tensors.extend(own.into_iter().map(|tensor| tensor.within(&member)));
            records.extend(seat.record.tensors().into_iter().map(|tensor| tensor.within(&record)));
        }
        tensors.extend(records);
        let [base, stacks] = combined.tensors();
        tensors.extend(base);
        tensors.extend(unit.tensors());
        tensors.extend(announced.tensors(&portions));
        tensors.push(Tensor::count("joined", joined));
        tensors.push(Tensor::count("seed", seed));
        tensors.extend(stacks);
        tensors
    }

    /// See [`State::is_newer`](crate::state::State::is_newer).
    pub(super) fn is_newer(&self, tensor: &str) -> bool {
        let of_member = tensor.strip_prefix("member/").and_then(|rest| rest.split_once('/'));
        of_member.is_some_and(|(at, tensor)| {
            let seat = at.parse().ok().and_then(|at: usize| self.seats.get(at));
            seat.and_then(|seat| seat.member.as_ref()).is_some_and(|member| member.is_newer(tensor))
        })
    }

    /// See [`State::expect`](crate::state::State::expect): in model files of earlier programs, stacks have
    /// columns for dropped members.
    pub(super) fn expect(&mut self, shape: Shapes<'_>) {
        self.combined.expect(self.seats.iter().map(|seat| seat.description.columns()), shape);
    }

    pub(super) fn restored(&mut self) -> bool {
        let Self { seats, combined, unit, announced, problem, .. } = self;
        seats.iter_mut().flat_map(|seat| &mut seat.member).all(|member| member.restored())
            && combined.restored(seats.iter().map(|seat| seat.member.is_none()))
            && unit.is_consistent()
            && seats.iter_mut().all(|seat| seat.record.restored())
            && announced.restored(problem.features, seats.iter_mut().map(|seat| &mut seat.portion))
    }
}

/// The loss of the frequencies of the classes, the first head of the member that counts labels, in the round
/// in which it predicted `at`; `None` if it was dropped.
fn frequencies(at: &Prediction, y: Target<'_>) -> Option<f64> {
    Some(y.log_loss(&at.members.first()?.probabilities))
}
