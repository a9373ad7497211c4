//! Numbers with units.

use std::collections::HashSet;

use super::{FEW, Look, MOSTLY};
use crate::read::error::shown;
use crate::read::options::Style;
use crate::read::table::amount;

/// Largest number of units of which a remark is made.
const UNITS: usize = 6;

impl Look<'_> {
    /// The unit of the numbers, if nearly all cells are numbers with the same one, and their notation without
    /// it.
    pub(super) fn unit(&self) -> Option<(String, Option<Style>)> {
        let unit = self.texts().take(FEW).find_map(amount::unit)?;
        let number = |cell| amount::without_unit(cell, unit);
        let numbers: Vec<&[u8]> = self.cells.iter().copied().filter_map(number).collect();
        let (style, count) = amount::detect(numbers.iter().copied(), self.comma_first);
        let mostly = count as f64 >= MOSTLY * self.cells.len() as f64;
        // What is read with its unit, as percents are, needs no other notation.
        (mostly && self.numbers().1 < count).then(|| (unit.to_owned(), style))
    }

    /// A remark on numbers with a unit, and on cells that are none of them.
    pub(super) fn about_unit(&self, name: &str, unit: &str, style: Option<Style>) -> String {
        let is_number =
            |cell: &[u8]| amount::parse(amount::without_unit(cell, unit).unwrap_or(cell), style).is_some();
        let others: Vec<&[u8]> = self.cells.iter().copied().filter(|cell| !is_number(cell)).collect();
        let except = others.first().map_or_else(String::new, |other| {
            let (count, all) = (others.len(), self.cells.len());
            format!(
                ", except for {count} of its first {all} cells, such as {}, which count as missing",
                shown(other)
            )
        });
        let (name, unit) = (shown(name), shown(unit));
        format!(
            "column {name} holds numbers with the unit {unit}, which are read without it{except}; named as a categorical column, it holds texts"
        )
    }

    /// A remark on numbers with several units.
    pub(super) fn about_units(&self, name: &str) -> Option<String> {
        let units: Option<Vec<&str>> = self.texts().map(amount::unit).collect();
        let (mut seen, mut cells) = (HashSet::new(), vec![]);
        for (cell, unit) in self.texts().zip(units?) {
            // A quarter, as 2024Q1, is none.
            if unit.contains(|sign: char| sign.is_ascii_digit()) {
                return None;
            }
            amount::without_unit(cell.as_bytes(), unit).and_then(|cell| amount::parse(cell, None))?;
            if seen.insert(unit) {
                cells.push(shown(cell));
            }
        }
        (self.cells.len() >= FEW && (2..=UNITS).contains(&seen.len())).then(|| {
            format!(
                "column {} holds numbers with several units, such as {}, and their texts are no numbers; with the same unit in all cells \
                 they are",
                shown(name),
                cells[..2].join(" and ")
            )
        })
    }
}
