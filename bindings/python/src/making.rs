//! Translates keywords into what makes a learner.

use noregret::learner::{Classes, Feedback};
use noregret::param::ParamError;
use noregret::registry::Entry;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::setup::{Asked, Facts, SetupError};

use crate::error::{Done, Failure};

/// What is asked for with `scaling` and this kind of feedback.
pub(crate) fn asked(scaling: Scaling, feedback: Feedback) -> Asked {
    Asked { scaling: Some(scaling), feedback: Some(feedback), ..Asked::default() }
}

/// The same facts with classes called `names`, if there are any.
pub(crate) fn called(entry: &Entry, facts: Facts, names: Option<Vec<String>>) -> Done<Facts> {
    let real = entry.about.accepts.classes == Classes::Real;
    let Some(names) = names.filter(|_| !real) else { return Ok(facts) };
    if names.len() != facts.classes {
        let (names, classes) = (names.len(), facts.classes);
        return Err(Failure::Value(format!("labels: {names} names; classes = {classes} were needed")));
    }
    let labels = Labels::try_from(names).map_err(|what| Failure::Value(format!("labels: {what}")))?;
    Ok(Facts { labels, ..facts })
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Param(error) => error.into(),
            SetupError::Memory { .. } => Failure::Memory(format!("{error} by memory")),
            error => Failure::Value(error.to_string()),
        }
    }
}

/// The scaling called `name`.
pub(crate) fn scaling(name: &str) -> Done<Scaling> {
    name.parse().map_err(|_| ParamError::invalid("scale", name, "one of none, unit, maxabs, standard").into())
}
