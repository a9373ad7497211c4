//! Files that are damaged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

/// The error in a sentence, without the file's name.
pub(crate) fn damaged(error: &ParquetError) -> String {
    let text = error.to_string().replace(char::is_control, " ");
    format!("is not a readable Parquet file: {text}")
}

/// What `work` returns. The parquet crate panics on some files whose bytes contradict each other; that is an
/// error of the file. After it nothing may be read that `work` has changed.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let caught = catch_unwind(AssertUnwindSafe(work));
    caught.unwrap_or_else(|_| Err(ParquetError::General("its bytes contradict each other".to_owned())))
}
