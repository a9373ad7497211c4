//! What is computed from all rounds at once, or for rows to come.

pub mod comparator;
pub mod data;
pub mod online_to_batch;
pub mod ridge;

mod accelerated;
mod interior_point;
mod objective;
