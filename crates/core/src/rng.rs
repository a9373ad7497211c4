//! The random generator: portable, seeded, with independent streams and a position that can be
//! saved.

use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

/// A source of uniform numbers in [0, 1): the generator, or given numbers (of a trace or a log).
pub trait Uniforms {
    /// The next number.
    fn uniform(&mut self) -> f64;

    /// The number for an explore coin: the next one, unless the source has a separate one.
    fn coin(&mut self) -> f64 {
        self.uniform()
    }
}

/// A seeded generator whose output never changes between versions or machines.
///
/// ChaCha with 8 rounds, through the rand crate. Every consumer has its own stream, so that adding
/// one never changes the numbers of another.
#[derive(Debug, PartialEq)]
pub struct Rng {
    inner: ChaCha8Rng,
    seed: u64,
    stream: u64,
}

impl Rng {
    /// Stream `stream` of the generator seeded with `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut inner = ChaCha8Rng::seed_from_u64(seed);
        inner.set_stream(stream);
        Self { inner, seed, stream }
    }

    /// Uniform in 0..`bound`, without bias. `bound` is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        use rand::RngExt as _;
        self.inner.random_range(0..bound)
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.inner)
    }

    /// The whole state, for saving: seed, stream, position (low and high word).
    pub fn state(&self) -> [u64; 4] {
        let at = self.inner.get_word_pos();
        [self.seed, self.stream, at as u64, (at >> 64) as u64]
    }

    /// The generator that `state` was taken from.
    pub fn from_state([seed, stream, low, high]: [u64; 4]) -> Self {
        let mut rng = Self::new(seed, stream);
        rng.inner.set_word_pos(u128::from(low) | u128::from(high) << 64);
        rng
    }
}

impl Clone for Rng {
    fn clone(&self) -> Self {
        Self::from_state(self.state())
    }
}

impl Uniforms for Rng {
    /// 53 random bits, so that every multiple of 2^-53 in [0, 1) is equally likely.
    fn uniform(&mut self) -> f64 {
        (self.inner.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output is part of the interface: a change would invalidate every saved seed.
    #[test]
    fn value_stability() {
        let mut rng = Rng::new(7, 0);
        let uniforms: Vec<f64> = (0..3).map(|_| rng.uniform()).collect();
        let below: Vec<u64> = (0..5).map(|_| rng.below(10)).collect();
        let normals: Vec<f64> = (0..2).map(|_| rng.normal()).collect();
        assert_eq!(uniforms, [0.15779609702061936, 0.1679893627721013, 0.7042761280364565]);
        assert_eq!(below, [7, 6, 3, 0, 8]);
        assert_eq!(normals, [-0.26975895640289965, 1.5648483752549065]);
    }

    #[test]
    fn streams_differ_and_states_resume() {
        let (mut a, mut b) = (Rng::new(7, 0), Rng::new(7, 1));
        assert_ne!(a.uniform(), b.uniform());
        a.normal();
        let mut resumed = Rng::from_state(a.state());
        assert_eq!(a, resumed);
        assert_eq!((a.uniform(), a.normal()), (resumed.uniform(), resumed.normal()));
    }
}
