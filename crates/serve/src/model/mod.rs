//! A model: its settings (`spec`, `service`), events (`event`) and their effects (`engine`, by the kind of
//! the round: `learn`, `decide`, with forecasts that are `found` `ahead`, `answers`, `shadow`), labels that
//! come and go (`labels`), what waits for an answer (`waiting`), what is on offer (`offer`), counts
//! (`standing`), JSON to features (`flat`) and rows (`rows`), those of a table (`table`), room for new ones
//! (`room`), files (`snapshot`), read-only copies (`reader`), importance of features (`importance`), its
//! queue (`handle`), the thread that owns it (`writer`) while it is awake (`worker`), what both have in
//! common (`shared`), what it holds unless the model rests (`held`), what a start shows of one that rests
//! (`rested`), the thread that sends events to a shadow (`follower`), evaluations that go on after their
//! request (`continued`), and recovery (`recovery`).

pub mod event;
pub mod spec;

mod ahead;
mod answers;
pub(crate) mod continued;
mod decide;
pub(crate) mod engine;
pub(crate) mod evaluation;
pub mod flat;
pub(crate) mod follower;
mod found;
pub(crate) mod handle;
pub(crate) mod held;
pub(crate) mod importance;
mod labels;
mod learn;
pub(crate) mod log;
mod offer;
pub(crate) mod reader;
pub(crate) mod recovery;
mod rested;
mod room;
pub(crate) mod rows;
mod service;
mod shadow;
pub(crate) mod shared;
pub(crate) mod snapshot;
pub(crate) mod standing;
mod table;
mod waiting;
mod worker;
mod writer;
