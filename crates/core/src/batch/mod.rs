//! Batch computations: the best predictor in hindsight, in memory or by passes over rows that are
//! elsewhere, and online-to-batch conversion.

pub mod comparator;
pub mod data;
pub mod online_to_batch;
pub mod passes;
pub mod ridge;

mod accelerated;
mod constrained;
mod interior_point;
mod objective;
