//! Whether a missing number of a column may be 0.

use super::{FEW, Look};
use crate::read::number;

impl Look<'_> {
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
