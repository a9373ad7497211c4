//! A run that is saved on its way, or goes on where it was saved.

use std::path::Path;

use noregret::guarantee::RunFacts;
use noregret::model::{Archive, Data, Numbers};
use noregret::rng::Rng;
use noregret_stream::encode::examples::ReadExamples;
use noregret_stream::run::standing::{Counts, Held, Standing, rows_read, set_rows_read};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Learning, snapshot};
use noregret_stream::watch::baseline::Baselines;

use crate::checkpoint::Skip;
use crate::failure::Failure;
use crate::note::counted;
use crate::plan::{LearnerPlan, RunPlan};

/// Refuses what cannot be saved on the way, or gone on with.
pub(super) fn check_going_on(plan: &RunPlan) -> Result<(), Failure> {
    if let Some(every) = plan.checkpoint {
        let is_parquet = |path: &Path| path.extension().is_some_and(|ending| ending == "parquet");
        let given = [
            ("--batch-model", plan.batch_model.is_some()),
            ("--certify", plan.observe.certify),
            ("--report", plan.observe.report.is_some()),
            ("--predictions", plan.predictions.is_some()),
            ("--log in Parquet", plan.log.as_deref().is_some_and(is_parquet)),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!(
                "--checkpoint {every}: does not go with {option}, of which a checkpoint keeps nothing"
            )));
        }
        if plan.save.is_none() {
            return Err(Failure::usage(format!(
                "--checkpoint {every}: needs --save, the file to be saved to"
            )));
        }
    }
    if plan.skip == Some(Skip::Seen) && matches!(plan.learner, LearnerPlan::New(_)) {
        return Err(Failure::usage("--skip seen: needs --load, the model that has seen them"));
    }
    Ok(())
}

/// Passes over the rows that `--skip` says. Returns whether the run goes on where the model's file was saved, and the file.
pub(super) fn skip(
    plan: &RunPlan,
    archive: Option<Archive>,
    examples: &mut ReadExamples,
) -> Result<(bool, Option<Archive>), Failure> {
    let seen = archive.as_ref().and_then(rows_read);
    let rows = match plan.skip {
        None => return Ok((false, archive)),
        Some(Skip::Rows(rows)) => rows,
        Some(Skip::Seen) => seen.ok_or_else(|| {
            Failure::data(
                "--skip seen: the model does not say how many rows were read for it; give their number",
            )
        })?,
    };
    examples.skip(rows).map_err(Failure::data)?;
    Ok((seen == Some(rows), archive))
}

/// Goes on counting where a run has stopped. Returns what is known of the rounds before it.
pub(super) fn go_on(
    examples: &mut ReadExamples,
    baselines: &mut Option<Baselines>,
    archive: &Archive,
    counts: Counts,
) -> RunFacts {
    if let Some(baselines) = baselines
        && let Ok(Numbers { data: Data::Real(state), .. }) = archive.tensor(BASELINES)
        && let Some(stood) = Baselines::from_state(state)
    {
        *baselines = stood;
    }
    let Counts { bad_rows: (bad, first), large_rows, before, .. } = counts;
    examples.count_on(bad, first);
    examples.encoder.large_rows = large_rows;
    before
}

/// Saves the model on the way; `log` is the length of the log that belongs to it.
pub(super) fn checkpoint<K: Held>(
    plan: &RunPlan,
    learning: Learning<'_>,
    generator: Option<&Rng>,
    examples: &ReadExamples,
    standing: &Standing<K>,
    baselines: Option<&Baselines>,
    (log, before): (Option<u64>, &RunFacts),
) -> Result<(), Failure> {
    let full = matches!(learning, Learning::Full(_));
    let mut archive = snapshot(learning, &examples.encoder, &examples.reader.schema(), generator);
    if full {
        let mut facts = before.clone();
        facts.extend(&standing.score.facts);
        archive.set_text("facts", serde_json::to_string(&facts).expect("plain numbers"));
    }
    standing.save(&counts(examples, log, before.clone()), &mut archive);
    standing.set_place(&mut archive);
    keep_baselines(&mut archive, baselines);
    set_rows_read(&mut archive, examples.rows_read());
    let path = plan.save.as_deref().expect("checked before");
    model_file::write(&archive, path).map_err(Failure::data)
}

/// Writes into a model's file where the run stands.
pub(super) type Stands = Box<dyn FnOnce(&mut Archive, &ReadExamples)>;

/// Writes where the run stands when it is over.
pub(super) fn stands<K: Held + 'static>(
    standing: Standing<K>,
    baselines: Option<Baselines>,
    log: Option<u64>,
    before: RunFacts,
) -> Stands {
    Box::new(move |archive, examples| {
        standing.save(&counts(examples, log, before), archive);
        standing.set_place(archive);
        keep_baselines(archive, baselines.as_ref());
    })
}

/// What a model file calls the state of the baselines.
const BASELINES: &str = "run/baselines";

fn keep_baselines(archive: &mut Archive, baselines: Option<&Baselines>) {
    if let Some(state) = baselines.map(Baselines::state) {
        archive.set_tensor(BASELINES, Numbers { shape: vec![state.len()], data: Data::Real(state) });
    }
}

fn counts(examples: &ReadExamples, log: Option<u64>, before: RunFacts) -> Counts {
    let bad_rows = (examples.bad_rows(), examples.first_bad_row().map(str::to_owned));
    Counts { bad_rows, large_rows: examples.encoder.large_rows, log, before }
}

/// What there is of a run that was asked to stop.
pub(super) fn stopped(plan: &RunPlan, rows: u64) -> String {
    let after = format!("after {}", counted(rows, "row"));
    match &plan.save {
        Some(path) => format!("{after}; go on with --load {} --skip {rows}", path.display()),
        None => after,
    }
}
