//! The program `noregret` as its users see it: arguments and files in; output, messages and exit codes out.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod adaptive;
mod bad_data;
mod bad_model;
mod bad_output;
mod bad_usage;
mod bandit;
mod bandit_log;
mod batch_model;
mod calibrate;
mod certify;
mod compare;
#[cfg(feature = "fetch")]
mod data;
mod decision_logs;
mod demo;
mod evaluate;
mod experts;
mod files;
mod foreign;
mod generate;
mod going_on;
mod help;
mod inspect;
mod kill;
mod labels;
mod list;
mod live_pipes;
mod logs_of_others;
mod merge;
mod model_files;
mod odd_data;
mod offers;
mod predict;
mod real_data;
mod redis_streams;
mod report;
mod reproduce;
mod resume;
mod run;
#[cfg(feature = "serve")]
mod serve;
#[cfg(all(feature = "serve", target_os = "linux"))]
mod serve_bounds;
#[cfg(all(feature = "serve", unix))]
mod serve_deploy;
#[cfg(all(feature = "serve", unix))]
mod serve_hostile;
#[cfg(all(feature = "postgres", unix))]
mod serve_nodes;
#[cfg(feature = "serve")]
mod serve_tables;
#[cfg(feature = "traces")]
mod serve_traces;
mod shapes;
mod tables;
mod trace;
mod util;
