//! Objects one by one, as rows of a saved model's table: this is how a service receives them.

use std::sync::Arc;

use serde_json::Value;

use super::keys::{Keys, Shape};
use super::table::Table;
use super::visit::{Scratch, parse_object};
use super::{finish, is_foreign};
use crate::fault::{Fault, fault};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::ReadErrorKind;
use crate::read::options::Schema;
use crate::read::row::{Duplicates, Row};

/// Reads objects as the rows of a file are read with a saved model: numbers, categories, times and texts as
/// the first rows of its data decided.
pub struct TableRows {
    /// There always is one.
    table: Option<Table>,
    keys: Keys,
    scratch: Scratch,
    columns: ColumnMap,
    row: Row,
    is_foreign: bool,
}

impl TableRows {
    /// For the model of `schema`; `None` if its rows are no table.
    pub fn of(schema: &Schema) -> Option<Self> {
        let layout = schema.csv.clone().filter(|_| matches!(schema.columns, Columns::Named(_)))?;
        // The columns of numbers are those that the model has.
        let mut columns = ColumnMap::new(schema.columns.clone(), 0);
        let table = Table::new(layout, &Arc::new(schema.missing.clone()), &mut columns);
        let (label, weight, id, offers, played) = (None, None, None, None, None);
        let keys = Keys { shape: Shape::Object, label, weight, id, offers, played };
        let columns = ColumnMap::new(schema.columns.clone(), u32::MAX);
        let (table, scratch, row) = (Some(table), Scratch::default(), Row::new());
        Some(Self { table, keys, scratch, columns, row, is_foreign: false })
    }

    /// The features of the object `x` by name, in the order of `columns`, those of the model now; what has no
    /// column yet comes last, and behind it missing numbers, without a value. Null is an object of missing
    /// cells.
    ///
    /// # Errors
    /// If a file with this row is refused.
    pub fn features(&mut self, columns: &Columns, x: &Value) -> Result<Vec<(String, Option<f64>)>, Fault> {
        let known = self.columns.columns().count();
        if columns.count() != known {
            let both = known.min(columns.count());
            self.columns.follow(columns);
            if let Some(table) = &mut self.table {
                table.forget(both);
                table.take_in(columns, both);
            }
        }
        self.scratch.first_new = Some(columns.count());
        let done = self.read(x).map_err(|kind| fault!("{kind}"));
        let Scratch { known, unknown, .. } = self.scratch;
        self.is_foreign = known == 0 && unknown > 0 && is_foreign(&format!("{{\"x\":{x}}}"), columns);
        let name = |column: &u32| self.columns.columns().name(*column).into_owned();
        let named = done.map(|()| {
            let numbers =
                self.row.indices().iter().map(name).zip(self.row.values().iter().copied().map(Some));
            numbers.chain(self.row.missing().iter().map(|column| (name(column), None))).collect()
        });
        // New columns are the model's to make.
        if self.columns.columns().count() > columns.count() {
            self.columns.roll_back();
            self.table.iter_mut().for_each(|table| table.forget(columns.count()));
        }
        named
    }

    /// Whether the last object had keys, but none that the model has a column of.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    fn read(&mut self, x: &Value) -> Result<(), ReadErrorKind> {
        let Self { table, keys, scratch, columns, row, .. } = self;
        row.clear();
        table.iter_mut().for_each(Table::begin);
        let text = if x.is_null() { "{\"x\":{}}".to_owned() } else { format!("{{\"x\":{x}}}") };
        parse_object(&text, keys, table, scratch, row, columns)?;
        if let Some(table) = table {
            table.finish(columns, row)?;
        }
        finish(row, Duplicates::Refuse, columns)
    }
}
