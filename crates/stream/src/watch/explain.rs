//! Contributions of the columns of a row to its scores: the score of the row minus that of the row
//! without a feature, summed over the features of a column.
//!
//! A linear learner's score is the sum of the contributions and the score without any column. For
//! other learners, interactions of features are part of the remainder. A removed number is set to
//! its mean (to 0 without `standard` scaling); a removed category or word is absent.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use noregret::example::Features;
use noregret::prediction::Prediction;

use super::influence::column_of;
use crate::encode::{Encoder, Example};
use crate::read::columns::Columns;
use crate::read::options::Schema;
use crate::read::round::DescribedRound;
use crate::read::row::Row;
use crate::read::table::schema::CsvRole;

/// The contributions of columns to the scores of a row, or, over several rows, the mean magnitudes of what
/// they are beside their mean over the scores of a row: a constant added to all scores has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Names of the columns, the most important first.
    pub columns: Vec<String>,
    /// For each column, one number for each score: the contribution for one row, or the mean magnitude over
    /// several rows.
    pub contributions: Vec<Vec<f64>>,
    /// The remainder of the scores; NaN over several rows.
    pub rest: Vec<f64>,
    /// Number of rows.
    pub rows: u64,
}

impl Explanation {
    /// How strongly the column at `at` separates classes, on average over the rows.
    pub fn size(&self, at: usize) -> f64 {
        size(&self.contributions[at], self.rows)
    }
}

/// Explains rows of one schema.
#[derive(Clone, Debug)]
pub struct Explainer {
    schema: Columns,
    fields: HashSet<String>,
    /// Of the rows, as it was when the explainer was made.
    encoder: Arc<Encoder>,
    names: Vec<String>,
    by_name: HashMap<String, usize>,
    /// The columns of the features so far.
    places: HashMap<u32, usize>,
    /// Contributions of the last row, and sums of magnitudes of all of them, by column.
    last: Vec<Vec<f64>>,
    magnitudes: Vec<Vec<f64>>,
    rest: Vec<f64>,
    rows: u64,
    /// The columns of a block, where labels on offer have features of their own: columns are then the names
    /// of these features.
    block: Option<u32>,
}

impl Explainer {
    /// For rows of this schema and this encoder.
    pub fn new(schema: &Schema, encoder: &Encoder) -> Self {
        let fields = schema.csv.iter().flat_map(|csv| &csv.fields);
        let needed =
            fields.filter(|field| !matches!(field.role, CsvRole::Label | CsvRole::Weight | CsvRole::Drop));
        let names: Vec<String> = needed.map(|field| field.name.clone()).collect();
        let mut explainer = Self {
            schema: schema.columns.clone(),
            fields: names.iter().cloned().collect(),
            encoder: Arc::new(encoder.clone()),
            names: vec![],
            by_name: HashMap::new(),
            places: HashMap::new(),
            last: vec![],
            magnitudes: vec![],
            rest: vec![],
            rows: 0,
            block: schema.block(),
        };
        for name in names {
            explainer.column(&name);
        }
        let hashed = matches!(schema.columns, Columns::Hashed { .. }) || explainer.block.is_some();
        if explainer.fields.is_empty() && !hashed {
            (0..schema.columns.count()).for_each(|feature| {
                explainer.place(feature);
            });
        }
        explainer
    }

    fn column(&mut self, name: &str) -> usize {
        let next = self.names.len();
        let place = *self.by_name.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.names.push(name.to_owned());
            self.last.push(vec![]);
            self.magnitudes.push(vec![]);
        }
        place
    }

    /// The column of a feature.
    fn place(&mut self, feature: u32) -> usize {
        if let Some(place) = self.places.get(&feature) {
            return *place;
        }
        let name = self.schema.name(feature).into_owned();
        let column = if self.fields.is_empty() { &name } else { column_of(&name, &self.fields) };
        let place = self.column(column);
        self.places.insert(feature, place);
        place
    }

    /// Adds an encoded row; `predict` fills `at` for modified features.
    pub fn add(
        &mut self,
        example: &Example,
        at: &mut Prediction,
        mut predict: impl FnMut(Features<'_>, &mut Prediction),
    ) {
        let x = example.features();
        predict(x, at);
        let scores = self.begin(at);
        let encoder = Arc::clone(&self.encoder);
        let shift = u32::from(encoder.has_intercept());
        let mut without = |feature: u32, x: Features<'_>| {
            predict(x, at);
            let place = self.place(feature - shift);
            self.contributed(place, &scores, at);
        };
        match x {
            Features::Dense(_) => {
                let mut row = example.clone();
                for feature in shift..encoder.features() as u32 {
                    encoder.remove(&[feature], &mut row);
                    if row.features() != x {
                        without(feature, row.features());
                    }
                    row.copy_from(example);
                }
            }
            Features::Sparse { indices, .. } => {
                let mut row = example.clone();
                for &feature in indices.iter().filter(|feature| **feature >= shift) {
                    encoder.remove(&[feature], &mut row);
                    without(feature, row.features());
                    row.copy_from(example);
                }
            }
        }
        self.end(&scores);
    }

    /// The same for a row whose labels have features of their own, which are those of `round`: the score of
    /// the row minus that of the row without all features of a name.
    pub fn add_round(
        &mut self,
        round: &DescribedRound,
        example: &Example,
        at: &mut Prediction,
        mut predict: impl FnMut(Features<'_>, &mut Prediction),
    ) {
        let Some(width) = self.block else { return };
        predict(example.features(), at);
        let scores = self.begin(at);
        let encoder = Arc::clone(&self.encoder);
        let (mut row, mut other) = (Row::new(), Example::default());
        for name in round.names() {
            row.clear();
            // Without a feature no other is larger, and the row was valid.
            let Ok(()) = round.fill_without(name, width, &mut row) else { continue };
            if encoder.transform_row(&row, &mut other).is_ok() {
                predict(other.features(), at);
                let place = self.column(name);
                self.contributed(place, &scores, at);
            }
        }
        self.end(&scores);
    }

    /// Begins a row with the prediction `at`, and returns its scores.
    fn begin(&mut self, at: &Prediction) -> Vec<f64> {
        self.rest.clone_from(&at.scores);
        self.rows += 1;
        for numbers in &mut self.last {
            numbers.clear();
            numbers.resize(at.scores.len(), 0.0);
        }
        at.scores.clone()
    }

    /// Adds to a column what the scores lose without one of its features, with the prediction `at`.
    fn contributed(&mut self, place: usize, scores: &[f64], at: &Prediction) {
        self.last[place].resize(scores.len(), 0.0);
        for (class, (with, without)) in scores.iter().zip(&at.scores).enumerate() {
            self.last[place][class] += with - without;
            self.rest[class] -= with - without;
        }
    }

    /// Ends a row with these scores.
    fn end(&mut self, scores: &[f64]) {
        for (sums, numbers) in self.magnitudes.iter_mut().zip(&self.last) {
            sums.resize(scores.len(), 0.0);
            let mean = mean(numbers);
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += (number - mean).abs());
        }
    }

    /// The explanation of the rows since the last call.
    pub fn take(&mut self) -> Explanation {
        let rows = std::mem::take(&mut self.rows);
        let scores = self.rest.len();
        let mut found: Vec<(f64, usize, Vec<f64>)> = (0..self.names.len())
            .map(|place| {
                let mut numbers = match rows {
                    1 => self.last[place].clone(),
                    _ => self.magnitudes[place].iter().map(|sum| sum / rows as f64).collect(),
                };
                numbers.resize(scores, 0.0);
                (size(&numbers, rows), place, numbers)
            })
            .collect();
        found.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        self.magnitudes.iter_mut().for_each(Vec::clear);
        let columns = found.iter().map(|(_, place, _)| self.names[*place].clone()).collect();
        let contributions = found.into_iter().map(|(_, _, numbers)| numbers).collect();
        let rest = if rows == 1 { self.rest.clone() } else { vec![f64::NAN; scores] };
        if self.block.is_some() {
            // The next rounds have other features.
            self.names.clear();
            self.by_name.clear();
            self.last.clear();
            self.magnitudes.clear();
        }
        Explanation { columns, contributions, rest, rows }
    }
}

/// How strongly a column separates classes, by its contributions in a row or their mean magnitudes over
/// several.
fn size(contributions: &[f64], rows: u64) -> f64 {
    let mean = if rows == 1 { mean(contributions) } else { 0.0 };
    contributions.iter().map(|number| (number - mean).abs()).sum()
}

/// The mean of the contributions to the scores of classes; 0 if there is one score, as of a forecast of a
/// number.
fn mean(contributions: &[f64]) -> f64 {
    match contributions.len() {
        0 | 1 => 0.0,
        classes => contributions.iter().sum::<f64>() / classes as f64,
    }
}

#[cfg(test)]
mod tests {
    use noregret::example::Label;
    use noregret::learner::{OnlineLearner as _, Predictor as _};
    use noregret::problem::Problem;

    use super::*;
    use crate::read::columns::Names;
    use crate::read::format::Format;

    /// For a linear learner, contributions and the remainder sum to the scores, and a column
    /// includes all its features.
    #[test]
    fn contributions_add_up() {
        let names = ["size", "hue=red", "hue=blue"].map(str::to_owned).to_vec();
        let columns = Columns::Named(Names::try_from(names).unwrap());
        let roles = [("size", CsvRole::Numeric), ("hue", CsvRole::Categorical)];
        let fields = roles.map(|(name, role)| crate::CsvField::plain(name, role)).to_vec();
        let csv = Some(crate::CsvSchema::of(fields));
        let schema = Schema { csv, ..Schema::plain(Format::Csv, columns) };
        let entry = noregret::registry::find("ogd").expect("registered");
        let problem = Problem::new(2, 4).with_radius(2.0);
        let mut learner = entry.make(&noregret::param::Values::new(), problem, 0).expect("valid");
        let mut at = learner.prediction();
        let row = |t: u32| [1.0, f64::from(t % 5) - 2.0, f64::from(t % 2), f64::from(1 - t % 2)];
        for t in 0..100 {
            let example = Example::dense(&row(t), Some(Label(t % 2)));
            learner.predict(example.features(), &mut at);
            learner.update(example.features(), example.target().expect("labelled"), &at);
        }
        let mut explainer = Explainer::new(&schema, &Encoder::unscaled(3));
        let example = Example::dense(&row(3), None);
        explainer.add(&example, &mut at, |x, at| learner.predict(x, at));
        let one = explainer.take();
        assert_eq!((one.columns[0].as_str(), one.rows), ("hue", 1));
        learner.predict(example.features(), &mut at);
        for class in 0..2 {
            let sum: f64 = one.contributions.iter().map(|numbers| numbers[class]).sum();
            assert!((sum + one.rest[class] - at.scores[class]).abs() < 1e-12);
        }
        // Over several rows they are means of magnitudes.
        for t in 0..4 {
            explainer.add(&Example::dense(&row(t), None), &mut at, |x, at| learner.predict(x, at));
        }
        let several = explainer.take();
        assert_eq!(several.rows, 4);
        assert!(several.rest[0].is_nan() && several.contributions.concat().iter().all(|size| *size >= 0.0));
        // The contributions to the scores of two classes are opposite, and their magnitudes are equal: the
        // sizes were 0, and the order of the columns was that of rounding.
        assert_eq!(several.columns[0], "hue");
        assert!(several.size(0) > 0.1 && several.size(0) > several.size(1), "{several:?}");
    }
}
