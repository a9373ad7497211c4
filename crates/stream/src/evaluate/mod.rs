//! Off-policy evaluation of logged decisions: policies and options (`question`), estimators as pure
//! sums (`off_policy`), their computation from logs and arrays (`passes`, `arrays`), comparison of
//! policies (`differences`), and estimates of rewards (`reward_model`).

mod arrays;
mod bench;
mod differences;
pub mod off_policy;
mod passes;
mod question;
pub mod reward_model;
mod sequence;
mod tally;

pub use arrays::LoggedArrays;
pub use differences::{Compared, Difference, compare};
pub use passes::{EvaluateError, MakeLearner, evaluate};
pub use question::{EvaluateOptions, Evaluation, Policy};
