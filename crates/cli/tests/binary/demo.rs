//! `noregret demo`: the first command that anybody runs.

use crate::util::Folder;

#[test]
fn two_learners_and_a_plot() {
    let folder = Folder::new();
    let ran = folder.run("demo --rows 400").succeeded();
    assert_eq!(folder.names(), ["noregret-demo.svg"]);
    let plot = folder.text("noregret-demo.svg");
    assert!(plot.starts_with("<svg") || plot.starts_with("<?xml"), "{plot:.80}");
    for learner in ["auto", "ogd"] {
        assert!(plot.contains(learner), "the plot names {learner}");
        assert!(ran.stderr.contains(&format!("\n{learner}: ")), "{}", ran.stderr);
        assert!(ran.stdout.lines().any(|line| line.starts_with(learner)), "{}", ran.stdout);
    }
    assert!(ran.stdout.contains("noregret-demo.svg"), "{}", ran.stdout);
    assert!(ran.stderr.ends_with("\n\n"), "a blank line before the table: {}", ran.stderr);
    let rates: Vec<f64> = (ran.stdout.lines().skip(1).take(2))
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(rates.iter().all(|rate| *rate < 0.7), "better than one of six at random: {rates:?}");
}

#[test]
fn the_same_seed_gives_the_same_plot() {
    let folder = Folder::new();
    let plot = |options: &str, name: &str| {
        folder.run(&format!("demo --rows 200 {options} --plot {name}")).succeeded();
        folder.read(name)
    };
    assert_eq!(plot("", "a.svg"), plot("--seed 0", "b.svg"));
    assert_ne!(plot("", "a.svg"), plot("--seed 1", "b.svg"));
    assert!(plot("", "a.png").starts_with(b"\x89PNG\r\n"));
    folder.run("demo --rows 1").succeeded();
}
