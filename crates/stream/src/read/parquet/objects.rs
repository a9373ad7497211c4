//! The rows of a file as objects of JSON, for logs of other programs.

use std::fs::File;

use serde_json::{Map, Number, Value};

use super::leaf::{Kind, Leaf};
use super::{ParquetRows, damaged, opened, unread};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::label::LabelType;

/// A file whose rows are handed out as lines.
pub(crate) struct ObjectsOfParquet {
    rows: ParquetRows,
    line: Vec<u8>,
}

impl ObjectsOfParquet {
    /// # Errors
    /// If the file cannot be read, or has a column of a type that is not read.
    pub(crate) fn open(file: File, name: &str) -> Result<Self, ReadError> {
        let rows = opened(file, name)?;
        let layout = |what: String| ReadError::new(name, 0, ReadErrorKind::Layout(what));
        if rows.is_decision_log() {
            let what = "is a decision log of noregret's own, which is read without options about its columns";
            return Err(layout(what.to_owned()));
        }
        if let Some(leaf) = rows.leaves.iter().find(|leaf| leaf.skipped) {
            return Err(layout(unread(leaf, &leaf.name)));
        }
        Ok(Self { rows, line: Vec::new() })
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.rows.leaves.iter().map(|leaf| leaf.name.clone()).collect()
    }

    pub(crate) fn size(&self) -> u64 {
        self.rows.size
    }

    /// The last row, from 1.
    pub(crate) fn row(&self) -> u64 {
        self.rows.row
    }

    /// The next row. `None` at the end.
    ///
    /// # Errors
    /// If the file is damaged; nothing after the damage is returned.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, ReadErrorKind> {
        let there = self.rows.advance().map_err(|error| {
            self.rows.ended = true;
            ReadErrorKind::Layout(damaged(&error))
        })?;
        if !there {
            return Ok(None);
        }
        self.rows.row += 1;
        let mut object = Map::new();
        let ParquetRows { leaves, buffer, .. } = &mut self.rows;
        for leaf in leaves {
            let mut cells = vec![];
            while let Some(cell) = leaf.cell(cells.is_empty()) {
                cells.push(cell.map_or(Value::Null, |at| value(leaf, at, buffer)));
            }
            let value = match leaf.list && cells.iter().any(|cell| !cell.is_null()) {
                true => cells.into_iter().filter(|cell| !cell.is_null()).collect(),
                false => cells.pop().unwrap_or_default(),
            };
            object.insert(leaf.name.clone(), value);
        }
        self.line = serde_json::to_vec(&object).map_err(|error| ReadErrorKind::Row(error.to_string()))?;
        Ok(Some(&self.line))
    }
}

/// A value in JSON; null for NaN and for an empty text.
fn value(leaf: &Leaf, at: usize, buffer: &mut String) -> Value {
    let real = leaf.label_type() == LabelType::Real;
    if let Some(number) = leaf.number(at).filter(|_| real).and_then(Number::from_f64) {
        return number.into();
    }
    let text = String::from_utf8_lossy(leaf.given(at, buffer)).into_owned();
    match leaf.kind {
        _ if text.trim().is_empty() => Value::Null,
        Kind::Bool | Kind::Number | Kind::Unsigned => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        _ => Value::String(text),
    }
}
