//! Arguments about columns, which several commands have.

use clap::Args;
use noregret_stream::Costs;

/// What columns are.
#[derive(Args, Clone, Debug)]
pub(crate) struct RoleArgs {
    /// Categorical columns that look numeric; keys of nested JSON by path, as in user.age
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Numeric columns: true and false are 1 and 0, other cells that are no numbers count as missing
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) numeric: Vec<String>,
    /// Columns of free text
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) text: Vec<String>,
    /// Columns of days or times; in a log of decisions, times of day are left out unless named here, since
    /// they say when each decision was written
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) time: Vec<String>,
    /// Columns to ignore
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Words that are values and classes like all others, although they usually mean that one is missing
    #[arg(long, value_name = "WORD", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) not_missing: Vec<String>,
}

/// The columns of the log of another program. Arguments that follow this list are under its heading, too.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log of another program (csv, ndjson, parquet or arff)")]
pub(crate) struct LogColumnArgs {
    /// The column or key of the label that was played; run learns from it with --feedback bandit
    /// [default: label]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) decision: Option<String>,
    /// The column or key of the probability with which it was played [default: probability]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) probability: Option<String>,
    /// The column or key of its reward; --rewards or --costs is the range
    /// [default: reward]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) reward: Option<String>,
    /// What rewards may be, as in 0..15: the largest becomes the reward 1, the least 0; with 0..15:clip, one
    /// outside counts as the nearest end. For run, also in logs that run has written [default: 0..1; of
    /// evaluate: as they are]
    #[arg(long, value_name = "LEAST..MOST", allow_hyphen_values = true, conflicts_with = "costs")]
    pub(crate) rewards: Option<Costs>,
    /// The column or key of the labels on offer, of a log or of rows with labels: a list, or names separated
    /// by spaces; run forecasts among them [default: all labels are on offer]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) offered: Option<String>,
}
