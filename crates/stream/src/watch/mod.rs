//! Observers of a run, as [`Sink`](crate::run::Sink)s with bounded memory.

pub mod abstain;
pub mod baseline;
pub mod calibration;
pub mod certify;
pub mod curve;
pub mod explain;
pub mod influence;
pub mod spread;
