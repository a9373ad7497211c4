//! Follow the leader on quadratic losses in a ball: the state of Newtron, with a full and with a diagonal
//! matrix.
//!
//! A round adds $\beta G G^\top$ to $A$ and $sG$ to $b$ for a gradient $G = c \otimes x$, and the weights are
//!
//! $$ W = \arg\min_{\lVert W \rVert_F \le D} \tfrac12 W^\top A W + b^\top W. \tag{1} $$
//!
//! In place of $b$, the state has the unconstrained minimiser $V = -A^{-1}b$, which a round updates by
//!
//! $$ V \mathrel{-}= \frac{s + \beta\langle G, V \rangle}{1 + \beta\ G^\top A^{-1} G}\ A^{-1}G, \tag{2} $$
//!
//! and $W$ is the projection of $V$ to the ball in the norm of $A$.

use std::fmt::Debug;

use crate::example::Features;
use crate::kernel::ball;
use crate::kernel::lowrank_inverse::LowRankInverse;
use crate::kernel::vector::{axpy, dot};
use crate::param_words;
use crate::state::Tensor;

param_words! {
    /// How $V$ is mapped to the ball.
    pub enum Projection {
        /// By (1): in the norm of $A$.
        Exact = "exact",
        /// By multiplication with $D/\lVert V \rVert$, if this is below 1.
        Scale = "scale",
        /// It is not.
        None = "none",
    }
}

/// A leader with a full or a diagonal $A$.
pub trait Leader: Clone + Debug + Send + Sync + 'static {
    /// $A = \varepsilon I$ with `regularization` $= \varepsilon > 0$, $W = 0$, and the ball of radius `norm`
    /// $D$.
    fn new(classes: usize, features: usize, regularization: f64, norm: f64, projection: Projection) -> Self;

    /// 8-byte numbers of state.
    fn numbers(classes: usize, features: usize) -> usize;

    /// Writes $Wx$ to `scores`.
    fn scores(&self, x: Features<'_>, scores: &mut [f64]);

    /// $A \mathrel{+}= \beta GG^\top$, $b \mathrel{+}= sG$ for $G = c \otimes x$, with `coefficients` $c$,
    /// `curvature` $\beta \ge 0$ and `slope` $s$.
    fn learn(&mut self, x: Features<'_>, coefficients: &[f64], curvature: f64, slope: f64);

    /// The state.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Recomputes what is derived from the state; false if the state is inconsistent.
    fn restored(&mut self) -> bool;
}

/// The full $A$ of side $Kd$, stored as its inverse.
#[derive(Clone, Debug)]
pub struct FullLeader {
    classes: usize,
    features: usize,
    norm: f64,
    projection: Projection,
    inverse: LowRankInverse,
    /// $V$, by class.
    free: Vec<f64>,
    /// $W$, by class.
    weights: Vec<f64>,
    /// $A^{-1}G$ of the round.
    direction: Vec<f64>,
    /// The non-zero coefficients of the round, with their classes.
    entries: Vec<(usize, f64)>,
    /// Buffers of the projection.
    room: Vec<f64>,
}

impl Leader for FullLeader {
    fn new(classes: usize, features: usize, regularization: f64, norm: f64, projection: Projection) -> Self {
        let n = classes * features;
        let room = if projection == Projection::Exact { n * n + 2 * n } else { 0 };
        Self {
            classes,
            features,
            norm,
            projection,
            inverse: LowRankInverse::new(classes, features, regularization, 1),
            free: vec![0.0; n],
            weights: vec![0.0; n],
            direction: vec![0.0; n],
            entries: Vec::with_capacity(classes),
            room: vec![0.0; room],
        }
    }

    fn numbers(classes: usize, features: usize) -> usize {
        LowRankInverse::numbers(classes, features)
    }

    fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        for (score, row) in scores.iter_mut().zip(self.weights.chunks_exact(self.features)) {
            *score = x.dot(row);
        }
    }

    fn learn(&mut self, x: Features<'_>, coefficients: &[f64], curvature: f64, slope: f64) {
        self.entries.clear();
        self.entries.extend(coefficients.iter().copied().enumerate().filter(|(_, c)| *c != 0.0));
        self.inverse.combination(x, &self.entries, &mut self.direction);
        let along = |numbers: &[f64]| -> f64 {
            let row = |class: usize| &numbers[class * self.features..][..self.features];
            self.entries.iter().map(|&(class, c)| c * x.dot(row(class))).sum()
        };
        // A negative square is the result of rounding.
        let growth = 1.0 + curvature * along(&self.direction).max(0.0);
        let step = (slope + curvature * along(&self.free)) / growth;
        axpy(-step, &self.direction, &mut self.free); // eq. (2)
        self.inverse.downdate(&self.direction, &[(curvature / growth).sqrt()]);

        self.weights.copy_from_slice(&self.free);
        let length = dot(&self.free, &self.free).sqrt();
        match self.projection {
            Projection::Exact if length > self.norm => {
                ball::project(&mut self.weights, self.inverse.matrix(), self.norm, &mut self.room);
            }
            Projection::Scale if length > self.norm => {
                self.weights.iter_mut().for_each(|w| *w *= self.norm / length);
            }
            _ => {}
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let shape = vec![self.classes, self.features];
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::real("minimiser", shape.clone(), &mut self.free));
        tensors.push(Tensor::real("weights", shape, &mut self.weights));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.inverse.restored()
    }
}

/// Norms are updated incrementally, and computed from the weights after this many rounds, so that rounding
/// errors do not accumulate.
const REFRESH: u64 = 1 << 16;

/// $A$ replaced by its diagonal: $O(K\ \mathrm{nnz}(x))$ a round unless the projection is exact; memory is
/// allocated only for features that occur.
#[derive(Clone, Debug)]
pub struct DiagonalLeader {
    classes: usize,
    features: usize,
    norm: f64,
    projection: Projection,
    regularization: f64,
    /// The diagonal of $A - \varepsilon I$, by feature.
    growth: Vec<f64>,
    /// $b$, by feature.
    slopes: Vec<f64>,
    /// $\lVert V \rVert^2$, for the projection by scaling.
    free_squared: f64,
    rounds: u64,
    /// $V$, by feature; with the exact projection, $W$.
    weights: Vec<f64>,
    /// $A$ for the exact projection, otherwise empty.
    diagonal: Vec<f64>,
}

impl DiagonalLeader {
    fn refresh(&mut self) {
        for ((weight, slope), growth) in self.weights.iter_mut().zip(&self.slopes).zip(&self.growth) {
            *weight = if *slope == 0.0 { 0.0 } else { -slope / (self.regularization + growth) };
        }
        if self.projection == Projection::Exact {
            self.project();
        }
    }

    fn project(&mut self) {
        for (entry, growth) in self.diagonal.iter_mut().zip(&self.growth) {
            *entry = self.regularization + growth;
        }
        if dot(&self.weights, &self.weights).sqrt() > self.norm {
            ball::project_diagonal(&mut self.weights, &self.diagonal, self.norm);
        }
    }
}

impl Leader for DiagonalLeader {
    fn new(classes: usize, features: usize, regularization: f64, norm: f64, projection: Projection) -> Self {
        let zeros = || vec![0.0; classes * features];
        let diagonal = if projection == Projection::Exact { zeros() } else { Vec::new() };
        Self {
            classes,
            features,
            norm,
            projection,
            regularization,
            growth: zeros(),
            slopes: zeros(),
            free_squared: 0.0,
            rounds: 0,
            weights: zeros(),
            diagonal,
        }
    }

    fn numbers(classes: usize, features: usize) -> usize {
        classes.saturating_mul(features).saturating_mul(2)
    }

    fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        for (i, value) in x.iter() {
            axpy(value, &self.weights[i * self.classes..][..self.classes], scores);
        }
        let length = self.free_squared.sqrt();
        if self.projection == Projection::Scale && length > self.norm {
            scores.iter_mut().for_each(|score| *score *= self.norm / length);
        }
    }

    fn learn(&mut self, x: Features<'_>, coefficients: &[f64], curvature: f64, slope: f64) {
        for (i, value) in x.iter() {
            for (class, c) in coefficients.iter().enumerate() {
                let (at, gradient) = (i * self.classes + class, c * value);
                self.growth[at] += curvature * gradient * gradient;
                self.slopes[at] += slope * gradient;
                if self.projection != Projection::Exact {
                    let old = self.weights[at];
                    self.weights[at] = -self.slopes[at] / (self.regularization + self.growth[at]);
                    self.free_squared += self.weights[at] * self.weights[at] - old * old;
                }
            }
        }
        self.free_squared = self.free_squared.max(0.0);
        self.rounds += 1;
        if self.projection == Projection::Exact {
            self.refresh();
        } else if self.rounds.is_multiple_of(REFRESH) {
            self.free_squared = dot(&self.weights, &self.weights);
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let shape = vec![self.features, self.classes];
        vec![
            Tensor::real("growth", shape.clone(), &mut self.growth),
            Tensor::real("slopes", shape, &mut self.slopes),
            Tensor::number("minimiser_squared", &mut self.free_squared),
            Tensor::count("updates", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        self.refresh();
        self.growth.iter().all(|growth| *growth >= 0.0) && self.free_squared >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, unit_rows};

    /// Optimality of (1), with dense A and b: Aw + b = -νw, ν >= 0, and ν = 0 inside the ball.
    fn check<L: Leader>(diagonal: bool, projection: Projection) {
        let (k, d, epsilon) = (3, 2, 0.5);
        let n = k * d;
        for norm in [0.3, 1e6] {
            let mut leader = L::new(k, d, epsilon, norm, projection);
            let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n]);
            (0..n).for_each(|i| a[i * n + i] = epsilon);
            let mut on_sphere = 0;
            for (t, x) in unit_rows(5, 100, d).iter().enumerate() {
                let c: Vec<f64> = (0..k).map(|class| if class == t % k { 1.0 } else { -0.4 }).collect();
                let (beta, slope) = (0.3 + 0.1 * (t % 3) as f64, 1.0 - 0.02 * t as f64);
                leader.learn(Features::Dense(x), &c, beta, slope);
                let g: Vec<f64> = c.iter().flat_map(|c| x.iter().map(move |x| c * x)).collect();
                for i in 0..n {
                    b[i] += slope * g[i];
                    for j in 0..n {
                        if i == j || !diagonal {
                            a[i * n + j] += beta * g[i] * g[j];
                        }
                    }
                }
                let mut w = vec![0.0; n];
                for i in 0..d {
                    let mut unit = vec![0.0; d];
                    unit[i] = 1.0;
                    let mut scores = vec![0.0; k];
                    leader.scores(Features::Dense(&unit), &mut scores);
                    (0..k).for_each(|class| w[class * d + i] = scores[class]);
                }
                let length = dot(&w, &w).sqrt();
                assert!(length <= norm * (1.0 + 1e-12) || projection == Projection::None);
                let inside = length < norm * (1.0 - 1e-9);
                on_sphere += usize::from(!inside);
                if projection == Projection::Scale && !inside {
                    continue;
                }
                let residual: Vec<f64> = (0..n).map(|i| dot(&a[i * n..][..n], &w) + b[i]).collect();
                let nu = if inside || projection == Projection::None {
                    0.0
                } else {
                    -dot(&residual, &w) / dot(&w, &w)
                };
                assert!(nu >= 0.0, "{nu}");
                for (residual, w) in residual.iter().zip(&w) {
                    assert_close(*residual, -nu * w, 1e-8, &format!("round {t}, norm {norm}"));
                }
            }
            assert_eq!(on_sphere > 20, norm < 1.0, "{on_sphere} rounds on the sphere or outside");
        }
    }

    #[test]
    fn minimises_its_objective() {
        for projection in [Projection::Exact, Projection::Scale, Projection::None] {
            check::<FullLeader>(false, projection);
            check::<DiagonalLeader>(true, projection);
        }
    }
}
