//! Arguments of the subcommands that run learners over data: `run`, `compare` and `predict`.

use std::path::PathBuf;

use clap::Args;
use noregret_stream::Fault;
use noregret_stream::watch::curve::Measure;

use super::{DataArgs, LogColumnArgs, StreamArgs, at_least_one, seed};
use crate::checkpoint::{Every, Skip};
use crate::choices::{CalibrationOf, ExplainOf, FeedbackChoice, SortBy};

/// Headings in the help.
const MODELS: &str = "Models and logs";
const SHOWN: &str = "What is shown and written";
const ABSTAINING: &str = "Abstaining";

/// Arguments of `noregret run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// The learner, see `noregret list` [default: auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) learner: Option<String>,
    /// A parameter, see `noregret list NAME`; also horizon (the total number of rounds, if --limit
    /// ends the run earlier), and for a pipe features, and classes if they are known
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// What is revealed after a round: the label (full), or only whether the played label was right, or
    /// its reward (bandit) [default: by the learner]
    #[arg(long, value_enum)]
    pub(crate) feedback: Option<FeedbackChoice>,
    /// With bandit feedback, write every decision and its feedback to a new log: .ndjson, .gz, .zst
    /// or .parquet [default: none]
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub(crate) log: Option<PathBuf>,
    /// Continue with a saved model, including the random generator of a bandit learner
    #[arg(long, value_name = "MODEL", help_heading = MODELS)]
    pub(crate) load: Option<PathBuf>,
    /// Save the model at the end of the stream, or on SIGINT or SIGTERM
    #[arg(long, value_name = "MODEL", help_heading = MODELS)]
    pub(crate) save: Option<PathBuf>,
    /// Round the numbers of --save to 32 bits, as far as no forecast changes by more than 1e-6. The
    /// file is up to half as large; a run continued from it is not bit-equal
    #[arg(long = "save-32bit", requires = "save", help_heading = MODELS)]
    pub(crate) save_32bit: bool,
    /// Also save the model during the run, at an interval of rows (10000) or seconds (30s). To
    /// continue a run that was killed, bit for bit, add --load MODEL --skip seen to its options, and leave
    /// out those that the model knows: --learner, --set, --scale, --no-intercept and --costs, and for
    /// learners that draw labels also --seed; a longer log is then truncated [default: not]
    #[arg(long, value_name = "EVERY", help_heading = MODELS)]
    pub(crate) checkpoint: Option<Every>,
    /// Skip the first rows: a number, or seen for those already read for the model of --load
    /// [default: 0]
    #[arg(long, value_name = "ROWS", help_heading = MODELS)]
    pub(crate) skip: Option<Skip>,
    /// Write the prediction of every row, made before the row was learnt: label, probability and
    /// true label; as CSV, or as NDJSON if the name ends in .ndjson or .jsonl. With - to standard output,
    /// row by row if the input is a pipe, in which blank lines are no rows; the summary then goes to
    /// standard error. With redis://HOST:PORT/DATABASE?stream=NAME to a Redis stream, under the ids of the
    /// entries that the rows came from, each once
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub(crate) predictions: Option<PathBuf>,
    /// Add the probabilities of this many most probable labels to --predictions FILE.ndjson or -, in
    /// descending order
    #[arg(long, value_name = "COUNT", requires = "predictions", value_parser = at_least_one::<usize>, help_heading = SHOWN)]
    pub(crate) top_k: Option<usize>,
    /// Save a batch predictor (online-to-batch), drawn from the learner's states during this run:
    /// for i.i.d. rows and a learner with a bound that --certify shows on the regret against linear
    /// predictors, its expected loss exceeds that of the best one by at most bound / rounds. Needs
    /// scaling that does not depend on earlier rows (--scale none or unit)
    #[arg(long, value_name = "FILE", conflicts_with = "load", help_heading = MODELS)]
    pub(crate) batch_model: Option<PathBuf>,
    /// Number of states that --batch-model draws; their predictions are averaged
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "batch_model", value_parser = at_least_one::<usize>, help_heading = MODELS)]
    pub(crate) snapshots: usize,
    /// At the end, show the regret against the best fixed predictor and the theorem's bound (keeps
    /// all rows in memory; not with --load, since earlier rows are not known)
    #[arg(long, conflicts_with = "load", help_heading = SHOWN)]
    pub(crate) certify: bool,
    /// Show the calibration of the probabilities: a reliability curve with expected calibration
    /// error, for the best label or, with =classes, for every class as well [default: not; top
    /// without a value]
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "top", help_heading = SHOWN)]
    pub(crate) calibration: Option<CalibrationOf>,
    /// Show the live certificate, a bound on the regret so far, in the progress table
    #[arg(long, help_heading = SHOWN)]
    pub(crate) certificates: bool,
    /// Write an HTML report of the run
    #[arg(long, value_name = "FILE.html", help_heading = SHOWN)]
    pub(crate) report: Option<PathBuf>,
    /// Title of the report [default: the learner and the data]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = SHOWN)]
    pub(crate) title: Option<String>,
    /// Abstain if this cost, relative to 1 for an error, is below the probability of an error
    #[arg(long, value_name = "COST", value_parser = fraction, conflicts_with = "abstain_rate", help_heading = ABSTAINING)]
    pub(crate) abstain_cost: Option<f64>,
    /// Abstain in this fraction of the rounds, those with the least certain forecasts
    #[arg(long, value_name = "RATE", value_parser = fraction, help_heading = ABSTAINING)]
    pub(crate) abstain_rate: Option<f64>,
    /// Plot the error rate among the answers against the fraction of rounds answered: .svg or .png
    #[arg(long, value_name = "FILE", help_heading = ABSTAINING)]
    pub(crate) risk_plot: Option<PathBuf>,
    // Last, since what follows them would be under their headings in the help.
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    #[command(flatten)]
    pub(crate) columns: LogColumnArgs,
}

/// Arguments of `noregret compare`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompareArgs {
    /// The learners, see `noregret list`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    pub(crate) learners: Vec<String>,
    /// Values of a parameter, for one learner (ogd.rate=0.1,1,10) or all (norm=5,10); a range is
    /// FROM..TO*FACTOR or FROM..TO+STEP; for a pipe also classes and features
    #[arg(long, value_name = "[LEARNER.]NAME=VALUES")]
    pub(crate) set: Vec<String>,
    /// Sort the table by this measure; error is squared loss for real-valued targets
    #[arg(long, value_name = "BY", value_enum, default_value_t = SortBy::Error)]
    pub(crate) sort: SortBy,
    /// Plot learning curves: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write an HTML report with the curves of all losses and the table
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Measure of --plot: error or log-loss over the window, running-error or running-log-loss over
    /// all rounds so far
    #[arg(long, value_name = "WHAT", default_value_t = Measure::Error, requires = "plot")]
    pub(crate) curve: Measure,
    /// The column of the labels on offer: a list, or names separated by spaces; forecasts are among them
    /// [default: all labels are on offer]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) offered: Option<String>,
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
    /// Print the probabilities of all classes as NDJSON, instead of one label per line
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Print only the probabilities of this many most probable labels, in descending order, as
    /// NDJSON
    #[arg(long, value_name = "COUNT", conflicts_with = "probabilities", value_parser = at_least_one::<usize>)]
    pub(crate) top_k: Option<usize>,
    /// Print each label with its probability, as CSV
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Print one JSON object per line instead of CSV, also for rows that cannot be read
    #[arg(long)]
    pub(crate) json: bool,
    /// Abstain (empty label; null in JSON) if this cost, relative to 1 for an error, is below the
    /// probability of an error: with 0.1, below 90 % probability. A learner that abstains by itself
    /// uses its own rule instead [default: always a label]
    #[arg(long, value_name = "COST", value_parser = fraction)]
    pub(crate) abstain_cost: Option<f64>,
    /// Print the contribution of each column to the scores: for every row, as NDJSON with the
    /// label; or with =columns their mean magnitude over all rows, as a table instead of labels.
    /// Needs one more prediction for each feature of a row [default: not; rows without a value]
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "rows")]
    pub(crate) explain: Option<ExplainOf>,
    /// Always predict the label with the best score, also with learners that draw their labels,
    /// whose exploration is only useful for learning
    #[arg(long)]
    pub(crate) greedy: bool,
    /// Write to a file, which is created when it is complete; - is standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The column or key of NDJSON with the labels on offer: a list, or names separated by spaces
    /// [default: the key labels, if the model has no such column; else all labels]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) offered: Option<String>,
    /// Seed for the labels of randomised learners
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) reading: DataArgs,
}

fn fraction(text: &str) -> Result<f64, Fault> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number in [0, 1]".into()),
    }
}
