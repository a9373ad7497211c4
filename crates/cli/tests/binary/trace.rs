//! `noregret trace`: the bare algorithm against traces of an independent reference, and its own manners.

use serde_json::{Value, json};

use noregret_testdata::vector;

use crate::util::Folder;

/// Replays a reference trace and compares what was predicted before each update.
fn replay(name: &str, settings: impl Fn(&Value) -> String) {
    let reference = vector(name);
    let (data, expected) = (&reference["data"], &reference["expected"]);
    let list = |value: &Value| value.as_array().unwrap().clone();
    let rows = list(&data["x"]).into_iter().zip(list(&data["y"]));
    let input: String = rows.map(|(x, y)| format!("{}\n", json!({"x": x, "y": y}))).collect();
    let ran = Folder::new().run_with(&format!("trace {}", settings(&reference["params"])), input).succeeded();
    let rounds = ran.objects();
    assert_eq!(rounds.len(), list(&expected["loss"]).len(), "{name}");
    let near = |mine: &Value, theirs: &Value| {
        let (mine, theirs) = (mine.as_f64().unwrap(), theirs.as_f64().unwrap());
        (mine - theirs).abs() <= 1e-9 * (1.0 + theirs.abs())
    };
    for (at, round) in rounds.iter().enumerate() {
        assert_eq!(round["t"], at + 1);
        assert!(near(&round["loss"], &expected["loss"][at]), "{name}, round {}: {round}", at + 1);
        for (mine, theirs) in [("p", "probs"), ("scores", "logits")] {
            let (mine, theirs) = (list(&round[mine]), list(&expected[theirs][at]));
            assert_eq!(mine.len(), theirs.len());
            // Only differences of logits have a meaning.
            let of =
                |logits: &[Value], k: usize| json!(logits[k].as_f64().unwrap() - logits[0].as_f64().unwrap());
            let equal = (0..mine.len()).all(|k| near(&of(&mine, k), &of(&theirs, k)));
            assert!(equal, "{name}, round {}: {mine:?} is not {theirs:?}", at + 1);
        }
    }
}

#[test]
fn folklore_and_ogd_follow_the_reference() {
    for name in ["folklore_T50_d3_K2", "folklore_T60_d5_K4_safe"] {
        replay(name, |params| {
            format!(
                "--learner folklore --set classes={} --set features={} --set norm={} --set radius={} --set regularization={} --set curvature={}",
                params["K"], params["d"], params["B"], params["R"], params["lam"], params["gamma"]
            )
        });
    }
    replay("ogd_fro_sqrt", |params| {
        format!(
            "--learner ogd --set classes={} --set features={} --set norm={} --set radius={} --set rate={} --set schedule=sqrt --set ball=frobenius",
            params["K"], params["d"], params["B"], params["R"], params["eta0"]
        )
    });
}

const TWO: &str = "trace --learner ogd --set classes=2 --set features=2";

#[test]
fn rounds_worked_by_hand() {
    // OGD without a ball, rate 1: W = -(p - y) xᵀ after the first round.
    let settings = format!("{TWO} --set rate=1 --set schedule=constant --set ball=none");
    let input = "{\"x\": [1, 0], \"y\": 1}\n\n{\"x\": [2, 5], \"y\": 0, \"weight\": 3}\n{\"x\": [0, 1], \"y\": [0.5, 0.5]}\n";
    let rounds = Folder::new().run_with(&settings, input).succeeded().objects();
    assert_eq!(rounds[0], json!({"t": 1, "scores": [0.0, 0.0], "p": [0.5, 0.5], "loss": 2.0_f64.ln()}));
    assert_eq!(rounds[1]["scores"], json!([-1.0, 1.0]));
    let p = 1.0 / (1.0 + 2.0_f64.exp());
    assert!((rounds[1]["p"][0].as_f64().unwrap() - p).abs() < 1e-15);
    assert!((rounds[1]["loss"].as_f64().unwrap() + p.ln()).abs() < 1e-15);
    // The second round has the weight 3 and |x|² = 29: its gradient is taken at z⁺ = z + 2 · 29 (1 - p⁺).
    let rest = rounds[2]["scores"][0].as_f64().unwrap() / (3.0 * 5.0);
    let further: f64 = -1.0 + 2.0 * 29.0 * rest;
    assert!((rest - 1.0 / (1.0 + (2.0 * further).exp())).abs() < 1e-12, "{}", rounds[2]);
}

#[test]
fn seventeen_digits() {
    let ran = Folder::new().run_with(TWO, "{\"x\": [1, 0], \"y\": 1}\n").succeeded();
    let number = ran.stdout.split("\"loss\": ").nth(1).unwrap().trim_end_matches(['}', '\n']);
    assert_eq!(number, "6.9314718055994529e-1");
}

#[test]
fn bad_rounds_are_named() {
    let cases = [
        ("{\"x\": [1], \"y\": 1}", "x has 1 number; features = 2 were needed"),
        ("{\"x\": [1, 2], \"y\": 2}", "y = 2: must be a class from 0 to 1"),
        ("{\"x\": [1, 2], \"y\": -1}", "y = -1: must be a class from 0 to 1"),
        ("{\"x\": [1, 2], \"y\": 0.5}", "y = 0.5: must be a class from 0 to 1"),
        ("{\"x\": [1, 2], \"y\": [0.5, 0.6]}", "y = [0.5, 0.6]: must be probabilities of sum 1"),
        ("{\"x\": [1, 2], \"y\": [1]}", "y has 1 number; classes = 2 were needed"),
        ("{\"x\": [1, 2], \"y\": 0, \"weight\": 0}", "weight = 0: must be a number > 0"),
        ("{\"x\": [1, 2], \"y\": 0, \"weight\": 1e31}", "weight = 1e31: at most 1e30 is allowed"),
        ("{\"x\": [1, 2], \"y\": 0, \"u\": 1}", "u = 1: must be in [0, 1)"),
        ("{\"x\": [1, 1e101], \"y\": 0}", "x has the value 1e101; at most 1e100 is allowed"),
    ];
    let folder = Folder::new();
    for (row, sentence) in cases {
        let input = format!("{{\"x\": [1, 0], \"y\": 1}}\n{row}\n");
        folder.run_with(TWO, input).complained(2, &format!("standard input:2: {sentence}"));
    }
    for row in [
        "{",
        "[]",
        "{\"x\": [1, 2]}",
        "{\"x\": [1, NaN], \"y\": 0}",
        "{\"x\": [1, 1e999], \"y\": 0}",
        "{\"x\": [1, 2], \"y\": 0, \"z\": 1}",
        "{\"x\": \"a\", \"y\": 0}",
    ] {
        let ran = folder.run_with(TWO, row);
        assert!(
            ran.code == 2 && ran.stderr.starts_with("noregret: standard input:1: "),
            "{row}: {}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "{row}");
    }
    folder.run_with(TWO, b"\xff\xfe").failed(2, "standard input:1: the row is not UTF-8 text");
    folder
        .run_with(TWO, "")
        .failed(2, "standard input: no rounds; a row such as {\"x\": [0.5], \"y\": 1} was needed");
    folder.run("trace --learner ogd --set classes=2").failed(1, "--set features=D: must be given");
    folder.run("trace --learner ogd --set features=2").failed(1, "--set classes=K: must be given");
}

/// γ = 1/2, K = 2: p = (3/4, 1/4) at first. u = 0.9 plays class 1, rightly: W = (-1, 4). Then p = (1/4, 3/4),
/// u = 0.5 plays class 1, wrongly: W = (-1, 3).
#[test]
fn bandit_rounds_worked_by_hand() {
    let rows = "{\"x\": [1], \"y\": 1, \"u\": 0.9}\n{\"x\": [1], \"y\": 0, \"u\": 0.5}\n{\"x\": [1], \"y\": 0, \"u\": 0}\n";
    let options = "trace --learner banditron --set classes=2 --set features=1 --set exploration=0.5";
    let rounds = Folder::new().run_with(options, rows.to_owned()).succeeded().objects();
    let expected = [
        json!({"t": 1, "scores": [0.0, 0.0], "p": [0.75, 0.25], "played": 1, "loss": 0.0}),
        json!({"t": 2, "scores": [-1.0, 4.0], "p": [0.25, 0.75], "played": 1, "loss": 1.0}),
        json!({"t": 3, "scores": [-1.0, 3.0], "p": [0.25, 0.75], "played": 0, "loss": 0.0}),
    ];
    assert_eq!(rounds, expected);
}

/// The coin decides between uniform play and the forecast; without given numbers the seed does.
#[test]
fn explore_coins_are_taken_from_the_row() {
    let options = "trace --learner bandit-reduction --set base=ogd --set base.rate=1 --set classes=2 --set features=1 --set exploration=0.5";
    let run = |u_explore: f64| {
        let row = format!("{{\"x\": [1], \"y\": 1, \"u\": 0.9, \"u_explore\": {u_explore}}}\n");
        let rounds = Folder::new().run_with(options, row.repeat(2)).succeeded().objects();
        rounds[1]["scores"].clone()
    };
    assert_eq!(run(0.6), json!([0.0, 0.0]), "no exploration, nothing learnt");
    assert_ne!(run(0.4), json!([0.0, 0.0]));
    let by_seed = || Folder::new().run_with(options, "{\"x\": [1], \"y\": 1}\n".repeat(9)).succeeded().stdout;
    assert_eq!(by_seed(), by_seed());
}

#[test]
fn bandit_settings_and_numbers_are_checked() {
    let fails = |options: &str, row: &str, code: i32, message: &str| {
        let options = format!("trace {options} --set classes=2 --set features=1");
        Folder::new().run_with(&options, format!("{row}\n")).failed(code, message);
    };
    fails("--learner soba --set exploration=2", "", 1, "exploration = 2: must be in [0, 1]");
    fails(
        "--learner banditron",
        "{\"x\": [1], \"y\": 0, \"u_explore\": 1}",
        2,
        "standard input:1: u_explore = 1: must be in [0, 1)",
    );
    for learner in ["ogd", "soba"] {
        fails(
            &format!("--learner {learner}"),
            "{\"x\": [1], \"y\": 0, \"u_explore\": 0.5}",
            2,
            "standard input:1: u_explore: the learner tosses no coin",
        );
    }
    fails("--learner gaptron-hinge --set mode=half", "", 1, "mode = half: must be one of full, bandit");
}

/// Whether all numbers of two lists, nested or not, are near.
fn near(mine: &Value, theirs: &Value) -> bool {
    match (mine, theirs) {
        (Value::Array(mine), Value::Array(theirs)) => {
            mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(mine, theirs)| near(mine, theirs))
        }
        (mine, theirs) => {
            let (mine, theirs) = (mine.as_f64().unwrap(), theirs.as_f64().unwrap());
            (mine - theirs).abs() <= 1e-9 * (1.0 + theirs.abs())
        }
    }
}

#[test]
fn adahedge_follows_the_reference() {
    let reference = vector("adahedge_uniform");
    let rounds = reference["rounds"].as_array().unwrap();
    let input: String =
        rounds.iter().map(|round| format!("{}\n", json!({"losses": round["loss"]}))).collect();
    let got = Folder::new().run_with("trace --learner adahedge", input).succeeded().objects();
    assert_eq!(got.len(), rounds.len());
    for (got, want) in got.iter().zip(rounds) {
        assert!(
            near(&got["weights"], &want["weights"]) && near(&got["loss"], &want["learner_loss"]),
            "{got}"
        );
    }
}

#[test]
fn abstention_follows_the_reference() {
    let reference = vector("abstain_binary");
    let rounds = reference["rounds"].as_array().unwrap();
    let row = |r: &Value| json!({"experts": r["expert"], "y": r["y"], "u": r["u"], "cost": r["cost"]});
    let input: String = rounds.iter().map(|round| format!("{}\n", row(round))).collect();
    let got = Folder::new().run_with("trace --learner adahedge-abstain", input).succeeded().objects();
    assert_eq!(got.len(), rounds.len());
    for (got, want) in got.iter().zip(rounds) {
        assert_eq!(got["played"], want["played"]);
        for (mine, theirs) in
            [("weights", "weights"), ("abstain_probability", "abstain_prob"), ("loss", "expected_loss")]
        {
            assert!(near(&got[mine], &want[theirs]), "{mine}: {got}");
        }
    }
}

#[test]
fn boosting_follows_the_reference() {
    let reference = vector("adaboost_olmpp");
    let params = &reference["params"];
    let folder = Folder::with("candidates.json", params["candidates"].to_string());
    let rounds = reference["rounds"].as_array().unwrap();
    let row = |t: usize| json!({"x": reference["x"][t], "y": reference["y"][t], "u": reference["u"][t]});
    let input: String = (0..rounds.len()).map(|t| format!("{}\n", row(t))).collect();
    let options = format!(
        "trace --learner adaboost-olm --set weak=best-stump --set candidates=candidates.json --set copies={} \
         --set horizon={} --set classes={} --set features={}",
        params["N"], params["T"], reference["K"], reference["d"]
    );
    let got = folder.run_with(&options, input).succeeded().objects();
    assert_eq!(got.len(), rounds.len());
    for (got, want) in got.iter().zip(rounds) {
        for name in ["s", "prefix_labels", "prefix_weights", "p"] {
            assert!(near(&got[name], &want[name]), "{name}: {got}");
        }
        assert!(got["played"].is_u64());
    }
}

#[test]
fn experts_are_checked() {
    let fails = |learner: &str, rows: &str, line: usize, message: &str| {
        let ran = Folder::new().run_with(&format!("trace --learner {learner}"), rows.to_owned());
        ran.complained(2, &format!("standard input:{line}: {message}"));
    };
    let first = "{\"losses\": [0, 1]}\n";
    fails(
        "adahedge",
        &format!("{first}{{\"losses\": [0]}}"),
        2,
        "losses has 1 number; 2 experts were there before",
    );
    fails("adahedge", "{\"losses\": [0, 2]}", 1, "losses has the number 2: must be in [0, 1]");
    fails("adahedge", "{}", 1, "either experts with their votes and y, or losses, were needed");
    fails("adahedge-abstain", "{\"experts\": [0.5]}", 1, "y: must be given with experts, -1 or 1");
    fails("adahedge-abstain", "{\"experts\": [0.5], \"y\": 0}", 1, "y = 0: must be -1 or 1");
    fails(
        "adahedge-abstain",
        "{\"experts\": [-2], \"y\": 1}",
        1,
        "experts has the number -2: must be in [-1, 1]",
    );
    fails("adahedge-abstain", "{\"experts\": [1], \"y\": 1, \"cost\": 2}", 1, "cost = 2: must be in [0, 1]");
    let missing = Folder::new().run("trace --learner adaboost-olm --set candidates=no.json");
    assert!(
        missing.code == 2 && missing.stderr.contains("--set candidates: no.json: cannot be read: "),
        "{}",
        missing.stderr
    );
}
