//! The loops: `full` reveals the label of every round, `bandit` only whether the played label was
//! right; `pass` reads rows once for many runs.

pub mod bandit;
pub mod delay;
pub mod feed;
mod full;
mod options;
pub mod pass;
pub mod score;
pub mod standing;
pub mod threads;

pub use full::{Outcome, RunError, Sink, play, run, run_on};
pub use options::RunOptions;
