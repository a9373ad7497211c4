//! A stack whose cost is linear in the number of classes: one weight for each input column and one bias for
//! each class, with separate second-order matrices.
//!
//! Weights and biases take separate online Newton steps:
//!
//! $$ P \mathrel{+}= \Phi^\top S(p)\ \Phi, \qquad w \mathrel{-}= 2 P^{-1} \Phi^\top (p - y), \tag{1} $$
//! $$ Q_k \mathrel{+}= p_k(1 - p_k), \qquad b_k \mathrel{-}= (p_k - y_k)/Q_k, \tag{2} $$
//!
//! from $P = \rho I$ and $Q = \rho$. With $M$ input columns a round costs $O(K M^2)$ additions in long
//! vectors and a linear system of size $M + 1$; [`Joint`](super::joint::Joint) costs $O(K(M + K)^2)$.
//!
//! With `forgetting` $\delta$, $P - \rho I$ and $Q - \rho$ are multiplied by $(1-\delta)^m$ after every $m$
//! rounds.

use std::ops::Range;

use crate::example::Target;
use crate::kernel::linalg;
use crate::kernel::softmax::{covariance_times, quick_softmax};
use crate::kernel::vector::{NEGLIGIBLE, axpy, dot, shrink, take};
use crate::prediction::Prediction;
use crate::state::Tensor;

use super::worth::Quadratic;

/// The factor 2 in (1): the length of a weight's step, relative to a Newton step on the sum of the losses.
const STEP_LENGTH: f64 = 2.0;

/// Number of rounds between two shrinkings of the matrices, for stacks that forget.
pub(super) const EVERY: u64 = 64;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(in crate::experts::auto) struct Separate {
    classes: usize,
    forgetting: f64,
    /// $\rho$.
    ratio: f64,
    /// $w$: that of the temperature, then those of the members.
    weights: Vec<f64>,
    /// $P$.
    precision: Vec<f64>,
    /// $b$.
    biases: Vec<f64>,
    /// $Q$.
    bias_precision: Vec<f64>,
    rounds: u64,
    work: Vec<f64>,
}

impl Separate {
    pub(super) fn new(classes: usize, inputs: usize, forgetting: f64, ratio: f64) -> Self {
        let side = inputs + 1;
        let mut precision = vec![0.0; side * side];
        precision.iter_mut().step_by(side + 1).for_each(|diagonal| *diagonal = ratio);
        Self {
            classes,
            forgetting,
            ratio,
            weights: vec![0.0; side],
            precision,
            biases: vec![0.0; classes],
            bias_precision: vec![ratio; classes],
            rounds: 0,
            work: vec![0.0; 2 * classes + side * side + side],
        }
    }

    /// With the given weights, their matrix $P$, and the given biases.
    pub(super) fn with(mut self, weights: &[f64], precision: Option<Vec<f64>>, biases: &[f64]) -> Self {
        self.weights.copy_from_slice(weights);
        self.biases.copy_from_slice(biases);
        if let Some(precision) = precision {
            self.precision = precision;
        }
        self
    }

    pub(super) fn prediction(&self) -> Prediction {
        Prediction::sized(self.classes, 0)
    }

    pub(super) fn predict(&self, base: &[f64], columns: &[f64], out: &mut Prediction) {
        let Prediction { scores, probabilities, stamp, .. } = out;
        for ((score, base), bias) in scores.iter_mut().zip(base).zip(&self.biases) {
            *score = base + bias;
        }
        let columns = self.weights.iter().zip(columns.chunks_exact(self.classes));
        for (weight, column) in columns.filter(|(weight, _)| **weight != 0.0) {
            axpy(*weight, column, scores);
        }
        quick_softmax(scores, probabilities);
        *stamp = Some(self.rounds);
    }

    pub(super) fn update(&mut self, columns: &[f64], y: Target<'_>, at: &Prediction) {
        let (k, side) = (self.classes, self.weights.len());
        let rest = &mut &mut self.work[..];
        let (residual, curved) = (take(rest, k), take(rest, k));
        let (factor, step) = (take(rest, side * side), take(rest, side));
        let p = &at.probabilities;
        residual.copy_from_slice(p);
        y.residual(residual);
        residual.iter_mut().for_each(|residual| *residual *= y.weight);
        for (i, column) in columns.chunks_exact(k).enumerate() {
            step[i] = dot(column, residual);
            covariance_times(p, column, curved);
            // Only the lower triangle, which the factorisation reads.
            for (j, other) in columns.chunks_exact(k).take(i + 1).enumerate() {
                self.precision[j * side + i] += y.curvature() * dot(other, curved); // eq. (1)
            }
        }
        factor.copy_from_slice(&self.precision);
        if linalg::cholesky(factor, side) {
            linalg::solve_lower(factor, side, step, 1);
            linalg::solve_lower_transposed(factor, side, step, 1);
            axpy(-STEP_LENGTH, step, &mut self.weights); // eq. (1)
        }
        let biases = self.biases.iter_mut().zip(&mut self.bias_precision);
        for (((bias, precision), p), residual) in biases.zip(p).zip(&*residual) {
            *precision += y.curvature() * p * (1.0 - p);
            *bias -= residual / *precision; // eq. (2)
        }
        self.rounds += 1;
        if self.forgetting > 0.0 && self.rounds.is_multiple_of(EVERY) {
            self.forget();
        }
    }

    /// The rounds, and the forgetting rate.
    pub(super) fn age(&self) -> (f64, f64) {
        (self.rounds as f64, self.forgetting)
    }

    /// See [`Stack::quadratic`](super::Stack::quadratic); the biases have no part in it.
    pub(super) fn quadratic(&self) -> Option<Quadratic> {
        let (mut inverse, weights) = (self.precision.clone(), self.weights.clone());
        linalg::invert(&mut inverse, weights.len()).then_some(Quadratic { inverse, weights })
    }

    /// See [`Stack::remove`](super::Stack::remove).
    pub(super) fn remove(&mut self, columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        if let Some(mut quadratic) = self.quadratic() {
            columns.clone().for_each(|at| _ = quadratic.take_out(1 + at, 1.0));
            self.weights = quadratic.weights;
        }
        let side = self.weights.len();
        let stays = |at: &usize| !(1 + columns.start..1 + columns.end).contains(at);
        let staying: Vec<usize> = (0..side).filter(stays).collect();
        let entries = staying.iter().flat_map(|row| staying.iter().map(move |column| (row, column)));
        self.precision = entries.map(|(row, column)| self.precision[row * side + column]).collect();
        self.weights = staying.iter().map(|at| self.weights[*at]).collect();
        self.work.truncate(2 * self.classes + self.precision.len() + self.weights.len());
    }

    fn forget(&mut self) {
        let keep = (1.0 - self.forgetting).powi(EVERY as i32);
        let side = self.weights.len();
        shrink(&mut self.precision, keep, NEGLIGIBLE);
        for entry in self.precision.iter_mut().step_by(side + 1) {
            *entry += (1.0 - keep) * self.ratio;
        }
        for entry in &mut self.bias_precision {
            *entry = keep * *entry + (1.0 - keep) * self.ratio;
        }
    }

    pub(super) fn grow(&mut self, classes: usize, inputs: usize) {
        let mut grown = Self::new(classes, inputs, self.forgetting, self.ratio);
        let (side, wider) = (self.weights.len(), grown.weights.len());
        grown.weights[..side].copy_from_slice(&self.weights);
        for (to, from) in grown.precision.chunks_exact_mut(wider).zip(self.precision.chunks_exact(side)) {
            to[..side].copy_from_slice(from);
        }
        grown.biases[..self.classes].copy_from_slice(&self.biases);
        grown.bias_precision[..self.classes].copy_from_slice(&self.bias_precision);
        grown.rounds = self.rounds;
        *self = grown;
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 5] {
        let side = self.weights.len();
        [
            Tensor::vector("weights", &mut self.weights),
            Tensor::real("precision", vec![side, side], &mut self.precision),
            Tensor::vector("biases", &mut self.biases),
            Tensor::vector("bias_precision", &mut self.bias_precision),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.bias_precision.iter().all(|precision| *precision > 0.0)
    }
}
