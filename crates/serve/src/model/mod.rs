//! A model: what it is made of (`spec`), what happens to it (`event`), what that does (`engine`, by the kind
//! of the round: `learn`, `decide`, `answers`, `shadow`), what is counted (`standing`), how JSON becomes
//! features (`flat`) and rows (`rows`), how it is saved (`snapshot`), who may look at it (`reader`), which of
//! its features matter (`importance`), how requests reach it (`handle`), the thread that owns it (`writer`),
//! and what tells a shadow of its model (`follower`).

pub mod event;
pub mod spec;

mod answers;
mod decide;
pub(crate) mod engine;
pub(crate) mod evaluation;
pub mod flat;
pub(crate) mod follower;
pub(crate) mod handle;
pub(crate) mod importance;
mod learn;
pub(crate) mod log;
pub(crate) mod reader;
pub(crate) mod rows;
mod shadow;
pub(crate) mod snapshot;
mod standing;
mod writer;
