//! What the data is, how it is read, and how a stream of it is learnt, by one learner or several.

use clap::builder::BoolishValueParser;
use clap::{Args, value_parser};
use noregret_stream::Format;
use noregret_stream::encode::LargeRow;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::delay::Lateness;

use super::at_least_one;

/// How data is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Format: libsvm, vw, csv, ndjson, arff or parquet [default: recognised]
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Label column of CSV (name, or number from 1) or key of NDJSON [default: label, class, target, y; or
    /// the last]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Column or key with the importance weight
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Delimiter of CSV: one character, or tab [default: recognised]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Whether CSV begins with a header: yes or no [default: recognised]
    #[arg(long, value_name = "BOOL", value_parser = BoolishValueParser::new())]
    pub(crate) header: Option<bool>,
    /// Columns that are categories though they look like numbers; keys of nested JSON by path, as in user.age
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Columns of numbers; cells that are none count as missing
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) numeric: Vec<String>,
    /// Columns of free text
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) text: Vec<String>,
    /// Columns of days or times
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) time: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Column or key that names the rows, to be written beside what is predicted for them
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Hash features into 2^BITS columns [default: keep their names]
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u32).range(1..=31))]
    pub(crate) hash_bits: Option<u32>,
    /// Number of the first LIBSVM feature, 0 or 1 [default: recognised]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(0..=1))]
    pub(crate) index_base: Option<u32>,
    /// What to do with a row that cannot be read: fail, skip, or skip at most N
    #[arg(long, value_name = "fail|skip|N", default_value_t = BadRows::Fail)]
    pub(crate) on_bad_row: BadRows,
}

/// A stream, and how it is learnt, by one learner or several.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamArgs {
    /// The data: a file, or - for standard input
    pub(crate) data: String,
    /// Scaling of the features, from what has been seen so far: none, unit, maxabs, standard, which leaves
    /// columns of 0 and 1 alone as they are, or mixed, which is standard for the numbers of a table and
    /// leaves categories and words as they are [default: standard; maxabs for more than 1024 columns; mixed
    /// for tables with text, times or styled numbers; none for learners to which units make no difference]
    #[arg(long)]
    pub(crate) scale: Option<Scaling>,
    /// Leave out the constant feature
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// What to do with a row beyond the learner's radius: warn, clip or error
    #[arg(long, value_name = "ACTION", default_value_t = LargeRow::Warn)]
    pub(crate) on_large_row: LargeRow,
    /// Labels arrive this many rounds late: a number, or geometric:MEAN or uniform:MAX to draw one for every
    /// row
    #[arg(long, value_name = "ROUNDS", default_value_t = Lateness::default())]
    pub(crate) delay: Lateness,
    /// Under bandit feedback, play every label at least with this probability, by playing a uniformly random
    /// one now and then; importance weights know it. The guarantees of learners that explore at a rate hold
    /// with the rate that results
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) exploration_floor: f64,
    /// Rounds that the windowed scores are over
    #[arg(long, value_name = "ROUNDS", default_value_t = 1000, value_parser = at_least_one::<usize>())]
    pub(crate) window: usize,
    /// Stop after this many rows [default: at the end]
    #[arg(long, value_name = "ROWS", value_parser = at_least_one::<u64>())]
    pub(crate) limit: Option<u64>,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Runs of each learner that draws anything, with the seeds SEED, SEED + 1 and so on; mean and spread are
    /// shown
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one::<u64>())]
    pub(crate) repeats: u64,
    /// How many runs may work at a time; in a single run, threads that share the members of a mixture and the
    /// largest matrix products. Results do not depend on it, to the bit [default: one a core]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one::<usize>())]
    pub(crate) threads: Option<usize>,
    /// JSON on standard output, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Most memory for the learners' states, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = at_least_one::<u64>())]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}
