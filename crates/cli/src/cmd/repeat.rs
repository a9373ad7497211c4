//! `noregret run --repeats N`: one learner with many seeds, in one pass.

use std::io::Write;

use noregret_stream::watch::spread::Spread;

use crate::comparison::{MEASURES, json};
use crate::failure::Failure;
use crate::note::{counted, note};
use crate::pass::{Comparison, draws, run_all};
use crate::plan::RepeatPlan;
use crate::progress::Mode;

/// Runs the learner once for each seed, and reports mean and standard deviation.
pub(crate) fn repeat(plan: RepeatPlan) -> Result<(), Failure> {
    let RepeatPlan { candidate, pass } = plan;
    if !draws(pass.stream.delay, pass.stream.exploration_floor, &candidate) {
        return Err(Failure::usage(format!(
            "--repeats {}: {} is deterministic, so that every seed gives the same result",
            pass.repeats, candidate.entry.about.name
        )));
    }
    let comparison = run_all(&pass, vec![candidate], &[])?;
    match pass.stream.mode {
        Mode::Json => {
            json(&comparison, &pass.stream.source.data).map_err(Failure::output)?;
            return comparison.check(&pass);
        }
        Mode::Table => note(""),
        Mode::Quiet => {}
    }
    print(&comparison).map_err(Failure::output)?;
    comparison.check(&pass)
}

fn print(comparison: &Comparison) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let runs = &comparison.runs;
    let mut line = |name: &str, value: String| writeln!(out, "{name:<22} {value}");
    line("learner", comparison.candidates[0].entry.about.name.to_owned())?;
    line("rounds", runs[0].score.rounds().to_string())?;
    let last = runs.last().expect("at least one run");
    line("seeds", format!("{} to {}", runs[0].seed, last.seed))?;
    for measure in MEASURES {
        let values: Option<Vec<f64>> = runs.iter().map(|run| (measure.rate)(&run.score.rates())).collect();
        if let Some(Spread { mean, sd, min, max }) = values.and_then(|values| Spread::of(&values)) {
            line(measure.long, format!("{mean:.5} ± {sd:.5}   ({min:.5} to {max:.5})"))?;
        }
    }
    let seconds = comparison.seconds;
    line(
        "seconds",
        format!(
            "{seconds:.2}   ({} on {})",
            counted(runs.len() as u64, "run"),
            counted(comparison.threads as u64, "thread")
        ),
    )
}
