//! Rows as dictionaries, as in River: features may appear at any time, and a text is a category.

use noregret::example::{Features, Label, Target};
use noregret::prediction::Prediction;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::arrays::{check_row_with_holes, check_weights};
use crate::error::{Done, Failure};
use crate::learner::Learner;

/// A row: known features, with NaN for missing numbers, and new features.
struct Mapped<'py> {
    known: Vec<(u32, f64)>,
    new: Vec<(Bound<'py, PyAny>, f64)>,
}

/// Beyond this number of columns, space is reserved for several new ones at a time, so that growing
/// takes linear time in total.
const FEW: usize = 32;

/// The new capacity for `count` columns, from the capacity `room`.
fn roomy(count: usize, room: usize) -> usize {
    if count <= room {
        room
    } else if count <= FEW {
        count
    } else {
        count + count / 2
    }
}

/// The column of a feature, if it has one.
fn column_of(columns: &Bound<'_, PyDict>, name: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    columns.get_item(name)?.map(|column| column.extract::<u32>()).transpose()
}

/// Finds the columns of a row's features. None, NaN and empty texts are missing values, another text is the
/// category `name=text`.
fn map<'py>(columns: &Bound<'py, PyDict>, x: &Bound<'py, PyDict>) -> PyResult<Mapped<'py>> {
    let mut mapped = Mapped { known: Vec::with_capacity(x.len()), new: Vec::new() };
    for (name, value) in x {
        if value.is_none() {
            mapped.known.extend(column_of(columns, &name)?.map(|column| (column, f64::NAN)));
            continue;
        }
        let (name, value) = match value.cast::<PyString>() {
            Ok(text) => {
                let category = PyString::new(x.py(), &format!("{}={text}", name.str()?)).into_any();
                // An empty text is missing, except in learners of before that have learnt it.
                if text.to_str()?.trim_ascii().is_empty() && column_of(columns, &category)?.is_none() {
                    mapped.known.extend(column_of(columns, &name)?.map(|column| (column, f64::NAN)));
                    continue;
                }
                if x.contains(&category)? {
                    return Err(Failure::Value(format!(
                        "feature {} appears twice: as a number, and as the text {text} of feature {}",
                        category.repr()?,
                        name.repr()?
                    ))
                    .into());
                }
                (category, 1.0)
            }
            Err(_) => match value.extract::<f64>() {
                Ok(number) => (name, number),
                Err(_) if value.is_instance_of::<PyBool>() => (name, f64::from(u8::from(value.is_truthy()?))),
                Err(_) => {
                    return Err(PyTypeError::new_err(format!(
                        "feature {} is {}; a number or a text was needed",
                        name.repr()?,
                        value.repr()?
                    )));
                }
            },
        };
        if value.is_nan() {
            mapped.known.extend(column_of(columns, &name)?.map(|column| (column, f64::NAN)));
            continue;
        }
        if !value.is_finite() {
            return Err(Failure::Value(format!(
                "feature {} has the value {value}; a finite number was needed",
                name.repr()?
            ))
            .into());
        }
        match columns.get_item(&name)? {
            Some(column) => mapped.known.push((column.extract()?, value)),
            None => mapped.new.push((name, value)),
        }
    }
    Ok(mapped)
}

/// The row for the learner: columns increasing, without zeros.
fn sorted(mut entries: Vec<(u32, f64)>) -> (Vec<u32>, Vec<f64>) {
    entries.sort_unstable_by_key(|(column, _)| *column);
    entries.into_iter().filter(|(_, value)| *value != 0.0).unzip()
}

/// Learns a dictionary; its class may be new. New features get columns in alphabetical order, so
/// that the order in the dictionary does not matter.
#[pyfunction]
pub(crate) fn learn_mapping<'py>(
    py: Python<'py>,
    learner: &Learner,
    columns: &Bound<'py, PyDict>,
    x: &Bound<'py, PyDict>,
    label: u32,
    weight: f64,
) -> PyResult<()> {
    let Mapped { mut known, new } = map(columns, x)?;
    let mut named = Vec::with_capacity(new.len());
    for (name, value) in new {
        named.push((name.str()?.to_str()?.to_owned(), name, value));
    }
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let first = columns.len();
    known.extend((first as u32..).zip(&named).map(|(column, (_, _, value))| (column, *value)));
    let count = first + named.len();
    learner.inner.write(py, |inner| -> Done<()> {
        let (indices, values) = sorted(known);
        let x = Features::Sparse { indices: &indices, values: &values };
        check_row_with_holes(x, count)?;
        check_weights(Some(&[weight]), 1, inner.learner.about().accepts)?;
        let classes = inner.learner.problem().classes.max(label as usize + 1);
        learner.grow_to(inner, classes, roomy(count, inner.encoder.columns()))?;
        learner.learn_checked(inner, x, Target::class(Label(label)).weighted(weight))
    })??;
    for (column, (_, name, _)) in (first..).zip(&named) {
        columns.set_item(name, column)?;
    }
    Ok(())
}

/// Probabilities (or scores) of a dictionary, scaled as if it came next. Unknown features are ignored.
#[pyfunction]
pub(crate) fn predict_mapping<'py>(
    py: Python<'py>,
    learner: &Learner,
    columns: &Bound<'py, PyDict>,
    x: &Bound<'py, PyDict>,
    scores: bool,
) -> PyResult<Vec<f64>> {
    let Mapped { known, .. } = map(columns, x)?;
    Ok(learner.inner.read(py, |inner| -> Done<Vec<f64>> {
        let (indices, values) = sorted(known);
        let x = Features::Sparse { indices: &indices, values: &values };
        check_row_with_holes(x, inner.encoder.columns())?;
        let list = |at: &Prediction| if scores { at.scores.clone() } else { at.probabilities.clone() };
        Ok(learner.predict_checked(inner, x, true, list))
    })??)
}

/// The features of a time under `name`, as those of a cell of a table; `None` for a text that is none.
#[pyfunction]
pub(crate) fn time_features(name: &str, text: &str) -> Option<Vec<(String, f64)>> {
    noregret_stream::time_features(name, text)
}

/// The same of a text that no column says to be a time; `None` for one that may be something else.
#[pyfunction]
pub(crate) fn moment_features(name: &str, text: &str) -> Option<Vec<(String, f64)>> {
    noregret_stream::moment_features(name, text)
}
