//! The figures, one file each, and what the bandit ones share.

pub(crate) mod aioli_fig1;
pub(crate) mod aioli_fig2;
pub(crate) mod bandit;
pub(crate) mod bounds;
pub(crate) mod folklore_counterexample;
pub(crate) mod gaf_fig1;
pub(crate) mod gaptron_compare;
pub(crate) mod gaptron_gap;
pub(crate) mod soba_fig1;
pub(crate) mod soba_fig2;

use noregret_stream::draw::plot::Line;

/// A line of a chart.
fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
    Line { name: name.into(), points, ..Line::default() }
}

/// `count` numbers from `from` to `to` at equal distances.
fn grid(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| from + (to - from) * at as f64 / (count - 1) as f64).collect()
}
