//! Plots. The only module that uses the plotting crate, whose interface still changes.

mod strokes;

use std::sync::Arc;

use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::prelude::{Layout, LegendPosition, LinePlot, LineStyle, Plot, TickFormat};
use kuva::render::figure::Figure as Panels;
use kuva::render::render::{Scene, render_multiple};

/// Colours that can be distinguished without colour vision: first those of Okabe and Ito, then some
/// of Tol's muted scheme. Lines also differ in their dash patterns.
const COLOURS: [&str; 14] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933",
    "#332288", "#44AA99", "#DDCC77", "#777777", "#AA4499",
];

/// Width and height of a chart in a figure, in pixels.
const PANEL: (f64, f64) = (470.0, 380.0);

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
    /// Beyond this many lines colours repeat.
    pub const MOST_LINES: usize = COLOURS.len();

    /// The chart as SVG, its fonts included.
    pub fn svg(&self) -> String {
        SvgBackend.render_scene(&self.scene())
    }

    /// The chart as PNG.
    ///
    /// # Errors
    /// If rendering fails, the renderer's message.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        png(self.scene())
    }

    fn scene(&self) -> Scene {
        let plots: Vec<Plot> =
            self.lines.iter().enumerate().map(|(at, line)| self.line(line, at, true)).collect();
        // The width of the legend beside the plot is added, so that long names do not narrow the
        // plot.
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let layout = self
            .layout(&plots)
            .with_legend_position(LegendPosition::OutsideRightTop)
            .with_width(690.0 + strokes::WIDER + 7.5 * longest as f64)
            .with_height(420.0);
        strokes::show_patterns(render_multiple(plots, layout))
    }

    /// The line with style number `at`.
    fn line(&self, line: &Line, at: usize, legend: bool) -> Plot {
        let shown = |(x, y): &(f64, f64)| self.x_scale.shows(*x) && self.y_scale.shows(*y);
        let y = |value: f64| if self.y_scale == Scale::SymLog { Scale::SymLog.place(value) } else { value };
        let mut plot = LinePlot::new()
            .with_data(line.points.iter().filter(|point| shown(point)).map(|(x, value)| (*x, y(*value))))
            .with_color(COLOURS[at % COLOURS.len()])
            .with_stroke_width(2.0)
            .with_line_style(style(at));
        if !line.band.is_empty() {
            let band = || {
                line.points.iter().zip(&line.band).filter(|(point, _)| shown(point)).map(|(_, band)| *band)
            };
            plot = plot.with_band(band().map(|(low, _)| y(low)), band().map(|(_, high)| y(high)));
        }
        if legend {
            plot = plot.with_legend(strokes::with_room(&line.name));
        }
        Plot::from(plot)
    }

    fn layout(&self, plots: &[Plot]) -> Layout {
        let mut layout = Layout::auto_from_plots(plots)
            .with_title(self.title.as_str())
            .with_x_label(self.x_label.as_str())
            .with_y_label(self.y_label.as_str());
        if self.x_scale == Scale::Log {
            layout = layout.with_log_x().with_x_tick_format(TickFormat::Custom(Arc::new(plain)));
        }
        match self.y_scale {
            Scale::Linear => {}
            Scale::Log => {
                layout = layout.with_log_y().with_y_tick_format(TickFormat::Custom(Arc::new(plain)));
            }
            Scale::SymLog => {
                let name = |place: f64| plain(Scale::SymLog.value(place.round()));
                layout = layout.with_y_tick_step(1.0).with_y_tick_format(TickFormat::Custom(Arc::new(name)));
            }
        }
        if let Some((from, to)) = self.y_range {
            layout = layout.with_y_axis_min(from).with_y_axis_max(to);
        }
        layout
    }
}

impl Figure {
    /// The figure as SVG, its fonts included.
    pub fn svg(&self) -> String {
        match self.only() {
            Some(chart) => chart.svg(),
            None => SvgBackend.render_scene(&self.scene()),
        }
    }

    /// The figure as PNG.
    ///
    /// # Errors
    /// If rendering fails, the renderer's message.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        match self.only() {
            Some(chart) => chart.png(),
            None => png(self.scene()),
        }
    }

    /// A single chart has the title of the figure.
    fn only(&self) -> Option<Chart> {
        match self.charts.as_slice() {
            [chart] => Some(Chart { title: self.title.clone(), ..chart.clone() }),
            _ => None,
        }
    }

    fn scene(&self) -> Scene {
        // A line keeps its colour and style from chart to chart.
        let mut names: Vec<&str> = Vec::new();
        for line in self.charts.iter().flat_map(|chart| &chart.lines) {
            if !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        let mut seen = vec![false; names.len()];
        let (mut plots, mut layouts) = (Vec::new(), Vec::new());
        for chart in &self.charts {
            let lines = chart.lines.iter().map(|line| {
                let at = names.iter().position(|name| *name == line.name).expect("all are listed");
                chart.line(line, at, !std::mem::replace(&mut seen[at], true))
            });
            let lines: Vec<Plot> = lines.collect();
            layouts.push(chart.layout(&lines));
            plots.push(lines);
        }
        let columns = self.columns.clamp(1, self.charts.len().max(1));
        let panels = Panels::new(self.charts.len().div_ceil(columns), columns)
            .with_title(self.title.as_str())
            .with_plots(plots)
            .with_layouts(layouts)
            .with_cell_size(PANEL.0, PANEL.1)
            .with_spacing(24.0)
            .with_padding(16.0)
            .with_shared_legend_bottom();
        strokes::show_patterns(panels.render())
    }
}

/// The scene at twice its size.
fn png(scene: Scene) -> Result<Vec<u8>, String> {
    PngBackend::new().with_scale(2.0).render_scene(&strokes::cut(scene))
}

/// Line styles that differ at a glance.
const DASHES: [&str; 6] = ["", "9 5", "2 4", "12 4 2 4", "18 5", "6 3 2 3 2 3"];

fn style(at: usize) -> LineStyle {
    match DASHES[at % DASHES.len()] {
        "" => LineStyle::Solid,
        dashes => LineStyle::Custom(dashes.to_owned()),
    }
}

/// A tick label of a logarithmic axis, without an exponent for numbers of moderate size.
fn plain(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(0.9e-3..0.9e4).contains(&magnitude) {
        return format!("{value:.0e}");
    }
    // Powers of ten are computed from logarithms, so that their last digits are inexact.
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
    fn numbers_of_logarithmic_axes_are_plain() {
        for (value, name) in [
            (0.5, "0.5"),
            (0.001, "0.001"),
            (1e-4, "1e-4"),
            (99.999_999_99, "100"),
            (5000.0, "5000"),
            (1e4, "1e4"),
            (-1e5, "-1e5"),
        ] {
            assert_eq!(plain(value), name);
        }
        assert_eq!(plain(0.0), "0");
    }

    #[test]
    fn figures_name_every_line_once() {
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
            [("first line", 1), ("second line", 1), (">left<", 1), (">right<", 1), (">Both<", 1)]
        {
            assert_eq!(svg.matches(text).count(), times, "{text}");
        }
        assert!(figure.png().expect("drawn").starts_with(b"\x89PNG"));
    }
}
