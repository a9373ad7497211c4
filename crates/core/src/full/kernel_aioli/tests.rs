//! Tests of kernel AIOLI.

use super::*;
use crate::bounds::{Setting, aioli};
use crate::full::aioli::{Aioli, AioliParams};
use crate::model::Archive;
use crate::testing::{assert_close, plays};

fn with(kernel: Kernel) -> KernelAioliParams {
    KernelAioliParams { kernel: Some(kernel), norm: Some(2.0), ..Default::default() }
}

fn kernel_aioli(params: KernelAioliParams, features: usize) -> KernelAioli {
    KernelAioli::new(params, Problem::new(2, features), 0).expect("valid")
}

#[test]
fn parameters_are_resolved() {
    let radius = |kernel| {
        let problem = Problem::new(2, 3).with_radius(3.0);
        KernelAioli::new(with(kernel), problem, 0).expect("valid").params().radius
    };
    assert_eq!(radius(Kernel::Linear), Some(3.0));
    assert_eq!(radius(Kernel::Polynomial), Some(10.0));
    assert_eq!(radius(Kernel::Rbf), Some(1.0));
}

/// Linear kernel, d = 1, B = R = 1 as in AIOLI's example: after x = 1 with label 1, c = 1/4 and w = 1/16, so
/// L = √(17/16) and f = √w·c/L. Then for x = 1, m = c - a f with a = √w/L: 1/4 - 1/68 = 4/17, v = 1 - 1/17 =
/// 16/17.
#[test]
fn two_rounds_by_hand() {
    let params = KernelAioliParams { kernel: Some(Kernel::Linear), norm: Some(1.0), ..Default::default() };
    let mut learner = kernel_aioli(params, 1);
    let x = Features::Dense(&[1.0]);
    let mut at = learner.prediction();
    learner.predict(x, &mut at);
    learner.update(x, Target::class(1), &at);
    assert_eq!((&learner.coefficients[..], &learner.root_weights[..]), (&[0.25][..], &[0.25][..]));
    assert_close(
        learner.certificate().expect("has one").expect("holds"),
        1.0 + 1.0 / 17.0,
        1e-15,
        "certificate",
    );
    learner.predict(x, &mut at);
    let s = at.scores[1] - at.scores[0];
    assert_close(s + 8.0 / 17.0 * (0.5 * s).tanh(), 4.0 / 17.0, 1e-15, "equation (1)");
}

#[test]
fn the_linear_kernel_is_aioli() {
    let mut linear = kernel_aioli(with(Kernel::Linear), 4);
    let params = AioliParams { norm: Some(2.0), ..Default::default() };
    let mut aioli = Aioli::new(params, Problem::new(2, 4), 0).expect("valid");
    let (ours, theirs) = (plays(&mut linear, 120), plays(&mut aioli, 120));
    assert_eq!(ours.len(), 120);
    for (a, b) in ours.iter().zip(&theirs) {
        assert_close(a[1], b[1], 1e-12, "probability");
    }
    let certificates = (linear.certificate(), aioli.certificate());
    let [linear, aioli] = [certificates.0, certificates.1].map(|own| own.expect("has one").expect("holds"));
    let certificates = (linear, aioli);
    assert_close(certificates.0, certificates.1, 1e-11, "certificate");
    let setting = Setting { classes: 2, features: 4, radius: 1.0, norm: 2.0, rounds: 120.0 };
    assert!(certificates.0 <= aioli_bound(&setting));
}

fn aioli_bound(setting: &Setting) -> f64 {
    aioli(setting, 1.0 / (setting.norm * setting.norm))
}

/// (uv + 1)² = ⟨(u², √2 u, 1), (v², √2 v, 1)⟩ for numbers u, v.
#[test]
fn the_polynomial_kernel_is_aioli_on_its_features() {
    let params = KernelAioliParams { radius: Some(2.0), ..with(Kernel::Polynomial) };
    let mut polynomial = kernel_aioli(params, 1);
    let params = AioliParams { norm: Some(2.0), radius: Some(2.0), ..Default::default() };
    let mut explicit = Aioli::new(params, Problem::new(2, 3), 0).expect("valid");
    let (mut ours, mut theirs) = (polynomial.prediction(), explicit.prediction());
    for t in 0..60 {
        let u = (f64::from(t) * 0.7).sin();
        let features = [u * u, 2f64.sqrt() * u, 1.0];
        let y = Target::class(usize::from(u * u > 0.4 + 0.2 * f64::from(t % 3)));
        polynomial.predict(Features::Dense(&[u]), &mut ours);
        explicit.predict(Features::Dense(&features), &mut theirs);
        assert_close(ours.scores[1], theirs.scores[1], 1e-12, "score");
        polynomial.update(Features::Dense(&[u]), y, &ours);
        explicit.update(Features::Dense(&features), y, &theirs);
    }
}

#[test]
fn the_budget_stops_learning_and_withdraws_the_certificate() {
    let params = KernelAioliParams { max_rounds: Some(5), ..with(Kernel::Rbf) };
    let mut learner = kernel_aioli(params, 2);
    plays(&mut learner, 5);
    assert!(learner.certificate().expect("keeps one").is_ok());
    let (mut before, mut after) = (learner.prediction(), learner.prediction());
    let x = Features::Dense(&[0.4, -0.1]);
    learner.predict(x, &mut before);
    plays(&mut learner, 3);
    learner.predict(x, &mut after);
    assert_eq!(before.scores, after.scores);
    assert_eq!((learner.rounds(), learner.stored()), (8, 5));
    let void = learner.certificate().expect("keeps one").expect_err("rounds are missing");
    assert_eq!(
        void,
        "3 rounds were not learnt: it needs at most max_rounds rounds, and kernel-aioli-landmarks needs no limit".into()
    );
}

#[test]
fn rows_beyond_range_are_not_learnt() {
    let mut learner = kernel_aioli(with(Kernel::Polynomial), 2);
    plays(&mut learner, 4);
    let mut at = learner.prediction();
    for x in [[1e150, 0.0], [1e60, 1e70], [0.3, 0.1]] {
        let x = Features::Dense(&x);
        learner.predict(x, &mut at);
        assert!(at.scores.iter().chain(&at.probabilities).all(|value| value.is_finite()));
        learner.update(x, Target::class(0), &at);
    }
    assert_eq!((learner.stored(), learner.dropped), (6, 1));
    assert!(learner.tensors().len() == 11 && learner.projected.iter().all(|f| f.is_finite()));
}

#[test]
fn contradicting_files_are_refused() {
    let mut learner = kernel_aioli(with(Kernel::Rbf), 2);
    plays(&mut learner, 6);
    let archive = Archive::of(&mut learner);
    let mut loaded = archive.model().expect("just written");
    assert_eq!(plays(loaded.as_mut(), 10), plays(&mut learner, 10));
    let mut short = archive.clone();
    let mut factor = short.tensor("learner/factor").expect("saved").clone();
    factor.shape[0] -= 1;
    if let crate::model::Data::Real(data) = &mut factor.data {
        data.pop();
    }
    short.set_tensor("learner/factor", factor);
    assert!(short.model().is_err());
}
