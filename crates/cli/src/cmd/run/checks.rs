//! What is refused before the first row.

use std::path::Path;

use noregret::algorithm::{AnyModel, Forecast};
use noregret_stream::Replacement;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::watch::certify::Record;

use crate::failure::Failure;
use crate::plan::{AbstainPlan, RunPlan};

/// Refuses what has no meaning for the learner's kind of feedback.
pub(super) fn check_options(plan: &RunPlan, learner: &AnyModel, encoder: &Encoder) -> Result<(), Failure> {
    let name = learner.about().name;
    let (observe, stream) = (&plan.observe, &plan.stream);
    let bandit = matches!(learner, AnyModel::Bandit(_));
    let (given, sentence) = if bandit {
        let given = [
            ("--batch-model", plan.batch_model.is_some()),
            ("--certificates", observe.certificates),
            ("--abstain-cost", matches!(observe.abstain, Some(AbstainPlan::Cost(_)))),
            ("--abstain-rate", matches!(observe.abstain, Some(AbstainPlan::Rate(_)))),
            ("--risk-plot", observe.risk_plot.is_some()),
            ("--predictions", plan.predictions.is_some()),
            ("--calibration", observe.calibration.is_some()),
        ];
        (given.to_vec(), format!("is for learners that see the label; {name} hears right or wrong"))
    } else {
        let given = [("--log", plan.log.is_some()), ("--exploration-floor", stream.exploration_floor != 0.0)];
        (given.to_vec(), format!("is for learners of bandit feedback; {name} sees the label"))
    };
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{option}: {sentence}")));
    }
    if observe.calibration.is_some() && learner.about().forecast != Forecast::Probabilities {
        return Err(Failure::usage(format!("--calibration: is about probabilities; {name} forecasts none")));
    }
    if bandit {
        stream.check_floor(learner.problem().classes)?;
    }
    if plan.log.is_some() && stream.source.on_bad_row != BadRows::Fail && encoder.scaler.scaling().adapts() {
        return Err(Failure::usage(format!(
            "--log: needs --on-bad-row fail, or --scale none or unit: a row that is passed over leaves its mark on the scaling ({}) and has no line in the log",
            encoder.scaler.scaling()
        )));
    }
    match &plan.batch_model {
        Some(batch) if batch.snapshots > 1 && learner.about().forecast == Forecast::Label => {
            Err(Failure::usage(format!(
                "--snapshots {}: must be 1, since {name} plays its best label: nothing is known of a vote",
                batch.snapshots
            )))
        }
        Some(batch) if batch.snapshots > 1 && encoder.scaler.scaling().adapts() => {
            Err(Failure::usage(format!(
                "--snapshots {}: must be 1 with --scale {}, whose states of different times scale a row differently; or --scale none or unit",
                batch.snapshots,
                encoder.scaler.scaling()
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses what needs to know the classes beforehand.
pub(super) fn check_open_classes(plan: &RunPlan) -> Result<(), Failure> {
    let given = [
        ("--certify", plan.observe.certify),
        ("--certificates", plan.observe.certificates),
        ("--predictions", plan.predictions.is_some()),
        ("--batch-model", plan.batch_model.is_some()),
        ("--delay", !plan.stream.delay.is_none()),
        ("--checkpoint", plan.checkpoint.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{option}: needs --set classes=K on a pipe: it does not go with classes that are taken in as they come up"
        ))),
    }
}

/// Keeps the rounds for the comparator, if there is a theorem to hold the learner to and memory for it.
pub(super) fn record(learner: &AnyModel, rows: Option<u64>, memory: u64) -> Result<Record, Failure> {
    let (about, problem) = (learner.about(), learner.problem());
    let theorem = match learner {
        AnyModel::Full(learner) => learner.guarantee(),
        AnyModel::Bandit(learner) => learner.guarantee(),
    };
    if theorem.is_none() {
        let why = about.guarantee;
        return Err(Failure::usage(format!("--certify: {} has no theorem to be held to: {why}", about.name)));
    }
    let mib = rows.map_or(0, |rows| Record::bytes(problem, rows) >> 20);
    if mib > memory {
        return Err(Failure::usage(format!(
            "--certify: the rows would take {mib} MiB; allow it with --memory {mib}"
        )));
    }
    Ok(Record::new(problem))
}

/// A model that could not be saved after hours of learning is better refused before.
pub(crate) fn check_target(option: &str, path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(Failure::usage(format!(
            "{option} {}: is a directory; the name of a file was needed",
            path.display()
        ))),
        // Opening a pipe would already be noticed by its reader.
        Ok(old) if !old.is_file() => Ok(()),
        _ => Replacement::open(path).map(drop).map_err(|error| {
            Failure::data(format!("{option} {}: cannot be written: {error}", path.display()))
        }),
    }
}
