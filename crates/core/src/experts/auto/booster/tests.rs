use std::ops::Range;

use super::*;
use crate::experts::auto::tests::check_saved;
use crate::testing::loaded;

/// The class is whether two of three numbers are on the same side of ½.
fn round(t: usize) -> ([f64; 3], usize) {
    let x = [1, 2, 3].map(|seed| mixed_uniform(seed, t as u64));
    (x, usize::from((x[0] > 0.5) == (x[1] > 0.5)))
}

fn play(booster: &mut Booster, rounds: Range<usize>) -> Vec<f64> {
    let mut at = booster.prediction();
    let play = |t| {
        let (x, class) = round(t);
        booster.predict(Features::Dense(&x), &mut at);
        booster.update(Features::Dense(&x), Target::class(class), &at);
        at.members[2].probabilities[class]
    };
    rounds.map(play).collect()
}

#[test]
fn interactions_are_learnt() {
    let mut booster = Booster::new(Form::Levels, &Problem::new(2, 3), 1);
    assert!(play(&mut booster, 0..16).iter().all(|p| *p == 0.5), "untrained");
    let loss = play(&mut booster, 16..3000)[1984..].iter().map(|p| -p.ln()).sum::<f64>() / 1000.0;
    assert!(loss < 0.05, "{loss}");
}

/// The last head is the mean of the scores of the last fits.
#[test]
fn fits_have_a_mean() {
    // Without the part of the uniform distribution.
    let score = |booster: &Booster, at: &mut Prediction, head: usize| {
        booster.predict(Features::Dense(&[0.2, 0.3, 0.9]), at);
        let [first, second] = [0, 1].map(|class| at.members[head].probabilities[class] - 0.5 * UNIFORM);
        (second / first).ln()
    };
    for form in [Form::Single, Form::Mean, Form::Often, Form::Levels] {
        let mut booster = Booster::new(form, &Problem::new(2, 3), 1);
        let mut at = booster.prediction();
        play(&mut booster, 0..300);
        let fits = form.fits();
        assert_eq!(booster.trees.iter().flatten().count(), fits);
        if form == Form::Single {
            continue;
        }
        let mean = score(&booster, &mut at, 2);
        let mut scores = Vec::new();
        for _ in 0..fits {
            scores.push(score(&booster, &mut at, 1));
            booster.trees[..fits].rotate_left(1);
        }
        assert!((scores[0] - scores[1]).abs() > 0.01, "{scores:?}");
        let of_scores = scores.iter().sum::<f64>() / fits as f64;
        assert!((mean - of_scores).abs() < 1e-6, "{mean} {scores:?}");
        booster.settle();
        assert_eq!(booster.trees.iter().flatten().count(), 2);
    }
}

/// Rows that go through the trees together have the forecasts that each has alone, also when the trees change
/// among them, with classes that are new since the last fit, and with more rows than go together.
#[test]
fn a_stretch_has_the_forecasts_of_its_rounds() {
    for (form, length) in [(Form::Single, 5), (Form::Levels, 16), (Form::Levels, 37)] {
        let mut alone = Booster::new(form, &Problem::new(3, 3), 1);
        let mut together = alone.clone();
        let mut known = 0;
        for start in (0..740).step_by(length) {
            let rows: Vec<_> = (start..start + length).map(|t| round(t).0).collect();
            let rows: Vec<_> = rows.iter().map(|x| Features::Dense(x)).collect();
            together.begin_stretch(&&rows[..]);
            known += together.stretch.rows;
            assert_eq!(
                play(&mut together, start..start + length),
                play(&mut alone, start..start + length),
                "{form:?} {start}"
            );
            if start > 500 {
                assert!(together.grow(4, 3) && alone.grow(4, 3));
            }
        }
        assert!(known > 400, "{known}");
    }
}

/// In mid-fit, too: the fit is repeated from the kept rows.
#[test]
fn a_saved_member_continues() {
    let single = |seed| Booster::new(Form::Single, &Problem::new(2, 3), seed);
    check_saved(single, |booster: &mut Booster, rounds| play(booster, rounds));
    let mean = |seed| Booster::new(Form::Mean, &Problem::new(2, 3), seed);
    check_saved(mean, |booster: &mut Booster, rounds| play(booster, rounds));
    let often = |seed| Booster::new(Form::Often, &Problem::new(2, 3), seed);
    check_saved(often, |booster: &mut Booster, rounds| play(booster, rounds));
    let fresh = |seed| Booster::new(Form::Levels, &Problem::new(2, 3), seed);
    check_saved(fresh, |booster: &mut Booster, rounds| play(booster, rounds));
    let mut booster = fresh(1);
    let mut in_fits = 0;
    for t in 0..1200 {
        play(&mut booster, t..t + 1);
        if booster.fit.is_none() || t % 5 > 0 {
            continue;
        }
        let mut again = loaded(&mut booster, fresh(9));
        assert!(again.fit.is_none());
        let mut original = booster.clone();
        assert_eq!(play(&mut again, t + 1..t + 200), play(&mut original, t + 1..t + 200), "{t}");
        in_fits += 1;
    }
    assert!(in_fits > 5, "{in_fits}");
}

/// Also in mid-fit; it learns and is saved as after a fit that was divided.
#[test]
fn settled_trees_are_of_all_rows() {
    for rows in [10, 90, 1000] {
        // By chance, trees of fewer rows are better on some of several streams.
        let (mut all_before, mut all_after) = (0.0, 0.0);
        for start in [0, 1000, 2000, 3000] {
            let mut booster = Booster::new(Form::Levels, &Problem::new(2, 3), 1);
            play(&mut booster, start..start + rows);
            let mut settled = booster.clone();
            settled.settle();
            assert!(rows == 10 || settled.counts == [rows as u64, 0, 1, rows as u64]);
            let loss = |booster: &mut Booster| -> f64 {
                let mut at = booster.prediction();
                let loss = |t| {
                    let (x, class) = round(t);
                    booster.predict(Features::Dense(&x), &mut at);
                    -at.members[1].probabilities[class].ln()
                };
                (5000..6000).map(loss).sum::<f64>() / 1000.0
            };
            all_before += loss(&mut booster);
            all_after += loss(&mut settled);
            let later = start + rows..start + 2 * rows;
            let mut again = loaded(&mut settled, Booster::new(Form::Levels, &Problem::new(2, 3), 9));
            assert_eq!(play(&mut again, later.clone()), play(&mut settled, later));
        }
        match rows {
            10 => assert_eq!(all_before, all_after, "there are no trees"),
            90 => {}
            _ => assert!(all_after < all_before, "{rows} rows: {all_before} {all_after}"),
        }
    }
}

/// There are twelve fits instead of 30 or more, and the one in the end is the same; a model that was
/// saved goes on if the rest of the rounds is announced again.
#[test]
fn announced_fits_are_few() {
    let fitted = |booster: &mut Booster| {
        let mut parts = Vec::new();
        for t in 0..3000 {
            play(booster, t..t + 1);
            parts.push(booster.counts[0]);
        }
        parts.dedup();
        parts.retain(|rows| *rows > 0);
        parts
    };
    let fresh = || Booster::new(Form::Levels, &Problem::new(2, 3), 1);
    let (mut usual, mut announced) = (fresh(), fresh());
    announced.settle_after(3000);
    assert!(fitted(&mut usual).len() > 30);
    assert_eq!(fitted(&mut announced), [22, 34, 51, 77, 116, 174, 262, 394, 592, 888, 1333, 2000]);
    usual.settle();
    announced.settle();
    assert_eq!(play(&mut usual, 3000..3200), play(&mut announced, 3000..3200));
    let (mut whole, mut first) = (fresh(), fresh());
    whole.settle_after(3000);
    first.settle_after(3000);
    play(&mut whole, 0..1000);
    play(&mut first, 0..1000);
    let mut again = loaded(&mut first, fresh());
    again.settle_after(2000);
    assert_eq!(play(&mut again, 1000..3300), play(&mut whole, 1000..3300));
}

/// New classes and features come in the middle of a fit.
#[test]
fn it_grows() {
    let mut booster = Booster::new(Form::Levels, &Problem::new(2, 3), 1);
    let mut t = 500;
    play(&mut booster, 0..t);
    while booster.fit.is_none() {
        play(&mut booster, t..t + 1);
        t += 1;
    }
    assert!(booster.grow(3, 4) && booster.fit.is_none());
    let mut at = booster.prediction();
    let mut total = 0.0;
    for t in 0..1500 {
        let (x, class) = round(t);
        let (x, class) = ([x[0], x[1], x[2], (t % 2) as f64], if t % 2 == 1 { 2 } else { class });
        booster.predict(Features::Dense(&x), &mut at);
        let p = &at.members[2].probabilities;
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{p:?}");
        total += if t < 1000 { 0.0 } else { -p[class].ln() };
        booster.update(Features::Dense(&x), Target::class(class), &at);
    }
    assert!(total < 0.1 * 500.0, "{total}");
}

/// Rows of weight 9 outweigh rows with the other class.
#[test]
fn weights_count() {
    let mut booster = Booster::new(Form::Levels, &Problem::new(2, 1), 1);
    let mut at = booster.prediction();
    for t in 0..400 {
        let x = Features::Dense(&[1.0]);
        booster.predict(x, &mut at);
        let weight = if t % 2 == 0 { 9.0 } else { 1.0 };
        booster.update(x, Target::class(t % 2).weighted(weight), &at);
    }
    assert!((at.members[2].probabilities[0] - 0.9).abs() < 0.01, "{:?}", at.members[2].probabilities);
}
