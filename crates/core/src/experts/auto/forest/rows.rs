//! The rows that the trees of a forest try their splits on: the latest ones, kept once for all trees.

use crate::example::Features;

/// Numbers that rows may take: 32 MiB.
const NUMBERS: usize = 1 << 22;

/// More rows than this are not kept, however short they are.
const MOST: usize = 1 << 15;

/// With fewer rows than this nothing could be told from them.
pub(super) const FEWEST: usize = 1 << 10;

/// A ring of the latest rows with their classes. A row is called by its number among all rows, modulo 2^32.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) features: usize,
    capacity: usize,
    /// Dense, one after the other.
    values: Vec<f64>,
    classes: Vec<u32>,
    /// Rows so far.
    pub(super) seen: u64,
}

impl Rows {
    /// Rows of so many features that are kept.
    pub(super) fn capacity(features: usize) -> usize {
        (NUMBERS / features.max(1)).clamp(FEWEST, MOST)
    }

    pub(super) fn new(features: usize) -> Self {
        Self { features, capacity: Self::capacity(features), ..Self::default() }
    }

    /// Keeps `x` of class `y`, in the place of the oldest if there is no other; its number.
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
        // The capacity need not divide 2^32: beyond so many rows some numbers are taken for others, which are
        // rows like any.
        number as usize % self.capacity
    }

    /// Whether the row `number` is still there.
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

    /// All of it as numbers.
    pub(super) fn list(&self, out: &mut Vec<f64>) {
        out.extend([self.seen as f64, self.classes.len() as f64]);
        out.extend(self.classes.iter().map(|class| f64::from(*class)));
        out.extend(&self.values);
    }

    /// Takes in what [`Rows::list`] gave; `None` if it cannot have.
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

/// A whole number below `limit`.
pub(super) fn whole(number: f64, limit: usize) -> Option<usize> {
    (number >= 0.0 && number < limit as f64 && number.fract() == 0.0).then_some(number as usize)
}
