//! Charts, and the HTML report of a run.
//!
//! `layout` places the marks of a chart; `svg` writes them for pages and files, `png` for files.

mod axis;
mod layout;
mod marks;
pub mod plot;
mod png;
pub mod report;
mod svg;

use self::layout::Picture;
use self::plot::{Chart, Figure};
use crate::fault::Fault;

impl Chart {
    /// The chart as an `<svg>` element of an HTML page with our style sheet, which scales to the available
    /// width. `about` describes it in words.
    pub fn inline(&self, about: &str) -> String {
        let Picture { size, marks } = layout::inline(self);
        svg::inline(size, &marks, about)
    }

    /// The chart as a file in SVG.
    pub fn svg(&self) -> String {
        self.alone().svg()
    }

    /// The chart as a file in PNG.
    ///
    /// # Errors
    /// If rendering fails, the renderer's message.
    pub fn png(&self) -> Result<Vec<u8>, Fault> {
        self.alone().png()
    }

    fn alone(&self) -> Figure {
        Figure { title: self.title.clone(), columns: 1, charts: vec![self.clone()] }
    }
}

impl Figure {
    /// The figure as a file in SVG.
    pub fn svg(&self) -> String {
        let Picture { size, marks } = layout::figure(self);
        svg::file(size, &marks)
    }

    /// The figure as a file in PNG.
    ///
    /// # Errors
    /// If rendering fails, the renderer's message.
    pub fn png(&self) -> Result<Vec<u8>, Fault> {
        let Picture { size, marks } = layout::figure(self);
        png::file(size, &marks)
    }
}
