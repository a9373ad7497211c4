//! The reader of a table, for all formats.

use std::collections::HashMap;
use std::sync::Arc;

use super::column::{Column, absent_note, absent_numbers, is_needed, new_note};
use super::describe::describe_roles;
use super::features::{Features, features};
use super::layout::Inferred;
use super::names::{find_column, offered_column};
use crate::fault::Fault;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::missing::Missing;
use crate::read::options::{ReadOptions, Schema, Speech};
use crate::read::reader::Reader;
use crate::read::remark::Remark;
use crate::read::row::{Duplicates, Row};
use crate::read::source::Source;
use crate::read::table::schema::{CsvField, CsvRole, CsvSchema};

/// The records of a table in some format.
pub(crate) trait Records: Send {
    /// The format of the schema.
    const FORMAT: Format;

    /// Advances to the next record. Returns false at the end.
    fn next(&mut self) -> Result<bool, ReadError>;

    /// The line of the record.
    fn line(&self) -> u64;

    /// Hands the cells of the record over, each to its column, and names the row.
    fn hand_over(
        &mut self,
        cells: &mut [Column],
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind>;

    /// The bytes that the records are read from, if they are.
    fn source(&self) -> Option<&Source> {
        None
    }

    /// The name of the data.
    fn name(&self) -> &str {
        self.source().map_or("", Source::name)
    }

    /// See [`Reader::position`].
    fn position(&self) -> u64 {
        self.source().map_or(0, Source::position)
    }

    /// See [`Reader::size`].
    fn size(&self) -> Option<u64> {
        self.source()?.size()
    }

    /// A remark on the records so far.
    fn odd(&self) -> Option<Remark> {
        None
    }

    /// What was recognised besides the columns.
    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![]
    }
}

/// A reader of records.
pub(crate) struct Table<R> {
    pub(crate) records: R,
    /// A column for each cell of a record.
    pub(crate) cells: Vec<Column>,
    /// Columns of the saved model that the data do not have.
    pub(crate) absent: Vec<Column>,
    pub(crate) layout: CsvSchema,
    pub(crate) columns: ColumnMap,
    /// The words for missing numbers in the first rows, quoted.
    pub(crate) missing: Vec<String>,
    /// Remarks on the first rows.
    pub(crate) notes: Vec<String>,
}

/// The columns called `names`, with the roles that the layout gives them, and those of the layout that are
/// absent.
pub(crate) fn assign(
    names: &[String],
    layout: &CsvSchema,
    missing: &Arc<Missing>,
    columns: &mut ColumnMap,
) -> (Vec<Column>, Vec<Column>) {
    let made = layout.fields.iter().zip(features(layout, columns));
    columns.commit();
    let new = |name: &String, field: Option<CsvField>, features| {
        Column::new(name.clone(), field, features, missing)
    };
    let mut known: HashMap<&str, Column> = made
        .map(|(field, features)| (&*field.name, new(&field.name, Some(field.clone()), features)))
        .collect();
    let mut of = |name: &String| known.remove(&**name).unwrap_or_else(|| new(name, None, Features::Other));
    let cells = names.iter().map(&mut of).collect();
    let needed = layout.fields.iter().filter(|field| is_needed(field.role));
    let absent = needed.filter_map(|field| known.remove(&*field.name)).collect();
    (cells, absent)
}

impl<R: Records + 'static> Table<R> {
    /// A reader of records whose columns are called `names`, with the layout of the saved model unless one
    /// was inferred. `records` is given the column that names the rows.
    pub(crate) fn open(
        name: &str,
        names: &[String],
        inferred: Option<Inferred>,
        options: &ReadOptions,
        records: impl FnOnce(Option<usize>) -> R,
    ) -> Result<Box<dyn Reader>, ReadError> {
        let failed = |message: Fault| ReadError::new(name, 0, message.into());
        let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(name, 0, kind))?;
        let mut columns = options.map(columns);
        let inferred = inferred.map_or_else(|| Inferred::saved(names, options), Ok).map_err(failed)?;
        let Inferred { layout, missing, notes } = inferred;
        let (cells, absent) = assign(names, &layout, &Arc::new(options.missing()), &mut columns);
        let id = options.id.as_ref().map(|column| find_column(names, column)).transpose().map_err(failed)?;
        let mut table = Table { records: records(id), cells, absent, layout, columns, missing, notes };
        table.note_differences(&[id, offered_column(names, options)]);
        Ok(Box::new(table))
    }
}

impl<R: Records> Table<R> {
    /// Remarks on columns that only the saved model or only the data have. The cells of `used` have another
    /// use, and are no features that the model lacks.
    pub(crate) fn note_differences(&mut self, used: &[Option<usize>]) {
        for at in used.iter().flatten() {
            self.cells[*at].role.get_or_insert(CsvRole::Drop);
        }
        let new = self.cells.iter().filter(|column| column.role.is_none());
        self.notes.extend(absent_note(self.absent.iter()));
        self.notes.extend(new_note(new.map(|column| &*column.name)));
        let offered = self.layout.offered.as_ref();
        let at = offered.and_then(|name| self.cells.iter().position(|column| column.name == *name));
        if let (Some(name), Some(at)) = (offered, at)
            && !used.contains(&Some(at))
        {
            self.notes.push(format!(
                "the model learnt with the labels on offer in the column {}: without the option offered = {name}, its \
                 forecasts are among all labels",
                shown(name)
            ));
        }
    }

    fn parse(&mut self, row: &mut Row) -> Result<(), ReadErrorKind> {
        row.line = self.records.line();
        self.records.hand_over(&mut self.cells, &mut self.columns, row)?;
        for column in &self.absent {
            column.features.push_absent(row);
        }
        // Only hashed features can collide.
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    /// Removes columns that were taken back.
    fn forget(&mut self) {
        let count = self.columns.columns().count();
        self.cells.iter_mut().for_each(|column| column.features.forget(count));
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
}

impl<R: Records> Reader for Table<R> {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.clear();
        if !self.records.next()? {
            return Ok(false);
        }
        match self.parse(row) {
            Ok(()) => {
                self.columns.see(row);
                self.columns.commit();
                Ok(true)
            }
            Err(kind) => {
                self.columns.roll_back();
                self.forget();
                // The row keeps its name, for programs that answer line by line.
                let tag = std::mem::take(&mut row.tag);
                row.clear();
                row.tag = tag;
                Err(ReadError::new(self.records.name(), self.records.line(), kind))
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.columns.columns()
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
    }

    fn take_back(&mut self) {
        self.columns.take_back();
        self.forget();
    }

    fn absent(&self) -> Vec<u32> {
        absent_numbers(self.absent.iter())
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let cells = self.cells.iter().filter_map(Column::odd).chain(self.columns.unknown());
        cells.chain(self.records.odd()).collect()
    }

    fn position(&self) -> u64 {
        self.records.position()
    }

    fn size(&self) -> Option<u64> {
        self.records.size()
    }

    fn schema(&self) -> Schema {
        Schema {
            label: self.named(CsvRole::Label),
            weight: self.named(CsvRole::Weight),
            csv: Some(self.layout.clone()),
            ..Schema::plain(R::FORMAT, self.columns().clone())
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut decided = self.records.describe();
        decided
            .extend(describe_roles(self.cells.iter().map(|column| (&*column.name, column.field.as_ref()))));
        if !self.missing.is_empty() {
            decided.push(("missing numbers", self.missing.join(", ")));
        }
        if let Columns::Hashed { bits } = self.columns() {
            decided.push(("features", format!("hashed into 2^{bits} columns")));
        }
        decided
    }
}
