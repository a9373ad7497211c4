//! `--save` and `--load`: a run in two parts is the run in one.

use noregret::model::{Archive, Numbers};
use serde_json::Value;

use crate::util::{Folder, libsvm, rows};

/// What a model file says of learner, scaling, classes and columns; not what it says of the stream's length.
fn state(folder: &Folder, model: &str) -> (Vec<(String, Numbers)>, Vec<String>) {
    let archive = Archive::from_bytes(&folder.read(model)).unwrap();
    let tensors = archive.tensors().map(|(name, numbers)| (name.to_owned(), numbers.clone()));
    let texts = ["algorithm", "params", "labels", "encoding", "schema"]
        .map(|name| archive.text(name).unwrap().to_owned());
    (tensors.collect(), texts.to_vec())
}

const HALF: usize = 150;

/// Learns `text` at once and in two halves, by files and by pipes, and compares every bit of state and of
/// loss.
#[track_caller]
fn same_in_halves(options: &str, text: &str) {
    let folder = Folder::with("all", text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, second) = (lines[..HALF].concat(), lines[HALF..].concat());
    folder.write("first", &first);
    folder.write("second", &second);
    // The window of the whole run is its second half.
    let json = format!("--json --quiet --window {HALF}");
    let loss = |summary: &Value| summary["window"]["log_loss"].as_f64().unwrap().to_bits();
    let whole = folder.run(&format!("run all {options} {json} --save whole")).succeeded().summary();
    folder.run(&format!("run first {options} {json} --save half")).succeeded();
    let rest = folder.run(&format!("run second {json} --load half --save joined")).succeeded().summary();
    assert_eq!(rest["rounds"], HALF);
    assert_eq!(loss(&rest), loss(&whole), "{options}");
    assert!(state(&folder, "whole") == state(&folder, "joined"), "{options}: the states differ");

    folder.run_with(&format!("run - {options} {json} --save piped-half"), &first).succeeded();
    let rest = folder.run_with(&format!("run - {json} --load piped-half --save piped"), &second).succeeded();
    assert_eq!(loss(&rest.summary()), loss(&whole), "{options}, by pipes");
    assert!(state(&folder, "whole") == state(&folder, "piped"), "{options}: the states differ, by pipes");
}

#[test]
fn numbered_features() {
    let text = libsvm(&rows(2 * HALF, 3, 4));
    for learner in ["folklore", "ogd --set horizon=300"] {
        for scale in ["none", "unit", "maxabs", "standard"] {
            let known = "--set radius=5 --set classes=3 --set features=4 --format libsvm";
            same_in_halves(&format!("--learner {learner} --scale {scale} {known}"), &text);
        }
    }
}

/// The second half brings features that the first half does not have, for which room was declared.
#[test]
fn features_that_come_later() {
    let rows = rows(2 * HALF, 3, 4);
    let columns = |half: usize| if half == 0 { 2 } else { 4 };
    let numbered: String = rows
        .iter()
        .enumerate()
        .map(|(at, (label, x))| libsvm(&[(*label, x[..columns(at / HALF)].to_vec())]))
        .collect();
    let known = "--learner folklore --set radius=5 --set classes=3 --set features=4 --scale maxabs";
    same_in_halves(&format!("{known} --format libsvm"), &numbered);
    let named: String = numbered.lines().map(|line| line.replacen(' ', " | ", 1) + "\n").collect();
    same_in_halves(&format!("{known} --format vw"), &named);
    // FOLKLORE reads ahead where it pays; how many rows it finds moves the last bits.
    let hashed =
        "--learner ogd --set horizon=300 --set radius=5 --set classes=3 --hash-bits 5 --scale maxabs";
    same_in_halves(&format!("{hashed} --format libsvm"), &numbered);
}

/// A model has room for what was declared, or seen; what is beyond is left out and counted.
#[test]
fn features_beyond_the_model_are_counted() {
    let folder = Folder::with("a.svm", "a 1:1\nb 1:-1 2:1\n");
    folder.write("b.svm", "a 1:1 3:1 9:4\nb 1:-1\n");
    folder.write("b.vw", "a | p q\nb | r s\n");
    folder.write("a.vw", "a | p\nb | q\n");
    for format in ["svm", "vw"] {
        folder.run(&format!("run a.{format} --quiet --save model")).succeeded();
        let summary = folder.summary(&format!("b.{format} --load model"));
        assert_eq!(summary["dropped_features"], 2, "{format}");
        let ran = folder.run(&format!("run b.{format} --quiet --load model")).succeeded();
        assert!(ran.stdout.contains("unknown features       2\n"), "{}", ran.stdout);
        let ran = folder.run(&format!("predict model b.{format}")).succeeded();
        let sentence = "noregret: ignored 2 values of features that the model does not have";
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
    // A row that was refused for its many names leaves a model that can be loaded.
    let pipe = "run - --quiet --set classes=2 --set features=2 --on-bad-row skip --save model";
    folder.run_with(pipe, "a | p\nb | q\nb | x y z\n").succeeded();
    folder.run("predict model a.vw").succeeded();
    // Nor do its names take the places of names to come.
    let pipe = "run - --json --set classes=2 --set features=3 --on-bad-row skip";
    let ran = folder.run_with(pipe, "a | p\nb | x y z\nb | q r\n").succeeded();
    assert_eq!(ran.summary()["bad_rows"], 1);
}

#[test]
fn the_decisions_are_told() {
    let folder = Folder::with("a.svm", libsvm(&rows(20, 3, 4)));
    folder.run("run a.svm --quiet --save model").succeeded();
    let ran = folder.run("run a.svm --load model --save model").succeeded();
    for part in ["model, after 20 rounds", "learner  auto: ", "numbered from 1 (as saved)"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert_eq!(folder.run("inspect model --json").objects()[0]["rounds"], 40);
}
