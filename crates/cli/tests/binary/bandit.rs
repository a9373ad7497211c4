//! `run` under bandit feedback, simulated on labelled data.

use crate::util::{Folder, libsvm, rows};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.run("generate synsep --rows 3000 -o a.svm").succeeded();
    folder
}

#[test]
fn the_three_error_rates_are_named_and_differ() {
    let folder = folder();
    let summary = folder.summary("a.svm --learner soba-diag --set exploration=0.1");
    let rate = |name: &str| summary[name].as_f64().unwrap_or_else(|| panic!("{name} in {summary}"));
    let (played, expected, greedy) =
        (rate("error_rate"), rate("expected_error_rate"), rate("greedy_error_rate"));
    // Of 9 classes, exploration gets 8 wrong: expected = 0.9 greedy + 0.1 8/9, whatever is learnt.
    assert!((expected - 0.9 * greedy - 0.1 * 8.0 / 9.0).abs() < 1e-9, "{expected} {greedy}");
    assert!((played - expected).abs() < 0.03 && played < 0.85, "{played} {expected}");
    assert!(summary.get("log_loss").is_none(), "{summary}");
}

#[test]
fn gaptron_hears_what_it_is_told() {
    let folder = folder();
    let errors = |told: &str| {
        let summary = folder.summary(&format!("a.svm --learner gaptron-hinge --feedback {told}"));
        (summary["errors"].as_u64().unwrap(), summary["resolved_parameters"]["mode"].clone())
    };
    let ((full, full_mode), (bandit, bandit_mode)) = (errors("full"), errors("bandit"));
    assert!(full < bandit, "{full} {bandit}");
    assert_eq!((full_mode, bandit_mode), ("full".into(), "bandit".into()));
}

/// Nothing is named, nothing is chosen: auto plays, and explores by itself.
#[test]
fn auto_is_the_default_of_bandit_feedback() {
    let folder = folder();
    let summary = folder.summary("a.svm --limit 600 --feedback bandit --set members=labels+shared@0.1");
    assert_eq!(
        (&summary["learner"], &summary["resolved_parameters"]["mode"]),
        (&"auto".into(), &"bandit".into())
    );
    // Of 9 classes; uniform guesses err in 8 of 9 rounds.
    let error = summary["error_rate"].as_f64().expect("a rate");
    assert!(error < 0.5 && summary.get("log_loss").is_none(), "{summary}");
}

/// What is known of the rewards is part of the model, and refused where it says nothing.
#[test]
fn a_prior_is_part_of_the_model() {
    let folder = folder();
    let run = "a.svm --limit 60 --feedback bandit --save m";
    for (settings, rounds) in [
        ("--set members=labels --set prior=0.02 --set prior_rounds=200", Some(200.0)),
        ("--learner fastcb --set oracle=pooled --set prior=0.02", Some(50.0)),
        ("--learner confidit --set prior=0.02", None),
    ] {
        let summary = folder.summary(&format!("{run} {settings}"));
        let resolved = &summary["resolved_parameters"];
        assert_eq!(resolved["prior"].as_f64(), Some(0.02), "{settings}: {resolved}");
        assert_eq!(resolved["prior_rounds"].as_f64(), rounds, "{settings}: {resolved}");
        let went_on = folder.summary("a.svm --skip 60 --limit 10 --load m");
        assert_eq!(went_on["resolved_parameters"]["prior"].as_f64(), Some(0.02), "{settings}");
    }
    folder.write("o.vw", "shared |C a\n1:1 'x |A b\n2:0 'y |A c\n\n".repeat(20));
    let resolved = &folder.summary("o.vw --feedback bandit --set prior=0.02")["resolved_parameters"];
    assert_eq!((resolved["prior"].as_f64(), resolved["prior_rounds"].as_f64()), (Some(0.02), Some(50.0)));
    for (arguments, sentence) in [
        ("--set prior=0.02", "prior = 0.02: must be left out where the label is revealed"),
        (
            "--learner squarecb --set prior=0.02",
            "prior = 0.02: must be left out with oracle = aioli, which begins at 1/2; oracle = pooled begins at any rate",
        ),
    ] {
        folder.run(&format!("run a.svm {arguments}")).failed(1, sentence);
    }
}

/// A theorem's rate that leaves next to nothing of what was learnt is said before the first row.
#[test]
fn play_that_is_mostly_random_is_warned_of() {
    let folder = folder();
    let said = |rate: &str| {
        let run = folder.run(&format!("run a.svm --learner soba --set exploration={rate}"));
        run.succeeded().stderr
    };
    assert!(said("0.75").contains("warning  soba plays a uniformly random label in 75 % of the rounds"));
    assert!(!said("0.25").contains("warning"));
}

/// Where play follows from the rounds, it is said after the run: SquareCB's schedule and Gaptron's map have
/// no rate that is known before.
#[test]
fn play_that_was_mostly_random_is_warned_of() {
    let folder = folder();
    let said =
        |learner: &str| folder.run(&format!("run a.svm --limit 600 --learner {learner}")).succeeded().stderr;
    for learner in ["squarecb", "gaptron-logistic --feedback bandit --set exploration=0.1"] {
        let text = said(learner);
        assert_eq!(text.matches("MOSTLY RANDOM PLAY").count(), 1, "{learner}: {text}");
    }
    for learner in ["squarecb --set schedule=root", "soba --set exploration=0.1", "confidit"] {
        assert!(!said(learner).contains("RANDOM"), "{learner}");
    }
    assert!(!said("soba --set exploration=0.75").contains("RANDOM"), "said before the first row");
}

#[test]
fn the_same_seed_plays_the_same_labels_and_late_feedback_costs() {
    let folder = folder();
    let errors = |more: &str| {
        let arguments = format!("a.svm --learner banditron --set exploration=0.2 {more}");
        folder.summary(&arguments)["errors"].as_u64().unwrap()
    };
    assert_eq!(errors("--seed 1"), errors("--seed 1"));
    assert_ne!(errors("--seed 1"), errors("--seed 2"));
    assert!(errors("--delay 2000") > errors(""));
}

#[test]
fn what_does_not_fit_the_feedback_is_refused() {
    let folder = folder();
    for (arguments, sentence) in [
        (
            "--learner ogd --feedback bandit",
            "--feedback bandit: ogd learns from the label; use auto (omit --learner), or a learner that `noregret list` marks with bandit",
        ),
        (
            "--learner soba --feedback full",
            "--feedback full: soba learns from whether the played label was right, not from the label",
        ),
        (
            "--learner soba --batch-model model",
            "--batch-model: is for learners that see the label; soba learns from right or wrong",
        ),
        (
            "--learner soba-diag --certify",
            "--certify: soba-diag has no theorem: none: the theorem is about the full matrix",
        ),
        ("--learner soba --set exploration=1.5", "exploration = 1.5: must be in [0, 1]"),
    ] {
        folder.run(&format!("run a.svm --quiet {arguments}")).failed(1, sentence);
    }
    assert_eq!(folder.names(), ["a.svm"]);
}

/// Many seeds, or many learners, with a floor: each run is the single one.
#[test]
fn a_floor_goes_with_every_run_of_a_pass() {
    let folder = Folder::with("a.svm", libsvm(&rows(300, 3, 4)));
    let play = "--set exploration=0.1 --exploration-floor 0.05";
    let single = folder.summary(&format!("a.svm --learner banditron --seed 1 {play}"));
    let without = folder.summary("a.svm --learner banditron --seed 1 --set exploration=0.1");
    assert_ne!(single["expected_error_rate"], without["expected_error_rate"]);
    // What the floor adds to the errors: with probability 0.15 a label is drawn that is wrong in two of three
    // cases, instead of by the learner.
    let number = |name: &str| single[name].as_f64().unwrap();
    let own = number("expected_error_rate") - number("floor_error_rate");
    assert!((number("floor_error_rate") - 0.15 * (2.0 / 3.0 - own)).abs() < 1e-9, "{single}");
    assert!(without["floor_error_rate"].is_null());
    // The largest floor leaves nothing of what the learner would have played.
    let most = "--set exploration=0.1 --exploration-floor 0.3333333333333333";
    let uniform = folder.summary(&format!("a.svm --learner banditron --seed 1 {most}"));
    assert!((uniform["expected_error_rate"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{uniform}");
    assert!(uniform["floor_error_rate"].as_f64().unwrap() > 0.1, "{uniform}");
    let told = folder.run(&format!("run a.svm --learner banditron --seed 1 {play}")).succeeded().stdout;
    // 1.96 / sqrt(0.05 · 300)
    let line = format!(
        "exploration floor      {:+.5} of the expected errors; for it, ips estimates of any policy are within 0.506 (about 95 %)",
        number("floor_error_rate")
    );
    assert!(told.contains(&line), "{told}");
    for arguments in ["run a.svm --learner banditron", "compare a.svm --learners banditron"] {
        let runs =
            folder.run(&format!("{arguments} --repeats 2 {play} --json --quiet")).succeeded().objects();
        assert_eq!(runs[1]["expected_error_rate"], single["expected_error_rate"], "{arguments}");
    }
    let mixed = "compare a.svm --quiet --learners ogd,banditron --exploration-floor";
    folder.run(&format!("{mixed} 0.1")).succeeded();
    folder
        .run(&format!("{mixed} 0.5"))
        .failed(1, "--exploration-floor 0.5: must be from 0 to 0.333333, one over the number of classes");
    folder
        .run("compare a.svm --quiet --learners ogd,folklore --exploration-floor 0.1")
        .failed(1, "--exploration-floor: is for learners of bandit feedback; all of these see the label");
}

/// Bandit learners are held to their theorems: a bound where one holds, or why none does.
#[test]
fn theorems_are_shown() {
    let folder = Folder::with("a.svm", libsvm(&rows(600, 3, 4)));
    let certified = |arguments: &str| folder.summary(&format!("a.svm --scale unit --certify {arguments}"));
    for learner in [
        "banditron --set exploration=0.3",
        "gaptron-hinge --feedback bandit",
        "bandit-reduction --set exploration=0.5",
    ] {
        let summary = certified(&format!("--learner {learner}"));
        let number = |key: &str| summary[key].as_f64().unwrap_or_else(|| panic!("{key} in {summary}"));
        assert!(number("learner_loss") <= number("bound"), "{summary}");
        let expected = number("expected_error_rate") * 600.0;
        assert!((number("learner_loss") - expected).abs() < 1e-6, "{summary}");
    }
    for (arguments, why) in [
        ("--learner banditron --set exploration=0.8", "exploration is 0.8; the theorem needs it in (0, 1/2]"),
        ("--learner banditron --delay 1000", "599 labels came late, after later rows had been predicted"),
        (
            "--learner banditron --exploration-floor 0.01",
            "labels were drawn with an exploration floor of 0.01",
        ),
        ("--learner exp4 --set exploration=1", "every label is drawn at random"),
        ("--learner bandit-reduction --set exploration=0", "exploration is 0"),
        (
            "--learner bandit-reduction --set base=folklore-diag",
            "folklore-diag, the base learner, has no theorem",
        ),
        ("--learner gaptron-hinge --feedback bandit --set rate=9", "the rate is larger than the theorem's"),
    ] {
        assert_eq!(certified(arguments)["no_bound_because"], why, "{arguments}");
    }
}

/// Where one label in a hundred is the rarer one, errors say next to nothing: probabilities are compared.
#[test]
fn probabilities_of_rare_labels_are_not_called_guesses() {
    let row = |t: usize| {
        let (x, rare) = (t * 37 % 100, t * 37 % 100 == 99 && !t.is_multiple_of(3));
        format!("{},{}\n", if x > 96 { 1 } else { 0 }, if rare { "click" } else { "none" })
    };
    let folder = Folder::with("a.csv", "x,y\n".to_owned() + &(0..4000).map(row).collect::<String>());
    let said = folder.run("run a.csv --learner ftrl").succeeded().stderr;
    assert!(said.contains("practice  slow for 4000 rows: the more rounds there were, "), "{said}");
    assert!(said.contains("ONLY ITS PROBABILITIES ARE BETTER THAN GUESSING: naming"), "{said}");
    let said = folder.run("run a.csv --learner ons-diag").succeeded().stderr;
    assert!(said.contains("GUESSING") && said.contains("the learner's 0.693"), "{said}");
    let said = folder.run("run a.csv --learner folklore-diag --limit 10").succeeded().stderr;
    assert!(
        said.contains("the defaults are too cautious") && said.contains("--set curvature=0.1 works"),
        "{said}"
    );
}

/// An oracle that guesses has defaults that are too cautious, and is named within another learner.
#[test]
fn a_cautious_learner_inside_another_is_named() {
    let folder = folder();
    let said = |settings: &str| {
        let ran = folder.run(&format!("run a.svm --limit 50 --learner squarecb {settings}")).succeeded();
        ran.stderr + &ran.stdout
    };
    let gaf = said("--set oracle=gaf");
    let told = "gaf by itself: the defaults are too cautious; --set oracle.regularization=1 works, without guarantee: ";
    assert!(gaf.contains(told), "{gaf}");
    for settings in ["oracle=gaf --set oracle.regularization=1", "oracle=ftrl", "oracle=pooled"] {
        assert!(!said(&format!("--set {settings}")).contains("too cautious"), "{settings}");
    }
}
