//! Online multiclass learning with regret guarantees.
pub mod algorithm;
pub mod bounds;
pub mod example;
pub mod full;
pub mod kernel;
pub mod learner;
pub mod loss;
pub mod model;
pub mod param;
pub mod prediction;
pub mod problem;
pub mod registry;
pub mod replace;
pub mod rng;
pub mod state;

#[cfg(test)]
mod testing;
