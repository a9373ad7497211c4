//! `noregret merge`: merges models that were trained on parts of the data.

use std::io::Write;
use std::path::Path;

use noregret::algorithm::AnyModel;
use noregret_stream::decisions::pending::Decisions;
use noregret_stream::save::Saved;
use noregret_stream::save::file as model_file;
use noregret_stream::save::merge::merge;

use crate::args::MergeArgs;
use crate::failure::Failure;
use crate::note::{counted, note};
use crate::open::{certificate_of, describe_learner, in_file, read_archive};
use crate::plan::MergePlan;

/// Merges the models.
pub(crate) fn run(args: &MergeArgs) -> Result<(), Failure> {
    let MergePlan { models, output, how } = MergePlan::of(args)?;
    let parts: Vec<Saved> = models.iter().map(|path| read_part(path)).collect::<Result<_, _>>()?;
    let mut merged = merge(parts, how).map_err(|error| match error.part() {
        Some(part) => Failure::data(format!("{}: {error}", models[part].display())),
        None => Failure::data(error),
    })?;
    let names: Vec<String> = models.iter().map(|path| path.display().to_string()).collect();
    let mut archive = merged.archive();
    let run = serde_json::json!({"data": names.join(" + "), "merged": how.name()});
    archive.set_text("run", run.to_string());
    model_file::write(&archive, &output).map_err(Failure::saving)?;
    let scaling = merged.encoder.scaler().scaling();
    if scaling.adapts() {
        note(format_args!(
            "noregret: every model has scaled its rows by its own statistics ({scaling}), so that their units differ: the merged model is approximate and has no guarantee; --scale none or unit merges exactly"
        ));
    }
    let rounds = counted(merged.learner.rounds(), "round");
    let certificate = certificate_of(&merged)
        .map_or_else(String::new, |promise| format!("\n{:<12} {promise}", "certificate"));
    writeln!(
        std::io::stdout().lock(),
        "{:<12} {}\n{:<12} {rounds} of {} models, {}{certificate}",
        "learner",
        describe_learner(&merged.learner),
        "merged",
        names.len(),
        how
    )
    .map_err(Failure::output)
}

/// Reads a model, and says how many of its decisions are pending: they are not part of the merged model.
fn read_part(path: &Path) -> Result<Saved, Failure> {
    let archive = read_archive(path)?;
    let saved = Saved::from_archive(&archive).map_err(|error| in_file(path, error))?;
    if let AnyModel::Bandit(learner) = &saved.learner {
        let pending = Decisions::load(&archive, learner.problem(), learner.about().accepts, usize::MAX)
            .map_err(|error| in_file(path, error))?;
        if !pending.is_empty() {
            let their = if pending.waiting() == 1 { "its" } else { "their" };
            note(format_args!(
                "noregret: {}: {}: the merged model will not learn from {their} feedback",
                path.display(),
                counted(pending.waiting() as u64, "pending decision")
            ));
        }
    }
    Ok(saved)
}
