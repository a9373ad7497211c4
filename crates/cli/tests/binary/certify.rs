//! `run --certify`: the regret beside the certificate and the bound.

use serde_json::Value;

use crate::util::Folder;

/// A stream whose labels come from a linear model, with noise.
fn folder(classes: usize) -> Folder {
    let folder = Folder::new();
    folder
        .run(&format!(
            "generate softmax --rows 600 --set classes={classes} --set features=3 --set noise=0.1 -o a.svm"
        ))
        .succeeded();
    folder
}

fn number(summary: &Value, name: &str) -> f64 {
    summary[name].as_f64().unwrap_or_else(|| panic!("{name} in {summary}"))
}

#[test]
fn regret_certificate_and_bound_increase() {
    let many = folder(4);
    let two = folder(2);
    for (folder, learner, certificate) in [
        (&many, "folklore", true),
        (&many, "ogd", false),
        (&many, "ogd --set ball=rows", false),
        (&many, "ogd --set schedule=constant", false),
        (&many, "ons --set norm=0.1", false),
        (&many, "ftrl", false),
        (&two, "folklore", true),
        (&two, "aioli", true),
        (&two, "kernel-aioli --set kernel=linear", true),
        (&two, "gaf", true),
    ] {
        let summary = folder.summary(&format!("a.svm --certify --learner {learner}"));
        let regret = number(&summary, "regret");
        let mut chain = vec![regret];
        if certificate {
            chain.push(number(&summary, "certificate"));
        }
        chain.push(number(&summary, "bound"));
        assert!(chain.is_sorted(), "{learner}: {chain:?}");
        let loss = 600.0 * number(&summary, "log_loss");
        assert!((loss - number(&summary, "comparator_loss") - regret).abs() < 1e-6, "{learner}");
        assert!(number(&summary, "comparator_gap") <= 1e-5, "{learner}");
    }
}

#[test]
fn mistakes_stay_below_their_bound() {
    let folder = folder(3);
    for learner in
        ["perceptron", "second-order-perceptron", "gaptron-logistic", "gaptron-hinge", "gaptron-smooth"]
    {
        let summary = folder.summary(&format!("a.svm --certify --learner {learner}"));
        let mistakes = number(&summary, "learner_loss");
        assert!(mistakes > 0.0 && mistakes <= number(&summary, "bound"), "{learner}: {summary}");
    }
}

#[test]
fn a_bound_that_does_not_hold_is_not_shown() {
    let folder = folder(3);
    for (arguments, why) in [
        (
            "--learner folklore --set curvature=paper --set norm=0.1",
            "the curvature is larger than any valid one",
        ),
        ("--learner ogd --set rate=0.1", "the rate is not the theorem's"),
        ("--learner folklore --delay 3", "labels were delayed by 3 rounds"),
        ("--learner folklore --set radius=0.5", "rows were beyond the learner's radius"),
    ] {
        let summary = folder.summary(&format!("a.svm --certify {arguments}"));
        assert!(summary.get("bound").is_none() && summary.get("certificate").is_none(), "{summary}");
        let said = summary["no_bound_because"].as_str().unwrap();
        assert!(said.contains(why), "{said}");
    }
    folder.run("run a.svm --certify --learner ons-diag").failed(
        1,
        "--certify: ons-diag has no theorem to be held to: none: the theorem is about the full matrix",
    );
}

#[test]
fn people_see_the_closing_lines_and_live_certificates() {
    let folder = folder(2);
    let ran = folder.run("run a.svm --learner folklore --certify --certificates").succeeded();
    for line in ["compared with", "comparator's loss", "regret", "certificate", "bound"] {
        assert!(ran.stdout.contains(&format!("\n{line:<22} ")), "{line} in {}", ran.stdout);
    }
    let header = ran.stderr.lines().find(|line| line.contains("rounds ")).unwrap();
    assert!(header.ends_with("certificate"), "{header}");
}
