//! Durations and times of day, which are read as seconds.

use std::collections::HashSet;

use super::{FEW, Look, MOSTLY};
use crate::read::error::shown;
use crate::read::table::schema::Style;
use crate::read::table::{amount, duration};

/// Up to so many different times of day, which come again, are categories, as the hours are.
const CLOCKS: usize = 48;

impl<'a> Look<'a> {
    /// The notation of durations, if nearly all cells are some, or all but a few words that are repeated,
    /// such as DNF. Numbers of seconds may be among them, but no more than durations.
    pub(super) fn durations(&self) -> Option<Style> {
        let style = if duration::in_minutes(self.texts()) { Style::Minutes } else { Style::Duration };
        let is_one = |cell: &[u8]| amount::parse(cell, Some(style)).is_some();
        let count = self.cells.iter().filter(|cell| is_one(cell)).count();
        if count == 0 || 2 * self.lasting(style).count() < count {
            return None;
        }
        let all = self.cells.len();
        let nearly = || all >= FEW && (count as f64 >= MOSTLY * all as f64 || self.has_few_words(is_one));
        (count == all || nearly()).then_some(style)
    }

    /// The cells that are durations and no numbers.
    fn lasting(&self, style: Style) -> impl Iterator<Item = &'a [u8]> {
        let is_one = move |cell: &&[u8]| duration::seconds(cell, style == Style::Minutes).is_some();
        self.cells.iter().copied().filter(is_one)
    }

    /// Whether durations are the hours of a day, which come again.
    pub(super) fn are_hours(&self, style: Style) -> bool {
        let cells: Vec<&[u8]> = self.lasting(style).collect();
        let distinct = cells.iter().collect::<HashSet<_>>().len();
        let again = distinct <= CLOCKS && (cells.len() < FEW || 10 * distinct < 9 * cells.len());
        style == Style::Duration && again && cells.into_iter().all(duration::is_clock)
    }

    /// A remark on durations.
    pub(super) fn about_durations(&self, name: &str, style: Style) -> String {
        let what = match style {
            Style::Minutes => "minutes and seconds",
            _ => "durations or times of day",
        };
        let (name, first) = (shown(name), self.lasting(style).next().map_or_else(String::new, shown));
        format!(
            "column {name} holds {what}, such as {first}, which are read as seconds; named as a categorical column, it holds texts"
        )
    }
}
