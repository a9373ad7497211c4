//! Real streams, where they are there: every learner beats the majority class.

use serde_json::Value;

use noregret_testdata::data;

use crate::util::Folder;

#[test]
fn every_stream_is_learnt() {
    // File, rows, classes, features without the intercept, share of the most frequent class.
    let streams = [
        ("vehicle.scale.libsvm.gz", 846, 4, 18, 0.258),
        ("vehicle.csv.gz", 846, 4, 18, 0.258),
        ("segment.scale.libsvm.gz", 2310, 7, 19, 0.143),
        ("segment.csv.gz", 2310, 7, 19, 0.143),
        ("shuttle.scale.libsvm.gz", 58_000, 7, 9, 0.786),
        ("shuttle.csv.gz", 58_000, 7, 9, 0.786),
        ("pendigits.libsvm.gz", 10_992, 10, 16, 0.104),
        ("letter.scale.libsvm.gz", 20_000, 26, 16, 0.041),
    ];
    let folder = Folder::new();
    for (name, rows, classes, features, majority) in streams {
        let Some(path) = data(name) else { continue };
        for (learner, limit) in [("ogd", 2000), ("folklore", 2000)] {
            let limit = if classes > 10 && learner == "folklore" { 500 } else { limit };
            let ran =
                folder.run(&format!("run {} --learner {learner} --limit {limit} --json", path.display()));
            let summary = ran.succeeded().summary();
            let number = |value: &Value| value.as_f64().unwrap();
            let (error, loss) = (number(&summary["error_rate"]), number(&summary["log_loss"]));
            eprintln!("{name} {learner}: error {error:.4}, log-loss {loss:.4}");
            assert_eq!(summary["rounds"], rows.min(limit), "{name}");
            assert_eq!((&summary["classes"], &summary["features"]), (&classes.into(), &features.into()));
            assert!(error < 1.0 - majority, "{name} {learner}: {error}");
            if learner == "folklore" {
                assert!(
                    loss < f64::from(classes).ln(),
                    "{name} {learner}: {loss} is worse than a uniform guess"
                );
            }
        }
    }
}

/// Untuned, boosted trees are below one tree and below the best linear learner, and below 6 % on segment.
#[test]
fn boosting_beats_its_weak_learner_and_lines() {
    let folder = Folder::new();
    for (name, target) in [("segment.scale.libsvm.gz", 0.06), ("vehicle.scale.libsvm.gz", 0.36)] {
        let Some(path) = data(name) else { continue };
        let error = |options: &str| {
            let summary = folder.summary(&format!("{} {options}", path.display()));
            summary["error_rate"].as_f64().unwrap()
        };
        let boosted = error("--learner adaboost-olm");
        let (one, linear) = (error("--learner adaboost-olm --set copies=1"), error("--learner folklore"));
        eprintln!("{name}: {boosted:.4} boosted, {one:.4} one tree, {linear:.4} linear");
        assert!(boosted < target && boosted < one && boosted < linear, "{name}: {boosted} {one} {linear}");
    }
}
