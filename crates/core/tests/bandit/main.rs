//! The laws that every bandit learner of the registry keeps, whatever its algorithm; and the theorems, asserted.

mod bounds;
mod contract;
mod laws;
mod support;
mod tight;
mod traces;
