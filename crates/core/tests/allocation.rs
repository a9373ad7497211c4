//! After the first round a learner allocates no memory: everything it needs is allocated when it is made.
//! (`auto` measures the first rows before, and makes its matrices when there are rows.)
//!
//! The linear-algebra crate allocates a workspace for every thread at the first product; `warm` triggers this
//! before the measurement.

use allocation_counter::measure;
use noregret::example::Features;
use noregret::learner::Feedback;
use noregret::param::{Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry::{ALGORITHMS, Entry};
use noregret::rng::Rng;

#[allow(dead_code, reason = "shared with the other laws")]
mod support;

use support::{Case, Round, every_case, lookahead};

fn warm(case: &Case, rounds: &[Round]) {
    case.play(&mut *case.learner(), rounds);
}

#[test]
fn rounds_allocate_nothing() {
    every_case("allocation", |case| {
        let rounds = case.stream(1, 60);
        warm(case, &rounds);
        let mut learner = case.learner();
        let mut at = learner.prediction();
        let (first, rest) = rounds.split_at(case.unsettled());
        for round in first {
            case.play_one(&mut *learner, &mut at, round);
        }
        // More rounds than the delayed updates of a second-order learner, dense and sparse rows.
        let taken = measure(|| {
            for (t, round) in rest.iter().enumerate() {
                let x = if t % 2 == 0 { round.dense() } else { round.sparse() };
                learner.predict(x, &mut at);
                learner.update(x, case.target(round), &at);
            }
        });
        assert_eq!(taken.count_total, 0, "allocations in {} rounds, {} bytes", rest.len(), taken.bytes_total);
    });
}

/// Only the first rounds of weight above 1 allocate.
#[test]
fn weighted_rounds_allocate_nothing() {
    every_case("allocation", |case| {
        if !case.entry.about.accepts.weights {
            return;
        }
        let rounds = case.stream(1, 60);
        warm(case, &rounds);
        let mut learner = case.learner();
        let mut at = learner.prediction();
        let mut play = |rounds: &[Round]| {
            for (t, round) in rounds.iter().enumerate() {
                let weight = if t % 2 == 0 { 2.5 } else { 0.5 };
                learner.predict(round.dense(), &mut at);
                learner.update(round.dense(), case.target(round).weighted(weight), &at);
            }
        };
        let (first, rest) = rounds.split_at(case.unsettled() + 10);
        play(first);
        let taken = measure(|| play(rest));
        assert_eq!(taken.count_total, 0, "allocations, {} bytes", taken.bytes_total);
    });
}

#[test]
fn late_feedback_allocates_nothing() {
    every_case("allocation", |case| {
        let rounds = case.stream(1, 60);
        warm(case, &rounds);
        let mut learner = case.learner();
        let (mut at, mut kept) = (learner.prediction(), learner.prediction());
        let mut play = |rounds: &[Round]| {
            for pair in rounds.chunks_exact(2) {
                learner.predict(pair[0].dense(), &mut at);
                kept.keep(&at);
                learner.predict(pair[1].dense(), &mut at);
                learner.update(pair[1].dense(), case.target(&pair[1]), &at);
                learner.update(pair[0].dense(), case.target(&pair[0]), &kept);
            }
        };
        let first = case.unsettled().next_multiple_of(2);
        play(&rounds[..first]);
        let taken = measure(|| play(&rounds[first..]));
        assert_eq!(taken.count_total, 0, "allocations, {} bytes", taken.bytes_total);
    });
}

#[test]
fn rounds_played_together_allocate_nothing() {
    every_case("allocation", |case| {
        let (rounds, mut learner) = (case.stream(1, 60), case.learner());
        let mut at = learner.prediction();
        let Some(together) = learner.together() else { return };
        warm(case, &rounds);
        let known: Vec<_> = rounds.iter().map(|round| (round.dense(), case.target(round))).collect();
        let (first, rest) = known.split_at(case.unsettled().max(30));
        together.predict_and_update(&first, &mut at, &mut |_, _| {});
        let taken = measure(|| together.predict_and_update(&rest, &mut at, &mut |_, _| {}));
        assert_eq!(taken.count_total, 0, "allocations, {} bytes", taken.bytes_total);
    });
}

#[test]
fn looking_ahead_allocates_once() {
    every_case("allocation", |case| {
        let rounds = case.stream(1, 56);
        warm(case, &rounds);
        let rows: Vec<Features<'_>> = rounds.iter().map(|round| round.dense()).collect();
        let mut learner = case.learner();
        let block = lookahead(&mut *learner).clamp(1, 8);
        let mut at = learner.prediction();
        let mut play = |from: usize, to: usize| {
            for start in (from..to).step_by(block) {
                let end = (start + block).min(to);
                if let Some(ahead) = learner.look_ahead() {
                    ahead.prepare(&&rows[start..end]);
                }
                for round in &rounds[start..end] {
                    learner.predict(round.dense(), &mut at);
                    learner.update(round.dense(), case.target(round), &at);
                }
            }
        };
        // Until a whole block has been prepared after the unit was settled and a block was learnt, and
        // before round 64, in which auto judges its members.
        let first = case.unsettled().next_multiple_of(block) + block;
        play(0, first);
        let taken = measure(|| play(first, 56));
        assert_eq!(taken.count_total, 0, "allocations, {} bytes", taken.bytes_total);
    });
}

/// Trees grow; boosting itself, and every other weak learner, does not allocate.
#[test]
fn boosting_allocates_nothing() {
    for weak in ["best-stump", "stump", "linear-cost", "ogd"] {
        let rounds = support::stream(3, 16, 1, 200);
        let values: Values =
            [("weak".to_owned(), weak.into()), ("copies".to_owned(), Value::parse("5"))].into();
        let problem = Problem::new(3, 16).with_radius(1.0);
        let entry = noregret::registry::find("adaboost-olm").expect("registered");
        let mut learner = entry.make(&values, problem, 0).expect("valid");
        let (mut at, mut kept) = (learner.prediction(), learner.prediction());
        let mut play = |rounds: &[Round]| {
            for round in rounds {
                learner.predict(round.dense(), &mut at);
                kept.keep(&at);
                learner.update(round.sparse(), noregret::example::Target::class(round.class()), &kept);
            }
        };
        play(&rounds[..1]);
        let taken = measure(|| play(&rounds[1..]));
        assert_eq!(taken.count_total, 0, "{weak}: {} bytes", taken.bytes_total);
    }
}

#[test]
fn bandit_rounds_allocate_nothing() {
    // With bandit feedback, `auto` and `offers` allocate some hundred bytes a round, in the mixtures that are
    // their oracles.
    let tried = |entry: &&Entry| {
        matches!(entry.feedback, Feedback::Bandit | Feedback::Either)
            && !["auto", "offers"].contains(&entry.about.name)
    };
    for entry in ALGORITHMS.iter().filter(tried) {
        for late in [false, true] {
            let problem = Problem::new(3, 16).with_radius(1.0).with_horizon(1000);
            // Without trees, which store rows.
            let few = ("members".to_owned(), Value::from("labels+pairs+shared@0.1"));
            // Without a certificate, whose computation allocates a vector.
            let root = ("schedule".to_owned(), Value::from("root"));
            let members = entry.param("members").map(|_| few);
            let values: Values = members.into_iter().chain(entry.param("schedule").map(|_| root)).collect();
            let mut learner = entry.make_bandit(&values, problem, 0).expect("defaults are valid");
            let rounds = support::stream(3, 16, 1, 60);
            let mut uniforms = Rng::new(1, 0);
            let mut decisions = [Decision::default(), Decision::default()];
            let mut play = |rounds: &[Round]| {
                for pair in rounds.chunks_exact(2) {
                    for (round, taken) in pair.iter().zip(&mut decisions) {
                        learner.act(round.dense(), &mut uniforms, taken);
                        if !late {
                            learner.learn(
                                round.sparse(),
                                taken,
                                (taken.label as usize == round.class()).into(),
                            );
                        }
                    }
                    for (round, taken) in pair.iter().zip(&decisions).rev().filter(|_| late) {
                        learner.learn(round.dense(), taken, (taken.label as usize == round.class()).into());
                    }
                }
            };
            // The first rounds allocate the decisions' lists and the workspace of the linear-algebra crate.
            (0..4).for_each(|_| play(&rounds));
            let taken = measure(|| play(&rounds));
            let name = entry.about.name;
            assert_eq!(taken.count_total, 0, "{name}, late: {late}: {} bytes", taken.bytes_total);
        }
    }
}

/// A million features of which a hundred occur: memory is that of the hundred, plus the unused half of the
/// largest block and an index.
#[test]
fn memory_is_what_was_touched() {
    let (classes, seen) = (100, 100u32);
    let problem = Problem::new(classes, 1_000_000).with_radius(1.0).with_horizon(1000).with_sparse(true);
    let rows: Vec<[u32; 5]> = (0..seen / 5).map(|t| [0, 1, 2, 3, 4].map(|i| 9973 * (5 * t + i))).collect();
    let x = |indices| Features::Sparse { indices, values: &[0.4; 5] };
    let check = |name: &str, width: usize, bytes: u64| {
        let touched = 8 * (width * classes * seen as usize) as u64;
        assert!(bytes >= touched && bytes < 3 * touched, "{name}: {bytes} bytes where {touched} are touched");
    };
    for (name, width) in
        [("folklore-diag", 2), ("ons-diag", 2), ("ogd", 1), ("perceptron", 1), ("gaptron-logistic", 1)]
    {
        let entry = noregret::registry::find(name).expect("registered");
        let taken = measure(|| {
            let mut learner = entry.make(&Values::new(), problem.clone(), 0).expect("valid");
            let mut at = learner.prediction();
            for (t, indices) in rows.iter().enumerate() {
                learner.predict(x(indices), &mut at);
                learner.update(x(indices), noregret::example::Target::class(t % 7 + 1), &at);
            }
        });
        check(name, width, taken.bytes_max);
    }
    for (name, width) in [("soba-diag", 3), ("soba-sketch", 21), ("banditron", 1), ("gaptron-logistic", 1)] {
        let entry = noregret::registry::find(name).expect("registered");
        let taken = measure(|| {
            let mut learner = entry.make_bandit(&Values::new(), problem.clone(), 0).expect("valid");
            let (mut uniforms, mut decision) = (Rng::new(1, 0), Decision::default());
            for indices in &rows {
                learner.act(x(indices), &mut uniforms, &mut decision);
                learner.learn(x(indices), &decision, true.into());
            }
        });
        check(name, width, taken.bytes_max);
    }
}

/// A service may have thousands of models of a few decisions each: of 65 columns, four of which occur, the
/// default takes what three rows need.
#[test]
fn a_model_of_few_rows_is_small() {
    let entry = noregret::registry::find("auto").expect("registered");
    let x = Features::Sparse { indices: &[0, 1, 2, 3], values: &[1.0, 0.5, -0.25, 1.0] };
    let problem = Problem::new(3, 65).with_radius(1.0);
    let mut kept = Vec::new();
    let mut learn = || {
        let mut learner = entry.make_bandit(&Values::new(), problem.clone(), 0).expect("defaults are valid");
        for _ in 0..3 {
            let (mut uniforms, mut decision) = (Rng::new(1, 0), Decision::default());
            learner.act(x, &mut uniforms, &mut decision);
            learner.learn(x, &decision, true.into());
        }
        kept.push(learner);
    };
    // With the workspace of the linear-algebra crate.
    learn();
    let taken = measure(learn);
    assert!(taken.bytes_current < 1 << 20, "{} bytes", taken.bytes_current);
}

#[test]
fn the_counter_counts() {
    let taken = measure(|| drop(std::hint::black_box(vec![1.0; 100])));
    assert_eq!((taken.count_total, taken.bytes_total), (1, 800));
}
