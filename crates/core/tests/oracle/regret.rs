//! Measured regret compared with the theorems.

use noregret::algorithm::Algorithm;
use noregret::bounds::{Setting, folklore, folklore_paper, folklore_trace, ogd_constant, ogd_square_root};
use noregret::example::{Features, Target};
use noregret::full::folklore::{Folklore, FolkloreParams};
use noregret::full::ogd::{Ogd, OgdBall, OgdParams, Schedule};
use noregret::learner::OnlineLearner;
use noregret::loss::curvature::Curvature;
use noregret::prediction::argmax;
use noregret::problem::Problem;

use crate::comparator::{Within, least_loss};
use crate::{Round, loss, one_hot, stream};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    Random,
    /// Classes and directions in turn.
    Cyclic,
    /// The label is the class with the smallest logit.
    Adversarial,
}

const STREAMS: [Stream; 3] = [Stream::Random, Stream::Cyclic, Stream::Adversarial];

fn rows(kind: Stream, rounds: usize, classes: usize, features: usize, radius: f64) -> Vec<Round> {
    let mut rows = stream(9, rounds, classes, features, radius);
    if kind == Stream::Cyclic {
        for (t, round) in rows.iter_mut().enumerate() {
            round.x.fill(0.0);
            round.x[t % features] = radius;
            round.y = one_hot(t % (classes + 1) % classes, classes);
        }
    }
    rows
}

/// Plays the stream and returns the total weighted loss; adversarial labels are written to the rounds.
fn play(learner: &mut dyn OnlineLearner, kind: Stream, rounds: &mut [Round], weights: &[f64]) -> f64 {
    let mut at = learner.prediction();
    let mut total = 0.0;
    for (Round { x, y }, weight) in rounds.iter_mut().zip(weights) {
        learner.predict(Features::Dense(x), &mut at);
        if kind == Stream::Adversarial {
            let negated: Vec<f64> = at.scores.iter().map(|z| -z).collect();
            *y = one_hot(argmax(&negated), y.len());
        }
        total += weight * loss(&at.scores, y);
        learner.update(Features::Dense(x), Target::distribution(y).weighted(*weight), &at);
    }
    total
}

#[test]
fn folklore_stays_below_its_certificate_and_its_theorems() {
    for kind in STREAMS {
        for (classes, features, norm) in [(2, 1, 0.3), (3, 2, 1.0), (4, 3, 3.0), (3, 1, 10.0)] {
            for curvature in [Curvature::Safe, Curvature::Tight] {
                for weighted in [false, true] {
                    let what = format!(
                        "{kind:?}, K = {classes}, d = {features}, B = {norm}, {curvature:?}, {weighted}"
                    );
                    let params = FolkloreParams::new().norm(norm).curvature(curvature);
                    let problem = Problem::new(classes, features).with_radius(1.0);
                    let mut learner = Folklore::new(params, problem, 0).expect("valid parameters");
                    let mut rounds = rows(kind, 200, classes, features, 1.0);
                    let weights: Vec<f64> =
                        (0..200).map(|t| if weighted { 0.25 + (t % 4) as f64 } else { 1.0 }).collect();
                    let total = play(&mut learner, kind, &mut rounds, &weights);
                    let regret = total - least_loss(&rounds, &weights, Within::Rows(norm));

                    let used = learner.params();
                    let lambda = used.regularization.expect("resolved");
                    let Some(Curvature::Value(gamma)) = used.curvature else { panic!("resolved") };
                    let certificate = learner.certificate().expect("folklore has one").expect("holds");
                    let trace = folklore_trace(lambda, classes as f64 * norm * norm, learner.trace());
                    let setting = Setting { classes, features, radius: 1.0, norm, rounds: 200.0 };
                    let closed = folklore(&setting, lambda, gamma);
                    let chain = format!("{what}: {regret} {certificate} {trace} {closed}");
                    assert!(regret <= certificate, "{chain}");
                    assert!(weighted || (certificate <= trace + 1e-9 && trace <= closed), "{chain}");
                }
            }
        }
    }
}

#[test]
fn the_printed_curvature_breaks_the_printed_theorem_and_the_safe_one_does_not() {
    // x = 1, K = 2, B = 0.3: 75 times class 1, then 225 times class 0.
    let regret = |curvature| {
        let params = FolkloreParams::new().norm(0.3).curvature(curvature);
        let problem = Problem::new(2, 1).with_radius(1.0);
        let mut learner = Folklore::new(params, problem, 0).expect("valid parameters");
        let mut rounds: Vec<_> = (0..300).map(|t| Round::new(vec![1.0], usize::from(t < 75), 2)).collect();
        let total = play(&mut learner, Stream::Random, &mut rounds, &[1.0; 300]);
        // The best comparator has its rows at ±0.3.
        let regret = total - (225.0 * (-0.6f64).exp().ln_1p() + 75.0 * 0.6f64.exp().ln_1p());
        let certificate = learner.certificate().expect("folklore has one");
        assert_eq!(certificate.is_err(), curvature == Curvature::Paper, "{certificate:?}");
        assert!(certificate.is_ok_and(|certificate| regret <= certificate) || curvature == Curvature::Paper);
        regret
    };
    let printed = folklore_paper(&Setting { classes: 2, features: 1, radius: 1.0, norm: 0.3, rounds: 300.0 });
    assert!((printed - 8.580133548004731).abs() < 1e-12);
    let (paper, safe) = (regret(Curvature::Paper), regret(Curvature::Safe));
    assert!((paper - 51.19638042464936).abs() < 1e-6 && paper > printed, "{paper}");
    assert!((safe + 30.409751713196044).abs() < 1e-6 && safe <= printed, "{safe}");
}

#[test]
fn the_closed_form_is_not_for_weights() {
    // One round of weight 1000, with λ >= 1000 γR²: the certificate holds, but the closed form with T = Σω
    // does not.
    let params = FolkloreParams::new().norm(1.0).regularization(250.0);
    let mut learner =
        Folklore::new(params, Problem::new(2, 1).with_radius(1.0), 0).expect("valid parameters");
    let mut rounds = [Round::new(vec![1.0], 0, 2)];
    let total = play(&mut learner, Stream::Random, &mut rounds, &[1000.0]);
    let regret = total - 1000.0 * (-2.0f64).exp().ln_1p();
    let setting = Setting { classes: 2, features: 1, radius: 1.0, norm: 1.0, rounds: 1000.0 };
    assert!(regret > folklore(&setting, 250.0, 0.25), "{regret}");
    assert!(regret <= learner.certificate().expect("folklore has one").expect("holds"));
}

#[test]
fn ogd_stays_below_its_theorem() {
    for kind in STREAMS {
        for (ball, within) in
            [(OgdBall::Frobenius, Within::Frobenius(2.0)), (OgdBall::Rows, Within::Rows(2.0))]
        {
            for schedule in [Schedule::Sqrt, Schedule::Constant] {
                let params = OgdParams::new().norm(2.0).ball(ball).schedule(schedule);
                let problem = Problem::new(3, 2).with_radius(1.0).with_horizon(200);
                let mut learner = Ogd::new(params, problem, 0).expect("valid parameters");
                let mut rounds = rows(kind, 200, 3, 2, 1.0);
                let total = play(&mut learner, kind, &mut rounds, &[1.0; 200]);
                let regret = total - least_loss(&rounds, &[1.0; 200], within);
                let setting = Setting { classes: 3, features: 2, radius: 1.0, norm: 2.0, rounds: 200.0 };
                let setting = if ball == OgdBall::Rows { setting.rows_in_frobenius_ball() } else { setting };
                let bound = match schedule {
                    Schedule::Sqrt => ogd_square_root(&setting),
                    Schedule::Constant => ogd_constant(&setting),
                };
                assert!(regret <= bound, "{kind:?}, {ball:?}, {schedule:?}: regret {regret}, bound {bound}");
            }
        }
    }
}
