//! The announced rows. Each member is given a portion of them at a time, as many as it accepts.

use std::ops::Range;

use crate::example::{Batch, Features};
use crate::state::Tensor;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Announced {
    /// In units of the data as given, dense, one after another.
    rows: Vec<f64>,
    /// Index in `rows` of the row that is expected in the next round.
    next: u64,
    /// `rows` multiplied by `scale`; empty if not yet computed.
    scaled: Vec<f64>,
    /// The factor between `rows` and `scaled`.
    scale: f64,
    /// The portions of the members as a list, while they are saved or loaded: for each the index of its first
    /// row and the index behind its last one.
    saved: Vec<f64>,
}

/// Dense rows, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) features: usize,
    pub(super) rows: &'a [f64],
    /// Index of the row that is expected in the next round.
    pub(super) next: usize,
}

impl<'a> Rows<'a> {
    /// The rows of a batch that is not announced.
    pub(super) fn of_batch(rows: &'a [f64], features: usize) -> Self {
        Self { features, rows, next: 0 }
    }

    pub(super) fn count(self) -> usize {
        self.rows.len() / self.features
    }

    /// Some of the rows.
    pub(super) fn range(self, range: Range<usize>) -> Self {
        Self::of_batch(&self.rows[range.start * self.features..range.end * self.features], self.features)
    }
}

impl Batch for Rows<'_> {
    fn len(&self) -> usize {
        self.count()
    }

    fn features(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[at * self.features..][..self.features])
    }
}

impl Announced {
    /// Stores the rows `announced` of `features` numbers each.
    pub(super) fn start(&mut self, announced: &dyn Batch, features: usize) {
        self.rows.clear();
        self.rows.resize(announced.len() * features, 0.0);
        for (at, row) in self.rows.chunks_exact_mut(features).enumerate() {
            announced.features(at).views(features).0.add_to(1.0, row);
        }
        self.scaled.clear();
        self.next = 0;
    }

    /// Replaces the placeholder rows from index `at` on by `announced`.
    pub(super) fn replace(&mut self, at: usize, announced: &dyn Batch, features: usize) {
        let rest = self.rows.chunks_exact_mut(features).skip(at).enumerate();
        for (at, row) in rest.take(announced.len()) {
            row.fill(0.0);
            announced.features(at).views(features).0.add_to(1.0, row);
        }
        self.scaled.clear();
    }

    /// Discards all rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.next = 0;
    }

    /// Whether rows are left for the next rounds.
    pub(super) fn are_left(&self, features: usize) -> bool {
        self.next as usize * features < self.rows.len()
    }

    /// Records that the expected `rows` rows have been learnt.
    pub(super) fn advance(&mut self, rows: u64) {
        if !self.rows.is_empty() {
            self.next += rows;
        }
    }

    /// The rows multiplied by `scale`.
    pub(super) fn scaled(&mut self, features: usize, scale: f64) -> Rows<'_> {
        if self.scaled.len() != self.rows.len() || self.scale.to_bits() != scale.to_bits() {
            self.scaled.clear();
            self.scaled.extend(self.rows.iter().map(|value| scale * value));
            self.scale = scale;
        }
        Rows { features, rows: &self.scaled, next: self.next as usize }
    }

    /// The state with the portions of the members, so that an interrupted run can continue.
    pub(super) fn tensors(&mut self, portions: &[Option<Range<usize>>]) -> [Tensor<'_>; 3] {
        self.saved.clear();
        self.saved
            .extend(portions.iter().flatten().flat_map(|portion| [portion.start as f64, portion.end as f64]));
        [
            Tensor::list("announced", &mut self.rows),
            Tensor::count("announced_next", &mut self.next),
            Tensor::list("announced_portions", &mut self.saved),
        ]
    }

    /// Sets the members' `portions` to the loaded ones. Whether the loaded state is valid for rows of
    /// `features` numbers and for so many members.
    pub(super) fn restored<'a>(
        &mut self,
        features: usize,
        portions: impl ExactSizeIterator<Item = &'a mut Option<Range<usize>>>,
    ) -> bool {
        let saved = std::mem::take(&mut self.saved);
        let (loaded, odd) = saved.as_chunks::<2>();
        let end = (self.rows.len() / features) as f64;
        let valid = self.rows.len().is_multiple_of(features)
            && odd.is_empty()
            && loaded.len() <= portions.len()
            && loaded.iter().all(|[start, behind]| (0.0..=*behind).contains(start) && *behind <= end);
        let mut loaded = loaded.iter().map(|[start, behind]| *start as usize..*behind as usize);
        portions.for_each(|portion| *portion = loaded.next());
        valid
    }
}
