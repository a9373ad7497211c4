//! A label is the text that was given, and a missing one is no label: in every format.

use crate::util::Folder;

/// 60 rows of one number and one of these labels in turn, as lines by `line`.
fn rows(labels: &[&str], line: impl Fn(f64, &str) -> String) -> String {
    (0..60).map(|t| line((t % labels.len()) as f64 + 0.125, labels[t % labels.len()]) + "\n").collect()
}

fn csv(labels: &[&str]) -> String {
    format!("a,code\n{}", rows(labels, |x, label| format!("{x},{label}")))
}

fn json(labels: &[&str], quote: &str) -> String {
    rows(labels, |x, label| format!(r#"{{"a":{x},"label":{quote}{label}{quote}}}"#))
}

/// The labels that a model of the file has, and those that it predicts for the file.
#[track_caller]
fn classes(name: &str, content: &str) -> (serde_json::Value, Vec<String>) {
    let folder = Folder::with(name, content);
    folder.run(&format!("run {name} --learner ogd --quiet --save m")).succeeded();
    let mut predicted: Vec<String> =
        folder.run(&format!("predict m {name}")).succeeded().stdout.lines().map(str::to_owned).collect();
    predicted.sort();
    predicted.dedup();
    let labels = folder.run("inspect m --json").succeeded().objects()[0]["labels"].clone();
    (labels, predicted)
}

#[test]
fn labels_that_look_like_numbers_stay_what_they_are() {
    for labels in
        [["1.1", "1.10", "1.2"], ["300000", "3E5", "4E5"], ["01", "02", "10"], ["Ann", "Infinity", "Nan"]]
    {
        let arff = |x: f64, label: &str| format!("{x},{label}");
        let header =
            format!("@relation r\n@attribute a numeric\n@attribute code {{{}}}\n@data\n", labels.join(","));
        for (name, content) in [
            ("a.csv", csv(&labels)),
            ("a.ndjson", json(&labels, "\"")),
            ("a.arff", header + &rows(&labels, arff)),
        ] {
            let (known, predicted) = classes(name, &content);
            assert_eq!(known.as_array().map(Vec::len), Some(3), "{name} {known}");
            assert!(predicted.iter().all(|label| labels.contains(&&**label)), "{name} {predicted:?}");
        }
    }
}

#[test]
fn whole_numbers_written_with_and_without_zeros_are_one_class() {
    assert_eq!(classes("a.csv", &csv(&["0", "1.0", "0.0", "1"])).0, serde_json::json!(["0", "1"]));
    assert_eq!(classes("a.csv", &csv(&["1.0", "2.0"])).0, serde_json::json!(["1.0", "2.0"]));
    assert_eq!(classes("a.csv", &csv(&["1.0", "1", "1.1"])).0, serde_json::json!(["1", "1.0", "1.1"]));
    assert_eq!(classes("a.ndjson", &json(&["1.0", "1", "2"], "")).0, serde_json::json!(["1", "2"]));
    let svm = rows(&["+1", "1.0", "-1", "1"], |x, label| format!("{label} 1:{x}"));
    assert_eq!(classes("a.svm", &svm).0, serde_json::json!(["-1", "1"]));
}

/// Every word for a missing label gives the same run as an empty cell, and is mentioned.
#[test]
fn missing_labels_are_not_learnt() {
    let with = |word: &str| csv(&["u", "v", "u", "v", word]);
    let score = |content: &str, options: &str| {
        let folder = Folder::with("a.csv", content);
        let ran = folder.run(&format!("run a.csv --learner ogd --json {options}")).succeeded();
        let summary = ran.objects().pop().unwrap();
        (summary["rounds"].clone(), summary["classes"].clone(), summary["log_loss"].clone(), ran.stderr)
    };
    let empty = score(&with(""), "");
    for word in
        ["NA", "NaN", "nan", "N/A", "NULL", "null", "None", "?", "NaT", "\\N", "<NA>", "#N/A", "-", "--", "."]
    {
        let found = score(&with(word), "");
        assert_eq!((&found.0, &found.1, &found.2), (&empty.0, &empty.1, &empty.2), "{word}");
        assert!(found.3.contains("counts as missing in 12 rows"), "{word}: {}", found.3);
        let kept = score(&with(word), &format!("--not-missing {word}"));
        assert_eq!(kept.1, 3, "{word}");
    }
    assert_eq!(score(&with("none"), "").1, 3, "a class of its own");
    let other = score(&with("unknown"), "--missing unknown");
    assert_eq!((&other.0, &other.2), (&empty.0, &empty.2));
    // Among signs a sign is a class.
    assert_eq!(score(&csv(&["+", "-"]), "").1, 2);
    assert_eq!(score(&csv(&[".", "?", "x", "!"]), "").1, 4);
}

#[test]
fn nan_is_missing_in_every_format() {
    let quiet = |name: &str, content: &str| {
        let folder = Folder::with(name, content);
        folder.run(&format!("run {name} --learner ogd --quiet --json")).succeeded().objects().pop().unwrap()["errors"].clone()
    };
    let json =
        |hole: &str| rows(&["x", "y"], |x, label| format!(r#"{{"a":{x},"b":{hole},"label":"{label}"}}"#));
    assert_eq!(quiet("a.ndjson", &json("NaN")), quiet("a.ndjson", &json("null")));
    quiet("a.svm", &rows(&["1", "2"], |x, label| format!("{label} 1:nan 2:{x}")));
    quiet("a.vw", &rows(&["1", "2"], |x, label| format!("{label} | a:NaN b:{x}")));
    let folder = Folder::with("a.ndjson", json("Infinity"));
    let ran = folder.run("run a.ndjson --quiet");
    assert!(
        ran.code == 2 && ran.stderr.contains("a.ndjson:1: has the number Infinity at character"),
        "{}",
        ran.stderr
    );
}

/// Before the first label, a pipe names none; later it shows probabilities of labels that there are.
#[test]
fn a_pipe_invents_no_label() {
    let folder = Folder::new();
    let rows = "{\"a\":1}\n{\"a\":2}\n{\"a\":1,\"label\":\"x\"}\n{\"a\":1}\n";
    let ran = folder
        .run_with("run - --format ndjson --label label --predictions - --quiet --save m", rows)
        .succeeded();
    assert_eq!(
        ran.stdout.lines().take(5).collect::<Vec<_>>(),
        ["label,confidence,truth", ",,", ",,", ",,x", "x,1.000000,"]
    );
    folder.write("rows.ndjson", rows);
    for option in ["--probabilities", "--top-k 2"] {
        let line = folder.run(&format!("predict m rows.ndjson {option}")).succeeded().objects()[0].clone();
        assert_eq!(line["probabilities"], serde_json::json!({"x": 1.0}), "{option}");
    }
}
