//! Learners that see the truth of every round (full information), one file each.

pub mod aioli;
pub mod folklore;
pub mod gaf;
pub mod gaussian_forecaster;
pub mod kernel_aioli;
pub mod ogd;
pub mod ons;
pub mod ons_diag;
pub mod vaw;
