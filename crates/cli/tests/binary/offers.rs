//! `run` where only some labels are on offer, or labels have features of their own.

use std::fmt::Write as _;

use crate::util::{Folder, rows};

/// Rows whose label shows, each with two of four labels on offer, the true one among them.
fn some_of_four(count: usize) -> String {
    let mut text = String::new();
    for (t, (label, x)) in rows(count, 4, 4).into_iter().enumerate() {
        let other = (label + 1 + t % 3) % 4;
        let pair = if t % 2 == 0 { [label, other] } else { [other, label] };
        let labels = pair.map(|label| format!("\"c{label}\""));
        writeln!(text, "{{\"x\": {x:?}, \"labels\": [{}], \"y\": \"c{label}\"}}", labels.join(", ")).unwrap();
    }
    text
}

/// Articles that come and go: what is right is the one whose colour the visitor likes, whatever it is called.
fn articles(count: usize) -> String {
    let mut text = String::new();
    for (t, (likes, _)) in rows(count, 3, 1).into_iter().enumerate() {
        let first = t % 3;
        let labels = (0..3).map(|at| {
            let colour = (first + at) % 3;
            format!("\"article {}\": {{\"colour\": \"c{colour}\", \"price\": 0.{at}}}", 7 * t + colour)
        });
        let labels: Vec<String> = labels.collect();
        writeln!(
            text,
            "{{\"x\": {{\"visitor\": {{\"likes\": \"c{likes}\"}}}}, \"labels\": {{{}}}, \"y\": \"article {}\"}}",
            labels.join(", "),
            7 * t + likes
        )
        .unwrap();
    }
    text
}

fn error_rate(summary: &serde_json::Value) -> f64 {
    summary["error_rate"].as_f64().unwrap_or_else(|| panic!("an error rate in {summary}"))
}

/// Only what is on offer is played, with probabilities that sum to 1 over it, and the log says so; replaying
/// the log makes the model.
#[test]
fn only_labels_on_offer_are_played() {
    let folder = Folder::with("a.ndjson", some_of_four(300));
    let learners = [
        ("squarecb", 0.4),
        ("auto --set members=labels+shared@0.1", 0.4),
        ("banditron --set exploration=0.1", 0.4),
        ("soba --set exploration=0.1", 0.4),
        ("soba-diag --set exploration=0.1", 0.4),
        ("confidit", 0.4),
        ("gaptron-hinge --set exploration=0.1 --set rate=0.1", 0.45),
        ("gaptron-logistic --set exploration=0.1 --set rate=0.1", 0.45),
    ];
    for (at, (learner, most)) in learners.into_iter().enumerate() {
        let run = format!("a.ndjson --learner {learner} --feedback bandit --exploration-floor 0.02");
        let summary = folder.summary(&format!("{run} --log log{at}"));
        assert_eq!(summary["classes"], 4);
        assert!(error_rate(&summary) < most, "{learner}: uniform play errs in half of the rounds: {summary}");
        let log = folder.text(&format!("log{at}"));
        let lines = log.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut decisions = 0;
        for decision in lines.filter(|line| line.get("p").is_some()) {
            let offered: Vec<usize> = decision["learner"]["offered"]
                .as_array()
                .unwrap()
                .iter()
                .map(|at| at.as_u64().unwrap() as usize)
                .collect();
            let p: Vec<f64> = decision["p"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
            assert_eq!((offered.len(), p.len()), (2, 4));
            let on_offer: f64 = offered.iter().map(|at| p[*at]).sum();
            assert!((on_offer - 1.0).abs() < 1e-12, "{decision}");
            assert!(offered.iter().all(|at| p[*at] >= 0.02), "{decision}");
            decisions += 1;
        }
        assert_eq!(decisions, 300);
        folder.run(&format!("replay log{at}")).succeeded();
        let same =
            folder.run(&format!("evaluate log{at} --policy logged --json")).succeeded().objects().remove(0);
        assert_eq!(same["uncovered"], 0.0, "{same}");
    }
}

/// Late feedback, a run in two parts, and labels of rows that are read from a pipe.
#[test]
fn rows_with_labels_on_offer_go_on() {
    let text = some_of_four(200);
    let folder = Folder::with("a.ndjson", &text);
    let run = "--quiet --json --learner squarecb --seed 3";
    let whole = folder.run(&format!("run a.ndjson {run} --delay uniform:9")).succeeded().summary();
    assert!(error_rate(&whole) < 0.5, "{whole}");
    let pipe = format!("run - {run} --format ndjson --scale unit --set classes=4 --set features=4");
    let whole = folder.run_with(&format!("{pipe} --save whole"), &text).succeeded().summary();
    let cut = text.match_indices('\n').nth(99).unwrap().0 + 1;
    let first = folder.run_with(&format!("{pipe} --save half"), &text[..cut]).succeeded().summary();
    let rest = "run - --quiet --json --load half --save joined";
    let rest = folder.run_with(rest, &text[cut..]).succeeded().summary();
    let errors = |summary: &serde_json::Value| summary["errors"].as_f64().unwrap();
    assert_eq!(errors(&first) + errors(&rest), errors(&whole));
}

/// A model of features of labels finds the right one among articles that it has never seen; nothing is named
/// but the feedback.
#[test]
fn articles_never_seen_before_are_played_by_their_features() {
    let folder = Folder::with("a.ndjson", articles(600));
    let run = "a.ndjson --feedback bandit --set width=256 --save model --log log";
    let ran = folder.run(&format!("run {run} --json")).succeeded();
    let summary = ran.summary();
    assert_eq!((&summary["learner"], &summary["classes"]), (&"offers".into(), &3.into()));
    assert!(
        ran.stderr.is_empty() || ran.stderr.contains("labels with features of their own"),
        "{}",
        ran.stderr
    );
    assert!(error_rate(&summary) < 0.35, "uniform play errs in 2 of 3 rounds: {summary}");
    assert!(summary["window"]["error_rate"].as_f64().unwrap() < 0.35, "{summary}");
    folder.run("replay log --save replayed").succeeded();
    // The model goes on with more of them, also in another order and with fewer on offer.
    folder.write("b.ndjson", articles(120));
    let more = folder.run("run b.ndjson --quiet --json --load model").succeeded().summary();
    assert!(error_rate(&more) < 0.2, "{more}");
    folder.write("c.ndjson", r#"{"x": {}, "labels": {"a": {}, "b": {}, "c": {}, "d": {}}, "y": "a"}"#);
    let refused = "c.ndjson:1: 4 labels are on offer; the model has room for 3: one that is made with classes=4 takes them";
    folder.run("run c.ndjson --quiet --load model").failed(2, refused);
    folder
        .run("run a.ndjson --feedback bandit --set width=256 --set classes=4 --quiet --save more")
        .succeeded();
    folder.run("predict more c.ndjson").succeeded();
    folder.run("run c.ndjson --quiet --load more").succeeded();
}

/// The same over `conditional-logit`, which goes on after it was saved, and has a bound with its certificate.
#[test]
fn labels_are_described_to_conditional_logit() {
    let folder = Folder::with("a.ndjson", articles(600));
    let run = "run a.ndjson --quiet --json --learner offers --set width=64 --set oracle=conditional-logit";
    let summary = folder.run(&format!("{run} --save model --log log")).succeeded().summary();
    assert_eq!(summary["resolved_parameters"]["oracle"], "conditional-logit", "{summary}");
    assert!(error_rate(&summary) < 0.3, "uniform play errs in 2 of 3 rounds: {summary}");
    folder.run("replay log --save replayed").succeeded();
    folder.write("b.ndjson", articles(120));
    let more = folder.run("run b.ndjson --quiet --json --load model").succeeded().summary();
    assert!(error_rate(&more) < 0.25, "{more}");
    folder
        .run(&format!("{run} --certify"))
        .failed(1, "--certify: offers has no theorem: none in closed form: SquareCB's inequality of every round; with schedule=certificate a bound");
    let certified = format!("{run} --set schedule=certificate --scale none --certify");
    let certified = folder.run(&certified).succeeded().summary();
    assert!(certified["bound"].as_f64().is_some_and(|bound| bound > 0.0), "{certified}");
}

#[test]
fn what_is_not_on_offer_is_refused() {
    let folder = Folder::with("a.ndjson", some_of_four(40));
    folder.run("run a.ndjson --quiet --learner newtron").failed(
        1,
        "newtron: some rows have only some of the labels on offer, and it cannot play some of its labels only; auto can",
    );
    // To those that see the label, it is a feature like any other.
    folder.run("run a.ndjson --quiet --learner ogd").succeeded();
    for (name, line, sentence) in [
        ("b", r#"{"x": {"f": 1}, "labels": ["a", "b"], "y": "c"}"#, "the label \"c\" is not on offer"),
        ("c", r#"{"x": {"f": 1}, "labels": ["a", "a"], "y": "a"}"#, "the label \"a\" is on offer twice"),
        (
            "d",
            r#"{"x": {"f": 1}, "labels": {"a": {}, "b": 3}, "y": "a"}"#,
            "the label \"b\" is 3; an object of features was needed",
        ),
        (
            "e",
            r#"{"x": {"f": 1}, "labels": {"a": {}, "b": {}}, "y": "c"}"#,
            "the label \"c\" is not on offer",
        ),
    ] {
        let described = line.contains(": {\"a\"");
        let good = if described {
            r#"{"x": {"f": 2}, "labels": {"a": {}, "b": {}}, "y": "b"}"#
        } else {
            r#"{"x": {"f": 2}, "labels": ["a", "b", "c"], "y": "b"}"#
        };
        folder.write(&format!("{name}.ndjson"), format!("{good}\n{line}\n"));
        folder
            .run(&format!("run {name}.ndjson --quiet --feedback bandit"))
            .failed(2, &format!("{name}.ndjson:2: {sentence}"));
    }
    folder.write("f.ndjson", articles(20));
    folder
        .run("run f.ndjson --quiet --learner squarecb")
        .failed(1, "squarecb: does not learn from labels on offer with features of their own; offers does");
    for width in ["0", "4294967296", "-1", "few"] {
        let run = folder.run(&format!("run f.ndjson --quiet --feedback bandit --set width={width}"));
        run.failed(1, &format!("width = {width}: must be a whole number from 1 to 4294967295"));
    }
    folder
        .run("compare f.ndjson --quiet --learners offers --set width=64,128")
        .failed(1, "width = 128: compared learners read the same rows, which have 64 columns for each label");
    let same = "compare f.ndjson --quiet --learners offers --repeats 2 --set width=64";
    folder.run(same).succeeded();
    folder.write("g.csv", "a,b,y\n1,2,p\n2,1,q\n1,3,p\n");
    folder.run("run g.csv --quiet --learner confidit --set width=0.5").succeeded();
    folder.run("run f.ndjson --quiet --feedback bandit --scale standard").failed(
        1,
        "--scale standard: the labels on offer have features of their own, whose numbers are scaled as mixed or, with none, not at all; leave the option out",
    );
}

/// Ages, hours, words and bytes beside what decides cost little; a model that does not scale them goes on
/// without, and a log with scaling is replayed.
#[test]
fn numbers_of_labels_on_offer_are_scaled() {
    let with_numbers = |text: String| -> String {
        let mut out = String::new();
        for (t, line) in text.lines().enumerate() {
            let own =
                format!("\"words\": {}, \"bytes\": {}, \"price\"", 100 + t * 37 % 900, 1000 * (t * 53 % 997));
            let line = line.replace("\"price\"", &own);
            let round = format!("{{\"x\": {{\"age\": {}, \"hour\": {}, ", 18 + t * 29 % 60, t * 7 % 24);
            out += &line.replacen("{\"x\": {", &round, 1);
            out.push('\n');
        }
        out
    };
    let folder = Folder::with("plain.ndjson", articles(900));
    folder.write("numbers.ndjson", with_numbers(articles(900)));
    let run = |data: &str, more: &str| {
        error_rate(&folder.summary(&format!("{data}.ndjson --feedback bandit --set width=512 {more}")))
    };
    let plain = run("plain", "");
    let scaled = run("numbers", "--save model --log log");
    let raw = run("numbers", "--scale none --save raw");
    // By chance 2/3 are wrong. Names are new in every row, so that numbers share all columns with categories.
    let found = format!("{plain} without numbers, {scaled} with, {raw} unscaled");
    assert!(scaled < 0.15 && raw > scaled + 0.3, "{found}");
    for (model, scaling) in [("model", "mixed"), ("raw", "none")] {
        let again = folder.run(&format!("run numbers.ndjson --quiet --load {model} --save {model}2"));
        again.succeeded();
        let found = folder.run(&format!("inspect {model}2 --json")).succeeded().stdout;
        assert!(found.contains(&format!("\"scaling\":\"{scaling}\"")), "{found}");
    }
    folder.run("replay log").succeeded();
}

/// Numbers far from 0, of the round and of the labels, whose product decides: most of the products of the
/// numbers as they are is the product of the means. Two thirds are wrong by chance.
#[test]
fn numbers_are_scaled_before_they_are_multiplied() {
    let mut text = String::new();
    for (t, (_, x)) in rows(1500, 2, 4).into_iter().enumerate() {
        let best = (1..4).max_by(|a, b| (x[0] * x[*a]).total_cmp(&(x[0] * x[*b]))).unwrap();
        let label = |at: usize| format!("\"a{}\": {{\"size\": {}}}", 3 * t + at, 50.0 + 3.0 * x[at]);
        let labels = [1, 2, 3].map(label).join(", ");
        writeln!(
            text,
            "{{\"x\": {{\"age\": {}}}, \"labels\": {{{labels}}}, \"y\": \"a{}\"}}",
            1000.0 + 10.0 * x[0],
            3 * t + best
        )
        .unwrap();
    }
    let folder = Folder::with("far.ndjson", &text);
    let run = "far.ndjson --feedback bandit --set width=512 --log log --save model";
    let error = error_rate(&folder.summary(run));
    assert!(error < 0.25, "{error}");
    folder.run("replay log --save replayed").succeeded();
    let of =
        |model: &str| folder.run(&format!("predict {model} far.ndjson --probabilities")).succeeded().stdout;
    assert_eq!(of("replayed"), of("model"));
    // In two parts, as in one.
    let pipe = "run - --quiet --json --format ndjson --feedback bandit --set width=64 --set classes=3";
    let whole = folder.run_with(&format!("{pipe} --save whole"), &text).succeeded().summary();
    let cut = text.match_indices('\n').nth(699).unwrap().0 + 1;
    let first = folder.run_with(&format!("{pipe} --save half"), &text[..cut]).succeeded().summary();
    let rest = folder.run_with("run - --quiet --json --load half --save joined", &text[cut..]).succeeded();
    let errors = |summary: &serde_json::Value| summary["errors"].as_f64().unwrap();
    assert_eq!(errors(&first) + errors(&rest.summary()), errors(&whole));
    assert_eq!(of("joined"), of("whole"));
}

/// A model of 0.2.0, which scales the columns of products, goes on as its program did, and its log is
/// replayed; what is logged now of this model, too.
#[test]
fn a_model_of_before_scales_products() {
    let folder = Folder::new();
    for name in ["offers.model", "offers.ndjson", "offers.log"] {
        let content = std::fs::read(noregret_testdata::path(&format!("models/0.2.0/{name}"))).unwrap();
        folder.write(name, content);
    }
    let run = "run offers.ndjson --quiet --json --load offers.model --save after --log log";
    let summary = folder.run(run).succeeded().summary();
    let expected = summary["expected_error_rate"].as_f64().unwrap();
    assert_eq!(summary["errors"], 7);
    assert!((expected - 0.5916114328308685).abs() < 1e-12, "{expected}");
    for log in ["offers.log", "log"] {
        folder.run(&format!("replay {log} --load offers.model --save replayed")).succeeded();
        let of = |model: &str| {
            folder.run(&format!("predict {model} offers.ndjson --probabilities")).succeeded().stdout
        };
        assert_eq!(of("replayed"), of("after"), "{log}");
    }
}

/// Without shared lines, rounds are recognised by blank lines; tags that touch the bar need no quotation
/// mark.
#[test]
fn tags_may_touch_the_bar() {
    let round = "0:1:0.5 a|t p:3\n b|t p:5\n\nb|t p:3\n0:0:0.5 c|t q\n\n";
    let folder = Folder::with("a.vw", round.repeat(20));
    let summary = folder.summary("a.vw --feedback bandit");
    assert_eq!((&summary["learner"], &summary["rounds"]), (&"offers".into(), &40.into()), "{summary}");
    folder.run("evaluate a.vw --policy uniform").succeeded();
    // Without costs, words before the bar are classes.
    folder.write("b.vw", "1 |t p\n2 |t q\n\n".repeat(20));
    assert_eq!(folder.summary("b.vw --learner ogd")["rounds"], 40);
}

/// Rounds as `vw --cb_adf` has them, logged by uniform play: what the visitor likes costs nothing.
fn logged_by_vw(count: usize) -> String {
    let mut text = String::new();
    for (t, (likes, _)) in rows(count, 3, 1).into_iter().enumerate() {
        writeln!(text, "shared 'r{t} |u likes=c{likes}").unwrap();
        // As good as drawn: prime to the three colours.
        let played = (t * 7 / 3) % 3;
        for at in 0..3 {
            let colour = (t + at) % 3;
            let cost = if colour == likes { 0 } else { 10 };
            let label = if at == played { format!("0:{cost}:0.3333333 ") } else { String::new() };
            writeln!(text, "{label}|a colour=c{colour} price:0.{at}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// A learner begins with what another policy has played: the log's own error, and what the learner would have
/// come to, by importance weights.
#[test]
fn rounds_of_vw_are_learnt_from() {
    let folder = Folder::with("a.vw", logged_by_vw(900));
    let run = "run a.vw --feedback bandit --set width=256 --costs 0..10 --save model";
    let ran = folder.run(run).succeeded();
    for sentence in
        ["labels with features of their own", "feedback  logged: what labels earned that another policy"]
    {
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
    let summary = folder.run(&format!("{run}2 --quiet --json")).succeeded().summary();
    let rate = |name: &str| summary[name].as_f64().unwrap();
    assert!((rate("error_rate") - 2.0 / 3.0).abs() < 0.06, "the log's own: {summary}");
    assert!(rate("greedy_error_rate") < 0.15, "{summary}");
    // It goes on by itself, in the same format or another one, and knows its range of costs.
    folder.write("b.ndjson", articles(200));
    let more = folder.run("run b.ndjson --quiet --json --load model").succeeded().summary();
    assert_eq!(more["learner"], "offers");
    // As a log: uniform play has cost 20/3 on average, and what was learnt costs next to nothing.
    let policies = "--policy uniform --model model --greedy --reward-learner none --json";
    let found = folder.run(&format!("evaluate a.vw {policies}")).succeeded().objects();
    let found = serde_json::Value::from(found).to_string();
    assert!(found.contains("\"labels\":3"), "{found}");
    folder.run("evaluate a.vw --policy uniform").succeeded();
    folder.write("c.vw", "shared |u x\n0:11:0.5 |a x\n|a y\n\nshared |u x\n0:1:0.5 |a x\n|a y\n");
    folder.run("run c.vw --feedback bandit --quiet --costs 0..10").failed(
        2,
        "c.vw:4: the cost is 11, outside of the range 0..10; pass --costs=0..11, which has all costs of the file",
    );
    folder.run("run a.vw --feedback bandit --quiet --costs 0..10 --log log").failed(
        2,
        "a.vw: row 1 has a label that another policy has played: it cannot be written to a log of the run's own decisions, and learners that explore by a coin toss cannot learn from it",
    );
    let refused = folder.run("run a.vw --quiet --learner ogd");
    assert!(
        refused.code == 2 && refused.stderr.contains("a.vw:1: begins a round of several lines"),
        "{}",
        refused.stderr
    );
}

/// Where the cost of every action is known, the run is a simulation: only the one of the label played is
/// told.
#[test]
fn costs_of_all_actions_are_played_for() {
    let mut text = String::new();
    for (t, (label, x)) in rows(600, 3, 3).into_iter().enumerate() {
        let costs = (0..3).map(|action| {
            format!("a{action}:{}", if action == label { -1 } else { (1 + (t + action) % 3) as i32 })
        });
        let costs: Vec<String> = costs.collect();
        writeln!(text, "{} | x:{} y:{} z:{}", costs.join(" "), x[0], x[1], x[2]).unwrap();
    }
    let folder = Folder::with("a.vw", text);
    let run = "a.vw --feedback bandit --set members=labels+shared@0.1 --costs=-1..3";
    let summary = folder.summary(&format!("{run} --log log --save model"));
    let loss = summary["error_rate"].as_f64().unwrap();
    // By chance (0 + 3/4 + 3/4)/3 or so of the range is lost.
    assert!(loss < 0.35, "{summary}");
    let log = folder.text("log");
    assert!(log.contains("\"reward\":0.25") && log.contains("\"costs\":[-1.0,3.0]"), "{}", &log[..2000]);
    folder.run("replay log --save replayed").succeeded();
    folder.run("evaluate log --policy uniform").succeeded();
    let refused = folder.run("run a.vw --quiet --learner soba --costs=-1..3");
    assert!(
        refused.code == 2 && refused.stderr.contains("neither right (1) nor wrong (0)"),
        "{}",
        refused.stderr
    );
}

/// What is not on offer is neither predicted nor given a probability, whatever the learner, the format and
/// the way in which rows say what is on offer.
#[test]
fn labels_on_offer_are_predicted() {
    let folder = Folder::with("a.ndjson", some_of_four(300));
    folder.write("full.ndjson", some_of_four(300).replace("labels", "others"));
    let four = || rows(300, 4, 4).into_iter().enumerate();
    let costs = |t: usize, label: usize| -> String {
        let played =
            |at| if at == t % 4 { format!(":{}:0.25", i32::from(label != at)) } else { String::new() };
        (0..4).map(|at| format!("c{at}{} ", played(at))).collect()
    };
    let vw = |(t, (label, x)): (usize, (usize, Vec<f64>))| {
        format!("{}| a:{} b:{} c:{} d:{}\n", costs(t, label), x[0], x[1], x[2], x[3])
    };
    folder.write("a.vw", four().map(vw).collect::<String>());
    let csv = |(_, (label, x)): (usize, (usize, Vec<f64>))| {
        format!("{},{},{},{},c{label},1,1\n", x[0], x[1], x[2], x[3])
    };
    folder.write("a.csv", "a,b,c,d,chosen,prob,click\n".to_owned() + &four().map(csv).collect::<String>());
    let some = "{\"x\": [1, 2, 1, 0], \"labels\": [\"c3\", \"c1\"]}\n\
        {\"x\": [1, 0, 0, 0], \"labels\": \"c0 c2\", \"y\": \"c1\"}\n{\"x\": [1, 0, 2, 0]}\n";
    folder.write("new.ndjson", some);
    folder.write("new.vw", "c3: c1: | a:1 b:2 c:1\nc0:0:1 c2 | a:1\n| a:1 c:2\n");
    folder.write("new.csv", "a,b,c,d,shown\n1,2,1,0,c1 c3\n1,0,0,0,\"[\"\"c2\"\", \"\"c0\"\"]\"\n1,0,2,0,\n");
    let log = "a.csv --decision chosen --probability prob --reward click";
    for (run, new) in [
        ("a.ndjson --learner squarecb", "new.ndjson"),
        ("a.ndjson --feedback bandit --learner auto --set members=labels+shared@0.1", "new.ndjson"),
        ("a.ndjson --feedback bandit --learner gaptron-hinge --set rate=0.1", "new.ndjson"),
        ("full.ndjson --learner newtron", "new.ndjson"),
        ("full.ndjson --learner ogd", "new.ndjson"),
        ("full.ndjson --learner perceptron", "new.ndjson"),
        ("a.vw --learner squarecb", "new.vw"),
        (&format!("{log} --feedback bandit --learner squarecb"), "new.csv --offered shown"),
    ] {
        folder.run(&format!("run {run} --quiet --save m")).succeeded();
        for way in ["--probabilities", "--probabilities --greedy", "--top-k 9 --confidence"] {
            let found = folder.run(&format!("predict m {new} {way}")).succeeded().objects();
            assert_eq!(found.len(), 3);
            let expected: [&[&str]; 3] = [&["c1", "c3"], &["c0", "c2"], &["c0", "c1", "c2", "c3"]];
            for (found, offered) in found.iter().zip(expected) {
                let p = found["probabilities"].as_object().unwrap();
                let mut names: Vec<&str> = p.keys().map(String::as_str).collect();
                names.sort_unstable();
                assert_eq!(names, offered, "{run} {way}");
                let sum: f64 = p.values().map(|p| p.as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{run} {way}: {found}");
                assert!(p.contains_key(found["label"].as_str().unwrap()), "{run} {way}: {found}");
            }
        }
    }
    folder.write("a.svm", "c1 1:2\n");
    let refused = folder.run("predict m a.svm --offered mine");
    assert!(refused.stderr.contains("csv, ndjson, arff or parquet was needed"), "{}", refused.stderr);
}

/// Rows whose label shows, each with two of four labels on offer in a column of CSV.
fn shown_in_csv(count: usize) -> String {
    let mut text = "a,b,c,d,shown,y\n".to_owned();
    for (t, (label, x)) in rows(count, 4, 4).into_iter().enumerate() {
        let other = (label + 1 + t % 3) % 4;
        writeln!(text, "{},{},{},{},c{label} c{other},c{label}", x[0], x[1], x[2], x[3]).unwrap();
    }
    text
}

/// Learners that see the label forecast among the labels on offer, and are scored by that.
#[test]
fn a_run_with_labels_forecasts_among_those_on_offer() {
    let folder = Folder::with("a.csv", shown_in_csv(300));
    folder.write("a.ndjson", some_of_four(300));
    for learner in ["auto", "ogd", "perceptron", "folklore"] {
        let all = error_rate(&folder.summary(&format!("a.csv --learner {learner} --drop shown")));
        let run = format!("a.csv --learner {learner} --offered shown --predictions p.csv --save m");
        let some = folder.summary(&run);
        assert!(error_rate(&some) < all, "{learner}: {some}, and {all} among all labels");
        assert!(some["greedy_error_rate"].as_f64().unwrap() <= all, "{learner}: {some}");
        let (data, found) = (folder.read("a.csv"), folder.read("p.csv"));
        let [data, found] = [data, found].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(found.lines().count(), 301);
        for (row, line) in data.lines().zip(found.lines()).skip(1) {
            let (shown, answer) = (row.split(',').nth(4).unwrap(), line.split(',').next().unwrap());
            assert!(shown.split(' ').any(|label| label == answer), "{learner}: {line}, for {row}");
        }
        let compared = format!("compare a.csv --learners {learner} --offered shown --quiet --json");
        let compared = folder.run(&compared).succeeded().stdout;
        let same = format!("\"error_rate\":{{\"mean\":{}", some["error_rate"]);
        assert!(compared.contains(&same), "{some}: {compared}");
        let on = folder.run("run a.csv --load m --offered shown --quiet --json").succeeded().summary();
        let at_large = folder.run("run a.csv --load m --quiet --json").succeeded().summary();
        assert!(error_rate(&on) <= error_rate(&at_large), "{learner}: {on} {at_large}");
        // Forecasts among all labels came without a word.
        let at_large = "the model learnt with the labels on offer in the column \"shown\": without the option offered = shown";
        for (options, said) in [("", true), (" --offered shown", false)] {
            for command in ["predict m a.csv", "run a.csv --load m --quiet"] {
                let ran = folder.run(&format!("{command}{options}")).succeeded();
                assert_eq!(
                    ran.stderr.contains(at_large),
                    said,
                    "{learner}, {command}{options}: {}",
                    ran.stderr
                );
            }
        }
        let of_ndjson = folder.summary(&format!("a.ndjson --learner {learner} --offered labels"));
        assert!(error_rate(&of_ndjson) < 0.3, "{learner}: {of_ndjson}");
    }
    folder.run("run a.csv --load m --reward y --quiet").failed(
        1,
        "--decision, --probability, --reward, --rewards, --costs: the model m learns from labels, not from a log of decisions; omit them",
    );
    let played = |how: &str| {
        error_rate(&folder.summary(&format!("a.csv --feedback bandit --learner squarecb --label y {how}")))
    };
    assert!(played("--offered shown") < played("--drop shown"));
    folder.run("run a.csv --load m --offered shown --label y --quiet").failed(
        1,
        "--label: the model knows which column is the label; omit it beside --offered or the columns of a log",
    );
    let pipe = "run - --format csv --learner ogd --offered shown --quiet --set features=4";
    folder
        .run_with(pipe, shown_in_csv(20))
        .failed(1, "--offered: needs --set classes=K on a pipe; it cannot be combined with classes that are added during the run");
    folder.run_with(&format!("{pipe} --set classes=4"), shown_in_csv(20)).succeeded();
}

/// In Vowpal Wabbit's text, actions without a cost are the labels on offer of a row to be forecast.
#[test]
fn actions_without_a_cost_are_on_offer() {
    let mut text = String::new();
    for (label, x) in rows(80, 4, 4) {
        writeln!(text, "{} | a:{} b:{} c:{} d:{}", label + 1, x[0], x[1], x[2], x[3]).unwrap();
        writeln!(text, "2: 3: | a:{} b:{} c:{} d:{}", x[0], x[1], x[2], x[3]).unwrap();
    }
    let folder = Folder::with("a.vw", &text);
    for learner in ["ogd", "auto"] {
        let run = format!("run a.vw --learner {learner} --quiet --predictions p.csv");
        folder.run(&run).succeeded();
        let found = folder.text("p.csv");
        let asked: Vec<&str> = found.lines().skip(2).step_by(2).collect();
        assert_eq!(asked.len(), 80);
        assert!(asked.iter().all(|line| line.starts_with("2,") || line.starts_with("3,")), "{found}");
    }
    // On a pipe, no row has had the labels yet.
    let pipe = "run - --format vw --learner ogd --quiet --set features=9";
    folder
        .run_with(pipe, "2: 3: | a\n3 | a\n")
        .failed(2, "standard input:1: the label \"2\" is on offer before any row has it: classes = K makes room for K labels");
    folder.run_with(&format!("{pipe} --set classes=2"), "2: 3: | a\n3 | a\n").succeeded();
}

/// The label whose price, by a common weight, is best: one weight is learnt for all labels, which takes fewer
/// rounds than one for each.
#[test]
fn a_block_of_columns_for_each_label() {
    let labels = ["bus", "car", "ship", "train"];
    let mut text = "p_bus,t_bus,p_car,t_car,p_ship,t_ship,p_train,t_train,taken\n".to_owned();
    for (_, x) in rows(400, 4, 8) {
        let costs = x.chunks(2).map(|one| 2.0 * one[0] + one[1]).collect::<Vec<_>>();
        let best = (0..4).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).unwrap();
        let cells: Vec<String> = x.iter().map(ToString::to_string).collect();
        writeln!(text, "{},{}", cells.join(","), labels[best]).unwrap();
    }
    let folder = Folder::with("trips.csv", text);
    let summary = |learner: &str| {
        let run = format!("run trips.csv --label taken --json --certify --learner {learner}");
        folder.run(&run).succeeded().objects().pop().unwrap()
    };
    let (tied, untied) = (summary("conditional-logit"), summary("folklore"));
    assert!(error_rate(&tied) < 0.08 && error_rate(&tied) < 0.5 * error_rate(&untied), "{tied} {untied}");
    folder
        .run("run trips.csv --label taken --learner conditional-logit --drop p_bus")
        .failed(1, "conditional-logit: needs a block of columns for each label, and 7 columns are no multiple of 4 labels: leave out those that describe none, or set width=N, the columns of a block");
    folder.run("run trips.csv --label taken --learner conditional-logit --save m").succeeded();
    let inspected = folder.run("inspect m").succeeded().stdout;
    assert!(inspected.contains("width=2") && inspected.contains("certificate"), "{inspected}");
}
