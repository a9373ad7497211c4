//! A model with everything around it that the next row needs; several made one.

pub mod file;
pub mod merge;
mod saved;

pub(crate) use saved::Encoding;
pub use saved::{Forecaster, Frozen, Learning, PREDICTED_TOGETHER, Saved, archive_of, snapshot};
