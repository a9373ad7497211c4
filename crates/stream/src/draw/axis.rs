//! Axes: positions of values, and ticks at round numbers.

use super::plot::Scale;

/// An axis from its least to its greatest value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis that shows all `values`, with about `count` ticks; if it is linear and 0 is close to
    /// the values, it starts at 0.
    pub(super) fn fit(scale: Scale, values: impl Iterator<Item = f64>, count: usize) -> Self {
        let (low, high) = values
            .filter(|value| scale.shows(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Self::between(scale, 1.0, 10.0, count);
        }
        let low =
            if scale == Scale::Linear && low > 0.0 && (low < 0.6 * high || low == high) { 0.0 } else { low };
        Self::between(scale, low, high, count)
    }

    /// An axis from `low` to `high`, possibly extended to the next tick.
    pub(super) fn between(scale: Scale, low: f64, high: f64, count: usize) -> Self {
        let (mut from, mut to) = (scale.place(low), scale.place(high));
        if to - from < 1e-9 * from.abs().max(1e-300) || to == from {
            let room = if scale == Scale::Linear { 0.5 * high.abs().max(1e-6) } else { 0.5 };
            (from, to) = (from - room, to + room);
        }
        let ticks = match scale {
            Scale::Linear => linear_ticks(&mut from, &mut to, count),
            Scale::Log => log_ticks(from, to, count),
            Scale::SymLog => {
                let step = ((to - from) / count as f64).ceil().max(1.0);
                let first = (from / step).ceil() as i64;
                let last = (to / step).floor() as i64;
                (first..=last).map(|at| scale.value(at as f64 * step)).collect()
            }
        };
        Self { scale, from, to, ticks }
    }

    /// The position of `value`, between 0 (start) and 1 (end).
    pub(super) fn at(&self, value: f64) -> f64 {
        ((self.scale.place(value) - self.from) / (self.to - self.from)).clamp(-0.02, 1.02)
    }

    /// The ticks with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let step = match self.ticks.as_slice() {
            [first, second, ..] if self.scale == Scale::Linear => second - first,
            _ => 0.0,
        };
        self.ticks.iter().map(|tick| (self.at(*tick), name(*tick, step))).collect()
    }
}

/// Steps of 1, 2 or 5; the ends move outwards to the nearest one if it is close.
fn linear_ticks(from: &mut f64, to: &mut f64, count: usize) -> Vec<f64> {
    let rough = (*to - *from) / count as f64;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|by| by * decade).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * decade);
    let (first, last) = ((*from / step).floor(), (*to / step).ceil());
    if *from - first * step < 0.3 * step {
        *from = first * step;
    }
    if last * step - *to < 0.3 * step {
        *to = last * step;
    }
    let inside = |value: &f64| *value >= *from - 1e-9 * step && *value <= *to + 1e-9 * step;
    (first as i64..=last as i64).map(|at| at as f64 * step).filter(inside).collect()
}

/// Powers of ten; if there are few, also their double and fivefold; if there are many, a selection.
fn log_ticks(from: f64, to: f64, count: usize) -> Vec<f64> {
    let inside = |value: &f64| (from - 1e-9..=to + 1e-9).contains(&value.log10());
    let decades = from.floor() as i32..=to.ceil() as i32;
    if to - from < 1.7 {
        return decades
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|by| by * 10_f64.powi(decade)))
            .filter(inside)
            .collect();
    }
    let every = ((to - from) / count as f64).ceil().max(1.0) as i32;
    decades.filter(|decade| decade % every == 0).map(|decade| 10_f64.powi(decade)).filter(inside).collect()
}

/// A tick label; `step` is the distance to the next tick.
fn name(value: f64, step: f64) -> String {
    let magnitude = value.abs();
    if magnitude < 1e-12 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    for (unit, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if magnitude >= unit && (magnitude >= 1e4 || unit > 1e3 || step >= 1e3 || step == 0.0) {
            return format!("{sign}{}{letter}", trimmed(magnitude / unit, 3));
        }
    }
    if magnitude < 1e-3 && step < 1e-4 {
        return format!("{sign}{magnitude:.0e}");
    }
    let digits = if step > 0.0 { (-step.log10().floor()).max(0.0) as usize } else { 4 };
    format!("{sign}{}", trimmed(magnitude, digits.min(6)))
}

fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round() {
        let axis = |low, high| Axis::fit(Scale::Linear, [low, high].into_iter(), 5);
        assert_eq!(names(&axis(0.03, 0.42)), ["0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(names(&axis(9.0, 10.0)), ["9", "9.2", "9.4", "9.6", "9.8", "10"]);
        assert_eq!(names(&axis(1.0, 580_000.0)), ["0", "200k", "400k", "600k"]);
        assert_eq!(names(&axis(-12.0, 30.0)), ["−10", "0", "10", "20", "30"]);
        assert_eq!(names(&axis(0.0, 0.004)), ["0", "0.001", "0.002", "0.003", "0.004"]);
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let axis = |low, high| Axis::fit(Scale::Log, [low, 0.0, high].into_iter(), 6);
        assert_eq!(names(&axis(1.0, 20_000.0)), ["1", "10", "100", "1k", "10k"]);
        assert_eq!(names(&axis(0.015, 0.3)), ["0.02", "0.05", "0.1", "0.2"]);
        assert_eq!(axis(1.0, 100.0).at(10.0), 0.5);
        let both = Axis::fit(Scale::SymLog, [-100.0, 10.0].into_iter(), 6);
        assert_eq!(names(&both), ["−100", "−10", "−1", "0", "1", "10"]);
    }

    #[test]
    fn one_value_has_an_axis() {
        for value in [0.5, 3.0] {
            let axis = Axis::fit(Scale::Log, [value].into_iter(), 5);
            assert!((0.4..0.6).contains(&axis.at(value)), "{value} {axis:?}");
            let axis = Axis::fit(Scale::Linear, [-value].into_iter(), 5);
            assert!((0.4..0.6).contains(&axis.at(-value)), "{value} {axis:?}");
            let axis = Axis::fit(Scale::Linear, [value].into_iter(), 5);
            assert_eq!(axis.at(0.0), 0.0, "a level is seen against 0");
        }
        let empty = Axis::fit(Scale::Linear, std::iter::empty(), 5);
        assert!(empty.at(5.0).is_finite());
    }
}
