//! Apache Parquet, by the parquet crate: leaf columns correspond to columns of CSV.
//!
//! Numbers and bools (1 or 0) are numeric columns, texts categories `column=text`; a null and a NaN
//! are missing cells. A list of numbers is one numeric column for each position, `name[0]`,
//! `name[1]`, ...; a field of a group is named `group.field`. Label and weight are found as in CSV.
//! Line numbers are row numbers, from 1.
//!
//! The schema is that of CSV with a header, so that models can be used for both formats.

mod leaf;

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use self::leaf::{Leaf, Values};
use super::csv::layout::{self, describe_roles};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema, Speech};
use crate::read::reader::Reader;
use crate::read::row::{Duplicates, Row};
use crate::read::table::new_note;

struct ParquetReader {
    name: String,
    file: SerializedFileReader<File>,
    size: u64,
    /// Rows of the file.
    total: u64,
    /// Row groups opened.
    groups: usize,
    leaves: Vec<Leaf>,
    /// Number of rows decoded, and of those returned.
    decoded: usize,
    used: usize,
    /// Number of the last row returned.
    row: u64,
    ended: bool,
    layout: CsvSchema,
    columns: ColumnMap,
    text: String,
}

pub(crate) fn reader(file: File, name: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let failed = |message: String| ReadError::new(name, 0, ReadErrorKind::Layout(message));
    let size = file.metadata().map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?.len();
    let file = SerializedFileReader::new(file).map_err(|error| failed(damaged(&error)))?;
    let metadata = file.metadata().file_metadata();
    let total = u64::try_from(metadata.num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(ReadError::new(name, 0, ReadErrorKind::Empty));
    }
    let descriptors = metadata.schema_descr().columns();
    let leaves: Result<Vec<Leaf>, String> = descriptors.iter().map(|one| Leaf::new(one)).collect();
    let mut leaves = leaves.map_err(failed)?;
    let saved = options.schema.as_ref();
    let layout = match saved.and_then(|schema| schema.csv.as_ref()) {
        Some(saved) => saved.clone(),
        None => layout(&leaves, options).map_err(failed)?,
    };
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(name, 0, kind))?;
    let mut columns = ColumnMap::new(columns, options.most_columns());
    assign(&mut leaves, &layout, &mut columns).map_err(failed)?;
    columns.commit();
    Ok(Box::new(ParquetReader {
        name: name.to_owned(),
        file,
        size,
        total,
        groups: 0,
        leaves,
        decoded: 0,
        used: 0,
        row: 0,
        ended: false,
        layout,
        columns,
        text: String::new(),
    }))
}

fn damaged(error: &ParquetError) -> String {
    let text = error.to_string().replace(char::is_control, " ");
    format!("is not a readable Parquet file: {text}")
}

/// The layout, from the names and types of the columns.
fn layout(leaves: &[Leaf], options: &ReadOptions) -> Result<CsvSchema, String> {
    let names: Vec<String> = leaves.iter().map(|leaf| leaf.name.clone()).collect();
    let mut roles: Vec<CsvRole> = leaves.iter().map(Leaf::natural_role).collect();
    for column in &options.categorical {
        roles[layout::find_column(&names, column)?] = CsvRole::Categorical;
    }
    let label = match &options.label {
        Some(column) => layout::find_column(&names, column)?,
        None => layout::label_by_name(&names).unwrap_or(names.len() - 1),
    };
    if let Some(column) = &options.weight {
        let weight = layout::find_column(&names, column)?;
        if weight == label {
            return Err(format!("column {} cannot be both label and weight", shown(&names[label])));
        }
        roles[weight] = CsvRole::Weight;
    }
    roles[label] = CsvRole::Label;
    let fields =
        names.into_iter().zip(roles).map(|(name, role)| CsvField { name, role, style: None }).collect();
    Ok(CsvSchema { delimiter: ',', header: true, fields, numbers: None, header_rows: None })
}

/// Assigns roles to the columns of the file.
fn assign(leaves: &mut [Leaf], layout: &CsvSchema, columns: &mut ColumnMap) -> Result<(), String> {
    let needed = |role| matches!(role, CsvRole::Numeric | CsvRole::Categorical);
    let there = |field: &CsvField| leaves.iter().any(|leaf| leaf.name == field.name);
    if let Some(field) = layout.fields.iter().find(|field| needed(field.role) && !there(field)) {
        return Err(format!("lacks the column {} that the saved model was trained on", shown(&field.name)));
    }
    for leaf in leaves {
        leaf.role = layout.fields.iter().find(|field| field.name == leaf.name).map(|field| field.role);
        let text = matches!(leaf.values, Values::Bytes(_));
        match leaf.role {
            Some(CsvRole::Numeric | CsvRole::Weight) if text => {
                return Err(format!("column {} is text; numbers were needed", shown(&leaf.name)));
            }
            Some(CsvRole::Label | CsvRole::Weight | CsvRole::Categorical) if leaf.list => {
                return Err(format!("column {} is a list; it can only be features", shown(&leaf.name)));
            }
            Some(CsvRole::Numeric) if !leaf.list => leaf.column = columns.by_name(&leaf.name),
            _ => {}
        }
    }
    Ok(())
}

impl ParquetReader {
    /// Decodes the next rows. Returns false at the end.
    fn decode(&mut self) -> Result<bool, ParquetError> {
        (self.decoded, self.used) = (0, 0);
        while !self.ended {
            if self.groups > 0 {
                let mut counts = Vec::with_capacity(self.leaves.len());
                for leaf in &mut self.leaves {
                    counts.push(leaf.decode()?);
                }
                self.decoded = counts.first().copied().unwrap_or(0);
                if counts.iter().any(|count| *count != self.decoded) {
                    return Err(ParquetError::General("its columns differ in length".to_owned()));
                }
                if self.decoded > 0 {
                    return Ok(true);
                }
            }
            if self.groups == self.file.num_row_groups() {
                self.ended = true;
                break;
            }
            let group = self.file.get_row_group(self.groups)?;
            self.groups += 1;
            for (number, leaf) in self.leaves.iter_mut().enumerate() {
                leaf.reader = Some(group.get_column_reader(number)?);
            }
        }
        Ok(false)
    }

    fn parse(&mut self, row: &mut Row) -> Result<(), ReadErrorKind> {
        let mut result = Ok(());
        // After an error too, all columns advance to the next row.
        for leaf in &mut self.leaves {
            let cells = leaf.cells(row, &mut self.columns, &mut self.text);
            while leaf.cell(false).is_some() {}
            result = result.and(cells);
        }
        result?;
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
}

impl Reader for ParquetReader {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.clear();
        if self.used == self.decoded {
            match self.decode() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    self.ended = true;
                    let kind = ReadErrorKind::Layout(damaged(&error));
                    return Err(ReadError::new(&self.name, 0, kind));
                }
            }
        }
        self.used += 1;
        self.row += 1;
        match self.parse(row) {
            Ok(()) => {
                self.columns.commit();
                row.line = self.row;
                Ok(true)
            }
            Err(kind) => {
                self.columns.roll_back();
                row.clear();
                Err(ReadError::new(&self.name, self.row, kind))
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.columns.columns()
    }

    fn take_back(&mut self) {
        self.columns.take_back();
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
    }

    fn odd_cells(&self) -> Vec<String> {
        self.columns.unknown().into_iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        let new = self.leaves.iter().filter(|leaf| leaf.role.is_none());
        new_note(new.map(|leaf| &*leaf.name)).into_iter().collect()
    }

    fn position(&self) -> u64 {
        (self.size as f64 * (self.row as f64 / self.total as f64)) as u64
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn schema(&self) -> Schema {
        Schema {
            format: Format::Parquet,
            columns: self.columns().clone(),
            label: self.named(CsvRole::Label),
            weight: self.named(CsvRole::Weight),
            csv: Some(self.layout.clone()),
            offers: None,
        }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut decided = vec![("format", Format::Parquet.to_string())];
        let field =
            |leaf: &Leaf| leaf.role.map(|role| CsvField { name: leaf.name.clone(), role, style: None });
        let fields: Vec<Option<CsvField>> = self.leaves.iter().map(field).collect();
        let pairs = self.leaves.iter().zip(&fields);
        decided.extend(describe_roles(pairs.map(|(leaf, field)| (&*leaf.name, field.as_ref()))));
        if let Columns::Hashed { bits } = self.columns() {
            decided.push(("features", format!("hashed into 2^{bits} columns")));
        }
        decided
    }
}

#[cfg(test)]
mod tests;
