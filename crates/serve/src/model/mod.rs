//! A model: what it is made of (`spec`), what happens to it (`event`), what that does (`engine`), how JSON becomes rows (`rows`),
//! how it is saved (`snapshot`), who may look at it (`reader`), and the thread that owns it (`writer`).

pub mod event;
pub mod spec;

pub(crate) mod engine;
pub(crate) mod evaluation;
pub(crate) mod log;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod snapshot;
pub(crate) mod writer;
