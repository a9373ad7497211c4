//! SOBA, figure 1: the family $\ell_\eta$ between the hinge loss and its square.

use noregret::loss::hinge::{eta_loss, hinge, squared_hinge};
use noregret_stream::draw::plot::{Chart, Figure};
use serde::Deserialize;

use super::{grid, line};
use crate::outcome::{Claim, Outcome, Table};
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    etas: Vec<f64>,
    points: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let margins = grid(-1.0, 1.5, config.points);
    let mut points = Table::new(&["eta", "margin", "loss"]);
    let mut lines = Vec::new();
    let (mut ends, mut above_max, mut below_01) = (0.0_f64, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for eta in &config.etas {
        let curve: Vec<(f64, f64)> = margins.iter().map(|m| (*m, eta_loss(*m, *eta))).collect();
        for (m, loss) in &curve {
            points.push(vec![eta.to_string(), m.to_string(), loss.to_string()]);
            match eta {
                0.0 => ends = ends.max((loss - hinge(*m)).abs()),
                1.0 => ends = ends.max((loss - squared_hinge(*m)).abs()),
                _ => {}
            }
            above_max = above_max.max(loss - hinge(*m).max(squared_hinge(*m)));
            below_01 = below_01.max(f64::from(u8::from(*m < 0.0)) - loss);
        }
        lines.push(line(format!("eta = {eta}"), curve));
    }
    let step = margins.iter().map(|m| (*m, f64::from(u8::from(*m < 0.0)))).collect();
    lines.push(line("0/1 loss", step));
    let claims = vec![
        Claim::at_most("eta = 0 is the hinge loss, eta = 1 its square (largest difference)", ends, 1e-12),
        Claim::at_most("no loss exceeds the larger of these two (largest excess)", above_max, 1e-12),
        Claim::at_most("every loss bounds the 0/1 loss from above (largest shortfall)", below_01, 0.0),
    ];
    let chart = Chart { x_label: "margin".to_owned(), y_label: "loss".to_owned(), lines, ..Chart::default() };
    let figure = Figure { title: "The losses of SOBA's regret".to_owned(), columns: 1, charts: vec![chart] };
    Ok(Outcome { claims, figure, points, ..Outcome::default() })
}
