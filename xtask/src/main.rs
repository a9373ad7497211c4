//! Developer tasks: `cargo xtask TASK`. A Rust toolchain is sufficient.

#![allow(clippy::print_stdout, reason = "a task reports to the terminal")]

mod crates;
mod docs;
mod files;
mod musl;
mod packages;
mod python;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask TASK

  test     formatting, lints, documentation and all tests, including slow ones, as in CI; with Python, also those of the
           Python package
  python   the Python package: a wheel in a virtual environment, its tests
  wheel    builds the Python package for users, into target/python/wheels
  crates   packages the published crates, and builds each from its package
  packages builds and checks all files of a release, into target/packages: an archive with the program, manual pages
           and completions; wheels for Linux with glibc and with musl (what this needs: docs/start/install.md); a source
           distribution that builds without a network
  docs     builds the documentation site, into target/docs; dead links between its pages are errors
";

fn main() -> ExitCode {
    let done = match std::env::args().nth(1).as_deref() {
        Some("test") => test().and_then(|absent| {
            docs::build()?;
            python::test()?;
            println!("{}", absent_things(&std::fs::read_to_string(absent).unwrap_or_default()));
            Ok(())
        }),
        Some("python") => {
            // Of the whole workspace, so that the wheel takes the same crates.
            let build = ["build", "--quiet", "--workspace", "--bin", "noregret", OPTIONAL];
            cargo(&build, &[]).and_then(|()| python::test())
        }
        Some("wheel") => python::release(),
        Some("crates") => crates::check(),
        Some("packages") => packages::build(),
        Some("docs") => docs::build(),
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

/// The optional features: downloads, Parquet, Redis streams, several nodes with one log, and traces.
const OPTIONAL: &str = "--features=noregret-cli/fetch,noregret-cli/parquet,noregret-cli/postgres,noregret-cli/redis,noregret-cli/traces";

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
    // Without the optional features (all of which the Python package asks for), then with them.
    let bare = ["clippy", "--workspace", "--exclude", "noregret-python", "--no-default-features", "--quiet"];
    cargo(&[&bare[..], &["--", "-D", "warnings"]].concat(), &[])?;
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
    use std::path::Path;

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
