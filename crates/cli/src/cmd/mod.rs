//! The subcommands, one module each.

pub(crate) mod calibrate;
pub(crate) mod compare;
#[cfg(feature = "fetch")]
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod predict;
pub(crate) mod repeat;
pub(crate) mod replay;
pub(crate) mod reproduce;
pub(crate) mod run;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod trace;
