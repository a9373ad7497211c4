//! Look-ahead, and delayed feedback.

use std::collections::VecDeque;

use noregret::algorithm::Model;
use noregret::example::{Features, Target};
use noregret::prediction::Prediction;

use crate::support::{Case, Round, assert_near, assert_same_bits, every_case, lookahead};

fn show<'a>(learner: &mut dyn Model, rows: impl Iterator<Item = Features<'a>>) {
    let rows: Vec<_> = rows.collect();
    if let Some(ahead) = learner.look_ahead() {
        ahead.prepare(&rows.as_slice());
    }
}

#[test]
fn looking_ahead_changes_no_forecast() {
    every_case("look-ahead", |case| {
        let rounds = case.stream(1, 60);
        let plain = case.play(&mut *case.learner(), &rounds);
        let ahead = lookahead(&mut *case.learner());
        let lengths = [3, 1, 2, ahead.saturating_sub(1), ahead, ahead + 3, 60];
        // Once for a learner without look-ahead.
        for len in &lengths[..if ahead == 0 { 1 } else { 7 }] {
            for (name, looked) in [
                ("all rows", in_order as fn(&Case, &[Round], usize) -> Vec<Vec<f64>>),
                ("rows skipped and out of order", out_of_order),
                ("rows that never come, and rows predicted only", misleading),
                ("sparse rows", sparse),
            ] {
                let looked = looked(case, &rounds, (*len).max(1));
                let near = std::panic::catch_unwind(|| assert_near(&looked, &plain, 1e-9));
                assert!(near.is_ok(), "{name}, {len} at a time: not the forecasts without look-ahead");
            }
        }
    });
}

fn in_order(case: &Case, rounds: &[Round], len: usize) -> Vec<Vec<f64>> {
    let mut learner = case.learner();
    let mut forecasts = Vec::new();
    for block in rounds.chunks(len) {
        show(&mut *learner, block.iter().map(Round::dense));
        forecasts.extend(case.play(&mut *learner, block));
    }
    forecasts
}

fn out_of_order(case: &Case, rounds: &[Round], len: usize) -> Vec<Vec<f64>> {
    let mut learner = case.learner();
    let mut forecasts = Vec::new();
    for block in rounds.chunks(len) {
        show(&mut *learner, block.iter().rev().step_by(2).chain(&block[..1]).map(Round::dense));
        forecasts.extend(case.play(&mut *learner, block));
    }
    forecasts
}

fn misleading(case: &Case, rounds: &[Round], len: usize) -> Vec<Vec<f64>> {
    let others = case.stream(2, len);
    let mut learner = case.learner();
    let (mut at, mut other) = (learner.prediction(), learner.prediction());
    let mut forecasts = Vec::new();
    for (t, round) in rounds.iter().enumerate() {
        if t % 3 == 0 {
            let announced = rounds[t..].iter().take(len);
            show(&mut *learner, others.iter().zip(announced).flat_map(|(a, b)| [a.dense(), b.dense()]));
        }
        learner.predict(others[t % len].dense(), &mut other);
        learner.predict(round.dense(), &mut at);
        if t % 4 == 0 {
            // Between a prediction and its label.
            show(&mut *learner, rounds[t..].iter().take(len).map(Round::dense));
        }
        learner.update(round.dense(), case.target(round), &at);
        learner.predict(round.dense(), &mut other);
        forecasts.push(case.checked(&at));
    }
    forecasts
}

fn sparse(case: &Case, rounds: &[Round], len: usize) -> Vec<Vec<f64>> {
    let mut learner = case.learner();
    let mut at = learner.prediction();
    let mut forecasts = Vec::new();
    for (t, round) in rounds.iter().enumerate() {
        if t % len == 0 {
            let announced = rounds[t..].iter().take(len);
            show(
                &mut *learner,
                announced.enumerate().map(|(at, r)| if at % 2 == 0 { r.sparse() } else { r.dense() }),
            );
        }
        learner.predict(round.sparse(), &mut at);
        learner.update(round.sparse(), case.target(round), &at);
        forecasts.push(case.checked(&at));
    }
    forecasts
}

#[test]
fn stored_zeros_are_zeros() {
    // With an explicit zero, a sparse row must not be taken for another announced row.
    every_case("look-ahead", |case| {
        let features = case.problem.features;
        if features < 3 {
            return;
        }
        let rounds = case.stream(1, 30);
        let mut x = vec![0.0; features];
        (x[1], x[2]) = (0.25, 0.5);
        let decoy = Round::new(x, 0, 0.0);
        let given = Features::Sparse { indices: &[0, 1], values: &[0.0, 0.25] };
        let forecast = |prepared: bool| {
            let mut learner = case.learner();
            case.play(&mut *learner, &rounds);
            if prepared {
                let rows = rounds.iter().take(lookahead(&mut *learner).saturating_sub(1)).map(Round::dense);
                show(&mut *learner, [decoy.dense(), decoy.dense()].into_iter().chain(rows));
            }
            let mut at = learner.prediction();
            learner.predict(given, &mut at);
            case.checked(&at)
        };
        assert_near(&[forecast(true)], &[forecast(false)], 1e-9);
    });
}

#[test]
fn a_kept_prediction_is_learnt_as_a_fresh_one() {
    every_case("late feedback", |case| {
        let rounds = case.stream(1, 60);
        let mut learner = case.learner();
        let (mut at, mut kept) = (learner.prediction(), learner.prediction());
        let other = &case.stream(2, 1)[0];
        let through_kept: Vec<_> = rounds
            .iter()
            .map(|round| {
                learner.predict(round.dense(), &mut at);
                // The kept data must not contain by-products of another row.
                learner.predict(other.dense(), &mut kept);
                kept.keep(&at);
                learner.update(round.dense(), case.target(round), &kept);
                case.checked(&at)
            })
            .collect();
        assert_near(&through_kept, &case.play(&mut *case.learner(), &rounds), 1e-9);
    });
}

/// Plays `rounds` with feedback that is `delay` rounds late.
fn delayed(case: &Case, rounds: &[Round], delay: usize, forget: bool) -> Vec<Vec<f64>> {
    let mut learner = case.learner();
    let mut pending: VecDeque<(&Round, Prediction)> = VecDeque::new();
    let mut forecasts = Vec::new();
    for round in rounds {
        let mut at = learner.prediction();
        learner.predict(round.dense(), &mut at);
        forecasts.push(case.checked(&at));
        let mut waiting = Prediction::default();
        if forget {
            waiting.keep(&at)
        } else {
            waiting = at
        }
        pending.push_back((round, waiting));
        if pending.len() > delay {
            let (late, at) = pending.pop_front().expect("just counted");
            learner.update(late.dense(), case.target(late), &at);
        }
    }
    forecasts
}

#[test]
fn late_feedback_is_exact() {
    every_case("late feedback", |case| {
        let rounds = case.stream(1, 60);
        assert_same_bits(&delayed(case, &rounds, 0, false), &case.play(&mut *case.learner(), &rounds));
        let late = delayed(case, &rounds, 3, true);
        assert_same_bits(&late, &delayed(case, &rounds, 3, true));
        // By-products of another state must not be used.
        assert_near(&delayed(case, &rounds, 3, false), &late, 1e-9);
        assert_ne!(late, delayed(case, &rounds, 0, true));
    });
}

#[test]
fn late_feedback_may_come_in_any_order() {
    every_case("late feedback", |case| {
        let rounds = case.stream(1, 60);
        let mut learner = case.learner();
        for block in rounds.chunks(5) {
            let mut waiting: Vec<(&Round, Prediction)> = Vec::new();
            for round in block {
                let mut at = learner.prediction();
                learner.predict(round.dense(), &mut at);
                case.checked(&at);
                waiting.push((round, at));
            }
            while let Some((round, at)) = waiting.pop() {
                let target: Target<'_> = case.target(round);
                learner.update(round.sparse(), target, &at);
            }
        }
        assert_eq!(learner.rounds(), 60);
    });
}
