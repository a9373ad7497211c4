//! What is to be done. Arguments become a plan here, once, and nothing behind it reads an argument.

use std::path::PathBuf;
use std::thread::available_parallelism;

use noregret::algorithm::Forecast;
use noregret::registry;
use noregret_stream::encode::LargeRow;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::RunOptions;
use noregret_stream::run::delay::Lateness;
use noregret_stream::watch::curve::Measure;
use noregret_stream::{ReadOptions, Reader, Schema, Stop};

use crate::args::{CompareArgs, DataArgs, RunArgs, StreamArgs};
use crate::checkpoint::{Every, Skip};
use crate::choices::{CalibrationOf, FeedbackChoice, SortBy};
use crate::failure::Failure;
use crate::interrupt;
use crate::note::data_name;
use crate::progress::Mode;
use crate::settings::Settings;
use crate::sweep::{Candidate, candidates};
use crate::wanted::Wanted;

/// The learner that `run` takes if none is named.
const DEFAULT_LEARNER: &str = "auto";

/// Where rows come from, and how they are read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// A file, or `-` for standard input.
    pub(crate) data: String,
    pub(crate) options: ReadOptions,
    pub(crate) on_bad_row: BadRows,
}

impl Source {
    /// The data `data`, read as `args` say.
    pub(crate) fn of(data: &str, args: &DataArgs) -> Result<Self, Failure> {
        let delimiter = match args.delimiter.as_deref() {
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
        let options = ReadOptions {
            format: args.format,
            label: args.label.clone(),
            weight: args.weight.clone(),
            delimiter,
            header: args.header,
            categorical: args.categorical.clone(),
            numeric: args.numeric.clone(),
            text: args.text.clone(),
            time: args.time.clone(),
            drop: args.drop.clone(),
            id: args.id.clone(),
            hash_bits: args.hash_bits,
            index_base: args.index_base,
            ..ReadOptions::default()
        };
        Ok(Self { data: data.to_owned(), options, on_bad_row: args.on_bad_row })
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> &str {
        data_name(&self.data)
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<Box<dyn Reader>, Failure> {
        noregret_stream::open(&self.data, &self.options).map_err(Failure::reading)
    }

    /// The same with the columns of `schema`.
    pub(crate) fn with_schema(&self, schema: Schema) -> Self {
        let options = ReadOptions { schema: Some(schema), ..self.options.clone() };
        Self { options, ..self.clone() }
    }
}

/// A stream, and how it is learnt, by one learner or several.
#[derive(Clone, Debug)]
pub(crate) struct StreamPlan {
    pub(crate) source: Source,
    /// `None`: what suits the data and the learner.
    pub(crate) scaling: Option<Scaling>,
    pub(crate) intercept: bool,
    pub(crate) on_large_row: LargeRow,
    pub(crate) delay: Lateness,
    /// The least probability of every label under bandit feedback.
    pub(crate) exploration_floor: f64,
    /// Rounds that the windowed scores are over.
    pub(crate) window: usize,
    /// Rows after which the run stops.
    pub(crate) limit: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) mode: Mode,
    /// Most memory for the learners' states, in MiB.
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

    /// What asks the run to end between two rows.
    pub(crate) fn stop(&self) -> &Stop {
        &self.source.options.stop
    }

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

/// Runs of several learners or seeds over one pass of a stream.
#[derive(Clone, Debug)]
pub(crate) struct PassPlan {
    pub(crate) stream: StreamPlan,
    /// Seeds of each learner that draws anything.
    pub(crate) repeats: u64,
    /// How many runs work at a time; `None`: one a core.
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
    /// Where the curves go, and what they show.
    pub(crate) plot: Option<PathBuf>,
    pub(crate) curve: Measure,
    pub(crate) report: Option<PathBuf>,
}

impl ComparePlan {
    pub(crate) fn of(args: &CompareArgs) -> Result<Self, Failure> {
        Ok(Self {
            candidates: candidates(&args.learners, &args.set)?,
            pass: PassPlan::of(&args.stream)?,
            sort: args.sort,
            plot: args.plot.clone(),
            curve: args.curve,
            report: args.report.clone(),
        })
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
    /// Threads that share the learner's largest matrix products.
    pub(crate) threads: usize,
    pub(crate) observe: ObservePlan,
    /// Where the decisions go.
    pub(crate) log: Option<PathBuf>,
    /// Where the predictions go.
    pub(crate) predictions: Option<PathBuf>,
    /// How many probabilities they have, if any.
    pub(crate) top_k: Option<usize>,
    /// Where the model goes.
    pub(crate) save: Option<PathBuf>,
    /// Whether numbers are saved in single precision where that changes no forecast.
    pub(crate) save_32bit: bool,
    /// When it is saved on the way.
    pub(crate) checkpoint: Option<Every>,
    /// Rows that are passed over.
    pub(crate) skip: Option<Skip>,
    pub(crate) batch_model: Option<BatchPlan>,
}

/// Where the learner comes from.
#[derive(Debug)]
pub(crate) enum LearnerPlan {
    /// It is made for the stream.
    New(Wanted),
    /// It was saved, and goes on.
    Saved { path: PathBuf, feedback: Option<FeedbackChoice> },
}

/// What is to be observed of a run.
#[derive(Debug)]
pub(crate) struct ObservePlan {
    pub(crate) certify: bool,
    pub(crate) certificates: bool,
    pub(crate) calibration: Option<CalibrationOf>,
    pub(crate) abstain: Option<AbstainPlan>,
    pub(crate) risk_plot: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    /// What the page is called.
    pub(crate) title: Option<String>,
}

/// When no answer is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AbstainPlan {
    /// Where abstaining at this cost is expected to be cheaper than an error, which costs 1.
    Cost(f64),
    /// In this fraction of the rounds.
    Rate(f64),
}

/// A predictor for rows to come, drawn from the learner's states.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    pub(crate) path: PathBuf,
    /// How many states are drawn.
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
                "{option}: is about a single run; it cannot go with --repeats {}",
                args.stream.repeats
            )));
        }
        let Wanted { entry, settings, .. } = wanted(args)?;
        let candidate = Candidate { entry, settings, varied: Vec::new() };
        Ok(Self { candidate, pass: PassPlan::of(&args.stream)? })
    }
}

impl RunPlan {
    fn of(args: &RunArgs) -> Result<Self, Failure> {
        let abstain = match (args.abstain_cost, args.abstain_rate) {
            (Some(cost), _) => Some(AbstainPlan::Cost(cost)),
            (None, rate) => rate.map(AbstainPlan::Rate),
        };
        let batch_model = args.batch_model.clone();
        Ok(Self {
            stream: StreamPlan::of(&args.stream)?,
            learner: LearnerPlan::of(args)?,
            threads: args.stream.threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
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
        })
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
            || args.stream.no_intercept
        {
            return Err(Failure::usage(
                "--load: the learner, its parameters and its scaling come from the model; leave out --learner, --set, --scale and --no-intercept",
            ));
        }
        Ok(Self::Saved { path, feedback: args.feedback })
    }
}

/// The learner that is asked for by name.
fn wanted(args: &RunArgs) -> Result<Wanted, Failure> {
    let entry = registry::find(args.learner.as_deref().unwrap_or(DEFAULT_LEARNER))?;
    let copies = 1 + args.batch_model.as_ref().map_or(0, |_| args.snapshots);
    let mut settings = Settings::parse(&args.set)?;
    settings.take_facts(entry)?;
    let mut wanted = Wanted { entry, settings, copies, open_classes: false };
    wanted.set_feedback(args.feedback)?;
    Ok(wanted)
}
