//! The input of a round: features, and the target that is revealed after the prediction.

/// A class index in `0..classes`. The reader has the names of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Label(pub u32);

impl Label {
    /// The class as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An index of 2^32 or more, which no problem has, becomes the largest one.
impl From<usize> for Label {
    fn from(class: usize) -> Self {
        Label(u32::try_from(class).unwrap_or(u32::MAX))
    }
}

/// Smaller probabilities are replaced by this in logarithms.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-300;

/// The features of one example, borrowed: a vector $x \in \mathbb{R}^d$.
///
/// Values are finite, and sparse indices strictly increasing and below $d$. This is checked once, where data
/// are read; learners rely on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Features<'a> {
    /// All $d$ values.
    Dense(&'a [f64]),
    /// The non-zero values and their indices.
    Sparse {
        /// Strictly increasing indices below $d$.
        indices: &'a [u32],
        /// One finite value for every index.
        values: &'a [f64],
    },
}

impl<'a> Features<'a> {
    /// The stored entries as (index, value), in increasing order of index.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (indices, values) = match self {
            Features::Dense(values) => (None, values),
            Features::Sparse { indices, values } => (Some(indices), values),
        };
        values.iter().enumerate().map(move |(at, &value)| (indices.map_or(at, |i| i[at] as usize), value))
    }

    /// $\langle x, w \rangle$ for a dense `w` of length $d$.
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Features::Dense(x) => crate::kernel::vector::dot(x, w),
            Features::Sparse { indices, values } => {
                indices.iter().zip(values).map(|(&i, &v)| v * w[i as usize]).sum()
            }
        }
    }

    /// `y += scale * x` for a dense `y` of length $d$.
    pub fn add_to(self, scale: f64, y: &mut [f64]) {
        match self {
            Features::Dense(x) => crate::kernel::vector::axpy(scale, x, y),
            Features::Sparse { indices, values } => {
                for (&i, &v) in indices.iter().zip(values) {
                    y[i as usize] += scale * v;
                }
            }
        }
    }

    /// $\lVert x \rVert_2^2$.
    pub fn norm_squared(self) -> f64 {
        let values = self.values();
        crate::kernel::vector::dot(values, values)
    }

    /// The stored values: all of them for dense features, those at the indices for sparse ones.
    pub fn values(self) -> &'a [f64] {
        match self {
            Features::Dense(values) | Features::Sparse { values, .. } => values,
        }
    }
}

/// The target of a round with its importance weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target<'a> {
    /// The label.
    pub truth: Truth<'a>,
    /// Importance weight, finite and > 0; 1 for an ordinary round.
    pub weight: f64,
}

/// The label of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truth<'a> {
    /// One class.
    Class(Label),
    /// A probability vector over the classes (a soft label): non-negative, of sum 1.
    Distribution(&'a [f64]),
    /// A real number (regression).
    Value(f64),
}

impl<'a> Target<'a> {
    /// The class `label`, weight 1.
    pub fn class(label: impl Into<Label>) -> Self {
        Self { truth: Truth::Class(label.into()), weight: 1.0 }
    }

    /// The soft label `probabilities`, weight 1.
    pub fn distribution(probabilities: &'a [f64]) -> Self {
        Self { truth: Truth::Distribution(probabilities), weight: 1.0 }
    }

    /// The number `value`, weight 1.
    pub fn value(value: f64) -> Self {
        Self { truth: Truth::Value(value), weight: 1.0 }
    }

    /// The same label with importance `weight`.
    pub fn weighted(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The importance weight times the log loss of `probabilities`, in nats: cross-entropy for a soft label.
    /// Finite if the label has probability 0.
    ///
    /// # Panics
    /// On a real-valued target.
    pub(crate) fn log_loss(self, probabilities: &[f64]) -> f64 {
        let surprise = |p: f64| -p.max(LEAST_PROBABILITY).ln();
        let loss = match self.truth {
            Truth::Class(label) => surprise(probabilities[label.index()]),
            Truth::Distribution(y) => {
                let terms = y.iter().zip(probabilities).filter(|(y, _)| **y > 0.0);
                terms.map(|(y, p)| y * surprise(*p)).sum()
            }
            Truth::Value(value) => panic!("a classifier was given the real-valued target {value}"),
        };
        self.weight * loss
    }

    /// The class, if the target is one.
    pub fn label(self) -> Option<Label> {
        match self.truth {
            Truth::Class(label) => Some(label),
            _ => None,
        }
    }

    /// The class as an index, for learners that accept only classes.
    ///
    /// # Panics
    /// On any other target.
    pub(crate) fn class_index(self) -> usize {
        match self.truth {
            Truth::Class(label) => label.index(),
            other => panic!("the learner takes classes only, and was given {other:?}"),
        }
    }
}

impl Truth<'_> {
    /// `out += scale * y`, with the label as a vector over the classes.
    ///
    /// # Panics
    /// On a real-valued target, which is not a vector over classes.
    pub fn add_to(self, scale: f64, out: &mut [f64]) {
        match self {
            Truth::Class(label) => out[label.index()] += scale,
            Truth::Distribution(y) => crate::kernel::vector::axpy(scale, y, out),
            Truth::Value(value) => panic!("a classifier was given the real-valued target {value}"),
        }
    }

    /// The label $(y_0, y_1)$ over two classes.
    ///
    /// # Panics
    /// On a real-valued target, a class above 1 or a distribution over more than two classes.
    pub fn binary(self) -> [f64; 2] {
        let mut y = [0.0; 2];
        self.add_to(1.0, &mut y);
        y
    }

    /// `out -= y`, as [`Truth::add_to`].
    pub fn subtract_from(self, out: &mut [f64]) {
        self.add_to(-1.0, out);
    }
}

/// Future rows, in order, for look-ahead.
pub trait Batch {
    /// The number of rows.
    fn len(&self) -> usize;

    /// The features of row `at`.
    fn features(&self, at: usize) -> Features<'_>;

    /// Whether the batch has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Batch for &[Features<'_>] {
    fn len(&self) -> usize {
        <[Features<'_>]>::len(self)
    }

    fn features(&self, at: usize) -> Features<'_> {
        self[at]
    }
}
