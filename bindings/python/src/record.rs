//! The record of a run over arrays.

use std::ops::Range;

use noregret::algorithm::Forecast;
use noregret::example::Truth;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, Sink};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Losses, probabilities if requested, played classes, rates by name, and true classes (-1 if there
/// is none).
pub(crate) type Ran<'py> = (
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyArray2<f64>>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyDict>,
    Bound<'py, PyArray1<i64>>,
);

/// A run's rounds and score.
pub(crate) struct Record {
    pub(crate) rounds: Rounds,
    pub(crate) score: Option<Score>,
}

/// Records every round.
pub(crate) struct Rounds {
    forecast: Forecast,
    keep: bool,
    losses: Vec<f64>,
    probabilities: Vec<f64>,
    played: Vec<i64>,
    truths: Vec<i64>,
}

impl Record {
    pub(crate) fn new(forecast: Forecast, keep: bool, rows: usize) -> Self {
        let rounds = Rounds {
            forecast,
            keep,
            losses: Vec::with_capacity(rows),
            probabilities: Vec::new(),
            played: Vec::with_capacity(rows),
            truths: Vec::with_capacity(rows),
        };
        Self { rounds, score: None }
    }

    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Ran<'_>> {
        let Rounds { keep, losses, probabilities, played, truths, .. } = self.rounds;
        let rows = losses.len();
        let probabilities = if keep {
            let width = probabilities.len().checked_div(rows).unwrap_or(0);
            Some(PyArray1::from_vec(py, probabilities).reshape([rows, width])?)
        } else {
            None
        };
        let rates = PyDict::new(py);
        if let Some(score) = self.score {
            let found = score.rates();
            rates.set_item("rounds", found.rounds)?;
            for (name, rate) in [
                ("errors", found.errors),
                ("error_rate", found.error_rate),
                ("expected_error_rate", found.expected_error_rate),
                ("greedy_error_rate", found.greedy_error_rate),
                ("log_loss", found.log_loss),
                ("squared_loss", found.squared_loss),
            ] {
                if let Some(rate) = rate {
                    rates.set_item(name, rate)?;
                }
            }
        }
        let [played, truths] = [played, truths].map(|classes| PyArray1::from_vec(py, classes));
        Ok((PyArray1::from_vec(py, losses), probabilities, played, rates, truths))
    }
}

impl Sink for Rounds {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        let round = outcome.round;
        self.losses.push(match (outcome.target, self.forecast) {
            (None, _) => f64::NAN,
            (_, Forecast::Probabilities | Forecast::Value) => round.loss,
            (_, Forecast::RandomisedLabel) => round.expected_error,
            (_, Forecast::Label) => round.error,
        });
        self.played.push(outcome.played.index() as i64);
        self.truths.push(match outcome.target.map(|target| target.truth) {
            Some(Truth::Class(label)) => label.index() as i64,
            _ => -1,
        });
        if self.keep {
            let at = outcome.prediction;
            let list = if self.forecast == Forecast::Value { &at.scores } else { &at.probabilities };
            self.probabilities.extend_from_slice(list);
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}
