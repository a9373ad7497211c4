//! The first pass over rows in memory.

use noregret::learner::{Accepts, Classes};
use noregret_stream::Row;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::Example;
use noregret_stream::encode::scale::{Scaler, Scaling, stand_in};
use noregret_stream::setup::roomy;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{PyRows, Rows, look_at};
use crate::error::Done;
use crate::learner::Learner;
use crate::learner::table::parsed;
use crate::making::scaling;

/// The number of rows, the scaler's two lists of statistics, the largest norm of a scaled row, and, of
/// columns that are standardised, how many numbers they have.
type Survey = (u64, Vec<f64>, Vec<f64>, f64, Vec<f64>);

/// Scaling statistics of `rows`, in which a row of weight w counts as w rows, and the largest
/// Euclidean norm of a scaled row with the intercept. NaN is a missing number: it is no part of the
/// statistics, which [`settled`] makes those of all rows, and 0 in the norm. In a table of this `schema` with
/// indicators of missing numbers, what they indicate is neither.
#[pyfunction]
#[pyo3(signature = (rows, weights, scale, intercept, schema=None))]
pub(crate) fn survey<'py>(
    py: Python<'py>,
    rows: PyRows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    scale: &str,
    intercept: bool,
    schema: Option<&str>,
) -> PyResult<Survey> {
    let (rows, scaling) = (rows.borrow()?, scaling(scale)?);
    let numbers = schema.map(parsed).transpose()?.and_then(|schema| schema.numbers()).unwrap_or(0) as usize;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    Ok(py.detach(|| look(rows, weights, scaling, numbers, intercept))?)
}

fn look(
    rows: Rows<'_>,
    weights: Option<&[f64]>,
    scaling: Scaling,
    numbers: usize,
    intercept: bool,
) -> Done<Survey> {
    let columns = rows.width();
    rows.check_with_holes(columns)?;
    let (first, second, there) = match scaling {
        Scaling::None | Scaling::Unit => (Vec::new(), Vec::new(), Vec::new()),
        Scaling::MaxAbs => (largest(rows, columns), Vec::new(), Vec::new()),
        Scaling::Standard => moments(rows, weights, columns),
        Scaling::Mixed => {
            let (means, squares, there) = moments(rows, weights, numbers);
            ([means, there].concat(), squares, Vec::new())
        }
    };
    let accepts = Accepts { classes: Classes::Real, soft_labels: false, weights: true, plain: false };
    let encoder = Encoder::new(columns, accepts)
        .with_scaler(Scaler::from_state(scaling, rows.len() as u64, first, second, None))
        .with_intercept(intercept)
        .with_sparse(matches!(rows, Rows::Sparse { .. }));
    let (radius, _) = extent(&encoder, rows)?;
    let (rows, first, second) = encoder.scaler().state();
    Ok((rows, first, second, radius, there))
}

/// The statistics of `rows` rows with what stands for missing numbers, and this for every column, from those
/// of the numbers that are `there`, as [`survey`] finds them.
#[pyfunction]
pub(crate) fn settled(
    rows: u64,
    there: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (rows, mut first, mut second) = (rows as f64, first, second);
    let columns = first.iter_mut().zip(&mut second).zip(there);
    let stand_ins = columns.map(|((mean, squares), there)| {
        let value = stand_in(*mean, *squares, there);
        if value == 0.0 && there < rows {
            // Zeros are in all other rows.
            *squares += *mean * *mean * there * ((rows - there) / rows);
            *mean *= there / rows;
        }
        value
    });
    let stand_ins = stand_ins.collect();
    (first, second, stand_ins)
}

/// The largest Euclidean norm of `rows` as the learner sees them, with the scaling that it has, and the
/// largest magnitude of every feature.
#[pyfunction]
pub(crate) fn reach<'py>(
    py: Python<'py>,
    learner: &Bound<'py, Learner>,
    rows: PyRows<'py>,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
    let rows = rows.borrow()?;
    let (norm, largest) = learner.get().inner.read(py, |inner| -> Done<(f64, Vec<f64>)> {
        rows.check(inner.encoder.columns())?;
        extent(&inner.encoder, rows)
    })??;
    Ok((norm, PyArray1::from_vec(py, largest)))
}

fn extent(encoder: &Encoder, rows: Rows<'_>) -> Done<(f64, Vec<f64>)> {
    let (mut example, mut room) = (Example::default(), Row::new());
    let (mut norm, mut largest): (f64, _) =
        (0.0, vec![0.0_f64; rows.width() + usize::from(encoder.has_intercept())]);
    for at in 0..rows.len() {
        look_at(encoder, rows.row(at), &mut room, &mut example)?;
        norm = norm.max(example.features().norm_squared());
        for (feature, value) in example.features().iter() {
            largest[feature] = largest[feature].max(value.abs());
        }
    }
    Ok((roomy(norm.sqrt()), largest))
}

/// The largest magnitude of every column.
fn largest(rows: Rows<'_>, columns: usize) -> Vec<f64> {
    let mut largest = vec![0.0_f64; columns];
    for at in 0..rows.len() {
        for (column, value) in rows.row(at).iter() {
            largest[column] = largest[column].max(value.abs());
        }
    }
    largest
}

/// The mean of each of the first `columns` columns, the sum of squared deviations, and the count of its
/// numbers, with weights normalised to mean 1. A number is missing if it is NaN, or if the column so many
/// places behind it, an indicator, is not 0.
fn moments(rows: Rows<'_>, weights: Option<&[f64]>, columns: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let weight = |at: usize| weights.map_or(1.0, |weights| weights[at]);
    let total: f64 = (0..rows.len()).map(weight).sum();
    let mut cells = vec![0.0; rows.width()];
    let (mut means, mut squares) = (vec![0.0; columns], vec![0.0; columns]);
    // The sum of weights, for all columns together as long as no number is missing.
    let (mut seen, mut there, mut whole) = (0.0, vec![0.0; columns], true);
    for at in (0..rows.len()).filter(|at| weight(*at) > 0.0) {
        cells.fill(0.0);
        rows.row(at).iter().for_each(|(column, value)| cells[column] = value);
        let (row, indicators) = cells.split_at_mut(columns);
        for (value, indicator) in row.iter_mut().zip(&*indicators) {
            if *indicator != 0.0 {
                *value = f64::NAN;
            }
        }
        if whole && row.iter().any(|value| value.is_nan()) {
            whole = false;
            there.fill(seen);
        }
        seen += weight(at);
        let moments = row.iter().zip(&mut means).zip(&mut squares).zip(&mut there);
        for (((value, mean), squares), there) in moments {
            if !whole {
                if value.is_nan() {
                    continue;
                }
                *there += weight(at);
            }
            // West's recursion: Welford's with weights.
            let deviation = value - *mean;
            *mean += deviation * (weight(at) / if whole { seen } else { *there });
            *squares += weight(at) * deviation * (value - *mean);
        }
    }
    if whole {
        there.fill(seen);
    }
    let scale = rows.len() as f64 / if total > 0.0 { total } else { 1.0 };
    squares.iter_mut().chain(&mut there).for_each(|sum| *sum *= scale);
    (means, squares, there)
}
