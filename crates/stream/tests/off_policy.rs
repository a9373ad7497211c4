//! The off-policy estimators beside Open Bandit Pipeline's, on the same arrays.

use std::process::Command;

use noregret_stream::evaluate::off_policy::{OffPolicy, Round};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    clip: Option<f64>,
    played: Vec<usize>,
    reward: Vec<f64>,
    probability: Vec<f64>,
    evaluation: Vec<Vec<f64>>,
    estimates: Vec<Vec<f64>>,
    values: std::collections::BTreeMap<String, f64>,
}

fn folder() -> std::path::PathBuf {
    noregret_testdata::path("off_policy")
}

fn compare(reference: &str) {
    let reference: Reference = serde_json::from_str(reference).expect("as the script writes it");
    assert_eq!(reference.cases.len(), 3);
    for case in reference.cases {
        let [low, high] = [f64::min, f64::max].map(|of| case.reward.iter().copied().fold(0.0, of));
        let mut sums = OffPolicy::new(case.clip, [low, high]);
        for t in 0..case.played.len() {
            sums.add(&Round {
                label: case.played[t],
                reward: case.reward[t],
                probability: case.probability[t],
                evaluation: &case.evaluation[t],
                estimates: Some(&case.estimates[t]),
                possible: None,
            });
        }
        let ours = sums.estimates(0.95, 0.0).estimates;
        for (name, theirs) in &case.values {
            let ours = ours.iter().find(|one| one.estimator.name() == name).expect("all four are made").value;
            assert!((ours - theirs).abs() < 1e-9, "{name}: {ours}, not {theirs}");
        }
    }
}

#[test]
fn estimates_are_those_of_open_bandit_pipeline() {
    let path = folder().join("obp_reference.json");
    compare(&std::fs::read_to_string(path).expect("it is part of the project"));
}

/// The same on fresh arrays, where there is a Python with obp (`NOREGRET_OBP_PYTHON`, or `python3`).
#[test]
fn fresh_estimates_are_those_of_open_bandit_pipeline() {
    let python = std::env::var("NOREGRET_OBP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = folder().join("obp_reference.py");
    for seed in ["11", "57"] {
        match Command::new(&python).arg(&script).arg(seed).output() {
            Ok(output) if output.status.success() => compare(&String::from_utf8_lossy(&output.stdout)),
            _ => return eprintln!("skipped: {python} has no obp; NOREGRET_OBP_PYTHON can name one that has"),
        }
    }
}
