//! What was typed.

use std::path::PathBuf;

use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use noregret::algorithm::Forecast;
use noregret::merge::Merge;
use noregret_stream::curve::Measure;
use noregret_stream::delay::Lateness;
use noregret_stream::encode::LargeRow;
use noregret_stream::examples::BadRows;
use noregret_stream::run::RunOptions;
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
    /// Run many learners, parameters and seeds over one pass of the data, and compare them
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Predict with a saved model, without learning
    Predict(PredictArgs),
    /// Learn from a decision log, as it happened: the model becomes what it was, to the bit
    Replay(ReplayArgs),
    /// Estimate from a decision log what another policy or model would have earned
    #[command(
        after_help = "ips, snips and dr need every label that the policy plays to have a logged probability \
        above 0. dm and dr estimate rewards by a learner for each label, which is asked before it learns, in the order of the \
        log: so dr is unbiased whatever the learner, also where the logging policy learnt meanwhile. A model is evaluated \
        fairly on decisions that it has not learnt from. Lines may give \"evaluation\" (the policy's distribution) and \
        \"estimates\" (of rewards) themselves. Of Vowpal Wabbit's action:cost:probability, the reward is minus the cost."
    )]
    Evaluate(EvaluateArgs),
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
    /// Show the public data sets, or download one
    #[cfg(feature = "fetch")]
    #[command(subcommand)]
    Data(SetsCommand),
    /// Write completions for a shell
    Completions(CompletionsArgs),
}

const COMPARE_EXAMPLES: &str = "\
Every learner is run with every combination of its values, each exactly as `noregret run` would. Bandit learners hear \
only whether the label that they played was right.

Examples:
  noregret compare data.csv --learners ogd,folklore --plot curves.svg
  noregret compare data.csv --learners ogd --set rate=0.01..10*10 --sort log-loss
  noregret compare data.csv --learners banditron,soba \\
      --set exploration=2^-9..2^-3*2 --set soba.regularization=1 --repeats 5";

/// Zero of these would be nothing at all.
fn at_least_one<T: TryFrom<u64> + Clone + Send + Sync>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number in [0, 1]".to_owned()),
    }
}

/// How data is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Format: libsvm, vw, csv, ndjson or parquet [default: recognised]
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

/// A stream, and how it is learnt, whoever learns it.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamArgs {
    /// The data: a file, or - for standard input
    pub(crate) data: String,
    /// Scaling of the features, from what has been seen so far: none, unit, maxabs or standard [default:
    /// standard; maxabs for more than 1024 columns; none for learners to which units make no difference]
    #[arg(long)]
    pub(crate) scale: Option<Scaling>,
    /// Leave out the constant feature
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// What to do with a row beyond the learner's radius: warn, clip or error
    #[arg(long, value_name = "ACTION", default_value_t = LargeRow::Warn)]
    pub(crate) on_large_row: LargeRow,
    /// Labels arrive this many rounds late: a number, or geometric:MEAN or uniform:MAX to draw one for every row
    #[arg(long, value_name = "ROUNDS", default_value_t = Lateness::default())]
    pub(crate) delay: Lateness,
    /// Under bandit feedback, play every label at least with this probability, by playing a uniformly random one now and then; importance weights
    /// know it. The guarantees of learners that explore at a rate hold with the rate that results
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
    /// Runs of each learner that draws anything, with the seeds SEED, SEED + 1 and so on; mean and spread are shown
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one::<u64>())]
    pub(crate) repeats: u64,
    /// How many runs may work at a time; results do not depend on it [default: one a core]. In a single run: threads that
    /// share a second-order learner's largest matrix products; results agree to rounding [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one::<usize>())]
    pub(crate) threads: Option<usize>,
    /// JSON on standard output, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Most memory for the learners' states, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}

impl StreamArgs {
    /// Refuses a floor under the probabilities of `classes` labels that is no such thing.
    pub(crate) fn check_floor(&self, classes: usize) -> Result<(), Failure> {
        let (floor, most) = (self.exploration_floor, 1.0 / classes as f64);
        if (0.0..=most).contains(&floor) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--exploration-floor {floor}: must be from 0 to {most:.6}, one over the number of classes"
        )))
    }

    /// How a learner of `forecast` runs; rows may be read ahead unless they come through a pipe.
    pub(crate) fn run_options(&self, forecast: Forecast, pipe: bool, seed: u64) -> RunOptions {
        RunOptions {
            forecast,
            delay: self.delay,
            look_ahead: !pipe,
            window: self.window,
            limit: self.limit,
            seed,
        }
    }
}

/// Whose probabilities a calibration is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrationOf {
    Top,
    Classes,
}

/// Arguments of `noregret run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// The learner, see `noregret list` [default: auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) learner: Option<String>,
    /// A parameter, see `noregret list NAME`; for a pipe also features, and classes if they are known
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// What the learner is told: the label, or only whether the label that it played was right [default: what the learner
    /// learns from]
    #[arg(long, value_enum)]
    pub(crate) feedback: Option<Told>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Under bandit feedback, write every decision and what was heard of it to a new log: .ndjson, .gz, .zst or
    /// .parquet
    /// [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Continue with a saved model; a bandit learner's labels go on being drawn where they stopped
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
    /// Show whether the probabilities come true: a reliability curve and its expected calibration error, of the best label
    /// or, with =classes, of every class as well [default: not; top without a value]
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "top")]
    pub(crate) calibration: Option<CalibrationOf>,
    /// Show the live certificate, a bound on the regret so far, in the progress table
    #[arg(long)]
    pub(crate) certificates: bool,
    /// Write a page about the run, to be looked at in a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Give no answer where abstaining, which costs this much of an error, is expected to be cheaper
    #[arg(long, value_name = "COST", value_parser = fraction, conflicts_with = "abstain_rate")]
    pub(crate) abstain_cost: Option<f64>,
    /// Give no answer in this fraction of the rounds, where the forecast is least sure
    #[arg(long, value_name = "RATE", value_parser = fraction)]
    pub(crate) abstain_rate: Option<f64>,
    /// Draw the error rate among the answers against the fraction of rounds answered: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) risk_plot: Option<PathBuf>,
}

/// Arguments of `noregret compare`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompareArgs {
    /// The learners, see `noregret list`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    pub(crate) learners: Vec<String>,
    /// Values of a parameter, of one learner (ogd.rate=0.1,1,10) or of all (norm=5,10); a range is FROM..TO*FACTOR or
    /// FROM..TO+STEP; for a pipe also classes and features
    #[arg(long, value_name = "[LEARNER.]NAME=VALUES")]
    pub(crate) set: Vec<String>,
    /// What the table is sorted by; error is squared loss for real-valued targets
    #[arg(long, value_name = "BY", value_enum, default_value_t = SortBy::Error)]
    pub(crate) sort: SortBy,
    /// Draw learning curves: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a page with the curves of all losses and the table, to be looked at in a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// What the curves of --plot show: error or log-loss over the window, running-error or running-log-loss over all rounds so far
    #[arg(long, value_name = "WHAT", default_value_t = Measure::Error)]
    pub(crate) curve: Measure,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// What the table of `noregret compare` is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortBy {
    Given,
    Error,
    LogLoss,
    Speed,
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
    /// Always the label with the best score, also from learners that draw their labels: for when nobody will tell the
    /// learner anything, so that there is nothing to explore for
    #[arg(long)]
    pub(crate) greedy: bool,
    /// Write to a file, which appears when it is complete; - is standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Seed of the labels that randomised learners draw
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}

/// Arguments of `noregret replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// The log, as `noregret run --log` writes it; - for standard input
    pub(crate) log: String,
    /// Save the model after the last line [default: nowhere]
    #[arg(long, value_name = "MODEL")]
    pub(crate) save: Option<PathBuf>,
    /// The model that the log goes on from, if it does [default: none]
    #[arg(long, value_name = "MODEL")]
    pub(crate) load: Option<PathBuf>,
    /// How many decisions may wait for feedback at one time; beyond that, the oldest are forgotten
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = at_least_one::<usize>())]
    pub(crate) pending: usize,
    /// Most memory that the learner's state may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub(crate) memory: u64,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What becomes of decisions that were never answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    Skip,
    Wrong,
}

/// Arguments of `noregret evaluate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct EvaluateArgs {
    /// The log: a file, as `noregret run --log` writes it, or of your own making
    pub(crate) log: String,
    /// The policy: uniform, constant:LABEL, logged, or greedy (the logged distribution's best label) [default: the
    /// log's own "evaluation"]
    #[arg(long, value_name = "POLICY", conflicts_with = "model")]
    pub(crate) policy: Option<String>,
    /// A saved model as the policy: what it would play [default: none]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Of the model, always the label with the best score
    #[arg(long, requires = "model")]
    pub(crate) greedy: bool,
    /// Clip importance weights to this: less variance, some bias [default: no clipping]
    #[arg(long, value_name = "WEIGHT", value_parser = positive)]
    pub(crate) clip: Option<f64>,
    /// Confidence of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = inner_fraction)]
    pub(crate) confidence: f64,
    /// What becomes of decisions that were never answered: skip, or wrong
    #[arg(long, value_enum, default_value_t = Missing::Skip)]
    pub(crate) missing: Missing,
    /// The learner of two classes that estimates rewards for dm and dr, or none [default: folklore; folklore-diag for
    /// more than 64 features]
    #[arg(long, value_name = "NAME")]
    pub(crate) reward_learner: Option<String>,
    /// Format: ndjson, parquet or vw [default: by the ending, or ndjson]
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// What to do with a line that is no decision: fail, skip, or skip at most N
    #[arg(long, value_name = "fail|skip|N", default_value_t = BadRows::Fail)]
    pub(crate) on_bad_row: BadRows,
    /// How many decisions may wait for feedback at one time; beyond that, the oldest count as never answered
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = at_least_one::<usize>())]
    pub(crate) pending: usize,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| format!("{text:?} is no finite number > 0"))
}

fn inner_fraction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.ok_or_else(|| format!("{text:?} is no number between 0 and 1"))
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
    /// Format: libsvm, vw, csv, ndjson or parquet [default: by the ending, or libsvm]
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
    /// Another size than the figure's own, as seeds=3 or grid=[0.1,1]; the page shows which there are
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The folder with the data sets that cannot be made on the spot
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Where the results go
    #[arg(long, short, value_name = "FOLDER", default_value = "reproduced")]
    pub(crate) output: PathBuf,
    /// How many runs work at a time; never changes a result [default: as many as there are cores]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one::<usize>())]
    pub(crate) threads: Option<usize>,
}

/// The subcommands of `noregret data`.
#[cfg(feature = "fetch")]
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SetsCommand {
    /// Show the data sets: where they come from, under which terms, and whether they are there
    List {
        /// The folder of data
        #[arg(long, value_name = "FOLDER", default_value = "data")]
        data: PathBuf,
    },
    /// Download a data set from where it was published, check it, and make the files that `run` and `reproduce` read. What is
    /// interrupted goes on where it stopped
    Fetch(FetchArgs),
}

/// Arguments of `noregret data fetch`.
#[cfg(feature = "fetch")]
#[derive(Args, Clone, Debug)]
pub(crate) struct FetchArgs {
    /// The data set, see `noregret data list`
    pub(crate) name: String,
    /// The folder of data; what was downloaded stays in originals/
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Download the files from this address, where they have the same names [default: where they were published]
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,
}

/// Arguments of `noregret completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
