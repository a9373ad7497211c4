//! The events of a decision log, one per line.

use crate::decisions::log::{Header, LearnerPart};

/// A line of a log.
#[derive(Debug)]
pub enum Event {
    /// The first line, if it is a header.
    Header(Box<Header>),
    /// A decision; its features are in the row that was read into.
    Decision(Box<LoggedDecision>),
    /// Feedback for a decision.
    Feedback {
        /// The decision's id.
        id: String,
        /// 1 for right, 0 for wrong, or the reward; `None` if there will never be feedback.
        reward: Option<f64>,
    },
}

/// A decision as it was logged.
#[derive(Debug)]
pub struct LoggedDecision {
    /// Its id; empty if its feedback is in the line.
    pub id: String,
    /// The class that was played, among [`LogReader::labels`](crate::decisions::reader::LogReader::labels).
    pub label: u32,
    /// The probability with which it was played, in (0, 1].
    pub probability: f64,
    /// The whole distribution, in the order of
    /// [`LogReader::labels`](crate::decisions::reader::LogReader::labels) as far as they were known; empty if
    /// it was not logged.
    pub distribution: Vec<f64>,
    /// The labels on offer, ascending and distinct, including the played one; empty for all labels.
    pub offered: Vec<u32>,
    /// 1 for right, 0 for wrong, or the reward, if the line contains the feedback.
    pub reward: Option<f64>,
    /// The learner's part, needed to learn from the decision.
    pub own: Option<LearnerPart>,
    /// The distribution of a policy to evaluate, if the line has one.
    pub evaluation: Vec<f64>,
    /// Estimated rewards of all labels, if the line has them.
    pub estimates: Vec<f64>,
}
