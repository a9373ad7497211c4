//! What a stack's columns are worth, and how the stack goes on without them.
//!
//! Near its minimum, the total loss of a stack is a quadratic function of its weights $w$, with the inverse
//! $V$ of its second derivatives. If the weight $i$ has to be 0 and the others are at their best without it,
//! the total loss is larger by
//!
//! $$ \frac{w_i^2}{2 V_{ii}}, \qquad w \leftarrow w - \frac{w_i}{V_{ii}} V_i, \qquad
//!    V \leftarrow V - \frac{1}{V_{ii}} V_i V_i^\top. \tag{1} $$
//!
//! ## Reference
//!
//! Babak Hassibi, David G. Stork, *Second order derivatives for network pruning: Optimal Brain Surgeon*, NIPS
//! 1992. `references.bib`: `hassibi1992surgeon`; theory: mixtures 2.9.

use std::ops::Range;

use crate::kernel::vector::axpy;

/// What a column without information seems to be worth, in nats, since its weight is fitted to noise.
const NOISE: f64 = 0.5;

/// The total loss of a stack around its minimum.
#[derive(Clone)]
pub(in crate::experts::auto) struct Quadratic {
    /// $V$.
    pub(super) inverse: Vec<f64>,
    /// $w$.
    pub(super) weights: Vec<f64>,
}

impl Quadratic {
    /// Takes the weight `at` out, by eq. (1), and leaves `alone` in its place on the diagonal. Returns by how
    /// many nats the loss is larger without it.
    pub(super) fn take_out(&mut self, at: usize, alone: f64) -> f64 {
        let Self { inverse, weights } = self;
        let side = weights.len();
        let column = inverse[at * side..][..side].to_vec();
        let (weight, pivot) = (weights[at], column[at]);
        // Otherwise rounding errors are larger than what is left of it.
        if pivot > 0.0 {
            axpy(-weight / pivot, &column, weights);
            for (of_column, entry) in inverse.chunks_exact_mut(side).zip(&column) {
                axpy(-entry / pivot, &column, of_column);
            }
        }
        weights[at] = 0.0;
        for other in 0..side {
            (inverse[at * side + other], inverse[other * side + at]) = (0.0, 0.0);
        }
        inverse[at * side + at] = alone;
        if pivot > 0.0 { 0.5 * weight * weight / pivot } else { 0.0 }
    }

    /// The nats so far that all of `columns` together are worth, beyond noise.
    pub(in crate::experts::auto) fn worth(&self, columns: Range<usize>) -> f64 {
        let mut without = self.clone();
        columns.map(|at| without.take_out(at, 1.0) - NOISE).sum::<f64>().max(0.0)
    }

    /// Takes the weights of `columns` out.
    pub(in crate::experts::auto) fn remove(&mut self, columns: Range<usize>) {
        columns.for_each(|at| _ = self.take_out(at, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::linalg;

    /// Minimises ½ wᵀ H w − bᵀ w, with and without the second weight.
    #[test]
    fn the_others_take_over() {
        let second = [4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0];
        let b = [1.0, 2.0, -1.0];
        let solved = |without: Option<usize>| {
            let mut inverse = second.to_vec();
            let mut b = b;
            if let Some(at) = without {
                b[at] = 0.0;
                for other in (0..3).filter(|other| *other != at) {
                    (inverse[3 * at + other], inverse[3 * other + at]) = (0.0, 0.0);
                }
                inverse[4 * at] = 1.0;
            }
            assert!(linalg::invert(&mut inverse, 3));
            let weights: Vec<f64> =
                inverse.chunks(3).map(|row| row.iter().zip(b).map(|(v, b)| v * b).sum()).collect();
            let least: f64 = -0.5 * weights.iter().zip(b).map(|(w, b)| w * b).sum::<f64>();
            (Quadratic { inverse, weights }, least)
        };
        let ((mut all, least), (want, larger)) = (solved(None), solved(Some(1)));
        assert!((all.worth(1..2) + NOISE - (larger - least)).abs() < 1e-12);
        all.remove(1..2);
        let numbers = all.weights.iter().chain(&all.inverse).zip(want.weights.iter().chain(&want.inverse));
        assert!(
            numbers.clone().all(|(own, want)| (own - want).abs() < 1e-12),
            "{:?}",
            numbers.collect::<Vec<_>>()
        );
    }
}
