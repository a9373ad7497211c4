//! Calibration: compares forecast probabilities with observed frequencies.

use std::ops::Range;

use noregret::example::{Target, Truth};
use noregret::prediction::argmax;
use serde::{Deserialize, Serialize};

use crate::run::score::Score;
use crate::run::{Outcome, Sink};

/// Probabilities are sorted into this many ranges of equal width.
const BINS: usize = 15;

/// Counts, for each range of the forecast probability, how often the event occurred: that the most
/// probable class is the true one, and for each class that it is the true one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    top: Reliability,
    /// For every class, if requested.
    classes: Option<Vec<Reliability>>,
}

/// The counts of one kind of event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reliability {
    bins: [Sums; BINS],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sums {
    rounds: u64,
    probability: f64,
    happened: f64,
}

/// A point of a reliability curve: the rounds in which an event's probability was in a range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Start of the range, inclusive.
    pub from: f64,
    /// End of the range, inclusive only if it is 1.
    pub to: f64,
    /// Rounds.
    pub rounds: u64,
    /// Mean probability in these rounds.
    pub probability: f64,
    /// Observed frequency: equal to `probability` for a calibrated forecaster.
    pub frequency: f64,
}

/// A reliability curve and its summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Expected calibration error: the mean of |frequency - probability| over rounds (Naeini, Cooper,
    /// Hauskrecht 2015).
    pub ece: f64,
    /// The ranges in which there were rounds.
    pub bins: Vec<Bin>,
}

/// The report of a [`Calibration`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// Of the most probable class.
    #[serde(flatten)]
    pub top: Curve,
    /// Of every class, in order, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<Curve>>,
}

impl Calibration {
    /// Without rounds; `by_class` requests a curve for every class as well.
    pub fn new(by_class: bool) -> Self {
        Self { top: Reliability::default(), classes: by_class.then(Vec::new) }
    }

    /// Whether this saved state counts the same events, so that it can be continued.
    pub fn goes_on_as(&self, other: &Self) -> bool {
        self.classes.is_some() == other.classes.is_some()
    }

    /// Adds a round. A soft label counts by its probabilities. Real-valued targets are ignored.
    pub fn add(&mut self, probabilities: &[f64], target: Target<'_>) {
        let happened = |class: usize| match target.truth {
            Truth::Class(label) => f64::from(label.index() == class),
            Truth::Distribution(y) => y[class],
            Truth::Value(_) => 0.0,
        };
        if probabilities.is_empty() {
            return;
        }
        let top = argmax(probabilities);
        self.top.add(probabilities[top], happened(top));
        if let Some(classes) = &mut self.classes {
            if classes.len() < probabilities.len() {
                classes.resize_with(probabilities.len(), Reliability::default);
            }
            for (class, (counts, p)) in classes.iter_mut().zip(probabilities).enumerate() {
                counts.add(*p, happened(class));
            }
        }
    }

    /// The curves so far.
    pub fn report(&self) -> CalibrationReport {
        let curves = |classes: &Vec<Reliability>| classes.iter().map(Reliability::curve).collect();
        CalibrationReport { top: self.top.curve(), classes: self.classes.as_ref().map(curves) }
    }
}

impl Sink for Calibration {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        if let Some(target) = outcome.target {
            self.add(&outcome.prediction.probabilities, target);
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

impl Reliability {
    fn add(&mut self, probability: f64, happened: f64) {
        let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
        let sums = &mut self.bins[bin];
        sums.rounds += 1;
        sums.probability += probability;
        sums.happened += happened;
    }

    fn curve(&self) -> Curve {
        let rounds: u64 = self.bins.iter().map(|sums| sums.rounds).sum();
        let gap: f64 = self.bins.iter().map(|sums| (sums.happened - sums.probability).abs()).sum();
        let bins = self.bins.iter().enumerate().filter(|(_, sums)| sums.rounds > 0);
        let bins = bins.map(|(at, sums)| Bin {
            from: at as f64 / BINS as f64,
            to: (at + 1) as f64 / BINS as f64,
            rounds: sums.rounds,
            probability: sums.probability / sums.rounds as f64,
            frequency: sums.happened / sums.rounds as f64,
        });
        Curve { ece: gap / rounds.max(1) as f64, bins: bins.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rounds at 0.9, three of which occur, and one at 0.5 that occurs: |3 - 3.6| + |1 - 0.5| over 5.
    #[test]
    fn the_error_is_the_mean_gap() {
        let mut calibration = Calibration::new(false);
        for truth in [0, 0, 0, 1] {
            calibration.add(&[0.9, 0.1], Target::class(truth));
        }
        calibration.add(&[0.5, 0.5], Target::class(0));
        let report = calibration.report();
        assert!((report.top.ece - 1.1 / 5.0).abs() < 1e-12, "{}", report.top.ece);
        let rounds: Vec<u64> = report.top.bins.iter().map(|bin| bin.rounds).collect();
        assert_eq!((rounds, report.classes), (vec![1, 4], None));
        let last = &report.top.bins[1];
        assert!((last.probability - 0.9).abs() < 1e-12 && (last.frequency - 0.75).abs() < 1e-12);
        assert!(last.from <= 0.9 && 0.9 < last.to);
    }

    #[test]
    fn every_class_has_its_curve() {
        let mut calibration = Calibration::new(true);
        calibration.add(&[1.0, 0.0, 0.0], Target::class(0));
        calibration.add(&[1.0, 0.0, 0.0], Target::distribution(&[0.5, 0.5, 0.0]));
        let classes = calibration.report().classes.expect("requested");
        let errors: Vec<f64> = classes.iter().map(|curve| curve.ece).collect();
        assert_eq!(errors, [0.25, 0.25, 0.0]);
        assert_eq!(classes[0].bins.len(), 1);
        assert_eq!(classes[0].bins[0].to, 1.0, "a probability of 1 is in the last range");
    }

    #[test]
    fn without_rounds_there_is_no_error() {
        assert_eq!(Calibration::new(false).report().top, Curve { ece: 0.0, bins: Vec::new() });
    }
}
