//! Converts the cells of a column to features, for all formats.

use std::sync::Arc;

use crate::read::columns::ColumnMap;
use crate::read::error::{ReadErrorKind, shown};
use crate::read::label::LabelType;
use crate::read::missing::Missing;
use crate::read::number;
use crate::read::options::{CsvField, CsvRole};
use crate::read::row::Row;

use super::cells::Cells;

/// A column and its role.
pub(crate) struct Cell {
    pub(crate) name: String,
    /// `None` for a column unknown to the saved model.
    pub(crate) role: Option<CsvRole>,
    /// The role, if known.
    pub(crate) field: Option<CsvField>,
    /// The features of numbers, times and text.
    pub(crate) cells: Cells,
    /// The type of the labels, for the label column.
    pub(crate) label_type: LabelType,
    missing: Arc<Missing>,
    /// Number of cells that did not fit the column, and the first of them with its line.
    strays: u64,
    first_stray: Option<(u64, String)>,
}

impl Cell {
    pub(crate) fn new(name: String, field: Option<CsvField>, cells: Cells, missing: &Arc<Missing>) -> Self {
        let role = field.as_ref().map(|field| field.role);
        Cell {
            name,
            role,
            field,
            cells,
            label_type: LabelType::Unstated,
            missing: Arc::clone(missing),
            strays: 0,
            first_stray: None,
        }
    }

    /// Adds a trimmed cell to a row that starts in `line`; `feature` is a buffer for names.
    pub(crate) fn read(
        &mut self,
        text: &[u8],
        line: u64,
        feature: &mut String,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        match self.role {
            Some(CsvRole::Numeric | CsvRole::Time) if self.missing.is_cell(text) => {
                self.cells.push_missing(row)
            }
            _ if text.is_empty() => {}
            Some(CsvRole::Categorical | CsvRole::Text | CsvRole::Weight) if self.missing.is_said(text) => {}
            Some(CsvRole::Numeric | CsvRole::Time) => {
                if let (Cells::Number { style: None, .. }, Ok(number)) = (&self.cells, number::parse(text)) {
                    if !number.is_finite() {
                        return Err(self.fault(format!("{} is not finite", shown(text))));
                    }
                    self.number(number, columns, row);
                } else if !self.cells.push(&self.name, utf8(text)?, columns, row) {
                    self.stray(line, text);
                    self.cells.push_missing(row);
                }
            }
            Some(CsvRole::Text) => {
                self.cells.push(&self.name, &String::from_utf8_lossy(text), columns, row);
            }
            Some(CsvRole::Categorical) => {
                feature.clear();
                feature.extend([&*self.name, "=", utf8(text)?]);
                if let Some(column) = columns.by_name(feature) {
                    row.push(column, 1.0);
                }
            }
            Some(CsvRole::Label) => row.set_label(utf8(text)?, self.label_type),
            Some(CsvRole::Weight) => {
                row.weight = self.weight(text)?;
            }
            Some(CsvRole::Drop) => {}
            None => columns.drop_one(),
        }
        Ok(())
    }

    /// Adds a finite number to a row, for a numeric column.
    pub(crate) fn number(&self, number: f64, columns: &mut ColumnMap, row: &mut Row) {
        match self.cells {
            Cells::Number { .. } if self.missing.is_number(number) => self.cells.push_missing(row),
            Cells::Number { value: Some(value), .. } => row.push(value, number),
            _ => columns.drop_one(),
        }
    }

    fn weight(&self, cell: &[u8]) -> Result<f64, ReadErrorKind> {
        match number::parse(cell) {
            Ok(number) if !number.is_finite() => Err(self.fault(format!("{} is not finite", shown(cell)))),
            Ok(number) if number < 0.0 => Err(self.fault(format!("weight {} is negative", shown(cell)))),
            Ok(number) => Ok(number),
            Err(_) => Err(self.fault(format!("{} is not a number", shown(cell)))),
        }
    }

    /// Records a cell that does not fit the column.
    #[cold]
    fn stray(&mut self, line: u64, text: &[u8]) {
        self.strays += 1;
        self.first_stray.get_or_insert_with(|| (line, shown(text)));
    }

    #[cold]
    fn fault(&self, message: String) -> ReadErrorKind {
        ReadErrorKind::Cell { noun: "column", column: self.name.clone(), message }
    }

    /// A sentence about the cells that did not fit, if there were any.
    pub(crate) fn odd(&self) -> Option<String> {
        let (line, text) = self.first_stray.as_ref()?;
        let (count, name) = (self.strays, shown(&self.name));
        let held = if self.role == Some(CsvRole::Time) { "time" } else { "number" };
        let (cells, s, count_as) =
            if count == 1 { ("cell is", "", "it counts") } else { ("cells are", "s", "they count") };
        Some(format!(
            "column {name}: {count} {cells} no {held}{s}, the first {text} in line {line}: {count_as} as missing"
        ))
    }
}

/// A sentence about columns of a saved model that are absent; `None` if there are none.
pub(crate) fn absent_note<'a>(absent: impl Iterator<Item = &'a Cell>) -> Option<String> {
    let names: Vec<String> = absent.map(|cell| shown(&cell.name)).collect();
    let no = if names.len() == 1 { "is no column" } else { "are no columns" };
    (!names.is_empty()).then(|| {
        format!("there {no} {}, which the model was trained with: missing in every row", names.join(", "))
    })
}

/// A sentence about columns that a saved model does not have; `None` if there are none.
pub(crate) fn new_note<'a>(new: impl Iterator<Item = &'a str>) -> Option<String> {
    const SHOWN: usize = 5;
    let names: Vec<String> = new.map(shown).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("the column {first} is new: the model was trained without it, and it is ignored")),
        _ => Some(format!(
            "the columns {first}{more} are new: the model was trained without them, and they are ignored"
        )),
    }
}

/// The numeric features of absent columns.
pub(crate) fn absent_numbers<'a>(absent: impl Iterator<Item = &'a Cell>) -> Vec<u32> {
    let value = |cell: &Cell| match cell.cells {
        Cells::Number { value, .. } => value,
        _ => None,
    };
    absent.filter_map(value).collect()
}

/// Whether a column of this role has features.
pub(crate) fn is_needed(role: CsvRole) -> bool {
    matches!(role, CsvRole::Numeric | CsvRole::Categorical | CsvRole::Text | CsvRole::Time)
}

fn utf8(text: &[u8]) -> Result<&str, ReadErrorKind> {
    std::str::from_utf8(text).map_err(|_| ReadErrorKind::InvalidUtf8)
}
