//! Tables, and learners made for given data, as in the command line.
//!
//! The cells of a table are handed over to the command line's columns, so that those of a DataFrame become
//! the same features as those of a file.

use noregret::example::Features;
use noregret::learner::{Classes, Feedback};
use noregret::open_classes::FEWEST;
use noregret::parallel::Workers;
use noregret::param::{ParamError, Values};
use noregret::registry;
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::{BadRows, Examples, ReadExamples};
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::encode::survey::{Survey, SurveyError, SurveyOptions};
use noregret_stream::run::{RunOptions, run};
use noregret_stream::save::{PREDICTED_TOGETHER, Saved};
use noregret_stream::setup::{Asked as ToMake, Facts, Norm, leaves_rows};
use noregret_stream::{LabelType, Missing, ReadError, ReadOptions, Reader, Row, RowLabel, Schema};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::holes::Marking;
use super::{Inner, Learner};
use crate::arrays::{ArrayReader, PyRows, PyTargets, check_weights};
use crate::catalogue::forecasts_numbers;
use crate::error::{Done, Failure};
use crate::making::scaling;
use crate::record::{Ran, Record};
use crate::signals::{Signals, with_threads};
use crate::table::{NAME, Remarks, Table, remarks};
use crate::values;

/// The roles of columns, and what counts as missing, named as in the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    label: Option<String>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    text: Vec<String>,
    time: Vec<String>,
    drop: Vec<String>,
    missing: Vec<String>,
    not_missing: Vec<String>,
}

impl Reading {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            label: self.label.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            text: self.text.clone(),
            time: self.time.clone(),
            drop: self.drop.clone(),
            missing: Missing { words: self.missing.clone(), values: self.not_missing.clone() },
            ..ReadOptions::default()
        }
    }
}

/// Settings of a learner that is made for given data.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    name: String,
    classes: Option<usize>,
    labels: Option<Vec<String>>,
    radius: Option<f64>,
    horizon: Option<u64>,
    seed: u64,
    scale: Option<String>,
    intercept: bool,
    memory: usize,
    /// Whether these rows determine the learner.
    ahead: bool,
    /// Whether it learns from the reward of the played label.
    bandit: bool,
}

impl Asked {
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// How the first table is read. Given labels are classes, whatever they are called.
    pub(crate) fn reading(&self, reading: &Reading) -> ReadOptions {
        let word = |label: &&String| Missing::default().is_label(label);
        ReadOptions {
            classes: self.labels.iter().flatten().filter(word).cloned().collect(),
            ..reading.options()
        }
    }

    /// Largest size of the learner's state.
    fn bytes(&self) -> usize {
        self.memory.saturating_mul(1 << 20)
    }
}

/// Checks the learner's name and parameters.
#[pyfunction]
pub(crate) fn check(name: &str, params: &Bound<'_, PyDict>) -> PyResult<()> {
    let params = values::from_python(params)?;
    let check = || -> Done<()> { Ok(registry::find(name)?.check_values(&params)?) };
    Ok(check()?)
}

/// A learner for the rows of an array. Labels are indices into `names`.
#[pyfunction]
pub(crate) fn learner_for_array<'py>(
    py: Python<'py>,
    asked: Asked,
    params: &Bound<'py, PyDict>,
    rows: PyRows<'py>,
    targets: PyTargets<'py>,
    names: Vec<String>,
) -> PyResult<Learner> {
    let params = values::from_python(params)?;
    let (rows, targets) = (rows.borrow()?, targets.borrow()?);
    let make = || {
        rows.check(rows.width())?;
        targets.check_length(rows.len())?;
        let memory = asked.bytes();
        Learner::of_saved(made(asked, &params, &mut ArrayReader::new(rows, targets, &names))?, memory)
    };
    Ok(py.detach(make)?)
}

/// A learner for the rows of a table, and remarks on its columns. With `open`, later tables may bring others.
#[pyfunction]
#[pyo3(signature = (asked, params, table, reading, *, open=false))]
pub(crate) fn learner_for_table(
    py: Python<'_>,
    asked: Asked,
    params: &Bound<'_, PyDict>,
    table: &Table,
    reading: Reading,
    open: bool,
) -> PyResult<(Learner, Vec<String>)> {
    let params = values::from_python(params)?;
    let table = table.clone();
    let make = || -> Done<(Learner, Vec<String>)> {
        // The columns of votes are experts.
        let tells_missing = !registry::find(&asked.name)?.takes_votes();
        let (memory, options) = (asked.bytes(), ReadOptions { tells_missing, ..asked.reading(&reading) });
        let mut reader = table.open(&options)?;
        let Saved { learner, encoder, schema, facts, .. } = made(asked, &params, reader.as_mut())?;
        Ok((Learner::new(learner.full()?, encoder, schema, facts, memory, open), reader.notes()))
    };
    Ok(py.detach(make)?)
}

/// Predicts, scores and learns the rows of a table in order; with `grows`, new labels are added.
/// Returns the rounds, remarks on the columns, and remarks on the cells.
#[pyfunction]
#[pyo3(signature = (learner, table, label, weights=None, *, grows=false, look_ahead=true, seed=0, keep=false, threads=1, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn run_table<'py>(
    py: Python<'py>,
    learner: &Learner,
    table: &Table,
    label: String,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    grows: bool,
    look_ahead: bool,
    seed: u64,
    keep: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Ran<'py>, Vec<String>, Remarks)> {
    let table = table.clone();
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let (ran, notes, odd) = learner.inner.work(py, |inner| -> Done<(Record, Vec<String>, Remarks)> {
        let mut options = inner.reading();
        options.label = Some(label);
        let Seen { rows, names, holes, drops } =
            look(table.open(&options)?.as_mut(), inner.encoder.labels().clone())?;
        check_weights(weights, rows, inner.learner.about().accepts)?;
        learner.take_in(inner, &names, grows)?;
        if inner.open && (drops || inner.has_text()) {
            learner.widen(inner, &table, &options)?;
            options = ReadOptions { label: options.label, ..inner.reading() };
        }
        let marks = match holes {
            true => learner.begin_marks(inner, table.open(&options)?.as_mut())?,
            false => vec![],
        };
        learner.put_spare(None);
        inner.state += 1;
        let forecast = inner.learner.about().forecast;
        let options_of_run = RunOptions { look_ahead, ..RunOptions::new(forecast, seed) };
        with_threads(threads, progress, |workers, signals| {
            let mut record = Record::new(forecast, keep, rows);
            let reader = Box::new(Marking::new(table.open(&options)?, marks));
            let inside = ReadExamples::new(reader, inner.encoder.clone(), NAME, BadRows::Fail);
            let mut examples = TableExamples { inside, weights, at: 0, signals };
            inner.learner.set_workers(workers);
            let ran = run(&mut examples, inner.learner.as_mut(), &mut record.rounds, &options_of_run);
            inner.learner.set_workers(Workers::none());
            inner.encoder = examples.inside.encoder;
            inner.encoder.set_absent(Vec::new());
            let reader = examples.inside.reader.as_ref();
            let (notes, odd) = (reader.notes(), remarks(reader));
            let score = ran?;
            inner.facts.extend(&score.facts);
            record.score = Some(score);
            examples.signals.into_result()?;
            Ok((record, notes, odd))
        })
    })??;
    Ok((ran.into_python(py)?, notes, odd))
}

/// Numbers, how many rows and columns they are, and remarks on cells that do not fit their columns.
type Predicted = (Vec<f64>, [usize; 2], Vec<String>);

/// Probabilities (or scores) of the rows of a table, one row each, and remarks on cells that do not fit their
/// columns.
#[pyfunction]
pub(crate) fn predict_table<'py>(
    py: Python<'py>,
    learner: &Learner,
    table: &Table,
    scores: bool,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
    let table = table.clone();
    let (out, shape, odd) = learner.inner.read(py, |inner| -> Done<Predicted> {
        let reader = table.open(&inner.reading())?;
        let mut examples = ReadExamples::new(reader, inner.encoder.clone(), NAME, BadRows::Fail).frozen();
        let mut at = inner.learner.prediction();
        let width = if scores { at.scores.len() } else { at.probabilities.len() };
        let (mut out, mut rows) = (Vec::new(), 0);
        let mut block: Vec<Example> = Vec::new();
        block.resize_with(PREDICTED_TOGETHER, Example::default);
        loop {
            let mut count = 0;
            while count < block.len() && examples.next(&mut block[count])? {
                count += 1;
            }
            let features: Vec<Features<'_>> = block[..count].iter().map(Example::features).collect();
            inner.learner.predict_batch(&&features[..], &mut at, &mut |_, at| {
                out.extend_from_slice(if scores { &at.scores } else { &at.probabilities });
            });
            rows += count;
            if count < block.len() {
                return Ok((out, [rows, width], remarks(examples.reader.as_ref()).0));
            }
        }
    })??;
    Ok((PyArray1::from_vec(py, out).reshape(shape)?, odd))
}

/// The roles of a table's columns, by name; empty for a learner that was made for arrays.
#[pyfunction]
pub(crate) fn roles(py: Python<'_>, learner: &Learner) -> PyResult<Vec<(String, &'static str)>> {
    learner.inner.read(py, |inner| roles_of(&inner.schema))
}

/// The same of a schema.
pub(crate) fn roles_of(schema: &Schema) -> Vec<(String, &'static str)> {
    let fields = schema.csv.iter().flat_map(|csv| &csv.fields);
    fields.map(|field| (field.name.clone(), field.role.name())).collect()
}

/// The classes named `names`; with `grows`, new ones are added.
#[pyfunction]
pub(crate) fn classes_of(
    py: Python<'_>,
    learner: &Learner,
    names: Vec<String>,
    grows: bool,
) -> PyResult<Vec<i64>> {
    Ok(learner.inner.write(py, |inner| -> Done<Vec<i64>> {
        learner.take_in(inner, &names, grows)?;
        let class = |name: &String| inner.encoder.labels().find(name).map(|label| label.index() as i64);
        Ok(names.iter().map(|name| class(name).expect("taken in above")).collect())
    })??)
}

/// What rows have.
struct Seen {
    rows: usize,
    /// Their labels.
    names: Vec<String>,
    /// Whether a number is missing.
    holes: bool,
    /// Whether there are features that the learner does not have.
    drops: bool,
}

/// Reads all rows. Fails if a row is invalid, or has a label that cannot be one beside `known` and the labels
/// before it; nothing is learnt yet.
fn look(reader: &mut dyn Reader, mut known: Labels) -> Done<Seen> {
    let (mut rows, mut names, mut holes, mut row) = (0, Labels::default(), false, Row::new());
    while reader.read(&mut row)? {
        rows += 1;
        holes |= !row.missing().is_empty();
        if let RowLabel::Name(name) = row.label() {
            if let Some(why) = known.clash(name, row.label_type()) {
                return Err(Failure::Value(format!("row {}: {why}", rows - 1)));
            }
            known.collect(name, row.label_type());
            names.intern(name);
        }
    }
    let drops = reader.dropped_features() > 0;
    Ok(Seen { rows, names: names.sorted().iter().map(str::to_owned).collect(), holes, drops })
}

/// A learner for the rows of `reader`, after a first pass over them, as in the command line.
pub(crate) fn made(asked: Asked, params: &Values, reader: &mut dyn Reader) -> Done<Saved> {
    let entry = registry::find(&asked.name)?;
    entry.check_values(params)?;
    let (accepts, memory) = (entry.about.accepts, asked.bytes());
    let scale = asked.scale.as_deref().map(scaling).transpose()?;
    let as_they_are = leaves_rows(entry, params)?;
    let survey = Survey::take(
        reader,
        &SurveyOptions {
            name: NAME,
            scaling: scale.or(as_they_are.then_some(Scaling::None)),
            classes: accepts.classes,
            features: None,
            bad_rows: BadRows::Fail,
        },
    );
    let survey = survey.map_err(|error| match error {
        SurveyError::LabelsHardlyRepeat(..) => Failure::Value(format!("y: {error}; {}", forecasts_numbers())),
        error => Failure::Value(error.to_string()),
    })?;
    // A bandit may learn which label is best without any context.
    if survey.rows == 0 || (survey.columns == 0 && !(asked.bandit && asked.intercept)) {
        return Err(Failure::Value("there are no rows with columns to learn from".to_owned()));
    }
    let labels = match (accepts.classes, asked.labels) {
        (Classes::Real, _) => Labels::default(),
        (_, None) => survey.labels.clone(),
        (_, Some(names)) => {
            let names = Labels::try_from(names).map_err(|what| Failure::Value(format!("labels: {what}")))?;
            survey.labels.iter().try_for_each(|name| known(&names, name))?;
            names
        }
    };
    let classes = match accepts.classes {
        Classes::Real => 1,
        _ if asked.ahead => asked.classes.unwrap_or(labels.len().max(FEWEST)),
        _ => asked.classes.unwrap_or(labels.len()),
    };
    if classes < labels.len() {
        let need = format!("at least the {} of the data", labels.len());
        return Err(ParamError::invalid("classes", classes, need).into());
    }
    if accepts.classes != Classes::Real && classes < 2 {
        let only = labels.iter().next().unwrap_or_default();
        return Err(Failure::Value(format!(
            "every label is {only:?}; at least 2 classes were needed (or classes=K)"
        )));
    }
    let facts = Facts::of_survey(&survey, classes, reader.schema());
    let facts = Facts {
        labels,
        // Rows that are to come are known by their scaling alone.
        norm: if asked.ahead { Norm::OfScaling } else { facts.norm },
        rows: facts.rows.filter(|_| !asked.ahead),
        intercept: asked.intercept,
        ..facts
    };
    let to_make = ToMake {
        params: params.clone(),
        seed: asked.seed,
        feedback: Some(if asked.bandit { Feedback::Bandit } else { Feedback::Full }),
        scaling: scale,
        radius: asked.radius,
        horizon: asked.horizon,
        memory,
        ..ToMake::default()
    };
    Ok(facts.make(entry, &to_make)?)
}

/// Rejects a label that is not in `labels`.
fn known(labels: &Labels, name: &str) -> Done<()> {
    if labels.find(name).is_some() {
        return Ok(());
    }
    let first: Vec<&str> = labels.iter().take(10).collect();
    Err(Failure::Value(format!(
        "the label {name:?} is none of the {} known classes: {}",
        labels.len(),
        first.join(", ")
    )))
}

impl Inner {
    /// The schema of later tables, from the first one.
    pub(super) fn reading(&self) -> ReadOptions {
        ReadOptions {
            room: u32::try_from(self.encoder.columns()).unwrap_or(u32::MAX),
            schema: Some(self.schema.clone()),
            ..ReadOptions::default()
        }
    }
}

impl Learner {
    /// Adds the new labels of `names`, if there is room for them, or the learner may grow and can.
    fn take_in(&self, inner: &mut Inner, names: &[String], grows: bool) -> Done<()> {
        if inner.encoder.classes() == 0 {
            return Ok(());
        }
        let (labels, room) = (inner.encoder.labels(), inner.learner.problem().classes);
        let mut new = Labels::default();
        for name in names {
            if name.is_empty() {
                return Err(Failure::Value("a label is missing, or is not finite".to_owned()));
            }
            let why = labels.clash(name, LabelType::Unstated);
            if let Some(why) = why.or_else(|| new.clash(name, LabelType::Unstated)) {
                return Err(Failure::Value(why));
            }
            if labels.find(name).is_none() {
                if !grows && labels.len() + new.len() >= room {
                    known(labels, name)?;
                }
                new.intern(name);
            }
        }
        let classes = labels.len() + new.len();
        if classes > room {
            let columns = inner.encoder.columns();
            self.make_room(inner, classes, columns)?;
        }
        new.iter().for_each(|name| {
            inner.encoder.labels_mut().intern(name);
        });
        Ok(())
    }
}

/// The schema that `table_schema` gives as JSON.
pub(crate) fn parsed(schema: &str) -> Done<Schema> {
    serde_json::from_str(schema).map_err(|error| Failure::Value(format!("schema: {error}")))
}

/// The rows of a table as a source of examples.
struct TableExamples<'a> {
    inside: ReadExamples,
    weights: Option<&'a [f64]>,
    at: usize,
    /// The row at which to stop.
    signals: Signals,
}

impl Examples for TableExamples<'_> {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        if self.signals.end() || !self.inside.next(out)? {
            return Ok(false);
        }
        if let Some(weights) = self.weights {
            out.set_weight(weights[self.at]);
        }
        self.at += 1;
        Ok(true)
    }
}
