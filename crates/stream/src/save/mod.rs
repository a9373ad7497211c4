//! A model with everything around it that the next row needs; several made one.

pub mod file;
pub mod merge;
mod saved;
mod single;

pub(crate) use saved::Encoding;
pub use saved::{Forecaster, Frozen, Learning, PREDICTED_TOGETHER, Saved, archive_of, snapshot};
pub use single::in_single_precision;
