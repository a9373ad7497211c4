//! Arguments of the subcommands for decision logs: `replay` and `evaluate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::{Costs, Fault, Format, fault};

use super::{LogColumnArgs, RoleArgs, at_least_one};
use crate::checkpoint::{Every, Skip};
use crate::choices::Missing;

/// Arguments of `noregret replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// The log, as `noregret run --log` writes it; - for standard input
    pub(crate) log: String,
    /// Save the model after the last line [default: nowhere]
    #[arg(long, value_name = "MODEL")]
    pub(crate) save: Option<PathBuf>,
    /// The saved model with which the log starts, if any; with --skip, the model saved by an
    /// earlier replay [default: none]
    #[arg(long, value_name = "MODEL")]
    pub(crate) load: Option<PathBuf>,
    /// Also save the model during the replay, at an interval of lines (10000) or seconds (30s). To
    /// continue a replay that was killed, use --load MODEL --skip seen [default: not]
    #[arg(long, value_name = "EVERY")]
    pub(crate) checkpoint: Option<Every>,
    /// Skip the first decisions and answers: a number, or seen for those already in the model of
    /// --load [default: 0]
    #[arg(long, value_name = "LINES")]
    pub(crate) skip: Option<Skip>,
    /// Largest number of decisions without feedback; beyond it the oldest are discarded
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = at_least_one::<usize>)]
    pub(crate) pending: usize,
    /// Largest size of the learner's state, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = at_least_one::<u64>)]
    pub(crate) memory: u64,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `noregret evaluate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct EvaluateArgs {
    /// The log file, of `noregret run --log` or of another program
    pub(crate) log: String,
    /// A policy: uniform (over the labels on offer), constant:LABEL, best (the label that has earned most),
    /// logged, greedy (the logging policy without exploration), learner:NAME (learns from every round of the
    /// log), or alone:NAME (only from those that it might have played itself); may be given several times
    /// [default: the log's own "evaluation"]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Vec<String>,
    /// A saved model as a policy; may be given several times [default: none]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<PathBuf>,
    /// The model always plays its label with the best score
    #[arg(long, requires = "model")]
    pub(crate) greedy: bool,
    /// Clip importance weights at this value, which reduces variance and adds bias [default: no
    /// clipping]
    #[arg(long, value_name = "WEIGHT", value_parser = positive)]
    pub(crate) clip: Option<f64>,
    /// Confidence of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = inner_fraction)]
    pub(crate) confidence: f64,
    /// Treatment of decisions without feedback: skip, or wrong
    #[arg(long, value_enum, default_value_t = Missing::Skip)]
    pub(crate) missing: Missing,
    /// The two-class learner that estimates rewards for dm and dr, beside means of labels, from which it
    /// takes over as far as it forecasts better; or none [default: folklore; folklore-diag for more than 64
    /// features]
    #[arg(long, value_name = "NAME")]
    pub(crate) reward_learner: Option<String>,
    /// Format: ndjson (also Vowpal Wabbit's JSON), parquet or vw; csv or arff with the columns below
    /// [default: recognised]
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Delimiter of CSV: one character, or tab [default: recognised]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Whether CSV begins with a header: yes or no [default: recognised]
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) header: Option<bool>,
    /// Treatment of invalid lines: fail, skip, or skip at most N
    #[arg(long, value_name = "fail|skip|N", default_value_t = BadRows::Fail)]
    pub(crate) on_bad_row: BadRows,
    /// Largest number of decisions without feedback; beyond it the oldest count as never answered
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = at_least_one::<usize>)]
    pub(crate) pending: usize,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) columns: LogColumnArgs,
    /// The column of the reward has costs in this range, as in 0..10, which become rewards from 1, for the
    /// least, to 0; with 0..10:clip, one outside counts as the nearest end [default: rewards as they are; in
    /// logs of Vowpal Wabbit minus the cost]
    #[arg(long, value_name = "LEAST..MOST", allow_hyphen_values = true)]
    pub(crate) costs: Option<Costs>,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
}

fn positive(text: &str) -> Result<f64, Fault> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| fault!("{text:?} is not a finite number above 0"))
}

fn inner_fraction(text: &str) -> Result<f64, Fault> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.ok_or_else(|| fault!("{text:?} is no number between 0 and 1"))
}
