//! Tables as numbers: a table, or rows by name, read by the command line's readers with a known schema, as
//! the arrays of a CSR matrix.

use std::collections::{BTreeMap, BTreeSet};

use noregret_stream::{Columns, ReadOptions, Row, Schema};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::error::{Done, Failure};
use crate::learner::Learner;
use crate::learner::table::{Reading, parsed};
use crate::table::{Remarks, Table, remarks};

/// Rows as the arrays of a CSR matrix.
#[derive(Default)]
pub(crate) struct Numbers {
    values: Vec<f64>,
    columns: Vec<u32>,
    starts: Vec<i64>,
    /// Remarks on the cells.
    pub(crate) odd: Remarks,
    /// Remarks on the columns, of which that on new ones is the last.
    pub(crate) notes: Vec<String>,
}

/// The same for Python, with the number of columns.
pub(crate) type Sparse<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>, usize);

impl Numbers {
    pub(crate) fn into_python(self, py: Python<'_>, width: usize) -> Sparse<'_> {
        let Self { values, columns, starts, .. } = self;
        let starts = PyArray1::from_vec(py, starts);
        (PyArray1::from_vec(py, values), PyArray1::from_vec(py, columns), starts, width)
    }

    /// All remarks.
    fn remarks(&self) -> Vec<String> {
        [self.notes.as_slice(), self.odd.0.as_slice(), self.odd.1.as_slice()].concat()
    }

    /// The columns of which numbers are missing.
    pub(crate) fn holes(&self) -> BTreeSet<u32> {
        let cells = self.columns.iter().zip(&self.values);
        cells.filter(|(_, value)| value.is_nan()).map(|(column, _)| *column).collect()
    }

    /// Where numbers of these columns are missing, the columns beside them, which increase with them and are
    /// behind all others, become 1.
    pub(crate) fn mark(&mut self, marks: &BTreeMap<u32, u32>) {
        let (mut values, mut columns, mut starts) = (vec![], vec![], vec![0]);
        for row in self.starts.windows(2) {
            let row = row[0] as usize..row[1] as usize;
            let (given, numbers) = (&self.columns[row.clone()], &self.values[row]);
            let holes = given.iter().zip(numbers).filter(|(_, value)| value.is_nan());
            let begun: Vec<u32> = holes.filter_map(|(column, _)| marks.get(column).copied()).collect();
            values.extend_from_slice(numbers);
            values.resize(values.len() + begun.len(), 1.0);
            columns.extend(given.iter().copied().chain(begun));
            starts.push(values.len() as i64);
        }
        (self.values, self.columns, self.starts) = (values, columns, starts);
    }
}

/// Reads `table` with `schema`; new features get columns while there are fewer than `room`; with `holes`, the
/// missing numbers of known columns are NaN. Returns the rows, the schema with the new columns, and how many
/// features found no column.
pub(crate) fn numbers(
    table: &Table,
    schema: Schema,
    room: usize,
    holes: bool,
) -> Done<(Numbers, Schema, u64)> {
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    let mut reader = table.open(&ReadOptions { room, schema: Some(schema), ..ReadOptions::default() })?;
    let mut found = Numbers { starts: vec![0], ..Numbers::default() };
    let mut row = Row::new();
    while reader.read(&mut row)? {
        if holes && !row.missing().is_empty() {
            let mut cells: BTreeMap<u32, f64> =
                row.missing().iter().map(|column| (*column, f64::NAN)).collect();
            cells.extend(row.indices().iter().copied().zip(row.values().iter().copied()));
            found.values.extend(cells.values());
            found.columns.extend(cells.keys());
        } else {
            found.values.extend_from_slice(row.values());
            found.columns.extend_from_slice(row.indices());
        }
        found.starts.push(found.values.len() as i64);
    }
    (found.odd, found.notes) = (remarks(reader.as_ref()), reader.notes());
    Ok((found, reader.schema(), reader.dropped_features()))
}

/// The schema of a table, as JSON: the kinds of its columns, and their features. Remarks on its columns and
/// cells.
#[pyfunction]
pub(crate) fn table_schema(
    py: Python<'_>,
    table: &Table,
    reading: Reading,
) -> PyResult<(String, Vec<String>)> {
    let table = table.clone();
    Ok(py.detach(|| -> Done<(String, Vec<String>)> {
        let mut reader = table.open(&reading.options())?;
        let mut row = Row::new();
        while reader.read(&mut row)? {}
        let (misfits, others) = remarks(reader.as_ref());
        let notes = [reader.notes(), misfits, others].concat();
        Ok((written(&reader.schema()), notes))
    })?)
}

/// The rows of a table as numbers, with the kinds of columns of `schema`, the schema with the new features,
/// and remarks on columns and cells; with `holes`, missing numbers are NaN.
#[pyfunction]
#[pyo3(signature = (table, schema, holes=false))]
pub(crate) fn table_rows<'py>(
    py: Python<'py>,
    table: &Table,
    schema: &str,
    holes: bool,
) -> PyResult<(Sparse<'py>, String, Vec<String>)> {
    let (table, schema) = (table.clone(), parsed(schema)?);
    let (rows, schema, _) = py.detach(|| numbers(&table, schema, u32::MAX as usize, holes))?;
    let (width, remarks) = (schema.columns.count() as usize, rows.remarks());
    Ok((rows.into_python(py, width), written(&schema), remarks))
}

/// The schema with the features of both.
#[pyfunction]
pub(crate) fn joined_schema(a: &str, b: &str) -> PyResult<String> {
    let (mut a, b) = (parsed(a)?, parsed(b)?);
    match (&mut a.columns, &b.columns) {
        (Columns::Named(names), Columns::Named(others)) => others.iter().for_each(|name| {
            names.intern(name);
        }),
        (names, others) if *names == *others => {}
        _ => return Err(Failure::Value("the tables have different columns".to_owned()).into()),
    }
    Ok(written(&a))
}

/// The rows of a table as numbers, NaN for missing ones, for a learner that was made for such tables, and
/// remarks on columns and cells. Unknown features are left out.
#[pyfunction]
pub(crate) fn learner_rows<'py>(
    py: Python<'py>,
    learner: &Learner,
    table: &Table,
) -> PyResult<(Sparse<'py>, Vec<String>)> {
    let table = table.clone();
    let (schema, width) = learner.inner.read(py, |inner| (inner.schema.clone(), inner.encoder.columns()))?;
    let (rows, ..) = py.detach(|| numbers(&table, schema, width, true))?;
    let remarks = rows.remarks();
    Ok((rows.into_python(py, width), remarks))
}

fn written(schema: &Schema) -> String {
    serde_json::to_string(schema).expect("plain data")
}
