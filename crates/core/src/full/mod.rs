//! Learners that receive the label of every round (full information), one file each.

pub mod aggregating;
pub mod aioli;
pub mod conditional_logit;
pub mod folklore;
pub mod folklore_diag;
pub mod folklore_intervals;
pub mod folklore_sketch;
pub mod ftrl;
pub mod gaf;
pub mod gaptron;
pub mod gaussian_forecaster;
pub mod kernel_aioli;
pub mod kernel_aioli_landmarks;
pub mod label_tree;
pub mod ogd;
pub mod ons;
pub mod ons_diag;
pub mod ons_sketch;
pub mod perceptron;
pub mod second_order;
#[doc(hidden)]
pub mod second_order_margin;
pub mod second_order_perceptron;
pub mod vaw;
