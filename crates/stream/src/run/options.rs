//! Options of a run.

use noregret::algorithm::Forecast;

use crate::run::delay::Lateness;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The kind of the learner's output.
    pub forecast: Forecast,
    /// The delay of labels.
    pub delay: Lateness,
    /// Whether rows may be read ahead, for speed. Must be false if the sender of rows waits for
    /// each answer.
    pub look_ahead: bool,
    /// Number of rounds of windowed scores.
    pub window: usize,
    /// Whether the learner takes in the classes that it does not have yet, as they occur. It must be able to
    /// grow, and the encoder must have room for them.
    pub takes_in: bool,
    /// Stop after this many rows.
    pub limit: Option<u64>,
    /// Seed of the drawn labels, for learners that randomise.
    pub seed: u64,
}
