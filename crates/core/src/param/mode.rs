//! The feedback of a learner that has a form for either kind, as a parameter.

use crate::param_words;

param_words! {
    /// What is revealed of a round.
    pub enum Mode {
        /// The label.
        Full = "full",
        /// Whether the played label was right.
        Bandit = "bandit",
    }
}
