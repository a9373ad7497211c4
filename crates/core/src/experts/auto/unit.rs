//! The unit in which the members' rows are measured, so that no bound on the norm of rows has to be given
//! (theory: mixtures 3.2).
//!
//! The unit is the smallest power of two that is at least the largest norm among the first [`ROWS`] non-zero
//! rows. Whenever it grows within these rows, the members learn the rows so far again. Afterwards it is
//! constant; larger rows are not scaled down.

use crate::example::{Features, Target, Truth};
use crate::state::Tensor;

/// Number of rows that determine the unit: more than one or two, since online scaling makes the first row 0
/// and the second one small.
const ROWS: usize = 8;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Unit {
    classes: usize,
    features: usize,
    /// 1 until a row is measured.
    value: f64,
    measured: u64,
    /// The measured rows: features, distribution of the classes, weight. Empty once the unit is constant.
    seen: Vec<f64>,
}

impl Unit {
    pub(super) fn new(classes: usize, features: usize) -> Self {
        let seen = Vec::with_capacity(ROWS * (features + classes + 1));
        Self { classes, features, value: 1.0, measured: 0, seen }
    }

    /// The factor for rows. It is 0 until a row is measured, since rows of unknown scale could overflow.
    pub(super) fn scale(&self) -> f64 {
        if self.measured == 0 { 0.0 } else { 1.0 / self.value }
    }

    /// `x` in multiples of the unit, written to `room`.
    pub(super) fn scaled<'a>(&self, x: Features<'a>, room: &'a mut Vec<f64>) -> Features<'a> {
        let scale = self.scale();
        if scale == 1.0 {
            return x;
        }
        room.clear();
        room.extend(x.values().iter().map(|value| scale * value));
        match x {
            Features::Dense(_) => Features::Dense(room),
            Features::Sparse { indices, .. } => Features::Sparse { indices, values: room },
        }
    }

    fn row_len(&self) -> usize {
        self.features + self.classes + 1
    }

    /// Records a row and its target. Returns whether the unit has grown: then the members have to learn the
    /// recorded rows again.
    pub(super) fn measure(&mut self, x: Features<'_>, y: Target<'_>) -> bool {
        let norm = x.norm_squared().sqrt();
        if self.measured >= ROWS as u64 || norm == 0.0 {
            return false;
        }
        self.measured += 1;
        let start = self.seen.len();
        self.seen.resize(start + self.row_len(), 0.0);
        let (row, truth) = self.seen[start..].split_at_mut(self.features);
        x.add_to(1.0, row);
        y.truth.add_to(1.0, &mut truth[..self.classes]);
        truth[self.classes] = y.weight;
        let first = self.measured == 1;
        let grown = first || norm > self.value;
        if grown {
            // The factor allows for rounding, so that rows of norm 1 always have the unit 1.
            self.value = (norm * (1.0 - 1e-9)).log2().ceil().exp2();
        }
        grown
    }

    /// Calls `learn` with the recorded rows, in multiples of the unit, and their targets.
    pub(super) fn replay(&mut self, mut learn: impl FnMut(Features<'_>, Target<'_>)) {
        let scale = self.scale();
        let mut scaled = vec![0.0; self.features];
        for row in self.seen.chunks_exact(self.row_len()) {
            let (x, truth) = row.split_at(self.features);
            scaled.iter_mut().zip(x).for_each(|(scaled, x)| *scaled = scale * x);
            let (shares, weight) = truth.split_at(self.classes);
            let y = Target { truth: Truth::Distribution(shares), weight: weight[0] };
            learn(Features::Dense(&scaled), y);
        }
    }

    /// Deletes the recorded rows once the unit is constant.
    pub(super) fn settle(&mut self) {
        if self.measured >= ROWS as u64 {
            self.seen.clear();
        }
    }

    /// Increases the numbers of classes and features.
    pub(super) fn grow(&mut self, classes: usize, features: usize) {
        let mut grown = Self { classes, features, seen: Vec::new(), ..*self };
        for row in self.seen.chunks_exact(self.row_len()) {
            let (x, truth) = row.split_at(self.features);
            let start = grown.seen.len();
            grown.seen.resize(start + grown.row_len(), 0.0);
            let out = &mut grown.seen[start..];
            out[..x.len()].copy_from_slice(x);
            out[features..][..self.classes].copy_from_slice(&truth[..self.classes]);
            out[features + classes] = truth[self.classes];
        }
        *self = grown;
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
        self.value > 0.0 && self.value.is_finite() && self.seen.len().is_multiple_of(self.row_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_power_of_two_above_the_first_norms() {
        let mut unit = Unit::new(2, 2);
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
        unit.replay(|x, y| {
            let Truth::Distribution(y) = y.truth else { panic!("kept as shares") };
            assert_eq!(y, [0.0, 1.0, 0.0]);
            rows.push(x.values().to_vec());
        });
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[2], [0.375, 0.5, 0.0]);
        unit.settle();
        assert!(unit.seen.is_empty() && unit.is_consistent());
    }
}
