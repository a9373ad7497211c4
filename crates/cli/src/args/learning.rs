//! Arguments of the subcommands that run learners over data: `run`, `compare` and `predict`.

use std::path::PathBuf;

use clap::Args;
use noregret_stream::watch::curve::Measure;

use super::{DataArgs, StreamArgs, at_least_one};
use crate::checkpoint::{Every, Skip};
use crate::choices::{CalibrationOf, ExplainOf, FeedbackChoice, SortBy};

/// Arguments of `noregret run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// The learner, see `noregret list` [default: auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) learner: Option<String>,
    /// A parameter, see `noregret list NAME`; also horizon, the rounds of a run that --limit cuts, and for a
    /// pipe features, and classes if they are known
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// What the learner sees after a round: the label, or only whether the label that it played was right
    /// [default: what the learner learns from]
    #[arg(long, value_enum)]
    pub(crate) feedback: Option<FeedbackChoice>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Under bandit feedback, write every decision and its feedback to a new log: .ndjson, .gz, .zst or
    /// .parquet
    /// [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Continue with a saved model; a bandit learner's labels go on being drawn where they stopped
    #[arg(long, value_name = "MODEL")]
    pub(crate) load: Option<PathBuf>,
    /// Save the model when the stream is over, or SIGINT or SIGTERM end it
    #[arg(long, value_name = "MODEL")]
    pub(crate) save: Option<PathBuf>,
    /// Round the numbers of --save to 32 bits, as far as that changes no forecast by more than 1e-6: the file
    /// is up to half as large, and a run that goes on with it is another one from the seventh digit on
    #[arg(long = "save-32bit", requires = "save")]
    pub(crate) save_32bit: bool,
    /// Save the model on the way, too: after every so many rows (10000) or seconds (30s). A run that is
    /// killed goes on with --load MODEL --skip seen and its other options, to the bit; what its log has
    /// beyond the model is cut off [default: not]
    #[arg(long, value_name = "EVERY")]
    pub(crate) checkpoint: Option<Every>,
    /// Pass over the first rows: a number, or seen, for as many as were read for the model of --load
    /// [default: 0]
    #[arg(long, value_name = "ROWS")]
    pub(crate) skip: Option<Skip>,
    /// Write what was predicted for every row before it was learnt: label, how sure it was, and what was
    /// true; as CSV, or as NDJSON if the name ends in .ndjson or .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) predictions: Option<PathBuf>,
    /// In the objects of --predictions FILE.ndjson, the probabilities of the so many most probable labels,
    /// the most probable first
    #[arg(long, value_name = "COUNT", requires = "predictions", value_parser = at_least_one::<usize>())]
    pub(crate) top_k: Option<usize>,
    /// Save a predictor for rows to come, drawn from the learner's states of this run: its expected loss on
    /// rows like these exceeds that of the best linear predictor by at most (regret bound) / rounds, if rows
    /// are i.i.d. and not scaled by those before them (--scale none or unit)
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    pub(crate) batch_model: Option<PathBuf>,
    /// How many states --batch-model draws; it predicts with their average
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one::<usize>())]
    pub(crate) snapshots: usize,
    /// When the stream is over, show the regret against the best fixed predictor beside the theorem's bound
    /// (keeps all rows in memory; not with --load, where earlier rounds are not known)
    #[arg(long, conflicts_with = "load")]
    pub(crate) certify: bool,
    /// Show whether the probabilities come true: a reliability curve and its expected calibration error, of
    /// the best label or, with =classes, of every class as well [default: not; top without a value]
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "top")]
    pub(crate) calibration: Option<CalibrationOf>,
    /// Show the live certificate, a bound on the regret so far, in the progress table
    #[arg(long)]
    pub(crate) certificates: bool,
    /// Write a page about the run, to be looked at in a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// What the page of --report is called [default: the learner and the data]
    #[arg(long, value_name = "TEXT", requires = "report")]
    pub(crate) title: Option<String>,
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
    /// Values of a parameter, of one learner (ogd.rate=0.1,1,10) or of all (norm=5,10); a range is
    /// FROM..TO*FACTOR or FROM..TO+STEP; for a pipe also classes and features
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
    /// What the curves of --plot show: error or log-loss over the window, running-error or running-log-loss
    /// over all rounds so far
    #[arg(long, value_name = "WHAT", default_value_t = Measure::Error)]
    pub(crate) curve: Measure,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
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
    /// Print the probabilities of the so many most probable labels alone, the most probable first, as NDJSON
    #[arg(long, value_name = "COUNT", conflicts_with = "probabilities", value_parser = at_least_one::<usize>())]
    pub(crate) top_k: Option<usize>,
    /// Beside each label, its probability; as CSV
    #[arg(long)]
    pub(crate) confidence: bool,
    /// An object a line instead of CSV, also for rows that cannot be read
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave the label empty (null as JSON) where giving none, which costs this much of an error, is expected
    /// to be cheaper: with 0.1, what is less than 90 % sure. A learner that abstains by itself does so by its
    /// own rule, whatever the cost [default: always a label]
    #[arg(long, value_name = "COST", value_parser = fraction)]
    pub(crate) abstain_cost: Option<f64>,
    /// What each column contributes to the scores: of every row, as NDJSON beside the label; or with =columns
    /// how much on average over all rows, as a table instead of labels [default: not; rows without a value]
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "rows")]
    pub(crate) explain: Option<ExplainOf>,
    /// Always the label with the best score, also from learners that draw their labels: for use after
    /// learning, where there is nothing left to explore for
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

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number in [0, 1]".to_owned()),
    }
}
