//! Crops curves whose first values would flatten the rest of the chart.

use crate::draw::plot::{Chart, Scale};

/// The first rounds: this share of all rounds.
const BEGINNING: f64 = 0.05;
/// The chart is cropped if the first rounds are more than this many times as high as the rest.
const RATIO: f64 = 2.0;

/// The chart from 0 to the largest value after the first rounds, and whether this hides a part of
/// the curves.
pub fn focus(mut chart: Chart) -> (Chart, bool) {
    let last = chart.lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).fold(0.0, f64::max);
    let highest = |from: f64| {
        let of = |line: &crate::draw::plot::Line| {
            let points = line.points.iter().enumerate().filter(|(_, (x, y))| *x >= from && y.is_finite());
            points.map(|(at, (_, y))| line.band.get(at).map_or(*y, |band| band.1)).fold(0.0, f64::max)
        };
        chart.lines.iter().map(of).fold(0.0, f64::max)
    };
    let (all, later) = (highest(0.0), highest(BEGINNING * last));
    let even = chart.y_scale == Scale::Linear && chart.y_range.is_none();
    if !even || later <= 0.0 || all <= RATIO * later {
        return (chart, false);
    }
    let top = 1.1 * later;
    for line in &mut chart.lines {
        // Each line enters from above.
        let outside = line.points.iter().rposition(|(_, y)| *y > top).unwrap_or(0);
        line.points.drain(..outside);
        line.band.drain(..outside.min(line.band.len()));
    }
    chart.y_range = Some((0.0, top));
    (chart, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::plot::Line;

    fn chart(end: f64) -> Chart {
        let y = |round: f64| (1.0 / round).max(end);
        let points = (0..1000).map(|round| f64::from(round + 1)).map(|round| (round, y(round))).collect();
        Chart { lines: vec![Line { points, ..Line::default() }], ..Chart::default() }
    }

    #[test]
    fn the_first_errors_are_left_out() {
        let (chart, cut) = focus(chart(0.01));
        let top = chart.y_range.expect("it has a top").1;
        assert!(cut && (top - 0.022).abs() < 1e-3, "{top}");
        let first = &chart.lines[0].points[..2];
        assert!(first[0].1 > top && first[1].1 <= top, "{first:?}");
    }

    #[test]
    fn lines_enter_a_cropped_chart_from_above() {
        let mut chart = chart(0.01);
        chart.lines[0].points[0].1 = 0.0;
        let (chart, cut) = focus(chart);
        let first = chart.lines[0].points[0];
        assert!(cut && first.0 > 1.0 && first.1 > chart.y_range.expect("it has a top").1, "{first:?}");
    }

    #[test]
    fn curves_that_stay_high_are_not_cropped() {
        let (chart, cut) = focus(chart(0.6));
        assert!(!cut && chart.y_range.is_none() && chart.lines[0].points.len() == 1000);
        assert!(!focus(Chart::default()).1);
    }
}
