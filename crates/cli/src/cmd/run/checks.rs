//! Checks before the first row.

use std::path::Path;

use noregret::algorithm::{AnyModel, Forecast};
use noregret_stream::encode::Encoder;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::redis_stream;
use noregret_stream::watch::certify::Record;

use crate::failure::Failure;
use crate::files::{is_redis, is_standard};
use crate::plan::{AbstainPlan, RunPlan};
use crate::progress::Mode;

/// Checks what `--predictions` and its options ask for.
pub(super) fn check_predictions(plan: &RunPlan) -> Result<(), Failure> {
    let Some(path) = &plan.predictions else { return Ok(()) };
    if is_redis(path) {
        return match redis_stream(&plan.stream.source.data) {
            Some(_) => Ok(()),
            None => Err(Failure::usage(format!(
                "--predictions {}: needs rows from a Redis stream, whose entries' ids it takes",
                path.display()
            ))),
        };
    }
    let standard = is_standard(path);
    if standard && plan.stream.mode == Mode::Json {
        return Err(Failure::usage("--predictions -: standard output has what --json writes"));
    }
    if plan.top_k.is_some() && !is_ndjson(path) && !standard {
        let path = path.display();
        return Err(Failure::usage(format!(
            "--top-k: needs --predictions FILE.ndjson; {path} is written as CSV"
        )));
    }
    // Endings of other formats, by which the file would be taken for one.
    const OTHERS: [&str; 8] = ["json", "parquet", "arff", "vw", "svm", "html", "gz", "zst"];
    let end = path.extension().unwrap_or_default();
    if OTHERS.iter().any(|other| end.eq_ignore_ascii_case(other)) {
        let path = path.display();
        return Err(Failure::usage(format!("--predictions {path}: must end in .csv, .ndjson or .jsonl")));
    }
    Ok(())
}

/// Rejects options that do not fit the learner's kind of feedback.
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
        (given.to_vec(), format!("is for learners that see the label; {name} learns from right or wrong"))
    } else {
        let given = [
            ("--log", plan.log.is_some()),
            ("--exploration-floor", stream.exploration_floor != 0.0),
            ("--costs", stream.costs.is_some()),
        ];
        (given.to_vec(), format!("is for learners of bandit feedback; {name} sees the label"))
    };
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{option}: {sentence}")));
    }
    if observe.calibration.is_some() && learner.about().forecast != Forecast::Probabilities {
        return Err(Failure::usage(format!(
            "--calibration: needs probabilities, which {name} does not forecast"
        )));
    }
    if bandit {
        stream.check_floor(learner.problem().classes)?;
    } else if observe.certify && stream.source.options.offered.is_some() {
        return Err(Failure::usage(
            "--certify: with --offered forecasts are scored among the labels on offer, and the theorems are about those among all labels: leave one of them out",
        ));
    }
    if plan.log.is_some() && stream.source.on_bad_row != BadRows::Fail && encoder.scaler().scaling().adapts()
    {
        return Err(Failure::usage(format!(
            "--log: needs --on-bad-row fail, or --scale none or unit: a skipped row changes the scaling ({}) but has no line in the log",
            encoder.scaler().scaling()
        )));
    }
    match &plan.batch_model {
        Some(batch) if batch.snapshots > 1 && learner.about().forecast == Forecast::Label => {
            Err(Failure::usage(format!(
                "--snapshots {}: must be 1, since {name} plays its best label, and the guarantee does not cover votes",
                batch.snapshots
            )))
        }
        Some(batch) if batch.snapshots > 1 && encoder.scaler().scaling().adapts() => {
            Err(Failure::usage(format!(
                "--snapshots {}: must be 1 with --scale {}, because states of different times would scale a row differently; or use --scale none or unit",
                batch.snapshots,
                encoder.scaler().scaling()
            )))
        }
        _ => Ok(()),
    }
}

/// Rejects options that need all classes, or all columns, before the run.
pub(super) fn check_open(plan: &RunPlan, setting: &str, added: &str) -> Result<(), Failure> {
    let given = [
        ("--certify", plan.observe.certify),
        ("--certificates", plan.observe.certificates),
        ("--batch-model", plan.batch_model.is_some()),
        ("--delay", !plan.stream.delay.is_none()),
        ("--checkpoint", plan.checkpoint.is_some()),
        ("--offered", plan.stream.source.options.offered.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{option}: needs --set {setting} on a pipe; it cannot be combined with {added} that are added during the run"
        ))),
    }
}

/// Makes the record for the comparator, if the learner has a theorem and there is enough memory.
pub(super) fn record(learner: &AnyModel, rows: Option<u64>, memory: u64) -> Result<Record, Failure> {
    let (about, problem) = (learner.about(), learner.problem());
    if learner.guarantee().is_none() {
        // One about experts or about means is shown elsewhere, or not at all.
        let (name, why) = (about.name, about.guarantee);
        let which = if why.starts_with("none") { "" } else { " that it shows" };
        return Err(Failure::usage(format!("--certify: {name} has no theorem{which}: {why}")));
    }
    let mib = rows.map_or(0, |rows| Record::bytes(problem, rows) >> 20);
    if mib > memory {
        return Err(Failure::usage(format!(
            "--certify: the rows would take {mib} MiB; allow it with --memory {mib}"
        )));
    }
    Ok(Record::new(problem))
}

/// Whether a file is NDJSON, by its extension.
pub(super) fn is_ndjson(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "ndjson" || end == "jsonl")
}
