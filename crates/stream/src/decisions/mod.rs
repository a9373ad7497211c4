//! What a bandit learner saw and did, and its feedback: written (`log`, `file`), read (`reader`, line by
//! line; `logged`, of any origin; `foreign`, with columns of other names), and learnt from again to the bit
//! (`replay`).

pub mod event;
pub mod file;
pub mod foreign;
pub(crate) mod line;
pub mod log;
pub mod logged;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
mod parquet_reader;
pub mod pending;
pub mod reader;
pub mod replay;
