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
