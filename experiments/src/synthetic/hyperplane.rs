//! A rotating hyperplane: Geoff Hulten, Laurie Spencer, Pedro Domingos, *Mining Time-Changing Data Streams*,
//! KDD 2001, section 5.1.
//!
//! Rows are uniform in the unit cube; class 1 is the side of the hyperplane where the weighted sum of the
//! features is at least half of the sum of the weights. With drift, the first features' weights change by
//! `drift` in every row, each in a direction that it reverses with probability 1/10.

use noregret::param::{ParamError, Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Made, Synthetic, count, fill, within};

/// The probability that a weight reverses its direction.
const REVERSAL: f64 = 0.1;

params! {
    /// Parameters of the stream of a rotating hyperplane.
    pub(super) struct HyperplaneParams {
        /// Number of features, >= 1.
        features: u64 = "10",
        /// Features whose weights drift, at most all.
        drifting: u64 = "2, or all if there are fewer",
        /// Change of a drifting weight in a row, >= 0.
        drift: f64 = "0",
        /// Probability with which the label is replaced by the other one, in [0, 1].
        noise: f64 = "0.05",
    }
}

pub(super) fn make(values: &Values, _rows: u64, seed: u64) -> Made {
    let params = HyperplaneParams::from_values("hyperplane", values)?;
    let features = count("features", params.features.unwrap_or(10), 1)?;
    let drifting = params.drifting.unwrap_or(2u64.min(features as u64));
    if drifting > features as u64 {
        return Err(ParamError::invalid("drifting", drifting, format!("at most features = {features}")));
    }
    let drift = within("drift", params.drift.unwrap_or(0.0), 0.0, 1e6)?;
    let noise = within("noise", params.noise.unwrap_or(0.05), 0.0, 1.0)?;
    let mut rng = Rng::new(seed, 0);
    let mut weights: Vec<f64> = (0..features).map(|_| rng.uniform()).collect();
    // Directions of the drifting weights: 1 or -1.
    let mut directions = vec![1.0; drifting as usize];
    let mut x = vec![0.0; features];
    Ok(Synthetic::new(2, features, move |row| {
        let (mut side, mut half) = (0.0, 0.0);
        for (x, weight) in x.iter_mut().zip(&weights) {
            *x = rng.uniform();
            side += weight * *x;
            half += 0.5 * weight;
        }
        let flipped = noise > 0.0 && rng.uniform() < noise;
        let class = usize::from(side >= half) ^ usize::from(flipped);
        if drift > 0.0 {
            for (weight, direction) in weights.iter_mut().zip(&mut directions) {
                *weight += *direction * drift;
                if rng.uniform() < REVERSAL {
                    *direction = -*direction;
                }
            }
        }
        fill(row, class, &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    /// One feature: the hyperplane is x = 1/2 whatever its weight.
    #[test]
    fn one_feature_is_split_in_the_middle() {
        let values = [("features".to_owned(), 1u64.into()), ("noise".to_owned(), 0.0.into())];
        let mut stream = make(&values.into_iter().collect(), 0, 1).expect("valid parameters");
        for _ in 0..100 {
            let mut row = Row::new();
            stream.next(&mut row);
            let want = if row.values()[0] >= 0.5 { "1" } else { "0" };
            assert_eq!(row.label(), RowLabel::Name(want), "{:?}", row.values());
        }
    }
}
