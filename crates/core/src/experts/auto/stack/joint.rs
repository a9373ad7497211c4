//! A stack with one second-order matrix over all weights and biases: a small FOLKLORE learner (theory:
//! mixtures 2.2).
//!
//! The columns of $\Phi$ are those of the members, followed by $K$ unit vectors for the biases. The formulas
//! are those of FOLKLORE with $\Phi$ in place of $I \otimes x^\top$ and the offset $z_0$:
//!
//! $$ z = z_0 + g - \tilde A \sigma(z), \qquad \tilde A = \tfrac12 \Phi A^{-1} \Phi^\top, \tag{1} $$
//! $$ g = -\tfrac12 \Phi A^{-1} G + \tfrac12 \mathrm{diag}(\tilde A), \tag{2} $$
//! $$ G \mathrel{+}= \Phi^\top (p - y - 2\gamma S (z - z_0)), \tag{3} $$
//! $$ A \mathrel{+}= \gamma \Phi^\top S \Phi. \tag{4} $$
//!
//! The code keeps $\gamma A^{-1}$ and updates it by Woodbury's formula.
//!
//! With `forgetting` $\delta$ all of $A - \lambda I$ and $G$ shrink by $(1-\delta)^m$ after every $m$ rounds.

use std::ops::Range;

use crate::example::Target;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{NEGLIGIBLE, shrink, take};
use crate::loss::heavy;
use crate::prediction::Prediction;
use crate::state::Tensor;

use super::separate::{EVERY, Separate};
use super::worth::Quadratic;

/// $\gamma$.
const GAMMA: f64 = 0.25;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(in crate::experts::auto) struct Joint {
    classes: usize,
    inputs: usize,
    forgetting: f64,
    /// $\lambda/\gamma$. The natural scale of the weights is 1.
    ratio: f64,
    inner: FixedPoint,
    /// $\gamma A^{-1}$.
    inverse: Vec<f64>,
    gradient: Vec<f64>,
    rounds: u64,
    /// Whether columns were taken out since the last round, so that what a prediction has is outdated.
    changed: bool,
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

impl Joint {
    /// For `inputs` input columns beside that of the temperature, with the regularization $\lambda/\gamma$ =
    /// `ratio`.
    pub(super) fn new(classes: usize, inputs: usize, forgetting: f64, ratio: f64) -> Self {
        let width = inputs + 1 + classes;
        let mut inverse = vec![0.0; width * width];
        inverse.iter_mut().step_by(width + 1).for_each(|diagonal| *diagonal = 1.0 / ratio);
        let inner = FixedPoint::full(classes);
        let (k, w, c) = (classes, width, classes - 1);
        // Φ, U, N, A and g of a forecast; factor, mix, system and F of an update.
        let room = 2 * k * w + 2 * k * k + k + (inner.scratch_len()).max(3 * k * k + w * c + 4 * k);
        Self {
            classes,
            inputs,
            forgetting,
            ratio,
            inner,
            inverse,
            gradient: vec![0.0; width],
            rounds: 0,
            changed: false,
            work: vec![0.0; room],
            ahead: Prediction::default(),
        }
    }

    fn width(&self) -> usize {
        self.gradient.len()
    }

    pub(super) fn prediction(&self) -> Prediction {
        Prediction::sized(self.classes, self.work.len())
    }

    /// Writes $\Phi$, column-major with $K$ rows, whose first columns are `inputs`; $U = \gamma A^{-1}
    /// \Phi^\top$; and $N = \Phi U$.
    fn project(&self, inputs: &[f64], phi: &mut [f64], u: &mut [f64], gram: &mut [f64]) {
        let (k, w) = (self.classes, self.width());
        let (first, biases) = phi.split_at_mut(k * (self.inputs + 1));
        first.copy_from_slice(inputs);
        biases.fill(0.0);
        biases.iter_mut().step_by(k + 1).for_each(|bias| *bias = 1.0);
        let phi = columns(phi, k, w);
        product(columns_mut(u, w, k), Store::Replace, 1.0, columns(&self.inverse, w, w), phi.transpose());
        product(columns_mut(gram, k, k), Store::Replace, 1.0, phi, columns(u, w, k));
        // Exactly symmetric.
        for row in 0..k {
            for col in 0..row {
                gram[row * k + col] = gram[col * k + row];
            }
        }
    }

    /// `base` are the logarithms of the mixture's probabilities, `inputs` the columns of [`write_columns`].
    pub(super) fn predict(&self, base: &[f64], inputs: &[f64], out: &mut Prediction) {
        let (k, w) = (self.classes, self.width());
        let rest = &mut &mut out.scratch[..];
        let (phi, u, gram) = (take(rest, k * w), take(rest, k * w), take(rest, k * k));
        self.project(inputs, phi, u, gram);
        let (a, g) = (take(rest, k * k), take(rest, k));
        for (a, n) in a.iter_mut().zip(&*gram) {
            *a = n / (2.0 * GAMMA); // eq. (1)
        }
        product(
            columns_mut(g, k, 1),
            Store::Replace,
            -0.5 / GAMMA,
            columns(u, w, k).transpose(),
            columns(&self.gradient, w, 1),
        );
        for ((g, base), a) in g.iter_mut().zip(base).zip(a.iter().step_by(k + 1)) {
            *g += base + 0.5 * a; // eq. (2), plus $z_0$
        }
        let solution = self.inner.solve(a, g, &mut out.scores, rest); // eq. (1)
        out.probabilities.copy_from_slice(solution.probabilities);
        out.stamp = Some(self.rounds);
    }

    /// Learns the target of the round in which `at` was predicted.
    pub(super) fn update(&mut self, base: &[f64], inputs: &[f64], y: Target<'_>, at: &Prediction) {
        let (k, w, c) = (self.classes, self.width(), self.classes - 1);
        let mut work = std::mem::take(&mut self.work);
        let room = work.len();
        let rest = &mut &mut work[..];
        let (phi, u, gram) = (take(rest, k * w), take(rest, k * w), take(rest, k * k));
        let changed = std::mem::take(&mut self.changed);
        if !changed && at.is_fresh(self.rounds) && at.scratch.len() == room {
            phi.copy_from_slice(&at.scratch[..k * w]);
            u.copy_from_slice(&at.scratch[k * w..][..k * w]);
            gram.copy_from_slice(&at.scratch[2 * k * w..][..k * k]);
        } else {
            self.project(inputs, phi, u, gram);
        }
        let at = if y.weight > 1.0 {
            let write = |a: &mut [f64]| a.iter_mut().zip(&*gram).for_each(|(a, n)| *a = 0.5 / GAMMA * n);
            heavy::matrix(&self.inner, write, y, at, &mut self.ahead)
        } else {
            at
        };
        let (residual, curved, offset) = (take(rest, k), take(rest, k), take(rest, k));
        let p = &at.probabilities;
        for ((offset, z), base) in offset.iter_mut().zip(&at.scores).zip(base) {
            *offset = z - base;
        }
        covariance_times(p, offset, curved);
        residual.copy_from_slice(p);
        y.residual(residual);
        for (residual, curved) in residual.iter_mut().zip(&*curved) {
            *residual = y.weight * (*residual - 2.0 * GAMMA * y.information() * curved); // eq. (3)
        }
        let phi = columns(phi, k, w);
        product(
            columns_mut(&mut self.gradient, w, 1),
            Store::Add,
            1.0,
            phi.transpose(),
            columns(residual, k, 1),
        );

        let (factor, mix, system) = (take(rest, k * c), take(rest, k * c), take(rest, c * c));
        self.inner.covariance_factor(p, factor, residual, curved);
        factor.iter_mut().for_each(|factor| *factor *= y.curvature().sqrt());
        product(columns_mut(mix, k, c), Store::Replace, 1.0, columns(gram, k, k), columns(factor, k, c));
        product(
            columns_mut(system, c, c),
            Store::Replace,
            1.0,
            columns(factor, k, c).transpose(),
            columns(mix, k, c),
        );
        system.iter_mut().step_by(c + 1).for_each(|diagonal| *diagonal += 1.0);
        if linalg::cholesky(system, c) {
            linalg::divide_by_transposed_lower(factor, k, system, c);
            let f = take(rest, w * c);
            product(columns_mut(f, w, c), Store::Replace, 1.0, columns(u, w, k), columns(factor, k, c));
            linalg::symmetric_downdate(columns_mut(&mut self.inverse, w, w), columns(f, w, c)); // eq. (4)
            linalg::mirror_lower(&mut self.inverse, w, w);
        }
        self.rounds += 1;
        if self.forgetting > 0.0 && self.rounds.is_multiple_of(EVERY) {
            self.forget();
        }
        self.work = work;
    }

    fn forget(&mut self) {
        let w = self.width();
        let keep = (1.0 - self.forgetting).powi(EVERY as i32);
        let mut precision = self.inverse.clone();
        if !linalg::invert(&mut precision, w) {
            return;
        }
        shrink(&mut precision, keep, NEGLIGIBLE);
        precision.iter_mut().step_by(w + 1).for_each(|a| *a += (1.0 - keep) * self.ratio);
        if linalg::invert(&mut precision, w) {
            self.inverse = precision;
            shrink(&mut self.gradient, keep, NEGLIGIBLE);
        }
    }

    /// The rounds, and the forgetting rate.
    pub(super) fn age(&self) -> (f64, f64) {
        (self.rounds as f64, self.forgetting)
    }

    /// The weights and biases.
    fn weights(&self) -> Vec<f64> {
        let w = self.width();
        let mut weights = vec![0.0; w];
        product(
            columns_mut(&mut weights, w, 1),
            Store::Replace,
            -0.5 / GAMMA,
            columns(&self.inverse, w, w),
            columns(&self.gradient, w, 1),
        );
        weights
    }

    /// See [`Stack::quadratic`](super::Stack::quadratic).
    pub(super) fn quadratic(&self) -> Quadratic {
        Quadratic { inverse: self.inverse.clone(), weights: self.weights() }
    }

    /// See [`Stack::remove`](super::Stack::remove).
    pub(super) fn remove(&mut self, columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        let mut quadratic = self.quadratic();
        columns.clone().for_each(|at| _ = quadratic.take_out(1 + at, 1.0));
        // The weights follow from what is left of gradient and matrix, as in eq. (1) of `worth`.
        let stays = |at: &usize| !(1 + columns.start..1 + columns.end).contains(at);
        let staying: Vec<usize> = (0..self.width()).filter(stays).collect();
        let mut narrower = Self::new(self.classes, self.inputs - columns.len(), self.forgetting, self.ratio);
        let w = narrower.width();
        for (row, from) in staying.iter().enumerate() {
            narrower.gradient[row] = self.gradient[*from];
            for (column, other) in staying.iter().enumerate() {
                narrower.inverse[row * w + column] = quadratic.inverse[from * self.width() + other];
            }
        }
        // Exactly symmetric, since one half is saved.
        linalg::mirror_lower(&mut narrower.inverse, w, w);
        *self = Self { rounds: self.rounds, changed: true, ..narrower };
    }

    /// A stack with separate second-order matrices and this stack's weights and biases.
    pub(super) fn separated(&self) -> Separate {
        let (m, w) = (self.inputs + 1, self.width());
        let solution = self.weights();
        let mut precision: Vec<f64> = (0..m * m).map(|at| self.inverse[at / m * w + at % m]).collect();
        let precision = linalg::invert(&mut precision, m).then_some(precision);
        let separate = Separate::new(self.classes, self.inputs, self.forgetting, self.ratio);
        separate.with(&solution[..m], precision, &solution[m..])
    }

    /// Increases the numbers of classes and of input columns; new columns are appended, and new weights are
    /// untrained.
    pub(super) fn grow(&mut self, classes: usize, inputs: usize) {
        let mut grown = Self::new(classes, inputs, self.forgetting, self.ratio);
        let (w, grown_w) = (self.width(), grown.width());
        // The columns of temperature and members come first, then the biases.
        let place = |at: usize| if at <= self.inputs { at } else { at + inputs - self.inputs };
        for (at, gradient) in self.gradient.iter().enumerate() {
            grown.gradient[place(at)] = *gradient;
        }
        for (at, entry) in self.inverse.iter().enumerate() {
            grown.inverse[place(at / w) * grown_w + place(at % w)] = *entry;
        }
        grown.rounds = self.rounds;
        *self = grown;
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 3] {
        let width = self.gradient.len();
        [
            Tensor::symmetric("inverse", width, &mut self.inverse),
            Tensor::vector("gradient", &mut self.gradient),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }
}
