//! A round of every learner of the registry: `cargo bench -p noregret-benches --bench learners`.

use divan::{Bencher, counter::ItemsCount};
use noregret::algorithm::BanditModel;
use noregret::example::{Features, Target};
use noregret::learner::{Classes, Feedback};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry::{ALGORITHMS, find};
use noregret::rng::Rng;
use noregret_benches::{labels, rows};

fn main() {
    divan::main();
}

const ROUNDS: usize = 256;

fn full_information() -> impl Iterator<Item = &'static str> {
    ALGORITHMS
        .iter()
        .filter(|entry| matches!(entry.feedback, Feedback::Full | Feedback::Either))
        .map(|entry| entry.about.name)
}

/// Predict and update on dense rows, 7 classes and 54 features where the learner takes them.
#[divan::bench(args = full_information(), sample_count = 10)]
fn round(bencher: Bencher<'_, '_>, name: &str) {
    let entry = find(name).expect("from the registry");
    let classes = match entry.about.accepts.classes {
        Classes::Any => 7,
        Classes::Two => 2,
        Classes::Real => 1,
    };
    // Quadrature is for one or two features.
    let make = |features: usize| {
        entry.make(&Default::default(), Problem::new(classes, features).with_radius(2.0), 0)
    };
    let features = if make(54).is_ok() { 54 } else { 2 };
    let x = rows(ROUNDS, features);
    let y = labels(ROUNDS, classes);
    bencher
        .counter(ItemsCount::new(ROUNDS))
        .with_inputs(|| {
            let learner = make(features).expect("a shape it takes");
            let prediction = learner.prediction();
            (learner, prediction)
        })
        .bench_local_values(|(mut learner, mut prediction)| {
            for (x, y) in x.chunks_exact(features).zip(&y) {
                let x = Features::Dense(x);
                learner.predict(x, &mut prediction);
                let target = if classes == 1 { Target::value(*y as f64) } else { Target::class(*y) };
                learner.update(x, target, &prediction);
            }
        });
}

/// Decide, play and learn whether it was right, on dense rows of covtype's shape: 7 labels and 54 features.
/// The first rounds, in which `auto` still tries members beyond its budget, are not measured.
#[divan::bench(args = ["squarecb", "fastcb", "confidit", "soba", "auto"], sample_count = 10)]
fn decision(bencher: Bencher<'_, '_>, name: &str) {
    const LABELS: usize = 7;
    const FEATURES: usize = 54;
    const FIRST: usize = 8192;
    let entry = find(name).expect("from the registry");
    let problem = Problem::new(LABELS, FEATURES).with_radius(2.0).with_horizon(581_012);
    let (x, y) = (rows(FIRST + ROUNDS, FEATURES), labels(FIRST + ROUNDS, LABELS));
    let play =
        |learner: &mut dyn BanditModel, decision: &mut Decision, rng: &mut Rng, from: usize, to: usize| {
            for (x, y) in x.chunks_exact(FEATURES).zip(&y).take(to).skip(from) {
                let x = Features::Dense(x);
                learner.act(x, rng, decision);
                learner.learn(x, decision, (decision.label as usize == *y).into());
            }
        };
    let mut learner = entry.make_bandit(&Default::default(), problem, 0).expect("a shape it takes");
    play(learner.as_mut(), &mut Decision::default(), &mut Rng::new(1, 1), 0, FIRST);
    bencher
        .counter(ItemsCount::new(ROUNDS))
        .with_inputs(|| (learner.boxed_clone(), Decision::default(), Rng::new(1, 2)))
        .bench_local_values(|(mut learner, mut decision, mut rng)| {
            play(learner.as_mut(), &mut decision, &mut rng, FIRST, FIRST + ROUNDS);
        });
}
