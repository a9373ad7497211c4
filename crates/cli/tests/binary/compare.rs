//! `noregret compare` and `run --repeats`: many runs in one pass, each as it would be alone.

use serde_json::Value;

use crate::util::{Folder, libsvm, rows};

fn folder() -> Folder {
    Folder::with("a.svm", libsvm(&rows(3000, 4, 5)))
}

/// What a run learnt and how it did, without the time that it took and what only `compare` says.
fn facts(mut line: Value) -> Value {
    let object = line.as_object_mut().unwrap();
    for key in ["type", "seconds", "rows_per_second", "settings", "feedback", "baselines"] {
        object.remove(key);
    }
    line
}

/// Full-information and bandit learners, with parameters that change how rows are encoded, late labels and
/// drawn labels.
#[test]
fn every_run_is_that_of_run_to_the_bit() {
    let folder = folder();
    let common = "a.svm --scale unit --on-large-row clip --delay 7 --window 123 --limit 2500 --seed 5";
    let compare = format!(
        "compare {common} --learners folklore,ogd,soba,gaptron-hinge --repeats 2 --set folklore.radius=0.5,2 \
         --set ogd.rate=0.1,1 --set ogd.ball=rows --set soba.exploration=0.1,0.2 --set gaptron-hinge.mode=full,bandit"
    );
    let on = |threads: usize| {
        folder.run(&format!("{compare} --threads {threads} --json --quiet")).succeeded().objects()
    };
    let objects = on(2);
    let (summary, runs) = objects.split_last().unwrap();
    // 2 and 2 settings that draw nothing, 2 and 2 that do, with two seeds.
    assert_eq!((runs.len(), &summary["runs"]), (12, &Value::from(12)));
    for run in runs {
        assert_eq!(run["type"], "run");
        let mut arguments = format!("{common} --learner {}", run["learner"].as_str().unwrap());
        arguments += &format!(" --seed {}", run["seed"]);
        let arguments = arguments.replacen("--seed 5 ", "", 1);
        let settings = run["settings"].as_object().unwrap();
        let set = settings.iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!(" --set {name}={value}")
        });
        let alone = folder.summary(&format!("{arguments}{}", set.collect::<String>()));
        assert_eq!(facts(run.clone()), facts(alone), "{arguments}");
    }
    let all = |objects: &[Value]| objects.iter().cloned().map(facts).collect::<Vec<_>>();
    for threads in [1, 20] {
        assert_eq!(all(&on(threads)[..12]), all(runs), "{threads} threads");
    }
    // The radius of 0.5 clips rows of norm 1, that of 2 none.
    assert!(runs[0]["large_rows"].as_u64() > Some(0) && runs[1]["large_rows"] == 0);
}

/// A learner to which units make no difference sees rows as they are, also beside one that has them scaled.
#[test]
fn rows_are_scaled_only_for_those_who_need_it() {
    let folder = folder();
    let compare =
        "compare a.svm --learners ogd,adaboost-olm --set adaboost-olm.copies=3 --limit 300 --json --quiet";
    let objects = folder.run(compare).succeeded().objects();
    let alone = folder.summary("a.svm --learner adaboost-olm --set copies=3 --limit 300");
    assert_eq!(objects[1]["errors"], alone["errors"]);
    assert_eq!((&objects[1]["large_rows"], &objects[1]["numbers"]), (&Value::from(0), &alone["numbers"]));
}

#[test]
fn means_and_spread_are_those_of_the_seeds() {
    let folder = folder();
    let objects =
        folder.run("run a.svm --learner banditron --repeats 3 --seed 4 --json").succeeded().objects();
    let (summary, runs) = objects.split_last().unwrap();
    let seeds: Vec<&Value> = runs.iter().map(|run| &run["seed"]).collect();
    assert_eq!(seeds, [4, 5, 6]);
    let errors: Vec<f64> = runs.iter().map(|run| run["error_rate"].as_f64().unwrap()).collect();
    let of = &summary["settings"][0]["error_rate"];
    let near = |key: &str, want: f64| (of[key].as_f64().unwrap() - want).abs() < 1e-12;
    let mean = errors.iter().sum::<f64>() / 3.0;
    let variance = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / 2.0;
    assert!(near("mean", mean) && near("sd", variance.sqrt()) && variance > 0.0, "{of} {errors:?}");
    assert!(near("min", errors.iter().copied().fold(1.0, f64::min)), "{of}");
    assert!(near("max", errors.iter().copied().fold(0.0, f64::max)), "{of}");
    let text = folder.run("run a.svm --learner banditron --repeats 3 --seed 4 --quiet").succeeded().stdout;
    assert!(text.contains("seeds                  4 to 6\n"), "{text}");
    assert!(text.contains(&format!("error rate             {mean:.5} ± {:.5}", variance.sqrt())), "{text}");
}

/// The table but for the speeds, which differ from run to run.
#[test]
fn the_table() {
    let folder = folder();
    let table = |arguments: &str| {
        let text = folder.run(&format!("compare a.svm --quiet {arguments}")).succeeded().stdout;
        let (table, legend) = text.split_once("\n\n").unwrap();
        let lines = table.lines().map(|line| {
            let (rest, speed) = line.trim_end().rsplit_once(' ').unwrap();
            assert!(speed == "rows/s" || speed.parse::<f64>().unwrap() > 0.0, "{line}");
            rest.trim_end().to_owned() + "\n"
        });
        format!("{}\n{legend}", lines.collect::<String>())
    };
    insta::assert_snapshot!(
        "one_seed",
        table("--learners folklore,ogd,perceptron --set ogd.rate=0.01..1*10")
    );
    let mixed = "--learners ogd,soba,banditron --set soba.exploration=0.1,0.2 --repeats 3 --sort given";
    insta::assert_snapshot!("seeds", table(mixed));
}

#[test]
fn curves_are_drawn_once_all_is_over() {
    let folder = folder();
    let plot = |options: &str, name: &str| {
        let learners = "--learners ogd,banditron --set ogd.rate=0.1,1 --repeats 2 --limit 900 --quiet";
        folder.run(&format!("compare a.svm {learners} {options} --plot {name}")).succeeded();
        folder.read(name)
    };
    let svg = String::from_utf8(plot("", "a.svg")).unwrap();
    for text in ["ogd rate=0.1", "ogd rate=1", "banditron", "error rate over the last 1000 rounds"] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(plot("--threads 1", "b.svg"), svg.as_bytes(), "the same bytes, however many threads");
    let losses = String::from_utf8(plot("--curve running-log-loss", "c.svg")).unwrap();
    assert!(losses.contains("log-loss (nats) over all rounds so far") && !losses.contains("banditron"));
    assert!(plot("", "a.png").starts_with(b"\x89PNG\r\n"));
    let refused = folder.run("compare a.svm --learners soba --curve log-loss --plot d.svg");
    refused.failed(1, "--curve log-loss: none of the learners has that loss");
    let bad = folder
        .run("compare a.svm --learners ogd --limit 5 --on-large-row error --set radius=1e-9 --plot d.svg");
    assert_eq!((bad.code, bad.stdout.as_str()), (2, ""));
    assert_eq!(folder.names(), ["a.png", "a.svg", "a.svm", "b.svg", "c.svg"], "nothing half-written");
}

#[test]
fn a_pipe_is_enough() {
    let folder = folder();
    let text = folder.read("a.svm");
    let arguments = "--set classes=4 --set features=5 --json --quiet";
    let compared = format!("compare - --format libsvm --learners ogd,soba {arguments}");
    let compared = folder.run_with(&compared, &text).succeeded().objects();
    for (at, learner) in ["ogd", "soba"].into_iter().enumerate() {
        let alone = format!("run - --format libsvm --learner {learner} {arguments}");
        let alone = folder.run_with(&alone, &text).succeeded().summary();
        assert_eq!(facts(compared[at].clone()), facts(alone));
    }
}

#[test]
fn what_goes_wrong_is_said_in_one_sentence_that_names_the_learner() {
    let folder = folder();
    folder.write("weights.csv", "x,label,weight\n1,a,1\n2,b,2\n3,a,1\n");
    for (arguments, code, sentence) in [
        ("a.svm --learners ogd,sobba", 1, None),
        (
            "a.svm --learners ogd,soba --set rate=1,2",
            1,
            Some("--set rate: soba has no parameter 'rate'; set it for those that have: --set ogd.rate=…"),
        ),
        (
            "a.svm --learners ogd,soba --set soba.exploration=0.5,1.5",
            1,
            Some("soba: exploration = 1.5: must be in [0, 1]"),
        ),
        ("a.svm --learners folklore,soba --memory 1 --set folklore.norm=1..2000*1.001", 1, None),
        (
            "a.svm --learners soba --repeats 20000",
            1,
            Some("--repeats 20000: makes 20000 runs; at most 10000 fit into one pass"),
        ),
    ] {
        let ran = folder.run(&format!("compare {arguments} --quiet"));
        match sentence {
            Some(sentence) => ran.failed(code, sentence),
            None => {
                assert_eq!((ran.code, ran.stderr.matches("noregret: ").count()), (code, 1), "{}", ran.stderr)
            }
        }
    }
}

/// Whatever it is that one learner cannot do, the others are compared; the table, the JSON and the exit code
/// say who is missing.
#[test]
fn the_others_go_on_without_one_that_cannot() {
    let folder = folder();
    folder.write("weights.csv", "x,label,weight\n1,a,1\n2,b,2\n3,a,1\n");
    let real: String = (0..200).map(|at| format!("{}.25,{}.5\n", at % 7, at * 7 % 190)).collect();
    folder.write("real.csv", format!("x,y\n{real}"));
    folder.write("costs.vw", "1:0.5:0.5 | a\n2:0:0.5 | b\n".repeat(10));
    let offers = "shared |u x\n0:1:0.5 |a p\n|a q\n\nshared |u y\n|a p\n0:0:0.5 |a q\n\n";
    folder.write("offers.vw", offers.repeat(10));
    let wide: String = (0..40).map(|at| format!("{} 1:1 {}:1\n", at % 2, 2000 + at)).collect();
    folder.write("wide.svm", wide);
    for (arguments, code, there, missing) in [
        (
            "weights.csv --label label --weight weight --learners ogd,perceptron",
            2,
            "ogd",
            "perceptron: weights.csv:3: the row has weight 2; the learner takes no importance weights",
        ),
        (
            "a.svm --learners perceptron,ogd --set ogd.rate=1e308 --set ogd.ball=none",
            2,
            "perceptron",
            "ogd: a.svm: from row ",
        ),
        ("a.svm --learners aioli,ogd", 1, "ogd", "aioli: "),
        (
            "a.svm --learners vaw,ogd",
            1,
            "ogd",
            "vaw: forecasts real numbers, which cannot be compared with classes",
        ),
        ("real.csv --learners ogd,vaw", 2, "vaw", "ogd: real.csv: "),
        (
            "costs.vw --learners ogd,squarecb",
            2,
            "squarecb",
            "ogd: costs.vw:1: the label gives costs of actions, where a class was needed",
        ),
        (
            "offers.vw --learners squarecb,offers",
            1,
            "offers",
            "squarecb: does not learn from labels on offer",
        ),
        ("wide.svm --learners folklore,ogd --memory 16", 1, "ogd", "folklore: folklore would take 31 MiB"),
    ] {
        let ran = folder.run(&format!("compare {arguments} --quiet"));
        assert_eq!(ran.code, code, "{arguments}: {}", ran.stderr);
        let (table, rest) = ran.stdout.split_once("\n\n").expect("a table and its legend");
        let learners: Vec<&str> = table.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(learners, [there], "{arguments}");
        assert!(rest.contains(&format!("left out: {missing}")), "{arguments}: {rest}");
        assert!(ran.stderr.contains(&format!("noregret: left out: {missing}")), "{}", ran.stderr);
        assert!(ran.stderr.ends_with("noregret: 1 of 2 learners could not be compared\n"), "{}", ran.stderr);
        let ran = folder.run(&format!("compare {arguments} --quiet --json"));
        let objects = ran.objects();
        let summary = objects.last().unwrap();
        assert_eq!((ran.code, &summary["runs"], &objects[0]["learner"]), (code, &1.into(), &there.into()));
        let left_out = &summary["left_out"][0];
        let (learner, why) = missing.split_once(": ").unwrap();
        assert!(
            left_out["learner"] == learner && left_out["why"].as_str().unwrap().contains(why),
            "{left_out}"
        );
    }
    // Of the settings of a learner, those that learn; curves of those that are there.
    let ran = folder.run(
        "compare a.svm --quiet --learners soba,ogd --set ogd.rate=0.1,1e308 --set ogd.ball=none --plot p.svg",
    );
    assert!(ran.code == 2 && ran.stdout.contains("rate=0.1"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("left out: ogd rate=1") && ran.stdout.contains(": from row "),
        "{}",
        ran.stdout
    );
    assert!(folder.names().contains(&"p.svg".to_owned()), "{:?}", folder.names());
    let ran = folder.run(
        "compare a.svm --quiet --learners soba,ogd --set ogd.rate=1e308 --set ogd.ball=none --curve log-loss --plot q.svg",
    );
    assert!(
        ran.code == 2 && ran.stderr.contains("q.svg: no learner with log-loss is left"),
        "{}",
        ran.stderr
    );
    assert!(!folder.names().contains(&"q.svg".to_owned()), "nothing to draw");
    // Where nobody is left, the failure is that of the first.
    let ran = folder.run("compare a.svm --quiet --learners aioli,kernel-aioli");
    assert!(ran.code == 1 && ran.stdout.is_empty() && ran.stderr.contains("aioli: "), "{}", ran.stderr);
}

#[test]
fn repeats_that_make_no_sense_are_refused() {
    let folder = folder();
    for (option, sentence) in [
        (
            "--learner soba --certify",
            "--certify: is for a single run; it cannot be combined with --repeats 2",
        ),
        ("--save m", "--save: is for a single run; it cannot be combined with --repeats 2"),
        ("--learner ogd", "--repeats 2: ogd is deterministic, so that every seed gives the same result"),
        (
            "--learner confidit",
            "--repeats 2: confidit is deterministic, so that every seed gives the same result",
        ),
        (
            "--set members=labels+shared@0.1",
            "--repeats 2: auto is deterministic, so that every seed gives the same result",
        ),
    ] {
        folder.run(&format!("run a.svm --repeats 2 --quiet {option}")).failed(1, sentence);
    }
    assert_eq!(folder.names(), ["a.svm"]);
}

/// What makes a learner draw: its feedback, its members, its delays, a floor.
#[test]
fn seeds_are_repeated_where_they_make_a_difference() {
    let folder = folder();
    let losses = |command: &str| -> Vec<Value> {
        let command = format!("{command} --limit 600 --repeats 2 --json --quiet");
        let objects = folder.run(&command).succeeded().objects();
        let runs = objects.iter().filter(|line| line["type"] == "run");
        runs.map(|run| if run["log_loss"].is_null() { &run["errors"] } else { &run["log_loss"] })
            .cloned()
            .collect()
    };
    for (learner, options) in [
        ("auto", "--set members=labels+shared@0.1 --set mode=bandit"),
        ("auto", "--set members=labels+trees"),
        ("ogd", "--delay uniform:20"),
        ("confidit", "--exploration-floor 0.1"),
    ] {
        let alone = losses(&format!("run a.svm --learner {learner} {options}"));
        assert!(alone.len() == 2 && alone[0] != alone[1], "{learner} {options}: {alone:?}");
        assert_eq!(losses(&format!("compare a.svm --learners {learner} {options}")), alone);
    }
    let told = "--set members=labels+shared@0.1 --feedback bandit";
    let compared = "compare a.svm --learners auto,ogd --set auto.members=labels+shared@0.1";
    assert_eq!(losses(&format!("run a.svm {told}")).len(), 2);
    // Two modes with two seeds and with one, and a learner that draws nothing.
    assert_eq!(losses(&format!("{compared} --set auto.mode=bandit,full")).len(), 4);
}

/// Once for each learner whose settings are the theorem's, with options as `compare` takes them.
#[test]
fn defaults_that_are_too_cautious_are_told() {
    let folder = folder();
    let said = |options: &str| {
        folder.run(&format!("compare a.svm --limit 50 --learners {options}")).succeeded().stderr
    };
    let both = said("ons,ogd,gaf --set gaf.regularization=1");
    assert_eq!(both.matches("the defaults are too cautious").count(), 1, "{both}");
    let settings = "--set ons.rate=0.3 --set ons.regularization=1";
    let told = format!("practice  ons: the defaults are too cautious; {settings} works, without guarantee: ");
    assert!(both.contains(&told), "{both}");
    let one = said("ons --set norm=1,2");
    assert_eq!(one.matches("; --set rate=0.3 --set regularization=1 works").count(), 1, "{one}");
}
