//! Merges saved models: the statistics of their learners are added; their encoders must agree.

use noregret::algorithm::AnyModel;
use noregret::merge::{Merge, MergeError, merge_any};

use crate::encode::labels::Labels;
use crate::read::options::Schema;
use crate::save::saved::Saved;

/// Merges models that were trained on parts of the data, see [`noregret::merge`].
///
/// They must agree in format and columns, classes, scaling and intercept; the last classes or
/// columns may be absent from some of them. Scaling statistics become those of all rows. This is
/// exact, but with scaling that adapts ([`Scaling::adapts`](crate::encode::scale::Scaling::adapts))
/// the shards' learners have used different units, and the merged learner is approximate. The
/// generator of labels is that of the first model.
///
/// # Errors
/// If the models do not match, or their learner cannot be merged.
pub fn merge(mut parts: Vec<Saved>, how: Merge) -> Result<Saved, MergeError> {
    let (first, others) = parts.split_first_mut().ok_or(MergeError::Nothing)?;
    for (part, other) in (1..).zip(others) {
        first.take_in(other).map_err(|(what, found, needed)| MergeError::Mismatch {
            part,
            what: what.to_owned(),
            found,
            needed,
        })?;
    }
    let learners: Vec<&AnyModel> = parts.iter().map(|part| &part.learner).collect();
    let learner = merge_any(&learners, how)?;
    let mut merged = parts.swap_remove(0);
    merged.encoder = merged.encoder.with_radius(learner.problem().radius);
    Ok(Saved { learner, ..merged })
}

/// The error: name, value, and required value.
type Difference = (&'static str, String, String);

impl Saved {
    /// Extends the encoder and schema by those of `other`.
    fn take_in(&mut self, other: &Saved) -> Result<(), Difference> {
        let (mine, theirs) = (&mut self.encoder, &other.encoder);
        if mine.scaler().scaling() != theirs.scaler().scaling() {
            return Err((
                "scaling",
                theirs.scaler().scaling().to_string(),
                mine.scaler().scaling().to_string(),
            ));
        }
        if mine.has_intercept() != theirs.has_intercept() {
            return Err(("intercept", theirs.has_intercept().to_string(), mine.has_intercept().to_string()));
        }
        if mine.columns() != theirs.columns() {
            return Err(("columns", theirs.columns().to_string(), mine.columns().to_string()));
        }
        if mine.labels().iter().zip(theirs.labels().iter()).any(|(mine, theirs)| mine != theirs) {
            return Err(("labels", listed(theirs.labels()), listed(mine.labels())));
        }
        if mine.costs() != theirs.costs() {
            return Err(("costs", json(&theirs.costs()), json(&mine.costs())));
        }
        let columns = self.schema.columns.joined(&other.schema.columns);
        let Some(columns) = columns else {
            return Err(("columns", json(&other.schema.columns), json(&self.schema.columns)));
        };
        let without_columns = |schema: &Schema| Schema { columns: columns.clone(), ..schema.clone() };
        let schema = without_columns(&self.schema);
        if schema != without_columns(&other.schema) {
            return Err(("data", json(&other.schema), json(&self.schema)));
        }
        self.schema = schema;
        if theirs.labels().len() > mine.labels().len() {
            mine.labels_mut().clone_from(theirs.labels());
        }
        mine.scaler_mut().add(theirs.scaler());
        self.facts.extend(&other.facts);
        self.facts.merged_scalings |= mine.scaler().scaling().adapts();
        Ok(())
    }
}

fn listed(labels: &Labels) -> String {
    labels.iter().collect::<Vec<_>>().join(", ")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}
