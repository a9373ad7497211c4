//! Forecasts: seeds, purity, and the symmetries of the input.

use noregret::algorithm::Forecast;
use noregret::example::{Features, Target};
use noregret::model::Archive;

use crate::support::{Case, Round, SEED, assert_near, assert_same_bits, every_case};

#[test]
fn only_learners_that_draw_depend_on_the_seed() {
    every_case("seeds", |case| {
        if case.entry.draws(&case.values) == Ok(false) {
            let rounds = case.stream(1, 60);
            let play = |seed| {
                let made = case.entry.make(&case.values, case.problem.clone(), seed);
                case.play(&mut *made.expect("cases are chosen to be accepted"), &rounds)
            };
            assert_same_bits(&play(SEED), &play(SEED + 1));
        }
    });
}

#[test]
fn learning_changes_forecasts() {
    // A learner that never learns satisfies the other laws.
    every_case("learning changes forecasts", |case| {
        let rounds = case.stream(1, 60);
        let mut learner = case.learner();
        let first = case.play(&mut *learner, &rounds);
        assert_eq!(learner.rounds(), 60);
        assert_ne!(first, case.play(&mut *learner, &rounds));
    });
}

#[test]
fn predict_is_pure() {
    every_case("predict is pure", |case| {
        let rounds = case.stream(1, 40);
        let others = case.stream(2, 3);
        let (mut watched, mut plain) = (case.learner(), case.learner());
        let (mut at, mut other) = (watched.prediction(), watched.prediction());
        let watched: Vec<_> = rounds
            .iter()
            .map(|round| {
                watched.predict(round.dense(), &mut at);
                for distraction in &others {
                    watched.predict(distraction.dense(), &mut other);
                    watched.predict(round.sparse(), &mut other);
                }
                watched.predict(round.dense(), &mut other);
                assert_same_bits(&[case.checked(&other)], &[case.checked(&at)]);
                watched.update(round.dense(), case.target(round), &at);
                case.checked(&at)
            })
            .collect();
        assert_same_bits(&watched, &case.play(&mut *plain, &rounds));
    });
}

/// Also after announced rows, and in the middle of a block.
#[test]
fn rows_together_are_predicted_as_one_by_one() {
    every_case("batch = row by row", |case| {
        let (learnt, asked) = (case.stream(1, 70), case.stream(2, 9));
        for announced in [false, true] {
            let mut learner = case.learner();
            if announced {
                let rows: Vec<Features<'_>> = learnt.iter().map(Round::dense).collect();
                if let Some(ahead) = learner.look_ahead() {
                    ahead.prepare(&&rows[..]);
                }
            }
            case.play(&mut *learner, &learnt[..61]);
            let rows: Vec<Features<'_>> = asked.iter().map(Round::sparse).collect();
            let (mut at, mut together) = (learner.prediction(), Vec::new());
            learner.predict_batch(&&rows[..], &mut at, &mut |place, at| {
                assert_eq!(place, together.len());
                together.push(case.checked(at));
            });
            assert_eq!(together.len(), rows.len());
            for (row, together) in rows.iter().zip(&together) {
                learner.predict(*row, &mut at);
                assert_near(&[case.checked(&at)], std::slice::from_ref(together), 1e-9);
            }
        }
    });
}

/// Rounds with known targets, in parts of several lengths, give the forecasts and the state of rounds one by
/// one.
#[test]
fn rounds_together_are_played_as_one_by_one() {
    every_case("rounds together = one by one", |case| {
        let (rounds, mut learner) = (case.stream(1, 90), case.learner());
        let Some(whole) = learner.together() else { return };
        let mut plain = case.learner();
        let forecasts = case.play(&mut *plain, &rounds);
        let (mut at, mut together) = (plain.prediction(), Vec::new());
        for part in [&rounds[..40], &rounds[40..41], &rounds[41..]] {
            let known: Vec<_> = part.iter().map(|round| (round.dense(), case.target(round))).collect();
            whole.predict_and_update(&&known[..], &mut at, &mut |_, at| together.push(case.checked(at)));
        }
        assert_same_bits(&together, &forecasts);
        assert!(Archive::of(&mut *learner) == Archive::of(&mut *plain), "the state");
    });
}

#[test]
fn threads_may_predict_at_once() {
    every_case("threads may predict at once", |case| {
        let rounds = case.stream(1, 20);
        let mut learner = case.learner();
        case.play(&mut *learner, &rounds);
        let forecasts = || {
            let mut at = learner.prediction();
            let forecast = |round: &Round| {
                learner.predict(round.dense(), &mut at);
                case.checked(&at)
            };
            rounds.iter().map(forecast).collect::<Vec<_>>()
        };
        let [one, two] = std::thread::scope(|scope| {
            [scope.spawn(forecasts), scope.spawn(forecasts)].map(|thread| thread.join().expect("no panic"))
        });
        assert_same_bits(&one, &two);
        assert_same_bits(&one, &forecasts());
    });
}

#[test]
fn sparse_rows_equal_dense_ones() {
    every_case("sparse = dense", |case| {
        let rounds = case.stream(1, 60);
        let dense = case.play(&mut *case.learner(), &rounds);
        for (sparse_problem, every) in [(false, 1), (true, 1), (true, 2)] {
            let problem = case.problem.clone().with_sparse(sparse_problem);
            let case = Case { problem, ..case.clone() };
            // A mixture chooses other members for sparse problems, which take the same rows written in full.
            let dense = if case.entry.is_mixture() {
                case.play(&mut *case.learner(), &rounds)
            } else {
                dense.clone()
            };
            let mut learner = case.learner();
            let mut at = learner.prediction();
            let mixed: Vec<_> = rounds
                .iter()
                .enumerate()
                .map(|(t, round)| {
                    let x = if t % every == 0 { round.sparse() } else { round.dense() };
                    learner.predict(x, &mut at);
                    learner.update(x, case.target(round), &at);
                    case.checked(&at)
                })
                .collect();
            assert_near(&mixed, &dense, 1e-9);
        }
    });
}

#[test]
fn relabelling_classes_relabels_forecasts() {
    every_case("relabelling", |case| {
        // Label forecasts resolve ties by class index, so that their trajectories are not symmetric.
        if case.entry.about.forecast != Forecast::Probabilities {
            return;
        }
        let classes = case.problem.classes;
        let rounds = case.stream(1, 60);
        let relabelled: Vec<_> =
            rounds.iter().map(|round| round.relabelled((round.class() + 1) % classes)).collect();
        let forecasts = |rounds: &[Round]| -> Vec<Vec<f64>> {
            let all = case.play(&mut *case.learner(), rounds);
            all.iter().map(|forecast| forecast[classes..].to_vec()).collect()
        };
        let mut moved = forecasts(&relabelled);
        moved.iter_mut().for_each(|p| p.rotate_left(1));
        assert_near(&moved, &forecasts(&rounds), 1e-9);
    });
}

#[test]
fn a_zero_feature_changes_nothing() {
    every_case("zero feature", |case| {
        let (classes, features) = (case.problem.classes, case.problem.features);
        let learner = case.learner();
        let wide = case.resized(&*learner, classes, features + 1);
        let narrow = case.resized(&*learner, classes, features);
        let rounds = case.stream(1, 60);
        let padded: Vec<_> = rounds.iter().map(|round| round.padded(features + 1)).collect();
        let padded = wide.play(&mut *wide.learner(), &padded);
        assert_near(&padded, &narrow.play(&mut *narrow.learner(), &rounds), 1e-9);
    });
}

#[test]
fn a_soft_label_on_one_class_is_that_class() {
    every_case("soft labels", |case| {
        if !case.entry.about.accepts.soft_labels {
            return;
        }
        let rounds = case.stream(1, 40);
        let mut learner = case.learner();
        let mut at = learner.prediction();
        let soft: Vec<_> = rounds
            .iter()
            .map(|round| {
                let mut y = vec![0.0; case.problem.classes];
                y[round.class()] = 1.0;
                learner.predict(round.dense(), &mut at);
                learner.update(round.dense(), Target::distribution(&y), &at);
                case.checked(&at)
            })
            .collect();
        assert_near(&soft, &case.play(&mut *case.learner(), &rounds), 1e-12);
    });
}

#[test]
fn softer_labels_are_learnt() {
    every_case("learning soft labels", |case| {
        if !case.entry.about.accepts.soft_labels {
            return;
        }
        let mut learner = case.learner();
        let mut at = learner.prediction();
        let x = case.stream(1, 1)[0].with_intercept();
        let y: Vec<f64> = (0..case.problem.classes).map(|class| if class < 2 { 0.5 } else { 0.0 }).collect();
        for _ in 0..200 {
            learner.predict(x.dense(), &mut at);
            learner.update(x.dense(), Target::distribution(&y), &at);
            case.checked(&at);
        }
        let p = &at.probabilities;
        let rest_is_less = p[2..].iter().all(|rest| *rest < p[0] - 1e-6);
        assert!((p[0] - p[1]).abs() < 1e-9 && rest_is_less, "after 200 rounds of {y:?}: {p:?}");
    });
}

#[test]
fn weights_are_taken() {
    every_case("weights", |case| {
        if !case.entry.about.accepts.weights {
            return;
        }
        let rounds = case.stream(1, 40);
        let weighted = |weight: f64| -> Vec<Vec<f64>> {
            let mut learner = case.learner();
            let mut at = learner.prediction();
            let forecast = |round: &Round| {
                learner.predict(round.dense(), &mut at);
                learner.update(round.dense(), case.target(round).weighted(weight), &at);
                case.checked(&at)
            };
            rounds.iter().map(forecast).collect()
        };
        let plain = case.play(&mut *case.learner(), &rounds);
        assert_same_bits(&weighted(1.0), &plain);
        assert_ne!(weighted(2.0), plain, "a weight of 2 counts for more than 1");
        weighted(1e-9);
        weighted(1e9);
    });
}

/// The first forecasts of rounds of weight 1 and 20 in turn lose about what they lose, or less, if the rounds
/// of weight 20 come 20 times.
#[test]
fn a_heavy_round_is_like_equal_rounds() {
    const HEAVY: usize = 20;
    every_case("heavy rounds", |case| {
        let about = &case.entry.about;
        if !about.accepts.weights || about.forecast != Forecast::Probabilities {
            return;
        }
        let rounds = case.stream(1, 40);
        let loss = |at_once: bool| -> f64 {
            let mut learner = case.learner();
            let mut at = learner.prediction();
            let mut loss = 0.0;
            for (t, round) in rounds.iter().enumerate() {
                let weight = if t % 2 == 0 { 1 } else { HEAVY };
                learner.predict(round.dense(), &mut at);
                loss -= weight as f64 * at.probabilities[round.class()].max(1e-300).ln();
                let (times, weight) = if at_once { (1, weight) } else { (weight, 1) };
                for _ in 0..times {
                    learner.predict(round.dense(), &mut at);
                    learner.update(round.dense(), case.target(round).weighted(weight as f64), &at);
                }
            }
            loss / (20 * (HEAVY + 1)) as f64
        };
        let (at_once, repeated) = (loss(true), loss(false));
        assert!(at_once <= 1.25 * repeated + 0.1, "{}: {at_once} and {repeated}", about.name);
    });
}
