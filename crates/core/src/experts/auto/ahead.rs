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

    /// Records that the expected row has been learnt.
    pub(super) fn advance(&mut self) {
        self.next += u64::from(!self.rows.is_empty());
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

    /// Passes the next portion, multiplied by `scale`, to every member that has learnt its current one, in
    /// parallel on `workers`.
    pub(super) fn hand_on(
        &mut self,
        members: &mut [Option<Box<dyn Member>>],
        features: usize,
        scale: f64,
        workers: &Workers,
    ) {
        let next = self.next as usize;
        if next * features >= self.rows.len() {
            return;
        }
        self.scale_to(scale);
        let rest = &self.scaled[next * features..];
        let places = members.iter_mut().zip(self.portions.as_chunks_mut::<2>().0);
        let done = places.filter_map(|(member, portion)| {
            let member = member.as_mut().filter(|_| portion[1] <= next as f64)?;
            let rows = &rest[..rest.len().min(member.lookahead() * features)];
            *portion = [next, next + rows.len() / features].map(|place| place as f64);
            (!rows.is_empty()).then_some((member, rows))
        });
        workers.each(done, |(member, rows)| member.prepare(&Portion { features, rows }));
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
