//! Stacking: a small FOLKLORE that learns how far to trust each member (theory: mixtures 2.2).
//!
//! Its logits are those of the members' mixture, $z_0 = \ln p$, plus $\Phi w$: a column of $\Phi$ for each input is
//! $\ln p^i - \ln p$, what that member would add, one is $z_0$ itself (a temperature), and $K$ are the unit vectors (biases).
//! $w = 0$ is the mixture, to which it is regularised; $w = e_i$ is member $i$; two members that know different things, as of the
//! row and of the label before, add up as in naive Bayes. The dimension is the number of members plus $K$, so that little has to
//! be learnt. The formulas are those of FOLKLORE with $\Phi$ in place of $I \otimes x^\top$ and the offset $z_0$:
//!
//! $$ z = z_0 + g - \tilde A \sigma(z), \quad \tilde A = \tfrac12 \Phi A^{-1} \Phi^\top, \quad
//!    g = -\tfrac12 \Phi A^{-1} G + \tfrac12 \mathrm{diag}(\tilde A), $$
//! $$ A \mathrel{+}= \gamma \Phi^\top S \Phi, \qquad G \mathrel{+}= \Phi^\top (p - y - 2\gamma S (z - z_0)). $$
//!
//! With `forgetting` $\delta$ all of $A - \lambda I$ and $G$ shrink by $(1-\delta)^m$ after every $m$ rounds.

use crate::example::Target;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::take;
use crate::prediction::Prediction;
use crate::state::Tensor;

/// $\gamma$.
const GAMMA: f64 = 0.25;

/// No member says more than this, in nats, for or against a class.
const LOUDEST: f64 = 8.0;

/// Rounds between two shrinkings.
const EVERY: u64 = 64;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Stack {
    classes: usize,
    inputs: usize,
    forgetting: f64,
    /// $\lambda/\gamma$: the weights' own scale is 1.
    ratio: f64,
    inner: FixedPoint,
    /// $\gamma A^{-1}$.
    inverse: Vec<f64>,
    gradient: Vec<f64>,
    rounds: u64,
    work: Vec<f64>,
}

impl Stack {
    /// For `inputs` members, with regularization $\lambda/\gamma$ = `ratio`.
    pub(super) fn new(classes: usize, inputs: usize, forgetting: f64, ratio: f64) -> Self {
        let width = inputs + 1 + classes;
        let mut inverse = vec![0.0; width * width];
        inverse.iter_mut().step_by(width + 1).for_each(|diagonal| *diagonal = 1.0 / ratio);
        let inner = FixedPoint::full(classes);
        let (k, w, c) = (classes, width, classes - 1);
        // Φ, U, N, A and g of a forecast; factor, system, mix and F of an update.
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
            work: vec![0.0; room],
        }
    }

    fn width(&self) -> usize {
        self.gradient.len()
    }

    pub(super) fn prediction(&self) -> Prediction {
        Prediction::sized(self.classes, self.work.len())
    }

    /// Writes $\Phi$, $K$ x width, column-major, and $U = \gamma A^{-1} \Phi^\top$, $\Phi U$.
    fn project(&self, base: &[f64], inputs: &[Prediction], phi: &mut [f64], u: &mut [f64], gram: &mut [f64]) {
        let (k, w) = (self.classes, self.width());
        phi.fill(0.0);
        let (said, biases) = phi.split_at_mut(k * (self.inputs + 1));
        let mean = base.iter().sum::<f64>() / k as f64;
        for (out, z) in said.iter_mut().zip(base) {
            *out = (z - mean).clamp(-LOUDEST, LOUDEST);
        }
        for (column, input) in said[k..].chunks_exact_mut(k).zip(inputs) {
            for ((out, z), base) in column.iter_mut().zip(&input.scores).zip(base) {
                *out = (z - base).clamp(-LOUDEST, LOUDEST);
            }
        }
        biases.iter_mut().step_by(k + 1).for_each(|bias| *bias = 1.0);
        let phi = columns(phi, k, w);
        product(columns_mut(u, w, k), Store::Replace, 1.0, columns(&self.inverse, w, w), phi.transpose());
        product(columns_mut(gram, k, k), Store::Replace, 1.0, phi, columns(u, w, k));
        // Symmetric to the bit.
        for row in 0..k {
            for col in 0..row {
                gram[row * k + col] = gram[col * k + row];
            }
        }
    }

    /// `base` are the logarithms of the mixture's probabilities, `inputs` the members', as scores.
    pub(super) fn predict(&self, base: &[f64], inputs: &[Prediction], out: &mut Prediction) {
        let (k, w) = (self.classes, self.width());
        let rest = &mut &mut out.scratch[..];
        let (phi, u, gram) = (take(rest, k * w), take(rest, k * w), take(rest, k * k));
        self.project(base, inputs, phi, u, gram);
        let (a, g) = (take(rest, k * k), take(rest, k));
        for (a, n) in a.iter_mut().zip(&*gram) {
            *a = n / (2.0 * GAMMA);
        }
        product(
            columns_mut(g, k, 1),
            Store::Replace,
            -0.5 / GAMMA,
            columns(u, w, k).transpose(),
            columns(&self.gradient, w, 1),
        );
        for ((g, base), a) in g.iter_mut().zip(base).zip(a.iter().step_by(k + 1)) {
            *g += base + 0.5 * a;
        }
        let solution = self.inner.solve(a, g, &mut out.scores, rest);
        out.probabilities.copy_from_slice(solution.probabilities);
        out.stamp = Some(self.rounds);
    }

    /// Learns the truth of the round in which `at` was predicted.
    pub(super) fn update(&mut self, base: &[f64], inputs: &[Prediction], y: Target<'_>, at: &Prediction) {
        let (k, w, c) = (self.classes, self.width(), self.classes - 1);
        let mut work = std::mem::take(&mut self.work);
        let room = work.len();
        let rest = &mut &mut work[..];
        let (phi, u, gram) = (take(rest, k * w), take(rest, k * w), take(rest, k * k));
        if at.is_fresh(self.rounds) && at.scratch.len() == room {
            phi.copy_from_slice(&at.scratch[..k * w]);
            u.copy_from_slice(&at.scratch[k * w..][..k * w]);
            gram.copy_from_slice(&at.scratch[2 * k * w..][..k * k]);
        } else {
            self.project(base, inputs, phi, u, gram);
        }
        let (residual, curved, offset) = (take(rest, k), take(rest, k), take(rest, k));
        let p = &at.probabilities;
        for ((offset, z), base) in offset.iter_mut().zip(&at.scores).zip(base) {
            *offset = z - base;
        }
        covariance_times(p, offset, curved);
        residual.copy_from_slice(p);
        y.truth.subtract_from(residual);
        for (residual, curved) in residual.iter_mut().zip(&*curved) {
            *residual = y.weight * (*residual - 2.0 * GAMMA * curved);
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
        factor.iter_mut().for_each(|factor| *factor *= y.weight.sqrt());
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
            linalg::symmetric_downdate(columns_mut(&mut self.inverse, w, w), columns(f, w, c));
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
        precision.iter_mut().for_each(|a| *a *= keep);
        precision.iter_mut().step_by(w + 1).for_each(|a| *a += (1.0 - keep) * self.ratio);
        if linalg::invert(&mut precision, w) {
            self.inverse = precision;
            self.gradient.iter_mut().for_each(|g| *g *= keep);
        }
    }

    /// Makes room for more classes, and for more members behind those that there are: nothing is known of what is new.
    pub(super) fn grow(&mut self, classes: usize, inputs: usize) {
        let mut grown = Self::new(classes, inputs, self.forgetting, self.ratio);
        let (w, grown_w) = (self.width(), grown.width());
        // The temperature and the members come first, biases behind them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Four classes, two members of which each knows one of two bits, and says so too timidly: ¾ where it is always right.
    /// Returns the stack's mean loss over the last of 2,000 rounds, and its forecasts.
    fn bits(stack: &mut Stack, kept: bool) -> (f64, Vec<f64>) {
        let mut rng = Rng::new(8, 0);
        let (mut at, mut base) = (stack.prediction(), Prediction::sized(4, 0));
        let mut inputs = vec![Prediction::sized(4, 0); 2];
        let (mut loss, mut all) = (0.0, Vec::new());
        for t in 0..2000 {
            let class = rng.below(4) as usize;
            base.probabilities.fill(0.0);
            for (bit, input) in inputs.iter_mut().enumerate() {
                for (k, p) in input.probabilities.iter_mut().enumerate() {
                    *p = if (k >> bit) & 1 == (class >> bit) & 1 { 0.375 } else { 0.125 };
                    base.probabilities[k] += 0.5 * *p;
                }
                input.set_scores_to_logarithms();
            }
            base.set_scores_to_logarithms();
            stack.predict(&base.scores, &inputs, &mut at);
            let y = Target::class(class);
            loss += if t >= 1500 { y.log_loss(&at.probabilities) / 500.0 } else { 0.0 };
            all.extend_from_slice(&at.probabilities);
            if kept {
                at.stamp = None;
            }
            stack.update(&base.scores, &inputs, y, &at);
        }
        (loss, all)
    }

    /// The best member's loss is -ln 0.375 = 0.98; what both know together is everything.
    #[test]
    fn what_members_know_adds_up() {
        for forgetting in [0.0, 1.0 / 128.0] {
            let (loss, _) = bits(&mut Stack::new(4, 2, forgetting, 1.0), false);
            assert!(loss < 0.1, "{loss} with forgetting {forgetting}");
        }
    }

    #[test]
    fn outgrown_predictions_are_recomputed() {
        let (fresh, kept) =
            (bits(&mut Stack::new(4, 2, 0.0, 1.0), false).1, bits(&mut Stack::new(4, 2, 0.0, 1.0), true).1);
        assert!(fresh.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    /// With a member more, who says nothing, forecasts are what they were.
    #[test]
    fn growing_keeps_what_was_learnt() {
        let mut stack = Stack::new(4, 2, 0.0, 1.0);
        bits(&mut stack, false);
        let mut grown = stack.clone();
        grown.grow(4, 3);
        let mut inputs = vec![Prediction::sized(4, 0); 2];
        let mut base = Prediction::sized(4, 0);
        for (at, p) in [[0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.1, 0.4]].iter().enumerate() {
            inputs[at].probabilities.copy_from_slice(p);
            inputs[at].set_scores_to_logarithms();
        }
        base.probabilities.copy_from_slice(&[0.25, 0.15, 0.2, 0.4]);
        base.set_scores_to_logarithms();
        let (mut at, mut grown_at) = (stack.prediction(), grown.prediction());
        stack.predict(&base.scores, &inputs, &mut at);
        grown.predict(&base.scores, &inputs, &mut grown_at);
        for (p, grown) in at.probabilities.iter().zip(&grown_at.probabilities) {
            assert!((p - grown).abs() < 1e-12, "{p} {grown}");
        }
    }

    #[test]
    fn a_stack_begins_as_a_cautious_mixture() {
        let stack = Stack::new(3, 1, 0.0, 1.0);
        let mut base = Prediction::sized(3, 0);
        base.probabilities.copy_from_slice(&[0.7, 0.2, 0.1]);
        base.set_scores_to_logarithms();
        let mut at = stack.prediction();
        stack.predict(&base.scores, &[Prediction::default()], &mut at);
        // The average over all labels that FOLKLORE adds holds it back.
        assert!((0.45..0.7).contains(&at.probabilities[0]), "{:?}", at.probabilities);
    }
}
