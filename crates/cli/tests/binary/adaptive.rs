//! `auto` on streams that are replaced by another one from one row to the next.

use serde_json::Value;

use crate::util::Folder;

/// Rows before the switch.
const BEFORE: usize = 10_000;

/// Rows after the switch that do not count.
const FREE: usize = 2000;

/// Rows after these, over which the log-losses are compared.
const COUNTED: usize = 2000;

/// The lines of a generated stream.
fn generated(folder: &Folder, stream: &str, rows: usize, seed: u64) -> Vec<String> {
    let made = folder.run(&format!("generate {stream} --rows {rows} --seed {seed}")).succeeded();
    made.stdout.lines().map(str::to_owned).collect()
}

/// The mean log-loss of `auto` in the last [`COUNTED`] rows, if it sees nothing before row `skipped`.
fn loss(folder: &Folder, skipped: usize) -> f64 {
    folder
        .run(&format!(
            "run all.svm --set budget=0.8 --skip {skipped} --quiet --predictions p.ndjson --top-k 9"
        ))
        .succeeded();
    let text = folder.text("p.ndjson");
    let lines: Vec<&str> = text.lines().collect();
    let counted = &lines[lines.len() - COUNTED..];
    let surprise = |line: &&str| {
        let row: Value = serde_json::from_str(line).unwrap();
        -row["probabilities"][row["truth"].as_str().unwrap()].as_f64().unwrap().ln()
    };
    counted.iter().map(surprise).sum::<f64>() / COUNTED as f64
}

/// The log-loss of `auto` in rows 2,000 to 4,000 after a switch, divided by that of one that was started at
/// the switch.
fn ratio(before: &[String], after: &[String]) -> f64 {
    let folder = Folder::new();
    folder.write("all.svm", [before, after].concat().join("\n"));
    loss(&folder, 0) / loss(&folder, BEFORE)
}

/// Of every row of class c the class is c + 1 from the switch on.
#[test]
#[ignore = "slow: fourteen thousand rows, and four thousand"]
fn permuted_labels() {
    let rows = generated(&Folder::new(), "random-rbf --set classes=5", BEFORE + FREE + COUNTED, 1);
    let (before, after) = rows.split_at(BEFORE);
    let next = |line: &String| {
        let (class, row) = line.split_once(' ').unwrap();
        format!("{} {row}", (class.parse::<usize>().unwrap() + 1) % 5)
    };
    let ratio = ratio(before, &after.iter().map(next).collect::<Vec<_>>());
    assert!(ratio <= 1.05, "{ratio}");
}

#[test]
#[ignore = "slow: fourteen thousand rows, and four thousand"]
fn another_linear_model() {
    let rows = |count, seed| generated(&Folder::new(), "softmax --set classes=5", count, seed);
    let ratio = ratio(&rows(BEFORE, 1), &rows(FREE + COUNTED, 2));
    assert!(ratio <= 1.05, "{ratio}");
}

/// The mean over six pairs of trees: how fast a forest learns a tree depends on its first splits, by ten
/// percent and more in either direction (the ratios were .98 to 1.18).
#[test]
#[ignore = "slow: six times fourteen thousand rows, and four thousand"]
fn another_decision_tree() {
    let rows = |count, seed| generated(&Folder::new(), "random-tree --set classes=4", count, seed);
    let ratios = (0..6).map(|pair| ratio(&rows(BEFORE, 2 * pair + 1), &rows(FREE + COUNTED, 2 * pair + 2)));
    let ratios: Vec<f64> = ratios.collect();
    let mean = ratios.iter().sum::<f64>() / 6.0;
    assert!(mean <= 1.08, "{ratios:?}");
}
