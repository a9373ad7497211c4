//! `cargo xtask boosting`: error rates and cost of boosting on real data.

use std::fmt::Write as _;
use std::path::Path;

use crate::{build, measure};

/// Data sets, each with the best linear learner that is affordable for it, and the number of rows.
const SETS: &[(&str, Option<u64>)] = &[
    ("vehicle.scale.libsvm.gz", None),
    ("segment.scale.libsvm.gz", None),
    ("satimage.scale.libsvm.gz", None),
    ("pendigits.libsvm.gz", None),
    ("letter.scale.libsvm.gz", None),
    ("usps.libsvm.gz", None),
    ("electricity.libsvm.gz", None),
    ("shuttle.libsvm.gz", None),
    ("covtype.scale01.libsvm.gz", Some(100_000)),
];

/// Settings of the first table: their names, and the arguments.
const LEARNERS: &[(&str, &str)] = &[
    ("folklore (linear)", "--learner folklore"),
    ("one tree", "--learner adaboost-olm --set copies=1"),
    ("adaboost-olm", "--learner adaboost-olm"),
    ("play=mixture", "--learner adaboost-olm --set play=mixture"),
    ("play=vote", "--learner adaboost-olm --set play=vote"),
];

const WEAK: &[&str] = &["tree", "best-stump", "stump", "linear-cost", "ogd"];

/// Settings of the experiment on trees; each changes one parameter.
const CHANGES: &[&str] = &[
    "",
    "--set copies=10",
    "--set copies=100",
    "--set weak.grace=2",
    "--set weak.grace=10",
    "--set weak.grace=50",
    "--set weak.buffer=8",
    "--set weak.buffer=128",
    "--set weak.tries=4",
    "--set weak.confidence=1",
    "--set weak.confidence=0.1",
    "--set weak.confidence=0.001",
    "--set horizon=anytime",
    "--set horizon=1000000",
    "--seed 1",
    "--seed 2",
];

const TUNED_ON: [&str; 4] = [
    "vehicle.scale.libsvm.gz",
    "segment.scale.libsvm.gz",
    "satimage.scale.libsvm.gz",
    "electricity.libsvm.gz",
];

/// Runs all experiments, and writes results/boosting.md.
pub(crate) fn results(data: &Path) -> Result<(), String> {
    build()?;
    let mut page = "# Boosting on real data\n\n\
        Written by `cargo xtask boosting`: every number is one pass in file order by `noregret run FILE ARGUMENTS`, each\n\
        prediction made before its label was seen, everything else at its default. Rows a second are those of the learning\n\
        pass on a shared machine with two cores, on one of them.\n"
        .to_owned();
    let mut table = |title: &str, head: &str, rows: String| {
        write!(page, "\n## {title}\n\n{head}\n|{}\n{rows}", "---|".repeat(head.matches('|').count() - 1))
            .expect("a string");
    };
    table(
        "Boosted trees against the best linear learner and against one tree",
        "| file | rows | learner | error rate | log-loss | rows/s | peak memory |",
        first(data)?,
    );
    table(
        "Weak learners, alone and boosted (error rates; 1 and 30 copies; at most 20,000 rows)",
        &format!("| file | {} |", WEAK.join(" | ")),
        weak(data)?,
    );
    table(
        "Trees, one thing changed at a time (error rates)",
        &format!("| arguments | {} |", TUNED_ON.join(" | ")),
        changes(data)?,
    );
    table(
        "Cost: microseconds a round by copies N, on the first 20 000 rows of covtype (K = 7, d = 55)",
        "| weak learner | N = 1 | N = 10 | N = 30 | N = 100 | N = 300 |",
        cost(data)?,
    );
    page += NOTES;
    std::fs::create_dir_all("results").map_err(|error| error.to_string())?;
    std::fs::write("results/boosting.md", page).map_err(|error| error.to_string())
}

const NOTES: &str = include_str!("boosting_notes.md");

fn first(data: &Path) -> Result<String, String> {
    let mut rows = String::new();
    for (file, limit) in SETS {
        for (name, arguments) in LEARNERS {
            let limit = limit.map_or_else(String::new, |limit| format!(" --limit {limit}"));
            let summary = measure(&data.join(file), &format!("{arguments}{limit}"))?;
            let loss = summary.number("log_loss");
            writeln!(
                rows,
                "| {file} | {} | {name} | {:.4} | {} | {:.0} | {} |",
                summary.number("rounds"),
                summary.number("error_rate"),
                if loss.is_nan() { String::new() } else { format!("{loss:.4}") },
                summary.number("rows_per_second"),
                summary.peak_memory,
            )
            .expect("a string");
        }
    }
    Ok(rows)
}

fn weak(data: &Path) -> Result<String, String> {
    let mut rows = String::new();
    for (file, _) in SETS {
        write!(rows, "| {file} |").expect("a string");
        for weak in WEAK {
            let error = |copies: u64| {
                let arguments =
                    format!("--learner adaboost-olm --set weak={weak} --set copies={copies} --limit 20000");
                measure(&data.join(file), &arguments).map(|summary| summary.number("error_rate"))
            };
            write!(rows, " {:.4} → {:.4} |", error(1)?, error(30)?).expect("a string");
        }
        rows.push('\n');
    }
    Ok(rows)
}

fn changes(data: &Path) -> Result<String, String> {
    let mut rows = String::new();
    for change in CHANGES {
        write!(rows, "| {} |", if change.is_empty() { "none" } else { change }).expect("a string");
        for file in TUNED_ON {
            let summary = measure(&data.join(file), &format!("--learner adaboost-olm {change}"))?;
            write!(rows, " {:.4} |", summary.number("error_rate")).expect("a string");
        }
        rows.push('\n');
    }
    Ok(rows)
}

fn cost(data: &Path) -> Result<String, String> {
    let mut rows = String::new();
    let file = data.join("covtype.scale01.libsvm.gz");
    for weak in ["tree", "best-stump", "stump", "linear-cost"] {
        write!(rows, "| {weak} |").expect("a string");
        for copies in [1, 10, 30, 100, 300] {
            let arguments =
                format!("--learner adaboost-olm --set weak={weak} --set copies={copies} --limit 20000");
            let summary = measure(&file, &arguments)?;
            write!(rows, " {:.1} |", 1e6 / summary.number("rows_per_second")).expect("a string");
        }
        rows.push('\n');
    }
    Ok(rows)
}
