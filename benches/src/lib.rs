//! What the benches share: rows to work on, and a plain kernel to compare with.

pub mod plain;

use noregret::rng::{Rng, Uniforms};

/// `count` rows of `features` values of norm about 1, one after the other.
pub fn rows(count: usize, features: usize) -> Vec<f64> {
    let mut rng = Rng::new(1, 0);
    let scale = 1.0 / (features as f64).sqrt();
    (0..count * features).map(|_| scale * rng.normal()).collect()
}

/// `count` labels below `classes`.
pub fn labels(count: usize, classes: usize) -> Vec<usize> {
    let mut rng = Rng::new(2, 0);
    (0..count).map(|_| (rng.uniform() * classes as f64) as usize).collect()
}
