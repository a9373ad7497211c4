//! The Python class of full-information learners.

pub(crate) mod divided;
pub(crate) mod explain;
mod holes;
mod rows;
pub(crate) mod table;
mod wider;

use std::collections::BTreeMap;
use std::sync::Mutex;

use noregret::algorithm::{AnyModel, Model};
use noregret::capability::Inside;
use noregret::example::Features;
use noregret::facts::RunFacts;
use noregret::guarantee::Void;
use noregret::learner::Feedback;
use noregret::merge::Merge;
use noregret::model::Archive;
use noregret::parallel::Workers;
use noregret::param::ParamError;
use noregret::prediction::Prediction;
use noregret::registry;
use noregret::state::Slot;
use noregret_stream::Schema;
use noregret_stream::encode::class_weights::ClassWeights;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::{RunOptions, run};
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Learning, PREDICTED_TOGETHER, Saved, archive_of};
use noregret_stream::setup::{Asked, Facts};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict};

use self::rows::Spare;
use self::table::parsed;
use crate::arrays::{ArrayExamples, Kept, PyRows, PyTargets, Targets, check_single, check_weights};
use crate::catalogue::forecast_name;
use crate::error::{Done, Failure};
use crate::label::{self, Name};
use crate::making::{asked, called, scaling};
use crate::places;
use crate::record::{Ran, Record};
use crate::shared::Shared;
use crate::signals::with_threads;
use crate::target::PyTarget;
use crate::values;

/// A full-information learner with its encoder.
#[pyclass(frozen, module = "noregret._core")]
pub(crate) struct Learner {
    pub(crate) inner: Shared<Inner>,
    /// Buffers of the last prediction, to avoid allocations; taken while in use.
    spare: Mutex<Option<Spare>>,
}

pub(crate) struct Inner {
    pub(crate) learner: Box<dyn Model>,
    pub(crate) encoder: Encoder,
    pub(crate) schema: Schema,
    /// Facts about the learnt rounds, on which theorems depend.
    facts: RunFacts,
    /// Increased by every change.
    state: u64,
    /// Largest size of the state, in bytes.
    memory: usize,
    /// The names of the columns of the first table, if columns count by their places.
    places: Option<Vec<String>>,
    /// Whether later tables may bring columns and categories: the first one was one row of many to come.
    open: bool,
    /// The encoder.
    example: Example,
}

impl Learner {
    fn new(
        learner: Box<dyn Model>,
        encoder: Encoder,
        schema: Schema,
        facts: RunFacts,
        memory: usize,
        open: bool,
    ) -> Self {
        Self::of_inner(Inner {
            learner,
            encoder,
            schema,
            facts,
            state: 0,
            memory,
            places: None,
            open,
            example: Example::default(),
        })
    }

    fn of_inner(inner: Inner) -> Self {
        Self { inner: Shared::new(inner), spare: Mutex::new(None) }
    }

    /// `learner` with the encoder of `inner`.
    pub(crate) fn like(inner: &Inner, learner: Box<dyn Model>, facts: RunFacts) -> Self {
        Self::new(learner, inner.encoder.clone(), inner.schema.clone(), facts, inner.memory, inner.open)
    }

    fn loaded(archive: &Archive, memory: usize) -> Done<Self> {
        let Saved { learner, encoder, schema, facts, .. } = Saved::from_archive(archive)?;
        let (learner, places, open) = (learner.full()?, places::read(archive)?, places::are_open(archive));
        let example = Example::default();
        Ok(Self::of_inner(Inner { learner, encoder, schema, facts, state: 0, memory, places, open, example }))
    }

    pub(crate) fn of_saved(saved: Saved, memory: usize) -> Done<Self> {
        let Saved { learner, encoder, schema, facts, .. } = saved;
        Ok(Self::new(learner.full()?, encoder, schema, facts, memory, false))
    }
}

impl Inner {
    fn saved(&self) -> Saved {
        Saved {
            learner: AnyModel::Full(self.learner.clone()),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            generator: None,
            facts: self.facts.clone(),
        }
    }

    /// The content of a model file, without a copy of the learner.
    fn archive(&mut self) -> Archive {
        let learner = Learning::Full(self.learner.as_mut());
        let mut archive = archive_of(learner, &self.encoder, &self.schema, None, &self.facts);
        places::write(self.places.as_deref(), self.open, &mut archive);
        archive
    }
}

#[pymethods]
impl Learner {
    #[new]
    #[pyo3(signature = (name, classes, features, params, *, radius=None, horizon=None, seed=0, sparse=false, scale="none", intercept=false, labels=None, memory=8192, schema=None))]
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
        schema: Option<&str>,
    ) -> PyResult<Self> {
        let params = values::from_python(params)?;
        let memory = memory.saturating_mul(1 << 20);
        let make = || -> Done<Self> {
            let entry = registry::find(name)?;
            let scaling = scaling(scale)?;
            let facts = Facts { scaling, intercept, sparse, ..Facts::of_arrays(classes, features) };
            let facts = match schema {
                Some(schema) => Facts { schema: parsed(schema)?, ..facts },
                None => facts,
            };
            let asked = Asked { params, seed, radius, horizon, memory, ..asked(scaling, Feedback::Full) };
            Self::of_saved(called(entry, facts, labels)?.make(entry, &asked)?, memory)
        };
        Ok(make()?)
    }

    /// The learner of a model file's bytes.
    #[staticmethod]
    #[pyo3(signature = (bytes, memory=8192))]
    fn from_bytes(bytes: &[u8], memory: usize) -> PyResult<Self> {
        let archive = Archive::from_bytes(bytes).map_err(Failure::from)?;
        Ok(Self::loaded(&archive, memory.saturating_mul(1 << 20))?)
    }

    /// The learner of a model file.
    #[staticmethod]
    #[pyo3(signature = (path, memory=8192))]
    fn load(py: Python<'_>, path: std::path::PathBuf, memory: usize) -> PyResult<Self> {
        Ok(py.detach(|| Self::loaded(&model_file::read(&path)?, memory.saturating_mul(1 << 20)))?)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.archive(py)?.to_bytes()))
    }

    /// Atomically writes a model file.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        Ok(self
            .inner
            .write(py, |inner| -> Done<()> { Ok(model_file::write(&inner.archive(), &path)?) })??)
    }

    /// An independent copy.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.inner.read(py, |inner| {
            let Inner { learner, encoder, schema, facts, memory, open, .. } = inner;
            Self::new(learner.clone(), encoder.clone(), schema.clone(), facts.clone(), *memory, *open)
        })
    }

    /// The learner with the sum of the statistics of `parts`.
    #[staticmethod]
    fn merge(py: Python<'_>, parts: Vec<Bound<'_, Learner>>, how: &str) -> PyResult<Self> {
        let how = how_of(how)?;
        let memory = parts.first().map_or(Ok(0), |part| part.get().inner.read(py, |inner| inner.memory))?;
        let parts = parts.iter().map(|part| part.get().inner.read(py, Inner::saved));
        let parts = parts.collect::<PyResult<Vec<Saved>>>()?;
        let merged = py.detach(|| noregret_stream::save::merge::merge(parts, how)).map_err(Failure::from)?;
        Ok(Self::of_saved(merged, memory)?)
    }

    /// The sufficient statistics, as numbers that can be added.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let statistics = self.inner.work(py, |inner| -> Done<Vec<f64>> {
            let mut statistics = inner.learner.statistics()?;
            statistics.extend(inner.facts.sums());
            Ok(statistics)
        })??;
        Ok(PyArray1::from_vec(py, statistics))
    }

    /// A learner like this one with the statistics `sum` of `parts` learners.
    fn with_statistics(
        &self,
        py: Python<'_>,
        sum: PyReadonlyArray1<'_, f64>,
        parts: usize,
        how: &str,
    ) -> PyResult<Self> {
        let (how, sum) = (how_of(how)?, sum.as_slice()?);
        // The last ones describe the rounds; a shorter list is rejected by the learner.
        let (sum, facts) = sum.split_last_chunk().unwrap_or((sum, &[0.0; 8]));
        let problem = self.inner.read(py, |inner| inner.learner.problem().clone())?;
        self.inner
            .read(py, |inner| -> Done<Self> {
                let learner =
                    inner.learner.with_statistics(sum, parts, how, problem).map_err(Failure::from)?;
                Ok(Self::like(inner, learner, RunFacts::of_sums(*facts)))
            })?
            .map_err(Into::into)
    }

    /// Probabilities (or scores) of rows, one row each.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        scores: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.borrow()?;
        let (out, width) = self.inner.read(py, |inner| -> Done<(Vec<f64>, usize)> {
            rows.check(inner.encoder.columns())?;
            let mut at = inner.learner.prediction();
            let width = if scores { at.scores.len() } else { at.probabilities.len() };
            let mut out = Vec::with_capacity(rows.len() * width);
            let (mut examples, mut kept): (Vec<Example>, Kept) = (Vec::new(), Kept::default());
            examples.resize_with(rows.len().min(PREDICTED_TOGETHER), Example::default);
            for start in (0..rows.len()).step_by(PREDICTED_TOGETHER) {
                let examples = &mut examples[..PREDICTED_TOGETHER.min(rows.len() - start)];
                for (at, example) in examples.iter_mut().enumerate() {
                    let x = kept.keep(rows.row(start + at), inner.encoder.columns(), false)?;
                    inner.encoder.transform(x, example).expect("the row is checked");
                }
                let features: Vec<Features<'_>> = examples.iter().map(Example::features).collect();
                inner.learner.predict_batch(&&features[..], &mut at, &mut |_, at| {
                    out.extend_from_slice(if scores { &at.scores } else { &at.probabilities });
                });
            }
            Ok((out, width))
        })??;
        PyArray1::from_vec(py, out).reshape([rows.len(), width])
    }

    /// Probabilities (or scores) of one row; with `holes`, NaN is a missing number.
    #[pyo3(signature = (row, scores, holes=false))]
    fn predict_row<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
        scores: bool,
        holes: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        // A copy, which no other thread can change.
        let x = &row.as_slice()?.to_vec();
        let out = self.inner.read(py, |inner| -> Done<Vec<f64>> {
            check_single(x, inner.encoder.columns(), holes)?;
            let list = |at: &Prediction| if scores { at.scores.clone() } else { at.probabilities.clone() };
            Ok(self.predict_checked(inner, Features::Dense(x), false, list))
        })??;
        Ok(PyArray1::from_vec(py, out))
    }

    /// Learns one row; with `holes`, NaN is a missing number.
    #[pyo3(signature = (row, target, weight, holes=false))]
    fn learn_row<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
        target: PyTarget<'py>,
        weight: f64,
        holes: bool,
    ) -> PyResult<()> {
        let x = &row.as_slice()?.to_vec();
        let target = target.borrow()?;
        Ok(self.inner.write(py, |inner| -> Done<()> {
            check_single(x, inner.encoder.columns(), holes)?;
            inner.check_targets(target.list(), 1, Some(&[weight]))?;
            match target.list().target(0) {
                Some(target) => self.learn_checked(inner, Features::Dense(x), target.weighted(weight)),
                None => Ok(()),
            }
        })??)
    }

    /// Predicts, scores and learns rows in order.
    #[pyo3(signature = (rows, targets, weights=None, *, look_ahead=true, seed=0, keep=false, frozen=false, threads=1, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        targets: PyTargets<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        look_ahead: bool,
        seed: u64,
        keep: bool,
        frozen: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        let (rows, targets) = (rows.borrow()?, targets.borrow()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let record = self.inner.work(py, |inner| -> Done<Record> {
            rows.check(inner.encoder.columns())?;
            inner.check_targets(targets, rows.len(), weights)?;
            self.put_spare(None);
            inner.state += 1;
            let forecast = inner.learner.about().forecast;
            let options = RunOptions { look_ahead, ..RunOptions::new(forecast, seed) };
            with_threads(threads, progress, |workers, signals| {
                let mut record = Record::new(forecast, keep, rows.len());
                let Inner { learner, encoder, facts, .. } = inner;
                let (kept, room) = (Kept::default(), None);
                let mut examples =
                    ArrayExamples { rows, targets, weights, encoder, frozen, room, kept, at: 0, signals };
                learner.set_workers(workers);
                let ran = run(&mut examples, learner.as_mut(), &mut record.rounds, &options);
                learner.set_workers(Workers::none());
                let score = ran?;
                facts.extend(&score.facts);
                record.score = Some(score);
                examples.signals.into_result()?;
                Ok(record)
            })
        })??;
        record.into_python(py)
    }

    /// Fits to all rows so far what was fitted to a part of them.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.work(py, |inner| {
            self.put_spare(None);
            inner.state += 1;
            if let Some(fitted) = inner.learner.settling() {
                fitted.settle();
            }
        })
    }

    /// Announces that it is settled after so many more rounds.
    fn settle_after(&self, py: Python<'_>, rounds: u64) -> PyResult<()> {
        self.inner.work(py, |inner| {
            self.put_spare(None);
            if let Some(fitted) = inner.learner.settling() {
                fitted.settle_after(rounds);
            }
        })
    }

    /// Sets the scaling statistics before the first row, as computed by [`survey`].
    fn set_scaling(&self, py: Python<'_>, rows: u64, first: Vec<f64>, second: Vec<f64>) -> PyResult<()> {
        self.inner.write(py, |inner| {
            inner.encoder.scaler_mut().set_statistics(rows, first, second);
        })
    }

    /// For each column what stands for a missing number.
    fn stand_ins(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.inner.read(py, |inner| {
            let stand_in = |column| match inner.encoder.fills_missing() {
                true => inner.encoder.scaler().stand_in(column),
                false => 0.0,
            };
            (0..inner.encoder.columns()).map(stand_in).collect()
        })
    }

    /// Whether a feature may begin that says that the number of a column is missing.
    fn lacks(&self, py: Python<'_>, column: u32) -> PyResult<bool> {
        self.inner.read(py, |inner| inner.encoder.lacks(column))
    }

    /// The data-dependent bound on the regret so far.
    fn certificate(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner.read(py, |inner| {
            let name = inner.learner.about().name;
            match inner.facts.certificate(&inner.learner) {
                Some(Ok(certificate)) => Ok(certificate),
                Some(Err(why)) => Err(Failure::Value(format!("the certificate of {name} is void: {why}"))),
                None => Err(Failure::Value(format!("{name} keeps no certificate"))),
            }
        })??)
    }

    /// The theorem's bound on the regret so far.
    fn regret_bound(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner.read(py, |inner| {
            let about = inner.learner.about();
            let none = |why: Void| Failure::Value(format!("{} has no bound: {why}", about.name));
            let Some(guarantee) = inner.facts.guarantee(&inner.learner) else {
                return Err(none(about.guarantee.into()));
            };
            let mistakes = || Void::from("its theorem is about mistakes, and depends on the comparator");
            guarantee.regret_bound().ok_or_else(mistakes).flatten().map_err(none)
        })??)
    }

    /// The state for pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.inner.read(py, |inner| inner.learner.about().name)
    }

    #[getter]
    fn classes(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.read(py, |inner| inner.learner.problem().classes)
    }

    #[getter]
    fn features(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.read(py, |inner| inner.encoder.columns())
    }

    #[getter]
    fn rounds(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.read(py, |inner| inner.learner.rounds())
    }

    #[getter]
    fn large_rows(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.read(py, |inner| inner.encoder.large_rows())
    }

    #[getter]
    fn clipped_rows(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.read(py, |inner| inner.encoder.scaler().clipped())
    }

    #[getter]
    fn radius(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.inner.read(py, |inner| inner.learner.problem().radius)
    }

    #[getter]
    fn scale(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.inner.read(py, |inner| inner.encoder.scaler().scaling().name())
    }

    #[getter]
    fn intercept(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.read(py, |inner| inner.encoder.has_intercept())
    }

    /// The classes as they were given, by their texts; none if the data stated no type.
    #[getter]
    fn given(&self, py: Python<'_>) -> PyResult<Vec<(String, Name)>> {
        self.inner.read(py, |inner| label::given(inner.encoder.labels()))
    }

    /// States the types of classes that came as these texts, for the model file.
    fn state(&self, py: Python<'_>, given: Vec<(String, Name)>) -> PyResult<()> {
        self.inner.write(py, |inner| label::state(inner.encoder.labels_mut(), &given))
    }

    /// The names of the columns of the first table, for a learner that knows columns by their places.
    #[getter]
    fn places(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        self.inner.read(py, |inner| inner.places.clone())
    }

    /// States them, for the model file.
    fn place(&self, py: Python<'_>, places: Option<Vec<String>>) -> PyResult<()> {
        self.inner.write(py, |inner| inner.places = places)
    }

    /// The weights of classes.
    #[getter]
    fn class_weights(&self, py: Python<'_>) -> PyResult<BTreeMap<String, f64>> {
        self.inner.read(py, |inner| inner.encoder.class_weights().clone().into())
    }

    /// States them, for the model file.
    fn weigh(&self, py: Python<'_>, weights: BTreeMap<String, f64>) -> PyResult<()> {
        let weights = ClassWeights::try_from(weights).map_err(Failure::from)?;
        self.inner.write(py, |inner| inner.encoder.set_class_weights(weights))
    }

    #[getter]
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| inner.encoder.labels().iter().map(str::to_owned).collect())
    }

    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| {
            let columns = inner.encoder.columns() as u32;
            (0..columns).map(|column| inner.schema.columns.name(column).into_owned()).collect()
        })
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::to_python(py, &self.inner.read(py, |inner| inner.learner.values())?)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.inner
            .read(py, |inner| inner.learner.inside().map(Inside::weights).unwrap_or_default())?
            .into_py_dict(py)
    }

    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.inner
            .read(py, |inner| inner.learner.inside().map(Inside::figures).unwrap_or_default())?
            .into_py_dict(py)
    }

    #[getter]
    fn forecast(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.inner.read(py, |inner| forecast_name(inner.learner.about().forecast))
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let numbers = self.inner.write(py, |inner| {
            let count = |slot: &Slot<'_>| match slot {
                Slot::Real { data, .. } | Slot::Symmetric { data, .. } => data.len(),
                Slot::Diagonal { data, .. } | Slot::Grown { data, .. } => data.len(),
                Slot::List(data) => data.len(),
                Slot::Listed(data) => data.list().len(),
                Slot::Singles(data) => data.len().div_ceil(2),
                Slot::Words(data) => data.len().div_ceil(2),
                Slot::Count(data) => data.len(),
            };
            inner.learner.tensors().iter().map(|tensor| count(&tensor.slot)).sum::<usize>()
        })?;
        Ok(size_of::<Self>() + 8 * numbers)
    }
}

/// How a merged learner counts the regulariser.
pub(crate) fn how_of(how: &str) -> Done<Merge> {
    how.parse().map_err(|_| ParamError::invalid("how", how, "sum-all or lambda-once").into())
}

impl Learner {
    /// The content of a model file.
    pub(crate) fn archive(&self, py: Python<'_>) -> PyResult<Archive> {
        self.inner.write(py, Inner::archive)
    }
}

impl Inner {
    pub(crate) fn check_targets(
        &self,
        targets: Targets<'_>,
        rows: usize,
        weights: Option<&[f64]>,
    ) -> Done<()> {
        let accepts = self.learner.about().accepts;
        targets.check(rows, self.learner.problem().classes, accepts)?;
        check_weights(weights, rows, accepts)
    }
}
