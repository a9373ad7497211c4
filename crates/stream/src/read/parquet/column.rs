//! A leaf of a file hands its cells over to the columns of the table.

use super::leaf::Leaf;
use crate::read::columns::ColumnMap;
use crate::read::error::ReadErrorKind;
use crate::read::row::Row;
use crate::read::table::{Cell, Column};

/// The positions of a list of numbers; none for other leaves.
#[derive(Default)]
pub(super) struct Positions {
    /// The columns of those that the first rows have.
    pub(super) first: Vec<Column>,
    /// The names of those after these, as far as they occurred.
    later: Vec<String>,
}

/// The name of a position of a list, from 0.
pub(super) fn position_name(list: &str, position: usize) -> String {
    format!("{list}[{position}]")
}

/// Hands over the value at `at`; without one, a missing cell.
pub(super) fn value(
    leaf: &Leaf,
    at: Option<usize>,
    column: &mut Column,
    buffer: &mut String,
    columns: &mut ColumnMap,
    row: &mut Row,
) -> Result<(), ReadErrorKind> {
    let cell = at.map_or(Cell::Missing, |at| leaf.value(at, column, buffer));
    column.add(cell, columns, row)
}

/// Hands over the texts of a list.
pub(super) fn texts(
    leaf: &mut Leaf,
    column: &mut Column,
    buffer: &mut String,
    columns: &mut ColumnMap,
    row: &mut Row,
) -> Result<(), ReadErrorKind> {
    let mut items = vec![];
    let mut first = true;
    while let Some(at) = leaf.cell(first) {
        first = false;
        let Some(at) = at else { continue };
        let text = std::str::from_utf8(leaf.text(at, buffer)).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        items.push(text.to_owned());
    }
    column.add(Cell::List(&items.iter().map(String::as_str).collect::<Vec<_>>()), columns, row)
}

impl Positions {
    /// Hands over the numbers of a list; `list` is its column, without features of its own.
    pub(super) fn numbers(
        &mut self,
        leaf: &mut Leaf,
        list: &Column,
        buffer: &mut String,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let mut position = 0;
        while let Some(at) = leaf.cell(position == 0) {
            match (list.role, self.first.get_mut(position)) {
                (Some(_), Some(column)) => value(leaf, at, column, buffer, columns, row)?,
                (Some(_), None) => self.later(leaf, at, position, &list.name, columns, row)?,
                (None, _) if at.is_some() => columns.drop_one(),
                (None, _) => {}
            }
            position += 1;
        }
        self.first.iter().skip(position).for_each(|column| column.features.push_absent(row));
        Ok(())
    }

    /// Adds a number of a position that the first rows do not have.
    fn later(
        &mut self,
        leaf: &Leaf,
        at: Option<usize>,
        position: usize,
        list: &str,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let place = position - self.first.len();
        while self.later.len() <= place {
            self.later.push(position_name(list, self.first.len() + self.later.len()));
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
            None => {
                if let Some(column) = columns.columns().index_of(name) {
                    row.miss(column);
                }
                Ok(())
            }
        }
    }
}
