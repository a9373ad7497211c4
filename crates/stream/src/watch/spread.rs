//! Mean and spread of a number over repeated runs.

use serde::Serialize;

use crate::mean::Mean;

/// A number over repeated runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, of the runs as a sample (divided by one less than their number); 0 for a
    /// single run.
    pub sd: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The spread of `values`; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        values.first()?;
        let mut mean = Mean::default();
        values.iter().for_each(|value| mean.add(*value));
        Some(Self {
            mean: mean.value(),
            sd: mean.deviation(),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sample_by_hand() {
        // Mean 4, deviations -2, 0, 0, 2: squares 8 over 3.
        let spread = Spread::of(&[2.0, 4.0, 4.0, 6.0]).expect("four values");
        assert_eq!((spread.min, spread.max), (2.0, 6.0));
        assert!((spread.mean - 4.0).abs() < 1e-12 && (spread.sd - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of(&[]), None);
        let same = Spread::of(&[0.1; 3]).expect("three values");
        assert_eq!(same, Spread { mean: 0.1, sd: 0.0, min: 0.1, max: 0.1 });
    }
}
