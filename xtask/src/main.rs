//! Developer tasks: `cargo xtask TASK`. A Rust toolchain is sufficient.

#![allow(clippy::print_stdout, reason = "a task reports to the terminal")]

mod bandit_tables;
mod boosting;
mod crates;
mod docs;
mod files;
mod musl;
mod packages;
mod python;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask TASK

  test     formatting, lints, documentation and all tests, including slow ones, as in CI; with Python, also those of the
           Python package
  python   the Python package: lints, a wheel in a virtual environment, its tests
  wheel    builds the Python package for users, into target/python/wheels
  crates   packages the published crates, and builds each from its package
  packages builds and checks all files of a release, into target/packages: an archive with the program, manual pages
           and completions; wheels for Linux with glibc and with musl (what this needs: docs/start/install.md); a source
           distribution that builds without a network
  docs     builds the documentation site, into target/docs; dead links between its pages are errors
  results  measures learners on the real data sets, and writes results/real-data.md
           cargo xtask results [FOLDER]   (FOLDER: default ../shared/data)
  bandit-tables
           compares the bandit learners on synthetic and real streams, and writes results/bandit.md, in about 20 minutes
           of one core for a million rows
           cargo xtask bandit-tables [FOLDER [ROWS [PAGE]]]   (default ../shared/data 1000000 results/bandit.md)
  boosting measures boosting on the real data sets, and writes results/boosting.md
";

/// The folder of the data sets.
const DATA: &str = "../shared/data";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("test") => test().and_then(|absent| {
            docs::build()?;
            python::test()?;
            println!("{}", absent_things(&std::fs::read_to_string(absent).unwrap_or_default()));
            Ok(())
        }),
        Some("python") => {
            cargo(&["build", "--quiet", "--workspace", OPTIONAL], &[]).and_then(|()| python::test())
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

/// The optional features: downloads, and Parquet.
const OPTIONAL: &str = "--features=noregret-cli/fetch,noregret-cli/parquet";

/// All checks before a change is merged. Returns the file with the list of data sets and programs
/// that were absent in tests.
fn test() -> Result<PathBuf, String> {
    let absent = std::env::current_dir().map_err(|error| error.to_string())?.join("target/absent.txt");
    match std::fs::remove_file(&absent) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {error}", absent.display()));
        }
        _ => {}
    }
    let tests = [("NOREGRET_ABSENT", absent.to_str().ok_or("the path of the project is not UTF-8")?)];
    cargo(&["fmt", "--all", "--check"], &[])?;
    // Without the optional features, then with them.
    cargo(&["clippy", "--workspace", "--no-default-features", "--quiet", "--", "-D", "warnings"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", OPTIONAL, "--quiet", "--", "-D", "warnings"], &[])?;
    cargo(&["doc", "--workspace", "--no-deps", OPTIONAL, "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    // Nextest runs tests of different binaries in parallel; without an installation, the plain runner is
    // used.
    if Command::new("cargo")
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        cargo(
            &["nextest", "run", "--workspace", OPTIONAL, "--run-ignored", "all", "--no-fail-fast"],
            &tests,
        )?;
        cargo(&["test", "--workspace", OPTIONAL, "--doc", "--quiet"], &[])?;
    } else {
        cargo(&["test", "--workspace", OPTIONAL, "--", "--include-ignored"], &tests)?;
    }
    Ok(absent)
}

/// A sentence on what was absent in tests: each line of `list` has a test and a data set or a program.
fn absent_things(list: &str) -> String {
    let (tests, things): (BTreeSet<_>, BTreeSet<_>) =
        list.lines().filter_map(|line| line.split_once('\t')).unzip();
    if tests.is_empty() {
        return "data sets and programs: all are present".to_owned();
    }
    let things: Vec<&str> = things.into_iter().collect();
    let check = if tests.len() == 1 { "1 test checks" } else { &format!("{} tests check", tests.len()) };
    format!("ABSENT: {}; {check} less (testdata/README.md says where data sets belong)", things.join(", "))
}

/// A row of the table of results: a data set, and the sizes for which full matrices are affordable.
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

/// Runs every data set that is present, with the defaults, and writes the results.
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

/// The last line of `--json`, and the memory that the run took.
struct Summary {
    fields: serde_json::Value,
    peak_memory: String,
}

impl Summary {
    /// The number called `key`, or NaN.
    fn number(&self, key: &str) -> f64 {
        self.fields[key].as_f64().unwrap_or(f64::NAN)
    }
}

/// Builds the program that is measured.
fn build() -> Result<(), String> {
    cargo(&["build", "--profile", "dist", "--quiet", "--package", "noregret-cli"], &[])
}

fn measure(data: &Path, arguments: &str) -> Result<Summary, String> {
    let binary = PathBuf::from("target/dist/noregret");
    // The memory column is empty on systems without /usr/bin/time.
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
    let last = text.lines().last().unwrap_or_default();
    Ok(Summary {
        fields: serde_json::from_str(last).map_err(|error| format!("{}: {error}", data.display()))?,
        peak_memory: peak.map_or_else(String::new, |kib| format!("{:.0} MiB", kib / 1024.0)),
    })
}

fn cargo(args: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    run(Command::new("cargo").args(args).envs(environment.iter().copied()))
}

/// Runs a program, and prints its command line.
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

    /// The formatter breaks long lines of code, but not of comments. Formulas, tables and addresses cannot be
    /// broken.
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
