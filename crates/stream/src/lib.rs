//! Moving examples.
