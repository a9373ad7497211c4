//! The laws that every learner of the registry keeps, whatever its algorithm.
//!
//! A law names no learner: it runs over the registry and builds problems and targets from what a learner says
//! of itself. Exemptions stand in one table, with their reasons.

#[path = "../support/mod.rs"]
mod support;

mod about;
mod extremes;
mod forecasts;
mod growth;
mod params;
mod saving;
mod timing;
