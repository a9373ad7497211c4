//! Runs the examples, with their assertions.

#![allow(unreachable_pub)]

#[path = "../examples/late_answers.rs"]
mod late_answers;
#[path = "../examples/learn_a_stream.rs"]
mod learn_a_stream;
#[path = "../examples/mixture_of_learners.rs"]
mod mixture_of_learners;
#[path = "../examples/own_algorithm.rs"]
mod own_algorithm;
#[path = "../examples/save_and_go_on.rs"]
mod save_and_go_on;

type Main = fn() -> Result<(), Box<dyn std::error::Error>>;

const EXAMPLES: &[(&str, Main)] = &[
    ("learn_a_stream.rs", learn_a_stream::main),
    ("save_and_go_on.rs", save_and_go_on::main),
    ("late_answers.rs", late_answers::main),
    ("mixture_of_learners.rs", mixture_of_learners::main),
    ("own_algorithm.rs", own_algorithm::main),
];

#[test]
fn every_example_runs() {
    for (name, main) in EXAMPLES {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn no_example_is_left_out() {
    let folder =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("part of the package");
    let mut files: Vec<_> =
        folder.map(|entry| entry.expect("listed").file_name().into_string().expect("a name")).collect();
    let mut run: Vec<_> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    files.sort();
    run.sort();
    assert_eq!(files, run);
}
