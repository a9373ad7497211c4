//! Prediction with expert advice: learners that weigh experts by what these have lost, and learners made of learners, with
//! guarantees against the best of their members.

pub mod abstention;
pub mod adahedge;
pub mod auto;
pub mod mixture;
pub mod votes;
