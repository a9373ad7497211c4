//! `noregret run`: the main job.

mod checks;
mod going_on;

use std::collections::BTreeMap;
use std::path::Path;

use noregret::algorithm::{AnyModel, Forecast, Model};
use noregret::batch::online_to_batch::{Average, OnlineToBatch};
use noregret::guarantee::{Promise, RunFacts};
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::open_classes::OpenClasses;
use noregret::prediction::{Decision, Prediction};
use noregret::rng::Rng;
use noregret_stream::Stop;
use noregret_stream::decisions::file::{LogFile, LogFileError};
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::encode::examples::{Examples, ReadExamples};
use noregret_stream::run::bandit::{Journal, Play, run_bandit_on, warning};
use noregret_stream::run::score::Score;
use noregret_stream::run::standing::{Standing, set_rows_read};
use noregret_stream::run::threads::workers;
use noregret_stream::run::{Outcome, RunError, RunOptions, Sink, run_on};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Forecaster, Frozen, Learning, archive_of, in_single_precision};
use noregret_stream::watch::abstain::{Abstention, Report};
use noregret_stream::watch::baseline::Baselines;
use noregret_stream::watch::calibration::Calibration;
use noregret_stream::watch::certify::{Certified, Record};
use noregret_stream::watch::influence::Influence;

pub(crate) use self::checks::check_target;
use self::checks::{check_open_classes, check_options, record};
use self::going_on::{Stands, check_going_on, checkpoint, go_on, skip, stands, stopped, watching};
use crate::abstention::{RiskPlot, abstention};
use crate::args::RunArgs;
use crate::checkpoint::{Next, Segments};
use crate::choices::CalibrationOf;
use crate::cmd::repeat::repeat;
use crate::failure::Failure;
use crate::forecasts::{Columns, Forecasts, Shown};
use crate::interrupt;
use crate::note::{note, note_bad_rows};
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
        if plan.top_k.is_some() && !is_ndjson(path) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "--top-k: needs --predictions FILE.ndjson, whose lines have room for it; {path} is written as CSV"
            )));
        }
    }
    check_going_on(plan)?;
    let Opened {
        mut learner,
        mut encoder,
        reader,
        rows,
        open_classes,
        seed,
        generator,
        continues,
        facts,
        archive,
        decisions,
    } = open(plan).or_else(|failure| {
        interrupt::check(plan.stream.stop(), interrupt::nothing_learnt)?;
        Err(failure)
    })?;
    check_options(plan, &learner, &encoder)?;
    let scaling = encoder.scaler.scaling();
    if plan.batch_model.is_some() && scaling.adapts() {
        if plan.stream.mode == Mode::Table {
            note(format_args!(
                "noregret: --batch-model: with --scale {scaling} what is learnt of a row depends on the rows before it: nothing is promised of the loss on rows to come; --scale none or unit keeps the promise"
            ));
        }
        encoder.scaler.keep_drawn(seed);
    }
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
        if let AnyModel::Bandit(learner) = &learner
            && let Some(warning) = warning(learner.as_ref())
        {
            note(format_args!("  warning  {warning}"));
        }
    }
    let size = reader.size();
    let watched = Watched::new(reader, None, &Stop::default());
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
            probabilities: plan.top_k.map(Shown::Best),
        };
        Forecasts::open(path, columns, about.forecast, encoder.labels.clone())
    });
    let forecasts = forecasts.transpose()?;
    let bandit = matches!(learner, AnyModel::Bandit(_));
    let (data, on_bad_row) = (&stream.source.data, stream.source.on_bad_row);
    let mut examples = ReadExamples::new(Box::new(watched), encoder, data, on_bad_row);
    let (going_on, loaded) = skip(plan, archive, &mut examples)?;
    let session = Session {
        plan,
        open_classes,
        facts,
        options: stream.run_options(about.forecast, size.is_none(), seed),
        examples,
        going_on,
        loaded,
        observers: Observers {
            progress,
            record,
            abstention,
            calibration: observe.calibration.map(|of| Calibration::new(of == CalibrationOf::Classes)),
            page: (observe.report.as_ref())
                .map(|path| RunPage::open(path, observe.title.as_deref(), about.forecast, &decisions))
                .transpose()?,
            forecasts,
            last: plan.save_32bit.then(Influence::new),
            // Of late labels they would know too early, and of right and wrong too much.
            baselines: (stream.delay.is_none() && !bandit).then(|| Baselines::new(learner.problem().classes)),
        },
        risk_plot: observe.risk_plot.as_deref().map(RiskPlot::open).transpose()?,
    };
    let mut play = Play::new(seed);
    if let Some(generator) = generator {
        play.generator = generator;
    }
    match learner {
        AnyModel::Full(learner) => session.full(learner, play.generator),
        AnyModel::Bandit(_) => {
            play.floor = stream.exploration_floor;
            session.bandit(learner, play, continues)
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
    /// The last rows.
    last: Option<Influence>,
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
        self.last.observe(outcome, score)?;
        self.baselines.observe(outcome, score)
    }

    fn reads_forecasts(&self) -> bool {
        self.record.is_some()
            || self.abstention.is_some()
            || self.calibration.is_some()
            || self.page.is_some()
            || self.forecasts.is_some()
    }
}

/// A stream and how it is to be learnt.
struct Session<'a> {
    plan: &'a RunPlan,
    open_classes: bool,
    /// Of the rounds that a loaded learner has learnt before.
    facts: RunFacts,
    options: RunOptions,
    examples: ReadExamples,
    /// The file of the model that it goes on from, to the bit.
    going_on: bool,
    /// The file of the model that it goes on with.
    loaded: Option<Archive>,
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
    /// What labels go on being drawn with, where they are drawn.
    generator: Option<Rng>,
    /// Writes into the model's file where the run stands, if it may go on from there.
    stands: Option<Stands>,
}

impl Session<'_> {
    /// The label of every round is revealed.
    fn full(mut self, mut learner: Box<dyn Model>, mut generator: Rng) -> Result<(), Failure> {
        let (plan, about) = (self.plan, learner.about());
        let mut standing = Standing::new(learner.as_ref(), &self.options);
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.options.look_ahead) {
            standing.go_on_in(archive);
        }
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.going_on)
            && let Some((stood, counts)) =
                Standing::load(archive, learner.problem(), &learner.prediction(), &self.options)
                    .map_err(Failure::data)?
        {
            standing = stood;
            self.facts = go_on(&mut self.examples, &mut self.observers, archive, counts);
        }
        let draws = about.forecast == Forecast::RandomisedLabel;
        let mut options = self.options.clone();
        let (stop, place) = (plan.stream.stop(), (standing.block, standing.into));
        let mut segments = Segments::new(&mut self.examples, stop, plan.checkpoint, place, options.limit);
        let mut segment = |examples: &mut ReadExamples,
                           observers: &mut Observers,
                           learner: &mut dyn OnlineLearner,
                           standing: &mut Standing<Prediction>,
                           generator: &mut Rng| {
            options.limit = segments.begin();
            let before = standing.rounds;
            let run = |examples: &mut dyn Examples| {
                run_on(examples, learner, observers, &options, generator, standing)
            };
            (examples.ahead(options.limit, run))
                .map_err(|error| run_failure(plan.stream.source.name(), error))?;
            Ok::<Next, Failure>(segments.end(standing.rounds - before, examples))
        };
        let (mut average, mut first_appearances) = (None, None);
        if self.open_classes {
            let mut open = OpenClasses::new(learner, about.forecast);
            while segment(&mut self.examples, &mut self.observers, &mut open, &mut standing, &mut generator)?
                == Next::Save
            {}
            standing.finish(&mut open);
            let losses;
            (learner, losses) = open.into_parts();
            first_appearances = (about.forecast == Forecast::Probabilities).then_some(losses);
        } else if let Some(batch) = &plan.batch_model {
            let mut sampled = OnlineToBatch::new(learner, batch.snapshots, self.options.seed);
            while segment(
                &mut self.examples,
                &mut self.observers,
                &mut sampled,
                &mut standing,
                &mut generator,
            )? == Next::Save
            {}
            standing.finish(&mut sampled);
            let drawn;
            (learner, drawn) = sampled.into_parts();
            average = Some(drawn);
        } else {
            while segment(
                &mut self.examples,
                &mut self.observers,
                learner.as_mut(),
                &mut standing,
                &mut generator,
            )? == Next::Save
            {
                let learning = Learning::Full(learner.as_mut());
                let extra = (None, &self.facts);
                let (generator, watching) = (draws.then_some(&generator), watching(&self.observers));
                checkpoint(plan, learning, generator, &self.examples, &standing, watching, extra)?;
            }
            if stop.asked().is_none() {
                standing.finish(learner.as_mut());
            }
        }
        let score = standing.score.clone();
        let whole = plan.checkpoint.is_some() || stop.asked().is_some();
        let stands: Option<Stands> = if whole {
            Some(stands(standing, watching(&self.observers), None, self.facts.clone()))
        } else if options.look_ahead {
            Some(Box::new(move |archive, _| standing.set_place(archive)))
        } else {
            None
        };
        let (learner, generator) = (AnyModel::Full(learner), draws.then_some(generator));
        self.close(Learnt { learner, score, average, first_appearances, generator, stands })
    }

    /// Begins the log of a learner's decisions, or goes on with the one of which `whole` bytes are known.
    fn log(
        &self,
        path: &Path,
        learner: &AnyModel,
        play: &Play,
        continues: Option<String>,
        whole: Option<u64>,
    ) -> Result<LogWriter<LogFile>, Failure> {
        let refused = |error: LogFileError| match error {
            LogFileError::Io { .. } => Failure::data(format!("--log {error}")),
            error => Failure::usage(format!("--log {error}")),
        };
        let (encoder, schema) = (&self.examples.encoder, self.examples.reader.schema());
        if let Some(bytes) = whole {
            let file = LogFile::go_on(path, bytes).map_err(refused)?;
            return Ok(LogWriter::go_on(file, &encoder.labels, &schema.columns));
        }
        let file = LogFile::create(path).map_err(refused)?;
        let start = Start { learner, seed: self.options.seed, continues, play, encoder, schema };
        LogWriter::new(file, &start).map_err(|error| log_failure(path, &error))
    }

    /// Only whether the played label was right is revealed.
    fn bandit(mut self, learner: AnyModel, mut play: Play, continues: Option<String>) -> Result<(), Failure> {
        let plan = self.plan;
        let mut standing = Standing::bandit(&self.options);
        let mut whole = None;
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.going_on)
            && let Some((stood, counts)) =
                Standing::load(archive, learner.problem(), &Decision::default(), &self.options)
                    .map_err(Failure::data)?
        {
            standing = stood;
            whole = counts.log;
            self.facts = go_on(&mut self.examples, &mut self.observers, archive, counts);
        }
        // The program that sends rows through a pipe may wait for the decision.
        let live = self.examples.reader.size().is_none();
        let log = plan.log.as_deref().map(|path| self.log(path, &learner, &play, continues, whole));
        let mut log = log.transpose()?.map(|log| log.live(live));
        let mut learner = learner.bandit()?;
        let mut options = self.options.clone();
        let stop = plan.stream.stop();
        let mut segments = Segments::new(&mut self.examples, stop, plan.checkpoint, (1, 0), options.limit);
        let failure = |error: RunError| match (error, &plan.log) {
            (RunError::Log(error), Some(path)) => log_failure(path, &error),
            (error, _) => run_failure(plan.stream.source.name(), error),
        };
        let settle = |log: &mut Option<LogWriter<LogFile>>| match (log, &plan.log) {
            (Some(log), Some(path)) => log.get_mut().settle().map_err(|error| log_failure(path, &error)),
            _ => Ok(None),
        };
        loop {
            options.limit = segments.begin();
            let (before, observers) = (standing.rounds, &mut self.observers);
            let ran = if let Some(log) = &mut log {
                // It writes rows down, which examples made ahead do not have.
                let (examples, learner) = (&mut self.examples, learner.as_mut());
                run_bandit_on(examples, learner, observers, &options, &mut play, Some(log), &mut standing)
            } else {
                let (play, learner, standing) = (&mut play, learner.as_mut(), &mut standing);
                self.examples.ahead(options.limit, |examples| {
                    run_bandit_on(examples, learner, observers, &options, play, None, standing)
                })
            };
            ran.map_err(failure)?;
            if segments.end(standing.rounds - before, &mut self.examples) == Next::Over {
                break;
            }
            // The log first: it has all that the model knows of.
            let bytes = settle(&mut log)?;
            let learning = Learning::Bandit(learner.as_mut());
            let extra = (bytes, &self.facts);
            let watching = watching(&self.observers);
            checkpoint(plan, learning, Some(&play.generator), &self.examples, &standing, watching, extra)?;
        }
        if stop.asked().is_none() {
            let journal = log.as_mut().map(|log| log as &mut dyn Journal);
            standing.finish_bandit(learner.as_mut(), journal).map_err(failure)?;
        }
        let goes_on = plan.checkpoint.is_some() || stop.asked().is_some();
        let bytes = if goes_on { settle(&mut log)? } else { None };
        if let (Some(log), Some(path)) = (log, &plan.log) {
            log.into_inner().finish().map_err(|error| log_failure(path, &error))?;
        }
        let score = standing.score.clone();
        let stands = goes_on.then(|| stands(standing, watching(&self.observers), bytes, self.facts.clone()));
        let (learner, generator) = (AnyModel::Bandit(learner), Some(play.generator));
        self.close(Learnt { learner, score, average: None, first_appearances: None, generator, stands })
    }

    /// The run is over: what came of it is written and shown.
    fn close(mut self, learnt: Learnt) -> Result<(), Failure> {
        let Learnt { mut learner, score, average, first_appearances, generator, stands } = learnt;
        let (plan, about) = (self.plan, learner.about());
        let (mode, window) = (plan.stream.mode, plan.stream.window);
        // What is kept back for classes that are new is no part of the learner's own theorem.
        let (certificate, bound) = match &learner {
            AnyModel::Full(learner) if !self.open_classes => {
                let bound = score.facts.guarantee(learner.as_ref());
                (score.facts.certificate(learner.as_ref()), bound.and_then(|bound| bound.regret_bound()))
            }
            AnyModel::Full(_) | AnyModel::Bandit(_) => (None, None),
        };
        (self.observers.progress.finish(&score, certificate.clone(), learner.weights()))
            .map_err(Failure::output)?;
        let seconds = self.observers.progress.seconds();
        if score.rounds() == 0 {
            interrupt::check(plan.stream.stop(), interrupt::nothing_learnt)?;
            let data = plan.stream.source.name();
            return Err(Failure::data(format!("{data}: no labelled row was learnt from")));
        }
        let certified = self.certified(&learner, &score.facts, certificate.clone())?;
        let abstention = match (&self.observers.abstention, &learner) {
            (Some(abstention), AnyModel::Full(learner)) => {
                Some(abstention_report(abstention, learner.as_ref(), &score.facts))
            }
            _ => None,
        };
        let mut numbers: BTreeMap<_, _> = learner.figures().into_iter().collect();
        numbers.extend(first_appearances.map(|losses| ("first_appearances", losses)));
        let examples = &self.examples;
        note_bad_rows(examples.bad_rows(), examples.first_bad_row());
        for odd in examples.reader.odd_cells() {
            note(format_args!("noregret: {odd}"));
        }
        self.observers.forecasts.map_or(Ok(()), Forecasts::finish)?;
        let rates = score.rates();
        let baselines = self.observers.baselines;
        let baselines = baselines.and_then(|all| all.report(rates.error_rate, rates.log_loss));
        let commonest = baselines.as_ref().and_then(|report| report.commonest);
        let commonest =
            commonest.map(|(label, share)| (examples.encoder.labels.name(label).into_owned(), share));
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
            features: learner.problem().features - usize::from(examples.encoder.intercept),
            intercept: examples.encoder.intercept,
            seed: self.options.seed,
        };
        if let Some(page) = self.observers.page {
            let columns = match &learner {
                AnyModel::Full(learner) => page.columns(learner.as_ref(), examples),
                AnyModel::Bandit(_) => Vec::new(),
            };
            page.write(Ending {
                columns,
                score: &score,
                summary: &summary,
                labels: &examples.encoder.labels,
                record: self.observers.record.as_ref(),
                certificate,
                bound,
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
            let (mut encoder, schema) = (self.examples.encoder.clone(), schema.clone());
            if let Some(scaler) = encoder.scaler.take_drawn() {
                encoder.scaler = scaler;
            }
            let predictor = Forecaster::Average(average);
            write(Frozen { predictor, encoder, schema }.archive(), &batch.path)?;
        }
        let rows = self.examples.rows_read();
        if let Some(path) = &plan.save {
            self.facts.extend(&score.facts);
            // Not a copy of the encoder, which may be as large as the learner.
            let encoder = &self.examples.encoder;
            let mut archive = archive_of(&mut learner, encoder, &schema, generator.as_ref(), &self.facts);
            if let Some(stands) = stands {
                stands(&mut archive, &self.examples);
            }
            set_rows_read(&mut archive, rows);
            if let Some(last) = &self.observers.last {
                archive = in_single_precision(&archive, last.rows());
            }
            write(archive, path)?;
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
        interrupt::check(plan.stream.stop(), || stopped(plan, rows))
    }

    /// Holds the learner to its theorem, if that was asked for.
    fn certified(
        &self,
        learner: &AnyModel,
        facts: &RunFacts,
        certificate: Option<Promise>,
    ) -> Result<Option<Certified>, Failure> {
        let Some(record) = &self.observers.record else { return Ok(None) };
        let about = learner.about();
        let theorem = format!("{}, {}: {}", about.paper.key, about.paper.place, about.guarantee);
        let guarantee = match learner {
            AnyModel::Full(learner) => facts.guarantee(learner.as_ref()),
            AnyModel::Bandit(learner) => facts.bandit_guarantee(learner.as_ref()),
        };
        let certified = record.certify(guarantee.expect("asked for before the run"), theorem, certificate);
        let mut certified = certified.map_err(|error| Failure::data(format!("--certify: {error}")))?;
        let scaling = self.examples.encoder.scaler.scaling();
        if scaling.adapts() {
            // The scale of a column moves on, and no linear predictor of the raw rows moves with it.
            certified.comparator +=
                &format!(", of rows scaled as they were when they came (--scale {scaling})");
        }
        Ok(Some(certified))
    }
}

/// What abstaining came to, and what was promised of it.
fn abstention_report(abstention: &Abstention, learner: &dyn Model, facts: &RunFacts) -> Report {
    let mut report = abstention.report();
    match facts.abstention_bound(learner, report.asked) {
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
        RunError::Log(error) => Failure::data(format!("--log: cannot be written: {error}")),
        RunError::NotFinite(_) => Failure::data(format!("{data}: {error}")),
    }
}
