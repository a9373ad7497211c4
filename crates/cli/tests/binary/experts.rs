//! `adahedge` and `adahedge-abstain` on rows: columns are experts, values their votes.

use crate::util::Folder;

/// Two rounds by hand. At first the experts are equal and the vote is 0: no answer. The first was right, so
/// that Δ = 1/2, η = 2 ln 2 and w = (0.8, 0.2): the vote is 0.6, the answer right with that probability.
const TWO: &str = "a,b,label\n1,-1,1\n1,-1,1\n0,0,-1\n";

#[test]
fn abstaining_is_counted_in_expectation() {
    let folder = Folder::with("votes.csv", TWO);
    let summary = folder.summary("votes.csv --learner adahedge-abstain --abstain-cost 0.25 --limit 2");
    let abstention = &summary["abstention"];
    let near = |name: &str, want: f64| {
        let got = abstention[name].as_f64().unwrap();
        assert!((got - want).abs() < 1e-12, "{name}: {got} instead of {want}");
    };
    near("coverage", 0.3);
    near("answered", 0.6);
    near("risk", 0.0);
    near("mean_cost", (0.25 + 0.4 * 0.25) / 2.0);
    let guarantee = abstention["guarantee"].as_str().unwrap();
    assert!(guarantee.starts_with("the total cost is at most 3.990 above"), "{guarantee}");
    let dear = folder.summary("votes.csv --learner adahedge-abstain --abstain-cost 0.6");
    let guarantee = dear["abstention"]["guarantee"].as_str().unwrap();
    assert_eq!(guarantee, "none: abstaining cost up to 0.6: the theorem needs costs of at most 1/2");
    let late = folder.summary("votes.csv --learner adahedge-abstain --delay 1");
    assert_eq!(
        late["abstention"]["guarantee"],
        "none: 2 labels came late, after later rows had been predicted"
    );
    assert!(folder.summary("votes.csv --learner adahedge")["abstention"].is_null());
}

#[test]
fn experts_are_followed_in_compare_and_by_models() {
    let mut text = String::from("a,b,c,label\n");
    for t in 0..300 {
        let y = if t % 3 == 0 { 1 } else { -1 };
        let wrong = |every: u32| if t % every == 0 { -y } else { y };
        text += &format!("{},{},{},{y}\n", wrong(2), wrong(5), wrong(3));
    }
    let folder = Folder::with("votes.csv", &text);
    let alone = folder.summary("votes.csv --learner adahedge --save whole");
    assert_eq!(alone["numbers"]["losses"], serde_json::json!([150.0, 60.0, 100.0]));
    assert!(alone["weights"]["2"].as_f64().unwrap() > 0.99, "{alone}");
    let both = folder.run("compare votes.csv --learners adahedge,folklore --json --quiet").succeeded();
    let line = both.stdout.lines().find(|line| line.contains("\"adahedge\"")).unwrap();
    let run: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(run["expected_error_rate"], alone["expected_error_rate"], "{run}");

    let (head, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (name, part) in [("first.csv", &rows[..120]), ("second.csv", &rows[120..])] {
        folder.write(name, format!("{head}\n{}\n", part.join("\n")));
    }
    folder.summary("first.csv --learner adahedge --save half");
    let rest = folder.summary("second.csv --load half --save joined");
    assert_eq!(&rest["numbers"], &alone["numbers"]);
    let predicted =
        |model: &str| folder.run(&format!("predict {model} votes.csv --greedy")).succeeded().stdout;
    assert_eq!(predicted("joined"), predicted("whole"));
}

#[test]
fn what_is_no_vote_is_refused() {
    let folder = Folder::with("votes.csv", "a,b,label\n1,-1,1\n1,-1.5,-1\n");
    folder
        .run("run votes.csv --learner adahedge --quiet")
        .failed(2, "votes.csv:3: the row has the value -1.5; a vote in [-1, 1] was needed");
    folder.run_with("run - --learner adahedge --set features=2", TWO).failed(
        1,
        "adahedge: needs a file: the class of the vote 1 is determined from all classes, and a pipe cannot be read twice",
    );
    folder
        .run("run votes.csv --learner adahedge-abstain --abstain-rate 0.1 --quiet")
        .failed(1, "--abstain-rate: adahedge-abstain abstains by its own rule");
    let three = Folder::with("three.csv", "a,label\n1,x\n-1,y\n0,z\n");
    three
        .run("run three.csv --learner adahedge --quiet")
        .failed(1, "classes = 3: must be 2: adahedge is binary");
}
