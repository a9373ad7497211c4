//! `noregret run`: the main job.

mod checks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use noregret::algorithm::{About, AnyModel, BanditModel, Forecast, Model};
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::guarantee::Guarantee;
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::open_classes::OpenClasses;
use noregret::param::Values;
use noregret::problem::Problem;
use noregret_stream::decisions::file::{LogFile, LogFileError};
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::encode::examples::{Examples, ReadExamples};
use noregret_stream::run::bandit::{Play, run_bandit_as};
use noregret_stream::run::score::Score;
use noregret_stream::run::threads::workers;
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Forecaster, Frozen, Saved};
use noregret_stream::watch::abstain::Report;
use noregret_stream::watch::calibration::{Calibration, CalibrationReport};
use noregret_stream::watch::certify::{Certified, Record};

pub(crate) use self::checks::check_target;
use self::checks::{check_open_classes, check_options, record};
use crate::abstention::{RiskPlot, abstention};
use crate::args::{CalibrationOf, RunArgs};
use crate::cmd::repeat::repeat;
use crate::failure::Failure;
use crate::note::{note, note_bad_rows};
use crate::open::{Opened, data_name, open};
use crate::progress::{Mode, Progress, Total, as_json};
use crate::report::{Ending, RunPage};
use crate::summary::{Summary, print};
use crate::watched::Watched;

/// Learns the stream.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        check_target("--save", path)?;
    }
    if let Some(path) = &args.batch_model {
        check_target("--batch-model", path)?;
    }
    if args.stream.repeats > 1 {
        if args.report.is_some() {
            return Err(Failure::usage("--report: is about one run; leave out --repeats"));
        }
        return repeat(args);
    }
    let Opened { mut learner, encoder, reader, rows, open_classes, seed, generator, continues, decisions } =
        open(args)?;
    check_options(args, &learner, &encoder)?;
    if open_classes {
        check_open_classes(args)?;
    }
    if let AnyModel::Full(learner) = &mut learner {
        learner.set_workers(workers(args.stream.threads.unwrap_or(1)));
    }
    let mode = Mode::of(&args.stream);
    if mode == Mode::Table {
        for (subject, sentence) in &decisions {
            note(format_args!("{subject:>9}  {sentence}"));
        }
    }
    let forecast = learner.about().forecast;
    let stream = &args.stream;
    let size = reader.size();
    let options = stream.run_options(forecast, size.is_none(), seed);
    let watched = Watched::new(reader, None);
    let total = match (rows, stream.limit, size) {
        (Some(rows), ..) | (None, Some(rows), _) => Total::Rows(rows),
        (None, None, Some(size)) => Total::Bytes(size, watched.position()),
        (None, None, None) => Total::Unknown,
    };
    let examples = ReadExamples::new(Box::new(watched), encoder, &stream.data, stream.reading.on_bad_row);
    let mut progress = Progress::new(mode, forecast, total, stream.window, args.certificates);
    if args.save.is_some() || args.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let report = args.report.as_ref().map(|path| RunPage::open(path, forecast, &decisions)).transpose()?;
    let session = Session { args, mode, rows, open_classes, options, examples, progress, report };
    match learner {
        AnyModel::Full(learner) => session.full(learner),
        AnyModel::Bandit(_) => {
            let mut play = Play { floor: stream.exploration_floor, ..Play::new(seed) };
            if let Some(generator) = generator {
                play.generator = generator;
            }
            let log = args.log.as_deref().map(|path| session.log(path, &learner, &play, continues));
            session.bandit(learner.bandit()?, play, log.transpose()?)
        }
    }
}

/// A stream and how it is to be learnt.
struct Session<'a> {
    args: &'a RunArgs,
    mode: Mode,
    rows: Option<u64>,
    open_classes: bool,
    options: RunOptions,
    examples: ReadExamples,
    progress: Progress,
    report: Option<RunPage>,
}

/// What the summary says of a learner.
struct Learnt {
    name: &'static str,
    values: Values,
    problem: Problem,
    certified: Option<Certified>,
    abstention: Option<Report>,
    numbers: BTreeMap<&'static str, Vec<f64>>,
    weights: Vec<(String, f64)>,
    calibration: Option<CalibrationReport>,
}

impl<'a> Session<'a> {
    /// The label of every round is revealed.
    fn full(mut self, mut learner: Box<dyn Model>) -> Result<(), Failure> {
        let (args, about) = (self.args, learner.about());
        if args.batch_model.is_some() && args.snapshots > 1 && about.forecast == Forecast::Label {
            return Err(Failure::usage(format!(
                "--snapshots {}: must be 1, since {} plays its best label: nothing is known of a vote",
                args.snapshots, about.name
            )));
        }
        let promised = learner.guarantee().is_some();
        let record = args
            .certify
            .then(|| record(about, promised, learner.problem(), self.rows, args.stream.memory))
            .transpose()?;
        let risk_plot = args.risk_plot.as_deref().map(RiskPlot::open).transpose()?;
        let calibration = args.calibration.map(|of| Calibration::new(of == CalibrationOf::Classes));
        let own = learner.abstention_bound(0.0).is_some();
        let watchers = (abstention(args, about, own)?, calibration);
        let mut sinks = (((self.progress, record), watchers), self.report.take());
        let mut learn = |learner: &mut dyn OnlineLearner| {
            let options = &self.options;
            let run = |examples: &mut dyn Examples| {
                noregret_stream::run::run(examples, learner, &mut sinks, options)
            };
            self.examples
                .ahead(options.limit, run)
                .map_err(|error| run_failure(data_name(&args.stream.data), error))
        };
        let mut first_appearances = Vec::new();
        let (score, batch) = if self.open_classes {
            let mut open = OpenClasses::new(learner, about.forecast);
            let score = learn(&mut open)?;
            (learner, first_appearances) = open.into_parts();
            (score, None)
        } else if args.batch_model.is_some() {
            let mut sampled = OnlineToBatch::new(learner, args.snapshots, self.options.seed);
            let score = learn(&mut sampled)?;
            let average;
            (learner, average) = sampled.into_parts();
            (score, Some(average))
        } else {
            (learn(learner.as_mut())?, None)
        };
        let (record, abstention, calibration, report);
        (((self.progress, record), (abstention, calibration)), report) = sinks;
        let abstention = abstention.map(|abstention| {
            let mut report = abstention.report();
            match learner.abstention_bound(report.asked) {
                Some(_) if !args.stream.delay.is_none() => {
                    report.guarantee = format!("none: labels were {} rounds late", args.stream.delay);
                }
                Some(Ok(bound)) => {
                    let theorem = format!("{}, {}", about.paper.key, about.paper.place);
                    report.guarantee = format!(
                        "the total cost is at most {bound:.3} above the best expert's loss ({theorem})"
                    );
                }
                Some(Err(why)) => report.guarantee = format!("none: {why}"),
                None => {}
            }
            report
        });
        let calibration = calibration.map(|calibration| calibration.report());
        let weights = learner.weights();
        self.progress.finish_with(&score, learner.certificate(), weights.clone()).map_err(Failure::output)?;
        let seconds = self.progress.seconds();
        let certified = record
            .as_ref()
            .filter(|_| score.rounds() > 0)
            .map(|record| {
                let guarantee = learner.guarantee().expect("asked for before the run");
                self.certify(record, about, guarantee, learner.certificate())
            })
            .transpose()?;
        let problem = learner.problem().clone();
        let mut numbers: BTreeMap<_, _> = learner.numbers().into_iter().collect();
        if self.open_classes && about.forecast == Forecast::Probabilities {
            numbers.insert("first_appearances", first_appearances);
        }
        let values = learner.values();
        let name = about.name;
        let learnt = Learnt { name, values, problem, certified, abstention, numbers, weights, calibration };
        let summary = self.summary(&score, learnt)?;
        if let Some(report) = report {
            report.write(Ending {
                score: &score,
                summary: &summary,
                labels: &self.examples.encoder.labels,
                record: record.as_ref(),
                certificate: learner.certificate(),
                bound: learner.guarantee().and_then(|guarantee| guarantee.regret_bound()),
                weights: learner.weights(),
            })?;
        }
        if let (Some(plot), Some(report)) = (risk_plot, &summary.abstention) {
            plot.draw(about.name, report)?;
        }
        // The models first: whether somebody reads the summary is not their concern.
        let schema = self.examples.reader.schema();
        let write = |mut archive: Archive, path: &Path| {
            archive.set_text("run", serde_json::to_string(&summary).expect("plain numbers"));
            model_file::write(&archive, path).map_err(Failure::data)
        };
        if let (Some(path), Some(predictor)) = (&args.batch_model, batch) {
            let (encoder, schema) = (self.examples.encoder.clone(), schema.clone());
            let predictor = Forecaster::Average(predictor);
            write(Frozen { predictor, encoder, schema }.archive(), path)?;
        }
        if let Some(path) = &args.save {
            let (learner, encoder) = (AnyModel::Full(learner), self.examples.encoder);
            write(Saved { learner, encoder, schema, generator: None }.archive(), path)?;
        }
        close(summary, &score, self.mode, seconds, args.stream.window)?;
        tell_where(
            self.mode,
            [(&args.save, "model is"), (&args.batch_model, "predictor for rows to come is")],
        );
        Ok(())
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
        let args = self.args;
        let about = learner.about();
        let promised = learner.guarantee().is_some();
        let record = args
            .certify
            .then(|| record(about, promised, learner.problem(), self.rows, args.stream.memory))
            .transpose()?;
        let mut sinks = (self.progress, (record, self.report.take()));
        let options = &self.options;
        let score = if let Some(log) = &mut log {
            // It writes rows down, which examples made ahead do not have.
            run_bandit_as(&mut self.examples, learner.as_mut(), &mut sinks, options, &mut play, Some(log))
        } else {
            self.examples.ahead(options.limit, |examples| {
                run_bandit_as(examples, learner.as_mut(), &mut sinks, options, &mut play, None)
            })
        };
        let score = score.map_err(|error| run_failure(data_name(&args.stream.data), error))?;
        if let (Some(log), Some(path)) = (log, &args.log) {
            log.into_inner().finish().map_err(|error| log_failure(path, &error))?;
        }
        let (record, report);
        (self.progress, (record, report)) = sinks;
        self.progress.finish(&score, None).map_err(Failure::output)?;
        let seconds = self.progress.seconds();
        let certified = record
            .as_ref()
            .filter(|_| score.rounds() > 0)
            .map(|record| {
                let guarantee = learner.guarantee().expect("asked for before the run");
                self.certify(record, about, guarantee, None)
            })
            .transpose()?;
        let problem = learner.problem().clone();
        let learnt = Learnt {
            name: about.name,
            values: learner.values(),
            problem,
            certified,
            abstention: None,
            numbers: BTreeMap::new(),
            weights: Vec::new(),
            calibration: None,
        };
        let summary = self.summary(&score, learnt)?;
        if let Some(report) = report {
            report.write(Ending {
                score: &score,
                summary: &summary,
                labels: &self.examples.encoder.labels,
                record: record.as_ref(),
                certificate: None,
                bound: None,
                weights: Vec::new(),
            })?;
        }
        if let Some(path) = &args.save {
            let schema = self.examples.reader.schema();
            let (encoder, generator) = (self.examples.encoder, Some(play.generator));
            let learner = AnyModel::Bandit(learner);
            let mut archive = Saved { learner, encoder, schema, generator }.archive();
            archive.set_text("run", serde_json::to_string(&summary).expect("plain numbers"));
            model_file::write(&archive, path).map_err(Failure::data)?;
        }
        close(summary, &score, self.mode, seconds, args.stream.window)?;
        tell_where(self.mode, [(&args.save, "model is"), (&args.log, "decisions are")]);
        Ok(())
    }

    /// Holds the learner to its theorem.
    fn certify(
        &self,
        record: &Record,
        about: &About,
        guarantee: Guarantee<'_>,
        certificate: Option<f64>,
    ) -> Result<Certified, Failure> {
        let (delay, floor) = (self.args.stream.delay, self.args.stream.exploration_floor);
        let void = match self.examples.encoder.large_rows {
            _ if !delay.is_none() => Some(format!("labels were {delay} rounds late")),
            _ if floor > 0.0 => Some(format!("labels were drawn with an exploration floor of {floor}")),
            0 => None,
            rows => Some(format!("{rows} rows were beyond the learner's radius")),
        };
        let theorem = format!("{}, {}: {}", about.paper.key, about.paper.place, about.guarantee);
        let certified = record.certify(guarantee, theorem, certificate, void);
        certified.map_err(|error| Failure::data(format!("--certify: {error}")))
    }

    /// The summary, but for the time that it took. Bad rows are spoken of on the way.
    fn summary(&self, score: &Score, learnt: Learnt) -> Result<Summary<'a>, Failure> {
        let (args, examples) = (self.args, &self.examples);
        if score.rounds() == 0 {
            return Err(Failure::data(format!(
                "{}: no labelled row was learnt from",
                data_name(&args.stream.data)
            )));
        }
        note_bad_rows(examples.bad_rows(), examples.first_bad_row());
        Ok(Summary {
            kind: "summary",
            data: &args.stream.data,
            learner: learnt.name,
            rates: score.rates(),
            window: score.window_rates(),
            seconds: None,
            rows_per_second: None,
            certified: learnt.certified,
            abstention: learnt.abstention,
            numbers: learnt.numbers,
            bad_rows: examples.bad_rows(),
            large_rows: examples.encoder.large_rows,
            dropped_features: examples.reader.dropped_features(),
            resolved_parameters: learnt.values,
            weights: as_json(&learnt.weights),
            calibration: learnt.calibration,
            classes: learnt.problem.classes,
            features: learnt.problem.features,
            seed: self.options.seed,
        })
    }
}

/// Tells in which files the run left something.
fn tell_where(mode: Mode, files: [(&Option<PathBuf>, &str); 2]) {
    for (path, what) in files {
        if let (Some(path), Mode::Table) = (path, mode) {
            note(format_args!("The {what} in {}.", path.display()));
        }
    }
}

/// Prints the summary, with the time that the run took.
fn close(
    mut summary: Summary<'_>,
    score: &Score,
    mode: Mode,
    seconds: f64,
    window: usize,
) -> Result<(), Failure> {
    summary.seconds = Some(seconds);
    summary.rows_per_second = Some(score.rounds() as f64 / seconds);
    if mode == Mode::Table {
        note("");
    }
    print(&summary, score, mode, window).map_err(Failure::output)
}

fn log_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("--log {}: cannot be written: {error}", path.display()))
}

/// A run over `data` failed.
pub(crate) fn run_failure(data: &str, error: RunError) -> Failure {
    match error {
        RunError::Read(error) => Failure::data(error),
        RunError::Write(error) => Failure::output(error),
        RunError::NotFinite(_) => Failure::data(format!("{data}: {error}")),
    }
}
