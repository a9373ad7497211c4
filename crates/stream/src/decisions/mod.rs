//! Decision logs: the decisions of a bandit learner and their feedback. `log` and `file` write
//! them, `reader` reads them, `logged` and `foreign` read logs of other programs, `rows` makes rows
//! of data of them, `pending` keeps decisions until their feedback, and `replay` learns a log again,
//! bit for bit.

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
pub mod rows;

/// What a log of ours is for, where data were needed.
pub(crate) const NO_DATA: &str = "is a log of decisions: a run with bandit feedback learns from it, replay learns it again, and evaluate says \
                                  what other policies would have earned";

/// What a log of ours says where that of another program was announced.
pub(crate) const OURS: &str = "is a log of decisions in the project's own format, whose lines say what was played and earned: leave out the \
                               options for logs of other programs (decision, probability, reward, offered, those about columns, and for \
                               evaluate rewards and costs)";
