//! What some learners can and others cannot: a trait for each, and a method of
//! [`OnlineLearner`](crate::learner::OnlineLearner) or [`Predictor`](crate::learner::Predictor) that leads to
//! it, `None` for learners without it. A wrapper hands on that one method.

use crate::example::{Batch, Features, Label, Rounds};
use crate::guarantee::Promise;
use crate::prediction::Prediction;

/// Finds a few of very many labels in much less time than a forecast of all takes. `out` is a buffer whose
/// content is unspecified afterwards, except that it may be passed to `update` for the same `x`.
pub trait FewLabels {
    /// Writes the `count` most probable labels with their probabilities to `best`, in descending order.
    fn best(&self, x: Features<'_>, count: usize, out: &mut Prediction, best: &mut Vec<(Label, f64)>);

    /// The probability of `label`.
    fn probability(&self, x: Features<'_>, label: Label, out: &mut Prediction) -> f64;
}

/// Uses rows that come later, for speed only.
pub trait LookAhead {
    /// Number of future rows that can be used at present, see [`LookAhead::prepare`]; 0 for none.
    fn lookahead(&self) -> usize;

    /// Announces the features of future rows: predictions equal those of the sequential algorithm up to
    /// rounding, and rows may be skipped, reordered or never come.
    fn prepare(&mut self, announced: &dyn Batch);

    /// Announces the rows of the last prepared batch from index `at` on, in whose place it had empty rows.
    /// With this a run can be interrupted between any two rows, and continued bit for bit.
    fn prepare_rest(&mut self, at: usize, announced: &dyn Batch);
}

/// Works at several rounds at once, on the threads of
/// [`set_workers`](crate::learner::OnlineLearner::set_workers) or in other processes.
pub trait Together {
    /// Whether there are such threads or processes at present; otherwise one round after another is as fast.
    fn works_ahead(&self) -> bool;

    /// Predicts and learns `rounds`, with the forecasts and the state, to the bit, of
    /// [`predict`](crate::learner::Predictor::predict) and
    /// [`update`](crate::learner::OnlineLearner::update) in every round. Calls `each` with the round's index
    /// and prediction, in order, and possibly after later rounds were learnt; `out` is a buffer. Predictions
    /// lack the by-products that `update` reuses.
    fn predict_and_update(
        &mut self,
        rounds: &dyn Rounds,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    );
}

/// A mixture whose members can be divided among processes, each of which has a copy of it to begin with, and
/// is given the same rows, all with labels. A member is named by its place among all members.
///
/// What a member forecasts depends on rows and labels alone, not on the weights that the mixture gives it. So
/// a process with copies of some members can predict and learn many rows without the others, and send its
/// forecasts to the process that has the mixture; this one forecasts and learns as if it had all members, to
/// the bit. Only when members join or are dropped, it needs the members themselves.
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

/// Fits to all rows so far what was fitted to a part of them, with time for a better fit.
pub trait Settle {
    /// Does so, for a model that is about to forecast without learning. Learning may go on.
    fn settle(&mut self);

    /// Announces that [`settle`](Settle::settle) is called after `rounds` more rounds, and that only the
    /// forecasts from then on count: what serves those before may be left out. An announcement is no part of
    /// the state; whoever loads a model before it is settled announces the rest of the rounds again.
    fn settle_after(&mut self, rounds: u64);
}

/// Abstains by itself, with probability [`Prediction::abstain`].
pub trait Abstain {
    /// Upper bound on the expected cost of the rounds so far (1 for an error, at most `cost` for abstaining)
    /// minus the total loss of the best expert, or the reason why there is none.
    fn abstention_bound(&self, cost: f64) -> Promise;
}

/// Shows what is inside of it.
pub trait Inside {
    /// The weights of a mixture's members, by name.
    fn weights(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// The names of members that a mixture has left out to limit time or memory.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// Figures of the state, by name, such as the edges of weak learners.
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// Intermediate results of `at`, the learner's last prediction, by name, as lists of rows, for traces.
    fn explain(&self, _at: &Prediction) -> Vec<(&'static str, Vec<Vec<f64>>)> {
        Vec::new()
    }
}
