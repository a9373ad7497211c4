//! Contributions of columns to scores, see `noregret_stream::watch::explain`.

use noregret::example::Features;
use noregret::learner::Predictor as _;
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::{BadRows, Examples as _, ReadExamples};
use noregret_stream::watch::explain::{Explainer, Explanation};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2};
use pyo3::prelude::*;

use super::{Inner, Learner};
use crate::arrays::check_one;
use crate::error::Done;
use crate::table::{NAME, Table};

/// Names of columns, the most important first, their contributions of shape (columns, scores), the
/// remainder of the scores, and the number of rows.
pub(crate) type Explained<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, u64);

/// Weights, and the scores without any feature.
type Linear<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Contributions to the scores of rows of an array; means over several rows.
#[pyfunction]
pub(crate) fn explain_rows<'py>(
    py: Python<'py>,
    learner: &Learner,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Explained<'py>> {
    let rows = rows.as_array();
    let found = learner.inner.read(py, |inner| -> Done<Explanation> {
        let (mut explainer, mut at, mut example) =
            (inner.explainer(), inner.learner.prediction(), Example::default());
        for row in rows.rows() {
            let row = row.to_vec();
            check_one(&row, inner.encoder.columns())?;
            inner.encoder.transform(Features::Dense(&row), &mut example)?;
            explainer.add(&example, &mut at, |x, at| inner.learner.predict(x, at));
        }
        Ok(explainer.take())
    })??;
    into_python(found, py)
}

/// Contributions to the scores of rows of a table; means over several rows.
#[pyfunction]
pub(crate) fn explain_table<'py>(
    py: Python<'py>,
    learner: &Learner,
    table: &Table,
) -> PyResult<Explained<'py>> {
    let table = table.clone();
    let found = learner.inner.read(py, |inner| -> Done<Explanation> {
        let reader = table.open(&inner.reading())?;
        let mut examples = ReadExamples::new(reader, inner.encoder.clone(), NAME, BadRows::Fail).frozen();
        let (mut explainer, mut at, mut example) =
            (inner.explainer(), inner.learner.prediction(), Example::default());
        while examples.next(&mut example)? {
            explainer.add(&example, &mut at, |x, at| inner.learner.predict(x, at));
        }
        Ok(explainer.take())
    })??;
    into_python(found, py)
}

/// The weights of a linear learner, of shape (classes, features), and its scores without any
/// feature; None for a learner that is not linear. They are for scaled features without the
/// intercept, which is part of the latter.
#[pyfunction]
pub(crate) fn linear<'py>(py: Python<'py>, learner: &Learner) -> PyResult<Option<Linear<'py>>> {
    let found = learner.inner.read(py, |inner| {
        let features = inner.learner.problem().features;
        let shift = usize::from(inner.encoder.has_intercept());
        let mut at = inner.learner.prediction();
        let mut row = vec![0.0; features];
        let mut scores = |row: &[f64]| {
            inner.learner.predict(Features::Dense(row), &mut at);
            at.scores.clone()
        };
        row[..shift].fill(1.0);
        let base = scores(&row);
        let mut weights = Vec::with_capacity(base.len() * features);
        for feature in shift..features {
            row[feature] = 1.0;
            weights.extend(scores(&row).iter().zip(&base).map(|(score, base)| score - base));
            row[feature] = 0.0;
        }
        // A row with all features tests whether the learner is linear.
        let probe = |feature: usize| {
            (1.0 + feature as f64).recip() * if feature.is_multiple_of(2) { 1.0 } else { -0.5 }
        };
        (shift..features).for_each(|feature| row[feature] = probe(feature));
        let linear = scores(&row).iter().enumerate().all(|(class, score)| {
            let parts = (shift..features).map(|at| weights[(at - shift) * base.len() + class] * probe(at));
            let sum = base[class] + parts.sum::<f64>();
            (score - sum).abs() <= 1e-9 * (1.0 + score.abs())
        });
        linear.then_some((weights, base, features - shift))
    })?;
    let Some((weights, base, features)) = found else { return Ok(None) };
    let weights = PyArray1::from_vec(py, weights).reshape([features, base.len()])?;
    Ok(Some((weights, PyArray1::from_vec(py, base))))
}

pub(crate) fn into_python(found: Explanation, py: Python<'_>) -> PyResult<Explained<'_>> {
    let Explanation { columns, contributions, rest, rows } = found;
    let shape = [columns.len(), rest.len()];
    let contributions = PyArray1::from_vec(py, contributions.concat()).reshape(shape)?;
    Ok((columns, contributions, PyArray1::from_vec(py, rest), rows))
}

impl Inner {
    fn explainer(&self) -> Explainer {
        Explainer::new(&self.schema, &self.encoder)
    }
}
