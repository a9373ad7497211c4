//! The cost of a member: multiply-adds in a round, and 8-byte numbers of memory.

use crate::problem::Problem;

use super::description::Description;
use super::diagonals::Diagonals;
use super::expansion::with_products;
use super::family::{EVERY, Family};
use super::forest::Forest;
use super::fourier::{Fourier, WAVES};
use super::neighbours::Neighbours;
use super::trees::Trees;

/// The number of non-zero entries assumed for a sparse row, since it is not known in advance.
const STORED: f64 = 64.0;

impl Description {
    /// The number of classes, and of features after the member's expansion.
    fn dimensions(self, problem: &Problem) -> (usize, usize) {
        let features = match self {
            Self::Products { .. } => with_products(problem.features),
            Self::Waves { .. } => WAVES.saturating_add(problem.features),
            _ => problem.features,
        };
        (problem.classes, features)
    }

    /// The time of a round with a dense row, in multiply-adds; a processor core performs five in a
    /// nanosecond. Measured with announced rows: a wide matrix product performs three of its operations in
    /// the time of one such multiply-add, and work that is not a matrix product (exponentials, small systems,
    /// cache misses) is counted by its time.
    pub(super) fn work(self, problem: &Problem) -> f64 {
        /// The part of a round that does not depend on the problem.
        const CALLS: f64 = 15_000.0;
        let (k, d) = self.dimensions(problem);
        let (k, d, heads) = (k as f64, d as f64, self.heads() as f64);
        let q = k - 1.0;
        let of_one_matrix = || {
            let products = 1.5 * d * d + 2.0 * heads * k * d;
            CALLS + products / 3.0 + heads * 600.0 * k
        };
        // For sparse rows only the stored entries cost time.
        let stored = if problem.sparse { d.min(STORED) } else { d };
        match self {
            Self::Labels | Self::Pairs => heads * k,
            Self::Full { forgetting, .. } => {
                let side = q * d;
                let products = side * side * (1.0 + 0.5 * q) + 2.0 * heads * q * side;
                let inner = heads * (k * k * k + 30.0 * k * k + 500.0 * k);
                CALLS + products / 3.0 + inner + forgetting_work(forgetting, side)
            }
            Self::Shared { forgetting, .. } | Self::Products { forgetting, .. } => {
                of_one_matrix() + forgetting_work(forgetting, d)
            }
            Self::Waves { .. } => of_one_matrix() + Fourier::work(problem.features),
            Self::Diagonals { heads: count, .. } => {
                2.0 * Diagonals::blocks(count) as f64 * k * stored + heads * 300.0 * k
            }
            Self::Diagonal { .. } => 5.0 * k * stored,
            Self::Trees => Trees::work(problem),
            Self::Forest => Forest::work(problem),
            Self::Neighbours => Neighbours::work(problem),
        }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(self, problem: &Problem) -> usize {
        let (k, d) = self.dimensions(problem);
        let heads = self.heads();
        match self {
            Self::Labels => heads.saturating_mul(k),
            Self::Pairs => heads.saturating_mul(k).saturating_mul(k),
            Self::Full { .. } => Family::numbers(k, d, false, heads),
            Self::Shared { .. } | Self::Products { .. } => Family::numbers(k, d, true, heads),
            Self::Waves { .. } => {
                Family::numbers(k, d, true, heads).saturating_add(Fourier::numbers(problem.features))
            }
            Self::Diagonals { cells, .. } => Diagonals::numbers(k, d, heads, cells.unwrap_or(usize::MAX)),
            Self::Diagonal { .. } => k.saturating_mul(d).saturating_mul(2),
            Self::Trees => Trees::numbers(problem),
            Self::Forest => Forest::numbers(problem),
            Self::Neighbours => Neighbours::numbers(problem),
        }
    }

    /// The part of [`Description::numbers`] that is allocated before the first row.
    pub(super) fn numbers_at_first(self, problem: &Problem) -> usize {
        match self {
            Self::Diagonals { .. } | Self::Diagonal { .. } => self.heads().saturating_mul(problem.classes),
            Self::Forest => Forest::numbers_at_first(problem),
            Self::Neighbours => Neighbours::numbers_at_first(problem),
            _ => self.numbers(problem),
        }
    }
}

/// The cost per round of the matrix inversions of a family that forgets; the matrix has `side` rows.
fn forgetting_work(forgetting: f64, side: f64) -> f64 {
    if forgetting > 0.0 { side * side * side / EVERY as f64 } else { 0.0 }
}
