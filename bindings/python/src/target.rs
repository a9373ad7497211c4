//! The target of one row, from Python.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::arrays::Targets;

/// A class, a number or a distribution.
#[derive(FromPyObject)]
pub(crate) enum PyTarget<'py> {
    #[pyo3(transparent)]
    Class(i64),
    #[pyo3(transparent)]
    Value(f64),
    #[pyo3(transparent)]
    Distribution(PyReadonlyArray1<'py, f64>),
}

/// The same, borrowed as a list of one.
pub(crate) enum OneTarget<'a> {
    Class([i64; 1]),
    Value([f64; 1]),
    Distribution(&'a [f64]),
}

impl PyTarget<'_> {
    pub(crate) fn borrow(&self) -> PyResult<OneTarget<'_>> {
        Ok(match self {
            PyTarget::Class(class) => OneTarget::Class([*class]),
            PyTarget::Value(value) => OneTarget::Value([*value]),
            PyTarget::Distribution(y) => OneTarget::Distribution(y.as_slice()?),
        })
    }
}

impl OneTarget<'_> {
    pub(crate) fn list(&self) -> Targets<'_> {
        match self {
            OneTarget::Class(y) => Targets::Classes(y),
            OneTarget::Value(y) => Targets::Values(y),
            OneTarget::Distribution(values) => {
                Targets::Distributions { values, rows: 1, classes: values.len() }
            }
        }
    }
}
