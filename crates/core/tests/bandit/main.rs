//! Properties that every bandit learner of the registry has, and assertions of the theorems.
//!
//! Other properties of the algorithms are tested in their own files:
//!
//! | check | tests |
//! |---|---|
//! | steps are unbiased over all labels that may be played | `the_step_is_unbiased` (`banditron`, `gaptron`), `the_estimate_is_unbiased` (`newtron`, `exp4`), `learning_is_weighted_by_the_inverse_probability` (`soba`) |
//! | SOBA: $W = A^{-1}\theta$, $\sum n m \ge 0$, the pathwise inequality, columns of sum 0 | `facts_of_the_full_version` (`soba`); $A^{-1}$ itself in `kernel::lowrank_inverse` |
//! | Gaptron: the surrogate gap is never positive | `surrogate_gap_is_never_positive`, `bandit_surrogate_gap_is_never_positive` (`loss::gap`) |
//! | expected mistakes are below the bounds | here: `bounds`, `tight` |
//! | mistakes are below the bounds that hold with high probability | here: `likely` |
//! | rows of zeros, two classes, the same row repeated, huge rows, $\gamma = 1$ | here:
//! `laws::degenerate_streams_are_survived` |
//! | requirements on late feedback | here: `contract` |

mod bounds;
mod contract;
mod inverse_gap;
mod laws;
mod likely;
mod support;
mod tight;
mod traces;

/// A random direction: a row of norm 1.
fn unit(rng: &mut noregret::rng::Rng, features: usize) -> Vec<f64> {
    let x: Vec<f64> = (0..features).map(|_| rng.normal()).collect();
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.iter().map(|value| value / norm).collect()
}
