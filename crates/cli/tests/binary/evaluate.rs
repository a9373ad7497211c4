//! `noregret evaluate`: what another policy would have earned.

use serde_json::Value;

use crate::util::{Folder, libsvm, rows};

fn logged(options: &str) -> Folder {
    let folder = Folder::with("a.svm", libsvm(&rows(2000, 3, 4)));
    let run = "run a.svm --quiet --learner banditron --set exploration=0.4 --log log.ndjson --save model";
    folder.run(&format!("{run} {options}")).succeeded();
    folder
}

fn evaluated(folder: &Folder, arguments: &str) -> Value {
    folder.run(&format!("evaluate {arguments} --json")).succeeded().objects().remove(0)
}

fn estimate<'a>(value: &'a Value, name: &str) -> &'a Value {
    value["estimates"].as_array().unwrap().iter().find(|one| one["estimator"] == name).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// On labelled data the truth is known: a third of the labels is right by chance, a constant one as often as
/// it comes up, and a model as often as a second look at the data says.
#[test]
fn estimates_are_near_the_truth() {
    let folder = logged("");
    let fresh = "run a.svm --quiet --learner ogd --save other";
    folder.run(fresh).succeeded();
    let data = folder.text("a.svm");
    let share = |label: &str| data.lines().filter(|row| row.starts_with(label)).count() as f64 / 2000.0;
    let played = folder.run("predict other a.svm").succeeded().stdout;
    let right = data.lines().zip(played.lines()).filter(|(row, label)| row.starts_with(label)).count();
    for (policy, truth) in [
        ("--policy uniform", 1.0 / 3.0),
        ("--policy constant:c1", share("c1")),
        ("--model other", right as f64 / 2000.0),
    ] {
        let value = evaluated(&folder, &format!("log.ndjson {policy}"));
        assert_eq!((value["rounds"].as_u64(), value["missing"].as_u64()), (Some(2000), Some(0)));
        // The model is nearly always right, and a normal interval needs some that are wrong.
        let sure = policy.contains("model");
        assert!(sure || value["warnings"] == serde_json::json!([]), "{policy}: {value}");
        for name in ["ips", "snips", "dr"] {
            let one = estimate(&value, name);
            let off = (number(&one["value"]) - truth).abs();
            assert!(off < 4.0 * number(&one["standard_error"]), "{policy} {name}: {one}, truth {truth}");
        }
        let error = |name: &str| number(&estimate(&value, name)["standard_error"]);
        assert!(policy.contains("constant") || error("dr") < error("ips"), "{policy}: estimates help");
        for name in ["ips", "dr"] {
            let one = estimate(&value, name);
            let width = |kind: &str| number(&one[kind][1]) - number(&one[kind][0]);
            assert!(sure || width("sequence") > width("normal"), "{one}");
        }
    }
    let value = evaluated(&folder, "log.ndjson --policy logged");
    assert!((number(&estimate(&value, "ips")["value"]) - number(&value["logged_reward"])).abs() < 1e-12);
    assert!((number(&value["effective_sample_size"]) - 2000.0).abs() < 1e-6);
    let greedy = evaluated(&folder, "log.ndjson --policy greedy");
    assert!(number(&estimate(&greedy, "dr")["value"]) > number(&value["logged_reward"]));
}

/// A uniform log of three labels: a learner alone learns a third of its rounds, a learner with the log all,
/// and both end up nearly always right, where the best label is right as often as it comes up.
#[test]
fn learning_is_worth_it() {
    let folder = Folder::with("a.svm", libsvm(&rows(3000, 3, 4)));
    folder.run("run a.svm --quiet --learner banditron --set exploration=1 --log log.ndjson").succeeded();
    let policies = "--policy best --policy alone:auto --policy learner:auto --reward-learner none";
    let found = folder.run(&format!("evaluate log.ndjson {policies} --json")).succeeded().objects();
    let [best, alone, learner] = &found[..3] else { panic!("{found:?}") };
    let data = folder.text("a.svm");
    let share = |label: &str| data.lines().filter(|row| row.starts_with(label)).count() as f64 / 3000.0;
    let label = best["best_label"].as_str().unwrap();
    assert!((number(&estimate(best, "ips")["value"]) - share(label)).abs() < 0.08, "{best}");
    let rounds = |one: &Value| one["learnt"]["rounds"].as_u64().unwrap();
    assert!((850..1150).contains(&rounds(alone)) && rounds(learner) == 3000, "{alone} {learner}");
    for one in [alone, learner] {
        let stages = one["learnt"]["stages"].as_array().unwrap();
        let (first, last) = (stages.first().unwrap(), stages.last().unwrap());
        assert_eq!((first["from"].as_u64(), first["to"].as_u64()), (Some(0), Some(127)));
        assert!(
            number(&last["reward"]) > 0.85 && number(&first["reward"]) < number(&last["reward"]),
            "{one}"
        );
        assert!(number(&one["learnt"]["exploration"][0]) > 0.0);
    }
    let more_from = |at: usize| found[at]["more_from"].as_u64().unwrap();
    assert!(more_from(3) <= 512 && more_from(4) <= 2048, "{found:?}");
    let verdict = |at: usize| found[at]["verdict"].as_str().unwrap();
    assert!(verdict(3).starts_with("better") && verdict(4).starts_with("better"), "{found:?}");
    let policies = "--policy best --policy learner:squarecb --reward-learner none";
    let shown = folder.run(&format!("evaluate log.ndjson {policies}")).succeeded().stdout;
    assert!(shown.contains(&format!("best, constant:{label}")), "{shown}");
    assert!(shown.contains("learner:squarecb learnt 3000 rounds; exploring costs "), "{shown}");
    let more = shown.lines().last().unwrap();
    assert!(more.starts_with(&format!("it earned more than best, constant:{label} (0.")), "{shown}");
    assert!(more.contains(" rounds on: ") && more.ends_with(" there"), "{shown}");
    let beside = "evaluate log.ndjson --policy learner:auto --policy learner:banditron --reward-learner none";
    let shown = folder.run(beside).succeeded().stdout;
    assert!(
        shown.contains("\nit earned no more than learner:auto (0.")
            && shown.ends_with(") in the last line\n"),
        "{shown}"
    );
    folder.run("evaluate log.ndjson --policy alone:bandit-reduction").failed(
        1,
        "--policy alone:bandit-reduction: bandit-reduction: learns from rounds in which it has tossed a coin, and another policy has played the labels of the data; auto learns from any",
    );
    // Lists that name all labels restrict nothing, so that learners which need all of them can learn.
    let costs = Folder::with("log.vw", "1:0:0.5 2 | x:1\n1 2:1:0.5 | x:0.5\n1 2:0:0.5 | x:1\n");
    let newtron = "evaluate log.vw --costs 0..1 --policy learner:newtron";
    let learnt = costs.run(newtron).succeeded().stdout;
    assert!(learnt.contains("learner:newtron learnt 3 rounds"), "{learnt}");
    let misspelt = folder.run("evaluate log.ndjson --policy alone:atuo");
    assert!(misspelt.code == 1 && misspelt.stderr.contains("did you mean"), "{}", misspelt.stderr);
}

/// Rows of `auto` have two views, of which the learners that estimate rewards take one.
#[test]
fn models_of_auto_are_evaluated() {
    let folder = logged("");
    folder.run("run a.svm --quiet --limit 300 --save other").succeeded();
    for learner in ["ogd", "folklore", "folklore-diag", "auto"] {
        let value = evaluated(&folder, &format!("log.ndjson --model other --reward-learner {learner}"));
        let dr = number(&estimate(&value, "dr")["value"]);
        assert!((0.3..1.1).contains(&dr), "{learner}: {dr}");
    }
}

/// Late answers change the order of learning and nothing else; lost ones are counted.
#[test]
fn late_and_lost_answers() {
    let (now, late) = (logged(""), logged("--delay geometric:30"));
    for folder in [&now, &late] {
        let value = evaluated(folder, "log.ndjson --policy uniform --reward-learner none");
        assert_eq!((value["rounds"].as_u64(), value["estimates"].as_array().unwrap().len()), (Some(2000), 2));
    }
    let log = late.text("log.ndjson");
    let mut answers = 0;
    let lossy: Vec<&str> = log
        .lines()
        .filter(|line| {
            answers += u32::from(line.contains("\"correct\""));
            !line.contains("\"correct\"") || answers % 4 != 0
        })
        .collect();
    late.write("lossy.ndjson", lossy.join("\n"));
    let value = evaluated(&late, "lossy.ndjson --policy uniform");
    assert_eq!((value["rounds"].as_u64(), value["missing"].as_u64()), (Some(1500), Some(500)));
    let warning = value["warnings"][0].as_str().unwrap();
    assert_eq!(warning, "500 of 2000 decisions were never answered and are left out");
    let wrong = evaluated(&late, "lossy.ndjson --policy uniform --missing wrong");
    assert_eq!(wrong["rounds"].as_u64(), Some(2000));
    assert!(number(&estimate(&wrong, "ips")["value"]) < number(&estimate(&value, "ips")["value"]));
}

/// Arrays, as other programs have them: the reference's values come out of the command too.
#[test]
fn arrays_are_evaluated_as_they_stand() {
    let path = noregret_testdata::path("off_policy/obp_reference.json");
    let reference: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let line = |t: usize| {
            let at = |key: &str| &case[key][t];
            serde_json::json!({
                "id": t, "label": at("played"), "probability": at("probability"), "reward": at("reward"),
                "evaluation": at("evaluation"), "estimates": at("estimates"),
            })
        };
        let rounds = case["played"].as_array().unwrap().len();
        let lines: Vec<String> = (0..rounds).map(|t| line(t).to_string()).collect();
        let folder = Folder::with("log.ndjson", lines.join("\n"));
        let clip = case["clip"].as_f64().map_or(String::new(), |clip| format!("--clip {clip}"));
        let value = evaluated(&folder, &format!("log.ndjson --reward-learner none {clip}"));
        for (name, theirs) in case["values"].as_object().unwrap() {
            let ours = number(&estimate(&value, name)["value"]);
            assert!((ours - number(theirs)).abs() < 1e-9, "{name}: {ours} {theirs}");
        }
    }
}

#[test]
fn vowpal_wabbit_labels_are_read() {
    let folder = Folder::with("a.vw", "1:-1:0.5 | x y\n2:0:0.25 | x\n1:-1:0.5 | y\n2 1:0:0.5 | z\n");
    let value = evaluated(&folder, "a.vw --policy constant:1");
    // w = 2, 0, 2, 2 and rewards 1, 0, 1, 0.
    assert_eq!(number(&estimate(&value, "ips")["value"]), 1.0);
    assert_eq!(number(&estimate(&value, "snips")["value"]), 4.0 / 6.0);
    assert_eq!(estimate(&value, "dr")["estimator"], "dr");
    let people = folder.run("evaluate a.vw --policy uniform").succeeded().stdout;
    let assumed =
        "intervals hold at every time and for policies that learn, if the logged probabilities are right";
    for part in ["effective sample size", "95 % interval", "95 % normal (approximate)", "\nsnips ", assumed] {
        assert!(people.contains(part), "{part}: {people}");
    }
}

#[test]
fn a_suspicious_log_is_spoken_of() {
    // Every label was drawn uniformly, but the log says 0.8 and 0.2.
    let line = |t: usize| {
        let label = ["a", "b"][t % 2];
        format!("{{\"id\":{t},\"label\":\"{label}\",\"p\":{{\"a\":0.8,\"b\":0.2}},\"correct\":true}}\n")
    };
    let folder = Folder::with("log.ndjson", (0..400).map(line).collect::<String>());
    let ran = folder.run("evaluate log.ndjson --policy uniform").succeeded();
    assert!(ran.stderr.contains("they were not drawn with the logged probabilities"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the mean importance weight is 1.5625, not 1.0000"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\"b\" was played 200 times, where the logged"), "{}", ran.stderr);
    // What could not be played is not known.
    let line =
        |t: usize| format!("{{\"id\":{t},\"label\":\"a\",\"p\":{{\"a\":1,\"b\":0}},\"correct\":true}}\n");
    folder.write("sure.ndjson", (0..50).map(line).collect::<String>());
    let ran = folder.run("evaluate sure.ndjson --policy uniform").succeeded();
    assert!(ran.stderr.contains("50.00 % of the policy's probability"), "{}", ran.stderr);
}

#[test]
fn bad_logs_are_refused_with_their_line() {
    let folder = Folder::new();
    let good = r#"{"id":"a","label":"x","p":{"x":0.5,"y":0.5}}"#;
    for (line, sentence) in [
        (
            r#"{"id":"b","label":"x","probability":0}"#,
            "the label \"x\" was played with probability 0: must be in (0, 1]",
        ),
        (
            r#"{"id":"b","label":"x","probability":5e-324}"#,
            "the label \"x\" was played with probability 5e-324; at least 1e-100 is required",
        ),
        (
            r#"{"id":"b","label":"x","probability":1.5}"#,
            "the label \"x\" was played with probability 1.5: must be in (0, 1]",
        ),
        (
            r#"{"id":"b","label":"y","p":{"x":1,"y":0}}"#,
            "the label \"y\" was played with probability 0: must be in (0, 1]",
        ),
        (
            r#"{"id":"b","label":"x","p":{"x":0.5,"y":0.6}}"#,
            "the probabilities of \"p\" sum to 1.1, not to 1",
        ),
        (
            r#"{"id":"b","label":"x","p":{"x":1.5,"y":-0.5}}"#,
            "the label \"x\" was played with probability 1.5: must be in (0, 1]",
        ),
        (
            r#"{"id":"b","label":"x","probability":0.2,"p":{"x":0.5,"y":0.5}}"#,
            "probability is 0.2, but \"p\" gives the label \"x\" 0.5",
        ),
        (
            r#"{"id":"b","label":"x","p":[0.5,0.5]}"#,
            "\"p\" is an array of 2, but no line has given the order of the labels; use an object with the labels as keys",
        ),
        (
            r#"{"id":"b","label":"x"}"#,
            "a decision without a probability; where labels were drawn with fixed shares, as in an A/B test, add it: the share of the label that was played",
        ),
        (
            r#"{"label":"x","probability":0.5}"#,
            "a decision without reward and id: one whose reward comes later, or never, needs an id",
        ),
        (
            r#"{"id":"a","label":"x","probability":0.5}"#,
            "the id \"a\" was that of an earlier decision; a decision has an id of its own, and is written once",
        ),
        (
            r#"{"id":"z","correct":true}"#,
            "feedback for \"z\", but no decision with this id is pending: it never existed, has its feedback, or was discarded; an answer stands behind its decision, and in place of several there is one, with the sum of their rewards",
        ),
        (r#"{"id":"a","correct":true,"reward":1}"#, "has both correct and reward; one was needed"),
        (
            r#"{"id":"b","label":"x","probability":0.5,"x":{"f":[1]}}"#,
            "feature \"f\" is not a number, text, bool or null",
        ),
        (
            r#"{"what":1}"#,
            "is not a line of a decision log: a decision has a \"label\", feedback an \"id\"; another program's log is for `noregret run` and `noregret evaluate`, whose options decision, probability and reward name its columns",
        ),
        (
            r#"{"id":"b","label":"x","probability":0.5,"x":{"f":NaN}}"#,
            "is not a line of a decision log: expected value at character 50; JSON has no NaN: write null, or leave the key out",
        ),
        (
            r#"{"id":"b","label":"x","probability":"0.5"}"#,
            "is not a line of a decision log: invalid type: string \"0.5\", expected f64 at character 41; another program's log is for `noregret run` and `noregret evaluate`, whose options decision, probability and reward name its columns",
        ),
        (r#"{"noregret":"decisions"}"#, "a header is only allowed as the first line of a log"),
    ] {
        folder.write("log", format!("{good}\n{line}\n"));
        folder.run("evaluate log --policy uniform").failed(2, &format!("log:2: {sentence}"));
        folder.write("log", format!("{good}\n{line}\n{{\"id\":\"a\",\"correct\":true}}\n"));
        let value = evaluated(&folder, "log --policy uniform --on-bad-row skip");
        assert_eq!((value["rounds"].as_u64(), value["bad_rows"].as_u64()), (Some(1), Some(1)), "{line}");
    }
    folder.write("log", format!("{good}\n{{\"id\":\"a\",\"correct\":true}}\n"));
    folder
        .run("evaluate log --policy constant:z")
        .failed(2, "log: the log has no label \"z\"; there are x, y");
    folder
        .run("evaluate log")
        .failed(2, "log:1: the decision has no \"evaluation\"; name a policy or a model to be evaluated: best, logged and learner:auto show whether learning is worth it");
    folder
        .run("evaluate log --policy first")
        .failed(1, "--policy first: is none of uniform, logged, greedy, best, constant:LABEL, learner:NAME and alone:NAME");
    folder.run("evaluate log --policy uniform --reward-learner perceptron").failed(
        1,
        "reward learner = perceptron: must be a learner that forecasts probabilities of two classes",
    );
    folder.write("log", good);
    folder.run("evaluate log --policy uniform").failed(
        2,
        "log: no decision of the log was answered: one at least needs the reward or the cost of what was played",
    );
    // Another label's probability may be as small as it likes: the estimate is a number.
    folder.write(
        "log",
        "{\"id\":1,\"label\":\"x\",\"p\":{\"x\":1,\"y\":5e-324},\"correct\":true}\n{\"id\":2,\"label\":\"x\",\"p\":{\"x\":1,\"y\":5e-324},\"correct\":false}\n",
    );
    let printed = folder.run("evaluate log --policy uniform").succeeded().stdout;
    assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");
}

/// The differences are of the same rounds: near the truth, and surer than the two estimates are.
#[test]
fn several_policies_are_compared_round_by_round() {
    let folder = logged("");
    folder.run("run a.svm --quiet --learner ogd --save other").succeeded();
    let command = "evaluate log.ndjson --policy uniform --policy constant:c1 --model other";
    let values = folder.run(&format!("{command} --json")).succeeded().objects();
    let kinds: Vec<&str> = values.iter().map(|value| value["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["evaluation", "evaluation", "evaluation", "difference", "difference"]);
    let alone = evaluated(&folder, "log.ndjson --model other");
    assert_eq!(values[2]["estimates"], alone["estimates"], "company changes nothing");
    for (difference, at) in [(&values[3], 1), (&values[4], 2)] {
        let value = |at: usize| number(&estimate(&values[at], "dr")["value"]);
        assert!((number(&difference["value"]) - (value(at) - value(0))).abs() < 1e-12, "{difference}");
        assert_eq!(difference["against"], "uniform");
    }
    let verdict = values[4]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("better by 0."), "{verdict}");
    let text = folder.run(command).succeeded().stdout;
    assert!(text.contains("against uniform") && text.contains(verdict), "{text}");
    assert!(text.contains("banditron learnt during the log"), "{text}");
}

/// A log that plays the policy's labels in every other round has too few rewards of one kind, not labels.
#[test]
fn rewards_that_are_all_equal_are_said_to_be() {
    let line = |t: usize| {
        let (label, right) = if t.is_multiple_of(2) { ("a", true) } else { ("b", false) };
        format!("{{\"id\":{t},\"label\":\"{label}\",\"p\":{{\"a\":0.5,\"b\":0.5}},\"correct\":{right}}}\n")
    };
    let folder = Folder::with("log", (0..24).map(line).collect::<String>());
    let values = folder.run("evaluate log --policy uniform --policy constant:a --json").succeeded().objects();
    let verdict = values[2]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("undecided: 95 % between -"), "{verdict}");
    let why = ", by confidence sequences; the log has too few rewards, or too few missing ones, for a narrower interval";
    assert!(verdict.ends_with(why), "{verdict}");
}

/// Where the log never or hardly ever plays the labels of a policy, the intervals say so, and no verdict is
/// given.
#[test]
fn what_a_log_cannot_cover_is_undecided() {
    let folder = Folder::new();
    let few = "undecided: the log plays too few of the labels that the policies choose";
    for (rare, every, policy, want) in [
        (0.0, usize::MAX, "uniform", "undecided: about 95 % between -"),
        (0.0, usize::MAX, "constant:b", few),
        (0.001, 700, "constant:b", few),
    ] {
        let line = |t: usize| {
            let label = if t % every == every - 1 { "b" } else { "a" };
            format!(
                "{{\"id\":{t},\"label\":\"{label}\",\"p\":{{\"a\":{},\"b\":{rare}}},\"correct\":{}}}\n",
                1.0 - rare,
                label == "b" || t.is_multiple_of(2)
            )
        };
        folder.write("log", (0..2000).map(line).collect::<String>());
        let command = format!("evaluate log --policy logged --policy {policy}");
        let values = folder.run(&format!("{command} --json")).succeeded().objects();
        let [low, high] = [0, 1].map(|at| number(&values[2]["normal"][at]));
        // Label b earns 1 more often than half of the time, or never: the log does not know. A policy that
        // plays it in half of the rounds is a quarter better or worse.
        let least = if policy == "uniform" { 0.25..0.4 } else { 0.4..1.01 };
        assert!(least.contains(&-low) && least.contains(&high), "{}", values[2]);
        assert!(values[2]["verdict"].as_str().unwrap().starts_with(want), "{}", values[2]);
        let text = folder.run(&command).succeeded().stdout;
        let row = text.lines().find(|line| line.starts_with(policy)).unwrap();
        let wide = if policy == "uniform" { "[0.2" } else { "[0.0000, 1.0000]" };
        assert!(row.contains(wide) && row.contains(want), "{text}");
    }
}

/// Five plays of a label of probability 0.02 in 250 decisions, none of them rewarded: nothing is known of its
/// rewards, and nothing is claimed.
#[test]
fn a_few_plays_without_a_reward_prove_nothing() {
    let line = |t: usize| {
        let (label, p) = if t.is_multiple_of(50) { ("b", 0.02) } else { ("a", 0.98) };
        let right = label == "a" && t.is_multiple_of(2);
        format!("{{\"id\":{t},\"label\":\"{label}\",\"probability\":{p},\"correct\":{right}}}\n")
    };
    let folder = Folder::with("log.ndjson", (0..250).map(line).collect::<String>());
    let ran = folder.run("evaluate log.ndjson --policy constant:b").succeeded();
    assert!(ran.stdout.contains("ips        0.00000  [0.00000, 1.00000]\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("too little for normal intervals"), "{}", ran.stderr);
}

/// Clicks are rare: rewards are estimated from the rate of all labels, which a learner that starts at ½ is
/// not, and `dr` is as precise as `ips`. The time and the number of a row are no features.
#[test]
fn rare_rewards_are_estimated_by_their_rate() {
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut table = ",timestamp,item,click,p,age\n".to_owned();
    let rounds = 4000;
    for round in 0..rounds {
        let (item, click) = ((uniform() * 40.0) as usize, u8::from(uniform() < 0.01));
        let second = round % 60;
        let age = (uniform() * 10.0) as usize;
        table += &format!(
            "{round},2019-11-24 00:{:02}:{second:02}.5+00:00,{item},{click},0.025,{age}\n",
            round / 60
        );
    }
    let folder = Folder::with("log.csv", table);
    let names = "--decision item --probability p --reward click";
    let ran = folder.run(&format!("evaluate log.csv --policy constant:7 {names} --json")).succeeded();
    let value = ran.objects().remove(0);
    let direct = number(&estimate(&value, "dm")["value"]);
    assert!((0.005..0.02).contains(&direct), "{value}");
    let error = |name: &str| number(&estimate(&value, name)["standard_error"]);
    assert!(error("dr") <= 1.1 * error("ips"), "{value}");
    let warnings = value["warnings"].to_string();
    for left_out in [
        "\\\"1\\\" is left out: it numbers the rows",
        "\\\"timestamp\\\" is left out: it says at which moment",
    ] {
        assert!(warnings.contains(left_out), "{warnings}");
    }
}

/// Articles come and go, three on offer in a round: policies live among these.
#[test]
fn labels_that_come_and_go() {
    let (mut log, mut state, mut sum, mut of_five) = (String::new(), 7_u64, 0.0, Vec::new());
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let earns = |article: usize| 0.1 + 0.04 * article as f64;
    let rounds = 4000;
    for round in 0..rounds {
        let first = round * 18 / rounds;
        let on_offer = [first, first + 1, first + 2];
        let p = [0.5, 0.3, 0.2];
        let drawn = uniform();
        let at = usize::from(drawn > 0.5) + usize::from(drawn > 0.8);
        let reward = u8::from(uniform() < earns(on_offer[at]));
        sum += on_offer.iter().map(|article| earns(*article) / 3.0).sum::<f64>() / rounds as f64;
        of_five.extend(on_offer.contains(&5).then_some(earns(5)));
        let named: Vec<String> = on_offer.iter().zip(p).map(|(a, p)| format!("\"a{a}\": {p}")).collect();
        log += &format!(
            "{{\"id\": {round}, \"x\": {{}}, \"label\": \"a{}\", \"p\": {{{}}}, \"reward\": {reward}}}\n",
            on_offer[at],
            named.join(", ")
        );
    }
    let folder = Folder::with("log.ndjson", log);
    let near = |value: &Value, truth: f64| {
        for name in ["ips", "snips", "dr"] {
            let one = estimate(value, name);
            let off = (number(&one["value"]) - truth).abs();
            assert!(off < 4.0 * number(&one["standard_error"]), "{name}: {one}, truth {truth}");
        }
        assert_eq!(value.get("uncovered").map(number), Some(0.0), "{value}");
    };
    near(&evaluated(&folder, "log.ndjson --policy uniform"), sum);
    let five = evaluated(&folder, "log.ndjson --policy constant:a5");
    near(&five, earns(5));
    assert_eq!(five["not_offered"].as_u64(), Some((rounds - of_five.len()) as u64));
    folder.write(
        "bad.ndjson",
        "{\"id\": 1, \"label\": \"b\", \"probability\": 1, \"labels\": [\"a\"], \"reward\": 1}\n",
    );
    folder
        .run("evaluate bad.ndjson --policy uniform")
        .failed(2, "bad.ndjson:1: the label \"b\" was played although it was not on offer");
}

/// The same decisions under other names, in CSV and in NDJSON.
#[test]
fn columns_of_a_foreign_log() {
    let (mut ours, mut table, mut objects) =
        (String::new(), "age;chosen;prob;click\n".to_owned(), String::new());
    for round in 0..60 {
        let (age, label, reward) = (round % 7, ["a", "b"][round % 2], u8::from(round % 3 == 0));
        let p = [0.25, 0.75][round % 2];
        ours += &format!(
            "{{\"id\": {round}, \"x\": {{\"age\": {age}}}, \"label\": \"{label}\", \"probability\": {p}, \"reward\": {reward}}}\n"
        );
        table += &format!("{age};{label};{p};{reward}\n");
        objects +=
            &format!("{{\"age\": {age}, \"chosen\": \"{label}\", \"prob\": {p}, \"click\": {reward}}}\n");
    }
    let folder = Folder::with("ours.ndjson", ours);
    folder.write("table.csv", table);
    folder.write("objects.ndjson", objects);
    let want = evaluated(&folder, "ours.ndjson --policy uniform");
    let names = "--decision chosen --probability prob --reward click";
    for log in ["table.csv", "objects.ndjson"] {
        let value = evaluated(&folder, &format!("{log} --policy uniform {names}"));
        assert_eq!(value["estimates"], want["estimates"], "{log}");
    }
    // Ids are for feedback that comes later.
    let text = folder.text("table.csv");
    folder.write(
        "named.csv",
        text.replacen("chosen", "label", 1).replacen("prob", "probability", 1).replacen("click", "reward", 1),
    );
    assert_eq!(evaluated(&folder, "named.csv --policy uniform")["estimates"], want["estimates"]);
    let line = "{\"x\":{\"a\":1},\"label\":\"u\",\"probability\":0.5,\"reward\":1}\n";
    folder.write("no-ids.ndjson", line.repeat(20));
    assert_eq!(evaluated(&folder, "no-ids.ndjson --policy uniform")["rounds"], 20);
    folder.write("missing.csv", "a,label,probability,reward\n1,u,0.5,1\n1,NA,0.5,1\n");
    folder.run("evaluate missing.csv --policy uniform").failed(
        2,
        "missing.csv:3: has no \"label\": \"NA\" counts as missing; the option not-missing makes it a label",
    );
    folder
        .run("evaluate table.csv --policy uniform")
        .failed(2, "table.csv: has no column \"label\"; its columns are \"age\", \"chosen\", \"prob\", \"click\"; the options decision, probability and reward name the columns of another program's log");
}

/// The mean over what might have been drawn is not what was.
#[test]
fn the_policy_that_has_logged_has_its_mean_reward_up_to_the_draws() {
    let row = |t: usize| {
        let (played, reward) = (["a", "b"][t * 5 / 3 % 2], u8::from(t % 7 < 3));
        format!(
            "{{\"x\": {{}}, \"label\": \"{played}\", \"p\": {{\"a\": 0.5, \"b\": 0.5}}, \"reward\": {reward}}}\n"
        )
    };
    let folder = Folder::with("log.ndjson", (0..301).map(row).collect::<String>());
    let found = folder.run("evaluate log.ndjson --policy logged --json").succeeded().objects().remove(0);
    let (mean, ips) = (number(&found["logged_reward"]), number(&estimate(&found, "ips")["value"]));
    assert!((mean - ips).abs() < 1e-12, "{found}");
    let dr = estimate(&found, "dr");
    assert!((mean - number(&dr["value"])).abs() < 2.0 * number(&dr["standard_error"]), "{found}");
    for policies in ["--policy logged", "--policy logged --policy uniform"] {
        let told = folder.run(&format!("evaluate log.ndjson {policies}")).succeeded().stdout;
        assert_eq!(told.matches("logged by dr: ").count(), 1, "{told}");
    }
    // A model may be called so.
    folder.write("rows.vw", "a | u\nb | v\n".repeat(30));
    folder.run("run rows.vw --quiet --save logged").succeeded();
    for other in ["--policy logged --reward-learner none", "--model logged"] {
        let told = folder.run(&format!("evaluate log.ndjson {other}")).succeeded().stdout;
        assert!(!told.contains("logged by dr"), "{told}");
    }
}

/// What is no log is refused by what it is, or with the formats of logs.
#[test]
fn files_that_are_no_logs() {
    let folder = Folder::new();
    let formats = "has no format that is recognised: logs of decisions are vw, csv, ndjson, arff or parquet, and the option format says which";
    let binary = "is a binary file of a kind that is not read, as are FlatBuffers and caches of Vowpal Wabbit; write its rows as text, \
                  JSON or Parquet";
    let page = "is a page of HTML and no table, such as one that says why a file could not be had";
    let numbers = "1\x00\x00\x002\x00\x00\x003\x00\x00\x004\x00\x00\x00";
    for (text, sentence) in
        [("hello\nworld\n", formats), ("4\n", formats), (numbers, binary), ("<!DOCTYPE html>\n", page)]
    {
        folder.write("log", text);
        folder.run("evaluate log --policy uniform").failed(2, &format!("log: {sentence}"));
    }
    let two = "the label has two actions with a cost and a probability, where the one that was played has both: costs of all actions, as \
               csoaa and wap have them, are action:cost";
    folder.write("a.vw", "1:0:0.5 2:1:0.5 | a\n1:1:0.5 2:0:0.5 | b\n");
    folder.run("evaluate a.vw --policy uniform").failed(2, &format!("a.vw:1: {two}"));
    folder.run("run a.vw --feedback bandit --quiet").failed(2, &format!("a.vw:1: {two}"));
}
