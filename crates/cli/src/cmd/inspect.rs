//! `noregret inspect`: the contents of a model file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use noregret::model::Archive;
use noregret_stream::run::standing::rows_read;
use noregret_stream::save::{Forecaster, Frozen, Saved};
use noregret_stream::words::first_of;
use noregret_stream::{CsvRole, CsvSchema};
use serde_json::{Map, Value, json};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::note::{printable, short};
use crate::open::{certificate_of, describe, read_frozen};
use crate::progress::as_json;
use crate::summary::few;

/// Number of tensors that are shown to people: `auto` has hundreds.
const SHOWN: usize = 24;

/// A line for people: its subject, and what is said of it.
type Line = (&'static str, String);

/// Shows the learner, the data that it was trained on, and its tensors.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    // Loading makes all checks.
    let (saved, archive) = read_frozen(&args.model)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        return writeln!(out, "{}", described(&saved, &archive)).map_err(Failure::output);
    }
    let mut lines = training(&saved, &archive);
    lines.extend(learner(&saved, &archive, &args.model));
    for (subject, what) in lines {
        writeln!(out, "{subject:<12} {what}").map_err(Failure::output)?;
    }
    for (name, list) in figures(&saved.predictor) {
        writeln!(out, "{:<12} {}", name.replace('_', " "), few(&list)).map_err(Failure::output)?;
    }
    tensors(&archive, &mut out).map_err(Failure::output)
}

/// The rounds before which the states were taken that the model averages, or before which it goes on, and the
/// number of rounds that it has learnt.
fn rounds(learner: &Forecaster) -> (Vec<u64>, u64) {
    // A snapshot before round t has learnt t - 1 rounds.
    let taken: Vec<u64> = learner.rounds().iter().map(|rounds| rounds + 1).collect();
    let rounds = taken.iter().max().map_or(0, |round| round - 1);
    (taken, rounds)
}

/// The learner's own figures, by name.
fn figures(learner: &Forecaster) -> BTreeMap<&'static str, Vec<f64>> {
    learner.figures().into_iter().collect()
}

/// All of it as JSON.
fn described(saved: &Frozen, archive: &Archive) -> Value {
    let Frozen { predictor: learner, encoder, schema } = saved;
    let (taken, rounds) = rounds(learner);
    let feedback = match learner {
        Forecaster::Average(_) => "full",
        Forecaster::Bandit(_) => "bandit",
    };
    let tensors: Map<String, Value> =
        archive.tensors().map(|(name, numbers)| (name.to_owned(), numbers.shape.clone().into())).collect();
    let run: Option<Value> = archive.json("run").ok();
    json!({
        "learner": learner.about().name, "parameters": learner.values(), "feedback": feedback,
        "rounds": rounds, "rows_read": rows_read(archive),
        "problem": learner.problem(), "labels": encoder.labels().given().collect::<Vec<_>>(),
        "scaling": encoder.scaler().scaling(), "intercept": encoder.has_intercept(), "schema": schema,
        "tensors": tensors, "run": run, "numbers": figures(learner),
        "weights": as_json(&learner.weights()),
        "snapshots": (taken.len() > 1).then_some(&taken),
    })
}

/// The facts of the training run.
fn training(saved: &Frozen, archive: &Archive) -> Vec<Line> {
    let (encoder, (_, rounds)) = (&saved.encoder, rounds(&saved.predictor));
    let labels: Vec<_> = encoder.labels().iter().take(20).map(printable).collect();
    let more = if encoder.labels().len() > 20 { ", …" } else { "" };
    let mut lines = vec![];
    let run = archive.json::<Value>("run").ok();
    let told = |key: &str| {
        run.as_ref().and_then(|run| run.get(key)).map(|value| match value.as_f64() {
            Some(number) => short(number),
            None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        })
    };
    lines.extend(told("data").map(|data| ("learnt from", format!("{data}, {rounds} rounds in all"))));
    if lines.is_empty() {
        lines.push(("rounds", rounds.to_string()));
    }
    lines.extend(saved.schema.label.clone().map(|label| ("label", label)));
    let classes = saved.predictor.problem().classes;
    lines.push(("classes", format!("{classes}: {}{more}", labels.join(", "))));
    let weighed = encoder.class_weights().iter();
    let weighed: Vec<String> =
        weighed.map(|(class, weight)| format!("{} by {}", printable(class), short(weight))).collect();
    if !weighed.is_empty() {
        lines.push(("weighted", weighed.join(", ")));
    }
    lines.extend(saved.schema.csv.iter().flat_map(columns));
    lines.extend(told("error_rate").map(|rate| ("error rate", rate)));
    let guessing = run.as_ref().and_then(|run| run["baselines"]["commonest_class_error_rate"].as_f64());
    lines.extend(
        guessing.map(|rate| ("guessing", format!("{}   (naming the commonest class so far)", short(rate)))),
    );
    lines.extend(told("log_loss").map(|loss| ("log-loss", loss)));
    lines
}

/// The learner, how it reads rows, its file at `path`, and what is certified about it.
fn learner(saved: &Frozen, archive: &Archive, path: &Path) -> Vec<Line> {
    let Frozen { predictor: learner, encoder, schema } = saved;
    let mut lines = vec![("learner", describe(learner.about().name, &learner.values()))];
    if matches!(learner, Forecaster::Bandit(_)) {
        lines.push(("feedback", "whether the label that was played is right".to_owned()));
    }
    let constant = if encoder.has_intercept() { ", the first of them the intercept" } else { "" };
    lines.push(("features", format!("{}{constant}", learner.problem().features)));
    lines.push(("scaling", encoder.scaler().scaling().to_string()));
    lines.push(("format", schema.format.to_string()));
    if let Ok(file) = std::fs::metadata(path) {
        lines.push(("file", size(file.len(), archive)));
    }
    let (taken, _) = rounds(learner);
    if taken.len() > 1 {
        let before: Vec<String> = taken.iter().take(20).map(u64::to_string).collect();
        let more = if taken.len() > 20 { ", …" } else { "" };
        lines.push(("snapshots", format!("{}, before rounds {}{more}", taken.len(), before.join(", "))));
    }
    let certificate = Saved::from_archive(archive).ok().and_then(|saved| certificate_of(&saved));
    lines.extend(certificate.map(|promise| ("certificate", promise)));
    let weights = learner.weights();
    let width = weights.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, number) in weights {
        lines.push(("weight of", format!("{name:<width$} {number:.4}")));
    }
    lines
}

/// The columns of a table, those of a role in a line.
fn columns(csv: &CsvSchema) -> Vec<Line> {
    let mut lines = vec![];
    for (what, role) in [
        ("numbers", CsvRole::Numeric),
        ("categories", CsvRole::Categorical),
        ("text", CsvRole::Text),
        ("time", CsvRole::Time),
        ("left out", CsvRole::Drop),
    ] {
        let fields = csv.fields.iter().filter(|field| field.role == role);
        let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
        if !names.is_empty() {
            lines.push((what, first_of(&names, 20)));
        }
    }
    lines
}

/// The size of a model file of `bytes`, and how many of its tensors are in single precision.
fn size(bytes: u64, archive: &Archive) -> String {
    let (all, single) =
        (archive.tensors().count(), archive.tensors().filter(|(_, one)| one.data.is_single()).count());
    let single = match single {
        0 => String::new(),
        single => format!("; {single} of {all} tensors in single precision (32 bits)"),
    };
    let size = match bytes as f64 {
        bytes if bytes < 1e6 => format!("{:.1} kB", bytes / 1e3),
        bytes => format!("{:.2} MB", bytes / 1e6),
    };
    size + &single
}

/// Writes the names and shapes of the first [`SHOWN`] tensors.
fn tensors(archive: &Archive, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "\ntensors")?;
    for (name, numbers) in archive.tensors().take(SHOWN) {
        writeln!(out, "  {name:<36} {:?}", numbers.shape)?;
    }
    match archive.tensors().count().checked_sub(SHOWN) {
        Some(more @ 1..) => writeln!(out, "  and {more} more, which --json lists"),
        _ => Ok(()),
    }
}
