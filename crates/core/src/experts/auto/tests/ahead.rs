//! Many rows at once, by one thread or several, to the bit of one row after another.

use super::*;
use crate::testing::{Threads, assert_close, unit_rows};

/// The members are divided among threads; the number of threads does not change a bit.
#[test]
fn threads_change_no_bit() {
    let played = |threads: usize| {
        let mut auto = auto(6, 20, &[("budget", "2")]);
        assert!(auto.roster.work() > 400_000.0, "worth sharing: {}", auto.roster.work());
        if threads > 1 {
            auto.set_workers(Workers::new(Threads(threads)));
        }
        let rows = unit_rows(9, 90, 20);
        let features: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
        let all = &features[..];
        auto.prepare(&all);
        let (mut at, mut forecasts) = (auto.prediction(), Vec::new());
        for (t, x) in rows.iter().enumerate() {
            auto.predict(Features::Dense(x), &mut at);
            forecasts.extend(at.probabilities.iter().map(|p| p.to_bits()));
            auto.update(Features::Dense(x), Target::class((t * t / 3) % 6), &at);
        }
        auto.predict_batch(&all, &mut at, &mut |_, at| {
            forecasts.extend(at.probabilities.iter().map(|p| p.to_bits()));
        });
        forecasts
    };
    let alone = played(1);
    for threads in [2, 3] {
        assert!(played(threads) == alone, "{threads} threads");
    }
}

/// More rows than a batch has.
#[test]
fn many_rows_are_predicted_as_one_by_one() {
    let mut auto = auto(3, 4, &[]);
    let (mut at, mut alone) = (auto.prediction(), auto.prediction());
    for (t, x) in unit_rows(2, 100, 4).iter().enumerate() {
        auto.predict(Features::Dense(x), &mut at);
        auto.update(Features::Dense(x), Target::class((t * t / 3) % 3), &at);
    }
    let rows = unit_rows(9, auto.roster.rows_of_batch() + 40, 4);
    let features: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
    let mut count = 0;
    auto.predict_batch(&&features[..], &mut at, &mut |row, at| {
        assert_eq!(row, count);
        count += 1;
        auto.predict(features[row], &mut alone);
        for (got, want) in at.probabilities.iter().zip(&alone.probabilities) {
            assert_close(*got, *want, 1e-9, "p");
        }
    });
    assert_eq!(count, rows.len());
}

/// Rounds with known targets are played as one by one, to the bit, for every number of threads: the
/// forecasts, and the state afterwards. Members join in round 32 or later.
#[test]
fn playing_ahead_changes_no_bit() {
    let rows = unit_rows(9, 300, 8);
    let label = |x: &[f64]| (usize::from(x[0] > x[1]) + usize::from(x[2] > 0.0)) % 3;
    let rounds: Vec<(Features<'_>, Target<'_>)> = (rows.iter().enumerate())
        .map(|(t, x)| (Features::Dense(x), Target::class(label(x)).weighted(1.0 + (t % 3) as f64)))
        .collect();
    let begun = auto(3, 8, &[]).roster.lineup().0.len();
    let played = |threads: usize, ahead: bool| {
        let mut auto = auto(3, 8, &[]);
        if threads > 1 {
            auto.set_workers(Workers::new(Threads(threads)));
        }
        assert_eq!(auto.works_ahead(), threads > 1);
        let (mut at, mut forecasts) = (auto.prediction(), Vec::new());
        let mut add = |at: &Prediction| {
            forecasts.extend(at.probabilities.iter().chain(&at.scores).map(|number| number.to_bits()));
        };
        for part in rounds.chunks(101) {
            let features: Vec<Features<'_>> = part.iter().map(|(x, _)| *x).collect();
            auto.prepare(&&features[..]);
            if ahead {
                let mut next = 0;
                auto.predict_and_update(&part, &mut at, &mut |index, at| {
                    assert_eq!(index, next, "in order");
                    next += 1;
                    add(at);
                });
                assert_eq!(next, part.len());
                continue;
            }
            for (x, y) in part {
                auto.predict(*x, &mut at);
                auto.update(*x, *y, &at);
                add(&at);
            }
        }
        assert!(auto.roster.lineup().0.len() > begun, "members have joined");
        assert_eq!(auto.rounds(), 300);
        (forecasts, state_of(&mut auto).into_iter().map(f64::to_bits).collect::<Vec<_>>())
    };
    let one_by_one = played(1, false);
    for (threads, ahead) in [(1, true), (2, true), (3, true), (2, false)] {
        assert!(played(threads, ahead) == one_by_one, "{threads} threads, ahead: {ahead}");
    }
}
