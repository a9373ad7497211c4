//! Rows in which nothing stands, as spreadsheets write below their last row.

use crate::read::remark::Remark;
use crate::words::counted;

/// How many rows were blank, and the line of the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blank {
    rows: u64,
    first: u64,
}

impl Blank {
    /// Counts the row in the line `line`.
    #[cold]
    pub(crate) fn count(&mut self, line: u64) {
        if self.rows == 0 {
            self.first = line;
        }
        self.rows += 1;
    }

    /// A remark on blank rows, of which each has `what`, if there were any.
    pub(crate) fn remark(&self, what: &str) -> Option<Remark> {
        let Self { rows, first } = *self;
        let [have, count] =
            if rows == 1 { ["has", "it counts as a row"] } else { ["have", "they count as rows"] };
        (rows > 0).then(|| {
            Remark::Other(format!(
                "{}, the first in line {first}, {have} {what}: {count} without a label; leave out what is no row",
                counted(rows, "row")
            ))
        })
    }
}
