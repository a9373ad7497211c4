//! Marks as SVG: inside a page, where its style sheet gives the colours, or as a file.

use std::fmt::Write;

use super::marks::{Anchor, Ink, Mark, OPACITY, RADIUS, Shape};
use super::report::escape;

/// Marks as an `<svg>` element that scales to the available width and has the colours of the page. `about`
/// describes it in words.
pub(super) fn inline(size: (f64, f64), marks: &[Mark], about: &str) -> String {
    let (width, height) = size;
    let begin =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">", escape(about));
    element(begin, marks, class)
}

/// Marks as a file, with colours of its own on white.
pub(super) fn file(size: (f64, f64), marks: &[Mark]) -> String {
    let (width, height) = size;
    let begin = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif\">\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    element(begin, marks, paint)
}

fn element(begin: String, marks: &[Mark], look: fn(Ink, &Shape) -> String) -> String {
    let mut out = begin;
    for Mark { ink, shape } in marks {
        let look = look(*ink, shape);
        let _ = match shape {
            Shape::Path(points) => {
                let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let dashes: Vec<String> = ink.dashes().iter().map(f32::to_string).collect();
                let dashes = match dashes.as_slice() {
                    [] => String::new(),
                    dashes => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
                };
                let end = if matches!(ink, Ink::Band(_)) { "Z" } else { "" };
                write!(out, "<path{look}{dashes} d=\"M{}{end}\"/>", points.join("L"))
            }
            Shape::Dot(x, y) => write!(out, "<circle{look} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/>"),
            Shape::Text(x, y, anchor, text) => {
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                write!(out, "<text{look} x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>", escape(text))
            }
        };
    }
    out + "</svg>"
}

fn class(ink: Ink, shape: &Shape) -> String {
    let dot = if matches!(shape, Shape::Dot(..)) { " dot" } else { "" };
    match ink.class() {
        class if class.is_empty() => class,
        class => format!(" class=\"{class}{dot}\""),
    }
}

fn paint(ink: Ink, shape: &Shape) -> String {
    let colour = ink.colour();
    match (shape, ink) {
        (Shape::Text(..), _) => format!(" fill=\"{colour}\" font-size=\"{}\"", ink.size()),
        (_, Ink::Band(_)) => format!(" fill=\"{colour}\" fill-opacity=\"{OPACITY}\""),
        _ => format!(
            " fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            ink.width()
        ),
    }
}
