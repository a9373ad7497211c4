//! The points of a run's curves, thinned out during the run.

use serde::Serialize;

use crate::run::score::{Rates, Score};

/// Largest number of equidistant points; there are at least half as many.
const EVEN: usize = 256;
/// Neighbouring points of a logarithmic axis differ by this factor.
const FACTOR: f64 = 1.07;
/// The same for certificates, whose computation takes a pass over the learner's state.
const PROMISE_FACTOR: f64 = 1.25;

/// The curves, with points for a linear axis and points for a logarithmic one.
#[derive(Clone, Debug, Default)]
pub(super) struct Curves {
    pub(super) points: Vec<Point>,
    pub(super) promises: Vec<Promise>,
    every: u64,
    next: u64,
    next_promise: u64,
}

/// The state of a run after some rounds.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) rates: Rates,
    pub(super) window: Rates,
    pub(super) explored: f64,
    /// Whether the point belongs to the logarithmic axis.
    sparse: bool,
}

/// A learner's loss after some rounds, with certificate and bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Promise {
    pub(super) rounds: u64,
    pub(super) loss: f64,
    pub(super) certificate: Option<f64>,
    pub(super) bound: Option<f64>,
    /// The weights of its members, for a mixture.
    pub(super) weights: Vec<(String, f64)>,
}

impl Curves {
    /// Adds a point if this round has one.
    pub(super) fn observe(&mut self, score: &Score, explored: f64) {
        self.every = self.every.max(1);
        let round = score.rounds();
        let sparse = round >= self.next;
        if sparse {
            self.next = after(round, FACTOR);
        }
        if sparse || round.is_multiple_of(self.every) {
            self.push(score, explored, sparse);
        }
        if round / self.every >= EVEN as u64 {
            self.every *= 2;
            let every = self.every;
            self.points.retain(|point| point.sparse || point.rates.rounds.is_multiple_of(every));
        }
    }

    /// The last point.
    pub(super) fn end(&mut self, score: &Score, explored: f64) {
        if self.points.last().is_none_or(|last| last.rates.rounds < score.rounds()) && score.rounds() > 0 {
            self.push(score, explored, true);
        }
    }

    fn push(&mut self, score: &Score, explored: f64, sparse: bool) {
        let (rates, window) = (score.rates(), score.window_rates());
        self.points.push(Point { rates, window, explored, sparse });
    }

    /// Whether certificate and bound are to be computed after this many rounds.
    pub(super) fn wants_promise(&self, rounds: u64) -> bool {
        rounds > 0 && rounds >= self.next_promise
    }

    /// Stores them.
    pub(super) fn promise(&mut self, promise: Promise) {
        self.next_promise = after(promise.rounds, PROMISE_FACTOR);
        if self.promises.last().is_none_or(|last| last.rounds < promise.rounds) {
            self.promises.push(promise);
        }
    }

    /// A quantity over the rounds; points without it are omitted.
    pub(super) fn line(&self, of: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
        let value = |point: &Point| Some((point.rates.rounds as f64, of(point)?));
        self.points.iter().filter_map(value).collect()
    }

    /// The probability of exploring, averaged over the rounds since the previous point.
    pub(super) fn exploration(&self) -> Vec<(f64, f64)> {
        let mut last = (0, 0.0);
        let mean = |point: &Point| {
            let (rounds, explored) = (point.rates.rounds, point.explored);
            let mean = (explored - last.1) / (rounds - last.0) as f64;
            last = (rounds, explored);
            (rounds as f64, mean)
        };
        self.points.iter().map(mean).collect()
    }
}

fn after(round: u64, factor: f64) -> u64 {
    ((round as f64 * factor) as u64).max(round + 1)
}

#[cfg(test)]
mod tests {
    use noregret::algorithm::Forecast;

    use super::*;
    use crate::run::score::RoundScore;

    #[test]
    fn points_stay_few_and_suit_both_axes() {
        for rounds in [1, 255, 256, 300, 100_000] {
            let (mut curves, mut score) = (Curves::default(), Score::new(Forecast::RandomisedLabel, 10));
            for round in 0..rounds {
                score.add(RoundScore::default());
                curves.observe(&score, 0.25 * (round + 1) as f64);
            }
            curves.end(&score, 0.25 * rounds as f64);
            let at: Vec<u64> = curves.points.iter().map(|point| point.rates.rounds).collect();
            assert!(at.is_sorted_by(|a, b| a < b) && at.len() <= EVEN + 170, "{}", at.len());
            assert_eq!((at[0], at[at.len() - 1]), (1, rounds));
            let widest = at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            assert!(widest <= 2 * rounds / EVEN as u64 + 1, "a gap of {widest} in {rounds}");
            let steep = at
                .windows(2)
                .all(|pair| pair[1] as f64 <= (pair[0] as f64 * FACTOR).max(pair[0] as f64 + 1.0));
            assert!(steep, "a logarithmic axis has gaps");
            assert!(curves.exploration().iter().all(|(_, rate)| (rate - 0.25).abs() < 1e-9));
        }
    }
}
