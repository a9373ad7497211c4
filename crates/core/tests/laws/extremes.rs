//! Streams with extreme values.

use noregret::algorithm::Forecast;
use noregret::example::Features;
use noregret::model::Archive;

use crate::support::{Case, Round, assert_near, every_case, every_learner};

#[test]
fn a_row_of_zeros_teaches_nothing() {
    every_case("zero rows", |case| {
        let probes = case.stream(1, 10);
        let zero = Round::new(vec![0.0; case.problem.features], 0, 0.5);
        let untouched = case.play(&mut *case.learner(), &probes[..1]);
        let mut learner = case.learner();
        let mut at = learner.prediction();
        for t in 0..10 {
            let x = if t % 2 == 0 { zero.dense() } else { Features::Sparse { indices: &[], values: &[] } };
            learner.predict(x, &mut at);
            case.checked(&at);
            learner.update(x, case.target(&zero), &at);
        }
        assert_near(&case.play(&mut *learner, &probes[..1]), &untouched, 1e-9);
    });
}

#[test]
fn a_row_of_zeros_does_no_harm_in_mid_stream() {
    every_case("zero rows", |case| {
        let mut rounds = case.stream(1, 40);
        let zero = Round::new(vec![0.0; case.problem.features], 0, 0.5);
        (0..5).for_each(|t| rounds.insert(7 * t, zero.clone()));
        case.play(&mut *case.learner(), &rounds);
    });
}

/// `rounds` with every fourth row multiplied by `factor`.
fn scaled(rounds: &[Round], factor: f64) -> Vec<Round> {
    let scale = |(t, round): (usize, &Round)| {
        let factor = if t % 4 == 1 { factor } else { 1.0 };
        Round::new(round.x.iter().map(|x| factor * x).collect(), round.class(), 0.5)
    };
    rounds.iter().enumerate().map(scale).collect()
}

fn survives(case: &Case, factor: f64) {
    let mut learner = case.learner();
    case.play(&mut *learner, &scaled(&case.stream(1, 60), factor));
    let loaded = Archive::from_bytes(&Archive::of(&mut *learner).to_bytes()).and_then(|file| file.model());
    assert!(loaded.is_ok(), "the state is not finite: {:?}", loaded.err().map(|error| error.to_string()));
}

#[test]
fn huge_rows_are_survived() {
    every_case("huge rows", |case| {
        survives(case, 1e3);
        survives(case, 1e100);
    });
}

#[test]
fn tiny_rows_are_survived() {
    every_case("tiny rows", |case| {
        survives(case, 1e-8);
        survives(case, 1e-200);
    });
}

/// Dense and sparse rows, with and without look-ahead, add the same numbers in another order: after many
/// rounds the difference must still be at the level of rounding. Rounding errors accumulate at most linearly
/// in the rounds: therefore a tenth of the tolerance after a tenth of the rounds is an equivalent test.
fn drift(case: &Case, rounds: usize, tolerance: f64) {
    let rows = case.stream(1, 128);
    let (mut plain, mut other) = (case.learner(), case.learner());
    let (mut plain_at, mut other_at) = (plain.prediction(), other.prediction());
    for t in 0..rounds {
        let row = &rows[t % rows.len()];
        if t % 8 == 0 {
            let announced: Vec<_> = rows[t % rows.len()..].iter().take(8).map(Round::sparse).collect();
            if let Some(ahead) = other.look_ahead() {
                ahead.prepare(&announced.as_slice());
            }
        }
        case.play_one(&mut *plain, &mut plain_at, row);
        other.predict(row.sparse(), &mut other_at);
        other.update(row.sparse(), case.target(row), &other_at);
    }
    assert_near(&[case.checked(&other_at)], &[case.checked(&plain_at)], tolerance);
}

#[test]
fn rounding_does_not_pile_up() {
    every_learner("drift", |case| drift(case, case.long_run(10_000), 1e-8));
}

#[test]
#[ignore = "slow: 10 000 rounds of every case"]
fn rounding_does_not_pile_up_in_any_case() {
    every_case("drift", |case| drift(case, (case.long_run(100_000) / 10).max(300), 1e-9));
}

/// Learners that hardly move in such runs: the theorem's steps of online Newton are tiny, and `gaf` has 300
/// rounds.
const SLOW: &[&str] = &["gaf", "ons", "ons-diag", "ons-sketch"];

/// Plays the same label for `rounds` rounds, and checks every forecast; in the end the label has more than
/// the probability `least`. It is the last label, since learners without data prefer the first.
fn constant_label(case: &Case, rounds: usize, least: f64) {
    let rounds = case.long_run(rounds);
    let label = case.problem.classes - 1;
    let rows: Vec<_> = case.stream(1, 100).iter().map(|row| row.with_intercept().relabelled(label)).collect();
    let mut learner = case.learner();
    let mut at = learner.prediction();
    for t in 0..rounds {
        case.play_one(&mut *learner, &mut at, &rows[t % rows.len()]);
    }
    assert_eq!(learner.rounds(), rounds as u64);
    if case.entry.about.forecast != Forecast::Value {
        let p = at.probabilities[label];
        let moved = 1.0 / case.problem.classes as f64 + 1e-13;
        assert!(p > least.max(moved), "p = {p} after {rounds} rounds of nothing else");
    }
}

#[test]
fn one_label_for_10_000_rounds_is_survived() {
    every_learner("constant labels", |case| {
        let least = if SLOW.contains(&case.entry.about.name) { 0.0 } else { 0.9 };
        constant_label(case, 10_000, least);
    });
}

#[test]
#[ignore = "slow: 50 000 rounds of every case"]
fn one_label_for_50_000_rounds_is_survived() {
    every_case("constant labels", |case| constant_label(case, 50_000, 0.0));
}
