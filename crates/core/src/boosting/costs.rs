//! The cost of a class, given the logits of the previous copies (theory: boosting 2.1).
//!
//! $$ C(y, l) = \tfrac1K (\sigma_l + 1 - \sigma_y) \ (l \ne y), \quad C(y, y) = 0, \quad \sigma =
//!    \mathrm{softmax}(s) $$
//!
//! is the gradient of the log loss at $s$, shifted and scaled so that the true class has cost 0 and a row of
//! the matrix sums to $1 - \sigma_y \le 1$. Only the row of the true class is computed.

use crate::kernel::softmax::softmax;

/// Writes $C(y, \cdot)$ for the logits $s$ to `row`, and returns its sum $1 - \sigma_y$; `sigma` receives
/// $\sigma$.
///
/// All three slices have one entry for each class.
pub fn row(logits: &[f64], y: usize, sigma: &mut [f64], row: &mut [f64]) -> f64 {
    softmax(logits, sigma);
    row_of(sigma, y, row)
}

/// As [`row`], from `sigma` $= \sigma$.
pub fn row_of(sigma: &[f64], y: usize, row: &mut [f64]) -> f64 {
    // The sum of the other probabilities, since 1 - σ_y would cancel.
    let rest: f64 = sigma.iter().enumerate().filter(|(l, _)| *l != y).map(|(_, p)| p).sum();
    let scale = 1.0 / sigma.len() as f64;
    let right = sigma[y];
    for (cost, p) in row.iter_mut().zip(sigma) {
        // Classes with equal sums have exactly equal costs, so that early ties are resolved by index, not by
        // rounding.
        *cost = scale * (1.0 + (p - right));
    }
    row[y] = 0.0;
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_all_close, items, numbers, vector};
    use proptest::prelude::*;

    #[test]
    fn reference_matrices() {
        let reference = vector("cost_matrix");
        for case in items(&reference["cases"]) {
            let logits = numbers(&case["s"]);
            let (mut sigma, mut costs) = (vec![0.0; logits.len()], vec![0.0; logits.len()]);
            for (y, want) in items(&case["C"]).iter().enumerate() {
                row(&logits, y, &mut sigma, &mut costs);
                assert_all_close(&costs, &numbers(want), 1e-9, "C");
            }
        }
    }

    proptest! {
        #[test]
        fn rows_are_costs(logits in prop::collection::vec(-800.0..800.0f64, 2..9), y in 0..9usize) {
            let y = y % logits.len();
            let (mut sigma, mut costs) = (vec![0.0; logits.len()], vec![0.0; logits.len()]);
            let sum = row(&logits, y, &mut sigma, &mut costs);
            prop_assert!(costs.iter().all(|c| *c >= 0.0) && costs[y] == 0.0);
            prop_assert!((costs.iter().sum::<f64>() - sum).abs() <= 1e-14 && sum <= 1.0 + 1e-15);
        }
    }
}
