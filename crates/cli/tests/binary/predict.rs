//! `noregret predict`: a saved model and new rows.

use crate::util::{Folder, libsvm, rows};

const TRAIN: &str =
    "size,hue,kind\n1,red,cat\n9,blue,dog\n2,red,cat\n8,blue,dog\n1.5,red,cat\n9.5,blue,dog\n";

/// A model of named classes from numbers and categories.
fn trained() -> Folder {
    let folder = Folder::with("train.csv", TRAIN.to_owned() + &TRAIN["size,hue,kind\n".len()..].repeat(20));
    folder.run("run train.csv --quiet --save model").succeeded();
    folder
}

/// A model of rows in the order of their labels says that the order counts.
#[test]
fn labels_in_an_order() {
    let folder = Folder::new();
    let file = |label: &dyn Fn(usize) -> usize| {
        let line = |t: usize| format!("{}.{},{}\n", label(t), t * 37 % 100, ["x", "y", "z"][label(t)]);
        "a,label\n".to_owned() + &(0..150).map(line).collect::<String>()
    };
    folder.write("sorted.csv", file(&|t| t / 50));
    folder.write("mixed.csv", file(&|t| t * t % 151 % 3));
    for (name, ordered) in [("sorted.csv", true), ("mixed.csv", false)] {
        folder.run(&format!("run {name} --learner ogd --quiet --save m")).succeeded();
        let said = folder.run(&format!("predict m {name}")).succeeded().stderr;
        assert_eq!(
            said.contains("m: learnt from rows in the order of their labels"),
            ordered,
            "{name}: {said}"
        );
    }
}

/// Lines of features say which columns of the model's table they lack, as a table does.
#[test]
fn lines_without_a_column_say_so() {
    let folder = trained();
    folder.write("both.vw", "dog | size:9 hue=blue\n | size:1\n");
    folder.write("one.vw", "dog | hue=blue\ncat | hue=red sizes:2\n");
    let said = |name: &str| folder.run(&format!("predict model {name}")).succeeded().stderr;
    let lacks =
        "no line has a feature for \"size\", which the model was trained with: what a line lacks counts";
    assert!(said("one.vw").contains(&format!("noregret: one.vw: {lacks}")), "{}", said("one.vw"));
    assert!(!said("both.vw").contains("was trained with"), "{}", said("both.vw"));
}

#[test]
fn labels_by_name() {
    let folder = trained();
    folder.write("new.csv", "hue,size,kind\nblue,9,dog\nred,1,cat\nred,2,\n");
    let ran = folder.run("predict model new.csv").succeeded();
    assert_eq!(ran.stdout, "dog\ncat\ncat\n");
    let end = " on the 2 labelled\n";
    assert!(
        ran.stderr.starts_with("3 rows predicted; error rate 0.00000, log-loss 0.")
            && ran.stderr.ends_with(end)
    );
    // Without the label column, from a pipe, with another delimiter and unknown columns.
    let ran =
        folder.run_with("predict model - --format csv", "size;more;hue\n9;x;blue\n1;y;red\n").succeeded();
    assert_eq!(ran.stdout, "dog\ncat\n");
    assert!(!ran.stderr.contains("error rate"), "{}", ran.stderr);
    assert!(ran.stderr.contains("2 values of features that the model does not have"), "{}", ran.stderr);
}

#[test]
fn the_best_labels() {
    let folder = Folder::with("a.svm", libsvm(&rows(200, 4, 5)));
    folder.run("run a.svm --quiet --save model --predictions p.ndjson --top-k 2").succeeded();
    let all = folder.run("predict model a.svm --probabilities").succeeded().objects();
    let best = folder.run("predict model a.svm --top-k 2").succeeded().objects();
    assert_eq!((all.len(), best.len()), (200, 200));
    for (all, best) in all.iter().zip(&best) {
        let (all, best) =
            (all["probabilities"].as_object().unwrap(), best["probabilities"].as_object().unwrap());
        let mut expected: Vec<(&String, f64)> =
            all.iter().map(|(label, p)| (label, p.as_f64().unwrap())).collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        let found: Vec<(&String, f64)> = best.iter().map(|(label, p)| (label, p.as_f64().unwrap())).collect();
        assert_eq!(found, expected[..2]);
    }
    let text = folder.text("p.ndjson");
    assert_eq!(text.lines().count(), 200);
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let best: Vec<f64> =
            line["probabilities"].as_object().unwrap().values().map(|p| p.as_f64().unwrap()).collect();
        assert!(
            best.len() == 2 && best[0] >= best[1] && line["confidence"].as_f64() == Some(best[0]),
            "{line}"
        );
    }
    // More than there are is all of them.
    let more = folder.run("predict model a.svm --top-k 9").succeeded().objects();
    assert_eq!(more[0]["probabilities"].as_object().unwrap().len(), 4);
    assert_eq!(folder.run("predict model a.svm --top-k 0").code, 1);
    assert_eq!(folder.run("run a.svm --top-k 2").code, 1);
    let sentence = "--top-k: needs --predictions FILE.ndjson; p.csv is written as CSV";
    folder.run("run a.svm --top-k 2 --predictions p.csv").failed(1, sentence);
}

/// With more labels than a tree forecasts by default: what is written asks for all, what is counted for none.
#[test]
fn the_best_of_very_many_labels() {
    let row = |at: usize| format!("label-{:03} {}:1 {}:1\n", (at * 7) % 300, at % 300 + 1, at % 17 + 301);
    let rows: String = (0..900).map(row).collect();
    let folder = Folder::with("a.svm", rows);
    let shown = folder.run("run a.svm --learner label-tree --quiet").succeeded().stdout;
    assert!(shown.contains("labels seen") && shown.contains("mean depth"), "{shown}");
    let run = "run a.svm --learner label-tree --save model";
    let quick = folder.run(&format!("{run} --json")).succeeded();
    let summary = quick.objects().pop().unwrap();
    let frequencies = summary["baselines"]["class_frequencies_log_loss"].as_f64().unwrap();
    assert!((1.0..10.0).contains(&frequencies), "{summary}");
    let whole = folder.run(&format!("{run} --json --predictions p.ndjson --top-k 3")).succeeded();
    let with_forecasts = whole.objects().pop().unwrap();
    for key in ["errors", "baselines"] {
        assert_eq!(with_forecasts[key], summary[key], "{key}");
    }
    let text = folder.text("p.ndjson");
    assert_eq!(text.lines().count(), 900);
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let best = line["probabilities"].as_object().unwrap();
        assert_eq!((best.len(), &line["confidence"]), (3, &best[line["label"].as_str().unwrap()]), "{line}");
    }
}

#[test]
fn probabilities_of_all_classes() {
    let folder = Folder::with("a.svm", libsvm(&rows(200, 4, 5)));
    folder.run("run a.svm --quiet --save model").succeeded();
    let labels = folder.run("predict model a.svm").succeeded().stdout;
    let ran = folder.run("predict model a.svm --probabilities").succeeded();
    let objects = ran.objects();
    assert_eq!(objects.len(), 200);
    for (object, label) in objects.iter().zip(labels.lines()) {
        let by_class = object["probabilities"].as_object().unwrap();
        assert_eq!(by_class.keys().collect::<Vec<_>>(), ["c0", "c1", "c2", "c3"]);
        let values: Vec<f64> = by_class.values().map(|value| value.as_f64().unwrap()).collect();
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{object}");
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{object}");
        assert_eq!(object["label"], label);
        let best = values.iter().copied().fold(0.0, f64::max);
        assert_eq!(by_class[label], best);
    }
}

/// A number has no probabilities, and a target as many values as there are rows.
#[test]
fn forecasts_of_a_number() {
    let line = |t: usize| format!("{},{}.{}\n", t % 7, t % 7, t);
    let folder = Folder::with("a.csv", "a,y\n".to_owned() + &(0..100).map(line).collect::<String>());
    let ran = folder.run("run a.csv --learner vaw --quiet --save m").succeeded();
    assert!(!ran.stderr.contains("the label \"y\" has"), "{}", ran.stderr);
    for option in ["--probabilities", "--top-k", "--confidence", "--offered"] {
        let value = if option == "--top-k" {
            " 2"
        } else if option == "--offered" {
            " a"
        } else {
            ""
        };
        folder.run(&format!("predict m a.csv {option}{value}")).failed(
            1,
            &format!(
                "{option}: vaw forecasts a number, and no labels with probabilities; leave the option out"
            ),
        );
    }
    assert_eq!(folder.run("predict m a.csv --json").succeeded().objects().len(), 100);
}

#[test]
fn nothing_is_learnt() {
    let folder = trained();
    let model = folder.read("model");
    let once = folder.run("predict model train.csv --probabilities").succeeded().stdout;
    let twice = folder.run("predict model train.csv --probabilities").succeeded().stdout;
    assert_eq!(once, twice);
    assert_eq!(folder.read("model"), model);
    // Predictions do not depend on the rows before.
    let last = TRAIN.lines().last().unwrap();
    folder.write("one.csv", format!("size,hue,kind\n{last}\n"));
    let alone = folder.run("predict model one.csv --probabilities").succeeded().stdout;
    let dog = |text: &str| {
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        last["probabilities"]["dog"].as_f64().unwrap()
    };
    // Products of many rows round otherwise than those of one.
    assert!((dog(&once) - dog(&alone)).abs() < 1e-12, "{once} {alone}");
}

#[test]
fn to_a_file() {
    let folder = trained();
    let printed = folder.run("predict model train.csv").succeeded().stdout;
    let ran = folder.run("predict model train.csv --output out").succeeded();
    assert_eq!((ran.stdout.as_str(), folder.read("out")), ("", printed.clone().into_bytes()));
    assert_eq!(folder.run("predict model train.csv --output -").succeeded().stdout, printed);
}

/// Line by line, the output belongs to the input.
#[test]
fn bad_rows_keep_their_place() {
    let folder = trained();
    folder.write("new.csv", "size,hue,kind\n9,blue,dog\n-inf,red,cat\n1,red,horse\n1,red,cat\n");
    let ran = folder.run("predict model new.csv --on-bad-row fail");
    let complaint = r#"new.csv:3: column "size": "-inf" is not finite; pass --missing=-inf if it stands for a missing one"#;
    ran.complained(2, complaint);
    let ran = folder.run("predict model new.csv --on-bad-row fail --missing=-inf").succeeded();
    assert_eq!(ran.stdout.lines().count(), 4);
    for policy in ["", "--on-bad-row 1"] {
        let ran = folder.run(&format!("predict model new.csv {policy}")).succeeded();
        assert_eq!(ran.stdout, "dog\n\ncat\ncat\n");
        assert!(ran.stderr.contains("1 bad row was skipped; the first: new.csv:3: "), "{}", ran.stderr);
    }
    let objects = folder.run("predict model new.csv --on-bad-row skip --probabilities").succeeded().objects();
    let error = r#"new.csv:3: column "size": "-inf" is not finite"#;
    assert_eq!(objects[1], serde_json::json!({"label": null, "error": error}));
    assert_eq!(
        objects.iter().map(|row| &row["label"]).collect::<Vec<_>>(),
        ["dog", "", "cat", "cat"]
            .map(|label| { if label.is_empty() { serde_json::Value::Null } else { label.into() } })
            .iter()
            .collect::<Vec<_>>()
    );
}

/// Predicting needs no labels, so that it asks nothing of them.
#[test]
fn labels_need_not_be_known() {
    let folder = trained();
    folder.write("new.csv", "size,hue,kind\n9,blue,dog\n1,red,horse\n1,red,cat\n");
    let ran = folder.run("predict model new.csv").succeeded();
    assert_eq!(ran.stdout, "dog\ncat\ncat\n");
    let sentence = "noregret: 1 row has a label that cannot be scored; the first: new.csv:3: the label \"horse\" is none of the 2 known classes: cat, dog\n";
    assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    assert!(ran.stderr.ends_with(" on the 2 labelled\n"), "{}", ran.stderr);
    // A weight is of no use to a prediction either.
    folder.run("run train.csv --quiet --learner perceptron --save perceptron").succeeded();
    folder.write("weights.csv", "size,hue,kind,w\n9,blue,dog,2\n");
    folder.run("predict perceptron weights.csv --weight w").succeeded();
}

/// Where a row names nothing that the model knows, an answer would be no prediction.
#[test]
fn foreign_rows_are_refused() {
    let folder = Folder::with(
        "a.ndjson",
        "{\"a\": 1, \"hue\": \"red\", \"y\": \"p\"}\n{\"a\": -1, \"hue\": \"blue\", \"y\": \"q\"}\n"
            .repeat(20),
    );
    folder.run("run a.ndjson --quiet --save model").succeeded();
    let foreign = "{\"b\": 1, \"c\": \"red\"}\n";
    let sentence = "standard input:1: the saved model has none of the row's features";
    folder.run_with("predict model - --on-bad-row fail", foreign).failed(2, sentence);
    // A line for the row, and no model that would fit any of them.
    let ran = folder.run_with("predict model -", foreign);
    ran.complained(2, sentence);
    assert_eq!(ran.stdout, "\n");
    folder.run_with("predict model -", "{}\n").complained(2, sentence);
    for row in ["{\"a\": 0}\n", "{\"hue\": \"green\"}\n", "{\"b\": 1, \"a\": 1}\n", "{\"a\": null}\n"] {
        folder.run_with("predict model -", row).succeeded();
    }
    let ran = folder
        .run_with("predict model - --on-bad-row skip", foreign.to_owned() + "{\"a\": 1, \"hue\": \"red\"}\n")
        .succeeded();
    assert_eq!(ran.stdout, "\np\n");
}

#[test]
fn labels_are_printed_without_control_characters() {
    let rows = "{\"a\": 1, \"y\": \"p\\u001b[31m\\nq\"}\n{\"a\": -1, \"y\": \"q\"}\n".repeat(20);
    let folder = Folder::with("a.ndjson", rows);
    folder.run("run a.ndjson --quiet --save model").succeeded();
    let ran = folder.run_with("predict model -", "{\"a\": 1}\n").succeeded();
    assert_eq!(ran.stdout, "p\\u{1b}[31m\\nq\n");
    let inspected = folder.run("inspect model").succeeded().stdout;
    assert!(inspected.contains("p\\u{1b}[31m\\nq, q"), "{inspected}");
}

#[test]
fn rows_keep_their_names() {
    let folder = trained();
    folder.write("new.csv", "key,size,hue,kind\nk-1,9,blue,dog\n\"k,2\",1,red,horse\n");
    let ran = folder.run("predict model new.csv --id key --confidence").succeeded();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "id,label,confidence"));
    assert!(lines[1].starts_with("k-1,dog,0.") && lines[2].starts_with("\"k,2\",cat,0."), "{lines:?}");
    let ran = folder.run("predict model new.csv --id key --json").succeeded();
    assert_eq!(ran.objects()[1], serde_json::json!({"id": "k,2", "label": "cat"}));
    folder.run("predict model new.csv --id kex").failed(
        2,
        r#"new.csv: has no column "kex" (did you mean "key"?); its columns are "key", "size", "hue", "kind""#,
    );
}

/// Rows of a file are predicted together, those of a pipe one by one: the same lines in the same order.
#[test]
fn together_as_one_by_one() {
    let mut text = "a,b,y\n".to_owned();
    for t in 0..300_u32 {
        let (a, b) = (t * 7 % 31, t * 13 % 29);
        let row = format!("{a}.5,{b}.25,{}\n", ["p", "q", "r"][((a + 2 * b) % 3) as usize]);
        text += if t % 50 == 49 { "inf,1,p\n" } else { &row };
    }
    let folder = Folder::with("a.csv", &text);
    let skip = "--on-bad-row skip";
    for learner in ["auto", "folklore", "perceptron", "gaptron-hinge"] {
        folder.run(&format!("run a.csv --quiet --learner {learner} --save model {skip}")).succeeded();
        let file = folder.run(&format!("predict model a.csv --probabilities {skip}")).succeeded();
        let pipe = folder.run_with(&format!("predict model - --format csv --probabilities {skip}"), &text);
        let (file, pipe) = (file.objects(), pipe.succeeded().objects());
        assert_eq!((file.len(), pipe.len()), (300, 300), "{learner}");
        for (at, (file, pipe)) in file.iter().zip(&pipe).enumerate() {
            assert_eq!(file["label"], pipe["label"], "{learner} {at}");
            assert_eq!(file["label"].is_null(), at % 50 == 49, "{learner} {at}");
            let Some(probabilities) = file["probabilities"].as_object() else { continue };
            for (class, probability) in probabilities {
                let other = pipe["probabilities"][class].as_f64().unwrap();
                let probability = probability.as_f64().unwrap();
                assert!((probability - other).abs() <= 1e-9, "{learner} {at}: {probability} {other}");
            }
        }
    }
}

/// Every row of the input has a line in its place, also while it is learnt: a bad one has what `predict`
/// writes for it, wherever it is, and however far rows are read ahead.
#[test]
fn bad_rows_have_lines_of_their_own() {
    let folder = Folder::new();
    let bad = |t: usize| t % 7 < 2 || t > 2995;
    let mut text = "id,a,b,y\n".to_owned();
    for t in 0..3000 {
        let cells = if bad(t) { "1,1" } else { "2,1,p" };
        text += &format!("r{t},{cells}\n");
    }
    folder.write("a.csv", &text);
    let run = "run a.csv --on-bad-row skip --quiet --id id --predictions";
    for learner in ["ogd", "folklore"] {
        let set = format!("--learner {learner} --set classes=2 --save m");
        folder.run(&format!("{run} p.ndjson {set}")).succeeded();
        folder.run(&format!("{run} p.csv {set}")).succeeded();
        let lines = |name: &str| -> Vec<String> { folder.text(name).lines().map(str::to_owned).collect() };
        let (objects, cells) = (lines("p.ndjson"), lines("p.csv"));
        assert_eq!((objects.len(), cells.len()), (3000, 3001), "{learner}");
        let predicted = folder.run("predict m a.csv --json --id id").succeeded().stdout;
        for (t, (line, object)) in predicted.lines().zip(&objects).enumerate() {
            assert_eq!(line.contains("\"error\""), bad(t), "{line}");
            if bad(t) {
                assert_eq!(object, line);
                assert_eq!(cells[t + 1], ",,,");
            } else {
                assert!(object.contains(&format!("\"id\":\"r{t}\"")), "{object}");
                assert!(cells[t + 1].starts_with(&format!("r{t},")), "{}", cells[t + 1]);
            }
        }
    }
}

/// Rows that have nothing of the model have one forecast, which is no answer to them.
#[test]
fn rows_without_a_feature_of_the_model() {
    let folder = Folder::with("a.vw", "x | p:1 q\ny | p:2 r\n".repeat(20));
    folder.write("a.svm", "x 1:1 2:1\ny 1:2 3:1\n".repeat(20));
    for (name, strange, mixed, known) in [
        ("a.vw", "| s\n| t u\n", "| s\n| p:1\n|\n", "p"),
        ("a.svm", "9:1\n8:1 9:1\n", "9:1\n1:1\n7:1\n", "1"),
    ] {
        folder.run(&format!("run {name} --learner ogd --quiet --save m")).succeeded();
        let (_, kind) = name.split_once('.').unwrap();
        folder.write(&format!("b.{kind}"), strange);
        let none = format!(
            "b.{kind}: no row has a feature that the model knows, such as {known:?}, so that all rows have the same forecast"
        );
        folder.run(&format!("predict m b.{kind}")).complained(2, &none);
        folder.write(&format!("c.{kind}"), mixed);
        let said = folder.run(&format!("predict m c.{kind}")).succeeded().stderr;
        assert!(said.contains("2 rows have no feature that the model knows"), "{said}");
    }
}

/// The same for lines of features that have none of the columns of a model's table, which are named before.
#[test]
fn lines_without_a_column_of_the_model() {
    let table = "p,q,label\n".to_owned() + &"1,5,x\n2,3,y\n".repeat(20);
    let folder = Folder::with("a.csv", table);
    folder.run("run a.csv --learner ogd --quiet --save m").succeeded();
    folder.write("b.vw", "x | s:1\ny | t:2 u\n");
    folder.write("b.svm", "x 1:1 2:1\ny 2:3\n");
    for name in ["b.vw", "b.svm"] {
        let lacks = format!("noregret: {name}: no line has a feature for \"p\", \"q\", which the model was");
        let ran = folder.run(&format!("predict m {name}"));
        let none = "no row has a feature that the model knows, such as \"p\", so that all rows have the same forecast";
        assert!(ran.code == 2 && ran.stderr.contains(&lacks), "{}", ran.stderr);
        assert!(ran.stderr.ends_with(&format!("noregret: {name}: {none}\n")), "{}", ran.stderr);
        let said = folder.run(&format!("run {name} --load m")).succeeded().stderr;
        assert!(said.contains(&lacks), "{said}");
    }
    folder.write("named.csv", "1,2,label\n".to_owned() + &"1,5,x\n2,3,y\n".repeat(30));
    folder.run("run named.csv --learner ogd --quiet --save m").succeeded();
    let said = folder.run("predict m b.svm").succeeded().stderr;
    assert!(!said.contains("was trained with"), "{said}");
}

/// Decimals of another notation than the model's may be thousands in it.
#[test]
fn numbers_far_outside_are_told() {
    let folder = Folder::new();
    let rows = |between: char, point: char| {
        let row = |t: usize| format!("1{point}{:03}{between}{}\n", 500 + 37 * t % 400, ["u", "v"][t % 2]);
        format!("size{between}label\n") + &(0..60).map(row).collect::<String>()
    };
    folder.write("comma.csv", rows(';', ','));
    folder.write("point.csv", rows(',', '.'));
    folder.run("run comma.csv --learner ogd --quiet --save m").succeeded();
    let said = |name: &str| folder.run(&format!("predict m {name}")).succeeded().stderr;
    let sentence =
        "60 rows have numbers far outside of what the model has learnt, as 1500 of the feature \"size\"";
    assert!(said("point.csv").contains(&format!("noregret: {sentence}")), "{}", said("point.csv"));
    assert!(!said("comma.csv").contains("far outside"), "{}", said("comma.csv"));
}
