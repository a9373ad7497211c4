//! The mathematics that learners share. Nothing here knows of labels, files or algorithms.

pub(crate) mod ball;
pub mod basis;
pub mod curvature;
pub mod expected_softmax;
pub mod fixed_point;
pub(crate) mod linalg;
pub mod lowrank_inverse;
pub mod scalar_root;
pub mod softmax;
pub mod vector;
pub mod weights;
