//! What the lines of a decision log say.

use crate::decisions::log::{Header, LearnerPart};

/// A line of a log.
#[derive(Debug)]
pub enum Event {
    /// The first line, if it is a header.
    Header(Box<Header>),
    /// A decision; its features are in the row that was read into.
    Decision(Box<LoggedDecision>),
    /// The feedback of a decision.
    Feedback {
        /// Of which.
        id: String,
        /// 1 for right, 0 for wrong, or the reward; `None`: there will never be one.
        reward: Option<f64>,
    },
}

/// A decision as it was logged.
#[derive(Debug)]
pub struct LoggedDecision {
    /// Its name.
    pub id: String,
    /// The class that was played, among [`LogReader::labels`](crate::decisions::reader::LogReader::labels).
    pub label: u32,
    /// The probability with which it was played, in (0, 1].
    pub probability: f64,
    /// The whole distribution, in the order of
    /// [`LogReader::labels`](crate::decisions::reader::LogReader::labels) as far as they were known; empty if
    /// it was not logged.
    pub distribution: Vec<f64>,
    /// The labels on offer, ascending and without repetition, the one that was played among them; empty if
    /// the line does not say, which means all.
    pub offered: Vec<u32>,
    /// 1 for right, 0 for wrong, or the reward, if it was known at once.
    pub reward: Option<f64>,
    /// What the learner needs to learn from it.
    pub own: Option<LearnerPart>,
    /// The distribution of a policy to be evaluated, if the line gives one.
    pub evaluation: Vec<f64>,
    /// Estimated rewards of all labels, if the line gives them.
    pub estimates: Vec<f64>,
}
