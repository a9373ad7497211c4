//! Columns of a saved model's table that lines of features lack.

use std::collections::BTreeSet;

use super::Vw;
use crate::read::error::shown;
use crate::read::options::{CsvRole, CsvSchema};
use crate::read::source::Peek;

/// Number of columns that a remark names.
const SHOWN: usize = 5;

/// A remark on the columns of numbers and categories that none of the first lines has. In a table they would
/// be missing; a feature that a line lacks is 0.
pub(super) fn note(peek: &Peek<'_>, table: &CsvSchema) -> Option<String> {
    let is_needed = |role: CsvRole| matches!(role, CsvRole::Numeric | CsvRole::Categorical);
    let needed = table.fields.iter().filter(|field| is_needed(field.role));
    let needed: Vec<&str> = needed.map(|field| field.name.as_str()).collect();
    let mut absent: BTreeSet<&str> = needed.iter().copied().collect();
    let mut reader = Vw::default();
    for line in peek.lines().filter_map(|line| std::str::from_utf8(line).ok()) {
        let Some((_, features)) = line.split_once('|') else { continue };
        // A category is a feature `column=category`. A line that cannot be read is named where it is read.
        let _ = reader.features(features, |name, _| {
            absent.remove(name);
            for (end, _) in name.match_indices('=') {
                absent.remove(&name[..end]);
            }
        });
    }
    let names: Vec<String> =
        needed.iter().filter(|column| absent.contains(**column)).take(SHOWN).map(shown).collect();
    let more = match absent.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let lines = if peek.all { "no line" } else { "none of the first lines" };
    (!absent.is_empty()).then(|| {
        format!(
            "{lines} has a feature for {}{more}, which the model was trained with: what a line lacks counts as 0 there",
            names.join(", ")
        )
    })
}
