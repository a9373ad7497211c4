//! From rows to examples: the first pass (`survey`, `measure`), names of classes (`labels`), ranges of
//! costs (`costs`), scaling (`scale`), and encoding (`encoder`, `example`).

mod ahead;
pub mod costs;
mod encoder;
mod example;
pub mod examples;
pub mod labels;
mod measure;
pub mod scale;
pub mod survey;

pub(crate) use encoder::row_error;
pub use encoder::{Encoder, LARGEST_NORM, LARGEST_WEIGHT, LargeRow};
pub use example::{Coming, Example, Logged};
