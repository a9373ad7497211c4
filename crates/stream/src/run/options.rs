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
    /// Whether the learner takes in the classes that it does not have yet, as they occur. The encoder must
    /// have room for them; a learner that cannot grow ends the run.
    pub takes_in: bool,
    /// Stop after this many rows.
    pub limit: Option<u64>,
    /// Seed of the drawn labels, for learners that randomise.
    pub seed: u64,
}

impl RunOptions {
    /// Those of rows that are all there, with their labels: read ahead, scored one by one, to the end, by a
    /// learner that knows its classes.
    pub fn new(forecast: Forecast, seed: u64) -> Self {
        let delay = Lateness::default();
        Self { forecast, delay, look_ahead: true, window: 1, takes_in: false, limit: None, seed }
    }
}
