//! Tables: columns of Python's cells, or lines of JSON where cells are lists or dictionaries.

use std::io::Cursor;
use std::sync::Arc;

use noregret_stream::{Format, MemoryCell, MemoryTable, ReadOptions, Reader, Remark, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyString};

use crate::error::Done;

/// The name of a table in errors.
pub(crate) const NAME: &str = "the table";

/// Remarks on cells that do not fit their columns, and others.
pub(crate) type Remarks = (Vec<String>, Vec<String>);

/// A table.
#[pyclass(frozen, module = "noregret._core")]
#[derive(Clone)]
pub(crate) struct Table(Given);

#[derive(Clone)]
enum Given {
    Cells(Arc<MemoryTable>),
    Lines(Arc<[u8]>),
}

#[pymethods]
impl Table {
    /// Columns with names. None is a missing cell; what is neither a text nor a float is written as a text.
    /// The columns with the numbers `durations`, from 0, are seconds.
    #[new]
    fn new(names: Vec<String>, cells: Vec<Bound<'_, PyList>>, durations: Vec<usize>) -> PyResult<Self> {
        let column = |cells: &Bound<'_, PyList>| cells.iter().map(|value| cell(&value)).collect();
        let columns = cells.iter().map(column).collect::<PyResult<_>>()?;
        Ok(Self(Given::Cells(Arc::new(MemoryTable { names, columns, durations, written }))))
    }

    /// Objects such as `{"x": {"colour": "red"}, "label": "a"}`, one a line.
    #[staticmethod]
    fn of_lines(lines: &[u8]) -> Self {
        Self(Given::Lines(Arc::from(lines)))
    }
}

impl Table {
    /// Whether it has columns that a table with `schema` does not have.
    pub(crate) fn has_new(&self, schema: &Schema) -> bool {
        let (Given::Cells(table), Some(csv)) = (&self.0, &schema.csv) else { return false };
        table.names.iter().any(|name| csv.fields.iter().all(|field| field.name != *name))
    }

    /// A reader of the rows.
    pub(crate) fn open(&self, options: &ReadOptions) -> Done<Box<dyn Reader>> {
        Ok(match &self.0 {
            Given::Cells(table) => noregret_stream::from_table(Arc::clone(table), NAME, options)?,
            Given::Lines(lines) => {
                let options = ReadOptions { format: Some(Format::Ndjson), row_0: Some(1), ..options.clone() };
                noregret_stream::from_read(Box::new(Cursor::new(Arc::clone(lines))), NAME, &options)?
            }
        })
    }
}

/// Sentences about the cells of a table that do not fit their columns, and others, such as one about features
/// that the model does not have. Of labels that count as missing Python tells, with its own way out.
pub(crate) fn remarks(reader: &dyn Reader) -> Remarks {
    let mut found = Remarks::default();
    for remark in reader.odd_cells() {
        match remark {
            Remark::Unlabelled { .. } => {}
            Remark::Misfit { .. } => found.0.push(remark.to_string()),
            _ => found.1.push(remark.to_string()),
        }
    }
    found
}

fn cell(value: &Bound<'_, PyAny>) -> PyResult<MemoryCell> {
    if value.is_none() {
        return Ok(MemoryCell::Missing);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(MemoryCell::Text(text.to_str()?.into()));
    }
    match value.cast::<PyFloat>() {
        Ok(number) if number.value().is_finite() => Ok(MemoryCell::Number(number.value())),
        _ => Ok(MemoryCell::Text(value.str()?.to_str()?.into())),
    }
}

/// A number as Python writes it: with two digits or more in the exponent, and its sign.
fn written(number: f64) -> String {
    let text = format!("{number:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, power)) => {
            let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
            format!("{digits}e{sign}{power:0>2}")
        }
    }
}
