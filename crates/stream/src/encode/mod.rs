//! From rows to examples: the first pass (`survey`, `measure`), names of classes (`labels`), their weights
//! (`class_weights`), scaling (`scale`), encoding (`encoder`, `example`), missing numbers (`holes`), numbers
//! far outside (`outside`), and rows that are learnt later, or never (`late`).

mod ahead;
pub mod class_weights;
mod encoder;
mod example;
pub mod examples;
pub mod holes;
pub mod labels;
mod late;
mod measure;
mod outside;
pub mod scale;
pub mod survey;

/// Number of columns to which a learner with room for `columns` of them grows, if `needed` are needed:
/// doubled as often as it takes. A log is replayed with the same steps.
pub fn room_for(columns: usize, needed: usize) -> usize {
    let mut room = columns.max(1);
    while room < needed {
        room *= 2;
    }
    room
}

pub use crate::read::number::{LARGEST_NORM, LARGEST_WEIGHT};
pub use encoder::{Encoder, Kept, LargeRow};
pub(crate) use encoder::{TWO_PLAYED, offered_twice, row_error};
pub use example::{Announced, Example, Logged};
pub use late::Unscaled;
