//! The latest rows, stored once for all trees of a forest: splits are evaluated on them.

use crate::example::Features;

/// Limit on the stored numbers: 32 MiB.
const NUMBERS: usize = 1 << 22;

/// Limit on the stored rows, for short rows.
const MOST_ROWS: usize = 1 << 15;

/// The least number of stored rows, for long rows.
pub(super) const LEAST_ROWS: usize = 1 << 10;

/// A ring buffer of the latest rows with their classes. A row is identified by its index among all rows,
/// modulo 2^32.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) features: usize,
    capacity: usize,
    /// Dense rows, one after another.
    values: Vec<f64>,
    classes: Vec<u32>,
    /// Number of rows so far.
    pub(super) seen: u64,
}

impl Rows {
    /// The number of rows of `features` numbers that are stored.
    pub(super) fn capacity(features: usize) -> usize {
        (NUMBERS / features.max(1)).clamp(LEAST_ROWS, MOST_ROWS)
    }

    pub(super) fn new(features: usize) -> Self {
        Self { features, capacity: Self::capacity(features), ..Self::default() }
    }

    /// Stores `x` with class `y`, overwriting the oldest row if the buffer is full. Returns the row's number.
    pub(super) fn keep(&mut self, x: Features<'_>, y: usize) -> u32 {
        let (number, d) = (self.seen as u32, self.features);
        let place = self.place(number);
        if place >= self.classes.len() {
            self.classes.push(0);
            self.values.resize(self.values.len() + d, 0.0);
        }
        self.classes[place] = y as u32;
        let row = &mut self.values[place * d..][..d];
        row.fill(0.0);
        x.add_to(1.0, row);
        self.seen += 1;
        number
    }

    fn place(&self, number: u32) -> usize {
        // The capacity need not divide 2^32: after 2^32 rows some numbers refer to other stored rows, which
        // is harmless.
        number as usize % self.capacity
    }

    /// Whether the row `number` is still stored.
    pub(super) fn has(&self, number: u32) -> bool {
        let age = (self.seen as u32).wrapping_sub(number) as usize;
        (1..=self.capacity).contains(&age) && self.place(number) < self.classes.len()
    }

    pub(super) fn class(&self, number: u32) -> usize {
        self.classes[self.place(number)] as usize
    }

    pub(super) fn value(&self, number: u32, feature: usize) -> f64 {
        self.values[self.place(number) * self.features + feature]
    }

    /// Appends the state to `out`, as a list of numbers.
    pub(super) fn list(&self, out: &mut Vec<f64>) {
        out.extend([self.seen as f64, self.classes.len() as f64]);
        out.extend(self.classes.iter().map(|class| f64::from(*class)));
        out.extend(&self.values);
    }

    /// Restores the state from a list of [`Rows::list`]; `None` if the list is invalid.
    pub(super) fn set_list(&mut self, list: &mut &[f64], classes: usize) -> Option<()> {
        let seen = whole(*list.split_off_first()?, 1 << 53)?;
        let kept = whole(*list.split_off_first()?, self.capacity + 1)?;
        if kept != seen.min(self.capacity) {
            return None;
        }
        let given = list.split_off(..kept)?.iter();
        self.classes =
            given.map(|class| whole(*class, classes).map(|class| class as u32)).collect::<Option<_>>()?;
        self.values = list.split_off(..kept * self.features)?.to_vec();
        self.seen = seen as u64;
        Some(())
    }
}

/// `number` as an integer, if it is one and below `limit`.
pub(in crate::experts::auto) fn whole(number: f64, limit: usize) -> Option<usize> {
    (number >= 0.0 && number < limit as f64 && number.fract() == 0.0).then_some(number as usize)
}
