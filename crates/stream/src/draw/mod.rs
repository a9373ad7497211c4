//! Charts, and the HTML report of a run.

pub mod plot;
pub mod report;
