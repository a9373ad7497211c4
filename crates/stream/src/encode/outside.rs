//! Numbers far outside of what a model has learnt, in rows that it does not learn.

use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::words::counted;

/// Rows with such numbers, which count as the end of what was learnt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    rows: u64,
    /// The first number, its column, and the end as which it counts.
    first: Option<(f64, u32, f64)>,
}

impl Outside {
    /// Sees the `values` in columns `indices` of a row, and what they count as.
    pub(crate) fn see(&mut self, indices: &[u32], values: &[f64], clipped: &[f64]) {
        self.rows += 1;
        if self.first.is_none() {
            let at = values.iter().zip(clipped).position(|(value, end)| value != end);
            self.first = at.map(|at| (values[at], indices[at], clipped[at]));
        }
    }

    /// A sentence about them, if there were any, with the names of `columns`.
    pub(crate) fn note(&self, columns: &Columns) -> Option<String> {
        let (value, column, end) = self.first?;
        let rows = counted(self.rows, "row");
        let have = if self.rows == 1 { "has a number" } else { "have numbers" };
        let most = if value > end { "largest" } else { "least" };
        Some(format!(
            "{rows} {have} far outside of what the model has learnt, as {value} of the feature {}, of which the {most} was {end}, as which it \
             counts: the unit, or the sign before decimals or thousands, may be another one",
            shown(&*columns.name(column))
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_is_told() {
        let columns = Columns::Numbered { base: 1, count: 3 };
        let mut outside = Outside::default();
        assert_eq!(outside.note(&columns), None);
        outside.see(&[0, 2], &[3.0, 1674.0], &[3.0, 1.9]);
        let sentence = "1 row has a number far outside of what the model has learnt, as 1674 of the feature \"3\", of which the largest \
                        was 1.9, as which it counts: the unit, or the sign before decimals or thousands, may be another one";
        assert_eq!(outside.note(&columns).as_deref(), Some(sentence));
        outside.see(&[0], &[-1e6], &[0.0]);
        assert!(
            outside.note(&columns).is_some_and(|note| note.starts_with("2 rows have numbers far outside"))
        );
    }
}
