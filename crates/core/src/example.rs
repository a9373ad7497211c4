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
        /// One finite value for every index, or two or three ([`Features::views`]).
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

    /// The two views of a row. A dense row of twice `features` values has the scaled row in its first half,
    /// and in its second half the row as it is in the data. A sparse row with two or three values for every
    /// index has the scaled values first, and then those that a learner of linear functions may use beside
    /// them: their logarithms before scaling, with norm 1. Other rows have one view, which is returned twice.
    pub fn views(self, features: usize) -> (Self, Self) {
        match self {
            Features::Dense(values) if values.len() == 2 * features => {
                let (scaled, plain) = values.split_at(features);
                (Features::Dense(scaled), Features::Dense(plain))
            }
            Features::Sparse { indices, values } if values.len() > indices.len() => {
                let (scaled, others) = values.split_at(indices.len());
                let other = &others[..indices.len()];
                (Features::Sparse { indices, values: scaled }, Features::Sparse { indices, values: other })
            }
            _ => (self, self),
        }
    }

    /// The row as it is in the data: the second view of a dense row, the third values of a sparse one;
    /// otherwise its first view.
    pub(crate) fn given(self, features: usize) -> Self {
        match self {
            Features::Dense(_) => self.views(features).1,
            Features::Sparse { indices, values } if values.len() == 3 * indices.len() => {
                Features::Sparse { indices, values: &values[2 * indices.len()..] }
            }
            _ => self.views(features).0,
        }
    }

    /// Whether a row from an untrusted source fits a learner of `features` features: a row with one view, or
    /// those behind it if the learner takes them (`plain`); the indices of a sparse row increase.
    pub fn fits(self, features: usize, plain: bool) -> bool {
        match self {
            Features::Dense(values) => values.len() == features || plain && values.len() == 2 * features,
            Features::Sparse { indices, values } => {
                let others = values.len().checked_sub(indices.len());
                let whole = |others| others == indices.len() || others == 2 * indices.len();
                others.is_some_and(|others| others == 0 || plain && whole(others))
                    && indices.is_sorted_by(|a, b| a < b)
                    && indices.last().is_none_or(|last| (*last as usize) < features)
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
    /// Set if not the label is known, but only what one class has earned.
    pub(crate) revealed: Option<Revealed>,
}

/// What is known of a round with bandit feedback. Its [`Target::truth`] is a belief about the label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Revealed {
    /// The class that was played.
    pub(crate) class: usize,
    /// What it has earned, in [0, 1].
    pub(crate) reward: f64,
    /// The information in this, relative to that in a label, in [0, 1]: learners with second-order steps
    /// multiply the round's curvature by it.
    pub(crate) information: f64,
}

impl Revealed {
    /// What `class` has earned, if the labels' probabilities are `p`.
    ///
    /// The Fisher information about the logits has the trace $1 - \lVert p \rVert^2$ for a label, and
    /// $\tfrac{p_a}{1 - p_a} \lVert e_a - p \rVert^2$ for whether the label is $a$. A right answer reveals
    /// the label.
    pub(crate) fn new(class: usize, reward: f64, p: &[f64]) -> Self {
        let own = p[class].clamp(0.0, 1.0);
        let squares: f64 = p.iter().map(|p| p * p).sum();
        let distance = squares + 1.0 - 2.0 * own;
        let (of_event, of_label) = (own * distance, (1.0 - own) * (1.0 - squares));
        // eq. (4) of bandit/auto.rs
        let share = if of_label > 0.0 { (of_event / of_label).clamp(0.0, 1.0) } else { 1.0 };
        Self { class, reward, information: reward + (1.0 - reward) * share }
    }
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
    /// `truth` with weight 1.
    pub(crate) fn of(truth: Truth<'a>) -> Self {
        Self { truth, weight: 1.0, revealed: None }
    }

    /// The class `label`, weight 1.
    pub fn class(label: impl Into<Label>) -> Self {
        Self::of(Truth::Class(label.into()))
    }

    /// The soft label `probabilities`, weight 1.
    pub fn distribution(probabilities: &'a [f64]) -> Self {
        Self::of(Truth::Distribution(probabilities))
    }

    /// The number `value`, weight 1.
    pub fn value(value: f64) -> Self {
        Self::of(Truth::Value(value))
    }

    /// The same label with importance `weight`.
    pub fn weighted(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The importance weight of the round's curvature.
    pub(crate) fn curvature(self) -> f64 {
        self.weight * self.information()
    }

    /// See [`Revealed::information`]; 1 if the label is known.
    pub(crate) fn information(self) -> f64 {
        self.revealed.map_or(1.0, |revealed| revealed.information)
    }

    /// Replaces a forecast `p` by the gradient of its log loss in the logits: $p - y$ for a label $y$. If
    /// only the reward $r$ of class $a$ is known, $y_a = r$, and the others share $1 - r$ as they do in $p$.
    ///
    /// # Panics
    /// On a real-valued target.
    pub(crate) fn residual(self, p: &mut [f64]) {
        let Some(Revealed { class, reward, .. }) = self.revealed else {
            return self.truth.subtract_from(p);
        };
        let own = p[class];
        p[class] = 0.0;
        let others: f64 = p.iter().sum();
        if others > LEAST_PROBABILITY {
            let factor = 1.0 - (1.0 - reward) / others;
            p.iter_mut().for_each(|p| *p *= factor);
        } else {
            let share = (1.0 - reward) / (p.len() as f64 - 1.0);
            p.iter_mut().for_each(|p| *p -= share);
        }
        p[class] = own - reward;
    }

    /// The importance weight times the log loss of `probabilities`, in nats: cross-entropy for a soft label;
    /// the loss of what was revealed, if the label is not known. Finite if the label has probability 0.
    ///
    /// # Panics
    /// On a real-valued target.
    pub(crate) fn log_loss(self, probabilities: &[f64]) -> f64 {
        let surprise = |p: f64| -p.max(LEAST_PROBABILITY).ln();
        if let Some(Revealed { class, reward, .. }) = self.revealed {
            let others = probabilities.iter().enumerate().filter(|(at, _)| *at != class);
            let others: f64 = others.map(|(_, p)| p).sum();
            let terms = [(reward, probabilities[class]), (1.0 - reward, others.min(1.0))];
            let terms = terms.into_iter().filter(|(share, _)| *share > 0.0);
            return self.weight * terms.map(|(share, p)| share * surprise(p)).sum::<f64>();
        }
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
pub trait Batch: Sync {
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

/// Rounds whose targets are known, in order.
pub trait Rounds: Batch + Sync {
    /// The target of row `at`.
    fn target(&self, at: usize) -> Target<'_>;
}

impl Batch for &[(Features<'_>, Target<'_>)] {
    fn len(&self) -> usize {
        <[(Features<'_>, Target<'_>)]>::len(self)
    }

    fn features(&self, at: usize) -> Features<'_> {
        self[at].0
    }
}

impl Rounds for &[(Features<'_>, Target<'_>)] {
    fn target(&self, at: usize) -> Target<'_> {
        self[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_all_close, assert_close};

    fn revealed(class: usize, reward: f64, p: &[f64]) -> Target<'static> {
        Target { revealed: Some(Revealed::new(class, reward, p)), ..Target::distribution(&[]) }
    }

    /// Two views fit only learners that take the row before scaling: others would read both as features.
    #[test]
    fn rows_fit_by_their_views() {
        let row = |len: usize| vec![1.0; len];
        for (len, plain, fits) in
            [(3, false, true), (3, true, true), (6, true, true), (6, false, false), (4, true, false)]
        {
            assert_eq!(Features::Dense(&row(len)).fits(3, plain), fits, "{len} values");
        }
        let sparse = |indices: &[u32]| Features::Sparse { indices, values: &[1.0, 2.0] }.fits(3, true);
        assert!(sparse(&[0, 2]) && !sparse(&[0, 3]) && !sparse(&[2, 0]) && sparse(&[1]));
        let sparse = |indices: &[u32]| Features::Sparse { indices, values: &[1.0, 2.0] }.fits(3, false);
        assert!(sparse(&[0, 2]) && !sparse(&[1]), "one view only");
        let both = [1.0, 2.0, 3.0, 4.0];
        let (scaled, plain) = Features::Dense(&both).views(2);
        assert_eq!((scaled.values(), plain.values()), (&both[..2], &both[2..]));
        let row = Features::Sparse { indices: &[4, 7], values: &both };
        let (scaled, other) = row.views(9);
        assert_eq!(scaled, Features::Sparse { indices: &[4, 7], values: &both[..2] });
        assert_eq!(other, Features::Sparse { indices: &[4, 7], values: &both[2..] });
        assert_eq!(scaled.views(9), (scaled, scaled), "one view");
        assert_eq!(row.given(9), scaled, "not known");
        let row = Features::Sparse { indices: &[4, 7], values: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        assert_eq!(row.views(9), (scaled, other), "three views");
        assert_eq!(row.given(9), Features::Sparse { indices: &[4, 7], values: &[5.0, 6.0] });
        assert!(row.fits(9, true) && !row.fits(9, false));
        assert_eq!(Features::Dense(&both).given(2).values(), &both[2..]);
    }

    /// p = (1/2, 3/10, 1/5). "Not class 0" costs -ln(1/2), with the gradient (1/2, 3/10 - 3/5, 1/5 - 2/5).
    /// Both p₀/(1 - p₀) ‖e₀ - p‖² and ‖p‖² are 0.38, and a label has the information 1 - 0.38.
    #[test]
    fn what_a_wrong_guess_reveals_by_hand() {
        let p = [0.5, 0.3, 0.2];
        let y = revealed(0, 0.0, &p);
        assert_close(y.log_loss(&p), 2f64.ln(), 1e-15, "the loss");
        let mut residual = p;
        y.residual(&mut residual);
        assert_all_close(&residual, &[0.5, -0.3, -0.2], 1e-15, "the gradient");
        assert_close(y.information(), 0.38 / 0.62, 1e-15, "the information");
        // Of class 2: p/(1 - p) = 1/4, and ‖e₂ - p‖² = 0.25 + 0.09 + 0.64.
        assert_close(revealed(2, 0.0, &p).information(), 0.245 / 0.62, 1e-15, "the information");
        assert_eq!(revealed(2, 1.0, &p).information(), 1.0);
    }

    /// The gradient is that of the loss in the logits, by differences, and of two classes a wrong guess
    /// reveals the label.
    #[test]
    fn gradients_of_what_is_revealed() {
        let softmax = |z: &[f64]| -> Vec<f64> {
            let total: f64 = z.iter().map(|z| z.exp()).sum();
            z.iter().map(|z| z.exp() / total).collect()
        };
        let z = [0.4, -1.0, 0.1, 0.7];
        for (class, reward) in [(0, 0.0), (3, 0.0), (1, 0.4), (2, 1.0)] {
            let p = softmax(&z);
            let y = revealed(class, reward, &p);
            let mut residual = p.clone();
            y.residual(&mut residual);
            for (at, residual) in residual.iter().enumerate() {
                let loss = |by: f64| {
                    let mut moved = z;
                    moved[at] += by;
                    y.log_loss(&softmax(&moved))
                };
                assert_close(*residual, (loss(1e-5) - loss(-1e-5)) / 2e-5, 1e-8, "a difference");
            }
        }
        assert_close(revealed(1, 0.0, &[0.9, 0.1]).information(), 1.0, 1e-12, "two classes");
        // All probability is on the class that was wrong.
        let mut p = [0.0, 1.0, 0.0];
        let y = revealed(1, 0.0, &p);
        assert!(y.log_loss(&p).is_finite() && (0.0..=1.0).contains(&y.information()));
        y.residual(&mut p);
        assert_eq!(p, [-0.5, 1.0, -0.5]);
    }
}
