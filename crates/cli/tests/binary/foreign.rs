//! Warm starts: `noregret run` over the logs of other programs, which say what another policy has played.

use std::fmt::Write as _;

use crate::util::Folder;

/// A log of uniform play among three labels: of a hue, one of them is right in nine of ten rounds.
fn log(rounds: usize, csv: bool) -> String {
    let mut text = String::from(if csv { "age,hue,chosen,prob,click\n" } else { "" });
    let mut state = 7u64;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..rounds {
        let (age, hue, played) = (below(60), below(3), below(3));
        let click = u64::from((played == hue) == (below(10) > 0));
        let (hue, played) = (["red", "green", "blue"][hue as usize], ["a", "b", "c"][played as usize]);
        let done = if csv {
            writeln!(text, "{age},{hue},{played},0.3333333333333333,{click}")
        } else {
            let known = click == 1;
            writeln!(
                text,
                r#"{{"user": {{"age": {age}}}, "hue": "{hue}", "chosen": "{played}", "prob": 0.3333333333333333, "click": {known}}}"#
            )
        };
        done.unwrap();
    }
    text
}

const NAMES: &str = "--feedback bandit --decision chosen --probability prob --reward click";

/// A learner learns from it with the log's probabilities, says so, and goes on by itself.
#[test]
fn a_log_of_another_program_is_a_warm_start() {
    for (name, csv) in [("log.csv", true), ("log.ndjson", false)] {
        let folder = Folder::with(name, log(1500, csv));
        for learner in ["squarecb", "banditron"] {
            let run = format!("run {name} {NAMES} --learner {learner}");
            let ran = folder.run(&run).succeeded();
            let said = "feedback  logged: what labels earned that another policy has played; its probabilities are the importance weights";
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(told.contains(said), "{told}");
            let rates = folder.run(&format!("{run} --json")).succeeded().objects().pop().unwrap();
            // Uniform play is wrong in 0.63 of the rounds, the best in 0.1.
            let (played, greedy) = (&rates["error_rate"], &rates["greedy_error_rate"]);
            assert!((0.55..0.72).contains(&played.as_f64().unwrap()), "{rates}");
            assert!(greedy.as_f64().unwrap() < 0.4, "{learner}: {rates}");
        }
        // The last of them goes on, on rows whose labels it does not see.
        let mut rows = String::new();
        for t in 0..300 {
            let (hue, right) = [("red", "a"), ("green", "b"), ("blue", "c")][t % 3];
            let age = if csv { "\"age\"" } else { "\"user.age\"" };
            writeln!(rows, r#"{{"x": {{{age}: {}, "hue": "{hue}"}}, "y": "{right}"}}"#, t % 60).unwrap();
        }
        folder.write("rows.ndjson", rows);
        folder.run(&format!("run {name} {NAMES} --learner squarecb --quiet --save model")).succeeded();
        let went = folder.run("run rows.ndjson --load model --json").succeeded().objects().pop().unwrap();
        assert!(went["greedy_error_rate"].as_f64().unwrap() < 0.1, "{went}");
    }
}

/// A pipe is read once: no byte of it is spent on finding out what it is.
#[test]
fn a_log_on_a_pipe_is_read_from_its_first_byte() {
    let folder = Folder::new();
    let said = "--learner squarecb --set classes=3 --set features=4 --scale standard --json --quiet";
    for (format, csv) in [("csv", true), ("ndjson", false)] {
        let ran =
            folder.run_with(&format!("run - --format {format} {NAMES} {said}"), log(300, csv)).succeeded();
        assert_eq!(ran.summary()["rounds"], 300, "{format}");
    }
}

#[test]
fn logs_that_say_nothing_are_refused() {
    let folder = Folder::with("log.csv", log(30, true));
    folder.write("bad.csv", "age,chosen,prob,click\n3,a,0.5,1\n4,b,0.5,7\n");
    folder
        .run(&format!("run bad.csv {NAMES} --quiet"))
        .failed(2, "bad.csv:3: the reward is 7, where 0 to 1 was needed; pass --rewards=0..7, which has all rewards of the file");
    for (best, range) in [("0", "-1..0"), ("0.5", "-1..1")] {
        folder.write("lost.csv", format!("age,chosen,prob,click\n3,a,0.5,-1\n4,b,0.5,{best}\n"));
        let said = format!(
            "lost.csv:2: the reward is -1, where 0 to 1 was needed; pass --rewards={range}, which has all rewards of the file"
        );
        folder.run(&format!("run lost.csv {NAMES} --quiet")).failed(2, &said);
    }
    folder
        .run("run log.csv --feedback bandit --decision played --probability prob --quiet")
        .failed(2, "log.csv: has no column \"played\"; its columns are \"age\", \"hue\", \"chosen\", \"prob\", \"click\"");
    folder.run("run log.csv --decision chosen --quiet").failed(
        1,
        "--decision, --probability, --reward, --offered: name the columns of a log of decisions, which are learnt from with --feedback bandit",
    );
    let both = folder.run(&format!("run log.csv {NAMES} --costs 0..2 --rewards 0..2 --quiet"));
    assert!(both.code == 1 && both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

/// Costs of another program's log, 0 and 5 in the range 0..5, are the rewards 1 and 0.
#[test]
fn costs_of_another_program() {
    let rewards = log(600, true);
    let turned = |line: &str| match line.rsplit_once(',') {
        Some((rest, "1")) => format!("{rest},0\n"),
        Some((rest, "0")) => format!("{rest},5\n"),
        _ => format!("{line}\n"),
    };
    let costs: String = rewards.lines().map(turned).collect();
    let folder = Folder::with("rewards.csv", rewards);
    folder.write("costs.csv", costs);
    let names = NAMES.replace("--feedback bandit ", "");
    let [one, other] = ["rewards.csv", "costs.csv --costs 0..5"]
        .map(|log| folder.run(&format!("evaluate {log} {names} --policy uniform")).succeeded().stdout);
    assert_eq!(one, other);
}

/// Of three labels two are on offer in every round, and one of them is right. A learner that knows what was
/// on offer is told so by `evaluate` and `run` alike.
#[test]
fn labels_on_offer_of_another_program() {
    let names = "--decision chosen --probability prob --reward click";
    let (mut table, mut objects) = ("age,chosen,prob,click,shown\n".to_owned(), String::new());
    for round in 0..900usize {
        let absent = round / 2 % 3;
        let [first, second] = [["b", "c"], ["a", "c"], ["a", "b"]][absent];
        let played = if round % 2 == 0 { first } else { second };
        // The first of those on offer is right.
        let click = u8::from(played == first);
        writeln!(table, "{},{played},0.5,{click},{first} {second}", round % 7).unwrap();
        writeln!(
            objects,
            r#"{{"age": {}, "chosen": "{played}", "prob": 0.5, "click": {click}, "shown": ["{first}", "{second}"]}}"#,
            round % 7
        )
        .unwrap();
    }
    let folder = Folder::with("log.csv", &table);
    folder.write("log.ndjson", &objects);
    for log in ["log.csv", "log.ndjson"] {
        let line = format!("evaluate {log} {names} --offered shown --policy uniform --json");
        let found = folder.run(&line).succeeded().objects().pop().unwrap();
        // Uniform play among the two on offer is what the log has done.
        let ips = &found["estimates"][0];
        assert_eq!(ips["estimator"], "ips");
        let reward = ips["value"].as_f64().unwrap();
        assert!((reward - 0.5).abs() < 1e-9, "{found}");
        assert_eq!(found["mean_weight"].as_f64().unwrap(), 1.0, "{found}");
        let run = format!("run {log} --feedback bandit {names} --offered shown --learner squarecb --json");
        let rates = folder.run(&run).succeeded().objects().pop().unwrap();
        assert!(rates["greedy_error_rate"].as_f64().unwrap() < 0.1, "{log}: {rates}");
    }
    // A name that no row has is a mistake in every format.
    let header = "has no column \"shwn\" (did you mean \"shown\"?); its columns are \"age\", \"chosen\", \"prob\", \"click\", \"shown\"";
    let mut refusals = vec![
        ("csv", format!("log.csv: {header}")),
        ("ndjson", "log.ndjson: has no key \"shwn\" (did you mean \"shown\"?)".to_owned()),
    ];
    #[cfg(feature = "parquet")]
    {
        crate::tables::write_parquet(&table, &folder.path("log.parquet"));
        refusals.push(("parquet", format!("log.parquet: {header}")));
    }
    for (kind, what) in &refusals {
        folder.run(&format!("evaluate log.{kind} {names} --offered shwn --policy uniform")).failed(2, what);
        let run = format!("run log.{kind} --feedback bandit {names} --offered shwn --quiet");
        folder.run(&run).failed(2, what);
    }
    folder.write("bad.csv", table.replacen("b c", "a c", 1));
    folder
        .run(&format!("evaluate bad.csv {names} --offered shown --policy uniform"))
        .failed(2, "bad.csv:2: the label \"b\" was played although it was not on offer");
}

/// The same log as a table of CSV and as ARFF, whose header names the columns.
#[test]
fn a_log_in_arff_is_as_in_csv() {
    let csv = log(300, true);
    let (header, rows) = csv.split_once('\n').unwrap();
    let kinds = ["numeric", "{red, green, blue}", "{a, b, c}", "numeric", "{0, 1}"];
    let attributes: String =
        header.split(',').zip(kinds).map(|(name, kind)| format!("@attribute {name} {kind}\n")).collect();
    let folder = Folder::with("log.csv", &csv);
    folder.write("log.arff", format!("% logged\n@relation log\n{attributes}@data\n% rows\n{rows}"));
    let names = NAMES.replace("--feedback bandit ", "");
    let asked = format!("{names} --policy uniform --policy logged");
    let [one, other] =
        ["csv", "arff"].map(|kind| folder.run(&format!("evaluate log.{kind} {asked}")).succeeded().stdout);
    assert_eq!(one, other);
    let run = format!("run log.arff {NAMES} --learner squarecb --quiet --json");
    assert_eq!(folder.run(&run).succeeded().summary()["rounds"], 300);
    let refused = folder.run("evaluate log.arff --decision played --policy uniform");
    assert!(
        refused.code == 2 && refused.stderr.contains("log.arff: has no column \"played\""),
        "{}",
        refused.stderr
    );
    // All declared labels were on offer, also one that was never played.
    let more = folder.text("log.arff").replacen("{a, b, c}", "{a, b, c, d}", 1);
    folder.write("more.arff", more);
    let summary = folder.run(&run.replace("log.arff", "more.arff")).succeeded().summary();
    assert_eq!(summary["classes"], 4, "{summary}");
    let refused = folder.run(&format!("evaluate more.arff {names} --policy constant:e"));
    assert!(refused.stderr.contains("there are a, b, c, d"), "{}", refused.stderr);
    let sparse = "@relation log\n@attribute a {x, y}\n@attribute p numeric\n@attribute r numeric\n@data\n{1 0.5, 2 1}\n";
    folder.write("sparse.arff", sparse);
    let refused = folder.run("evaluate sparse.arff --decision a --probability p --reward r --policy uniform");
    assert!(refused.stderr.contains("has rows of pairs"), "{}", refused.stderr);
}

/// One encoder of tables: what is between quotation marks may end a line, times and identifiers are found,
/// and the options of tables are those of data.
#[test]
fn columns_of_a_log_are_those_of_a_table() {
    let (mut csv, mut objects) = ("id,x,said,at,chosen,prob,click\n".to_owned(), String::new());
    for t in 0..300usize {
        let (hue, right) = [("red", "a"), ("green", "b")][t * 7 / 3 % 2];
        let played = ["a", "b"][t * 5 / 2 % 2];
        let (said, click) =
            (format!("the box came late,\n\"{t}\" times too late"), u8::from(played == right));
        let at = format!("2026-11-0{} 10:{:02}:00", 1 + t / 100, t / 3 % 60);
        let quoted = said.replace('"', "\"\"");
        // A decision of every fifty has no answer.
        let earned = if t % 50 == 49 { "NA".to_owned() } else { click.to_string() };
        writeln!(csv, "T-{t},{hue},\"{quoted}\",{at},{played},0.5,{earned}").unwrap();
        let earned = if t % 50 == 49 { "null".to_owned() } else { click.to_string() };
        let said = serde_json::Value::from(said);
        writeln!(
            objects,
            r#"{{"id":"T-{t}","x":"{hue}","said":{said},"at":"{at}","chosen":"{played}","prob":0.5,"click":{earned}}}"#
        )
        .unwrap();
    }
    let folder = Folder::with("log.csv", &csv);
    folder.write("log.ndjson", objects);
    #[cfg(feature = "parquet")]
    crate::tables::write_parquet(&csv, &folder.path("log.parquet"));
    let names = NAMES.replace("--feedback bandit ", "");
    let logs = ["log.csv", "log.ndjson", "log.parquet"];
    let logs = &logs[..if cfg!(feature = "parquet") { 3 } else { 2 }];
    let mut found = vec![];
    for log in logs {
        let run =
            format!("run {log} {NAMES} --learner squarecb --set schedule=root --json --quiet --drop said");
        let ran = folder.run(&format!("{run} --save m")).succeeded();
        let summary = ran.summary();
        assert_eq!((&summary["rounds"], &summary["classes"]), (&294.into(), &2.into()), "{log}: {summary}");
        assert!(summary["greedy_error_rate"].as_f64().unwrap() < 0.15, "{log}: {summary}");
        assert!(
            ran.stderr.contains("column \"at\" is left out: it says at which moment"),
            "{log}: {}",
            ran.stderr
        );
        if *log != "log.ndjson" {
            assert!(ran.stderr.contains("\"id\" is left out: 300 of its first 300"), "{log}: {}", ran.stderr);
        }
        found.push(summary["greedy_error_rate"].clone());
        // What is played and earned is no feature, and no label of the row.
        let predicted = folder.run(&format!("predict m {log} --greedy")).succeeded();
        assert_eq!(predicted.stdout.lines().count(), 300, "{log}");
        let said = &predicted.stderr;
        assert!(
            !said.contains("error rate") && !said.contains("new") && !said.contains("ignored"),
            "{log}: {said}"
        );
        // Texts and times are features as in data.
        let evaluate = format!("evaluate {log} {names} --policy uniform --policy greedy --model m --greedy");
        folder.run(&evaluate.replace("--policy greedy ", "")).succeeded();
        folder
            .run(&format!("evaluate {log} {names} --policy uniform --text said --time at --categorical x"))
            .succeeded();
    }
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    for options in
        ["--time at", "--categorical x", "--hash-bits 6", "--id id", "--header yes", "--delimiter ,"]
    {
        let run = format!("run log.csv {NAMES} --learner squarecb --quiet --json {options}");
        assert_eq!(folder.run(&run).succeeded().summary()["rounds"], 294, "{options}");
    }
    folder.run(&format!("run log.csv {NAMES} --label chosen --quiet")).failed(
        1,
        "--label: a log of decisions has the label that was played, in the column that --decision names",
    );
}

/// A warm start on a model with a range of costs: rewards become costs of that range.
#[test]
fn rewards_of_a_log_become_costs_of_the_model() {
    let folder = Folder::with("log.csv", log(600, true));
    let costs: String = (0..60)
        .map(|t| format!("a:{} b:{} c:{} | age:{}\n", 10 * (t % 2), 5, 10 - 10 * (t % 2), t % 9))
        .collect();
    folder.write("costs.vw", costs);
    folder
        .run("run costs.vw --feedback bandit --learner squarecb --costs 0..10 --quiet --save m")
        .succeeded();
    let went = folder
        .run(&format!("run log.csv {} --load m --quiet --json", NAMES.replace("--feedback bandit ", "")));
    // Played at random among three, with a reward in 0.37 of the rounds.
    let rate = went.succeeded().summary()["error_rate"].as_f64().unwrap();
    assert!((0.55..0.72).contains(&rate), "{rate}");
}

/// A range that clips takes what is outside of it as its nearest end, and says how often that was.
#[test]
fn rewards_outside_of_a_range_that_clips_count_as_its_end() {
    let log = |most: usize| {
        let row = |t: usize| {
            let reward = if t == 30 { 900 } else { t % 3 };
            format!("{},{},0.5,{}\n", t % 5, ["a", "b"][t % 2], reward.min(most))
        };
        "h,label,probability,reward\n".to_owned() + &(0..60).map(row).collect::<String>()
    };
    let folder = Folder::with("log.csv", log(1000));
    folder.write("capped.csv", log(2));
    let told = "noregret: 1 of 60 rewards outside of 0..2, the farthest 900, count as the nearest end: every figure is about rewards so clipped";
    let evaluate = "evaluate FILE --policy uniform --rewards 0..2";
    let run =
        "run FILE --feedback bandit --probability probability --learner squarecb --quiet --rewards 0..2";
    for command in [evaluate, run] {
        folder.run(&command.replace("FILE", "log.csv")).failed(
            2,
            "log.csv:32: the reward is 900; a number from 0 to 2 was needed; 0..2:clip as the range counts it as the nearest end",
        );
    }
    let [clipped, capped] = [("log.csv", ":clip"), ("capped.csv", "")].map(|(file, clip)| {
        let evaluated = folder.run(&format!("{}{clip}", evaluate.replace("FILE", file))).succeeded();
        let ran = folder.run(&format!("{}{clip} --json", run.replace("FILE", file))).succeeded();
        (evaluated.stdout.clone(), ran.summary()["error_rate"].clone(), evaluated.stderr + &ran.stderr)
    });
    assert_eq!((clipped.0, clipped.1), (capped.0, capped.1));
    assert_eq!(clipped.2.matches(told).count(), 2, "once each: {}", clipped.2);
    assert!(!capped.2.contains("outside of"), "{}", capped.2);
    // The range is part of a model, which needs no option then.
    let costs = |t: usize| format!("a:{} b:{} | age:{}\n", 10 * (t % 2), 10 - 10 * (t % 2), t % 9);
    folder.write("costs.vw", (0..60).map(costs).collect::<String>());
    for options in ["--feedback bandit --learner squarecb --costs 0..5:clip --save m", "--load m"] {
        let said = folder.run(&format!("run costs.vw --quiet {options}")).succeeded().stderr;
        let told = "60 of 120 costs outside of 0..5, the farthest 10, count as the nearest end";
        assert!(said.contains(told), "{options}: {said}");
    }
}

/// What a column does not hold is said once.
#[test]
fn an_odd_cell_of_a_log_is_told_once() {
    let row = |t: usize| format!("{},{},0.5,1\n", if t == 30 { "old" } else { "31" }, ["a", "b"][t % 2]);
    let text = "age,label,probability,reward\n".to_owned() + &(0..60).map(row).collect::<String>();
    let folder = Folder::with("log.csv", text);
    let said = folder.run("evaluate log.csv --policy uniform --numeric age").succeeded().stderr;
    assert_eq!(said.matches("1 cell is no number").count(), 1, "{said}");
}

/// The text "1" is not the number 1; names in a list of words are what the played label is.
#[test]
fn a_text_beside_a_number_of_the_same_writing_is_refused() {
    let row = |t: usize, label: &str| {
        let (h, r) = (t % 7, t % 3 % 2);
        format!("{{\"h\": {h}, \"act\": {label}, \"p\": 0.5, \"r\": {r}, \"on\": \"1 2\"}}\n")
    };
    let rows = |second: &str| (0..60).map(|t| row(t, ["1", second][t % 2])).collect::<String>();
    let folder = Folder::with("one.ndjson", rows("2"));
    folder.write("two.ndjson", rows("\"1\"").replace(", \"on\": \"1 2\"", ""));
    let ours = |label: &str| format!("{{\"label\":{label},\"probability\":0.5,\"reward\":1}}\n");
    folder.write("ours.ndjson", ours("1") + &ours("\"1\""));
    let names = "--decision act --probability p --reward r";
    let why = "the label \"1\" is a text, and the class of this name is a number: labels of one name need one type; write both as \
               numbers, or both as texts (in quotation marks)";
    for command in ["evaluate FILE --policy uniform", "run FILE --feedback bandit --learner squarecb --quiet"]
    {
        let on_offer = format!("{} {names} --offered on", command.replace("FILE", "one.ndjson"));
        folder.run(&on_offer).succeeded();
        let mixed = format!("{} {names}", command.replace("FILE", "two.ndjson"));
        folder.run(&mixed).failed(2, &format!("two.ndjson:2: {why}"));
    }
    folder.run("evaluate ours.ndjson --policy uniform").failed(2, &format!("ours.ndjson:2: {why}"));
}

/// A label may be called NA, as North America is, and a column x.
#[test]
fn labels_of_a_log_may_be_words_for_missing_ones() {
    let row = |t: usize| format!("{},{},0.5,{}\n", t % 5, ["NA", "EU"][t % 2], t % 3 % 2);
    let folder = Folder::with("log.csv", format!("x,act,p,r\n{}", (0..60).map(row).collect::<String>()));
    let names = "--decision act --probability p --reward r";
    let evaluate = format!("evaluate log.csv --policy constant:NA {names}");
    let run = format!("run log.csv --feedback bandit --learner squarecb --quiet --save m {names}");
    for command in [&evaluate, &run] {
        let why =
            "log.csv:2: has no \"act\": \"NA\" counts as missing; the option not-missing makes it a label";
        folder.run(command).failed(2, why);
        folder.run(&format!("{command} --not-missing NA")).succeeded();
    }
    let labels = folder.run("inspect m --json").succeeded().objects()[0]["labels"].clone();
    assert_eq!(labels, serde_json::json!(["EU", "NA"]));
}

/// Without `x`, what stands beside our names is features, as in a table: they were ignored, without a word.
#[test]
fn features_beside_our_names_are_features() {
    let ours = |text: String| {
        text.replace("chosen", "label").replace("prob", "probability").replace("click", "reward")
    };
    let folder = Folder::with("log.ndjson", ours(log(600, false)));
    folder.write("right.ndjson", ours(log(600, false)).replace("\"reward\"", "\"correct\""));
    let mut logs = vec!["log.ndjson", "right.ndjson"];
    #[cfg(feature = "parquet")]
    {
        crate::tables::write_parquet(&ours(log(600, true)), &folder.path("log.parquet"));
        logs.push("log.parquet");
    }
    folder.write("log.csv", ours(log(600, true)));
    let evaluate = "--policy learner:squarecb --policy uniform --json";
    let earned = |log: &str| {
        let found = folder.run(&format!("evaluate {log} {evaluate}")).succeeded().objects();
        found[0]["estimates"][0]["value"].as_f64().unwrap()
    };
    assert!(earned("log.csv") > 0.45, "{}", earned("log.csv"));
    for log in logs {
        assert!((earned(log) - earned("log.csv")).abs() < 0.1, "{log}: {}", earned(log));
    }
    // Where nothing else is, or it is under x, the log is one of ours.
    for more in ["", ",\"x\":{\"h\":1},\"at\":\"noon\""] {
        let line = format!("{{\"label\":\"a\",\"probability\":0.5,\"reward\":1{more}}}\n");
        folder.write("ours.ndjson", line.repeat(20));
        folder.run("evaluate ours.ndjson --policy uniform").succeeded();
    }
}

/// A line with a whole distribution is one of ours: what stands beside it, and not under `x`, is named.
#[test]
fn keys_that_may_have_been_meant_as_features_are_named() {
    let line = |x: &str| {
        let p = "\"p\":{\"a\":0.5,\"b\":0.5}";
        format!("{{\"hue\":\"red\",\"age\":3,\"label\":\"a\",{p},\"reward\":1{x}}}\n").repeat(20)
    };
    let folder = Folder::with("log.ndjson", line(""));
    folder.write("under.ndjson", line(",\"x\":{\"h\":1}"));
    let said = |log: &str| folder.run(&format!("evaluate {log} --policy uniform")).succeeded().stderr;
    let why = "the keys \"hue\", \"age\" are not read: features of a decision stand under \"x\"";
    assert!(said("log.ndjson").contains(why), "{}", said("log.ndjson"));
    assert!(!said("under.ndjson").contains("are not read"), "{}", said("under.ndjson"));
}

/// A log whose columns nobody has named is not learnt as right labels, nor what was earned as a label.
#[test]
fn logs_are_not_taken_for_right_labels() {
    let needed = "with a column of the probability by which each was played, called probability (where labels were drawn with fixed \
                  shares, the share)";
    let cases = [
        ("y.ndjson", "", r#"{"x":{"a":1},"y":"L","reward":R}"#, r#""y" and "reward""#, "y", "", needed),
        (
            "c.ndjson",
            "",
            r#"{"x":[1],"label":"L","cost":R}"#,
            r#""label" and "cost""#,
            "label",
            " and reward = cost and costs = LEAST..MOST",
            needed,
        ),
        ("reward.csv", "a,action,reward\n", "1,L,R", r#""action" and "reward""#, "action", "", needed),
        (
            "clicks.csv",
            "action,click,pscore,age\n",
            "L,R,0.5,R",
            r#""action", "pscore" and "click""#,
            "action",
            " and probability = pscore and reward = click",
            "",
        ),
        (
            "items.csv",
            "item,click,pscore,age\n",
            "L,R,0.5,R",
            r#""pscore" and "click""#,
            "COLUMN",
            " and probability = pscore and reward = click",
            "",
        ),
    ];
    for (name, header, row, columns, decision, others, needed) in cases {
        let rows =
            [("l", "0"), ("m", "1")].map(|(label, reward)| row.replace('L', label).replace('R', reward));
        let folder = Folder::with(name, format!("{header}{}", (rows.join("\n") + "\n").repeat(10)));
        let ran = folder.run(&format!("run {name} --feedback bandit --quiet"));
        let [s, learn] = if others.is_empty() { ["", "learns"] } else { ["s", "learn"] };
        let comma = if needed.is_empty() { "" } else { ", " };
        let said = format!(
            "{name}: the columns {columns} are those of a log of decisions, whose labels were played and need not be the right ones: the \
             option{s} decision = {decision}{others} {learn} from the log{comma}{needed}, evaluate says"
        );
        assert!(ran.code == 2 && ran.stderr.contains(&said), "{}", ran.stderr);
        folder.run(&format!("run {name} --learner ogd --quiet")).succeeded();
        let label = ran.stderr.rsplit("label = ").next().and_then(|rest| rest.split(' ').next()).unwrap();
        folder.run(&format!("run {name} --feedback bandit --label {label} --quiet")).succeeded();
    }
    // Names that features have, too.
    for header in ["cost,p,label", "click,age,y", "action,p,y"] {
        let folder = Folder::with("data.csv", format!("{header}\n{}", "1,2,l\n3,4,m\n".repeat(10)));
        let ran = folder.run("run data.csv --feedback bandit --quiet").succeeded();
        assert!(!ran.stderr.contains("a log of decisions"), "{header}: {}", ran.stderr);
    }
}

/// Labels of Vowpal Wabbit's text that no other policy can be evaluated by.
#[test]
fn labels_that_cannot_be_evaluated_are_refused() {
    for (label, what) in [
        ("1:0:0", "action \"1\" was played with probability 0: must be in (0, 1]"),
        ("1:0:5e-324", "action \"1\" was played with probability 5e-324; at least 1e-100 is required"),
        (
            "1",
            "label is a class, where action:cost:probability was needed: run and compare score forecasts of right labels",
        ),
    ] {
        let folder = Folder::with("a.vw", format!("{label} | x\n"));
        folder.run("evaluate a.vw --policy uniform").failed(2, &format!("a.vw:1: the {what}"));
    }
}

/// Labels on offer beside right labels: bandit feedback takes such rows for a log unless the label is named,
/// and every format has the same forecasts then.
#[test]
fn labels_on_offer_beside_right_ones() {
    let rows = [(1, "r", "g", "r"), (2, "g", "b", "b"), (3, "b", "r", "r")];
    let table = rows.map(|(a, one, other, label)| format!("{a},{one} {other},{label}\n"));
    let objects = rows.map(|(a, one, other, label)| {
        format!("{{\"a\":{a},\"shown\":[\"{one}\",\"{other}\"],\"label\":\"{label}\"}}\n")
    });
    let folder = Folder::with("rows.csv", format!("a,shown,label\n{}", table.concat().repeat(20)));
    folder.write("rows.ndjson", objects.concat().repeat(20));
    folder.write(
        "labels.ndjson",
        objects.concat().repeat(20).replace("shown", "labels").replace("label\"", "y\""),
    );
    let way = "; if the labels are the right ones, and not those that were played, a run is told so by the option label, which names them\n";
    let rate = |arguments: &str| {
        let run = format!("run {arguments} --feedback bandit --learner squarecb --json --quiet");
        folder.run(&run).succeeded().objects().last().unwrap()["expected_error_rate"].as_f64().unwrap()
    };
    let expected = rate("labels.ndjson");
    for (name, offered, label) in
        [("rows.csv", "shown", "label"), ("rows.ndjson", "shown", "label"), ("labels.ndjson", "labels", "y")]
    {
        let ran = folder.run(&format!("run {name} --feedback bandit --offered {offered} --quiet"));
        assert!(ran.code == 2 && ran.stderr.ends_with(way), "{name}: {}", ran.stderr);
        assert_eq!(rate(&format!("{name} --offered {offered} --label {label}")), expected, "{name}");
    }
}

/// Rows of which no column is read are rows, in Parquet as in CSV.
#[cfg(feature = "parquet")]
#[test]
fn a_log_without_features_is_predicted() {
    let table = format!("shown,p,earned\n{}", "r,0.5,1\ng,0.5,0\n".repeat(20));
    let folder = Folder::with("log.csv", &table);
    crate::tables::write_parquet(&table, &folder.path("log.parquet"));
    let learn =
        "run log.csv --feedback bandit --learner squarecb --decision shown --probability p --reward earned";
    folder.run(&format!("{learn} --save model --quiet")).succeeded();
    let answers = |name: &str| folder.run(&format!("predict model {name}")).succeeded().stdout;
    assert_eq!(answers("log.csv").lines().count(), 40);
    assert_eq!(answers("log.parquet"), answers("log.csv"));
}
