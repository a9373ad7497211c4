use super::super::fourier::Fourier;
use super::*;
use crate::problem::Problem;
use crate::testing::{assert_close, make, unit_rows};

/// Plays rounds with a family alone, whose heads have equal weights. Returns the probabilities of all heads.
fn played(family: &mut Family, rows: &[Vec<f64>], keep: bool) -> Vec<Vec<f64>> {
    let (mut at, mut kept, k) = (family.prediction(), family.prediction(), family.classes);
    let mut all = Vec::new();
    for (t, x) in rows.iter().enumerate() {
        let x = Features::Dense(x);
        family.predict(x, &mut at);
        at.probabilities.fill(0.0);
        for head in &at.members {
            for (mean, p) in at.probabilities.iter_mut().zip(&head.probabilities) {
                *mean += p / family.curvatures.len() as f64;
            }
            all.push(head.probabilities.clone());
        }
        kept.keep(&at);
        family.update(x, Target::class((t * t + t / 3) % k), if keep { &kept } else { &at });
    }
    all
}

fn assert_same(got: &[Vec<f64>], want: &[Vec<f64>]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
        assert_close(*got, *want, 1e-10, "p");
    }
}

/// With one head, the curvature is taken at its own forecast, so that it is FOLKLORE; for two classes also
/// with the shared matrix.
#[test]
fn a_family_of_one_is_folklore() {
    for (classes, shared) in [(4, false), (2, false), (2, true)] {
        let rows = unit_rows(3, 60, 5);
        let mut family = Family::new(classes, 5, Expansion::Plain, shared, (0.7, 0.0), &[0.2]);
        let set = format!("regularization={} curvature=0.2", 0.7 * 0.2);
        let mut folklore = make("folklore", &set, Problem::new(classes, 5).with_radius(1.0));
        let mut at = folklore.prediction();
        let mut want = Vec::new();
        for (t, x) in rows.iter().enumerate() {
            let x = Features::Dense(x);
            folklore.predict(x, &mut at);
            want.push(at.probabilities.clone());
            folklore.update(x, Target::class((t * t + t / 3) % classes), &at);
        }
        assert_same(&played(&mut family, &rows, false), &want);
    }
}

#[test]
fn products_are_features() {
    let (rows, expansion) = (unit_rows(4, 40, 4), Expansion::Products);
    let wide: Vec<Vec<f64>> = rows
        .iter()
        .map(|x| {
            let mut room = vec![0.0; expansion.room(4)];
            expansion.apply(Features::Dense(x), &mut room);
            room
        })
        .collect();
    for shared in [false, true] {
        let mut family = Family::new(3, 4, Expansion::Products, shared, (0.1, 0.0), &[0.5, 0.1]);
        let mut plain = Family::new(3, 10, Expansion::Plain, shared, (0.1, 0.0), &[0.5, 0.1]);
        assert_same(&played(&mut family, &rows, false), &played(&mut plain, &wide, false));
    }
}

/// A family over waves that grows equals one that had the new features, with the value 0, from the start.
#[test]
fn waves_grow_behind_what_there_is() {
    let rows = unit_rows(7, 40, 4);
    let padded: Vec<Vec<f64>> = rows.iter().map(|x| [&x[..], &[0.0; 2]].concat()).collect();
    let family = |features| {
        let waves = Expansion::Waves(Fourier::new(features, 0.4));
        Family::new(3, features, waves, true, (0.1, 0.0), &[0.5, 0.1])
    };
    let (mut grown, mut whole) = (family(4), family(6));
    assert_same(&played(&mut grown, &rows, false), &played(&mut whole, &padded, false));
    assert!(grown.grow(3, 6));
    assert_same(
        &played(&mut grown, &unit_rows(8, 20, 6), false),
        &played(&mut whole, &unit_rows(8, 20, 6), false),
    );
}

#[test]
fn kept_predictions_teach_as_much() {
    let rows = unit_rows(5, 40, 4);
    for shared in [false, true] {
        let family = || Family::new(3, 4, Expansion::Products, shared, (0.1, 0.0), &[0.5, 0.1]);
        assert_same(&played(&mut family(), &rows, true), &played(&mut family(), &rows, false));
    }
}

#[test]
fn rows_that_are_not_announced_take_no_memory() {
    let rows = unit_rows(4, 40, 4);
    for shared in [false, true] {
        let mut family = Family::new(3, 4, Expansion::Products, shared, (0.1, 0.0), &[0.5, 0.1]);
        played(&mut family, &rows, false);
        assert_eq!(family.expansions.capacity(), 0);
        let announced: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
        family.prepare(&&announced[..]);
        assert_eq!(family.expansions.len(), family.lookahead() * family.room());
    }
}

/// Shrinking the matrix and gradients equals giving earlier rows smaller weights: after 64 rounds and one
/// shrinking, the next forecast is that of a family whose rounds all had that smaller weight.
#[test]
fn forgetting_is_weighing_less() {
    let rows = unit_rows(6, 65, 3);
    let keep = (1.0f64 - 0.01).powi(EVERY as i32);
    for shared in [false, true] {
        let mut forgetful = Family::new(3, 3, Expansion::Plain, shared, (0.1, 0.01), &[0.2]);
        let forecasts = played(&mut forgetful, &rows, false);
        let mut weighed = Family::new(3, 3, Expansion::Plain, shared, (0.1, 0.0), &[0.2]);
        let mut at = weighed.prediction();
        for (t, x) in rows.iter().enumerate() {
            let x = Features::Dense(x);
            weighed.predict(x, &mut at);
            if t == 64 {
                assert_same(&forecasts[t..], &[at.members[0].probabilities.clone()]);
            }
            // Both families take the surrogate at the same scores.
            at.probabilities.copy_from_slice(&forecasts[t]);
            at.members[0].probabilities.copy_from_slice(&forecasts[t]);
            at.members[0].set_scores_to_logarithms();
            center(&mut at.members[0].scores);
            weighed.update(x, Target::class((t * t + t / 3) % 3).weighted(keep), &at);
        }
    }
}

fn center(scores: &mut [f64]) {
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    scores.iter_mut().for_each(|score| *score -= mean);
}

/// Rows of every length, so that steps of the heads' equations are short and long; the number of rows is no
/// multiple of those that are solved together.
#[test]
fn rows_of_a_batch_are_as_alone() {
    for (classes, shared) in [(2, true), (5, true), (11, true), (5, false)] {
        let mut family = Family::new(classes, 6, Expansion::Plain, shared, (0.01, 0.0), &[0.5, 0.08, 0.01]);
        played(&mut family, &unit_rows(3, 150, 6), false);
        let lengths = [1.0, 0.0, 10.0, 1.0, 100.0, 0.1].into_iter().cycle();
        let rows: Vec<Vec<f64>> = (unit_rows(5, 61, 6).iter().zip(lengths))
            .map(|(x, length)| x.iter().map(|x| length * x).collect())
            .collect();
        let features: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
        let numbers = family.batch(&&features[..]);
        let (mut at, mut alone) = (family.prediction(), family.prediction());
        for (x, numbers) in features.iter().zip(numbers.chunks_exact(numbers.len() / rows.len())) {
            family.predict_in_batch(*x, numbers, &mut at);
            family.predict(*x, &mut alone);
            for (got, want) in at.members.iter().zip(&alone.members) {
                for (got, want) in got.probabilities.iter().zip(&want.probabilities) {
                    assert_close(*got, *want, 1e-9, "p");
                }
            }
        }
    }
}
