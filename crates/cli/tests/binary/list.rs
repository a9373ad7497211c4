//! `noregret list`: the catalogue.

use crate::util::Folder;

#[test]
fn all_learners() {
    insta::assert_snapshot!(Folder::new().run("list").succeeded().stdout);
}

#[test]
fn one_learner() {
    let folder = Folder::new();
    insta::assert_snapshot!("folklore", folder.run("list folklore").succeeded().stdout);
    insta::assert_snapshot!("ogd", folder.run("list ogd").succeeded().stdout);
}

#[test]
fn for_programs() {
    let folder = Folder::new();
    let all = folder.run("list --json").succeeded().objects();
    let plain = folder.run("list").succeeded().stdout;
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    for learner in &all {
        let name = learner["name"].as_str().unwrap();
        assert!(plain.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}");
        assert_eq!(
            folder.run(&format!("list {name} --json")).succeeded().objects(),
            std::slice::from_ref(learner)
        );
        let explained = folder.run(&format!("list {name}")).succeeded().stdout;
        let marks = ["$", "\\", "`"];
        let widest = explained.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 80, "{name} does not fit a terminal: {widest}");
        assert!(!marks.iter().any(|mark| explained.contains(mark)), "{name} speaks LaTeX: {explained}");
        for parameter in learner["parameters"].as_array().unwrap() {
            for key in ["name", "meaning", "default"] {
                assert!(!parameter[key].as_str().unwrap().is_empty(), "{name}: {parameter}");
            }
        }
    }
    assert!(all.len() >= 2);
}
