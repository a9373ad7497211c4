//! First-order weights $W \in \mathbb{R}^{K \times d}$ with a lazy scale factor for each row, and the norms
//! of the rows.

use super::cells::Cells;
use super::vector::{add_scaled, axpy, dot, dot_in_lanes, widen, widest};
use crate::example::Features;
use crate::state::Tensor;

/// If the scale of a row falls below this, it is multiplied into the weights, long before it could underflow.
const SMALLEST_SCALE: f64 = 1e-6;

/// Norms are updated incrementally, and computed from the weights after this many updates, so that rounding
/// errors do not accumulate.
const REFRESH: u64 = 1 << 16;

/// The numbers $v_k$, in the order that suits the rows.
#[derive(Clone, Debug)]
enum Values {
    /// By class, for dense rows.
    Dense(Vec<f64>),
    /// By feature, $K$ numbers each, for sparse rows: allocated when a feature first occurs.
    Sparse(Cells<f64>),
}

/// $W$, row $k$ stored as $s_k v_k$: shrinking a row costs one multiplication, whatever its length.
///
/// The storage order is by class for dense rows, and by feature for sparse rows, since no single order suits
/// both.
#[derive(Clone, Debug)]
pub struct Weights {
    classes: usize,
    features: usize,
    values: Values,
    scale: Vec<f64>,
    norm_squared: Vec<f64>,
    updates: u64,
    /// Buffer for scores.
    scores: Vec<f64>,
    step: Vec<f64>,
}

impl Weights {
    /// $W = 0$.
    pub fn new(classes: usize, features: usize, sparse: bool) -> Self {
        let values = if sparse {
            Values::Sparse(Cells::new(classes, features, usize::MAX))
        } else {
            Values::Dense(vec![0.0; classes * features])
        };
        Self {
            classes,
            features,
            values,
            scale: vec![1.0; classes],
            norm_squared: vec![0.0; classes],
            updates: 0,
            scores: vec![0.0; classes],
            step: vec![0.0; classes],
        }
    }

    /// 8-byte numbers that are allocated before the first row.
    pub(crate) fn numbers_at_first(classes: usize, features: usize, sparse: bool) -> usize {
        classes.saturating_mul(if sparse { 1 } else { features })
    }

    /// Writes $Wx$ to `scores`.
    pub fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        match (&self.values, x) {
            (Values::Sparse(cells), x) => scores_by_feature(cells, 0, x, scores),
            // The kind of vectors is chosen once for all rows of the matrix.
            (Values::Dense(values), Features::Dense(x)) => widest(
                #[inline(always)]
                || {
                    for (score, row) in scores.iter_mut().zip(values.chunks_exact(x.len())) {
                        *score = dot_in_lanes(x, row);
                    }
                },
            ),
            (Values::Dense(values), x) => {
                for (score, row) in scores.iter_mut().zip(values.chunks_exact(self.features)) {
                    *score = x.dot(row);
                }
            }
        }
        for (score, scale) in scores.iter_mut().zip(&self.scale) {
            *score *= scale;
        }
    }

    /// $W \leftarrow W + c\ x^\top$; `scores` are the current $Wx$, which are computed here if not given.
    pub fn add(&mut self, coefficients: &[f64], x: Features<'_>, scores: Option<&[f64]>) {
        let mut room = std::mem::take(&mut self.scores);
        let scores = scores.unwrap_or_else(|| {
            self.scores(x, &mut room);
            &room
        });
        let x_squared = x.norm_squared();
        for ((norm, c), score) in self.norm_squared.iter_mut().zip(coefficients).zip(scores) {
            *norm = (*norm + c * (2.0 * score + c * x_squared)).max(0.0);
        }
        self.scores = room;
        for ((step, c), scale) in self.step.iter_mut().zip(coefficients).zip(&self.scale) {
            *step = c / scale;
        }
        match (&mut self.values, x) {
            (Values::Sparse(cells), x) if self.step.iter().any(|step| *step != 0.0) => {
                for (i, value) in x.iter().filter(|(_, value)| *value != 0.0) {
                    axpy(value, &self.step, cells.get_mut(i));
                }
            }
            (Values::Sparse(..), _) => {}
            (Values::Dense(values), Features::Dense(x)) => widest(
                #[inline(always)]
                || {
                    for (row, step) in values.chunks_exact_mut(x.len()).zip(&self.step) {
                        if *step != 0.0 {
                            add_scaled(*step, x, row);
                        }
                    }
                },
            ),
            (Values::Dense(values), x) => {
                for (row, step) in values.chunks_exact_mut(self.features).zip(&self.step) {
                    if *step != 0.0 {
                        x.add_to(*step, row);
                    }
                }
            }
        }
        self.updates += 1;
        if self.updates.is_multiple_of(REFRESH) || self.scale.iter().any(|scale| *scale < SMALLEST_SCALE) {
            self.refresh();
        }
    }

    /// $\lVert w_k \rVert_2^2$ of every row.
    pub fn norms_squared(&self) -> &[f64] {
        &self.norm_squared
    }

    /// $w_k \leftarrow f w_k$ for `factor` $= f$ in (0, 1].
    pub fn shrink_row(&mut self, class: usize, factor: f64) {
        self.scale[class] *= factor;
        self.norm_squared[class] *= factor * factor;
    }

    /// Projects $W$ to the ball $\lVert W \rVert_F \le$ `radius`, which may be infinite.
    pub fn project(&mut self, radius: f64) {
        let norm = self.norm_squared.iter().sum::<f64>().sqrt();
        if norm > radius {
            (0..self.classes).for_each(|class| self.shrink_row(class, radius / norm));
        }
    }

    /// Multiplies the scales into the weights, and recomputes the norms.
    fn refresh(&mut self) {
        self.norm_squared.fill(0.0);
        let (scales, norms) = (&self.scale, &mut self.norm_squared);
        match &mut self.values {
            Values::Sparse(cells) => cells.each_mut(|column| {
                for ((w, scale), norm) in column.iter_mut().zip(scales).zip(norms.iter_mut()) {
                    if *w != 0.0 {
                        *w *= scale;
                        *norm += *w * *w;
                    }
                }
            }),
            Values::Dense(values) => {
                let rows = values.chunks_exact_mut(self.features);
                for ((row, scale), norm) in rows.zip(scales).zip(norms) {
                    for w in row.iter_mut() {
                        *w *= scale;
                    }
                    *norm = dot(row, row);
                }
            }
        }
        self.scale.fill(1.0);
    }

    /// Adds classes and features with weights of 0.
    pub fn grow(&mut self, classes: usize, features: usize) {
        let (k, d) = (self.classes, self.features);
        let mut grown = Self::new(classes, features, matches!(self.values, Values::Sparse(..)));
        match (&mut self.values, &mut grown.values) {
            (Values::Sparse(cells), Values::Sparse(grown)) => {
                cells.grow(classes, features, |old, new| new[..k].copy_from_slice(old));
                std::mem::swap(cells, grown);
            }
            (Values::Dense(values), Values::Dense(grown)) => {
                widen(values, d, grown, features);
            }
            _ => unreachable!("the order of the numbers stays"),
        }
        grown.scale[..self.classes].copy_from_slice(&self.scale);
        grown.norm_squared[..self.classes].copy_from_slice(&self.norm_squared);
        grown.updates = self.updates;
        *self = grown;
    }

    /// $w_{kj}$ without its row's scale.
    #[cfg(test)]
    fn value(&self, class: usize, feature: usize) -> f64 {
        match &self.values {
            Values::Sparse(cells) => cells.get(feature).map_or(0.0, |cell| cell[class]),
            Values::Dense(values) => values[class * self.features + feature],
        }
    }

    /// The state.
    pub fn tensors(&mut self) -> [Tensor<'_>; 4] {
        let (k, d) = (self.classes, self.features);
        let weights = match &mut self.values {
            Values::Dense(values) => Tensor::real("weights", vec![k, d], values),
            Values::Sparse(cells) => Tensor::listed("weights", cells),
        };
        [
            weights,
            Tensor::vector("weights_scale", &mut self.scale),
            Tensor::vector("weights_norm_squared", &mut self.norm_squared),
            Tensor::count("weights_updates", &mut self.updates),
        ]
    }

    /// Nothing is derived from a loaded state, and every state is valid.
    pub fn restored(&mut self) -> bool {
        true
    }
}

/// Writes $Wx$ to `scores`, for weights that are stored by feature, from the number `offset` of each cell on.
pub(crate) fn scores_by_feature(cells: &Cells<f64>, offset: usize, x: Features<'_>, scores: &mut [f64]) {
    /// Number of classes whose scores are summed in registers.
    const IN_REGISTERS: usize = 16;
    let classes = scores.len();
    let seen = x.iter().filter_map(|(i, value)| Some((value, &cells.get(i)?[offset..][..classes])));
    if classes <= IN_REGISTERS {
        let mut sums = [0.0; IN_REGISTERS];
        for (value, weights) in seen {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += value * weight;
            }
        }
        scores.copy_from_slice(&sums[..classes]);
    } else {
        scores.fill(0.0);
        seen.for_each(|(value, weights)| axpy(value, weights, scores));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// W as a plain matrix, by class.
    fn dense(weights: &Weights) -> Vec<f64> {
        let (k, d) = (weights.classes, weights.features);
        (0..k * d).map(|at| weights.scale[at / d] * weights.value(at / d, at % d)).collect()
    }

    #[test]
    fn scores_by_feature_of_any_number_of_classes() {
        let x = [0.5, -2.0, 0.0, 3.0, 1.25];
        for classes in 1..20 {
            let mut cells = Cells::new(1 + classes, x.len(), usize::MAX);
            for i in 0..x.len() {
                let weights = cells.get_mut(i)[1..].iter_mut().enumerate();
                weights.for_each(|(k, weight)| *weight = ((i * classes + k) as f64).sin());
            }
            let column =
                |k: usize| x.iter().enumerate().map(move |(i, x)| x * (((i * classes + k) as f64).sin()));
            let want: Vec<f64> = (0..classes).map(|k| column(k).fold(0.0, |sum, term| sum + term)).collect();
            let sparse = Features::Sparse { indices: &[0, 1, 3, 4], values: &[0.5, -2.0, 3.0, 1.25] };
            for x in [Features::Dense(&x), sparse] {
                let mut scores = vec![7.0; classes];
                scores_by_feature(&cells, 1, x, &mut scores);
                assert_eq!(scores, want, "{classes} classes");
            }
        }
    }

    proptest! {
        #[test]
        fn both_orders_follow_the_plain_recursion(
            rounds in prop::collection::vec(
                (prop::collection::vec(-2.0..2.0f64, 3), prop::collection::vec(-2.0..2.0f64, 4), 0.01..1.0f64),
                1..40,
            ),
        ) {
            for sparse in [false, true] {
                let mut weights = Weights::new(3, 4, sparse);
                let mut plain = vec![0.0; 12];
                for (c, x, factor) in &rounds {
                    let mut scores = [0.0; 3];
                    weights.scores(Features::Dense(x), &mut scores);
                    for k in 0..3 {
                        prop_assert!((scores[k] - dot(&plain[k * 4..][..4], x)).abs() < 1e-12);
                    }
                    weights.add(c, Features::Dense(x), sparse.then_some(&scores));
                    weights.shrink_row(1, *factor);
                    for k in 0..3 {
                        axpy(c[k], x, &mut plain[k * 4..][..4]);
                    }
                    plain[4..8].iter_mut().for_each(|w| *w *= factor);
                    for (k, norm) in weights.norms_squared().iter().enumerate() {
                        let row = &plain[k * 4..][..4];
                        prop_assert!((norm - dot(row, row)).abs() < 1e-11 * (1.0 + norm));
                    }
                }
                for (a, b) in dense(&weights).iter().zip(&plain) {
                    prop_assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()));
                }
                weights.grow(4, 6);
                let grown = dense(&weights);
                prop_assert!((grown[6] - plain[4]).abs() < 1e-12 && grown[4] == 0.0 && grown[18..].iter().all(|w| *w == 0.0));
            }
        }
    }
}
