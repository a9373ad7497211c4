//! Parameter values between Python and the registry.

use noregret::param::{Value, Values};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};

/// Converts keywords; `None` means the theorem's default. Parameters of a nested learner have dots
/// in their names, and two underscores as keywords: `base__norm` is `base.norm`.
pub(crate) fn from_python(params: &Bound<'_, PyDict>) -> PyResult<Values> {
    let mut values = Values::new();
    for (name, value) in params {
        if !value.is_none() {
            let name: String = name.extract()?;
            values.insert(name.replace("__", "."), value_from(&value)?);
        }
    }
    Ok(values)
}

fn value_from(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::parse(text.to_str()?));
    }
    if !value.is_instance_of::<PyFloat>()
        && let Ok(number) = value.extract::<u64>()
    {
        return Ok(Value::Integer(number));
    }
    Ok(Value::from(value.extract::<f64>()?))
}

/// The parameters in use, as keywords.
pub(crate) fn to_python<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values {
        let name = name.replace('.', "__");
        match value {
            Value::Bool(value) => dict.set_item(name, value)?,
            Value::Integer(value) => dict.set_item(name, value)?,
            Value::Float(value) => dict.set_item(name, value)?,
            // Infinity and NaN are texts, which JSON lacks.
            Value::Text(text) => match text.parse::<f64>() {
                Ok(number) => dict.set_item(name, number)?,
                Err(_) => dict.set_item(name, text)?,
            },
        }
    }
    Ok(dict)
}
