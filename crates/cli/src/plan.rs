//! Converts arguments to plans, and checks their files. Later code uses the plans only.

mod decisions;
mod saved;

use std::path::PathBuf;

use noregret::algorithm::Forecast;
use noregret::registry;
use noregret_stream::decisions::foreign::Keys;
use noregret_stream::decisions::rows::LogUse;
use noregret_stream::encode::LargeRow;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::RunOptions;
use noregret_stream::run::delay::Lateness;
use noregret_stream::run::threads::processors;
use noregret_stream::setup::Asked;
use noregret_stream::watch::curve::Measure;
use noregret_stream::{Costs, Missing, ReadOptions, Reader, Schema, Stop, data_name};

use crate::args::{CompareArgs, DataArgs, LogColumnArgs, RoleArgs, RunArgs, StreamArgs};
use crate::checkpoint::{Every, Skip};
use crate::choices::{CalibrationOf, FeedbackChoice, SortBy};
use crate::failure::Failure;
use crate::files::{self, Files};
use crate::interrupt;
use crate::progress::Mode;
use crate::settings::Settings;
use crate::sweep::{Candidate, candidates};
use crate::wanted::Wanted;

pub(crate) use decisions::{EvaluatePlan, PolicyPlan, ReplayPlan, Start};
pub(crate) use saved::{MergePlan, PredictPlan};

/// The source of rows, and how to read it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// A file, or `-` for standard input.
    pub(crate) data: String,
    pub(crate) options: ReadOptions,
    pub(crate) on_bad_row: BadRows,
    /// The range of the rewards of a log in our own format.
    pub(crate) rewards: Option<Costs>,
}

impl Source {
    /// The source `data` with the options in `args`.
    pub(crate) fn of(data: &str, args: &DataArgs) -> Result<Self, Failure> {
        let delimiter = delimiter(args.delimiter.as_deref())?;
        let options = ReadOptions {
            format: args.format,
            label: args.label.clone(),
            weight: args.weight.clone(),
            delimiter,
            header: args.header,
            id: args.id.clone(),
            hash_bits: args.hash_bits,
            index_base: args.index_base,
            ..reading(&args.roles, &args.missing)
        };
        Ok(Self {
            data: data.to_owned(),
            options,
            on_bad_row: args.on_bad_row.unwrap_or_default(),
            rewards: None,
        })
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        data_name(&self.data)
    }

    /// Whether it is a file, which can be read twice.
    pub(crate) fn is_file(&self) -> bool {
        std::fs::metadata(&self.data).is_ok_and(|metadata| metadata.is_file())
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<Box<dyn Reader>, Failure> {
        noregret_stream::open(&self.data, &self.options).map_err(Failure::reading)
    }

    /// The same for a learner that learns from decisions, whose costs are in the range `costs`.
    pub(crate) fn for_decisions(mut self, costs: Costs) -> Self {
        match &mut self.options.logged {
            Some(keys) => keys.into = costs,
            None => self.options.decisions = LogUse::Learnt { rewards: self.rewards, costs },
        }
        self
    }

    /// The same with the columns of `schema`.
    pub(crate) fn with_schema(&self, schema: Schema) -> Self {
        let options = ReadOptions { schema: Some(schema), ..self.options.clone() };
        Self { options, ..self.clone() }
    }
}

/// The byte of a delimiter.
fn delimiter(text: Option<&str>) -> Result<Option<u8>, Failure> {
    match text.map(str::as_bytes) {
        None => Ok(None),
        Some(b"tab" | b"\\t") => Ok(Some(b'\t')),
        Some([byte]) => Ok(Some(*byte)),
        Some(_) => {
            let text = text.unwrap_or_default();
            Err(Failure::usage(format!("--delimiter {text:?}: must be one character, or tab")))
        }
    }
}

/// How columns are read; `words` count as missing, too.
fn reading(args: &RoleArgs, words: &[String]) -> ReadOptions {
    let RoleArgs { categorical, numeric, text, time, drop, not_missing } = args.clone();
    let missing = Missing { words: words.to_vec(), values: not_missing };
    ReadOptions { categorical, numeric, text, time, drop, missing, ..ReadOptions::default() }
}

/// A stream, and the settings of runs over it.
#[derive(Clone, Debug)]
pub(crate) struct StreamPlan {
    pub(crate) source: Source,
    /// `None`: chosen by data and learner.
    pub(crate) scaling: Option<Scaling>,
    pub(crate) intercept: bool,
    pub(crate) on_large_row: LargeRow,
    pub(crate) delay: Lateness,
    /// The least probability of every label with bandit feedback.
    pub(crate) exploration_floor: f64,
    /// What labels may cost under bandit feedback, if that was said.
    pub(crate) costs: Option<Costs>,
    /// Number of rounds of windowed scores.
    pub(crate) window: usize,
    /// Largest number of rows.
    pub(crate) limit: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) mode: Mode,
    /// Largest size of the learners' states, in MiB.
    pub(crate) memory: u64,
}

impl StreamPlan {
    fn of(args: &StreamArgs) -> Result<Self, Failure> {
        let mut source = Source::of(&args.data, &args.reading)?;
        source.options.stop = interrupt::listen();
        Ok(Self {
            source,
            scaling: args.scale,
            intercept: !args.no_intercept,
            on_large_row: args.on_large_row,
            delay: args.delay,
            exploration_floor: args.exploration_floor,
            costs: args.costs,
            window: args.window,
            limit: args.limit,
            seed: args.seed,
            mode: match (args.json, args.quiet) {
                (true, _) => Mode::Json,
                (false, true) => Mode::Quiet,
                (false, false) => Mode::Table,
            },
            memory: args.memory,
        })
    }

    /// The same for the log of another program, if `logged` names its columns. Its rewards are from 0 to 1
    /// when they are read.
    fn with_log(mut self, logged: Option<Keys>, rewards: Option<Costs>) -> Self {
        if logged.is_some() {
            self.costs = None;
        }
        self.source.options.logged = logged;
        self.source.rewards = rewards;
        self
    }

    /// The same with the column `offered` of the labels on offer, for rows that have a label.
    fn with_offered(mut self, offered: Option<&String>) -> Self {
        self.source.options.offered = offered.cloned();
        self
    }

    /// The request to end the run between two rows.
    pub(crate) fn stop(&self) -> &Stop {
        &self.source.options.stop
    }

    /// What is asked of `wanted` on this stream, with `seed`.
    pub(crate) fn asked(&self, wanted: &Wanted, seed: u64) -> Asked {
        Asked {
            params: wanted.settings.params.clone(),
            seed,
            scaling: self.scaling,
            horizon: wanted.settings.horizon,
            costs: self.costs.unwrap_or_default(),
            large_row: self.on_large_row,
            ..Asked::default()
        }
    }

    /// Checks the exploration floor for `classes` labels.
    pub(crate) fn check_floor(&self, classes: usize) -> Result<(), Failure> {
        let (floor, most) = (self.exploration_floor, 1.0 / classes as f64);
        if (0.0..=most).contains(&floor) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--exploration-floor {floor}: must be from 0 to {most:.6}, one over the number of classes"
        )))
    }

    /// The options of a run, for learners of `forecast`; rows are read ahead unless they come
    /// through a pipe.
    pub(crate) fn run_options(&self, forecast: Forecast, pipe: bool, seed: u64) -> RunOptions {
        RunOptions {
            delay: self.delay,
            look_ahead: !pipe,
            window: self.window,
            limit: self.limit,
            ..RunOptions::new(forecast, seed)
        }
    }
}

/// Runs of several learners or seeds over one pass of a stream.
#[derive(Clone, Debug)]
pub(crate) struct PassPlan {
    pub(crate) stream: StreamPlan,
    /// Number of seeds of each randomised learner.
    pub(crate) repeats: u64,
    /// Number of parallel runs; `None`: one per core.
    pub(crate) threads: Option<usize>,
}

impl PassPlan {
    fn of(args: &StreamArgs) -> Result<Self, Failure> {
        Ok(Self { stream: StreamPlan::of(args)?, repeats: args.repeats, threads: args.threads })
    }
}

/// `noregret compare`.
pub(crate) struct ComparePlan {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) pass: PassPlan,
    pub(crate) sort: SortBy,
    /// The file of the curves, and their measure.
    pub(crate) plot: Option<PathBuf>,
    pub(crate) curve: Measure,
    pub(crate) report: Option<PathBuf>,
}

impl ComparePlan {
    pub(crate) fn of(args: &CompareArgs) -> Result<Self, Failure> {
        let mut pass = PassPlan::of(&args.stream)?;
        pass.stream = pass.stream.with_offered(args.offered.as_ref());
        let plan = Self {
            candidates: candidates(&args.learners, &args.set)?,
            pass,
            sort: args.sort,
            plot: args.plot.clone(),
            curve: args.curve,
            report: args.report.clone(),
        };
        let files = Files::default().input("the data", &plan.pass.stream.source.data);
        files.output("--plot", plan.plot.as_deref()).output("--report", plan.report.as_deref()).check()?;
        files::check_report(plan.report.as_deref())?;
        Ok(plan)
    }
}

/// `noregret run`: one run, or one for each of several seeds.
pub(crate) enum Plan {
    Once(Box<RunPlan>),
    Repeated(Box<RepeatPlan>),
}

/// A learner with several seeds.
pub(crate) struct RepeatPlan {
    pub(crate) candidate: Candidate,
    pub(crate) pass: PassPlan,
}

/// One run.
#[derive(Debug)]
pub(crate) struct RunPlan {
    pub(crate) stream: StreamPlan,
    pub(crate) learner: LearnerPlan,
    /// Number of threads of the learner.
    pub(crate) threads: usize,
    pub(crate) observe: ObservePlan,
    /// The file of the decision log.
    pub(crate) log: Option<PathBuf>,
    /// The file of predictions.
    pub(crate) predictions: Option<PathBuf>,
    /// Number of probabilities in predictions.
    pub(crate) top_k: Option<usize>,
    /// The file of the model.
    pub(crate) save: Option<PathBuf>,
    /// Whether numbers are rounded to single precision if no forecast changes.
    pub(crate) save_32bit: bool,
    /// The interval of checkpoints.
    pub(crate) checkpoint: Option<Every>,
    /// Rows to skip.
    pub(crate) skip: Option<Skip>,
    pub(crate) batch_model: Option<BatchPlan>,
}

/// The origin of the learner.
#[derive(Debug)]
pub(crate) enum LearnerPlan {
    /// A new learner.
    New(Wanted),
    /// A saved one, to continue.
    Saved { path: PathBuf, feedback: Option<FeedbackChoice> },
}

/// The observers of a run.
#[derive(Debug)]
pub(crate) struct ObservePlan {
    pub(crate) certify: bool,
    pub(crate) certificates: bool,
    pub(crate) calibration: Option<CalibrationOf>,
    pub(crate) abstain: Option<AbstainPlan>,
    pub(crate) risk_plot: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    /// The title.
    pub(crate) title: Option<String>,
}

/// The abstention rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AbstainPlan {
    /// Abstain if this cost is below the probability of an error.
    Cost(f64),
    /// Abstain in this fraction of the rounds.
    Rate(f64),
}

/// A batch predictor, drawn from the learner's states.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    pub(crate) path: PathBuf,
    /// Number of states drawn.
    pub(crate) snapshots: usize,
}

impl Plan {
    pub(crate) fn of(args: &RunArgs) -> Result<Self, Failure> {
        if args.stream.repeats > 1 {
            return RepeatPlan::of(args).map(Box::new).map(Plan::Repeated);
        }
        RunPlan::of(args).map(Box::new).map(Plan::Once)
    }
}

impl RepeatPlan {
    fn of(args: &RunArgs) -> Result<Self, Failure> {
        let given = [
            ("--report", args.report.is_some()),
            ("--load", args.load.is_some()),
            ("--save", args.save.is_some()),
            ("--batch-model", args.batch_model.is_some()),
            ("--certify", args.certify),
            ("--certificates", args.certificates),
            ("--calibration", args.calibration.is_some()),
            ("--abstain-cost", args.abstain_cost.is_some()),
            ("--abstain-rate", args.abstain_rate.is_some()),
            ("--risk-plot", args.risk_plot.is_some()),
            ("--log", args.log.is_some()),
            ("--checkpoint", args.checkpoint.is_some()),
            ("--skip", args.skip.is_some()),
            ("--predictions", args.predictions.is_some()),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!(
                "{option}: is for a single run; it cannot be combined with --repeats {}",
                args.stream.repeats
            )));
        }
        let Wanted { entry, settings, .. } = wanted(args)?;
        let candidate = Candidate { entry, settings, varied: Vec::new() };
        let mut pass = PassPlan::of(&args.stream)?;
        pass.stream = pass.stream.with_log(logged(args)?, args.columns.rewards).with_offered(offered(args)?);
        Files::default().input("the data", &pass.stream.source.data).check()?;
        Ok(Self { candidate, pass })
    }
}

impl RunPlan {
    fn of(args: &RunArgs) -> Result<Self, Failure> {
        let abstain = match (args.abstain_cost, args.abstain_rate) {
            (Some(cost), _) => Some(AbstainPlan::Cost(cost)),
            (None, rate) => rate.map(AbstainPlan::Rate),
        };
        let batch_model = args.batch_model.clone();
        let stream = StreamPlan::of(&args.stream)?.with_log(logged(args)?, args.columns.rewards);
        let stream = stream.with_offered(offered(args)?);
        let plan = Self {
            stream,
            learner: LearnerPlan::of(args)?,
            threads: args.stream.threads.unwrap_or_else(processors),
            observe: ObservePlan {
                certify: args.certify,
                certificates: args.certificates,
                calibration: args.calibration,
                abstain,
                risk_plot: args.risk_plot.clone(),
                report: args.report.clone(),
                title: args.title.clone(),
            },
            log: args.log.clone(),
            predictions: args.predictions.clone(),
            top_k: args.top_k,
            save: args.save.clone(),
            save_32bit: args.save_32bit,
            checkpoint: args.checkpoint,
            skip: args.skip,
            batch_model: batch_model.map(|path| BatchPlan { path, snapshots: args.snapshots }),
        };
        plan.files().check()?;
        files::check_report(plan.observe.report.as_deref())?;
        Ok(plan)
    }

    fn files(&self) -> Files {
        let loaded = match &self.learner {
            LearnerPlan::New(_) => None,
            LearnerPlan::Saved { path, .. } => Some(path.as_path()),
        };
        Files::default()
            .input("the data", &self.stream.source.data)
            .replaced("--load", loaded)
            .late_output("--save", self.save.as_deref())
            .late_output("--batch-model", self.batch_model.as_ref().map(|batch| batch.path.as_path()))
            .output("--log", self.log.as_deref())
            .late_output("--predictions", files::file(self.predictions.as_deref()))
            .output("--report", self.observe.report.as_deref())
            .output("--risk-plot", self.observe.risk_plot.as_deref())
    }
}

impl LearnerPlan {
    fn of(args: &RunArgs) -> Result<Self, Failure> {
        let Some(path) = args.load.clone() else {
            return Ok(Self::New(Wanted { open_classes: true, ..wanted(args)? }));
        };
        if args.learner.is_some()
            || !args.set.is_empty()
            || args.stream.scale.is_some()
            || (args.stream.costs.is_some() && columns(&args.columns).is_none())
            || args.stream.no_intercept
        {
            return Err(Failure::usage(
                "--load: the learner, its parameters, its scaling and its range of costs come from the model; omit --learner, --set, --scale, --no-intercept and --costs",
            ));
        }
        Ok(Self::Saved { path, feedback: args.feedback })
    }
}

/// The names of the columns that the arguments name, if any.
fn columns(args: &LogColumnArgs) -> Option<Keys> {
    Keys::named([&args.decision, &args.probability, &args.reward, &args.offered])
}

/// The column of the labels on offer of data whose label is seen; that of a log is among its [`logged`]
/// columns, and what a loaded model learns from is not known yet.
fn offered(args: &RunArgs) -> Result<Option<&String>, Failure> {
    let columns = &args.columns;
    let of_log = columns.decision.is_some() || columns.probability.is_some() || columns.reward.is_some();
    if columns.offered.is_none() || of_log || args.load.is_some() {
        return Ok(None);
    }
    // Without a label it is the log of a program that names its columns as Noregret does.
    if args.stream.reading.label.is_none() && wanted(args)?.is_bandit() {
        return Ok(None);
    }
    Ok(columns.offered.as_ref())
}

/// The names of the columns, if the data is the log of another program's decisions.
fn logged(args: &RunArgs) -> Result<Option<Keys>, Failure> {
    let keys = if offered(args)?.is_some() { None } else { columns(&args.columns) };
    let refused =
        |what: &str| Err(Failure::usage(format!("--decision, --probability, --reward, --offered: {what}")));
    if keys.is_some() && args.feedback != Some(FeedbackChoice::Bandit) && args.load.is_none() {
        return refused(
            "name the columns of a log of decisions, which are learnt from with --feedback bandit",
        );
    }
    if keys.is_none()
        && args.columns.rewards.is_some()
        && args.feedback != Some(FeedbackChoice::Bandit)
        && args.load.is_none()
    {
        return Err(Failure::usage(
            "--rewards: is for a log of decisions, which is learnt from with --feedback bandit; data with costs have --costs",
        ));
    }
    if keys.is_some() && args.stream.reading.label.is_some() {
        return Err(Failure::usage(match args.load {
            Some(_) => {
                "--label: the model knows which column is the label; omit it beside --offered or the columns of a log"
            }
            None => {
                "--label: a log of decisions has the label that was played, in the column that --decision names"
            }
        }));
    }
    Ok(keys.map(|keys| Keys { costs: args.stream.costs, rewards: args.columns.rewards, ..keys }))
}

/// The learner, by name.
fn wanted(args: &RunArgs) -> Result<Wanted, Failure> {
    let entry = registry::find(args.learner.as_deref().unwrap_or(registry::DEFAULT))?;
    let copies = 1 + args.batch_model.as_ref().map_or(0, |_| args.snapshots);
    let mut settings = Settings::parse(&args.set)?;
    settings.take_facts(entry)?;
    let named = args.learner.is_some();
    let mut wanted = Wanted { entry, settings, copies, open_classes: false, named };
    wanted.set_feedback(args.feedback)?;
    Ok(wanted)
}
