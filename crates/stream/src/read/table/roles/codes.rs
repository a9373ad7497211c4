//! Codes and days that are written as whole numbers.

use super::{FEW, Look};
use crate::read::error::shown;

/// Numbers of two digits up to here may be hours, days, months, weeks or minutes.
const LAST_MINUTE: &[u8] = b"59";

impl Look<'_> {
    /// A remark on whole numbers with zeros in front, as of postal codes, which are read without them.
    pub(super) fn about_codes(&self, name: &str) -> Option<String> {
        let is_padded = |cell: &&&[u8]| matches!(***cell, [b'0', b'0'..=b'9', ..]);
        let padded = *self.cells.iter().find(is_padded)?;
        let whole = self.cells.iter().all(|cell| cell.iter().all(u8::is_ascii_digit));
        let is_long = |cell: &&[u8]| cell.len() > 2 || (cell.len() == 2 && *cell > LAST_MINUTE);
        let long = self.cells.iter().any(is_long);
        let times = self.cells.iter().all(|cell| is_time_of_day(cell));
        (self.cells.len() >= FEW && whole && long && !times && self.distinct() > 1).then(|| {
            format!(
                "column {} has numbers with zeros in front, such as {}, which are read without them; named as a categorical column, it \
                 has codes",
                shown(name),
                shown(padded)
            )
        })
    }

    /// A remark on whole numbers some of which have an exponent without a sign, as of codes such as 12E2.
    /// Programs write numbers otherwise: 1.2e+03.
    pub(super) fn about_exponents(&self, name: &str) -> Option<String> {
        let cell = *self.cells.iter().find(|cell| has_exponent(cell))?;
        let whole = self.cells.iter().all(|cell| has_exponent(cell) || cell.iter().all(u8::is_ascii_digit));
        (self.cells.len() >= FEW && whole && self.distinct() > 1).then(|| {
            format!(
                "column {} has numbers such as {}, which are read as those with an exponent; named as a categorical column, it has codes",
                shown(name),
                shown(cell)
            )
        })
    }

    /// A remark on days such as 20261122, which are read as numbers: from one month to the next is far.
    pub(super) fn about_numbered_days(&self, name: &str) -> Option<String> {
        let first = *self.cells.first()?;
        let days = self.cells.iter().all(|cell| is_numbered_day(cell));
        (self.cells.len() >= FEW && days && self.distinct() > 1).then(|| {
            format!(
                "column {} has days such as {}, which are read as whole numbers; written with marks, as 2026-11-22, they are times",
                shown(name),
                shown(first)
            )
        })
    }
}

/// Whether a cell is digits, an E, and digits.
fn has_exponent(cell: &[u8]) -> bool {
    let Some(at) = cell.iter().position(|byte| matches!(byte, b'e' | b'E')) else { return false };
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    digits(&cell[..at]) && digits(&cell[at + 1..])
}

/// Whether a cell is year, month and day in eight digits.
fn is_numbered_day(cell: &[u8]) -> bool {
    let two = |tens: u8, ones: u8| 10 * u32::from(tens - b'0') + u32::from(ones - b'0');
    let century = cell.starts_with(b"19") || cell.starts_with(b"20");
    century
        && cell.len() == 8
        && cell.iter().all(u8::is_ascii_digit)
        && (1..=12).contains(&two(cell[4], cell[5]))
        && (1..=31).contains(&two(cell[6], cell[7]))
}

/// Whether a cell is hours and minutes in four digits.
fn is_time_of_day(cell: &[u8]) -> bool {
    matches!(*cell, [b'0'..=b'1', b'0'..=b'9', b'0'..=b'5', b'0'..=b'9'])
        || matches!(*cell, [b'2', b'0'..=b'3', b'0'..=b'5', b'0'..=b'9'])
}
