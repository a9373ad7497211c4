//! `noregret evaluate`: what another policy would have earned on the decisions of a log.

use std::io::Write;

use noregret::registry;
use noregret_stream::decisions::logged::Logged;
use noregret_stream::evaluate::reward_model::reward_learner;
use noregret_stream::evaluate::{EvaluateError, EvaluateOptions, Evaluation, MakeLearner, Policy, evaluate};

use crate::args::EvaluateArgs;
use crate::choices::Missing;
use crate::failure::Failure;
use crate::note::{data_name, note, note_bad_rows, short};
use crate::open::read_frozen;

/// Evaluates the log.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let (mut policy, name) = policy(args)?;
    let columns = match &policy {
        Policy::Model { model, .. } => Some(model.schema.columns.clone()),
        _ => None,
    };
    let open = || Logged::open(&args.log, args.format, columns.as_ref());
    let named = args.reward_learner.as_deref();
    let entry = named.filter(|name| *name != "none").map(registry::find).transpose()?;
    let make: MakeLearner<'_> = &|problem| reward_learner(entry, problem);
    let options = EvaluateOptions {
        clip: args.clip,
        confidence: args.confidence,
        missing_is_wrong: args.missing == Missing::Wrong,
        bad_rows: args.on_bad_row,
        pending: args.pending,
    };
    let make = (named != Some("none")).then_some(make);
    let evaluation = evaluate(&open, &mut policy, make, &options).map_err(|error| match error {
        EvaluateError::Read(error) => Failure::reading(error),
        EvaluateError::Param(error) => error.into(),
        EvaluateError::NoFile => Failure::usage(format!("{}: {error}", data_name(&args.log))),
        error => Failure::data(format!("{}: {error}", data_name(&args.log))),
    })?;
    note_bad_rows(evaluation.bad_rows, evaluation.first_bad_row.as_deref());
    if args.json {
        let mut value = serde_json::to_value(&evaluation).expect("plain numbers");
        value["type"] = "evaluation".into();
        value["policy"] = name.into();
        value["confidence"] = args.confidence.into();
        return writeln!(std::io::stdout().lock(), "{value}").map_err(Failure::output);
    }
    print(&evaluation, &name, args.confidence).map_err(Failure::output)?;
    for warning in &evaluation.warnings {
        note(format_args!("noregret: {warning}"));
    }
    Ok(())
}

/// The policy, and what it is called.
fn policy(args: &EvaluateArgs) -> Result<(Policy, String), Failure> {
    if let Some(path) = &args.model {
        let (model, _) = read_frozen(path)?;
        let policy = Policy::of_model(model, args.greedy)
            .map_err(|what| Failure::usage(format!("--model: {what}")))?;
        let greedy = if args.greedy { ", greedily" } else { "" };
        let name = format!("{}{greedy}", path.display());
        return Ok((policy, name));
    }
    let name = args.policy.clone().unwrap_or_else(|| "as the log gives it".to_owned());
    let policy = match &args.policy {
        None => Policy::Given,
        Some(name) => name.parse().map_err(|what| Failure::usage(format!("--policy {name}: {what}")))?,
    };
    Ok((policy, name))
}

fn print(evaluation: &Evaluation, policy: &str, confidence: f64) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let estimates = &evaluation.estimates;
    let percent = short(100.0 * confidence);
    writeln!(out, "{:<22} {policy}", "policy")?;
    writeln!(out, "{:<22} {} of {} decisions", "evaluated on", estimates.rounds, evaluation.decisions)?;
    writeln!(
        out,
        "{:<22} {:.5} +- {:.5}",
        "logged reward", evaluation.logged_reward, evaluation.logged_reward_standard_error
    )?;
    writeln!(out, "{:<22} {:.1}", "effective sample size", estimates.effective_sample_size)?;
    writeln!(
        out,
        "{:<22} {:.4} +- {:.4}, largest {}",
        "importance weights",
        estimates.mean_weight,
        estimates.mean_weight_standard_error,
        short(estimates.largest_weight)
    )?;
    let bernstein = if estimates.weights_known { "Bernstein" } else { "Bernstein, seen range" };
    writeln!(
        out,
        "\n{:<8} {:>9}  {:<22} {}",
        "",
        "reward",
        format!("{percent} % normal"),
        format_args!("{percent} % {bernstein}")
    )?;
    let interval = |[low, high]: [f64; 2]| format!("[{low:.5}, {high:.5}]");
    for estimate in &estimates.estimates {
        let row = format!(
            "{:<8} {:>9.5}  {:<22} {}",
            estimate.estimator,
            estimate.value,
            interval(estimate.normal),
            estimate.bernstein.map(interval).unwrap_or_default()
        );
        writeln!(out, "{}", row.trim_end())?;
    }
    Ok(())
}
