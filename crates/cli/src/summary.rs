//! The summary of a run.

use std::collections::BTreeMap;
use std::io::Write;

use noregret::param::Values;
use noregret_stream::run::score::{Rates, Score};
use noregret_stream::watch::abstain::Report as Abstention;
use noregret_stream::watch::baseline::BaselineReport;
use noregret_stream::watch::calibration::{CalibrationReport, Curve};
use noregret_stream::watch::certify::Certified;
use serde::Serialize;

use crate::note::{beside, printable, short};
use crate::progress::Mode;

/// The losses of rounds in which a class appeared for the first time, among the numbers.
pub(crate) const FIRST_APPEARANCES: &str = "first_appearances";

/// The summary: the last line of `--json`, also stored in a saved model.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) data: &'a str,
    pub(crate) learner: &'static str,
    #[serde(flatten)]
    pub(crate) rates: Rates,
    pub(crate) window: Rates,
    /// Losses of baselines that ignore the features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baselines: Option<BaselineReport>,
    /// The most frequent class, and its share of the rounds.
    #[serde(skip)]
    pub(crate) commonest: Option<(String, f64)>,
    /// Not stored in a model, so that equal runs give equal files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows_per_second: Option<f64>,
    #[serde(flatten)]
    pub(crate) certified: Option<Certified>,
    /// What the guarantee is about, where the comparator's loss cannot be computed.
    #[serde(skip)]
    pub(crate) certified_loss: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) abstention: Option<Abstention>,
    /// Health indicators of the learner, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) numbers: BTreeMap<&'static str, Vec<f64>>,
    pub(crate) bad_rows: u64,
    pub(crate) large_rows: u64,
    /// Rows with a value far outside of what was seen, which was clipped.
    pub(crate) clipped_rows: u64,
    pub(crate) dropped_features: u64,
    pub(crate) resolved_parameters: Values,
    /// The final weights of a mixture's members.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub(crate) weights: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<CalibrationReport>,
    /// What the classes are called of which calibration has curves.
    #[serde(skip)]
    pub(crate) calibrated: Vec<String>,
    pub(crate) classes: usize,
    pub(crate) features: usize,
    /// Whether there is a constant feature in addition.
    pub(crate) intercept: bool,
    pub(crate) seed: u64,
}

/// Prints the summary as text, which `folds` on a terminal, or as the last line of JSON.
pub(crate) fn print(
    out: &mut dyn Write,
    folds: bool,
    summary: &Summary<'_>,
    score: &Score,
    mode: Mode,
    window: usize,
) -> std::io::Result<()> {
    if mode == Mode::Json {
        return writeln!(out, "{}", serde_json::to_string(summary).expect("plain numbers"));
    }
    let mut line =
        |name: &str, value: String| writeln!(out, "{}", beside(&format!("{name:<22} "), &value, folds));
    line("learner", summary.learner.to_owned())?;
    line("rounds", summary.rates.rounds.to_string())?;
    print_rates(summary, score, window, &mut line)?;
    if let Some(abstention) = &summary.abstention {
        print_abstention(abstention, &mut line)?;
    }
    for (name, numbers) in &summary.numbers {
        if *name == FIRST_APPEARANCES {
            let (count, cost) = (numbers.len(), numbers.iter().sum::<f64>());
            line("new classes", format!("{count}, whose first rounds cost {cost:.3} of the log-loss"))?;
        } else {
            line(&name.replace('_', " "), few(numbers))?;
        }
    }
    if let Some(report) = &summary.calibration {
        print_calibration(report, &summary.calibrated, &mut line)?;
    }
    if let Some(certified) = &summary.certified {
        print_certified(certified, summary.certified_loss, &mut line)?;
    }
    for (name, count) in [
        ("bad rows skipped", summary.bad_rows),
        ("rows beyond radius", summary.large_rows),
        ("rows clipped", summary.clipped_rows),
        ("unknown features", summary.dropped_features),
    ] {
        if count > 0 {
            line(name, count.to_string())?;
        }
    }
    if let (Some(seconds), Some(rate)) = (summary.seconds, summary.rows_per_second) {
        line("seconds", format!("{}   ({rate:.0} rows a second)", short(seconds)))?;
    }
    Ok(())
}

/// The errors and losses, in all rounds and in the `window` of the last ones, beside those of the baselines.
fn print_rates(
    summary: &Summary<'_>,
    score: &Score,
    window: usize,
    line: &mut dyn FnMut(&str, String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let rates = &summary.rates;
    let last = |value: Option<f64>| {
        value.map_or_else(String::new, |value| format!("   (last {window}: {value:.5})"))
    };
    if let (Some(errors), Some(rate)) = (rates.errors, rates.error_rate) {
        line("errors", format!("{errors}"))?;
        line("error rate", format!("{rate:.5}{}", last(summary.window.error_rate)))?;
    }
    if let Some(rate) = rates.expected_error_rate {
        line("expected error rate", format!("{rate:.5}{}", last(summary.window.expected_error_rate)))?;
        line("greedy error rate", format!("{:.5}", rates.greedy_error_rate.unwrap_or_default()))?;
    }
    if let Some(added) = rates.floor_error_rate {
        let floor = score.facts.floor;
        // A policy's weights are at most 1 / floor, so their variance is, too, for rewards from 0 to 1.
        let width = 1.96 / (floor * rates.rounds.max(1) as f64).sqrt();
        let effect = format!(
            "{added:+.5} of the expected errors; for it, ips estimates of any policy are within {width:.3} (about 95 %)"
        );
        line("exploration floor", effect)?;
    }
    if let Some(loss) = rates.log_loss {
        line("log-loss (nats)", format!("{loss:.5}{}", last(summary.window.log_loss)))?;
        line("cumulative log-loss", format!("{:.3}", score.total_loss()))?;
    }
    if let Some(loss) = rates.squared_loss {
        line("squared loss", format!("{loss:.6}{}", last(summary.window.squared_loss)))?;
    }
    if let Some(baselines) = &summary.baselines {
        let commonest = summary.commonest.as_ref().map_or_else(String::new, |(name, share)| {
            format!("   ({name:?} in the end, {:.1} % of the rounds)", 100.0 * share)
        });
        line("naming the commonest", format!("{:.5}{commonest}", baselines.commonest_class_error_rate))?;
        line("repeating the last", format!("{:.5}", baselines.last_label_error_rate))?;
        if rates.log_loss.is_some() {
            line("frequencies' log-loss", format!("{:.5}", baselines.class_frequencies_log_loss))?;
        }
    }
    Ok(())
}

fn print_abstention(
    abstention: &Abstention,
    line: &mut dyn FnMut(&str, String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    line("coverage", format!("{:.5}   ({:.0} rounds answered)", abstention.coverage, abstention.answered))?;
    if let Some(risk) = abstention.risk {
        line("error rate, answered", format!("{risk:.5}"))?;
    }
    if let Some(cost) = abstention.mean_cost {
        line("mean cost", format!("{cost:.5}   (an error costs 1, abstaining {})", abstention.asked))?;
    }
    line("guarantee", abstention.guarantee.clone())?;
    Ok(())
}

/// A list on one line: its first numbers, and its length.
pub(crate) fn few(numbers: &[f64]) -> String {
    const SHOWN: usize = 6;
    let mut text = numbers.iter().take(SHOWN).map(|number| short(*number)).collect::<Vec<_>>().join(" ");
    if numbers.len() > SHOWN {
        text += &format!(" … ({} in all)", numbers.len());
    }
    text
}

/// The reliability curves.
fn print_calibration(
    report: &CalibrationReport,
    names: &[String],
    line: &mut dyn FnMut(&str, String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let classes = report.classes.iter().flatten().zip(names);
    let classes = classes.map(|(curve, name)| (format!("calibration of {}", printable(name)), curve));
    for (name, Curve { ece, bins }) in std::iter::once(("calibration".to_owned(), &report.top)).chain(classes)
    {
        line(&name, format!("expected error {ece:.5}"))?;
        line("  probability", format!("{:>10}  {:>10}  {:>10}", "mean", "came true", "rounds"))?;
        for bin in bins {
            let values = format!("{:>10.4}  {:>10.4}  {:>10}", bin.probability, bin.frequency, bin.rounds);
            line(&format!("  {:.3} to {:.3}", bin.from, bin.to), values)?;
        }
    }
    Ok(())
}

/// The losses of learner and comparator, with certificate and bound.
fn print_certified(
    certified: &Certified,
    loss_name: &str,
    line: &mut dyn FnMut(&str, String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let vacuous = |bound: f64| if bound < certified.trivial_bound { "" } else { ", vacuous here" };
    // Without labels there is nothing to compare.
    let labelled = !certified.comparator.is_empty();
    if labelled {
        line("compared with", certified.comparator.clone())?;
    }
    match (certified.comparator_loss, certified.regret) {
        (Some(loss), Some(regret)) => {
            let seen = |gap: &f64| *gap > 1e-3 * regret.abs().max(1.0);
            let (least, most) = match certified.comparator_gap.filter(seen) {
                Some(gap) => (
                    format!("   (that of the best one is at least {:.3})", loss - gap),
                    format!("   (against the best one at most {:.3})", regret + gap),
                ),
                None => Default::default(),
            };
            line("comparator's loss", format!("{loss:.3}{least}"))?;
            line("regret", format!("{regret:.3}{most}"))?;
        }
        _ if labelled => line(loss_name, format!("{:.3}", certified.learner_loss))?,
        _ => {}
    }
    if let Some(certificate) = certified.certificate {
        line(
            "certificate",
            format!("{certificate:.3}   (upper bound on the regret, computed during the run)"),
        )?;
    }
    if let Some(why) = &certified.no_certificate_because {
        line("certificate", format!("none: {why}"))?;
    }
    match (certified.bound, &certified.no_bound_because) {
        (Some(bound), _) => line("bound", format!("{bound:.3}   ({})", certified.theorem))?,
        (None, Some(why)) => line("bound", format!("none: {why}   ({})", certified.theorem))?,
        (None, None) => {}
    }
    if let Some(bound) = certified.interval_bound {
        let what = "in every interval of rounds, against the predictor that is best in it";
        line("bound in intervals", format!("{bound:.3}   ({what}{})", vacuous(bound)))?;
    }
    if let Some(bound) = certified.total_bound {
        line(
            "bound in total",
            format!("{bound:.3}   (over all rounds, for members that were there in all of them)"),
        )?;
    }
    match (certified.drawn_bound, &certified.no_drawn_bound_because) {
        (Some(bound), _) => {
            let what = "on the mistakes of the labels drawn, with probability 95 %";
            line("bound on errors", format!("{bound:.3}   ({what}{})", vacuous(bound)))?;
        }
        (None, Some(why)) => line("bound on errors", format!("none with probability 95 %: {why}"))?,
        (None, None) => {}
    }
    if let Some(bound) = certified.distance_bound {
        let what = "mean squared Hellinger distance of the forecasts, at most 2, with probability 95 %, if some comparator has the true probabilities";
        line("distance from truth", format!("{bound:.4}   ({what})"))?;
    }
    if !labelled {
        return Ok(());
    }
    let nothing = certified.bound.is_some() && !certified.bites();
    let remark =
        if nothing { "the theorem's bound is larger, hence vacuous here" } else { certified.trivial_rule };
    line("trivial bound", format!("{:.3}   ({remark})", certified.trivial_bound))
}
