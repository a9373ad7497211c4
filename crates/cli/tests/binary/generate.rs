//! `noregret generate`: synthetic streams in any format.

use crate::util::Folder;

/// The streams that the command lists by itself.
fn streams(folder: &Folder) -> Vec<String> {
    let list = folder.run("generate").succeeded().stdout;
    assert!(!list.contains(['$', '\\', '`']), "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let names = list.lines().filter(|line| !line.starts_with(' '));
    let names = names.map(|line| line.split(' ').next().unwrap().to_owned());
    // A table of text is CSV alone, and costs of all labels are VW's alone.
    names.filter(|name| name != "tickets" && name != "clicks").collect()
}

#[test]
fn every_stream_can_be_learnt_in_every_format() {
    let folder = Folder::new();
    let streams = streams(&folder);
    assert!(streams.iter().any(|name| name == "softmax"), "{streams:?}");
    for name in streams {
        let mut losses = vec![];
        for file in ["a.svm", "a.csv", "a.vw", "a.jsonl", "a.svm.gz", "a.csv.zst"] {
            let ran = folder.run(&format!("generate {name} --rows 60 --output {file}")).succeeded();
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
            let summary = folder.summary(&format!("{file} --learner ogd --scale none"));
            assert_eq!(summary["rounds"], 60, "{name} {file}");
            losses.push((summary["log_loss"].as_f64().unwrap(), file));
        }
        // Columns may come in another order, and sums with them.
        let same = losses.iter().all(|(loss, _)| (loss - losses[0].0).abs() < 1e-9);
        assert!(same, "{name}: {losses:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let folder = Folder::new();
    let rows = |options: &str| folder.run(&format!("generate softmax {options}")).succeeded().stdout;
    assert_eq!(rows("--rows 20 --seed 3"), rows("--rows 20 --seed 3"));
    assert_ne!(rows("--rows 20 --seed 3"), rows("--rows 20 --seed 4"));
    assert!(rows("--rows 30").starts_with(&rows("--rows 20")));
    assert_eq!(rows("").lines().count(), 10_000);
    assert!(rows("--rows 20 --format csv --set classes=3").lines().count() == 21);
}

/// Costs of 0 and 1 with equal columns to the click rates, which tell what a choice earns.
#[test]
fn clicks_are_played_with_bandit_feedback() {
    let folder = Folder::new();
    for costs in ["clicks", "rates"] {
        folder
            .run(&format!("generate clicks --rows 300 --set costs={costs} --output {costs}.vw"))
            .succeeded();
    }
    let columns = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        text.lines().map(|line| line.split_once('|').unwrap().1.to_owned()).collect()
    };
    assert_eq!(columns("clicks.vw"), columns("rates.vw"));
    let played = folder.summary("clicks.vw --feedback bandit --learner squarecb");
    assert_eq!((&played["rounds"], &played["classes"]), (&300.into(), &20.into()));
    assert!(played["error_rate"].as_f64().unwrap() > 0.9, "clicks are rare");
}

#[test]
fn what_cannot_be() {
    let folder = Folder::new();
    for (arguments, part) in [
        ("softmx", "did you mean 'softmax'?"),
        ("softmax --set clases=3", "did you mean 'classes'?"),
        ("softmax --set classes=1", "classes = 1: must be"),
        ("softmax --set noise=2", "noise = 2: must be"),
        ("softmax --rows 0", "--rows"),
        ("softmax --format xlsx", "xlsx"),
        ("clicks --format csv", "have costs of all labels; vw was needed"),
        ("softmax --format arff", "arff: the format is read, and not written"),
    ] {
        let ran = folder.run(&format!("generate {arguments} --output a.svm"));
        assert_eq!(ran.code, 1, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{arguments}: {}", ran.stderr);
    }
    assert!(folder.names().is_empty());
    let ran = folder.run("generate softmax --output no/such.svm");
    assert!(ran.code == 2 && ran.stderr.starts_with("noregret: no/such.svm: "), "{}", ran.stderr);
}

#[test]
fn the_seed_is_a_parameter_like_any_other() {
    let folder = Folder::new();
    let rows =
        |arguments: &str| folder.run(&format!("generate softmax --rows 50 {arguments}")).succeeded().stdout;
    assert_eq!(rows("--set seed=3"), rows("--seed 3"));
    assert_ne!(rows("--set seed=3"), rows("--seed 4"));
    folder.write("a.svm", rows(""));
    let errors = |arguments: &str| folder.summary(&format!("a.svm --learner gaptron-hinge {arguments}"));
    let (set, flag) = (errors("--set seed=5"), errors("--seed 5"));
    assert_eq!((&set["errors"], &set["seed"]), (&flag["errors"], &flag["seed"]));
    assert_eq!(set["seed"], 5);
}
