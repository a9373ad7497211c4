//! Computes the largest norm of scaled rows without standardising each row.
//!
//! Most rows are much smaller than the largest. An upper bound on their norm, which needs neither
//! division nor square root, excludes them.

use noregret::example::Features;
use noregret::kernel::vector::{dot, sum_in_lanes};

use crate::encode::scale::{CLIP, Scaler, Scaling, note};
use crate::fault::Fault;
use crate::read::round::HashedRound;

/// Smaller sums of squared deviations are not used as divisors, because the dividend may have
/// underflowed.
const SMALLEST_SQUARES: f64 = 1e-200;

/// Upper bound on the relative rounding error of a sum.
const MARGIN: f64 = 1.0 + 1e-6;

/// A candidate scaling, and the largest squared norm of the rows scaled by it.
pub(crate) struct Trial {
    pub(crate) scaler: Scaler,
    /// The largest squared norm so far.
    pub(crate) square: f64,
    values: Vec<f64>,
    /// A row with what stands for its missing numbers: all columns and their values.
    whole: (Vec<u32>, Vec<f64>),
    /// Upper bounds on the inverse standard deviations of the columns, valid up to this row number.
    /// Sums of squared deviations do not decrease meanwhile, so an inverse variance grows at most in
    /// proportion to the number of rows.
    inverses: Vec<f64>,
    until: u64,
}

impl Trial {
    pub(crate) fn new(scaler: Scaler) -> Self {
        let (values, whole, inverses) = (Vec::new(), (Vec::new(), Vec::new()), Vec::new());
        Self { scaler, square: 0.0, values, whole, inverses, until: 0 }
    }

    /// Adds a row of `columns` columns with non-zero `values` in columns `indices`, in which the numbers in
    /// columns `missing` are missing: as for the rows of a learner, [`Scaler::stand_in`] stands for them.
    pub(crate) fn observe(&mut self, indices: &[u32], values: &[f64], missing: &[u32], columns: usize) {
        let clipped = self.scaler.admit(Features::Sparse { indices, values });
        let values = clipped.as_deref().unwrap_or(values);
        if self.scaler.scaling() == Scaling::Mixed {
            self.scaler.observe(indices, values);
            let mut square = 0.0;
            self.scaler.mix(indices, values, |_, value| square += value * value);
            self.square = self.square.max(square);
            return;
        }
        if self.scaler.scaling() != Scaling::Standard {
            self.values.clear();
            self.scaler.observe(indices, values);
            self.values.extend_from_slice(values);
            self.scaler.scale_sparse(indices, &mut self.values);
            self.square = self.square.max(dot(&self.values, &self.values));
            return;
        }
        if missing.is_empty() {
            return self.standardise(indices, values, columns);
        }
        self.spread(indices, values, columns);
        if self.scaler.fill_next(missing, &mut self.values) {
            // A sum of squared deviations has decreased.
            self.until = 0;
        }
        let mut whole = std::mem::take(&mut self.whole);
        whole.0.clear();
        whole.0.extend((0u32..).take(columns));
        whole.1.clone_from(&self.values);
        self.standardise(&whole.0, &whole.1, columns);
        self.whole = whole;
    }

    /// The same for a round whose labels on offer have features of their own, without columns that are
    /// missing. Returns the number of its values.
    /// Fails if products are too large.
    pub(crate) fn observe_round(&mut self, round: &HashedRound) -> Result<usize, Fault> {
        if self.scaler.inputs().is_none() {
            let (indices, values) = round.blocks(round.width, None)?;
            let columns = indices.last().map_or(0, |last| *last as usize + 1);
            self.observe(&indices, &values, &[], columns);
            return Ok(values.len());
        }
        self.scaler.learn_round(round);
        let (_, values) = self.scaler.scaled_round(round).blocks(round.width, None)?;
        self.square = self.square.max(dot(&values, &values));
        Ok(values.len())
    }

    /// The same for a standardised row.
    fn standardise(&mut self, indices: &[u32], values: &[f64], columns: usize) {
        if self.scaler.see_first(indices, values) {
            self.until = 0;
        }
        self.spread(indices, values, columns);
        if self.note_and_bound(indices, values) * MARGIN >= self.square {
            self.spread(indices, values, columns);
            self.square = self.square.max(self.measure());
        }
    }

    /// Expands the row to all columns.
    fn spread(&mut self, indices: &[u32], values: &[f64], columns: usize) {
        self.values.clear();
        self.values.resize(columns, 0.0);
        for (&column, value) in indices.iter().zip(values) {
            self.values[column as usize] = *value;
        }
    }

    /// Updates the scaler with the expanded row, which is overwritten. Returns a bound on its
    /// squared norm, up to rounding.
    fn note_and_bound(&mut self, indices: &[u32], values: &[f64]) -> f64 {
        let (rows, moments) = self.scaler.next(indices);
        if rows > self.until || self.inverses.len() < moments.columns() {
            self.until = rows + rows / 16;
            let most = self.until as f64;
            // A previously constant column has an infinite bound when it changes.
            let inverse =
                |squares: f64| if squares < SMALLEST_SQUARES { f64::MAX } else { (most / squares).sqrt() };
            self.inverses.clear();
            self.inverses.extend(moments.deviations(rows - 1).map(inverse));
        }
        let (inverse, inverses, mut bound) = (1.0 / rows as f64, &self.inverses, 0.0);
        let ones = moments.note_row(
            indices,
            values,
            &mut self.values,
            rows,
            #[inline(always)]
            |columns, values, means, squares| {
                let moments = means.iter_mut().zip(squares).zip(&inverses[columns]);
                for (value, ((mean, squares), over)) in values.iter_mut().zip(moments) {
                    note(*value, inverse, mean, squares);
                    let scaled = (*value - *mean) * over;
                    let square = scaled * scaled;
                    let square = if square < CLIP * CLIP { square } else { CLIP * CLIP };
                    // The bound for columns that have only been 0 or 1, which are not scaled.
                    let own = if *value == 1.0 { 1.0 } else { 0.0 };
                    *value = if square > own { square } else { own };
                }
                bound += sum_in_lanes(values);
            },
        );
        bound + ones
    }

    /// The squared norm of the expanded row after standardisation.
    fn measure(&mut self) -> f64 {
        self.scaler.scale_dense(&mut self.values);
        dot(&self.values, &self.values)
    }
}

#[cfg(test)]
mod tests {
    use noregret::learner::{Accepts, Classes};

    use super::*;
    use crate::encode::{Encoder, Example};
    use crate::read::row::Row;

    /// Rows at several orders of magnitude, some much larger than the others, with columns that appear late
    /// and a constant column.
    #[test]
    fn the_largest_norm_is_that_of_all_rows_standardised() {
        for (columns, factor) in [(3, 1.0), (8, 1.0), (21, 1e-120), (21, 1e-160), (54, 1.0), (70, 1e50)] {
            for scaling in [Scaling::Standard, Scaling::MaxAbs, Scaling::None] {
                let (mut trial, mut scaler) = (Trial::new(Scaler::new(scaling)), Scaler::new(scaling));
                let (mut largest, mut exact) = (0.0_f64, 0);
                for t in 0..600_u32 {
                    let value = |column: u32| {
                        let late = column % 5 == 4 && t < 40 * column;
                        let wave = (f64::from(t * (column + 3)) * 0.37).sin();
                        let jump = if t % 97 == column { 1.0 + f64::from(t) / 20.0 } else { 1.0 };
                        if late {
                            0.0
                        } else if column % 7 == 6 {
                            factor
                        } else if column % 9 == 2 {
                            f64::from(t % 5 > 0)
                        } else {
                            wave * jump * factor
                        }
                    };
                    let row: Vec<f64> = (0..columns).map(value).collect();
                    let non_zero = (0u32..).zip(&row).filter(|(_, value)| **value != 0.0);
                    let (indices, values): (Vec<u32>, Vec<f64>) = non_zero.unzip();
                    let before = trial.square;
                    trial.observe(&indices, &values, &[], columns as usize);
                    let mut scaled = row.clone();
                    scaler.observe_and_scale(&indices, &values, &mut scaled);
                    largest = largest.max(dot(&scaled, &scaled));
                    exact += u32::from(trial.square > before);
                    let error = (trial.square - largest).abs();
                    assert!(
                        error <= 1e-12 * largest,
                        "{scaling} {columns} {factor} {t}: {} {largest}",
                        trial.square
                    );
                }
                assert!(trial.scaler == scaler, "{scaling}: the state");
                // It grew with some rows only.
                assert!((1..300).contains(&exact), "{scaling}: {exact}");
            }
        }
    }

    /// Rows with missing numbers have the norms of the examples that are made of them.
    #[test]
    fn missing_numbers_are_means() {
        let accepts = Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false };
        let scaler = || Scaler::new(Scaling::Standard);
        let (mut trial, mut largest, mut example) = (Trial::new(scaler()), 0.0_f64, Example::default());
        let mut encoder = Encoder::new(2, accepts).with_scaler(scaler()).with_filled_missing(true);
        for t in 0..300_u32 {
            let mut row = Row::new();
            row.push(0, f64::from(t % 13) - 50.0);
            match t % 5 {
                3 => row.miss(1),
                _ => row.push(1, 90.0 + f64::from(t % 7) + f64::from(t / 299) * 40.0),
            }
            trial.observe(row.indices(), row.values(), row.missing(), 2);
            encoder.encode(&row, &mut example).expect("a good row");
            let values = example.features().values();
            largest = largest.max(dot(values, values));
            assert!((trial.square - largest).abs() <= 1e-12 * largest, "{t}: {} {largest}", trial.square);
        }
    }

    #[test]
    fn a_bound_is_no_less_than_the_norm() {
        let mut trial = Trial::new(Scaler::new(Scaling::Standard));
        for t in 0..2000_u32 {
            let row = [
                f64::from(t % 13),
                f64::from(t / 1999),
                f64::from(t % 7) - 3.0,
                1e9 + f64::from(t % 2),
                5.0,
                f64::from(t % 9 > 0),
            ];
            let indices = [0, 1, 2, 3, 4, 5];
            trial.spread(&indices, &row, 6);
            let bound = trial.note_and_bound(&indices, &row);
            trial.spread(&indices, &row, 6);
            let square = trial.measure();
            assert!(square <= bound * MARGIN, "{t}: {square} > {bound}");
            // And not much larger after many rows.
            assert!(t < 100 || bound <= 1.1 * square + CLIP * CLIP, "{t}: {bound} for {square}");
        }
    }
}
