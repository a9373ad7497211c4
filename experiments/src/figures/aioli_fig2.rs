//! AIOLI, figure 2: regret on a stream where the regret of every proper learner grows as a power of the
//! rounds, and that of improper ones does not.

use noregret::param::{Value, Values};
use noregret_stream::draw::plot::{Chart, Figure, Scale};
use serde::Deserialize;

use super::line;
use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::{Contender, hold, parallel, play};
use crate::source::Source;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    rounds: Vec<u64>,
    repetitions: u64,
    /// Nodes of the aggregating forecaster's quadrature.
    nodes: u64,
}

/// The stream of `rounds` rounds with sign `chi`.
pub(crate) fn adversarial(rounds: u64, chi: f64, seed: u64) -> Source<'static> {
    let values: Values = [("chi".to_owned(), Value::from(chi))].into_iter().collect();
    Source::Made { recipe: "adversarial", values, rows: rounds, seed, radius: 1.0, sparse: false }
}

/// The figure's learners, with the comparators $|\theta| \le B = \ln n$; FOLKLORE's rows are $\pm\theta/2$.
pub(crate) fn contenders(rounds: u64, nodes: u64) -> [Contender; 4] {
    let norm = (rounds as f64).ln();
    [
        Contender::new("ftrl", &[("regularization", 1.0)]),
        Contender::new("aioli", &[("norm", norm)]),
        Contender::new("aggregating", &[("norm", norm)]).with("nodes", &nodes.to_string()),
        Contender::new("folklore", &[("norm", norm / 2.0)]),
    ]
}

/// One stream: the regret of every contender against the best $|\theta| \le B$, and the bounds that they
/// have.
struct Played {
    regrets: [f64; 4],
    bounds: [Option<f64>; 4],
}

fn played(rounds: u64, chi: f64, seed: u64, nodes: u64) -> Result<Played, ExperimentError> {
    let source = adversarial(rounds, chi, seed);
    let contenders = contenders(rounds, nodes);
    let (mut losses, mut bounds, mut comparator) = ([0.0; 4], [None; 4], f64::NAN);
    for (at, contender) in contenders.iter().enumerate() {
        if contender.learner == "ftrl" {
            // Its theorem is about another ball.
            losses[at] = play(contender, &source, 0, &[])?.score.total_loss();
            continue;
        }
        let held = hold(contender, &source, &[])?.expect("all have theorems");
        losses[at] = held.certified.learner_loss;
        bounds[at] = held.certified.bound;
        if contender.learner == "aioli" {
            comparator = held.certified.comparator_loss.expect("a linear predictor");
        }
    }
    Ok(Played { regrets: losses.map(|loss| loss - comparator), bounds })
}

/// Rounds, sign and seed of a stream.
type Job = (u64, f64, u64);

/// All streams.
fn jobs_of(config: &Config) -> Vec<Job> {
    let mut jobs = Vec::new();
    // The longest first: they decide when the last thread is done.
    for rounds in config.rounds.iter().rev() {
        for chi in [1.0, -1.0] {
            jobs.extend((0..config.repetitions).map(|seed| (*rounds, chi, seed)));
        }
    }
    jobs
}

/// The regret of the contender `at` on the streams of so many rounds: the mean, for the sign for which it is
/// larger.
fn mean_regret(streams: &[(Job, Played)], rounds: u64, at: usize) -> f64 {
    let of_chi = |wanted: f64| {
        let regrets: Vec<f64> = (streams.iter())
            .filter(|((length, chi, _), _)| *length == rounds && *chi == wanted)
            .map(|(_, played)| played.regrets[at])
            .collect();
        regrets.iter().sum::<f64>() / regrets.len() as f64
    };
    of_chi(1.0).max(of_chi(-1.0))
}

/// What the curves of the contenders should show, and the largest excess of a regret over its bound.
fn claims_of(curves: &[Vec<(f64, f64)>], worst_over_bound: f64) -> Vec<Claim> {
    let largest = |at: usize| curves[at].iter().map(|(_, regret)| *regret).fold(f64::NEG_INFINITY, f64::max);
    vec![
        Claim::between(
            "FTRL's regret grows polynomially: slope in log-log scale on [1e2, 3.2e4]",
            slope(&curves[0]),
            0.5,
            0.7,
        ),
        Claim::at_most("the aggregating forecaster's stays at most 10", largest(2), 10.0),
        Claim::at_most("FOLKLORE's (not in the paper) stays at most 10", largest(3), 10.0),
        Claim::at_most("AIOLI's stays at most 10", largest(1), 10.0),
        Claim::at_most(
            "every regret is below its learner's bound (largest excess, all streams)",
            worst_over_bound,
            0.0,
        ),
    ]
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let jobs = jobs_of(&config);
    context.say(&format!("{} streams of up to {} rounds, 4 learners each", jobs.len(), jobs[0].0));
    let results = parallel(context.options.threads, &jobs, |(rounds, chi, seed)| {
        played(*rounds, *chi, *seed, config.nodes)
    })?;
    let streams: Vec<(Job, Played)> = jobs.into_iter().zip(results).collect();
    let names: Vec<&str> = contenders(10, 16).iter().map(|contender| contender.learner).collect();
    let mut points = Table::new(&["learner", "rounds", "regret", "bound"]);
    let mut curves: Vec<Vec<(f64, f64)>> = vec![Vec::new(); 4];
    let mut worst_over_bound = f64::NEG_INFINITY;
    for rounds in &config.rounds {
        for (at, name) in names.iter().enumerate() {
            let regret = mean_regret(&streams, *rounds, at);
            let mut bound = None;
            for ((length, ..), played) in &streams {
                if length == rounds
                    && let Some(limit) = played.bounds[at]
                {
                    worst_over_bound = worst_over_bound.max(played.regrets[at] - limit);
                    bound = Some(limit);
                }
            }
            let shown = bound.map_or_else(String::new, number);
            points.push(vec![(*name).to_owned(), rounds.to_string(), number(regret), shown]);
            curves[at].push((*rounds as f64, regret));
        }
    }
    let claims = claims_of(&curves, worst_over_bound);
    let lines = names.iter().zip(curves).map(|(name, curve)| line(*name, curve)).collect();
    let chart = Chart {
        x_label: "rounds n".to_owned(),
        y_label: "regret (nats)".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::SymLog,
        lines,
        ..Chart::default()
    };
    let title = "Regret on the stream that is hard for proper learners".to_owned();
    let notes = vec![format!(
        "For each n the mean over {} streams, the larger of the two signs. The paper states neither AIOLI's λ nor the grid of \
         n; λ = 1/B² is its theorem's. Against it the best linear predictor loses: regret may be below 0. Beyond some 3·10^4 \
         rounds the signs of this stream can be told apart, FTRL leaves the ball of the comparators, and its regret falls.",
        config.repetitions
    )];
    let summary = points.clone();
    Ok(Outcome { claims, figure: Figure { title, columns: 1, charts: vec![chart] }, points, summary, notes })
}

/// The slope of the least-squares line through the logarithms, on [1e2, 3.2e4].
fn slope(curve: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = (curve.iter())
        .filter(|(n, regret)| (100.0..=32_000.0).contains(n) && *regret > 0.0)
        .map(|(n, regret)| (n.ln(), regret.ln()))
        .collect();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut xy, mut xx) = (0.0, 0.0);
    for point in &points {
        xy += (point.0 - x) * (point.1 - y);
        xx += (point.0 - x).powi(2);
    }
    xy / xx
}
