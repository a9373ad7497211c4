//! `noregret run`: the main job.

use std::path::Path;

use noregret::algorithm::{AnyModel, BanditModel, Forecast, Model};
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::param::Values;
use noregret::problem::Problem;
use noregret::replace::Replacement;
use noregret_stream::bandit::run_bandit;
use noregret_stream::certify::{Certified, CertifyError, Record};
use noregret_stream::examples::ReadExamples;
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::saved::{Frozen, Saved};
use noregret_stream::score::Score;

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::note::{note, note_bad_rows};
use crate::open::{Opened, data_name, open};
use crate::progress::{Mode, Progress};
use crate::report::{Ending, Report};
use crate::summary::{Summary, print};

/// Learns the stream.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        check_target("--save", path)?;
    }
    if let Some(path) = &args.batch_model {
        check_target("--batch-model", path)?;
    }
    let Opened { learner, encoder, reader, rows, seed, decisions } = open(args)?;
    if let AnyModel::Bandit(_) = learner {
        refuse_under_bandit_feedback(args, learner.about().name)?;
    }
    let mode = match (args.json, args.quiet) {
        (true, _) => Mode::Json,
        (false, true) => Mode::Quiet,
        (false, false) => Mode::Table,
    };
    if mode == Mode::Table {
        for (subject, sentence) in &decisions {
            note(format_args!("{subject:>9}  {sentence}"));
        }
    }
    let forecast = learner.about().forecast;
    let options = RunOptions {
        forecast,
        delay: args.delay,
        look_ahead: reader.size().is_some(),
        window: args.window,
        limit: args.limit,
        seed,
    };
    let examples = ReadExamples::new(reader, encoder, &args.data, args.reading.on_bad_row);
    let mut progress = Progress::new(mode, forecast, rows, args.window, args.certificates);
    if args.save.is_some() || args.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let report = args.report.as_ref().map(|path| Report::open(path, forecast, &decisions)).transpose()?;
    let session = Session { args, mode, rows, options, examples, progress, report };
    match learner {
        AnyModel::Full(learner) => session.full(learner),
        AnyModel::Bandit(learner) => session.bandit(learner),
    }
}

/// Models, certificates and comparators are those of learners that see the label.
fn refuse_under_bandit_feedback(args: &RunArgs, name: &str) -> Result<(), Failure> {
    let given = [
        ("--save", args.save.is_some()),
        ("--batch-model", args.batch_model.is_some()),
        ("--certify", args.certify),
        ("--certificates", args.certificates),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{option}: is for learners that see the label; {name} hears right or wrong"
        ))),
    }
}

/// A stream and how it is to be learnt.
struct Session<'a> {
    args: &'a RunArgs,
    mode: Mode,
    rows: Option<u64>,
    options: RunOptions,
    examples: ReadExamples,
    progress: Progress,
    report: Option<Report>,
}

/// What the summary says of a learner.
struct Learnt {
    name: &'static str,
    values: Values,
    problem: Problem,
    certified: Option<Certified>,
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
        let record = args.certify.then(|| record(learner.as_ref(), self.rows, args.memory)).transpose()?;
        let mut sinks = (self.progress, (record, self.report.take()));
        let mut learn = |learner: &mut dyn OnlineLearner| {
            noregret_stream::run::run(&mut self.examples, learner, &mut sinks, &self.options)
                .map_err(|error| run_failure(data_name(&args.data), error))
        };
        let (score, batch) = if args.batch_model.is_some() {
            let mut sampled = OnlineToBatch::new(learner, args.snapshots, self.options.seed);
            let score = learn(&mut sampled)?;
            let average;
            (learner, average) = sampled.into_parts();
            (score, Some(average))
        } else {
            (learn(learner.as_mut())?, None)
        };
        let (record, report);
        (self.progress, (record, report)) = sinks;
        self.progress.finish(&score, learner.certificate()).map_err(Failure::output)?;
        let seconds = self.progress.seconds();
        let certified = record
            .as_ref()
            .filter(|_| score.rounds() > 0)
            .map(|record| certify(record, learner.as_ref(), args.delay, self.examples.encoder.large_rows))
            .transpose()
            .map_err(|error| Failure::data(format!("--certify: {error}")))?;
        let problem = learner.problem().clone();
        let learnt = Learnt { name: about.name, values: learner.values(), problem, certified };
        let summary = self.summary(&score, learnt)?;
        if let Some(report) = report {
            report.write(&Ending {
                score: &score,
                summary: &summary,
                labels: &self.examples.encoder.labels,
                record: record.as_ref(),
                certificate: learner.certificate(),
                bound: learner.guarantee().and_then(|guarantee| guarantee.regret_bound()),
            })?;
        }
        // The models first: whether somebody reads the summary is not their concern.
        let schema = self.examples.reader.schema();
        let write = |mut archive: Archive, path: &Path| {
            archive.set_text("run", serde_json::to_string(&summary).expect("plain numbers"));
            archive.write(path).map_err(Failure::data)
        };
        if let (Some(path), Some(predictor)) = (&args.batch_model, batch) {
            let (encoder, schema) = (self.examples.encoder.clone(), schema.clone());
            write(Frozen { predictor, encoder, schema }.archive(), path)?;
        }
        if let Some(path) = &args.save {
            write(Saved { learner, encoder: self.examples.encoder, schema }.archive(), path)?;
        }
        close(summary, &score, self.mode, seconds, args.window)?;
        for (path, what) in [(&args.save, "model"), (&args.batch_model, "predictor for rows to come")] {
            if let (Some(path), Mode::Table) = (path, self.mode) {
                note(format_args!("The {what} is in {}.", path.display()));
            }
        }
        Ok(())
    }

    /// Only whether the played label was right is revealed.
    fn bandit(mut self, mut learner: Box<dyn BanditModel>) -> Result<(), Failure> {
        let args = self.args;
        let mut sinks = (self.progress, self.report.take());
        let score = run_bandit(&mut self.examples, learner.as_mut(), &mut sinks, &self.options)
            .map_err(|error| run_failure(data_name(&args.data), error))?;
        let report;
        (self.progress, report) = sinks;
        self.progress.finish(&score, None).map_err(Failure::output)?;
        let seconds = self.progress.seconds();
        let problem = learner.problem().clone();
        let learnt =
            Learnt { name: learner.about().name, values: learner.values(), problem, certified: None };
        let summary = self.summary(&score, learnt)?;
        if let Some(report) = report {
            let labels = &self.examples.encoder.labels;
            let (certificate, bound) = (None, None);
            report.write(&Ending {
                score: &score,
                summary: &summary,
                labels,
                record: None,
                certificate,
                bound,
            })?;
        }
        close(summary, &score, self.mode, seconds, args.window)
    }

    /// The summary, but for the time that it took. Bad rows are spoken of on the way.
    fn summary(&self, score: &Score, learnt: Learnt) -> Result<Summary<'a>, Failure> {
        let (args, examples) = (self.args, &self.examples);
        if score.rounds() == 0 {
            return Err(Failure::data(format!("{}: no labelled row was learnt from", data_name(&args.data))));
        }
        note_bad_rows(examples.bad_rows(), examples.first_bad_row());
        Ok(Summary {
            kind: "summary",
            data: &args.data,
            learner: learnt.name,
            rates: score.rates(),
            window: score.window_rates(),
            seconds: None,
            rows_per_second: None,
            certified: learnt.certified,
            bad_rows: examples.bad_rows(),
            large_rows: examples.encoder.large_rows,
            dropped_features: examples.reader.dropped_features(),
            resolved_parameters: learnt.values,
            classes: learnt.problem.classes,
            features: learnt.problem.features,
            seed: self.options.seed,
        })
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

/// A record for `--certify`, if there is something to certify and room for it.
fn record(learner: &dyn Model, rows: Option<u64>, memory: u64) -> Result<Record, Failure> {
    let about = learner.about();
    if learner.guarantee().is_none() {
        let why = about.guarantee;
        return Err(Failure::usage(format!("--certify: {} has no theorem to be held to: {why}", about.name)));
    }
    let mib = rows.map_or(0, |rows| Record::bytes(learner.problem(), rows) >> 20);
    if mib > memory {
        return Err(Failure::usage(format!(
            "--certify: the rows would take {mib} MiB; allow it with --memory {mib}"
        )));
    }
    Ok(Record::new(learner.problem()))
}

/// Holds the learner to its theorem.
fn certify(
    record: &Record,
    learner: &dyn Model,
    delay: usize,
    large_rows: u64,
) -> Result<Certified, CertifyError> {
    let about = learner.about();
    let void = match (delay, large_rows) {
        (0, 0) => None,
        (0, rows) => Some(format!("{rows} rows were beyond the learner's radius")),
        (delay, _) => Some(format!("labels were {delay} rounds late")),
    };
    let guarantee = learner.guarantee().expect("asked for before the run");
    let theorem = format!("{}, {}: {}", about.paper.key, about.paper.place, about.guarantee);
    record.certify(guarantee, theorem, learner.certificate(), void)
}

/// A model that could not be saved after hours of learning is better refused before.
pub(crate) fn check_target(option: &str, path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(Failure::usage(format!(
            "{option} {}: is a directory; the name of a file was needed",
            path.display()
        ))),
        // Opening a pipe would already tell its reader something.
        Ok(old) if !old.is_file() => Ok(()),
        _ => Replacement::open(path).map(drop).map_err(|error| {
            Failure::data(format!("{option} {}: cannot be written: {error}", path.display()))
        }),
    }
}

/// A run over `data` failed.
pub(crate) fn run_failure(data: &str, error: RunError) -> Failure {
    match error {
        RunError::Read(error) => Failure::data(error),
        RunError::Write(error) => Failure::output(error),
        RunError::NotFinite(_) => Failure::data(format!("{data}: {error}")),
    }
}
