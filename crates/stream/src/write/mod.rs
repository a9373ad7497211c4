//! From rows to bytes.

#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod replace;
pub(crate) mod writer;
