//! NumPy arrays and SciPy matrices as rows, targets and weights, without copies. Everything is
//! checked here, once, before learning.

use noregret::example::{Features, Label, Target};
use noregret::learner::{Accepts, Classes};
use noregret_stream::encode::examples::Examples;
use noregret_stream::encode::{Encoder, Example, LARGEST_NORM, LARGEST_WEIGHT};
use noregret_stream::words::counted;
use noregret_stream::{Columns, Fault, ReadError, Reader, Row, Schema, fault};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::{Done, Failure};
use crate::signals::Signals;

/// Rows from Python: a C-contiguous array, or the three arrays of a CSR matrix and its number of
/// columns.
pub(crate) enum PyRows<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse {
        values: PyReadonlyArray1<'py, f64>,
        columns: PyReadonlyArray1<'py, u32>,
        starts: PyReadonlyArray1<'py, i64>,
        width: usize,
    },
}

impl<'py> FromPyObject<'_, 'py> for PyRows<'py> {
    type Error = PyErr;

    fn extract(any: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = any.extract() {
            return Ok(PyRows::Dense(dense));
        }
        let (values, columns, starts, width) = any.extract().map_err(|_| {
            PyTypeError::new_err("rows: a float64 array of two axes, or (data, indices, indptr, columns)")
        })?;
        Ok(PyRows::Sparse { values, columns, starts, width })
    }
}

impl PyRows<'_> {
    /// The rows, after a check of their layout.
    pub(crate) fn borrow(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            PyRows::Dense(array) => {
                let [rows, width] = [array.shape()[0], array.shape()[1]];
                Rows::Dense { values: array.as_slice()?, rows, width }
            }
            PyRows::Sparse { values, columns, starts, width } => Rows::Sparse {
                values: values.as_slice()?,
                columns: columns.as_slice()?,
                starts: starts.as_slice()?,
                width: *width,
            },
        })
    }
}

/// Borrowed rows, usable without the interpreter's lock.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Dense { values: &'a [f64], rows: usize, width: usize },
    Sparse { values: &'a [f64], columns: &'a [u32], starts: &'a [i64], width: usize },
}

impl<'a> Rows<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Dense { rows, .. } => *rows,
            Rows::Sparse { starts, .. } => starts.len().saturating_sub(1),
        }
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        match self {
            Rows::Dense { width, .. } | Rows::Sparse { width, .. } => *width,
        }
    }

    /// Row `at` of checked rows.
    pub(crate) fn row(&self, at: usize) -> Features<'a> {
        match *self {
            Rows::Dense { values, width, .. } => Features::Dense(&values[at * width..][..width]),
            Rows::Sparse { values, columns, starts, .. } => {
                let range = starts[at] as usize..starts[at + 1] as usize;
                Features::Sparse { indices: &columns[range.clone()], values: &values[range] }
            }
        }
    }

    /// Checks a single row, in which NaN is a missing number, for a learner of `columns` columns.
    pub(crate) fn check_one(&self, columns: usize) -> Done<()> {
        match *self {
            _ if self.len() != 1 => Err(Failure::Value(format!("x has {} rows; one was needed", self.len()))),
            Rows::Dense { values, .. } if !has_holes(self.row(0)) => check_one(values, columns),
            _ => self.check_with_holes(columns),
        }
    }

    /// Checks the rows for a learner of `columns` columns.
    pub(crate) fn check(&self, columns: usize) -> Done<()> {
        self.check_each(columns, |x| check_row(x, columns))
    }

    /// The same for rows in which NaN is a missing number.
    pub(crate) fn check_with_holes(&self, columns: usize) -> Done<()> {
        self.check_each(columns, |x| check_row_with_holes(x, columns))
    }

    fn check_each(&self, columns: usize, check: impl Fn(Features<'_>) -> Result<(), Fault>) -> Done<()> {
        let width = self.width();
        if width != columns {
            return Err(Failure::Value(format!("x has {width} columns; features = {columns} were needed")));
        }
        if let Rows::Sparse { values, columns, starts, .. } = *self {
            let bounds = (starts.first(), starts.last());
            let ordered = starts.windows(2).all(|pair| pair[0] <= pair[1]);
            let whole = values.len() == columns.len() && bounds == (Some(&0), Some(&(values.len() as i64)));
            if !(ordered && whole) {
                return Err(Failure::Value("x: indptr, indices and data contradict each other".to_owned()));
            }
        }
        (0..self.len()).try_for_each(|at| {
            check(self.row(at)).map_err(|what| Failure::Value(format!("row {at}: {what}")))
        })
    }
}

/// Whether numbers of a row are missing: they are NaN.
fn has_holes(x: Features<'_>) -> bool {
    x.values().iter().any(|value| value.is_nan())
}

/// Writes the features of a checked row, in which NaN is a missing number, to an empty `row`.
pub(crate) fn fill(x: Features<'_>, row: &mut Row) {
    for (column, value) in x.iter() {
        match value.is_nan() {
            true => row.miss(column as u32),
            false => row.push(column as u32, value),
        }
    }
}

/// Encodes a checked row, in which NaN is a missing number, with fixed scaling; `room` is a buffer.
pub(crate) fn look_at(
    encoder: &Encoder,
    x: Features<'_>,
    room: &mut Row,
    out: &mut Example,
) -> Result<bool, Fault> {
    if !has_holes(x) {
        return encoder.transform(x, out);
    }
    room.clear();
    fill(x, room);
    encoder.transform_row(room, out)
}

/// The same after updating the scaling with it.
pub(crate) fn encode(
    encoder: &mut Encoder,
    x: Features<'_>,
    room: &mut Row,
    out: &mut Example,
) -> Result<(), Fault> {
    if !has_holes(x) {
        return encoder.encode_features(x, out);
    }
    room.clear();
    fill(x, room);
    encoder.encode(room, out)
}

/// A row that no other thread can change: an array belongs to Python, which other threads run meanwhile.
#[derive(Default)]
pub(crate) struct Kept {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Kept {
    /// A copy of `x`, which has been checked for `columns` columns and may have changed since. With `holes`,
    /// NaN is a missing number.
    pub(crate) fn keep(
        &mut self,
        x: Features<'_>,
        columns: usize,
        holes: bool,
    ) -> Result<Features<'_>, String> {
        self.values.clear();
        self.values.extend_from_slice(x.values());
        let x = match x {
            Features::Dense(_) => Features::Dense(&self.values),
            Features::Sparse { indices, .. } => {
                self.indices.clear();
                self.indices.extend_from_slice(indices);
                Features::Sparse { indices: &self.indices, values: &self.values }
            }
        };
        let checked = if holes { check_row_with_holes(x, columns) } else { check_row(x, columns) };
        match checked {
            Ok(()) => Ok(x),
            Err(what) => Err(format!(
                "another thread has changed the row while it was learnt or forecast, and {what}; a copy, x.copy(), stays as it is"
            )),
        }
    }
}

/// Checks a row of `columns` columns.
pub(crate) fn check_row(x: Features<'_>, columns: usize) -> Result<(), Fault> {
    if let Features::Sparse { indices, .. } = x
        && (indices.windows(2).any(|pair| pair[0] >= pair[1])
            || indices.last().is_some_and(|last| *last as usize >= columns))
    {
        return Err(fault!("its column numbers must increase and be below {columns}"));
    }
    // A sum of squares is NaN, infinite or too large exactly if something is wrong.
    if x.norm_squared() <= LARGEST_NORM * LARGEST_NORM / 4.0 {
        return Ok(());
    }
    Err(match x.iter().find(|(_, value)| !value.is_finite()) {
        Some((column, value)) if value.is_nan() => fault!(
            "column {column} has the value NaN; a finite number was needed (missing ones are for learners that are made by a table, or \
             by rows with some)"
        ),
        Some((column, value)) => fault!("column {column} has the value {value}; a finite number was needed"),
        None => fault!("its values are too large; a norm of at most {LARGEST_NORM:e} is allowed"),
    })
}

/// Checks a row of `columns` columns in which NaN is a missing number.
pub(crate) fn check_row_with_holes(x: Features<'_>, columns: usize) -> Result<(), Fault> {
    if !has_holes(x) {
        return check_row(x, columns);
    }
    let there = x.iter().filter(|(_, value)| !value.is_nan());
    let (indices, values): (Vec<u32>, Vec<f64>) = there.map(|(at, value)| (at as u32, value)).unzip();
    check_row(Features::Sparse { indices: &indices, values: &values }, columns)
}

/// Targets from Python.
#[derive(FromPyObject)]
pub(crate) enum PyTargets<'py> {
    #[pyo3(transparent)]
    Classes(PyReadonlyArray1<'py, i64>),
    #[pyo3(transparent)]
    Values(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Distributions(PyReadonlyArray2<'py, f64>),
}

impl PyTargets<'_> {
    pub(crate) fn borrow(&self) -> PyResult<Targets<'_>> {
        Ok(match self {
            PyTargets::Classes(y) => Targets::Classes(y.as_slice()?),
            PyTargets::Values(y) => Targets::Values(y.as_slice()?),
            PyTargets::Distributions(y) => {
                Targets::Distributions { values: y.as_slice()?, rows: y.shape()[0], classes: y.shape()[1] }
            }
        })
    }
}

/// The class of a row without a label, which is not learnt.
pub(crate) const UNLABELLED: i64 = i64::MIN;

/// Borrowed targets.
#[derive(Clone, Copy)]
pub(crate) enum Targets<'a> {
    Classes(&'a [i64]),
    Values(&'a [f64]),
    Distributions { values: &'a [f64], rows: usize, classes: usize },
}

impl<'a> Targets<'a> {
    fn len(&self) -> usize {
        match self {
            Targets::Classes(y) => y.len(),
            Targets::Values(y) => y.len(),
            Targets::Distributions { rows, .. } => *rows,
        }
    }

    /// Target `at` of checked targets; `None` without a label.
    pub(crate) fn target(&self, at: usize) -> Option<Target<'a>> {
        Some(match *self {
            Targets::Classes(y) if y[at] == UNLABELLED => return None,
            Targets::Values(y) if y[at].is_nan() => return None,
            Targets::Classes(y) => Target::class(Label(y[at] as u32)),
            Targets::Values(y) => Target::value(y[at]),
            Targets::Distributions { values, classes, .. } => {
                Target::distribution(&values[at * classes..][..classes])
            }
        })
    }

    /// Checks that these are `rows` targets.
    pub(crate) fn check_length(&self, rows: usize) -> Done<()> {
        match self.len() {
            found if found == rows => Ok(()),
            found => Err(Failure::Value(format!("y has {found} targets for {rows} rows"))),
        }
    }

    /// Checks that these are `rows` targets that a learner of `classes` classes learns from.
    pub(crate) fn check(&self, rows: usize, classes: usize, accepts: Accepts) -> Done<()> {
        let value = |what: String| Err(Failure::Value(what));
        self.check_length(rows)?;
        match *self {
            Targets::Classes(_) | Targets::Distributions { .. } if accepts.classes == Classes::Real => {
                Err(Failure::Type(
                    "y: the learner's targets are real numbers; a float array was needed".to_owned(),
                ))
            }
            Targets::Values(_) if accepts.classes != Classes::Real => Err(Failure::Type(
                "y: the learner's targets are classes; an array of whole numbers was needed".to_owned(),
            )),
            Targets::Classes(y) => match y
                .iter()
                .position(|class| *class != UNLABELLED && !(0..classes as i64).contains(class))
            {
                Some(at) => value(format!("y[{at}] = {}: must be a class from 0 to {}", y[at], classes - 1)),
                None => Ok(()),
            },
            Targets::Values(y) => {
                match y.iter().position(|value| !value.is_nan() && value.abs() > LARGEST_NORM) {
                    Some(at) => value(format!(
                        "y[{at}] = {}: must be a finite number of magnitude at most {LARGEST_NORM:e}",
                        y[at]
                    )),
                    None => Ok(()),
                }
            }
            Targets::Distributions { .. } if !accepts.soft_labels => Err(Failure::Type(
                "y has two axes: the learner takes no probability vectors as labels".to_owned(),
            )),
            Targets::Distributions { classes: width, .. } if width != classes => {
                value(format!("y has {width} columns; classes = {classes} were needed"))
            }
            Targets::Distributions { values, rows, classes } => {
                for at in 0..rows {
                    let y = &values[at * classes..][..classes];
                    let total: f64 = y.iter().sum();
                    if !(y.iter().all(|p| *p >= 0.0) && (total - 1.0).abs() <= 1e-9) {
                        return value(format!("y[{at}] = {y:?}: must be probabilities of sum 1"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// Checks importance weights.
pub(crate) fn check_weights(weights: Option<&[f64]>, rows: usize, accepts: Accepts) -> Done<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != rows {
        return Err(Failure::Value(format!("there are {} weights for {rows} rows", weights.len())));
    }
    for (at, &weight) in weights.iter().enumerate() {
        check_weight(weight, accepts).map_err(|what| Failure::Value(format!("weight {at}: {what}")))?;
    }
    Ok(())
}

/// Checks one importance weight.
pub(crate) fn check_weight(weight: f64, accepts: Accepts) -> Result<(), Fault> {
    if !(0.0..=LARGEST_WEIGHT).contains(&weight) {
        return Err(fault!("the weight is {weight}; a number from 0 to {LARGEST_WEIGHT:e} was needed"));
    }
    if weight != 0.0 && weight != 1.0 && !accepts.weights {
        return Err(fault!("the weight is {weight}; the learner takes no importance weights"));
    }
    Ok(())
}

/// Checks a dense row; with `holes`, NaN is a missing number.
pub(crate) fn check_single(x: &[f64], columns: usize, holes: bool) -> Done<()> {
    match holes {
        true => Rows::Dense { values: x, rows: 1, width: x.len() }.check_one(columns),
        false => check_one(x, columns),
    }
}

/// Checks a dense row.
pub(crate) fn check_one(x: &[f64], columns: usize) -> Done<()> {
    if x.len() != columns {
        return Err(Failure::Value(format!(
            "x has {}; features = {columns} were needed",
            counted(x.len() as u64, "number")
        )));
    }
    check_row(Features::Dense(x), columns).map_err(|what| Failure::Value(format!("x: {what}")))
}

/// Checked arrays as a source of examples for the loop.
pub(crate) struct ArrayExamples<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) targets: Targets<'a>,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) encoder: &'a mut Encoder,
    /// Whether scaling is fixed.
    pub(crate) frozen: bool,
    /// A buffer, for the rows of a bandit, which may have missing numbers.
    pub(crate) room: Option<Row>,
    pub(crate) kept: Kept,
    pub(crate) at: usize,
    /// The row at which to stop.
    pub(crate) signals: Signals,
}

impl Examples for ArrayExamples<'_> {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        let at = self.at;
        if at == self.rows.len() || self.signals.end() {
            return Ok(false);
        }
        self.at += 1;
        let (columns, holes) = (self.encoder.columns(), self.room.is_some());
        let kept = self.kept.keep(self.rows.row(at), columns, holes);
        let x = kept.map_err(|what| ReadError::of_row(at, what))?;
        let made = match &mut self.room {
            Some(room) => encode(self.encoder, x, room, out),
            None if self.frozen => self.encoder.transform(x, out).map(|beyond| self.encoder.count(beyond)),
            None => self.encoder.encode_features(x, out),
        };
        made.expect("the row is checked");
        let weight = self.weights.map_or(1.0, |weights| weights[at]);
        out.set_target(self.targets.target(at).map(|target| target.weighted(weight)));
        Ok(true)
    }
}

/// Checked arrays as the rows of a reader, for a first pass.
pub(crate) struct ArrayReader<'a> {
    rows: Rows<'a>,
    targets: Targets<'a>,
    names: &'a [String],
    columns: Columns,
    at: usize,
}

impl<'a> ArrayReader<'a> {
    /// Classes are indices into `names`.
    pub(crate) fn new(rows: Rows<'a>, targets: Targets<'a>, names: &'a [String]) -> Self {
        let columns = Schema::of_arrays(rows.width()).columns;
        Self { rows, targets, names, columns, at: 0 }
    }
}

impl Reader for ArrayReader<'_> {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.clear();
        if self.at == self.rows.len() {
            return Ok(false);
        }
        self.rows.row(self.at).iter().for_each(|(column, value)| row.push(column as u32, value));
        match self.targets {
            Targets::Classes(y) => {
                if let Some(name) = usize::try_from(y[self.at]).ok().and_then(|class| self.names.get(class)) {
                    row.set_name(name);
                }
            }
            Targets::Values(y) if y[self.at].is_nan() => {}
            Targets::Values(y) => {
                row.set_name(&y[self.at].to_string());
            }
            Targets::Distributions { values, classes, .. } => {
                row.set_distribution(values[self.at * classes..][..classes].iter().copied());
            }
        }
        self.at += 1;
        row.line = self.at as u64;
        Ok(true)
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn dropped_features(&self) -> u64 {
        0
    }

    fn position(&self) -> u64 {
        self.at as u64
    }

    fn size(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn schema(&self) -> Schema {
        Schema::of_arrays(self.rows.width())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
