//! Codes of digits.

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
}

/// Whether a cell is hours and minutes in four digits.
fn is_time_of_day(cell: &[u8]) -> bool {
    matches!(*cell, [b'0'..=b'1', b'0'..=b'9', b'0'..=b'5', b'0'..=b'9'])
        || matches!(*cell, [b'2', b'0'..=b'3', b'0'..=b'5', b'0'..=b'9'])
}
