//! Raw tables: the kinds of columns, and their features.
//!
//! [`roles`] infers the kinds of columns from the first rows, and `remarks` has sentences about odd
//! rows and columns; `cell` converts cells to features, for all formats; `text`, `time` and `amount`
//! parse one kind each. The kinds are saved with a model, so that later rows are read in the same way.

mod amount;
mod cell;
mod cells;
mod remarks;
mod roles;
mod sample;
mod text;
mod time;
pub(crate) mod words;

pub(crate) use cell::{Cell, absent_note, absent_numbers, is_needed, new_note};
pub(crate) use cells::{Cells, cells};
pub(crate) use roles::{Decided, decide};
#[cfg(feature = "parquet")]
pub(crate) use roles::{count_numbers, role_word};
pub(crate) use sample::Sample;
pub use time::time_features;
