//! First-order weights $W \in \mathbb{R}^{K \times d}$ with lazily scaled rows and known norms.

use super::vector::{add_scaled, axpy, dot, dot_in_lanes, widest};
use crate::example::Features;
use crate::state::Tensor;

/// A row's scale below this is multiplied into its weights, long before it could underflow.
const SMALLEST_SCALE: f64 = 1e-6;

/// Norms are updated incrementally; after this many updates they are computed anew, so that rounding cannot
/// pile up.
const REFRESH: u64 = 1 << 16;

/// $W$, row $k$ stored as $s_k v_k$: shrinking a row costs one multiplication, whatever its length.
///
/// The storage order belongs to this type: by class where rows are dense, by feature where they are sparse,
/// since no single order serves both.
#[derive(Clone, Debug)]
pub struct Weights {
    classes: usize,
    features: usize,
    by_feature: bool,
    values: Vec<f64>,
    scale: Vec<f64>,
    norm_squared: Vec<f64>,
    updates: u64,
    /// Room for an update.
    scores: Vec<f64>,
    step: Vec<f64>,
}

impl Weights {
    /// $W = 0$. Memory is touched only where weights become non-zero.
    pub fn new(classes: usize, features: usize, sparse: bool) -> Self {
        Self {
            classes,
            features,
            by_feature: sparse,
            values: vec![0.0; classes * features],
            scale: vec![1.0; classes],
            norm_squared: vec![0.0; classes],
            updates: 0,
            scores: vec![0.0; classes],
            step: vec![0.0; classes],
        }
    }

    /// Writes $Wx$ to `scores`.
    pub fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        if self.by_feature {
            scores_by_feature(&self.values, x, scores);
        } else if let Features::Dense(x) = x {
            // The kind of vectors is chosen once, not for every row.
            widest(
                #[inline(always)]
                || {
                    for (score, row) in scores.iter_mut().zip(self.values.chunks_exact(x.len())) {
                        *score = dot_in_lanes(x, row);
                    }
                },
            );
        } else {
            for (score, row) in scores.iter_mut().zip(self.values.chunks_exact(self.features)) {
                *score = x.dot(row);
            }
        }
        for (score, scale) in scores.iter_mut().zip(&self.scale) {
            *score *= scale;
        }
    }

    /// $W \leftarrow W + c\ x^\top$; `scores` are the current $Wx$, computed here where they are not known.
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
        if self.by_feature {
            for (i, value) in x.iter() {
                axpy(value, &self.step, &mut self.values[i * self.classes..][..self.classes]);
            }
        } else if let Features::Dense(x) = x {
            widest(
                #[inline(always)]
                || {
                    for (row, step) in self.values.chunks_exact_mut(x.len()).zip(&self.step) {
                        if *step != 0.0 {
                            add_scaled(*step, x, row);
                        }
                    }
                },
            );
        } else {
            for (row, step) in self.values.chunks_exact_mut(self.features).zip(&self.step) {
                if *step != 0.0 {
                    x.add_to(*step, row);
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

    /// Multiplies the scales in and computes the norms anew.
    fn refresh(&mut self) {
        self.norm_squared.fill(0.0);
        if self.by_feature {
            for column in self.values.chunks_exact_mut(self.classes) {
                for ((w, scale), norm) in column.iter_mut().zip(&self.scale).zip(&mut self.norm_squared) {
                    if *w != 0.0 {
                        *w *= scale;
                        *norm += *w * *w;
                    }
                }
            }
        } else {
            let rows = self.values.chunks_exact_mut(self.features);
            for ((row, scale), norm) in rows.zip(&self.scale).zip(&mut self.norm_squared) {
                for w in row.iter_mut() {
                    *w *= scale;
                }
                *norm = dot(row, row);
            }
        }
        self.scale.fill(1.0);
    }

    /// Makes room for more classes and features, all-zero, new ones appended.
    pub fn grow(&mut self, classes: usize, features: usize) {
        let mut grown = Self::new(classes, features, self.by_feature);
        for class in 0..self.classes {
            for feature in 0..self.features {
                let place = grown.place(class, feature);
                grown.values[place] = self.values[self.place(class, feature)];
            }
        }
        grown.scale[..self.classes].copy_from_slice(&self.scale);
        grown.norm_squared[..self.classes].copy_from_slice(&self.norm_squared);
        grown.updates = self.updates;
        *self = grown;
    }

    fn place(&self, class: usize, feature: usize) -> usize {
        if self.by_feature { feature * self.classes + class } else { class * self.features + feature }
    }

    /// The state.
    pub fn tensors(&mut self) -> [Tensor<'_>; 4] {
        let (k, d) = (self.classes, self.features);
        let shape = if self.by_feature { vec![d, k] } else { vec![k, d] };
        [
            Tensor::real("weights", shape, &mut self.values),
            Tensor::vector("weights_scale", &mut self.scale),
            Tensor::vector("weights_norm_squared", &mut self.norm_squared),
            Tensor::count("weights_updates", &mut self.updates),
        ]
    }
}

/// Writes $Wx$ to `scores`, for `weights` stored by feature.
pub(super) fn scores_by_feature(weights: &[f64], x: Features<'_>, scores: &mut [f64]) {
    /// Classes whose scores are kept in registers,
    const AT_ONCE: usize = 4;
    /// where that takes few passes over the row.
    const FEW: usize = 16;
    let classes = scores.len();
    if !(AT_ONCE..=FEW).contains(&classes) {
        scores.fill(0.0);
        for (i, value) in x.iter() {
            axpy(value, &weights[i * classes..][..classes], scores);
        }
        return;
    }
    // The last classes may be among those before them: they are then computed twice, alike.
    let last = classes - AT_ONCE;
    for start in (0..last).step_by(AT_ONCE).chain([last]) {
        let mut sums = [0.0; AT_ONCE];
        let mut add = |i: usize, value: f64| {
            let weights = weights[i * classes + start..].first_chunk::<AT_ONCE>().expect("a row of W");
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += value * weight;
            }
        };
        match x {
            Features::Dense(values) => values.iter().enumerate().for_each(|(i, value)| add(i, *value)),
            Features::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(i, value)| add(*i as usize, *value));
            }
        }
        scores[start..start + AT_ONCE].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// W as a plain matrix, by class.
    fn dense(weights: &Weights) -> Vec<f64> {
        let (k, d) = (weights.classes, weights.features);
        (0..k * d).map(|at| weights.scale[at / d] * weights.values[weights.place(at / d, at % d)]).collect()
    }

    #[test]
    fn scores_by_feature_of_any_number_of_classes() {
        let x = [0.5, -2.0, 0.0, 3.0, 1.25];
        for classes in 1..20 {
            let weights: Vec<f64> = (0..classes * x.len()).map(|at| (at as f64).sin()).collect();
            let column =
                |k: usize| x.iter().enumerate().map(move |(i, x)| x * (((i * classes + k) as f64).sin()));
            let want: Vec<f64> = (0..classes).map(|k| column(k).fold(0.0, |sum, term| sum + term)).collect();
            let sparse = Features::Sparse { indices: &[0, 1, 3, 4], values: &[0.5, -2.0, 3.0, 1.25] };
            for x in [Features::Dense(&x), sparse] {
                let mut scores = vec![7.0; classes];
                scores_by_feature(&weights, x, &mut scores);
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
