//! `noregret inspect`: what is in a model file.

use std::io::Write;

use noregret::model::Archive;

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::note::short;
use crate::open::{describe_learner, read_model};

/// Shows the learner, the data it was made for, and its tensors.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    // Loading checks everything that reading alone does not.
    let saved = read_model(&args.model)?;
    let archive = Archive::read(&args.model).map_err(Failure::data)?;
    let problem = saved.learner.problem();
    let encoder = &saved.encoder;
    let mut out = std::io::stdout().lock();
    if args.json {
        let tensors: serde_json::Map<String, serde_json::Value> = archive
            .tensors()
            .map(|(name, numbers)| (name.to_owned(), numbers.shape.clone().into()))
            .collect();
        let run: Option<serde_json::Value> = archive.json("run").ok();
        let value = serde_json::json!({
            "learner": saved.learner.about().name, "parameters": saved.learner.values(), "rounds": saved.learner.rounds(),
            "problem": problem, "labels": encoder.labels, "scaling": encoder.scaler.scaling(),
            "intercept": encoder.intercept, "schema": saved.schema, "tensors": tensors, "run": run,
        });
        return writeln!(out, "{value}").map_err(Failure::output);
    }
    let labels: Vec<&str> = encoder.labels.iter().take(20).collect();
    let more = if encoder.labels.len() > 20 { ", …" } else { "" };
    let mut lines = vec![
        ("learner", describe_learner(saved.learner.as_ref())),
        ("rounds", saved.learner.rounds().to_string()),
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
    for (subject, what) in lines {
        writeln!(out, "{subject:<12} {what}").map_err(Failure::output)?;
    }
    writeln!(out, "\ntensors").map_err(Failure::output)?;
    for (name, numbers) in archive.tensors() {
        writeln!(out, "  {name:<36} {:?}", numbers.shape).map_err(Failure::output)?;
    }
    Ok(())
}
