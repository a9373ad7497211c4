//! Remarks on columns that become categories.

use std::collections::{BTreeSet, HashMap};

use super::{FEW, Look};
use crate::read::error::shown;
use crate::read::looks::looks;
use crate::read::table::amount;

impl Look<'_> {
    /// Remarks on categories that may be meant otherwise.
    pub(super) fn about_categories(&self, name: &str) -> Vec<String> {
        if self.cells.len() < FEW {
            return vec![];
        }
        self.named_numbers(name).into_iter().chain(self.look_alikes(name)).collect()
    }

    /// A remark on numbers behind the same name in all cells, as in `size=12`.
    fn named_numbers(&self, name: &str) -> Option<String> {
        let first = self.texts().next()?;
        let before = &first[..first.find('=')? + 1];
        let is_number = |text: &str| amount::is_amount(text.as_bytes()) || amount::unit(text).is_some();
        let all = self.texts().all(|cell| cell.strip_prefix(before).is_some_and(is_number));
        (all && self.distinct() > 1).then(|| {
            format!(
                "column {} becomes categories: its cells begin with {}, and have numbers behind it; without it, they are read as numbers",
                shown(name),
                shown(before)
            )
        })
    }

    /// A remark on two categories that look alike, such as those that differ in upper and lower case alone.
    /// Single letters may be codes.
    fn look_alikes(&self, name: &str) -> Option<String> {
        let mut known: HashMap<String, &str> = HashMap::new();
        let different: BTreeSet<&str> = self.texts().collect();
        let words =
            different.into_iter().filter(|cell| cell.chars().filter(|sign| sign.is_alphabetic()).count() > 1);
        let mut pairs = words.filter_map(|cell| Some((known.insert(looks(cell), cell)?, cell)));
        let (one, other) = pairs.next()?;
        Some(format!(
            "the categories {} and {} of column {} look alike, and are two: write them alike if they are one",
            shown(one),
            shown(other),
            shown(name)
        ))
    }
}
