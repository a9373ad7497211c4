//! The Python class of bandit learners: decisions, and feedback in any order.

pub(crate) mod logged;
mod state;
pub(crate) mod text;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use noregret::algorithm::BanditModel;
use noregret::example::Features;
use noregret::learner::Feedback;
use noregret::model::Archive;
use noregret::param::ParamError;
use noregret::prediction::Decision;
use noregret::registry;
use noregret_stream::Row;
use noregret_stream::decisions::pending::Verdict;
use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Limits, ReplayError, replay};
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::Raw;
use noregret_stream::encode::survey::suitable;
use noregret_stream::run::bandit::{Play, run_bandit};
use noregret_stream::run::{RunError, RunOptions};
use noregret_stream::save::Saved;
use noregret_stream::save::file as model_file;
use noregret_stream::setup::{Asked, Facts};
use noregret_stream::{Columns, Costs};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::logged::LoggedRounds;
use self::state::Inner;
use crate::arrays::{ArrayExamples, Kept, PyRows, PyTargets, look_at};
use crate::error::{Done, Failure, text_of};
use crate::label::{self, Name};
use crate::learner::how_of;
use crate::learner::table::roles_of;
use crate::log::Log;
use crate::making::{asked, called, scaling};
use crate::offered::{PyCosts, PyRound, Round, block};
use crate::record::{Ran, Record};
use crate::shared::Shared;
use crate::signals::Signals;
use crate::values;

/// A bandit learner.
#[pyclass(frozen, module = "noregret._core")]
pub(crate) struct Bandit {
    inner: Shared<Inner>,
}

#[pymethods]
impl Bandit {
    #[new]
    #[pyo3(signature = (name, classes, features, params, *, radius=None, horizon=None, seed=0, sparse=false, scale="none", intercept=false, labels=None, memory=8192, most_waiting=1_000_000, exploration_floor=0.0, costs=None, block=None))]
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
        costs: Option<PyCosts>,
        block: Option<u32>,
    ) -> PyResult<Self> {
        let params = values::from_python(params)?;
        let memory = memory.saturating_mul(1 << 20);
        let make = || -> Done<Self> {
            let entry = registry::find(name)?;
            let scaling = if scale == "auto" { suitable(features) } else { scaling(scale)? };
            let facts = match block {
                Some(width) => Facts { scaling, ..Facts::of_blocks(classes, width) },
                None => Facts { scaling, intercept, sparse, ..Facts::of_arrays(classes, features) },
            };
            let costs = costs.map_or(Ok(Costs::default()), PyCosts::range)?;
            let asked =
                Asked { params, seed, radius, horizon, costs, memory, ..asked(scaling, Feedback::Bandit) };
            let Saved { learner, encoder, schema, .. } = called(entry, facts, labels)?.make(entry, &asked)?;
            let learner = learner.bandit()?;
            let floor = checked_floor(exploration_floor, learner.problem().classes)?;
            let play = Play { floor, ..Play::new(seed) };
            let inner = Inner::new(learner, encoder, schema, play, most_waiting);
            Ok(Self { inner: Shared::new(Inner { fresh: Some(seed), ..inner }) })
        };
        Ok(make()?)
    }

    /// The learner and the pending decisions, from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let archive = Archive::from_bytes(bytes).map_err(Failure::from)?;
        Ok(Self { inner: Shared::new(Inner::from_archive(&archive)?) })
    }

    /// The learner and the pending decisions, from a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| -> Done<Inner> { Inner::from_archive(&model_file::read(&path)?) })?;
        Ok(Self { inner: Shared::new(inner) })
    }

    /// The learner and the pending decisions of a decision log, which may start from `model`.
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

    /// Opens a log of all decisions and their feedback.
    fn begin_log(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(self.inner.write(py, |inner| -> Done<()> {
            if let Some(log) = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                return Err(Failure::Value(format!(
                    "decisions are written to {} already; close that log first",
                    log.path().display()
                )));
            }
            let mut log = Log::create(path)?;
            // Until its first row it is not known whether a new bandit has columns by name.
            let waits = inner.fresh.is_some() && matches!(inner.schema.columns, Columns::Numbered { .. });
            if !waits {
                inner.begin(&mut log)?;
            }
            inner.log = Mutex::new(Some(log));
            Ok(())
        })??)
    }

    /// Closes the log, if one is open.
    fn end_log(&self, py: Python<'_>) -> PyResult<()> {
        Ok(self.inner.write(py, |inner| {
            let of_another = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner);
            let of_another = of_another.as_ref().is_some_and(Log::is_of_another);
            let headed = if of_another { Ok(()) } else { inner.head_log() };
            let log = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            headed.and_then(|()| log.map_or(Ok(()), Log::finish))
        })??)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner.write(py, |inner| inner.archive().to_bytes())?))
    }

    /// Atomically writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(self
            .inner
            .write(py, |inner| -> Done<()> { Ok(model_file::write(&inner.archive(), &path)?) })??)
    }

    /// An independent copy.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { inner: Shared::new(self.inner.read(py, Inner::clone)?) })
    }

    /// The learner with the sums of `parts`, none of which has pending decisions.
    #[staticmethod]
    fn merge(py: Python<'_>, parts: Vec<Bound<'_, Bandit>>, how: &str) -> PyResult<Self> {
        let how = how_of(how)?;
        let parts = parts.iter().map(|part| part.get().inner.read(py, Inner::clone));
        let parts = parts.collect::<PyResult<Vec<Inner>>>()?;
        Ok(Self { inner: Shared::new(py.detach(|| Inner::merged(&parts, how))?) })
    }

    /// Plays a label for one row: returns the label, its name unless it is the number, its
    /// probability, and the decision's id.
    fn decide(&self, py: Python<'_>, round: PyRound<'_>) -> PyResult<(u32, Option<String>, f64, u64)> {
        let round = round.borrow()?;
        Ok(self.inner.write(py, |inner| -> Done<(u32, Option<String>, f64, u64)> {
            let Inner { learner, encoder, schema, row, .. } = inner;
            // Converted to a row, as in the log, which a replay encodes.
            round.fill(learner.as_ref(), encoder, schema, row)?;
            inner.head_log()?;
            let Inner { learner, encoder, play, row, example, .. } = inner;
            encoder.encode(row, example)?;
            let mut decision = Decision::default();
            look(learner.as_ref(), example.features(), example.offered(), &mut decision)?;
            play.draw(learner.as_ref(), &mut decision);
            inner.fresh = None;
            inner.make_room()?;
            let Inner { encoder, schema, pending, continuation, log, row, example, .. } = inner;
            let id = continuation.next;
            if let Some(log) = log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                log.decided(id, Raw { row, columns: &schema.columns, labels: encoder.labels() }, &decision)?;
            }
            continuation.next += 1;
            pending.keep(&id.to_string(), example, &decision).map_err(|error| error.to_string())?;
            let name = encoder.labels().name(noregret::Label(decision.label)).to_string();
            let name = Some(name).filter(|name| *name != decision.label.to_string());
            Ok((decision.label, name, decision.probability, id))
        })??)
    }

    /// The distribution of the played label (or the scores) in a round, of the labels on offer in their
    /// order.
    fn look(&self, py: Python<'_>, round: PyRound<'_>, scores: bool) -> PyResult<Vec<f64>> {
        let round = round.borrow()?;
        Ok(self.inner.read(py, |inner| -> Done<Vec<f64>> {
            let Seen { mut decision, wanted, .. } = inner.seen(&round)?;
            inner.play.mix_in(&mut decision);
            // As when a label is played: sums of shares may exceed 1 by a rounding.
            decision.distribution.iter_mut().for_each(|p| *p = p.min(1.0));
            let found = if scores { decision.scores } else { decision.distribution };
            Ok(wanted.iter().map(|label| found[*label as usize]).collect())
        })??)
    }

    /// Learns the reward in [0, 1] of decision `id`.
    fn feedback(&self, py: Python<'_>, id: &str, reward: f64) -> PyResult<()> {
        let verdict = Verdict::of_log(Some(reward)).map_err(|what| {
            Failure::Value(format!(
                "{what}; others are given as cost=, in the range costs=(least, most) of the bandit"
            ))
        })?;
        self.hear(py, id, verdict)
    }

    /// Learns the cost of decision `id`, in the bandit's range.
    fn feedback_cost(&self, py: Python<'_>, id: &str, cost: f64) -> PyResult<()> {
        let costs = self.inner.read(py, |inner| inner.encoder.costs().unwrap_or_default())?;
        self.hear(py, id, Verdict::Earned(costs.reward(cost).map_err(Failure::from)?))?;
        self.inner.write(py, |inner| inner.encoder.count_cost(cost))
    }

    /// A warning to show before labels are played, if any.
    fn warning(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.inner.read(py, |inner| noregret_stream::run::bandit::warning(inner.learner.as_ref()))
    }

    /// Discards decision `id`.
    fn forget(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.hear(py, id, Verdict::Never)
    }

    /// The distributions of played labels (or the scores), one row each.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyRows<'py>,
        scores: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.borrow()?;
        let (out, width) = self.inner.read(py, |inner| -> Done<(Vec<f64>, usize)> {
            rows.check_with_holes(inner.encoder.columns())?;
            let (mut decision, mut example, mut room) = (Decision::default(), Example::default(), Row::new());
            let mut kept = Kept::default();
            let width = inner.learner.problem().classes;
            let mut out = Vec::with_capacity(rows.len() * width);
            for row in 0..rows.len() {
                let x = kept.keep(rows.row(row), inner.encoder.columns(), true)?;
                look_at(&inner.encoder, x, &mut room, &mut example).expect("the row is checked");
                inner.learner.predict(example.features(), &mut decision);
                inner.play.mix(&mut decision.distribution);
                out.extend_from_slice(if scores { &decision.scores } else { &decision.distribution });
            }
            Ok((out, width))
        })??;
        PyArray1::from_vec(py, out).reshape([rows.len(), width])
    }

    /// Plays labelled rows in order, and reveals only right or wrong.
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
            rows.check_with_holes(inner.encoder.columns())?;
            targets.check(rows.len(), classes, about.accepts)?;
            let forecast = about.forecast;
            let options = RunOptions::new(forecast, seed);
            let mut record = Record::new(forecast, keep, rows.len());
            inner.fresh = None;
            let mut play = Play { floor: inner.play.floor, ..Play::new(seed) };
            let Inner { learner, encoder, .. } = inner;
            let (weights, signals, room) = (None, Signals::new(), Some(Row::new()));
            let (kept, frozen) = (Kept::default(), false);
            let mut examples =
                ArrayExamples { rows, targets, weights, encoder, frozen, room, kept, at: 0, signals };
            let (learner, sink) = (learner.as_mut(), &mut record.rounds);
            let ran = run_bandit(&mut examples, learner, sink, &options, &mut play);
            examples.signals.into_result()?;
            record.score = Some(ran?);
            Ok(record)
        })??;
        record.into_python(py)
    }

    /// Learns the rewards of labels that another policy has played, with the probabilities of that policy.
    fn learn(
        &self,
        py: Python<'_>,
        rows: PyRows<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        rewards: PyReadonlyArray1<'_, f64>,
        probabilities: PyReadonlyArray1<'_, f64>,
        offered: Option<Vec<Vec<String>>>,
    ) -> PyResult<()> {
        let rounds = LoggedRounds {
            rows: rows.borrow()?,
            labels: labels.as_slice()?,
            rewards: rewards.as_slice()?,
            probabilities: probabilities.as_slice()?,
            offered: offered.as_deref(),
        };
        Ok(self.inner.work(py, |inner| -> Done<()> {
            if let Some(log) = inner.log.get_mut().unwrap_or_else(PoisonError::into_inner) {
                return Err(Failure::Value(format!(
                    "decisions are written to {}, and these are of another policy: close the log first",
                    log.path().display()
                )));
            }
            let offered = rounds.check(inner)?;
            inner.fresh = None;
            rounds.learn(inner, &offered)
        })??)
    }

    /// The state for pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| inner.pending.ids().map(str::to_owned).collect())
    }

    /// What labels may cost.
    #[getter]
    fn costs(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let [least, most] = self.inner.read(py, |inner| inner.encoder.costs().unwrap_or_default())?.into();
        Ok((least, most))
    }

    /// How many costs outside of that range have counted as the nearest end.
    #[getter]
    fn clipped_costs(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.read(py, |inner| inner.encoder.costs_clipped())
    }

    /// Whether it learns from any reward in [0, 1], not only from right and wrong.
    #[getter]
    fn takes_rewards(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.read(py, |inner| inner.learner.takes_rewards())
    }

    /// Whether the columns have names, by which rows are read.
    #[getter]
    fn named(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.read(py, |inner| matches!(inner.schema.columns, Columns::Named(_)))
    }

    /// The roles of a table's columns, by name; empty for rows of numbers and rows of names.
    #[getter]
    fn roles(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        self.inner.read(py, |inner| roles_of(&inner.schema))
    }

    /// Names of the features in order.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| {
            let columns = &inner.schema.columns;
            (0..columns.count()).map(|column| columns.name(column).into_owned()).collect()
        })
    }

    /// Columns of a block, if labels on offer have features of their own.
    #[getter]
    fn block(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        self.inner.read(py, |inner| block(&inner.schema))
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

    /// The classes as they were given, by their texts; none if the data stated no type.
    #[getter]
    fn given(&self, py: Python<'_>) -> PyResult<Vec<(String, Name)>> {
        self.inner.read(py, |inner| label::given(inner.encoder.labels()))
    }

    /// States the types of classes that came as these texts, for the model file.
    fn state(&self, py: Python<'_>, given: Vec<(String, Name)>) -> PyResult<()> {
        self.inner.write(py, |inner| label::state(inner.encoder.labels_mut(), &given))
    }

    /// The words that count as missing besides the usual ones, and those that do not.
    #[getter]
    fn missing(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        self.inner.read(py, |inner| {
            let missing = inner.schema.missing.clone();
            (missing.words, missing.values)
        })
    }

    /// The names of the columns of the first table, for a bandit that knows columns by their places.
    #[getter]
    fn places(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        self.inner.read(py, |inner| inner.places.clone())
    }

    /// States them, for the model file.
    fn place(&self, py: Python<'_>, places: Option<Vec<String>>) -> PyResult<()> {
        self.inner.write(py, |inner| inner.places = places)
    }

    #[getter]
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.read(py, |inner| inner.encoder.labels().iter().map(str::to_owned).collect())
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::to_python(py, &self.inner.read(py, |inner| inner.learner.values())?)
    }
}

/// The exploration floor, for a bandit of `classes` labels.
fn checked_floor(floor: f64, classes: usize) -> Done<f64> {
    let most = 1.0 / classes as f64;
    if (0.0..=most).contains(&floor) {
        return Ok(floor);
    }
    let need = format!("from 0 to {most:.6}, one over the number of classes");
    Err(ParamError::invalid("exploration_floor", floor, need).into())
}

/// Predicts a row, among the labels on offer; all if that is empty.
fn look(learner: &dyn BanditModel, x: Features<'_>, offered: &[u32], out: &mut Decision) -> Done<()> {
    if offered.is_empty() {
        learner.predict(x, out);
    } else if !learner.predict_among(x, offered, out) {
        return Err(Failure::Value(format!("{} cannot play some of its labels only", learner.about().name)));
    }
    if !out.scores.iter().all(|score| score.is_finite()) {
        return Err(RunError::NotFinite(learner.rounds() + 1).into());
    }
    Ok(())
}

/// A round that is looked at, and not learnt.
struct Seen {
    example: Example,
    decision: Decision,
    /// The numbers of the labels on offer, in their order.
    wanted: Vec<u32>,
    /// The same, ascending; none if all labels are on offer.
    offered: Vec<u32>,
}

impl Inner {
    /// The learner's decision in a round, not yet drawn. Nothing changes.
    fn seen(&self, round: &Round<'_>) -> Done<Seen> {
        let (mut row, mut example, mut decision) = (Row::new(), Example::default(), Decision::default());
        round.fill(self.learner.as_ref(), &self.encoder, &self.schema, &mut row)?;
        let mut wanted = round.example(&self.encoder, &row, &mut example)?;
        let mut offered = wanted.clone();
        offered.sort_unstable();
        if wanted.is_empty() {
            wanted = (0..self.learner.problem().classes as u32).collect();
        }
        look(self.learner.as_ref(), example.features(), &offered, &mut decision)?;
        Ok(Seen { example, decision, wanted, offered })
    }
}

impl Bandit {
    fn hear(&self, py: Python<'_>, id: &str, verdict: Verdict) -> PyResult<()> {
        if self.inner.write(py, |inner| inner.hear(id, verdict))?? {
            return Ok(());
        }
        Err(PyKeyError::new_err(format!(
            "no decision {id} is pending: it was never made, has its feedback already, or was forgotten"
        )))
    }

    /// The content of a model file.
    pub(crate) fn archive(&self, py: Python<'_>) -> PyResult<Archive> {
        self.inner.write(py, Inner::archive)
    }
}
