//! The numerical kernels that learners share.

pub mod curvature;
