//! Abstention: no answer if the forecast is uncertain, with coverage and risk.
//!
//! A rule for probabilistic forecasts of any learner: it decides by the largest probability whether
//! to answer, and does not affect learning. The risk is the error rate among the answered rounds.
//!
//! * [`Rule::Cost`]: no answer if the probability of an error exceeds the cost of abstaining (Chow
//!   1970), which is optimal if the probabilities are right.
//! * [`Rule::Own`]: the learner's own rule; counted in expectation, not drawn.
//! * [`Rule::Rate`]: no answer below a threshold $\theta$ on the log-odds of the largest
//!   probability, which is raised by [`STEP`] $\cdot r$ after an answer and lowered by [`STEP`]
//!   $\cdot (1 - r)$ otherwise. Since log-odds are clipped to [-10, 30], $\theta$ stays within a
//!   step of this range, and summing its changes shows that on *every* stream the rate of
//!   abstaining is within $61 / T$ of $r$ after $T$ rounds (theory: abstention 2.4).

use std::ops::Range;

use noregret::prediction::Prediction;
use serde::{Deserialize, Serialize};

use crate::run::score::Score;
use crate::run::{Outcome, Sink};

/// Step of the threshold, in log-odds.
pub const STEP: f64 = 0.5;

/// Log-odds are clipped to this range, and counted in cells of width 1/20.
const LOWEST_LOG_ODDS: f64 = -10.0;
const HIGHEST_LOG_ODDS: f64 = 30.0;
const CELLS: usize = 800;

/// When to abstain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rule {
    /// The cost of abstaining, in [0, 1]; an error costs 1.
    Cost(f64),
    /// Abstain in this fraction of the rounds, in [0, 1).
    Rate(f64),
    /// With the learner's probability, [`Prediction::abstain`]; the cost of abstaining; an error
    /// costs 1.
    Own(f64),
}

/// Observes a run, and applies an abstention rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abstention {
    rule: Rule,
    threshold: f64,
    rounds: u64,
    answered: f64,
    /// Errors among the answers.
    errors: f64,
    /// Rounds and errors by log-odds.
    cells: Vec<(u64, f64)>,
}

/// A point of the coverage-risk curve: the most confident rounds, and their error rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Fraction of the rounds.
    pub coverage: f64,
    /// Error rate among them.
    pub risk: f64,
}

/// The result of abstaining.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// `cost`, `rate` or `own`.
    pub rule: &'static str,
    /// The given cost or rate.
    pub asked: f64,
    /// Fraction of the rounds that were answered.
    pub coverage: f64,
    /// Number of answered rounds; its expectation if the learner abstains by its own rule.
    #[serde(serialize_with = "crate::run::score::whole")]
    pub answered: f64,
    /// Error rate among them; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<f64>,
    /// Mean over all rounds of the error if answered and the cost if not; only with a cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_cost: Option<f64>,
    /// The guarantee, in words.
    pub guarantee: String,
    /// Risk against coverage in steps of about 1 %, the most confident rounds first, thresholds chosen in
    /// hindsight.
    pub curve: Vec<Point>,
}

/// Log-odds of the largest probability, clipped.
fn confidence(at: &Prediction) -> f64 {
    let p = at.probabilities[at.top().index()];
    (p / (1.0 - p)).ln().clamp(LOWEST_LOG_ODDS, HIGHEST_LOG_ODDS)
}

impl Abstention {
    /// Without rounds.
    pub fn new(rule: Rule) -> Self {
        Self { rule, threshold: 0.0, rounds: 0, answered: 0.0, errors: 0.0, cells: vec![(0, 0.0); CELLS + 1] }
    }

    /// Whether this saved state has the same rule, so that it can be continued.
    pub fn goes_on_as(&self, other: &Self) -> bool {
        self.rule == other.rule && self.cells.len() == other.cells.len()
    }

    /// The probability of an answer for the forecast `at`; 0 or 1 for deterministic rules.
    pub fn answers(&self, at: &Prediction) -> f64 {
        let yes = match self.rule {
            Rule::Cost(cost) => 1.0 - at.probabilities[at.top().index()] <= cost,
            Rule::Rate(_) => confidence(at) >= self.threshold,
            Rule::Own(_) => return 1.0 - at.abstain,
        };
        f64::from(u8::from(yes))
    }

    /// Adds a round with the forecast `at` and the error `error` in [0, 1].
    pub fn add(&mut self, at: &Prediction, error: f64) {
        let answered = self.answers(at);
        self.rounds += 1;
        self.answered += answered;
        self.errors += answered * error;
        if let Rule::Rate(rate) = self.rule {
            self.threshold += STEP * (rate - (1.0 - answered));
        }
        let cell = ((confidence(at) - LOWEST_LOG_ODDS) / (HIGHEST_LOG_ODDS - LOWEST_LOG_ODDS) * CELLS as f64)
            as usize;
        self.cells[cell].0 += 1;
        self.cells[cell].1 += error;
    }

    /// The report so far.
    pub fn report(&self) -> Report {
        let rounds = self.rounds.max(1) as f64;
        let missing = self.rounds as f64 - self.answered;
        let (rule, asked, guarantee) = match self.rule {
            Rule::Cost(cost) => {
                ("cost", cost, "none: the rule is optimal if the probabilities are right".to_owned())
            }
            Rule::Rate(rate) => {
                // Rounded up: as it is shown it is still a bound.
                let within = ((61.0 / rounds).min(1.0) * 1e5).ceil() / 1e5;
                ("rate", rate, format!("the rate is within {within:.5} of {rate}; none for the risk"))
            }
            Rule::Own(cost) => ("own", cost, "none".to_owned()),
        };
        Report {
            rule,
            asked,
            coverage: self.answered / rounds,
            answered: self.answered,
            risk: (self.answered > 0.0).then(|| self.errors / self.answered),
            mean_cost: (rule != "rate").then(|| (self.errors + missing * asked) / rounds),
            guarantee,
            curve: self.curve(),
        }
    }

    /// Risk against coverage in steps of about 1 %, as in [`Report::curve`].
    pub fn curve(&self) -> Vec<Point> {
        let mut curve: Vec<Point> = Vec::new();
        let (mut rounds, mut errors) = (0, 0.0);
        for (count, wrong) in self.cells.iter().rev().filter(|(count, _)| *count > 0) {
            rounds += count;
            errors += wrong;
            let coverage = rounds as f64 / self.rounds as f64;
            let last = curve.last().map_or(0.0, |point| point.coverage);
            if coverage >= last + 0.01 || rounds == self.rounds {
                curve.push(Point { coverage, risk: errors / rounds as f64 });
            }
        }
        curve
    }
}

impl Sink for Abstention {
    fn observe(&mut self, outcome: &Outcome<'_>, _score: &Score) -> std::io::Result<()> {
        if outcome.target.is_some() {
            // A learner that abstains by its own rule answers with its best label, not the drawn
            // one.
            let own = matches!(self.rule, Rule::Own(_));
            let error = if own { outcome.round.greedy_error } else { outcome.round.error };
            self.add(outcome.prediction, error);
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(p: f64) -> Prediction {
        let mut at = Prediction::sized(2, 0);
        at.probabilities.copy_from_slice(&[p, 1.0 - p]);
        at
    }

    #[test]
    fn costs_are_compared_with_the_chance_of_an_error() {
        let mut abstention = Abstention::new(Rule::Cost(0.25));
        for (p, error) in [(0.9, 0.0), (0.8, 1.0), (0.6, 1.0), (0.3, 0.0), (0.25, 0.0)] {
            abstention.add(&forecast(p), error);
        }
        let report = abstention.report();
        // 0.9, 0.8 and 0.25 are answered, the last with class 1; one of the three is wrong.
        assert_eq!((report.answered, report.coverage, report.risk), (3.0, 0.6, Some(1.0 / 3.0)));
        assert_eq!(report.mean_cost, Some((1.0 + 2.0 * 0.25) / 5.0));
        let risks: Vec<f64> = report.curve.iter().map(|point| point.risk).collect();
        assert_eq!(risks, [0.0, 0.5, 1.0 / 3.0, 0.25, 0.4]);
    }

    /// On adversarial streams: confidence that rises, falls, jumps, or follows the threshold.
    #[test]
    fn the_rate_is_kept_on_every_stream() {
        for rate in [0.0, 0.05, 0.3, 0.9] {
            for stream in 0..5 {
                let mut abstention = Abstention::new(Rule::Rate(rate));
                for t in 1..=5000u32 {
                    let odds = match stream {
                        0 => f64::from(t) * 0.01,
                        1 => 30.0 - f64::from(t) * 0.01,
                        2 => f64::from(t % 100) - 50.0,
                        3 => abstention.threshold - 1e-6,
                        _ => abstention.threshold + 1e-6,
                    };
                    abstention.add(&forecast(1.0 / (1.0 + (-odds).exp())), 0.0);
                    let abstained = 1.0 - abstention.report().coverage;
                    let within = 61.0 / f64::from(t);
                    assert!(
                        (abstained - rate).abs() <= within + 1e-12,
                        "{rate}, stream {stream}, {t}: {abstained}"
                    );
                }
                let abstained = 1.0 - abstention.report().coverage;
                assert!((abstained - rate).abs() < 0.013, "{rate}, stream {stream}: {abstained}");
            }
        }
    }

    #[test]
    fn the_bound_that_is_shown_is_rounded_up() {
        let mut abstention = Abstention::new(Rule::Rate(0.5));
        (0..7000).for_each(|_| abstention.add(&forecast(0.7), 0.0));
        // 61/7000 = 0.008714…
        let guarantee = abstention.report().guarantee;
        assert!(guarantee.starts_with("the rate is within 0.00872 of 0.5"), "{guarantee}");
    }

    #[test]
    fn certainty_is_finite() {
        let mut abstention = Abstention::new(Rule::Rate(0.5));
        (0..100).for_each(|_| abstention.add(&forecast(1.0), 0.0));
        assert!(abstention.threshold.is_finite());
        let report = abstention.report();
        assert_eq!(report.curve, [Point { coverage: 1.0, risk: 0.0 }]);
        assert_eq!(Abstention::new(Rule::Cost(0.1)).report().risk, None);
    }
}
