//! A folder to work in, the program run in it, and small streams to feed it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A folder that the program runs in, so that messages name files as the test does.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run of the program left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// A file of text.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Names of the files in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program with arguments that are separated by blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("noregret"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs the program with `input` on standard input.
    pub(crate) fn run_with(&self, arguments: &str, input: impl AsRef<[u8]> + Send) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // The program need not read all of it.
            scope.spawn(move || stdin.write_all(input.as_ref()).ok());
            child.wait_with_output().unwrap()
        });
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.stderr.contains("panicked") && ran.code >= 0, "{arguments}: {}", ran.stderr);
        ran
    }

    /// Runs `noregret run … --json --quiet` and returns the summary.
    pub(crate) fn summary(&self, arguments: &str) -> Value {
        self.run(&format!("run {arguments} --json --quiet")).succeeded().summary()
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    /// Ended with `code`, one sentence, and no result.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, sentence: &str) {
        assert_eq!(self.stdout, "", "a failed run has no result");
        self.complained(code, sentence);
    }

    /// Ended with `code` and one sentence, maybe after results of good rows.
    #[track_caller]
    pub(crate) fn complained(&self, code: i32, sentence: &str) {
        assert_eq!(
            self.stderr.lines().last(),
            Some(format!("noregret: {sentence}").as_str()),
            "{}",
            self.stderr
        );
        assert_eq!(self.stderr.matches("noregret: ").count(), 1, "{}", self.stderr);
        assert_eq!(self.code, code);
    }

    /// The JSON objects of standard output.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The error rate that `predict` tells.
    #[track_caller]
    pub(crate) fn error_rate(&self) -> f64 {
        let (_, rest) = self.stderr.split_once("error rate ").unwrap();
        rest.split([',', ' ']).next().unwrap().parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        let last = self.objects().pop().unwrap();
        assert_eq!(last["type"], "summary");
        last
    }
}

/// Labels and dense rows in which the label shows; the same for the same arguments. Values are multiples of
/// 1/16, none is 0, and the first rows have the classes in order.
pub(crate) fn rows(count: usize, classes: usize, features: usize) -> Vec<(usize, Vec<f64>)> {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..count)
        .map(|row| {
            let label = if row < classes { row } else { random(classes as u64) as usize };
            let value = |feature| {
                let noise = random(15) as f64 / 8.0 - 0.9375;
                noise + if feature % classes == label { 1.5 } else { 0.0 }
            };
            (label, (0..features).map(value).collect())
        })
        .collect()
}

/// The rows as LIBSVM text, labels `c0`, `c1`, …
pub(crate) fn libsvm(rows: &[(usize, Vec<f64>)]) -> String {
    let mut text = String::new();
    for (label, x) in rows {
        write!(text, "c{label}").unwrap();
        (1..).zip(x).for_each(|(index, value)| write!(text, " {index}:{value}").unwrap());
        text.push('\n');
    }
    text
}

/// Compressed by gzip.
pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}
