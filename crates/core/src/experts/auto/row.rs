//! A row in the forms that the members take.

use crate::example::Features;

use super::unit::Unit;

/// The form of a row that a kind of member takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    /// [`Row::plain`].
    Plain,
    /// [`Row::scaled`].
    Scaled,
    /// [`Row::both`].
    Both,
}

/// See the [module](self).
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// In multiples of the unit, with its second view if it is sparse and has one.
    both: Features<'a>,
    /// In multiples of the unit.
    scaled: Features<'a>,
    /// For members without a unit: a dense row before scaling if it has two views, otherwise the row as it
    /// was given.
    plain: Features<'a>,
}

impl<'a> Row<'a> {
    /// The row `x` of a problem with `features` features; `room` is for its multiples of the unit.
    pub(super) fn new(x: Features<'a>, unit: &Unit, features: usize, room: &'a mut Vec<f64>) -> Self {
        let both = unit.scaled(x, room);
        let (first, second) = x.views(features);
        let plain = if let Features::Dense(_) = x { second } else { first };
        Self { both, scaled: both.views(features).0, plain }
    }

    /// The form `view`.
    pub(super) fn seen_as(self, view: View) -> Features<'a> {
        match view {
            View::Plain => self.plain,
            View::Scaled => self.scaled,
            View::Both => self.both,
        }
    }
}
