//! Online scaling of features: every row is scaled with what was seen up to and including it, never with what
//! is to come.

use std::fmt;
use std::str::FromStr;

use noregret::batch::online_to_batch::Reservoir;
use noregret::kernel::vector::{dot, max_abs, widest};
use serde::{Deserialize, Serialize};

/// How features are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Not at all.
    None,
    /// Every row is divided by its Euclidean norm.
    Unit,
    /// Every feature is divided by its largest magnitude so far. Zeros stay zeros.
    MaxAbs,
    /// Every feature is centred by its mean and divided by its standard deviation so far, and clipped to
    /// [-[`CLIP`], [`CLIP`]]. A feature that was 0 or 1 all the time stays as it is: divided by the deviation
    /// of something that is rare, its few ones would outweigh all else in a row. Zeros do not stay zeros, so
    /// rows are dense.
    Standard,
    /// For tables: numbers as with `Standard`, with 0 for those that are missing; categories and words as
    /// they are.
    Mixed,
}

/// Standardised values are kept within this many standard deviations: the guarantees need bounded rows.
pub const CLIP: f64 = 5.0;

/// Columns that are spread out at a time.
const BLOCK: usize = 64;

impl Scaling {
    /// All kinds.
    pub const ALL: [Scaling; 5] =
        [Scaling::None, Scaling::Unit, Scaling::MaxAbs, Scaling::Standard, Scaling::Mixed];

    /// The name that `--scale` takes.
    pub fn name(self) -> &'static str {
        match self {
            Scaling::None => "none",
            Scaling::Unit => "unit",
            Scaling::MaxAbs => "maxabs",
            Scaling::Standard => "standard",
            Scaling::Mixed => "mixed",
        }
    }

    /// Whether what a row becomes depends on the rows before it.
    pub fn adapts(self) -> bool {
        matches!(self, Scaling::MaxAbs | Scaling::Standard | Scaling::Mixed)
    }

    /// A bound on the Euclidean norm of scaled rows of `features` features, where the kind of scaling gives
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

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scaling {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Scaling::ALL.into_iter().find(|scaling| scaling.name() == name);
        found.ok_or_else(|| {
            format!("no scaling is called {name:?}; known are none, unit, maxabs, standard and mixed")
        })
    }
}

/// A kind of scaling and what it has seen. Grows with the columns.
#[derive(Clone, Debug)]
pub struct Scaler {
    scaling: Scaling,
    rows: u64,
    /// `MaxAbs`: largest magnitudes; `Standard`: means; `Mixed`: means of the numbers, then how many there
    /// were.
    first: Vec<f64>,
    /// `Standard`, `Mixed`: sums of squared deviations from the mean.
    second: Vec<f64>,
    kept: Option<Box<Kept>>,
}

/// The scaler as it was in a row that a reservoir of one place has drawn.
#[derive(Clone, Debug)]
struct Kept {
    reservoir: Reservoir,
    scaler: Option<Scaler>,
}

/// What is kept on the way is no part of the scaling.
impl PartialEq for Scaler {
    fn eq(&self, other: &Self) -> bool {
        self.scaling == other.scaling && self.state() == other.state()
    }
}

impl Scaler {
    /// A scaler that has seen nothing.
    pub fn new(scaling: Scaling) -> Self {
        Self { scaling, rows: 0, first: Vec::new(), second: Vec::new(), kept: None }
    }

    /// A scaler that has seen nothing. Of a table that is scaled as [`Scaling::Mixed`], the first `numbers`
    /// columns are numbers, and as many after them say with a 1 that these are missing.
    pub fn of_table(scaling: Scaling, numbers: usize) -> Self {
        match scaling {
            Scaling::Mixed => {
                Self { first: vec![0.0; 2 * numbers], second: vec![0.0; numbers], ..Self::new(scaling) }
            }
            _ => Self::new(scaling),
        }
    }

    /// What a missing value of a column that is standardised is replaced with, so that it becomes 0.
    pub(crate) fn mean(&self, column: usize) -> f64 {
        match self.scaling {
            Scaling::Standard => self.first.get(column).copied().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// The kind.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// The state, for saving: rows seen, and two lists of one number for each column.
    pub fn state(&self) -> (u64, &[f64], &[f64]) {
        (self.rows, &self.first, &self.second)
    }

    /// The scaler that [`Scaler::state`] was taken from.
    pub fn from_state(scaling: Scaling, rows: u64, first: Vec<f64>, second: Vec<f64>) -> Self {
        Self { scaling, rows, first, second, kept: None }
    }

    /// Keeps the scaling of the labelled row that
    /// [`OnlineToBatch`](noregret::batch::online_to_batch::OnlineToBatch) with this `seed` draws: what its
    /// snapshot has learnt was scaled no later.
    pub fn keep_drawn(&mut self, seed: u64) {
        self.kept = Some(Box::new(Kept { reservoir: Reservoir::new(1, seed), scaler: None }));
    }

    /// The last row observed has a label.
    pub(crate) fn labelled(&mut self) {
        let Some(mut kept) = self.kept.take() else { return };
        if kept.reservoir.draw().is_some() {
            kept.scaler = Some(self.clone());
        }
        self.kept = Some(kept);
    }

    /// The scaling that was kept, if a row was drawn.
    pub fn take_drawn(&mut self) -> Option<Scaler> {
        self.kept.take()?.scaler
    }

    /// Takes note of a row of non-zero `values` in columns `indices`; all other columns are 0.
    pub fn observe(&mut self, indices: &[u32], values: &[f64]) {
        self.rows += 1;
        let columns = indices.last().map_or(0, |last| *last as usize + 1);
        match self.scaling {
            Scaling::None | Scaling::Unit => {}
            Scaling::Mixed => {
                let numbers = self.second.len();
                let (means, counts) = self.first.split_at_mut(numbers);
                for (column, value) in numbers_of(numbers, indices, values) {
                    counts[column] += 1.0;
                    note(value, 1.0 / counts[column], &mut means[column], &mut self.second[column]);
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
            Scaling::Standard => {
                self.grow(columns);
                let inverse = 1.0 / self.rows as f64;
                let mut seen = indices.iter().map(|column| *column as usize).zip(values).peekable();
                // Block by block: spread out first, so that the arithmetic has no branches.
                let blocks = self.first.chunks_mut(BLOCK).zip(self.second.chunks_mut(BLOCK));
                for (number, (means, squares)) in blocks.enumerate() {
                    let mut values = [0.0; BLOCK];
                    let start = number * BLOCK;
                    while let Some((column, value)) = seen.next_if(|(column, _)| *column < start + BLOCK) {
                        values[column - start] = *value;
                    }
                    for ((mean, squares), value) in means.iter_mut().zip(squares).zip(&values) {
                        note(*value, inverse, mean, squares);
                    }
                }
            }
        }
    }

    /// [`Scaler::observe`] and then [`Scaler::scale_dense`], in one go, of a dense `row`, in which columns
    /// `indices` hold `values` and all others 0.
    pub fn observe_and_scale(&mut self, indices: &[u32], values: &[f64], row: &mut [f64]) {
        if self.scaling != Scaling::Standard || self.first.len() > row.len() {
            self.observe(indices, values);
            return self.scale_dense(row);
        }
        let (rows, means, squares) = self.next(indices);
        let inverse = 1.0 / rows as f64;
        let (seen, unseen) = row.split_at_mut(means.len());
        widest(
            #[inline(always)]
            || {
                for ((value, mean), squares) in seen.iter_mut().zip(means).zip(squares) {
                    note(*value, inverse, mean, squares);
                    *value = standardised(*value, inverse, *mean, *squares);
                }
            },
        );
        unseen.fill(0.0);
    }

    /// Counts a row that is to be standardised; the number of rows, and the columns' means and squares.
    pub(crate) fn next(&mut self, indices: &[u32]) -> (u64, &mut [f64], &mut [f64]) {
        self.rows += 1;
        self.grow(indices.last().map_or(0, |last| *last as usize + 1));
        (self.rows, &mut self.first, &mut self.second)
    }

    /// Makes room for `columns` columns. A new one was 0 in all rows before: mean 0, no deviation.
    fn grow(&mut self, columns: usize) {
        if self.first.len() < columns {
            self.first.resize(columns, 0.0);
            self.second.resize(columns, 0.0);
        }
    }

    /// Takes note of all rows that `other`, of the same kind, has seen: the statistics are those of all rows
    /// together.
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
            Scaling::Standard => {
                self.second.resize(columns, 0.0);
                let total = self.rows.saturating_add(other.rows).max(1) as f64;
                let share = other.rows as f64 / total;
                for (column, (mean, squares)) in self.first.iter_mut().zip(&mut self.second).enumerate() {
                    let deviation = theirs(&other.first, column) - *mean;
                    *squares +=
                        theirs(&other.second, column) + deviation * deviation * share * self.rows as f64;
                    *mean += deviation * share;
                }
            }
        }
        self.rows = self.rows.saturating_add(other.rows);
    }

    /// What `Mixed` makes of a row of non-zero `values` in columns `indices`: gives `out` columns, which
    /// increase, and values.
    pub(crate) fn mix(&self, indices: &[u32], values: &[f64], mut out: impl FnMut(u32, f64)) {
        let numbers = self.second.len();
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

    /// A number of a table, standardised by those that were there.
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
            Scaling::Mixed => {
                for column in 0..self.second.len() {
                    let missing = values[self.second.len() + column] != 0.0;
                    values[column] = if missing { 0.0 } else { self.mixed(column, values[column]) };
                }
            }
            Scaling::Standard => {
                let inverse = 1.0 / self.rows as f64;
                let (means, squares) = (&self.first[..], &self.second[..]);
                widest(
                    #[inline(always)]
                    || {
                        for ((value, mean), squares) in values.iter_mut().zip(means).zip(squares) {
                            *value = standardised(*value, inverse, *mean, *squares);
                        }
                    },
                );
                // Columns that were never seen have nothing to be scaled with.
                let known = self.first.len().min(values.len());
                values[known..].fill(0.0);
            }
        }
    }

    /// A column that was never seen while learning has no scale: its value cannot be compared with anything.
    fn by_largest(&self, column: usize, value: f64) -> f64 {
        match self.first.get(column) {
            Some(largest) if *largest > 0.0 => value / largest,
            _ => 0.0,
        }
    }
}

/// The numbers of a table's row that are not missing: columns below `numbers` with their values, zeros among
/// them.
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

/// Welford's recursion, for `inverse` one over the number of rows: no cancellation, whatever the offset.
/// Apart from [`Mean`](crate::mean::Mean), since here one division serves all columns of a row.
#[inline(always)]
pub(crate) fn note(value: f64, inverse: f64, mean: &mut f64, squares: &mut f64) {
    let deviation = value - *mean;
    *mean += deviation * inverse;
    *squares += deviation * (value - *mean);
}

/// Whether a column was 0 or 1 all the time: then, and hardly ever else, the mean of its squares is its mean.
#[inline(always)]
pub(crate) fn is_indicator(inverse: f64, mean: f64, squares: f64) -> bool {
    (squares * inverse - mean * (1.0 - mean)).abs() <= 1e-9 * mean
}

/// A constant column says nothing. Its deviation may be off zero by rounding alone. No shortcut: all columns
/// take the same way, several at once.
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
mod tests {
    use super::*;

    #[test]
    fn standard_equals_two_passes() {
        let rows = [[1e9, 2.0, 0.0], [1e9 + 2.0, 0.0, 0.0], [1e9 + 1.0, -1.0, 0.0]];
        let mut scaler = Scaler::new(Scaling::Standard);
        for row in &rows {
            let seen: Vec<(u32, f64)> = (0u32..).zip(*row).filter(|(_, value)| *value != 0.0).collect();
            let (indices, values): (Vec<u32>, Vec<f64>) = seen.into_iter().unzip();
            scaler.observe(&indices, &values);
        }
        let mut last = rows[2].to_vec();
        scaler.scale_dense(&mut last);
        let deviation = |column: usize| {
            let mean = rows.iter().map(|row| row[column]).sum::<f64>() / 3.0;
            let variance = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / 3.0;
            (rows[2][column] - mean) / variance.sqrt()
        };
        assert!((last[0] - deviation(0)).abs() < 1e-6 && (last[1] - deviation(1)).abs() < 1e-12, "{last:?}");
        assert_eq!(last[2], 0.0, "a constant column says nothing");
    }

    /// Rare or not, what is 0 or 1 stays as it is, until something else comes; and within the clip whatever
    /// comes.
    #[test]
    fn indicators_stay_as_they_are() {
        let mut scaler = Scaler::new(Scaling::Standard);
        for t in 0..1000_u32 {
            let row = [f64::from(t % 100 == 0), f64::from(t % 3 > 0), f64::from(t % 3)];
            let seen: Vec<(u32, f64)> = (0u32..).zip(row).filter(|(_, value)| *value != 0.0).collect();
            let (indices, values): (Vec<u32>, Vec<f64>) = seen.into_iter().unzip();
            let mut scaled = row;
            scaler.observe_and_scale(&indices, &values, &mut scaled);
            // Not before both have been seen: a constant says nothing.
            if t > 3 {
                assert_eq!(scaled[..2], row[..2], "{t}");
                assert_ne!(scaled[2], row[2], "{t}");
            }
        }
        let mut unseen = [0.5, -1e9, 0.0];
        scaler.scale_dense(&mut unseen);
        assert_eq!(unseen[..2], [0.5, -CLIP]);
        scaler.observe(&[0], &[2.0]);
        let mut row = [1.0];
        scaler.scale_dense(&mut row);
        assert!(row[0] > 2.0, "{row:?}");
    }

    /// In one go or in two, and however many columns a block has.
    #[test]
    fn observing_and_scaling_are_one() {
        for (columns, factor) in [(3, 1.0), (8, 1.0), (21, 1e-120), (70, 1e50)] {
            for scaling in Scaling::ALL {
                let mut parts = Scaler::new(scaling);
                let mut whole = parts.clone();
                for t in 0..40_usize {
                    // A constant column, one that is seen late, and one never.
                    let value = |column: usize| match column {
                        0 => 7.0,
                        2 => f64::from(t % 4 > 0) / factor,
                        1 if t < 20 => 0.0,
                        _ if column + 1 == columns => 0.0,
                        _ if (t + column).is_multiple_of(3) => 0.0,
                        _ => ((t * column) as f64).sin() + column as f64,
                    };
                    let row: Vec<f64> = (0..columns).map(|column| factor * value(column)).collect();
                    let non_zero = (0u32..).zip(&row).filter(|(_, value)| **value != 0.0);
                    let (indices, values): (Vec<u32>, Vec<f64>) = non_zero.unzip();
                    let (mut want, mut got) = (row.clone(), row.clone());
                    parts.observe(&indices, &values);
                    parts.scale_dense(&mut want);
                    whole.observe_and_scale(&indices, &values, &mut got);
                    assert_eq!(got, want, "{scaling}, {columns} columns, row {t}");
                }
                assert!(whole == parts, "{scaling}: the state");
            }
        }
    }

    #[test]
    fn added_statistics_are_those_of_all_rows() {
        let rows: Vec<[f64; 3]> = (0..20)
            .map(|t| [f64::from(t) * 0.3 + 100.0, f64::from(t % 7) - 3.0, f64::from(t / 15)])
            .collect();
        for scaling in Scaling::ALL {
            let seen = |rows: &[[f64; 3]]| {
                let mut scaler = Scaler::new(scaling);
                for row in rows {
                    let non_zero = (0u32..).zip(row).filter(|(_, value)| **value != 0.0);
                    let (indices, values): (Vec<u32>, Vec<f64>) = non_zero.unzip();
                    scaler.observe(&indices, &values);
                }
                scaler
            };
            // The first part has not met the last column.
            let mut sum = seen(&rows[..6]);
            sum.add(&seen(&rows[6..]));
            sum.add(&Scaler::new(scaling));
            let all = seen(&rows);
            assert_eq!(sum.state().0, 20);
            for (got, want) in [(sum.state().1, all.state().1), (sum.state().2, all.state().2)] {
                assert_eq!(got.len(), want.len());
                assert!(
                    got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-11 * (1.0 + b.abs())),
                    "{scaling}"
                );
            }
        }
    }

    /// Two numbers, of which the second is missing now and then, and words.
    #[test]
    fn tables_are_mixed() {
        let mut scaler = Scaler::of_table(Scaling::Mixed, 2);
        let rows: [&[(u32, f64)]; 4] = [
            &[(0, 3.0), (1, 10.0), (6, 0.5)],
            &[(0, 5.0), (3, 1.0)],
            &[(1, 30.0)],
            &[(0, 4.0), (1, 20.0), (9, 0.25)],
        ];
        let split = |row: &[(u32, f64)]| -> (Vec<u32>, Vec<f64>) { row.iter().copied().unzip() };
        let mut parts = [scaler.clone(), scaler.clone()];
        for (at, row) in rows.iter().enumerate() {
            let (indices, values) = split(row);
            scaler.observe(&indices, &values);
            parts[at % 2].observe(&indices, &values);
        }
        // 3, 5, 0, 4 with mean 3 and variance 14/4; 10, 30, 20 with mean 20 and variance 200/3.
        let scaled = |row: &[(u32, f64)]| {
            let (indices, values) = split(row);
            let mut out = vec![];
            scaler.mix(&indices, &values, |column, value| out.push((column, value)));
            let mut dense = vec![0.0; 10];
            row.iter().for_each(|(column, value)| dense[*column as usize] = *value);
            scaler.scale_dense(&mut dense);
            let laid: Vec<f64> =
                (0..10).map(|at| out.iter().find(|(c, _)| *c == at).map_or(0.0, |(_, v)| *v)).collect();
            assert_eq!(laid, dense);
            out
        };
        let first = scaled(rows[0]);
        assert_eq!((first[0].0, first[1].0), (1, 6));
        assert!((first[0].1 + 10.0 / (200.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{first:?}");
        let second = scaled(rows[1]);
        assert_eq!((second.len(), second[0].0, second[1]), (2, 0, (3, 1.0)));
        assert!((second[0].1 - 2.0 / 3.5_f64.sqrt()).abs() < 1e-12, "{second:?}");
        assert!((scaled(rows[3])[0].1 - 1.0 / 3.5_f64.sqrt()).abs() < 1e-12);
        let [mut sum, other] = parts;
        sum.add(&other);
        for (got, want) in [(sum.state().1, scaler.state().1), (sum.state().2, scaler.state().2)] {
            assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{got:?} {want:?}");
        }
    }

    #[test]
    fn maxabs_uses_the_past_and_the_row_itself() {
        let mut scaler = Scaler::new(Scaling::MaxAbs);
        let mut scaled = Vec::new();
        for value in [2.0, -1.0, 4.0] {
            scaler.observe(&[3], &[value]);
            let mut values = [value];
            scaler.scale_sparse(&[3], &mut values);
            scaled.push(values[0]);
        }
        assert_eq!(scaled, [1.0, -0.5, 1.0]);
    }

    #[test]
    fn unit_survives_extreme_rows() {
        let scaler = Scaler::new(Scaling::Unit);
        for factor in [1e-300, 1.0, 1e300] {
            let mut values = [3.0 * factor, 4.0 * factor];
            scaler.scale_dense(&mut values);
            assert!((values[0] - 0.6).abs() < 1e-15 && (values[1] - 0.8).abs() < 1e-15);
        }
        let mut zero = [0.0];
        scaler.scale_dense(&mut zero);
        assert_eq!(zero, [0.0]);
    }
}
