//! Missing numbers of standardised columns: what stands for them.

use super::{Scaler, Scaling, is_indicator, note};
use crate::read::number::is_far_from_0;
use crate::read::table::FEW;

/// So many numbers of a column move what stands for the missing ones before them.
const FIRST: u64 = 64;

/// What stands for a missing number in a standardised column of so many `numbers` with this mean and sum of
/// squared deviations: the mean if 0 is far from them, else 0. Beside 0 and 1 alone it is 0, as of a
/// category.
pub fn stand_in(mean: f64, squares: f64, numbers: f64) -> f64 {
    let inverse = 1.0 / numbers;
    let is_far = !is_indicator(inverse, mean, squares) && is_far_from_0(mean, squares * inverse);
    if is_far { mean } else { 0.0 }
}

impl Scaler {
    /// What stands for a missing number: [`stand_in`] of the numbers so far where columns are standardised,
    /// else 0. What stood for missing ones before is none of these numbers.
    pub fn stand_in(&self, column: usize) -> f64 {
        if self.scaling != Scaling::Standard || column >= self.moments.columns() {
            return 0.0;
        }
        let (mean, squares) = self.without_zeros(column);
        let [zeros, means] = self.holes.get(column).copied().unwrap_or_default();
        stand_in(mean, squares, self.rows.saturating_sub(zeros.saturating_add(means)) as f64)
    }

    /// Whether its mean stands for the missing numbers of a column, and is that of [`FEW`] others or more, so
    /// that a feature may begin which says that one is missing.
    pub(crate) fn lacks(&self, column: usize) -> bool {
        let missing = self.holes.get(column).map_or(0, |[zeros, means]| zeros.saturating_add(*means));
        self.rows.saturating_sub(missing) >= FEW as u64 && self.stand_in(column) != 0.0
    }

    /// The mean and the sum of squared deviations of a column without the zeros of missing numbers.
    fn without_zeros(&self, column: usize) -> (f64, f64) {
        let (mean, squares) = self.moments.of(column, self.rows);
        let zeros = self.holes.get(column).map_or(0, |[zeros, _]| *zeros);
        let (rows, others) = (self.rows as f64, self.rows.saturating_sub(zeros) as f64);
        let mean = mean * (rows / others);
        (mean, (squares - mean * mean * (zeros as f64 * (others / rows))).max(0.0))
    }

    /// Puts what stands for the numbers in columns `missing` into a dense `row`, which has 0 there.
    pub(crate) fn fill(&self, missing: &[u32], row: &mut [f64]) {
        for column in missing.iter().map(|column| *column as usize) {
            if row.get(column) == Some(&0.0) {
                row[column] = self.stand_in(column);
            }
        }
    }

    /// The same for a row that is observed next. Where the mean stands for a missing number, it stands for
    /// those before, too, that were 0: a zero far from all numbers would scale these to almost nothing.
    /// Returns whether there were such zeros.
    pub(crate) fn fill_next(&mut self, missing: &[u32], row: &mut [f64]) -> bool {
        let mut moved = false;
        for &column in missing {
            let at = column as usize;
            if row.get(at) != Some(&0.0) {
                continue;
            }
            row[at] = self.stand_in(at);
            if self.holes.len() <= at {
                self.holes.resize(at + 1, [0; 2]);
            }
            let [zeros, means] = self.holes[at];
            if [zeros, means] == [0, 0] && self.rows < FIRST {
                self.scarce.push(column);
            }
            if row[at] == 0.0 {
                self.holes[at] = [zeros + 1, means];
                continue;
            }
            moved |= self.become_mean(at);
            self.holes[at][1] += 1;
        }
        moved
    }

    /// Makes the zeros that stand for missing numbers of a column their mean. Returns whether there were
    /// some.
    fn become_mean(&mut self, column: usize) -> bool {
        let [zeros, means] = self.holes[column];
        if zeros > 0 {
            let moments = self.without_zeros(column);
            self.moments.set(column, moments, self.rows);
            self.holes[column] = [0, zeros + means];
        }
        zeros > 0
    }

    /// Sees a row before it is observed. Each of the first numbers of a column moves what stands for the
    /// missing ones before: to the mean of the numbers up to it, or to 0. Otherwise the first one, which may
    /// be an error, would count as often as numbers were missing. Returns whether one was moved.
    #[inline]
    pub(crate) fn see_first(&mut self, indices: &[u32], values: &[f64]) -> bool {
        !self.scarce.is_empty() && self.see_scarce(indices, values)
    }

    #[cold]
    fn see_scarce(&mut self, indices: &[u32], values: &[f64]) -> bool {
        let (mut scarce, mut moved) = (std::mem::take(&mut self.scarce), false);
        scarce.retain(|column| {
            let value = indices.binary_search(column).map_or(0.0, |at| values[at]);
            moved |= self.move_missing(*column as usize, value);
            let missing: u64 = self.holes[*column as usize].iter().sum();
            (self.rows + 1).saturating_sub(missing) < FIRST
        });
        self.scarce = scarce;
        moved
    }

    /// Moves what stands for the missing numbers of a column to where it is with `value`, which is observed
    /// next, or stands for a missing one itself. Returns whether it moved.
    fn move_missing(&mut self, column: usize, value: f64) -> bool {
        let [zeros, means] = self.holes[column];
        let (rows, missing) = (self.rows as f64, (zeros + means) as f64);
        let numbers = (rows - missing).max(0.0);
        let known = column < self.moments.columns() && (numbers > 0.0 || means > 0);
        let (mean, squares) = if known { self.without_zeros(column) } else { (0.0, 0.0) };
        // What stands for them stays with a number like it. A zero is no reason for a mean.
        let now = if means > 0 { mean } else { 0.0 };
        if value == now {
            return false;
        }
        let (mut next, mut next_squares) = (mean, squares);
        note(value, 1.0 / (numbers + 1.0), &mut next, &mut next_squares);
        let there = stand_in(next, next_squares, numbers + 1.0);
        if there == 0.0 && means == 0 {
            return false;
        }
        let all = (numbers * mean + missing * there) / rows;
        let (of_numbers, of_missing) = (mean - all, there - all);
        let squares = squares + numbers * of_numbers * of_numbers + missing * of_missing * of_missing;
        self.moments.grow(column + 1);
        self.moments.set(column, (all, squares), self.rows);
        self.holes[column] = if there == 0.0 { [zeros + means, 0] } else { [0, zeros + means] };
        true
    }

    /// For how many missing numbers of the columns 0 stands, and for how many the mean, for saving; empty if
    /// none was missing.
    pub(crate) fn holes(&self) -> &[[u64; 2]] {
        &self.holes
    }

    /// The same scaler with these.
    #[must_use]
    pub(crate) fn with_holes(self, holes: Vec<[u64; 2]>) -> Self {
        let mut scaler = Self { holes: Vec::new(), ..self };
        scaler.add_holes(&holes);
        scaler
    }

    /// Adds those of other rows, which are counted already.
    pub(super) fn add_holes(&mut self, holes: &[[u64; 2]]) {
        self.holes.resize(self.holes.len().max(holes.len()), [0; 2]);
        for (mine, theirs) in self.holes.iter_mut().flatten().zip(holes.iter().flatten()) {
            *mine = mine.saturating_add(*theirs);
        }
        let all = self.rows;
        let is_scarce = |[zeros, means]: &[u64; 2]| {
            let missing = zeros.saturating_add(*means);
            (1..=all).contains(&missing) && all - missing < FIRST
        };
        let scarce = (0u32..).zip(&self.holes).filter(|(_, holes)| is_scarce(holes));
        self.scarce = scarce.map(|(column, _)| column).collect();
    }

    /// Where the mean of all rows stands for missing numbers, the zeros of some of these rows become it, too.
    pub(super) fn settle(&mut self) {
        for column in 0..self.holes.len() {
            if self.stand_in(column) != 0.0 {
                self.become_mean(column);
            }
        }
    }
}
