//! FOLKLOREs that share one matrix.
//!
//! A FOLKLORE with regularization $\lambda$ and curvature $\gamma$ keeps $A = \lambda I + \gamma \sum S \otimes xx^\top$. If the
//! curvatures $S$ are taken at the probabilities of the whole family instead of each one's own, members of one ratio
//! $\rho = \lambda/\gamma$ have $A = \gamma H$ with the same
//!
//! $$ H = \rho I + \sum_t S(\bar p_t) \otimes x_t x_t^\top, $$
//!
//! so that any number of them costs little more than one: each has a linear term $G$ and solves its own inner problem. Their
//! surrogates touch the loss at their own scores, as in FOLKLORE. (They need not be lower bounds: a member is a forecaster
//! without theorem. The mixture's is about its members as they are.)
//!
//! With `shared`, $S$ is replaced by $s\,\Pi$ of the same trace, $s = (1 - \lVert \bar p \rVert^2)/(K-1)$, and $H = I \otimes M$ with
//! one matrix of $d \times d$ for all classes: $O(d^2 + Kd)$ a round instead of $O(K^3 d^2)$.

use crate::example::{Batch, Features, Target};
use crate::kernel::basis::LogitBasis;
use crate::kernel::diagonal_fixed_point;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Into, columns, columns_mut, product};
use crate::kernel::lowrank_inverse::LowRankInverse;
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::prediction::Prediction;
use crate::state::{State, Tensor};

use super::expansion::Expansion;
use super::member::Member;

/// A surrogate touches the loss at logits within ± this: at its own $S$ a FOLKLORE's larger ones would not matter, at the
/// family's they would take over after a huge row.
const LARGEST: f64 = 50.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Family {
    classes: usize,
    /// Of a row as it comes.
    features: usize,
    expansion: Expansion,
    shared: bool,
    /// $\rho$.
    ratio: f64,
    /// $\gamma$ of each member.
    curvatures: Vec<f64>,
    inner: FixedPoint,
    /// $H^{-1}$, or $M^{-1}$.
    inverse: LowRankInverse,
    /// $G$ of each member, in the coordinates of [`LogitBasis`] unless `shared`.
    gradients: Vec<f64>,
    rounds: u64,
    spare: Vec<f64>,
    work: Vec<f64>,
    ahead: Vec<f64>,
}

/// The scratch of a prediction: what `update` reuses comes first.
struct Scratch<'a> {
    /// The expanded row.
    row: &'a mut [f64],
    y: &'a mut [f64],
    gram: &'a mut [f64],
    rest: &'a mut [f64],
}

/// Rows after expansion.
struct Expanded<'a> {
    rows: &'a [f64],
    features: usize,
}

impl Batch for Expanded<'_> {
    fn len(&self) -> usize {
        self.rows.len() / self.features
    }

    fn features(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[at * self.features..][..self.features])
    }
}

impl Family {
    pub(super) fn new(
        classes: usize,
        features: usize,
        expansion: Expansion,
        shared: bool,
        ratio: f64,
        curvatures: &[f64],
    ) -> Self {
        let wide = expansion.features(features);
        let blocks = if shared { 1 } else { classes - 1 };
        let rows = if shared { classes } else { classes - 1 };
        let mut family = Self {
            classes,
            features,
            expansion,
            shared,
            ratio,
            curvatures: curvatures.to_vec(),
            inner: FixedPoint::reduced(LogitBasis::new(classes)),
            inverse: LowRankInverse::new(blocks, wide, ratio, blocks),
            gradients: vec![0.0; curvatures.len() * rows * wide],
            rounds: 0,
            spare: Vec::new(),
            work: Vec::new(),
            ahead: Vec::new(),
        };
        family.make_room();
        family
    }

    /// Numbers of state for such a family.
    pub(super) fn numbers(classes: usize, wide: usize, shared: bool, heads: usize) -> usize {
        let blocks = if shared { 1 } else { classes - 1 };
        let gradients = heads.saturating_mul(classes).saturating_mul(wide);
        LowRankInverse::numbers(blocks, wide).saturating_add(gradients)
    }

    /// Features after expansion.
    fn wide(&self) -> usize {
        self.expansion.features(self.features)
    }

    /// Rows of a linear term.
    fn rows(&self) -> usize {
        if self.shared { self.classes } else { self.classes - 1 }
    }

    fn scratch_len(&self) -> usize {
        let (n, b, k) = (self.inverse.side(), self.inverse.blocks(), self.classes);
        let solve = self.inner.scratch_len().max(diagonal_fixed_point::scratch_len(k));
        let head = 2 * k * k + 5 * k + solve.max(k * k);
        self.expansion.room(self.features) + n * b + b * b + self.inverse.scratch_len().max(head)
    }

    fn make_room(&mut self) {
        let k = self.classes;
        self.spare = vec![0.0; self.scratch_len()];
        self.work = vec![0.0; 6 * k + 3 * k * k];
        self.ahead = vec![0.0; self.inverse.lookahead() * self.expansion.room(self.features)];
    }

    fn layout<'a>(&self, scratch: &'a mut [f64]) -> Scratch<'a> {
        let (n, b) = (self.inverse.side(), self.inverse.blocks());
        let rest = &mut { scratch };
        Scratch {
            row: take(rest, self.expansion.room(self.features)),
            y: take(rest, n * b),
            gram: take(rest, b * b),
            rest: std::mem::take(rest),
        }
    }

    /// The row, $Y = H^{-1}(I \otimes x)$ and $N = (I \otimes x)^\top Y$.
    fn project(&self, x: Features<'_>, s: &mut Scratch<'_>) {
        let x = self.expansion.apply(x, s.row);
        self.inverse.columns_and_gram(x, s.y, s.gram, s.rest);
        if !self.shared {
            self.sober(s);
        }
    }

    /// Where rounding has left $N$ indefinite by as much as the member of the smallest curvature would notice, nothing of
    /// $H^{-1}$ along the row can be trusted: the direction is known.
    fn sober(&self, s: &mut Scratch<'_>) {
        let q = self.inverse.blocks();
        let smallest = self.curvatures.iter().copied().fold(f64::INFINITY, f64::min);
        let system = &mut s.rest[..q * q];
        for (at, (entry, n)) in system.iter_mut().zip(&*s.gram).enumerate() {
            *entry = n / (2.0 * smallest) + f64::from(at % (q + 1) == 0);
        }
        if !linalg::cholesky(system, q) {
            s.y.fill(0.0);
            s.gram.fill(0.0);
        }
    }

    /// One member's forecast. $\tilde A = N/(2\gamma)$, and $z = g - \tilde A \sigma(z)$ with
    /// $g = -Y^\top G/(2\gamma) + \mathrm{diag}(\tilde A)/2$.
    fn forecast(
        &self,
        gamma: f64,
        gradient: &[f64],
        y: &[f64],
        gram: &[f64],
        rest: &mut [f64],
        out: &mut Prediction,
    ) {
        let (n, q) = (self.inverse.side(), self.rows());
        let rest = &mut { rest };
        if self.shared {
            let (a, g) = (take(rest, q), take(rest, q));
            a.fill(gram[0] / (2.0 * gamma));
            for ((g, gradient), a) in g.iter_mut().zip(gradient.chunks_exact(n)).zip(&*a) {
                *g = 0.5 * (a - dot(y, gradient) / gamma);
            }
            diagonal_fixed_point::solve(a, g, &mut out.scores, &mut out.probabilities, rest);
            return;
        }
        let basis = self.inner.basis().expect("a family works in the reduced basis");
        let (a, g, h, z) = (take(rest, q * q), take(rest, q), take(rest, q), take(rest, q));
        let diagonal = take(rest, self.classes);
        for (a, n) in a.iter_mut().zip(gram) {
            *a = n / (2.0 * gamma);
        }
        basis.expanded_diagonal(a, diagonal, rest);
        basis.reduce(diagonal, g);
        let y = columns(y, n, q).transpose();
        product(columns_mut(h, q, 1), Into::Replace, 1.0, y, columns(gradient, n, 1));
        for (g, h) in g.iter_mut().zip(&*h) {
            *g = 0.5 * (*g - h / gamma);
        }
        let solution = self.inner.solve(a, g, z, rest);
        out.probabilities.copy_from_slice(solution.probabilities);
        basis.expand(z, &mut out.scores);
    }
}

impl Member for Family {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); self.curvatures.len()];
        Prediction { members, ..Prediction::sized(self.classes, self.scratch_len()) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scratch, stamp, members, .. } = out;
        let mut s = self.layout(scratch);
        self.project(x, &mut s);
        let gradients = self.gradients.chunks_exact(self.rows() * self.wide());
        for ((at, gamma), gradient) in members.iter_mut().zip(&self.curvatures).zip(gradients) {
            self.forecast(*gamma, gradient, s.y, s.gram, s.rest, at);
        }
        *stamp = Some(self.rounds);
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (n, k, rows, wide) = (self.inverse.side(), self.classes, self.rows(), self.wide());
        let mut spare = std::mem::take(&mut self.spare);
        let by_products = if at.is_fresh(self.rounds) && at.scratch.len() == spare.len() {
            &at.scratch
        } else {
            self.project(x, &mut self.layout(&mut spare));
            &spare
        };
        let (row, rest) = by_products.split_at(self.expansion.room(self.features));
        let b = self.inverse.blocks();
        let (columns_y, rest) = rest.split_at(n * b);
        let gram = &rest[..b * b];
        let x = if row.is_empty() { x } else { Features::Dense(row) };

        let p = &at.probabilities;
        let work = &mut &mut self.work[..];
        let (residual, curved, coefficient) = (take(work, k), take(work, k), take(work, k));
        let spread = ((1.0 - dot(p, p)) / (k - 1) as f64).max(0.0);
        let gradients = self.gradients.chunks_exact_mut(rows * wide);
        for ((at, gamma), gradient) in at.members.iter().zip(&self.curvatures).zip(gradients) {
            // G += (p - y - 2γSz) ⊗ x
            residual.copy_from_slice(&at.probabilities);
            y.truth.subtract_from(residual);
            if self.shared {
                let mean = at.scores.iter().sum::<f64>() / k as f64;
                for (curved, z) in curved.iter_mut().zip(&at.scores) {
                    *curved = spread * (z - mean).clamp(-LARGEST, LARGEST);
                }
            } else {
                for (bounded, z) in coefficient.iter_mut().zip(&at.scores) {
                    *bounded = z.clamp(-LARGEST, LARGEST);
                }
                covariance_times(p, coefficient, curved);
            }
            for (residual, curved) in residual.iter_mut().zip(&*curved) {
                *residual -= 2.0 * gamma * curved;
            }
            if self.shared {
                coefficient.copy_from_slice(residual);
            } else {
                self.inner.reduce(residual, &mut coefficient[..rows]);
            }
            for (block, c) in gradient.chunks_exact_mut(wide).zip(&*coefficient) {
                x.add_to(y.weight * c, block);
            }
        }

        if self.shared {
            let weight = y.weight * spread;
            let mix = [(weight / (1.0 + weight * gram[0])).sqrt()];
            self.inverse.downdate(columns_y, &mix);
        } else {
            // LLᵀ = I + C'ᵀNC';  P -= FFᵀ with F = Y C' L^{-T}
            let q = rows;
            let (factor, mix, system) = (take(work, q * q), take(work, q * q), take(work, q * q));
            self.inner.covariance_factor(p, factor, residual, curved);
            for factor in factor.iter_mut() {
                *factor *= y.weight.sqrt();
            }
            let c = columns(factor, q, q);
            product(columns_mut(mix, q, q), Into::Replace, 1.0, columns(gram, q, q), c);
            product(columns_mut(system, q, q), Into::Replace, 1.0, c.transpose(), columns(mix, q, q));
            for diagonal in system.iter_mut().step_by(q + 1) {
                *diagonal += 1.0;
            }
            let definite = linalg::cholesky(system, q);
            debug_assert!(definite, "I + C'ᵀNC' has eigenvalues >= 1");
            mix.copy_from_slice(factor);
            linalg::divide_by_transposed_lower(mix, q, system, q);
            self.inverse.downdate(columns_y, mix);
        }
        self.rounds += 1;
        self.spare = spare;
    }

    fn lookahead(&self) -> usize {
        self.inverse.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        let wide = self.expansion.room(self.features);
        if wide == 0 {
            self.inverse.prepare(coming);
            return;
        }
        let len = coming.len().min(self.inverse.lookahead());
        for (at, row) in self.ahead.chunks_exact_mut(wide).take(len).enumerate() {
            self.expansion.apply(coming.features(at), row);
        }
        self.inverse.prepare(&Expanded { rows: &self.ahead[..len * wide], features: wide });
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let (k, rows, wide) = (self.classes, self.rows(), self.wide());
        if classes != k {
            self.inner = FixedPoint::reduced(LogitBasis::new(classes));
        }
        (self.classes, self.features) = (classes, features);
        let (grown_rows, grown_wide) = (self.rows(), self.wide());
        let mut gradients = vec![0.0; self.curvatures.len() * grown_rows * grown_wide];
        let members = gradients.chunks_exact_mut(grown_rows * grown_wide);
        for (old, new) in self.gradients.chunks_exact(rows * wide).zip(members) {
            for (old, new) in old.chunks_exact(wide).zip(new.chunks_exact_mut(grown_wide)) {
                new[..wide].copy_from_slice(old);
            }
        }
        self.gradients = gradients;
        let blocks = if self.shared { 1 } else { classes - 1 };
        self.inverse.grow(blocks, grown_wide, self.ratio, blocks);
        self.make_room();
        true
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Family {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector("gradients", &mut self.gradients));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.inverse.is_consistent()
    }
}

#[cfg(test)]
mod tests;
