//! From a row as it was read to an example as a learner sees it: classes, scaling, intercept.

use std::fmt;
use std::str::FromStr;

use noregret::example::Features;
use noregret::learner::{Accepts, Classes};

use super::example::{Example, OwnedTruth};
use crate::encode::labels::Labels;
use crate::encode::scale::{Scaler, Scaling};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::row::{Row, RowLabel};

/// Values and rows of a larger magnitude than this are refused: their squares, and what is computed of them,
/// could overflow.
pub const LARGEST_NORM: f64 = 1e100;

/// Importance weights beyond this are refused, for the same reason.
pub const LARGEST_WEIGHT: f64 = 1e30;

/// What to do with a row whose norm exceeds the bound that the learner was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeRow {
    /// Learn from it as it is, and count it: the guarantee is void from here on.
    #[default]
    Warn,
    /// Scale it back to the bound.
    Clip,
    /// Refuse it.
    Error,
}

impl FromStr for LargeRow {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "warn" => Ok(LargeRow::Warn),
            "clip" => Ok(LargeRow::Clip),
            "error" => Ok(LargeRow::Error),
            _ => Err(format!("{name:?} is none of warn, clip and error")),
        }
    }
}

impl fmt::Display for LargeRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LargeRow::Warn => "warn",
            LargeRow::Clip => "clip",
            LargeRow::Error => "error",
        })
    }
}

/// Makes examples of rows: finds classes, scales, adds the intercept as feature 0, and refuses what the
/// learner could not learn from. Its state is saved with the model.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// The classes that have come up; empty for a real-valued target.
    pub labels: Labels,
    /// How many classes the learner has room for. New ones are taken in until they are this many;
    /// [`usize::MAX`] for a learner that grows.
    pub classes: usize,
    /// The scaling and what it has seen.
    pub scaler: Scaler,
    /// Whether feature 0 is the constant 1.
    pub intercept: bool,
    /// Whether examples are sparse.
    pub sparse: bool,
    /// Columns of the data, without the intercept.
    pub columns: usize,
    /// What the learner learns from.
    pub accepts: Accepts,
    /// Whether features are votes: other numbers than those in [-1, 1] are refused.
    pub votes: bool,
    /// What happens to rows beyond the learner's radius.
    pub large_row: LargeRow,
    /// The learner's bound on the norm of rows.
    pub radius: f64,
    /// Rows that were beyond it.
    pub large_rows: u64,
    /// Columns of which nothing is known in the data at hand: they count as their mean.
    pub absent: Vec<u32>,
}

impl Encoder {
    /// The number of features a learner sees.
    pub fn features(&self) -> usize {
        self.columns + usize::from(self.intercept)
    }

    /// Makes an example of `row`, after the scaler took note of it.
    ///
    /// # Errors
    /// What is wrong with the row. If that is its label or norm, the scaler has seen it all the same: scaling
    /// does not depend on labels.
    ///
    /// # Panics
    /// If the row has more columns than [`Encoder::columns`].
    pub fn encode(&mut self, row: &Row, out: &mut Example) -> Result<(), String> {
        self.check(row)?;
        self.features_of(row, out, true)?;
        self.target_of(row, out, true)?;
        if out.target().is_some() {
            self.scaler.labelled();
        }
        Ok(())
    }

    /// Makes an example of `row` with classes and scaling as they stand: for prediction without learning.
    /// Returns what keeps its label from being compared with a prediction, if anything does; the example has
    /// none then.
    ///
    /// # Errors
    /// What is wrong with the features of the row.
    pub fn encode_frozen(&mut self, row: &Row, out: &mut Example) -> Result<Option<String>, String> {
        check_values(row)?;
        self.check_votes(row)?;
        self.features_of(row, out, false)?;
        let target = check_weight(row).and_then(|()| self.target_of(row, out, false));
        Ok(target.inspect_err(|_| out.set_target(None)).err())
    }

    /// Checks the values of a row.
    fn check(&self, row: &Row) -> Result<(), String> {
        check_magnitudes(row)?;
        self.check_votes(row)
    }

    fn check_votes(&self, row: &Row) -> Result<(), String> {
        match row.values().iter().find(|value| self.votes && value.abs() > 1.0) {
            Some(value) => Err(format!("the row has the value {value}; a vote in [-1, 1] was needed")),
            None => Ok(()),
        }
    }

    /// Fills in the scaled features; with `observe`, the scaler takes note of them first.
    fn features_of(&mut self, row: &Row, out: &mut Example, observe: bool) -> Result<(), String> {
        let (indices, values) = (row.indices(), row.values());
        if !observe || self.sparse {
            if observe {
                self.scaler.observe(indices, values);
            }
            return self.transform_counted(Features::Sparse { indices, values }, out);
        }
        // Dense rows are noted and scaled in one pass over them.
        assert!(indices.last().is_none_or(|last| (*last as usize) < self.columns), "too many columns");
        self.begin(out);
        let at = out.values.len();
        out.values.resize(self.features(), 0.0);
        let dense = &mut out.values[at..];
        for (column, value) in indices.iter().zip(values) {
            dense[*column as usize] = *value;
        }
        for &column in &self.absent {
            dense[column as usize] = self.scaler.mean(column as usize);
        }
        self.scaler.observe_and_scale(indices, values, dense);
        let beyond = self.bound(out);
        self.counted(beyond)
    }

    /// An example without features but the intercept.
    fn begin(&self, out: &mut Example) {
        out.sparse = self.sparse;
        out.indices.clear();
        out.values.clear();
        out.set_target(None);
        if self.intercept {
            out.values.push(1.0);
        }
    }

    /// Makes an unlabelled example of the features `x`, after the scaler took note of them: what
    /// [`Encoder::encode`] makes of a row with the same numbers. For data that are in memory already;
    /// [`Example::set_target`] adds what is true.
    ///
    /// # Errors
    /// What is wrong with the features. The scaler has seen them all the same.
    ///
    /// # Panics
    /// If there are more columns than [`Encoder::columns`]; dense features have exactly as many.
    pub fn encode_features(&mut self, x: Features<'_>, out: &mut Example) -> Result<(), String> {
        match x {
            Features::Sparse { indices, values } => self.scaler.observe(indices, values),
            Features::Dense(values) if self.sparse => {
                out.indices.clear();
                out.indices.extend((0u32..).take(values.len()));
                self.scaler.observe(&out.indices, values);
            }
            Features::Dense(values) => {
                assert_eq!(values.len(), self.columns, "the width of a dense row");
                // Dense rows are noted and scaled in one pass over them.
                self.begin(out);
                let at = out.values.len();
                out.values.extend_from_slice(values);
                out.indices.extend((0u32..).take(values.len()));
                self.scaler.observe_and_scale(&out.indices, values, &mut out.values[at..]);
                out.indices.clear();
                let beyond = self.bound(out);
                return self.counted(beyond);
            }
        }
        self.transform_counted(x, out)
    }

    fn transform_counted(&mut self, x: Features<'_>, out: &mut Example) -> Result<(), String> {
        let beyond = self.transform(x, out);
        self.counted(beyond)
    }

    fn counted(&mut self, beyond: Result<bool, String>) -> Result<(), String> {
        self.large_rows += u64::from(!matches!(beyond, Ok(false)));
        beyond.map(drop)
    }

    /// Makes an unlabelled example of the features `x` with scaling as it stands. Returns whether the row is
    /// beyond the learner's radius.
    ///
    /// # Errors
    /// If the row is too large to be learnt from, or beyond the radius and [`LargeRow::Error`] says so.
    ///
    /// # Panics
    /// As [`Encoder::encode_features`].
    pub fn transform(&self, x: Features<'_>, out: &mut Example) -> Result<bool, String> {
        let shift = u32::from(self.intercept);
        self.begin(out);
        let at = out.values.len();
        match x {
            Features::Dense(values) => assert_eq!(values.len(), self.columns, "the width of a dense row"),
            Features::Sparse { indices, .. } => {
                assert!(
                    indices.last().is_none_or(|last| (*last as usize) < self.columns),
                    "too many columns"
                );
            }
        }
        match (self.sparse, x) {
            (true, Features::Sparse { indices, values }) if self.scaler.scaling() == Scaling::Mixed => {
                out.indices.extend(0..shift);
                self.scaler.mix(indices, values, |column, value| {
                    out.indices.push(column + shift);
                    out.values.push(value);
                });
            }
            (true, Features::Sparse { indices, values }) => {
                out.indices.extend((0..shift).chain(indices.iter().map(|column| column + shift)));
                out.values.extend_from_slice(values);
                self.scaler.scale_sparse(indices, &mut out.values[at..]);
            }
            (true, Features::Dense(values)) if self.scaler.scaling() == Scaling::Mixed => {
                let (indices, values): (Vec<u32>, Vec<f64>) =
                    (0u32..).zip(values).filter(|(_, value)| **value != 0.0).unzip();
                return self.transform(Features::Sparse { indices: &indices, values: &values }, out);
            }
            (true, Features::Dense(values)) => {
                let non_zero = (0u32..).zip(values).filter(|(_, value)| **value != 0.0);
                for (column, value) in non_zero {
                    out.indices.push(column);
                    out.values.push(*value);
                }
                self.scaler.scale_sparse(&out.indices, &mut out.values[at..]);
                out.indices.iter_mut().for_each(|column| *column += shift);
                out.indices.splice(..0, 0..shift);
            }
            (false, x) => {
                match x {
                    Features::Dense(values) => out.values.extend_from_slice(values),
                    Features::Sparse { .. } => {
                        out.values.resize(self.features(), 0.0);
                        x.iter().for_each(|(column, value)| out.values[at + column] = value);
                        for &column in &self.absent {
                            out.values[at + column as usize] = self.scaler.mean(column as usize);
                        }
                    }
                }
                self.scaler.scale_dense(&mut out.values[at..]);
            }
        }
        self.bound(out)
    }

    /// Looks at the norm of a row: is it beyond the radius?
    fn bound(&self, out: &mut Example) -> Result<bool, String> {
        let norm = out.features().norm_squared().sqrt();
        if norm <= self.radius * (1.0 + 1e-9) {
            return Ok(false);
        }
        match self.large_row {
            LargeRow::Warn if norm <= LARGEST_NORM => Ok(true),
            LargeRow::Clip if norm <= LARGEST_NORM => {
                let factor = self.radius / norm;
                out.values.iter_mut().for_each(|value| *value *= factor);
                Ok(true)
            }
            LargeRow::Error if norm <= LARGEST_NORM => Err(format!(
                "the row has norm {norm:.6}; at most the learner's radius {:.6} was needed",
                self.radius
            )),
            _ => Err(format!("the row has norm {norm:e}; at most {LARGEST_NORM:e} can be computed with")),
        }
    }

    /// Fills in the truth; with `observe`, a class that is new is taken in, if there is room.
    fn target_of(&mut self, row: &Row, out: &mut Example, observe: bool) -> Result<(), String> {
        out.weight = row.weight;
        out.tag.clone_from(&row.tag);
        if row.weight != 1.0 && row.weight != 0.0 && !self.accepts.weights {
            return Err(format!(
                "the row has weight {}; the learner takes no importance weights",
                row.weight
            ));
        }
        out.truth = match row.label() {
            RowLabel::Missing => OwnedTruth::Missing,
            RowLabel::Name(name) if self.accepts.classes == Classes::Real => match name.parse::<f64>() {
                Ok(value) if value.is_finite() => OwnedTruth::Value(value),
                _ => return Err(format!("the target is {name:?}; a finite number was needed")),
            },
            RowLabel::Name(name) => match self.labels.find(name) {
                Some(label) => OwnedTruth::Class(label),
                None if observe && self.labels.len() < self.classes => {
                    OwnedTruth::Class(self.labels.intern(name))
                }
                None => return Err(self.unknown_class(name)),
            },
            RowLabel::Distribution(_) if !self.accepts.soft_labels => {
                return Err("the label is a list of probabilities; the learner takes classes only".to_owned());
            }
            RowLabel::Distribution(y) if y.len() != self.labels.len() => {
                return Err(format!(
                    "the label has {} probabilities; {} were needed",
                    y.len(),
                    self.labels.len()
                ));
            }
            RowLabel::Distribution(y) => {
                out.distribution.clear();
                out.distribution.extend_from_slice(y);
                OwnedTruth::Distribution
            }
            RowLabel::Costs(_) => {
                return Err("the label gives costs of actions; the learner needs a class".to_owned());
            }
        };
        Ok(())
    }

    fn unknown_class(&self, name: &str) -> String {
        const SHOWN: usize = 10;
        let known: Vec<&str> = self.labels.iter().take(SHOWN).collect();
        let more = if self.labels.len() > SHOWN { ", …" } else { "" };
        format!(
            "the label {name:?} is none of the {} known classes: {}{more}",
            self.labels.len(),
            known.join(", ")
        )
    }
}

/// Checks that nothing in `row` is too large to be computed with.
pub(crate) fn check_magnitudes(row: &Row) -> Result<(), String> {
    check_values(row)?;
    check_weight(row)
}

fn check_values(row: &Row) -> Result<(), String> {
    match row.values().iter().find(|value| value.abs() > LARGEST_NORM) {
        Some(value) => {
            Err(format!("the row has the value {value:e}; at most {LARGEST_NORM:e} can be computed with"))
        }
        None => Ok(()),
    }
}

fn check_weight(row: &Row) -> Result<(), String> {
    let weight = row.weight;
    if weight > LARGEST_WEIGHT {
        return Err(format!(
            "the row has weight {weight:e}; at most {LARGEST_WEIGHT:e} can be computed with"
        ));
    }
    Ok(())
}

/// An error of [`Encoder::encode`] with its place: the file and line of `row`.
pub(crate) fn row_error(source_name: &str, row: &Row, what: String) -> ReadError {
    ReadError::new(source_name, row.line, ReadErrorKind::Row(what))
}

#[cfg(test)]
mod tests;
