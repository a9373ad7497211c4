//! SEA concepts: W. Nick Street, YongSeog Kim, *A Streaming Ensemble Algorithm (SEA) for Large-Scale
//! Classification*, KDD 2001, section 4.
//!
//! Three features, uniform in [0, 10]; the third is irrelevant. The class is 1 if the sum of the
//! first two is at most a threshold: 8, 9, 7 and 9.5 in turn, one for each block of the stream.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, fill, within};

const THRESHOLDS: [f64; 4] = [8.0, 9.0, 7.0, 9.5];

params! {
    /// Parameters of SEA concepts.
    pub(super) struct SeaParams {
        /// Changes of the threshold over the stream; 0 is no drift.
        drift: u64 = "3",
        /// Probability with which the label is replaced by the other one, in [0, 1].
        noise: f64 = "0.1",
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = SeaParams::from_values("sea", values)?;
    let noise = within("noise", params.noise.unwrap_or(0.1), 0.0, 1.0)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(3), rows);
    let mut rng = Rng::new(seed, 0);
    Ok(Synthetic::new(2, 3, move |row| {
        let threshold = THRESHOLDS[(blocks.next() % THRESHOLDS.len() as u64) as usize];
        let x: [f64; 3] = std::array::from_fn(|_| 10.0 * rng.uniform());
        let flipped = noise > 0.0 && rng.uniform() < noise;
        fill(row, usize::from(x[0] + x[1] <= threshold) ^ usize::from(flipped), &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    #[test]
    fn every_block_has_its_threshold() {
        let values = [("noise".to_owned(), 0.0.into())].into_iter().collect();
        let mut stream = make(&values, 400, 1).expect("valid parameters");
        for t in 0..400 {
            let mut row = Row::new();
            stream.next(&mut row);
            let sum = row.values()[0] + row.values()[1];
            let want = if sum <= [8.0, 9.0, 7.0, 9.5][t / 100] { "1" } else { "0" };
            assert_eq!(row.label(), RowLabel::Name(want), "row {t}");
        }
    }
}
