//! Papers and code, both ways: every registered algorithm has a reference, and its code cites the equations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use noregret::registry::ALGORITHMS;

/// All Rust files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The one source file that declares `name`, with its text.
fn source_of(name: &str) -> (PathBuf, String) {
    let declaration = format!("name: \"{name}\"");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let texts = sources(&root).into_iter().map(|path| {
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    });
    let mut declaring: Vec<_> = texts.filter(|(_, text)| text.contains(&declaration)).collect();
    assert_eq!(declaring.len(), 1, "files with {declaration}: {declaring:#?}");
    declaring.swap_remove(0)
}

/// The module's documentation, and the text of its section `title`.
fn header(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    lines.map(|line| line.trim_start_matches("//!").trim()).collect::<Vec<_>>().join("\n")
}

fn section<'a>(header: &'a str, title: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("\n## {title}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest).trim())
}

/// The content of the parentheses of every `eq. (…)` at the end of a line of code.
fn cited_equations(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//!"));
    code.flat_map(|line| line.split("eq. (").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(number, _)| number.to_owned())
        .collect()
}

/// The comments of the module at `path` and of those below it, without their headers.
fn comments(path: &Path) -> String {
    let is_root = path.file_name().is_some_and(|name| name == "mod.rs");
    let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
    let mut files = if folder.is_dir() { sources(&folder) } else { Vec::new() };
    files.push(path.to_owned());
    let texts = files.iter().map(|path| std::fs::read_to_string(path).expect("it was listed"));
    let text: String = texts.collect();
    let lines = text.lines().filter(|line| !line.starts_with("//!"));
    lines.filter_map(|line| Some(line.split_once("//")?.1)).collect::<Vec<_>>().join("\n")
}

fn bibliography() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../references.bib");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_algorithm_has_its_sections() {
    for entry in ALGORITHMS {
        let (path, text) = source_of(entry.about.name);
        let header = header(&text);
        let path = path.display();
        assert!(header.starts_with("# "), "{path}: the module needs a title");
        for title in ["Reference", "Symbols", "Deviations", "Cost"] {
            let section = section(&header, title);
            assert!(
                section.is_some_and(|text| !text.is_empty()),
                "{path}: the section '{title}' is missing or empty"
            );
        }
        let symbols = section(&header, "Symbols").unwrap_or_default();
        assert!(symbols.contains("|---|---|---|"), "{path}: the symbols are no table of three columns");
    }
}

#[test]
fn every_algorithm_cites_equations_that_its_header_states() {
    for entry in ALGORITHMS {
        let (path, text) = source_of(entry.about.name);
        let (comments, header) = (comments(&path), header(&text));
        let (path, cited) = (path.display(), cited_equations(&text));
        assert!(!cited.is_empty(), "{path}: no line of code cites its equation");
        for number in cited {
            let stated = header.contains(&format!("\\tag{{{number}}}"));
            assert!(
                stated,
                "{path}: equation ({number}) is cited, and no equation of the header has that tag"
            );
        }
        let stated = header.split("\\tag{").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
        for number in stated {
            assert!(comments.contains(&format!("({number})")), "{path}: no code is said to be ({number})");
        }
    }
}

#[test]
fn every_paper_is_in_the_bibliography() {
    let bibliography = bibliography();
    for entry in ALGORITHMS {
        let key = entry.about.paper.key;
        let name = entry.about.name;
        assert!(bibliography.contains(&format!("{{{key},\n")), "{name}: references.bib has no '{key}'");
        let (path, text) = source_of(name);
        let reference = section(&header(&text), "Reference").unwrap_or_default().to_owned();
        let path = path.display();
        assert!(
            reference.contains(&format!("`{key}`")),
            "{path}: the section 'Reference' does not name '{key}'"
        );
    }
}

#[test]
fn the_bibliography_is_well_formed() {
    let bibliography = bibliography();
    let mut keys = BTreeSet::new();
    for entry in bibliography.split("\n@").skip(1) {
        let (kind, rest) = entry.split_once('{').expect("an entry has a kind");
        let (key, fields) = rest.split_once(',').expect("an entry has a key");
        assert!(keys.insert(key.to_owned()), "'{key}' stands twice");
        let venue = match kind {
            "article" => "journal",
            "inproceedings" => "booktitle",
            other => panic!("'{key}': unknown kind '{other}'"),
        };
        for field in ["author", "title", "year", venue] {
            assert!(fields.contains(&format!("\n  {field} = {{")), "'{key}' has no {field}");
        }
        let year: String = key.chars().filter(char::is_ascii_digit).collect();
        assert!(fields.contains(&format!("\n  year = {{{}}}", &year[..4])), "'{key}' is of another year");
        let (open, close) = (entry.matches('{').count(), entry.matches('}').count());
        assert_eq!(open, close, "'{key}': braces do not match");
    }
    assert!(keys.len() >= 20, "{} entries", keys.len());
}
