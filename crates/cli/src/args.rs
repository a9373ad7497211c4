//! What was typed.

use std::path::PathBuf;

use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use noregret::merge::Merge;
use noregret_stream::encode::LargeRow;
use noregret_stream::examples::BadRows;
use noregret_stream::scale::Scaling;
use noregret_stream::{Format, ReadOptions};

use crate::failure::Failure;

/// Online multiclass learning with regret guarantees: predict, see the label, learn, one row at a time.
#[derive(Debug, Parser)]
#[command(name = "noregret", version, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a stream: predict every row, score the prediction, learn from the label, once, in order
    Run(RunArgs),
    /// Predict with a saved model, without learning
    Predict(PredictArgs),
    /// Show the learners, or all about one of them
    List(ListArgs),
    /// Show what is in a model file
    Inspect(InspectArgs),
    /// Add up what models have learnt on parts of the data
    #[command(
        after_help = "The models must be of one learner with equal parameters, classes and columns: train the \
        parts with the same --set classes, norm, radius and regularization, and with --scale none or unit."
    )]
    Merge(MergeArgs),
    /// Write a synthetic stream
    Generate(GenerateArgs),
    /// One round a line, for tests and debugging: NDJSON in, NDJSON out, the bare algorithm
    Trace(TraceArgs),
    /// See two learners on a small noisy, drifting stream made on the spot: no data needed
    Demo(DemoArgs),
    /// Make a figure of the papers: data, runs, claims, pictures
    Reproduce(ReproduceArgs),
    /// Write completions for a shell
    Completions(CompletionsArgs),
}

/// Zero of these would be nothing at all.
fn at_least_one<T: TryFrom<u64> + Clone + Send + Sync>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

/// How data is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Format: libsvm, vw, csv or ndjson [default: recognised]
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Label column of CSV (name, or number from 1) or key of NDJSON [default: label, class, target, y; or the last]
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
    /// CSV columns that are categories though they look like numbers
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
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

impl DataArgs {
    /// The options of the readers.
    pub(crate) fn options(&self) -> Result<ReadOptions, Failure> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some(text) => match text.as_bytes() {
                [byte] => Some(*byte),
                _ => {
                    return Err(Failure::usage(format!(
                        "--delimiter {text:?}: must be one character, or tab"
                    )));
                }
            },
        };
        Ok(ReadOptions {
            format: self.format,
            label: self.label.clone(),
            weight: self.weight.clone(),
            delimiter,
            header: self.header,
            categorical: self.categorical.clone(),
            hash_bits: self.hash_bits,
            index_base: self.index_base,
            schema: None,
            room: 0,
        })
    }
}

/// What a learner is told of a round: the label, or whether the label that it played was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Told {
    Full,
    Bandit,
}

/// Arguments of `noregret run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// The data: a file, or - for standard input
    pub(crate) data: String,
    /// The learner, see `noregret list` [default: folklore]
    #[arg(long, value_name = "NAME")]
    pub(crate) learner: Option<String>,
    /// A parameter, see `noregret list NAME`; for a pipe also classes and features
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// What the learner is told: the label, or only whether the label that it played was right [default: what the learner
    /// learns from]
    #[arg(long, value_enum)]
    pub(crate) feedback: Option<Told>,
    /// Scaling of the features, from what has been seen so far: none, unit, maxabs or standard [default:
    /// standard; maxabs for more than 1024 columns]
    #[arg(long)]
    pub(crate) scale: Option<Scaling>,
    /// Leave out the constant feature
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// What to do with a row beyond the learner's radius: warn, clip or error
    #[arg(long, value_name = "ACTION", default_value_t = LargeRow::Warn)]
    pub(crate) on_large_row: LargeRow,
    /// Labels arrive this many rounds late
    #[arg(long, value_name = "ROUNDS", default_value_t = 0)]
    pub(crate) delay: usize,
    /// Rounds that the windowed scores are over
    #[arg(long, value_name = "ROUNDS", default_value_t = 1000, value_parser = at_least_one::<usize>())]
    pub(crate) window: usize,
    /// Stop after this many rows [default: at the end]
    #[arg(long, value_name = "ROWS", value_parser = at_least_one::<u64>())]
    pub(crate) limit: Option<u64>,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Continue with a saved model
    #[arg(long, value_name = "MODEL")]
    pub(crate) load: Option<PathBuf>,
    /// Save the model when the stream is over
    #[arg(long, value_name = "MODEL")]
    pub(crate) save: Option<PathBuf>,
    /// Save a predictor for rows to come, drawn from the learner's states of this run: its expected loss on rows like these
    /// exceeds that of the best linear predictor by at most (regret bound) / rounds
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    pub(crate) batch_model: Option<PathBuf>,
    /// How many states --batch-model draws; it predicts with their average
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one::<usize>())]
    pub(crate) snapshots: usize,
    /// When the stream is over, show the regret against the best fixed predictor beside the theorem's bound (keeps all
    /// rows in memory; not with --load, whose earlier rounds are gone)
    #[arg(long, conflicts_with = "load")]
    pub(crate) certify: bool,
    /// Show the live certificate, a bound on the regret so far, in the progress table
    #[arg(long)]
    pub(crate) certificates: bool,
    /// Write a page about the run, to be looked at in a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Progress and summary as one JSON object a line, on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Most memory that the learner's state may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}

/// Arguments of `noregret predict`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictArgs {
    /// The model file
    pub(crate) model: PathBuf,
    /// The data: a file, or - for standard input
    pub(crate) data: String,
    /// Print the probabilities of all classes as NDJSON, instead of one label a line
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Write to a file, which appears when it is complete; - is standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Seed of the labels that randomised learners draw
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}

/// Arguments of `noregret list`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ListArgs {
    /// The learner to explain
    pub(crate) name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `noregret inspect`.
#[derive(Args, Clone, Debug)]
pub(crate) struct InspectArgs {
    /// The model file
    pub(crate) model: PathBuf,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `noregret merge`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MergeArgs {
    /// The model files
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,
    /// Where the merged model goes
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Count the regulariser of every model (sum-all), or that of one (lambda-once)
    #[arg(long, value_name = "FORM", default_value_t = Merge::SumAll)]
    pub(crate) how: Merge,
}

/// Arguments of `noregret generate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct GenerateArgs {
    /// The stream; without a name, shows which there are
    pub(crate) name: Option<String>,
    /// How many rows
    #[arg(long, default_value_t = 10_000, value_parser = at_least_one::<u64>())]
    pub(crate) rows: u64,
    /// Seed
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// A parameter of the stream
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where to write; the ending tells format and compression, as in rows.csv.gz
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: String,
    /// Format: libsvm, vw, csv or ndjson [default: by the ending, or libsvm]
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// Arguments of `noregret trace`.
#[derive(Args, Clone, Debug)]
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

/// Arguments of `noregret demo`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DemoArgs {
    /// How many rows
    #[arg(long, default_value_t = 20_000, value_parser = at_least_one::<u64>())]
    pub(crate) rows: u64,
    /// Seed of the stream
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where the plot goes: .svg or .png
    #[arg(long, value_name = "FILE", default_value = "noregret-demo.svg")]
    pub(crate) plot: PathBuf,
}

/// Arguments of `noregret reproduce`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReproduceArgs {
    /// The figure, or all; without a name, shows which there are
    pub(crate) name: Option<String>,
    /// Smaller, in minutes; fails if a claim does not hold
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder with the data sets that cannot be made on the spot
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Where the results go, a folder for each figure
    #[arg(long, short, value_name = "FOLDER", default_value = "reproduced")]
    pub(crate) output: PathBuf,
    /// How many runs work at a time; never changes a result [default: as many as there are cores]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one::<usize>())]
    pub(crate) threads: Option<usize>,
}

/// Arguments of `noregret completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
