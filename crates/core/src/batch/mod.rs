//! What is computed from all rounds at once.

pub mod comparator;
pub mod data;
pub mod ridge;

mod accelerated;
mod interior_point;
mod objective;
