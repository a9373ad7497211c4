//! The display of seven segments: Leo Breiman, Jerome Friedman, Richard Olshen, Charles Stone,
//! *Classification and Regression Trees*, 1984, section 2.6.1.
//!
//! A digit is drawn uniformly; seven features are the segments that show it, each of which is wrong
//! with probability `noise`; seventeen more are 0 or 1 at random. At every change of concept the
//! columns are permuted.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, fill, shuffled, within};

/// The segments that are lit: top, upper left, upper right, middle, lower left, lower right, bottom.
const DIGITS: [[u8; 7]; 10] = [
    [1, 1, 1, 0, 1, 1, 1],
    [0, 0, 1, 0, 0, 1, 0],
    [1, 0, 1, 1, 1, 0, 1],
    [1, 0, 1, 1, 0, 1, 1],
    [0, 1, 1, 1, 0, 1, 0],
    [1, 1, 0, 1, 0, 1, 1],
    [1, 1, 0, 1, 1, 1, 1],
    [1, 0, 1, 0, 0, 1, 0],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 1, 1],
];

const FEATURES: usize = 24;

params! {
    /// Parameters of the display of seven segments.
    pub(super) struct LedParams {
        /// Probability with which a segment is wrong, in [0, 1].
        noise: f64 = "0.1",
        /// Number of permutations of the columns over the stream; 0 is no drift.
        drift: u64 = "0",
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = LedParams::from_values("led", values)?;
    let noise = within("noise", params.noise.unwrap_or(0.1), 0.0, 1.0)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(0), rows);
    let mut rng = Rng::new(seed, 0);
    // The column of each feature.
    let mut columns: Vec<usize> = (0..FEATURES).collect();
    Ok(Synthetic::new(DIGITS.len(), FEATURES, move |row| {
        if blocks.changes() {
            columns = shuffled(&mut rng, FEATURES);
        }
        let digit = rng.below(DIGITS.len() as u64) as usize;
        let mut x = [0.0; FEATURES];
        for (feature, column) in columns.iter().enumerate() {
            x[*column] = match DIGITS[digit].get(feature) {
                Some(lit) => f64::from(lit ^ u8::from(rng.uniform() < noise)),
                None => rng.below(2) as f64,
            };
        }
        fill(row, digit, &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    #[test]
    fn segments_show_the_digit() {
        let values = [("noise".to_owned(), 0.0.into())].into_iter().collect();
        let mut stream = make(&values, 100, 1).expect("valid parameters");
        for _ in 0..100 {
            let mut row = Row::new();
            stream.next(&mut row);
            let RowLabel::Name(name) = row.label() else { panic!("no class") };
            let digit: usize = name.parse().expect("a digit");
            let lit: Vec<u8> = (0..7).map(|segment| u8::from(row.indices().contains(&segment))).collect();
            assert_eq!(lit, DIGITS[digit], "{digit}");
        }
    }
}
