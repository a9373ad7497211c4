//! The command line's arguments.

mod columns;
mod decisions;
mod learning;
#[cfg(feature = "serve")]
mod serve;
mod stream;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use noregret::merge::Merge;
use noregret_stream::{Fault, Format, fault};

pub(crate) use columns::{LogColumnArgs, RoleArgs};
pub(crate) use decisions::{EvaluateArgs, ReplayArgs};
pub(crate) use learning::{CompareArgs, PredictArgs, RunArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use stream::{DataArgs, StreamArgs};

/// Online multiclass learning with regret guarantees: predict, see the label, learn, one row at a
/// time
#[derive(Debug, Parser)]
#[command(name = "noregret", version, arg_required_else_help = true, max_term_width = 110, after_help = FIRST_STEPS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a stream in one pass: predict each row, score the prediction, learn from the label
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Run many learners, parameters and seeds over one pass of the data, and compare them
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Predict with a saved model, without learning
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(PredictArgs),
    /// Learn from a decision log: gives the same model as the original run, bit for bit
    Replay(ReplayArgs),
    /// Estimate the reward of another policy or model from a decision log
    #[command(
        after_help = "ips, snips and dr need every label that the policy plays to have a logged probability \
        above 0. dm and dr estimate rewards by means of labels and by a learner for each label, weighted by how well they have \
        forecast so far. Each forecasts before it learns, in the order of the log: so dr is unbiased whatever they forecast, \
        also where the logging policy learnt meanwhile. A model is evaluated fairly on decisions that it has not learnt from. Lines may give \"evaluation\" (the policy's distribution) and \
        \"estimates\" (of rewards) themselves. Of Vowpal Wabbit's action:cost:probability, the reward is minus the cost."
    )]
    Evaluate(EvaluateArgs),
    /// Show the learners, or one of them in detail
    List(ListArgs),
    /// Show the contents of a model file
    Inspect(InspectArgs),
    /// Merge models that were trained on parts of the data
    #[command(
        after_help = "The models must be of one learner with equal parameters, classes and columns: train the \
        parts with the same --set classes, norm, radius and regularization, and with --scale none or unit. Of the \
        learners that hear only right or wrong, soba, soba-diag and soba-sketch merge; train their parts with the \
        same --set exploration, too. Parts of a label-tree must continue one model that has seen every label (--load), so that their trees agree."
    )]
    Merge(MergeArgs),
    /// Write a synthetic stream
    Generate(GenerateArgs),
    /// Run the bare algorithm, one round per line, NDJSON in and out, for tests and debugging
    Trace(TraceArgs),
    /// Measure what the members of auto cost on this machine, and print the setting that uses the result
    #[command(
        after_help = "Without this setting, auto chooses the same members on every machine, by a cost model that was measured on \
        one. The ratio is measured time over that of the model; a factor is the geometric mean of a member's ratios."
    )]
    Calibrate(CalibrateArgs),
    /// Run two learners on a small generated stream with noise and drift; needs no data
    Demo(DemoArgs),
    /// Reproduce a figure of the papers: data, runs, claims, plots
    Reproduce(ReproduceArgs),
    /// Show the public data sets, or download one
    #[command(subcommand)]
    #[cfg_attr(not(feature = "fetch"), command(hide = true))]
    Data(SetsCommand),
    /// Serve decisions, predictions and learning over HTTP, with durable answers
    #[cfg(feature = "serve")]
    #[command(after_help = serve::EXAMPLES)]
    Serve(ServeArgs),
    /// Write completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages, one per command, into a folder
    Manual(ManualArgs),
}

const FIRST_STEPS: &str = "\
Examples:
  noregret demo                 needs no data
  noregret run data.csv         learns your data, the label in its last column
  noregret list                 shows the learners
  noregret run --help           explains a command";

const RUN_EXAMPLES: &str = "\
Examples:
  noregret run data.csv --label species --save model
  noregret run data.csv --learner folklore --certify
  noregret run data.csv --feedback bandit --log decisions.ndjson
  noregret run more.csv --load model --save model
  some-program | noregret run - --format csv --predictions -";

const PREDICT_EXAMPLES: &str = "\
Examples:
  noregret predict model new.csv > labels.txt
  noregret predict model new.csv --id ticket --confidence
  noregret predict model new.csv --explain=columns";

const COMPARE_EXAMPLES: &str = "\
Every learner is run with every combination of its values, each exactly as `noregret run` would. Bandit learners hear \
only whether the label that they played was right.

Examples:
  noregret compare data.csv --learners ogd,folklore --plot curves.svg
  noregret compare data.csv --learners ogd --set rate=0.1..10*10 --sort log-loss
  noregret compare data.csv --learners banditron,soba \\
      --set exploration=2^-9..2^-3*2 --set soba.regularization=1 --repeats 5";

/// Parses a whole number >= 1.
fn at_least_one<T: TryFrom<u64>>(text: &str) -> Result<T, Fault> {
    let number = text.parse::<u64>().ok().filter(|number| *number >= 1);
    let fits = number.and_then(|number| T::try_from(number).ok());
    fits.ok_or_else(|| "must be a whole number, 1 or more".into())
}

/// Parses a seed.
fn seed(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| "must be a whole number, 0 or more".into())
}

/// Largest number of threads; more are considered a typing error.
const MOST_THREADS: usize = 1024;

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, Fault> {
    match text.parse() {
        Ok(count) if (1..=MOST_THREADS).contains(&count) => Ok(count),
        _ => Err(fault!("must be a whole number from 1 to {MOST_THREADS}")),
    }
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
    /// File of the merged model
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Regularisation: the sum over the models (sum-all), or that of one model (lambda-once)
    #[arg(long, value_name = "FORM", default_value_t = Merge::SumAll)]
    pub(crate) how: Merge,
}

/// Arguments of `noregret generate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct GenerateArgs {
    /// The stream; without a name, lists the streams
    pub(crate) name: Option<String>,
    /// Number of rows
    #[arg(long, default_value_t = 10_000, value_parser = at_least_one::<u64>)]
    pub(crate) rows: u64,
    /// Seed
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// A parameter of the stream
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Output file; the extension selects format and compression, as in rows.csv.gz
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: String,
    #[arg(
        long,
        help = format!("Format: {} [default: by the ending, or libsvm]", Format::names(Format::is_written))
    )]
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
    /// Seed of random numbers that the rows do not contain
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
}

/// Arguments of `noregret calibrate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CalibrateArgs {
    /// Number of rows of each measurement
    #[arg(long, default_value_t = 512, value_parser = at_least_one::<usize>)]
    pub(crate) rows: usize,
}

/// Arguments of `noregret demo`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DemoArgs {
    /// Number of rows
    #[arg(long, default_value_t = 20_000, value_parser = at_least_one::<u64>)]
    pub(crate) rows: u64,
    /// Seed of the stream
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// File of the plot: .svg or .png
    #[arg(long, value_name = "FILE", default_value = "noregret-demo.svg")]
    pub(crate) plot: PathBuf,
}

/// Arguments of `noregret reproduce`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReproduceArgs {
    /// The figure, or all; without a name, lists the figures
    pub(crate) name: Option<String>,
    /// A smaller version, in minutes; fails if a claim does not hold
    #[arg(long)]
    pub(crate) quick: bool,
    /// Override a size of the figure, as seeds=3 or grid=[0.1,1]; the page lists them
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The folder of the data sets, which some figures need, see `noregret data list`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// The folder of results
    #[arg(long, short, value_name = "FOLDER", default_value = "reproduced")]
    pub(crate) output: PathBuf,
    /// Number of parallel runs; does not change results [default: number of cores]
    #[arg(long, value_name = "COUNT", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

/// The subcommands of `noregret data`.
#[cfg_attr(not(feature = "fetch"), allow(dead_code, reason = "only told what they need"))]
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SetsCommand {
    /// Show the data sets: sources, terms, and whether they are downloaded
    List {
        /// The data folder
        #[arg(long, value_name = "FOLDER", default_value = "data")]
        data: PathBuf,
    },
    /// Download a data set from its publisher, check it, and convert it to the files that `run` and
    /// `reproduce` read. An interrupted download is resumed
    Fetch(FetchArgs),
}

/// Arguments of `noregret data fetch`.
#[cfg_attr(not(feature = "fetch"), allow(dead_code, reason = "only told what it needs"))]
#[derive(Args, Clone, Debug)]
pub(crate) struct FetchArgs {
    /// The data set, see `noregret data list`
    pub(crate) name: String,
    /// The data folder; downloads are kept in originals/
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Download from this address instead, with the same file names [default: the publisher's]
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,
}

/// Arguments of `noregret completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `noregret manual`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ManualArgs {
    /// The folder, which must exist; pages of the same names are replaced
    pub(crate) folder: PathBuf,
}
