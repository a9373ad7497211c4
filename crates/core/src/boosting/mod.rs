//! Boosting: an online learner of many weak learners.
//!
//! A weak learner ([`weak`]) predicts a class for a row, and then learns the costs of all classes; it only
//! has to be slightly better than random guessing. [`adaboost_olm`] is a chain of copies of a weak learner:
//! each copy learns the costs that remain after the forecasts of the previous copies, and a [`regression`]
//! for each copy learns the weight of its prediction.
//!
//! | weak learner | what it is |
//! |---|---|
//! | [`tree`] | small trees that grow with their rows |
//! | [`stump`] | one threshold on one feature: given, drawn, or the best of several |
//! | [`linear_cost`] | linear estimates of the costs |
//! | [`adapter`] | any learner of the registry that learns from labels |

pub mod adaboost_olm;
pub mod adapter;
mod copies;
pub mod costs;
pub mod linear_cost;
pub mod params;
mod powers;
pub mod regression;
pub(crate) mod rows;
pub(crate) mod split;
pub mod stump;
pub mod tree;
pub mod weak;

/// A pseudo-random number (the finaliser of SplitMix64): the draws of a copy depend only on the seed and the
/// index of the copy.
pub(crate) fn mixed(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(at.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// As [`mixed`], as a number in [0, 1).
pub(crate) fn mixed_uniform(seed: u64, at: u64) -> f64 {
    (mixed(seed, at) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// $x_j$; 0 for a feature that `x` does not have.
pub(crate) fn value(x: crate::example::Features<'_>, feature: usize) -> f64 {
    use crate::example::Features;
    match x {
        Features::Dense(values) => values.get(feature).copied().unwrap_or(0.0),
        Features::Sparse { indices, values } => u32::try_from(feature)
            .ok()
            .and_then(|j| indices.binary_search(&j).ok())
            .map_or(0.0, |at| values[at]),
    }
}

/// The index of the smallest number; the first of several.
pub(crate) fn cheapest(costs: &[f64]) -> usize {
    let mut best = 0;
    for (at, &cost) in costs.iter().enumerate() {
        if cost < costs[best] {
            best = at;
        }
    }
    best
}
