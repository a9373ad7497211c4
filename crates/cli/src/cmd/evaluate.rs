//! `noregret evaluate`: off-policy evaluation of a decision log.

use std::io::{IsTerminal, Write, stdout};

use noregret_stream::decisions::logged::Logged;
use noregret_stream::evaluate::off_policy::Estimator;
use noregret_stream::evaluate::{
    Compared, EvaluateError, Evaluation, Learnt, MakeLearner, Policy, compare, reward_model,
};
use noregret_stream::words::counted;
use noregret_stream::{Schema, data_name};

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::note::{beside, decimals, note, note_bad_rows, short};
use crate::open::read_frozen;
use crate::plan::{EvaluatePlan, PolicyPlan};

/// Evaluates the log.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let EvaluatePlan { log, reading, keys, policies, reward_learner, options, json } =
        EvaluatePlan::of(args)?;
    let opened = policies.into_iter().map(policy).collect::<Result<Vec<_>, _>>()?;
    let (names, mut policies): (Vec<String>, Vec<Policy>) = opened.into_iter().unzip();
    let open = |schema: Option<&Schema>| match &keys {
        None => Logged::open(&log, reading.format, schema),
        Some(keys) => Logged::open_foreign(&log, &reading, keys, schema),
    };
    let make: MakeLearner<'_> = &|problem| reward_model::reward_learner(reward_learner.flatten(), problem);
    let make = reward_learner.map(|_| make);
    let confidence = options.confidence;
    let compared = compare(&open, &mut policies, make, &options).map_err(|(at, error)| {
        let log = data_name(&log);
        match error {
            EvaluateError::Read(error) => Failure::reading(error),
            EvaluateError::Param(error) => error.into(),
            EvaluateError::Setup(_) | EvaluateError::Rewards(_) => {
                Failure::usage(format!("--policy {}: {error}", names[at]))
            }
            EvaluateError::NoFile => Failure::usage(format!("{log}: {error}")),
            error if names.len() > 1 => Failure::data(format!("{log}: {}: {error}", names[at])),
            error => Failure::data(format!("{log}: {error}")),
        }
    })?;
    let names = compared.called(names);
    let first = &compared.evaluations[0];
    note_bad_rows(first.bad_rows, first.first_bad_row.as_deref());
    if json {
        return write_json(&compared, &names, confidence).map_err(Failure::output);
    }
    match &compared.evaluations[..] {
        [one] => print(one, &names[0], &policies[0], confidence),
        _ => print_table(&compared, &names, &policies, confidence),
    }
    .map_err(Failure::output)?;
    for (warning, places) in compared.warnings() {
        let about: Vec<&str> = places.iter().map(|at| names[*at].as_str()).collect();
        // What is said of every policy is about the log.
        let of_all = about.len() == names.len();
        let prefix = if of_all { String::new() } else { format!("{}: ", about.join("; ")) };
        note(format_args!("noregret: {prefix}{warning}"));
    }
    Ok(())
}

/// A policy with its name.
fn policy(plan: PolicyPlan) -> Result<(String, Policy), Failure> {
    match plan {
        PolicyPlan::Rule(name, policy) => Ok((name, policy)),
        PolicyPlan::Model { path, greedy } => {
            let (model, _) = read_frozen(&path)?;
            let policy =
                Policy::of_model(model, greedy).map_err(|what| Failure::usage(format!("--model: {what}")))?;
            let greedy = if greedy { ", greedily" } else { "" };
            Ok((format!("{}{greedy}", path.display()), policy))
        }
    }
}

/// One object per policy, followed by one per difference.
fn write_json(compared: &Compared, names: &[String], confidence: f64) -> std::io::Result<()> {
    let mut out = stdout().lock();
    compared.objects(names, confidence).iter().flatten().try_for_each(|value| writeln!(out, "{value}"))
}

/// Several policies: a line for each, with the difference to the first.
fn print_table(
    compared: &Compared,
    names: &[String],
    policies: &[Policy],
    confidence: f64,
) -> std::io::Result<()> {
    let mut out = stdout().lock();
    let first = &compared.evaluations[0];
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let estimator = first.estimates.compared_by();
    writeln!(
        out,
        "{:<wide$}  {:>8}  {:<18}  against {}",
        "policy",
        "reward",
        short_percent(confidence),
        names[0]
    )?;
    for (at, (evaluation, name)) in compared.evaluations.iter().zip(names).enumerate() {
        let found = &evaluation.estimates;
        let best = found.by(estimator).unwrap_or(&found.estimates[0]);
        let [low, high] = best.sequence.unwrap_or(found.range);
        let interval = format!("[{}, {}]", decimals(low, 4), decimals(high, 4));
        let verdict = at.checked_sub(1).map(|at| compared.differences[at].verdict(confidence));
        let (value, verdict) = (decimals(best.value, 4), verdict.unwrap_or_default());
        let line = format!("{name:<wide$}  {value:>8}  {interval:<18}  {verdict}");
        writeln!(out, "{}", line.trim_end())?;
    }
    let (rounds, decisions) = (first.estimates.rounds, first.decisions);
    writeln!(
        out,
        "\nby {estimator}, on {rounds} of {decisions} decisions; mean reward {} +- {:.4}",
        decimals(first.logged_reward, 4),
        first.logged_reward_standard_error
    )?;
    let chosen = compared.evaluations.iter().find(|evaluation| evaluation.best_label.is_some());
    writeln!(out, "{}", folded(&assumption(chosen.unwrap_or(first))))?;
    for (evaluation, policy) in compared.evaluations.iter().zip(policies) {
        on_average(&mut out, evaluation, policy)?;
    }
    for (at, (evaluation, name)) in compared.evaluations.iter().zip(names).enumerate() {
        let Some(learnt) = &evaluation.learnt else { continue };
        print_learnt(&mut out, learnt, name)?;
        let Some(difference) = at.checked_sub(1).map(|at| &compared.differences[at]) else { continue };
        let reward = first.estimates.by(difference.estimator).map(|of| decimals(of.value, 4));
        let against = format!("{} ({})", names[0], reward.unwrap_or_default());
        match difference.more_from {
            Some(from) => {
                let [reward, error] = learnt.since(from);
                writeln!(
                    out,
                    "it earned more than {against} in every line from {from} rounds on: {} +- {error:.4} there",
                    decimals(reward, 4)
                )?;
            }
            None => writeln!(out, "it earned no more than {against} in the last line")?,
        }
    }
    Ok(())
}

/// How the reward of a policy grew while it learnt.
fn print_learnt(out: &mut impl Write, learnt: &Learnt, policy: &str) -> std::io::Result<()> {
    let Learnt { rounds, stages, exploration: [cost, error] } = learnt;
    writeln!(
        out,
        "\n{policy} learnt {}; exploring costs {} +- {error:.4} a decision",
        counted(*rounds, "round"),
        decimals(*cost, 4)
    )?;
    writeln!(out, "{:<22} {:>8}", "rounds learnt before", "reward")?;
    for stage in stages {
        let rounds = format!("{} to {}", stage.from, stage.to);
        writeln!(out, "{rounds:<22} {:>8} +- {:.4}", decimals(stage.reward, 4), stage.standard_error)?;
    }
    Ok(())
}

/// Why the policy that has logged has another reward by dr than the log has earned.
const ON_AVERAGE: &str = "logged by dr: what the policy earns on average over the labels that it may draw, by forecasts of their rewards; \
                          what the labels that it drew have earned is the mean reward, and differs by chance";

/// Says that, where it is so.
fn on_average(out: &mut impl Write, evaluation: &Evaluation, policy: &Policy) -> std::io::Result<()> {
    let dr = evaluation.estimates.by(Estimator::Dr);
    match dr.filter(|dr| (dr.value - evaluation.logged_reward).abs() > 1e-9) {
        Some(_) if matches!(policy, Policy::Logged) => writeln!(out, "{}", folded(ON_AVERAGE)),
        _ => Ok(()),
    }
}

/// A sentence below a table, in lines on a terminal.
fn folded(sentence: &str) -> String {
    beside("", sentence, stdout().is_terminal())
}

/// What the intervals assume.
fn assumption(evaluation: &Evaluation) -> String {
    let best = match evaluation.best_label {
        Some(_) => {
            "the best label was chosen on this log: its estimates are rather too high, and its intervals are wide enough for all labels at once; "
        }
        None => "",
    };
    let hold =
        "intervals hold at every time and for policies that learn, if the logged probabilities are right";
    match &evaluation.learnt_meanwhile {
        Some(learner) => {
            format!("{best}{hold}; normal ones are approximate, and {learner} learnt during the log")
        }
        None => format!("{best}{hold}; normal ones are approximate, for independent rounds"),
    }
}

fn short_percent(confidence: f64) -> String {
    format!("{} %", short(100.0 * confidence))
}

fn print(evaluation: &Evaluation, name: &str, policy: &Policy, confidence: f64) -> std::io::Result<()> {
    let mut out = stdout().lock();
    let estimates = &evaluation.estimates;
    let percent = short_percent(confidence);
    writeln!(out, "{:<22} {name}", "policy")?;
    writeln!(out, "{:<22} {} of {} decisions", "evaluated on", estimates.rounds, evaluation.decisions)?;
    writeln!(
        out,
        "{:<22} {} +- {:.5}",
        "logged reward",
        decimals(evaluation.logged_reward, 5),
        evaluation.logged_reward_standard_error
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
    if let Some(model) = evaluation.reward_model {
        writeln!(out, "{:<22} {model}", "best reward model")?;
    }
    writeln!(
        out,
        "\n{:<8} {:>9}  {:<22} {}",
        "",
        "reward",
        format!("{percent} interval"),
        format_args!("{percent} normal (approximate)")
    )?;
    let interval = |[low, high]: [f64; 2]| format!("[{}, {}]", decimals(low, 5), decimals(high, 5));
    for estimate in &estimates.estimates {
        let row = format!(
            "{:<8} {:>9}  {:<22} {}",
            estimate.estimator.name(),
            decimals(estimate.value, 5),
            estimate.sequence.map(interval).unwrap_or_default(),
            estimate.normal.map(interval).unwrap_or_default()
        );
        writeln!(out, "{}", row.trim_end())?;
    }
    writeln!(out, "\n{}", folded(&assumption(evaluation)))?;
    on_average(&mut out, evaluation, policy)?;
    evaluation.learnt.as_ref().map_or(Ok(()), |learnt| print_learnt(&mut out, learnt, name))
}
