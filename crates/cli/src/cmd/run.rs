//! `noregret run`: the main job.

use std::path::Path;

use noregret::algorithm::{Forecast, Model};
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::replace::Replacement;
use noregret_stream::certify::{Certified, CertifyError, Record};
use noregret_stream::examples::ReadExamples;
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::saved::{Frozen, Saved};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::note::{note, note_bad_rows};
use crate::open::{Opened, data_name, open};
use crate::progress::{Mode, Progress};
use crate::summary::{Summary, print};

/// Learns the stream.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        check_target("--save", path)?;
    }
    if let Some(path) = &args.batch_model {
        check_target("--batch-model", path)?;
    }
    let Opened { mut learner, encoder, reader, rows, seed, decisions } = open(args)?;
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
    if args.batch_model.is_some() && args.snapshots > 1 && forecast == Forecast::Label {
        return Err(Failure::usage(format!(
            "--snapshots {}: must be 1, since {} plays its best label: nothing is known of a vote",
            args.snapshots,
            learner.about().name
        )));
    }
    let options = RunOptions {
        forecast,
        delay: args.delay,
        look_ahead: reader.size().is_some(),
        window: args.window,
        limit: args.limit,
        seed,
    };
    let mut examples = ReadExamples::new(reader, encoder, &args.data, args.reading.on_bad_row);
    let record = args.certify.then(|| record(learner.as_ref(), rows, args.memory)).transpose()?;
    let mut progress = Progress::new(mode, forecast, rows, args.window, args.certificates);
    if args.save.is_some() || args.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let mut sinks = (progress, record);
    let mut learn = |learner: &mut dyn OnlineLearner| {
        noregret_stream::run::run(&mut examples, learner, &mut sinks, &options)
            .map_err(|error| run_failure(data_name(&args.data), error))
    };
    let (score, batch) = if args.batch_model.is_some() {
        let mut sampled = OnlineToBatch::new(learner, args.snapshots, seed);
        let score = learn(&mut sampled)?;
        let average;
        (learner, average) = sampled.into_parts();
        (score, Some(average))
    } else {
        (learn(learner.as_mut())?, None)
    };
    let (mut progress, record) = sinks;
    progress.finish(&score, learner.certificate()).map_err(Failure::output)?;
    let seconds = progress.seconds();
    if score.rounds() == 0 {
        return Err(Failure::data(format!("{}: no labelled row was learnt from", data_name(&args.data))));
    }
    let certified = record
        .map(|record| certify(&record, learner.as_ref(), args.delay, examples.encoder.large_rows))
        .transpose()
        .map_err(|error| Failure::data(format!("--certify: {error}")))?;
    let mut summary = Summary {
        kind: "summary",
        data: &args.data,
        learner: learner.about().name,
        rates: score.rates(),
        window: score.window_rates(),
        seconds: None,
        rows_per_second: None,
        certified,
        bad_rows: examples.bad_rows(),
        large_rows: examples.encoder.large_rows,
        dropped_features: examples.reader.dropped_features(),
        resolved_parameters: learner.values(),
        classes: learner.problem().classes,
        features: learner.problem().features,
        seed,
    };
    note_bad_rows(examples.bad_rows(), examples.first_bad_row());
    // The models first: whether somebody reads the summary is not their concern.
    let schema = examples.reader.schema();
    let write = |mut archive: Archive, path: &Path| {
        archive.set_text("run", serde_json::to_string(&summary).expect("plain numbers"));
        archive.write(path).map_err(Failure::data)
    };
    if let (Some(path), Some(predictor)) = (&args.batch_model, batch) {
        let (encoder, schema) = (examples.encoder.clone(), schema.clone());
        write(Frozen { predictor, encoder, schema }.archive(), path)?;
    }
    if let Some(path) = &args.save {
        write(Saved { learner, encoder: examples.encoder, schema }.archive(), path)?;
    }
    summary.seconds = Some(seconds);
    summary.rows_per_second = Some(score.rounds() as f64 / seconds);
    if mode == Mode::Table {
        note("");
    }
    print(&summary, &score, mode, progress.window()).map_err(Failure::output)?;
    for (path, what) in [(&args.save, "model"), (&args.batch_model, "predictor for rows to come")] {
        if let (Some(path), Mode::Table) = (path, mode) {
            note(format_args!("The {what} is in {}.", path.display()));
        }
    }
    Ok(())
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
