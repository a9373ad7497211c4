//! What looks at a run as it goes, as a [`Sink`](crate::run::Sink), and keeps little.

pub mod abstain;
pub mod baseline;
pub mod calibration;
pub mod certify;
pub mod curve;
pub mod explain;
pub mod influence;
pub mod spread;
