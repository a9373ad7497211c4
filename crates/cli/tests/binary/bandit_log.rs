//! Bandit models saved and continued; decision logs, and what is made of them.

use noregret::model::{Archive, Numbers};

use crate::util::{Folder, libsvm, rows};

/// Every bandit learner, with parameters that let it learn something in a short run.
const LEARNERS: &[&str] = &[
    "banditron --set exploration=0.2",
    "newtron",
    "pnewtron --set centre=played",
    "soba --set exploration=0.2",
    "soba-diag --set exploration=adaptive",
    "soba-reduction --set exploration=0.2",
    "confidit",
    "confidit-diag",
    "bandit-reduction --set exploration=0.3 --set base=ogd",
    "bandit-reduction --set exploration=0.3 --set base=gaf --set base.samples=4",
    "exp4 --set policies=20",
    "squarecb",
    "fastcb --set schedule=root",
    "offers",
    "auto --feedback bandit --set members=labels+pairs+shared@0.1",
    "gaptron-hinge --feedback bandit",
    "gaptron-logistic --feedback bandit --set exploration=0.2 --set rate=0.1",
];

/// All of a model file but what it says of the run.
fn state(folder: &Folder, model: &str) -> (Vec<(String, Numbers)>, Vec<String>) {
    let archive = Archive::from_bytes(&folder.read(model)).unwrap();
    let tensors = archive.tensors().map(|(name, numbers)| (name.to_owned(), numbers.clone()));
    let texts = ["algorithm", "params", "problem", "labels", "encoding", "schema"]
        .map(|name| archive.text(name).unwrap().to_owned());
    (tensors.collect(), texts.to_vec())
}

fn named(text: &str) -> String {
    text.lines().map(|line| line.replacen(' ', " | ", 1) + "\n").collect()
}

/// By pipes, of which nothing is known but what is declared: in halves as in whole.
#[test]
fn a_run_in_two_parts_is_the_run_in_one() {
    let text = libsvm(&rows(240, 3, 4));
    let cut = text.match_indices('\n').nth(99).unwrap().0 + 1;
    for learner in LEARNERS {
        let folder = Folder::new();
        let run = format!(
            "run - --quiet --json --format libsvm --learner {learner} --seed 3 --set classes=3 --set features=4"
        );
        let whole = folder.run_with(&format!("{run} --save whole"), &text).succeeded().summary();
        let first = folder.run_with(&format!("{run} --save half"), &text[..cut]).succeeded().summary();
        let rest = "run - --quiet --json --load half --save joined";
        let rest = folder.run_with(rest, &text[cut..]).succeeded().summary();
        let errors = |summary: &serde_json::Value| summary["errors"].as_f64().unwrap();
        assert_eq!(errors(&first) + errors(&rest), errors(&whole), "{learner}");
        assert!(state(&folder, "whole") == state(&folder, "joined"), "{learner}: the states differ");
    }
}

#[test]
fn a_model_remembers_what_it_hears() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    for told in ["full", "bandit"] {
        let run = format!("run a.svm --quiet --learner gaptron-hinge --feedback {told} --save {told}");
        folder.run(&run).succeeded();
        let object = folder.run(&format!("inspect {told} --json")).succeeded().objects().remove(0);
        assert_eq!((object["feedback"].as_str(), object["rounds"].as_u64()), (Some(told), Some(60)));
        folder.run(&format!("run a.svm --quiet --load {told}")).succeeded();
    }
    assert!(folder.run("inspect bandit").stdout.contains("\nfeedback     whether the label"));
    folder
        .run("run a.svm --quiet --load full --feedback bandit")
        .failed(1, "--feedback: the model full learns from the label; omit the option");
    folder.run("run a.svm --quiet --load bandit --feedback full").failed(
        1,
        "--feedback: the model bandit learns from whether the label that it played was right; omit the option",
    );
    folder
        .run("run a.svm --quiet --load bandit --seed 4")
        .failed(1, "--seed 4: the generator of labels continues from the model; omit the option");
    folder
        .run("merge bandit bandit -o merged")
        .failed(2, "gaptron-hinge cannot be merged: what it learns does not add up");
    assert_eq!(folder.names(), ["a.svm", "bandit", "full"]);
}

#[test]
fn bandit_models_predict() {
    let folder = Folder::with("a.svm", libsvm(&rows(400, 3, 4)));
    folder.run("run a.svm --quiet --learner soba --set exploration=0.3 --save model").succeeded();
    let ran = folder.run("predict model a.svm --probabilities").succeeded();
    for object in ran.objects() {
        let p: Vec<f64> =
            object["probabilities"].as_object().unwrap().values().map(|p| p.as_f64().unwrap()).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(p.iter().all(|p| (p - 0.1).abs() < 1e-12 || (p - 0.8).abs() < 1e-12), "{p:?}");
    }
    let right = |options: &str| {
        let ran = folder.run(&format!("predict model a.svm {options}")).succeeded();
        let data = folder.text("a.svm");
        data.lines().zip(ran.stdout.lines()).filter(|(row, label)| row.starts_with(label)).count()
    };
    assert!(right("--greedy") > right("") + 30, "exploring costs: {} {}", right("--greedy"), right(""));
}

/// Bad parameters are refused before the data are looked at.
#[test]
fn parameters_are_refused_first() {
    let folder = Folder::with("a.svm", "a 1:1\nb 1:x\n");
    for (learner, sentence) in [
        ("soba --set exploration=1.5", "exploration = 1.5: must be in [0, 1]"),
        ("banditron --set exploration=-1", "exploration = -1: must be in [0, 1]"),
        ("ogd --set rate=-1", "rate = -1: must be a finite number > 0"),
    ] {
        folder.run(&format!("run a.svm --learner {learner}")).failed(1, sentence);
    }
}

/// Endings of logs by columns.
const PARQUET: Option<&str> = if cfg!(feature = "parquet") { Some("parquet") } else { None };

fn same_after_replay(folder: &Folder, run: &str, log: &str, what: &str) {
    folder.run(&format!("{run} --quiet --log {log} --save model-{log}")).succeeded();
    let ran = folder.run(&format!("replay {log} --save replayed-{log} --json")).succeeded();
    assert!(ran.objects()[0]["rounds"].as_u64() > Some(100), "{what}: {}", ran.stdout);
    let [model, replayed] = ["model", "replayed"].map(|name| state(folder, &format!("{name}-{log}")));
    assert!(model == replayed, "{what}: the models differ");
}

/// A replayed log makes the model that the run made: every learner, with feedback at once, late and out of
/// order.
#[test]
fn a_replay_is_the_run() {
    let folder = Folder::with("a.svm", libsvm(&rows(240, 3, 4)));
    for (at, learner) in LEARNERS.iter().enumerate() {
        for (way, options) in
            ["", "--delay 17", "--delay geometric:9", "--exploration-floor 0.05 --delay uniform:5"]
                .iter()
                .enumerate()
        {
            let run = format!("run a.svm --learner {learner} --seed 5 {options}");
            let ending = PARQUET.filter(|_| (at + way) % 3 == 0).unwrap_or("ndjson");
            let log = format!("log-{at}-{way}.{ending}");
            same_after_replay(&folder, &run, &log, &format!("{learner} {options}"));
        }
    }
}

/// A log says which numbers were missing. In a log of an earlier program, whose header does not say what they
/// are, they are 0.
#[test]
fn missing_numbers_are_in_the_log() {
    let text = |hole: &str| -> String {
        let cell = |t: usize, at: usize, x: f64| {
            if t % 5 == at + 1 { hole.to_owned() } else { (50.0 + x).to_string() }
        };
        let line = |(t, (label, x)): (usize, (usize, Vec<f64>))| {
            format!("c{label} 1:{} 2:{}\n", cell(t, 0, x[0]), cell(t, 1, x[1]))
        };
        rows(240, 2, 2).into_iter().enumerate().map(line).collect()
    };
    let folder = Folder::with("a.svm", text("nan"));
    folder.write("zero.svm", text("0"));
    for ending in ["ndjson"].into_iter().chain(PARQUET) {
        let log = format!("log.{ending}");
        same_after_replay(&folder, "run a.svm --learner soba --delay 17 --seed 5", &log, ending);
    }
    assert!(folder.text("log.ndjson").contains("null"));
    folder.run("run zero.svm --learner soba --seed 5 --quiet --log zero.ndjson --save zero").succeeded();
    let before = folder.text("zero.ndjson");
    let (header, lines) = before.split_once('\n').unwrap();
    let old = header.replace(",\"fills_missing\":true", "");
    assert_ne!(old, header);
    let line = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for value in line.get_mut("x").and_then(serde_json::Value::as_array_mut).into_iter().flatten() {
            if *value == 0 {
                *value = serde_json::Value::Null;
            }
        }
        format!("{line}\n")
    };
    folder.write("old.ndjson", old + "\n" + &lines.lines().map(line).collect::<String>());
    folder.run("replay old.ndjson --save old").succeeded();
    let [zero, old] = ["zero", "old"].map(|model| state(&folder, model).0);
    assert!(zero == old, "the models differ");
}

/// Numbered and named columns, categories, classes and columns that come up on the way, hashes, compression.
/// A number in a row, or an answer, is changed: the replay does not go on as if nothing were.
#[test]
fn a_changed_feature_or_answer_is_found() {
    let folder = Folder::with("a.svm", libsvm(&rows(90, 3, 4)));
    for (at, learner) in LEARNERS.iter().enumerate() {
        let log = format!("log{at}.ndjson");
        folder.run(&format!("run a.svm --quiet --learner {learner} --log {log}")).succeeded();
        let lines: Vec<serde_json::Value> =
            folder.text(&log).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let answered = |line: &serde_json::Value| line["correct"] == true;
        // Where something is known already. Right answers are what every learner learns from, though not from
        // each of them.
        let right: Vec<usize> = (30..60).filter(|line| answered(&lines[*line])).collect();
        assert!(!right.is_empty(), "{learner}");
        let changed = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut lines = lines.clone();
            right.iter().for_each(|line| change(&mut lines[*line]));
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            folder.write("changed.ndjson", text);
            folder.run("replay changed.ndjson --save m")
        };
        let found = "the decision is not the learner's: lines are missing, changed or out of order";
        changed(&|_| {}).succeeded();
        let refused = |outcome: crate::util::Ran| {
            assert_eq!(outcome.code, 2, "{learner}");
            assert!(outcome.stderr.trim_end().ends_with(found), "{learner}: {}", outcome.stderr);
        };
        refused(changed(&|line| line["correct"] = false.into()));
        refused(changed(&|line| {
            let x = &mut line["x"];
            let first = if let Some(map) = x.as_object_mut() {
                map.values_mut().next()
            } else {
                x.as_array_mut().and_then(|list| list.first_mut())
            };
            *first.unwrap() = 0.015625.into();
        }));
    }
}

#[test]
fn whatever_the_data_a_replay_is_the_run() {
    let text = libsvm(&rows(240, 3, 4));
    let folder = Folder::with("a.svm", &text);
    folder.write("a.vw", named(&text));
    let mut csv = "hue,size,kind\n".to_owned();
    for (label, x) in rows(240, 3, 1) {
        csv += &format!("{},{},k{label}\n", ["red", "green", "blue"][label], x[0]);
    }
    folder.write("a.csv", csv);
    let learner = "--learner banditron --set exploration=0.3";
    for (at, (data, options)) in [
        ("a.svm", "--scale none --no-intercept"),
        ("a.svm", "--scale unit --on-large-row clip"),
        ("a.svm", "--hash-bits 3"),
        ("a.vw", "--scale maxabs"),
        ("a.vw", "--hash-bits 4 --limit 150"),
        ("a.csv", "--scale standard"),
    ]
    .into_iter()
    .enumerate()
    {
        for ending in ["ndjson", "ndjson.gz", "ndjson.zst"].into_iter().chain(PARQUET) {
            let run = format!("run {data} {learner} {options}");
            same_after_replay(&folder, &run, &format!("log{at}.{ending}"), &run);
        }
    }
    assert!(folder.read("log0.ndjson.gz").starts_with(&[0x1f, 0x8b]));
    assert!(folder.read("log0.ndjson.zst").starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    for (name, format) in [("a.svm", "libsvm"), ("a.vw", "vw"), ("a.csv", "csv")] {
        let run = format!(
            "run - {learner} --format {format} --set classes=4 --set features=6 --quiet --log pipe-{name} --save model-{name}"
        );
        folder.run_with(&run, folder.read(name)).succeeded();
        folder.run(&format!("replay pipe-{name} --save replayed-{name}")).succeeded();
        assert!(
            state(&folder, &format!("model-{name}")) == state(&folder, &format!("replayed-{name}")),
            "{name} by a pipe: the models differ"
        );
        if PARQUET.is_some() {
            let log = format!("pipe-{name}.parquet");
            let run = run.replace(&format!("pipe-{name}"), &log);
            folder.run_with(&run, folder.read(name)).succeeded();
            folder.run(&format!("replay {log} --save replayed-{name}")).succeeded();
            let [model, replayed] = ["model", "replayed"].map(|of| state(&folder, &format!("{of}-{name}")));
            assert!(model == replayed, "{log}: the models differ");
        }
        let log = folder.text(&format!("pipe-{name}"));
        assert!(log.contains("\n{\"labels\":["), "names that come up are written down");
    }
}

#[test]
fn a_log_goes_on_from_its_model() {
    let folder = Folder::with("a.svm", libsvm(&rows(240, 3, 4)));
    let run = "run a.svm --quiet --learner soba-diag --set exploration=0.2";
    folder.run(&format!("{run} --limit 100 --save first")).succeeded();
    folder.run("run a.svm --quiet --load first --log log --save second").succeeded();
    folder.run("replay log --load first --save replayed").succeeded();
    assert!(state(&folder, "second") == state(&folder, "replayed"));
    let digest = Archive::from_bytes(&folder.read("first")).unwrap().digest();
    folder.run("replay log").failed(
        2,
        &format!("log: the log continues from a saved model with digest {digest}, which is not given; pass it with --load"),
    );
    let ran = folder.run("replay log --load second");
    assert!(ran.stderr.contains("log: the log continues from a model with digest"), "{}", ran.stderr);
    folder.run(&format!("{run} --log new")).succeeded();
    folder
        .run("replay new --load first")
        .failed(2, "new: the log starts with a new learner, but a model is given; leave out --load");
    folder
        .run(&format!("{run} --log new"))
        .failed(1, "--log new: exists already; logs are never overwritten");
}

#[test]
fn what_a_log_cannot_hold_is_refused() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    for (arguments, sentence) in [
        ("--learner ogd --log log", "--log: is for learners of bandit feedback; ogd sees the label"),
        (
            "--learner ogd --exploration-floor 0.1",
            "--exploration-floor: is for learners of bandit feedback; ogd sees the label",
        ),
        (
            "--learner soba --exploration-floor 0.5",
            "--exploration-floor 0.5: must be from 0 to 0.333333, one over the number of classes",
        ),
        (
            "--learner soba --log log --on-bad-row skip",
            "--log: needs --on-bad-row fail, or --scale none or unit: a skipped row changes the scaling (standard) but has no line in the log",
        ),
    ] {
        folder.run(&format!("run a.svm --quiet {arguments}")).failed(1, sentence);
    }
    let ran = folder.run("run a.svm --delay geometric:x");
    assert!(ran.code == 1 && ran.stderr.contains("is none of ROUNDS, geometric:MEAN and uniform:MAX"));
    assert_eq!(folder.names(), ["a.svm"]);
}

/// By columns or by lines, a log says the same; and what is no such file is refused.
#[test]
fn logs_by_columns() {
    let folder = Folder::with("a.svm", libsvm(&rows(400, 3, 4)));
    let run = "run a.svm --quiet --learner bandit-reduction --set exploration=0.4 --delay uniform:9 --log";
    if PARQUET.is_none() {
        let sentence = "--log log.parquet: writing Parquet needs the cargo feature parquet, which this build does not have";
        folder.run(&format!("{run} log.parquet")).failed(1, sentence);
        assert_eq!(folder.names(), ["a.svm"]);
        return;
    }
    let evaluated = |log: &str| {
        folder.run(&format!("{run} {log}")).succeeded();
        folder.run(&format!("evaluate {log} --policy greedy --json")).succeeded().stdout
    };
    assert_eq!(evaluated("log.ndjson"), evaluated("log.parquet"));
    let bytes = folder.read("log.parquet");
    assert!(bytes.starts_with(b"PAR1") && bytes.len() < folder.read("log.ndjson").len() / 2);
    folder.write("cut.parquet", &bytes[..bytes.len() - 9]);
    let ran = folder.run("replay cut.parquet");
    assert!(
        ran.code == 2 && ran.stderr.contains("cut.parquet: is not a readable Parquet file: "),
        "{}",
        ran.stderr
    );
    folder.run("generate synsep --rows 9 -o rows.parquet").succeeded();
    let ran = folder.run("replay rows.parquet");
    assert!(ran.code == 2 && ran.stderr.contains("rows.parquet:1: "), "{}", ran.stderr);
    folder
        .run(&format!("{run} log.parquet"))
        .failed(1, "--log log.parquet: exists already; logs are never overwritten");
}

/// A log that is not what happened is refused where it first shows.
#[test]
fn a_changed_log_is_found_out() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    let run = "run a.svm --quiet --learner banditron --set exploration=0.3 --delay 3 --log log";
    folder.run(run).succeeded();
    let log = folder.text("log");
    let lines: Vec<&str> = log.lines().collect();
    let line = |number: usize| lines[number - 1];
    // Lines: header, decisions 1 to 4, the feedback of 1, decision 5, …
    assert!(line(6).starts_with("{\"id\":\"1\",\"correct\":") && line(7).starts_with("{\"id\":\"5\""));
    let replay = |changed: Vec<String>, at: usize, what: &str| {
        folder.write("changed", changed.join("\n"));
        folder.run("replay changed").failed(2, &format!("changed:{at}: {what}"));
    };
    let edit = |number: usize, text: String| {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        changed[number - 1] = text;
        changed
    };
    let without = |number: usize| {
        let mut changed = edit(1, line(1).to_owned());
        changed.remove(number - 1);
        changed
    };
    let unknown = |id: &str| {
        format!(
            "feedback for {id:?}, but no decision with this id is pending: it never existed, has its feedback, or was discarded"
        )
    };
    replay(edit(6, line(6).replace("\"1\"", "\"77\"")), 6, &unknown("77"));
    replay(edit(8, line(6).to_owned()), 8, &unknown("1"));
    replay(
        edit(3, line(3).replace("\"id\":\"2\"", "\"id\":\"1\"")),
        3,
        "the id \"1\" is that of a pending decision; ids must be unique",
    );
    replay(
        edit(1, "{\"labels\":[\"c0\",\"c1\",\"c2\"]}".to_owned()),
        2,
        "the log has no header, which describes the learner",
    );
    let sentence = "others:1: is not a line of a decision log, which is an object of JSON; another program's log is for ";
    for text in ["1:0:0.5 | a:2\n", "age,label\n3,x\n", "[1]\n"] {
        folder.write("others", text);
        let said = folder.run("replay others").stderr;
        assert!(said.starts_with(&format!("noregret: {sentence}")), "{said}");
    }
    let wrong = line(6).contains("true");
    let flipped = line(6).replace(if wrong { "true" } else { "false" }, if wrong { "false" } else { "true" });
    folder.write("changed", edit(6, flipped).join("\n"));
    let ran = folder.run("replay changed");
    assert!(ran.code == 2 && ran.stderr.contains("the decision is not the learner's"), "{}", ran.stderr);
    folder.write("changed", without(2).join("\n"));
    let ran = folder.run("replay changed");
    assert!(ran.code == 2 && ran.stderr.contains("the label is not the one that the log's generator draws"));
    folder.write("cut", &log[..log.len() - 5]);
    let ran = folder.run("replay cut");
    assert!(
        ran.code == 0 && ran.stderr.contains("the log's last line is incomplete and was ignored: cut:"),
        "{}",
        ran.stderr
    );
    folder.write("cut", [&log[..log.len() - 5], "\n"].concat());
    let ran = folder.run("replay cut");
    assert!(ran.code == 2 && ran.stderr.contains("is not a line of a decision log"), "{}", ran.stderr);
}
