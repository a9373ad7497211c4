//! Columns with missing values: remarks on those that have few others, and whether a missing number may be 0.

use super::{ENOUGH, FEW, Look};
use crate::read::error::shown;
use crate::read::number;
use crate::read::table::sample::{Sample, first_rows};
use crate::words::first_of;

/// A column with more missing cells than others.
pub(super) struct Hole<'a> {
    name: &'a str,
    /// Percentage of missing cells.
    share: f64,
    /// Whether all of them are.
    empty: bool,
    /// Whether it is taken for numbers, which no cell shows.
    taken: bool,
}

impl Look<'_> {
    /// The column `name`, if most of its cells are missing in enough rows; `numeric` says whether it is
    /// one of numbers, and not by an option.
    pub(super) fn hole<'n>(&self, name: &'n str, numeric: bool) -> Option<Hole<'n>> {
        let share = 100.0 * self.missing as f64 / self.rows as f64;
        let empty = self.cells.is_empty();
        let hole = Hole { name, share, empty, taken: empty && numeric };
        (self.rows >= ENOUGH && self.missing * 2 > self.rows).then_some(hole)
    }

    /// Whether cells are no numbers, and 0, which stands for these in a plain table, is far from the others.
    pub(super) fn lacks_numbers_far_from_0(&self) -> bool {
        let numbers = self.cells.iter().filter_map(|cell| number::parse(cell).ok());
        let numbers: Vec<f64> = numbers.filter(|value| value.is_finite()).collect();
        if numbers.len() == self.rows || numbers.len() < FEW {
            return false;
        }
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        number::is_far_from_0(mean, variance)
    }
}

/// Remarks on columns without values, and on those with few.
pub(super) fn about(holes: &[Hole<'_>], sample: &Sample<'_>) -> Vec<String> {
    const NAMED: usize = 3;
    let rows = first_rows(sample.rows.len(), sample.more);
    let (empty, scarce): (Vec<&Hole<'_>>, Vec<&Hole<'_>>) = holes.iter().partition(|hole| hole.empty);
    let mut notes = vec![];
    if let Some((hole, more)) = empty.split_first() {
        let name = shown(hole.name);
        let (columns, them, a_column) = match more.len() {
            0 => (format!("column {name} is"), "it", "a categorical column"),
            more => (format!("{} columns, such as {name}, are", more + 1), "them", "categorical columns"),
        };
        let taken = match sample.more && empty.iter().all(|hole| hole.taken) {
            true => format!(", and taken for numbers: if texts follow, name {them} as {a_column}"),
            false => String::new(),
        };
        notes.push(format!("{columns} empty in {rows}{taken}"));
    }
    // Of 999 cells out of 1000, it is not 100 %.
    let named = |hole: &&Hole<'_>| (shown(hole.name), hole.share.round().min(99.0));
    match &scarce[..] {
        [] => {}
        [hole] => {
            let (name, share) = named(hole);
            notes.push(format!("column {name} is missing in {share} % of {rows}"));
        }
        holes => {
            let all = holes.iter().map(named).map(|(name, share)| format!("{name} in {share} %"));
            let (count, first) = (holes.len(), first_of(&all.collect::<Vec<_>>(), NAMED));
            notes.push(format!("{count} columns are missing in more than half of {rows}: {first}"));
        }
    }
    notes
}
