//! `cargo xtask bandit-tables`: the best result of every bandit learner over a grid of its parameters, as in
//! the papers' comparisons, by `noregret compare`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cargo;

const BINARY: &str = "target/dist/noregret";

/// Number of seeds for each setting.
const REPEATS: &str = "3";

/// The heading of the manually written part of the page, which is kept when the rest is
/// regenerated.
const BY_HAND: &str = "\n## Made by hand\n";

/// One or several learners over a grid of their parameters.
struct Sweep {
    learners: &'static str,
    set: &'static [&'static str],
    /// For learners whose theorem has a rate: explorations at which a hundred times that rate is tried too.
    fast: &'static [i32],
}

const fn sweep(learners: &'static str, set: &'static [&'static str]) -> Sweep {
    Sweep { learners, set, fast: &[] }
}

/// Gaptron without a ball, as in the papers' comparisons.
const fn gaptron(learner: &'static str, set: &'static [&'static str], fast: &'static [i32]) -> Sweep {
    Sweep { learners: learner, set, fast }
}

/// All sweeps on the papers' synthetic streams. Other parameters have the theorem's defaults.
const SYNTHETIC: &[Sweep] = &[
    sweep(
        "perceptron,second-order-perceptron-diag,gaptron-logistic,gaptron-hinge,gaptron-smooth",
        &["second-order-perceptron-diag.regularization=1"],
    ),
    sweep("banditron", &["exploration=2^-14,2^-7,2^-6,2^-5"]),
    sweep("pnewtron", &["exploration=2^-14,2^-8"]),
    sweep("soba-diag", &["exploration=2^-8,2^-7,2^-6", "regularization=1"]),
    sweep("soba-diag", &["exploration=adaptive", "regularization=1"]),
    gaptron("gaptron-logistic", &["mode=bandit", "norm=1000", "exploration=2^-3"], &[-6, -5]),
    gaptron("gaptron-hinge", &["mode=bandit", "norm=1000", "exploration=2^-6,2^-5"], &[-9, -7]),
    gaptron("gaptron-smooth", &["mode=bandit", "norm=1000", "exploration=2^-4"], &[-8, -7]),
    sweep("confidit-diag", &["width=0.001,0.01,0.1"]),
];

/// All sweeps on real data.
const REAL: &[Sweep] = &[
    sweep("perceptron,second-order-perceptron-diag", &["second-order-perceptron-diag.regularization=1"]),
    sweep("banditron,soba-diag", &["exploration=2^-9,2^-7,2^-5", "soba-diag.regularization=1"]),
    sweep("pnewtron", &["exploration=2^-9,2^-7", "norm=1,10"]),
    gaptron("gaptron-logistic", &["mode=bandit", "norm=1000", "exploration=2^-4"], &[-6, -4]),
    gaptron("gaptron-hinge", &["mode=bandit", "norm=1000", "exploration=2^-4"], &[-6, -4]),
    gaptron("gaptron-smooth", &["mode=bandit", "norm=1000", "exploration=2^-4"], &[-6, -4]),
    sweep("confidit-diag", &["width=0.001,0.01,0.1"]),
];

/// Learners with full matrices and examples for teaching, for data with few features.
const FEW_FEATURES: &[Sweep] = &[
    sweep("soba", &["exploration=2^-7,2^-5", "regularization=1"]),
    sweep("soba-reduction", &["exploration=2^-4", "norm=10", "ons_rate=0.01,0.1", "ons_regularization=1000"]),
    sweep("bandit-reduction", &["exploration=2^-6,2^-4"]),
    sweep("newtron", &["exploration=2^-7", "projection=scale"]),
    sweep("confidit", &["width=0.001,0.1"]),
    sweep("exp4", &[]),
];

/// `bandit-tables [FOLDER [ROWS [PAGE]]]`
pub(crate) fn write(args: &[String]) -> Result<(), String> {
    let folder = Path::new(args.first().map_or("../shared/data", String::as_str));
    let rows = args.get(1).map_or("1000000", String::as_str);
    let page = args.get(2).map_or("results/bandit.md", String::as_str);
    rows.parse::<u64>().map_err(|error| format!("{rows}: {error}"))?;
    cargo(&["build", "--profile", "dist", "--quiet", "--package", "noregret-cli"], &[])?;
    let mut text = format!(
        "# Bandit feedback: every learner's best over its grid\n\n\
         Written by `cargo xtask bandit-tables`. Every learner hears only whether the label that it played was right,\n\
         except where \"feedback\" says \"the label\". Errors are those of the labels played, the mean over {REPEATS} seeds\n\
         (what draws nothing runs once), with standard deviation; greedy is the error of the learner's best label. The grids\n\
         are small, about what served best in the literature and in earlier runs: the commands after every table show them.\n\
         Gaptron's rate is the theorem's, or a hundred times that, which no theorem covers.\n"
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
        section(&mut text, &title, &file, &["--scale", "none", "--no-intercept"], SYNTHETIC)?;
    }
    let covtype = "Covertype, features in [0, 1] with a constant one, file order";
    let few = "Covertype, the first 100,000 rows: learners for few features";
    let reuters = "Reuters4 (a subset), cosine-normalised";
    let (whole, part) = (["--scale", "none", "--limit", rows], ["--scale", "none", "--limit", "100000"]);
    for (file, title, options, sweeps) in [
        ("covtype.scale01.libsvm.gz", covtype, &whole, REAL),
        ("covtype.scale01.libsvm.gz", few, &part, FEW_FEATURES),
        ("reuters4_sub.libsvm.gz", reuters, &whole, REAL),
    ] {
        let path = folder.join(file);
        if path.exists() {
            section(&mut text, title, &path, options, sweeps)?;
        } else {
            println!("skipped: {} is absent", path.display());
        }
    }
    let before = std::fs::read_to_string(page).unwrap_or_default();
    text += before.find(BY_HAND).map_or(BY_HAND, |at| &before[at..]);
    std::fs::write(page, text).map_err(|error| format!("{page}: {error}"))
}

/// A heading, a table and its commands.
fn section(
    text: &mut String,
    title: &str,
    file: &Path,
    options: &[&str],
    sweeps: &[Sweep],
) -> Result<(), String> {
    let (mut rows, mut commands, mut guessing) = (String::new(), String::new(), String::new());
    let data = file.display().to_string();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut compare = |learners: &str, set: &[String]| -> Result<Output, String> {
        let mut call = vec!["compare", data.as_str(), "--learners", learners, "--repeats", REPEATS];
        call.extend_from_slice(options);
        set.iter().for_each(|set| call.extend(["--set", set]));
        let shown = call.join(" ").replace(&data, &name);
        println!("noregret {shown}");
        let _ = writeln!(commands, "    noregret {shown}");
        call.push("--json");
        let output = Output::read(&noregret(&call)?).map_err(|error| format!("{data}: {error}"))?;
        guessing = format!(
            "| guess: always the commonest class | | | {} | | |\n| guess: any class | | | {} | | |\n",
            fixed(&output.summary["majority_error_rate"]),
            fixed(&output.summary["uniform_error_rate"])
        );
        Ok(output)
    };
    for Sweep { learners, set, fast } in sweeps {
        let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
        let output = compare(learners, &set)?;
        let mut line = |settings: &[Value], learner: &str| -> Result<(), String> {
            rows += &best(settings, learner).ok_or_else(|| format!("{data}: no result of {learner}"))?;
            Ok(())
        };
        learners.split(',').try_for_each(|learner| line(&output.settings, learner))?;
        let mut settings = Vec::new();
        for exploration in fast.iter().map(|power| 2f64.powi(*power)) {
            let mut set: Vec<String> =
                set.iter().filter(|set| !set.starts_with("exploration=")).cloned().collect();
            set.push(format!("exploration={exploration}"));
            set.push(format!("rate={:.3e}", 100.0 * output.rate_at(exploration)?));
            settings.append(&mut compare(learners, &set)?.settings);
        }
        if !fast.is_empty() {
            line(&settings, learners)?;
        }
    }
    let _ = write!(
        text,
        "\n## {title}\n\n| learner | feedback | best setting | error | sd | greedy |\n|---|---|---|---:|---:|---:|\n\
         {rows}{guessing}\n{commands}"
    );
    Ok(())
}

/// The output of `noregret compare --json`.
struct Output {
    /// The first run.
    run: Value,
    summary: Value,
    settings: Vec<Value>,
}

impl Output {
    fn read(text: &str) -> Result<Self, String> {
        let line = |line: Option<&str>| -> Result<Value, String> {
            serde_json::from_str(line.unwrap_or_default()).map_err(|error| error.to_string())
        };
        let (run, summary) = (line(text.lines().next())?, line(text.lines().last())?);
        let settings = summary["settings"].as_array().cloned().unwrap_or_default();
        Ok(Self { run, summary, settings })
    }

    /// The theorem's rate of Gaptron, which is proportional to the exploration if the ball has no effect.
    fn rate_at(&self, exploration: f64) -> Result<f64, String> {
        let number = |name: &str| self.run["resolved_parameters"][name].as_f64();
        let scaled = number("rate").zip(number("exploration")).map(|(rate, at)| rate * exploration / at);
        scaled.ok_or_else(|| format!("{}: no rate", self.run["learner"]))
    }
}

/// The table row of the best setting of `learner`. A value at the end of the grid is marked, since the best
/// value may be beyond.
fn best(settings: &[Value], learner: &str) -> Option<String> {
    let all: Vec<&Value> = settings.iter().filter(|one| one["learner"] == learner).collect();
    let error = |one: &Value| one["error_rate"]["mean"].as_f64().unwrap_or(f64::INFINITY);
    let best = all.iter().copied().min_by(|a, b| error(a).total_cmp(&error(b)))?;
    let mut words = Vec::new();
    for (name, value) in best["settings"].as_object()?.iter().filter(|(name, _)| *name != "mode") {
        let numbers: Vec<f64> = all.iter().filter_map(|one| one["settings"][name].as_f64()).collect();
        let end = value.as_f64().is_some_and(|value| {
            let beyond = |less: bool| !numbers.iter().any(|n| if less { *n < value } else { *n > value });
            numbers.iter().any(|n| *n != value) && (beyond(true) || beyond(false))
        });
        let value = value.as_str().map_or_else(|| power(value), str::to_owned);
        let remark = match &**name {
            "rate" => " (100 times the theorem's)",
            _ if end => " (end of the grid)",
            _ => "",
        };
        words.push(format!("{name}={value}{remark}"));
    }
    let feedback = if best["feedback"] == "bandit" { "right or wrong" } else { "the label" };
    Some(format!(
        "| `{learner}` | {feedback} | {} | {} | {} | {} |\n",
        words.join(", "),
        fixed(&best["error_rate"]["mean"]),
        if best["repeats"] == 1 { String::new() } else { fixed(&best["error_rate"]["sd"]) },
        fixed(&best["greedy_error_rate"]["mean"]),
    ))
}

/// A power of two as such, another number as it is.
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
        let line = best(&inside, "soba").expect("there are three");
        assert_eq!(
            line,
            "| `soba` | right or wrong | exploration=2^-2, norm=3 | 0.2000 | 0.2500 | 0.5000 |\n"
        );
        let ends = [one("soba", 0.1, 0.1), one("soba", 0.25, 0.2)];
        let line = best(&ends, "soba").expect("there are two");
        assert!(line.contains("exploration=0.1 (end of the grid), norm=3 |"), "{line}");
        assert_eq!(best(&ends, "ogd"), None);
    }
}
