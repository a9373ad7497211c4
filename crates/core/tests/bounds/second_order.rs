//! The theorems of the second-order learners, asserted: regret <= certificate <= bound on random, cyclic and
//! adversarial streams, against the best comparator in hindsight.

use noregret::algorithm::Algorithm;
use noregret::batch::comparator::{Ball, Stop, best_in_hindsight};
use noregret::batch::data::{Data, Labels, Rows};
use noregret::bounds::{self, Setting};
use noregret::capability::Inside as _;
use noregret::example::{Features, Target};
use noregret::full::aioli::{Aioli, AioliParams};
use noregret::full::folklore::{Folklore, FolkloreParams};
use noregret::full::folklore_intervals::{FolkloreIntervals, FolkloreIntervalsParams};
use noregret::full::folklore_sketch::{Eigenvalue, FolkloreSketch, FolkloreSketchParams};
use noregret::full::gaf::{Gaf, GafParams};
use noregret::full::kernel_aioli::{Kernel, KernelAioli, KernelAioliParams};
use noregret::full::kernel_aioli_landmarks::{KernelAioliLandmarks, KernelAioliLandmarksParams};
use noregret::full::ons::{Ons, OnsParams};
use noregret::full::ons_sketch::{OnsSketch, OnsSketchParams};
use noregret::full::vaw::{Vaw, VawParams};
use noregret::guarantee::Guarantee;
use noregret::learner::{OnlineLearner, Predictor};
use noregret::loss::curvature::Curvature;
use noregret::loss::logistic;
use noregret::prediction::argmax;
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

use crate::{STREAMS, Stream, row, unit};

const ROUNDS: usize = 200;

/// Rows, one after another, and labels.
struct History {
    features: usize,
    rows: Vec<f64>,
    labels: Vec<u32>,
    total: f64,
}

impl History {
    /// The learner's regret against the best predictor in the ball, rounded up by the comparator's gap.
    fn regret(&self, classes: usize, ball: Ball, norm: f64) -> f64 {
        self.total - self.best(classes, ball, norm)
    }

    /// The loss of the best predictor in the ball, rounded down by its gap.
    fn best(&self, classes: usize, ball: Ball, norm: f64) -> f64 {
        let (rows, labels) = (Rows::Dense(&self.rows), Labels::Classes(&self.labels));
        let data = Data::new(classes, self.features, rows, labels).expect("finite rows and classes below K");
        let best = best_in_hindsight(&data, ball, norm, Stop::default()).expect("a positive norm");
        best.value - best.gap
    }
}

fn play(learner: &mut dyn OnlineLearner, stream: Stream) -> History {
    play_rounds(learner, stream, ROUNDS)
}

fn play_rounds(learner: &mut dyn OnlineLearner, stream: Stream, rounds: usize) -> History {
    let (k, d) = (learner.problem().classes, learner.problem().features);
    let mut rng = Rng::new(23, 0);
    let truth: Vec<f64> = (0..k * d).map(|_| rng.normal()).collect();
    let mut history = History { features: d, rows: Vec::new(), labels: Vec::new(), total: 0.0 };
    let mut at = learner.prediction();
    for t in 0..rounds {
        let x = row(stream, t, d, &mut rng);
        let features = Features::Dense(&x);
        learner.predict(features, &mut at);
        let label = match stream {
            Stream::Random if rng.uniform() < 0.1 => rng.below(k as u64) as usize,
            Stream::Random => argmax(&truth.chunks_exact(d).map(|w| features.dot(w)).collect::<Vec<_>>()),
            // Of another period than the rows.
            Stream::Cyclic => t % (k + 1) % k,
            Stream::Adversarial => argmax(&at.scores.iter().map(|score| -score).collect::<Vec<_>>()),
        };
        history.total += logistic::loss(&at.scores, label);
        learner.update(features, Target::class(label), &at);
        history.rows.extend(&x);
        history.labels.push(label as u32);
    }
    history
}

fn setting(classes: usize, features: usize, norm: f64) -> Setting {
    Setting { classes, features, radius: 1.0, norm, rounds: ROUNDS as f64 }
}

/// Panics unless `chain` increases.
fn assert_chain(what: &str, chain: &[f64]) {
    assert!(chain.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9), "{what}: {chain:?} should increase");
}

#[test]
fn aioli() {
    for stream in STREAMS {
        for (d, norm) in [(1, 0.5), (1, 8.0), (3, 2.0), (6, 5.0)] {
            for curvature in [Curvature::Paper, Curvature::Safe, Curvature::Tight] {
                let params = AioliParams::new().norm(norm).curvature(curvature);
                let problem = Problem::new(2, d).with_radius(1.0);
                let mut learner = Aioli::new(params, problem, 0).expect("valid");
                let regret = play(&mut learner, stream).regret(2, Ball::Euclidean, norm);
                let Some(Curvature::Value(kappa)) = learner.params().curvature else { panic!("resolved") };
                let bound = bounds::aioli_curvature(&setting(2, d, norm), 1.0 / (norm * norm), kappa);
                let certificate = learner.certificate().expect("has one").expect("holds");
                let what = format!("{stream:?}, d = {d}, B = {norm}, {curvature:?}");
                assert_chain(&what, &[regret, certificate, bound]);
                if curvature == Curvature::Paper {
                    assert_eq!(bound, bounds::aioli(&setting(2, d, norm), 1.0 / (norm * norm)));
                }
            }
        }
    }
}

/// The certificate holds for every rank, whatever the sketch has discarded.
#[test]
fn folklore_sketch() {
    for stream in STREAMS {
        for (k, d, norm, rank) in
            [(2, 1, 0.5, 1), (2, 6, 2.0, 1), (2, 6, 5.0, 3), (3, 5, 2.0, 2), (5, 4, 1.0, 1)]
        {
            for curvature in [Curvature::Safe, Curvature::Tight] {
                let params = FolkloreSketchParams::new()
                    .rank(rank)
                    .eigenvalue(if k == 2 { Eigenvalue::Mean } else { Eigenvalue::Least })
                    .norm(norm)
                    .curvature(curvature);
                let problem = Problem::new(k, d).with_radius(1.0);
                let mut learner = FolkloreSketch::new(params, problem, 0).expect("valid");
                let regret = play(&mut learner, stream).regret(k, Ball::Rows, norm);
                let certificate = learner.certificate().expect("has one").expect("holds");
                let what = format!("{stream:?}, K = {k}, d = {d}, B = {norm}, m = {rank}");
                assert_chain(&what, &[regret, certificate]);
                assert_eq!(learner.figures()[0].1[0] > 0.0, d as u64 > rank, "{what}: discarded");
            }
        }
    }
    let mean = FolkloreSketch::new(FolkloreSketchParams::default(), Problem::new(3, 2), 0).expect("valid");
    let why = mean.certificate().expect("has one for two classes").expect_err("the mean is no lower bound");
    assert_eq!(why.to_string(), "with three or more classes it needs eigenvalue = least");
}

#[test]
fn kernel_aioli() {
    for stream in STREAMS {
        for (d, norm) in [(1, 3.0), (4, 2.0)] {
            let params =
                KernelAioliParams::new().kernel(Kernel::Linear).norm(norm).curvature(Curvature::Tight);
            let problem = Problem::new(2, d).with_radius(1.0);
            let mut learner = KernelAioli::new(params, problem, 0).expect("valid");
            let regret = play(&mut learner, stream).regret(2, Ball::Euclidean, norm);
            let Some(Curvature::Value(kappa)) = learner.params().curvature else { panic!("resolved") };
            let (setting, lambda) = (setting(2, d, norm), 1.0 / (norm * norm));
            let own = bounds::aioli_log_det(&setting, lambda, kappa, learner.log_det());
            let closed = bounds::aioli_curvature(&setting, lambda, kappa);
            let certificate = learner.certificate().expect("has one").expect("holds");
            assert_chain(&format!("{stream:?}, d = {d}, B = {norm}"), &[regret, certificate, own, closed]);
        }
    }
}

/// With fewer landmarks than dimensions, rows are beyond them in nearly every round; the comparators are not.
#[test]
fn kernel_aioli_landmarks() {
    for stream in STREAMS {
        for (d, norm, landmarks) in [(1, 3.0, 1), (4, 2.0, 4), (4, 2.0, 3), (6, 5.0, 2)] {
            let params = KernelAioliLandmarksParams {
                landmarks: Some(landmarks),
                kernel: Some(Kernel::Linear),
                norm: Some(norm),
                curvature: Some(Curvature::Tight),
                ..Default::default()
            };
            let problem = Problem::new(2, d).with_radius(1.0);
            let mut learner = KernelAioliLandmarks::new(params, problem, 0).expect("valid");
            let regret = play(&mut learner, stream).regret(2, Ball::Euclidean, norm);
            let certificate = learner.certificate().expect("has one").expect("holds");
            let bound = learner.guarantee().and_then(|promise| promise.regret_bound()).expect("has one");
            let what = format!("{stream:?}, d = {d}, B = {norm}, m = {landmarks}");
            assert_chain(&what, &[regret, certificate, bound.expect("holds")]);
            let price = learner.figures()[1].1[0];
            assert_eq!(price > 1e-3, (landmarks as usize) < d, "{what}: {price}");
        }
    }
}

/// An rbf kernel on a stream that is much longer than the landmarks: the certificate is above the regret
/// against predictors with a center at every row of a part of the stream, and far below that of guessing.
#[test]
fn landmarks_hold_a_long_stream() {
    const ROUNDS: usize = 4000;
    let (norm, length_scale) = (8.0, 0.7);
    let params = KernelAioliLandmarksParams {
        landmarks: Some(40),
        length_scale: Some(length_scale),
        norm: Some(norm),
        ..Default::default()
    };
    let mut learner = KernelAioliLandmarks::new(params, Problem::new(2, 2), 0).expect("valid");
    let (mut rng, mut at, mut total) = (Rng::new(4, 0), learner.prediction(), 0.0);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let x = [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0];
        // What no linear predictor learns, with noise.
        let y = usize::from((x[0] * x[1] > 0.0) != (rng.uniform() < 0.05));
        learner.predict(Features::Dense(&x), &mut at);
        total += logistic::loss(&at.scores, y);
        learner.update(Features::Dense(&x), Target::class(y), &at);
        rounds.push((x, y));
    }
    let kernel = |u: &[f64; 2], v: &[f64; 2]| {
        let squared = (u[0] - v[0]).powi(2) + (u[1] - v[1]).powi(2);
        (-0.5 * squared / (length_scale * length_scale)).exp()
    };
    let centers: Vec<_> = rounds.iter().step_by(20).map(|(x, _)| *x).collect();
    let sign = |x: &[f64; 2]| if x[0] * x[1] > 0.0 { 1.0 } else { -1.0 };
    let raw = |x: &[f64; 2]| centers.iter().map(|center| sign(center) * kernel(center, x)).sum::<f64>();
    let square: f64 = centers.iter().map(|center| sign(center) * raw(center)).sum();
    let certificate = learner.certificate().expect("has one").expect("holds");
    let mut best = f64::INFINITY;
    for share in [0.25, 0.5, 1.0] {
        let factor = share * norm / square.sqrt();
        let loss = |(x, y): &([f64; 2], usize)| {
            let logit = factor * raw(x);
            logistic::loss(&[-0.5 * logit, 0.5 * logit], *y)
        };
        best = rounds.iter().map(loss).sum::<f64>().min(best);
    }
    assert!(total - best <= certificate, "{total} - {best} beyond {certificate}");
    assert!(best + certificate < 0.9 * ROUNDS as f64 * 2f64.ln(), "{best} + {certificate}");
    assert!(total < 0.6 * ROUNDS as f64 * 2f64.ln(), "{total}");
    assert_eq!(learner.figures()[0].1[0], 40.0, "more rows than landmarks");
}

/// Rows and labels of two classes that are exchanged after 1,000 rounds and drift from round 2,000 on.
fn exchanged(rounds: usize) -> Vec<(Vec<f64>, usize)> {
    let mut rng = Rng::new(31, 0);
    let round = |t: usize| {
        let x = unit(vec![rng.normal(), rng.normal()]);
        let turn = if t < 1000 { 0.0 } else { std::f64::consts::PI + t.saturating_sub(2000) as f64 / 500.0 };
        let right = usize::from(x[0] * turn.cos() + x[1] * turn.sin() > 0.0);
        let y = if rng.uniform() < 0.05 { 1 - right } else { right };
        (x, y)
    };
    (0..rounds).map(round).collect()
}

/// In many intervals of a changing stream, the regret against the best predictor of the interval is within
/// the bound, and some bounds are below the loss of guessing; after the change FOLKLORE alone loses more.
#[test]
fn folklore_intervals() {
    const ROUNDS: usize = 3000;
    let (k, d, norm) = (2, 2, 3.0);
    for block in [1, 16] {
        let params = FolkloreIntervalsParams { block: Some(block), norm: Some(norm), ..Default::default() };
        let problem = Problem::new(k, d).with_radius(1.0);
        let mut learner = FolkloreIntervals::new(params, problem.clone(), 0).expect("valid");
        let alone = FolkloreParams { norm: Some(norm), ..Default::default() };
        let mut alone = Folklore::new(alone, problem, 0).expect("valid");
        let used = alone.params();
        let (Some(lambda), Some(Curvature::Value(gamma))) = (used.regularization, used.curvature) else {
            panic!("resolved")
        };
        let (mut at, mut other) = (learner.prediction(), alone.prediction());
        let (mut rows, mut labels, mut losses, mut others) = (vec![], vec![], vec![], vec![]);
        for (x, y) in exchanged(ROUNDS) {
            let features = Features::Dense(&x);
            learner.predict(features, &mut at);
            alone.predict(features, &mut other);
            losses.push(logistic::loss(&at.scores, y));
            others.push(logistic::loss(&other.scores, y));
            learner.update(features, Target::class(y), &at);
            alone.update(features, Target::class(y), &other);
            rows.extend(x);
            labels.push(y as u32);
        }
        let best = |part: std::ops::Range<usize>| {
            let (rows, labels) = (rows[d * part.start..d * part.end].to_vec(), labels[part].to_vec());
            History { features: d, rows, labels, total: 0.0 }.best(k, Ball::Rows, norm)
        };
        let setting = Setting { rounds: ROUNDS as f64, ..setting(k, d, norm) };
        let mut bites = 0;
        for (first, last) in [
            (1, 3000),
            (1, 1000),
            (1001, 1500),
            (1001, 2000),
            (1001, 3000),
            (1500, 2500),
            (2001, 2200),
            (2400, 3000),
            (7, 9),
        ] {
            let part = first as usize - 1..last as usize;
            let best = best(part.clone());
            let bound = bounds::folklore_interval(&setting, lambda, gamma, block, first, last);
            let regret = losses[part.clone()].iter().sum::<f64>() - best;
            assert!(regret <= bound, "b = {block}, [{first}, {last}]: {regret} beyond {bound}");
            bites += usize::from(best + bound < part.len() as f64 * 2f64.ln());
        }
        assert!(bites >= 3, "{bites}");
        let after = |losses: &[f64]| losses[1000..2000].iter().sum::<f64>();
        assert!(after(&losses) < 0.9 * after(&others), "{} and {}", after(&losses), after(&others));
        // In all rounds, as `guarantee` and certificate say.
        let Some(Guarantee::IntervalRegret { bound: Ok(bound), every: Ok(every), .. }) = learner.guarantee()
        else {
            panic!("it has a bound");
        };
        let certificate = learner.certificate().expect("has one").expect("holds");
        let regret = losses.iter().sum::<f64>() - best(0..ROUNDS);
        assert_chain(&format!("b = {block}"), &[regret, certificate, bound, every]);
        let begun = 2.0 + (ROUNDS as u64 / block) as f64;
        let want = bounds::folklore(&setting, lambda, gamma) + begun.ln();
        assert!((bound - want).abs() < 1e-9, "{bound} instead of {want}");
    }
}

/// The certificate holds for every regularization and for sampled forecasts; the theorem for its own
/// parameters.
#[test]
fn gaf() {
    for stream in STREAMS {
        for (k, d, norm, regularization) in [
            (2, 1, 0.5, None),
            (2, 3, 2.0, Some(0.2)),
            (3, 2, 3.0, Some(0.5)),
            (3, 1, 1.0, None),
            (5, 2, 2.0, Some(0.1)),
        ] {
            let params = GafParams { norm: Some(norm), regularization, ..Default::default() };
            let problem = Problem::new(k, d).with_radius(1.0);
            let mut learner = Gaf::new(params, problem, 4).expect("valid");
            let regret = play(&mut learner, stream).regret(k, Ball::Frobenius, norm);
            let certificate = learner.certificate().expect("has one").expect("holds");
            let what = format!("{stream:?}, K = {k}, d = {d}, B = {norm}, {regularization:?}");
            assert_chain(&what, &[regret, certificate]);
            if regularization.is_none() {
                let used = learner.params();
                let lambda = used.regularization.expect("resolved");
                let beta = used.curvature.expect("resolved");
                let setting = setting(k, d, norm);
                let own = bounds::gaf_log_det(&setting, lambda, beta, learner.log_det());
                assert_chain(&what, &[certificate, own, bounds::gaf(&setting, lambda, beta)]);
            }
        }
    }
}

/// The bound is large: it takes many rounds until a learner that does not learn would exceed it.
#[test]
fn ons() {
    for stream in STREAMS {
        for (k, d, norm, rounds) in
            [(2, 1, 0.5, 2000), (2, 1, 2.0, 6000), (2, 2, 0.5, 8000), (3, 1, 0.5, 6000)]
        {
            let params = OnsParams::new().norm(norm);
            let problem = Problem::new(k, d).with_radius(1.0);
            let mut learner = Ons::new(params, problem, 0).expect("valid");
            let history = play_rounds(&mut learner, stream, rounds);
            let best = history.best(k, Ball::Frobenius, norm);
            let bound = bounds::ons(&Setting { rounds: rounds as f64, ..setting(k, d, norm) });
            let what = format!("{stream:?}, K = {k}, d = {d}, B = {norm}");
            assert_chain(&what, &[history.total - best, bound]);
            let idle = rounds as f64 * (k as f64).ln() - best;
            assert!(stream != Stream::Random || idle > bound, "{what}: the bound {bound} is vacuous, {idle}");
        }
    }
}

/// The certificate holds for every rank, whatever the sketch has discarded.
#[test]
fn ons_sketch() {
    for stream in STREAMS {
        for (k, d, norm, rank) in [(2, 1, 0.5, 1), (2, 4, 2.0, 1), (3, 3, 0.5, 2), (4, 2, 1.0, 3)] {
            let params = OnsSketchParams::new().rank(rank).norm(norm);
            let problem = Problem::new(k, d).with_radius(1.0);
            let mut learner = OnsSketch::new(params, problem, 0).expect("valid");
            let history = play_rounds(&mut learner, stream, 1000);
            let best = history.best(k, Ball::Frobenius, norm);
            let certificate = learner.certificate().expect("has one").expect("holds");
            let what = format!("{stream:?}, K = {k}, d = {d}, B = {norm}, m = {rank}");
            assert_chain(&what, &[history.total - best, certificate]);
            assert_eq!(learner.figures()[0].1[0] > 0.0, ((k - 1) * d) as u64 > rank, "{what}: discarded");
        }
    }
    let fast = OnsSketchParams::new().rate(0.3);
    let fast = OnsSketch::new(fast, Problem::new(3, 2), 0).expect("valid");
    let why = fast.certificate().expect("has one for the theorem's rate").expect_err("the rate is too large");
    assert_eq!(why.to_string(), "it needs the projection, and at most the default rate");
}

#[test]
fn vaw() {
    const TARGET_BOUND: f64 = 2.0;
    for stream in STREAMS {
        for (d, norm) in [(1, 0.5), (3, 2.0), (6, 10.0)] {
            let mut rng = Rng::new(29, 0);
            let truth: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let params = VawParams::new().norm(norm).target_bound(TARGET_BOUND);
            let mut learner = Vaw::new(params, Problem::new(1, d).with_radius(1.0), 0).expect("valid");
            let mut at = learner.prediction();
            let (mut rows, mut total) = (Vec::new(), 0.0);
            for t in 0..ROUNDS {
                let x = row(stream, t, d, &mut rng);
                let features = Features::Dense(&x);
                learner.predict(features, &mut at);
                let y = match stream {
                    Stream::Random => features.dot(&truth) + 0.5 * rng.normal(),
                    Stream::Cyclic => (t % 5) as f64 - 2.0,
                    Stream::Adversarial => -TARGET_BOUND.copysign(at.scores[0]),
                };
                let y = y.clamp(-TARGET_BOUND, TARGET_BOUND);
                total += (at.scores[0] - y).powi(2);
                learner.update(features, Target::value(y), &at);
                rows.push((x, y));
            }
            // The best θ in the ball, by projected gradient descent: the gradient is Lipschitz with constant
            // 2T.
            let mut theta = vec![0.0; d];
            for _ in 0..2000 {
                let mut gradient = vec![0.0; d];
                for (x, y) in &rows {
                    let residual = Features::Dense(x).dot(&theta) - y;
                    gradient.iter_mut().zip(x).for_each(|(g, x)| *g += 2.0 * residual * x);
                }
                theta.iter_mut().zip(&gradient).for_each(|(t, g)| *t -= g / (2 * ROUNDS) as f64);
                let length = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
                theta.iter_mut().for_each(|t| *t *= (norm / length).min(1.0));
            }
            let best: f64 = rows.iter().map(|(x, y)| (Features::Dense(x).dot(&theta) - y).powi(2)).sum();
            let lambda = learner.params().regularization.expect("resolved");
            let bound = bounds::vaw(&setting(2, d, norm), lambda, TARGET_BOUND);
            let certificate = learner.certificate().expect("has one").expect("holds");
            let what = format!("{stream:?}, d = {d}, B = {norm}");
            assert_chain(&what, &[total - best, certificate, bound]);
        }
    }
}
