//! Model files of earlier programs: `testdata/models`, by the version or the day of the program.

use std::collections::BTreeSet;

use noregret_testdata::path;
use serde_json::Value;

use crate::util::Folder;

/// How far forecasts may differ: a later program may add numbers in another order.
const NEAR: f64 = 1e-6;

/// The folders, with what is forecast by the models in them.
fn versions() -> Vec<(std::path::PathBuf, Value)> {
    let folders = std::fs::read_dir(path("models")).unwrap().map(|entry| entry.unwrap().path());
    let forecasts = |folder: &std::path::Path| std::fs::read(folder.join("forecasts.json")).unwrap();
    let versions = folders.filter(|folder| folder.join("forecasts.json").is_file());
    versions.map(|folder| (folder.clone(), serde_json::from_slice(&forecasts(&folder)).unwrap())).collect()
}

/// Whether all numbers in `now` are near those in `then`, and all else is the same.
fn are_near(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            then.iter().all(|(name, then)| now.get(name).is_some_and(|now| are_near(now, then)))
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| are_near(now, then))
        }
        (Value::Number(now), Value::Number(then)) => {
            (now.as_f64().unwrap() - then.as_f64().unwrap()).abs() <= NEAR
        }
        _ => now == then,
    }
}

/// Every file is opened, forecasts what it forecast when it was written, and goes on as it did then.
#[test]
fn files_of_every_version_are_read() {
    let mut models = 0;
    for (version, expected) in versions() {
        for (name, then) in expected.as_object().unwrap() {
            let (_, data) = name.rsplit_once('.').unwrap();
            let folder = Folder::new();
            folder.write("m", std::fs::read(version.join(format!("{name}.safetensors"))).unwrap());
            folder.write("more.csv", std::fs::read(version.join(format!("{data}-more.csv"))).unwrap());
            let options = if data == "number" { "" } else { "--probabilities --greedy" };
            let lines = folder.run(&format!("predict m more.csv {options}")).succeeded().objects();
            let forecast = |line: &Value| line.get("probabilities").unwrap_or(line).clone();
            let now: Value = lines.iter().map(forecast).collect();
            let of = format!("{}, {name}", version.display());
            assert!(are_near(&now, &then["forecasts"]), "{of}: {now} in place of {}", then["forecasts"]);
            let now = folder.summary("more.csv --load m --save m");
            assert!(are_near(&now, &then["then"]), "{of}: {now} in place of {}", then["then"]);
            folder.run("predict m more.csv").succeeded();
            models += 1;
        }
    }
    assert!(models > 40, "{models}");
}

/// A learner has a file from its first day: from then on a change of its state comes with a migration.
#[test]
fn every_learner_has_a_file() {
    let mut with: BTreeSet<String> = BTreeSet::new();
    for (_, expected) in versions() {
        let names = expected.as_object().unwrap().keys();
        with.extend(names.map(|name| name.split('.').next().unwrap().to_owned()));
    }
    for learner in Folder::new().run("list --json").succeeded().objects() {
        let name = learner["name"].as_str().unwrap();
        let is_there = with.contains(name);
        assert!(is_there, "no file in testdata/models is of {name}; testdata/README.md says how to make one");
    }
}
