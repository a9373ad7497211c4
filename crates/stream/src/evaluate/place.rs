//! A constant label in a log whose labels are the positions of actions with features of their own.

use noregret::bandit::offers::key;

use crate::read::round::Part;
use crate::read::row::Row;

/// The actions at one position of the rows.
pub(super) struct Place {
    at: usize,
    /// The first of them: the hash of its name, and its features.
    first: Option<(u64, Part)>,
    rows: u64,
    /// Rows in which there was another one.
    others: u64,
}

impl Place {
    /// That of `label`, if it is a number.
    pub(super) fn of(label: &str) -> Option<Self> {
        Some(Self { at: label.parse().ok()?, first: None, rows: 0, others: 0 })
    }

    /// Looks at another row. An action is known by its name, or by its features if it has none.
    pub(super) fn see(&mut self, row: &Row) {
        let Some((name, features)) = row.round().and_then(|round| round.labels.get(self.at)) else { return };
        self.rows += 1;
        match &self.first {
            None => self.first = Some((*name, features.clone())),
            Some((first, theirs)) => {
                let same = name == first && (*name != key("") || features == theirs);
                self.others += u64::from(!same);
            }
        }
    }

    /// A warning, if it was not the same action in all rows.
    pub(super) fn warning(&self) -> Option<String> {
        let Self { at, rows, others, .. } = self;
        (*others > 0).then(|| {
            format!(
                "label {at} is whatever action stands at this position, counted from 0: in {others} of {rows} rows another one than in \
                 the first, so that no single action is evaluated"
            )
        })
    }
}
