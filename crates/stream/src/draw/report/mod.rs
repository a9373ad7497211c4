//! A run as one page: self-contained HTML without scripts, its charts as SVG that follow the reader's light
//! or dark theme, its numbers as JSON for other programs.
//!
//! [`Watch`] looks at the run, [`Page::html`] writes the page. Colour is never the only cue: lines have dash
//! patterns and are named where they end, tints stand behind numbers.

mod axis;
mod confusion;
mod curves;
mod focus;
mod html;
mod sections;
mod svg;
mod trust;
mod watch;

pub use focus::focus;
pub use html::Document;
pub use sections::Page;
pub use svg::inline;
pub use watch::Watch;
