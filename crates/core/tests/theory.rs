//! The project's mathematics and the code, both ways: every citation of `docs/theory` refers to an existing
//! item, and every numbered item is cited or marked as background.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The kinds of numbered items.
const KINDS: [&str; 7] =
    ["Definition", "Algorithm", "Theorem", "Lemma", "Proposition", "Corollary", "Example"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `folder` whose names end with one of `ends`.
fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder can be listed").path();
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        if path.is_dir() && !["target", "__pycache__"].contains(&name.as_str()) && !name.starts_with('.') {
            files(&path, ends, found);
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

/// The numbers of a page of `docs/theory`: sections as "3", items as "3.2", and whether they are background.
fn numbered(page: &Path) -> BTreeMap<String, bool> {
    let (mut found, mut section, mut last) = (BTreeMap::new(), 0, 0);
    for line in text(page).lines() {
        let what = format!("{}: '{line}'", page.display());
        if let Some(number) = line.strip_prefix("## ").and_then(|title| title.split(' ').next()?.parse().ok())
        {
            assert_eq!(section + 1, number, "{what}: sections are numbered in order");
            (section, last) = (number, 0);
            found.insert(number.to_string(), true);
        }
        let item = KINDS.iter().find_map(|kind| line.strip_prefix(&format!("**{kind} ")));
        let Some((number, rest)) = item.and_then(|rest| rest.split_once("**")) else { continue };
        let number = number.trim_end_matches('.');
        assert_eq!(number, format!("{section}.{}", last + 1), "{what}: items are numbered in order");
        last += 1;
        found.insert(number.to_owned(), rest.trim_start().starts_with("(background"));
    }
    found
}

/// The pages and numbers after every `theory: ` of `text`, such as `theory: folklore 2.1, 2.3, aioli 1.2`.
fn citations(text: &str) -> Vec<(String, String)> {
    // A citation may go on in the next line of a comment.
    let words = text.lines().flat_map(|line| {
        let line = line.trim_start();
        let comment = ["//!", "///", "//", "#"].iter().find_map(|sign| line.strip_prefix(sign));
        comment.unwrap_or(line).split_whitespace()
    });
    let (mut found, mut words) = (Vec::new(), words.peekable());
    while let Some(word) = words.next() {
        if !word.trim_start_matches(['(', '`']).eq("theory:") {
            continue;
        }
        let mut page = String::new();
        while let Some(word) = words.peek() {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if bare.starts_with(|c: char| c.is_ascii_digit()) && !page.is_empty() {
                found.push((page.clone(), bare.to_owned()));
                let more = word.strip_prefix(bare) == Some(",");
                words.next();
                if !more {
                    break;
                }
            } else if bare == "and"
                || bare.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !bare.is_empty()
            {
                if bare != "and" {
                    page = bare.to_owned();
                }
                words.next();
            } else {
                break;
            }
        }
    }
    found
}

#[test]
fn citations_are_read() {
    let text = "//! as (theory: folklore 2.1,\n//! 2.3, aioli 3). Then theory:\n//! curvature 4.1; theory: nothing here.";
    let want = [("folklore", "2.1"), ("folklore", "2.3"), ("aioli", "3"), ("curvature", "4.1")];
    assert_eq!(citations(text), want.map(|(page, number)| (page.to_owned(), number.to_owned())));
}

#[test]
fn theory_and_code_cite_each_other() {
    let root = root();
    let mut pages = Vec::new();
    files(&root.join("docs/theory"), &[".md"], &mut pages);
    let numbers: BTreeMap<String, BTreeMap<String, bool>> = pages
        .iter()
        .map(|page| (page.file_stem().expect("a name").to_string_lossy().into_owned(), numbered(page)))
        .collect();
    assert!(numbers.len() >= 15, "pages: {:?}", numbers.keys());

    let mut code = Vec::new();
    for folder in ["crates", "bindings/python", "experiments", "benches", "fuzz", "xtask", "testdata"] {
        files(&root.join(folder), &[".rs", ".py"], &mut code);
    }
    let mut prose = pages.clone();
    prose.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "testdata/README.md"].map(|file| root.join(file)),
    );
    files(&root.join("results"), &[".md"], &mut prose);

    let (mut cited, mut broken) = (BTreeSet::new(), Vec::new());
    for file in code.iter().chain(&prose) {
        if file.ends_with("tests/theory.rs") || file.ends_with("theory/README.md") {
            continue;
        }
        for (page, number) in citations(&text(file)) {
            if numbers.get(&page).is_none_or(|page| !page.contains_key(&number)) {
                broken.push(format!("{}: theory: {page} {number}", file.display()));
            } else if code.contains(file) {
                cited.insert((page, number));
            }
        }
    }
    assert!(broken.is_empty(), "these lead nowhere:\n{}", broken.join("\n"));

    let uncited: Vec<String> = numbers
        .iter()
        .flat_map(|(page, numbers)| {
            numbers.iter().map(move |(number, background)| (page, number, background))
        })
        .filter(|(page, number, background)| {
            !**background && !cited.contains(&((*page).clone(), (*number).clone()))
        })
        .map(|(page, number, _)| format!("{page} {number}"))
        .collect();
    assert!(uncited.is_empty(), "no code cites these, and they are not marked (background): {uncited:?}");
}

/// `theorems.md` lists every theorem of the other pages, and no other; the tests that it names are there.
#[test]
fn every_theorem_is_listed() {
    let folder = root().join("docs/theory");
    let mut listed = BTreeSet::new();
    for line in text(&folder.join("theorems.md")).lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line[2..].split(" | ").collect();
        for file in cells[3].split('`').skip(1).step_by(2) {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file} of {line}");
        }
        let cell = cells[0].replace(',', "");
        let mut words = cell.split_whitespace();
        let page = words.next().expect("a page").split(']').next().expect("a name").trim_start_matches('[');
        listed.extend(words.map(|number| format!("{page} {number}")));
    }
    let mut pages = Vec::new();
    files(&folder, &[".md"], &mut pages);
    let mut proved = BTreeSet::new();
    for page in pages {
        let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let numbers = text(&page);
        let numbers = numbers.lines().filter_map(|line| line.strip_prefix("**Theorem ")?.split("**").next());
        proved.extend(numbers.map(|number| format!("{name} {}", number.trim_end_matches('.'))));
    }
    assert!(proved.len() > 40, "{proved:?}");
    assert_eq!(listed, proved);
}
