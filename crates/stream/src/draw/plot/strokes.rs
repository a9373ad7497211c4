//! Dash patterns of lines: whole patterns in the legend, and in PNGs patterns that continue across
//! points.

use kuva::render::render::{Primitive, Scene};

/// Additional length of a legend's swatches, in pixels.
pub(super) const WIDER: f64 = 24.0;

/// Prefix of a name; the crate measures it, which leaves `WIDER` pixels of space.
const ROOM: &str = "\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}";

/// A name for the legend.
pub(super) fn with_room(name: &str) -> String {
    format!("{ROOM}{name}")
}

/// Lengthens the swatches of the legend: the crate's are shorter than one period of the pattern.
pub(super) fn show_patterns(mut scene: Scene) -> Scene {
    let mut named = false;
    for element in &mut scene.elements {
        match element {
            Primitive::Text { content, x, .. } if content.starts_with(ROOM) => {
                *content = content.trim_start_matches('\u{a0}').to_owned();
                *x += WIDER;
                named = true;
            }
            // Each name is followed by its swatch.
            Primitive::Line { x1, x2, .. } if named => {
                *x2 = *x1 + 12.0 + WIDER;
                named = false;
            }
            _ => {}
        }
    }
    scene
}

/// Cuts dashed lines into their dashes: in the crate's PNGs the pattern restarts at each point, so
/// that lines of many points look solid.
pub(super) fn cut(mut scene: Scene) -> Scene {
    let whole = std::mem::take(&mut scene.elements);
    for element in whole {
        let (points, stroke, stroke_width, pattern) = match element {
            Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: Some(pattern) } => {
                (points, stroke, stroke_width, pattern)
            }
            Primitive::Line { x1, y1, x2, y2, stroke, stroke_width, stroke_dasharray: Some(pattern) } => {
                (vec![(x1, y1), (x2, y2)], stroke, stroke_width, pattern)
            }
            other => {
                scene.elements.push(other);
                continue;
            }
        };
        let pattern: Vec<f64> = pattern.split([' ', ',']).filter_map(|length| length.parse().ok()).collect();
        scene.elements.extend(dashes(&points, &pattern).into_iter().map(|points| Primitive::PolyLine {
            points,
            stroke: stroke.clone(),
            stroke_width,
            stroke_dasharray: None,
        }));
    }
    scene
}

/// The dashes of the line through `points`; `pattern` has the lengths of dashes and gaps in turn, all above
/// 0.
fn dashes(points: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if pattern.is_empty() || pattern.iter().any(|length| length.is_nan() || *length <= 0.0) {
        return vec![points.to_vec()];
    }
    let (mut done, mut dash) = (Vec::new(), points.first().copied().into_iter().collect::<Vec<_>>());
    let (mut at, mut left) = (0, pattern[0]);
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let share = gone / length;
            let turn = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            dash.push(turn);
            if at % 2 == 0 {
                done.push(std::mem::take(&mut dash));
            }
            dash = vec![turn];
            at += 1;
            left = pattern[at % pattern.len()];
        }
        left -= length - gone;
        if at % 2 == 0 {
            dash.push(*to);
        }
    }
    if at % 2 == 0 && dash.len() > 1 {
        done.push(dash);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_run_on_from_point_to_point() {
        let points: Vec<(f64, f64)> = (0..=20).map(|at| (f64::from(at), 0.0)).collect();
        for points in [points, vec![(0.0, 0.0), (20.0, 0.0)]] {
            let ends: Vec<(f64, f64)> = dashes(&points, &[4.0, 3.0, 1.5, 3.0])
                .iter()
                .map(|dash| (dash[0].0, dash[dash.len() - 1].0))
                .collect();
            assert_eq!(ends, [(0.0, 4.0), (7.0, 8.5), (11.5, 15.5), (18.5, 20.0)]);
        }
        // Round a corner.
        let corner = dashes(&[(0.0, 0.0), (1.0, 0.0), (1.0, 5.0)], &[2.0, 2.0]);
        assert_eq!(corner, [vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], vec![(1.0, 3.0), (1.0, 5.0)]]);
        assert!(dashes(&[], &[1.0, 1.0]).is_empty());
    }
}
