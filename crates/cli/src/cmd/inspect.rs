//! `noregret inspect`: what is in a model file.

use std::collections::BTreeMap;
use std::io::Write;

use noregret_stream::run::standing::rows_read;
use noregret_stream::save::Forecaster;

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::note::{printable, short};
use crate::open::{describe, read_frozen};
use crate::progress::as_json;
use crate::summary::few;

/// Shows the learner, the data it was made for, and its tensors.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    // Loading checks everything that reading alone does not.
    let (saved, archive) = read_frozen(&args.model)?;
    let learner = &saved.predictor;
    // A snapshot from before round t has learnt t - 1 rounds.
    let taken: Vec<u64> = learner.rounds().iter().map(|rounds| rounds + 1).collect();
    let rounds = taken.iter().max().map_or(0, |round| round - 1);
    let feedback = match learner {
        Forecaster::Average(_) => "full",
        Forecaster::Bandit(_) => "bandit",
    };
    let problem = learner.problem();
    let encoder = &saved.encoder;
    let weights = learner.weights();
    let numbers: BTreeMap<&str, Vec<f64>> = learner.figures().into_iter().collect();
    let mut out = std::io::stdout().lock();
    if args.json {
        let tensors: serde_json::Map<String, serde_json::Value> = archive
            .tensors()
            .map(|(name, numbers)| (name.to_owned(), numbers.shape.clone().into()))
            .collect();
        let run: Option<serde_json::Value> = archive.json("run").ok();
        let value = serde_json::json!({
            "learner": learner.about().name, "parameters": learner.values(), "feedback": feedback,
            "rounds": rounds, "rows_read": rows_read(&archive),
            "problem": problem, "labels": encoder.labels, "scaling": encoder.scaler.scaling(),
            "intercept": encoder.intercept, "schema": saved.schema, "tensors": tensors, "run": run, "numbers": numbers,
            "weights": as_json(&weights),
            "snapshots": (taken.len() > 1).then_some(&taken),
        });
        return writeln!(out, "{value}").map_err(Failure::output);
    }
    let labels: Vec<_> = encoder.labels.iter().take(20).map(printable).collect();
    let more = if encoder.labels.len() > 20 { ", …" } else { "" };
    let mut lines = vec![
        ("learner", describe(learner.about().name, &learner.values())),
        ("rounds", rounds.to_string()),
        ("classes", format!("{}: {}{more}", problem.classes, labels.join(", "))),
        (
            "features",
            format!(
                "{}{}",
                problem.features,
                if encoder.intercept { ", the first of them the intercept" } else { "" }
            ),
        ),
        ("scaling", encoder.scaler.scaling().to_string()),
        ("format", saved.schema.format.to_string()),
    ];
    if feedback == "bandit" {
        lines.insert(1, ("feedback", "whether the label that was played is right".to_owned()));
    }
    if taken.len() > 1 {
        let before: Vec<String> = taken.iter().take(20).map(u64::to_string).collect();
        let more = if taken.len() > 20 { ", …" } else { "" };
        lines.push(("snapshots", format!("{}, before rounds {}{more}", taken.len(), before.join(", "))));
    }
    if let Ok(run) = archive.json::<serde_json::Value>("run") {
        for (key, name) in [("data", "learnt from"), ("error_rate", "error rate"), ("log_loss", "log-loss")] {
            if let Some(value) = run.get(key) {
                let text = match value.as_f64() {
                    Some(number) => short(number),
                    None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                };
                lines.push((name, text));
            }
        }
    }
    for (name, number) in weights {
        lines.push(("weight of", format!("{name:<24} {number:.4}")));
    }
    for (subject, what) in lines {
        writeln!(out, "{subject:<12} {what}").map_err(Failure::output)?;
    }
    for (name, list) in &numbers {
        writeln!(out, "{name:<12} {}", few(list)).map_err(Failure::output)?;
    }
    writeln!(out, "\ntensors").map_err(Failure::output)?;
    for (name, numbers) in archive.tensors() {
        writeln!(out, "  {name:<36} {:?}", numbers.shape).map_err(Failure::output)?;
    }
    Ok(())
}
