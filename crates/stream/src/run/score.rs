//! Scores: sums over all rounds, and over a window of the last ones.

use noregret::algorithm::Forecast;
use noregret::example::{Label, Target, Truth};
use noregret::facts::RunFacts;
use noregret::loss::logistic;
use noregret::prediction::Prediction;
use serde::{Deserialize, Serialize, Serializer};

use crate::save::best_of;

/// The scores of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundScore {
    /// 1 if the played label was wrong.
    pub error: f64,
    /// $1 - p_t(y_t)$: the probability that the played label is wrong.
    pub expected_error: f64,
    /// 1 if the label with the best score was wrong.
    pub greedy_error: f64,
    /// Log loss in nats; squared loss for a real-valued target.
    pub loss: f64,
    /// Where another policy has played, the expected and the greedy error are multiplied by importance
    /// weights: how much these exceed 1. Rates are divided by the sum of the weights.
    #[serde(default, skip_serializing_if = "has_no_weights")]
    pub excess: [f64; 2],
}

impl RoundScore {
    /// Scores the prediction `at` against `target`, with the played label `played`.
    ///
    /// A soft label counts as an error with the probability that it gives to the other classes.
    pub fn new(forecast: Forecast, at: &Prediction, played: Label, target: Target<'_>) -> Self {
        Self::among(forecast, at, played, target, &[])
    }

    /// The same for a prediction among the labels `offered`, ascending (empty: all), see [`restrict`].
    ///
    /// [`restrict`]: crate::save::restrict
    pub fn among(
        forecast: Forecast,
        at: &Prediction,
        played: Label,
        target: Target<'_>,
        offered: &[u32],
    ) -> Self {
        let hit = |label: Label| match target.truth {
            Truth::Class(class) => f64::from(class == label),
            Truth::Distribution(y) => y[label.index()],
            Truth::Value(_) => 0.0,
        };
        match target.truth {
            Truth::Value(value) => Self { loss: (at.scores[0] - value).powi(2), ..Self::default() },
            Truth::Class(_) | Truth::Distribution(_) => {
                let right: f64 = match target.truth {
                    Truth::Class(class) => at.probabilities[class.index()],
                    Truth::Distribution(y) => noregret::kernel::vector::dot(y, &at.probabilities),
                    Truth::Value(_) => unreachable!("handled above"),
                };
                let loss = match (forecast, target.truth) {
                    (Forecast::Probabilities, Truth::Class(class)) => log_loss(at, class.index()),
                    (Forecast::Probabilities, Truth::Distribution(y)) => logistic::soft_loss(&at.scores, y),
                    _ => 0.0,
                };
                Self {
                    error: 1.0 - hit(played),
                    expected_error: 1.0 - right,
                    greedy_error: 1.0 - hit(best_of(at, offered)),
                    loss,
                    ..Self::default()
                }
            }
        }
    }
}

impl RoundScore {
    /// The score if only the played label and the probability of the true one, `label`, are known.
    pub fn of_label(label: Label, played: Label, probability: f64) -> Self {
        let error = f64::from(u8::from(played != label));
        Self {
            error,
            expected_error: 1.0 - probability,
            greedy_error: error,
            loss: -probability.max(1e-300).ln(),
            ..Self::default()
        }
    }
}

/// The log loss of class `label`: from the probabilities, without exponentials and cancellation, as $\ln(1 +
/// \sum_{k \ne y} p_k / p_y)$; from the scores if the probability is too small to divide by.
fn log_loss(at: &Prediction, label: usize) -> f64 {
    const SMALLEST: f64 = 1e-290;
    let right = at.probabilities[label];
    if right < SMALLEST {
        return logistic::loss(&at.scores, label);
    }
    let others = at.probabilities.iter().enumerate().filter(|(class, _)| *class != label);
    (others.map(|(_, p)| p).sum::<f64>() / right).ln_1p()
}

/// The sums of [`RoundScore`]s over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Facts on which the theorems depend, recorded by the loops.
    pub facts: RunFacts,
    forecast: Forecast,
    rounds: u64,
    total: RoundScore,
    /// Errors that an exploration floor has added, in expectation over its draws.
    #[serde(default, skip_serializing_if = "is_zero")]
    floor_errors: f64,
    /// The shares of uniform play in the learner's own distributions.
    #[serde(default, skip_serializing_if = "is_zero")]
    random: f64,
    /// The last rounds, a ring.
    last: Vec<RoundScore>,
    window: usize,
}

/// The reported numbers. Rates are means over rounds; those not defined for the learner are absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Rounds scored.
    pub rounds: u64,
    /// Number of wrong labels among those played; with soft labels a real number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "count")]
    pub errors: Option<f64>,
    /// The mean number of wrong labels in a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
    /// Mean of $1 - p_t(y_t)$, for learners that randomise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_error_rate: Option<f64>,
    /// Rate at which the label with the best score was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greedy_error_rate: Option<f64>,
    /// The part of the expected error rate that is due to the exploration floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_error_rate: Option<f64>,
    /// Mean log loss in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// Mean squared loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squared_loss: Option<f64>,
}

fn has_no_weights(excess: &[f64; 2]) -> bool {
    excess.iter().all(is_zero)
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A count of errors, serialised as an integer if it is whole.
fn count<S: Serializer>(errors: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match errors {
        Some(errors) => whole(errors, to),
        None => to.serialize_none(),
    }
}

/// A count, serialised as an integer if it is whole.
pub(crate) fn whole<S: Serializer>(count: &f64, to: S) -> Result<S::Ok, S::Error> {
    if count.fract() == 0.0 { to.serialize_u64(*count as u64) } else { to.serialize_f64(*count) }
}

impl Score {
    /// Scores over no rounds. `window` is the number of rounds of the windowed numbers.
    pub fn new(forecast: Forecast, window: usize) -> Self {
        Self {
            facts: RunFacts::default(),
            forecast,
            rounds: 0,
            total: RoundScore::default(),
            floor_errors: 0.0,
            random: 0.0,
            last: Vec::new(),
            window: window.max(1),
        }
    }

    /// Adds errors that the exploration floor has added to the last round, in expectation.
    pub(crate) fn add_floor(&mut self, errors: f64) {
        self.floor_errors += errors;
    }

    /// Adds the share of uniform play in the last round.
    pub(crate) fn add_random(&mut self, share: f64) {
        self.random += share;
    }

    /// The mean share of uniform play in what the learner itself played: 1 if all labels were equally
    /// probable in every round, 0 if the label with the best score was certain.
    pub fn random_rate(&self) -> f64 {
        self.random / self.rounds.max(1) as f64
    }

    /// Adds a round.
    pub fn add(&mut self, round: RoundScore) {
        add(&mut self.total, &round);
        if self.last.len() < self.window {
            self.last.push(round);
        } else {
            let at = (self.rounds % self.window as u64) as usize;
            self.last[at] = round;
        }
        self.rounds += 1;
    }

    /// Whether these scores, from an untrusted source, fit a run with `forecast` and `window`.
    pub(crate) fn fits(&self, forecast: Forecast, window: usize) -> bool {
        self.forecast == forecast
            && self.window == window.max(1)
            && self.last.len() as u64 == self.rounds.min(self.window as u64)
    }

    /// Rounds scored.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The sum of losses.
    pub fn total_loss(&self) -> f64 {
        self.total.loss
    }

    /// The numbers over all rounds.
    pub fn rates(&self) -> Rates {
        let floor = (self.facts.floor > 0.0).then(|| self.floor_errors / self.rounds.max(1) as f64);
        Rates { floor_error_rate: floor, ..self.rates_of(self.rounds, &self.total) }
    }

    /// The numbers over the window, summed again each time, so that rounding errors do not
    /// accumulate.
    pub fn window_rates(&self) -> Rates {
        let mut total = RoundScore::default();
        self.last.iter().for_each(|round| add(&mut total, round));
        self.rates_of(self.last.len() as u64, &total)
    }

    fn rates_of(&self, rounds: u64, total: &RoundScore) -> Rates {
        let labels = self.forecast != Forecast::Value;
        let mean = |sum: f64| sum / (rounds.max(1)) as f64;
        let weighted = |sum: f64, excess: f64| {
            let weight = rounds as f64 + excess;
            if weight > 0.0 { sum / weight } else { 0.0 }
        };
        Rates {
            rounds,
            errors: labels.then(|| tidy(total.error)),
            error_rate: labels.then(|| mean(total.error)),
            expected_error_rate: (self.forecast == Forecast::RandomisedLabel)
                .then(|| weighted(total.expected_error, total.excess[0])),
            greedy_error_rate: labels.then(|| weighted(total.greedy_error, total.excess[1])),
            floor_error_rate: None,
            log_loss: (self.forecast == Forecast::Probabilities).then(|| mean(total.loss)),
            squared_loss: (self.forecast == Forecast::Value).then(|| mean(total.loss)),
        }
    }
}

/// A sum of losses without the rounding errors of its terms: 7.8, not 7.799999999999997.
fn tidy(sum: f64) -> f64 {
    const UNIT: f64 = 1e8;
    // Beyond, the unit is below the precision of the number.
    if sum.abs() < 1e7 { (sum * UNIT).round() / UNIT } else { sum }
}

fn add(total: &mut RoundScore, round: &RoundScore) {
    total.error += round.error;
    total.expected_error += round.expected_error;
    total.greedy_error += round.greedy_error;
    total.loss += round.loss;
    total.excess.iter_mut().zip(round.excess).for_each(|(total, excess)| *total += excess);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_forget_and_totals_do_not() {
        let mut score = Score::new(Forecast::Probabilities, 2);
        for (error, loss) in [(1.0, 3.0), (0.0, 1.0), (0.0, 0.5)] {
            score.add(RoundScore { error, loss, greedy_error: error, ..RoundScore::default() });
        }
        let (all, last) = (score.rates(), score.window_rates());
        assert_eq!((all.rounds, all.errors, all.log_loss), (3, Some(1.0), Some(1.5)));
        assert_eq!((last.rounds, last.errors, last.log_loss), (2, Some(0.0), Some(0.75)));
        assert_eq!((all.expected_error_rate, all.squared_loss), (None, None));
    }

    /// For extreme probabilities.
    #[test]
    fn log_loss_of_probabilities_is_that_of_the_scores() {
        let mut at = Prediction::sized(3, 0);
        for top in [0.0, 1.0, 30.0, 500.0, 650.0, 700.0, 900.0] {
            at.scores.copy_from_slice(&[0.5, top, -0.25]);
            noregret::kernel::softmax::softmax(&at.scores, &mut at.probabilities);
            for label in 0..3 {
                let round = RoundScore::new(Forecast::Probabilities, &at, Label(0), Target::class(label));
                let want = logistic::loss(&at.scores, label);
                assert!((round.loss - want).abs() <= 1e-13 * want, "{top} {label}: {} {want}", round.loss);
            }
        }
    }

    #[test]
    fn randomised_labels_are_scored_in_three_ways() {
        let mut at = Prediction::sized(3, 0);
        at.scores.copy_from_slice(&[0.0, 1.0, 0.5]);
        at.probabilities.copy_from_slice(&[0.2, 0.6, 0.2]);
        let round = RoundScore::new(Forecast::RandomisedLabel, &at, Label(0), Target::class(0));
        assert_eq!((round.error, round.expected_error, round.greedy_error), (0.0, 0.8, 1.0));
    }

    /// Two rounds of a log: the learner would have played the label of the first, which was played once in
    /// four rounds and was wrong. It errs always, not twice a round.
    #[test]
    fn errors_with_weights_are_divided_by_their_sum() {
        let mut score = Score::new(Forecast::RandomisedLabel, 2);
        let hit = RoundScore { error: 1.0, expected_error: 4.0, greedy_error: 4.0, ..RoundScore::default() };
        score.add(RoundScore { excess: [3.0; 2], ..hit });
        score.add(RoundScore { excess: [-1.0; 2], ..RoundScore::default() });
        for rates in [score.rates(), score.window_rates()] {
            assert_eq!((rates.expected_error_rate, rates.greedy_error_rate), (Some(1.0), Some(1.0)));
            assert_eq!(rates.error_rate, Some(0.5));
        }
    }
}
