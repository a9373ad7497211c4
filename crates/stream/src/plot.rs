//! Plots, behind one module: the plotting crate is young.

use kuva::prelude::{Layout, LegendPosition, LinePlot, Plot};

/// Colours that can be told apart without colour vision: first those of Okabe and Ito, then some of Tol's muted scheme. Line
/// styles help where points are few.
const COLOURS: [&str; 14] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933",
    "#332288", "#44AA99", "#DDCC77", "#777777", "#AA4499",
];

/// A named line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// What the legend says.
    pub name: String,
    /// The points (x, y).
    pub points: Vec<(f64, f64)>,
    /// The lowest and highest y at each point, shown as a shade around the line; empty for none.
    pub band: Vec<(f64, f64)>,
}

/// A chart of lines over rounds.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// What x is.
    pub x_label: String,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Chart {
    /// More lines than this cannot be told apart: colours repeat.
    pub const MOST_LINES: usize = COLOURS.len();

    /// The chart as SVG, its fonts included.
    pub fn svg(&self) -> String {
        let (plots, layout) = self.parts();
        kuva::render_to_svg(plots, layout)
    }

    /// The chart as PNG.
    ///
    /// # Errors
    /// The renderer's words.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let (plots, layout) = self.parts();
        kuva::render_to_png(plots, layout, 2.0)
    }

    fn parts(&self) -> (Vec<Plot>, Layout) {
        let plots: Vec<Plot> = self
            .lines
            .iter()
            .enumerate()
            .map(|(at, line)| {
                let plot = LinePlot::new()
                    .with_data(line.points.iter().copied())
                    .with_color(COLOURS[at % COLOURS.len()])
                    .with_stroke_width(2.0)
                    .with_legend(line.name.as_str());
                let plot = if line.band.is_empty() {
                    plot
                } else {
                    let (lower, upper): (Vec<f64>, Vec<f64>) = line.band.iter().copied().unzip();
                    plot.with_band(lower, upper)
                };
                Plot::from(if at % 2 == 1 { plot.with_dashed() } else { plot })
            })
            .collect();
        // The legend stands beside the plot: its width is added, so that long names leave the curves their room.
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let layout = Layout::auto_from_plots(&plots)
            .with_title(self.title.as_str())
            .with_x_label(self.x_label.as_str())
            .with_y_label(self.y_label.as_str())
            .with_legend_position(LegendPosition::OutsideRightTop)
            .with_width(690.0 + 7.5 * longest as f64)
            .with_height(420.0);
        (plots, layout)
    }
}
