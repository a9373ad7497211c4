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

/// The bound of a mixture is one about its members, in every interval; it needs weights of 1.
#[test]
fn the_bound_of_auto_is_shown_where_it_holds() {
    let folder = folder(4);
    let members = "--set members=labels+shared@0.1";
    let summary = folder.summary(&format!("a.svm --certify --certificates {members}"));
    let (bound, certificate) = (number(&summary, "bound"), number(&summary, "certificate"));
    // 6 ln(600) + ln 7 + ln 3 + ln 2, for three and five heads and three stacks.
    let want = 4.0 * 601f64.ln() + 2.0 * 600f64.ln() + (7.0f64 * 3.0 * 2.0).ln();
    assert!((bound - want).abs() < 1e-9 && certificate == bound, "{bound} and {certificate} for {want}");
    assert!(bound < 0.1 * number(&summary, "trivial_bound"), "{summary}");
    // Two members, one of them with five heads, and three stacks beside their mixture.
    let total = number(&summary, "total_bound");
    assert!((total - (2.0f64 * 5.0 * 4.0 * 8.0).ln()).abs() < 1e-9, "{summary}");
    let ran = folder.run(&format!("run a.svm --certify --limit 50 {members}")).succeeded();
    assert!(ran.stdout.contains("in every interval of rounds, the member"), "{}", ran.stdout);
    let rows = folder.text("a.svm");
    let lines = rows.lines().map(|line| line.replacen(' ', " |f ", 1));
    let weighted: Vec<String> = lines.map(|line| format!("1{line}").replacen(" |", " 2 |", 1)).collect();
    folder.write("w.vw", weighted.join("\n"));
    let summary = folder.summary(&format!("w.vw --certify --certificates {members}"));
    for name in ["no_bound_because", "no_certificate_because"] {
        assert_eq!(summary[name], "rounds had importance weights", "{summary}");
    }
    assert!(summary.get("total_bound").is_none(), "{summary}");
}

/// The number beside the bound is named after the loss that it bounds.
#[test]
fn the_loss_of_the_guarantee_is_named() {
    let folder = folder(3);
    for (learner, name) in [
        ("auto --set members=labels+shared@0.1", "cumulative log-loss"),
        ("perceptron", "expected mistakes"),
        ("gaptron-hinge --feedback bandit", "expected mistakes"),
        ("squarecb", "expected mistakes"),
    ] {
        let ran = folder.run(&format!("run a.svm --quiet --certify --learner {learner}")).succeeded();
        let after = ran.stdout.lines().skip_while(|line| !line.starts_with("compared with")).nth(1).unwrap();
        assert!(after.starts_with(&format!("{name:<22} ")), "{learner}: {}", ran.stdout);
        let loss = number(&folder.summary(&format!("a.svm --certify --learner {learner}")), "learner_loss");
        assert!(after.ends_with(&format!(" {loss:.3}")), "{learner}: {}", ran.stdout);
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

/// The mistakes of the labels that are drawn have a bound with high probability, with full information, and
/// under bandit feedback for rates below the largest.
#[test]
fn drawn_labels_have_their_bound() {
    let folder = folder(3);
    let summary = folder.summary("a.svm --certify --learner gaptron-hinge --feedback full");
    let (errors, bound) = (number(&summary, "errors"), number(&summary, "drawn_bound"));
    assert!(errors <= bound && number(&summary, "bound") < bound && bound < 1e4, "{summary}");
    let bandit = "a.svm --certify --scale unit --learner gaptron-smooth --feedback bandit";
    let summary = folder.summary(bandit);
    let why = summary["no_drawn_bound_because"].as_str().expect("a sentence");
    let rate = why.rsplit(' ').next().expect("a word");
    let summary = folder.summary(&format!("{bandit} --set rate={rate}"));
    assert!(number(&summary, "bound") < number(&summary, "drawn_bound"), "{why}: {summary}");
    let summary = folder.summary(&format!("{bandit} --set rate={rate} --exploration-floor 0.01"));
    for name in ["no_drawn_bound_because", "no_bound_because"] {
        assert_eq!(summary[name], "labels were drawn with an exploration floor of 0.01", "{name}");
    }
    let ran = folder.run(&format!("run {bandit} --quiet")).succeeded();
    assert!(ran.stdout.contains("\nbound on errors        none with probability 95 %: it needs a rate "));
}

/// A comparator that rounding kept from the best one says how far from it it may be.
#[test]
fn the_gap_of_the_comparator_is_shown() {
    let folder = folder(2);
    let shown = |arguments: &str| folder.run(&format!("run {arguments} --certify --learner folklore")).stdout;
    assert!(!shown("a.svm").contains("the best one"));
    let row = |t: i32| {
        let label = if t * 3 % 7 < 3 { "p" } else { "q" };
        format!("{}e80,{}e80,{label}\n", t * 7 % 11 - 5, t * 5 % 13 - 6)
    };
    folder.write("far.csv", format!("a,b,label\n{}", (0..60).map(row).collect::<String>()));
    let far = shown("far.csv --label label --scale none --no-intercept");
    for said in ["   (that of the best one is at least ", "   (against the best one at most "] {
        assert!(far.contains(said), "{said} in {far}");
    }
}

/// Forecasts that are not the learner's own have no certificate: those of a pipe keep probability back for
/// labels to come, and others are among the labels on offer.
#[test]
fn certificates_are_about_the_learners_own_forecasts() {
    let folder = Folder::new();
    let row = |t: usize, label: &str, on: &str| format!("{},{},{label}{on}\n", t * 7 % 11, t * 5 % 13);
    let two = |t: usize| row(t, if t * 3 % 7 < 3 { "p" } else { "q" }, "");
    let rows = "a,b,label\n".to_owned() + &(0..200).map(two).collect::<String>();
    let options = "--label label --learner folklore --scale unit --quiet";
    folder.run_with(&format!("run - --format csv {options} --set norm=0.001 --save piped"), rows).succeeded();
    let three =
        |t: usize| if t.is_multiple_of(3) { row(t, "r", ",q r") } else { row(t, ["p", "q"][t % 2], ",p q") };
    let rows = "a,b,label,on\n".to_owned() + &(0..200).map(three).collect::<String>();
    folder.write("on.csv", rows);
    folder.run(&format!("run on.csv {options} --offered on --save among")).succeeded();
    for model in ["piped", "among"] {
        let shown = folder.run(&format!("inspect {model}")).succeeded().stdout;
        let why = "\ncertificate  none: 200 forecasts were not the learner's own: ";
        assert!(shown.contains(why), "{model}: {shown}");
    }
    let why = "--certify: with --offered forecasts are scored among the labels on offer, and the theorems are about those among all labels: leave one of them out";
    folder.run(&format!("run on.csv {options} --offered on --certify")).failed(1, why);
}

/// The certificate implies how far forecasts are from the true probabilities, for labels that count once,
/// where it says more than that the distance is at most 2.
#[test]
fn forecasts_have_a_distance_from_the_truth() {
    let folder = folder(3);
    let summary = folder.summary("a.svm --certify --learner folklore --set norm=2 --scale unit");
    let regret = number(&summary, "certificate").min(number(&summary, "bound"));
    let want = (regret + 2.0 * 20f64.ln()) / 600.0;
    assert!((number(&summary, "distance_bound") - want).abs() < 1e-12, "{summary}");
    for other in ["perceptron", "label-tree", "gaf", "folklore --set curvature=5 --set norm=2"] {
        let summary = folder.summary(&format!("a.svm --certify --learner {other}"));
        assert!(summary.get("distance_bound").is_none(), "{other}: {summary}");
    }
}

/// The promises of learners about their own experts.
#[test]
fn experts_of_the_learner_itself_have_their_bound() {
    let folder = folder(3);
    let summary = folder.summary("a.svm --certify --learner adaboost-olm --set copies=5");
    let comparator = summary["comparator"].as_str().expect("a sentence");
    assert!(comparator.starts_with("the best of the 5 prefixes of the chain; its "), "{comparator}");
    assert!(number(&summary, "learner_loss") <= number(&summary, "bound"), "{summary}");
    let fewest: f64 = comparator.split(' ').rev().nth(1).expect("a word").parse().expect("a number");
    let want = (fewest + 5f64.ln()) / (1.0 - (-1f64).exp());
    assert!((number(&summary, "bound") - want).abs() < 1e-9, "{summary}");
    let ran = folder.run("run a.svm --certify --learner adaboost-olm --set play=mixture");
    assert!(
        ran.stderr.contains("--certify: adaboost-olm has no theorem that it shows: log loss <= "),
        "{}",
        ran.stderr
    );
    let summary = folder.summary("a.svm --certify --learner exp4");
    let comparator = summary["comparator"].as_str().expect("a sentence");
    assert!(comparator.starts_with("the best of the learner's own 100 policies ("), "{comparator}");
    let want = (2.0 * 3.0 * 600.0 * 100f64.ln()).sqrt();
    assert!((number(&summary, "bound") - want).abs() < 1e-9, "{summary}");
    let summary = folder.summary("a.svm --certify --learner exp4 --delay 3");
    assert!(summary["no_bound_because"].as_str().is_some_and(|why| why.contains("came late")), "{summary}");
}

#[test]
fn what_does_not_hold_is_not_shown() {
    let folder = folder(2);
    folder.run("run a.svm --learner folklore --save m").succeeded();
    folder.run("run a.svm --learner gaf --save g").succeeded();
    // Both: why neither is shown. Otherwise the certificate stands.
    for (arguments, why, both) in [
        ("--learner folklore --set curvature=paper --set norm=0.3", "is larger than any valid one", true),
        ("--learner aioli --set curvature=5", "is larger than any valid one", true),
        ("--learner gaf --set curvature=5", "is larger than any valid one", true),
        (
            "--learner kernel-aioli --set kernel=linear --set curvature=5",
            "is larger than any valid one",
            true,
        ),
        ("--learner kernel-aioli --set kernel=linear --set radius=0.01", "beyond the learner's radius", true),
        ("--learner ogd --set rate=0.1", "the rate is not the theorem's", false),
        ("--learner gaf --set regularization=0.1", "the default curvature and regularization", false),
        ("--learner folklore --delay 1000", "599 labels came late", true),
        ("--learner folklore --delay uniform:3", "labels came late", true),
        ("--learner folklore --set radius=0.5", "rows were beyond the learner's radius", true),
        ("--load m", "600 rounds were learnt before this run", true),
        ("--load g", "600 rounds were learnt before this run", true),
        ("--learner bandit-reduction --delay 3", "labels came late", true),
        ("--learner bandit-reduction --exploration-floor 0.1", "an exploration floor of 0.1", true),
    ] {
        // With --load there are no rounds to compare with.
        if !arguments.starts_with("--load") {
            let summary = folder.summary(&format!("a.svm --certify {arguments}"));
            assert!(summary.get("bound").is_none(), "{summary}");
            let said = summary["no_bound_because"].as_str().unwrap();
            assert!(said.contains(why), "{said}");
            let no_certificate = summary.get("no_certificate_because").and_then(Value::as_str);
            assert!(!both || summary.get("certificate").is_none(), "{arguments}: {summary}");
            assert!(
                !both
                    || arguments.contains("bandit")
                    || no_certificate.is_some_and(|said| said.contains(why))
            );
        }
        // Nor on the page, nor live.
        if arguments.contains("bandit") {
            continue;
        }
        folder.run(&format!("run a.svm --quiet --report r.html {arguments}")).succeeded();
        let page = folder.text("r.html");
        let said = |what: &str| {
            let (_, rest) = page.split_once(&format!("No {what} is shown: "))?;
            Some(rest.split_once('.').unwrap().0.contains(&why.replace('\'', "&#39;")) || rest.contains(why))
        };
        assert_eq!(said("bound"), Some(true), "{arguments}");
        assert_eq!(said("certificate"), both.then_some(true), "{arguments}");
        let live = folder.run(&format!("run a.svm --certificates {arguments}")).succeeded().stderr;
        let void = live.lines().find(|line| line.starts_with("The certificate is void: "));
        assert_eq!(void.is_some_and(|line| line.contains(why)), both, "{arguments}: {live}");
    }
    folder
        .run("run a.svm --certify --learner ons-diag")
        .failed(1, "--certify: ons-diag has no theorem: none: the theorem is about the full matrix");
}

/// What an audit has found shown below the regret: each is withheld now, with the reason.
#[test]
fn promises_that_were_broken_are_withheld() {
    let folder = folder(3);
    folder.run("generate hyperplane --rows 2000 --seed 1 -o g.csv").succeeded();
    let ones: String = (0..3000).map(|row| format!("1,{}\n", u8::from(row % 4 > 0))).collect();
    folder.write("ones.csv", format!("x,label\n{ones}"));
    let large: String = (0..300).map(|row| format!("{},{}\n", row % 7, row % 90)).collect();
    folder.write("large.csv", format!("x,y\n{large}"));
    for (arguments, what, why) in [
        (
            "g.csv --label label --scale unit --learner folklore --set regularization=1e-11",
            "certificate",
            "beside the rows, the regularization 1e-11 is too small",
        ),
        (
            "ones.csv --label label --no-intercept --learner aggregating --set norm=100000",
            "bound",
            "the nodes of the quadrature are too far from each other",
        ),
        (
            "large.csv --label y --learner vaw --set target_bound=1",
            "bound",
            "a target of 89 was beyond target_bound = 1",
        ),
        ("a.svm --learner squarecb --set oracle.radius=0.1", "bound", "beyond the learner's radius"),
        ("a.svm --learner fastcb --set oracle.radius=0.1", "bound", "beyond the learner's radius"),
        ("a.svm --learner folklore --set linear_term=false", "bound", "it needs linear_term = true"),
    ] {
        let summary = folder.summary(&format!("{arguments} --certify"));
        assert!(summary.get(what).is_none(), "{arguments}: {summary}");
        let said = summary[&format!("no_{what}_because")].as_str().unwrap_or_default();
        assert!(said.contains(why), "{arguments}: {said}");
    }
}

/// The log of another program has no rounds of the learner's own.
#[test]
fn the_log_of_another_policy_has_no_bound() {
    let folder = Folder::new();
    let rows: String =
        (0..40).map(|row| format!("0.{},{},0.5,{}\n", row % 9, row % 2, row % 3 % 2)).collect();
    folder.write("log.csv", format!("x,a,p,r\n{rows}"));
    let log = "log.csv --feedback bandit --decision a --probability p --reward r";
    let summary = folder.summary(&format!("{log} --learner squarecb --certify"));
    assert!(summary.get("bound").is_none(), "{summary}");
    let said = summary["no_bound_because"].as_str().unwrap_or_default();
    assert!(said.starts_with("another policy played the labels of the log"), "{summary}");
    assert!(summary["learner_loss"].is_null() && summary["trivial_bound"].is_null(), "{summary}");
}

/// Where costs alone are known, no mistakes are counted: none is not how many there were.
#[test]
fn costs_are_no_mistakes() {
    let folder = Folder::new();
    folder.run("generate clicks --rows 60 --set classes=3 -o c.vw").succeeded();
    for learner in ["squarecb", "soba", "exp4"] {
        let shown = folder.run(&format!("run c.vw --learner {learner} --certify")).succeeded().stdout;
        assert!(shown.contains("none: no round has a label"), "{shown}");
        for line in ["expected mistakes", "trivial bound", "compared with"] {
            assert!(!shown.lines().any(|shown| shown.starts_with(line)), "{line} in {shown}");
        }
        let summary = folder.summary(&format!("c.vw --learner {learner} --certify"));
        assert!(summary["learner_loss"].is_null() && summary["trivial_bound"].is_null(), "{summary}");
    }
}

/// The norm of comparators of huge rows has its digits.
#[test]
fn a_small_norm_is_not_shown_as_zero() {
    let folder = Folder::new();
    let rows: String = (0..20).map(|row| format!("{},{}\n", row % 7, row % 2)).collect();
    folder.write("s.csv", format!("x,label\n{rows}"));
    let summary = folder.summary("s.csv --label label --learner folklore --set norm=0.00003 --certify");
    let comparator = summary["comparator"].as_str().unwrap_or_default();
    assert!(comparator.contains("<= 3.0000e-5"), "{comparator}");
}

/// Weights void the closed form and leave the certificate.
#[test]
fn weights_leave_the_certificate() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|row| format!("{},{},{}\n", row % 7, row % 2, 1 + row % 3)).collect();
    folder.write("w.csv", format!("x,label,weight\n{rows}"));
    let summary = folder.summary("w.csv --label label --weight weight --certify --learner folklore");
    assert_eq!(summary["no_bound_because"], "rounds had importance weights");
    assert!(number(&summary, "regret") <= number(&summary, "certificate"), "{summary}");
}

/// Rows that weigh 40 times as much as others do not make a learner too sure of itself.
#[test]
fn large_weights_ruin_nothing() {
    let folder = Folder::new();
    let loss = |learner: &str, weight: &dyn Fn(usize) -> usize| {
        let row = |t: usize| {
            let x = t * 31 % 17;
            let label = usize::from(x + t * 7919 % 13 > 14);
            format!("{x},{},{label},{}\n", t % 5, weight(t))
        };
        let rows: String = (0..400).map(row).collect();
        folder.write("w.csv", format!("x,z,label,weight\n{rows}"));
        number(
            &folder.summary(&format!("w.csv --label label --weight weight --learner {learner}")),
            "log_loss",
        )
    };
    for learner in ["folklore", "ogd"] {
        let (plain, heavy) = (loss(learner, &|_| 1), loss(learner, &|t| [1, 40][t * 13 % 7 % 2]));
        assert!(heavy < 1.7 * plain, "{learner}: {heavy} and {plain}");
    }
}

#[test]
fn bounds_stand_beside_trivial_ones() {
    let folder = folder(3);
    let summary = folder.summary("a.svm --certify --learner folklore");
    assert!((number(&summary, "trivial_bound") - 600.0 * 3f64.ln()).abs() < 1e-9);
    let summary = folder.summary("a.svm --certify --learner perceptron");
    assert_eq!(number(&summary, "trivial_bound"), 600.0);
    let summary = folder.summary("a.svm --certify --learner squarecb");
    assert_eq!(number(&summary, "trivial_bound"), 600.0, "its bound is about mistakes");
    for (learner, bites) in [("folklore --set norm=3", true), ("ons --set norm=3", false)] {
        let shown = folder.run(&format!("run a.svm --certify --learner {learner}")).succeeded().stdout;
        assert_eq!(shown.contains("hence vacuous here"), !bites, "{shown}");
    }
    let shown = folder.run("run a.svm --certify --learner folklore-intervals").succeeded().stdout;
    assert!(shown.contains(" that is best in it, vacuous here)"), "{shown}");
}

#[test]
fn a_bound_that_is_infinite_is_none() {
    let summary = folder(3).summary("a.svm --certify --learner banditron --set exploration=1e-300");
    let why = "it is beyond the largest number of double precision";
    assert!(summary["no_bound_because"] == why && summary.get("bound").is_none(), "{summary}");
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

/// The best constant forecast of 0 and 1 with weights 1 and 3 is 3/4, with the loss 9/16 + 3/16. The regret
/// of weighted rounds is within the certificate.
#[test]
fn the_best_forecast_in_hindsight_has_the_weights_of_the_rounds() {
    let folder = Folder::with("a.csv", "x,w,y\n1,1,0\n1,3,1\n");
    folder.write("sparse.vw", "0 1 | x:1\n1 3 | x:1\n");
    let rows: String = (0..60)
        .map(|row| format!("{},{},{}\n", row % 7, if row % 9 == 0 { 1000 } else { 1 }, (row * row) % 11))
        .collect();
    folder.write("b.csv", format!("x,w,y\n{rows}"));
    let run = |data: &str| {
        let vaw = "--learner vaw --scale none --no-intercept --set radius=9 --certify";
        folder.summary(&format!("{data} {vaw}"))
    };
    for data in ["a.csv --label y --weight w", "sparse.vw"] {
        let loss = number(&run(data), "comparator_loss");
        assert!((loss - 0.75).abs() < 1e-9, "{data}: {loss}");
    }
    let summary = run("b.csv --label y --weight w");
    let (regret, certificate) = (number(&summary, "regret"), number(&summary, "certificate"));
    assert!(regret <= certificate && certificate < 2.0 * regret, "{regret} and {certificate}");
}
