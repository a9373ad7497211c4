//! The second-order learner of margins that SOBA and the second-order Perceptron have in common.
//!
//! In a round it learns that the class of $x$ is $y$, which was revealed with probability $p$ (1 with full
//! information). With the best other class $\bar y$, $u = (e_{\bar y} - e_y) \otimes x$ and $z = u/\sqrt p$,
//! the weights are $W = A^{-1}\theta$ for $A = aI + \sum n z z^\top$ and $\theta = -\sum n u/p$, where $n =
//! 1$ in rounds that update. A round only needs $\delta = \langle W, u \rangle = s_{\bar y} - s_y$ and $Q =
//! u^\top A^{-1} u$:
//!
//! $$ m = \frac{\langle W, z \rangle^2 + 2\langle W, u/p \rangle}{1 + z^\top A^{-1} z} =
//!    \frac{\delta(\delta + 2)}{p + Q}, \qquad
//!    n = 1 \text{ iff } \textstyle\sum_{s<t} n_s m_s + m_t \ge 0, \tag{1} $$
//! $$ A^{-1} \mathrel{-}= \frac{vv^\top}{p + Q}, \quad W \mathrel{-}= \frac{\delta + 1}{p + Q}\ v, \quad v =
//!    A^{-1}u, \tag{2} $$
//!
//! and the regret depends on the sum over updates of $z^\top A_t^{-1} z = Q/(p + Q)$, with the new $A_t$.
//! (Beygelzimer, Orabona, Zhang, "Efficient online bandit multiclass learning with Õ(√T) regret", 2017,
//! Algorithm 1.)

use std::fmt::Debug;

use crate::example::Features;
use crate::kernel::cells::Cells;
use crate::kernel::lowrank_inverse::LowRankInverse;
use crate::kernel::vector::{axpy, dot, widen, widened};
use crate::kernel::weights::scores_by_feature;
use crate::loss::hinge::margin;
use crate::merge::{Merge, MergeError};
use crate::state::Tensor;

/// The matrix $A$ and the weights $W = A^{-1}\theta$.
pub trait Metric: Clone + Debug + Send + Sync + 'static {
    /// Whether the theorem applies to it.
    const HAS_THEOREM: bool;

    /// Writes $Wx$ to `scores`.
    fn scores(&self, x: Features<'_>, scores: &mut [f64]);

    /// $Q = u^\top A^{-1} u \ge 0$ for $u = (e_{\bar y} - e_y) \otimes x$; by-products are kept for
    /// [`Metric::step`].
    fn quadratic(&mut self, x: Features<'_>, pair: Pair) -> f64;

    /// An upper bound on $Q$ in $O(\mathrm{nnz}(x))$: $2\lVert x \rVert^2/a$, since $A \succeq aI$.
    fn largest_quadratic(&self, x: Features<'_>) -> f64;

    /// (2), after [`Metric::quadratic`] for the same row and pair.
    fn step(&mut self, x: Features<'_>, pair: Pair, step: Step);

    /// Adds classes and features, as if they had existed with features of 0 from the start.
    fn grow(&mut self, classes: usize, features: usize);

    /// The sums of $A$ and $\theta$ over `parts`, of equal sizes and $a$.
    ///
    /// # Errors
    /// If $A$ cannot be recovered.
    fn merged(parts: &[&Self], how: Merge) -> Result<Self, MergeError>;

    /// The state.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Recomputes what is derived from the state; false if the state is inconsistent.
    fn restored(&mut self) -> bool;
}

/// A [`Metric`] whose only parameter is $a$.
pub trait PlainMetric: Metric {
    /// $A = aI$ with `regularization` $= a > 0$, $W = 0$.
    fn new(classes: usize, features: usize, regularization: f64) -> Self;

    /// 8-byte numbers of state.
    fn numbers(classes: usize, features: usize) -> usize;

    /// The part of them that is allocated before the first row.
    fn numbers_at_first(classes: usize, features: usize) -> usize {
        Self::numbers(classes, features)
    }
}

/// The two classes that a round compares.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// $y$.
    pub label: usize,
    /// $\bar y$.
    pub rival: usize,
}

/// The quantities of an update.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// $\delta = s_{\bar y} - s_y$.
    pub delta: f64,
    /// $p$.
    pub probability: f64,
    /// $p + Q$.
    pub weight: f64,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SecondOrderMargin<M> {
    metric: M,
    /// $\sum n m \ge 0$.
    margins: f64,
    /// $\sum n Q/(p + Q)$.
    quadratics: f64,
    updates: u64,
}

impl<M: PlainMetric> SecondOrderMargin<M> {
    /// $W = 0$ and $A = aI$ with `regularization` $= a > 0$.
    pub fn new(classes: usize, features: usize, regularization: f64) -> Self {
        Self::of(M::new(classes, features, regularization))
    }
}

impl<M: Metric> SecondOrderMargin<M> {
    /// With the matrix and weights of `metric`, before the first round.
    pub fn of(metric: M) -> Self {
        Self { metric, margins: 0.0, quadratics: 0.0, updates: 0 }
    }

    /// The matrix and the weights.
    pub fn metric(&self) -> &M {
        &self.metric
    }

    /// Writes $Wx$ to `scores`.
    pub fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        self.metric.scores(x, scores);
    }

    /// Learns that the class of `x` with the current `scores` $= Wx$ is `label`, which was revealed with
    /// `probability` $= p > 0$. By (1), there may be no update if the prediction was right. Returns whether
    /// there was one.
    pub fn learn(&mut self, x: Features<'_>, scores: &[f64], label: usize, probability: f64) -> bool {
        let margin = margin(scores, label);
        let pair = Pair { label, rival: margin.rival };
        let delta = -margin.value;
        // A negative m is closest to 0 for the largest Q: if even that m is too small, Q need not be
        // computed.
        let bonus = delta * (delta + 2.0);
        if self.margins + bonus / (probability + 1.001 * self.metric.largest_quadratic(x)) < 0.0 {
            return false;
        }
        let quadratic = self.metric.quadratic(x, pair);
        let weight = probability + quadratic;
        let m = bonus / weight; // eq. (1)
        if self.margins + m < 0.0 {
            return false;
        }
        self.metric.step(x, pair, Step { delta, probability, weight }); // eq. (2)
        self.margins += m;
        self.quadratics += quadratic / weight;
        self.updates += 1;
        true
    }

    /// $\sum n m \ge 0$: the sum in (1).
    pub fn margins(&self) -> f64 {
        self.margins
    }

    /// $\sum n z^\top A_t^{-1} z$.
    pub fn quadratics(&self) -> f64 {
        self.quadratics
    }

    /// The number of rounds that updated.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Adds classes and features, as if they had existed with features of 0 from the start.
    pub fn grow(&mut self, classes: usize, features: usize) {
        self.metric.grow(classes, features);
    }

    /// The sums of the states of `parts`, of equal sizes and $a$ (theory: bandit 2.5).
    ///
    /// # Errors
    /// If $A$ cannot be recovered.
    pub fn merged(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let metrics: Vec<&M> = parts.iter().map(|part| &part.metric).collect();
        let mut merged = Self::of(M::merged(&metrics, how)?);
        for part in parts {
            merged.margins += part.margins;
            merged.quadratics += part.quadratics;
            merged.updates += part.updates;
        }
        Ok(merged)
    }

    /// The state.
    pub fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.metric.tensors();
        tensors.push(Tensor::number("margins", &mut self.margins));
        tensors.push(Tensor::number("quadratics", &mut self.quadratics));
        tensors.push(Tensor::count("updates", &mut self.updates));
        tensors
    }

    /// Recomputes what is derived from the state; false if the state is inconsistent.
    pub fn restored(&mut self) -> bool {
        self.metric.restored()
    }
}

/// The full $A$ of side $Kd$, stored as its inverse.
#[derive(Clone, Debug)]
pub struct FullMetric {
    classes: usize,
    features: usize,
    regularization: f64,
    inverse: LowRankInverse,
    /// $W$, by class.
    weights: Vec<f64>,
    /// $v = A^{-1} u$ of the round.
    direction: Vec<f64>,
}

impl PlainMetric for FullMetric {
    fn new(classes: usize, features: usize, regularization: f64) -> Self {
        Self {
            classes,
            features,
            regularization,
            inverse: LowRankInverse::new(classes, features, regularization, 1),
            weights: vec![0.0; classes * features],
            direction: vec![0.0; classes * features],
        }
    }

    fn numbers(classes: usize, features: usize) -> usize {
        LowRankInverse::numbers(classes, features)
    }
}

impl Metric for FullMetric {
    const HAS_THEOREM: bool = true;

    fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        for (score, row) in scores.iter_mut().zip(self.weights.chunks_exact(self.features)) {
            *score = x.dot(row);
        }
    }

    fn quadratic(&mut self, x: Features<'_>, Pair { label, rival }: Pair) -> f64 {
        self.inverse.combination(x, &[(rival, 1.0), (label, -1.0)], &mut self.direction);
        let block = |class: usize| &self.direction[class * self.features..][..self.features];
        let quadratic = x.dot(block(rival)) - x.dot(block(label));
        // A⁻¹ ⪯ I/a implies Q >= a|v|². Rounding may violate this if rows are many orders of magnitude longer
        // than others or than a suggests; then the next downdate would be unbounded.
        quadratic.max(self.regularization * dot(&self.direction, &self.direction))
    }

    fn largest_quadratic(&self, x: Features<'_>) -> f64 {
        2.0 * x.norm_squared() / self.regularization
    }

    fn step(&mut self, _x: Features<'_>, _pair: Pair, Step { delta, weight, .. }: Step) {
        axpy(-(delta + 1.0) / weight, &self.direction, &mut self.weights);
        self.inverse.downdate(&self.direction, &[1.0 / weight.sqrt()]);
    }

    fn grow(&mut self, classes: usize, features: usize) {
        self.weights = widened(&self.weights, self.features, classes, features);
        self.direction = vec![0.0; self.weights.len()];
        self.inverse.grow(classes, features, self.regularization, 1);
        (self.classes, self.features) = (classes, features);
    }

    fn merged(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let Self { classes, features, regularization, .. } = *parts[0];
        let mut merged = Self::new(classes, features, how.regularization(regularization, parts.len()));
        let n = classes * features;
        let (mut a, mut theta) = (vec![0.0; n * n], vec![0.0; n]);
        for (at, part) in parts.iter().enumerate() {
            let own = part.inverse.precision().ok_or(MergeError::Singular { part: Some(at) })?;
            axpy(1.0, &own, &mut a);
            own.chunks_exact(n).zip(&mut theta).for_each(|(row, theta)| *theta += dot(row, &part.weights));
        }
        let surplus = parts.len() as f64 * regularization - merged.regularization;
        a.iter_mut().step_by(n + 1).for_each(|entry| *entry -= surplus);
        if !merged.inverse.set_precision(a) {
            return Err(MergeError::Singular { part: None });
        }
        merged.inverse.apply(&theta, &mut merged.weights);
        Ok(merged)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::real("weights", vec![self.classes, self.features], &mut self.weights));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.inverse.restored()
    }
}

/// $A$ replaced by its diagonal: no theorem, $O(\mathrm{nnz}(x))$ for an update, memory allocated only for
/// features that occur.
#[derive(Clone, Debug)]
pub struct DiagonalMetric {
    classes: usize,
    regularization: f64,
    /// For every feature $K$ numbers each: the diagonal of $A - aI$, $\theta$, and $W = \theta / A$.
    cells: Cells<f64>,
}

impl PlainMetric for DiagonalMetric {
    fn new(classes: usize, features: usize, regularization: f64) -> Self {
        Self { classes, regularization, cells: Cells::new(3 * classes, features, usize::MAX) }
    }

    fn numbers(classes: usize, features: usize) -> usize {
        classes.saturating_mul(features).saturating_mul(3)
    }

    fn numbers_at_first(classes: usize, _features: usize) -> usize {
        classes
    }
}

impl Metric for DiagonalMetric {
    const HAS_THEOREM: bool = false;

    fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        scores_by_feature(&self.cells, 2 * self.classes, x, scores);
    }

    fn quadratic(&mut self, x: Features<'_>, Pair { label, rival }: Pair) -> f64 {
        let entry = |i: usize, class: usize| {
            self.regularization + self.cells.get(i).map_or(0.0, |growth| growth[class])
        };
        x.iter().map(|(i, value)| value * (value / entry(i, label) + value / entry(i, rival))).sum()
    }

    fn largest_quadratic(&self, x: Features<'_>) -> f64 {
        2.0 * x.norm_squared() / self.regularization
    }

    fn step(&mut self, x: Features<'_>, Pair { label, rival }: Pair, Step { probability, .. }: Step) {
        for (i, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let (growth, rest) = self.cells.get_mut(i).split_at_mut(self.classes);
            let (sums, weights) = rest.split_at_mut(self.classes);
            for (class, sign) in [(label, 1.0), (rival, -1.0)] {
                growth[class] += value * value / probability;
                sums[class] += sign * value / probability;
                weights[class] = sums[class] / (self.regularization + growth[class]);
            }
        }
    }

    fn grow(&mut self, classes: usize, features: usize) {
        let k = self.classes;
        self.cells.grow(3 * classes, features, |old, new| widen(old, k, new, classes));
        self.classes = classes;
    }

    fn merged(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let Self { classes, regularization, ref cells, .. } = *parts[0];
        let regularization = how.regularization(regularization, parts.len());
        let mut merged = Self::new(classes, cells.features(), regularization);
        for part in parts {
            merged.cells.take_in(&part.cells, |own, sum| axpy(1.0, own, sum));
        }
        merged.cells.each_mut(|cell| {
            let (growth, rest) = cell.split_at_mut(classes);
            let (sums, weights) = rest.split_at_mut(classes);
            for ((weight, sum), growth) in weights.iter_mut().zip(sums).zip(growth) {
                *weight = *sum / (regularization + *growth);
            }
        });
        Ok(merged)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::listed("cells", &mut self.cells)]
    }

    fn restored(&mut self) -> bool {
        let (k, mut valid) = (self.classes, true);
        self.cells.each(|cell| valid &= cell[..k].iter().all(|growth| *growth >= 0.0));
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, quadratic, unit_rows};

    /// Dense A and θ, as in SOBA's Algorithm 1, with the quantities of the round.
    struct Plain {
        classes: usize,
        a: Vec<f64>,
        theta: Vec<f64>,
        margins: f64,
        diagonal: bool,
    }

    impl Plain {
        /// b' A^{-1} c, by polarisation of the positive quadratic form.
        fn form(&self, b: &[f64], c: &[f64]) -> f64 {
            let sum = |s: f64| b.iter().zip(c).map(|(b, c)| b + s * c).collect::<Vec<f64>>();
            0.25 * (quadratic(&self.a, &sum(1.0)) - quadratic(&self.a, &sum(-1.0)))
        }

        fn row(&self, class: usize, scale: f64, x: &[f64]) -> Vec<f64> {
            let mut row = vec![0.0; self.theta.len()];
            row[class * x.len()..][..x.len()].iter_mut().zip(x).for_each(|(r, x)| *r = scale * x);
            row
        }

        fn scores(&self, x: &[f64]) -> Vec<f64> {
            (0..self.classes).map(|k| self.form(&self.theta, &self.row(k, 1.0, x))).collect()
        }

        fn learn(&mut self, x: &[f64], label: usize, p: f64) -> bool {
            let scores = self.scores(x);
            let rival = margin(&scores, label).rival;
            let mut g = self.row(rival, 1.0 / p, x);
            g[label * x.len()..][..x.len()].iter_mut().zip(x).for_each(|(g, x)| *g = -x / p);
            let z: Vec<f64> = g.iter().map(|g| g * p.sqrt()).collect();
            let (wz, wg) = (self.form(&self.theta, &z), self.form(&self.theta, &g));
            let m = (wz * wz + 2.0 * wg) / (1.0 + quadratic(&self.a, &z));
            if self.margins + m < 0.0 {
                return false;
            }
            self.margins += m;
            for i in 0..z.len() {
                self.theta[i] -= g[i];
                for j in 0..z.len() {
                    if i == j || !self.diagonal {
                        self.a[i * z.len() + j] += z[i] * z[j];
                    }
                }
            }
            true
        }
    }

    fn check<M: PlainMetric>(diagonal: bool, sparse: bool) {
        let (k, d, a) = (3, 9, 0.5);
        let n = k * d;
        let mut learner = SecondOrderMargin::<M>::new(k, d, a);
        let mut plain =
            Plain { classes: k, a: vec![0.0; n * n], theta: vec![0.0; n], margins: 0.0, diagonal };
        (0..n).for_each(|i| plain.a[i * n + i] = a);
        let (mut updates, mut margin_updates) = (0, 0);
        let indices: Vec<u32> = (0..d as u32).collect();
        for (t, x) in unit_rows(11, 200, d).iter().enumerate() {
            // Separable, so that mistakes and margin updates are rare; p has one of two values.
            let label = usize::from(x[0] > 0.0);
            let p = [1.0, 0.5][t % 2];
            let features =
                if sparse { Features::Sparse { indices: &indices, values: x } } else { Features::Dense(x) };
            let mut scores = vec![0.0; k];
            learner.scores(features, &mut scores);
            scores.iter().zip(plain.scores(x)).for_each(|(s, w)| assert_close(*s, w, 1e-9, "score"));
            let updated = learner.learn(features, &scores, label, p);
            assert_eq!(updated, plain.learn(x, label, p), "round {t}");
            let right = margin(&scores, label).value > 0.0;
            assert!(updated || right, "a mistake always updates");
            updates += u64::from(updated);
            margin_updates += u64::from(updated && right);
            assert!(learner.margins() >= 0.0);
            assert_close(learner.margins(), plain.margins, 1e-9, "margins");
        }
        assert_eq!(learner.updates(), updates);
        assert!(margin_updates > 10 && updates < 150, "{updates} {margin_updates}");
    }

    #[test]
    fn follows_the_dense_recursion() {
        for sparse in [false, true] {
            check::<FullMetric>(false, sparse);
            check::<DiagonalMetric>(true, sparse);
        }
    }

    /// SOBA's inequality behind the regret bound, on one path:
    /// $\theta^\top A^{-1} \theta \le \sum n g^\top A_t^{-1} g$; and the columns of $W$ sum to 0.
    #[test]
    fn pathwise_inequality() {
        let (k, d) = (4, 3);
        let mut learner = SecondOrderMargin::<FullMetric>::new(k, d, 1.0);
        let (mut theta, mut right_side) = (vec![0.0; k * d], 0.0);
        for (t, x) in unit_rows(2, 400, d).iter().enumerate() {
            let (label, p) = ((t * t) % k, [1.0, 0.1][t % 2]);
            let mut scores = vec![0.0; k];
            learner.scores(Features::Dense(x), &mut scores);
            let before = learner.quadratics();
            if learner.learn(Features::Dense(x), &scores, label, p) {
                let rival = margin(&scores, label).rival;
                axpy(1.0 / p, x, &mut theta[label * d..][..d]);
                axpy(-1.0 / p, x, &mut theta[rival * d..][..d]);
                // g = z/√p
                right_side += (learner.quadratics() - before) / p;
            }
            for i in 0..d {
                let sum: f64 = learner.metric.weights.iter().skip(i).step_by(d).sum();
                assert!(sum.abs() < 1e-12, "{sum}");
            }
        }
        let weights = &learner.metric.weights;
        let left: f64 = theta.iter().zip(weights).map(|(theta, w)| theta * w).sum();
        assert!(left <= right_side * (1.0 + 1e-12) && left > 0.0, "{left} {right_side}");
    }

    #[test]
    fn grown_state_is_as_if_it_had_been_there() {
        fn check<M: PlainMetric>() {
            let (mut small, mut large) =
                (SecondOrderMargin::<M>::new(2, 3, 0.7), SecondOrderMargin::<M>::new(4, 5, 0.7));
            for (t, x) in unit_rows(4, 40, 5).iter().enumerate() {
                if t == 20 {
                    small.grow(4, 5);
                }
                let known = if t < 20 { (2, 3) } else { (4, 5) };
                // Scores of classes that did not exist are 0, and must not be chosen as $\bar y$ before they
                // exist.
                let wide: Vec<f64> =
                    x.iter().enumerate().map(|(i, x)| if i < known.1 { *x } else { 0.0 }).collect();
                let mut scores = [vec![0.0; known.0], vec![0.0; 4]];
                small.scores(Features::Dense(&wide[..known.1]), &mut scores[0]);
                large.scores(Features::Dense(&wide), &mut scores[1]);
                for (a, b) in scores[0].iter().zip(&scores[1]) {
                    assert_close(*a, *b, 1e-12, "score");
                }
                let label = (t * t / 3) % known.0;
                small.learn(Features::Dense(&wide[..known.1]), &scores[0].clone(), label, 1.0);
                scores[1][known.0..].fill(f64::NEG_INFINITY);
                large.learn(Features::Dense(&wide), &scores[1].clone(), label, 1.0);
            }
        }
        check::<FullMetric>();
        check::<DiagonalMetric>();
    }
}
