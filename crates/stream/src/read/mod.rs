//! From bytes to rows: `open` recognises the `format`; `source` splits the bytes from `decompress`
//! into lines; one module per format implements [`Reader`](reader::Reader) and parses lines into
//! [`Row`](row::Row)s.

mod absent;
mod ahead;
pub(crate) mod arff;
mod blank;
pub(crate) mod columns;
pub(crate) mod costs;
mod counting;
pub(crate) mod csv;
mod decompress;
pub(crate) mod error;
pub(crate) mod format;
pub(crate) mod hash;
mod holes;
pub(crate) mod label;
mod libsvm;
pub(crate) mod live;
pub(crate) mod logs;
pub(crate) mod memory;
pub(crate) mod missing;
pub(crate) mod ndjson;
pub(crate) mod number;
mod objects;
pub(crate) mod offer;
pub(crate) mod open;
pub(crate) mod options;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod reader;
pub(crate) mod recognise;
#[cfg(not(feature = "redis"))]
#[path = "no_redis.rs"]
pub(crate) mod redis;
#[cfg(feature = "redis")]
pub(crate) mod redis;
pub(crate) mod remark;
pub(crate) mod row;
pub(crate) mod source;
pub(crate) mod table;
mod unlabelled;
pub(crate) mod vw;
