//! The features of an example: scaled, with the intercept, and the views that a learner takes besides.

use noregret::example::Features;
use noregret::guarantee::digits_beyond;

use super::{Encoder, Example, LARGEST_NORM, LargeRow};
use crate::encode::scale::Scaling;
use crate::fault::{Fault, fault};
use crate::read::ndjson::offers::no_room;
use crate::read::round::HashedRound;
use crate::read::row::Row;

/// The refusal of a row of a log of before.
const PRODUCTS: &str = "the row has products of features, as logs of before have them, and the model scales features before they \
                        are multiplied: replay the log with the model of its own";

impl Encoder {
    /// Writes the scaled features; with `observe`, updates the scaler with them first.
    pub(super) fn features_of(&mut self, row: &Row, out: &mut Example, observe: bool) -> Result<(), Fault> {
        match row.round() {
            Some(round) => self.round_of(round, None, out, observe),
            None if self.scaler.inputs().is_some() && !row.indices().is_empty() => Err(Fault::from(PRODUCTS)),
            None => self.numbers_of((row.indices(), row.values()), row.missing(), out, observe),
        }
    }

    /// The same for a round whose labels on offer have features of their own: their blocks; or the block of
    /// the label at the position `only`, if it is given.
    pub(crate) fn round_of(
        &mut self,
        round: &HashedRound,
        only: Option<u32>,
        out: &mut Example,
        observe: bool,
    ) -> Result<(), Fault> {
        if self.scaler.inputs().is_none() {
            let (indices, values) = self.blocks(round, only)?;
            return self.numbers_of((&indices, &values), &[], out, observe);
        }
        self.check_room(round)?;
        if observe {
            self.scaler.learn_round(round);
        }
        let beyond = self.look_at(round, only, out);
        self.counted(beyond)
    }

    /// The same with fixed scaling. Returns whether the row is beyond the learner's radius.
    fn look_at(&self, round: &HashedRound, only: Option<u32>, out: &mut Example) -> Result<bool, Fault> {
        let scaled = self.scaler.scaled_round(round);
        let (indices, values) = self.blocks(&scaled, only)?;
        let x = Features::Sparse { indices: &indices, values: &values };
        let clipped = self.scaler.clip(x);
        self.transform_clipped(with_values(x, clipped.as_deref()), &[], out)
    }

    /// The blocks of a round, with products.
    pub(crate) fn blocks(
        &self,
        round: &HashedRound,
        only: Option<u32>,
    ) -> Result<(Vec<u32>, Vec<f64>), Fault> {
        self.check_room(round)?;
        round.blocks(self.scaler.block().unwrap_or(round.width), only)
    }

    /// Refuses more labels on offer than there is room for.
    fn check_room(&self, round: &HashedRound) -> Result<(), Fault> {
        let width = self.scaler.block().unwrap_or(round.width) as usize;
        let (count, room) = (round.labels.len(), self.columns.checked_div(width).unwrap_or(0));
        match count > room {
            true => Err(Fault::from(no_room(count, room))),
            false => Ok(()),
        }
    }

    /// The same for `values` in columns `indices`, where the numbers in columns `missing` are missing.
    pub(crate) fn numbers_of(
        &mut self,
        (indices, values): (&[u32], &[f64]),
        missing: &[u32],
        out: &mut Example,
        observe: bool,
    ) -> Result<(), Fault> {
        let x = Features::Sparse { indices, values };
        let clipped = if observe { self.scaler.admit(x) } else { self.scaler.clip(x) };
        if let Some(clipped) = clipped.as_deref().filter(|_| !observe) {
            self.outside.see(indices, values, clipped);
        }
        let values = clipped.as_deref().unwrap_or(values);
        if !observe || self.sparse {
            if observe {
                self.scaler.observe(indices, values);
            }
            return self.transform_counted(Features::Sparse { indices, values }, missing, out);
        }
        // Dense rows update the scaler and are scaled in one pass.
        assert!(indices.last().is_none_or(|last| (*last as usize) < self.columns), "too many columns");
        self.begin(out);
        let at = out.values.len();
        out.values.resize(self.features(), 0.0);
        let dense = &mut out.values[at..];
        for (column, value) in indices.iter().zip(values) {
            dense[*column as usize] = *value;
        }
        if self.is_whole(missing) || self.scaler.scaling() != Scaling::Standard {
            self.scaler.observe_and_scale(indices, values, dense);
        } else {
            // The numbers in place of what is absent or missing are noted, too, so that means stay.
            for &column in &self.absent {
                dense[column as usize] = self.scaler.mean(column as usize);
            }
            if self.fills_missing {
                self.scaler.fill_next(missing, dense);
            }
            out.indices.extend((0u32..).take(self.columns));
            out.values.extend_from_within(at..);
            let (dense, noted) = out.values[at..].split_at_mut(self.columns);
            self.scaler.observe_and_scale(&out.indices, noted, dense);
            out.indices.clear();
            out.values.truncate(at + self.columns);
        }
        self.add_plain(Features::Sparse { indices, values }, out);
        let beyond = self.bound(out);
        self.counted(beyond)
    }

    /// Whether no number of a row in which those in columns `missing` are missing is replaced.
    fn is_whole(&self, missing: &[u32]) -> bool {
        self.absent.is_empty() && (missing.is_empty() || !self.fills_missing)
    }

    /// An example without features but the intercept.
    fn begin(&self, out: &mut Example) {
        out.sparse = self.sparse;
        out.indices.clear();
        out.values.clear();
        out.offered.clear();
        out.set_target(None);
        if self.intercept {
            out.values.push(1.0);
        }
    }

    /// Encodes the features `x` as an unlabelled example, after updating the scaler with them;
    /// equal to the result of [`Encoder::encode`] for a row with the same numbers. For data in
    /// memory; [`Example::set_target`] adds the label.
    ///
    /// # Errors
    /// If the features are invalid; they still update the scaler.
    ///
    /// # Panics
    /// If there are more columns than [`Encoder::columns`]; dense features have exactly as many.
    pub fn encode_features(&mut self, x: Features<'_>, out: &mut Example) -> Result<(), Fault> {
        let clipped = self.scaler.admit(x);
        let x = with_values(x, clipped.as_deref());
        match x {
            Features::Sparse { indices, values } => self.scaler.observe(indices, values),
            Features::Dense(values) if self.sparse => {
                out.indices.clear();
                out.indices.extend((0u32..).take(values.len()));
                self.scaler.observe(&out.indices, values);
            }
            Features::Dense(values) => {
                assert_eq!(values.len(), self.columns, "the width of a dense row");
                // Dense rows update the scaler and are scaled in one pass.
                self.begin(out);
                let at = out.values.len();
                out.values.extend_from_slice(values);
                out.indices.extend((0u32..).take(values.len()));
                self.scaler.observe_and_scale(&out.indices, values, &mut out.values[at..]);
                out.indices.clear();
                self.add_plain(x, out);
                let beyond = self.bound(out);
                return self.counted(beyond);
            }
        }
        self.transform_counted(x, &[], out)
    }

    fn transform_counted(
        &mut self,
        x: Features<'_>,
        missing: &[u32],
        out: &mut Example,
    ) -> Result<(), Fault> {
        let beyond = self.transform_clipped(x, missing, out);
        self.counted(beyond)
    }

    fn counted(&mut self, beyond: Result<bool, Fault>) -> Result<(), Fault> {
        self.large_rows += u64::from(!matches!(beyond, Ok(false)));
        beyond.map(drop)
    }

    /// Encodes the features `x` as an unlabelled example with fixed scaling. Returns whether the
    /// row is beyond the learner's radius.
    ///
    /// # Errors
    /// If the norm is too large, or, with [`LargeRow::Error`], beyond the radius.
    ///
    /// # Panics
    /// As [`Encoder::encode_features`].
    pub fn transform(&self, x: Features<'_>, out: &mut Example) -> Result<bool, Fault> {
        let clipped = self.scaler.clip(x);
        self.transform_clipped(with_values(x, clipped.as_deref()), &[], out)
    }

    /// The same for the features of `row`.
    ///
    /// # Errors
    /// As [`Encoder::transform`].
    ///
    /// # Panics
    /// As [`Encoder::encode`].
    pub fn transform_row(&self, row: &Row, out: &mut Example) -> Result<bool, Fault> {
        if let Some(round) = row.round() {
            return self.look_at(round, None, out);
        }
        let x = Features::Sparse { indices: row.indices(), values: row.values() };
        let clipped = self.scaler.clip(x);
        self.transform_clipped(with_values(x, clipped.as_deref()), row.missing(), out)
    }

    fn transform_clipped(&self, x: Features<'_>, missing: &[u32], out: &mut Example) -> Result<bool, Fault> {
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
                self.scale_sparse(indices, out, at);
            }
            (true, Features::Dense(values)) if self.scaler.scaling() == Scaling::Mixed => {
                let (indices, values): (Vec<u32>, Vec<f64>) =
                    (0u32..).zip(values).filter(|(_, value)| **value != 0.0).unzip();
                let x = Features::Sparse { indices: &indices, values: &values };
                return self.transform_clipped(x, missing, out);
            }
            (true, Features::Dense(values)) => {
                let non_zero = (0u32..).zip(values).filter(|(_, value)| **value != 0.0);
                for (column, value) in non_zero {
                    out.indices.push(column);
                    out.values.push(*value);
                }
                let columns = std::mem::take(&mut out.indices);
                self.scale_sparse(&columns, out, at);
                out.indices = columns;
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
                        if self.fills_missing {
                            self.scaler.fill(missing, &mut out.values[at..]);
                        }
                    }
                }
                self.scaler.scale_dense(&mut out.values[at..]);
                self.add_plain(x, out);
            }
        }
        self.bound(out)
    }

    /// Scales the values from `at` on, which are those of a sparse row in `columns`. For a learner that takes
    /// them, adds behind them their logarithms before scaling, $\operatorname{sign}(x) \ln(1 + |x|)$, divided
    /// by their norm, and the values before scaling, both with an intercept of their own.
    fn scale_sparse(&self, columns: &[u32], out: &mut Example, at: usize) {
        let end = out.values.len();
        if self.accepts.plain && self.scaler.scaling() == Scaling::MaxAbs {
            if self.intercept {
                out.values.push(1.0);
            }
            let start = out.values.len();
            out.values.extend_from_within(at..end);
            let middle = out.values.len();
            if self.intercept {
                out.values.push(1.0);
            }
            out.values.extend_from_within(at..end);
            let logarithms = &mut out.values[start..middle];
            logarithms.iter_mut().for_each(|value| *value = value.signum() * value.abs().ln_1p());
            let norm = logarithms.iter().map(|value| value * value).sum::<f64>().sqrt();
            if norm > 0.0 {
                logarithms.iter_mut().for_each(|value| *value /= norm);
            }
        }
        self.scaler.scale_sparse(columns, &mut out.values[at..end]);
    }

    /// Adds the dense row before scaling behind the scaled one, for a learner that takes both. There a
    /// missing number is 0, also far from the others: trees tell by it which ones are missing.
    fn add_plain(&self, x: Features<'_>, out: &mut Example) {
        if !self.accepts.plain || !self.scaler.scaling().adapts() {
            return;
        }
        if self.intercept {
            out.values.push(1.0);
        }
        let at = out.values.len();
        out.values.resize(at + self.columns, 0.0);
        for &column in &self.absent {
            out.values[at + column as usize] = self.scaler.centre(column as usize);
        }
        x.iter().for_each(|(column, value)| out.values[at + column] = value);
    }

    /// Removes these features, given in increasing order, from an example: they become 0 by scaling.
    pub fn remove(&self, features: &[u32], example: &mut Example) {
        let shift = usize::from(self.intercept);
        if !example.sparse && example.values.len() == 2 * self.features() {
            let plain = &mut example.values[self.features()..];
            features.iter().for_each(|feature| {
                plain[*feature as usize] = self.scaler.centre((*feature as usize).saturating_sub(shift));
            });
        }
        example.remove(features);
    }

    /// Whether the norm of a row is beyond the radius.
    fn bound(&self, out: &mut Example) -> Result<bool, Fault> {
        let norm = out.features().views(self.features()).0.norm_squared().sqrt();
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
            LargeRow::Error if norm <= LARGEST_NORM => {
                let [norm, radius] = digits_beyond(norm, self.radius);
                Err(fault!("the row has norm {norm}; at most the learner's radius {radius} was needed"))
            }
            _ => Err(fault!("the row has norm {norm:e}; at most {LARGEST_NORM:e} is allowed")),
        }
    }
}

/// The features `x` with other values, if there are any.
fn with_values<'a>(x: Features<'a>, values: Option<&'a [f64]>) -> Features<'a> {
    match (x, values) {
        (Features::Dense(_), Some(values)) => Features::Dense(values),
        (Features::Sparse { indices, .. }, Some(values)) => Features::Sparse { indices, values },
        (x, None) => x,
    }
}
