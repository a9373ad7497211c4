//! Members of a mixture in several processes.

use std::sync::{Mutex, PoisonError};

use noregret::capability::Divided;
use noregret::facts::RunFacts;
use noregret::rng::Rng;
use noregret_stream::run::score::Score;
use noregret_stream::run::standing::Standing;
use noregret_stream::run::{RunOptions, run_on};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{Inner, Learner};
use crate::arrays::{ArrayExamples, Kept, PyRows, PyTargets};
use crate::error::{Done, Failure};
use crate::record::{Ran, Record};
use crate::signals::Signals;

/// Where a run is: rows so far, the length of a block of announced rows, and rows of the current block.
type Place = (u64, u64, u64);

/// A learner that learns rows part by part, to the bit as in one call, and whose members can be divided
/// among processes.
#[pyclass(frozen, module = "noregret._core", name = "Divided")]
pub(crate) struct PyDivided {
    learner: Py<Learner>,
    part: Mutex<Part>,
}

/// The run so far.
struct Part {
    place: Option<Place>,
    /// The scores of all rows.
    score: Option<Score>,
    /// Facts about the rounds before the run.
    before: RunFacts,
}

/// The divided members of the learner.
fn members(inner: &mut Inner) -> Done<&mut dyn Divided> {
    let name = inner.learner.about().name;
    let refused =
        || Failure::Value(format!("{name} has no members to divide among workers; a mixture was needed"));
    inner.learner.divided().ok_or_else(refused)
}

impl PyDivided {
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut dyn Divided) -> Done<R> + Send,
    ) -> PyResult<R> {
        let learner = self.learner.get();
        Ok(learner.inner.write(py, |inner| {
            learner.put_spare(None);
            inner.state += 1;
            change(members(inner)?)
        })??)
    }
}

#[pymethods]
impl PyDivided {
    /// `place` is that of another object, whose learner was copied.
    #[new]
    #[pyo3(signature = (learner, place=None))]
    fn new(py: Python<'_>, learner: Py<Learner>, place: Option<Place>) -> PyResult<Self> {
        let before = learner.get().inner.read(py, |inner| inner.facts.clone())?;
        let divided = Self { learner, part: Mutex::new(Part { place, score: None, before }) };
        divided.change(py, |_| Ok(()))?;
        Ok(divided)
    }

    /// The learner itself.
    #[getter]
    fn learner(&self, py: Python<'_>) -> Py<Learner> {
        self.learner.clone_ref(py)
    }

    /// Where the run is; None before the first row.
    #[getter]
    fn place(&self) -> Option<Place> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner).place
    }

    /// What a round of every member costs, 0 for those that are not divided; None if they cannot be yet.
    fn costs(&self, py: Python<'_>) -> PyResult<Option<Vec<f64>>> {
        self.change(py, |divided| Ok(divided.costs()))
    }

    /// Plays `members` alone from now on, for another process.
    fn lend(&self, py: Python<'_>, members: Vec<usize>) -> PyResult<()> {
        self.change(py, |divided| {
            divided.lend(&members);
            Ok(())
        })
    }

    /// What each of `members` has forecast since the last call.
    fn lent<'py>(&self, py: Python<'py>, members: Vec<usize>) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let lists = self.change(py, |divided| {
            Ok(members.iter().map(|member| divided.lent(*member)).collect::<Vec<_>>())
        })?;
        Ok(lists.into_iter().map(|list| PyArray1::from_vec(py, list)).collect())
    }

    /// Leaves `members` to other processes from now on.
    fn borrow(&self, py: Python<'_>, members: Vec<usize>) -> PyResult<()> {
        self.change(py, |divided| {
            divided.borrow(&members);
            Ok(())
        })
    }

    /// Gives the forecasts of a borrowed member for the next `rounds`.
    fn foresee(
        &self,
        py: Python<'_>,
        member: usize,
        rounds: usize,
        forecasts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let forecasts = forecasts.as_slice()?.to_vec();
        let refused =
            format!("{} numbers of member {member} are not those of {rounds} rows", forecasts.len());
        self.change(py, |divided| {
            let taken = divided.foresee(member, rounds, forecasts);
            if taken { Ok(()) } else { Err(Failure::Value(refused)) }
        })
    }

    /// The states of `members`.
    fn states<'py>(&self, py: Python<'py>, members: Vec<usize>) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let states = self.change(py, |divided| {
            Ok(members.iter().map(|member| divided.member(*member)).collect::<Vec<_>>())
        })?;
        Ok(states.into_iter().map(|state| PyArray1::from_vec(py, state)).collect())
    }

    /// Replaces the state of a member.
    fn set_state(&self, py: Python<'_>, member: usize, state: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let state = state.as_slice()?;
        self.change(py, |divided| {
            let refused = || Failure::Value(format!("the state of member {member} is none of this learner"));
            divided.set_member(member, state).then_some(()).ok_or_else(refused)
        })
    }

    /// Plays all members from now on.
    fn unite(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |divided| {
            divided.unite();
            Ok(())
        })
    }

    /// Predicts, scores and learns the next rows, all of which have labels. Rates are those of all rows so
    /// far.
    fn run<'py>(&self, py: Python<'py>, rows: PyRows<'py>, targets: PyTargets<'py>) -> PyResult<Ran<'py>> {
        let (rows, targets) = (rows.borrow()?, targets.borrow()?);
        let shared = self.learner.get();
        let record = shared.inner.work(py, |inner| -> Done<Record> {
            rows.check(inner.encoder.columns())?;
            inner.check_targets(targets, rows.len(), None)?;
            if let Some(row) = (0..rows.len()).find(|row| targets.target(*row).is_none()) {
                return Err(Failure::Value(format!("row {row} has no label; all rows need one")));
            }
            shared.put_spare(None);
            inner.state += 1;
            let forecast = inner.learner.about().forecast;
            let options = RunOptions { limit: Some(rows.len() as u64), ..RunOptions::new(forecast, 0) };
            let mut record = Record::new(forecast, false, rows.len());
            let Inner { learner, encoder, facts, .. } = inner;
            let mut standing = Standing::new(learner.as_mut(), &options);
            let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = part.place {
                (standing.rounds, standing.block, standing.into) = place;
            }
            if let Some(score) = part.score.take() {
                standing.score = score;
            }
            let signals = Signals::new();
            let mut examples = ArrayExamples {
                rows,
                targets,
                weights: None,
                encoder,
                frozen: false,
                room: None,
                kept: Kept::default(),
                at: 0,
                signals,
            };
            let (sink, mut generator) = (&mut record.rounds, Rng::new(0, 0));
            run_on(&mut examples, learner.as_mut(), sink, &options, &mut generator, &mut standing)?;
            part.place = Some((standing.rounds, standing.block, standing.into));
            *facts = part.before.clone();
            facts.extend(&standing.score.facts);
            (record.score, part.score) = (Some(standing.score.clone()), Some(standing.score));
            examples.signals.into_result()?;
            Ok(record)
        })??;
        record.into_python(py)
    }
}
