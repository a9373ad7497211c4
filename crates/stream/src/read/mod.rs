//! From bytes to rows: `open` finds out the `format`; `source` splits what `decompress` gives into lines; a
//! file for each format makes [`Row`](row::Row)s of them, as the [`Reader`](reader::Reader) that all of them
//! are.

mod ahead;
mod arff;
pub(crate) mod columns;
pub(crate) mod csv;
mod decompress;
pub(crate) mod error;
pub(crate) mod format;
mod libsvm;
pub(crate) mod live;
mod ndjson;
mod number;
pub(crate) mod open;
pub(crate) mod options;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod reader;
pub(crate) mod row;
pub(crate) mod source;
mod table;
mod vw;
