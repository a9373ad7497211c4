//! The compiled part of the Python package: the registry's learners over NumPy arrays.
//!
//! The public interface is in Python (`python/noregret/`); this crate borrows arrays, checks them
//! once, releases the interpreter's lock and calls `noregret-stream`, so that arrays, rows and the
//! command line use the same code. Nothing here names a learner.

use noregret_stream::encode::{LARGEST_NORM, LARGEST_WEIGHT};
use noregret_stream::{ALWAYS_DENSE, Offers};
use pyo3::prelude::*;

mod arrays;
mod bandit;
mod catalogue;
mod drawing;
mod error;
mod evaluation;
mod label;
mod learner;
mod log;
mod making;
mod mapping;
mod offered;
mod passes;
mod places;
mod reading;
mod record;
mod shared;
mod signals;
mod survey;
mod table;
mod target;
mod values;

/// Runs the command line in this process and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| noregret_cli::run(args))
}

/// Whether a comparison of the command line gives other results for another seed.
#[pyfunction]
fn depends_on_seed(args: Vec<std::ffi::OsString>) -> bool {
    noregret_cli::depends_on_seed(args)
}

/// The compiled part of the package noregret.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("DENSE", ALWAYS_DENSE)?;
    module.add("LARGEST", LARGEST_NORM)?;
    module.add("LARGEST_WEIGHT", LARGEST_WEIGHT)?;
    module.add("OFFERED", Offers::LABELS)?;
    module.add("OFFERED_WIDTH", Offers::WIDTH)?;
    module.add_class::<learner::Learner>()?;
    module.add_class::<bandit::Bandit>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(mapping::learn_mapping, module)?)?;
    module.add_function(wrap_pyfunction!(mapping::predict_mapping, module)?)?;
    module.add_function(wrap_pyfunction!(mapping::time_features, module)?)?;
    module.add_function(wrap_pyfunction!(mapping::moment_features, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::learner_for_array, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::learner_for_table, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::bandit_for_array, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::bandit_for_table, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::rows_of, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::add_labels, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::learn_round, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::logged::check_rewards, module)?)?;
    module.add_function(wrap_pyfunction!(bandit::text::explain_round, module)?)?;
    module.add_function(wrap_pyfunction!(label::check_types, module)?)?;
    module.add_function(wrap_pyfunction!(label::check_classes, module)?)?;
    module.add_function(wrap_pyfunction!(label::label_remarks, module)?)?;
    module.add_function(wrap_pyfunction!(label::missing_labels, module)?)?;
    module.add_function(wrap_pyfunction!(reading::table_schema, module)?)?;
    module.add_function(wrap_pyfunction!(reading::table_rows, module)?)?;
    module.add_function(wrap_pyfunction!(reading::joined_schema, module)?)?;
    module.add_function(wrap_pyfunction!(reading::learner_rows, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::run_table, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::predict_table, module)?)?;
    module.add_function(wrap_pyfunction!(learner::explain::explain_rows, module)?)?;
    module.add_function(wrap_pyfunction!(learner::explain::explain_table, module)?)?;
    module.add_function(wrap_pyfunction!(learner::explain::linear, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::check, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::roles, module)?)?;
    module.add_function(wrap_pyfunction!(learner::table::classes_of, module)?)?;
    module.add_function(wrap_pyfunction!(evaluation::evaluate_log, module)?)?;
    module.add_function(wrap_pyfunction!(evaluation::evaluate_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(evaluation::shares_of, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::page, module)?)?;
    module.add_function(wrap_pyfunction!(survey::survey, module)?)?;
    module.add_function(wrap_pyfunction!(survey::settled, module)?)?;
    module.add_function(wrap_pyfunction!(survey::reach, module)?)?;
    module.add_class::<passes::Passes>()?;
    module.add_class::<learner::divided::PyDivided>()?;
    module.add_function(wrap_pyfunction!(passes::sums, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(depends_on_seed, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::cautions, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)
}
