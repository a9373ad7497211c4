//! SynSep and SynNonSep: Kakade, Shalev-Shwartz, Tewari, *Efficient Bandit Algorithms for Online Multiclass
//! Prediction*, ICML 2008; used by Beygelzimer, Orabona, Zhang, *Efficient Online Bandit Multiclass Learning
//! with Õ(√T) Regret*, ICML 2017, section 6.
//!
//! At the start, between 20 and 40 of the first 120 features are drawn as the key features of every class.
//! For an example a class is drawn at random; its key features are 1, except for 5 of them, and so are 20 of
//! the last 280 features. Rows are not normalised: 35 <= ‖x‖² <= 55.

use noregret::param::{ParamError, Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::Synthetic;
use crate::read::row::Row;

const CLASSES: usize = 9;
const FEATURES: usize = 400;
const KEYS: u64 = 120;
const SWITCHED_OFF: usize = 5;
const SWITCHED_ON: usize = 20;

params! {
    /// Parameters of SynSep and SynNonSep.
    pub(super) struct SynsepParams {
        /// Probability with which the label is replaced by a random other one, in [0, 1].
        noise: f64 = "0 for synsep, 0.05 for synnonsep",
    }
}

pub(super) struct Synsep {
    /// The key features of every class.
    keys: Vec<Vec<u32>>,
    noise: f64,
    rng: Rng,
    columns: Vec<u32>,
}

impl Synsep {
    pub(super) fn make(
        name: &str,
        values: &Values,
        noise: f64,
        seed: u64,
    ) -> Result<Box<dyn Synthetic>, ParamError> {
        let params = SynsepParams::from_values(name, values)?;
        let noise = params.noise.unwrap_or(noise);
        if !(0.0..=1.0).contains(&noise) {
            return Err(ParamError::invalid("noise", noise, "in [0, 1]"));
        }
        let mut rng = Rng::new(seed, 0);
        let keys = (0..CLASSES)
            .map(|_| {
                let count = 20 + rng.below(21) as usize;
                distinct(&mut rng, 0..KEYS as u32, count)
            })
            .collect();
        Ok(Box::new(Self { keys, noise, rng, columns: Vec::new() }))
    }
}

/// `count` distinct elements of `range` in random order.
fn distinct(rng: &mut Rng, range: std::ops::Range<u32>, count: usize) -> Vec<u32> {
    let mut pool: Vec<u32> = range.collect();
    for at in 0..count {
        let other = at + rng.below((pool.len() - at) as u64) as usize;
        pool.swap(at, other);
    }
    pool.truncate(count);
    pool
}

impl Synthetic for Synsep {
    fn classes(&self) -> usize {
        CLASSES
    }

    fn features(&self) -> usize {
        FEATURES
    }

    fn next(&mut self, row: &mut Row) {
        let mut class = self.rng.below(CLASSES as u64) as usize;
        let keys = &self.keys[class];
        let kept = distinct(&mut self.rng, 0..keys.len() as u32, keys.len() - SWITCHED_OFF);
        self.columns.clear();
        self.columns.extend(kept.iter().map(|at| keys[*at as usize]));
        self.columns.extend(distinct(&mut self.rng, KEYS as u32..FEATURES as u32, SWITCHED_ON));
        self.columns.sort_unstable();
        if self.noise > 0.0 && self.rng.uniform() < self.noise {
            class = (class + 1 + self.rng.below(CLASSES as u64 - 1) as usize) % CLASSES;
        }
        row.clear();
        row.set_name(&class.to_string());
        self.columns.iter().for_each(|column| row.push(*column, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_shape_of_the_papers() {
        let mut stream = Synsep::make("synsep", &Values::new(), 0.0, 1).expect("defaults");
        let mut row = Row::new();
        for _ in 0..500 {
            stream.next(&mut row);
            let (keys, others) =
                row.indices().split_at(row.indices().partition_point(|column| *column < 120));
            assert!((15..=35).contains(&keys.len()) && others.len() == 20, "{:?}", row.indices());
        }
    }
}
