//! From rows to examples: what a first pass finds out (`survey`, `measure`), what classes are called
//! (`labels`), how values are scaled (`scale`), and what a learner then sees (`encoder`, `example`).

mod ahead;
mod encoder;
mod example;
pub mod examples;
pub mod labels;
mod measure;
pub mod scale;
pub mod survey;

pub(crate) use encoder::row_error;
pub use encoder::{Encoder, LARGEST_NORM, LARGEST_WEIGHT, LargeRow};
pub use example::{Coming, Example};
