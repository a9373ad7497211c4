//! Means and sums of squared deviations of columns, one row at a time.

use std::ops::Range;

use noregret::kernel::vector::widest;

use super::{CLIP, note, standardised};

/// Number of neighbouring columns that are counted together or not at all.
const BLOCK: usize = 8;

/// The mean and the sum of squared deviations of every column that has occurred.
///
/// Tables with categories have many columns that are only ever 0 or 1. Where this holds for all columns of a
/// block, the ones of each column are counted, in a fraction of the time of Welford's recursion: after $n$
/// rows with $c$ ones, the mean is $m = c/n$, and the sum of squared deviations $c (1 - m)$.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments {
    /// Means; in counted blocks the numbers of ones.
    first: Vec<f64>,
    /// Sums of squared deviations; in counted blocks without use.
    second: Vec<f64>,
    /// For each block, whether its columns have been 0 or 1 in all rows.
    counted: Vec<bool>,
}

impl Moments {
    /// Those after `rows` rows, of columns with these means and sums of squared deviations.
    pub(crate) fn from_lists(rows: u64, means: Vec<f64>, squares: Vec<f64>) -> Self {
        let mut moments =
            Self { counted: vec![false; means.len().div_ceil(BLOCK)], first: means, second: squares };
        let rows = rows as f64;
        for block in 0..moments.counted.len() {
            let columns = moments.columns_of(block);
            // Statistics that were not counted are hardly ever the same to the last bit.
            let counted = columns.clone().all(|column| {
                let (mean, squares) = (moments.first[column], moments.second[column]);
                let ones = (mean * rows).round();
                (0.0..=rows).contains(&ones) && counted_moments(ones, rows) == (mean, squares)
            });
            if counted {
                moments.counted[block] = true;
                moments.first[columns].iter_mut().for_each(|mean| *mean = (*mean * rows).round());
            }
        }
        moments
    }

    /// The means and the sums of squared deviations after `rows` rows.
    pub(crate) fn lists(&self, rows: u64) -> (Vec<f64>, Vec<f64>) {
        (0..self.columns()).map(|column| self.of(column, rows)).unzip()
    }

    /// The mean and the sum of squared deviations of a column after `rows` rows.
    pub(super) fn of(&self, column: usize, rows: u64) -> (f64, f64) {
        let (first, second) = (self.first[column], self.second[column]);
        if self.counted[column / BLOCK] { counted_moments(first, rows as f64) } else { (first, second) }
    }

    /// Replaces the mean and the sum of squared deviations of a column that has occurred, after `rows` rows.
    pub(super) fn set(&mut self, column: usize, moments: (f64, f64), rows: u64) {
        if self.counted[column / BLOCK] {
            self.uncount(column / BLOCK, rows);
        }
        (self.first[column], self.second[column]) = moments;
    }

    /// Counts a block no longer, after `rows` rows in which it was.
    fn uncount(&mut self, block: usize, rows: u64) {
        for column in self.columns_of(block) {
            (self.first[column], self.second[column]) = self.of(column, rows);
        }
        self.counted[block] = false;
    }

    /// The mean of a column after `rows` rows; 0 if it has not occurred.
    pub(crate) fn mean(&self, column: usize, rows: u64) -> f64 {
        if column < self.columns() { self.of(column, rows).0 } else { 0.0 }
    }

    /// The number of columns that have occurred.
    pub(crate) fn columns(&self) -> usize {
        self.first.len()
    }

    fn columns_of(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.columns())
    }

    /// Takes over the statistics of `other`, without allocating once there is room.
    pub(crate) fn follow(&mut self, other: &Self) {
        self.first.clone_from(&other.first);
        self.second.clone_from(&other.second);
        self.counted.clone_from(&other.counted);
    }

    /// Makes room for `columns` columns. A new one was 0 in all rows before.
    pub(crate) fn grow(&mut self, columns: usize) {
        if self.columns() < columns {
            // 0, whether counted or not.
            self.first.resize(columns, 0.0);
            self.second.resize(columns, 0.0);
            self.counted.resize(columns.div_ceil(BLOCK), true);
        }
    }

    /// Adds the row with number `rows`, which has `values` in columns `indices` and 0 elsewhere.
    pub(crate) fn note(&mut self, indices: &[u32], values: &[f64], rows: u64) {
        self.grow(indices.last().map_or(0, |last| *last as usize + 1));
        self.count(indices, values, rows, |_| {});
        let inverse = 1.0 / rows as f64;
        let mut seen = indices.iter().map(|column| *column as usize).zip(values).peekable();
        for block in 0..self.counted.len() {
            let columns = self.columns_of(block);
            let mut row = [0.0; BLOCK];
            while let Some((column, value)) = seen.next_if(|(column, _)| *column < columns.end) {
                row[column - columns.start] = *value;
            }
            if !self.counted[block] {
                let moments = self.first[columns.clone()].iter_mut().zip(&mut self.second[columns]);
                for (value, (mean, squares)) in row.iter().zip(moments) {
                    note(*value, inverse, mean, squares);
                }
            }
        }
    }

    /// Adds to the counted columns the row with number `rows`, which has `values` in columns `indices` and 0
    /// elsewhere; calls `constant` with those that have only been 1. Blocks in which the row has other
    /// numbers are no longer counted. Returns the sum of what was counted.
    #[inline(always)]
    fn count(&mut self, indices: &[u32], values: &[f64], rows: u64, mut constant: impl FnMut(usize)) -> f64 {
        if !self.counted.contains(&true) {
            return 0.0;
        }
        let seen = || indices.iter().map(|column| *column as usize).zip(values);
        let mut counts = false;
        for (column, value) in seen() {
            if !self.counted[column / BLOCK] {
                continue;
            }
            counts = true;
            if *value != 1.0 && *value != 0.0 {
                self.uncount(column / BLOCK, rows - 1);
            }
        }
        if !counts {
            return 0.0;
        }
        let (rows, mut sum) = (rows as f64, 0.0);
        for (column, value) in seen() {
            if self.counted[column / BLOCK] {
                sum += value;
                self.first[column] += value;
                if self.first[column] == rows {
                    constant(column);
                }
            }
        }
        sum
    }

    /// Adds the row with number `rows`, which has `values` in columns `indices` and 0 elsewhere, and
    /// standardises its values of all columns in `row`.
    pub(crate) fn note_and_scale(&mut self, indices: &[u32], values: &[f64], row: &mut [f64], rows: u64) {
        let inverse = 1.0 / rows as f64;
        self.note_row(
            indices,
            values,
            row,
            rows,
            #[inline(always)]
            |_, values, means, squares| {
                for ((value, mean), squares) in values.iter_mut().zip(means).zip(squares) {
                    note(*value, inverse, mean, squares);
                    *value = standardised(*value, inverse, *mean, *squares);
                }
            },
        );
    }

    /// Counts what is counted of the row with number `rows`, which has `values` in columns `indices` and 0
    /// elsewhere, and standardises it in `row`, which has the values of all columns: it stays, or becomes 0
    /// if the column is constant. For all others, `others` is called with the columns, their values, means
    /// and sums of squared deviations, and is to add the row to these. Returns the sum of what is counted.
    ///
    /// # Panics
    /// If there is no room for a column, see [`Moments::grow`].
    #[inline(always)]
    pub(crate) fn note_row(
        &mut self,
        indices: &[u32],
        values: &[f64],
        row: &mut [f64],
        rows: u64,
        mut others: impl FnMut(Range<usize>, &mut [f64], &mut [f64], &mut [f64]),
    ) -> f64 {
        // Not in the loop below: to read numbers in vectors that were just written one by one takes long.
        let counted = self.count(indices, values, rows, |column| row[column] = 0.0);
        widest(
            #[inline(always)]
            || {
                for (columns, counted) in runs(&self.counted, self.first.len()) {
                    if !counted {
                        let means = &mut self.first[columns.clone()];
                        let squares = &mut self.second[columns.clone()];
                        others(columns.clone(), &mut row[columns], means, squares);
                    }
                }
            },
        );
        counted
    }

    /// Standardises the values of all columns by the statistics of `rows` rows.
    pub(crate) fn scale(&self, row: &mut [f64], rows: u64) {
        let (inverse, rows) = (1.0 / rows as f64, rows as f64);
        let (known, unknown) = row.split_at_mut(row.len().min(self.columns()));
        widest(
            #[inline(always)]
            || {
                for (columns, counted) in runs(&self.counted, known.len()) {
                    let (values, first) = (&mut known[columns.clone()], &self.first[columns.clone()]);
                    if counted {
                        for (value, ones) in values.iter_mut().zip(first) {
                            let constant = (*ones == 0.0) | (*ones == rows);
                            *value = if constant { 0.0 } else { value.clamp(-CLIP, CLIP) };
                        }
                    } else {
                        for ((value, mean), squares) in
                            values.iter_mut().zip(first).zip(&self.second[columns])
                        {
                            *value = standardised(*value, inverse, *mean, *squares);
                        }
                    }
                }
            },
        );
        unknown.fill(0.0);
    }

    /// The sums of squared deviations after `rows` rows.
    pub(crate) fn deviations(&self, rows: u64) -> impl Iterator<Item = f64> {
        (0..self.columns()).map(move |column| self.of(column, rows).1)
    }

    /// Adds the statistics of `theirs` other rows to those of `mine` rows.
    pub(crate) fn add(&mut self, mine: u64, other: &Self, theirs: u64) {
        let mut other = other.clone();
        self.grow(other.columns());
        other.grow(self.columns());
        let share = theirs as f64 / mine.saturating_add(theirs).max(1) as f64;
        for block in 0..self.counted.len() {
            let counted = self.counted[block] && other.counted[block];
            for column in self.columns_of(block) {
                if counted {
                    self.first[column] += other.first[column];
                    continue;
                }
                let ((mean, squares), (their_mean, their_squares)) =
                    (self.of(column, mine), other.of(column, theirs));
                let deviation = their_mean - mean;
                self.first[column] = mean + deviation * share;
                self.second[column] = squares + their_squares + deviation * deviation * share * mine as f64;
            }
            self.counted[block] = counted;
        }
    }
}

/// The first `columns` columns, in as few ranges as possible of which all columns are counted or none: loops
/// over few numbers take longer.
#[inline(always)]
fn runs(counted: &[bool], columns: usize) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut start = 0;
    counted.chunk_by(|a, b| a == b).map(move |run| {
        let range = start..(start + run.len() * BLOCK).min(columns);
        start = range.end;
        (range, run[0])
    })
}

/// The mean and the sum of squared deviations of a column with so many `ones` in `rows` rows, and zeros
/// otherwise.
fn counted_moments(ones: f64, rows: f64) -> (f64, f64) {
    let mean = ones / rows.max(1.0);
    (mean, ones * (1.0 - mean))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of `columns` numbers: in `plain` columns any of a few, elsewhere 0 or 1, and now and then
    /// another.
    fn rows(columns: usize, plain: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let value = move |(column, kind, other): (usize, u8, f64)| match kind {
            _ if column < plain => other,
            0..250 => f64::from(kind % 2),
            _ => other,
        };
        let row = prop::collection::vec((0_u8..=255, -3.0..3.0), columns);
        let row = row.prop_map(move |cells| {
            let cells = cells.into_iter().enumerate();
            cells.map(|(column, (kind, other))| value((column, kind, other))).collect()
        });
        prop::collection::vec(row, 1..60)
    }

    fn non_zero(row: &[f64]) -> (Vec<u32>, Vec<f64>) {
        (0u32..).zip(row).filter(|(_, value)| **value != 0.0).unzip()
    }

    /// The numbers that columns have by Welford's recursion, counted or not.
    fn welford(rows: &[Vec<f64>], column: usize) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        for (row, count) in rows.iter().zip(1..) {
            note(row[column], 1.0 / f64::from(count), &mut mean, &mut squares);
        }
        (mean, squares)
    }

    proptest! {
        #[test]
        fn counting_gives_the_moments_of_the_recursion(rows in rows(21, 3), cut in 0_usize..60) {
            let (mut by_rows, mut by_values) = (Moments::default(), Moments::default());
            for (seen, number) in rows.iter().zip(1..) {
                let (indices, values) = non_zero(seen);
                let mut row = seen.clone();
                by_rows.grow(row.len());
                by_rows.note_and_scale(&indices, &values, &mut row, number);
                by_values.note(&indices, &values, number);
                // In a continued run, the same to the last bit.
                let (means, squares) = by_rows.lists(number);
                let loaded = Moments::from_lists(number, means, squares);
                prop_assert_eq!(&loaded.first, &by_rows.first);
                prop_assert_eq!(&loaded.counted, &by_rows.counted);
                let mut again = seen.clone();
                by_rows.scale(&mut again, number);
                prop_assert_eq!(&row, &again);
                for (column, scaled) in row.iter().enumerate() {
                    let (mean, squares) = welford(&rows[..number as usize], column);
                    let want = standardised(seen[column], 1.0 / number as f64, mean, squares);
                    prop_assert!((scaled - want).abs() < 1e-9, "{column} {number}: {scaled} {want}");
                }
            }
            let total = rows.len() as u64;
            let cut = cut.min(rows.len());
            let part = |rows: &[Vec<f64>]| {
                let mut part = Moments::default();
                for (row, number) in rows.iter().zip(1..) {
                    let (indices, values) = non_zero(row);
                    part.note(&indices, &values, number);
                }
                part
            };
            let mut sum = part(&rows[..cut]);
            sum.add(cut as u64, &part(&rows[cut..]), total - cut as u64);
            for moments in [by_rows, by_values, sum] {
                for column in 0..moments.columns() {
                    let (mean, squares) = welford(&rows, column);
                    let got = moments.of(column, total);
                    prop_assert!((got.0 - mean).abs() < 1e-12, "{column}: {got:?} {mean}");
                    prop_assert!((got.1 - squares).abs() < 1e-10, "{column}: {got:?} {squares}");
                    prop_assert_eq!(moments.mean(column, total), got.0);
                }
            }
        }
    }

    /// A block is counted until a row has another number in one of its columns.
    #[test]
    fn blocks_are_counted_one_by_one() {
        let mut moments = Moments::default();
        moments.note(&[1, 8, 20], &[1.0, 1.0, 1.0], 1);
        assert_eq!(moments.counted, [true; 3]);
        moments.note(&[1, 8], &[1.0, 0.5], 2);
        assert_eq!(moments.counted, [true, false, true]);
        assert_eq!(moments.of(8, 2), (0.75, 0.125));
        assert_eq!(moments.of(20, 2), (0.5, 0.5));
        let mut row = [0.0; 21];
        (row[1], row[8], row[20]) = (1.0, 1.0, 1.0);
        moments.note_and_scale(&[1, 8, 20], &[1.0, 1.0, 1.0], &mut row, 3);
        assert_eq!((row[1], row[20]), (0.0, 1.0), "column 1 has only been 1");
    }
}
