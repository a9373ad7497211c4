//! Charts, and a run as one page.

pub mod plot;
pub mod report;
