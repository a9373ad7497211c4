//! Charts, and figures of several charts.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic; values must be above 0.
    Log,
    /// Linear between -1 and 1, logarithmic beyond.
    SymLog,
}

impl Scale {
    /// The position of `value`, in the units of this scale.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
            Scale::SymLog if value.abs() <= 1.0 => value,
            Scale::SymLog => value.signum() * (1.0 + value.abs().log10()),
        }
    }

    /// The value at `place`: the inverse of [`Scale::place`].
    pub fn value(self, place: f64) -> f64 {
        match self {
            Scale::Linear => place,
            Scale::Log => 10_f64.powf(place),
            Scale::SymLog if place.abs() <= 1.0 => place,
            Scale::SymLog => place.signum() * 10_f64.powf(place.abs() - 1.0),
        }
    }

    /// Whether `value` has a position on this scale.
    pub fn shows(self, value: f64) -> bool {
        value.is_finite() && (self != Scale::Log || value > 0.0)
    }
}

/// A named line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The name in the legend.
    pub name: String,
    /// The points (x, y).
    pub points: Vec<(f64, f64)>,
    /// The lowest and highest y at each point, shown as a shaded band; empty for none.
    pub band: Vec<(f64, f64)>,
}

/// A chart of lines over rounds.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The label of the y axis, with the unit.
    pub y_label: String,
    /// The label of the x axis.
    pub x_label: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// The scale of x.
    pub x_scale: Scale,
    /// The scale of y.
    pub y_scale: Scale,
    /// The range of y; that of the values if absent.
    pub y_range: Option<(f64, f64)>,
}

/// Charts side by side that show the same lines.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// The title above all of them.
    pub title: String,
    /// Number of charts in a row, at least 1.
    pub columns: usize,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
}

impl Chart {
    /// More lines than this are not drawn: nobody could tell them apart.
    pub const MOST_LINES: usize = 14;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_inverted() {
        for scale in [Scale::Linear, Scale::Log, Scale::SymLog] {
            for value in [0.25, 1.0, 3.0, 1e4] {
                assert!((scale.value(scale.place(value)) / value - 1.0).abs() < 1e-12, "{scale:?} {value}");
            }
        }
        assert_eq!(Scale::SymLog.place(-100.0), -3.0);
        assert!(!Scale::Log.shows(0.0) && Scale::SymLog.shows(0.0) && !Scale::Linear.shows(f64::NAN));
    }

    #[test]
    fn figures_name_every_line_in_each_chart() {
        let line = |name: &str| Line {
            name: name.to_owned(),
            points: vec![(1.0, 1.0), (10.0, 2.0)],
            ..Line::default()
        };
        let chart = |title: &str| Chart {
            title: title.to_owned(),
            lines: vec![line("first line"), line("second line")],
            x_scale: Scale::Log,
            ..Chart::default()
        };
        let figure =
            Figure { title: "Both".to_owned(), columns: 2, charts: vec![chart("left"), chart("right")] };
        let svg = figure.svg();
        for (text, times) in
            [("first line", 2), ("second line", 2), (">left<", 1), (">right<", 1), (">Both<", 1)]
        {
            assert_eq!(svg.matches(text).count(), times, "{text}");
        }
        assert!(figure.png().expect("drawn").starts_with(b"\x89PNG"));
    }
}
