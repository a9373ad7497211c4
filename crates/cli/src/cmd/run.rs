//! `noregret run`: the main job.

use std::io::Write;
use std::path::Path;

use noregret::algorithm::Forecast;
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::learner::OnlineLearner;
use noregret::model::Archive;
use noregret::param::Values;
use noregret::replace::Replacement;
use noregret_stream::examples::ReadExamples;
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::saved::{Frozen, Saved};
use noregret_stream::score::{Rates, Score};
use serde::Serialize;

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::note::{note, note_bad_rows};
use crate::open::{Opened, open};
use crate::progress::{Mode, Progress};

/// The last line of `--json`, and what is kept in a saved model.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'a str,
    learner: &'static str,
    #[serde(flatten)]
    rates: Rates,
    window: Rates,
    /// Not kept in a model: the same run makes the same file.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_per_second: Option<f64>,
    bad_rows: u64,
    large_rows: u64,
    dropped_features: u64,
    resolved_parameters: Values,
    classes: usize,
    features: usize,
    seed: u64,
}

/// Learns the stream.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        check_target("--save", path)?;
    }
    if let Some(path) = &args.batch_model {
        check_target("--batch-model", path)?;
    }
    let Opened { mut learner, encoder, reader, rows, decisions } = open(args)?;
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
        seed: args.seed,
    };
    let mut examples = ReadExamples::new(reader, encoder, &args.data, args.reading.on_bad_row);
    let mut progress = Progress::new(mode, forecast, rows, args.window);
    if args.save.is_some() || args.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let mut learn = |learner: &mut dyn OnlineLearner| {
        noregret_stream::run::run(&mut examples, learner, &mut progress, &options)
            .map_err(|error| run_failure(&args.data, error))
    };
    let (score, batch) = if args.batch_model.is_some() {
        let mut sampled = OnlineToBatch::new(learner, args.snapshots, args.seed);
        let score = learn(&mut sampled)?;
        let average;
        (learner, average) = sampled.into_parts();
        (score, Some(average))
    } else {
        (learn(learner.as_mut())?, None)
    };
    progress.finish(&score).map_err(Failure::output)?;
    let seconds = progress.seconds();
    if score.rounds() == 0 {
        return Err(Failure::data(format!("{}: no labelled row was learnt from", args.data)));
    }
    let mut summary = Summary {
        kind: "summary",
        data: &args.data,
        learner: learner.about().name,
        rates: score.rates(),
        window: score.window_rates(),
        seconds: None,
        rows_per_second: None,
        bad_rows: examples.bad_rows(),
        large_rows: examples.encoder.large_rows,
        dropped_features: examples.reader.dropped_features(),
        resolved_parameters: learner.values(),
        classes: learner.problem().classes,
        features: learner.problem().features,
        seed: args.seed,
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
    print(&summary, &score, mode, progress.window()).map_err(Failure::output)?;
    if mode == Mode::Table {
        if let Some(path) = &args.save {
            note(format_args!("The model is in {}.", path.display()));
        }
        if let Some(path) = &args.batch_model {
            note(format_args!("The predictor for rows to come is in {}.", path.display()));
        }
    }
    Ok(())
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

fn print(summary: &Summary<'_>, score: &Score, mode: Mode, window: usize) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if mode == Mode::Json {
        return writeln!(out, "{}", serde_json::to_string(summary).expect("plain numbers"));
    }
    let rates = &summary.rates;
    let mut line = |name: &str, value: String| writeln!(out, "{name:<22} {value}");
    line("learner", summary.learner.to_owned())?;
    line("rounds", rates.rounds.to_string())?;
    let last = |value: Option<f64>| {
        value.map_or_else(String::new, |value| format!("   (last {window}: {value:.5})"))
    };
    if let (Some(errors), Some(rate)) = (rates.errors, rates.error_rate) {
        line("errors", format!("{errors}"))?;
        line("error rate", format!("{rate:.5}{}", last(summary.window.error_rate)))?;
    }
    if let Some(rate) = rates.expected_error_rate {
        line("expected error rate", format!("{rate:.5}{}", last(summary.window.expected_error_rate)))?;
        line("greedy error rate", format!("{:.5}", rates.greedy_error_rate.unwrap_or_default()))?;
    }
    if let Some(loss) = rates.log_loss {
        line("log-loss (nats)", format!("{loss:.5}{}", last(summary.window.log_loss)))?;
        line("cumulative log-loss", format!("{:.3}", score.total_loss()))?;
    }
    if let Some(loss) = rates.squared_loss {
        line("squared loss", format!("{loss:.6}{}", last(summary.window.squared_loss)))?;
    }
    for (name, count) in [
        ("bad rows skipped", summary.bad_rows),
        ("rows beyond radius", summary.large_rows),
        ("unknown features", summary.dropped_features),
    ] {
        if count > 0 {
            line(name, count.to_string())?;
        }
    }
    if let (Some(seconds), Some(rate)) = (summary.seconds, summary.rows_per_second) {
        line("seconds", format!("{seconds:.2}   ({rate:.0} rows a second)"))?;
    }
    Ok(())
}
