//! What ARCHITECTURE.md and the README say of the tree.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(file: &str) -> String {
    read_to_string(root().join(file)).expect(file)
}

/// The files below `folder` with this ending, by their paths from the root.
fn all(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in read_dir(root().join(folder)).expect(folder) {
        let entry = entry.expect("an entry");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(all(&path, ending));
        } else if path.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The same without tests.
fn files(folder: &str, ending: &str) -> Vec<String> {
    all(folder, ending).into_iter().filter(|path| !path.contains("test")).collect()
}

/// The folders of stream and of all fronts.
fn above_core() -> Vec<String> {
    let crates = read_dir(root().join("crates")).expect("crates");
    let mut names: Vec<String> =
        crates.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let folders = names.iter().filter(|name| *name != "core").map(|name| format!("crates/{name}/src"));
    folders.chain(["bindings/python/src".to_owned()]).collect()
}

/// The lines of a file before its tests, without comments.
fn lines(file: &str) -> Vec<String> {
    let text = text(file);
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
}

/// The words in back ticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_map_names_what_is_there() {
    let map = text("ARCHITECTURE.md");
    for row in map.lines().filter(|line| line.starts_with("| `")) {
        let (places, what) = row[1..].split_once(" | ").expect("two cells");
        let places = quoted(places);
        for place in &places {
            assert!(root().join(place).exists(), "{place}");
        }
        for name in quoted(what).into_iter().filter(|name| name.ends_with(".rs") || name.ends_with('/')) {
            let there = |place: &&str| root().join(place).join(name).exists();
            assert!(places.iter().any(there) || root().join(name).exists(), "{name} in {places:?}");
        }
    }
    for path in quoted(&map).into_iter().filter(|word| word.starts_with("crates/") && !word.contains('*')) {
        assert!(root().join(path).exists(), "{path}");
    }
}

#[test]
fn every_file_says_what_it_is() {
    let folders =
        above_core().into_iter().chain(["crates/core/src".to_owned(), "experiments/src".to_owned()]);
    for file in folders.flat_map(|folder| files(&folder, ".rs")) {
        assert!(text(&file).starts_with("//! "), "{file}");
    }
    for package in ["cli/src/lib", "core/src/lib", "serve/src/lib", "stream/src/lib", "stream/src/read/mod"] {
        let text = text(&format!("crates/{package}.rs"));
        let head: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let module = |line: &str| Some(line.strip_suffix(';')?.split_once("mod ")?.1.to_owned());
        for name in text.lines().filter_map(module).filter(|name| name != "testing") {
            assert!(head.contains(&format!("`{name}`")), "{package} does not name {name}");
        }
    }
}

#[test]
fn no_file_has_more_than_600_lines() {
    for folder in
        ["crates", "experiments", "benches", "xtask", "bindings/python/src", "bindings/python/python"]
    {
        for file in [".rs", ".py"].iter().flat_map(|ending| all(folder, ending)) {
            let lines = text(&file).lines().count();
            assert!(lines <= 600, "{file}: {lines} lines");
        }
    }
}

#[test]
fn core_knows_no_files_clocks_or_threads() {
    for file in files("crates/core/src", ".rs") {
        for word in ["std::fs", "std::net", "std::time", "std::thread", "std::process", "println!"] {
            assert!(!lines(&file).iter().any(|line| line.contains(word)), "{file}: {word}");
        }
    }
}

/// Of the rest of core, shared mathematics knows rows, threads, and how numbers are saved.
#[test]
fn kernels_know_no_labels_files_or_algorithms() {
    let known = ["kernel::", "example::Features;", "example::{Batch, Features};", "parallel::", "state::"];
    for file in files("crates/core/src/kernel", ".rs") {
        for line in lines(&file) {
            let Some(import) = line.trim_start().strip_prefix("use crate::") else { continue };
            assert!(known.iter().any(|known| import.starts_with(known)), "{file}: {line}");
        }
    }
}

/// The files of libraries and fronts that read a clock.
const CLOCKS: [&str; 19] = [
    "crates/cli/src/checkpoint.rs",
    "crates/cli/src/cmd/calibrate.rs",
    "crates/cli/src/cmd/replay.rs",
    "crates/cli/src/progress.rs",
    "crates/serve/src/api/rounds.rs",
    "crates/serve/src/app.rs",
    "crates/serve/src/connections.rs",
    "crates/serve/src/hub.rs",
    "crates/serve/src/journal.rs",
    "crates/serve/src/model/continued.rs",
    "crates/serve/src/model/handle.rs",
    "crates/serve/src/model/shared.rs",
    "crates/serve/src/model/writer.rs",
    "crates/serve/src/model/writer/expiry.rs",
    "crates/serve/src/model/writer/rest.rs",
    "crates/serve/src/nodes/lease.rs",
    "crates/serve/src/nodes/mod.rs",
    "crates/serve/src/personalizer/mod.rs",
    "bindings/python/src/signals.rs",
];

#[test]
fn clocks_are_read_where_the_map_says() {
    let reads = |file: &String| {
        lines(file).iter().any(|line| line.contains("Instant::now") || line.contains("SystemTime::now"))
    };
    let found: Vec<String> =
        above_core().iter().flat_map(|folder| files(folder, ".rs")).filter(reads).collect();
    assert_eq!(found, CLOCKS);
}

/// Else readers and logs of decisions would import each other in a circle of forty files.
#[test]
fn only_readers_that_recognise_a_log_hand_it_over() {
    let knows = |file: &String| lines(file).iter().any(|line| line.contains("crate::decisions::"));
    let found: Vec<String> = files("crates/stream/src/read", ".rs").into_iter().filter(knows).collect();
    assert_eq!(found, ["ndjson", "open", "parquet"].map(|name| format!("crates/stream/src/read/{name}.rs")));
}

#[test]
fn no_front_knows_a_learner_by_name_or_makes_an_encoder() {
    let page = text("docs/which-learner.md");
    let table = page.split_once("<!-- learners:").expect("the table").1;
    let names: Vec<&str> =
        table.lines().filter_map(|line| quoted(line.strip_prefix("| ")?).first().copied()).collect();
    assert!(names.len() > 30, "{names:?}");
    let folders = above_core();
    let rust = folders.iter().flat_map(|folder| files(folder, ".rs"));
    for file in rust.chain(files("bindings/python/python/noregret", ".py")) {
        for line in lines(&file) {
            for name in &names {
                for matched in [format!("name == \"{name}\""), format!("name != \"{name}\"")] {
                    assert!(!line.contains(&matched), "{file}: {line}");
                }
            }
            // Stream has the builder; the Python package measures rows with it.
            let front = !file.starts_with("crates/stream") && !file.ends_with("python/src/survey.rs");
            assert!(!(front && line.contains(" Encoder::new(")), "{file}: {line}");
        }
    }
}

/// Two screens, and what can be read in a few minutes.
#[test]
fn the_map_and_the_readme_are_short() {
    let (map, readme) = (text("ARCHITECTURE.md"), text("README.md"));
    assert!(map.lines().count() <= 110, "{} lines", map.lines().count());
    assert!(readme.split_whitespace().count() <= 1500, "{} words", readme.split_whitespace().count());
}
