//! Saving a run at checkpoints, and continuing it.

use std::path::Path;

use noregret::facts::RunFacts;
use noregret::learner::Accepts;
use noregret::model::{Archive, Data, Numbers};
use noregret::problem::Problem;
use noregret::rng::Rng;
use noregret_stream::encode::examples::ReadExamples;
use noregret_stream::redis_stream;
use noregret_stream::run::standing::{
    Counts, Held, Standing, kept, last_entry, of_kept, rows_read, set_last_entry, set_rows_read,
};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Learning, snapshot};
use noregret_stream::watch::abstain::Abstention;
use noregret_stream::watch::baseline::Baselines;
use noregret_stream::watch::calibration::Calibration;

use super::Session;
use super::observers::Observers;
use crate::checkpoint::Skip;
use crate::failure::Failure;
use crate::files::is_redis;
use crate::note::counted;
use crate::plan::{LearnerPlan, RunPlan};

/// Rejects options that cannot be combined with checkpoints or continuing.
pub(super) fn check_going_on(plan: &RunPlan) -> Result<(), Failure> {
    if let Some(every) = plan.checkpoint {
        let is_parquet = |path: &Path| path.extension().is_some_and(|ending| ending == "parquet");
        let given = [
            ("--batch-model", plan.batch_model.is_some()),
            ("--certify", plan.observe.certify),
            ("--report", plan.observe.report.is_some()),
            ("--predictions", plan.predictions.as_deref().is_some_and(|path| !is_redis(path))),
            ("--log in Parquet", plan.log.as_deref().is_some_and(is_parquet)),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!(
                "--checkpoint {every}: cannot be combined with {option}, whose state is not saved"
            )));
        }
        if plan.save.is_none() {
            return Err(Failure::usage(format!(
                "--checkpoint {every}: needs --save, the file to be saved to"
            )));
        }
    }
    if plan.skip.is_some() && redis_stream(&plan.stream.source.data).is_some() {
        return Err(Failure::usage(
            "--skip: a model that has learnt from a Redis stream knows its last entry, and goes on behind it; omit the option",
        ));
    }
    if plan.skip == Some(Skip::Seen) && matches!(plan.learner, LearnerPlan::New(_)) {
        return Err(Failure::usage("--skip seen: needs --load, the model that has learnt them"));
    }
    Ok(())
}

/// Skips the rows of `--skip`. Returns whether the run continues where the model was saved, and the
/// model file.
pub(super) fn skip(
    plan: &RunPlan,
    archive: Option<Archive>,
    examples: &mut ReadExamples,
) -> Result<(bool, Option<Archive>), Failure> {
    let seen = archive.as_ref().and_then(rows_read);
    if let (Some(rows), Some(id)) = (seen, archive.as_ref().and_then(|archive| behind(plan, archive))) {
        examples.begin_behind(rows, id);
        return Ok((true, archive));
    }
    let rows = match plan.skip {
        None => return Ok((false, archive)),
        Some(Skip::Rows(rows)) => rows,
        Some(Skip::Seen) => seen.ok_or_else(|| {
            Failure::data("--skip seen: the model has no count of rows read; give their number")
        })?,
    };
    examples.skip(rows).map_err(Failure::data)?;
    Ok((seen == Some(rows), archive))
}

/// The id of the last entry that the model has read, if the run reads the same Redis stream.
fn behind(plan: &RunPlan, archive: &Archive) -> Option<String> {
    last_entry(archive, redis_stream(&plan.stream.source.data)?)
}

/// Writes into a model file up to where the data were read.
pub(super) fn set_read(archive: &mut Archive, plan: &RunPlan, examples: &ReadExamples) {
    set_rows_read(archive, examples.rows_read());
    if let Some(stream) = redis_stream(&plan.stream.source.data) {
        set_last_entry(archive, stream, examples.last_name());
    }
}

/// Where an interrupted run goes on, and the length of its decision log, if there is one.
type Stood<K> = Option<(Standing<K>, Option<u64>)>;

impl Session<'_> {
    /// Where an interrupted run goes on: the state of the loaded model file, for a learner of `problem` whose
    /// predictions are like `like`, and the length of the decision log. `None` if this run does not go on.
    pub(super) fn go_on<K: Held>(
        &mut self,
        problem: &Problem,
        accepts: Accepts,
        like: &K,
    ) -> Result<Stood<K>, Failure> {
        let Some(archive) = self.loaded.as_ref().filter(|_| self.going_on) else { return Ok(None) };
        let stood = Standing::load(archive, problem, accepts, like, &self.options);
        let Some((standing, counts)) = stood.map_err(Failure::data)? else { return Ok(None) };
        self.observers.go_on(archive);
        let Counts { bad_rows: (bad, first), large_rows, log, before } = counts;
        self.examples.count_on(bad, first);
        self.examples.encoder.set_large_rows(large_rows);
        self.facts = before;
        Ok(Some((standing, log)))
    }
}

impl Observers {
    /// Restores the counts of an interrupted run.
    fn go_on(&mut self, archive: &Archive) {
        if let Some(baselines) = &mut self.baselines
            && let Ok(Numbers { data: Data::Real(state), .. }) = archive.tensor(BASELINES)
            && let Some(stood) = Baselines::from_state(state)
        {
            *baselines = stood;
        }
        let stood = |name: &str| archive.tensor(name).ok();
        if let Some(abstention) = &mut self.abstention
            && let Some(stood) = stood(ABSTENTION).and_then(of_kept::<Abstention>)
            && stood.goes_on_as(abstention)
        {
            *abstention = stood;
        }
        if let Some(calibration) = &mut self.calibration
            && let Some(stood) = stood(CALIBRATION).and_then(of_kept::<Calibration>)
            && stood.goes_on_as(calibration)
        {
            *calibration = stood;
        }
    }
}

/// Saves a checkpoint; `log` is the length of the decision log.
pub(super) fn checkpoint<K: Held>(
    plan: &RunPlan,
    learning: Learning<'_>,
    generator: Option<&Rng>,
    examples: &ReadExamples,
    standing: &Standing<K>,
    watching: Watching,
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
    keep(&mut archive, watching);
    set_read(&mut archive, plan, examples);
    let path = plan.save.as_deref().expect("checked before");
    model_file::write(&archive, path).map_err(Failure::saving)
}

/// Writes the state of the run into a model file.
pub(super) type Stands = Box<dyn FnOnce(&mut Archive, &ReadExamples)>;

/// Writes the final state of the run.
pub(super) fn stands<K: Held + 'static>(
    standing: Standing<K>,
    watching: Watching,
    log: Option<u64>,
    before: RunFacts,
) -> Stands {
    Box::new(move |archive, examples| {
        standing.save(&counts(examples, log, before), archive);
        standing.set_place(archive);
        keep(archive, watching);
    })
}

/// The prefix of observers' states in a model file.
const BASELINES: &str = "run/baselines";
const ABSTENTION: &str = "run/abstention";
const CALIBRATION: &str = "run/calibration";

/// The states of the counting observers, by their names in a model file.
pub(super) type Watching = Vec<(&'static str, Numbers)>;

/// The states of those `observers` that can be continued.
pub(super) fn watching(observers: &Observers) -> Watching {
    let baselines = observers.baselines.as_ref().map(|baselines| {
        let state = baselines.state();
        (BASELINES, Numbers { shape: vec![state.len()], data: Data::Real(state) })
    });
    let abstention = observers.abstention.as_ref().map(|abstention| (ABSTENTION, kept(abstention)));
    let calibration = observers.calibration.as_ref().map(|calibration| (CALIBRATION, kept(calibration)));
    [baselines, abstention, calibration].into_iter().flatten().collect()
}

fn keep(archive: &mut Archive, watching: Watching) {
    for (name, numbers) in watching {
        archive.set_tensor(name, numbers);
    }
}

fn counts(examples: &ReadExamples, log: Option<u64>, before: RunFacts) -> Counts {
    let bad_rows = (examples.bad_rows(), examples.first_bad_row().map(str::to_owned));
    Counts { bad_rows, large_rows: examples.encoder.large_rows(), log, before }
}

/// The message of an interrupted run.
pub(super) fn stopped(plan: &RunPlan, rows: u64) -> String {
    let after = format!("after {}", counted(rows, "row"));
    let skip = match redis_stream(&plan.stream.source.data) {
        Some(_) => String::new(),
        None => format!(" --skip {rows}"),
    };
    match &plan.save {
        Some(path) => format!(
            "{after}; continue with --load {}{skip}, without --learner, --set and --scale, which the model knows",
            path.display()
        ),
        None => after,
    }
}
