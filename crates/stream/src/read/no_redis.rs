//! In place of [`redis`](super::redis) in a program without the cargo feature.

use crate::read::error::ReadError;
use crate::read::options::ReadOptions;
use crate::read::source::Source;

/// Why Redis streams are neither read nor written.
pub(crate) const ABSENT: &str = "is a Redis stream, which needs the cargo feature redis; this build does not have it: the program of the \
     archive has it, and cargo install --path crates/cli --features redis makes one";

pub(crate) fn source(address: &str, _: &ReadOptions) -> Result<Source, ReadError> {
    Err(ReadError::new(address, 0, ABSENT.into()))
}
