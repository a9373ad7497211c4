//! A learner with bandit feedback, as Python holds it: decisions out, right or wrong back, in any order.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use noregret::algorithm::{AnyModel, BanditModel};
use noregret::example::Features;
use noregret::model::{Archive, ModelError};
use noregret::prediction::Decision;
use noregret::registry;
use noregret::rng::Rng;
use noregret_stream::Schema;
use noregret_stream::bandit::run_bandit;
use noregret_stream::delay::Lateness;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::saved::Saved;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::arrays::{ArrayExamples, PyRows, PyTargets};
use crate::error::{Done, Failure};
use crate::learner::check_one;
use crate::making::{Facts, array_schema, scaling};
use crate::record::{Ran, Record};
use crate::values;

/// The stream of the generator from which labels are drawn: that of the loop.
const PLAY: u64 = 1;

/// The text of a model file that holds the decisions that wait.
const WAITING: &str = "waiting";

/// How many decisions may wait unless something else is said.
const MOST_WAITING: usize = 1_000_000;

/// A learner that is told whether the label that it played was right.
#[pyclass(frozen, module = "noregret._core")]
pub(crate) struct Bandit {
    inner: RwLock<Inner>,
}

struct Inner {
    learner: Box<dyn BanditModel>,
    encoder: Encoder,
    schema: Schema,
    rng: Rng,
    waiting: Waiting,
    example: Example,
}

/// Decisions that wait for their feedback, by id.
#[derive(Clone, Serialize, Deserialize)]
struct Waiting {
    rounds: BTreeMap<u64, Round>,
    next: u64,
    /// Beyond this many, the oldest is forgotten.
    most: usize,
}

impl Waiting {
    fn new(most: usize) -> Self {
        Self { rounds: BTreeMap::new(), next: 0, most: most.max(1) }
    }
}

/// What the learner needs to learn from a round.
#[derive(Clone, Serialize, Deserialize)]
struct Round {
    /// The indices of sparse features.
    indices: Option<Vec<u32>>,
    values: Vec<f64>,
    decision: Decision,
}

impl Round {
    fn new(x: Features<'_>, decision: &Decision) -> Self {
        let indices = match x {
            Features::Dense(_) => None,
            Features::Sparse { indices, .. } => Some(indices.to_vec()),
        };
        Self { indices, values: x.values().to_vec(), decision: decision.clone() }
    }

    fn features(&self) -> Features<'_> {
        match &self.indices {
            None => Features::Dense(&self.values),
            Some(indices) => Features::Sparse { indices, values: &self.values },
        }
    }

    /// Whether a round that comes from a file fits a learner.
    fn fits(&self, classes: usize, features: usize) -> bool {
        let layout = match &self.indices {
            None => self.values.len() == features,
            Some(indices) => {
                indices.len() == self.values.len()
                    && indices.windows(2).all(|pair| pair[0] < pair[1])
                    && indices.last().is_none_or(|last| (*last as usize) < features)
            }
        };
        layout && self.values.iter().all(|value| value.is_finite()) && self.decision.check(classes).is_ok()
    }
}

impl Bandit {
    fn read<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&Inner) -> T + Send) -> T {
        py.detach(|| look(&self.inner.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn write<T: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut Inner) -> T + Send) -> T {
        py.detach(|| change(&mut self.inner.write().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        Self {
            learner: self.learner.boxed_clone(),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            rng: self.rng.clone(),
            waiting: self.waiting.clone(),
            example: Example::default(),
        }
    }
}

impl Inner {
    fn archive(&self) -> Archive {
        let mut saved = Saved {
            learner: AnyModel::Bandit(self.learner.boxed_clone()),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            generator: Some(self.rng.clone()),
        };
        let mut archive = saved.archive();
        archive.set_text(WAITING, serde_json::to_string(&self.waiting).expect("plain data"));
        archive
    }

    /// What a file holds. One that the command line wrote has nothing that waits.
    fn from_archive(archive: &Archive) -> Done<Self> {
        let Saved { learner, encoder, schema, generator } = Saved::from_archive(archive)?;
        let learner = learner.bandit()?;
        let waiting = match archive.text(WAITING) {
            None => Waiting::new(MOST_WAITING),
            Some(_) => archive.json::<Waiting>(WAITING)?,
        };
        let problem = learner.problem();
        if !waiting.rounds.values().all(|round| round.fits(problem.classes, problem.features)) {
            let what = "the decisions that wait do not fit its learner".to_owned();
            return Err(ModelError::Damaged(what).into());
        }
        let rng = generator.unwrap_or_else(|| Rng::new(0, PLAY));
        Ok(Self { learner, encoder, schema, rng, waiting, example: Example::default() })
    }
}

#[pymethods]
impl Bandit {
    #[new]
    #[pyo3(signature = (name, classes, features, params, *, radius=None, horizon=None, seed=0, sparse=false, scale="none", intercept=false, labels=None, memory=8192, most_waiting=1_000_000))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn py_new(
        name: &str,
        classes: usize,
        features: usize,
        params: &Bound<'_, PyDict>,
        radius: Option<f64>,
        horizon: Option<u64>,
        seed: u64,
        sparse: bool,
        scale: &str,
        intercept: bool,
        labels: Option<Vec<String>>,
        memory: usize,
        most_waiting: usize,
    ) -> PyResult<Self> {
        let params = values::from_python(params)?;
        let memory = memory.saturating_mul(1 << 20);
        let make = || -> Done<Self> {
            let entry = registry::find(name)?;
            let scaling = scaling(scale)?;
            let facts = Facts {
                classes,
                columns: features,
                radius,
                horizon,
                sparse,
                scaling,
                intercept,
                labels,
                memory,
            };
            let learner = entry.make_bandit(&params, facts.problem(entry, &params)?, seed)?;
            let encoder = facts.encoder(learner.about(), learner.problem())?;
            let waiting = Waiting::new(most_waiting);
            let rng = Rng::new(seed, PLAY);
            let schema = array_schema(features);
            let inner = Inner { learner, encoder, schema, rng, waiting, example: Example::default() };
            Ok(Self { inner: RwLock::new(inner) })
        };
        Ok(make()?)
    }

    /// The learner, and the decisions that wait, in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let archive = Archive::from_bytes(bytes).map_err(Failure::from)?;
        Ok(Self { inner: RwLock::new(Inner::from_archive(&archive)?) })
    }

    /// The learner, and the decisions that wait, in a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| -> Done<Inner> { Inner::from_archive(&Archive::read(&path)?) })?;
        Ok(Self { inner: RwLock::new(inner) })
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.read(py, |inner| inner.archive().to_bytes()))
    }

    /// Writes a model file, which is replaced at once or not at all.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        Ok(self.read(py, |inner| -> Done<()> { Ok(inner.archive().write(&path)?) })?)
    }

    /// A copy that goes its own way.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { inner: RwLock::new(self.read(py, Inner::clone)) }
    }

    /// Plays a label for one row: the label, its probability, and the decision's id.
    fn decide<'py>(&self, py: Python<'py>, row: PyReadonlyArray1<'py, f64>) -> PyResult<(u32, f64, u64)> {
        let x = row.as_slice()?;
        Ok(self.write(py, |inner| -> Done<(u32, f64, u64)> {
            let Inner { learner, encoder, rng, waiting, example, .. } = inner;
            check_one(x, encoder.columns)?;
            encoder.encode_features(Features::Dense(x), example).expect("rows are checked before");
            let mut decision = Decision::default();
            learner.act(example.features(), rng, &mut decision);
            if !decision.scores.iter().all(|score| score.is_finite()) {
                return Err(RunError::NotFinite(learner.rounds() + 1).into());
            }
            let id = waiting.next;
            waiting.next += 1;
            if waiting.rounds.len() >= waiting.most {
                waiting.rounds.pop_first();
            }
            waiting.rounds.insert(id, Round::new(example.features(), &decision));
            Ok((decision.label, decision.probability, id))
        })?)
    }

    /// Learns whether the label of decision `id` was right.
    fn feedback(&self, py: Python<'_>, id: u64, correct: bool) -> PyResult<()> {
        let found = self.write(py, |inner| {
            let round = inner.waiting.rounds.remove(&id);
            if let Some(round) = &round {
                inner.learner.learn(round.features(), &round.decision, correct);
            }
            round.is_some()
        });
        if found { Ok(()) } else { Err(unknown(id)) }
    }

    /// Forgets decision `id`: nobody will ever say.
    fn forget(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        let found = self.write(py, |inner| inner.waiting.rounds.remove(&id).is_some());
        if found { Ok(()) } else { Err(unknown(id)) }
    }

    /// The distributions that labels of rows would be drawn from (or the scores), one row each.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        scores: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.borrow()?;
        let (out, width) = self.read(py, |inner| -> Done<(Vec<f64>, usize)> {
            rows.check(inner.encoder.columns)?;
            let (mut decision, mut example) = (Decision::default(), Example::default());
            let width = inner.learner.problem().classes;
            let mut out = Vec::with_capacity(rows.len() * width);
            for row in 0..rows.len() {
                inner.encoder.transform(rows.row(row), &mut example).expect("rows are checked before");
                inner.learner.predict(example.features(), &mut decision);
                out.extend_from_slice(if scores { &decision.scores } else { &decision.distribution });
            }
            Ok((out, width))
        })?;
        PyArray1::from_vec(py, out).reshape([rows.len(), width])
    }

    /// Plays labelled rows in order, and tells the learner no more than right or wrong.
    #[pyo3(signature = (rows, targets, *, seed=0, keep=false))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        targets: PyTargets<'py>,
        seed: u64,
        keep: bool,
    ) -> PyResult<Ran<'py>> {
        let (rows, targets) = (rows.borrow()?, targets.borrow()?);
        let record = self.write(py, |inner| -> Done<Record> {
            let (about, classes) = (inner.learner.about(), inner.learner.problem().classes);
            rows.check(inner.encoder.columns)?;
            targets.check(rows.len(), classes, about.accepts)?;
            let forecast = about.forecast;
            let options = RunOptions {
                forecast,
                delay: Lateness::default(),
                look_ahead: false,
                window: 1,
                limit: None,
                seed,
            };
            let mut record = Record::new(forecast, keep, rows.len());
            let Inner { learner, encoder, .. } = inner;
            let mut examples = ArrayExamples { rows, targets, weights: None, encoder, frozen: false, at: 0 };
            record.score = Some(run_bandit(&mut examples, learner.as_mut(), &mut record.rounds, &options)?);
            Ok(record)
        })?;
        record.into_python(py)
    }

    /// What pickle needs.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py()),)))
    }

    #[getter]
    fn waiting(&self, py: Python<'_>) -> Vec<u64> {
        self.read(py, |inner| inner.waiting.rounds.keys().copied().collect())
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> &'static str {
        self.read(py, |inner| inner.learner.about().name)
    }

    #[getter]
    fn classes(&self, py: Python<'_>) -> usize {
        self.read(py, |inner| inner.learner.problem().classes)
    }

    #[getter]
    fn features(&self, py: Python<'_>) -> usize {
        self.read(py, |inner| inner.encoder.columns)
    }

    #[getter]
    fn rounds(&self, py: Python<'_>) -> u64 {
        self.read(py, |inner| inner.learner.rounds())
    }

    #[getter]
    fn labels(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |inner| inner.encoder.labels.iter().map(str::to_owned).collect())
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::to_python(py, &self.read(py, |inner| inner.learner.values()))
    }
}

fn unknown(id: u64) -> PyErr {
    PyKeyError::new_err(format!(
        "no decision {id} waits for feedback: it was never taken, is answered already, or was forgotten"
    ))
}
