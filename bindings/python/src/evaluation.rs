//! Off-policy evaluation of logs, and of logged rounds in arrays. Results are returned as JSON, as
//! printed by the command line.

use std::path::PathBuf;

use noregret::model::Archive;
use noregret::param::{ParamError, positive};
use noregret::registry;
use noregret_stream::decisions::foreign::Keys;
use noregret_stream::decisions::logged::Logged;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::evaluate::reward_model::reward_learner;
use noregret_stream::evaluate::{
    Compared, EvaluateOptions, Evaluation, LoggedArrays, MakeLearner, Policy, compare,
};
use noregret_stream::save::Frozen;
use noregret_stream::{Costs, Format, Missing, ReadOptions, Schema};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

use crate::bandit::Bandit;
use crate::error::{Done, Failure, text_of};
use crate::learner::Learner;
use crate::offered::PyCosts;

/// The policy to evaluate, from Python.
#[derive(FromPyObject)]
pub(crate) enum PyPolicy<'py> {
    #[pyo3(transparent)]
    Bandit(Bound<'py, Bandit>),
    #[pyo3(transparent)]
    Learner(Bound<'py, Learner>),
    #[pyo3(transparent)]
    Name(String),
}

/// Evaluates policies on a log (`None` is the distribution in `evaluation`). Returns JSON of the
/// evaluations, and of the differences to the first policy with verdicts.
#[pyfunction]
#[pyo3(signature = (log, policies, *, greedy, clip, confidence, missing_is_wrong, reward_learner, format, on_bad_row, most_waiting, columns, costs, rewards, roles, not_missing, rows))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn evaluate_log(
    py: Python<'_>,
    log: PathBuf,
    policies: Vec<Option<PyPolicy<'_>>>,
    greedy: bool,
    clip: Option<f64>,
    confidence: f64,
    missing_is_wrong: bool,
    reward_learner: Option<&str>,
    format: Option<&str>,
    on_bad_row: &str,
    most_waiting: usize,
    columns: [Option<String>; 4],
    costs: Option<PyCosts>,
    rewards: Option<PyCosts>,
    roles: [Vec<String>; 5],
    not_missing: Vec<String>,
    rows: bool,
) -> PyResult<String> {
    let range = |given: Option<PyCosts>| given.map(PyCosts::parsed).transpose().map_err(Failure::from);
    let (costs, rewards) = (range(costs)?, range(rewards)?);
    let mut named = Vec::with_capacity(policies.len());
    for policy in policies {
        named.push(match policy {
            Some(PyPolicy::Bandit(bandit)) => (None, Some(bandit.get().archive(py)?)),
            Some(PyPolicy::Learner(learner)) => (None, Some(learner.get().archive(py)?)),
            Some(PyPolicy::Name(name)) => (Some(name), None),
            None => (None, None),
        });
    }
    let missing = Missing { words: vec![], values: not_missing };
    let ranges = [costs, rewards];
    let reading = Reading {
        log,
        rows,
        format,
        on_bad_row,
        most_waiting,
        missing_is_wrong,
        columns,
        ranges,
        roles,
        missing,
    };
    let compared = py.detach(|| -> Done<Compared> {
        let policies: Done<Vec<Policy>> =
            (named.iter()).map(|(name, model)| policy_of(name.as_deref(), model.as_ref(), greedy)).collect();
        let options = reading.options(checked(clip, confidence)?)?;
        of_log(&reading, policies?, reward_learner, &options)
    })?;
    let mut value = serde_json::to_value(&compared).expect("plain numbers");
    for (at, difference) in compared.differences.iter().enumerate() {
        value["differences"][at]["verdict"] = difference.verdict(confidence).into();
    }
    Ok(value.to_string())
}

/// What rows in memory are called.
const ROWS: &str = "log";

/// Options for reading a log.
struct Reading<'a> {
    log: PathBuf,
    /// Whether the file is a copy of rows in memory.
    rows: bool,
    format: Option<&'a str>,
    on_bad_row: &'a str,
    most_waiting: usize,
    missing_is_wrong: bool,
    /// The names of label, probability, reward and labels on offer in a log of another program.
    columns: [Option<String>; 4],
    /// The range of costs, if the column of the reward has costs, and that of rewards.
    ranges: [Option<Costs>; 2],
    /// The columns of texts, categories, numbers and times in such a log, and those that are left out.
    roles: [Vec<String>; 5],
    /// Labels that are no missing ones.
    missing: Missing,
}

impl Reading<'_> {
    fn options(&self, (clip, confidence): (Option<f64>, f64)) -> Done<EvaluateOptions> {
        let bad_rows = self.on_bad_row.parse::<BadRows>();
        Ok(EvaluateOptions {
            clip,
            confidence,
            missing_is_wrong: self.missing_is_wrong,
            bad_rows: bad_rows.map_err(|what| Failure::Value(format!("on_bad_row: {what}")))?,
            pending: self.most_waiting.max(1),
        })
    }
}

fn policy_of(name: Option<&str>, model: Option<&Archive>, greedy: bool) -> Done<Policy> {
    match (name, model) {
        (_, Some(model)) => Policy::of_model(Frozen::from_archive(model)?, greedy)
            .map_err(|what| Failure::Value(format!("the policy {what}"))),
        (name, None) if greedy => Err(ParamError::invalid(
            "greedy",
            true,
            format!("false for the policy {}, which is no learner", name.unwrap_or("of the log")),
        )
        .into()),
        (None, None) => Ok(Policy::Given),
        (Some(name), None) => {
            name.parse().map_err(|what| Failure::Value(format!("the policy {name:?} {what}")))
        }
    }
}

fn of_log(
    reading: &Reading<'_>,
    mut policies: Vec<Policy>,
    named: Option<&str>,
    options: &EvaluateOptions,
) -> Done<Compared> {
    let path = text_of(&reading.log)?;
    let format = reading.format.map(str::parse::<Format>).transpose();
    let format = format.map_err(|what| Failure::Value(format!("format: {what}")))?;
    let csv = format.or_else(|| Format::from_file_name(path)) == Some(Format::Csv);
    let keys = Keys::named(reading.columns.each_ref());
    let ranged = reading.ranges.iter().any(Option::is_some);
    let told = reading.roles.iter().any(|names| !names.is_empty());
    let said = csv || ranged || told || !reading.missing.is_default();
    let keys = keys.or_else(|| said.then(Keys::default));
    let [costs, rewards] = reading.ranges;
    let keys = keys.map(|keys| Keys { costs, rewards, ..keys });
    let [text, categorical, numeric, time, drop] = reading.roles.clone();
    let missing = reading.missing.clone();
    let roles = ReadOptions { text, categorical, numeric, time, drop, ..ReadOptions::default() };
    let read = ReadOptions { format, missing, ..roles };
    let open = |schema: Option<&Schema>| {
        let opened = match &keys {
            None => Logged::open(path, format, schema),
            Some(keys) => Logged::open_foreign(path, &read, keys, schema),
        };
        match reading.rows {
            true => opened.map(|log| log.of_memory(ROWS)).map_err(|error| error.of_memory(ROWS)),
            false => opened,
        }
    };
    let entry = named.filter(|name| *name != "none").map(registry::find).transpose()?;
    let make: MakeLearner<'_> = &|problem| reward_learner(entry, problem);
    let make = (named != Some("none")).then_some(make);
    let name = if reading.rows { ROWS } else { path };
    compare(&open, &mut policies, make, options).map_err(|(_, error)| Failure::of_evaluation(name, error))
}

/// Evaluates a policy on logged rounds.
#[pyfunction]
#[pyo3(signature = (labels, rewards, probabilities, policy, estimates, clip, confidence))]
#[expect(clippy::too_many_arguments, reason = "arrays of a Python function")]
pub(crate) fn evaluate_arrays<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'py, i64>,
    rewards: PyReadonlyArray1<'py, f64>,
    probabilities: Probabilities<'py>,
    policy: PyReadonlyArray2<'py, f64>,
    estimates: Option<PyReadonlyArray2<'py, f64>>,
    clip: Option<f64>,
    confidence: f64,
) -> PyResult<String> {
    let (clip, confidence) = checked(clip, confidence)?;
    let arrays = LoggedArrays {
        classes: policy.shape()[1],
        labels: labels.as_slice()?,
        rewards: rewards.as_slice()?,
        probabilities: match &probabilities {
            Probabilities::OfTheLabel(p) => p.as_slice()?,
            Probabilities::OfAll(p) => p.as_slice()?,
        },
        evaluation: policy.as_slice()?,
        estimates: estimates.as_ref().map(|estimates| estimates.as_slice()).transpose()?,
    };
    let evaluation = py.detach(|| arrays.evaluate(clip, confidence)).map_err(Failure::from)?;
    Ok(json(&evaluation))
}

/// Rewards in a range written as `0..15`, as numbers from 0 to 1; and what to say if some were clipped.
#[pyfunction]
pub(crate) fn shares_of<'py>(
    py: Python<'py>,
    rewards: PyReadonlyArray1<'py, f64>,
    range: &str,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Option<String>)> {
    let range = range.parse::<Costs>().map_err(Failure::from)?;
    let (shares, remark) = range.rising_all(rewards.as_slice()?).map_err(Failure::from)?;
    Ok((PyArray1::from_vec(py, shares), remark.map(|remark| remark.to_string())))
}

/// The probabilities of the played labels, or of all.
#[derive(FromPyObject)]
pub(crate) enum Probabilities<'py> {
    #[pyo3(transparent)]
    OfTheLabel(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    OfAll(PyReadonlyArray2<'py, f64>),
}

fn checked(clip: Option<f64>, confidence: f64) -> Done<(Option<f64>, f64)> {
    let clip = clip.map(|clip| positive("clip", clip)).transpose()?;
    if confidence > 0.0 && confidence < 1.0 {
        return Ok((clip, confidence));
    }
    Err(ParamError::invalid("confidence", confidence, "between 0 and 1").into())
}

fn json(evaluation: &Evaluation) -> String {
    serde_json::to_string(evaluation).expect("plain numbers")
}
