//! A chart as inline SVG: colours come from the page's style sheet, and lines are labelled at their
//! ends.

use std::fmt::Write;

use super::axis::Axis;
use super::html::escape;
use crate::draw::plot::{Chart, Line};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 290.0;
/// Above the plot: the name of the y axis. Below: marks and name of the x axis.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Height of a line of text.
const LEADING: f64 = 15.0;
/// Names of lines are truncated to this length.
const LONGEST_NAME: usize = 22;
/// Line styles, so that colour is not needed to distinguish lines.
const DASHES: [&str; 6] = ["", "7 4", "2 3", "9 3 2 3", "12 5", "1 5"];

/// The chart as an `<svg>` element that scales to the available width. `about` describes it in
/// words.
pub fn inline(chart: &Chart, about: &str) -> String {
    Frame::new(chart).draw(about)
}

struct Frame<'a> {
    chart: &'a Chart,
    x: Axis,
    y: Axis,
    left: f64,
    right: f64,
}

impl<'a> Frame<'a> {
    fn new(chart: &'a Chart) -> Self {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let bands = chart.lines.iter().flat_map(|line| &line.band).flat_map(|(low, high)| [*low, *high]);
        let x = Axis::fit(chart.x_scale, points().map(|(x, _)| *x), 5);
        let y = match chart.y_range {
            Some((from, to)) => Axis::between(chart.y_scale, from, to, 5),
            None => Axis::fit(chart.y_scale, points().map(|(_, y)| *y).chain(bands), 5),
        };
        let widest = y.ticks().iter().map(|(_, name)| width(name)).fold(0.0, f64::max);
        let names = chart.lines.iter().map(|line| width(&shortened(&line.name)));
        let longest = if chart.lines.len() > 1 { names.fold(0.0, f64::max) } else { 0.0 };
        Self { chart, x, y, left: 10.0 + widest, right: WIDTH - 14.0 - longest }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.at(value)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * self.y.at(value)
    }

    fn draw(&self, about: &str) -> String {
        let (left, right, bottom) = (self.left, self.right, HEIGHT - BOTTOM);
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><g class=\"grid\">",
            escape(about)
        );
        let mut names = String::new();
        for (at, name) in self.y.ticks() {
            let y = bottom - (bottom - TOP) * at;
            let _ = write!(out, "<path d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
            let _ = write!(
                names,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
                left - 6.0,
                y + 4.0
            );
        }
        for (at, name) in self.x.ticks() {
            let x = left + (right - left) * at;
            let _ = write!(out, "<path d=\"M{x:.1} {TOP}V{bottom}\"/>");
            let _ = write!(
                names,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                bottom + 16.0
            );
        }
        let (x_label, y_label) = (escape(&self.chart.x_label), escape(&self.chart.y_label));
        let _ = write!(
            out,
            "</g><g class=\"axis\">{names}<text x=\"2\" y=\"14\">{y_label}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_label}</text></g>",
            f64::midpoint(left, right),
            HEIGHT - 8.0
        );
        for (at, line) in self.chart.lines.iter().enumerate() {
            self.line(&mut out, line, at);
        }
        self.names(&mut out);
        out + "</svg>"
    }

    fn line(&self, out: &mut String, line: &Line, at: usize) {
        let shows = |x: f64, y: f64| self.chart.x_scale.shows(x) && self.chart.y_scale.shows(y);
        let colour = at % DASHES.len() + 1;
        if !line.band.is_empty() {
            let both = || {
                line.points
                    .iter()
                    .zip(&line.band)
                    .filter(|((x, _), (low, high))| shows(*x, *low) && shows(*x, *high))
            };
            let there = both().map(|((x, _), (_, high))| format!("{:.1} {:.1}", self.x(*x), self.y(*high)));
            let back =
                both().rev().map(|((x, _), (low, _))| format!("{:.1} {:.1}", self.x(*x), self.y(*low)));
            let path: Vec<String> = there.chain(back).collect();
            let _ = write!(out, "<path class=\"band b{colour}\" d=\"M{}Z\"/>", path.join("L"));
        }
        let points: Vec<String> = (line.points.iter())
            .filter(|(x, y)| shows(*x, *y))
            .map(|(x, y)| format!("{:.1} {:.1}", self.x(*x), self.y(*y)))
            .collect();
        match points.as_slice() {
            [] => {}
            [one] => {
                let (x, y) = one.split_once(' ').unwrap_or_default();
                let _ = write!(out, "<circle class=\"s{colour} dot\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
            }
            _ => {
                let dashes = DASHES[at % DASHES.len()];
                let dashes =
                    if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
                let _ = write!(out, "<path class=\"s{colour}\"{dashes} d=\"M{}\"/>", points.join("L"));
            }
        }
    }

    /// Labels at the ends of the lines, moved apart if they would overlap.
    fn names(&self, out: &mut String) {
        if self.chart.lines.len() < 2 {
            return;
        }
        let end = |(at, line): (usize, &'a Line)| {
            let (x, y) = line.points.iter().rev().find(|(_, y)| self.chart.y_scale.shows(*y))?;
            Some((self.y(*y), at, self.x(*x), &line.name))
        };
        let mut ends: Vec<_> = self.chart.lines.iter().enumerate().filter_map(end).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
        spread(&mut places, TOP + 2.0, HEIGHT - BOTTOM - 2.0);
        for ((y, at, x, name), place) in ends.iter().zip(places) {
            let (colour, name_at) = (at % DASHES.len() + 1, self.right + 10.0);
            // A connector from the end of the line to a label that was moved or is far away.
            if (place - y).abs() > 3.0 || self.right - x > 12.0 {
                let _ = write!(
                    out,
                    "<path class=\"thread\" d=\"M{:.1} {y:.1}L{:.1} {place:.1}\"/>",
                    x + 2.0,
                    name_at - 2.0
                );
            }
            let name = escape(&shortened(name));
            let _ = write!(
                out,
                "<text class=\"t{colour}\" x=\"{name_at:.1}\" y=\"{:.1}\">{name}</text>",
                place + 4.0
            );
        }
    }
}

/// Upper bound on the width of a text, for the widest common font.
fn width(text: &str) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ' ' | '|' => 4.0,
        'f' | 't' | 'r' | '-' | '(' | ')' => 5.2,
        '=' | '−' | 'w' => 10.5,
        '@' | 'm' | 'M' | 'W' | '…' => 12.6,
        letter if letter.is_uppercase() => 9.8,
        _ => 8.0,
    };
    text.chars().map(of).sum()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// Moves ascending `places` apart by the height of a text line, within `from` and `to` if there is
/// room.
fn spread(places: &mut [f64], from: f64, to: f64) {
    let mut least = from;
    for place in places.iter_mut() {
        *place = place.max(least);
        least = *place + LEADING;
    }
    let mut most = to;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LEADING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, last: f64) -> Line {
        Line { name: name.to_owned(), points: vec![(1.0, 0.5), (100.0, last)], ..Line::default() }
    }

    #[test]
    fn lines_differ_without_colour_and_are_named_at_their_ends() {
        let lines = vec![line("first & best", 0.10), line("second", 0.11)];
        let chart = Chart {
            y_label: "error rate".to_owned(),
            x_label: "rounds".to_owned(),
            lines,
            ..Chart::default()
        };
        let svg = inline(&chart, "two lines");
        assert_eq!(svg.matches("stroke-dasharray").count(), 1, "{svg}");
        for text in [">first &amp; best<", ">second<", ">error rate<", ">rounds<", "aria-label=\"two lines\""]
        {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        let y: Vec<f64> = svg
            .split("<text class=\"t")
            .skip(1)
            .map(|text| {
                text.split(" y=\"")
                    .nth(1)
                    .expect("a place")
                    .split('"')
                    .next()
                    .expect("ends")
                    .parse()
                    .expect("a number")
            })
            .collect();
        assert!((y[0] - y[1]).abs() >= LEADING - 0.2, "names overlap: {y:?}");
    }

    #[test]
    fn crowded_names_stay_inside() {
        let mut places = [250.0, 250.0, 250.0, 20.0];
        places.sort_by(f64::total_cmp);
        spread(&mut places, 28.0, 246.0);
        assert_eq!(places, [28.0, 216.0, 231.0, 246.0]);
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        for lines in [vec![], vec![Line::default()], vec![line("nan", f64::NAN)]] {
            let svg = inline(&Chart { lines, ..Chart::default() }, "nothing");
            assert!(!svg.contains("NaN") && svg.ends_with("</svg>"), "{svg}");
        }
    }
}
