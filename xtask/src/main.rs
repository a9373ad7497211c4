//! Developer tasks: `cargo xtask TASK`. Needs nothing but a Rust toolchain.

#![allow(clippy::print_stdout, reason = "a task reports to the terminal")]

mod bandit_tables;
mod boosting;
mod crates;
mod docs;
mod packages;
mod python;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask TASK

  test     formatting, lints, documentation, and every test, slow ones included: what CI runs; with a Python, the
           package's too
  python   the Python package alone: lints, a wheel in an environment of its own, its tests
  wheel    builds the Python package for users, into target/python/wheels
  crates   packs the crates as a registry gets them, and builds each from its package
  packages builds what a release consists of, into target/packages: an archive with the program, manual pages and
           completions; wheels for every Linux; a source distribution that builds without a network; checks each
  docs     builds the documentation site, into target/docs; dead links among its pages are errors
  results  runs the real data sets and writes results/real-data.md
           cargo xtask results [FOLDER]   (FOLDER: default ../shared/data)
  bandit-tables
           sweeps the bandit learners over synthetic and real streams and writes results/bandit.md, in roughly
           20 minutes of one free core for a million rows
           cargo xtask bandit-tables [FOLDER [ROWS [PAGE]]]   (default ../shared/data 1000000 results/bandit.md)
  boosting the same as results for boosting, in results/boosting.md
";

/// Where the data sets are.
const DATA: &str = "../shared/data";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("test") => test().and_then(|absent| {
            docs::build()?;
            python::test()?;
            println!("{}", went_without(&std::fs::read_to_string(absent).unwrap_or_default()));
            Ok(())
        }),
        Some("python") => {
            cargo(&["build", "--quiet", "--workspace", PARQUET], &[]).and_then(|()| python::test())
        }
        Some("wheel") => python::release(),
        Some("crates") => crates::check(),
        Some("packages") => packages::build(),
        Some("docs") => docs::build(),
        Some("results") => results(args.next().unwrap_or_else(|| DATA.to_owned()).as_ref()),
        Some("bandit-tables") => bandit_tables::write(&args.collect::<Vec<_>>()),
        Some("boosting") => boosting::results(args.next().unwrap_or_else(|| DATA.to_owned()).as_ref()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

/// Switches on the reader of Parquet.
const PARQUET: &str = "--features=noregret-cli/parquet";

/// Everything that must hold before a change lands. Returns the file that lists the data sets that tests went
/// without.
fn test() -> Result<PathBuf, String> {
    let absent = std::env::current_dir().map_err(|error| error.to_string())?.join("target/absent-data.txt");
    match std::fs::remove_file(&absent) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {error}", absent.display()));
        }
        _ => {}
    }
    let tests = [("NOREGRET_ABSENT_DATA", absent.to_str().ok_or("the path of the project is not UTF-8")?)];
    cargo(&["fmt", "--all", "--check"], &[])?;
    // Without the optional parts, then with them.
    cargo(&["clippy", "--workspace", "--no-default-features", "--quiet", "--", "-D", "warnings"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", PARQUET, "--quiet", "--", "-D", "warnings"], &[])?;
    cargo(&["doc", "--workspace", "--no-deps", PARQUET, "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    // Nextest runs tests of different binaries side by side; the plain runner does without an installation.
    if Command::new("cargo")
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        cargo(&["nextest", "run", "--workspace", PARQUET, "--run-ignored", "all", "--no-fail-fast"], &tests)?;
        cargo(&["test", "--workspace", PARQUET, "--doc", "--quiet"], &[])?;
    } else {
        cargo(&["test", "--workspace", PARQUET, "--", "--include-ignored"], &tests)?;
    }
    Ok(absent)
}

/// One line on the data sets that tests went without: `list` has a line each, the test and the data set.
fn went_without(list: &str) -> String {
    let (tests, sets): (BTreeSet<_>, BTreeSet<_>) =
        list.lines().filter_map(|line| line.split_once('\t')).unzip();
    if tests.is_empty() {
        return "data sets: all that tests ask for are there".to_owned();
    }
    let sets: Vec<&str> = sets.into_iter().collect();
    let check = if tests.len() == 1 { "1 test checks" } else { &format!("{} tests check", tests.len()) };
    format!("data sets absent: {}; {check} less (testdata/README.md says where they belong)", sets.join(", "))
}

/// One line of the table of results: a data set, and the sizes at which full matrices are affordable.
struct Set {
    file: &'static str,
    learners: &'static [&'static str],
}

const BOTH: &[&str] = &["ogd", "folklore"];
const FIRST_ORDER: &[&str] = &["ogd"];

const SETS: &[Set] = &[
    Set { file: "vehicle.scale.libsvm.gz", learners: BOTH },
    Set { file: "vehicle.csv.gz", learners: BOTH },
    Set { file: "segment.scale.libsvm.gz", learners: BOTH },
    Set { file: "segment.csv.gz", learners: BOTH },
    Set { file: "shuttle.libsvm.gz", learners: BOTH },
    Set { file: "shuttle.csv.gz", learners: BOTH },
    Set { file: "pendigits.libsvm.gz", learners: BOTH },
    Set { file: "letter.scale.libsvm.gz", learners: BOTH },
    Set { file: "satimage.scale.libsvm.gz", learners: BOTH },
    Set { file: "electricity.libsvm.gz", learners: BOTH },
    Set { file: "covtype.scale01.libsvm.gz", learners: BOTH },
    Set { file: "covtype.csv.gz", learners: BOTH },
    Set { file: "kdd99_10pct.libsvm.gz", learners: FIRST_ORDER },
    Set { file: "reuters4_sub.libsvm.gz", learners: FIRST_ORDER },
];

/// Runs every data set that is there, with the defaults, and writes down what came out.
fn results(data: &Path) -> Result<(), String> {
    build()?;
    let mut rows = String::new();
    for set in SETS {
        let path = data.join(set.file);
        if !path.exists() {
            println!("skipped: {} is absent", path.display());
            continue;
        }
        for learner in set.learners {
            let command = format!("noregret run {} --learner {learner}", set.file);
            println!("{command}");
            let summary = measure(&path, &format!("--learner {learner}"))?;
            let number = |key: &str| summary.number(key);
            rows += &format!(
                "| {} | {learner} | {} | {} | {} | {:.4} | {:.4} | {:.0} | {} |\n",
                set.file,
                number("rounds"),
                number("classes"),
                number("features"),
                number("error_rate"),
                number("log_loss"),
                number("rows_per_second"),
                summary.peak_memory,
            );
        }
    }
    let page = format!(
        "# Real data, default settings\n\n\
         Written by `cargo xtask results`: every row is `noregret run FILE --learner LEARNER` with nothing else, one\n\
         pass in file order, each prediction made before its label was seen. Features include the intercept. Rates and\n\
         log-loss (nats) are means over the whole pass; rows a second are those of the learning pass, decompression and\n\
         parsing included, on a shared machine with two cores; memory is the peak of the process.\n\n\
         | file | learner | rounds | K | d | error rate | log-loss | rows/s | peak memory |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n{rows}"
    );
    std::fs::create_dir_all("results").map_err(|error| error.to_string())?;
    std::fs::write("results/real-data.md", page).map_err(|error| error.to_string())
}

/// The last line of `--json`, of which a few numbers are needed.
struct Summary {
    text: String,
    peak_memory: String,
}

impl Summary {
    /// The first number called `key`.
    fn number(&self, key: &str) -> f64 {
        let pattern = format!("\"{key}\":");
        let rest = self.text.split_once(&pattern).map_or("", |(_, rest)| rest);
        rest.split([',', '}']).next().and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
    }
}

/// The program that is measured.
fn build() -> Result<(), String> {
    cargo(&["build", "--profile", "dist", "--quiet", "--package", "noregret-cli"], &[])
}

fn measure(data: &Path, arguments: &str) -> Result<Summary, String> {
    let binary = PathBuf::from("target/dist/noregret");
    // /usr/bin/time is not everywhere; where it is missing the memory column stays empty.
    let timed = Path::new("/usr/bin/time").exists();
    let mut command = if timed {
        let mut command = Command::new("/usr/bin/time");
        command.args(["-f", "peak %M"]).arg(&binary);
        command
    } else {
        Command::new(&binary)
    };
    let output = command.arg("run").arg(data).args(arguments.split_whitespace()).arg("--json").output();
    let output = output.map_err(|error| format!("{}: {error}", binary.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {errors}", data.display()));
    }
    let peak =
        errors.lines().find_map(|line| line.strip_prefix("peak ")).and_then(|kib| kib.parse::<f64>().ok());
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default().to_owned();
    Ok(Summary {
        text: last,
        peak_memory: peak.map_or_else(String::new, |kib| format!("{:.0} MiB", kib / 1024.0)),
    })
}

fn cargo(args: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    run(Command::new("cargo").args(args).envs(environment.iter().copied()))
}

/// Runs a program, and shows how it is called.
fn run(command: &mut Command) -> Result<(), String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    println!("$ {words}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{words}: {status}")),
        Err(error) => Err(format!("{words}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Rust files of a folder.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of the project") {
            let path = entry.expect("an entry of the folder").path();
            let hidden =
                path.file_name().is_some_and(|name| name == "target" || name.as_encoded_bytes()[0] == b'.');
            if path.is_dir() && !hidden {
                sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }

    /// The formatter breaks lines of code, and leaves those of comments. Formulas, tables and addresses
    /// cannot be broken.
    #[test]
    fn comments_are_no_wider_than_the_code() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the project");
        let settings = std::fs::read_to_string(root.join("rustfmt.toml")).expect("the formatter's settings");
        let width = settings.lines().find_map(|line| line.strip_prefix("max_width = ")?.parse().ok());
        let width: usize = width.expect("a width");
        let mut files = vec![];
        sources(root, &mut files);
        assert!(files.len() > 200, "{} files", files.len());
        let mut wide = vec![];
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a file of text");
            for (at, line) in text.lines().enumerate() {
                let comment = line.trim_start().trim_start_matches(['/', '!']).trim_start();
                let is_comment = line.trim_start().starts_with("//");
                let whole = ["$$", "|", "["].iter().any(|begin| comment.starts_with(begin))
                    || comment.contains("://");
                if is_comment && !whole && line.chars().count() > width {
                    wide.push(format!("{}:{}", file.display(), at + 1));
                }
            }
        }
        assert!(wide.is_empty(), "comments wider than {width} characters:\n{}", wide.join("\n"));
    }
}
