//! Arguments for reading data, and for runs of one or several learners over a stream.

use clap::builder::BoolishValueParser;
use clap::{Args, value_parser};
use noregret_stream::encode::LargeRow;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::delay::Lateness;
use noregret_stream::{Costs, Format};

use super::{RoleArgs, at_least_one, seed, threads};

/// Heading in the help.
const BANDITS: &str = "Bandit feedback";

/// Arguments for reading data.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    #[arg(long, help = format!("Format: {} [default: recognised]", Format::names(|_| true)))]
    pub(crate) format: Option<Format>,
    /// Label column of CSV or Parquet (name, or number from 1) or key of NDJSON [default: label, class,
    /// target, y; or the last]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Column or key with the importance weight
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Delimiter of CSV: one character, or tab [default: recognised]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Whether CSV begins with a header: yes or no [default: recognised]
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) header: Option<bool>,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
    /// Words that count as missing in columns and labels, besides NA, NaN, NULL, None, ? and the like
    #[arg(long, value_name = "WORD", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// Column or key with the names of rows, written with their predictions
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Hash features into 2^BITS columns [default: keep their names]
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u32).range(1..=31))]
    pub(crate) hash_bits: Option<u32>,
    /// Number of the first LIBSVM feature, 0 or 1 [default: recognised]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(0..=1))]
    pub(crate) index_base: Option<u32>,
    /// Treatment of rows that cannot be read: fail, skip, or skip at most N. Predictions contain a line
    /// without a label for each of them [default: fail; of predict: skip]
    #[arg(long, value_name = "fail|skip|N")]
    pub(crate) on_bad_row: Option<BadRows>,
}

/// Arguments for runs of one or several learners over a stream.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamArgs {
    /// The data: a file, - for standard input, or redis://HOST:PORT/DATABASE?stream=NAME for a Redis stream
    pub(crate) data: String,
    /// Online scaling of the features: none, unit (rows of norm 1), maxabs, standard (except for
    /// columns with values 0 and 1 only), or mixed (standard for the numbers of a table; categories
    /// and words unscaled) [default: standard; maxabs for more than 1024 columns; mixed for tables
    /// with text, times or styled numbers, and for labels on offer with features; none for learners
    /// that do not depend on units]
    #[arg(long)]
    pub(crate) scale: Option<Scaling>,
    /// Do not add the intercept, a feature that is always 1
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Treatment of rows whose norm exceeds the learner's radius: warn, clip or error
    #[arg(long, value_name = "ACTION", default_value_t = LargeRow::Warn)]
    pub(crate) on_large_row: LargeRow,
    /// Delay of labels in rounds: a number, or geometric:MEAN or uniform:MAX to draw one for every
    /// row
    #[arg(long, value_name = "ROUNDS", default_value_t = Lateness::default())]
    pub(crate) delay: Lateness,
    /// With bandit feedback, least probability of every label, by additional uniform draws, which
    /// importance weights include. The theorems about the learners' own draws do not cover it: no bounds are
    /// shown with it
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = BANDITS)]
    pub(crate) exploration_floor: f64,
    /// Under bandit feedback, what labels may cost, as in 0..10: costs in the data become rewards from 1,
    /// for the least, to 0; with 0..10:clip, one outside counts as the nearest end. The range is part of the
    /// model. In a log of another program, the column of the reward has costs [default: 0..1]
    #[arg(long, value_name = "LEAST..MOST", allow_hyphen_values = true, help_heading = BANDITS)]
    pub(crate) costs: Option<Costs>,
    /// Number of rounds of windowed scores
    #[arg(long, value_name = "ROUNDS", default_value_t = 1000, value_parser = at_least_one::<usize>)]
    pub(crate) window: usize,
    /// Stop after this many rows [default: at the end]
    #[arg(long, value_name = "ROWS", value_parser = at_least_one::<u64>)]
    pub(crate) limit: Option<u64>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// Number of runs of each learner whose results depend on the seed, with the seeds SEED, SEED + 1
    /// and so on; shows mean and standard deviation
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one::<u64>)]
    pub(crate) repeats: u64,
    /// Number of threads: for parallel runs; in a single run, for the members of a mixture and
    /// large matrix products. Results do not depend on it [default: number of cores]
    #[arg(long, value_name = "COUNT", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// JSON on standard output, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Largest size of the learners' states, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = at_least_one::<u64>)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}
