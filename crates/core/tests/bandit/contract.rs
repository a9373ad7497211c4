//! Feedback that comes late, out of order, or never.

use noregret::prediction::Decision;
use noregret::rng::Rng;

use crate::support::{Round, assert_same, every_case};

/// Whether wrong guesses teach the learner nothing.
fn learns_from_right_guesses_only(name: &str) -> bool {
    ["soba", "gaptron", "bandit-reduction"].iter().any(|start| name.starts_with(start))
}

#[test]
fn late_feedback_in_any_order_is_learnt_from() {
    every_case("late feedback", |case| {
        let rounds = case.stream(1, 120);
        let play = |reversed: bool| {
            let mut learner = case.learner();
            let mut decisions = Vec::new();
            for block in rounds.chunks(6) {
                let mut pending: Vec<(&Round, Decision)> = Vec::new();
                for (at, round) in block.iter().enumerate() {
                    let mut taken = Decision::default();
                    let uniforms = &mut Rng::new(3, learner.rounds() + at as u64);
                    learner.act(round.dense(), uniforms, &mut taken);
                    case.check(&taken);
                    assert_eq!(taken.round, learner.rounds() + 1, "rounds are counted when they are learnt");
                    decisions.push(taken.clone());
                    pending.push((round, taken));
                }
                if reversed {
                    pending.reverse();
                }
                for (round, taken) in pending {
                    learner.learn(round.sparse(), &taken, taken.label as usize == round.y);
                }
            }
            assert_eq!(learner.rounds(), 120);
            decisions
        };
        assert_same(&play(true), &play(true));
        play(false);
    });
}

/// By-products of an outgrown decision are not taken for current ones: a decision that went through a log, where they
/// are lost, teaches the same.
#[test]
fn outgrown_by_products_are_not_used() {
    every_case("late feedback", |case| {
        let rounds = case.stream(1, 60);
        let play = |logged: bool| {
            let mut learner = case.learner();
            let mut decisions = Vec::new();
            for pair in rounds.chunks_exact(2) {
                let (mut first, mut second) = (Decision::default(), Decision::default());
                learner.act(pair[0].dense(), &mut Rng::new(3, learner.rounds()), &mut first);
                learner.act(pair[1].dense(), &mut Rng::new(4, learner.rounds()), &mut second);
                if logged {
                    let log = serde_json::to_string(&first).expect("plain data");
                    first = serde_json::from_str(&log).expect("just written");
                }
                learner.learn(pair[1].dense(), &second, second.label as usize == pair[1].y);
                learner.learn(pair[0].dense(), &first, first.label as usize == pair[0].y);
                decisions.extend([first, second]);
            }
            decisions
        };
        assert_same(&play(true), &play(false));
    });
}

/// Where wrong guesses teach nothing, what is said of them beyond the count of rounds changes nothing.
#[test]
fn lost_feedback_of_wrong_guesses_costs_nothing() {
    every_case("lost feedback", |case| {
        let adaptive =
            case.learner().values().get("exploration").is_none_or(|value| value.to_string() == "adaptive");
        if !learns_from_right_guesses_only(case.entry.about.name) || adaptive {
            return;
        }
        let rounds = case.stream(1, 120);
        let play = |lossy: bool| {
            let mut learner = case.learner();
            let mut scores = Vec::new();
            for (t, round) in rounds.iter().enumerate() {
                let mut taken = Decision::default();
                learner.act(round.dense(), &mut Rng::new(3, t as u64), &mut taken);
                let correct = taken.label as usize == round.y;
                if correct || !lossy {
                    learner.learn(round.dense(), &taken, correct);
                }
                scores.push(taken.scores);
            }
            scores
        };
        assert_eq!(play(true), play(false));
    });
}
