//! Marks as PNG, with a font of our own. The only module that uses the rasteriser.

use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::marks::{Anchor, Ink, Mark, OPACITY, RADIUS, Shape};
use crate::fault::{Fault, fault};

/// Latin, Greek, Cyrillic, arrows and signs of mathematics of DejaVu Sans 2.37.
const FONT: &[u8] = include_bytes!("DejaVuSans.ttf");

/// Pixels of the picture for a pixel of the layout.
const SCALE: f32 = 2.0;

/// Marks on white, at twice their size.
/// Fails if the picture is too large, or with the message of the encoder.
pub(super) fn file(size: (f64, f64), marks: &[Mark]) -> Result<Vec<u8>, Fault> {
    let pixels = |length: f64| (length * f64::from(SCALE)).ceil() as u32;
    let mut map = Pixmap::new(pixels(size.0), pixels(size.1)).ok_or("the picture is too large")?;
    map.fill(Color::WHITE);
    let font = Face::parse(FONT, 0).expect("the font is part of the program");
    let place = Transform::from_scale(SCALE, SCALE);
    for Mark { ink, shape } in marks {
        let (path, filled) = match shape {
            Shape::Path(points) => (line(points), matches!(ink, Ink::Band(_))),
            Shape::Dot(x, y) => (PathBuilder::from_circle(*x as f32, *y as f32, RADIUS), false),
            Shape::Text(x, y, anchor, text) => {
                (words(&font, text, (*x as f32, *y as f32), *anchor, ink.size()), true)
            }
        };
        // Nothing but spaces, or a single point.
        let Some(path) = path else { continue };
        let paint = paint(*ink);
        if filled {
            map.fill_path(&path, &paint, FillRule::Winding, place, None);
        } else {
            let stroke = Stroke {
                width: ink.width(),
                line_join: LineJoin::Round,
                dash: StrokeDash::new(ink.dashes().to_vec(), 0.0),
                ..Stroke::default()
            };
            map.stroke_path(&path, &paint, &stroke, place, None);
        }
    }
    map.encode_png().map_err(|error| fault!("{error}"))
}

fn paint(ink: Ink) -> Paint<'static> {
    let part = |at: usize| u8::from_str_radix(&ink.colour()[at..at + 2], 16).expect("#rrggbb");
    let opacity = if matches!(ink, Ink::Band(_)) { (255.0 * OPACITY) as u8 } else { 255 };
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(part(1), part(3), part(5), opacity);
    paint
}

fn line(points: &[(f64, f64)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let add = if at == 0 { PathBuilder::move_to } else { PathBuilder::line_to };
        add(&mut path, *x as f32, *y as f32);
    }
    path.finish()
}

/// The outlines of a text. Letters that the font does not have are boxes.
fn words(font: &Face<'_>, text: &str, at: (f32, f32), anchor: Anchor, size: f32) -> Option<Path> {
    let scale = size / f32::from(font.units_per_em());
    let glyphs: Vec<GlyphId> =
        text.chars().map(|letter| font.glyph_index(letter).unwrap_or(GlyphId(0))).collect();
    let advance = |glyph: GlyphId| scale * f32::from(font.glyph_hor_advance(glyph).unwrap_or(0));
    let width: f32 = glyphs.iter().map(|glyph| advance(*glyph)).sum();
    let x = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - width / 2.0,
        Anchor::End => at.0 - width,
    };
    let mut pen = Pen { path: PathBuilder::new(), x, y: at.1, scale };
    for glyph in glyphs {
        // A space has no outline.
        let _ = font.outline_glyph(glyph, &mut pen);
        pen.x += advance(glyph);
    }
    pen.path.finish()
}

/// Draws outlines, whose y grows upwards, at a place.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
