//! Missing numbers of standardised columns: what stands for them.

use super::{Scaler, Scaling, is_indicator};
use crate::read::number::is_far_from_0;

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
            if row[at] == 0.0 {
                self.holes[at] = [zeros + 1, means];
                if self.rows == 0 {
                    self.unseen.push(column);
                }
                continue;
            }
            if zeros > 0 {
                let moments = self.without_zeros(at);
                self.moments.set(at, moments, self.rows);
                moved = true;
            }
            self.holes[at] = [0, zeros + means + 1];
        }
        moved
    }

    /// Sees a row before it is observed. The first number of a column stands for the missing ones before if
    /// there was nothing else, and it is not 1, as of a category. Returns whether there was one.
    #[inline]
    pub(crate) fn see_first(&mut self, indices: &[u32], values: &[f64]) -> bool {
        !self.unseen.is_empty() && self.see_unseen(indices, values)
    }

    #[cold]
    fn see_unseen(&mut self, indices: &[u32], values: &[f64]) -> bool {
        let (mut unseen, mut moved) = (std::mem::take(&mut self.unseen), false);
        unseen.retain(|column| {
            let value = indices.binary_search(column).map_or(0.0, |at| values[at]);
            let at = *column as usize;
            let [zeros, means] = self.holes[at];
            if value == 0.0 {
                // Missing again, or a zero.
                return zeros > self.rows;
            }
            if value != 1.0 && zeros == self.rows {
                self.moments.grow(at + 1);
                self.moments.set(at, (value, 0.0), self.rows);
                self.holes[at] = [0, zeros + means];
                moved = true;
            }
            false
        });
        self.unseen = unseen;
        moved
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
        let unseen = (0u32..).zip(&self.holes).filter(|(_, [zeros, _])| all > 0 && *zeros == all);
        self.unseen = unseen.map(|(column, _)| column).collect();
    }
}
