//! Logs and data as other programs write them: read, or refused by a sentence that says what to do.

use std::fmt::Write as _;

use crate::util::Folder;

/// Rounds of Vowpal Wabbit's decision service, logged by uniform play among two: the first action costs
/// nothing, the second 1, with costs as rewards with a minus sign.
fn decision_service(count: usize) -> String {
    let mut text = String::new();
    for t in 0..count {
        let played = t % 2;
        let (first, cost) = (played + 1, -((1 - played) as i32));
        let second = 3 - first;
        writeln!(
            text,
            "{{\"_label_cost\":{cost},\"_label_probability\":0.5,\"_label_Action\":{first},\"_labelIndex\":{played},\"EventId\":\"e{t}\",\
             \"a\":[{first},{second}],\"p\":[0.5,0.5],\"c\":{{\"User\":{{\"h\":{}}},\"_multi\":[{{\"i\":{{\"id\":\"art\"}}}},\
             {{\"i\":{{\"id\":\"sport\"}}}}]}}}}",
            t % 3 + 1
        )
        .unwrap();
    }
    text
}

#[test]
fn logs_of_the_decision_service_are_learnt_from_and_evaluated() {
    let folder = Folder::with("ds.json", decision_service(200));
    folder
        .run("run ds.json --feedback bandit --quiet")
        .failed(2, "ds.json:1: the cost is -1, outside of the range 0..1; pass --costs=-1..0, which has all costs of the file");
    let run = "run ds.json --feedback bandit --quiet --json --costs=-1..0 --set width=64 --save m";
    let summary = folder.run(run).succeeded().summary();
    assert_eq!((&summary["learner"], &summary["rounds"]), (&"offers".into(), &200.into()), "{summary}");
    assert!(summary["greedy_error_rate"].as_f64().unwrap() < 0.2, "{summary}");
    let policies = "--policy logged --policy greedy --policy uniform --model m --reward-learner none --json";
    let found = folder.run(&format!("evaluate ds.json {policies} --greedy")).succeeded().objects();
    let value = |at: usize| found[at]["estimates"][0]["value"].as_f64().unwrap();
    assert!((value(0) - 0.5).abs() < 1e-9 && (value(2) - 0.5).abs() < 1e-9, "{}", found[0]);
    assert!(value(3) > 0.9, "the model plays what costs nothing: {}", found[3]);
    // Actions are known by their positions: said where another one stands there.
    let best = folder.run("evaluate ds.json --policy best --reward-learner none").succeeded();
    assert!(best.stdout.contains("best, constant:0\n"), "{}", best.stdout);
    assert!(!best.stderr.contains("position"), "{}", best.stderr);
    let other = r#"{"i":{"id":"sport"}},{"i":{"id":"art"}}"#;
    let swapped = decision_service(100).replace(r#"{"i":{"id":"art"}},{"i":{"id":"sport"}}"#, other);
    folder.write("swapped.json", decision_service(100) + &swapped);
    let said = folder.run("evaluate swapped.json --policy constant:0").succeeded().stderr;
    assert!(said.contains("label 0 is whatever action stands at this position"), "{said}");
    assert!(said.contains("in 100 of 200 rows another one than in the first"), "{said}");
    // Rows to predict, and rows that are not to be learnt from.
    let predicted = folder.run("predict m ds.json --probabilities").succeeded().objects();
    assert_eq!(predicted.len(), 200);
    let skipped = "{\"_skipLearn\":true,\"_label_cost\":5,\"_label_probability\":0.5,\"_labelIndex\":0,\"c\":{\"_multi\":[{},{}]}}\n";
    folder.write("more.json", decision_service(100) + skipped);
    let more = folder.run("evaluate more.json --policy uniform").succeeded();
    assert!(more.stdout.contains("100 of 100 decisions"), "{}", more.stdout);
    assert!(more.stderr.contains("left out 1 row not to be learnt from"), "{}", more.stderr);
    // A reward instead of a cost; other shares of dropped rows are weights, which a log has none of.
    let late = decision_service(40).replace("\"_label_cost\":-1,", "\"o\":[{\"v\":1.0}],");
    folder.write("o.json", late.replace("\"_label_cost\":0,", "\"o\":[{\"v\":0}],"));
    let same = folder.run("evaluate o.json --policy logged --json").succeeded().objects();
    assert!((same[0]["logged_reward"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{}", same[0]);
    folder.write(
        "d.json",
        decision_service(2).replacen("\"a\":", "\"pdrop\":0.5,\"a\":", 1)
            + &decision_service(1).replace("\"a\":", "\"pdrop\":0.9,\"a\":"),
    );
    let refused = folder.run("evaluate d.json --policy uniform");
    assert!(refused.code == 2 && refused.stderr.contains("has weight"), "{}", refused.stderr);
    // A row without a share had none dropped.
    folder.write("d.json", decision_service(2).replacen("\"a\":", "\"pdrop\":0.5,\"a\":", 1));
    let refused = folder.run("evaluate d.json --policy uniform");
    assert!(
        refused.code == 2 && refused.stderr.contains("d.json:2: the row has weight"),
        "{}",
        refused.stderr
    );
}

#[test]
fn contradictions_of_the_decision_service_are_refused() {
    let folder = Folder::with("ds.json", "");
    for (from, to, fault) in [
        ("[0.5,0.5]", "[0.5,0.7]", "the probabilities \"p\" sum to 1.2, not to 1"),
        ("[0.5,0.5]", "[0.5]", "\"a\" has 2 actions, and \"p\" 1"),
        ("[0.5,0.5]", "[0.9,0.1]", "the label's probability is 0.5, and \"p\" says 0.9 of its action"),
        ("[0.5,0.5]", "[-0.5,1.5]", "a probability in \"p\" is -0.5; a number between 0 and 1 was needed"),
        ("\"a\":[1,2]", "\"a\":[2,2]", "\"a\" has the action 2 twice"),
    ] {
        folder.write("ds.json", decision_service(2).replacen(from, to, 1));
        folder.run("evaluate ds.json --policy uniform").failed(2, &format!("ds.json:1: {fault}"));
    }
    folder.write("ds.json", decision_service(2).replacen("\"_labelIndex\":0", "\"_labelIndex\":1", 1));
    let said = folder.run("evaluate ds.json --policy uniform").succeeded().stderr;
    assert!(said.contains("1 row with a _labelIndex (from 0) of another action"), "{said}");
    folder.write("n.json", r#"{"_label_cost":-1,"_labelIndex":0,"_multi":[{"k":1},{"k":2}]}"#);
    let fault = "has a cost, and no probability (_label_probability or p) with which the action was played";
    folder.run("run n.json --feedback bandit --quiet").failed(2, &format!("n.json:1: {fault}"));
}

/// A log of another program: uniform play among two, right when the label is that of the column `leak`.
fn table(rows: usize) -> String {
    let mut text = "u,leak,a,p,r\n".to_owned();
    for t in 0..rows {
        let mixed = (t as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let (leak, played) = ((mixed >> 40 & 1) as usize, (mixed >> 50 & 1) as usize);
        writeln!(
            text,
            "{},{},{},0.5,{}",
            t % 7,
            ["x", "y"][leak],
            ["x", "y"][played],
            u8::from(leak == played)
        )
        .unwrap();
    }
    text
}

#[test]
fn columns_of_logs_are_dropped() {
    let folder = Folder::with("log.csv", table(400));
    let named = "--decision a --probability p --reward r";
    let run = format!("run log.csv --feedback bandit {named} --json --quiet");
    let error = |options: &str| {
        let summary = folder.run(&format!("{run} {options}")).succeeded().summary();
        summary["greedy_error_rate"].as_f64().unwrap()
    };
    assert!(error("") < 0.1 && error("--drop leak") > 0.3, "{} {}", error(""), error("--drop leak"));
    folder
        .run(&format!("{run} --drop leek"))
        .failed(2, "log.csv: has no column \"leek\" (did you mean \"leak\"?); its columns are \"u\", \"leak\", \"a\", \"p\", \"r\"");
    folder.run(&format!("evaluate log.csv {named} --drop leak --policy uniform")).succeeded();
}

#[test]
fn a_log_that_ends_in_the_middle_is_not_learnt_in_silence() {
    let lines: String = (0..40)
        .map(|t| format!("{{\"u\":{t},\"a\":\"{}\",\"p\":0.5,\"r\":1}}\n", ["x", "y"][t % 2]))
        .collect();
    let folder = Folder::with("log.ndjson", &lines[..lines.len() - 9]);
    let refused =
        folder.run("run log.ndjson --feedback bandit --decision a --probability p --reward r --quiet");
    assert!(
        refused.code == 2 && refused.stderr.contains("log.ndjson:40: is not a JSON object"),
        "{}",
        refused.stderr
    );
}

#[test]
fn intervals_are_of_what_rewards_may_be() {
    let folder = Folder::with("two.csv", "f,a,p,r\n1,x,0.5,10\n2,y,0.5,10\n");
    let interval = |options: &str| {
        let run = format!(
            "evaluate two.csv --decision a --probability p --reward r --policy uniform --json {options}"
        );
        let found = folder.run(&run).succeeded().objects();
        let estimate = found[0]["estimates"][0].clone();
        [0, 1].map(|side| estimate["sequence"][side].as_f64().unwrap())
    };
    let [low, high] = interval("");
    assert!(low < 5.0 && high == 10.0, "{low} {high}");
    let [low, high] = interval("--costs 0..20");
    assert!(low < 0.25 && high > 0.75, "{low} {high}");
    let [low, high] = interval("--rewards 0..20");
    assert!(low < 0.25 && high > 0.75, "{low} {high}");
    // Wrong is the least reward.
    folder.write("wrong.csv", "f,a,p,r\n1,x,0.5,-1\n2,y,0.5,-1\n3,x,0.5,\n4,y,0.5,\n");
    let run =
        "evaluate wrong.csv --decision a --probability p --reward r --policy uniform --missing wrong --json";
    let found = folder.run(run).succeeded();
    assert_eq!(found.objects()[0]["estimates"][0]["value"], -1.0, "{}", found.stdout);
    assert!(
        found.stdout.contains("2 of 4 decisions were never answered and count as -1"),
        "{}",
        found.stdout
    );
}

#[test]
fn labels_on_offer_that_nobody_heeds_are_told() {
    let lines: String = (0..40)
        .map(|t| {
            format!("{{\"x\":{{\"u\":{t}}},\"labels\":[\"a\",\"{}\"],\"y\":\"a\"}}\n", ["b", "c"][t % 2])
        })
        .collect::<String>()
        + "{\"x\":{\"u\":1},\"labels\":[\"a\",\"b\"],\"y\":\"b\"}\n";
    let folder = Folder::with("offered.ndjson", lines);
    let said = folder.run("run offered.ndjson --learner ogd --quiet").succeeded().stderr;
    assert!(said.contains("\"labels\" looks like the labels on offer"), "{said}");
    let said = folder.run("run offered.ndjson --feedback bandit --quiet").succeeded().stderr;
    assert!(!said.contains("looks like"), "{said}");
    let refused = folder.run("run offered.ndjson --learner ogd --costs 0..10 --quiet");
    let said = refused.stderr.contains("--costs: is for learners of bandit feedback; ogd sees the label");
    assert!(refused.code == 1 && said, "{}", refused.stderr);
}

/// Rounds with two slots and three actions, logged by uniform play among those that are left. The action of
/// the user's topic is right in the first slot, the last action in the second one; what is right costs -1.
fn slots(count: usize, json: bool) -> String {
    let mut text = String::new();
    for t in 0..count {
        let (first, topic) = (t % 3, t / 6 % 2);
        let second = (first + 1 + t / 3 % 2) % 3;
        let (one, two) = (-i32::from(first == topic), -i32::from(second == 2));
        if json {
            let actions: Vec<String> = (0..3).map(|a| format!("{{\"_tag\":\"a{a}\",\"i\":{{\"id\":\"{a}\"}}}}")).collect();
            let actions = actions.join(",");
            writeln!(
                text,
                "{{\"EventId\":\"e{t}\",\"c\":{{\"u\":{{\"h\":\"{topic}\"}},\"_multi\":[{actions}],\"_slots\":[{{\"_id\":\"top\"}},{{\"_id\":\"side\"}}]}},\
                 \"_outcomes\":[{{\"_id\":\"top\",\"_label_cost\":{one},\"_a\":[{first}],\"_p\":[0.3333333]}},\
                 {{\"_id\":\"side\",\"_a\":{second},\"_p\":0.5,\"_o\":[{{\"v\":{}}}]}}]}}",
                -two
            )
        } else {
            writeln!(
                text,
                "ccb shared |u h={topic}\nccb action 'a0 |i id=0\nccb action 'a1 |i id=1\nccb action 'a2 |i id=2\n\
                 ccb slot {first}:{one}:0.3333333 |s top\nccb slot {second}:{two}:0.5 |s side\n"
            )
        }
        .unwrap();
    }
    text
}

/// Every slot is a decision: of the log's, of the model's, and of a policy's.
#[test]
fn slots_of_a_round_are_decisions_of_their_own() {
    let folder = Folder::with("ccb.vw", slots(300, false));
    folder.write("ccb.json", slots(300, true));
    let new = "ccb shared |u h=1\nccb action 'a0 |i id=0\nccb action 'a1 |i id=1\nccb action 'a2 |i id=2\nccb slot |s top\nccb slot 0,2 |s side\n";
    folder.write("ccb_new.vw", new);
    let slots = "[{\"_id\":\"top\"},{\"_id\":\"side\",\"_inc\":[0,2]}]";
    let actions: Vec<String> =
        (0..3).map(|a| format!("{{\"_tag\":\"a{a}\",\"i\":{{\"id\":\"{a}\"}}}}")).collect();
    let object = format!("{{\"u\":{{\"h\":\"1\"}},\"_multi\":[{}],\"_slots\":{slots}}}\n", actions.join(","));
    folder.write("ccb_new.json", object);
    for (kind, line) in [("vw", 5), ("json", 1)] {
        let log = format!("ccb.{kind}");
        folder.run(&format!("run {log} --feedback bandit --quiet")).failed(
            2,
            &format!("{log}:{line}: the cost is -1, outside of the range 0..1; pass --costs=-1..0, which has all costs of the file"),
        );
        let run = format!("run {log} --feedback bandit --quiet --json --costs=-1..0 --set width=64 --save m");
        let summary = folder.run(&run).succeeded().summary();
        assert_eq!((&summary["rounds"], &summary["classes"]), (&600.into(), &3.into()), "{summary}");
        // One in six cannot be right: the first slot has taken the last action.
        assert!(summary["greedy_error_rate"].as_f64().unwrap() < 0.25, "{kind}: {summary}");
        let evaluate =
            format!("evaluate {log} --policy logged --policy uniform --json --reward-learner none");
        let found = folder.run(&evaluate).succeeded().objects();
        for (at, what) in ["logged", "uniform"].into_iter().enumerate() {
            let weight = found[at]["mean_weight"].as_f64().unwrap();
            assert!((weight - 1.0).abs() < 1e-6, "{kind}, {what}: all that is on offer, and nothing else");
            let value = found[at]["estimates"][0]["value"].as_f64().unwrap();
            assert!((value - 1.0 / 3.0).abs() < 1e-6, "{kind}, {what}: {value}");
        }
        let new = folder.run(&format!("predict m ccb_new.{kind} --greedy")).succeeded().stdout;
        assert_eq!(new, "a1\na2\n", "{kind}");
        assert_eq!(folder.run(&format!("predict m {log}")).succeeded().stdout.lines().count(), 600);
        let refused = folder.run(&format!("run {log} --learner ogd --quiet"));
        assert!(refused.code == 2 && refused.stderr.contains("of their own"), "{}", refused.stderr);
    }
}

#[test]
fn json_without_actions_is_a_row_with_a_label() {
    let rows = "{\"_label\": 1, \"user\": {\"age\": 3}}\n{\"_label\": \"2 0.5\", \"user\": {\"age\": 5}, \"_text\": \"a b\"}\n";
    let folder = Folder::with("a.json", rows.repeat(20));
    let summary = folder.summary("a.json --learner ogd");
    assert_eq!((&summary["rounds"], &summary["classes"]), (&40.into(), &2.into()), "{summary}");
}

/// A label in text has no tag, in a row as in an action.
#[test]
fn labels_in_text_are_read_whole() {
    let weighed = "{\"_label\": \"1 2\", \"x\": 1}\n{\"_label\": \"2 1\", \"x\": 0}\n".repeat(30);
    let folder = Folder::with("w.json", weighed);
    let refused = folder.run("run w.json --learner perceptron --quiet");
    assert!(refused.code == 2 && refused.stderr.contains("w.json:1: "), "a weight of 2: {}", refused.stderr);
    let played = "{\"_label\": \"1:-1:0.5\", \"x\": 1}\n{\"_label\": \"2:0:0.5\", \"x\": 1}\n".repeat(10);
    let inside = "{\"u\": 1, \"_multi\": [{\"_label\": \"0:-1:0.5\", \"k\": 1}, {\"k\": 2}]}\n\
                  {\"u\": 1, \"_multi\": [{\"k\": 1}, {\"_label\": \"0:0:0.5\", \"k\": 2}]}\n"
        .repeat(10);
    for text in [played, inside] {
        folder.write("a.json", &text);
        let found = folder.run("evaluate a.json --policy logged --json").succeeded().objects().remove(0);
        assert_eq!(found["decisions"], 20, "{text}");
        assert!((found["logged_reward"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{text}");
    }
}

/// Half of the rounds offer 1 and 2, the others 3 and 1; the log draws among them as a uniform policy does.
#[test]
fn actions_without_features_are_those_on_offer() {
    let row = |index: usize, actions: &str, cost: i32| {
        format!(
            "{{\"_label_cost\":{cost},\"_label_probability\":0.5,\"_labelIndex\":{index},\"a\":{actions},\"p\":[0.5,0.5],\
             \"c\":{{\"u\":{{\"x\":1}}}}}}\n"
        )
    };
    let rows =
        (row(0, "[1,2]", -1) + &row(1, "[2,1]", 0) + &row(2, "[3,1]", -1) + &row(0, "[1,3]", 0)).repeat(10);
    let folder = Folder::with("a.json", rows);
    let found = folder.run("evaluate a.json --policy uniform --json").succeeded().objects().remove(0);
    assert_eq!(found["labels"], 3, "{found}");
    assert!((found["estimates"][0]["value"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{found}");
    folder.write("b.json", row(0, "[2,3]", -1));
    folder
        .run("evaluate b.json --policy uniform")
        .failed(2, "b.json:1: the action 1 (from 1) was played, which \"a\" does not have");
}

/// It names the policies that it is about, unless it is about the log.
#[test]
fn a_warning_is_said_once() {
    let skipped = "{\"_skipLearn\":true,\"_label_cost\":5,\"_label_probability\":0.5,\"_labelIndex\":0,\"c\":{\"_multi\":[{},{}]}}\n";
    let folder = Folder::with("ds.json", decision_service(20) + skipped);
    let policies = "--policy uniform --policy constant:0 --policy logged --policy constant:0";
    let said = folder.run(&format!("evaluate ds.json {policies}")).succeeded().stderr;
    assert_eq!(said.matches("left out 1 row").count(), 1, "{said}");
    assert!(said.contains("noregret: left out 1 row"), "{said}");
    assert_eq!(
        said.matches("noregret: constant:0; constant:0: the effective sample size is").count(),
        1,
        "{said}"
    );
}

/// As the decision service writes it where it has not joined rewards with their rounds.
#[test]
fn rewards_by_themselves_are_left_out_and_counted() {
    let alone = "{\"RewardValue\":1.5,\"EnqueuedTimeUtc\":\"2020\",\"EventId\":\"e0\"}\n{\"ActionTaken\":true,\"EventId\":\"e1\"}\n";
    let folder = Folder::with("ds.json", decision_service(20) + alone + &decision_service(20));
    let found = folder.run("evaluate ds.json --policy uniform").succeeded();
    assert!(found.stdout.contains("40 of 40 decisions"), "{}", found.stdout);
    assert!(found.stderr.contains("left out 2 rows with a reward or an activation"), "{}", found.stderr);
    for (from, to, fault) in [
        ("\"_multi\":[", "\"_multi\":{},\"m\":[", "has no list of actions under \"_multi\""),
        (
            "\"_labelIndex\":0",
            "\"_labelIndex\":-1",
            "_labelIndex is -1, which is not the number of an action",
        ),
        (
            "\"_label_cost\":-1",
            "\"o\":[{\"v\":\"1\"}]",
            "has a reward in \"o\" that is a text, true or false; a number was needed",
        ),
    ] {
        folder.write("ds.json", decision_service(2).replacen(from, to, 1));
        folder.run("evaluate ds.json --policy uniform").failed(2, &format!("ds.json:1: {fault}"));
    }
    folder.write("i.json", "{\"_label\": {\"Label\": 1, \"Initial\": 0.5}, \"x\": 1}\n".repeat(3));
    folder.run("run i.json --quiet").failed(2, "i.json:1: the label's Initial is 0.5; only 0 is supported");
    folder.write("l.vw", "label:1 |l x\nlabel:2 |l y\n\n1:0.5 |a x\n2:1 |a y\n\n");
    let refused = folder.run("run l.vw --feedback bandit --quiet");
    assert!(refused.code == 2 && refused.stderr.contains("describes a label"), "{}", refused.stderr);
}

/// Each is refused by a sentence that names the kind.
#[test]
fn other_kinds_of_labels_are_refused_by_name() {
    let slates = "{\"_label_cost\":1,\"c\":{\"_multi\":[{\"_slot_id\":0}],\"_slots\":[{}]},\"_outcomes\":[{\"_a\":[0],\"_p\":[1]}]}\n";
    let outcomes = slates.replace("\"_slots\":[{}]", "\"x\":1");
    let tar = format!("a.csv{}ustar  \0", "\0".repeat(252));
    let folder = Folder::new();
    for (name, text, what) in [
        ("cats.vw", "ca 185.121:0.657:0.00006 | a b\n", "continuous action (ca"),
        (
            "slates.vw",
            "slates shared 0.8 |U u=1\nslates action 0 |A c=1\nslates slot 0:0.8 |S s\n\n",
            "(slates), where a cost for each slot was needed: written as ccb, with the actions that it allows",
        ),
        ("several.vw", "1,2 | a\n", "names several labels"),
        ("flat.fb", "\u{4}\0\0\0\u{3}\0\0\0", "binary file"),
        ("wide.csv", "a\0,\0b\0\n\0", "UTF-16 text"),
        ("a.tar", &tar, "tar archive"),
        ("slates.json", slates, "one cost for all of them (slates)"),
        ("outcomes.json", &outcomes, "the outcomes of slots, and no slots"),
        (
            "ca.json",
            "{\"_label_ca\": {\"action\": 3, \"cost\": 0, \"pdf_value\": 0.1}, \"c\": {\"r\": 1}}\n",
            "continuous action",
        ),
    ] {
        folder.write(name, text.repeat(20));
        for command in
            ["run --quiet --feedback bandit", "run --quiet --learner ogd", "evaluate --policy uniform"]
        {
            let (command, options) = command.split_once(' ').unwrap();
            let ran = folder.run(&format!("{command} {name} {options}"));
            assert_eq!(ran.code, 2, "{command} {name}: {}", ran.stdout);
            let what = if command == "evaluate" && what == "binary file" { "noregret: " } else { what };
            assert!(ran.stderr.contains(what), "{command} {name}: {}", ran.stderr);
        }
    }
    // The choice of a policy before the label of what was played.
    folder.write("eval.vw", "2 1:1:0.5 | a\n2 2:0:0.5 | b\n".repeat(20));
    for command in ["run eval.vw --quiet --feedback bandit", "evaluate eval.vw --policy uniform"] {
        let ran = folder.run(command);
        assert!(
            ran.code == 2 && ran.stderr.contains("the choice of a policy before the label"),
            "{}",
            ran.stderr
        );
    }
    folder.write("both.vw", "1:1:0.5 | a\n2:0:0.5 | b\n2 | b\n".repeat(20));
    let ran = folder.run("run both.vw --quiet --feedback bandit");
    let sentence = "both.vw:3: the label is a class, and that of line 1 gives costs of actions";
    assert!(ran.code == 2 && ran.stderr.contains(sentence), "{}", ran.stderr);
    // Outcomes that are objects: with a cost they say more about it, in interaction-grounded learning nothing
    // else is known.
    let round = |bad: &str| {
        format!(
            "{{\"_label_cost\":-1,\"_label_probability\":0.5,\"_labelIndex\":0,\"o\":[{{\"v\":{{\"clicks\":1}}{bad}}}],\
             \"a\":[1,2],\"p\":[0.5,0.5],\"c\":{{\"u\":{{\"f\":1}},\"_multi\":[{{\"_tag\":\"t\",\"f\":1}},{{\"_tag\":\"t\",\"f\":2}}]}}}}\n"
        )
    };
    folder.write("known.json", round("").repeat(20));
    folder.run("run known.json --quiet --feedback bandit --costs=-1..0").succeeded();
    let ran = folder.run("run known.json --quiet --learner ogd");
    assert!(ran.code == 2 && ran.stderr.contains("(_multi): --feedback bandit learns"), "{}", ran.stderr);
    folder.write("grounded.json", round(",\"_definitely_bad\":false").repeat(20));
    let ran = folder.run("run grounded.json --quiet --feedback bandit --costs=-1..0");
    assert!(ran.code == 2 && ran.stderr.contains("interaction-grounded"), "{}", ran.stderr);
    let ran = folder.run("run known.json --quiet --feedback bandit");
    assert!(ran.stderr.contains("--costs=-1..0,"), "no -0: {}", ran.stderr);
    // Numbers that hardly repeat may be classes.
    let counts: String = (0..60).map(|t| format!("{} | a:{t}\n", t * 31 % 59)).collect();
    folder.write("counts.vw", counts);
    let ran = folder.run("run counts.vw --quiet --learner ogd").succeeded();
    assert!(ran.stderr.contains("the label has 59 different values in 60 rows"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--learner vaw forecasts numbers"), "{}", ran.stderr);
    folder.write("shared.vw", "shared |u a\n0:1:0.5 |b c\n|b d\n\n".repeat(20));
    let ran = folder.run("run shared.vw --quiet --learner ogd");
    assert!(ran.code == 2 && ran.stderr.contains("round of several lines"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--feedback bandit learns from them"), "{}", ran.stderr);
    let prices: String = (0..200).map(|t| format!("0.{:03} | a:{t}\n", t * 7 % 199)).collect();
    folder.write("prices.vw", prices);
    let ran = folder.run("run prices.vw --quiet --learner ogd");
    assert!(ran.code == 2 && ran.stderr.contains("a real-valued target; --learner vaw"), "{}", ran.stderr);
    folder.run("run prices.vw --quiet --learner vaw").succeeded();
    folder.write("tags.vw", "1|a\n2|b\n".repeat(20));
    let ran = folder.run("run tags.vw --quiet --learner ogd");
    assert!(ran.code == 2 && ran.stderr.contains("a label has a blank behind it"), "{}", ran.stderr);
}

#[test]
fn a_refusal_of_costs_names_the_range_that_fits() {
    let folder = Folder::with("cs.vw", "1:0 2:1 3:2 | a b\n1:1 2:1 3:0 | b c\n".repeat(20));
    let ran = folder.run("run cs.vw --quiet");
    assert!(ran.code == 2 && ran.stderr.contains("--feedback bandit --costs=0..2 learns"), "{}", ran.stderr);
    let ran = folder.run("evaluate cs.vw --policy uniform");
    assert!(ran.code == 2 && ran.stderr.contains("a run with bandit feedback"), "{}", ran.stderr);
    folder
        .run("run cs.vw --quiet --feedback bandit")
        .failed(2, "cs.vw:1: the cost is 2, outside of the range 0..1; pass --costs=0..2, which has all costs of the file");
    folder.run("run cs.vw --quiet --feedback bandit --costs=0..2").succeeded();
    let header = "hour,chosen,prob,revenue\n".to_owned();
    folder.write("r.csv", header + &"0,a,0.5,0.0\n1,b,0.5,2.5\n2,a,0.5,15\n".repeat(20));
    let run =
        "run r.csv --quiet --json --feedback bandit --decision chosen --probability prob --reward revenue";
    folder
        .run(run)
        .failed(2, "r.csv:4: the reward is 15, where 0 to 1 was needed; pass --rewards=0..15, which has all rewards of the file");
    let mean = |options: &str| {
        let summary = folder.run(&format!("{run} {options}")).succeeded().summary();
        summary["error_rate"].as_f64().unwrap()
    };
    // Revenue is earned, a cost is lost.
    let lost = 17.5 / 45.0;
    assert!((mean("--rewards=0..15") - (1.0 - lost)).abs() < 1e-9);
    assert!((mean("--costs=0..15") - lost).abs() < 1e-9);
    let all = "evaluate r.csv --decision chosen --probability prob --reward revenue --policy logged --json";
    let found = folder.run(all).succeeded().objects();
    assert!((found[0]["logged_reward"].as_f64().unwrap() - 17.5 / 3.0).abs() < 1e-9, "{}", found[0]);
    folder.write("neg.vw", "1:-0.5:0.5 | a\n2:0:0.5 | b\n".repeat(20));
    let found = folder.run("evaluate neg.vw --costs=-1..0 --policy logged --json").succeeded().objects();
    assert!((found[0]["logged_reward"].as_f64().unwrap() - 0.25).abs() < 1e-9, "{}", found[0]);
}

#[test]
fn logs_are_recognised_and_their_own_policy_is_one() {
    let log: String = (0..60).map(|t| format!("{t},{},0.5,{}\n", ["a", "b"][t % 2], t % 2)).collect();
    let folder = Folder::with("log.txt", "hour,label,probability,reward\n".to_owned() + &log);
    let found = folder.run("evaluate log.txt --policy logged --policy constant:b").succeeded();
    assert!(found.stdout.lines().nth(1).unwrap().starts_with("logged"), "{}", found.stdout);
    assert!(found.stderr.contains("constant:b: the effective sample size is 30.0"), "{}", found.stderr);
    let one = folder.run("evaluate log.txt --policy logged --json").succeeded().objects();
    assert_eq!((&one[0]["mean_weight"], &one[0]["estimates"][0]["value"]), (&1.0.into(), &0.5.into()));
    let refused = folder.run("evaluate log.txt --policy greedy");
    assert!(refused.stderr.contains("\"logged\" needs the probability"), "{}", refused.stderr);
    let vw: String = (0..60).map(|t| format!("{}:{}:0.5 | h:{t}\n", t % 2, 1 - t % 2)).collect();
    folder.write("log.dat", vw + "| h:3\n");
    let found = folder.run("evaluate log.dat --policy uniform").succeeded();
    assert!(found.stderr.contains("left out 1 row without a label"), "{}", found.stderr);
}

/// Probabilities are written with few digits, and weights are off by as much.
#[test]
fn rounded_probabilities_are_no_fault() {
    let folder = Folder::new();
    for (labels, p) in [(3, "0.333333"), (3, "0.3333"), (3, "0.33"), (6, "0.167"), (7, "0.142857")] {
        let row = |t: usize| format!("{},{},{p},{}\n", t % 24, t * 5 % labels, t % 2);
        let log: String = (0..210).map(row).collect();
        folder.write("log.csv", "hour,label,probability,reward\n".to_owned() + &log);
        let ran = folder.run("evaluate log.csv --policy uniform").succeeded();
        assert_eq!(ran.stderr, "", "{p}");
    }
    let wrong: String = (0..210).map(|t| format!("{t},{},0.41,{}\n", t % 3, t % 2)).collect();
    folder.write("log.csv", "hour,label,probability,reward\n".to_owned() + &wrong);
    let ran = folder.run("evaluate log.csv --policy uniform").succeeded();
    assert!(ran.stderr.contains("the mean importance weight is 0.8130, not 1.0000"), "{}", ran.stderr);
}

/// A multi-armed bandit has no context, and a file of labels no features.
#[test]
fn nothing_but_labels_is_learnt_from() {
    let arms: String =
        (0..80).map(|t| format!("{}:{}:0.25 |\n", t % 4 + 1, if t % 4 == 2 { "0.1" } else { "1" })).collect();
    let folder = Folder::with("arms.vw", arms);
    let summary = folder.summary("arms.vw --feedback bandit --save m");
    assert!(summary["greedy_error_rate"].as_f64().unwrap() < 0.5, "{summary}");
    folder.write("new.vw", "|\n1: 2: |\n");
    let predicted = folder.run("predict m new.vw --greedy").succeeded().stdout;
    assert!(predicted.starts_with("3\n"), "{predicted}");
    folder.run("evaluate arms.vw --policy uniform --model m").succeeded();
    let rows: String =
        (0..80).map(|t| format!("{},0.25,{}\n", ["a", "b", "c", "d"][t % 4], u8::from(t % 4 == 2))).collect();
    folder.write("arms.csv", "chosen,prob,click\n".to_owned() + &rows);
    let run = "arms.csv --feedback bandit --decision chosen --probability prob --reward click";
    assert!(folder.summary(run)["greedy_error_rate"].as_f64().unwrap() < 0.5);
    folder.write("labels.csv", "label\n".to_owned() + &"x\ny\nx\n".repeat(30));
    for options in ["--learner ogd", "--feedback bandit", ""] {
        let summary = folder.summary(&format!("labels.csv {options}"));
        assert_eq!((&summary["rounds"], &summary["classes"]), (&90.into(), &2.into()), "{summary}");
    }
    folder.write("words.csv", "word\nx\ny\n");
    folder.run("run words.csv --quiet").failed(
        2,
        "words.csv: has a single column; pass --delimiter if it has more, or --label NAME if it is the label",
    );
    folder.run("run words.csv --quiet --label word --learner ogd").succeeded();
}

#[test]
fn sums_of_fractions_are_short() {
    let rounds = "shared |U u=0\n|A c=1\n0:0.1:0.5 |A c=2\n\n".repeat(78);
    let folder = Folder::with("a.vw", rounds);
    let shown = folder.run("run a.vw --feedback bandit --quiet --set width=16").succeeded().stdout;
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["errors", "7.8"])), "{shown}");
    assert_eq!(folder.summary("a.vw --feedback bandit --set width=16")["errors"], 7.8);
}

/// One row's contributions have the names of its own features.
#[test]
fn labels_with_features_are_explained_by_these() {
    let round = |t: usize| {
        let played = t % 2;
        let label =
            |at: usize| if at == played { format!("0:{}:0.5 ", at ^ (t / 2 % 2)) } else { String::new() };
        format!("shared |U u=u{}\n{}|A c=L1\n{}|A c=L2\n\n", t / 2 % 2, label(0), label(1))
    };
    let folder = Folder::with("a.vw", (0..80).map(round).collect::<String>());
    folder.run("run a.vw --feedback bandit --quiet --save m").succeeded();
    folder.write("new.vw", "shared |U u=u1\n|A c=L1\n|A c=L2\n\nshared |U u=u0\n|A c=L2\n\n");
    let rows = folder.run("predict m new.vw --explain").succeeded().objects();
    let names = |at: usize| {
        let mut names: Vec<&str> =
            rows[at]["contributions"].as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    };
    assert_eq!((names(0), names(1)), (vec!["A^c=L1", "A^c=L2", "U^u=u1"], vec!["A^c=L2", "U^u=u0"]));
    assert_eq!(rows[0]["contributions"]["U^u=u1"].as_object().unwrap().len(), 2);
    assert_eq!(rows[1]["contributions"]["U^u=u0"].as_object().unwrap().len(), 1);
    let means = folder.run("predict m new.vw --explain=columns").succeeded().stdout;
    assert_eq!(means.lines().count(), 5, "{means}");
}

/// A file with one decision of several slots is no table in one object.
#[test]
fn a_log_of_one_line_is_a_log() {
    let slots = r#"[{"_label_cost":0,"_a":[0,1],"_p":[0.5,0.5]},{"_label_cost":1,"_a":[1],"_p":[1]}]"#;
    let context = r#"{"_multi":[{"a":{"f":1}},{"a":{"f":2}}],"_slots":[{},{}]}"#;
    let folder = Folder::with("a.dsjson", format!("{{\"_outcomes\":{slots},\"c\":{context}}}\n"));
    let found = folder.run("evaluate a.dsjson --policy uniform --json").succeeded().objects().remove(0);
    assert_eq!(found["decisions"], 2, "{found}");
}
