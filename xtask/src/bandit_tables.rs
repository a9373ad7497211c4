//! `cargo xtask bandit-tables`: every bandit learner's best over a grid, as the papers compare them, by `noregret compare`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cargo;

const BINARY: &str = "target/release/noregret";

/// Seeds of each setting.
const REPEATS: &str = "3";

/// One call of `noregret compare`.
struct Sweep {
    learners: &'static str,
    set: &'static [&'static str],
}

/// All sweeps on the papers' synthetic streams. What is not set is the theorem's choice.
const SYNTHETIC: &[Sweep] = &[
    Sweep {
        learners: "perceptron,second-order-perceptron-diag,gaptron-logistic,gaptron-hinge,gaptron-smooth",
        set: &["second-order-perceptron-diag.regularization=1"],
    },
    Sweep {
        learners: "banditron,pnewtron,soba-diag",
        set: &["exploration=2^-14,2^-12,2^-10..2^-3*2", "soba-diag.regularization=1"],
    },
    Sweep { learners: "soba-diag", set: &["exploration=adaptive", "regularization=1"] },
    Sweep {
        learners: "gaptron-logistic,gaptron-hinge,gaptron-smooth",
        set: &["mode=bandit", "exploration=2^-10..2^-3*2"],
    },
    Sweep {
        learners: "gaptron-logistic,gaptron-hinge,gaptron-smooth",
        set: &["mode=bandit", "exploration=2^-10..2^-4*2", "rate=1e-5..1e-1*10"],
    },
    Sweep { learners: "confidit-diag", set: &["width=1e-4..1*10"] },
];

/// All sweeps on real data.
const REAL: &[Sweep] = &[
    Sweep {
        learners: "perceptron,second-order-perceptron-diag",
        set: &["second-order-perceptron-diag.regularization=1"],
    },
    Sweep {
        learners: "banditron,pnewtron,soba-diag",
        set: &["exploration=2^-10..2^-2*2", "soba-diag.regularization=1"],
    },
    Sweep {
        learners: "gaptron-logistic,gaptron-hinge,gaptron-smooth",
        set: &["mode=bandit", "exploration=2^-8..2^-2*2", "rate=1e-4..1*10"],
    },
    Sweep { learners: "confidit-diag", set: &["width=1e-4..1*10"] },
];

/// The full matrix, where it is small enough.
const FULL_MATRIX: &[Sweep] = &[
    Sweep { learners: "soba", set: &["exploration=2^-10..2^-2*2", "regularization=1"] },
    Sweep { learners: "bandit-reduction", set: &["exploration=2^-8..2^-2*2"] },
];

/// `bandit-tables [FOLDER [ROWS [PAGE]]]`
pub(crate) fn write(args: &[String]) -> Result<(), String> {
    let folder = Path::new(args.first().map_or("../shared/data", String::as_str));
    let rows = args.get(1).map_or("1000000", String::as_str);
    let page = args.get(2).map_or("results/bandit.md", String::as_str);
    rows.parse::<u64>().map_err(|error| format!("{rows}: {error}"))?;
    cargo(&["build", "--release", "--quiet", "--package", "noregret-cli"], &[])?;
    let mut text = format!(
        "# Bandit feedback: every learner's best over its grid\n\n\
         Written by `cargo xtask bandit-tables`. Every learner hears only whether the label that it played was right,\n\
         except where \"told\" says \"the label\". Errors are those of the labels played, the mean over {REPEATS} seeds\n\
         (what draws nothing runs once), with standard deviation; greedy is the error of the learner's best label. Every\n\
         table is followed by the commands that made it.\n"
    );
    for stream in ["synsep", "synnonsep"] {
        let file = PathBuf::from(format!("target/{stream}-{rows}.svm"));
        if !file.exists() {
            let out = file.display().to_string();
            noregret(&["generate", stream, "--rows", rows, "--seed", "1", "-o", &out])?;
        }
        let title = match stream {
            "synsep" => format!("SynSep, {rows} rows, not normalised"),
            _ => format!("SynNonSep, {rows} rows, not normalised: 5 % of the labels are wrong"),
        };
        section(&mut text, &title, &file, &["--scale", "none", "--no-intercept"], &[SYNTHETIC])?;
    }
    let covtype = "Covertype, features in [0, 1] with a constant one, file order";
    let reuters = "Reuters4 (a subset), cosine-normalised";
    for (file, title, options, sweeps) in [
        (
            "covtype.scale01.libsvm.gz",
            covtype,
            &["--scale", "none", "--limit", rows][..],
            &[REAL, FULL_MATRIX][..],
        ),
        ("reuters4_sub.libsvm.gz", reuters, &["--scale", "none", "--limit", rows][..], &[REAL][..]),
    ] {
        let path = folder.join(file);
        if path.exists() {
            section(&mut text, title, &path, options, sweeps)?;
        } else {
            println!("skipped: {} is absent", path.display());
        }
    }
    std::fs::write(page, text).map_err(|error| format!("{page}: {error}"))
}

/// A heading, a table and its commands.
fn section(
    text: &mut String,
    title: &str,
    file: &Path,
    options: &[&str],
    sweeps: &[&[Sweep]],
) -> Result<(), String> {
    let (mut rows, mut commands, mut guessing) = (String::new(), String::new(), String::new());
    let data = file.display().to_string();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for Sweep { learners, set } in sweeps.iter().copied().flatten() {
        let mut call = vec!["compare", data.as_str(), "--learners", learners, "--repeats", REPEATS];
        call.extend_from_slice(options);
        set.iter().for_each(|set| call.extend(["--set", set]));
        let shown = call.join(" ").replace(&data, &name);
        println!("noregret {shown}");
        let _ = writeln!(commands, "    noregret {shown}");
        call.push("--json");
        let output = noregret(&call)?;
        let last = output.lines().last().unwrap_or_default();
        let summary: Value = serde_json::from_str(last).map_err(|error| format!("{data}: {error}"))?;
        for learner in learners.split(',') {
            rows += &best(&summary, learner).ok_or_else(|| format!("{data}: no result of {learner}"))?;
        }
        guessing = format!(
            "| guess: always the commonest class | | | {} | | |\n| guess: any class | | | {} | | |\n",
            fixed(&summary["majority_error_rate"]),
            fixed(&summary["uniform_error_rate"])
        );
    }
    let _ = write!(
        text,
        "\n## {title}\n\n| learner | told | best setting | error | sd | greedy |\n|---|---|---|---:|---:|---:|\n\
         {rows}{guessing}\n{commands}"
    );
    Ok(())
}

/// The line of `learner`'s best setting. An end of the grid is marked: the best may lie beyond.
fn best(summary: &Value, learner: &str) -> Option<String> {
    let all = summary["settings"].as_array()?.iter().filter(|one| one["learner"] == learner);
    let all: Vec<&Value> = all.collect();
    let error = |one: &Value| one["error_rate"]["mean"].as_f64().unwrap_or(f64::INFINITY);
    let best = all.iter().copied().min_by(|a, b| error(a).total_cmp(&error(b)))?;
    let mut words = Vec::new();
    for (name, value) in best["settings"].as_object()? {
        let numbers: Vec<f64> = all.iter().filter_map(|one| one["settings"][name].as_f64()).collect();
        let end = value.as_f64().is_some_and(|value| {
            let beyond = |less: bool| !numbers.iter().any(|n| if less { *n < value } else { *n > value });
            numbers.iter().any(|n| *n != value) && (beyond(true) || beyond(false))
        });
        let value = value.as_str().map_or_else(|| power(value), str::to_owned);
        words.push(format!("{name}={value}{}", if end { " (end of the grid)" } else { "" }));
    }
    let told = if best["feedback"] == "bandit" { "right or wrong" } else { "the label" };
    Some(format!(
        "| `{learner}` | {told} | {} | {} | {} | {} |\n",
        words.join(", "),
        fixed(&best["error_rate"]["mean"]),
        if best["repeats"] == 1 { String::new() } else { fixed(&best["error_rate"]["sd"]) },
        fixed(&best["greedy_error_rate"]["mean"]),
    ))
}

/// A power of two as one, another number as it is.
fn power(value: &Value) -> String {
    let exponent = value.as_f64().map_or(0.5, f64::log2);
    if exponent.fract() == 0.0 && exponent < 0.0 { format!("2^{exponent}") } else { value.to_string() }
}

fn fixed(value: &Value) -> String {
    value.as_f64().map_or_else(String::new, |value| format!("{value:.4}"))
}

fn noregret(args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(BINARY);
    let output = command.args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{BINARY}: {error}"))?;
    if !output.status.success() {
        return Err(format!("noregret {}: {}", args.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_setting_is_found_and_the_end_of_a_grid_marked() {
        let one = |learner: &str, exploration: f64, error: f64| {
            serde_json::json!({
                "learner": learner, "feedback": "bandit", "repeats": 3,
                "settings": {"exploration": exploration, "norm": 3},
                "error_rate": {"mean": error, "sd": 0.25}, "greedy_error_rate": {"mean": 0.5},
            })
        };
        let inside =
            [one("soba", 0.125, 0.3), one("soba", 0.25, 0.2), one("soba", 0.5, 0.4), one("ogd", 0.5, 0.1)];
        let line = best(&serde_json::json!({"settings": inside}), "soba").expect("there are three");
        assert_eq!(
            line,
            "| `soba` | right or wrong | exploration=2^-2, norm=3 | 0.2000 | 0.2500 | 0.5000 |\n"
        );
        let ends = [one("soba", 0.1, 0.1), one("soba", 0.25, 0.2)];
        let line = best(&serde_json::json!({"settings": ends}), "soba").expect("there are two");
        assert!(line.contains("exploration=0.1 (end of the grid), norm=3 |"), "{line}");
        assert_eq!(best(&serde_json::json!({"settings": ends}), "ogd"), None);
    }
}
