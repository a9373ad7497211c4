//! AIOLI, figure 1: what proper and improper learners predict as a function of x, after the stream of figure
//! 2.
//!
//! The paper does not name the data of its figure.

use noregret::example::Features;
use noregret_stream::draw::plot::{Chart, Figure};
use serde::Deserialize;

use super::{grid, line};
use crate::figures::aioli_fig2::{adversarial, contenders};
use crate::outcome::{Claim, Outcome, Table};
use crate::play::taught;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    rounds: u64,
    seed: u64,
    nodes: u64,
    /// The figure shows x from minus this to this.
    reach: f64,
    points: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let source = adversarial(config.rounds, 1.0, config.seed);
    let mut points = Table::new(&["learner", "x", "logit"]);
    let (mut lines, mut claims) = (Vec::new(), Vec::new());
    for contender in contenders(config.rounds, config.nodes) {
        let learner = taught(&contender, &source)?;
        let mut at = learner.prediction();
        let mut logit = |x: f64| {
            learner.predict(Features::Dense(&[x]), &mut at);
            at.scores[1] - at.scores[0]
        };
        let curve: Vec<(f64, f64)> =
            grid(-config.reach, config.reach, config.points).into_iter().map(|x| (x, logit(x))).collect();
        for (x, logit) in &curve {
            points.push(vec![contender.learner.to_owned(), x.to_string(), logit.to_string()]);
        }
        let bend = bend(&curve);
        claims.push(if contender.learner == "ftrl" {
            Claim::at_most(
                "FTRL is proper: a line through the origin (deviation from the best one, of its range)",
                bend,
                1e-9,
            )
        } else {
            let says = format!(
                "{} is improper: no line (deviation from the best one, of its range)",
                contender.learner
            );
            Claim { holds: bend > 0.01, ..Claim::between(says, bend, 0.01, 1.0) }
        });
        lines.push(line(contender.learner, curve));
    }
    let chart = Chart {
        x_label: "x".to_owned(),
        y_label: "logit of the prediction".to_owned(),
        lines,
        ..Chart::default()
    };
    let title = format!("Prediction functions after {} rounds", config.rounds);
    Ok(Outcome {
        claims,
        figure: Figure { title, columns: 1, charts: vec![chart] },
        points,
        ..Outcome::default()
    })
}

/// The largest distance from the best line through the origin, as a fraction of the range.
fn bend(curve: &[(f64, f64)]) -> f64 {
    let slope = curve.iter().map(|(x, y)| x * y).sum::<f64>() / curve.iter().map(|(x, _)| x * x).sum::<f64>();
    let range = curve.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    curve.iter().map(|(x, y)| (y - slope * x).abs()).fold(0.0, f64::max) / range
}
