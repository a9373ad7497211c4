//! Tables: columns of Python's cells, or lines of JSON where cells are lists or dictionaries.

use std::io::Cursor;
use std::sync::Arc;

use noregret_stream::{Format, MemoryCell, MemoryTable, ReadOptions, Reader};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyString};

use crate::error::Done;

/// The name of a table in errors.
pub(crate) const NAME: &str = "the table";

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
    /// A reader of the rows.
    pub(crate) fn open(&self, options: &ReadOptions) -> Done<Box<dyn Reader>> {
        Ok(match &self.0 {
            Given::Cells(table) => noregret_stream::from_table(Arc::clone(table), NAME, options)?,
            Given::Lines(lines) => {
                let options = ReadOptions { format: Some(Format::Ndjson), ..options.clone() };
                noregret_stream::from_read(Box::new(Cursor::new(Arc::clone(lines))), NAME, &options)?
            }
        })
    }

    /// Remarks on cells that do not fit their columns, and on features that the model does not have. Of
    /// labels that count as missing Python tells, with its own way out.
    pub(crate) fn odd_cells(&self, reader: &dyn Reader) -> Vec<String> {
        let odd = reader.odd_cells().into_iter().filter(|odd| !odd.starts_with("the label "));
        odd.map(|odd| self.with_row(odd)).collect()
    }

    /// A remark on a cell with its row, from 0, in place of its line.
    fn with_row(&self, odd: String) -> String {
        let first = match &self.0 {
            // After the header.
            Given::Cells(_) => 2,
            Given::Lines(_) => 1,
        };
        let Some((before, rest)) = odd.rsplit_once(" in line ") else { return odd };
        let Some((line, after)) = rest.split_once(':') else { return odd };
        match line.parse::<u64>() {
            Ok(line) => format!("{before} in row {}:{after}", line.saturating_sub(first)),
            Err(_) => odd,
        }
    }
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
