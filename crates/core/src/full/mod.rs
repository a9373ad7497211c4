//! Learners that see the truth of every round (full information), one file each.

pub mod aggregating;
pub mod folklore;
pub mod folklore_diag;
pub mod ftrl;
pub mod gaptron;
pub mod ogd;
pub mod perceptron;
pub mod second_order_perceptron;
