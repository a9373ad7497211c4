//! What keeps a service from harm: limits, names that cannot leave the folder, keys.

pub(crate) mod keys;
pub mod limits;
pub(crate) mod names;
