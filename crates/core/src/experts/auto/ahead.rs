//! Look-ahead for the members: passes announced rows on to each member, in portions of the size that it
//! accepts.

use crate::example::{Batch, Features};
use crate::parallel::Workers;
use crate::state::Tensor;

use super::member::Member;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// Announced rows in units of the data as given, dense, one after another.
    rows: Vec<f64>,
    /// Index in `rows` of the row that is expected in the next round.
    next: u64,
    /// For every member, the index of the first row of its current portion and the index behind its last row.
    /// Integers, stored as floats so that they can be saved in a list tensor.
    portions: Vec<f64>,
    /// `rows` multiplied by `scale`; empty if not yet computed.
    scaled: Vec<f64>,
    /// The factor between `rows` and `scaled`.
    scale: f64,
}

/// Dense rows, one after the other.
pub(super) struct Portion<'a> {
    pub(super) features: usize,
    pub(super) rows: &'a [f64],
}

impl Batch for Portion<'_> {
    fn len(&self) -> usize {
        self.rows.len() / self.features
    }

    fn features(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[at * self.features..][..self.features])
    }
}

/// Announced rows, in multiples of the unit.
#[derive(Clone, Copy)]
pub(super) struct Announced<'a> {
    rows: &'a [f64],
    features: usize,
    /// Index of the row that is expected in the next round.
    next: usize,
}

impl Announced<'_> {
    /// Whether a member with this `portion` has learnt all of it after `later` rounds from now, and there are
    /// more rows.
    pub(super) fn is_due(self, later: usize, portion: &[f64; 2]) -> bool {
        let next = self.next + later;
        next * self.features < self.rows.len() && portion[1] <= next as f64
    }

    /// Passes the next portion to `member`, `later` rounds from now.
    pub(super) fn hand_on(self, later: usize, member: &mut dyn Member, portion: &mut [f64; 2]) {
        let Self { features, next, .. } = self;
        let rest = &self.rows[(next + later) * features..];
        let rows = &rest[..rest.len().min(member.lookahead() * features)];
        *portion = [next + later, next + later + rows.len() / features].map(|place| place as f64);
        if !rows.is_empty() {
            member.prepare(&Portion { features, rows });
        }
    }
}

impl Ahead {
    /// Stores the announced rows `coming` of `features` numbers each. [`Ahead::hand_on`] passes them to the
    /// `members` members.
    pub(super) fn start(&mut self, coming: &dyn Batch, features: usize, members: usize) {
        self.rows.clear();
        self.rows.resize(coming.len() * features, 0.0);
        for (at, row) in self.rows.chunks_exact_mut(features).enumerate() {
            coming.features(at).views(features).0.add_to(1.0, row);
        }
        self.scaled.clear();
        self.next = 0;
        self.portions.clear();
        self.portions.resize(2 * members, 0.0);
    }

    /// Replaces the placeholder rows from index `at` on by `coming`, and passes the replacements to members
    /// whose current portion contains them.
    pub(super) fn rest(
        &mut self,
        at: usize,
        coming: &dyn Batch,
        features: usize,
        members: &mut [Option<Box<dyn Member>>],
        scale: f64,
    ) {
        let rest = self.rows.chunks_exact_mut(features).skip(at).enumerate();
        for (at, row) in rest.take(coming.len()) {
            row.fill(0.0);
            coming.features(at).views(features).0.add_to(1.0, row);
        }
        self.scaled.clear();
        self.scale_to(scale);
        for (member, portion) in members.iter_mut().zip(self.portions.as_chunks::<2>().0) {
            let [start, end] = portion.map(|place| place as usize);
            let Some(member) = member.as_mut().filter(|_| at < end) else { continue };
            let first = at.max(start);
            let rows = &self.scaled[first * features..end * features];
            member.prepare_rest(first - start, &Portion { features, rows });
        }
    }

    /// Discards all announced rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.portions.clear();
        self.next = 0;
    }

    /// Records that the expected `rows` rows have been learnt.
    pub(super) fn advance(&mut self, rows: u64) {
        if !self.rows.is_empty() {
            self.next += rows;
        }
    }

    /// Resets the portions: members that were made anew have prepared no rows.
    pub(super) fn begin_anew(&mut self) {
        self.portions.fill(0.0);
    }

    /// The same for the member with the index `at`.
    pub(super) fn begin_anew_at(&mut self, at: usize) {
        self.portions.iter_mut().skip(2 * at).take(2).for_each(|place| *place = 0.0);
    }

    /// Updates `scaled` for the factor `scale`.
    fn scale_to(&mut self, scale: f64) {
        if self.scaled.len() != self.rows.len() || self.scale.to_bits() != scale.to_bits() {
            self.scaled.clear();
            self.scaled.extend(self.rows.iter().map(|value| scale * value));
            self.scale = scale;
        }
    }

    /// The announced rows multiplied by `scale`, and the portions of the members.
    pub(super) fn parts(&mut self, features: usize, scale: f64) -> (Announced<'_>, &mut [[f64; 2]]) {
        self.scale_to(scale);
        let announced = Announced { rows: &self.scaled, features, next: self.next as usize };
        (announced, self.portions.as_chunks_mut::<2>().0)
    }

    /// Passes the next portion, multiplied by `scale`, to every member that has learnt its current one, in
    /// parallel on `workers`.
    pub(super) fn hand_on(
        &mut self,
        members: &mut [Option<Box<dyn Member>>],
        features: usize,
        scale: f64,
        workers: &Workers,
    ) {
        if self.next as usize * features >= self.rows.len() {
            return;
        }
        let (announced, portions) = self.parts(features, scale);
        let places = members.iter_mut().zip(portions);
        let done = places.filter_map(|(member, portion)| {
            let member = member.as_mut().filter(|_| announced.is_due(0, portion))?;
            Some((member, portion))
        });
        workers.each(done, |(member, portion)| announced.hand_on(0, &mut **member, portion));
    }

    /// The state, so that an interrupted run can continue.
    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::list("announced", &mut self.rows),
            Tensor::count("announced_next", &mut self.next),
            Tensor::list("announced_portions", &mut self.portions),
        ]
    }

    /// Whether a loaded state is valid for rows of `features` numbers and for `members` members.
    pub(super) fn is_consistent(&self, features: usize, members: usize) -> bool {
        let (portions, odd) = self.portions.as_chunks::<2>();
        let end = (self.rows.len() / features) as f64;
        self.rows.len().is_multiple_of(features)
            && odd.is_empty()
            && portions.len() <= members
            && portions.iter().all(|[start, behind]| (0.0..=*behind).contains(start) && *behind <= end)
    }
}
