use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

use super::super::constrained::dot;
use super::*;
use crate::batch::data::{Labels, Rows};
use crate::loss::logistic;
use crate::testing::{assert_close, items, number, numbers, vector};

fn labels(value: &serde_json::Value) -> Vec<u32> {
    numbers(value).iter().map(|&y| if y < 0.0 { 0 } else { y as u32 }).collect()
}

fn ball(name: &serde_json::Value) -> Ball {
    match name.as_str() {
        Some("rows") => Ball::Rows,
        Some("fro") => Ball::Frobenius,
        Some("l2") => Ball::Euclidean,
        _ => panic!("no ball is called {name}"),
    }
}

/// The norm that `ball` bounds.
fn size(ball: Ball, weights: &[f64], features: usize) -> f64 {
    match ball {
        Ball::Rows => weights.chunks(features).map(|w| dot(w, w).sqrt()).fold(0.0, f64::max),
        Ball::Frobenius | Ball::Euclidean => dot(weights, weights).sqrt(),
    }
}

/// The total loss of hard labels, by the definition.
fn total(ball: Ball, weights: &[f64], x: &[f64], y: &[u32], features: usize) -> f64 {
    let rows = x.chunks(features).zip(y);
    rows.map(|(x, &y)| {
        let mut logits: Vec<f64> = weights.chunks(features).map(|w| dot(w, x)).collect();
        if ball == Ball::Euclidean {
            logits.insert(0, 0.0);
        }
        logistic::loss(&logits, y as usize)
    })
    .sum()
}

/// Solves with both methods, and checks the certificate of each; the first is the default method's.
fn both(data: &Data<'_>, ball: Ball, norm: f64, stop: Stop) -> Comparator {
    let found = best_in_hindsight(data, ball, norm, stop).expect("good arguments");
    let problem = Constrained {
        objective: match ball {
            Ball::Rows => Objective::full(*data),
            Ball::Frobenius => Objective::centred(*data),
            Ball::Euclidean => Objective::binary(*data),
        },
        groups: if ball == Ball::Rows { data.classes() } else { 1 },
        norm,
    };
    let other = accelerated::solve(&problem, Stop { tolerance: 1e-5, passes: 3000 });
    assert!(found.gap <= stop.tolerance * found.value.max(1.0), "{ball:?} {norm}: gap {}", found.gap);
    // In large balls only the certificate is checked: first-order steps are slow there.
    let reached = other.gap <= 1e-5 * other.value.max(1.0);
    assert!(reached || norm > 5.0, "{ball:?} {norm}: gap {} (accelerated)", other.gap);
    assert!(size(ball, &found.weights, data.features()) <= norm * (1.0 + 1e-12), "{ball:?} {norm}: outside");
    let rounding = 1e-12 * found.value;
    assert!(
        other.value >= found.value - found.gap - rounding,
        "{ball:?} {norm}: {} {}",
        other.value,
        found.value
    );
    assert!(
        found.value >= other.value - other.gap - rounding,
        "{ball:?} {norm}: {} {}",
        found.value,
        other.value
    );
    found
}

#[test]
fn reference_values() {
    let reference = vector("best_in_hindsight");
    let x = numbers(&reference["data"]["x"]);
    let features = items(&items(&reference["data"]["x"])[0]).len();
    let cases = |name: &str, labels: &[u32], classes: usize| {
        for case in items(&reference[name]) {
            let data =
                Data::new(classes, features, Rows::Dense(&x), Labels::Classes(labels)).expect("good data");
            let (ball, norm) = (ball(&case["ball"]), number(&case["B"]));
            let found = both(&data, ball, norm, Stop::default());
            let want = number(&case["value"]);
            let slack = 1e-12 * want;
            assert!(found.value <= want + found.gap + slack, "{case}: {}", found.value);
            assert!(found.value >= want - number(&case["gap"]) - slack, "{case}: {}", found.value);
            assert_close(total(ball, &found.weights, &x, labels, features), found.value, 1e-13, "value");
        }
    };
    cases("multiclass", &labels(&reference["data"]["y"]), 4);
    cases("binary", &labels(&reference["data"]["y_binary"]), 2);
}

#[test]
fn comparators_of_the_reference_traces() {
    let names = [
        "folklore_T50_d3_K2",
        "folklore_T60_d5_K4_safe",
        "folklore_counterexample_safe",
        "ogd_fro_sqrt",
        "ftrl_lam1",
        "gaf_K3_practical",
        "aioli_T60_d5",
        "aggregating_d1_B4",
        "adversarial_d1_n100",
    ];
    for name in names {
        let reference = vector(name);
        let (x, y) = (numbers(&reference["data"]["x"]), labels(&reference["data"]["y"]));
        let comparator = &reference["comparator"];
        let (ball, norm) = match comparator["B"].as_f64() {
            Some(norm) => (ball(&comparator["ball"]), norm),
            None => (Ball::Euclidean, number(&reference["params"]["B"])),
        };
        let classes = reference["params"]["K"].as_u64().unwrap_or(2) as usize;
        let data =
            Data::new(classes, x.len() / y.len(), Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
        let found = both(&data, ball, norm, Stop { tolerance: 1e-9, ..Stop::default() });
        let want = number(&comparator["value"]);
        assert!(found.value <= want + found.gap + 1e-12 * want, "{name}: {} {want}", found.value);
        assert!(
            found.value >= want - number(&comparator["gap"]) - 1e-12 * want,
            "{name}: {} {want}",
            found.value
        );
    }
}

#[test]
fn separable_data_has_its_best_on_the_sphere() {
    // One feature and its sign: the loss of theta is ln(1 + exp(-|x| theta)), least at theta = B.
    let (x, y) = ([1.0, -2.0, 0.5, -0.1], [1, 0, 1, 0]);
    let data = Data::new(2, 1, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
    for norm in [0.01, 1.0, 30.0, 1e3] {
        let found = both(&data, Ball::Euclidean, norm, Stop::default());
        let best: f64 = x.iter().map(|x: &f64| logistic::softplus(-x.abs() * norm)).sum();
        assert!((found.value - best).abs() <= found.gap + 1e-15, "B = {norm}: {} {best}", found.value);
        let rows = both(&data, Ball::Rows, norm / 2.0, Stop::default());
        assert!((rows.value - best).abs() <= rows.gap + 1e-15, "rows, B = {norm}: {} {best}", rows.value);
    }
}

#[test]
fn two_classes_agree_on_all_balls() {
    let reference = vector("best_in_hindsight");
    let (x, y) = (numbers(&reference["data"]["x"]), labels(&reference["data"]["y_binary"]));
    let data = Data::new(2, 3, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
    for norm in [0.1, 1.0, 50.0] {
        // theta is w_1 - w_0, and w_1 = theta / 2 = -w_0 is the pair with the smallest norm.
        let value = |ball, norm| both(&data, ball, norm, Stop::default()).value;
        let binary = value(Ball::Euclidean, norm);
        assert_close(value(Ball::Rows, norm / 2.0), binary, 2e-8, "rows");
        assert_close(value(Ball::Frobenius, norm / 2f64.sqrt()), binary, 2e-8, "Frobenius");
    }
}

#[test]
fn weights_count_rows_and_soft_labels_mix_them() {
    let x = [1.0, 0.5, -0.3, 0.8, -1.0, 0.2];
    let soft = [0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let mixed = Data::new(3, 2, Rows::Dense(&x), Labels::Distributions(&soft)).expect("good data");
    let mixed = mixed.with_weights(&[2.0, 1.0, 3.0]).expect("good weights");
    let copied = [1.0, 0.5, 1.0, 0.5, -0.3, 0.8, -1.0, 0.2, -1.0, 0.2, -1.0, 0.2];
    let labels = [0, 1, 2, 1, 1, 1];
    let apart = Data::new(3, 2, Rows::Dense(&copied), Labels::Classes(&labels)).expect("good data");
    for ball in [Ball::Rows, Ball::Frobenius] {
        let value = |data| both(data, ball, 2.0, Stop::default()).value;
        assert_close(value(&mixed), value(&apart), 1e-8, "value");
    }
}

#[test]
fn degenerate_data() {
    let none = Data::new(3, 2, Rows::Dense(&[]), Labels::Classes(&[])).expect("no rows");
    let found = best_in_hindsight(&none, Ball::Rows, 1.0, Stop::default()).expect("good arguments");
    assert_eq!((found.value, found.gap, found.weights), (0.0, 0.0, vec![0.0; 6]));

    // A feature that is always 0, and one that occurs twice.
    let x = [0.0, 1.0, 1.0, 0.0, -1.0, -1.0, 0.0, 2.0, 2.0, 0.0, 0.5, 0.5];
    let data = Data::new(3, 3, Rows::Dense(&x), Labels::Classes(&[0, 1, 1, 0])).expect("good data");
    for ball in [Ball::Rows, Ball::Frobenius] {
        for norm in [1e-6, 1.0, 1e4] {
            both(&data, ball, norm, Stop::default());
        }
    }
    let nothing = Data::new(2, 1, Rows::Dense(&[0.0, 0.0]), Labels::Classes(&[0, 1])).expect("good data");
    let found = best_in_hindsight(&nothing, Ball::Rows, 1.0, Stop::default()).expect("good arguments");
    assert_eq!((found.value, found.gap), (2.0 * 2f64.ln(), 0.0));
}

#[test]
fn bad_arguments_are_named() {
    let data = Data::new(3, 1, Rows::Dense(&[1.0]), Labels::Classes(&[0])).expect("good data");
    let error = |ball, norm, tolerance| {
        let stop = Stop { tolerance, ..Stop::default() };
        best_in_hindsight(&data, ball, norm, stop).expect_err("bad arguments").to_string()
    };
    assert!(error(Ball::Rows, 0.0, 1e-8).contains("norm bound of the comparator is 0,"));
    assert!(error(Ball::Rows, f64::INFINITY, 1e-8).contains("is inf"));
    assert!(error(Ball::Rows, 1.0, f64::NAN).contains("tolerance of the comparator is NaN"));
    assert!(error(Ball::Euclidean, 1.0, 1e-8).contains("with 3 classes"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The certificate holds: no point in the ball has a loss below `value - gap`.
    #[test]
    fn nothing_in_the_ball_is_better(
        classes in 2..5usize,
        features in 1..4usize,
        length in 1..30usize,
        exponent in -2.0..3.0f64,
        ball in prop::sample::select(vec![Ball::Rows, Ball::Frobenius, Ball::Euclidean]),
        x in prop::collection::vec(-1.5..1.5f64, 90),
        y in prop::collection::vec(0..60u32, 30),
        points in prop::collection::vec(-1.0..1.0f64, 12 * 60),
    ) {
        let classes = if ball == Ball::Euclidean { 2 } else { classes };
        let norm = 10f64.powf(exponent);
        let x = &x[..length * features];
        let y: Vec<u32> = y[..length].iter().map(|y| y % classes as u32).collect();
        let data = Data::new(classes, features, Rows::Dense(x), Labels::Classes(&y)).expect("good data");
        let found = both(&data, ball, norm, Stop::default());
        let dimension = found.weights.len();
        for (at, point) in points.chunks_exact(dimension).enumerate() {
            // Points of the whole ball, on its sphere, and near the returned one.
            let mut point = point.to_vec();
            if at % 3 == 2 {
                point.iter_mut().zip(&found.weights).for_each(|(p, w)| *p = w + 0.05 * norm * *p);
            }
            let scale = norm / size(ball, &point, features).max(if at % 3 == 1 { 0.0 } else { norm });
            point.iter_mut().for_each(|p| *p *= scale);
            let value = total(ball, &point, x, &y, features);
            prop_assert!(value >= found.value - found.gap - 1e-12 * value, "{value} < {} - {}", found.value, found.gap);
        }
    }
}

/// Features, norms and losses of very different sizes, a third of the data separable.
#[test]
fn hard_scales_take_few_steps() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut uniform = |low: f64, high: f64| -> f64 { rng.random_range(low..high) };
    for trial in 0..300 {
        let (classes, features) = (uniform(2.0, 7.0) as usize, uniform(1.0, 9.0) as usize);
        let length = 10f64.powf(uniform(0.0, 2.5)) as usize;
        let (scale, decay, norm) =
            (10f64.powf(uniform(-3.0, 3.0)), uniform(0.0, 3.0), 10f64.powf(uniform(-4.0, 4.0)));
        let x: Vec<f64> = (0..length * features)
            .map(|at| scale * uniform(-1.0, 1.0) * 10f64.powf(-decay * (at % features) as f64))
            .collect();
        let truth: Vec<f64> = (0..classes * features).map(|_| uniform(-1.0, 1.0)).collect();
        let y: Vec<u32> = x
            .chunks(features)
            .map(|x| {
                let scores: Vec<f64> = truth.chunks(features).map(|w| dot(w, x)).collect();
                let best = scores.iter().fold(f64::NEG_INFINITY, |best, s| s.max(best));
                let label = scores.iter().position(|s| *s == best).unwrap_or(0);
                if trial % 3 == 0 { label as u32 } else { uniform(0.0, classes as f64) as u32 }
            })
            .collect();
        let data = Data::new(classes, features, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
        for ball in [Ball::Rows, Ball::Frobenius] {
            let found = best_in_hindsight(&data, ball, norm, Stop::default()).expect("good arguments");
            assert!(found.gap <= 1e-8 * found.value.max(1.0), "{trial} {ball:?}: gap {}", found.gap);
            assert!(found.iterations <= 80, "{trial} {ball:?}: {} iterations", found.iterations);
        }
    }
}

/// $T = 10^5$ rows of 50 features in 7 classes.
#[test]
#[ignore = "slow: large data"]
fn large_data_takes_few_steps() {
    let (length, features, classes) = (100_000, 50, 7);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let truth: Vec<f64> = (0..classes * features).map(|_| 2.0 * normal()).collect();
    let x: Vec<f64> =
        (0..length * features).map(|at| normal() / (1.0 + (at % features) as f64).sqrt()).collect();
    let y: Vec<u32> = x
        .chunks(features)
        .map(|x| {
            let scores = truth.chunks(features).map(|w| dot(w, x) + 2.0 * normal());
            scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |top| top.0 as u32)
        })
        .collect();
    let data = Data::new(classes, features, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
    for (ball, norm) in [(Ball::Rows, 1.0), (Ball::Rows, 20.0), (Ball::Frobenius, 5.0)] {
        let found = best_in_hindsight(&data, ball, norm, Stop::default()).expect("good arguments");
        assert!(found.gap <= 1e-8 * found.value, "{ball:?} {norm}: gap {}", found.gap);
        assert!(found.iterations <= 20, "{ball:?} {norm}: {} iterations", found.iterations);
    }
}
