//! What a chart is drawn with: lines, areas, dots and words, each with its ink.

/// Colours on white, those of the light theme of `style.css`. With the dashes of [`Ink::dashes`] more lines
/// than [`Chart::MOST_LINES`](super::plot::Chart::MOST_LINES) differ.
const COLOURS: [&str; 6] = ["#0060a8", "#b44a00", "#00704f", "#8f3a7c", "#6d5a00", "#3c4650"];

/// Line styles, so that colour is not needed to distinguish lines.
const DASHES: [&[f32]; 6] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[12.0, 5.0], &[1.0, 5.0]];

/// What is drawn, by its meaning. Lines have numbers, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Grid,
    /// From the end of a line to its name.
    Thread,
    Words,
    Title,
    Line(usize),
    Band(usize),
    Name(usize),
}

impl Ink {
    /// The class in a page with `style.css`; empty for words, which have no class.
    pub(super) fn class(self) -> String {
        let (letter, number) = match self {
            Ink::Grid => return "grid".to_owned(),
            Ink::Thread => return "thread".to_owned(),
            Ink::Words | Ink::Title => return String::new(),
            Ink::Line(number) => ("s", number),
            Ink::Band(number) => ("band b", number),
            Ink::Name(number) => ("t", number),
        };
        format!("{letter}{}", number % COLOURS.len() + 1)
    }

    /// The colour on white.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Ink::Grid => "#d9dee3",
            Ink::Thread | Ink::Words => "#5a646e",
            Ink::Title => "#1c2126",
            Ink::Line(number) | Ink::Band(number) | Ink::Name(number) => COLOURS[number % COLOURS.len()],
        }
    }

    /// Lengths of dashes and gaps in turn; none for a whole line. Where colours repeat, dashes do not.
    pub(super) fn dashes(self) -> &'static [f32] {
        match self {
            Ink::Thread => &[1.0, 2.0],
            Ink::Line(number) => DASHES[(number + number / COLOURS.len()) % DASHES.len()],
            _ => &[],
        }
    }

    /// The width of a line.
    pub(super) fn width(self) -> f32 {
        if matches!(self, Ink::Line(_)) { 2.0 } else { 1.0 }
    }

    /// The size of words, in pixels.
    pub(super) fn size(self) -> f32 {
        if self == Ink::Title { 15.0 } else { 12.5 }
    }
}

/// How opaque a band is.
pub(super) const OPACITY: f32 = 0.18;

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A mark; its ink says how it looks.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) ink: Ink,
    pub(super) shape: Shape,
}

/// The shape of a mark.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A line, or with the ink of a band the area that it encloses.
    Path(Vec<(f64, f64)>),
    Dot(f64, f64),
    Text(f64, f64, Anchor, String),
}

impl Mark {
    pub(super) fn path(ink: Ink, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { ink, shape: Shape::Path(points.into_iter().collect()) }
    }

    pub(super) fn text(ink: Ink, x: f64, y: f64, anchor: Anchor, text: impl Into<String>) -> Self {
        Self { ink, shape: Shape::Text(x, y, anchor, text.into()) }
    }
}

/// The radius of a dot.
pub(super) const RADIUS: f32 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::plot::Chart;

    #[test]
    fn files_have_the_colours_of_pages() {
        let style = include_str!("report/style.css");
        let light = style.split("@media").next().expect("the light theme is first");
        for ink in [Ink::Grid, Ink::Words, Ink::Title].into_iter().chain((0..6).map(Ink::Line)) {
            assert!(light.contains(ink.colour()), "{ink:?}");
        }
    }

    #[test]
    fn lines_differ_by_colour_or_dashes() {
        let looks = |number| (Ink::Line(number).colour(), format!("{:?}", Ink::Line(number).dashes()));
        for b in 0..Chart::MOST_LINES {
            assert!((0..b).all(|a| looks(a) != looks(b)), "{b}");
        }
    }
}
