//! Moving examples.

pub mod abstain;
mod ahead;
pub mod bandit;
pub mod calibration;
pub mod certify;
mod columns;
mod csv;
mod csv_layout;
mod csv_text;
pub mod curve;
mod decision_line;
pub mod decision_log;
#[cfg(feature = "parquet")]
pub mod decision_parquet;
#[cfg(feature = "parquet")]
mod decision_parquet_reader;
pub mod decision_reader;
mod decompress;
pub mod delay;
pub mod encode;
mod encode_ahead;
pub mod evaluate;
pub mod examples;
pub mod feed;
mod format;
pub mod labels;
mod libsvm;
pub mod log_file;
pub mod logged;
mod measure;
pub mod merge;
mod ndjson;
mod ndjson_visit;
mod number;
pub mod off_policy;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_writer;
pub mod pass;
pub mod pending;
pub mod plot;
mod read_ahead;
mod read_error;
mod reader;
pub mod replay;
pub mod report;
pub mod reward_model;
mod row;
pub mod run;
pub mod saved;
pub mod scale;
pub mod score;
mod source;
pub mod spread;
pub mod survey;
pub mod synthetic;
#[cfg(test)]
mod testing;
mod vw;
mod writer;

pub use columns::{Columns, Names, hash_name, hash_number};
pub use format::Format;
pub use options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema};
pub use read_error::{ReadError, ReadErrorKind};
pub use reader::{Reader, from_read, open};
pub use row::{ActionCost, Row, RowLabel};
pub use writer::{RowWriter, WriteError, create};
