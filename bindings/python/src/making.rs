//! Makes learners of either kind: problem, parameters, and encoder.

use noregret::algorithm::About;
use noregret::learner::Classes;
use noregret::param::{ParamError, Values};
use noregret::problem::Problem;
use noregret::registry::Entry;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::encode::Encoder;
use noregret_stream::{Columns, Format, Schema};

use crate::error::{Done, Failure};

/// The given facts about a stream.
pub(crate) struct Facts {
    pub(crate) classes: usize,
    /// Columns of the data, without the intercept.
    pub(crate) columns: usize,
    pub(crate) radius: Option<f64>,
    pub(crate) horizon: Option<u64>,
    pub(crate) sparse: bool,
    pub(crate) scaling: Scaling,
    pub(crate) intercept: bool,
    pub(crate) labels: Option<Vec<String>>,
    /// Largest size of the state, in bytes.
    pub(crate) memory: usize,
}

impl Facts {
    /// The learner's problem, with the intercept among the features.
    pub(crate) fn problem(&self, entry: &Entry, values: &Values) -> Done<Problem> {
        let intercept = usize::from(self.intercept);
        let standard = self.scaling == Scaling::Standard;
        // Slightly larger, so that rounding never puts the largest row outside.
        let scaled =
            self.scaling.radius(self.columns).map(|radius| radius.hypot(intercept as f64) * (1.0 + 1e-12));
        let problem = Problem {
            classes: self.classes,
            features: self.columns + intercept,
            radius: self.radius.or(scaled.filter(|radius| *radius > 0.0)),
            horizon: self.horizon,
            sparse: self.sparse && !standard,
        };
        entry.check_problem(&problem)?;
        check_memory(entry, values, &problem, self.memory)?;
        Ok(problem)
    }

    /// The encoder for a learner of `problem`.
    pub(crate) fn encoder(self, about: &About, problem: &Problem) -> Done<Encoder> {
        let real = about.accepts.classes == Classes::Real;
        let names = match self.labels {
            _ if real => Vec::new(),
            Some(names) if names.len() == problem.classes => names,
            Some(names) => {
                return Err(Failure::Value(format!(
                    "labels: {} names; classes = {} were needed",
                    names.len(),
                    problem.classes
                )));
            }
            None => (0..problem.classes).map(|class| class.to_string()).collect(),
        };
        let labels = Labels::try_from(names).map_err(|what| Failure::Value(format!("labels: {what}")))?;
        Ok(Encoder::new(self.columns, about.accepts)
            .with_labels(labels, problem.classes)
            .with_scaler(Scaler::new(self.scaling))
            .with_intercept(self.intercept)
            .with_sparse(problem.sparse)
            .with_radius(problem.radius))
    }
}

/// Columns without names, numbered from 0, as arrays have them.
pub(crate) fn array_schema(columns: usize) -> Schema {
    Schema {
        format: Format::Ndjson,
        columns: Columns::Numbered { base: 0, count: columns as u32 },
        label: None,
        weight: None,
        csv: None,
        offers: None,
    }
}

/// Rejects a learner whose state would exceed the limit; Python could not catch a failed
/// allocation.
pub(crate) fn check_memory(entry: &Entry, values: &Values, problem: &Problem, most: usize) -> Done<()> {
    let bytes = entry.numbers(values, problem)?.saturating_mul(8);
    if bytes <= most {
        return Ok(());
    }
    Err(Failure::Memory(format!(
        "{} would take {} MiB for {} classes and {} features ({}); at most memory = {} MiB were allowed",
        entry.about.name,
        bytes >> 20,
        problem.classes,
        problem.features,
        entry.about.memory,
        most >> 20
    )))
}

/// The scaling called `name`.
pub(crate) fn scaling(name: &str) -> Done<Scaling> {
    name.parse().map_err(|_| ParamError::invalid("scale", name, "one of none, unit, maxabs, standard").into())
}
