//! What the columns of a row contribute to its scores: the score of the row less that of the row without the
//! column.
//!
//! A linear learner's score is the sum of its contributions and of what is left without any column. Of the
//! others, what columns do together is left over.

use std::io::Cursor;
use std::sync::Arc;

use noregret::example::Features;
use noregret::learner::Predictor as _;
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::{BadRows, Examples as _, ReadExamples};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;

use super::table::NAME;
use super::{Inner, Learner};
use crate::arrays::check_one;
use crate::error::Done;

/// Names of the features of a row that are not zero, their contributions of shape (features, classes), and
/// the row's scores.
type Explained<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Weights and what is left without any feature.
type Linear<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Contributions to the scores of one row.
#[pyfunction]
pub(crate) fn explain_row<'py>(
    py: Python<'py>,
    learner: &Learner,
    row: PyReadonlyArray1<'py, f64>,
) -> PyResult<Explained<'py>> {
    let row = row.as_slice()?;
    let found = learner.inner.read(py, |inner| -> Done<Found> {
        check_one(row, inner.encoder.columns)?;
        let mut example = Example::default();
        inner.encoder.transform(Features::Dense(row), &mut example)?;
        Ok(inner.contributions(&example))
    })??;
    found.into_python(py)
}

/// Contributions to the scores of the rows of a table.
#[pyfunction]
pub(crate) fn explain_table<'py>(
    py: Python<'py>,
    learner: &Learner,
    csv: &[u8],
) -> PyResult<Vec<Explained<'py>>> {
    let csv: Arc<[u8]> = Arc::from(csv);
    let found = learner.inner.read(py, |inner| -> Done<Vec<Found>> {
        let reader = noregret_stream::from_read(Box::new(Cursor::new(csv)), NAME, &inner.reading())?;
        let mut examples = ReadExamples::new(reader, inner.encoder.clone(), NAME, BadRows::Fail).frozen();
        let (mut example, mut found) = (Example::default(), Vec::new());
        while examples.next(&mut example)? {
            found.push(inner.contributions(&example));
        }
        Ok(found)
    })??;
    found.into_iter().map(|found| found.into_python(py)).collect()
}

/// The weights of a linear learner, of shape (classes, features), and its scores without any feature; None
/// for a learner that is not linear. They are about features as the learner sees them: scaled, without the
/// intercept, which is among the latter.
#[pyfunction]
pub(crate) fn linear<'py>(py: Python<'py>, learner: &Learner) -> PyResult<Option<Linear<'py>>> {
    let found = learner.inner.read(py, |inner| {
        let features = inner.learner.problem().features;
        let shift = usize::from(inner.encoder.intercept);
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
        // A row in which everything is at once tells linear learners from the others.
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

/// Names of features, contributions and scores.
struct Found(Vec<String>, Vec<f64>, Vec<f64>);

impl Found {
    fn into_python(self, py: Python<'_>) -> PyResult<Explained<'_>> {
        let Self(names, contributions, scores) = self;
        let contributions = PyArray1::from_vec(py, contributions).reshape([names.len(), scores.len()])?;
        Ok((names, contributions, PyArray1::from_vec(py, scores)))
    }
}

impl Inner {
    fn contributions(&self, example: &Example) -> Found {
        let shift = u32::from(self.encoder.intercept);
        let x = example.features();
        let mut at = self.learner.prediction();
        self.learner.predict(x, &mut at);
        let scores = at.scores.clone();
        let (mut names, mut contributions) = (Vec::new(), Vec::new());
        let mut without = |feature: u32, x: Features<'_>| {
            self.learner.predict(x, &mut at);
            names.push(self.schema.columns.name(feature - shift).into_owned());
            contributions.extend(scores.iter().zip(&at.scores).map(|(with, without)| with - without));
        };
        match x {
            Features::Dense(values) => {
                let mut row = values.to_vec();
                for feature in shift as usize..row.len() {
                    let value = std::mem::take(&mut row[feature]);
                    if value != 0.0 {
                        without(feature as u32, Features::Dense(&row));
                    }
                    row[feature] = value;
                }
            }
            Features::Sparse { indices, values } => {
                for (place, &feature) in indices.iter().enumerate().filter(|(_, feature)| **feature >= shift)
                {
                    let indices = [&indices[..place], &indices[place + 1..]].concat();
                    let values = [&values[..place], &values[place + 1..]].concat();
                    without(feature, Features::Sparse { indices: &indices, values: &values });
                }
            }
        }
        Found(names, contributions, scores)
    }
}
