//! What was typed.

use clap::{Args, Parser, Subcommand};

/// Online multiclass learning with regret guarantees: predict, see the label, learn, one row at a time.
#[derive(Debug, Parser)]
#[command(name = "noregret", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One round a line, for tests and debugging: NDJSON in, NDJSON out, the bare algorithm
    Trace(TraceArgs),
}

/// Arguments of `noregret trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The learner, see `noregret list`
    #[arg(long)]
    pub(crate) learner: String,
    /// A parameter as name=value; classes and features must be given
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of everything that is drawn and not given in the rows
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}
