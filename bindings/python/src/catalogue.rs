//! The registry as plain Python data, for generating classes and documentation.

use noregret::algorithm::Forecast;
use noregret::learner::{Classes, Feedback};
use noregret::param::{Value, Values};
use noregret::problem::Problem;
use noregret::registry::{ALGORITHMS, Entry, find};
use noregret_stream::caution::Caution;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::Failure;
use crate::values;

/// Which learner is for labels that are not classes.
pub(crate) fn forecasts_numbers() -> String {
    let mut real = ALGORITHMS.iter().filter(|entry| entry.about.accepts.classes == Classes::Real);
    let name = real.next().map_or("", |entry| entry.about.name);
    format!("Learner({name:?}) forecasts numbers")
}

/// Every learner with its parameters, as dictionaries in the registry's order.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let entries = ALGORITHMS.iter().map(|entry| described(py, entry));
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

fn described<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let about = entry.about;
    let dict = PyDict::new(py);
    dict.set_item("name", about.name)?;
    dict.set_item("summary", about.summary)?;
    dict.set_item("paper", about.paper.key)?;
    dict.set_item("place", about.paper.place)?;
    dict.set_item("guarantee", about.guarantee)?;
    dict.set_item("cost", about.cost)?;
    dict.set_item("memory", about.memory)?;
    dict.set_item(
        "feedback",
        match entry.feedback {
            Feedback::Full => "full",
            Feedback::Bandit => "bandit",
            Feedback::Either => "either",
            Feedback::Experts => "experts",
        },
    )?;
    dict.set_item("forecast", forecast_name(about.forecast))?;
    dict.set_item(
        "classes",
        match about.accepts.classes {
            Classes::Any => "any",
            Classes::Two => "two",
            Classes::Real => "real",
        },
    )?;
    dict.set_item("soft_labels", about.accepts.soft_labels)?;
    dict.set_item("weights", about.accepts.weights)?;
    dict.set_item("blocks", entry.takes_blocks())?;
    dict.set_item("mixture", entry.is_mixture())?;
    dict.set_item("nested", entry.prefix.map(|prefix| prefix.trim_end_matches('.')))?;
    let general = entry.make(&Values::new(), typical(entry), 0).is_ok();
    dict.set_item("general", general)?;
    dict.set_item("grows", general && grows(entry))?;
    let params = PyList::empty(py);
    for param in entry.params {
        let described = PyDict::new(py);
        described.set_item("name", param.name)?;
        described.set_item("meaning", param.summary())?;
        described.set_item("default", param.default)?;
        described.set_item("kind", param.kind.name())?;
        described.set_item("words", param.words.to_vec())?;
        params.append(described)?;
    }
    dict.set_item("params", params)?;
    Ok(dict)
}

/// What works where the defaults of the learner are too cautious, in sentences. With `bandit`, it hears
/// rewards. With `rows`, what to do if it is too slow for so many of them, instead.
#[pyfunction]
#[pyo3(signature = (name, params, bandit, rows=None))]
pub(crate) fn cautions(
    name: &str,
    params: &Bound<'_, PyDict>,
    bandit: bool,
    rows: Option<u64>,
) -> PyResult<Vec<String>> {
    let params = values::from_python(params)?;
    let entry = find(name).map_err(Failure::from)?;
    let keyword = |(name, value): (String, &str)| {
        let name = name.replace('.', "__");
        match Value::parse(value) {
            Value::Text(text) => format!("{name}={text:?}"),
            value => format!("{name}={value}"),
        }
    };
    let sentence = |caution: &Caution| {
        let works: Vec<String> = caution.settings().map(keyword).collect();
        format!("{}: {}", entry.about.name, caution.sentence(&works.join(", ")))
    };
    let cautions: Vec<Caution> = match rows {
        Some(rows) => Caution::of_rows(entry, &params, rows).into_iter().collect(),
        None => Caution::all(entry, &params, bandit),
    };
    Ok(cautions.iter().map(sentence).collect())
}

/// The name of a kind of forecast.
pub(crate) fn forecast_name(forecast: Forecast) -> &'static str {
    match forecast {
        Forecast::Probabilities => "probabilities",
        Forecast::Label => "label",
        Forecast::RandomisedLabel => "randomised label",
        Forecast::Value => "value",
    }
}

/// A problem of moderate size for it.
fn typical(entry: &Entry) -> Problem {
    let classes = match entry.about.accepts.classes {
        Classes::Any => 3,
        Classes::Two => 2,
        Classes::Real => 1,
    };
    Problem::new(classes, 20).with_radius(1.0)
}

/// Whether the default learner can add features, and classes if it has any.
fn grows(entry: &Entry) -> bool {
    let more = usize::from(entry.about.accepts.classes == Classes::Any);
    let problem = typical(entry);
    let (classes, features) = (problem.classes + more, problem.features + 1);
    entry.grows(&Values::new(), problem, classes, features).unwrap_or(false)
}
