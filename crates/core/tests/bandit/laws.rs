//! Properties of every bandit learner.

use noregret::algorithm::BanditModel;
use noregret::model::Archive;
use noregret::param::{Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry::find;
use noregret::rng::Rng;

use crate::support::{Case, Round, assert_same, entries, every_case};

#[test]
fn predicting_changes_nothing() {
    every_case("pure", |case| {
        let rounds = case.stream(1, 40);
        let plain = case.play(&mut *case.learner(), &rounds);
        let mut learner = case.learner();
        let (mut other, mut decisions) = (Decision::default(), Vec::new());
        for (t, round) in rounds.iter().enumerate() {
            learner.act(rounds[(7 * t) % 40].sparse(), &mut Rng::new(1, 1), &mut other);
            decisions.extend(case.play(&mut *learner, std::slice::from_ref(round)));
        }
        assert_same(&decisions, &plain);
    });
}

/// A decision is data: after conversion to JSON and back it is learnt identically, bit for bit.
#[test]
fn logged_decisions_teach_as_much() {
    every_case("log", |case| {
        let rounds = case.stream(1, 60);
        let plain = case.play(&mut *case.learner(), &rounds);
        let mut learner = case.learner();
        for (round, plain) in rounds.iter().zip(&plain) {
            let mut taken = Decision::default();
            learner.act(round.dense(), &mut Rng::new(3, learner.rounds()), &mut taken);
            let log = serde_json::to_string(&taken).expect("plain data");
            let logged: Decision = serde_json::from_str(&log).expect("just written");
            assert_eq!(log, serde_json::to_string(plain).expect("plain data"), "round {}", taken.round);
            learner.learn(round.dense(), &logged, (logged.label as usize == round.y).into());
        }
    });
}

#[test]
fn dense_rows_and_sparse_rows_are_the_same() {
    every_case("dense and sparse", |case| {
        let rounds = case.stream(1, 60);
        let dense = case.play(&mut *case.learner(), &rounds);
        let sparse = case.play_as(&mut *case.learner(), &rounds, Round::sparse);
        for (dense, sparse) in dense.iter().zip(&sparse) {
            let numbers = |taken: &Decision| [&taken.scores[..], &taken.distribution].concat();
            for (a, b) in numbers(dense).iter().zip(numbers(sparse)) {
                assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "round {}: {a} and {b}", dense.round);
            }
        }
    });
}

fn reloaded(model: &mut dyn BanditModel) -> Box<dyn BanditModel> {
    let bytes = Archive::of_bandit(model).to_bytes();
    Archive::from_bytes(&bytes).and_then(|archive| archive.bandit_model()).expect("just written")
}

#[test]
fn exploration_outside_its_range_is_refused() {
    for entry in entries().filter(|entry| entry.param("exploration").is_some()) {
        for rate in ["-0.1", "1.1", "nan", "inf", "often"] {
            let values = Values::from([("exploration".to_owned(), Value::from(rate))]);
            let made = entry.make_bandit(&values, Problem::new(3, 4).with_horizon(1000), 0);
            let error = made.map(|_| ()).expect_err(entry.about.name).to_string();
            assert!(error.starts_with("exploration = ") && error.contains("must be "), "{error}");
        }
    }
}

#[test]
fn learners_of_the_other_feedback_are_refused() {
    let problem = || Problem::new(3, 4).with_radius(1.0).with_horizon(1000);
    let full = |name| find(name).expect("exists").make(&Values::new(), problem(), 0).map(|_| ());
    let bandit = |name| find(name).expect("exists").make_bandit(&Values::new(), problem(), 0).map(|_| ());
    assert_eq!(
        full("banditron").expect_err("bandit").to_string(),
        "learner = banditron: must be one that learns from the label, not from bandit feedback"
    );
    assert_eq!(
        bandit("ogd").expect_err("full").to_string(),
        "learner = ogd: must be one that learns from bandit feedback, such as auto or confidit"
    );
}

/// Rows of zeros, the same row repeated, huge rows, constant labels: all numbers remain finite.
#[test]
fn degenerate_streams_are_survived() {
    every_case("degenerate", |case| {
        let (k, d) = (case.problem.classes, case.problem.features);
        let zeros = |t: usize| Round::new(vec![0.0; d], t % k);
        let same = |t: usize| Round::new(vec![0.5; d], (t / 3) % k);
        let huge = |t: usize| Round::new(vec![if t.is_multiple_of(2) { 1e6 } else { 1e-6 }; d], t % k);
        let one = |_: usize| Round::new(vec![0.25; d], k - 1);
        for stream in [&zeros as &dyn Fn(usize) -> Round, &same, &huge, &one] {
            let rounds: Vec<Round> = (0..200).map(stream).collect();
            case.play(&mut *case.learner(), &rounds);
        }
    });
}

/// After rows of zeros only, the scores of another row are equal.
#[test]
fn rows_of_zeros_leave_all_scores_equal() {
    every_case("zero rows", |case| {
        let mut learner = case.learner();
        let d = case.problem.features;
        let zeros = Round::new(vec![0.0; d], 1);
        for taken in case.play(&mut *learner, &vec![zeros; 20]) {
            assert!(taken.scores.iter().all(|score| *score == taken.scores[0]), "{:?}", taken.scores);
        }
    });
}

/// Each class has its own feature, and is learnt: most of the greedy labels in the last rounds are right.
#[test]
fn separate_classes_are_distinguished() {
    every_case("learning", |case| {
        let (k, d) = (case.problem.classes, case.problem.features);
        if d < k {
            return;
        }
        let rounds: Vec<Round> = (0..6000)
            .map(|t| {
                let y = (t * 7 + t / 5) % k;
                Round::new((0..d).map(|i| f64::from(i == y)).collect(), y)
            })
            .collect();
        let decisions = case.play(&mut *case.learner(), &rounds);
        let late = decisions.iter().zip(&rounds).skip(5000);
        let right = late.filter(|(taken, round)| taken.greedy as usize == round.y).count();
        assert!(right > 900, "{right} of 1000 best guesses are right");
    });
}

/// The learners that can grow; no others can.
const GROWING: &[&str] = &[
    "banditron",
    "soba",
    "soba-diag",
    "soba-sketch",
    "auto",
    "bandit-reduction",
    "squarecb",
    "fastcb",
    "relative-gaps",
    "gaptron-logistic",
    "gaptron-hinge",
    "gaptron-smooth",
];

/// New features are treated as if they had existed with the value 0; shrinking is rejected; a new class is
/// played and learnt.
#[test]
fn growth_is_as_if_it_had_been_there() {
    every_case("growth", |case| {
        let (name, k, d) = (case.entry.about.name, case.problem.classes, case.problem.features);
        let wide = |learner: &dyn BanditModel, classes, features| Case {
            entry: case.entry,
            values: learner.values(),
            problem: Problem { classes, features, ..learner.problem().clone() },
        };
        let mut grown = case.learner();
        let wider = wide(&*grown, k, d + 2);
        let pad = |round: &Round| Round::new(round.x.iter().copied().chain([0.0; 2]).collect(), round.y);
        let (before, after) = (case.stream(1, 30), wider.stream(2, 40));
        let mut decisions = case.play(&mut *grown, &before);
        assert!(!grown.grow(k - 1, d) && !grown.grow(k, d - 1), "shrinking is refused");
        // With one model for all labels, the number of features is the distance of the labels' columns.
        let grows = GROWING.contains(&name) && case.values.get("models") != Some(&Value::from("joint"));
        let asked = case.entry.grows(&grown.values(), grown.problem().clone(), k, d + 2);
        assert_eq!((asked, grown.grow(k, d + 2)), (Ok(grows), grows));
        if !grows {
            assert_eq!(grown.problem().features, d, "what cannot grow stays as it was");
            return;
        }
        decisions.extend(wider.play(&mut *reloaded(&mut *grown), &after));
        let mut all_along = wider.learner();
        let padded: Vec<Round> = before.iter().map(pad).collect();
        let mut expected = wider.play(&mut *all_along, &padded);
        expected.extend(wider.play(&mut *all_along, &after));
        for (t, (got, want)) in decisions.iter().zip(&expected).enumerate() {
            for (got, want) in got.scores.iter().zip(&want.scores) {
                assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "round {t}: {got} {want}");
            }
        }

        let mut grown = case.learner();
        case.play(&mut *grown, &before);
        assert!(grown.grow(k + 1, d));
        let more = wide(&*grown, k + 1, d);
        let new: Vec<Round> = (0..300).map(|_| Round::new(vec![0.5 / (d as f64).sqrt(); d], k)).collect();
        let decisions = more.play(&mut *grown, &new);
        // A learner that has not learnt the new class plays it less often than others, or, with full
        // exploration, equally often.
        let played = decisions[200..].iter().map(|taken| taken.distribution[k]).sum::<f64>() / 100.0;
        assert!(played >= 1.0 / (k + 1) as f64 - 1e-9, "nothing else came for 300 rounds: {played}");
    });
}
