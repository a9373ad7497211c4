//! The report of a run: a self-contained HTML page without scripts, with charts in SVG for light
//! and dark themes, and the numbers as JSON for other programs.
//!
//! [`Watch`] observes the run, [`Page::html`] writes the page. Nothing is shown by colour alone:
//! lines have dash patterns and names at their ends, and shaded cells contain their numbers.

mod confusion;
mod curves;
mod focus;
mod html;
mod sections;
mod trust;
mod watch;

pub use focus::focus;
pub use html::Document;
pub(super) use html::escape;
pub use sections::Page;
pub use watch::Watch;
