//! A whole stream in memory, as plain slices.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use thiserror::Error;

/// The features of $T$ rows.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// $T \times d$ values, row by row.
    Dense(&'a [f64]),
    /// Compressed sparse rows: row $t$ has `values[starts[t]..starts[t + 1]]` at
    /// `indices[starts[t]..starts[t + 1]]`.
    Sparse {
        /// $T + 1$ non-decreasing positions, from 0 to the number of values.
        starts: &'a [usize],
        /// Feature indices below $d$, distinct within a row.
        indices: &'a [u32],
        /// One value for every index.
        values: &'a [f64],
    },
}

/// The labels of $T$ rows.
#[derive(Clone, Copy, Debug)]
pub enum Labels<'a> {
    /// One class in $0..K$ for each row.
    Classes(&'a [u32]),
    /// $T \times K$ probabilities, row by row.
    Distributions(&'a [f64]),
}

/// Labelled rows with importance weights, checked by the constructor.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    classes: usize,
    features: usize,
    length: usize,
    rows: Rows<'a>,
    labels: Labels<'a>,
    weights: Option<&'a [f64]>,
}

/// What is wrong with the slices of a [`Data`], and in which row, in words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct DataError(String);

/// The error of a row with a `value` that is NaN or infinite.
pub(super) fn not_finite(row: usize, value: f64) -> DataError {
    DataError(format!("a feature of row {row} is {value}, which is not finite"))
}

impl<'a> Data<'a> {
    /// Rows of `features` features with the truth `labels` among `classes` classes, all of weight 1.
    ///
    /// # Errors
    /// Where a slice has the wrong length or holds a value that its documentation excludes.
    pub fn new(
        classes: usize,
        features: usize,
        rows: Rows<'a>,
        labels: Labels<'a>,
    ) -> Result<Self, DataError> {
        if classes < 2 || features == 0 {
            return Err(DataError(format!(
                "{classes} classes and {features} features were declared, at least 2 and 1 are needed"
            )));
        }
        let length = labels.check(classes)?;
        rows.check(length, features)?;
        Ok(Self { classes, features, length, rows, labels, weights: None })
    }

    /// No rows.
    pub(super) fn empty(classes: usize, features: usize) -> Self {
        let (rows, labels) = (Rows::Dense(&[]), Labels::Classes(&[]));
        Self { classes, features, length: 0, rows, labels, weights: None }
    }

    /// The same rows with importance weights, finite and above 0.
    ///
    /// # Errors
    /// Where a weight is not, or there is not exactly one for each row.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Self, DataError> {
        needs("weights", weights.len(), self.length)?;
        match weights.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
            Some(row) => Err(DataError(format!(
                "the weight of row {row} is {}, a finite number above 0 is needed",
                weights[row]
            ))),
            None => Ok(Self { weights: Some(weights), ..self }),
        }
    }

    /// Number of rows $T$.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Number of classes $K$.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of features $d$.
    pub fn features(&self) -> usize {
        self.features
    }

    pub(super) fn rows(&self) -> Rows<'a> {
        self.rows
    }

    pub(super) fn labels(&self) -> Labels<'a> {
        self.labels
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }
}

impl Labels<'_> {
    /// The number of labels.
    fn check(&self, classes: usize) -> Result<usize, DataError> {
        match *self {
            Labels::Classes(labels) => match labels.iter().position(|&class| class as usize >= classes) {
                Some(row) => Err(DataError(format!(
                    "row {row} is of class {} where there are {classes} classes",
                    labels[row]
                ))),
                None => Ok(labels.len()),
            },
            Labels::Distributions(p) => {
                let length = p.len() / classes;
                needs("soft labels", p.len(), length * classes)?;
                for (row, p) in p.chunks_exact(classes).enumerate() {
                    let sum: f64 = p.iter().sum();
                    let least = p.iter().copied().fold(f64::INFINITY, f64::min);
                    if !((sum - 1.0).abs() <= 1e-9 && least >= 0.0) {
                        return Err(DataError(format!(
                            "the soft label of row {row} is no probability vector: its sum is {sum}, its least entry {least}"
                        )));
                    }
                }
                Ok(length)
            }
        }
    }
}

impl<'a> Rows<'a> {
    pub(super) fn check(&self, length: usize, features: usize) -> Result<(), DataError> {
        let finite = |row: usize, values: &[f64]| match values.iter().find(|v| !v.is_finite()) {
            Some(&value) => Err(not_finite(row, value)),
            None => Ok(()),
        };
        match *self {
            Rows::Dense(values) => {
                needs("features", values.len(), length * features)?;
                values.chunks_exact(features).enumerate().try_for_each(|(row, x)| finite(row, x))
            }
            Rows::Sparse { starts, indices, values } => {
                needs("row positions", starts.len(), length + 1)?;
                needs("feature indices", indices.len(), values.len())?;
                for row in 0..length {
                    let Some(x) = values.get(starts[row]..starts[row + 1]) else {
                        return Err(DataError(format!(
                            "the row positions of row {row} are not within the {} stored values",
                            values.len()
                        )));
                    };
                    finite(row, x)?;
                    let indices = &indices[starts[row]..starts[row + 1]];
                    if let Some(&index) = indices.iter().find(|&&index| index as usize >= features) {
                        return Err(DataError(format!(
                            "a feature of row {row} has index {index} where there are {features} features"
                        )));
                    }
                }
                Ok(())
            }
        }
    }

    /// How many values are stored.
    pub(super) fn stored(&self) -> usize {
        match self {
            Rows::Dense(values) | Rows::Sparse { values, .. } => values.len(),
        }
    }

    /// `out = X_block Uᵀ`: `out` has a row of q numbers for each row of the block, `u` is q x d, both row by
    /// row.
    pub(super) fn times(&self, block: Range<usize>, u: &[f64], d: usize, out: &mut [f64]) {
        let (n, q) = (block.len(), u.len() / d);
        match *self {
            Rows::Dense(values) => {
                let x = MatRef::from_row_major_slice(&values[block.start * d..block.end * d], n, d);
                let u = MatRef::from_row_major_slice(u, q, d);
                let out = MatMut::from_row_major_slice_mut(out, n, q);
                matmul(out, Accum::Replace, x, u.transpose(), 1.0, Par::Seq);
            }
            Rows::Sparse { starts, indices, values } => {
                for (row, out) in block.zip(out.chunks_exact_mut(q)) {
                    let stored = starts[row]..starts[row + 1];
                    for (out, u) in out.iter_mut().zip(u.chunks_exact(d)) {
                        let entries = indices[stored.clone()].iter().zip(&values[stored.clone()]);
                        *out = entries.map(|(&i, v)| u[i as usize] * v).sum();
                    }
                }
            }
        }
    }

    /// `g += Rᵀ X_block`, with `r` and `g` laid out as `out` and `u` of [`Rows::times`].
    pub(super) fn add_transposed(&self, block: Range<usize>, r: &[f64], d: usize, g: &mut [f64]) {
        let (n, q) = (block.len(), g.len() / d);
        match *self {
            Rows::Dense(values) => {
                let x = MatRef::from_row_major_slice(&values[block.start * d..block.end * d], n, d);
                let r = MatRef::from_row_major_slice(r, n, q);
                let g = MatMut::from_row_major_slice_mut(g, q, d);
                matmul(g, Accum::Add, r.transpose(), x, 1.0, Par::Seq);
            }
            Rows::Sparse { starts, indices, values } => {
                for (row, r) in block.zip(r.chunks_exact(q)) {
                    let stored = starts[row]..starts[row + 1];
                    for (r, g) in r.iter().zip(g.chunks_exact_mut(d)) {
                        for (&i, v) in indices[stored.clone()].iter().zip(&values[stored.clone()]) {
                            g[i as usize] += r * v;
                        }
                    }
                }
            }
        }
    }

    /// The block as dense rows, copied to `buffer` if they are stored in another form.
    pub(super) fn dense<'b>(&self, block: Range<usize>, d: usize, buffer: &'b mut Vec<f64>) -> &'b [f64]
    where
        'a: 'b,
    {
        match *self {
            Rows::Dense(values) => &values[block.start * d..block.end * d],
            Rows::Sparse { starts, indices, values } => {
                buffer.clear();
                buffer.resize(block.len() * d, 0.0);
                for (row, x) in block.zip(buffer.chunks_exact_mut(d)) {
                    for at in starts[row]..starts[row + 1] {
                        x[indices[at] as usize] = values[at];
                    }
                }
                buffer
            }
        }
    }
}

fn needs(what: &str, length: usize, needed: usize) -> Result<(), DataError> {
    if length == needed {
        return Ok(());
    }
    Err(DataError(format!("the {what} have length {length} where {needed} is needed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(rows: Rows<'_>, labels: Labels<'_>) -> String {
        Data::new(3, 2, rows, labels).expect_err("bad data").to_string()
    }

    #[test]
    fn bad_data_is_named() {
        let dense = [1.0, 2.0, 3.0, 4.0];
        let (rows, labels) = (Rows::Dense(&dense), Labels::Classes(&[0, 2]));
        let data = Data::new(3, 2, rows, labels).expect("good data");
        assert_eq!((data.len(), data.classes(), data.features()), (2, 3, 2));
        for (error, part) in [
            (sentence(rows, Labels::Classes(&[0, 3])), "row 1 is of class 3"),
            (sentence(rows, Labels::Classes(&[0])), "features have length 4 where 2"),
            (sentence(Rows::Dense(&[1.0, f64::NAN, 0.0, 0.0]), labels), "row 0 is NaN"),
            (sentence(rows, Labels::Distributions(&[0.5, 0.5, 0.0, 0.5, 0.6, 0.0])), "row 1"),
            (sentence(rows, Labels::Distributions(&[0.5, 0.5])), "soft labels have length 2"),
            (
                sentence(Rows::Sparse { starts: &[0, 1, 2], indices: &[0, 2], values: &[1.0; 2] }, labels),
                "index 2",
            ),
            (
                sentence(Rows::Sparse { starts: &[0, 3, 2], indices: &[0, 1], values: &[1.0; 2] }, labels),
                "row 0",
            ),
            (
                sentence(Rows::Sparse { starts: &[0, 1], indices: &[0, 1], values: &[1.0; 2] }, labels),
                "positions",
            ),
            (data.with_weights(&[1.0, 0.0]).expect_err("bad").to_string(), "weight of row 1 is 0"),
            (data.with_weights(&[1.0]).expect_err("bad").to_string(), "weights have length 1"),
            (Data::new(1, 2, rows, labels).expect_err("bad").to_string(), "1 classes"),
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}
