//! Labels between Python and the crates: a Python object is a text with a type, and comes back as it was
//! given.

use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::survey;
use noregret_stream::{LabelType, Missing, label_of_value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::catalogue::forecasts_numbers;

/// A label from Python: its text and its type.
#[derive(Clone, Debug)]
pub(crate) struct Name(pub(crate) String, pub(crate) LabelType);

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(label: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = label.cast::<PyString>() {
            return Ok(Self(text.to_str()?.to_owned(), LabelType::Text));
        }
        // A scalar of NumPy as the object of Python.
        let scalar = if label.is_instance_of::<PyBool>() { None } else { scalar_of(&label)? };
        let label = scalar.as_ref().map_or(label, |scalar| scalar.as_borrowed());
        if label.is_instance_of::<PyBool>() {
            let text = if label.is_truthy()? { "true" } else { "false" };
            return Ok(Self(text.to_owned(), LabelType::Truth));
        }
        if label.is_instance_of::<PyInt>() {
            return Ok(Self(label.call_method0("__int__")?.str()?.to_str()?.to_owned(), LabelType::Whole));
        }
        if label.is_instance_of::<PyFloat>() {
            let value: f64 = label.extract()?;
            if !value.is_finite() {
                return Err(PyValueError::new_err(format!("the label {} is not finite", label.repr()?)));
            }
            return Ok(Self(label_of_value(value), LabelType::Real));
        }
        if let Ok(text) = label.cast::<PyString>() {
            return Ok(Self(text.to_str()?.to_owned(), LabelType::Text));
        }
        if label.hasattr("__float__")? {
            return Ok(Self(label_of_value(label.call_method0("__float__")?.extract()?), LabelType::Real));
        }
        if label.hasattr("isoformat")? {
            return Ok(Self(label.call_method0("isoformat")?.str()?.to_str()?.to_owned(), LabelType::Time));
        }
        Err(PyTypeError::new_err(format!(
            "the label {} is of a type that a model file does not keep; str(label) makes a text of it",
            label.repr()?
        )))
    }
}

/// Those of the distinct `labels` that count as missing, by the list of the readers, with the words `missing`
/// besides and without `not_missing`.
#[pyfunction]
pub(crate) fn missing_labels(
    labels: Vec<String>,
    missing: Vec<String>,
    not_missing: Vec<String>,
) -> Vec<String> {
    let mut missing = Missing { words: missing, values: not_missing };
    missing.values.extend(missing.classes(labels.iter().map(String::as_str), 1));
    labels.into_iter().filter(|label| missing.is_label(label)).collect()
}

/// Refuses a text beside a number of the same writing, among labels with their texts.
#[pyfunction]
pub(crate) fn check_types(labels: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
    let mut seen = Labels::default();
    for (text, label) in labels {
        // Other objects are known by their texts.
        let Ok(Name(_, of)) = label.extract::<Name>() else { continue };
        if let Some(why) = seen.clash(&text, of) {
            return Err(PyValueError::new_err(why));
        }
        seen.collect(&text, of);
    }
    Ok(())
}

/// Refuses labels, given with their texts, that are a real-valued target; `labelled` rows have one.
#[pyfunction]
pub(crate) fn check_classes(labels: Vec<(String, Bound<'_, PyAny>)>, labelled: u64) -> PyResult<()> {
    let labels = typed(&labels).sorted();
    let Some(found) = survey::real_valued(&labels, labelled) else { return Ok(()) };
    let (way_out, classes) = (forecasts_numbers(), labels.len());
    Err(PyValueError::new_err(format!(
        "y has {found}; {way_out}, and classes={classes} makes each of them a class"
    )))
}

/// Remarks on labels, given with their texts, that may be numbers to forecast, or look alike; `labelled` rows
/// have one.
#[pyfunction]
pub(crate) fn label_remarks(labels: Vec<(String, Bound<'_, PyAny>)>, labelled: u64) -> Vec<String> {
    let all = typed(&labels);
    let numbers = survey::many_numbers(&all, labelled);
    let numbers = numbers.map(|remark| format!("{remark}; {}", forecasts_numbers()));
    let (sorted, united) = (all.sorted(), survey::many_with_unit(&all, labelled));
    let numbers = numbers.into_iter().chain(united);
    numbers.chain(survey::look_alike(&sorted)).chain(survey::perhaps_missing(&sorted)).collect()
}

/// The labels that are not missing, with their types.
fn typed(labels: &[(String, Bound<'_, PyAny>)]) -> Labels {
    let missing = Missing::default();
    let mut all = Labels::default();
    for (text, label) in labels.iter().filter(|(text, _)| !missing.is_label(text)) {
        all.collect(text, label.extract().map_or(LabelType::Text, |Name(_, of)| of));
    }
    all
}

/// The Python object of a scalar of NumPy; `None` for other objects.
fn scalar_of<'py>(label: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_scalar = label.hasattr("dtype")? && label.hasattr("item")?;
    if is_scalar { label.call_method0("item").map(Some) } else { Ok(None) }
}

impl<'py> IntoPyObject<'py> for Name {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = PyString::new(py, &self.0).into_any();
        Ok(match self.1 {
            LabelType::Unstated | LabelType::Text | LabelType::Figure => text,
            LabelType::Whole => py.get_type::<PyInt>().call1((text,))?,
            LabelType::Real => py.get_type::<PyFloat>().call1((text,))?,
            LabelType::Truth => PyBool::new(py, self.0.eq_ignore_ascii_case("true")).to_owned().into_any(),
            LabelType::Time => {
                let calendar = py.import("datetime")?;
                let kind = if self.0.len() <= "2026-01-02".len() { "date" } else { "datetime" };
                calendar.getattr(kind)?.call_method1("fromisoformat", (text,))?
            }
        })
    }
}

/// The classes as they were given, by their texts; none if the data stated no type.
pub(crate) fn given(labels: &Labels) -> Vec<(String, Name)> {
    if labels.typed().all(|(_, of)| of == LabelType::Unstated) {
        return vec![];
    }
    labels.typed().map(|(text, of)| (text.to_owned(), Name(text.to_owned(), of))).collect()
}

/// States the types of classes that came as these texts.
pub(crate) fn state(labels: &mut Labels, given: &[(String, Name)]) {
    for (text, Name(_, of)) in given {
        let fits = match of {
            LabelType::Whole => text.parse::<i128>().is_ok(),
            LabelType::Real => text.parse::<f64>().is_ok_and(f64::is_finite),
            LabelType::Truth => ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word)),
            _ => true,
        };
        if let Some(label) = labels.find(text).filter(|_| fits) {
            labels.state(label, *of);
        }
    }
}
