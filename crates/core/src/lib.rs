//! The mathematics of online multiclass learning.

pub mod kernel;
pub mod loss;

#[cfg(test)]
mod testing;
