//! Saved models: a learner with its encoder, schema and generator; merging of models.

pub mod file;
pub mod merge;
mod saved;
mod single;

pub(crate) use saved::Encoding;
pub use saved::{Forecaster, Frozen, Learning, PREDICTED_TOGETHER, Saved, archive_of, best_of, snapshot};
pub use saved::{restrict, restrict_decision};
pub use single::in_single_precision;
