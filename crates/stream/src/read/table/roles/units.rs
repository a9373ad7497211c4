//! Numbers with units.

use super::{FEW, Look, MOSTLY};
use crate::read::error::shown;
use crate::read::table::amount;
use crate::read::table::schema::Style;

impl Look<'_> {
    /// The unit of the numbers, if nearly all cells are numbers with the same one, and their notation without
    /// it. A number that is always the same, as of 18F, is part of a name.
    pub(super) fn unit(&self) -> Option<(String, Option<Style>)> {
        let unit = self.texts().take(FEW).find_map(amount::unit)?;
        // One letter is part of a code where other cells have another one, as 12A and 12B.
        let is_letter = |unit: &str| unit.len() == 1 && unit.starts_with(char::is_alphabetic);
        let other = |cell: &str| amount::unit(cell).is_some_and(|other| other != unit && is_letter(other));
        if is_letter(unit) && self.texts().any(other) {
            return None;
        }
        let number = |cell| amount::without_unit(cell, unit);
        let numbers: Vec<&[u8]> = self.cells.iter().copied().filter_map(number).collect();
        let differ = numbers.len() < FEW || numbers.iter().any(|number| *number != numbers[0]);
        let (style, count) = amount::detect(numbers.iter().copied(), self.comma_first);
        let mostly = count as f64 >= MOSTLY * self.cells.len() as f64;
        // What is read with its unit, as percents are, needs no other notation.
        (differ && mostly && self.numbers().1 < count).then(|| (unit.to_owned(), style))
    }

    /// A remark on numbers some of which have another sign than others, or are percents beside numbers that
    /// are none: in this `style` they are read without it.
    pub(super) fn about_signs(&self, name: &str, style: Option<Style>) -> Option<String> {
        let of = |cell: &&str| amount::sign(cell);
        let number = |cell: &&str| amount::parse(cell.as_bytes(), style).is_some_and(|number| number != 0.0);
        let first = self.texts().filter(number).find(|cell| of(cell).is_some())?;
        let is_percent = of(&first) == Some("%");
        let is_other = |cell: &&str| of(cell) != of(&first) && (of(cell).is_some() || is_percent);
        let other = self.texts().filter(number).find(is_other)?;
        Some(format!(
            "column {} has numbers with different signs, such as {} and {}, and they are read without them: write all of them alike",
            shown(name),
            shown(first),
            shown(other)
        ))
    }
}

/// A remark on numbers with a unit.
pub(super) fn about(name: &str, unit: &str) -> String {
    let (name, unit) = (shown(name), shown(unit));
    format!(
        "column {name} holds numbers with the unit {unit}, which are read without it; named as a categorical column, it holds texts"
    )
}
