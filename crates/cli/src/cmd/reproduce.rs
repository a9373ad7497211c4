//! `noregret reproduce`: the papers' figures, with their claims checked.

use std::io::Write;
use std::path::Path;

use noregret_experiments::{ExperimentError, FIGURES, Figure, Options, Outcome, Size, find, folder};
use noregret_stream::run::threads::processors;
use serde_json::Value;

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::note::{WIDTH, counted, note, print_beside, wrapped};

/// Makes the figures and prints whether every claim holds. Plots and numbers are written to
/// folders.
pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let figures: Vec<&Figure> = match args.name.as_deref() {
        None => return list().map_err(Failure::output),
        Some("all") => FIGURES.iter().collect(),
        Some(name) => vec![find(name).map_err(Failure::usage)?],
    };
    let set = args.set.iter().map(|text| setting(text)).collect::<Result<Vec<_>, _>>()?;
    if let (false, [_, _, ..]) = (set.is_empty(), figures.as_slice()) {
        return Err(Failure::usage("--set: figures have sizes of their own; name one figure"));
    }
    if let Some(folder) = &args.data {
        check_data(folder, &figures)?;
    }
    let options = Options {
        size: if args.quick { Size::Quick } else { Size::Full },
        set,
        data: args.data.clone(),
        threads: args.threads.unwrap_or_else(processors),
        say: &|text| note(format_args!("{text}")),
    };
    let mut broken = Vec::new();
    for figure in figures {
        note(format_args!("{}: {} ({})", figure.name, figure.summary, figure.paper));
        let failure = |error: ExperimentError| match error {
            ExperimentError::Param(error) => Failure::usage(format!("{}: {error}", figure.name)),
            ExperimentError::Size(error) => Failure::usage(format!("--set: {} {error}", figure.name)),
            error => Failure::data(format!("{}: {error}", figure.name)),
        };
        let outcome = figure.make(&options).map_err(failure)?;
        folder::write(figure, &options, &outcome, &args.output).map_err(failure)?;
        print(figure, &outcome).map_err(Failure::output)?;
        note(format_args!("The page is {}.", args.output.join(format!("{}.md", figure.name)).display()));
        let fails = outcome.claims.iter().filter(|claim| !claim.holds);
        broken.extend(fails.map(|claim| format!("{}: {}", figure.name, claim.says)));
    }
    match broken.first() {
        None => Ok(()),
        Some(first) => Err(Failure::data(format!(
            "{} did not hold; the first: {first}",
            counted(broken.len() as u64, "claim")
        ))),
    }
}

/// Rejects a data folder without data at once, rather than skipping parts after the other runs.
fn check_data(folder: &Path, figures: &[&Figure]) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Err(Failure::data(format!("--data {}: there is no such folder", folder.display())));
    }
    let mut files = figures.iter().flat_map(|figure| figure.data).peekable();
    if files.peek().is_some() && !files.clone().any(|file| folder.join(file).exists()) {
        let files: Vec<&str> = files.copied().collect();
        let (folder, files) = (folder.display(), files.join(", "));
        return Err(Failure::data(format!(
            "--data {folder}: has none of {files}; omit the option to run without them"
        )));
    }
    Ok(())
}

/// A size of a figure, as `NAME=VALUE` with a value of JSON.
fn setting(text: &str) -> Result<(String, Value), Failure> {
    let value = text.split_once('=').and_then(|(name, value)| {
        let value = serde_json::from_str(value).ok()?;
        Some((name.to_owned(), value))
    });
    value.ok_or_else(|| Failure::usage(format!("--set {text}: NAME=NUMBER or NAME=[NUMBER,…] was needed")))
}

/// Width of the column with names.
const NAME: usize = 25;

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for figure in FIGURES {
        let text = format!("{}; {}", figure.summary, figure.paper);
        let mut lines = wrapped(&text, WIDTH - NAME, "");
        lines.extend(figure.data.iter().map(|file| format!("  --data: {file}")));
        print_beside(&mut out, figure.name, NAME, lines)?;
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
