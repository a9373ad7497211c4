//! Data for tests: reference vectors, which are part of the project, and data sets, which are not.
//!
//! A missing vector is an error. A data set or a program may be absent: then the test that needs it checks
//! less, with a message on stderr and in the summary of `cargo xtask test`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The environment variable with the path of a file to which tests append the data sets and programs that
/// were absent, one in a line.
const ABSENT: &str = "NOREGRET_ABSENT";

/// The environment variable with the path of a folder that contains `data`, in place of `../shared`.
const SHARED: &str = "NOREGRET_SHARED";

/// The path of a file or folder below `testdata/`.
pub fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The reference `vectors/<name>.json`.
///
/// # Panics
///
/// If it cannot be read or is not JSON.
pub fn vector(name: &str) -> Value {
    let path = path(&format!("vectors/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all vectors.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn vectors() -> BTreeSet<String> {
    let folder = path("vectors");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = files.map(|file| file.expect("a file of the folder").file_name());
    names.filter_map(|name| Some(name.to_str()?.strip_suffix(".json")?.to_owned())).collect()
}

/// The path of a data set, or `None` if it is absent.
pub fn data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = std::env::var_os(SHARED).map_or_else(beside, PathBuf::from).join("data").join(name);
    if path.exists() {
        return Some(path);
    }
    absent(name, &format!("{SHARED} names the folder that has data/"));
    None
}

/// Says that `what`, a data set or a program, is absent, so that the calling test checks less: on stderr,
/// with the `remedy`, and in the summary of `cargo xtask test`.
///
/// # Panics
///
/// If the file of the summary cannot be written.
pub fn absent(what: &str, remedy: &str) {
    eprintln!("{what} is absent: this test checks less ({remedy})");
    if let Some(list) = std::env::var_os(ABSENT) {
        let thread = std::thread::current();
        // Under nextest each test is a process, otherwise a thread.
        let test = std::env::var("NEXTEST_TEST_NAME");
        let test = test.as_deref().unwrap_or_else(|_| thread.name().unwrap_or("a test"));
        let mut file =
            std::fs::OpenOptions::new().append(true).create(true).open(list).expect("the list can be opened");
        // One write of a short line, so that lines of concurrent tests do not mix.
        file.write_all(format!("{test}\t{what}\n").as_bytes()).expect("the list can be written");
    }
}

/// A JSON number.
///
/// # Panics
///
/// If `value` is not a number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A JSON number that is a count.
///
/// # Panics
///
/// If `value` is not an integer of at least 0.
pub fn count(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a count")) as usize
}

/// The items of a JSON array.
///
/// # Panics
///
/// If `value` is not an array.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is not an array"))
}

/// The numbers of a JSON array, with nested arrays flattened in order; a number counts as an array of one.
///
/// # Panics
///
/// If `value` contains anything else.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![number(other)],
    }
}

/// Whether `got` is within `tolerance`, absolute plus relative, of `want`.
pub fn is_close(got: f64, want: f64, tolerance: f64) -> bool {
    (got - want).abs() <= tolerance * (1.0 + want.abs())
}

/// Panics unless `got` is within `tolerance`, absolute plus relative, of `want`.
///
/// # Panics
///
/// If it is not; the message has `what` and both numbers.
#[track_caller]
pub fn assert_close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!(is_close(got, want, tolerance), "{what}: got {got}, want {want}");
}
