//! `noregret demo`: two learners on a small generated stream.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use noregret::param::{Value, Values};
use noregret::registry::{DEFAULT, find};
use noregret_experiments::synthetic::{Recipe, SyntheticExamples};
use noregret_stream::draw::plot::{Chart, Line};
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, RunOptions, Sink, run as learn};
use noregret_stream::save::Saved;
use noregret_stream::setup::{Asked, Facts};

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::note::note;
use crate::open::describe;
use crate::plot::PlotFile;
use crate::progress::{Mode, Progress, Total};

/// The stream of the demonstration: noisy labels, correlated features, drift.
const STREAM: [(&str, &str); 6] = [
    ("classes", "6"),
    ("features", "24"),
    ("norm", "12"),
    ("correlation", "0.9"),
    ("noise", "0.05"),
    ("drift", "0.2"),
];

const LEARNERS: [&str; 2] = [DEFAULT, "ogd"];

const WINDOW: usize = 1000;

/// Runs both learners on the same rows, compares them, and writes a plot. `program` is the name by which the
/// program was called.
pub(crate) fn run(args: &DemoArgs, program: &OsStr) -> Result<(), Failure> {
    let plot = PlotFile::open("--plot", &args.plot)?;
    let values: Values =
        STREAM.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
    let recipe = Recipe::find("softmax").expect("the stream of the demonstration exists");
    note(format_args!(
        "A stream of {} rows: 6 classes, 24 correlated features, 5 % of the labels wrong, and a truth that drifts.\n\
         Every row is predicted before its label is seen; nothing is tuned, and nothing is learnt twice.",
        args.rows
    ));
    let mut results = Vec::new();
    for name in LEARNERS {
        let stream = recipe.make(&values, args.rows, args.seed)?;
        let entry = find(name)?;
        let columns = stream.features();
        let facts = Facts {
            scaling: Scaling::MaxAbs,
            intercept: true,
            rows: Some(args.rows),
            ..Facts::of_arrays(stream.classes(), columns)
        };
        let asked = Asked { seed: args.seed, scaling: Some(Scaling::MaxAbs), ..Asked::default() };
        let Saved { learner, encoder, .. } = facts.make(entry, &asked)?;
        let mut learner = learner.full()?;
        let forecast = entry.about.forecast;
        note(format_args!("\n{}", describe(learner.about().name, &learner.values())));
        let mut curve = Curve {
            progress: Progress::new(Mode::Table, forecast, Total::Rows(args.rows), WINDOW, false),
            every: (args.rows / 200).max(1),
            points: Vec::new(),
        };
        let mut examples = SyntheticExamples::new(stream, encoder, args.rows);
        let options = RunOptions { window: WINDOW, ..RunOptions::new(forecast, args.seed) };
        let score = learn(&mut examples, learner.as_mut(), &mut curve, &options)
            .map_err(|error| Failure::running("the stream", error))?;
        curve.progress.finish(&score, None, Vec::new()).map_err(Failure::output)?;
        results.push(Run { name, score, seconds: curve.progress.seconds(), points: curve.points });
    }
    let chart = Chart {
        title: "Error rate over the last 1000 rounds".to_owned(),
        x_label: "rounds".to_owned(),
        y_label: "error rate".to_owned(),
        lines: results
            .iter_mut()
            .map(|run| Line {
                name: run.name.to_owned(),
                points: std::mem::take(&mut run.points),
                ..Line::default()
            })
            .collect(),
        ..Chart::default()
    };
    plot.write(&chart)?;
    // In a terminal the table follows the last learner's progress.
    note("");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    print(&results, &args.plot, &command(Path::new(program), &folders)).map_err(Failure::output)
}

/// What a shell with the search path `folders` takes for the program that was called as `program`: its name
/// alone if that finds it, and its path before it is installed.
fn command(program: &Path, folders: &OsStr) -> String {
    let on_path =
        program.parent().is_some_and(|folder| std::env::split_paths(folders).any(|of| of == folder));
    match program.file_name() {
        Some(name) if on_path => Path::new(name).display().to_string(),
        _ => program.display().to_string(),
    }
}

/// The result of a learner.
struct Run {
    name: &'static str,
    score: Score,
    seconds: f64,
    /// The curve of the plot.
    points: Vec<(f64, f64)>,
}

/// Progress, and the windowed error rate for the plot.
struct Curve {
    progress: Progress,
    every: u64,
    points: Vec<(f64, f64)>,
}

impl Sink for Curve {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        if score.rounds().is_multiple_of(self.every)
            && let Some(rate) = score.window_rates().error_rate
        {
            self.points.push((score.rounds() as f64, rate));
        }
        self.progress.observe(outcome, score)
    }

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        self.progress.looks_inside(scored)
    }
}

fn print(results: &[Run], plot: &Path, program: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<12} {:>12} {:>12} {:>14}", "learner", "error rate", "log-loss", "rows a second")?;
    for run in results {
        let rates = run.score.rates();
        writeln!(
            out,
            "{:<12} {:>12.4} {:>12.4} {:>14.0}",
            run.name,
            rates.error_rate.unwrap_or_default(),
            rates.log_loss.unwrap_or_default(),
            rates.rounds as f64 / run.seconds
        )?;
    }
    writeln!(out, "\nThe curves are in {}. Now try your own data: {program} run DATA", plot.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_one_that_the_shell_finds() {
        let folders = std::env::join_paths(["/usr/bin", "/home/ada/.cargo/bin"]).unwrap();
        for (called, shown) in [
            ("target/release/noregret", "target/release/noregret"),
            ("/home/ada/.cargo/bin/noregret", "noregret"),
            ("noregret", "noregret"),
            ("./noregret", "./noregret"),
        ] {
            assert_eq!(command(Path::new(called), &folders), shown);
        }
    }
}
