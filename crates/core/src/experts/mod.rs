//! Prediction with expert advice: learners that weight experts by their losses, and mixtures of learners,
//! with guarantees against the best expert or member.
//!
//! What is proved about [`auto`] is theory: mixtures 2.1, 3.1. Its families of learners around one matrix
//! (theory: mixtures 2.3, extensions 6.2), its stacks (theory: mixtures 2.2) and its measurement of the unit
//! (theory: mixtures 3.2) are heuristics; the mixture's theorem holds whatever their losses are.

pub mod abstention;
pub mod adahedge;
pub mod auto;
pub mod mixture;
pub mod votes;
