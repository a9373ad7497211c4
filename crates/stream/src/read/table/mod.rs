//! Tables: the kinds of columns, and their features.
//!
//! A format hands over [`Cell`]s, and a [`Column`] makes features of them; [`Table`] is a reader of such a
//! format, its [`Records`]. `roles` infers the kinds of columns from the first rows, and `remarks` has
//! sentences about odd rows and columns; `text`, `time`, `duration` and `amount` parse one kind each. The
//! kinds are saved with a model, so that later rows are read in the same way.

pub(crate) mod amount;
mod cell;
mod column;
mod describe;
mod duration;
mod features;
mod layout;
mod moment;
mod names;
mod reader;
mod remarks;
mod roles;
mod sample;
pub(crate) mod schema;
mod text;
mod time;
pub(crate) mod words;

pub(crate) use cell::Cell;
pub(crate) use column::{Column, absent_note, absent_numbers, is_needed};
pub(crate) use describe::describe_roles;
#[cfg(feature = "parquet")]
pub(crate) use duration::of_seconds;
pub(crate) use features::{Features, features};
#[cfg(feature = "parquet")]
pub(crate) use features::{all_numbers, count_numbers};
pub(crate) use layout::{
    Inferred, agree, check_asked, check_known, infer, like_a_log, other_case, saved_layout,
};
pub use moment::moment_features;
#[cfg(feature = "parquet")]
pub(crate) use names::offered_column;
pub(crate) use names::{Names, find_column, label_and_weight, names};
pub(crate) use reader::{Records, Table, assign};
#[cfg(feature = "parquet")]
pub(crate) use roles::role_word;
pub(crate) use roles::{Decided, decide};
pub(crate) use sample::{FEW, Sample};
pub(crate) use schema::MISSING;
pub(crate) use time::parse as parse_time;
pub use time::time_features;
#[cfg(feature = "parquet")]
pub(crate) use time::{Moment, SECONDS_OF_DAY};
