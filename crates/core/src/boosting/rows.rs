//! The latest rows, stored once for all trees of a learner: splits are evaluated on them.

use crate::example::Features;
use crate::state::Tensor;

/// A ring buffer of the latest rows with their classes, in single precision. A row is identified by its index
/// among all rows, modulo 2^32.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Numbers of a row.
    pub(crate) features: usize,
    /// Limit on the number of stored rows; if it is 0, no row is stored.
    capacity: usize,
    /// Dense rows, one after another.
    values: Vec<f32>,
    classes: Vec<u32>,
    /// Number of rows so far.
    pub(crate) seen: u64,
}

impl Rows {
    /// A store of at most `capacity` rows of `features` numbers.
    pub(crate) fn new(features: usize, capacity: usize) -> Self {
        Self { features, capacity: capacity.min(1 << 31), ..Self::default() }
    }

    /// Stores `x` with class `y`, overwriting the oldest row if the buffer is full. Returns the row's number.
    ///
    /// Numbers beyond single precision are stored as its largest ones, so that thresholds are finite.
    pub(crate) fn keep(&mut self, x: Features<'_>, y: usize) -> u32 {
        let (number, d) = (self.seen as u32, self.features);
        self.seen += 1;
        if self.capacity == 0 {
            return number;
        }
        let place = self.place(number);
        if place >= self.classes.len() {
            self.classes.push(0);
            self.values.resize(self.values.len() + d, 0.0);
        }
        self.classes[place] = y as u32;
        let row = &mut self.values[place * d..][..d];
        row.fill(0.0);
        for (feature, value) in x.iter() {
            row[feature] = (value as f32).clamp(f32::MIN, f32::MAX);
        }
        number
    }

    fn place(&self, number: u32) -> usize {
        // The capacity need not divide 2^32: after 2^32 rows some numbers refer to other stored rows, which
        // is harmless.
        number as usize % self.capacity
    }

    /// Number of rows that came since the row `number`, itself included.
    pub(crate) fn age(&self, number: u32) -> u32 {
        (self.seen as u32).wrapping_sub(number)
    }

    /// Whether the row `number` is still stored.
    pub(crate) fn has(&self, number: u32) -> bool {
        // Before the buffer is full, the next row has the age 0, and the ages of later ones wrap around.
        (1..=self.classes.len()).contains(&(self.age(number) as usize))
    }

    /// The class of a stored row.
    pub(crate) fn class(&self, number: u32) -> usize {
        self.classes[self.place(number)] as usize
    }

    /// A stored row.
    pub(crate) fn row(&self, number: u32) -> &[f32] {
        self.starting(self.start(number))
    }

    /// The index of the first number of a stored row.
    pub(crate) fn start(&self, number: u32) -> usize {
        self.place(number) * self.features
    }

    /// The row that starts at `start`.
    pub(crate) fn starting(&self, start: usize) -> &[f32] {
        &self.values[start..][..self.features]
    }

    /// The state.
    pub(crate) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        [
            Tensor::count("rows/seen", &mut self.seen),
            Tensor::words("rows/classes", &mut self.classes),
            Tensor::singles("rows/values", &mut self.values),
        ]
    }

    /// Whether a restored state is possible for rows of `classes` classes.
    pub(crate) fn is_consistent(&self, classes: usize) -> bool {
        let kept = self.classes.len();
        kept as u64 == self.seen.min(self.capacity as u64)
            && self.values.len() == kept * self.features
            && self.classes.iter().all(|class| (*class as usize) < classes)
            && self.values.iter().all(|value| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_row_is_overwritten() {
        let mut rows = Rows::new(2, 3);
        for t in 0..5 {
            let number = rows.keep(Features::Sparse { indices: &[1], values: &[f64::from(t)] }, t as usize);
            assert_eq!((number, rows.age(number)), (t as u32, 1));
        }
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|number| rows.has(number)),
            [false, false, true, true, true, false]
        );
        let rest = [2, 3, 4].map(|number| (rows.class(number), rows.row(number)[0], rows.row(number)[1]));
        assert_eq!(rest, [(2, 0.0, 2.0), (3, 0.0, 3.0), (4, 0.0, 4.0)]);
        assert!(rows.is_consistent(5) && !rows.is_consistent(4));
    }

    #[test]
    fn no_room_for_a_row_stores_nothing() {
        let mut rows = Rows::new(2, 0);
        let number = rows.keep(Features::Dense(&[1.0, 2.0]), 1);
        assert!(!rows.has(number) && rows.is_consistent(2));
    }
}
