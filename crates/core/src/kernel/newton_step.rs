//! Online Newton steps: weights that step along $-A^{-1}g$, where $A$ is the sum of the gradients' outer
//! products, and are projected to a ball in the norm of $A$. (Hazan, Agarwal, Kale, "Logarithmic regret
//! algorithms for online convex optimization", 2007, section 3.2.)
//!
//! $$ A \mathrel{+}= \omega gg^\top, \quad v = w - \tfrac{\omega}{\gamma_o} A^{-1} g, \tag{1} $$
//! $$ w = \arg\min_{\lVert u \rVert \le B} (u - v)^\top A (u - v) = (I + \nu A^{-1})^{-1} v. \tag{2} $$

use super::ball;
use super::lowrank_inverse::LowRankInverse;
use super::vector::{axpy, dot, widened};
use crate::state::Tensor;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct NewtonStep {
    inverse: LowRankInverse,
    weights: Vec<f64>,
    /// $B$; infinite for no projection.
    norm: f64,
    /// $\gamma_o$.
    rate: f64,
    /// Buffers of the projection.
    room: Vec<f64>,
}

impl NewtonStep {
    /// $w = 0$ with `blocks` blocks of `features` numbers, $A = \varepsilon I$ with `regularization` $=
    /// \varepsilon > 0$, inverse step size `rate` $\gamma_o > 0$, and a ball of radius `norm` $B > 0$, `inf`
    /// for no projection.
    pub fn new(blocks: usize, features: usize, regularization: f64, rate: f64, norm: f64) -> Self {
        let inverse = LowRankInverse::new(blocks, features, regularization, 1);
        let weights = vec![0.0; blocks * features];
        let mut step = Self { inverse, weights, norm, rate, room: Vec::new() };
        step.make_room();
        step
    }

    fn make_room(&mut self) {
        let n = self.inverse.side();
        self.room = vec![0.0; if self.norm.is_finite() { n * n + 2 * n } else { 0 }];
    }

    /// 8-byte numbers of state.
    pub fn numbers(blocks: usize, features: usize) -> usize {
        LowRankInverse::numbers(blocks, features)
    }

    /// $w$, by block.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// $A^{-1}$.
    pub fn inverse(&self) -> &LowRankInverse {
        &self.inverse
    }

    /// $A^{-1}$, for look-ahead.
    pub fn inverse_mut(&mut self) -> &mut LowRankInverse {
        &mut self.inverse
    }

    /// (1) and (2) for a gradient $g$ with $A^{-1}g = Yr$, where `columns` $= Y$ ($n$ rows, column-major) and
    /// `coefficients` $= r$, which is overwritten; `square` $= g^\top A^{-1} g \ge 0$ and `weight`
    /// $= \omega > 0$.
    pub fn step(&mut self, columns: &[f64], coefficients: &mut [f64], square: f64, weight: f64) {
        let growth = 1.0 + weight * square;
        let step = weight / (self.rate * growth);
        for (y, c) in columns.chunks_exact(self.weights.len()).zip(&*coefficients) {
            axpy(-step * c, y, &mut self.weights);
        }
        for c in coefficients.iter_mut() {
            *c *= (weight / growth).sqrt();
        }
        self.inverse.downdate(columns, coefficients);
        if self.norm.is_finite() && dot(&self.weights, &self.weights) > self.norm * self.norm {
            ball::project(&mut self.weights, self.inverse.matrix(), self.norm, &mut self.room);
        }
    }

    /// Increases the numbers of blocks and features; new ones are appended, with $A$ equal to
    /// `regularization` on the new diagonal.
    pub fn grow(&mut self, blocks: usize, features: usize, regularization: f64) {
        let old_features = self.weights.len() / self.inverse.blocks();
        self.weights = widened(&self.weights, old_features, blocks, features);
        self.inverse.grow(blocks, features, regularization, 1);
        self.make_room();
    }

    /// The state.
    pub fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector("weights", &mut self.weights));
        tensors
    }

    /// False if the state is inconsistent.
    pub fn restored(&mut self) -> bool {
        self.inverse.restored()
    }
}
