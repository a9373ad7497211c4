//! Off-policy evaluation of logged decisions: policies and options (`question`), estimators as pure
//! sums (`off_policy`), their computation from logs and arrays (`passes`, `arrays`), policies that learn
//! (`learning`), labels that are positions (`place`), whether labels were drawn as logged (`drawn`),
//! comparison of policies (`differences`), and estimates of rewards (`reward_model`).

mod arrays;
mod bench;
mod differences;
mod drawn;
mod learning;
pub mod off_policy;
mod passes;
mod place;
mod question;
pub mod reward_model;
mod sequence;
mod survey;
mod tally;

pub use arrays::LoggedArrays;
pub use differences::{Compared, Difference, compare};
pub use learning::{Learning, Learnt, Stage};
pub use passes::{MakeLearner, evaluate};
pub use question::{EvaluateOptions, Evaluation, Policy};
pub use survey::EvaluateError;
pub use tally::{Support, Tally};
