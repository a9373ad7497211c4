//! A column of a file, whose cells become features of rows.

use std::collections::HashSet;
use std::ops::Range;

use super::leaf::Leaf;
use crate::read::columns::ColumnMap;
use crate::read::error::ReadErrorKind;
use crate::read::options::{CsvRole, Style};
use crate::read::row::Row;
use crate::read::table::{Cell, Cells};

/// The column of one leaf.
pub(super) struct Column {
    /// The role of the leaf; for a list of numbers without features of its own.
    pub(super) cell: Cell,
    /// The positions of a list of numbers that the first rows have.
    positions: Vec<Cell>,
    /// Names of the positions after these, as far as they occurred.
    later: Vec<String>,
}

/// Buffers for one cell.
#[derive(Default)]
pub(super) struct Buffers {
    text: String,
    feature: String,
    list: String,
    items: Vec<Range<usize>>,
}

/// The name of a position of a list, from 0.
pub(super) fn position_name(list: &str, position: usize) -> String {
    format!("{list}[{position}]")
}

impl Column {
    pub(super) fn new(leaf: &Leaf, mut cell: Cell, positions: Vec<Cell>) -> Self {
        // A model of text may have another notation.
        if let (true, Cells::Time { style, .. }) = (leaf.is_time(), &mut cell.cells) {
            *style = Style::Iso;
        }
        cell.label_type = leaf.label_type();
        Self { cell, positions, later: vec![] }
    }

    /// Adds the cells of the current row, which is number `line`, to `row`.
    pub(super) fn read(
        &mut self,
        leaf: &mut Leaf,
        line: u64,
        names_row: bool,
        buffers: &mut Buffers,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        if leaf.is_vector() {
            return self.numbers(leaf, line, buffers, columns, row);
        }
        if leaf.list {
            return self.texts(leaf, line, buffers, columns, row);
        }
        let at = leaf.cell(true).flatten();
        if names_row && let Some(at) = at {
            row.tag.push_str(&String::from_utf8_lossy(leaf.text(at, &mut buffers.text)));
        }
        value(&mut self.cell, leaf, at, line, buffers, columns, row)
    }

    fn numbers(
        &mut self,
        leaf: &mut Leaf,
        line: u64,
        buffers: &mut Buffers,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let mut position = 0;
        while let Some(at) = leaf.cell(position == 0) {
            match (self.cell.role, self.positions.get_mut(position)) {
                (Some(_), Some(cell)) => value(cell, leaf, at, line, buffers, columns, row)?,
                (Some(_), None) => self.later(leaf, at, position - self.positions.len(), columns, row)?,
                (None, _) if at.is_some() => columns.drop_one(),
                (None, _) => {}
            }
            position += 1;
        }
        let missing = self.positions.iter().skip(position);
        missing.for_each(|cell| cell.cells.push_missing(row));
        Ok(())
    }

    /// Adds a number of a position that the first rows do not have.
    fn later(
        &mut self,
        leaf: &Leaf,
        at: Option<usize>,
        place: usize,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        while self.later.len() <= place {
            self.later.push(position_name(&self.cell.name, self.positions.len() + self.later.len()));
        }
        let name = &self.later[place];
        match at.and_then(|at| leaf.number(at)).filter(|number| !number.is_nan()) {
            Some(number) if number.is_finite() => {
                if let Some(column) = columns.by_name(name) {
                    row.push(column, number);
                }
                Ok(())
            }
            Some(number) => {
                let message = format!("\"{number}\" is not finite");
                Err(ReadErrorKind::Cell { noun: "column", column: name.clone(), message })
            }
            None => Ok(()),
        }
    }

    /// The texts of a list: distinct categories, or the words of one text.
    fn texts(
        &mut self,
        leaf: &mut Leaf,
        line: u64,
        buffers: &mut Buffers,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let Buffers { text, feature, list, items } = buffers;
        list.clear();
        items.clear();
        let mut first = true;
        while let Some(at) = leaf.cell(first) {
            first = false;
            let Some(at) = at else { continue };
            list.push_str(if list.is_empty() { "" } else { " " });
            let start = list.len();
            list.push_str(std::str::from_utf8(leaf.text(at, text)).map_err(|_| ReadErrorKind::InvalidUtf8)?);
            items.push(start..list.len());
        }
        if self.cell.role != Some(CsvRole::Categorical) {
            return self.cell.read(list.as_bytes(), line, feature, columns, row);
        }
        let mut seen = HashSet::new();
        for item in items.iter().map(|item| &list[item.clone()]).filter(|item| seen.insert(*item)) {
            self.cell.read(item.as_bytes(), line, feature, columns, row)?;
        }
        Ok(())
    }
}

/// Adds the value at `at` to a row; without one, a missing cell.
fn value(
    cell: &mut Cell,
    leaf: &Leaf,
    at: Option<usize>,
    line: u64,
    buffers: &mut Buffers,
    columns: &mut ColumnMap,
    row: &mut Row,
) -> Result<(), ReadErrorKind> {
    let Buffers { text, feature, .. } = buffers;
    let Some(at) = at else { return cell.read(b"", line, feature, columns, row) };
    let number = if cell.role == Some(CsvRole::Numeric) { leaf.number(at) } else { None };
    match number.filter(|number| number.is_finite()) {
        Some(number) => {
            cell.number(number, columns, row);
            Ok(())
        }
        None => cell.read(leaf.text(at, text), line, feature, columns, row),
    }
}
