//! The mathematics of online multiclass learning.
