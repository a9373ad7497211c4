//! `noregret run`: the main job.

mod checks;

use std::collections::BTreeMap;
use std::path::Path;

use noregret::algorithm::{AnyModel, BanditModel, Forecast, Model};
use noregret::batch::online_to_batch::{Average, OnlineToBatch};
use noregret::guarantee::Guarantee;
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::open_classes::OpenClasses;
use noregret::rng::Rng;
use noregret_stream::decisions::file::{LogFile, LogFileError};
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::encode::examples::{Examples, ReadExamples};
use noregret_stream::run::bandit::{Play, run_bandit_as};
use noregret_stream::run::delay::Lateness;
use noregret_stream::run::score::Score;
use noregret_stream::run::threads::workers;
use noregret_stream::run::{Outcome, RunError, RunOptions, Sink};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Forecaster, Frozen, Saved};
use noregret_stream::watch::abstain::{Abstention, Report};
use noregret_stream::watch::baseline::Baselines;
use noregret_stream::watch::calibration::Calibration;
use noregret_stream::watch::certify::{Certified, Record};

pub(crate) use self::checks::check_target;
use self::checks::{check_open_classes, check_options, record};
use crate::abstention::{RiskPlot, abstention};
use crate::args::RunArgs;
use crate::choices::CalibrationOf;
use crate::cmd::repeat::repeat;
use crate::failure::Failure;
use crate::forecasts::{Columns, Forecasts};
use crate::note::{counted_past, note, note_bad_rows};
use crate::open::{Opened, open};
use crate::plan::{Plan, RunPlan};
use crate::progress::{Mode, Progress, Total, as_json};
use crate::report::{Ending, RunPage};
use crate::summary::{Summary, print};
use crate::watched::Watched;

/// Learns the stream.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    match Plan::of(args)? {
        Plan::Repeated(plan) => repeat(*plan),
        Plan::Once(plan) => once(&plan),
    }
}

/// One run.
fn once(plan: &RunPlan) -> Result<(), Failure> {
    if let Some(path) = &plan.save {
        check_target("--save", path)?;
    }
    if let Some(batch) = &plan.batch_model {
        check_target("--batch-model", &batch.path)?;
    }
    if let Some(path) = &plan.predictions {
        check_target("--predictions", path)?;
    }
    let Opened { mut learner, encoder, reader, rows, open_classes, seed, generator, continues, decisions } =
        open(plan)?;
    check_options(plan, &learner, &encoder)?;
    if open_classes {
        check_open_classes(plan)?;
    }
    if let AnyModel::Full(learner) = &mut learner {
        learner.set_workers(workers(plan.threads));
    }
    let (stream, observe, about) = (&plan.stream, &plan.observe, learner.about());
    if stream.mode == Mode::Table {
        for (subject, sentence) in &decisions {
            note(format_args!("{subject:>9}  {sentence}"));
        }
    }
    let size = reader.size();
    let watched = Watched::new(reader, None);
    let total = match (rows, stream.limit, size) {
        (Some(rows), ..) | (None, Some(rows), _) => Total::Rows(rows),
        (None, None, Some(size)) => Total::Bytes(size, watched.position()),
        (None, None, None) => Total::Unknown,
    };
    let mut progress = Progress::new(stream.mode, about.forecast, total, stream.window, observe.certificates);
    if plan.save.is_some() || plan.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let record = observe.certify.then(|| record(&learner, rows, stream.memory)).transpose()?;
    let abstention = match &learner {
        AnyModel::Full(learner) => abstention(observe, about, learner.abstention_bound(0.0).is_some())?,
        AnyModel::Bandit(_) => None,
    };
    let forecasts = plan.predictions.as_deref().map(|path| {
        let columns = Columns {
            id: stream.source.options.id.is_some(),
            confidence: true,
            truth: true,
            json: is_ndjson(path),
            probabilities: false,
        };
        Forecasts::open(path, columns, about.forecast, encoder.labels.clone())
    });
    let forecasts = forecasts.transpose()?;
    let bandit = matches!(learner, AnyModel::Bandit(_));
    let session = Session {
        plan,
        open_classes,
        options: stream.run_options(about.forecast, size.is_none(), seed),
        examples: ReadExamples::new(
            Box::new(watched),
            encoder,
            &stream.source.data,
            stream.source.on_bad_row,
        ),
        observers: Observers {
            progress,
            record,
            abstention,
            calibration: observe.calibration.map(|of| Calibration::new(of == CalibrationOf::Classes)),
            page: (observe.report.as_ref())
                .map(|path| RunPage::open(path, about.forecast, &decisions))
                .transpose()?,
            forecasts,
            // Of late labels they would know too early, and of right and wrong too much.
            baselines: (stream.delay.is_none() && !bandit).then(Baselines::new),
        },
        risk_plot: observe.risk_plot.as_deref().map(RiskPlot::open).transpose()?,
    };
    match learner {
        AnyModel::Full(learner) => session.full(learner),
        AnyModel::Bandit(_) => {
            let mut play = Play { floor: stream.exploration_floor, ..Play::new(seed) };
            if let Some(generator) = generator {
                play.generator = generator;
            }
            let log = plan.log.as_deref().map(|path| session.log(path, &learner, &play, continues));
            let log = log.transpose()?;
            session.bandit(learner.bandit()?, play, log)
        }
    }
}

/// The observers of a run, each present if it was asked for.
struct Observers {
    progress: Progress,
    record: Option<Record>,
    abstention: Option<Abstention>,
    calibration: Option<Calibration>,
    page: Option<RunPage>,
    forecasts: Option<Forecasts>,
    baselines: Option<Baselines>,
}

impl Sink for Observers {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.progress.observe(outcome, score)?;
        self.record.observe(outcome, score)?;
        self.abstention.observe(outcome, score)?;
        self.calibration.observe(outcome, score)?;
        self.page.observe(outcome, score)?;
        self.forecasts.observe(outcome, score)?;
        self.baselines.observe(outcome, score)
    }
}

/// A stream and how it is to be learnt.
struct Session<'a> {
    plan: &'a RunPlan,
    open_classes: bool,
    options: RunOptions,
    examples: ReadExamples,
    observers: Observers,
    risk_plot: Option<RiskPlot>,
}

/// What a run leaves.
struct Learnt {
    learner: AnyModel,
    score: Score,
    /// The predictor of `--batch-model`.
    average: Option<Average<Box<dyn Model>>>,
    /// The losses of rounds in which a class appeared for the first time, where that can happen.
    first_appearances: Option<Vec<f64>>,
    /// What a bandit learner's labels go on being drawn with.
    generator: Option<Rng>,
}

impl Session<'_> {
    /// The label of every round is revealed.
    fn full(mut self, mut learner: Box<dyn Model>) -> Result<(), Failure> {
        let about = learner.about();
        let mut learn = |learner: &mut dyn OnlineLearner| {
            let (observers, options) = (&mut self.observers, &self.options);
            let run = |examples: &mut dyn Examples| {
                noregret_stream::run::run(examples, learner, observers, options)
            };
            (self.examples.ahead(options.limit, run))
                .map_err(|error| run_failure(self.plan.stream.source.name(), error))
        };
        let (mut average, mut first_appearances) = (None, None);
        let score = if self.open_classes {
            let mut open = OpenClasses::new(learner, about.forecast);
            let score = learn(&mut open)?;
            let losses;
            (learner, losses) = open.into_parts();
            first_appearances = (about.forecast == Forecast::Probabilities).then_some(losses);
            score
        } else if let Some(batch) = &self.plan.batch_model {
            let mut sampled = OnlineToBatch::new(learner, batch.snapshots, self.options.seed);
            let score = learn(&mut sampled)?;
            let drawn;
            (learner, drawn) = sampled.into_parts();
            average = Some(drawn);
            score
        } else {
            learn(learner.as_mut())?
        };
        let learner = AnyModel::Full(learner);
        self.close(Learnt { learner, score, average, first_appearances, generator: None })
    }

    /// Begins the log of a learner's decisions.
    fn log(
        &self,
        path: &Path,
        learner: &AnyModel,
        play: &Play,
        continues: Option<String>,
    ) -> Result<LogWriter<LogFile>, Failure> {
        let file = LogFile::create(path).map_err(|error| match error {
            LogFileError::Io { .. } => Failure::data(format!("--log {error}")),
            error => Failure::usage(format!("--log {error}")),
        })?;
        let (encoder, schema) = (&self.examples.encoder, self.examples.reader.schema());
        let start = Start { learner, seed: self.options.seed, continues, play, encoder, schema };
        LogWriter::new(file, &start).map_err(|error| log_failure(path, &error))
    }

    /// Only whether the played label was right is revealed.
    fn bandit(
        mut self,
        mut learner: Box<dyn BanditModel>,
        mut play: Play,
        mut log: Option<LogWriter<LogFile>>,
    ) -> Result<(), Failure> {
        let (observers, options) = (&mut self.observers, &self.options);
        let score = if let Some(log) = &mut log {
            // It writes rows down, which examples made ahead do not have.
            run_bandit_as(&mut self.examples, learner.as_mut(), observers, options, &mut play, Some(log))
        } else {
            self.examples.ahead(options.limit, |examples| {
                run_bandit_as(examples, learner.as_mut(), observers, options, &mut play, None)
            })
        };
        let score = score.map_err(|error| run_failure(self.plan.stream.source.name(), error))?;
        if let (Some(log), Some(path)) = (log, &self.plan.log) {
            log.into_inner().finish().map_err(|error| log_failure(path, &error))?;
        }
        let (learner, generator) = (AnyModel::Bandit(learner), Some(play.generator));
        self.close(Learnt { learner, score, average: None, first_appearances: None, generator })
    }

    /// The run is over: what came of it is written and shown.
    fn close(mut self, learnt: Learnt) -> Result<(), Failure> {
        let Learnt { learner, score, average, first_appearances, generator } = learnt;
        let (plan, about) = (self.plan, learner.about());
        let (mode, window) = (plan.stream.mode, plan.stream.window);
        let certificate = match &learner {
            AnyModel::Full(learner) => learner.certificate(),
            AnyModel::Bandit(_) => None,
        };
        self.observers.progress.finish(&score, certificate, learner.weights()).map_err(Failure::output)?;
        let seconds = self.observers.progress.seconds();
        if score.rounds() == 0 {
            let data = plan.stream.source.name();
            return Err(Failure::data(format!("{data}: no labelled row was learnt from")));
        }
        let certified = self.certified(&learner, certificate)?;
        let abstention = match (&self.observers.abstention, &learner) {
            (Some(abstention), AnyModel::Full(learner)) => {
                Some(abstention_report(abstention, learner.as_ref(), plan.stream.delay))
            }
            _ => None,
        };
        let mut numbers: BTreeMap<_, _> = learner.numbers().into_iter().collect();
        numbers.extend(first_appearances.map(|losses| ("first_appearances", losses)));
        let examples = &self.examples;
        note_bad_rows(examples.bad_rows(), examples.first_bad_row());
        for odd in examples.reader.notes() {
            note(format_args!("noregret: {odd}"));
        }
        self.observers.forecasts.map_or(Ok(()), Forecasts::finish)?;
        let rates = score.rates();
        let baselines = self.observers.baselines;
        let baselines = baselines.and_then(|all| all.report(rates.error_rate, rates.log_loss));
        let commonest = baselines.as_ref().and_then(|report| report.commonest);
        let commonest = commonest.map(|(label, share)| (examples.encoder.labels.name(label).into_owned(), share));
        let mut summary = Summary {
            kind: "summary",
            data: &plan.stream.source.data,
            learner: about.name,
            rates,
            baselines,
            commonest,
            window: score.window_rates(),
            // The same run makes the same model file.
            seconds: None,
            rows_per_second: None,
            certified,
            abstention,
            numbers,
            bad_rows: examples.bad_rows(),
            large_rows: examples.encoder.large_rows,
            dropped_features: examples.reader.dropped_features(),
            resolved_parameters: learner.values(),
            weights: as_json(&learner.weights()),
            calibration: self.observers.calibration.map(|calibration| calibration.report()),
            classes: learner.problem().classes,
            features: learner.problem().features,
            seed: self.options.seed,
        };
        if let Some(page) = self.observers.page {
            page.write(Ending {
                score: &score,
                summary: &summary,
                labels: &examples.encoder.labels,
                record: self.observers.record.as_ref(),
                certificate,
                bound: match &learner {
                    AnyModel::Full(learner) => {
                        learner.guarantee().and_then(|guarantee| guarantee.regret_bound())
                    }
                    AnyModel::Bandit(_) => None,
                },
                weights: learner.weights(),
            })?;
        }
        if let (Some(plot), Some(report)) = (self.risk_plot, &summary.abstention) {
            plot.draw(about.name, report)?;
        }
        // The models first: they are written even if the summary cannot be.
        let text = serde_json::to_string(&summary).expect("plain numbers");
        let write = |mut archive: Archive, path: &Path| {
            archive.set_text("run", text.clone());
            model_file::write(&archive, path).map_err(Failure::data)
        };
        let schema = self.examples.reader.schema();
        if let (Some(batch), Some(average)) = (&plan.batch_model, average) {
            let (encoder, schema) = (self.examples.encoder.clone(), schema.clone());
            let predictor = Forecaster::Average(average);
            write(Frozen { predictor, encoder, schema }.archive(), &batch.path)?;
        }
        if let Some(path) = &plan.save {
            let encoder = self.examples.encoder;
            write(Saved { learner, encoder, schema, generator }.archive(), path)?;
        }
        summary.seconds = Some(seconds);
        summary.rows_per_second = Some(score.rounds() as f64 / seconds);
        if mode == Mode::Table {
            note("");
        }
        print(&summary, &score, mode, window).map_err(Failure::output)?;
        if let (Some(warning), Mode::Table) = (summary.baselines.and_then(|report| report.warning), mode) {
            note(format_args!("\nnoregret: {warning}."));
        }
        if mode == Mode::Table {
            tell_where(plan);
        }
        Ok(())
    }

    /// Holds the learner to its theorem, if that was asked for.
    fn certified(&self, learner: &AnyModel, certificate: Option<f64>) -> Result<Option<Certified>, Failure> {
        let Some(record) = &self.observers.record else { return Ok(None) };
        let (about, stream) = (learner.about(), &self.plan.stream);
        let (delay, floor) = (stream.delay, stream.exploration_floor);
        let void = match self.examples.encoder.large_rows {
            _ if !delay.is_none() => Some(format!("labels were {}", delay.describe())),
            _ if floor > 0.0 => Some(format!("labels were drawn with an exploration floor of {floor}")),
            0 => None,
            rows => Some(format!("{} beyond the learner's radius", counted_past(rows, "row"))),
        };
        let theorem = format!("{}, {}: {}", about.paper.key, about.paper.place, about.guarantee);
        let guarantee = guarantee(learner).expect("asked for before the run");
        let certified = record.certify(guarantee, theorem, certificate, void);
        certified.map(Some).map_err(|error| Failure::data(format!("--certify: {error}")))
    }
}

/// What abstaining came to, and what was promised of it.
fn abstention_report(abstention: &Abstention, learner: &dyn Model, delay: Lateness) -> Report {
    let mut report = abstention.report();
    match learner.abstention_bound(report.asked) {
        Some(_) if !delay.is_none() => {
            report.guarantee = format!("none: labels were {}", delay.describe());
        }
        Some(Ok(bound)) => {
            let paper = &learner.about().paper;
            report.guarantee = format!(
                "the total cost is at most {bound:.3} above the best expert's loss ({}, {})",
                paper.key, paper.place
            );
        }
        Some(Err(why)) => report.guarantee = format!("none: {why}"),
        None => {}
    }
    report
}

/// The theorem of a learner as it stands.
fn guarantee(learner: &AnyModel) -> Option<Guarantee<'_>> {
    match learner {
        AnyModel::Full(learner) => learner.guarantee(),
        AnyModel::Bandit(learner) => learner.guarantee(),
    }
}

/// Whether a file is to have an object a line.
fn is_ndjson(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "ndjson" || end == "jsonl")
}

/// Tells in which files the run left something.
fn tell_where(plan: &RunPlan) {
    let batch = plan.batch_model.as_ref().map(|batch| &batch.path);
    for (path, what) in [
        (plan.save.as_ref(), "model is"),
        (batch, "predictor for rows to come is"),
        (plan.log.as_ref(), "decisions are"),
        (plan.predictions.as_ref(), "predictions are"),
    ] {
        if let Some(path) = path {
            note(format_args!("The {what} in {}.", path.display()));
        }
    }
}

fn log_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("--log {}: cannot be written: {error}", path.display()))
}

/// A run over `data` failed.
pub(crate) fn run_failure(data: &str, error: RunError) -> Failure {
    match error {
        RunError::Read(error) => Failure::reading(error),
        RunError::Write(error) => Failure::output(error),
        RunError::NotFinite(_) => Failure::data(format!("{data}: {error}")),
    }
}
