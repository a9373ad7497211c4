//! Properties that every learner of the registry has.
//!
//! A law names no learner: it applies to the registry, and constructs problems and targets from a learner's
//! description. Exemptions are in one table, with their reasons.

#[path = "../support/mod.rs"]
mod support;

#[path = "../bandit/support.rs"]
#[allow(dead_code, reason = "shared with the bandit suite")]
mod bandits;

mod about;
mod both;
mod extremes;
mod forecasts;
mod growth;
mod params;
mod refusals;
mod saving;
mod timing;
