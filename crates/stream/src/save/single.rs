//! Model files in single precision, as far as forecasts do not change by it.

use noregret::example::Features;
use noregret::model::Archive;
use noregret::prediction::Decision;

use super::Frozen;
use crate::encode::Example;

/// On the rows that are looked at, no probability (or score, for real-valued targets) changes by more: on
/// others a little more may be lost, and a millionth is what is promised.
const CHANGE: f64 = 1e-7;

/// The model with as many of its tensors rounded to single precision as the forecasts for `rows`, which are
/// examples as its learner sees them, allow. Without rows, and where it is no model, nothing is rounded.
pub fn in_single_precision(archive: &Archive, rows: &[Example]) -> Archive {
    let names: Vec<String> = (archive.tensors().map(|(name, _)| name))
        .filter(|name| name.starts_with("learner/"))
        .map(str::to_owned)
        .collect();
    match forecasts(archive, rows).filter(|_| !rows.is_empty()) {
        Some(expected) => rounded(archive, &names, rows, &expected),
        None => archive.clone(),
    }
}

/// Rounds all of `names`, or what is possible of either half of them.
fn rounded(archive: &Archive, names: &[String], rows: &[Example], expected: &[f64]) -> Archive {
    let mut tried = archive.clone();
    let mut any = false;
    for name in names {
        any |= tried.round(name);
    }
    let near = |found: Vec<f64>| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= CHANGE)
    };
    if !any || forecasts(&tried, rows).is_some_and(near) {
        return tried;
    }
    if names.len() < 2 {
        return archive.clone();
    }
    let (left, right) = names.split_at(names.len() / 2);
    rounded(&rounded(archive, left, rows, expected), right, rows, expected)
}

/// What the model forecasts for the rows, one list after the other.
fn forecasts(archive: &Archive, rows: &[Example]) -> Option<Vec<f64>> {
    let frozen = Frozen::from_archive(archive).ok()?;
    let features: Vec<Features<'_>> = rows.iter().map(Example::features).collect();
    let (mut at, mut found) = (frozen.predictor.prediction(), vec![]);
    frozen.predictor.predict_batch(&features, &mut at, &mut Decision::default(), &mut |_, at| {
        let numbers = if at.probabilities.is_empty() { &at.scores } else { &at.probabilities };
        found.extend_from_slice(numbers);
    });
    Some(found)
}
