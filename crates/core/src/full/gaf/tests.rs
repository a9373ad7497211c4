use super::*;
use crate::algorithm::Algorithm as _;
use crate::example::{Features, Target};
use crate::learner::{OnlineLearner as _, Predictor as _};
use crate::testing::{assert_close, items, number, numbers, plays, vector};

fn gaf(params: GafParams, classes: usize, features: usize, seed: u64) -> Gaf {
    Gaf::new(params, Problem::new(classes, features), seed).expect("valid")
}

#[test]
fn parameters_are_resolved() {
    let params = gaf(GafParams::new().norm(3.0), 3, 2, 0).params();
    assert_eq!((params.samples, params.smoothing), (None, Some(0.0)));
    assert_eq!(params.regularization, Some(192.0));
    assert_close(params.curvature.expect("in use"), 1.0 / (0.5 * 3f64.ln() + 4.0), 1e-15, "beta");
    let params = gaf(GafParams::default(), 4, 2, 0).params();
    assert_eq!((params.samples, params.smoothing), (Some(100), Some(1e-3)));
}

/// Sampling may fail: the theorem that is shown beside the bound says with which probability it holds.
#[test]
fn the_theorem_says_that_it_holds_with_high_probability() {
    assert!(Gaussian::<LogisticLoss>::ABOUT.guarantee.contains("with probability 0.95"));
}

/// K = 2, d = 1, λ = ½, x = 1, label 0. Ã = N/2 = 1 in the coordinate z = (z_0 - z_1)/√2, z_0 - z_1 = √2 z =:
/// δ. After the label, z⁺ = Ã V^T(y - p) with V^T(y - p) = √2 p_1, so δ⁺ = 2σ(-δ⁺), the next round's mean.
#[test]
fn one_round_by_hand() {
    let params = GafParams::new().regularization(0.5);
    let mut learner = gaf(params, 2, 1, 0);
    let x = Features::Dense(&[1.0]);
    let mut at = learner.prediction();
    learner.predict(x, &mut at);
    assert_close(at.probabilities[0], 0.5, 1e-15, "symmetric");
    learner.update(x, Target::class(0), &at);
    // δ = 2σ(-δ): 0.6750614… by bisection.
    let (mut low, mut high) = (0.0f64, 2.0f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle < 2.0 * logistic::sigmoid(-middle) { low = middle } else { high = middle }
    }
    // One sample at 0 gives the softmax of the mean.
    at.normals = vec![0.0, 0.0];
    learner.predict(x, &mut at);
    assert_close(at.probabilities[0], logistic::sigmoid(low), 1e-12, "the mean");
}

#[test]
fn follows_the_reference() {
    let reference = vector("gaf_K3_practical");
    let of = |name: &str| number(&reference["params"][name]);
    let params = GafParams {
        norm: Some(of("B")),
        radius: Some(of("R")),
        regularization: Some(of("lam")),
        curvature: Some(of("beta")),
        smoothing: Some(of("mu")),
        samples: None,
    };
    let samples = 20_000;
    let mut sampled = gaf(GafParams { samples: Some(samples), ..params.clone() }, 3, 3, 9);
    let mut learner = gaf(params, 3, 3, 0);
    let (mut at, mut at_sampled) = (learner.prediction(), sampled.prediction());
    let labels = numbers(&reference["data"]["y"]);
    let expected = &reference["expected"];
    for (t, (row, y)) in items(&reference["data"]["x"]).iter().zip(labels).enumerate() {
        let row = numbers(row);
        let (x, y) = (Features::Dense(&row), Target::class(y as usize));
        learner.predict(x, &mut at);
        sampled.predict(x, &mut at_sampled);
        let probabilities = numbers(&expected["probs"][t]);
        let deviations = numbers(&expected["sample_sd"][t]);
        for k in 0..3 {
            assert_close(at.probabilities[k], probabilities[k], 1e-10, "probability");
            let error = (at_sampled.probabilities[k] - probabilities[k]).abs();
            assert!(error <= 6.0 * deviations[k] / (samples as f64).sqrt(), "round {t}: {error}");
        }
        learner.update(x, y, &at);
        sampled.update(x, y, &at_sampled);
    }
    let regret = number(&reference["summary"]["regret"]);
    let certificate = learner.certificate().expect("has one").expect("holds");
    assert!(regret <= certificate, "{regret} {certificate}");
}

#[test]
fn samples_depend_on_seed_and_round_alone() {
    let params = GafParams::new().regularization(0.5);
    let run = |seed| plays(&mut gaf(params.clone(), 5, 3, seed), 20);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let mut learner = gaf(params, 5, 3, 1);
    plays(&mut learner, 3);
    let (mut once, mut twice) = (learner.prediction(), learner.prediction());
    learner.predict(Features::Dense(&[0.3, 0.2, 0.1]), &mut once);
    learner.predict(Features::Dense(&[0.3, 0.2, 0.1]), &mut twice);
    assert_eq!(once.probabilities, twice.probabilities);
}

#[test]
fn the_general_newton_settles_where_the_inner_problem_does() {
    let learner = gaf(GafParams::default(), 4, 1, 0);
    let loss = &learner.surrogate.loss;
    let a = [3.0, 0.5, -1.0, 0.5, 2.0, 0.25, -1.0, 0.25, 20.0];
    let (mut z, mut other) = ([0.0; 3], [0.0; 3]);
    let mut scratch = vec![0.0; loss.scratch_len()];
    let y = Truth::Distribution(&[0.1, 0.2, 0.0, 0.7]);
    let mut room = [0.0; super::super::gaussian_forecaster::settle_len(3)];
    loss.settle(&a, &[4.0, -1.0, 9.0], y, &mut z, &mut room, &mut scratch);
    super::super::gaussian_forecaster::newton(
        loss,
        &a,
        &[4.0, -1.0, 9.0],
        y,
        &mut other,
        &mut room,
        &mut scratch,
    );
    (0..3).for_each(|i| assert_close(other[i], z[i], 1e-12, "z"));
}
