//! Mixtures whose members are divided among processes.
//!
//! What a member forecasts depends on rows and labels alone, not on the weights that the mixture gives it. So
//! a process with copies of some members can predict and learn many rows without the others, and send its
//! forecasts to the process that has the mixture; this one forecasts and learns as if it had all members, to
//! the bit. Only when members join or are dropped, it needs the members themselves.

/// A learner whose members can be divided among processes, each of which has a copy of it to begin with, and
/// is given the same rows, all with labels. A member is named by its place among all members.
pub trait Divided {
    /// What a round of each member costs, in any unit: 0 for those that are not divided, since they were
    /// dropped, or cost so little that every process has them. `None` before members can be divided.
    fn costs(&self) -> Option<Vec<f64>>;

    /// From now on, of the members that are divided only `members` predict and learn, and there is no
    /// mixture: what is forecast for the rounds means nothing. [`Divided::lent`] has the members' forecasts.
    fn lend(&mut self, members: &[usize]);

    /// What `member` has forecast since the last call.
    fn lent(&mut self, member: usize) -> Vec<f64>;

    /// From now on, `members` do nothing: their forecasts come from [`Divided::foresee`].
    fn borrow(&mut self, members: &[usize]);

    /// Gives the forecasts of a borrowed member for the next rounds. False, without a change, if they are not
    /// those of so many `rounds`.
    fn foresee(&mut self, member: usize, rounds: usize, forecasts: Vec<f64>) -> bool;

    /// The state of a member.
    fn member(&mut self, member: usize) -> Vec<f64>;

    /// Replaces the state of a member by one of [`Divided::member`]. False, without a change, if it is none.
    fn set_member(&mut self, member: usize, state: &[f64]) -> bool;

    /// From now on, all members predict and learn. Those that were borrowed need their states before.
    fn unite(&mut self);
}
