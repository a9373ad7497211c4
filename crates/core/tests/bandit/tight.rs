//! The theorems on streams for which the bound is far below the number of rounds, so that a learner that does
//! not learn would violate it.
//!
//! Rows are separable with a margin. The adaptive adversary chooses, among several such rows, the one whose
//! class has the least probability in the learner's distribution.

use noregret::algorithm::Algorithm;
use noregret::bandit::banditron::{Banditron, BanditronParams};
use noregret::bandit::gaptron::BanditGaptron;
use noregret::bandit::reduction::{BanditReduction, BanditReductionParams};
use noregret::bandit::soba::{Soba, SobaParams};
use noregret::bandit::soba_reduction::{SobaReduction, SobaReductionParams};
use noregret::bounds::{self, Setting};
use noregret::example::Features;
use noregret::full::gaptron::{GaptronParams, Hinge, Logistic, Loss, Smooth};
use noregret::full::second_order_margin::FullMetric;
use noregret::guarantee::Guarantee;
use noregret::learner::BanditLearner;
use noregret::loss::gap::Surrogate;
use noregret::loss::hinge::{eta_loss, hinge, margin};
use noregret::loss::logistic;
use noregret::loss::smooth_hinge::smooth_hinge;
use noregret::param::exploration::Exploration;
use noregret::param::{Params, Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

/// Two classes in the plane: U = (u, -u)/√2 for a unit vector u, of Frobenius norm 1.
const CLASSES: usize = 2;
const FEATURES: usize = 2;
/// Least margin of U, which is √2 ⟨u, x⟩.
const MARGIN: f64 = 0.5;
const RUNS: u64 = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    Separable,
    Noisy,
    Adaptive,
}

const STREAMS: [Stream; 3] = [Stream::Separable, Stream::Noisy, Stream::Adaptive];

struct Run {
    /// The margins of U.
    margins: Vec<f64>,
    expected_mistakes: f64,
    exploration: f64,
}

impl Run {
    /// The loss of `size` times U.
    fn total(&self, size: f64, loss: impl Fn(f64) -> f64) -> f64 {
        self.margins.iter().map(|margin| loss(size * margin)).sum()
    }
}

/// A row of norm 1 and its class.
fn draw(rng: &mut Rng) -> ([f64; 2], usize) {
    loop {
        let angle = std::f64::consts::TAU * rng.uniform();
        let x = [angle.cos(), angle.sin()];
        // u = (0.6, 0.8).
        let margin = std::f64::consts::SQRT_2 * (0.6 * x[0] + 0.8 * x[1]);
        if margin.abs() >= MARGIN {
            return (x, usize::from(margin < 0.0));
        }
    }
}

fn scores(x: &[f64; 2]) -> [f64; 2] {
    let score = (0.6 * x[0] + 0.8 * x[1]) / std::f64::consts::SQRT_2;
    [score, -score]
}

fn play(learner: &mut dyn BanditLearner, stream: Stream, rounds: usize, seed: u64) -> Run {
    let (mut rows, mut uniforms) = (Rng::new(1, seed), Rng::new(2, seed));
    let mut run = Run { margins: Vec::new(), expected_mistakes: 0.0, exploration: 0.0 };
    let mut at = Decision::default();
    for _ in 0..rounds {
        let (mut x, mut y) = draw(&mut rows);
        if stream == Stream::Adaptive {
            let mut worst = f64::INFINITY;
            for _ in 0..4 {
                let (candidate, class) = draw(&mut rows);
                learner.predict(Features::Dense(&candidate), &mut at);
                if at.distribution[class] < worst {
                    (worst, x, y) = (at.distribution[class], candidate, class);
                }
            }
        }
        if stream == Stream::Noisy && rows.below(20) == 0 {
            y = 1 - y;
        }
        learner.act(Features::Dense(&x), &mut uniforms, &mut at);
        run.expected_mistakes += 1.0 - at.distribution[y];
        run.exploration += at.exploration;
        learner.learn(Features::Dense(&x), &at, (at.label as usize == y).into());
        run.margins.push(margin(&scores(&x), y).value);
    }
    run
}

fn setting(norm: f64, rounds: usize) -> Setting {
    Setting { classes: CLASSES, features: FEATURES, radius: 1.0, norm, rounds: rounds as f64 }
}

fn problem(rounds: usize) -> Problem {
    Problem::new(CLASSES, FEATURES).with_radius(1.0).with_horizon(rounds as u64)
}

/// Asserts that the mistakes are below the bound, and the bound below half the rounds, the expected mistakes
/// of a fair coin.
fn assert_bound<B: BanditLearner>(
    name: &str,
    rounds: usize,
    sizes: &[f64],
    make: impl Fn() -> B,
    bound: impl Fn(&B, &Run, f64) -> f64,
) {
    for stream in STREAMS {
        let runs: Vec<(B, Run)> = (0..RUNS)
            .map(|seed| {
                let mut learner = make();
                let run = play(&mut learner, stream, rounds, seed);
                (learner, run)
            })
            .collect();
        let mean = |of: &dyn Fn(&(B, Run)) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
        let mistakes = mean(&|(_, run)| run.expected_mistakes);
        let bounds = sizes.iter().map(|size| mean(&|(learner, run)| bound(learner, run, *size)));
        let tightest = bounds.fold(f64::INFINITY, f64::min);
        eprintln!(
            "{name}, {stream:?}: {mistakes:.0} expected mistakes in {rounds} rounds, bound {tightest:.0}"
        );
        assert!(mistakes <= tightest, "{name}, {stream:?}: {mistakes} > {tightest}");
        assert!(tightest < 0.5 * rounds as f64, "{name}, {stream:?}: the bound {tightest} says nothing");
    }
}

const SIZES: [f64; 4] = [0.5, 1.0, 1.0 / MARGIN, 4.0];

#[test]
fn banditron() {
    let (rounds, gamma) = (20_000, 0.05);
    let make = || {
        let params = BanditronParams::new().exploration(gamma);
        Banditron::new(params, problem(rounds), 0).expect("valid parameters")
    };
    assert_bound("banditron", rounds, &SIZES, make, |_, run, size| {
        bounds::banditron(&setting(size, rounds), run.total(size, hinge), gamma)
    });
}

#[test]
fn soba() {
    let (rounds, gamma) = (20_000, 0.05);
    let make = || {
        let params = SobaParams::new().exploration(Exploration::Rate(gamma));
        Soba::<FullMetric>::new(params, problem(rounds), 0).expect("valid parameters")
    };
    assert_bound("soba", rounds, &SIZES, make, |learner, run, size| {
        let eta = bounds::second_order_perceptron_eta(size / std::f64::consts::SQRT_2, 1.0);
        let losses = run.total(size, |margin| eta_loss(margin, eta));
        bounds::soba(&setting(size, rounds), losses, eta, 1.0, gamma, learner.model().quadratics())
    });
}

fn gaptron<L: Loss>(name: &str, norm: f64) {
    let rounds = 20_000;
    let surrogate = |margin: f64| match L::SURROGATE {
        Surrogate::Logistic => logistic::loss_bits(&[margin, 0.0], 0),
        Surrogate::Hinge => hinge(margin),
        Surrogate::Smooth => smooth_hinge(margin),
    };
    let make = || {
        let params = GaptronParams::new().norm(norm);
        BanditGaptron::<L>::new(params, problem(rounds), 0).expect("valid parameters")
    };
    let sizes = SIZES.map(|size| size.min(norm)).into_iter().chain([norm]).collect::<Vec<_>>();
    assert_bound(name, rounds, &sizes, make, |learner, run, size| {
        let exploration = run.exploration / rounds as f64;
        run.total(size, surrogate) + bounds::gaptron(&setting(norm, rounds), learner.rate(), exploration)
    });
}

#[test]
fn gaptron_logistic() {
    gaptron::<Logistic>("gaptron-logistic", 6.0);
}

#[test]
fn gaptron_hinge() {
    gaptron::<Hinge>("gaptron-hinge", 2.0);
}

#[test]
fn gaptron_smooth() {
    gaptron::<Smooth>("gaptron-smooth", 2.0);
}

#[test]
#[ignore = "slow: its constants need many rounds"]
fn soba_reduction() {
    let (rounds, gamma, norm) = (1_600_000, 0.2, 2.0);
    let make = || {
        let params = SobaReductionParams::new().norm(norm).exploration(gamma);
        SobaReduction::new(params, problem(rounds), 0).expect("valid parameters")
    };
    let eta = make().params().loss_eta.expect("resolved");
    assert_bound("soba-reduction", rounds, &[1.0, norm], make, |_, run, size| {
        run.total(size, |margin| eta_loss(margin, eta))
            + bounds::soba_reduction(&setting(norm, rounds), eta, gamma)
    });
}

#[test]
fn bandit_reduction() {
    let (rounds, gamma, norm) = (20_000, 0.15, 8.0);
    let make = || {
        let values = [("base.norm", Value::from(norm)), ("exploration", Value::from(gamma))];
        let values = Values::from(values.map(|(name, value)| (name.to_owned(), value)));
        let params = BanditReductionParams::from_values("bandit-reduction", &values).expect("known names");
        BanditReduction::new(params, problem(rounds), 0).expect("valid parameters")
    };
    assert_bound("bandit-reduction", rounds, &[1.0, 2.0, 3.0, norm], make, |learner, run, size| {
        let Some(Guarantee::Regret { bound: Ok(regret), .. }) = learner.base().guarantee() else {
            panic!("folklore has a theorem");
        };
        // Rows of U have norm |U|/√2, within the ball of rows of norm B.
        let losses = run.total(size, |margin| logistic::loss(&[margin, 0.0], 0));
        losses + bounds::bandit_reduction(&setting(norm, rounds), regret, gamma)
    });
}
