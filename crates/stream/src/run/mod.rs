//! The loops: `full` reveals the truth of every round, `bandit` whether the played label was right; `pass`
//! sends one reading of the rows through many of them.

pub mod bandit;
pub mod delay;
pub mod feed;
mod full;
pub mod pass;
pub mod score;
pub mod standing;
pub mod threads;

pub use full::{Outcome, RunError, RunOptions, Sink, play, run, run_on};
