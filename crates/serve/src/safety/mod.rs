//! Limits, valid names, and keys.

pub(crate) mod keys;
pub mod limits;
pub(crate) mod names;
