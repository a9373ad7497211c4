//! The theorems, asserted: mean expected mistakes over many runs, on random, separable and adversarial
//! streams, against many comparators.

use noregret::algorithm::Algorithm;
use noregret::bandit::banditron::{Banditron, BanditronParams};
use noregret::bandit::gaptron::BanditGaptron;
use noregret::bandit::reduction::{BanditReduction, BanditReductionParams};
use noregret::bandit::soba::{Soba, SobaParams};
use noregret::bandit::soba_reduction::{SobaReduction, SobaReductionParams};
use noregret::bandit::soba_sketch::{SobaSketch, SobaSketchParams};
use noregret::bounds::{self, Setting};
use noregret::example::Features;
use noregret::full::gaptron::{GaptronParams, Hinge, Logistic, Loss, Smooth};
use noregret::full::second_order_margin::FullMetric;
use noregret::guarantee::Guarantee;
use noregret::learner::BanditLearner;
use noregret::loss::hinge::{eta_loss, hinge, margin};
use noregret::loss::logistic;
use noregret::param::exploration::Exploration;
use noregret::param::{Params, Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::rng::Rng;

const CLASSES: usize = 3;
const FEATURES: usize = 4;
const ROUNDS: usize = 2000;
const RUNS: u64 = 8;

/// How labels are chosen; rows are random directions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Labels {
    /// The best class of a fixed linear predictor, one in ten drawn at random.
    Noisy,
    /// The best class of a fixed linear predictor, rows close to its boundaries left out.
    Separable,
    /// The class with the least probability in the learner's distribution.
    Adversarial,
}

/// One run: rows, labels, and the sum of the probabilities of mistakes.
struct Run {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    expected_mistakes: f64,
    exploration: f64,
}

fn linear(u: &[f64], x: &[f64]) -> Vec<f64> {
    u.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(u, x)| u * x).sum()).collect()
}

fn norm(u: &[f64]) -> f64 {
    u.iter().map(|u| u * u).sum::<f64>().sqrt()
}

/// The linear predictor of the labels.
fn truth() -> Vec<f64> {
    let mut rng = Rng::new(17, 0);
    let u: Vec<f64> = (0..CLASSES * FEATURES).map(|_| rng.normal()).collect();
    u.iter().map(|w| w / norm(&u)).collect()
}

fn play(learner: &mut dyn BanditLearner, labels: Labels, seed: u64) -> Run {
    let (truth, mut stream, mut uniforms) = (truth(), Rng::new(1, seed), Rng::new(2, seed));
    let mut run = Run { rows: Vec::new(), labels: Vec::new(), expected_mistakes: 0.0, exploration: 0.0 };
    let mut at = Decision::default();
    while run.rows.len() < ROUNDS {
        let x: Vec<f64> = (0..FEATURES).map(|_| stream.normal()).collect();
        let x: Vec<f64> = x.iter().map(|value| value / norm(&x)).collect();
        let scores = linear(&truth, &x);
        let best = noregret::prediction::argmax(&scores);
        if labels == Labels::Separable && margin(&scores, best).value < 0.1 {
            continue;
        }
        learner.act(Features::Dense(&x), &mut uniforms, &mut at);
        let y = match labels {
            Labels::Noisy if stream.below(10) == 0 => stream.below(CLASSES as u64) as usize,
            Labels::Noisy | Labels::Separable => best,
            Labels::Adversarial => {
                let p = &at.distribution;
                (0..CLASSES).min_by(|a, b| p[*a].total_cmp(&p[*b])).expect("classes")
            }
        };
        run.expected_mistakes += 1.0 - at.distribution[y];
        run.exploration += at.exploration;
        learner.learn(Features::Dense(&x), &at, (at.label as usize == y).into());
        run.rows.push(x);
        run.labels.push(y);
    }
    run
}

impl Run {
    /// The total of `loss` of the linear predictor `u`.
    fn total(&self, u: &[f64], loss: impl Fn(&[f64], usize) -> f64) -> f64 {
        self.rows.iter().zip(&self.labels).map(|(x, &y)| loss(&linear(u, x), y)).sum()
    }
}

/// The true predictor, scaled to several norms, including 0.
fn comparators(largest: f64) -> Vec<Vec<f64>> {
    let sizes = [0.0, 0.3, 1.0, 2.0, 5.0, 10.0, 20.0].into_iter().filter(|size| *size <= largest);
    sizes.map(|size| truth().iter().map(|u| size * u).collect()).collect()
}

fn setting(norm: f64) -> Setting {
    Setting { classes: CLASSES, features: FEATURES, radius: 1.0, norm, rounds: ROUNDS as f64 }
}

fn problem() -> Problem {
    Problem::new(CLASSES, FEATURES).with_radius(1.0).with_horizon(ROUNDS as u64)
}

/// Asserts that the mean of `mistakes - bound` over the runs is at most 0 for every comparator: the theorem
/// is about expectations, and [`RUNS`] runs are averaged.
fn assert_bound<B: BanditLearner>(
    name: &str,
    make: impl Fn() -> B,
    largest: f64,
    bound: impl Fn(&B, &Run, &[f64]) -> f64,
) {
    for labels in [Labels::Noisy, Labels::Separable, Labels::Adversarial] {
        let runs: Vec<(B, Run)> = (0..RUNS)
            .map(|seed| {
                let mut learner = make();
                let run = play(&mut learner, labels, seed);
                (learner, run)
            })
            .collect();
        let mut tightest = f64::INFINITY;
        for u in comparators(largest) {
            let mean = |of: &dyn Fn(&(B, Run)) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
            let mistakes = mean(&|(_, run)| run.expected_mistakes);
            let bound = mean(&|(learner, run)| bound(learner, run, &u));
            assert!(mistakes <= bound, "{name}, {labels:?}, |U| = {}: {mistakes} > {bound}", norm(&u));
            tightest = tightest.min(bound);
        }
        let mistakes = runs.iter().map(|(_, run)| run.expected_mistakes).sum::<f64>() / RUNS as f64;
        eprintln!("{name}, {labels:?}: {mistakes:.0} expected mistakes, bound {tightest:.0}");
    }
}

#[test]
fn banditron() {
    for gamma in [0.05, 0.5] {
        let make = || {
            let params = BanditronParams::new().exploration(gamma);
            Banditron::new(params, problem(), 0).expect("valid parameters")
        };
        assert_bound("banditron", make, f64::INFINITY, |_, run, u| {
            let h = run.total(u, |scores, y| hinge(margin(scores, y).value));
            bounds::banditron(&setting(norm(u)), h, gamma)
        });
    }
}

/// With the run's own sum of quadratic forms, and with its worst case.
#[test]
fn soba() {
    for gamma in [0.1, 0.4] {
        let make = || {
            let params = SobaParams::new().exploration(Exploration::Rate(gamma));
            Soba::<FullMetric>::new(params, problem(), 0).expect("valid parameters")
        };
        assert_bound("soba", make, f64::INFINITY, |learner, run, u| {
            let setting = setting(norm(u));
            let row = u.chunks_exact(FEATURES).map(norm).fold(0.0, f64::max);
            let largest = bounds::second_order_perceptron_eta(row, 1.0);
            let quadratics = learner.model().quadratics();
            assert!(quadratics <= bounds::second_order_perceptron_log(&setting, 1.0));
            let at = |eta: f64| {
                let losses = run.total(u, |scores, y| eta_loss(margin(scores, y).value, eta));
                bounds::soba(&setting, losses, eta, 1.0, gamma, quadratics)
            };
            let hinges = run.total(u, |scores, y| hinge(margin(scores, y).value));
            let by_hinge = bounds::soba_hinge(&setting, hinges, 1.0, gamma, quadratics);
            at(largest).min(at(0.5 * largest)).min(by_hinge)
        });
    }
}

/// Theorem 5, with the run's own sums: exploration and the cost of the steps are below the bound of Lemma 4.
#[test]
fn soba_adaptive() {
    let make = || {
        let params = SobaParams::new().exploration(Exploration::Adaptive);
        Soba::<FullMetric>::new(params, problem(), 0).expect("valid parameters")
    };
    assert_bound("soba, adaptive", make, f64::INFINITY, |learner, run, u| {
        let setting = setting(norm(u));
        let row = u.chunks_exact(FEATURES).map(norm).fold(0.0, f64::max);
        let eta = bounds::second_order_perceptron_eta(row, 1.0);
        let losses = run.total(u, |scores, y| eta_loss(margin(scores, y).value, eta));
        let quadratics = learner.model().quadratics();
        let explored = (CLASSES * ROUNDS) as f64 * (1.0 + quadratics);
        assert!(run.exploration <= 2.0 * explored.sqrt(), "{} {explored}", run.exploration);
        bounds::soba_adaptive(&setting, losses, eta, 1.0, quadratics)
    });
}

/// SOBA's bounds with the sum of the sketch's own quadratic forms, whatever the sketch has discarded; it is
/// not known beforehand, and no number is shown as a bound.
#[test]
fn soba_sketch() {
    for rank in [1, 3] {
        for exploration in [Exploration::Rate(0.1), Exploration::Rate(0.4), Exploration::Adaptive] {
            let make = || {
                let params = SobaSketchParams::new().rank(rank).exploration(exploration);
                SobaSketch::new(params, problem(), 0).expect("valid parameters")
            };
            assert_bound("soba-sketch", make, f64::INFINITY, |learner, run, u| {
                let row = u.chunks_exact(FEATURES).map(norm).fold(0.0, f64::max);
                let eta = bounds::second_order_perceptron_eta(row, 1.0);
                let losses = run.total(u, |scores, y| eta_loss(margin(scores, y).value, eta));
                let (setting, quadratics) = (setting(norm(u)), learner.model().quadratics());
                assert!(learner.model().metric().discarded() > 1.0);
                match exploration {
                    Exploration::Rate(gamma) => bounds::soba(&setting, losses, eta, 1.0, gamma, quadratics),
                    Exploration::Adaptive => bounds::soba_adaptive(&setting, losses, eta, 1.0, quadratics),
                }
            });
        }
    }
    let learner = SobaSketch::new(Default::default(), problem(), 0).expect("valid");
    let Some(Guarantee::Mistakes { bound: Err(why), .. }) = learner.guarantee() else { panic!("a bound") };
    assert_eq!(why.to_string(), "what the sketch discards is known only as it occurs");
}

fn gaptron<L: Loss>(name: &str) {
    let surrogate = |scores: &[f64], y: usize| match L::SURROGATE {
        noregret::loss::gap::Surrogate::Logistic => logistic::loss_bits(scores, y),
        noregret::loss::gap::Surrogate::Hinge => hinge(margin(scores, y).value),
        noregret::loss::gap::Surrogate::Smooth => {
            noregret::loss::smooth_hinge::smooth_hinge(margin(scores, y).value)
        }
    };
    let d = 2.0;
    let params = || GaptronParams::new().norm(d);
    let known = || BanditGaptron::<L>::new(params(), problem(), 0).expect("valid parameters");
    assert_bound(name, known, d, |learner, run, u| {
        let exploration = run.exploration / ROUNDS as f64;
        run.total(u, surrogate) + bounds::gaptron(&setting(norm(u)), learner.rate(), exploration)
    });
    let unknown =
        || BanditGaptron::<L>::new(params(), Problem::new(CLASSES, FEATURES), 0).expect("valid parameters");
    assert_bound(&format!("{name}, horizon unknown"), unknown, d, |learner, run, u| {
        run.total(u, surrogate) + bounds::gaptron_any_horizon(CLASSES, d, learner.rate(), run.exploration)
    });
}

#[test]
fn gaptron_logistic() {
    gaptron::<Logistic>("gaptron-logistic");
}

#[test]
fn gaptron_hinge() {
    gaptron::<Hinge>("gaptron-hinge");
}

#[test]
fn gaptron_smooth() {
    gaptron::<Smooth>("gaptron-smooth");
}

/// The bound is far above the number of mistakes: the test is about its constants.
#[test]
fn soba_reduction() {
    let (d, gamma) = (2.0, 0.3);
    let params = || SobaReductionParams::new().norm(d).exploration(gamma);
    let make = || SobaReduction::new(params(), problem(), 0).expect("valid parameters");
    let eta = make().params().loss_eta.expect("resolved");
    assert_eq!(eta, 0.25);
    assert_bound("soba-reduction", make, d, |_, run, u| {
        let losses = run.total(u, |scores, y| eta_loss(margin(scores, y).value, eta));
        losses + bounds::soba_reduction(&setting(d), eta, gamma)
    });
}

/// With the base learner's regret bound for the rounds that it has learnt.
#[test]
fn bandit_reduction() {
    let gamma = 0.3;
    let make = || {
        let values = [("base.norm", Value::from(2.0)), ("exploration", Value::from(gamma))];
        let values = Values::from(values.map(|(name, value)| (name.to_owned(), value)));
        let params = BanditReductionParams::from_values("bandit-reduction", &values).expect("known names");
        BanditReduction::new(params, problem(), 0).expect("valid parameters")
    };
    assert_bound("bandit-reduction", make, 2.0, |learner, run, u| {
        let Some(Guarantee::Regret { bound: Ok(regret), .. }) = learner.base().guarantee() else {
            panic!("folklore has a theorem");
        };
        run.total(u, logistic::loss) + bounds::bandit_reduction(&setting(2.0), regret, gamma)
    });
}
