//! From bytes to rows, in the order of the data:
//!
//! * `open` opens what is asked for (`options`, `missing`, `logs`) in its `format`, given or by the first
//!   lines (`recognise`).
//! * `source` splits bytes into lines: of files (`decompress`), pipes (`live`), Redis streams (`redis`), and
//!   arrays of JSON (`objects`).
//! * A module for each format makes a [`Row`](row::Row) of them: `arff`, `csv`, `libsvm`, `ndjson`, `parquet`
//!   and `vw`, and `memory` for a table of another program. It implements [`Reader`](reader::Reader), mostly
//!   by lines (`reader`) or by cells (`table`).
//! * A `row` has a `number` for each of some `columns`, which may be the `hash` of a name; a `label`, or
//!   `costs`; the labels on `offer` in a `round`; and features for numbers that are missing (`holes`).
//! * Above all formats, `unlabelled` takes away labels that are missing, and `ahead` reads on a thread.
//!
//! What is wrong is an `error`, and what is odd a `remark`, as those of `absent`, `blank` and `counting`;
//! `looks` tells which texts look alike.

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
pub(crate) mod looks;
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
pub(crate) mod round;
pub(crate) mod row;
pub(crate) mod source;
pub(crate) mod table;
mod unlabelled;
pub(crate) mod vw;
