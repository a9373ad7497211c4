//! Online scaling of features: a row is scaled by statistics of the rows up to and including it.

use noregret::batch::online_to_batch::Reservoir;
use noregret::example::Features;
use noregret::kernel::vector::{dot, max_abs};
use serde::{Deserialize, Serialize};

use crate::words::named;

pub(crate) use guard::{Guard, GuardState};
pub use holes::stand_in;
pub(crate) use inputs::Inputs;
pub(crate) use moments::Moments;

mod guard;
mod holes;
mod inputs;
mod moments;

named! {
    /// How features are scaled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Scaling {
        /// Not at all.
        None = "none",
        /// Every row is divided by its Euclidean norm.
        Unit = "unit",
        /// Every feature is divided by its largest magnitude so far. Zeros stay zeros.
        MaxAbs = "maxabs",
        /// Every feature is centred by its mean and divided by its standard deviation so far, and
        /// clipped to [-[`CLIP`], [`CLIP`]]. A feature that has only been 0 or 1 is not scaled: if it
        /// is rare, division by its standard deviation would make it dominate the row. Zeros become
        /// non-zero, so rows are dense.
        Standard = "standard",
        /// For tables: numbers as with `Standard`, missing ones as 0; categories and words unscaled. For
        /// labels on offer that have features of their own, the same for the numbers of the round and of the
        /// labels, before they are multiplied (`scale/inputs.rs`).
        ///
        /// In models of before, the columns of blocks are scaled, after products: there, hashed categories
        /// and numbers may share a column, and magnitudes of 1 and 4, those of categories and of products of
        /// two, are never scaled, and no value is until one of the column is not whole or beyond
        /// [`MOST_COUNTED`]; rows without an entry count as missing.
        Mixed = "mixed",
    }
}

/// Columns of blocks whose values have all been whole and at most this hold small counts, or several
/// categories that share the column. They are not scaled.
pub const MOST_COUNTED: f64 = 16.0;

/// Standardised values are kept within this many standard deviations: the guarantees need bounded rows.
pub const CLIP: f64 = 5.0;

impl Scaling {
    /// Whether the scaling of a row depends on the rows before it.
    pub fn adapts(self) -> bool {
        matches!(self, Scaling::MaxAbs | Scaling::Standard | Scaling::Mixed)
    }

    /// A bound on the Euclidean norm of scaled rows of `features` features, if the scaling implies
    /// one.
    pub fn radius(self, features: usize) -> Option<f64> {
        match self {
            Scaling::None | Scaling::Mixed => None,
            Scaling::Unit => Some(1.0),
            Scaling::MaxAbs => Some((features as f64).sqrt()),
            Scaling::Standard => Some(CLIP * (features as f64).sqrt()),
        }
    }
}

/// A scaling and its statistics. Grows with the columns.
#[derive(Clone, Debug)]
pub struct Scaler {
    scaling: Scaling,
    rows: u64,
    /// `MaxAbs`: largest magnitudes; `Mixed`: means of the numbers, then their counts.
    first: Vec<f64>,
    /// `Mixed`: sums of squared deviations from the mean.
    second: Vec<f64>,
    /// `Standard`.
    moments: Moments,
    /// `Standard`: for how many missing numbers of the columns 0 stands, and for how many the mean, see
    /// [`Scaler::stand_in`].
    holes: Vec<[u64; 2]>,
    /// Columns of which numbers are missing, and few are there yet.
    scarce: Vec<u32>,
    /// `Mixed`: the columns of a block, if rows consist of blocks, which share their statistics.
    block: Option<u32>,
    /// `Mixed`: the numbers of labels on offer, which are scaled before they are multiplied; blocks are not
    /// then. `None` in models of before.
    inputs: Option<Box<Inputs>>,
    /// What was seen of the columns, outside of which values are clipped; `None` in models from before.
    guard: Option<Guard>,
    kept: Option<Box<SampledScaler>>,
}

/// The scaler at a row drawn by reservoir sampling.
#[derive(Clone, Debug)]
struct SampledScaler {
    reservoir: Reservoir,
    scaler: Option<Scaler>,
}

/// The sampled scaler is not part of the scaling.
impl PartialEq for Scaler {
    fn eq(&self, other: &Self) -> bool {
        self.scaling == other.scaling
            && self.state() == other.state()
            && self.holes == other.holes
            && self.inputs == other.inputs
    }
}

impl Scaler {
    /// A scaler without data.
    pub fn new(scaling: Scaling) -> Self {
        Self {
            scaling,
            rows: 0,
            first: Vec::new(),
            second: Vec::new(),
            moments: Moments::default(),
            holes: Vec::new(),
            scarce: Vec::new(),
            block: None,
            inputs: None,
            guard: None,
            kept: None,
        }
    }

    /// A scaler without data. For [`Scaling::Mixed`], the first `numbers` columns are numbers, and as many
    /// behind them indicate missing numbers by 1; or rows consist of blocks of so many columns for labels on
    /// offer, whose numbers are scaled before they are multiplied.
    pub fn of_columns(scaling: Scaling, numbers: Option<u32>, block: Option<u32>) -> Self {
        match (scaling, block) {
            (Scaling::Mixed, Some(_)) => Self { block, ..Self::new(scaling) }.with_inputs(Inputs::default()),
            _ => Self::of_table(scaling, numbers.unwrap_or(0) as usize),
        }
    }

    /// The same as in models of before, where the columns of blocks are scaled.
    pub(crate) fn of_columns_before(scaling: Scaling, numbers: Option<u32>, block: Option<u32>) -> Self {
        match (scaling, block) {
            (Scaling::Mixed, Some(width)) => Self { block, ..Self::of_table(scaling, width as usize) },
            _ => Self::of_columns(scaling, numbers, block),
        }
    }

    /// A scaler of a table with so many `numbers`.
    fn of_table(scaling: Scaling, numbers: usize) -> Self {
        match scaling {
            Scaling::Mixed => {
                Self { first: vec![0.0; 2 * numbers], second: vec![0.0; numbers], ..Self::new(scaling) }
            }
            _ => Self::new(scaling),
        }
    }

    /// The same; values far outside of what was seen of their columns are clipped, see [`Scaler::admit`].
    #[must_use]
    pub fn guarded(self) -> Self {
        self.with_guard(Some(Guard::default()))
    }

    /// The same with what was seen of the columns.
    #[must_use]
    pub(crate) fn with_guard(self, guard: Option<Guard>) -> Self {
        Self { guard, ..self }
    }

    /// What was seen of the columns, if they are guarded.
    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Number of rows of which a value was clipped.
    pub fn clipped(&self) -> u64 {
        self.guard.as_ref().map_or(0, Guard::clipped)
    }

    /// Sees a row before it is observed. If values are far outside of what was seen of their columns, these
    /// become the nearest that was seen, and the values of the row are returned. Does nothing unless
    /// [`Scaler::guarded`].
    pub fn admit(&mut self, x: Features<'_>) -> Option<Vec<f64>> {
        let block = self.shared();
        let guard = self.guard.as_mut().filter(|_| self.inputs.is_none());
        guard?.admit(x, block)
    }

    /// The same for a row that is not learnt.
    pub fn clip(&self, x: Features<'_>) -> Option<Vec<f64>> {
        self.guard.as_ref().filter(|_| self.inputs.is_none())?.clip(x, self.shared())
    }

    /// The columns of a block, if rows consist of blocks that share their statistics.
    pub fn block(&self) -> Option<u32> {
        self.block
    }

    /// Columns at multiples of this distance share what is known of them.
    fn shared(&self) -> usize {
        self.block.map_or(usize::MAX, |width| width as usize)
    }

    /// The value that replaces a missing one in a standardised column: the mean, which becomes 0.
    pub(crate) fn mean(&self, column: usize) -> f64 {
        match self.scaling {
            Scaling::Standard => self.moments.mean(column, self.rows),
            _ => 0.0,
        }
    }

    /// The value in the data that becomes 0.
    pub(crate) fn centre(&self, column: usize) -> f64 {
        match self.scaling {
            Scaling::Mixed if self.block.is_none() && column < self.second.len() => self.first[column],
            _ => self.mean(column),
        }
    }

    /// The kind.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Takes over the kind and the statistics of `other`, without allocating once there is room.
    pub fn follow(&mut self, other: &Scaler) {
        (self.scaling, self.rows, self.block, self.kept) = (other.scaling, other.rows, other.block, None);
        self.first.clone_from(&other.first);
        self.second.clone_from(&other.second);
        self.moments.follow(&other.moments);
        self.holes.clone_from(&other.holes);
        self.scarce.clone_from(&other.scarce);
        match (&mut self.inputs, &other.inputs) {
            (Some(mine), Some(theirs)) => mine.follow(theirs),
            (mine, theirs) => mine.clone_from(theirs),
        }
        match (&mut self.guard, &other.guard) {
            (Some(mine), Some(theirs)) => mine.follow(theirs),
            (mine, theirs) => mine.clone_from(theirs),
        }
    }

    /// The state, for saving: rows seen, and two lists of numbers. `MaxAbs`: largest magnitudes, and none;
    /// `Standard`: means, and sums of squared deviations; `Mixed`: means of the numbers followed by their
    /// counts, and sums of squared deviations.
    pub fn state(&self) -> (u64, Vec<f64>, Vec<f64>) {
        let (first, second) = match self.scaling {
            Scaling::Standard => self.moments.lists(self.rows),
            _ => (self.first.clone(), self.second.clone()),
        };
        (self.rows, first, second)
    }

    /// The scaler that [`Scaler::state`] was taken from; `block` are the columns of a block of its rows.
    pub fn from_state(
        scaling: Scaling,
        rows: u64,
        first: Vec<f64>,
        second: Vec<f64>,
        block: Option<u32>,
    ) -> Self {
        match scaling {
            Scaling::Mixed => Self { rows, first, second, block, ..Self::new(scaling) },
            Scaling::Standard => {
                let moments = Moments::from_lists(rows, first, second);
                Self { rows, moments, ..Self::new(scaling) }
            }
            _ => Self { rows, first, second, ..Self::new(scaling) },
        }
    }

    /// Replaces the statistics by those of a [`Scaler::state`]; what was seen of the columns stays.
    pub fn set_statistics(&mut self, rows: u64, first: Vec<f64>, second: Vec<f64>) {
        let (guard, inputs) = (self.guard.take(), self.inputs.take());
        let scaler = Self::from_state(self.scaling, rows, first, second, self.block).with_guard(guard);
        *self = Self { inputs, ..scaler };
    }

    /// Stores the scaling at the labelled row that
    /// [`OnlineToBatch`](noregret::batch::online_to_batch::OnlineToBatch) draws with this `seed`,
    /// which is the latest scaling that its snapshot has learnt with.
    pub fn keep_drawn(&mut self, seed: u64) {
        self.kept = Some(Box::new(SampledScaler { reservoir: Reservoir::new(1, seed), scaler: None }));
    }

    /// The last row observed has a label.
    pub(crate) fn labelled(&mut self) {
        let Some(mut kept) = self.kept.take() else { return };
        if kept.reservoir.draw().is_some() {
            kept.scaler = Some(self.clone());
        }
        self.kept = Some(kept);
    }

    /// The stored scaling, if a row was drawn.
    pub fn take_drawn(&mut self) -> Option<Scaler> {
        self.kept.take()?.scaler
    }

    /// Adds a row with non-zero `values` in columns `indices`; all other columns are 0.
    pub fn observe(&mut self, indices: &[u32], values: &[f64]) {
        self.see_first(indices, values);
        self.rows += 1;
        let columns = indices.last().map_or(0, |last| *last as usize + 1);
        match self.scaling {
            Scaling::None | Scaling::Unit => {}
            // Rounds are, before products: `learn_round`.
            Scaling::Mixed if self.inputs.is_some() => {}
            Scaling::Mixed => {
                let numbers = self.second.len();
                let (means, counts) = self.first.split_at_mut(numbers);
                let mut add = |counts: &mut [f64], column: usize, value| {
                    counts[column] += 1.0;
                    note(value, 1.0 / counts[column], &mut means[column], &mut self.second[column]);
                };
                if let Some(width) = self.block {
                    for (column, &value) in indices.iter().zip(values) {
                        let column = (column % width) as usize;
                        if is_number(value, counts[column]) {
                            add(counts, column, value);
                        }
                    }
                } else {
                    numbers_of(numbers, indices, values)
                        .for_each(|(column, value)| add(counts, column, value));
                }
            }
            Scaling::MaxAbs => {
                if self.first.len() < columns {
                    self.first.resize(columns, 0.0);
                }
                for (&column, value) in indices.iter().zip(values) {
                    let largest = &mut self.first[column as usize];
                    *largest = largest.max(value.abs());
                }
            }
            Scaling::Standard => self.moments.note(indices, values, self.rows),
        }
    }

    /// [`Scaler::observe`] followed by [`Scaler::scale_dense`], in one pass, for a dense `row` that
    /// has `values` in columns `indices` and 0 elsewhere.
    pub fn observe_and_scale(&mut self, indices: &[u32], values: &[f64], row: &mut [f64]) {
        if self.scaling != Scaling::Standard || self.moments.columns() > row.len() {
            self.observe(indices, values);
            return self.scale_dense(row);
        }
        self.see_first(indices, values);
        let (rows, moments) = self.next(indices);
        moments.note_and_scale(indices, values, row, rows);
    }

    /// Counts a row to be standardised; returns the number of rows, and the statistics with room for its
    /// columns.
    pub(crate) fn next(&mut self, indices: &[u32]) -> (u64, &mut Moments) {
        self.rows += 1;
        self.moments.grow(indices.last().map_or(0, |last| *last as usize + 1));
        (self.rows, &mut self.moments)
    }

    /// Adds the statistics of `other`, of the same kind.
    pub fn add(&mut self, other: &Scaler) {
        let columns = self.first.len().max(other.first.len());
        let theirs = |list: &[f64], column: usize| list.get(column).copied().unwrap_or(0.0);
        self.first.resize(columns, 0.0);
        match self.scaling {
            Scaling::None | Scaling::Unit => {}
            Scaling::Mixed => {
                let numbers = self.second.len().max(other.second.len());
                self.second.resize(numbers, 0.0);
                let (means, counts) = self.first.split_at_mut(numbers);
                for (column, squares) in self.second.iter_mut().enumerate() {
                    let (mine, count) = (counts[column], theirs(&other.first, numbers + column));
                    let deviation = theirs(&other.first, column) - means[column];
                    let share = count / (mine + count).max(1.0);
                    *squares += theirs(&other.second, column) + deviation * deviation * share * mine;
                    means[column] += deviation * share;
                    counts[column] += count;
                }
            }
            Scaling::MaxAbs => {
                for (column, largest) in self.first.iter_mut().enumerate() {
                    *largest = largest.max(theirs(&other.first, column));
                }
            }
            Scaling::Standard => self.moments.add(self.rows, &other.moments, other.rows),
        }
        self.rows = self.rows.saturating_add(other.rows);
        self.add_holes(&other.holes);
        self.settle();
        if self.inputs.is_some() {
            return self.add_inputs(other);
        }
        match (&mut self.guard, &other.guard) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            // What an unguarded part has seen is not known.
            (mine, _) => *mine = None,
        }
    }

    /// Scales a row with non-zero `values` in columns `indices` by `Mixed`: calls `out` with
    /// increasing columns and values.
    pub(crate) fn mix(&self, indices: &[u32], values: &[f64], mut out: impl FnMut(u32, f64)) {
        let numbers = self.second.len();
        if self.inputs.is_some() {
            return indices.iter().zip(values).for_each(|(column, value)| out(*column, *value));
        }
        if let Some(width) = self.block {
            let scaled = |column, value| self.in_block((column % width) as usize, value);
            let scaled = indices.iter().zip(values).map(|(&column, &value)| (column, scaled(column, value)));
            return scaled.filter(|(_, value)| *value != 0.0).for_each(|(column, value)| out(column, value));
        }
        for (column, value) in numbers_of(numbers, indices, values) {
            let scaled = self.mixed(column, value);
            if scaled != 0.0 {
                out(column as u32, scaled);
            }
        }
        let start = indices.partition_point(|column| (*column as usize) < numbers);
        for (&column, value) in indices[start..].iter().zip(&values[start..]) {
            out(column, *value);
        }
    }

    /// A value in this column of a block.
    fn in_block(&self, column: usize, value: f64) -> f64 {
        let numbers = self.first[self.second.len() + column];
        if is_number(value, numbers) { self.mixed(column, value) } else { value }
    }

    /// A number of a table, standardised by the present numbers.
    fn mixed(&self, column: usize, value: f64) -> f64 {
        match self.first[self.second.len() + column] {
            0.0 => 0.0,
            count => standardised(value, 1.0 / count, self.first[column], self.second[column]),
        }
    }

    /// Scales the non-zero `values` in columns `indices` in place. For all kinds but `Standard` and `Mixed`.
    pub fn scale_sparse(&self, indices: &[u32], values: &mut [f64]) {
        match self.scaling {
            Scaling::None => {}
            Scaling::Unit => to_unit(values),
            Scaling::MaxAbs => {
                for (&column, value) in indices.iter().zip(values) {
                    *value = self.by_largest(column as usize, *value);
                }
            }
            Scaling::Standard | Scaling::Mixed => {
                unreachable!("zeros of standardised columns do not stay zeros")
            }
        }
    }

    /// Scales all `values` of a row in place.
    pub fn scale_dense(&self, values: &mut [f64]) {
        match self.scaling {
            Scaling::None => {}
            Scaling::Unit => to_unit(values),
            Scaling::MaxAbs => {
                for (column, value) in values.iter_mut().enumerate() {
                    *value = self.by_largest(column, *value);
                }
            }
            Scaling::Mixed if self.inputs.is_some() => {}
            Scaling::Mixed if self.block.is_some() => {
                let block = self.second.len().max(1);
                for (column, value) in values.iter_mut().enumerate().filter(|(_, value)| **value != 0.0) {
                    *value = self.in_block(column % block, *value);
                }
            }
            Scaling::Mixed => {
                for column in 0..self.second.len() {
                    let missing = values[self.second.len() + column] != 0.0;
                    values[column] = if missing { 0.0 } else { self.mixed(column, values[column]) };
                }
            }
            Scaling::Standard => self.moments.scale(values, self.rows),
        }
    }

    /// A column without data has no scale; its value is ignored.
    fn by_largest(&self, column: usize, value: f64) -> f64 {
        match self.first.get(column) {
            Some(largest) if *largest > 0.0 => value / largest,
            _ => 0.0,
        }
    }
}

/// Whether a value in a column of a block that has had so many `numbers` is one, too.
fn is_number(value: f64, numbers: f64) -> bool {
    let size = value.abs();
    let is_counted = size <= MOST_COUNTED && value == value.trunc();
    size != 1.0 && size != 4.0 && !(is_counted && numbers == 0.0)
}

/// The present numbers of a table's row: columns below `numbers` with their values, including
/// zeros.
fn numbers_of<'a>(
    numbers: usize,
    indices: &'a [u32],
    values: &'a [f64],
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let place = |bound: usize| indices.partition_point(|column| (*column as usize) < bound);
    let (first, second) = (place(numbers), place(2 * numbers));
    let mut seen = indices[..first].iter().zip(values).peekable();
    let mut missing = indices[first..second].iter().peekable();
    (0..numbers).filter_map(move |column| {
        let value = seen.next_if(|(at, _)| **at as usize == column).map_or(0.0, |(_, value)| *value);
        let none = missing.next_if(|at| **at as usize == numbers + column).is_some();
        (!none).then_some((column, value))
    })
}

/// Welford's recursion, for `inverse` one over the number of rows: no cancellation, whatever the
/// offset. Separate from [`Mean`](crate::mean::Mean), because one division suffices for all columns
/// of a row.
#[inline(always)]
pub(crate) fn note(value: f64, inverse: f64, mean: &mut f64, squares: &mut f64) {
    let deviation = value - *mean;
    *mean += deviation * inverse;
    *squares += deviation * (value - *mean);
}

/// Whether a column has only been 0 or 1: then, and hardly ever otherwise, the mean of its squares
/// equals its mean.
#[inline(always)]
pub(crate) fn is_indicator(inverse: f64, mean: f64, squares: f64) -> bool {
    (squares * inverse - mean * (1.0 - mean)).abs() <= 1e-9 * mean
}

/// Standardises a value; 0 in a constant column, whose deviation may differ from zero by rounding.
/// Without branches, so that several columns are computed at once.
#[inline(always)]
fn standardised(value: f64, inverse: f64, mean: f64, squares: f64) -> f64 {
    let deviation = (squares * inverse).sqrt();
    let constant = (deviation <= 1e-12 * mean.abs()) | (deviation == 0.0);
    let scaled = if is_indicator(inverse, mean, squares) { value } else { (value - mean) / deviation };
    if constant { 0.0 } else { scaled.clamp(-CLIP, CLIP) }
}

/// Divides by the norm, without overflow or underflow on the way.
fn to_unit(values: &mut [f64]) {
    let largest = max_abs(values);
    if largest == 0.0 {
        return;
    }
    for value in values.iter_mut() {
        *value /= largest;
    }
    let norm = dot(values, values).sqrt();
    for value in values.iter_mut() {
        *value /= norm;
    }
}

#[cfg(test)]
mod tests;
