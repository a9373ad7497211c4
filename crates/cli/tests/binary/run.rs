//! `noregret run`: what is learnt, and what is said about it.

use serde_json::Value;

use crate::util::{Folder, gzip, libsvm, rows};

/// The numbers of a summary that do not depend on how long it took or where the data came from.
fn numbers(summary: &Value) -> Value {
    let mut summary = summary.clone();
    for key in ["seconds", "rows_per_second", "data"] {
        summary.as_object_mut().unwrap().remove(key);
    }
    summary
}

#[test]
fn the_table_says_what_was_decided_and_how_it_went() {
    let folder = Folder::with("a.csv", "size,hue,label\n1,red,no\n2,blue,yes\n4,red,no\n3,blue,yes\n");
    let ran = folder.run("run a.csv --save model").succeeded();
    for part in [
        "a.csv: format csv, delimiter comma, header yes, label column \"label\" (number 3), numeric columns 1, categorical columns \"hue\"",
        "4 rows, 2 classes, 3 features, 2.0 non-zero a row",
        "with intercept, dense rows",
        "learner  auto: budget=0.6 member_memory=1024 members=labels+pairs+booster@3:4+trees+forest+neighbours+shared@0.01+",
        "The model is in model.",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let learner = ran.stderr.lines().find(|line| line.contains("learner  ")).unwrap();
    assert!(
        learner.split_whitespace().all(|word| word.len() < 24 || word.starts_with("members=")),
        "too many digits to be read: {learner}"
    );
    let table: Vec<&str> = ran.stderr.lines().skip_while(|line| !line.contains("rounds ")).collect();
    assert_eq!(
        table[0].split_whitespace().collect::<Vec<_>>().join(" "),
        "rounds error last 1000 log-loss last 1000 largest weight"
    );
    let rounds: Vec<&str> = table[1..].iter().filter_map(|row| row.split_whitespace().next()).collect();
    assert_eq!(rounds, ["1", "2", "4", "The"], "the last row is there though it is no power");
    let names: Vec<&str> = ran.stdout.lines().map(|line| line[..22].trim_end()).collect();
    let expected = [
        "learner",
        "rounds",
        "errors",
        "error rate",
        "log-loss (nats)",
        "cumulative log-loss",
        "naming the commonest",
        "repeating the last",
        "frequencies' log-loss",
        "seconds",
    ];
    assert_eq!(names, expected);
    assert_eq!(folder.run("run a.csv --quiet").succeeded().stderr, "");
}

/// The number of classes of a pipe is not known beforehand: the third comes up in round 4, and costs ln 4.
#[test]
fn a_pipe_brings_its_classes() {
    let rows = "a 1:1\nb 2:1\na 1:1\nc 1:1 2:1\nb 2:1\n";
    for learner in ["auto", "folklore", "ogd"] {
        let folder = Folder::new();
        let pipe = format!("run - --learner {learner} --format libsvm --set features=2 --json --save model");
        let ran = folder.run_with(&pipe, rows).succeeded();
        let summary = ran.objects().pop().unwrap();
        assert_eq!((&summary["classes"], &summary["rounds"]), (&3.into(), &5.into()), "{learner}");
        let costs = summary["numbers"]["first_appearances"].as_array().unwrap();
        let costs: Vec<f64> = costs.iter().map(|cost| cost.as_f64().unwrap()).collect();
        assert!(
            costs.len() == 3
                && costs.iter().zip([1.0, 2.0, 4.0f64]).all(|(cost, t)| (cost - t.ln()).abs() < 1e-12)
        );
        assert!(summary["log_loss"].as_f64().unwrap() < 2.0);
        let ran = folder.run_with(&pipe.replace("--json", ""), rows).succeeded();
        let cost = (1.0f64 * 2.0 * 4.0).ln();
        let line = format!("new classes            3, whose first rounds cost {cost:.3} of the log-loss\n");
        assert!(ran.stdout.contains(&line), "{}", ran.stdout);
        // The model knows their names, and goes on with as many.
        let more =
            folder.run_with("run - --load model --format libsvm --json", "c 1:1 2:1\na 1:1\n").succeeded();
        assert_eq!(more.objects().pop().unwrap()["classes"], 3);
    }
}

#[test]
fn json_has_every_number() {
    let folder = Folder::with("a.svm", libsvm(&rows(1234, 3, 4)));
    let ran = folder.run("run a.svm --json --window 100 --seed 5").succeeded();
    assert_eq!(ran.stderr, "");
    let lines = ran.objects();
    let (summary, progress) = lines.split_last().unwrap();
    let rounds: Vec<&Value> = progress.iter().map(|line| &line["rounds"]).collect();
    assert_eq!(rounds, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1234]);
    assert!(progress.iter().all(|line| line["type"] == "progress"));
    assert_eq!(summary["type"], "summary");
    for line in &lines {
        for of in [line, &line["window"]] {
            for key in ["rounds", "errors"] {
                assert!(of[key].is_u64(), "{key}: {line}");
            }
            for key in ["error_rate", "greedy_error_rate", "log_loss"] {
                assert!(of[key].is_f64(), "{key}: {line}");
            }
        }
        assert!(
            line["seconds"].as_f64() > Some(0.0) && line["rows_per_second"].as_f64() > Some(0.0),
            "{line}"
        );
    }
    assert_eq!((&summary["rounds"], &summary["window"]["rounds"]), (&1234.into(), &100.into()));
    let rate = summary["errors"].as_f64().unwrap() / 1234.0;
    assert_eq!(summary["error_rate"], rate);
    assert!(rate < 0.3, "the stream can be learnt: {rate}");
    assert_eq!(
        (&summary["seed"], &summary["classes"], &summary["features"]),
        (&5.into(), &3.into(), &4.into())
    );
    for (key, value) in [("bad_rows", 0), ("large_rows", 0), ("dropped_features", 0)] {
        assert_eq!(summary[key], value, "{key}");
    }
    let parameters = summary["resolved_parameters"].as_object().unwrap();
    let names: Vec<&String> = parameters.keys().collect();
    assert_eq!(names, ["budget", "member_memory", "members"]);
    // The weights of the members are shown during the run.
    let weights = summary["weights"].as_object().unwrap().values();
    let total: f64 = weights.map(|weight| weight.as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{summary}");
}

#[test]
fn arff_is_the_table_that_it_declares() {
    let folder = Folder::new();
    let rows = rows(300, 3, 4);
    let (mut csv, mut arff) =
        ("a,b,c,d,sky,class\n".to_owned(), "% Weather.\n@relation weather\n\n".to_owned());
    for name in ["a", "b", "c", "d"] {
        arff.push_str(&format!("@attribute {name} numeric\n"));
    }
    arff.push_str("@attribute sky {clear, 'very grey'}\n@ATTRIBUTE class {0, 1, 2}\n@data\n");
    let mut sparse = arff.clone();
    for (at, (label, x)) in rows.iter().enumerate() {
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        let sky = if at % 3 == 0 { "very grey" } else { "clear" };
        csv.push_str(&format!("{},{sky},{label}\n", cells.join(",")));
        arff.push_str(&format!("{}, '{sky}', {label}\n", cells.join(", ")));
        let cells: Vec<String> = x.iter().enumerate().map(|(at, value)| format!("{at} {value}")).collect();
        sparse.push_str(&format!("{{{}, 4 '{sky}', 5 {label}}}\n", cells.join(", ")));
    }
    folder.write("a.csv", csv);
    folder.write("a.arff", &arff);
    folder.write("b.arff.gz", gzip(&arff));
    folder.write("no-ending", &arff);
    folder.write("sparse.arff", sparse);
    let summary = |arguments: &str| {
        let summary = folder.summary(&format!("{arguments} --learner folklore"));
        (summary["log_loss"].as_f64().unwrap(), summary["features"].as_u64(), summary["classes"].as_u64())
    };
    let expected = summary("a.csv --save m");
    for file in ["a.arff", "b.arff.gz", "no-ending"] {
        assert_eq!(summary(file), expected, "{file}");
    }
    // The columns come in another order.
    let (loss, features, classes) = summary("sparse.arff");
    assert!((loss - expected.0).abs() < 1e-9, "{loss} {expected:?}");
    assert_eq!((features, classes), (expected.1, expected.2));
    // A saved model reads either.
    let predicted = |file: &str| folder.run(&format!("predict m {file} --probabilities")).succeeded().stdout;
    assert_eq!(predicted("a.arff"), predicted("a.csv"));
}

#[test]
fn every_format_and_compression_gives_the_same_numbers() {
    let rows = rows(300, 3, 4);
    let line = |row: &(usize, Vec<f64>), pair: &dyn Fn(usize, &f64) -> String, between: &str| {
        row.1.iter().enumerate().map(|(at, value)| pair(at, value)).collect::<Vec<_>>().join(between)
    };
    let folder = Folder::new();
    let text = libsvm(&rows);
    folder.write("a.svm.gz", gzip(&text));
    folder.write("renamed.gz", gzip(&text));
    folder.write("a.svm.zst", zstd::encode_all(text.as_bytes(), 3).unwrap());
    folder.write("a.svm", &text);
    let csv =
        |row: &(usize, Vec<f64>)| format!("{},c{}\n", line(row, &|_, value| value.to_string(), ","), row.0);
    folder.write("a.csv", "f1,f2,f3,f4,label\n".to_owned() + &rows.iter().map(csv).collect::<String>());
    let tabs =
        |row: &(usize, Vec<f64>)| format!("c{}\t{}\n", row.0, line(row, &|_, value| value.to_string(), "\t"));
    folder.write("a.tsv", "class\tf1\tf2\tf3\tf4\n".to_owned() + &rows.iter().map(tabs).collect::<String>());
    let vw = |row: &(usize, Vec<f64>)| {
        format!("c{} | {}\n", row.0, line(row, &|at, value| format!("f{at}:{value}"), " "))
    };
    folder.write("a.vw", rows.iter().map(vw).collect::<String>());
    let array = |row| {
        format!("{{\"x\": [{}], \"y\": \"c{}\"}}\n", line(row, &|_, value| value.to_string(), ", "), row.0)
    };
    folder.write("a.jsonl", rows.iter().map(array).collect::<String>());
    let object = |row| {
        format!(
            "{{{}, \"label\": \"c{}\"}}\n",
            line(row, &|at, value| format!("\"f{at}\": {value}"), ", "),
            row.0
        )
    };
    folder.write("flat.jsonl", rows.iter().map(object).collect::<String>());
    for learner in ["folklore", "ogd"] {
        let numbers = |data: &str| numbers(&folder.summary(&format!("{data} --learner {learner}")));
        let plain = numbers("a.svm");
        assert_eq!(plain["rounds"], 300);
        for data in ["a.svm.gz", "renamed.gz", "a.svm.zst", "a.csv", "a.tsv", "a.vw", "a.jsonl", "flat.jsonl"]
        {
            assert_eq!(numbers(data), plain, "{learner} {data}");
        }
    }
}

#[test]
fn a_pipe_gives_the_numbers_of_the_file() {
    let text = libsvm(&rows(300, 3, 4));
    let folder = Folder::with("a.svm", &text);
    for scale in ["none", "unit", "maxabs", "standard"] {
        // What reads ahead of files only differs in the last bits.
        let known = format!(
            "--learner folklore --scale {scale} --set radius=4 --set classes=3 --set features=4 --json --quiet"
        );
        let file = folder.run(&format!("run a.svm {known}")).succeeded().summary();
        for (data, options) in [(text.as_bytes(), ""), (&gzip(&text), "--format libsvm")] {
            let pipe = folder.run_with(&format!("run - {known} {options}"), data).succeeded().summary();
            assert_eq!(numbers(&pipe), numbers(&file), "{scale}");
            assert_eq!(pipe["data"], "-");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = Folder::with("a.svm", libsvm(&rows(200, 3, 4)));
    for learner in ["folklore", "ogd"] {
        let run = |model: &str| {
            let arguments = format!("run a.svm --learner {learner} --json --seed 7 --save {model}");
            let ran = folder.run(&arguments).succeeded();
            (numbers(&ran.summary()), folder.read(model))
        };
        let ((numbers, bytes), (again, same)) = (run("one"), run("two"));
        assert_eq!(numbers, again);
        assert!(bytes == same, "{learner}: the model files differ");
    }
}

#[test]
fn unlabelled_and_weightless_rows_teach_nothing() {
    let plain = libsvm(&rows(40, 2, 3));
    let mut mixed = String::new();
    for (at, line) in plain.lines().enumerate() {
        mixed += &format!("{line}\n");
        if at % 3 == 0 {
            mixed += "1:0.5 3:-0.25\n";
        }
    }
    let folder = Folder::with("plain.svm", &plain);
    folder.write("mixed.svm", mixed);
    let as_vw = |line: &str, importance: &str| line.replacen(' ', &format!(" {importance} | "), 1) + "\n";
    let vw: String = plain.lines().map(|line| as_vw(line, "1") + &as_vw("c0 1:0.5 3:-0.25", "0")).collect();
    folder.write("zero.vw", vw);
    let run = |data: &str| {
        let summary = folder.summary(&format!("{data} --learner folklore --scale none --set radius=6"));
        (summary["rounds"].clone(), summary["log_loss"].clone())
    };
    let expected = run("plain.svm");
    assert_eq!(expected.0, 40);
    assert_eq!(run("mixed.svm"), expected);
    assert_eq!(run("zero.vw"), expected);
    let ran = folder.run("run mixed.svm").succeeded();
    assert!(ran.stderr.contains("54 rows, 40 labelled, 2 classes"), "{}", ran.stderr);
}

#[test]
fn weights_count() {
    let row = |weight: &str| format!("a {weight} | x:1\nb 1 | x:-1\na 1 | x:0.5\n");
    let folder = Folder::with("one.vw", row("1"));
    folder.write("two.vw", row("2"));
    let loss = |data: &str| folder.summary(&format!("{data} --learner ogd"))["log_loss"].as_f64().unwrap();
    assert_ne!(loss("one.vw"), loss("two.vw"));
    folder.write("w.csv", "x,w,label\n1,2,a\n-1,1,b\n0.5,1,a\n");
    let csv = folder.summary("w.csv --learner ogd --weight w")["log_loss"].as_f64().unwrap();
    assert_eq!(csv, loss("two.vw"));
}

#[test]
fn late_labels_teach_late() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    let run = |delay| folder.summary(&format!("a.svm --delay {delay} --save model{delay}"));
    let (none, one, all) = (run(0), run(1), run(100));
    assert_eq!(numbers(&folder.summary("a.svm")), numbers(&none));
    assert!(none["log_loss"].as_f64() < one["log_loss"].as_f64(), "{none} {one}");
    // Nothing was known while the rows came: every forecast is uniform.
    assert!((all["log_loss"].as_f64().unwrap() - 3.0_f64.ln()).abs() < 1e-12);
    // In the end everything arrives.
    let rounds = |model: &str| folder.run(&format!("inspect {model} --json")).objects()[0]["rounds"].clone();
    assert_eq!((rounds("model1"), rounds("model100")), (60.into(), 60.into()));
    assert_ne!(folder.read("model0"), folder.read("model100"));
}

#[test]
fn a_limit_stops_early() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    assert_eq!(folder.summary("a.svm --limit 7")["rounds"], 7);
    assert_eq!(folder.summary("a.svm --limit 1000")["rounds"], 60);
}

#[test]
fn options_of_reading_are_heeded() {
    let folder = Folder::with("a.txt", "1;2;3\n2;5;4\n1;3;1\n");
    let features = |options: &str| folder.summary(&format!("a.txt {options}"))["features"].as_u64().unwrap();
    assert_eq!(features("--label 1"), 2);
    assert_eq!(features("--label 1 --categorical 2,3"), 6);
    assert_eq!(features("--label 1 --no-intercept"), 2);
    assert_eq!(features("--label 1 --hash-bits 4"), 16);
    assert_eq!(features("--label 1 --set features=10"), 10);
    assert_eq!(folder.summary("a.txt --label 1 --header yes")["rounds"], 2);
    assert_eq!(folder.run("run a.txt --label 1 --header no -q").succeeded().stderr, "");
    assert_eq!(folder.run("run a.txt --label 1 --delimiter ; --format csv -q").succeeded().code, 0);
    folder.write("a.svm", "1 1:2\n2 1:3\n");
    let sentence =
        "a.svm: is read as libsvm, where the label is first on the line; the label cannot be column \"y\"";
    folder.run("run a.svm --label y").failed(2, sentence);
}

#[test]
fn abstaining_buys_a_lower_risk() {
    let folder = Folder::with("a.svm", libsvm(&rows(2000, 3, 4)));
    let summary = folder.summary("a.svm --abstain-cost 0.1 --risk-plot risk.svg");
    let abstention = &summary["abstention"];
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    assert_eq!((&abstention["rule"], number(abstention, "asked")), (&"cost".into(), 0.1));
    let (coverage, risk) = (number(abstention, "coverage"), number(abstention, "risk"));
    assert!(coverage < 1.0 && risk < number(&summary, "error_rate"), "{abstention}");
    let cost = risk * coverage + 0.1 * (1.0 - coverage);
    assert!((number(abstention, "mean_cost") - cost).abs() < 1e-12 && cost < number(&summary, "error_rate"));
    assert!(abstention["guarantee"].as_str().unwrap().starts_with("none"));
    let curve = abstention["curve"].as_array().unwrap();
    let last = curve.last().unwrap();
    assert_eq!((number(last, "coverage"), number(last, "risk")), (1.0, number(&summary, "error_rate")));
    assert!(folder.text("risk.svg").contains("<svg"));
    let rate = &folder.summary("a.svm --abstain-rate 0.3")["abstention"];
    assert!((number(rate, "coverage") - 0.7).abs() < 61.0 / 2000.0, "{rate}");
    let table = folder.run("run a.svm --abstain-rate 0.3").succeeded().stdout;
    for name in ["coverage", "error rate, answered", "guarantee"] {
        assert!(table.contains(name), "{name}: {table}");
    }
    let fails =
        |options: &str, sentence: &str| folder.run(&format!("run a.svm {options}")).failed(1, sentence);
    fails(
        "--learner perceptron --abstain-cost 0.1",
        "--abstain-cost: perceptron does not forecast probabilities",
    );
    fails(
        "--learner soba --abstain-cost 0.1",
        "--abstain-cost: is for learners that see the label; soba learns from right or wrong",
    );
    fails("--risk-plot risk.pdf", "--risk-plot risk.pdf: must end in .svg or .png");
}

/// A file has no name by which another program would take it for something else.
#[test]
fn endings_say_what_is_in_a_file() {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    for (arguments, sentence) in [
        ("run a.svm --report r.pdf", "--report r.pdf: must end in .html"),
        ("compare a.svm --learners ogd --report r.svg", "--report r.svg: must end in .html"),
        ("run a.svm --predictions p.parquet", "--predictions p.parquet: must end in .csv, .ndjson or .jsonl"),
        ("run a.svm --predictions p.csv.gz", "--predictions p.csv.gz: must end in .csv, .ndjson or .jsonl"),
    ] {
        folder.run(arguments).failed(1, sentence);
    }
    folder.run("run a.svm --learner ogd --quiet --report r.HTM --predictions p").succeeded();
}

#[test]
fn boosting_shows_its_edges() {
    let folder = Folder::with("a.svm", libsvm(&rows(300, 3, 4)));
    let options = "a.svm --learner adaboost-olm --set copies=8 --set play=mixture --save model";
    let summary = folder.summary(options);
    assert!(summary["log_loss"].is_f64(), "a mixture forecasts probabilities");
    let edges = summary["numbers"]["edges"].as_array().unwrap();
    assert!(edges.len() == 8 && edges[0].as_f64() > Some(0.2), "{edges:?}");
    let inspected = folder.run("inspect model --json").succeeded().objects();
    assert_eq!(inspected[0]["numbers"], summary["numbers"]);
    assert!(folder.run("inspect model").succeeded().stdout.contains("edges "));
    assert_eq!(summary["resolved_parameters"]["weak.grace"], 5);
    let predicted = folder.run("predict model a.svm --probabilities").succeeded().stdout;
    assert_eq!(predicted.lines().count(), 300);
    // Late labels go through what was kept of a prediction.
    assert_eq!(folder.summary(&format!("{options} --delay 7"))["rounds"], 300);
}

#[test]
fn calibration_is_shown_where_asked() {
    let folder = Folder::with("a.svm", libsvm(&rows(600, 3, 4)));
    let summary = folder.summary("a.svm --calibration=classes");
    let rounds = |curve: &Value| -> u64 {
        curve["bins"].as_array().unwrap().iter().map(|bin| bin["rounds"].as_u64().unwrap()).sum()
    };
    let report = &summary["calibration"];
    let ece = report["ece"].as_f64().unwrap();
    assert!(ece > 0.0 && ece < 0.1 && rounds(report) == 600, "{report}");
    let classes = report["classes"].as_array().unwrap();
    assert!(classes.len() == 3 && classes.iter().all(|curve| rounds(curve) == 600), "{report}");
    assert!(folder.summary("a.svm").get("calibration").is_none());
    let named = folder.run("run a.svm --quiet --calibration=classes").succeeded().stdout;
    for class in ["c0", "c1", "c2"] {
        assert!(named.contains(&format!("\ncalibration of {class:<8}expected error ")), "{named}");
    }
    let ran = folder.run("run a.svm --quiet --calibration").succeeded();
    assert!(ran.stdout.contains("calibration            expected error 0.0"), "{}", ran.stdout);
    folder
        .run("run a.svm --quiet --calibration --learner perceptron")
        .failed(1, "--calibration: needs probabilities, which perceptron does not forecast");
}

/// Of side 4 * 262 = 1048, the products are large enough to be shared.
#[test]
fn a_single_run_does_not_depend_on_threads() {
    let folder = Folder::with("a.svm", libsvm(&rows(150, 5, 261)));
    let lines = |threads: &str| -> Vec<Value> {
        let ran = folder.run(&format!("run a.svm --json --learner folklore {threads}")).succeeded();
        ran.objects().iter().map(numbers).collect()
    };
    let one = lines("");
    assert!(one.len() > 5);
    for threads in ["--threads 1", "--threads 2", "--threads 3"] {
        assert_eq!(lines(threads), one, "{threads}");
    }
}

/// The members of a mixture share the threads.
#[test]
fn a_mixture_does_not_depend_on_threads() {
    let folder = Folder::new();
    folder.run("generate softmax --rows 400 --set classes=3 --set features=6 -o a.svm").succeeded();
    let left = |threads: usize| {
        let files = format!("--save m{threads} --predictions p{threads}.csv");
        folder.run(&format!("run a.svm --quiet --threads {threads} {files}")).succeeded();
        (folder.read(&format!("m{threads}")), folder.read(&format!("p{threads}.csv")))
    };
    let (model, predictions) = left(1);
    assert_eq!(predictions.iter().filter(|byte| **byte == b'\n').count(), 401);
    for threads in [2, 3] {
        let (again, same) = left(threads);
        assert!(again == model, "{threads} threads: the model files differ");
        assert!(same == predictions, "{threads} threads: the predictions differ");
    }
}
