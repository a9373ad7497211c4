//! Merges saved models: the statistics of their learners are added; their encoders must agree.

use noregret::algorithm::AnyModel;
use noregret::merge::{Merge, MergeError, merge_any};
use serde_json::Value;

use crate::encode::labels::Labels;
use crate::encode::scale::Scaler;
use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::options::Schema;
use crate::read::table::schema::CsvSchema;
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
            what,
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
type Difference = (String, String, String);

impl Saved {
    /// Extends the encoder and schema by those of `other`.
    fn take_in(&mut self, other: &Saved) -> Result<(), Difference> {
        check_marks(&self.schema, &other.schema)?;
        let (mine, theirs) = (&mut self.encoder, &other.encoder);
        // Labels on offer are scaled after products in models of before.
        let way = |scaler: &Scaler| {
            let when = if scaler.inputs().is_some() { " (before products)" } else { "" };
            format!("{}{when}", scaler.scaling())
        };
        if way(mine.scaler()) != way(theirs.scaler()) {
            return Err(("scaling".to_owned(), way(theirs.scaler()), way(mine.scaler())));
        }
        if mine.has_intercept() != theirs.has_intercept() {
            return Err((
                "intercept".to_owned(),
                theirs.has_intercept().to_string(),
                mine.has_intercept().to_string(),
            ));
        }
        if mine.columns() != theirs.columns() {
            return Err(("columns".to_owned(), theirs.columns().to_string(), mine.columns().to_string()));
        }
        if mine.labels().iter().zip(theirs.labels().iter()).any(|(mine, theirs)| mine != theirs) {
            return Err(("labels".to_owned(), listed(theirs.labels()), listed(mine.labels())));
        }
        if mine.costs() != theirs.costs() {
            return Err(("costs".to_owned(), json(&theirs.costs()), json(&mine.costs())));
        }
        if mine.class_weights() != theirs.class_weights() {
            return Err((
                "class weights".to_owned(),
                json(theirs.class_weights()),
                json(mine.class_weights()),
            ));
        }
        let columns = self.schema.columns.joined(&other.schema.columns);
        let Some(columns) = columns else {
            let (what, found, needed) = of_data("columns", &other.schema.columns, &self.schema.columns);
            let why = match (&self.schema.columns, &other.schema.columns) {
                (Columns::Named(_), Columns::Named(_)) => {
                    " (categories and words are columns in the order in which they come: parts that go on from one model have the same, and all with the option hash-bits)"
                }
                _ => "",
            };
            return Err((what, found, needed + why));
        };
        let without_columns = |schema: &Schema| Schema { columns: columns.clone(), ..schema.clone() };
        let schema = without_columns(&self.schema);
        if schema != without_columns(&other.schema) {
            let tables = other.schema.csv.as_ref().zip(self.schema.csv.as_ref());
            let difference = tables.and_then(|(found, needed)| of_table(found, needed));
            return Err(difference.unwrap_or_else(|| {
                let (place, found, needed) = of_data("data", &without_columns(&other.schema), &schema);
                let what = place.trim_start_matches("data.").trim_start_matches("csv.");
                (what.to_owned(), found, needed)
            }));
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

/// Whether both have features that say where numbers are missing, or neither, on which scaling and columns
/// depend.
fn check_marks(mine: &Schema, theirs: &Schema) -> Result<(), Difference> {
    let marks = |schema: &Schema| {
        let table = schema.csv.as_ref().is_some_and(|table| table.numbers.is_some());
        if table || schema.marked { "yes" } else { "no" }
    };
    let hashed = matches!(mine.columns, Columns::Hashed { .. });
    let comparable = match (hashed, &mine.csv, &theirs.csv) {
        (true, Some(mine), Some(theirs)) => mine.fields == theirs.fields,
        (true, None, None) | (false, Some(_), Some(_)) => true,
        _ => false,
    };
    let (needed, found) = (marks(mine), marks(theirs));
    if needed == found || !comparable {
        return Ok(());
    }
    let why = match hashed {
        true => {
            " (in hashed columns, models of an earlier program have none; parts that one program has learnt agree)"
        }
        false => {
            " (as the first rows of each part decide; parts that continue one model, or have the option hash-bits, agree)"
        }
    };
    Err(("features for missing numbers".to_owned(), found.to_owned(), needed.to_owned() + why))
}

/// The first difference of the columns of two tables.
fn of_table(found: &CsvSchema, needed: &CsvSchema) -> Option<Difference> {
    let fields = found.fields.iter().zip(&needed.fields);
    let (at, (one, other)) = (1..).zip(fields).find(|(_, (one, other))| one != other)?;
    let (found, needed) = (shown(&one.name), shown(&other.name));
    if found != needed {
        return Some((format!("column {at}"), found, needed));
    }
    if one.role != other.role {
        let (found, needed) = (one.role.name().to_owned(), other.role.name().to_owned());
        return Some((format!("the kind of column {}", shown(&one.name)), found, needed));
    }
    Some(of_data(&format!("column {found}"), one, other))
}

/// The first difference of two values, under the name `what`.
fn of_data(what: &str, found: &impl serde::Serialize, needed: &impl serde::Serialize) -> Difference {
    let value = |json: serde_json::Result<Value>| json.expect("plain data");
    let (found, needed) = (value(serde_json::to_value(found)), value(serde_json::to_value(needed)));
    difference(what, &found, &needed)
        .unwrap_or_else(|| (what.to_owned(), found.to_string(), needed.to_string()))
}

/// Where two values first differ, and what they are there; `None` if they are equal.
fn difference(place: &str, found: &Value, needed: &Value) -> Option<Difference> {
    let or_null = |value: Option<&Value>| value.cloned().unwrap_or_default();
    let inside = match (found, needed) {
        _ if found == needed => return None,
        (Value::Object(one), Value::Object(other)) => one.keys().chain(other.keys()).find_map(|key| {
            difference(&format!("{place}.{key}"), &or_null(one.get(key)), &or_null(other.get(key)))
        }),
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len())).find_map(|at| {
            difference(&format!("{place}[{at}]"), &or_null(one.get(at)), &or_null(other.get(at)))
        }),
        _ => None,
    };
    inside.or_else(|| Some((place.to_owned(), found.to_string(), needed.to_string())))
}

fn listed(labels: &Labels) -> String {
    labels.iter().collect::<Vec<_>>().join(", ")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::format::Format;

    /// What a model of an earlier program lacks is named in words, not by its place in the file.
    #[test]
    fn hashed_columns_of_an_earlier_program_are_told() {
        let before = Schema::plain(Format::Libsvm, Columns::Hashed { bits: 4 });
        let now = Schema { marked: true, ..before.clone() };
        assert_eq!([check_marks(&before, &before), check_marks(&now, &now)], [Ok(()), Ok(())]);
        let (what, found, needed) = check_marks(&now, &before).expect_err("they differ");
        assert_eq!((what.as_str(), found.as_str()), ("features for missing numbers", "no"));
        let why = "yes (in hashed columns, models of an earlier program have none; parts that one program has learnt agree)";
        assert_eq!(needed, why);
    }
}
