//! Learners compared with the definitions in their papers, computed by slow and simple methods.
//!
//! The oracles share no formula with the library: FOLKLORE's minimises the defining objective over all of
//! R^{Kd} with a dense matrix and its dense inverse, OGD's is a loop over a matrix.

mod comparator;
mod dense;
mod folklore;
mod ogd;
mod regret;
mod tied;

use noregret::rng::{Rng, Uniforms};

/// A row and its target, a probability vector.
struct Round {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Round {
    fn new(x: Vec<f64>, class: usize, classes: usize) -> Self {
        Self { x, y: one_hot(class, classes) }
    }
}

fn one_hot(class: usize, classes: usize) -> Vec<f64> {
    (0..classes).map(|k| if k == class { 1.0 } else { 0.0 }).collect()
}

/// Rows uniform in a cube, scaled to norm at most `radius`; labels of a noisy linear model.
fn stream(seed: u64, rounds: usize, classes: usize, features: usize, radius: f64) -> Vec<Round> {
    let mut rng = Rng::new(seed, 0);
    let weights: Vec<f64> = (0..classes * features).map(|_| 3.0 * rng.normal()).collect();
    (0..rounds)
        .map(|_| {
            let mut entry = || (2.0 * rng.uniform() - 1.0) / (features as f64).sqrt();
            let unit: Vec<f64> = (0..features).map(|_| entry()).collect();
            let score = |w: &[f64]| dense::dot(w, &unit);
            let scores: Vec<f64> = weights.chunks_exact(features).map(score).collect();
            let noisy: Vec<f64> = scores.iter().map(|score| score + rng.normal()).collect();
            let x = unit.iter().map(|x| radius * x).collect();
            Round::new(x, noregret::prediction::argmax(&noisy), classes)
        })
        .collect()
}

/// lse(z) - ⟨y, z⟩.
fn loss(z: &[f64], y: &[f64]) -> f64 {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + z.iter().map(|z| (z - max).exp()).sum::<f64>().ln() - dense::dot(z, y)
}

fn softmax(z: &[f64]) -> Vec<f64> {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = z.iter().map(|z| (z - max).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Panics unless `got` is `want` to 1e-9, absolute plus relative.
fn assert_close(got: &[f64], want: &[f64], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-9 * (1.0 + want.abs());
    assert!(got.iter().zip(want).all(close), "{what}: {got:?} instead of {want:?}");
}
