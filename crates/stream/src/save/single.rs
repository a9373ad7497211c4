//! Model files in single precision, as far as forecasts do not change.

use noregret::model::Archive;
use noregret::prediction::Decision;

use super::Frozen;
use crate::encode::Example;

/// Largest change of a probability (or score, for real-valued targets) on the tested rows; smaller
/// than the documented 1e-6, because it may be larger on other rows.
const CHANGE: f64 = 1e-7;

/// Rounds as many tensors of the model to single precision as the forecasts for the examples `rows`
/// allow. Nothing is rounded without rows, or if the archive is not a model.
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

/// Rounds all of `names`, or recursively the possible part of each half.
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

/// The model's forecasts for the rows, concatenated.
fn forecasts(archive: &Archive, rows: &[Example]) -> Option<Vec<f64>> {
    let frozen = Frozen::from_archive(archive).ok()?;
    let (mut at, mut found) = (frozen.predictor.prediction(), vec![]);
    frozen.predictor.predict_batch(rows, &mut at, &mut Decision::default(), &mut |_, at| {
        let numbers = if at.probabilities.is_empty() { &at.scores } else { &at.probabilities };
        found.extend_from_slice(numbers);
    });
    Some(found)
}
