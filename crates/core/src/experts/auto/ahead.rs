//! Rows that were announced, handed on to members in portions that each can make use of.

use crate::example::{Batch, Features};
use crate::parallel::Workers;
use crate::state::Tensor;

use super::member::Member;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// One after the other, dense.
    rows: Vec<f64>,
    /// The row to expect next.
    next: u64,
    /// For every member, the first row of its portion and the one behind it: whole numbers, as reals to be
    /// saved as a list.
    portions: Vec<f64>,
    /// The rows in multiples of the unit, if it is the one that is expected.
    scaled: Vec<f64>,
    /// What rows were multiplied by.
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
    /// Takes in `coming`, of `features` each, for `members`: [`Ahead::hand_on`] shows them.
    pub(super) fn start(&mut self, coming: &dyn Batch, features: usize, members: usize) {
        self.rows.clear();
        self.rows.resize(coming.len() * features, 0.0);
        for (at, row) in self.rows.chunks_exact_mut(features).enumerate() {
            coming.features(at).add_to(1.0, row);
        }
        self.scaled.clear();
        self.next = 0;
        self.portions.clear();
        self.portions.resize(2 * members, 0.0);
    }

    /// Takes in the rows from place `at` on, for which others stood in, and shows them to members that were
    /// shown those.
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
            coming.features(at).add_to(1.0, row);
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

    /// Forgets what was announced.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.portions.clear();
        self.next = 0;
    }

    /// The row that was expected has been learnt.
    pub(super) fn advance(&mut self) {
        self.next += u64::from(!self.rows.is_empty());
    }

    /// Nothing is prepared any more.
    pub(super) fn begin_anew(&mut self) {
        self.portions.fill(0.0);
    }

    /// Writes the rows times `scale`.
    fn scale_to(&mut self, scale: f64) {
        if self.scaled.len() != self.rows.len() || self.scale.to_bits() != scale.to_bits() {
            self.scaled.clear();
            self.scaled.extend(self.rows.iter().map(|value| scale * value));
            self.scale = scale;
        }
    }

    /// Shows members that have learnt their portion of rows the next one, times `scale`; `workers` share
    /// them.
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

    /// What a run that was cut goes on with.
    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::list("announced", &mut self.rows),
            Tensor::count("announced_next", &mut self.next),
            Tensor::list("announced_portions", &mut self.portions),
        ]
    }

    /// False if the state is none, for rows of so many `features` and so many `members`.
    pub(super) fn is_consistent(&self, features: usize, members: usize) -> bool {
        let (portions, odd) = self.portions.as_chunks::<2>();
        let end = (self.rows.len() / features) as f64;
        self.rows.len().is_multiple_of(features)
            && odd.is_empty()
            && portions.len() <= members
            && portions.iter().all(|[start, behind]| (0.0..=*behind).contains(start) && *behind <= end)
    }
}
