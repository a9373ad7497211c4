//! The mathematics of online multiclass learning.

pub mod batch;
pub mod bounds;
pub mod kernel;
pub mod loss;

#[cfg(test)]
mod testing;
