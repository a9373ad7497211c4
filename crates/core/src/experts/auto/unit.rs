//! The unit in which the members' rows are measured, so that no bound on the norm of rows has to be given
//! (theory: mixtures 3.2).
//!
//! The unit is the smallest power of two that is at least the largest norm among the first [`ROWS`] non-zero
//! rows. Whenever it grows within these rows, the members learn the rows so far again. Afterwards it is
//! constant; larger rows are not scaled down.

use crate::example::{Features, Target};
use crate::problem::Problem;
use crate::state::Tensor;

use super::row::Row;

/// Number of rows that determine the unit: more than one or two, since online scaling makes the first row 0
/// and the second one small.
const ROWS: usize = 8;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Unit {
    classes: usize,
    features: usize,
    /// Whether rows are recorded by their non-zero entries.
    sparse: bool,
    /// 1 until a row is measured.
    value: f64,
    measured: u64,
    /// The measured rows: features, distribution of the classes, weight. The features of a sparse row are the
    /// number of its non-zero entries, the number of its views, the indices, and the values of each view.
    /// Empty once the unit is constant.
    seen: Vec<f64>,
}

impl Unit {
    pub(super) fn new(problem: &Problem) -> Self {
        let Problem { classes, features, sparse, .. } = *problem;
        Self { classes, features, sparse, value: 1.0, measured: 0, seen: Vec::new() }
    }

    /// The factor for rows. It is 0 until a row is measured, since rows of unknown scale could overflow.
    pub(super) fn scale(&self) -> f64 {
        if self.measured == 0 { 0.0 } else { 1.0 / self.value }
    }

    /// The row `x` in all forms; `room` is for its multiples of the unit.
    pub(super) fn row<'a>(&self, x: Features<'a>, room: &'a mut Vec<f64>) -> Row<'a> {
        let both = self.scaled(x, room);
        let (first, second) = x.views(self.features);
        let plain = if let Features::Dense(_) = x { second } else { first };
        Row { both, scaled: both.views(self.features).0, plain, given: x.given(self.features) }
    }

    /// `x` in multiples of the unit, written to `room`. The other views of a sparse row are kept as they are;
    /// that of a dense row is left out.
    fn scaled<'a>(&self, x: Features<'a>, room: &'a mut Vec<f64>) -> Features<'a> {
        let scale = self.scale();
        let first = x.views(self.features).0;
        if scale == 1.0 {
            return if let Features::Dense(_) = x { first } else { x };
        }
        room.clear();
        room.extend(first.values().iter().map(|value| scale * value));
        match x {
            Features::Dense(_) => Features::Dense(room),
            Features::Sparse { indices, values } => {
                room.extend_from_slice(&values[indices.len()..]);
                Features::Sparse { indices, values: room }
            }
        }
    }

    /// The length of the features of the recorded row that begins at `start`; `None` if it is not valid.
    fn features_len(&self, start: usize) -> Option<usize> {
        if !self.sparse {
            return Some(self.features);
        }
        let (entries, views) = (*self.seen.get(start)?, *self.seen.get(start + 1)?);
        let is_valid = |number: f64, most: f64| number >= 0.0 && number <= most && number.fract() == 0.0;
        (is_valid(entries, self.features as f64) && is_valid(views, 2.0) && views > 0.0)
            .then(|| 2 + entries as usize * (1 + views as usize))
    }

    /// The recorded rows: the features, and the distribution of the classes with the weight. Ends where a row
    /// is not valid.
    fn recorded(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let middle = start + self.features_len(start)?;
            let end = middle + self.classes + 1;
            let row = (self.seen.get(start..middle)?, self.seen.get(middle..end)?);
            start = end;
            Some(row)
        })
    }

    /// Whether the unit no longer changes.
    pub(super) fn is_constant(&self) -> bool {
        self.measured >= ROWS as u64
    }

    /// Records a row and its target. Returns whether the unit has grown: then the members have to learn the
    /// recorded rows again.
    pub(super) fn measure(&mut self, whole: Features<'_>, y: Target<'_>) -> bool {
        let (x, second) = whole.views(self.features);
        let norm = x.norm_squared().sqrt();
        if self.is_constant() || norm == 0.0 {
            return false;
        }
        self.measured += 1;
        if self.sparse {
            let both = || x.iter().zip(second.values()).filter(|((_, value), _)| *value != 0.0);
            let two = whole.values().len() > x.values().len();
            self.seen.extend([both().count() as f64, if two { 2.0 } else { 1.0 }]);
            self.seen.extend(both().map(|((index, _), _)| index as f64));
            self.seen.extend(both().map(|((_, value), _)| value));
            self.seen.extend(both().filter(|_| two).map(|(_, second)| second));
        } else {
            let start = self.seen.len();
            self.seen.resize(start + self.features, 0.0);
            x.add_to(1.0, &mut self.seen[start..]);
        }
        let start = self.seen.len();
        self.seen.resize(start + self.classes, 0.0);
        y.truth.add_to(1.0, &mut self.seen[start..]);
        self.seen.push(y.weight);
        let first = self.measured == 1;
        let grown = first || norm > self.value;
        if grown {
            // The factor allows for rounding, so that rows of norm 1 always have the unit 1.
            self.value = (norm * (1.0 - 1e-9)).log2().ceil().exp2();
        }
        grown
    }

    /// Calls `learn` with the recorded rows, in multiples of the unit only, and their targets.
    pub(super) fn replay(&self, mut learn: impl FnMut(Row<'_>, Target<'_>)) {
        let scale = self.scale();
        let (mut positions, mut scaled) = (Vec::new(), Vec::new());
        for (row, truth) in self.recorded() {
            let (indices, values) =
                if self.sparse { row[2..].split_at(row[0] as usize) } else { row.split_at(0) };
            positions.clear();
            positions.extend(indices.iter().map(|&index| index as u32));
            let (first, second) = values.split_at(if self.sparse { indices.len() } else { values.len() });
            scaled.clear();
            scaled.extend(first.iter().map(|x| scale * x));
            scaled.extend_from_slice(second);
            let x = if self.sparse {
                Features::Sparse { indices: &positions, values: &scaled }
            } else {
                Features::Dense(&scaled)
            };
            let (shares, weight) = truth.split_at(self.classes);
            let scaled = x.views(self.features).0;
            learn(
                Row { both: x, scaled, plain: scaled, given: scaled },
                Target::distribution(shares).weighted(weight[0]),
            );
        }
    }

    /// Deletes the recorded rows once the unit is constant.
    pub(super) fn settle(&mut self) {
        if self.is_constant() {
            self.seen.clear();
        }
    }

    /// Increases the numbers of classes and features.
    pub(super) fn grow(&mut self, classes: usize, features: usize) {
        let mut seen = Vec::new();
        for (row, truth) in self.recorded() {
            seen.extend(row);
            let added = if self.sparse { 0 } else { features - self.features };
            seen.resize(seen.len() + added, 0.0);
            let (shares, weight) = truth.split_at(self.classes);
            seen.extend(shares);
            seen.resize(seen.len() + classes - self.classes, 0.0);
            seen.extend(weight);
        }
        *self = Self { classes, features, seen, ..*self };
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::number("unit", &mut self.value),
            Tensor::count("measured", &mut self.measured),
            Tensor::list("seen", &mut self.seen),
        ]
    }

    /// Whether a loaded state is valid.
    pub(super) fn is_consistent(&self) -> bool {
        let is_index = |index: &f64| *index >= 0.0 && *index < self.features as f64 && index.fract() == 0.0;
        let are_indices = |row: &[f64]| row.iter().all(is_index) && row.is_sorted_by(|one, next| one < next);
        let length: usize = self.recorded().map(|(row, truth)| row.len() + truth.len()).sum();
        self.value > 0.0
            && self.value.is_finite()
            && length == self.seen.len()
            && self.recorded().all(|(row, _)| !self.sparse || are_indices(&row[2..2 + row[0] as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Truth;

    #[test]
    fn it_is_the_power_of_two_above_the_first_norms() {
        let mut unit = Unit::new(&Problem::new(2, 2));
        let mut grown = |x: &[f64]| unit.measure(Features::Dense(x), Target::class(1));
        assert!(!grown(&[0.0, 0.0]), "nothing to be measured");
        assert!(grown(&[0.3, 0.4]), "½");
        assert!(!grown(&[0.1, 0.1]));
        assert!(grown(&[3.0, 4.0]), "8");
        (0..5).for_each(|_| assert!(!grown(&[6.0, 0.0])));
        assert!(!grown(&[60.0, 0.0]), "too late");
        let mut room = Vec::new();
        assert_eq!(unit.scaled(Features::Dense(&[4.0, 2.0]), &mut room), Features::Dense(&[0.5, 0.25]));
        let mut rows = Vec::new();
        unit.grow(3, 3);
        unit.replay(|row, y| {
            let Truth::Distribution(y) = y.truth else { panic!("kept as shares") };
            assert_eq!(y, [0.0, 1.0, 0.0]);
            rows.push(row.both.values().to_vec());
        });
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[2], [0.375, 0.5, 0.0]);
        unit.settle();
        assert!(unit.seen.is_empty() && unit.is_consistent());
    }

    #[test]
    fn sparse_rows_are_recorded_by_their_entries() {
        let features = 1 << 40;
        let mut unit = Unit::new(&Problem::new(2, features).with_sparse(true));
        let x = Features::Sparse { indices: &[3, 5, 9], values: &[3.0, 0.0, 4.0] };
        assert!(unit.measure(x, Target::class(1).weighted(2.0)));
        assert!(
            !unit.measure(Features::Sparse { indices: &[], values: &[] }, Target::class(0)),
            "the norm is 0"
        );
        assert!(!unit.measure(Features::Sparse { indices: &[7], values: &[1.0] }, Target::class(0)));
        unit.grow(3, features + 1);
        let mut rows = Vec::new();
        unit.replay(|row, y| {
            let Truth::Distribution(shares) = y.truth else { panic!("kept as shares") };
            rows.push((row.both.iter().collect::<Vec<_>>(), shares.to_vec(), y.weight));
        });
        assert!(unit.is_consistent());
        let first = (vec![(3, 0.375), (9, 0.5)], vec![0.0, 1.0, 0.0], 2.0);
        assert_eq!(rows, [first, (vec![(7, 0.125)], vec![1.0, 0.0, 0.0], 1.0)]);
        assert!(unit.is_consistent());
        // States that no run leaves: a number of entries, or an index, out of range.
        for (at, number) in [(0, 4.0), (0, f64::NAN), (1, 3.0), (1, 0.0), (2, -1.0), (2, 0.5), (2, 9.0)] {
            let mut damaged = unit.clone();
            damaged.seen[at] = number;
            assert!(!damaged.is_consistent(), "{number}");
        }
    }

    /// Two views of a sparse row are recorded, and only the first is in multiples of the unit.
    #[test]
    fn both_views_are_recorded() {
        let mut unit = Unit::new(&Problem::new(2, 9).with_sparse(true));
        let both = Features::Sparse { indices: &[3, 5, 8], values: &[3.0, 0.0, 4.0, 0.6, 0.0, 0.8] };
        assert!(unit.measure(both, Target::class(1)));
        let mut room = Vec::new();
        let values = unit.scaled(both, &mut room).values();
        assert_eq!(values, [0.375, 0.0, 0.5, 0.6, 0.0, 0.8], "the unit is 8");
        unit.grow(3, 10);
        assert!(unit.is_consistent());
        let mut rows = Vec::new();
        unit.replay(|row, _| {
            let (first, second) = row.both.views(10);
            rows.push((first.iter().collect::<Vec<_>>(), second.iter().collect::<Vec<_>>()));
        });
        assert_eq!(rows, [(vec![(3, 0.375), (8, 0.5)], vec![(3, 0.6), (8, 0.8)])]);
    }
}
