//! Gaptron, figure 1: the surrogate gap of the smooth hinge loss for two classes, and its sign for many.

use noregret::loss::gap::Surrogate;
use noregret::loss::smooth_hinge::{smooth_hinge, smooth_hinge_slope};
use noregret::prediction::argmax;
use noregret::rng::Rng;
use noregret_stream::draw::plot::{Chart, Figure};
use serde::Deserialize;

use super::{grid, line};
use crate::outcome::{Claim, Outcome, Table};
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Points on the margin's axis.
    points: usize,
    /// Random score vectors for each number of classes.
    scores: usize,
    classes: Vec<usize>,
    seed: u64,
}

const ETA: f64 = 0.125;

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let margins = grid(-1.5, 1.5, config.points);
    let loss = |z: f64| smooth_hinge(z);
    let squared_step = |z: f64| ETA / 2.0 * smooth_hinge_slope(z).powi(2);
    let mistake = |z: f64| f64::from(u8::from(z <= 0.0));
    let deterministic = |z: f64| mistake(z) + squared_step(z);
    let randomised = |z: f64| {
        let a = (1.0 - z.abs().min(1.0)).powi(2);
        (1.0 - a) * mistake(z) + a / 2.0 + squared_step(z)
    };
    let mut points = Table::new(&["margin", "loss", "deterministic", "randomised"]);
    let (mut low, mut high, mut worst) = (f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for z in &margins {
        points.push([*z, loss(*z), deterministic(*z), randomised(*z)].iter().map(f64::to_string).collect());
        if deterministic(*z) - loss(*z) > 1e-12 {
            (low, high) = (low.min(*z), high.max(*z));
        }
        worst = worst.max(randomised(*z) - loss(*z));
    }
    let spacing = 3.0 / (config.points - 1) as f64;
    let mut claims = vec![
        Claim::near(
            "without exploration the gap is positive from a margin of -1/8",
            low,
            -0.125,
            1.01 * spacing,
        ),
        Claim::near("... to a margin of 0", high, 0.0, 1.01 * spacing),
        Claim::at_most("with exploration it is nowhere positive (largest gap)", worst, 1e-12),
        Claim::near("with exploration it is -1/4 at margin 0", randomised(0.0) - loss(0.0), -0.25, 1e-12),
    ];
    let mut rng = Rng::new(config.seed, 0);
    for (surrogate, name) in
        [(Surrogate::Logistic, "logistic"), (Surrogate::Hinge, "hinge"), (Surrogate::Smooth, "smooth hinge")]
    {
        let worst = config.classes.iter().map(|classes| {
            let rate = surrogate.full_information_rate(*classes, 1.0);
            worst_gap(surrogate, *classes, rate, config.scores, &mut rng)
        });
        let says = format!(
            "{name}, {:?} classes: nowhere positive at the theorem's step size (largest gap)",
            config.classes
        );
        claims.push(Claim::at_most(says, worst.fold(f64::NEG_INFINITY, f64::max), 1e-12));
    }
    let at_start =
        surrogate_gap(Surrogate::Smooth, &[0.0; 3], 0, 2.0 * Surrogate::Smooth.full_information_rate(3, 1.0));
    claims.push(Claim::near(
        "smooth hinge, 3 classes: twice that step size, as table 2 prints it, has a gap of 1/K at W = 0",
        at_start,
        1.0 / 3.0,
        1e-12,
    ));
    let of = |f: &dyn Fn(f64) -> f64| margins.iter().map(|z| (*z, f(*z))).collect();
    let chart = Chart {
        x_label: "margin".to_owned(),
        y_label: "loss, and loss of a round's play plus step".to_owned(),
        lines: vec![
            line("smooth hinge loss", of(&loss)),
            line("without exploration", of(&deterministic)),
            line("with Gaptron's exploration", of(&randomised)),
        ],
        ..Chart::default()
    };
    let figure = Figure { title: "The surrogate gap, eta = 1/8".to_owned(), columns: 1, charts: vec![chart] };
    Ok(Outcome { claims, figure, points, ..Outcome::default() })
}

/// The largest gap over random scores and all labels. Scores of all sizes, ties among them.
fn worst_gap(surrogate: Surrogate, classes: usize, rate: f64, count: usize, rng: &mut Rng) -> f64 {
    let mut worst = f64::NEG_INFINITY;
    for at in 0..count {
        let size = [0.0, 0.1, 0.5, 1.0, 3.0, 10.0][at % 6];
        let scores: Vec<f64> = (0..classes).map(|_| size * rng.normal()).collect();
        for label in 0..classes {
            worst = worst.max(surrogate_gap(surrogate, &scores, label, rate));
        }
    }
    worst
}

/// Expected mistake minus loss plus half the step's square, for rows of norm 1.
fn surrogate_gap(surrogate: Surrogate, scores: &[f64], label: usize, rate: f64) -> f64 {
    let (k, a) = (scores.len() as f64, surrogate.gap(scores));
    let mut gradient = vec![0.0; scores.len()];
    surrogate.gradient(scores, label, &mut gradient);
    let wrong = f64::from(u8::from(argmax(scores) != label));
    let square: f64 = gradient.iter().map(|g| g * g).sum();
    (1.0 - a) * wrong + a * (k - 1.0) / k - surrogate.loss(scores, label) + rate / 2.0 * square
}
