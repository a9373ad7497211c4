//! Waveforms: Leo Breiman, Jerome Friedman, Richard Olshen, Charles Stone, *Classification and Regression
//! Trees*, 1984, section 2.6.2.
//!
//! Three triangles of height 6 and width 12 stand over 21 places. A row of a class, drawn
//! uniformly, is a random convex combination of two of them, another pair for every class, with
//! standard normal noise on every feature. At every change of concept the columns are permuted.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, count, fill, shuffled};

/// Number of informative features.
const PLACES: usize = 21;

/// The places of the triangles' tips, counted from 0.
const TIPS: [f64; 3] = [6.0, 14.0, 10.0];

/// The triangles of each class.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

params! {
    /// Parameters of waveforms.
    pub(super) struct WaveformParams {
        /// Features of pure noise, standard normal, >= 0.
        irrelevant: u64 = "0",
        /// Number of permutations of the columns over the stream; 0 is no drift.
        drift: u64 = "0",
    }
}

/// The height of a triangle at `place`.
fn height(triangle: usize, place: usize) -> f64 {
    (6.0 - (place as f64 - TIPS[triangle]).abs()).max(0.0)
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = WaveformParams::from_values("waveform", values)?;
    let features = PLACES + count("irrelevant", params.irrelevant.unwrap_or(0), 0)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(0), rows);
    let mut rng = Rng::new(seed, 0);
    // The column of each feature.
    let mut columns: Vec<usize> = (0..features).collect();
    let mut x = vec![0.0; features];
    Ok(Synthetic::new(PAIRS.len(), features, move |row| {
        if blocks.changes() {
            columns = shuffled(&mut rng, features);
        }
        let class = rng.below(PAIRS.len() as u64) as usize;
        let ((first, second), share) = (PAIRS[class], rng.uniform());
        for (feature, column) in columns.iter().enumerate() {
            let wave = if feature < PLACES {
                share * height(first, feature) + (1.0 - share) * height(second, feature)
            } else {
                0.0
            };
            x[*column] = wave + rng.normal();
        }
        fill(row, class, &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    /// Class 0 mixes the triangles around places 6 and 14 in halves on average: 3 at their tips, and half of
    /// 2 from each at place 10.
    #[test]
    fn means_are_those_of_the_triangles() {
        let mut stream = make(&Values::new(), 0, 1).expect("valid parameters");
        let (mut sums, mut rows) = ([0.0; PLACES], 0.0);
        for _ in 0..6000 {
            let mut row = Row::new();
            stream.next(&mut row);
            if row.label() == RowLabel::Name("0") {
                rows += 1.0;
                sums.iter_mut().zip(row.values()).for_each(|(sum, x)| *sum += x);
            }
        }
        for (place, want) in [(0, 0.0), (6, 3.0), (10, 2.0), (14, 3.0), (20, 0.0)] {
            let mean: f64 = sums[place] / rows;
            assert!((mean - want).abs() < 0.2, "{mean} at place {place}, not {want}");
        }
    }
}
