//! Feedback that is late, out of order, or missing.

use noregret::algorithm::BanditModel;
use noregret::param::Value;
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::rng::Rng;

use crate::support::{Case, Round, assert_same, entries, every_case, every_learner};

/// The contents of decisions and their use by a learner, as in the table of `noregret::bandit`.
struct Contract {
    learner: &'static str,
    /// Whether wrong guesses change the learner.
    wrong: bool,
    /// Whether the explore coin is part of the decision.
    coin: bool,
    /// Whether the distribution before exploration is part of the decision.
    forecast: bool,
}

const CONTRACTS: &[Contract] = &[
    contract("gaptron-logistic", false, false, false),
    contract("gaptron-hinge", false, false, false),
    contract("gaptron-smooth", false, false, false),
    contract("banditron", true, false, false),
    contract("newtron", true, false, true),
    contract("pnewtron", true, false, true),
    contract("soba", false, false, false),
    contract("soba-diag", false, false, false),
    contract("soba-sketch", false, false, false),
    contract("soba-reduction", false, false, false),
    contract("confidit", true, false, false),
    contract("confidit-diag", true, false, false),
    contract("bandit-reduction", false, true, true),
    contract("exp4", true, false, true),
    contract("auto", true, false, false),
    contract("squarecb", true, false, false),
    contract("fastcb", true, false, false),
    contract("relative-gaps", true, false, false),
    contract("offers", true, false, false),
];

const fn contract(learner: &'static str, wrong: bool, coin: bool, forecast: bool) -> Contract {
    Contract { learner, wrong, coin, forecast }
}

fn contract_of(learner: &str) -> &'static Contract {
    CONTRACTS.iter().find(|contract| contract.learner == learner).expect("every learner has a contract")
}

/// Whether wrong guesses do not change the learner.
fn learns_from_right_guesses_only(name: &str) -> bool {
    !contract_of(name).wrong
}

/// Every learner of the registry satisfies its line, and is in the table of the documentation.
#[test]
fn every_learner_keeps_its_contract() {
    let documentation = include_str!("../../src/bandit/mod.rs");
    assert_eq!(entries().count(), CONTRACTS.len());
    for entry in entries() {
        let contract = contract_of(entry.about.name);
        let name = contract.learner;
        let family = if name.starts_with("gaptron") { "gaptron-*" } else { name };
        let line = documentation.lines().find(|line| line.contains(&format!("`{family}`"))).expect(name);
        let said = line.split('|').nth(2).expect("a column").trim();
        assert_eq!(said, if contract.wrong { "yes" } else { "no" }, "{name}: the documentation");

        let values = [
            ("exploration", Value::Float(0.3)),
            ("base", Value::from("ogd")),
            ("members", Value::from(crate::support::FEW_MEMBERS)),
        ];
        let values = values.into_iter().filter(|(name, _)| entry.param(name).is_some());
        let case = Case {
            entry,
            values: values.map(|(name, value)| (name.to_owned(), value)).collect(),
            problem: Problem::new(3, 4).with_radius(1.0).with_horizon(1000),
        };
        let mut learner = case.learner();
        case.play(learner.as_mut(), &case.stream(1, 50));
        let next = case.stream(2, 40);
        let mut taken = Decision::default();
        let mut taught = 0;
        for (t, round) in next.iter().enumerate() {
            learner.act(round.dense(), &mut Rng::new(9, t as u64), &mut taken);
            assert_eq!(taken.explored.is_some(), contract.coin, "{name}: the explore coin");
            assert_eq!(!taken.forecast.is_empty(), contract.forecast, "{name}: the forecast");
            let probe = &next[(t + 1) % next.len()];
            let scores = |learner: &dyn BanditModel| {
                let mut at = Decision::default();
                learner.predict(probe.dense(), &mut at);
                at.scores
            };
            let before = scores(learner.as_ref());
            let mut told = learner.boxed_clone();
            told.learn(round.dense(), &taken, false.into());
            taught += u32::from(scores(told.as_ref()) != before);
        }
        assert_eq!(taught > 0, contract.wrong, "{name}: wrong guesses changed {taught} of 40 predictions");
    }
}

/// Plays `count` rounds whose feedback is `delay` rounds late.
fn late(case: &Case, count: usize, delay: usize) {
    let rounds = case.stream(1, 300);
    let mut learner = case.learner();
    let mut pending: std::collections::VecDeque<(&Round, Decision)> = Default::default();
    for (t, round) in rounds.iter().cycle().take(count).enumerate() {
        let mut taken = Decision::default();
        learner.act(round.dense(), &mut Rng::new(3, t as u64), &mut taken);
        case.check(&taken);
        pending.push_back((round, taken));
        if pending.len() > delay {
            let (round, taken) = pending.pop_front().expect("just pushed");
            learner.learn(round.dense(), &taken, (taken.label as usize == round.y).into());
        }
    }
    assert_eq!(learner.rounds() as usize, count.saturating_sub(delay));
    for (round, taken) in pending {
        learner.learn(round.dense(), &taken, (taken.label as usize == round.y).into());
    }
    assert_eq!(learner.rounds() as usize, count);
    case.play(learner.as_mut(), &rounds[..20]);
}

/// Delays of 1 and 100 rounds, and feedback after all decisions: all numbers remain finite, and the stream is
/// learnt later.
#[test]
fn long_delays_are_survived() {
    every_case("late feedback", |case| [1, 100, 300].into_iter().for_each(|delay| late(case, 300, delay)));
}

/// The same with feedback that is 10,000 rounds late.
#[test]
fn feedback_ten_thousand_rounds_late_is_survived() {
    every_learner("late feedback", |case| late(case, 11_000, 10_000));
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
                    learner.learn(round.sparse(), &taken, (taken.label as usize == round.y).into());
                }
            }
            assert_eq!(learner.rounds(), 120);
            decisions
        };
        assert_same(&play(true), &play(true));
        play(false);
    });
}

/// By-products of an outdated decision are not used: a decision that was written to a log, where they are
/// omitted, is learnt identically.
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
                learner.learn(pair[1].dense(), &second, (second.label as usize == pair[1].y).into());
                learner.learn(pair[0].dense(), &first, (first.label as usize == pair[0].y).into());
                decisions.extend([first, second]);
            }
            decisions
        };
        assert_same(&play(true), &play(false));
    });
}

/// For learners that do not learn from wrong guesses, their feedback affects only the count of rounds.
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
                    learner.learn(round.dense(), &taken, correct.into());
                }
                scores.push(taken.scores);
            }
            scores
        };
        assert_eq!(play(true), play(false));
    });
}
