//! The points of a learning curve, thinned out during the run.

use std::ops::Range;

use noregret::algorithm::Forecast;

use crate::run::score::{Rates, Score};
use crate::run::{Outcome, Sink};
use crate::words::named;

named! {
    /// The quantity of a curve.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Measure {
        /// Error rate over the window; squared loss for a real-valued target.
        #[default]
        Error = "error",
        /// Log loss in nats over the window.
        LogLoss = "log-loss",
        /// Error rate over all rounds so far; squared loss for a real-valued target.
        RunningError = "running-error",
        /// Log loss in nats over all rounds so far.
        RunningLogLoss = "running-log-loss",
    }
}

impl Measure {
    /// Whether it is over all rounds so far, rather than a window.
    pub fn is_running(self) -> bool {
        matches!(self, Self::RunningError | Self::RunningLogLoss)
    }

    /// The label of its axis, for learners of `forecast`; `None` if they have no such loss.
    pub fn axis(self, forecast: Forecast) -> Option<&'static str> {
        match (self, forecast) {
            (Self::Error | Self::RunningError, Forecast::Value) => Some("squared loss"),
            (Self::Error | Self::RunningError, _) => Some("error rate"),
            (Self::LogLoss | Self::RunningLogLoss, Forecast::Probabilities) => Some("log-loss (nats)"),
            (Self::LogLoss | Self::RunningLogLoss, _) => None,
        }
    }

    fn of(self, score: &Score) -> Option<f64> {
        let Rates { error_rate, squared_loss, log_loss, .. } =
            if self.is_running() { score.rates() } else { score.window_rates() };
        match self {
            Self::Error | Self::RunningError => error_rate.or(squared_loss),
            Self::LogLoss | Self::RunningLogLoss => log_loss,
        }
    }
}

/// Observes a run and records its curve, with [`Curve::MOST`] / 2 to [`Curve::MOST`] points at
/// equal distances for any length. Runs over the same labelled rows have points at the same rounds.
#[derive(Clone, Debug)]
pub struct Curve {
    measure: Measure,
    every: u64,
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Largest number of points.
    pub const MOST: usize = 400;

    /// A curve without points.
    pub fn new(measure: Measure) -> Self {
        Self { measure, every: 1, points: Vec::new() }
    }

    /// The quantity.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The points: rounds, and the value after them.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }
}

impl Sink for Curve {
    fn observe(&mut self, _: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        let round = score.rounds() as f64;
        // Rows without a label add no round.
        let known = self.points.last().is_some_and(|(last, _)| *last == round);
        if score.rounds() == 0 || known || !score.rounds().is_multiple_of(self.every) {
            return Ok(());
        }
        if let Some(value) = self.measure.of(score) {
            self.points.push((round, value));
        }
        if self.points.len() == Self::MOST {
            self.every *= 2;
            let every = self.every as f64;
            self.points.retain(|(round, _)| round % every == 0.0);
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use noregret::example::Label;
    use noregret::prediction::Prediction;

    use super::*;
    use crate::encode::Example;
    use crate::run::score::RoundScore;

    fn curve(measure: Measure, rounds: usize) -> Curve {
        let (mut curve, mut score) = (Curve::new(measure), Score::new(Forecast::Probabilities, 10));
        let (example, prediction) = (Example::default(), Prediction::default());
        for round in 0..rounds {
            let right = RoundScore { loss: 1.0, ..RoundScore::default() };
            score.add(RoundScore { error: f64::from(u8::from(round < 100)), ..right });
            let outcome = Outcome {
                example: &example,
                prediction: &prediction,
                played: Label(0),
                labels: None,
                target: None,
                round: right,
                certificate: &|| None,
                bound: &|| None,
                weights: &Vec::new,
            };
            curve.observe(&outcome, &score).expect("writes nothing");
            curve.observe(&outcome, &score).expect("an unlabelled row");
        }
        curve
    }

    #[test]
    fn points_stay_few_and_evenly_spaced() {
        for rounds in [1, 399, 400, 401, 12_345] {
            let points = curve(Measure::Error, rounds).points;
            assert!(points.len() < Curve::MOST && points.len() >= rounds.min(Curve::MOST / 2), "{rounds}");
            let step = points[0].0;
            assert!(
                points.iter().zip(1..).all(|((round, _), at)| *round == step * f64::from(at)),
                "{rounds}"
            );
        }
    }

    #[test]
    fn windows_forget_and_running_means_do_not() {
        let last = |measure| curve(measure, 1000).points.pop().expect("1000 rounds");
        assert_eq!(last(Measure::Error).1, 0.0);
        let (round, error) = last(Measure::RunningError);
        assert_eq!(error, 100.0 / round);
        assert_eq!(last(Measure::LogLoss).1, 1.0);
    }

    #[test]
    fn names_are_read_back() {
        for measure in Measure::ALL {
            assert_eq!(measure.to_string().parse(), Ok(measure));
        }
        assert!("errors".parse::<Measure>().is_err());
    }
}
