//! `noregret run --repeats N`: one learner with many seeds, in one pass.

use std::io::Write;

use noregret_stream::watch::spread::Spread;

use crate::args::RunArgs;
use crate::comparison::{MEASURES, json};
use crate::failure::Failure;
use crate::note::note;
use crate::open::wanted;
use crate::pass::{Comparison, draws, run_all};
use crate::progress::Mode;
use crate::sweep::Candidate;

/// Runs the learner once for each seed, and reports mean and spread.
pub(crate) fn repeat(args: &RunArgs) -> Result<(), Failure> {
    let stream = &args.stream;
    let given = [
        ("--load", args.load.is_some()),
        ("--save", args.save.is_some()),
        ("--batch-model", args.batch_model.is_some()),
        ("--certify", args.certify),
        ("--certificates", args.certificates),
        ("--calibration", args.calibration.is_some()),
        ("--abstain-cost", args.abstain_cost.is_some()),
        ("--abstain-rate", args.abstain_rate.is_some()),
        ("--risk-plot", args.risk_plot.is_some()),
        ("--log", args.log.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!(
            "{option}: is about a single run; it cannot go with --repeats {}",
            stream.repeats
        )));
    }
    let wanted = wanted(args)?;
    let name = wanted.entry.about.name;
    if !draws(wanted.entry) {
        return Err(Failure::usage(format!(
            "--repeats {}: {name} draws nothing, so that every seed gives the same result",
            stream.repeats
        )));
    }
    let candidate = Candidate { entry: wanted.entry, settings: wanted.settings, varied: Vec::new() };
    let comparison = run_all(stream, vec![candidate], &[])?;
    if stream.json {
        return json(&comparison, stream).map_err(Failure::output);
    }
    if Mode::of(stream) == Mode::Table {
        note("");
    }
    print(&comparison).map_err(Failure::output)
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
    line("seconds", format!("{seconds:.2}   ({} runs on {} threads)", runs.len(), comparison.threads))
}
