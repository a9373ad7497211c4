//! What another policy would have earned on logged decisions: what is asked (`question`), estimators as pure
//! sums (`off_policy`), the passes that feed them (`passes`, `arrays`), and what labels are expected to earn
//! (`reward_model`).

mod arrays;
mod bench;
mod differences;
pub mod off_policy;
mod passes;
mod question;
pub mod reward_model;
mod tally;

pub use arrays::LoggedArrays;
pub use differences::{Compared, Difference, compare};
pub use passes::{EvaluateError, MakeLearner, evaluate};
pub use question::{EvaluateOptions, Evaluation, Policy};
