//! Columns of a saved model's table that lines of features lack.

use std::collections::BTreeSet;

use crate::read::error::shown;
use crate::read::table::schema::{CsvRole, CsvSchema};
use crate::words::first_of;

/// Number of columns that a remark names.
const SHOWN: usize = 5;

/// The columns of numbers and categories of which no feature was seen yet.
pub(crate) struct Absent<'a> {
    needed: Vec<&'a str>,
    absent: BTreeSet<&'a str>,
}

impl<'a> Absent<'a> {
    /// Before the first line.
    pub(crate) fn of(table: &'a CsvSchema) -> Self {
        let is_needed = |role: CsvRole| matches!(role, CsvRole::Numeric | CsvRole::Categorical);
        let needed = table.fields.iter().filter(|field| is_needed(field.role));
        let needed: Vec<&str> = needed.map(|field| field.name.as_str()).collect();
        let absent = needed.iter().copied().collect();
        Self { needed, absent }
    }

    /// A line has a feature of this name: the number of a column, or a category, as in `column=category`.
    pub(crate) fn saw(&mut self, name: &str) {
        self.absent.remove(name);
        for (end, _) in name.match_indices('=') {
            self.absent.remove(&name[..end]);
        }
    }

    /// A remark on the columns that none of the first lines has, or of `all` lines. In a table they would be
    /// missing; a feature that a line lacks is 0.
    pub(crate) fn note(&self, all: bool) -> Option<String> {
        let absent = self.needed.iter().filter(|column| self.absent.contains(**column));
        let names: Vec<String> = absent.map(shown).collect();
        let lines = if all { "no line" } else { "none of the first lines" };
        (!self.absent.is_empty()).then(|| {
            format!(
                "{lines} has a feature for {}, which the model was trained with: what a line lacks counts as 0 there",
                first_of(&names, SHOWN)
            )
        })
    }
}
