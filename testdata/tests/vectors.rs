//! Every vector is used by a test.

use std::path::Path;

/// The texts of the files below `folder` whose names end with `end`, one after another.
fn sources(folder: &Path, end: &str, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a file of the folder").path();
        if path.is_dir() {
            sources(&path, end, text);
        } else if path.to_string_lossy().ends_with(end) {
            text.push_str(&std::fs::read_to_string(&path).expect("sources are UTF-8"));
        }
    }
}

#[test]
fn every_vector_is_used() {
    let (root, mut text) = (noregret_testdata::path(".."), String::new());
    for crate_ in ["core", "stream", "cli"] {
        sources(&root.join("crates").join(crate_).join("src"), ".rs", &mut text);
        sources(&root.join("crates").join(crate_).join("tests"), ".rs", &mut text);
    }
    sources(&root.join("bindings/python/tests"), ".py", &mut text);
    let vectors = noregret_testdata::vectors();
    assert!(vectors.len() >= 50, "{} vectors", vectors.len());
    let unused: Vec<_> = vectors.iter().filter(|name| !text.contains(&format!("\"{name}\""))).collect();
    assert!(unused.is_empty(), "no test names {unused:?}");
}
