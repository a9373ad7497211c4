//! What some learners can and others cannot: a trait for each, and a method of
//! [`OnlineLearner`](crate::learner::OnlineLearner) or [`Predictor`](crate::learner::Predictor) that leads to
//! it, `None` for learners without it. A wrapper hands on that one method.

use crate::example::Batch;

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
