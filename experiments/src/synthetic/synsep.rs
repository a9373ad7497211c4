//! SynSep and SynNonSep: Kakade, Shalev-Shwartz, Tewari, *Efficient Bandit Algorithms for Online Multiclass
//! Prediction*, ICML 2008; used by Beygelzimer, Orabona, Zhang, *Efficient Online Bandit Multiclass Learning
//! with Õ(√T) Regret*, ICML 2017, section 6.
//!
//! At the start, between 20 and 40 of the first 120 features are drawn as the key features of every class.
//! For an example a class is drawn at random; its key features are 1, except for 5 of them, and so are 20 of
//! the last 280 features. Rows are not normalised: 35 <= ‖x‖² <= 55.

use noregret::param::{Params as _, Values, fraction};
use noregret::params;
use noregret::rng::Rng;

use super::{Made, Synthetic, fill, mistaken};

const CLASSES: usize = 9;
const FEATURES: u32 = 400;
const KEYS: u32 = 120;
const SWITCHED_OFF: usize = 5;
const SWITCHED_ON: usize = 20;

params! {
    /// Parameters of SynSep and SynNonSep.
    pub(super) struct SynsepParams {
        /// Probability with which the label is replaced by a random other one, in [0, 1].
        noise: f64 = "0 for synsep, 0.05 for synnonsep",
    }
}

pub(super) fn make(name: &str, values: &Values, noise: f64, seed: u64) -> Made {
    let noise = fraction("noise", SynsepParams::from_values(name, values)?.noise.unwrap_or(noise))?;
    let mut rng = Rng::new(seed, 0);
    let mut key = |_| {
        let count = 20 + rng.below(21) as usize;
        distinct(&mut rng, 0..KEYS, count)
    };
    // The key features of every class.
    let keys: Vec<Vec<u32>> = (0..CLASSES).map(&mut key).collect();
    Ok(Synthetic::new(CLASSES, FEATURES as usize, move |row| {
        let class = rng.below(CLASSES as u64) as usize;
        let keys = &keys[class];
        let kept = distinct(&mut rng, 0..keys.len() as u32, keys.len() - SWITCHED_OFF);
        let mut columns: Vec<u32> = kept.iter().map(|at| keys[*at as usize]).collect();
        columns.extend(distinct(&mut rng, KEYS..FEATURES, SWITCHED_ON));
        columns.sort_unstable();
        fill(row, mistaken(&mut rng, noise, class, CLASSES), &[]);
        columns.iter().for_each(|column| row.push(*column, 1.0));
    }))
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

#[cfg(test)]
mod tests {
    use noregret_stream::Row;

    use super::*;

    #[test]
    fn rows_have_the_shape_of_the_papers() {
        let mut stream = make("synsep", &Values::new(), 0.0, 1).expect("defaults");
        let mut row = Row::new();
        for _ in 0..500 {
            stream.next(&mut row);
            let (keys, others) =
                row.indices().split_at(row.indices().partition_point(|column| *column < 120));
            assert!((15..=35).contains(&keys.len()) && others.len() == 20, "{:?}", row.indices());
        }
    }
}
