//! Several rounds at once, on threads: rounds whose targets are known are played in stretches. A member's
//! forecasts do not depend on other members, and those of the members do not depend on the stacks. So every
//! member learns a stretch for itself, while mixture and stacks learn the one before.

use std::array;
use std::iter;
use std::ops::Range;

use crate::example::{Rounds, Target};
use crate::experts::mixture::Mixture;
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::problem::Problem;

use super::super::Parts;
use super::super::ahead::Announced;
use super::super::description::Description;
use super::super::member::Member;
use super::super::record::Record;
use super::super::row::Row;
use super::super::stack::write_columns;
use super::super::stacks::Stacks;
use super::super::unit::Unit;
use super::{Roster, mix_heads, write_losses};

/// Number of rounds of a stretch.
const STRETCH: usize = 16;

/// Number of rows that should be announced at a time: then the stacks wait for the first stretch only a
/// sixteenth of the time.
pub(super) const ROWS_TO_ANNOUNCE: usize = 16 * STRETCH;

/// The forecasts of up to [`STRETCH`] rounds.
#[derive(Clone, Default)]
pub(in crate::experts::auto) struct Stretch {
    /// The forecasts of every member, without by-products, by round.
    inputs: Vec<Vec<Prediction>>,
    /// What was played in each round.
    played: Vec<Prediction>,
    /// Buffers for rows in multiples of the unit.
    rows: Vec<Vec<f64>>,
}

impl Stretch {
    /// Makes room for a whole stretch, whose forecasts have the shapes of `inputs`, so that playing one
    /// allocates nothing.
    fn make_room(&mut self, inputs: &[Prediction], problem: &Problem) {
        let Problem { classes, features, .. } = *problem;
        // A row may have two views.
        self.rows.resize_with(STRETCH, || Vec::with_capacity(2 * features));
        self.inputs.resize(inputs.len(), Vec::new());
        for (kept, at) in self.inputs.iter_mut().zip(inputs).filter(|(kept, _)| kept.is_empty()) {
            kept.resize(STRETCH, Prediction::default());
            kept.iter_mut().for_each(|kept| keep(at, kept));
        }
        self.played.resize_with(STRETCH, || Prediction::sized(classes, 0));
        for played in self.played.iter_mut().filter(|played| played.probabilities.len() != classes) {
            *played = Prediction::sized(classes, 0);
        }
    }
}

/// Copies what mixture and stacks need of `at`.
fn keep(at: &Prediction, to: &mut Prediction) {
    to.scores.clone_from(&at.scores);
    to.members.resize(at.members.len(), Prediction::default());
    for (to, head) in to.members.iter_mut().zip(&at.members) {
        to.probabilities.clone_from(&head.probabilities);
    }
}

/// The rounds `range` of `rounds`.
#[derive(Clone)]
struct Part<'a> {
    rounds: &'a dyn Rounds,
    range: Range<usize>,
}

impl<'a> Part<'a> {
    fn targets(&self) -> impl Iterator<Item = Target<'a>> + use<'a> {
        let rounds = self.rounds;
        self.range.clone().map(|at| rounds.target(at))
    }

    /// The rows in the forms that the members take; `rooms` are buffers.
    fn rows<'b>(&self, unit: &Unit, features: usize, rooms: &'b mut [Vec<f64>]) -> [Option<Row<'b>>; STRETCH]
    where
        'a: 'b,
    {
        let mut rooms = self.range.clone().zip(rooms);
        array::from_fn(|_| {
            let (at, room) = rooms.next()?;
            Some(Row::new(self.rounds.features(at), unit, features, room))
        })
    }
}

/// What all members of a stretch share.
struct Shared<'a> {
    part: Part<'a>,
    rows: [Option<Row<'a>>; STRETCH],
    announced: Announced<'a>,
    problem: &'a Problem,
    seed: u64,
    workers: &'a Workers,
}

/// A member with its record, its announced portion, and its forecasts.
struct Seat<'a> {
    description: Description,
    member: &'a mut Box<dyn Member>,
    record: &'a mut Record,
    portion: Option<&'a mut [f64; 2]>,
    at: &'a mut Prediction,
    kept: &'a mut [Prediction],
}

impl Seat<'_> {
    /// Predicts and learns a stretch. `frequencies` are the losses of the frequencies of the classes, if
    /// there are any.
    fn play(mut self, shared: &Shared<'_>, frequencies: Option<&[f64; STRETCH]>) {
        let rounds = shared.part.targets().zip(shared.rows.iter().flatten()).zip(self.kept);
        for (later, ((y, row), kept)) in rounds.enumerate() {
            let x = row.seen_as(self.description.kind().view());
            self.member.predict(x, self.at);
            self.record.mix(self.at);
            keep(self.at, kept);
            self.member.update(x, y, self.at);
            self.record.update(y, self.at);
            let own = y.log_loss(&self.at.probabilities);
            if let Some(frequencies) = frequencies.filter(|_| self.description.kind().keeps_all())
                && self.record.renewal.is_due(own, frequencies[later])
            {
                *self.member = self.description.make(shared.problem, shared.seed).expect("made before");
                self.member.set_workers(shared.workers);
                self.portion.iter_mut().for_each(|portion| portion.fill(0.0));
            }
            if let Some(portion) = &mut self.portion
                && shared.announced.is_due(later + 1, portion)
            {
                shared.announced.hand_on(later + 1, &mut **self.member, portion);
            }
        }
    }
}

/// The mixture of the members, and the stacks, over a stretch.
struct Above<'a> {
    part: Part<'a>,
    descriptions: &'a [Description],
    base: &'a mut Mixture,
    losses: &'a mut [f64],
    stacks: &'a mut Stacks,
    /// Buffers for the forecasts of mixture and stacks, and for the stacks' input columns.
    mixed: &'a mut Prediction,
    at: &'a mut [Prediction],
    columns: &'a mut [f64],
    inputs: &'a [Vec<Prediction>],
    played: &'a mut [Prediction],
}

impl Above<'_> {
    /// Predicts and learns the stretch.
    fn play(self) {
        for (round, (y, played)) in self.part.targets().zip(self.played).enumerate() {
            let inputs = || self.inputs.iter().map(|kept| &kept[round]);
            mix_heads(self.descriptions, self.base.weights(), inputs(), self.mixed);
            let counts = self.descriptions.iter().map(|description| description.columns());
            write_columns(&self.mixed.scores, inputs().zip(counts), self.columns);
            self.stacks.predict(self.mixed, self.columns, self.at, &mut played.probabilities);
            played.set_scores_to_logarithms();
            write_losses(self.descriptions, y, inputs(), self.mixed, self.losses);
            self.base.update(self.losses);
            self.stacks.update(self.mixed, self.columns, y, self.at);
        }
    }
}

/// A piece of work on a stretch.
enum Piece<'a> {
    Seat(Seat<'a>),
    Above(Above<'a>),
}

/// What the [`Seat`]s are made of: for every member in order one of each, portions only for those that were
/// there when rows were announced.
struct Seats<'a> {
    descriptions: &'a [Description],
    members: &'a mut [Option<Box<dyn Member>>],
    records: &'a mut [Record],
    portions: &'a mut [[f64; 2]],
    inputs: &'a mut [Prediction],
    kept: &'a mut [Vec<Prediction>],
}

impl Seats<'_> {
    /// The index of the member that counts labels.
    fn labels(&self) -> Option<usize> {
        self.descriptions.iter().position(|description| *description == Description::labels())
    }

    /// Plays a stretch with the member that counts labels, at `place`. Returns the losses of its first head,
    /// the frequencies of the classes; `None` if it was dropped.
    fn play_labels(&mut self, place: usize, shared: &Shared<'_>) -> Option<[f64; STRETCH]> {
        self.each().nth(place).flatten()?.play(shared, None);
        let mut losses = [0.0; STRETCH];
        for ((loss, y), kept) in losses.iter_mut().zip(shared.part.targets()).zip(&self.kept[place]) {
            *loss = y.log_loss(&kept.members[0].probabilities);
        }
        Some(losses)
    }

    /// The seats in order; `None` for members that were dropped, which forecast nothing.
    fn each(&mut self) -> impl Iterator<Item = Option<Seat<'_>>> {
        let members = self.descriptions.iter().zip(&mut *self.members).zip(&mut *self.records);
        let portions = self.portions.iter_mut().map(Some).chain(iter::repeat_with(|| None));
        let forecasts = self.inputs.iter_mut().zip(&mut *self.kept);
        members.zip(portions).zip(forecasts).map(
            |((((description, member), record), portion), (at, kept))| {
                let Some(member) = member else {
                    kept.iter_mut().for_each(|kept| (kept.scores.clear(), kept.members.clear()).0);
                    return None;
                };
                Some(Seat { description: *description, member, record, portion, at, kept })
            },
        )
    }
}

impl Roster {
    /// Whether rounds may be played in stretches: not before the unit is constant, since its changes
    /// replace all members.
    pub(in crate::experts::auto) fn can_work_ahead(&self) -> bool {
        self.unit.is_constant()
    }

    /// Predicts and learns the rounds `range` of `rounds`, in which no members join, with mixture and stacks
    /// a stretch behind the members. `inputs`, `at`, `mixed` and `columns` are buffers for the forecasts of
    /// members, stacks and mixture, and for the stacks' inputs. Calls `each` with every round's index and
    /// prediction.
    pub(in crate::experts::auto) fn play(
        &mut self,
        stacks: &mut Stacks,
        stretches: &mut [Stretch; 2],
        (rounds, range): (&dyn Rounds, Range<usize>),
        at: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        let inputs = Parts::of(&at.members).inputs;
        stretches.iter_mut().for_each(|stretch| stretch.make_room(inputs, &self.problem));
        let [mut next, mut last] = stretches.each_mut();
        // The rounds that mixture and stacks have not learnt yet.
        let mut behind = range.start..range.start;
        while !behind.is_empty() || behind.end < range.end {
            let ahead = behind.end..range.end.min(behind.end + STRETCH);
            let parts = [ahead.clone(), behind.clone()].map(|range| Part { rounds, range });
            self.play_stretch(parts, next, last, stacks, at);
            behind.zip(&last.played).for_each(|(at, played)| each(at, played));
            std::mem::swap(&mut next, &mut last);
            behind = ahead;
        }
    }

    /// Plays the stretch `ahead` with the members, and `behind` with mixture and stacks.
    fn play_stretch(
        &mut self,
        [ahead, behind]: [Part<'_>; 2],
        next: &mut Stretch,
        last: &mut Stretch,
        stacks: &mut Stacks,
        at: &mut Prediction,
    ) {
        let Self { problem, descriptions, members, records, base, unit, seed, workers, losses, .. } = self;
        let Prediction { members: predictions, scratch: columns, .. } = at;
        let Parts { inputs, stacks: at, base: mixed } = Parts::of_room(predictions);
        let count = ahead.range.len();
        let (announced, portions) = self.ahead.parts(problem.features, unit.scale());
        let rows = ahead.rows(unit, problem.features, &mut next.rows);
        let shared = Shared { part: ahead, rows, announced, problem, seed: *seed, workers };
        let mut seats = Seats { descriptions, members, records, portions, inputs, kept: &mut next.inputs };
        let counts = seats.labels();
        let frequencies = counts.and_then(|counts| seats.play_labels(counts, &shared));
        let above = (!behind.range.is_empty()).then(|| {
            let Stretch { inputs, played, .. } = last;
            Above { part: behind, descriptions, base, losses, stacks, mixed, at, columns, inputs, played }
        });
        let above = above.into_iter().map(|above| (f64::INFINITY, Piece::Above(above)));
        let others = seats.each().enumerate().filter(|(at, _)| Some(*at) != counts && count > 0);
        let others = others.filter_map(|(_, seat)| {
            let seat = seat?;
            Some((seat.description.work(problem), Piece::Seat(seat)))
        });
        workers.each_by_cost(above.chain(others), |piece| match piece {
            Piece::Seat(seat) => seat.play(&shared, frequencies.as_ref()),
            Piece::Above(above) => above.play(),
        });
        self.ahead.advance(count as u64);
    }
}
