//! The theorems about the number of mistakes with high probability: Gaptron's, and how far forecasts are
//! from the true probabilities. On random and on adversarial streams; the bounds are exceeded in no more runs
//! than they permit, and would be without their terms for the deviation.

use noregret::algorithm::Algorithm;
use noregret::bandit::gaptron::BanditGaptron;
use noregret::bounds::{self, GaptronRates, Setting};
use noregret::example::{Features, Target};
use noregret::full::folklore::{Folklore, FolkloreParams};
use noregret::full::gaptron::{Gaptron, GaptronParams, Hinge, Logistic, Loss, Smooth};
use noregret::learner::{BanditLearner, OnlineLearner, Predictor};
use noregret::loss::gap::Surrogate;
use noregret::loss::hinge::{hinge, margin};
use noregret::loss::smooth_hinge::smooth_hinge;
use noregret::param::exploration::Exploration;
use noregret::prediction::{Decision, argmax, draw};
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

use crate::unit;

const MISS: f64 = 0.05;

/// Mistakes and the sum of their probabilities after 300 rounds of a Gaptron that sees the labels. The
/// adversary names the class of least probability.
fn drawn<L: Loss>(adversarial: bool, seed: u64) -> (f64, f64) {
    let (k, d) = (3, 2);
    let problem = Problem::new(k, d).with_radius(1.0);
    let mut learner = Gaptron::<L>::new(GaptronParams::default(), problem, 0).expect("valid");
    let (mut rows, mut draws) = (Rng::new(3, seed), Rng::new(4, seed));
    let (mut at, mut mistakes, mut expected) = (learner.prediction(), 0.0, 0.0);
    for _ in 0..300 {
        let x = unit(&mut rows, d);
        let features = Features::Dense(&x);
        learner.predict(features, &mut at);
        let label = if adversarial {
            argmax(&at.probabilities.iter().map(|p| -p).collect::<Vec<_>>())
        } else {
            usize::from(x[0] > 0.3)
        };
        let played = draw(&at.probabilities, draws.uniform());
        mistakes += f64::from(u8::from(played.index() != label));
        expected += 1.0 - at.probabilities[label];
        learner.update(features, Target::class(label), &at);
    }
    (mistakes, expected)
}

#[test]
fn mistakes_of_drawn_labels() {
    const RUNS: u64 = 200;
    fn check<L: Loss>() {
        for adversarial in [false, true] {
            let runs: Vec<_> = (0..RUNS).map(|seed| drawn::<L>(adversarial, seed)).collect();
            let share = |of: &dyn Fn(f64) -> f64| {
                runs.iter().filter(|(mistakes, expected)| *mistakes > of(*expected)).count() as f64
                    / RUNS as f64
            };
            let what = format!("{:?}, {adversarial}", L::SURROGATE);
            assert!(share(&|expected| bounds::drawn_mistakes(expected, MISS)) <= MISS, "{what}");
            assert!(share(&|expected| expected) > 0.25, "{what}: without the deviation");
        }
    }
    check::<Logistic>();
    check::<Hinge>();
    check::<Smooth>();
}

/// Two classes in the plane, separable with the margin 1/2 by U = (u, -u)/√2. One label in twenty is wrong
/// where there is `noise`; the `adversary` chooses, among four rows, the one whose class has the least
/// probability.
fn bandit_gaptron<L: Loss>(norm: f64, exploration: f64, total: fn(f64) -> f64) {
    const ROUNDS: usize = 100_000;
    let row = |rng: &mut Rng| loop {
        let angle = std::f64::consts::TAU * rng.uniform();
        let x = [angle.cos(), angle.sin()];
        let margin = std::f64::consts::SQRT_2 * (0.6 * x[0] + 0.8 * x[1]);
        if margin.abs() >= 0.5 {
            break (x, usize::from(margin < 0.0));
        }
    };
    let largest = L::SURROGATE.bandit_rate(2, 1.0, norm, exploration);
    let rates = GaptronRates {
        rate: 0.25 * largest,
        largest,
        exploration,
        slope: L::SURROGATE.full_information_rate(2, 1.0) * L::SURROGATE.steepest(),
    };
    for (noise, adversary, seed) in [(false, false, 1), (true, false, 2), (false, true, 3), (true, true, 4)] {
        let params =
            GaptronParams::new().norm(norm).exploration(Exploration::Rate(exploration)).rate(rates.rate);
        let problem = Problem::new(2, 2).with_radius(1.0).with_horizon(ROUNDS as u64);
        let mut learner = BanditGaptron::<L>::new(params, problem, 0).expect("valid parameters");
        let (mut rows, mut uniforms, mut at) = (Rng::new(1, seed), Rng::new(2, seed), Decision::default());
        let (mut mistakes, mut expected, mut loss) = (0.0, 0.0, 0.0);
        let candidates = if adversary { 3 } else { 0 };
        for _ in 0..ROUNDS {
            let (mut x, mut y) = row(&mut rows);
            for _ in 0..candidates {
                let (other, class) = row(&mut rows);
                learner.predict(Features::Dense(&x), &mut at);
                let worst = at.distribution[y];
                learner.predict(Features::Dense(&other), &mut at);
                if at.distribution[class] < worst {
                    (x, y) = (other, class);
                }
            }
            if noise && rows.below(20) == 0 {
                y = 1 - y;
            }
            let score = norm * (0.6 * x[0] + 0.8 * x[1]) / std::f64::consts::SQRT_2;
            loss += total(margin(&[score, -score], y).value);
            learner.act(Features::Dense(&x), &mut uniforms, &mut at);
            expected += 1.0 - at.distribution[y];
            mistakes += f64::from(u8::from(at.label as usize != y));
            learner.learn(Features::Dense(&x), &at, (at.label as usize == y).into());
        }
        let setting = Setting { classes: 2, features: 2, radius: 1.0, norm, rounds: ROUNDS as f64 };
        let sum = loss + bounds::gaptron_likely(&setting, norm, rates, 0.5 * MISS);
        let bound = bounds::drawn_mistakes(sum, 0.5 * MISS);
        let what =
            format!("{:?}, {noise}, {adversary}: {mistakes}, {expected}, {sum}, {bound}", L::SURROGATE);
        assert!(expected <= sum && mistakes <= bound, "{what}");
        // A learner that does not learn makes half of its rounds mistakes.
        assert!(bound < 0.5 * ROUNDS as f64, "{what}: the bound says nothing");
    }
}

#[test]
fn mistakes_under_bandit_feedback() {
    bandit_gaptron::<Hinge>(2.0, 0.19, hinge);
    bandit_gaptron::<Smooth>(1.5, 0.2, smooth_hinge);
}

/// Rates as large as the default's have no such bound.
#[test]
fn the_variance_needs_a_smaller_rate() {
    let setting = Setting { classes: 2, features: 2, radius: 1.0, norm: 1.0, rounds: 100.0 };
    let largest = Surrogate::Smooth.bandit_rate(2, 1.0, 1.0, 0.1);
    let bound = |share: f64| {
        let rates = GaptronRates { rate: share * largest, largest, exploration: 0.1, slope: 0.1 };
        bounds::gaptron_likely(&setting, 1.0, rates, MISS)
    };
    assert!(bound(0.25) < bound(0.01) && bound(0.25) < bound(0.9) && bound(0.999_999) > 1e6);
}

/// Labels are drawn from the probabilities of a predictor in FOLKLORE's ball, at random rows, and at those of
/// four candidates where FOLKLORE is furthest from the truth. Where the truth is beyond the ball, the
/// inequality does not hold.
#[test]
fn forecasts_are_near_the_true_probabilities() {
    const RUNS: u64 = 60;
    const ROUNDS: usize = 400;
    let (k, d, norm) = (3, 2, 1.5);
    let probabilities = |w: &[f64], x: &[f64]| {
        let scores: Vec<f64> = w.chunks_exact(d).map(|row| Features::Dense(x).dot(row)).collect();
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        scores.iter().map(|score| score.exp() / total).collect::<Vec<_>>()
    };
    let apart =
        |p: &[f64], q: &[f64]| -> f64 { p.iter().zip(q).map(|(p, q)| (p.sqrt() - q.sqrt()).powi(2)).sum() };
    for (adversary, size, holds) in [(false, norm, true), (true, norm, true), (true, 40.0, false)] {
        let (mut over, candidates) = (0, if adversary { 3 } else { 0 });
        for seed in 0..RUNS {
            let (mut rows, mut draws) = (Rng::new(6, seed), Rng::new(7, seed));
            let w: Vec<f64> = (0..k).flat_map(|_| unit(&mut rows, d)).map(|w| size * w).collect();
            let params = FolkloreParams { norm: Some(norm), ..Default::default() };
            let problem = Problem::new(k, d).with_radius(1.0);
            let mut learner = Folklore::new(params, problem, 0).expect("valid");
            let (mut at, mut distance) = (learner.prediction(), 0.0);
            for _ in 0..ROUNDS {
                let mut x = unit(&mut rows, d);
                learner.predict(Features::Dense(&x), &mut at);
                for _ in 0..candidates {
                    let other = unit(&mut rows, d);
                    let before = apart(&at.probabilities, &probabilities(&w, &x));
                    learner.predict(Features::Dense(&other), &mut at);
                    if apart(&at.probabilities, &probabilities(&w, &other)) > before {
                        x = other;
                    }
                    learner.predict(Features::Dense(&x), &mut at);
                }
                let truth = probabilities(&w, &x);
                distance += apart(&at.probabilities, &truth);
                let label = draw(&truth, draws.uniform()).index();
                learner.update(Features::Dense(&x), Target::class(label), &at);
            }
            let certificate = learner.certificate().expect("has one").expect("holds");
            over += usize::from(distance > bounds::squared_distance(certificate, MISS));
        }
        let share = over as f64 / RUNS as f64;
        assert!(if holds { share <= MISS } else { share > 0.5 }, "{adversary}, {size}: {share}");
    }
}
