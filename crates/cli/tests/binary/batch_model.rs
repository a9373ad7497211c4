//! `noregret run --batch-model`: a predictor for rows to come.

use crate::util::{Folder, libsvm, rows};

fn folder() -> Folder {
    let folder = Folder::with("a.svm", libsvm(&rows(400, 3, 4)));
    folder.write("new.svm", libsvm(&rows(600, 3, 4)[400..]));
    folder
}

fn error_rate(folder: &Folder, model: &str) -> f64 {
    let told = folder.run(&format!("predict {model} new.svm --probabilities")).succeeded();
    assert_eq!(told.objects().len(), 200);
    for row in told.objects() {
        let p = row["probabilities"].as_object().unwrap().values().map(|p| p.as_f64().unwrap());
        assert!((p.sum::<f64>() - 1.0).abs() < 1e-9);
    }
    told.error_rate()
}

#[test]
fn an_average_predicts_and_learns_no_more() {
    let folder = folder();
    let plain = folder.run("run a.svm --quiet --save plain --scale unit").succeeded().stdout;
    let ran = folder
        .run("run a.svm --quiet --save last --batch-model batch --snapshots 5 --scale unit")
        .succeeded();
    let score = |text: &str| text.lines().filter(|line| !line.starts_with("seconds")).collect::<String>();
    assert_eq!(score(&ran.stdout), score(&plain), "drawing changes nothing");
    assert_eq!(folder.read("last"), folder.read("plain"));
    assert!(error_rate(&folder, "batch") < 0.4);
    let told = folder.run("inspect batch").succeeded().stdout;
    assert!(told.contains("\nsnapshots    5, before rounds "), "{told}");
    let json = folder.run("inspect batch --json").succeeded().objects().remove(0);
    assert_eq!(json["snapshots"].as_array().unwrap().len(), 5);
    let sentence = "batch: the model file holds an average of snapshots, which can predict but not learn";
    folder.run("run a.svm --quiet --load batch").failed(2, sentence);
    // The same seed draws the same.
    folder.run("run a.svm --quiet --batch-model again --snapshots 5 --scale unit").succeeded();
    folder.run("run a.svm --quiet --batch-model other --snapshots 5 --scale unit --seed 1").succeeded();
    assert_eq!(folder.read("batch"), folder.read("again"));
    assert_ne!(folder.read("batch"), folder.read("other"));
}

/// The guarantee for rows to come is that of a theorem about linear predictors, which not every learner has.
#[test]
fn what_is_promised_depends_on_the_learner() {
    let folder = folder();
    for (learner, said) in [("auto", true), ("label-tree", true), ("folklore", false), ("ons", false)] {
        let run = format!("run a.svm --quiet --limit 50 --batch-model b --scale unit --learner {learner}");
        let stderr = folder.run(&run).succeeded().stderr;
        let note = format!("noregret: --batch-model: {learner} has no theorem about linear predictors, ");
        assert_eq!(stderr.contains(&note), said, "{learner}: {stderr}");
    }
}

/// The file of one snapshot is the run up to it: learner, scaling and all.
#[test]
fn a_snapshot_has_the_scaling_of_its_time() {
    let folder = folder();
    let rest = "--learner folklore --scale standard --seed";
    for seed in 0..3 {
        let ran = folder.run(&format!("run a.svm --batch-model one {rest} {seed}")).succeeded();
        let warning = "noregret: --batch-model: with --scale standard the scaling of a row depends on earlier rows, so that the guarantee for future rows does not hold; it holds with --scale none or unit\n";
        assert!(ran.stderr.contains(warning), "{}", ran.stderr);
        let quiet = folder.run(&format!("run a.svm --quiet --batch-model quiet {rest} {seed}")).succeeded();
        assert_eq!(quiet.stderr, warning);
        let rounds =
            folder.run("inspect one --json").succeeded().objects().remove(0)["rounds"].as_u64().unwrap();
        let archive = |name: &str| noregret::model::Archive::from_bytes(&folder.read(name)).unwrap();
        let drawn = archive("one");
        let rows = drawn.tensor("scaling/rows").unwrap().clone();
        // The row before which the state was taken has been scaled already.
        folder
            .run(&format!("run a.svm --quiet --limit {} --save there {rest} {seed}", rounds + 1))
            .succeeded();
        let there = archive("there");
        assert_eq!(rows, *there.tensor("scaling/rows").unwrap());
        for name in ["scaling/first", "scaling/second"] {
            assert_eq!(drawn.tensor(name).unwrap(), there.tensor(name).unwrap(), "{name}");
        }
    }
    folder.run(&format!("run a.svm --quiet --batch-model more --snapshots 2 {rest} 1")).failed(
        1,
        "--snapshots 2: must be 1 with --scale standard, because states of different times would scale a row differently; or use --scale none or unit",
    );
}

#[test]
fn a_single_snapshot_is_an_ordinary_model() {
    let folder = folder();
    folder.run("run a.svm --quiet --learner perceptron --batch-model one").succeeded();
    let json = folder.run("inspect one --json").succeeded().objects().remove(0);
    assert!(json["rounds"].as_u64().unwrap() < 400, "{json}");
    folder.run("predict one new.svm").succeeded();
    folder.run("run a.svm --quiet --load one --save more").succeeded();
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_learnt() {
    let folder = folder();
    folder.run("run a.svm --quiet --learner perceptron --batch-model out --snapshots 2").failed(
        1,
        "--snapshots 2: must be 1, since perceptron plays its best label, and the guarantee does not cover votes",
    );
    let ran = folder.run("run a.svm --quiet --batch-model out --snapshots 1000000000");
    assert!(ran.code == 1 && ran.stderr.contains("each of its snapshots as much"), "{}", ran.stderr);
    folder.run("run a.svm --quiet --save plain").succeeded();
    assert_eq!(folder.run("run a.svm --load plain --batch-model out").code, 1);
    assert_eq!(folder.run("run a.svm --batch-model no/out").code, 2);
    assert!(!folder.path("out").exists());
}
