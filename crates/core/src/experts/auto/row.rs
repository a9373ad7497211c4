//! A row in the forms that the members take.

use crate::example::Features;

/// The form of a row that a kind of member takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    /// [`Row::plain`].
    Plain,
    /// [`Row::given`].
    Given,
    /// [`Row::scaled`].
    Scaled,
    /// [`Row::both`].
    Both,
}

/// See the [module](self).
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// In multiples of the unit, with its second view if it is sparse and has one.
    pub(super) both: Features<'a>,
    /// In multiples of the unit.
    pub(super) scaled: Features<'a>,
    /// For members without a unit: a dense row before scaling if it has two views, otherwise the row as it
    /// was given.
    pub(super) plain: Features<'a>,
    /// As it is in the data, where the row has a view for it, also for sparse rows; otherwise before the
    /// unit.
    pub(super) given: Features<'a>,
}

impl<'a> Row<'a> {
    /// The form `view`.
    pub(super) fn seen_as(self, view: View) -> Features<'a> {
        match view {
            View::Plain => self.plain,
            View::Given => self.given,
            View::Scaled => self.scaled,
            View::Both => self.both,
        }
    }
}
