//! The best linear predictor by passes over rows that are elsewhere: sums over rows, and the steps made
//! from them.

use std::sync::{Mutex, PoisonError};

use noregret::batch::passes::{self, Coordinates};
use noregret::bounds::Ball;
use noregret::facts::RunFacts;
use noregret::guarantee::Guarantee;
use noregret_stream::encode::Example;
use noregret_stream::watch::certify::Record;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{PyRows, PyTargets};
use crate::error::{Done, Failure};
use crate::learner::{Inner, Learner};

/// What passes need to know of a learner: its coordinates, ball and norm.
fn known(inner: &Inner) -> Done<(Coordinates, Ball, f64)> {
    let name = inner.learner.about().name;
    let refused = || {
        Failure::Value(format!("{name} keeps no quadratic of linear predictors; folklore, aioli and gaf do"))
    };
    let coordinates = inner.learner.coordinates().ok_or_else(refused)?;
    match inner.learner.guarantee() {
        Some(Guarantee::Regret { ball: Some(ball), norm, .. }) => Ok((coordinates, ball, norm)),
        _ => Err(refused()),
    }
}

/// The sums over rows at the predictor `at`, with the learner's encoder; rows without a label are left out.
#[pyfunction]
pub(crate) fn sums<'py>(
    py: Python<'py>,
    learner: &Bound<'py, Learner>,
    rows: PyRows<'py>,
    targets: PyTargets<'py>,
    at: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (rows, targets, at) = (rows.borrow()?, targets.borrow()?, at.as_slice()?);
    let sums = learner.get().inner.read(py, |inner| -> Done<Vec<f64>> {
        let (coordinates, _, _) = known(inner)?;
        rows.check(inner.encoder.columns())?;
        inner.check_targets(targets, rows.len(), None)?;
        let mut record = Record::new(inner.learner.problem());
        let mut example = Example::default();
        for row in 0..rows.len() {
            if let Some(target) = targets.target(row) {
                inner.encoder.transform(rows.row(row), &mut example)?;
                record.note(example.features(), target);
            }
        }
        let data = record.data().map_err(|error| Failure::Value(error.to_string()))?;
        Ok(passes::sums(&data, coordinates, at))
    })??;
    Ok(PyArray1::from_vec(py, sums))
}

/// Makes the steps of the passes for a learner.
#[pyclass(frozen, module = "noregret._core")]
pub(crate) struct Passes {
    inner: Mutex<passes::Passes>,
    ball: Ball,
    norm: f64,
}

#[pymethods]
impl Passes {
    /// For a learner whose features have these `largest` magnitudes; begins from what others have `found`.
    #[new]
    #[pyo3(signature = (learner, largest, found=None))]
    fn new(
        py: Python<'_>,
        learner: &Bound<'_, Learner>,
        largest: PyReadonlyArray1<'_, f64>,
        found: Option<&Bound<'_, Passes>>,
    ) -> PyResult<Self> {
        let largest = largest.as_slice()?;
        let made = learner.get().inner.read(py, |inner| -> Done<Self> {
            let (coordinates, ball, norm) = known(inner)?;
            let problem = inner.learner.problem();
            if largest.len() != problem.features {
                let (found, needed) = (largest.len(), problem.features);
                return Err(Failure::Value(format!("largest has {found} numbers; {needed} were needed")));
            }
            let reach = norm * problem.radius.unwrap_or(1.0);
            let passes = passes::Passes::new(coordinates, problem.classes, largest, reach, passes::FEW);
            Ok(Self { inner: Mutex::new(passes), ball, norm })
        })??;
        let Some(found) = found else { return Ok(made) };
        let passes = made.held().clone().from_found(&found.get().held());
        Ok(Self { inner: Mutex::new(passes), ..made })
    }

    /// The predictor at which the next sums are needed.
    #[getter]
    fn at<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.held().at())
    }

    /// Takes the sums of all shards at `at`; returns whether another pass is needed.
    fn take(&self, sums: PyReadonlyArray1<'_, f64>) -> PyResult<bool> {
        Ok(self.held().take(sums.as_slice()?).map_err(Failure::from)?)
    }

    /// Lets a quadratic stand for the rows so far: other rows follow.
    fn go_on(&self) {
        self.held().go_on();
    }

    /// The learner that goes on from what was found in `rounds` rows, with the encoder of `learner`.
    fn learner(&self, py: Python<'_>, learner: &Bound<'_, Learner>, rounds: u64) -> PyResult<Learner> {
        let quadratic = self.held().quadratic();
        let made = learner.get().inner.read(py, |inner| -> Done<Learner> {
            let made = inner.learner.with_quadratic(&quadratic, rounds).map_err(Failure::from)?;
            Ok(Learner::like(inner, made, RunFacts::new(rounds)))
        })?;
        Ok(made?)
    }

    /// The number of passes over the rows since then.
    #[getter]
    fn passes(&self) -> usize {
        self.held().passes()
    }

    /// The total loss of what was found, in nats.
    #[getter]
    fn loss(&self) -> f64 {
        self.held().loss()
    }

    /// No linear predictor in the ball of the learner's theorem has a total loss below `loss` minus this.
    #[getter]
    fn gap(&self) -> f64 {
        self.held().gap(self.ball, self.norm)
    }
}

impl Passes {
    fn held(&self) -> std::sync::MutexGuard<'_, passes::Passes> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
