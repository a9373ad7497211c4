//! Several rounds at once, on threads: rounds whose targets are known are played in stretches. A member's
//! forecasts do not depend on other members, and those of the members do not depend on the stacks. So every
//! member learns a stretch for itself, while mixture and stacks learn the one before.

use std::array;
use std::ops::Range;

use crate::example::{Batch, Features, Rounds, Target};
use crate::prediction::Prediction;
use crate::problem::Problem;

use super::super::announced::Rows;
use super::super::combined::{Combined, Parts};
use super::super::row::{Row, View};
use super::super::unit::Unit;
use super::seat::{Seat, Workshop};
use super::{Roster, frequencies};

/// Number of rounds of a stretch.
const STRETCH: usize = 16;

/// Number of rows that should be announced at a time: then the stacks wait for the first stretch only a
/// sixteenth of the time.
const ROWS_TO_ANNOUNCE: usize = 16 * STRETCH;

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
    fn rows<'b>(&self, unit: &Unit, rooms: &'b mut [Vec<f64>]) -> [Option<Row<'b>>; STRETCH]
    where
        'a: 'b,
    {
        let mut rooms = self.range.clone().zip(rooms);
        array::from_fn(|_| {
            let (at, room) = rooms.next()?;
            Some(unit.row(self.rounds.features(at), room))
        })
    }
}

/// The rows in the form of a member.
struct Views<'a> {
    rows: &'a [Option<Row<'a>>],
    view: View,
}

impl Batch for Views<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn features(&self, at: usize) -> Features<'_> {
        self.rows[at].expect("each has a row").seen_as(self.view)
    }
}

/// What all members share of a stretch.
struct Shared<'a> {
    part: Part<'a>,
    rows: [Option<Row<'a>>; STRETCH],
    announced: Rows<'a>,
    workshop: Workshop<'a>,
}

impl Seat {
    /// Predicts and learns a stretch, and keeps the forecasts in `kept`; `at` is a buffer. `frequencies` are
    /// the losses of the frequencies of the classes, if there are any. A member of another process does
    /// nothing; its forecasts are kept if they are known.
    fn play(
        &mut self,
        shared: &Shared<'_>,
        frequencies: Option<&[f64; STRETCH]>,
        at: &mut Prediction,
        kept: &mut [Prediction],
    ) {
        if !self.home.is_here() {
            let (classes, heads) = (shared.workshop.problem.classes, self.description.heads());
            let rounds = kept.iter_mut().take(shared.part.range.len());
            return rounds.for_each(|kept| self.home.read(classes, heads, kept));
        }
        if let Some(member) = &mut self.member {
            let rows = &shared.rows[..shared.part.range.len()];
            member.begin_stretch(&Views { rows, view: self.description.kind().traits().view });
        }
        let rounds = shared.part.targets().zip(shared.rows.iter().flatten()).zip(kept);
        for (later, ((y, row), kept)) in rounds.enumerate() {
            self.predict(*row, &[], at);
            keep(at, kept);
            self.home.note(kept);
            let frequencies = frequencies.map(|losses| losses[later]);
            self.learn(*row, y, at, false, frequencies, &shared.workshop);
            self.take_portion(shared.announced, later + 1);
        }
    }
}

impl Shared<'_> {
    /// The losses of the frequencies of the classes, if `kept` are the forecasts of the member that counts
    /// labels; `None` if it was dropped.
    fn frequencies(&self, kept: &[Prediction]) -> Option<[f64; STRETCH]> {
        let mut losses = [0.0; STRETCH];
        for ((loss, y), kept) in losses.iter_mut().zip(self.part.targets()).zip(kept) {
            *loss = frequencies(kept, y)?;
        }
        Some(losses)
    }
}

/// The stretch before, which mixture and stacks have not learnt yet, with buffers for their forecasts and
/// for the stacks' input columns.
struct Late<'a> {
    part: Part<'a>,
    inputs: &'a [Vec<Prediction>],
    played: &'a mut [Prediction],
    base: &'a mut Prediction,
    columns: &'a mut [f64],
    stacks: &'a mut [Prediction],
}

impl Late<'_> {
    /// Predicts and learns the stretch with mixture and stacks.
    fn play(self, combined: &mut Combined) {
        let Self { part, inputs, played, base, columns, stacks } = self;
        for (round, (y, played)) in part.targets().zip(played).enumerate() {
            let inputs = || inputs.iter().map(|kept| &kept[round]);
            combined.predict(inputs(), base, columns, stacks, &mut played.probabilities);
            played.set_scores_to_logarithms();
            combined.update(y, inputs(), base, columns, stacks);
        }
    }
}

/// A piece of work on a stretch.
enum Piece<'a> {
    /// A seat with its buffers.
    Member(&'a mut Seat, &'a mut Prediction, &'a mut [Prediction]),
    Combined(&'a mut Combined, Late<'a>),
}

impl Roster {
    /// Whether rounds may be played in stretches: not before the unit is constant, since its changes
    /// replace all members.
    pub(in crate::experts::auto) fn can_play_stretches(&self) -> bool {
        self.unit.is_constant()
    }

    /// A multiple of the number of rows that members can use, so large that members and stacks can work at
    /// the same time.
    pub(in crate::experts::auto) fn lookahead(&self) -> usize {
        ROWS_TO_ANNOUNCE.next_multiple_of(self.used_rows().max(1))
    }

    /// Predicts and learns the rounds `range` of `rounds`, in which no members join, with mixture and stacks
    /// a stretch behind the members. `at` is a buffer. Calls `each` with every round's index and prediction.
    pub(in crate::experts::auto) fn play(
        &mut self,
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
            self.play_stretch(parts, next, last, at);
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
        at: &mut Prediction,
    ) {
        let (counting, is_lent) = (self.counting(), self.is_lent());
        let Self { problem, seats, combined, unit, seed, workers, announced, .. } = self;
        let Prediction { members, scratch: columns, .. } = at;
        let Parts { inputs, stacks, base } = Parts::of_room(members);
        let Stretch { inputs: kept, rows, .. } = next;
        let rows = ahead.rows(unit, rows);
        let announced = announced.scaled(problem.features, unit.scale());
        let workshop = Workshop { problem, seed: *seed, workers };
        let shared = Shared { part: ahead, rows, announced, workshop };
        // The other members compare themselves with the frequencies of the classes.
        let frequencies = counting.and_then(|at| {
            seats[at].play(&shared, None, &mut inputs[at], &mut kept[at]);
            shared.frequencies(&kept[at])
        });
        let others = seats.iter_mut().zip(inputs).zip(kept).enumerate();
        let others = others.filter(|(at, _)| Some(*at) != counting && !shared.part.range.is_empty());
        let others = others
            .map(|(_, ((seat, at), kept))| (seat.description.work(problem), Piece::Member(seat, at, kept)));
        let late = (!behind.range.is_empty() && !is_lent).then(|| {
            let Stretch { inputs, played, .. } = last;
            let late = Late { part: behind, inputs, played, base, columns, stacks };
            (f64::INFINITY, Piece::Combined(combined, late))
        });
        workers.each_by_cost(late.into_iter().chain(others), |piece| match piece {
            Piece::Member(seat, at, kept) => seat.play(&shared, frequencies.as_ref(), at, kept),
            Piece::Combined(combined, late) => late.play(combined),
        });
        let learnt = shared.part.range.len() as u64;
        self.announced.advance(learnt);
    }
}
