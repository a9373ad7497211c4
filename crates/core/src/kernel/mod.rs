//! Mathematics shared by learners, independent of labels, files and algorithms.

pub(crate) mod ball;
pub mod basis;
pub(crate) mod best_of_normals;
pub mod cells;
pub mod diagonal_fixed_point;
pub(crate) mod eigen;
pub mod expected_softmax;
pub mod fixed_point;
pub(crate) mod flat_start;
pub mod inverse_gap;
pub mod landmarks;
pub(crate) mod linalg;
pub mod lowrank_inverse;
pub(crate) mod nearest;
pub mod newton_step;
pub mod quadrature;
pub mod scalar_root;
pub mod second_order;
pub(crate) mod sketched_inverse;
pub mod softmax;
pub(crate) mod trigonometry;
pub mod vector;
pub mod weights;
