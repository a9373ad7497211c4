//! A label is the text that was given, and a missing one is no label: in every format.

use serde_json::Value;

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

/// What ARFF declares is a class, and `?` alone is missing.
#[test]
fn declared_classes_may_be_called_anything() {
    let header = "@relation r\n@attribute a numeric\n@attribute code {NA, None, nan}\n@data\n";
    let data = rows(&["NA", "None", "nan"], |x, label| format!("{x},{label}"));
    let (known, predicted) = classes("a.arff", &format!("{header}{data}1,?\n"));
    assert_eq!((known.as_array().map(Vec::len), predicted.len()), (Some(3), 3), "{known} {predicted:?}");
}

#[test]
fn whole_numbers_written_with_and_without_zeros_are_one_class() {
    assert_eq!(classes("a.csv", &csv(&["0", "1.0", "0.0", "1"])).0, serde_json::json!(["0", "1"]));
    assert_eq!(classes("a.csv", &csv(&["1.0", "2.0"])).0, serde_json::json!(["1.0", "2.0"]));
    assert_eq!(classes("a.csv", &csv(&["1.0", "1", "1.1"])).0, serde_json::json!(["1", "1.0", "1.1"]));
    assert_eq!(classes("a.ndjson", &json(&["1.0", "1", "2"], "")).0, serde_json::json!([1.0, 2]));
    let svm = rows(&["+1", "1.0", "-1", "1"], |x, label| format!("{label} 1:{x}"));
    assert_eq!(classes("a.svm", &svm).0, serde_json::json!(["-1", "+1"]));
}

/// In JSON a label has the type that it was given, also from a model file.
#[test]
fn json_gives_labels_with_their_types() {
    for labels in [["1", "2"], ["0.5", "1.0"], ["true", "false"], [r#""1""#, r#""2""#], [r#""true""#, "1"]] {
        let folder = Folder::with("a.ndjson", json(&labels, ""));
        let value = |text: &&str| serde_json::from_str::<Value>(text).unwrap();
        let given: Vec<Value> = labels.iter().map(value).collect();
        folder.run("run a.ndjson --learner ogd --quiet --save m --predictions p.ndjson").succeeded();
        let said = |lines: &str| -> Vec<Value> { lines.lines().map(|line| value(&line)).collect() };
        let run = said(&folder.text("p.ndjson"));
        let known = folder.run("inspect m --json").succeeded().objects()[0]["labels"].clone();
        assert!(given.iter().all(|label| known.as_array().unwrap().contains(label)), "{known}");
        let predicted = said(&folder.run("predict m a.ndjson --json").succeeded().stdout);
        for lines in [&run, &predicted] {
            assert!(lines.iter().all(|line| given.contains(&line["label"])), "{given:?} {}", lines[59]);
        }
        assert_eq!(run[0]["truth"], given[0]);
        assert_eq!(predicted[58]["label"], given[0]);
        // The model goes on with labels of the same type.
        folder.run("run a.ndjson --load m --quiet --save n").succeeded();
        assert_eq!(folder.run("inspect n --json").succeeded().objects()[0]["labels"], known);
    }
    // Texts of formats without types are texts.
    let folder = Folder::with("a.csv", csv(&["1", "2"]));
    folder.run("run a.csv --learner ogd --quiet --save m").succeeded();
    let first = folder.run("predict m a.csv --json").succeeded().objects().remove(0);
    assert!(first["label"].is_string(), "{first}");
}

/// Labels on offer and played labels, of our own rounds and of logs of others.
#[test]
fn json_gives_labels_of_decisions_with_their_types() {
    let round =
        |t: usize| format!(r#"{{"x":{{"a":{}}},"labels":[10,20,30],"y":{}}}"#, t % 3, 10 + 10 * (t % 3));
    let folder = Folder::with("a.ndjson", (0..60).map(|t| round(t) + "\n").collect::<String>());
    let decided = |t: usize| format!(r#"{{"a":{},"arm":{},"p":0.5,"won":{}}}"#, t % 2, 1 + t % 2, t % 3 % 2);
    folder.write("log.ndjson", (0..60).map(|t| decided(t) + "\n").collect::<String>());
    for (run, labels) in [
        ("run a.ndjson --feedback bandit", vec![10, 20, 30]),
        ("run log.ndjson --feedback bandit --decision arm --probability p --reward won", vec![1, 2]),
    ] {
        folder.run(&format!("{run} --quiet --save m")).succeeded();
        let known = &folder.run("inspect m --json").succeeded().objects()[0]["labels"];
        assert_eq!(*known, Value::from(labels.clone()), "{run}");
        let data = run.split(' ').nth(1).unwrap();
        let lines = folder.run(&format!("predict m {data} --json")).succeeded().objects();
        assert!(lines.iter().all(|line| labels.iter().any(|label| line["label"] == *label)), "{}", lines[0]);
    }
    // As texts, 01 and 1 are different labels, and so they are in a log of another program.
    let rows = "1,01,0.5,1\n2,1,0.5,0\n1,1.10,0.5,1\n2,1.1,0.5,0\n".repeat(20);
    folder.write("log.csv", format!("a,arm,p,won\n{rows}"));
    let columns = "--decision arm --probability p --reward won";
    folder.run(&format!("run log.csv --feedback bandit {columns} --quiet --save m")).succeeded();
    let mut known = folder.run("inspect m --json").succeeded().objects()[0]["labels"].clone();
    known.as_array_mut().unwrap().sort_by_key(|label| label.to_string());
    assert_eq!(known, serde_json::json!(["01", "1", "1.1", "1.10"]));
    let compared = folder
        .run(&format!("evaluate log.csv {columns} --policy constant:01 --policy constant:1"))
        .succeeded();
    assert!(compared.stdout.contains("constant:01"), "{}", compared.stdout);
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

/// Where too few labels are left, words that count as missing are named, and where labels were sought.
#[test]
fn too_few_labels() {
    for (name, content, parts) in [
        (
            "a.csv",
            csv(&["NA", "EU"]),
            [
                "the label \"NA\" counts as missing in 30 rows",
                "the option not-missing makes it a class",
                "every label is \"EU\"; at least 2 classes were needed",
            ],
        ),
        (
            "a.ndjson",
            json(&["None", "null"], "\""),
            [
                "the label \"None\" counts as missing in 30 rows",
                "the label \"null\" counts as missing in 30 rows",
                "none of its 60 rows has a label under \"label\"; --label names another column",
            ],
        ),
    ] {
        let ran = Folder::with(name, content).run(&format!("run {name} --quiet"));
        assert!(ran.code == 2 && parts.iter().all(|part| ran.stderr.contains(part)), "{}", ran.stderr);
    }
    let folder = Folder::with("b.ndjson", "{\"a\":1,\"kind\":\"u\"}\n{\"a\":2,\"kind\":\"v\"}\n");
    folder.run("run b.ndjson --quiet").failed(
        2,
        "b.ndjson: none of its 2 rows has a label: there is no key label, class, target or y; --label names the key that is meant",
    );
    folder.write("log.ndjson", "{\"a\":1,\"decision\":\"u\",\"probability\":0.5,\"reward\":1}\n".repeat(2));
    folder.run("run log.ndjson --quiet --feedback bandit").failed(
        2,
        "log.ndjson: none of its 2 rows has a label: there is no key label, class, target or y; --label names the key that is meant; \
         in a log of decisions --decision names the key of what was played, as --decision decision",
    );
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
/// A number that stands for a missing one is missing in every format.
#[test]
fn numbers_for_missing_ones() {
    let header = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute label {x,y}\n@data\n";
    let lines = |line: &dyn Fn(i32, i32, &str) -> String| {
        let row = |t: i32| {
            // Near 0, where all formats have 0 for a missing number.
            let a = if t > 8 && t % 4 == 1 { -999 } else { t % 7 - 3 };
            line(a, t % 5 + 1, ["x", "y"][(t % 7 / 4) as usize])
        };
        (0..60).map(row).collect::<String>()
    };
    let csv = |a, b, y: &str| format!("{a},{b},{y}\n");
    let folder = Folder::new();
    let losses = [
        ("a.csv", "a,b,label\n".to_owned() + &lines(&csv)),
        ("d.arff", header.to_owned() + &lines(&csv)),
        ("s.arff", header.to_owned() + &lines(&|a, b, y| format!("{{0 {a},1 {b},2 {y}}}\n"))),
        ("a.ndjson", lines(&|a, b, y| format!("{{\"x\":[{a},{b}],\"y\":\"{y}\"}}\n"))),
        ("a.svm", lines(&|a, b, y| format!("{y} 1:{a} 2:{b}\n"))),
        ("a.vw", lines(&|a, b, y| format!("{y} | a:{a} b:{b}\n"))),
    ]
    .map(|(name, text)| {
        folder.write(name, text);
        let loss =
            |options: &str| folder.summary(&format!("{name} --learner ogd {options}"))["log_loss"].clone();
        assert_ne!(loss(""), loss("--missing=-999"), "{name}");
        loss("--missing=-999")
    });
    assert_eq!(losses, std::array::from_fn(|_| losses[0].clone()));
}

/// A word for a missing number is none in lines of LIBSVM and Vowpal Wabbit, as in a table.
#[test]
fn words_for_missing_numbers_in_lines() {
    let lines = |line: &dyn Fn(&str, i32, &str) -> String| {
        let row = |t: i32| {
            let number = (t % 7 + 1).to_string();
            let word = ["NA", "?", "NULL", "N/A", "-", "nan"][(t / 4 % 6) as usize];
            line(if t % 4 == 1 { word } else { &number }, t % 5 + 1, ["x", "y"][(t % 7 / 4) as usize])
        };
        (0..60).map(row).collect::<String>()
    };
    let folder =
        Folder::with("a.csv", "a,b,label\n".to_owned() + &lines(&|a, b, y| format!("{a},{b},{y}\n")));
    folder.write("a.svm", lines(&|a, b, y| format!("{y} 1:{a} 2:{b}\n")));
    folder.write("a.vw", lines(&|a, b, y| format!("{y} | a:{a} b:{b}\n")));
    let losses = ["a.csv", "a.svm", "a.vw"]
        .map(|name| folder.summary(&format!("{name} --learner ogd"))["log_loss"].clone());
    assert_eq!(losses, std::array::from_fn(|_| losses[0].clone()));
    let said = folder.run("run a.vw --learner ogd --quiet").succeeded().stderr;
    assert!(said.contains("such as \"a:NA\" (13 in all), count as missing"), "{said}");
    let kept = folder.run("run a.vw --learner ogd --quiet --not-missing NA,?,NULL,N/A").succeeded().stderr;
    assert!(kept.contains("such as \"a:-\" (2 in all), count as missing"), "{kept}");
}

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

/// LIBSVM and VW have numbers in several writings: one class, called as it was first written.
#[test]
fn labels_of_libsvm_and_vw_come_back_as_they_were_written() {
    for (name, line) in [
        ("a.libsvm", (|x, label| format!("{label} 1:{x}")) as fn(f64, &str) -> String),
        ("a.vw", |x, label| format!("{label} | a:{x}")),
    ] {
        let (known, predicted) = classes(name, &rows(&["01", "1e3", "-1"], line));
        assert_eq!(known, serde_json::json!(["-1", "01", "1e3"]), "{name}");
        assert_eq!(predicted, ["-1", "01", "1e3"], "{name}");
        assert_eq!(
            classes(name, &rows(&["+1", "-1", "1.0"], line)).0,
            serde_json::json!(["-1", "+1"]),
            "{name}"
        );
    }
    let folder =
        Folder::with("a.vw", rows(&["01:0 02:1", "01:1 02:0"], |x, costs| format!("{costs} | a:{x}")));
    folder.run("run a.vw --feedback bandit --learner squarecb --quiet --save m").succeeded();
    let answers = folder.run("predict m a.vw").succeeded().stdout;
    assert!(answers.lines().all(|label| ["01", "02"].contains(&label)), "{answers}");
}

/// `1` and `"1"` are two labels, which one model cannot tell apart by name.
#[test]
fn a_text_and_a_number_of_one_writing_are_refused() {
    let line = |t: usize| format!("{{\"a\":{},\"label\":{}}}\n", t % 3, ["1", "\"1\"", "2"][t % 3]);
    let folder = Folder::with("a.ndjson", (0..30).map(line).collect::<String>());
    let why = "the label \"1\" is a text, and the class of this name is a number: labels of one name need one type; write both as numbers, or both as texts (in quotation marks)";
    for command in ["run a.ndjson", "run a.ndjson --feedback bandit", "compare a.ndjson --learners ogd"] {
        folder.run(command).failed(2, &format!("a.ndjson:2: {why}"));
    }
    let pipe = "run - --format ndjson --label label --learner ogd --set features=1";
    folder.run_with(pipe, folder.read("a.ndjson")).failed(2, &format!("standard input:2: {why}"));
    // A model of numbers takes cells of CSV, which state no type, and refuses texts.
    folder.write("b.ndjson", json(&["1", "2"], ""));
    folder.write("c.csv", csv(&["1", "2"]).replace("code", "label"));
    folder.write("d.ndjson", json(&["1", "2"], "\""));
    folder.run("run b.ndjson --learner ogd --quiet --save m").succeeded();
    folder.run("run c.csv --load m --quiet").succeeded();
    folder.run("run d.ndjson --load m --quiet").failed(2, &format!("d.ndjson:1: {why}"));
}

/// What sparse rows of ARFF declare is a class, too.
#[test]
fn classes_that_sparse_arff_declares_are_classes() {
    let header = "@relation r\n@attribute a numeric\n@attribute code {NA, None, nan}\n@data\n";
    let data = rows(&["NA", "None", "nan"], |x, label| format!("{{0 {x}, 1 {label}}}"));
    let (known, predicted) = classes("a.arff", &format!("{header}{data}{{0 1, 1 ?}}\n"));
    assert_eq!((known.as_array().map(Vec::len), predicted.len()), (Some(3), 3), "{known} {predicted:?}");
}

/// A pipe that goes on with a model takes in a new class where it occurs, with the bits of a file that begins
/// with it.
#[test]
fn a_pipe_that_goes_on_takes_in_new_classes() {
    let folder = Folder::with("first.csv", csv(&["a", "b"]));
    folder.write("more.csv", csv(&["c", "a"]));
    for learner in ["folklore", "ogd"] {
        folder.run(&format!("run first.csv --learner {learner} --quiet --save m")).succeeded();
        folder.run("run more.csv --load m --quiet --save file").succeeded();
        let pipe = "run - --format csv --load m --quiet --save pipe";
        folder.run_with(pipe, folder.read("more.csv")).succeeded();
        let told =
            |model: &str| folder.run(&format!("predict {model} more.csv --probabilities")).succeeded().stdout;
        assert_eq!(told("pipe"), told("file"), "{learner}");
    }
    // Where the classes must stay, the refusal says what to do.
    let late = "run - --format csv --load m --delay 3";
    let why = "standard input:2: the label \"c\" is none of the 2 known classes: a, b; there is no room for more: make the learner with all labels";
    folder.run_with(late, folder.read("more.csv")).failed(2, why);
}

/// Whole numbers that repeat may be a target to forecast.
#[test]
fn many_numbers_are_said_to_be_classes() {
    let labels: Vec<String> = (0..40).map(|label| label.to_string()).collect();
    let content: String = (0..200).map(|t| format!("{},{}\n", t % 7, labels[t % 40])).collect();
    let folder = Folder::with("a.csv", format!("x,label\n{content}"));
    let note = "a.csv: the labels are 40 different numbers, and each is a class of its own; --learner vaw forecasts numbers";
    let ran = folder.run("run a.csv --learner ogd").succeeded();
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = folder.run("run a.csv --learner vaw").succeeded();
    assert!(!ran.stderr.contains("different numbers"), "{}", ran.stderr);
    folder.write("b.csv", format!("x,label\n{}", content.replace(',', ",n")));
    let ran = folder.run("run b.csv --learner ogd").succeeded();
    assert!(!ran.stderr.contains("different numbers"), "{}", ran.stderr);
    // Also with a unit.
    folder.write("c.csv", format!("x,took\n{}", content.replace('\n', " ms\n")));
    let note = "c.csv: the labels are 40 different numbers with the unit \"ms\", and each is a class of its own; written without the unit they are numbers to forecast; --label names another column";
    let ran = folder.run("run c.csv --learner ogd").succeeded();
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    // Fractions hardly are classes, unless they are texts.
    let objects = |quote: &str| -> String {
        (0..200).map(|t| format!("{{\"x\":{},\"label\":{quote}{}.5{quote}}}\n", t % 7, t % 40)).collect()
    };
    folder.write("a.ndjson", objects(""));
    let ran = folder.run("run a.ndjson --learner ogd");
    let why =
        "has 40 different numbers in 200 rows, such as 0.5: a real-valued target; --learner vaw learns it";
    assert!(ran.code == 2 && ran.stderr.contains(why), "{}", ran.stderr);
    folder.write("b.ndjson", objects("\""));
    let ran = folder.run("run b.ndjson --learner ogd").succeeded();
    assert!(!ran.stderr.contains("different numbers"), "{}", ran.stderr);
}

/// Beside `+`, the sign `-` is a class, in lines as in tables.
#[test]
fn signs_are_classes_in_lines() {
    let folder = Folder::with("a.csv", csv(&["+", "-"]));
    folder.write("a.svm", rows(&["+", "-"], |x, label| format!("{label} 1:{x}")));
    folder.write("a.vw", rows(&["+", "-"], |x, label| format!("{label} 'row| a:{x}")));
    let losses = ["a.csv", "a.svm", "a.vw"].map(|name| {
        let summary = folder.summary(&format!("{name} --learner ogd --save m"));
        let answers = folder.run(&format!("predict m {name}")).succeeded().stdout;
        assert!(answers.contains("+\n") && answers.contains("-\n"), "{name}: {answers}");
        summary["log_loss"].clone()
    });
    assert_eq!(losses, std::array::from_fn(|_| losses[0].clone()));
    // Elsewhere it is missing.
    folder.write("b.svm", rows(&["x", "y", "-"], |x, label| format!("{label} 1:{x}")));
    assert_eq!(folder.summary("b.svm --learner ogd")["rounds"], 40);
}

#[test]
fn labels_that_look_alike_are_told() {
    let said = |labels: &[&str]| {
        let folder = Folder::with("a.csv", csv(labels));
        folder.run("run a.csv --learner ogd --quiet").succeeded().stderr
    };
    for (labels, pair) in [
        (["No", "Yes", "yes"], r#""Yes" and "yes""#),
        (["x", "x\u{200b}", "y"], r#""x" and "x\u{200b}""#),
        (["1", "1.0", "z"], r#""1" and "1.0""#),
    ] {
        let sentence = format!("the labels {pair} look alike, and are two classes");
        assert!(said(&labels).contains(&sentence), "{}", said(&labels));
    }
    assert!(!said(&["1.1", "1.10", "x"]).contains("look alike"));
    // On a pipe, after the rows.
    let text: String =
        (0..30).map(|t| format!("{} | a:{} b:1\n", ["No", "Yes", "yes"][t % 3], t % 7)).collect();
    let compare = "compare - --format vw --learners ogd,perceptron --set classes=3 --set features=2";
    let ran = Folder::new().run_with(compare, &text).succeeded();
    assert_eq!(ran.stderr.matches(r#"the labels "Yes" and "yes" look alike"#).count(), 1, "{}", ran.stderr);
    // In a log they are two labels, each played half as often.
    let rows: String = (0..40).map(|t| format!("{},{},0.5,{}\n", t % 7, ["a", "A"][t % 2], t % 2)).collect();
    let folder = Folder::with("log.csv", format!("x,chosen,prob,click\n{rows}"));
    let ask = "evaluate log.csv --decision chosen --probability prob --reward click --policy uniform";
    let ran = folder.run(ask).succeeded();
    assert!(ran.stderr.contains("look alike, and are two classes"), "{}", ran.stderr);
    let sentence = "the label \"Unknown\" is a class like others: if it stands for a missing label, the option missing = Unknown";
    assert!(said(&["No", "Unknown", "yes"]).contains(sentence), "{}", said(&["No", "Unknown", "yes"]));
    for word in ["not available", "N/D", "TBD", "??", "''"] {
        let sentence = format!("the label \"{word}\" is a class like others");
        assert!(said(&["no", word, "yes"]).contains(&sentence), "{word}");
    }
    for word in ["[NULL]", "(blank)", "#ERROR!"] {
        assert!(
            said(&["no", word, "yes"]).contains(&format!("the label \"{word}\" counts as missing")),
            "{word}"
        );
    }
}

/// A missing weight is 1, in every word for it.
#[test]
fn missing_weights() {
    let lines = |missing: &str, line: &dyn Fn(usize, &str) -> String| -> String {
        (0..40).map(|t| line(t, if t % 3 == 0 { missing } else { "2" })).collect()
    };
    let csv = |t: usize, w: &str| format!("{},{w},{}\n", t % 7, ["x", "y"][t % 2]);
    let json =
        |t: usize, w: &str| format!("{{\"a\":{},\"w\":{w},\"label\":\"{}\"}}\n", t % 7, ["x", "y"][t % 2]);
    let folder = Folder::new();
    let loss = |name: &str, text: String| {
        folder.write(name, text);
        folder.summary(&format!("{name} --learner ogd --weight w"))["log_loss"].clone()
    };
    let expected = loss("a.csv", "a,w,label\n".to_owned() + &lines("1", &csv));
    for word in ["", "NA", "nan", "?"] {
        assert_eq!(loss("a.csv", "a,w,label\n".to_owned() + &lines(word, &csv)), expected, "{word}");
    }
    for word in ["null", "NaN"] {
        assert_eq!(loss("a.ndjson", lines(word, &json)), expected, "{word}");
    }
}

/// Rounds to predict are none to learn from.
#[test]
fn rounds_without_a_cost_are_refused() {
    let folder = Folder::with("a.vw", "shared |u x\n|a y\n|a z\n\n".repeat(3));
    folder.write("a.json", "{\"u\":1,\"_multi\":[{\"k\":1},{\"k\":2}]}\n".repeat(3));
    for (file, place) in [
        ("a.vw", ": in a round, the line of the action that was played begins with action:cost:probability"),
        (
            "a.json",
            ": a round has the cost of the action that was played, in Vowpal Wabbit's JSON as _label_cost or as one reward in \"o\"",
        ),
    ] {
        folder
            .run(&format!("run {file} --feedback bandit --quiet"))
            .failed(2, &format!("{file}: none of its 3 rows has a label{place}"));
    }
}
