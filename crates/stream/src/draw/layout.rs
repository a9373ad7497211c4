//! Where the marks of a chart are: axes with a grid, lines with their shades, and names at the ends of lines.

use super::axis::Axis;
use super::marks::{Anchor, Ink, Mark, Shape};
use super::plot::{Chart, Figure, Line};

/// The size of a chart in a page.
const INLINE: (f64, f64) = (460.0, 290.0);
/// The sizes of a chart in a file, alone and beside others, without the names of lines.
const ALONE: (f64, f64) = (620.0, 400.0);
const PANEL: (f64, f64) = (420.0, 330.0);
/// Height of a title, and the space around the charts of a file.
const TITLE: f64 = 24.0;
const SPACE: f64 = 16.0;
/// Above the plot: the name of the y axis. Below: marks and name of the x axis.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Height of a line of text.
const LEADING: f64 = 15.0;
/// In a page, names of lines are truncated to this length.
const LONGEST_NAME: usize = 22;

/// Marks and their extent.
pub(super) struct Picture {
    pub(super) size: (f64, f64),
    pub(super) marks: Vec<Mark>,
}

/// A chart in a page, which writes the title. A single line needs no name.
pub(super) fn inline(chart: &Chart) -> Picture {
    let names: Vec<String> = match chart.lines.as_slice() {
        [_] => Vec::new(),
        lines => lines.iter().map(|line| shortened(&line.name)).collect(),
    };
    let mut marks = Vec::new();
    let styles: Vec<usize> = (0..chart.lines.len()).collect();
    Frame::new(chart, &styles, &names, (0.0, 0.0), INLINE).draw(&mut marks);
    Picture { size: INLINE, marks }
}

/// A figure in a file: all names in full, and a line has the same style in all charts.
pub(super) fn figure(figure: &Figure) -> Picture {
    let mut known: Vec<&str> = Vec::new();
    let lines = || figure.charts.iter().flat_map(|chart| &chart.lines);
    for line in lines() {
        if !known.contains(&line.name.as_str()) {
            known.push(&line.name);
        }
    }
    let alone = figure.charts.len() == 1;
    let columns = figure.columns.clamp(1, figure.charts.len().max(1));
    // The only chart has the title of the figure.
    let ((width, height), head) = if alone { (ALONE, 0.0) } else { (PANEL, TITLE) };
    let width = width + lines().map(|line| self::width(&line.name)).fold(0.0, f64::max);
    let size = (
        SPACE + columns as f64 * (width + SPACE),
        SPACE + TITLE + figure.charts.len().div_ceil(columns) as f64 * (head + height + SPACE),
    );
    let mut marks =
        vec![Mark::text(Ink::Title, size.0 / 2.0, SPACE + 10.0, Anchor::Middle, figure.title.as_str())];
    for (at, chart) in figure.charts.iter().enumerate() {
        let x = SPACE + (at % columns) as f64 * (width + SPACE);
        let y = SPACE + TITLE + (at / columns) as f64 * (head + height + SPACE);
        if !alone {
            marks.push(Mark::text(
                Ink::Words,
                x + width / 2.0,
                y + 14.0,
                Anchor::Middle,
                chart.title.as_str(),
            ));
        }
        let style = |line: &Line| known.iter().position(|name| *name == line.name).expect("all are listed");
        let styles: Vec<usize> = chart.lines.iter().map(style).collect();
        let names: Vec<String> = chart.lines.iter().map(|line| line.name.clone()).collect();
        Frame::new(chart, &styles, &names, (x, y + head), (width, height)).draw(&mut marks);
    }
    Picture { size, marks }
}

struct Frame<'a> {
    chart: &'a Chart,
    /// The style of each line.
    styles: &'a [usize],
    /// The name at the end of each line; none for no names.
    names: &'a [String],
    x: Axis,
    y: Axis,
    /// The left end of the whole chart, and the edges of the plot.
    edge: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl<'a> Frame<'a> {
    fn new(
        chart: &'a Chart,
        styles: &'a [usize],
        names: &'a [String],
        corner: (f64, f64),
        size: (f64, f64),
    ) -> Self {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let bands = chart.lines.iter().flat_map(|line| &line.band).flat_map(|(low, high)| [*low, *high]);
        let x = Axis::fit(chart.x_scale, points().map(|(x, _)| *x), 5);
        let y = match chart.y_range {
            Some((from, to)) => Axis::between(chart.y_scale, from, to, 5),
            None => Axis::fit(chart.y_scale, points().map(|(_, y)| *y).chain(bands), 5),
        };
        let widest = y.ticks().iter().map(|(_, name)| width(name)).fold(0.0, f64::max);
        let longest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        Self {
            chart,
            styles,
            names,
            x,
            y,
            edge: corner.0,
            left: corner.0 + 10.0 + widest,
            right: corner.0 + size.0 - 14.0 - longest,
            top: corner.1 + TOP,
            bottom: corner.1 + size.1 - BOTTOM,
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.at(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.y.at(value)
    }

    fn draw(&self, marks: &mut Vec<Mark>) {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        let mut words = Vec::new();
        for (at, name) in self.y.ticks() {
            let y = bottom - (bottom - top) * at;
            marks.push(Mark::path(Ink::Grid, [(left, y), (right, y)]));
            words.push(Mark::text(Ink::Words, left - 6.0, y + 4.0, Anchor::End, name));
        }
        for (at, name) in self.x.ticks() {
            let x = left + (right - left) * at;
            marks.push(Mark::path(Ink::Grid, [(x, top), (x, bottom)]));
            words.push(Mark::text(Ink::Words, x, bottom + 16.0, Anchor::Middle, name));
        }
        marks.append(&mut words);
        let (x_label, y_label) = (self.chart.x_label.as_str(), self.chart.y_label.as_str());
        marks.push(Mark::text(Ink::Words, self.edge + 2.0, top - 12.0, Anchor::Start, y_label));
        let middle = f64::midpoint(left, right);
        marks.push(Mark::text(Ink::Words, middle, bottom + BOTTOM - 8.0, Anchor::Middle, x_label));
        for (line, style) in self.chart.lines.iter().zip(self.styles) {
            self.line(marks, line, *style);
        }
        self.names(marks);
    }

    fn line(&self, marks: &mut Vec<Mark>, line: &Line, style: usize) {
        let shows = |x: f64, y: f64| self.chart.x_scale.shows(x) && self.chart.y_scale.shows(y);
        if !line.band.is_empty() {
            let both = || {
                line.points
                    .iter()
                    .zip(&line.band)
                    .filter(|((x, _), (low, high))| shows(*x, *low) && shows(*x, *high))
            };
            let there = both().map(|((x, _), (_, high))| (self.x(*x), self.y(*high)));
            let back = both().rev().map(|((x, _), (low, _))| (self.x(*x), self.y(*low)));
            marks.push(Mark::path(Ink::Band(style), there.chain(back)));
        }
        let shown = line.points.iter().filter(|(x, y)| shows(*x, *y));
        let points: Vec<(f64, f64)> = shown.map(|(x, y)| (self.x(*x), self.y(*y))).collect();
        match points.as_slice() {
            [] => {}
            [(x, y)] => marks.push(Mark { ink: Ink::Line(style), shape: Shape::Dot(*x, *y) }),
            _ => marks.push(Mark::path(Ink::Line(style), points)),
        }
    }

    /// Names at the ends of the lines, moved apart if they would overlap.
    fn names(&self, marks: &mut Vec<Mark>) {
        let shows = |(x, y): &&(f64, f64)| self.chart.x_scale.shows(*x) && self.chart.y_scale.shows(*y);
        let end = |((line, style), name): ((&Line, &usize), &'a String)| {
            let (x, y) = line.points.iter().rev().find(shows)?;
            Some((self.y(*y), *style, self.x(*x), name.as_str()))
        };
        let lines = self.chart.lines.iter().zip(self.styles).zip(self.names);
        let mut ends: Vec<_> = lines.filter_map(end).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
        spread(&mut places, self.top + 2.0, self.bottom - 2.0);
        for ((y, style, x, name), place) in ends.into_iter().zip(places) {
            let name_at = self.right + 10.0;
            // A connector from the end of the line to a label that was moved or is far away.
            if (place - y).abs() > 3.0 || self.right - x > 12.0 {
                marks.push(Mark::path(Ink::Thread, [(x + 2.0, y), (name_at - 2.0, place)]));
            }
            marks.push(Mark::text(Ink::Name(style), name_at, place + 4.0, Anchor::Start, name));
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

/// A long name without its middle: names of one kind differ at their ends.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let kept = LONGEST_NAME - 1;
    let (start, end) = (&letters[..kept.div_ceil(2)], &letters[letters.len() - kept / 2..]);
    start.iter().chain(&['…']).chain(end).collect()
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
        let svg = chart.inline("two lines");
        assert!(
            svg.contains("<path class=\"s1\" d") && svg.contains("<path class=\"s2\" stroke-dasharray"),
            "{svg}"
        );
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
    fn long_names_differ_at_their_ends() {
        assert_eq!(shortened("linear with a shared matrix, regularization 0.1"), "linear with…zation 0.1");
        assert_eq!(shortened("linear with a shared matrix, regularization 0.01"), "linear with…ation 0.01");
        assert_eq!(shortened("boosted trees"), "boosted trees");
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
            let svg = Chart { lines, ..Chart::default() }.inline("nothing");
            assert!(!svg.contains("NaN") && svg.ends_with("</svg>"), "{svg}");
        }
    }
}
