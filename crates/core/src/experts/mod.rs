//! Prediction with expert advice: learners that weigh experts by what these have lost.

pub mod abstention;
pub mod adahedge;
