//! Logs in the project's own format, learnt from and predicted as any log.

use std::fmt::Write as _;

use crate::util::Folder;

const HUES: [(&str, &str); 2] = [("red", "a"), ("green", "b")];

/// As docs/how-to/bandit-feedback.md has it: uniform play among two labels, of which the hue says which one
/// earns `most`; the answer comes five decisions later, and that of every tenth decision never. At the end,
/// one decision has another label on offer.
fn documented(rounds: usize, most: f64) -> String {
    let (mut text, mut answers) = (String::new(), vec![]);
    for t in 0..rounds {
        let mixed = (t as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let ((hue, right), played) = (HUES[(mixed >> 40 & 1) as usize], HUES[(mixed >> 50 & 1) as usize].1);
        writeln!(
            text,
            r#"{{"id": "{t}", "x": {{"age": {}, "hue": "{hue}"}}, "label": "{played}", "p": {{"a": 0.5, "b": 0.5}}}}"#,
            t % 7
        )
        .unwrap();
        if t % 10 != 9 {
            answers
                .push(format!(r#"{{"id": "{t}", "reward": {}}}"#, if played == right { most } else { 0.0 }));
        }
        if answers.len() > 5 {
            writeln!(text, "{}", answers.remove(0)).unwrap();
        }
    }
    answers.iter().for_each(|answer| writeln!(text, "{answer}").unwrap());
    text + r#"{"id": "last", "x": {"age": 1}, "label": "c", "p": {"b": 0.5, "c": 0.5}}"# + "\n"
}

#[test]
fn the_documented_format_is_learnt_with_late_answers() {
    let folder = Folder::with("log.ndjson", documented(600, 1.0));
    let run = "log.ndjson --feedback bandit";
    let summary = folder.summary(&format!("{run} --save m"));
    // The label that was played once, and never answered, is known.
    assert_eq!((&summary["rounds"], &summary["classes"]), (&540.into(), &3.into()), "{summary}");
    let (played, greedy) = (&summary["error_rate"], summary["greedy_error_rate"].as_f64().unwrap());
    assert!((0.45..0.55).contains(&played.as_f64().unwrap()) && greedy < 0.1, "{summary}");
    let told = folder.run(&format!("run {run}")).succeeded();
    assert!(
        (told.stdout.clone() + &told.stderr).contains("feedback  logged: what labels earned"),
        "{}",
        told.stderr
    );
    // By a pipe, with the labels declared, and as a warm start.
    let piped = "run - --format ndjson --feedback bandit --quiet --json --set classes=3 --set features=20";
    let piped = folder.run_with(piped, documented(600, 1.0)).succeeded().summary();
    assert_eq!(piped["rounds"], 540, "{piped}");
    let more = folder.run("run log.ndjson --load m --quiet --json").succeeded().summary();
    assert!(more["greedy_error_rate"].as_f64().unwrap() < 0.05, "{more}");
    folder.run("compare log.ndjson --learners squarecb,fastcb --quiet --json").succeeded();
}

#[test]
fn a_log_of_decisions_is_predicted_without_its_labels() {
    let folder = Folder::with("log.ndjson", documented(300, 1.0));
    folder.run("run log.ndjson --feedback bandit --quiet --save m").succeeded();
    let predicted = folder.run("predict m log.ndjson --greedy").succeeded();
    assert_eq!(predicted.stdout.lines().count(), 301, "a line for each decision, none for an answer");
    assert!(!predicted.stderr.contains("error rate"), "{}", predicted.stderr);
    assert_ne!(predicted.stdout.lines().last().unwrap(), "a", "what is not on offer is not played");
    // Rows of data, with the features as they were logged.
    folder.write("rows.ndjson", "{\"age\": 3, \"hue\": \"red\"}\n{\"age\": 3, \"hue\": \"green\"}\n");
    assert_eq!(folder.run("predict m rows.ndjson --greedy").succeeded().stdout, "a\nb\n");
}

#[test]
fn rewards_of_a_log_have_a_range() {
    let folder = Folder::with("log.ndjson", documented(200, 4.0));
    let run = "run log.ndjson --feedback bandit --quiet --json";
    let refused = folder.run(run);
    let said = "the reward is 4; a number from 0 to 1 was needed; the option rewards states the range of the log's rewards, as in 0..15";
    assert!(refused.code == 2 && refused.stderr.contains(said), "{}", refused.stderr);
    let rate = |options: &str| {
        let summary = folder.run(&format!("{run} {options}")).succeeded().summary();
        summary["greedy_error_rate"].as_f64().unwrap()
    };
    assert!(rate("--rewards 0..4") < 0.2);
    // The range of costs is the model's, for what it learns later.
    folder.write("log.ndjson", documented(200, 1.0));
    assert_eq!(rate("--costs 0..8"), rate(""));
    folder.write("data.csv", "a,label\n".to_owned() + &"1,x\n2,y\n".repeat(20));
    let refused = folder.run("run data.csv --feedback bandit --rewards 0..4 --quiet");
    assert!(refused.code == 2 && refused.stderr.contains("is no log of decisions"), "{}", refused.stderr);
    folder.write("cb.vw", "1:-2:0.5 | a\n2:0:0.5 | b\n".repeat(20));
    for range in
        ["run cb.vw --feedback bandit --rewards 0..4", "evaluate cb.vw --policy uniform --rewards 0..4"]
    {
        let refused = folder.run(range);
        let way_out = "whose range the option costs states (rewards up to 50 are costs = -50..0)";
        assert!(refused.code == 2 && refused.stderr.contains(way_out), "{}", refused.stderr);
    }
    folder.run("evaluate cb.vw --policy uniform --costs=-4..0").succeeded();
    let refused = folder.run(&format!("{run} --drop age"));
    assert!(refused.code == 2 && refused.stderr.contains("leave out drop = \"age\""), "{}", refused.stderr);
}

#[test]
fn our_own_logs_are_learnt_by_any_learner() {
    let rows: String = (0..400).map(|t| format!("{},{}\n", HUES[t / 3 % 2].0, HUES[t / 3 % 2].1)).collect();
    let folder = Folder::with("rows.csv", "hue,label\n".to_owned() + &rows);
    for (log, delay) in [("log.ndjson", "3"), ("log.ndjson.gz", "0"), ("log.parquet", "3")] {
        let run = "run rows.csv --feedback bandit --learner banditron --set exploration=0.5 --quiet";
        folder.run(&format!("{run} --delay {delay} --log {log}")).succeeded();
        let summary = folder.summary(&format!("{log} --feedback bandit --learner squarecb --save m"));
        assert_eq!((&summary["rounds"], &summary["classes"]), (&400.into(), &2.into()), "{log}: {summary}");
        assert!(summary["greedy_error_rate"].as_f64().unwrap() < 0.2, "{log}: {summary}");
        // The model reads the data of the run that was logged.
        let predicted = folder.run("predict m rows.csv --greedy").succeeded().stderr;
        assert!(predicted.contains("error rate 0.00000"), "{log}: {predicted}");
        let refused = folder.run(&format!("run {log} --learner ogd --quiet"));
        assert!(refused.code == 2 && refused.stderr.contains("is a log of decisions"), "{}", refused.stderr);
    }
    folder.write("plain.ndjson", documented(20, 1.0));
    let refused = folder.run("run plain.ndjson --learner ogd --quiet");
    assert!(refused.code == 2 && refused.stderr.contains("is a log of decisions"), "{}", refused.stderr);
}

/// Labels on offer with features of their own are known by their positions, in a log of this program, too.
#[test]
fn a_position_is_no_label() {
    let [one, other] = ["0:0 'a |a x\n", "0:1 'b |a y\n"];
    let rounds = format!("{one}{other}\n{other}{one}\n").repeat(20);
    let folder = Folder::with("a.vw", rounds);
    folder.run("run a.vw --feedback bandit --quiet --log log.ndjson").succeeded();
    let said = folder.run("evaluate log.ndjson --policy constant:1").succeeded().stderr;
    assert!(said.contains("label 1 is whatever action stands at this position"), "{said}");
    assert!(said.contains("in 20 of 40 rows another one than in the first"), "{said}");
}

/// Nothing tells actions apart that have neither features nor names: a learner plays them as one.
#[test]
fn equal_actions_are_spoken_of() {
    let row = |t: usize| {
        let played = t % 2;
        format!(
            "{{\"_label_cost\":-{played},\"_label_probability\":0.5,\"_labelIndex\":{played},\"u\":{},\"_multi\":[{{}},{{}}]}}\n",
            t % 3
        )
    };
    let folder = Folder::with("a.json", (0..20).map(row).collect::<String>());
    folder.write("a.vw", "shared |u x\n0:1:0.5 |\n|\n\n".repeat(20));
    folder.write("b.vw", "shared |u x\n0:1:0.5 'a |\n'b |\n\n".repeat(20));
    let said = |command: &str| folder.run(command).succeeded().stderr;
    let told = "20 rows with several actions that have neither features nor a tag of their own";
    for (file, equal) in [("a.json", true), ("a.vw", true), ("b.vw", false)] {
        let evaluated = said(&format!("evaluate {file} --policy uniform"));
        let run = said(&format!("run {file} --feedback bandit --costs=-1..1"));
        assert_eq!((evaluated.contains(told), run.contains(told)), (equal, equal), "{evaluated} {run}");
    }
}

/// The greedy label is the learner's best, where the log has the learner: it held b to be the best, and drew
/// a more often.
#[test]
fn greedy_is_without_exploration() {
    let line = |label: &str, at: u8, p: f64, reward: f64| {
        let own = format!(r#"{{"label":{at},"round":1,"greedy":1,"exploration":0.5,"scores":[0,1]}}"#);
        let played = format!(r#""label":"{label}","probability":{p},"p":[0.6,0.4],"reward":{reward}"#);
        format!("{{\"id\":\"{label}\",{played},\"learner\":{own}}}\n")
    };
    let lines = line("a", 0, 0.6, 1.0) + &line("b", 1, 0.4, 0.5);
    let folder = Folder::with("own.ndjson", format!("{{\"labels\":[\"a\",\"b\"]}}\n{lines}"));
    let evaluate = "evaluate own.ndjson --policy greedy --reward-learner none --json";
    let found = folder.run(evaluate).succeeded().objects().remove(0);
    // (0 + 0.5 / 0.4) / 2.
    let value = found["estimates"][0]["value"].as_f64().unwrap();
    assert!((value - 0.625).abs() < 1e-12, "{found}");
}

/// Where only what was earned is reported, the decisions that were left out have earned nothing.
#[test]
fn answers_that_are_all_earnings_are_told() {
    let mut text = String::new();
    for t in 0..40 {
        let label = ["a", "b"][t % 2];
        writeln!(
            text,
            r#"{{"id": "{t}", "x": {{"v": {t}}}, "label": "{label}", "p": {{"a": 0.5, "b": 0.5}}}}"#
        )
        .unwrap();
        if t % 3 == 0 {
            writeln!(text, r#"{{"id": "{t}", "reward": 0.8}}"#).unwrap();
        }
    }
    let folder = Folder::with("sent.ndjson", text);
    let evaluate = "evaluate sent.ndjson --policy uniform --reward-learner none";
    let said = folder.run(evaluate).succeeded().stderr;
    assert!(
        said.contains("26 of 40 decisions were never answered and are left out; no answer is 0: if"),
        "{said}"
    );
    let said = folder.run(&format!("{evaluate} --missing wrong")).succeeded().stderr;
    assert!(said.contains("26 of 40 decisions were never answered and count as 0\n"), "{said}");
}

/// Decisions that were delivered twice are told by their ids, also in a table.
#[test]
fn decisions_that_come_again_are_told() {
    let line = |t: usize| {
        let played = t % 2;
        format!(
            "{{\"_label_cost\":-{played},\"_label_probability\":0.5,\"_label_Action\":{},\"_labelIndex\":{played},\"EventId\":\"e{t}\",\
             \"a\":[{},{}],\"p\":[0.5,0.5],\"c\":{{\"User\":{{\"h\":1}},\"_multi\":[{{\"i\":1}},{{\"i\":2}}]}}}}\n",
            played + 1,
            played + 1,
            2 - played
        )
    };
    let folder = Folder::with("ds.json", (0..40).map(|t| line(t * 3 / 4)).collect::<String>());
    let said = folder.run("evaluate ds.json --policy uniform --reward-learner none").succeeded().stderr;
    assert!(
        said.contains("10 of 40 decisions have the id of an earlier one, such as \"e0\": every copy"),
        "{said}"
    );
    let row = |t: usize| format!("{t},{},{},0.5,{}\n", t % 5, ["a", "b"][t % 2], t % 2);
    let rows: String = (0..120).map(|t| row(t * 3 / 4)).collect();
    folder.write("sent.csv", format!("number,hue,label,probability,reward\n{rows}"));
    let said = folder.run("evaluate sent.csv --policy uniform --reward-learner none").succeeded().stderr;
    assert!(
        said.contains("30 of all 120 rows are exact copies of earlier ones, also in column \"number\""),
        "{said}"
    );
}

/// The label that has earned most was chosen by the log: its interval is the one that holds for all four
/// labels at once, each with a quarter of the miss.
#[test]
fn the_best_label_has_the_interval_of_all_labels() {
    let row = |t: usize| format!("l{},0.25,{}\n", t % 4, u8::from(t * 7919 % 101 < 9));
    let rows: String = (0..2000).map(row).collect();
    let folder = Folder::with("equal.csv", format!("label,probability,reward\n{rows}"));
    let evaluate = "evaluate equal.csv --policy uniform --reward-learner none --json";
    let found = folder.run(&format!("{evaluate} --policy best")).succeeded().objects();
    let label = found[1]["best_label"].as_str().unwrap().to_owned();
    let strict = format!("{evaluate} --policy constant:{label} --confidence 0.9875");
    let strict = folder.run(&strict).succeeded().objects();
    for (one, key) in [(1, "estimates"), (2, "normal")] {
        let text = |found: &[serde_json::Value]| found[one][key].to_string();
        let numbers = |text: &str| {
            text.split([',', ':', '[', ']', '{', '}'])
                .filter_map(|word| word.parse().ok())
                .collect::<Vec<f64>>()
        };
        let (ours, theirs) = (text(&found), text(&strict));
        let pairs = numbers(&ours).into_iter().zip(numbers(&theirs));
        assert!(pairs.len() > 1 && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9), "{ours} {theirs}");
    }
    assert_eq!(found[2]["confidence"], 0.95);
    // Of several policies, the interval shown is that of the estimator by which they are compared.
    let table = "evaluate equal.csv --policy uniform --policy best --reward-learner none";
    let shown = folder.run(table).succeeded().stdout;
    let lines = [
        "0.0900  [0.0670, 0.1130]",
        "by ips, on 2000 of 2000 decisions",
        "its intervals are wide enough for all labels at once; intervals hold",
    ];
    assert!(lines.iter().all(|line| shown.contains(line)), "{shown}");
    let alone = folder.run("evaluate equal.csv --policy best --reward-learner none").succeeded().stdout;
    assert!(
        alone.contains("its intervals are wide enough for all labels at once; intervals hold"),
        "{alone}"
    );
}

/// Probabilities of all labels that are none, or have too few digits.
#[test]
fn distributions_that_are_none_have_a_way_out() {
    let folder = Folder::new();
    folder.write("list", r#"{"label":"r","p":[0.2,0.8],"correct":true}"#);
    folder.run("evaluate list --policy uniform").failed(
        2,
        "list:1: \"p\" has 2 numbers for the 3 labels 0, 1, r; an object with the labels as keys says which number is whose",
    );
    let rounded = r#"{"label":"x","p":{"x":0.333,"y":0.333,"z":0.333},"correct":true}"#;
    folder.write("rounded", rounded);
    let sentence = "rounded:1: the probabilities of \"p\" sum to 0.9990000000000001, not to 1; divide each by their sum, or write them with more digits";
    folder.run("evaluate rounded --policy uniform").failed(2, sentence);
    folder.run("run rounded --feedback bandit --quiet").failed(2, sentence);
}
