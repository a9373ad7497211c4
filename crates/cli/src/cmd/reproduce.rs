//! `noregret reproduce`: the papers' figures, with what they claim held against what comes out.

use std::io::Write;
use std::thread::available_parallelism;

use noregret_experiments::{ExperimentError, FIGURES, Figure, Options, Outcome, Size, find, folder};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::note::{counted, note};

/// Makes the figures and prints the verdict on every claim. Pictures and numbers go to folders.
pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let figures: Vec<&Figure> = match args.name.as_deref() {
        None => return list().map_err(Failure::output),
        Some("all") => FIGURES.iter().collect(),
        Some(name) => vec![find(name).map_err(Failure::usage)?],
    };
    let size = if args.quick { Size::Quick } else { Size::Full };
    let options = Options {
        size,
        data: args.data.clone(),
        threads: args.threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
        say: &|text| note(format_args!("{text}")),
    };
    let mut broken = Vec::new();
    for figure in figures {
        note(format_args!("{}: {} ({})", figure.name, figure.summary, figure.paper));
        let failure = |error: ExperimentError| match error {
            ExperimentError::Param(error) => Failure::usage(format!("{}: {error}", figure.name)),
            error => Failure::data(format!("{}: {error}", figure.name)),
        };
        let outcome = figure.make(&options).map_err(failure)?;
        let into = args.output.join(figure.name);
        folder::write(figure, size, &outcome, &into).map_err(failure)?;
        print(figure, &outcome).map_err(Failure::output)?;
        note(format_args!("The page is {}.", into.join(format!("{}.md", figure.name)).display()));
        let fails = outcome.claims.iter().filter(|claim| !claim.holds);
        broken.extend(fails.map(|claim| format!("{}: {}", figure.name, claim.says)));
    }
    match broken.first() {
        None => Ok(()),
        Some(first) => Err(Failure::data(format!(
            "{} did not come out as stated; the first: {first}",
            counted(broken.len() as u64, "claim")
        ))),
    }
}

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for figure in FIGURES {
        writeln!(out, "{:<24} {}; {}", figure.name, figure.summary, figure.paper)?;
        for file in figure.data {
            writeln!(out, "{:<24}   --data: {file}", "")?;
        }
    }
    Ok(())
}

fn print(figure: &Figure, outcome: &Outcome) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for claim in &outcome.claims {
        let verdict = if claim.holds { "holds" } else { "FAILS" };
        writeln!(out, "{verdict}  {}: {}: {} ({})", figure.name, claim.says, claim.ours, claim.difference)?;
    }
    Ok(())
}
