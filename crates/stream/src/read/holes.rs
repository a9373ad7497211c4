//! Features that say that a number is missing, where the first rows of a table do not decide: those of
//! formats without a table, and those that begin behind the first rows.

use std::collections::BTreeMap;

use crate::read::number::is_far_from_0;
use crate::read::row::Row;
use crate::read::table::FEW;

/// What lines say of a feature.
#[derive(Debug, Default)]
struct Seen {
    /// Missing numbers, and others.
    missing: usize,
    count: usize,
    /// Sums of the others, and of their squares: they cancel out where 0 is far from all others only.
    sum: f64,
    squares: f64,
}

impl Seen {
    fn note(&mut self, value: f64) {
        if value.is_nan() {
            self.missing += 1;
            return;
        }
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Whether 0, which is the number of lines without the feature, is far from the numbers in so many
    /// `lines`.
    fn is_far(&self, lines: usize) -> bool {
        let numbers = lines.saturating_sub(self.missing).max(self.count);
        if numbers < FEW {
            return false;
        }
        let mean = self.sum / numbers as f64;
        is_far_from_0(mean, self.squares / numbers as f64 - mean * mean)
    }
}

/// What the rows so far say of every column.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    columns: Vec<Seen>,
    rows: usize,
}

impl Watch {
    /// Sees a row. Returns the columns whose first missing number it has, if those before are far from 0.
    pub(crate) fn see(&mut self, row: &Row) -> Vec<u32> {
        self.rows += 1;
        let last = row.indices().last().max(row.missing().last());
        let width = last.map_or(0, |last| *last as usize + 1);
        if self.columns.len() < width {
            self.columns.resize_with(width, Seen::default);
        }
        for (column, value) in row.indices().iter().zip(row.values()) {
            self.columns[*column as usize].note(*value);
        }
        let mut begun = vec![];
        for column in row.missing() {
            let seen = &mut self.columns[*column as usize];
            seen.note(f64::NAN);
            if seen.missing == 1 && seen.is_far(self.rows) {
                begun.push(*column);
            }
        }
        begun
    }
}

/// The features of which numbers are missing in some of the `lines`, each of which is its features with their
/// numbers, NaN for a missing one, and which are far from 0 otherwise. A feature that a line does not have is
/// 0. The lines are read twice if a number is missing.
pub(crate) fn lacking<N: Ord, I: Iterator<Item = Vec<(N, f64)>>>(lines: impl Fn() -> I) -> Vec<N> {
    let holes = lines().flatten().filter(|(_, value)| value.is_nan());
    let mut features: BTreeMap<N, Seen> = holes.map(|(name, _)| (name, Seen::default())).collect();
    if features.is_empty() {
        return vec![];
    }
    let mut count = 0;
    for line in lines() {
        count += 1;
        for (name, value) in line {
            if let Some(seen) = features.get_mut(&name) {
                seen.note(value);
            }
        }
    }
    features.into_iter().filter(|(_, seen)| seen.is_far(count)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The features that lack numbers of 40 lines; every third line has a hole.
    fn lacks(value: impl Fn(usize) -> f64) -> Vec<&'static str> {
        let line = |t: usize| vec![("a", if t % 3 == 1 { f64::NAN } else { value(t) }), ("b", 50.0)];
        lacking(|| (0..40).map(line))
    }

    #[test]
    fn numbers_far_from_0_of_which_some_are_missing_are_told() {
        assert_eq!(lacks(|t| 50.0 + (t % 7) as f64), ["a"]);
        assert!(lacks(|t| (t % 7) as f64 - 3.0).is_empty(), "0 is between the numbers");
        let whole = || (0..40_u32).map(|t| vec![("a", 50.0 + f64::from(t % 7))]);
        assert!(lacking(whole).is_empty(), "none is missing");
        let few = || (0..29).map(|t| vec![("a", if t < 10 { f64::NAN } else { 50.0 })]);
        assert!(lacking(few).is_empty(), "19 numbers are too few");
        // Numbers that lines leave out are zeros: 20 times 50 and 40 times 0 are not far from 0.
        let sparse = || {
            (0..80).map(|t| match t % 4 {
                0 => vec![("a", f64::NAN)],
                1 => vec![("a", 50.0)],
                _ => vec![],
            })
        };
        assert!(lacking(sparse).is_empty());
    }

    /// In how many rows of 60 a feature begins, of a column with the value 50 but for its `holes`.
    fn begins(holes: impl Fn(usize) -> bool) -> usize {
        let (mut watch, mut row) = (Watch::default(), Row::new());
        let mut sees = |t: usize| {
            row.clear();
            if holes(t) {
                row.miss(3);
            } else {
                row.push(3, 50.0);
            }
            watch.see(&row) == [3]
        };
        (0..60).filter(|t| sees(*t)).count()
    }

    #[test]
    fn the_first_missing_number_decides() {
        assert_eq!([begins(|t| t == 20), begins(|t| t >= 30), begins(|t| t % 21 == 20)], [1; 3]);
        assert_eq!([begins(|t| t == 19), begins(|t| t == 3 || t >= 40), begins(|_| false)], [0; 3]);
    }
}
