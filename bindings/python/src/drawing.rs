//! HTML reports and fragments for notebooks, in the style of the command line's reports.

use noregret_stream::draw::plot::{Chart, Line};
use noregret_stream::draw::report::{Document, focus};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

/// A part of a page.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// Names, values and remarks.
    Tiles(Vec<(String, String, String)>),
    Heading(String),
    Paragraph(String),
    /// Names and values.
    List(Vec<(String, String)>),
    Table {
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Chart {
        title: String,
        caption: String,
        x: String,
        y: String,
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
}

/// A page of `parts`, given as JSON, with the embedded numbers `data`; with `fragment`, an HTML
/// fragment for a notebook.
#[pyfunction]
#[pyo3(signature = (title, below, parts, data, fragment))]
pub(crate) fn page(
    py: Python<'_>,
    title: &str,
    below: &str,
    parts: &str,
    data: &str,
    fragment: bool,
) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let parts: Vec<Part> = serde_json::from_str(parts).map_err(wrong)?;
    let data = serde_json::from_str(data).map_err(wrong)?;
    Ok(py.detach(|| {
        let mut page = Document::new(title, below);
        for part in parts {
            match part {
                Part::Tiles(tiles) => page.tiles(&tiles),
                Part::Heading(title) => page.heading(&title),
                Part::Paragraph(text) => page.paragraph(&text),
                Part::List(items) => page.list(&items),
                Part::Table { header, rows } => page.table(&header, &rows),
                Part::Chart { title, caption, x, y, lines } => {
                    let lines = lines
                        .into_iter()
                        .map(|(name, points)| Line { name, points, ..Line::default() })
                        .collect();
                    let chart =
                        Chart { title: title.clone(), x_label: x, y_label: y, lines, ..Chart::default() };
                    let (chart, _) = focus(chart);
                    page.figure(&title, &chart.inline(&title), &caption);
                }
            }
        }
        if fragment { page.fragment() } else { page.finish(&data) }
    }))
}
