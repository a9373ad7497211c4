//! Prediction with expert advice: learners that weigh experts by what these have lost, and learners made of
//! learners, with guarantees against the best of their members.
//!
//! What is proved about [`auto`] is theory: mixtures 2.1, 3.1. Its families of learners around one matrix
//! (theory: mixtures 2.3, extensions 6.2), its stacks (theory: mixtures 2.2) and the unit that it measures
//! (theory: mixtures 3.2) are heuristics, which the mixture's theorem covers as they are.

pub mod abstention;
pub mod adahedge;
pub mod auto;
pub mod mixture;
pub mod votes;
