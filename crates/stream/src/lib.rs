//! Data handling and runs: from bytes to rows, from rows to examples, through learners, and saving
//! the results.
//!
//! The modules, in the order of the data:
//!
//! | module | content |
//! |---|---|
//! | `read` | bytes to [`Row`]s, one [`Reader`] per format; its names are re-exported here |
//! | `write` | rows to bytes: [`create`] and [`RowWriter`] |
//! | [`encode`] | the first pass over a stream; rows to examples: classes, scaling, intercept |
//! | [`setup`] | the learner with its encoder, for the facts about a stream and what somebody asks for |
//! | [`caution`] | what works where a theorem's constants are too cautious, or a learner too slow |
//! | [`run`] | the loop: predict, score, update, with full or bandit feedback, for one learner or many |
//! | [`watch`] | observers of a run: abstention, calibration, regret, curves |
//! | [`save`] | model files, with encoder and state of the run |
//! | [`decisions`] | decision logs: writing, reading and replaying |
//! | [`evaluate`] | off-policy evaluation of logged decisions |
//! | [`draw`] | charts, and the HTML report of a run |
//!
//! They share `fault`, what is wrong before its place is known; [`words`], numbers and names in sentences;
//! [`mean`], means and variances online; and `ahead`, work on a thread of its own.

mod read;
mod write;

mod ahead;
pub mod caution;
pub mod decisions;
pub mod draw;
pub mod encode;
pub mod evaluate;
mod fault;
pub mod mean;
pub mod run;
pub mod save;
pub mod setup;
#[cfg(test)]
mod testing;
pub mod watch;
pub mod words;

pub use fault::Fault;
pub use read::columns::{ALWAYS_DENSE, Columns, Names};
pub use read::costs::Costs;
pub use read::error::{Place, ReadError, ReadErrorKind};
pub use read::format::Format;
pub use read::hash::{hash_name, hash_number};
pub use read::label::{GivenLabel, LabelType, of_number as label_of_number, written as label_of_value};
pub use read::live::Stop;
pub use read::memory::{MemoryCell, MemoryTable};
pub use read::missing::Missing;
pub use read::ndjson::nan::without_nan;
pub use read::ndjson::single::TableRows;
pub use read::offer::fill_round;
pub use read::open::{from_read, from_table, open};
pub use read::options::{Offers, ReadOptions, Schema, redis_stream};
pub use read::reader::Reader;
pub use read::remark::Remark;
pub use read::round::{Described, DescribedRound};
pub use read::row::{ActionCost, Row, RowLabel};
pub use read::source::data_name;
pub use read::table::schema::{CsvField, CsvRole, CsvSchema, Style};
pub use read::table::{moment_features, time_features};
pub use write::replace::{Replacement, remove_abandoned};
pub use write::writer::{RowWriter, WriteError};
pub use write::{create, csv_cell, redis_entries};
