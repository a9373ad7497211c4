//! Influence of columns: the increase of the loss on the last rows when a column is removed.
//!
//! Applicable to every learner. It measures what the learner uses: of two redundant columns, each
//! can be removed without loss.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;

use noregret::algorithm::Forecast;
use noregret::example::Label;
use noregret::learner::Predictor;
use noregret::prediction::argmax;

use crate::encode::{Encoder, Example};
use crate::read::columns::Columns;
use crate::read::options::Schema;
use crate::run::score::{RoundScore, Score};
use crate::run::{Outcome, Sink};

/// Number of the last labelled rows that are kept.
const ROWS: usize = 200;

/// Largest number of columns, which bounds the time.
const MOST_COLUMNS: usize = 100;

/// A column of the data, with its features.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its features, by the learner's indices, in increasing order.
    pub features: Vec<u32>,
}

/// Keeps the last rows of a run.
#[derive(Clone, Debug, Default)]
pub struct Influence {
    rows: Vec<Example>,
    next: usize,
}

impl Influence {
    /// Without a row.
    pub fn new() -> Self {
        Self::default()
    }

    /// The kept rows, in no particular order.
    pub fn rows(&self) -> &[Example] {
        &self.rows
    }

    /// For each column of rows of `encoder`: the mean loss of the last rows without it minus that with it,
    /// the largest first. The loss is that of the forecast: log loss in nats, squared loss, or the error rate
    /// of the best label. Empty without rows, or for too many columns.
    pub fn report<P: Predictor + ?Sized>(
        &self,
        learner: &P,
        forecast: Forecast,
        encoder: &Encoder,
        columns: &[Column],
    ) -> Vec<(String, f64)> {
        if self.rows.is_empty() || columns.len() > MOST_COLUMNS {
            return Vec::new();
        }
        let whole = mean_loss(&self.rows, learner, forecast);
        let mut found: Vec<(String, f64)> = (columns.iter())
            .map(|column| {
                let mut rows = self.rows.clone();
                rows.iter_mut().for_each(|row| encoder.remove(&column.features, row));
                (column.name.clone(), mean_loss(&rows, learner, forecast) - whole)
            })
            .collect();
        found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        found
    }
}

/// The mean loss of `learner` on `rows`.
fn mean_loss<P: Predictor + ?Sized>(rows: &[Example], learner: &P, forecast: Forecast) -> f64 {
    let features: Vec<_> = rows.iter().map(Example::features).collect();
    let mut sum = 0.0;
    learner.predict_batch(&&features[..], &mut learner.prediction(), &mut |row, at| {
        let Some(target) = rows[row].target() else { return };
        let round = RoundScore::new(forecast, at, Label::from(argmax(&at.scores)), target);
        let losses = matches!(forecast, Forecast::Probabilities | Forecast::Value);
        sum += if losses { round.loss } else { round.greedy_error };
    });
    sum / rows.len() as f64
}

/// The columns of data of this schema. `shift` features, such as the intercept, precede those of
/// the data; there are `features` in all. Empty if columns have no names.
pub fn columns(schema: &Schema, shift: u32, features: u32) -> Vec<Column> {
    let fields: HashSet<&str> =
        schema.csv.iter().flat_map(|csv| &csv.fields).map(|field| field.name.as_str()).collect();
    let mut found: Vec<Column> = Vec::new();
    let mut places = std::collections::HashMap::<String, usize>::new();
    let count = match &schema.columns {
        Columns::Hashed { .. } => 0,
        columns => columns.count().min(features.saturating_sub(shift)),
    };
    for feature in 0..count {
        let name = schema.columns.name(feature);
        let name = column_of(&name, &fields);
        let place = *places.entry(name.to_owned()).or_insert_with(|| {
            found.push(Column { name: name.to_owned(), features: Vec::new() });
            found.len() - 1
        });
        found[place].features.push(feature + shift);
    }
    found
}

/// The column of the feature `name`: categories are `column=category`, words `column~word`, numbers
/// of a time `column:number`.
pub(super) fn column_of<'a, F: Borrow<str> + Eq + Hash>(name: &'a str, fields: &HashSet<F>) -> &'a str {
    if fields.contains(name) {
        return name;
    }
    let ends = name.char_indices().filter(|(_, c)| matches!(c, '=' | '~' | ':'));
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    let known = ends.iter().find(|end| fields.contains(&name[..**end]));
    let end = known.or_else(|| ends.iter().find(|end| name[**end..].starts_with('=')));
    end.map_or(name, |end| &name[..*end])
}

impl Sink for Influence {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        if outcome.target.is_none() {
            return Ok(());
        }
        if self.rows.len() < ROWS {
            self.rows.push(outcome.example.clone());
        } else {
            self.rows[self.next].copy_from(outcome.example);
            self.next = (self.next + 1) % ROWS;
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use noregret::learner::OnlineLearner as _;
    use noregret::problem::Problem;

    use super::*;

    #[test]
    fn names_of_columns() {
        let fields: HashSet<&str> = ["said", "a=b", "at"].into();
        let cases = [
            ("said~box came", "said"),
            ("a=b=c", "a=b"),
            ("at:hour=missing", "at"),
            ("x=1", "x"),
            ("u:v", "u:v"),
        ];
        for (feature, column) in cases {
            assert_eq!(column_of(feature, &fields), column);
        }
    }

    /// The label is the sign of the first column; the second is irrelevant.
    #[test]
    fn what_decides_comes_first() {
        let entry = noregret::registry::find("folklore").expect("registered");
        let problem = Problem::new(2, 3).with_radius(2.0);
        let mut learner = entry.make(&noregret::param::Values::new(), problem, 0).expect("valid");
        let (mut at, mut influence) = (learner.prediction(), Influence::new());
        for t in 0..300_u32 {
            let (a, b) = (if t % 2 == 0 { 1.0 } else { -1.0 }, if t % 3 == 0 { 1.0 } else { -0.5 });
            let example = Example::dense(&[1.0, a, b], Some(Label(u32::from(a > 0.0))));
            learner.predict(example.features(), &mut at);
            learner.update(example.features(), example.target().expect("labelled"), &at);
            influence.rows.push(example);
        }
        let column = |name: &str, feature| Column { name: name.to_owned(), features: vec![feature] };
        let encoder = Encoder::unscaled(2);
        let found = influence.report(
            learner.as_ref(),
            Forecast::Probabilities,
            &encoder,
            &[column("b", 2), column("a", 1)],
        );
        assert_eq!(found[0].0, "a");
        assert!(found[0].1 > 0.5 && found[1].1.abs() < 0.05, "{found:?}");
        assert!(Influence::new().report(learner.as_ref(), Forecast::Probabilities, &encoder, &[]).is_empty());
    }
}
