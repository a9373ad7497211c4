//! From bytes to rows: `reader` opens a file of any `format` through `source`, which splits what `decompress` gives into lines;
//! a file for each format makes [`Row`](row::Row)s of them.

mod ahead;
pub(crate) mod columns;
pub(crate) mod csv;
mod decompress;
pub(crate) mod error;
pub(crate) mod format;
mod libsvm;
mod ndjson;
mod number;
pub(crate) mod options;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod reader;
pub(crate) mod row;
pub(crate) mod source;
mod vw;
