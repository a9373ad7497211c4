//! Learners made of learners: mixtures with guarantees against the best of their members.

pub mod auto;
pub mod mixture;

mod context;
mod expansion;
mod family;
mod lineup;
mod member;
mod stack;
