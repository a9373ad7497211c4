//! Writes rows in the readers' formats.
//!
//! A row is written completely or rejected: content that a format cannot represent is an error.
//! Numbers are written in the shortest form that reads back to the same bits.

use std::borrow::Cow;
use std::io;

use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::format::Format;
use crate::read::row::{Row, RowLabel};

/// Why a row could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format cannot represent the row.
    #[error("a row cannot be written as {format}: {problem}")]
    Unfit {
        /// The format.
        format: Format,
        /// The reason, with the value.
        problem: String,
    },
}

/// A file of examples being written.
pub trait RowWriter: Send {
    /// Writes one row, with feature names from `columns`.
    ///
    /// # Errors
    ///
    /// If the output fails, or the format cannot represent the row; nothing of it is then written.
    fn write(&mut self, row: &Row, columns: &Columns) -> Result<(), WriteError>;

    /// Flushes the output.
    ///
    /// # Errors
    ///
    /// If the output fails.
    fn flush(&mut self) -> Result<(), WriteError>;
}

pub(crate) fn csv_name(columns: &Columns, column: u32) -> Cow<'_, str> {
    match columns {
        Columns::Numbered { .. } => Cow::Owned(format!("x{}", columns.name(column))),
        _ => columns.name(column),
    }
}

/// The class of a row, if it has one; few formats support other labels.
pub(crate) fn label(row: &Row) -> Result<Option<&str>, Fault> {
    match row.label() {
        RowLabel::Missing => Ok(None),
        RowLabel::Name(name) if name.is_empty() || name.trim() != name => {
            Err(fault!("label {} is empty or has blanks around it", shown(name)))
        }
        RowLabel::Name(name) => Ok(Some(name)),
        RowLabel::Distribution(_) => Err("its label is a distribution".into()),
        RowLabel::Costs(_) => Err("its label has costs".into()),
    }
}

pub(crate) fn no_weight_or_tag(row: &Row) -> Result<(), Fault> {
    if row.weight != 1.0 {
        return Err(fault!("it has weight {}", row.weight));
    }
    if !row.tag.is_empty() {
        return Err(fault!("it has the tag {}", shown(&row.tag)));
    }
    Ok(())
}
