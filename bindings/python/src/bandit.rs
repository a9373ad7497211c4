//! A learner with bandit feedback, as Python holds it: decisions out, right or wrong back, in any order.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use noregret::algorithm::{AnyModel, BanditModel};
use noregret::guarantee::RunFacts;
use noregret::model::{Archive, ModelError};
use noregret::param::ParamError;
use noregret::prediction::Decision;
use noregret::registry;
use noregret_stream::decisions::log::Start;
use noregret_stream::decisions::pending::{Decisions, Verdict};
use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Limits, ReplayError, Replayed, replay};
use noregret_stream::encode::examples::Raw;
use noregret_stream::encode::{Encoder, Example, LargeRow};
use noregret_stream::run::bandit::{Play, run_bandit_as};
use noregret_stream::run::delay::Lateness;
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::save::Saved;
use noregret_stream::save::file as model_file;
use noregret_stream::{Row, Schema};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::arrays::{ArrayExamples, PyRows, PyTargets, check_one};
use crate::error::{Done, Failure, text_of};
use crate::log::Log;
use crate::making::{Facts, array_schema, scaling};
use crate::record::{Ran, Record};
use crate::shared::Shared;
use crate::signals::Signals;
use crate::values;

/// The text of a model file that says how decisions go on.
const GOING_ON: &str = "going_on";

/// A learner of bandit feedback: whether the label that it played was right.
#[pyclass(frozen, module = "noregret._core")]
pub(crate) struct Bandit {
    inner: Shared<Inner>,
}

struct Inner {
    learner: Box<dyn BanditModel>,
    pub(crate) encoder: Encoder,
    pub(crate) schema: Schema,
    pub(crate) play: Play,
    /// Decisions that wait for their feedback.
    pending: Decisions,
    continuation: Continuation,
    /// The seed that the learner was made with, as long as nothing else has happened to it.
    pub(crate) fresh: Option<u64>,
    /// Where decisions are written down. Never locked: compressors cannot be looked at from two threads.
    log: Mutex<Option<Log>>,
    row: Row,
    example: Example,
}

/// How decisions go on; the generator has a place of its own in model files.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Continuation {
    /// The id of the next decision.
    next: u64,
    /// Most decisions that wait.
    most: usize,
    /// See [`Play::floor`].
    floor: f64,
}

/// How many decisions may wait unless something else is said.
const MOST_WAITING: usize = 1_000_000;

impl Inner {
    fn new(learner: Box<dyn BanditModel>, encoder: Encoder, schema: Schema, play: Play, most: usize) -> Self {
        let most = most.max(1);
        Self {
            learner,
            encoder,
            schema,
            continuation: Continuation { next: 0, most, floor: play.floor },
            play,
            pending: Decisions::new(most),
            fresh: None,
            log: Mutex::new(None),
            row: Row::new(),
            example: Example::default(),
        }
    }
}

/// A copy writes no log.
impl Clone for Inner {
    fn clone(&self) -> Self {
        Self {
            learner: self.learner.boxed_clone(),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            play: self.play.clone(),
            pending: self.pending.clone(),
            continuation: self.continuation,
            fresh: self.fresh,
            log: Mutex::new(None),
            row: Row::new(),
            example: Example::default(),
        }
    }
}

impl Inner {
    pub(crate) fn archive(&self) -> Archive {
        let mut saved = Saved {
            learner: AnyModel::Bandit(self.learner.boxed_clone()),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            generator: Some(self.play.generator.clone()),
            facts: RunFacts::default(),
        };
        let mut archive = saved.archive();
        self.pending.save(&mut archive);
        archive.set_text(GOING_ON, serde_json::to_string(&self.continuation).expect("plain numbers"));
        archive
    }

    /// What a file holds. One that the command line wrote has nothing that waits.
    fn from_archive(archive: &Archive) -> Done<Self> {
        let Saved { learner, encoder, schema, generator, .. } = Saved::from_archive(archive)?;
        let learner = learner.bandit()?;
        let continuation = match archive.text(GOING_ON) {
            None => Continuation { next: 0, most: MOST_WAITING, floor: 0.0 },
            Some(_) => archive.json::<Continuation>(GOING_ON)?,
        };
        if !(0.0..=1.0).contains(&continuation.floor) || continuation.most == 0 {
            return Err(ModelError::Damaged(format!("its '{GOING_ON}' cannot be")).into());
        }
        let mut play = Play { floor: continuation.floor, ..Play::new(0) };
        if let Some(generator) = generator {
            play.generator = generator;
        }
        let pending = Decisions::load(archive, learner.problem(), continuation.most)?;
        Ok(Self { pending, continuation, ..Self::new(learner, encoder, schema, play, continuation.most) })
    }

    /// The learner as a log leaves it, which goes on from `model` if there is one.
    fn replayed(replayed: Replayed, model: Option<&Archive>, most: usize) -> Done<Self> {
        let Replayed {
            saved: Saved { learner, encoder, schema, generator, .. },
            pending,
            last_id,
            floor,
            ..
        } = replayed;
        let mut play = Play { floor, ..Play::new(0) };
        if let Some(generator) = generator {
            play.generator = generator;
        }
        // As after loading: what to do with large rows was the wish of one run.
        let encoder = Encoder { large_row: LargeRow::default(), ..encoder };
        let mut inner = Self::new(learner.bandit()?, encoder, schema, play, most);
        let before = model.and_then(|model| model.json::<Continuation>(GOING_ON).ok());
        let next = last_id.map_or(0, |last| last.saturating_add(1));
        inner.continuation.next = before.map_or(next, |before| before.next.max(next));
        inner.pending = pending;
        Ok(inner)
    }

    /// Forgets what waits longest if there is no room for one more.
    fn make_room(&mut self) -> Done<()> {
        if self.pending.waiting() < self.continuation.most {
            return Ok(());
        }
        let oldest = self.pending.ids().next().map(str::to_owned);
        oldest.map_or(Ok(()), |id| self.hear(&id, Verdict::Never).map(drop))
    }

    /// Learns the feedback of a decision. Returns whether it waited.
    fn hear(&mut self, id: &str, verdict: Verdict) -> Done<bool> {
        if !self.pending.contains(id) {
            return Ok(false);
        }
        verdict.check(self.learner.as_ref()).map_err(|error| Failure::Value(error.to_string()))?;
        if let Some(log) = self.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
            log.heard(id, verdict)?;
        }
        self.pending.hear(self.learner.as_mut(), id, verdict).expect("it waits");
        Ok(true)
    }
}

#[pymethods]
impl Bandit {
    #[new]
    #[pyo3(signature = (name, classes, features, params, *, radius=None, horizon=None, seed=0, sparse=false, scale="none", intercept=false, labels=None, memory=8192, most_waiting=1_000_000, exploration_floor=0.0))]
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
        exploration_floor: f64,
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
            let most = 1.0 / learner.problem().classes as f64;
            if !(0.0..=most).contains(&exploration_floor) {
                let need = format!("from 0 to {most:.6}, one over the number of classes");
                return Err(ParamError::invalid("exploration_floor", exploration_floor, need).into());
            }
            let play = Play { floor: exploration_floor, ..Play::new(seed) };
            let inner = Inner::new(learner, encoder, array_schema(features), play, most_waiting);
            Ok(Self { inner: Shared::new(Inner { fresh: Some(seed), ..inner }) })
        };
        Ok(make()?)
    }

    /// The learner, and the decisions that wait, in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let archive = Archive::from_bytes(bytes).map_err(Failure::from)?;
        Ok(Self { inner: Shared::new(Inner::from_archive(&archive)?) })
    }

    /// The learner, and the decisions that wait, in a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| -> Done<Inner> { Inner::from_archive(&model_file::read(&path)?) })?;
        Ok(Self { inner: Shared::new(inner) })
    }

    /// The learner, and the decisions that wait, after a decision log, which goes on from `model` if it says
    /// so.
    #[staticmethod]
    fn replay(
        py: Python<'_>,
        log: PathBuf,
        model: Option<PathBuf>,
        most_waiting: usize,
        memory: usize,
    ) -> PyResult<Self> {
        let inner = py.detach(|| -> Done<Inner> {
            let model = model.as_deref().map(model_file::read).transpose()?;
            let limits = Limits { waiting: most_waiting, bytes: memory.saturating_mul(1 << 20) };
            let path = text_of(&log)?;
            let replayed = LogReader::open(path)
                .map_err(ReplayError::from)
                .and_then(|reader| replay(reader, model.as_ref(), limits))
                .map_err(|error| Failure::of_replay(path, error))?;
            Inner::replayed(replayed, model.as_ref(), most_waiting)
        })?;
        Ok(Self { inner: Shared::new(inner) })
    }

    /// Begins a log of all decisions and their feedback.
    fn begin_log(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(self.inner.write(py, |inner| -> Done<()> {
            if let Some(log) = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                return Err(Failure::Value(format!(
                    "decisions are written to {} already; close that log first",
                    log.path().display()
                )));
            }
            let learner = AnyModel::Bandit(inner.learner.boxed_clone());
            // If something has been decided before, the log goes on from the model as it stands, which is for
            // whoever wants to replay it to save.
            let continues = inner.fresh.is_none().then(|| inner.archive().digest());
            let start = Start {
                learner: &learner,
                seed: inner.fresh.unwrap_or(0),
                continues,
                play: &inner.play,
                encoder: &inner.encoder,
                schema: inner.schema.clone(),
            };
            inner.log = Mutex::new(Some(Log::begin(path, &start)?));
            Ok(())
        })??)
    }

    /// Completes the log, if there is one.
    fn end_log(&self, py: Python<'_>) -> PyResult<()> {
        Ok(self.inner.write(py, |inner| {
            let log = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            log.map_or(Ok(()), Log::finish)
        })??)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner.read(py, |inner| inner.archive().to_bytes())?))
    }

    /// Writes a model file, which is replaced at once or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(self.inner.read(py, |inner| -> Done<()> { Ok(model_file::write(&inner.archive(), &path)?) })??)
    }

    /// A copy that goes its own way.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { inner: Shared::new(self.inner.read(py, Inner::clone)?) })
    }

    /// Plays a label for one row: the label, its name if that is not its number, its probability, and the
    /// decision's id.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(u32, Option<String>, f64, u64)> {
        let x = row.as_slice()?;
        Ok(self.inner.write(py, |inner| -> Done<(u32, Option<String>, f64, u64)> {
            check_one(x, inner.encoder.columns)?;
            let Inner { learner, encoder, play, row, example, .. } = inner;
            // By way of a row, since that is what a log holds and a replay encodes.
            row.clear();
            (0u32..).zip(x).for_each(|(column, value)| row.push(column, *value));
            encoder.encode(row, example)?;
            let mut decision = Decision::default();
            learner.predict(example.features(), &mut decision);
            if !decision.scores.iter().all(|score| score.is_finite()) {
                return Err(RunError::NotFinite(learner.rounds() + 1).into());
            }
            play.draw(learner.as_ref(), &mut decision);
            inner.fresh = None;
            inner.make_room()?;
            let Inner { encoder, schema, pending, continuation, log, row, example, .. } = inner;
            let id = continuation.next;
            if let Some(log) = log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                log.decided(id, Raw { row, columns: &schema.columns, labels: &encoder.labels }, &decision)?;
            }
            continuation.next += 1;
            pending.keep(&id.to_string(), example, &decision).map_err(|error| error.to_string())?;
            let name = encoder.labels.name(noregret::Label(decision.label)).to_string();
            let name = Some(name).filter(|name| *name != decision.label.to_string());
            Ok((decision.label, name, decision.probability, id))
        })??)
    }

    /// Learns what the label of decision `id` earned, in [0, 1].
    fn feedback(&self, py: Python<'_>, id: &str, reward: f64) -> PyResult<()> {
        self.hear(py, id, Verdict::of_log(Some(reward)).map_err(Failure::Value)?)
    }

    /// A warning to show before labels are played, if there is a reason for one.
    fn warning(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.inner.read(py, |inner| noregret_stream::run::bandit::warning(inner.learner.as_ref()))
    }

    /// Forgets decision `id`: nobody will ever say.
    fn forget(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.hear(py, id, Verdict::Never)
    }

    /// The distributions that labels of rows would be drawn from (or the scores), one row each.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        scores: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.borrow()?;
        let (out, width) = self.inner.read(py, |inner| -> Done<(Vec<f64>, usize)> {
            rows.check(inner.encoder.columns)?;
            let (mut decision, mut example) = (Decision::default(), Example::default());
            let width = inner.learner.problem().classes;
            let mut out = Vec::with_capacity(rows.len() * width);
            for row in 0..rows.len() {
                inner.encoder.transform(rows.row(row), &mut example).expect("rows are checked before");
                inner.learner.predict(example.features(), &mut decision);
                inner.play.mix(&mut decision.distribution);
                out.extend_from_slice(if scores { &decision.scores } else { &decision.distribution });
            }
            Ok((out, width))
        })??;
        PyArray1::from_vec(py, out).reshape([rows.len(), width])
    }

    /// Plays labelled rows in order, and reveals no more than right or wrong.
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
        let record = self.inner.work(py, |inner| -> Done<Record> {
            let (about, classes) = (inner.learner.about(), inner.learner.problem().classes);
            if let Some(log) = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                return Err(Failure::Value(format!(
                    "decisions are written to {}, and a simulation is none: run a copy, or close the log first",
                    log.path().display()
                )));
            }
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
            inner.fresh = None;
            let mut play = Play { floor: inner.play.floor, ..Play::new(seed) };
            let Inner { learner, encoder, .. } = inner;
            let (weights, signals) = (None, Signals::new());
            let mut examples =
                ArrayExamples { rows, targets, weights, encoder, frozen: false, at: 0, signals };
            let (learner, sink) = (learner.as_mut(), &mut record.rounds);
            let ran = run_bandit_as(&mut examples, learner, sink, &options, &mut play, None);
            examples.signals.into_result()?;
            record.score = Some(ran?);
            Ok(record)
        })??;
        record.into_python(py)
    }

    /// What pickle needs.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| inner.pending.ids().map(str::to_owned).collect())
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
        self.inner.read(py, |inner| inner.encoder.columns)
    }

    #[getter]
    fn rounds(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.read(py, |inner| inner.learner.rounds())
    }

    #[getter]
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| inner.encoder.labels.iter().map(str::to_owned).collect())
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::to_python(py, &self.inner.read(py, |inner| inner.learner.values())?)
    }
}

impl Bandit {
    fn hear(&self, py: Python<'_>, id: &str, verdict: Verdict) -> PyResult<()> {
        if self.inner.write(py, |inner| inner.hear(id, verdict))?? {
            return Ok(());
        }
        Err(PyKeyError::new_err(format!(
            "no decision {id} waits for feedback: it was never taken, is answered already, or was forgotten"
        )))
    }

    /// What a model file would hold.
    pub(crate) fn archive(&self, py: Python<'_>) -> PyResult<Archive> {
        self.inner.read(py, Inner::archive)
    }
}
