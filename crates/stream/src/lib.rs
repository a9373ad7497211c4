//! Moving examples: from bytes to rows, from rows to examples, through learners, and what is kept of it.
//!
//! The rooms, in the order of the data:
//!
//! | room | what happens there |
//! |---|---|
//! | `read` | bytes become [`Row`]s, one [`Reader`] a format; its names are re-exported here |
//! | `write` | rows become bytes again: [`create`] and [`RowWriter`] |
//! | [`synthetic`] | examples made on the spot |
//! | [`encode`] | the first pass over a stream; rows become examples: classes, scaling, intercept |
//! | [`run`] | the loop: predict, score, update, with labels or with right and wrong, for one learner or for many |
//! | [`watch`] | what looks at a run: abstention, calibration, regret, curves |
//! | [`save`] | a model with everything around it that the next row needs |
//! | [`decisions`] | what a bandit learner saw and did, and its feedback: written, read and learnt from again |
//! | [`evaluate`] | what another policy would have earned on logged decisions |
//! | [`draw`] | charts, and a run as one page |

mod read;
mod write;

mod ahead;
pub mod decisions;
pub mod draw;
pub mod encode;
pub mod evaluate;
pub mod mean;
pub mod run;
pub mod save;
pub mod synthetic;
#[cfg(test)]
mod testing;
pub mod watch;
pub mod words;

pub use read::columns::{Columns, Names, hash_name, hash_number};
pub use read::error::{ReadError, ReadErrorKind};
pub use read::format::Format;
pub use read::live::Stop;
pub use read::open::{from_read, open};
pub use read::options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema, Style};
pub use read::reader::Reader;
pub use read::row::{ActionCost, Row, RowLabel};
pub use write::create;
pub use write::replace::Replacement;
pub use write::writer::{RowWriter, WriteError};
