//! Estimates of rewards from logged rounds, with a learner for each label.

use noregret::algorithm::{Forecast, Model};
use noregret::example::{Features, Target};
use noregret::param::ParamError;
use noregret::prediction::Prediction;
use noregret::problem::Problem;
use noregret::registry::{self, Entry};

/// Largest number of floats of all learners together: 512 MiB.
const MOST_NUMBERS: usize = 1 << 26;

/// A learner that estimates rewards for `problem`: by the algorithm `entry`, or a suitable default.
///
/// # Errors
/// If it cannot be made, or would take too much memory.
pub fn reward_learner(entry: Option<&'static Entry>, problem: Problem) -> Result<Box<dyn Model>, ParamError> {
    let entry = entry.unwrap_or_else(|| registry::of_rewards(problem.features));
    if entry.numbers(&Default::default(), &problem)? > MOST_NUMBERS {
        let need = format!("one that takes less memory for {} features, or none", problem.features);
        return Err(ParamError::invalid("reward learner", entry.about.name, need));
    }
    entry.make(&Default::default(), problem, 0)
}

/// The numbers of rounds by which the mean of a label is shrunk to that of all labels.
const STRENGTHS: [f64; 3] = [10.0, 100.0, 1000.0];

/// The candidates, in their order. All but the first three need columns.
const CANDIDATES: [&str; 7] = [
    "the mean of all labels",
    "each label's mean, shrunk by 10 rounds to that of all",
    "each label's mean, shrunk by 100 rounds to that of all",
    "each label's mean, shrunk by 1000 rounds to that of all",
    "a learner for all labels",
    "a learner for all labels, and each label's mean",
    "a learner for each label",
];

/// Forecasts stay this far from 0 and 1.
const LEAST: f64 = 1e-9;

/// Estimates the reward of every label for a row, as a share of the range of rewards: the mixture of several
/// candidates by their log loss on the labels played so far, so that a bad one is not taken. They are the
/// running mean of all labels, each label's mean shrunk to it, two-class learners for all labels or for each,
/// and a learner for all labels whose log-odds are moved by those of the label's mean.
///
/// The estimates are progressive: each round is predicted before it is learnt, so they depend on
/// earlier rounds only. This makes the doubly robust estimator unbiased, also if the logging policy
/// learnt during the log, for which cross-fitting is not valid.
pub struct RewardModel {
    /// One for each label, and one for all at the end.
    learners: Vec<Box<dyn Model>>,
    /// The predictions of each.
    at: Vec<Prediction>,
    low: f64,
    high: f64,
    /// The number and the total of the rewards of each label, as shares of the range.
    earned: Vec<[f64; 2]>,
    /// The logarithms of the candidates' weights.
    log_weights: [f64; CANDIDATES.len()],
}

impl RewardModel {
    /// Makes a learner by `make` for each of `labels` labels, and one for all, for rewards from `low` to
    /// `high`.
    ///
    /// # Errors
    /// Those of `make`; also if the learner does not forecast probabilities, or does not accept
    /// soft labels although there are rewards between `low` and `high` (`between`).
    pub fn new(
        labels: usize,
        [low, high]: [f64; 2],
        between: bool,
        make: &dyn Fn() -> Result<Box<dyn Model>, ParamError>,
    ) -> Result<Self, ParamError> {
        let learners = (0..=labels).map(|_| make()).collect::<Result<Vec<_>, _>>()?;
        let about = learners[labels].about();
        let need = match (about.forecast, about.accepts.soft_labels) {
            (Forecast::Probabilities, soft) if soft || !between => None,
            (Forecast::Probabilities, _) => {
                Some("a learner of soft labels, since rewards are not 0 and 1 alone")
            }
            _ => Some("a learner that forecasts probabilities of two classes"),
        };
        if let Some(need) = need {
            let (name, value) = ("reward learner".to_owned(), about.name.to_owned());
            return Err(ParamError::Invalid { name, value, need: need.to_owned() });
        }
        let at = learners.iter().map(|learner| learner.prediction()).collect();
        let earned = vec![[0.0; 2]; labels];
        Ok(Self { learners, at, low, high, earned, log_weights: [0.0; CANDIDATES.len()] })
    }

    /// The candidate with the largest weight, in words.
    pub fn best(&self) -> &'static str {
        let best = (1..CANDIDATES.len())
            .fold(0, |best, at| if self.log_weights[at] > self.log_weights[best] { at } else { best });
        CANDIDATES[best]
    }

    /// The part of a row with two views that the learners take: rows may be encoded for another learner.
    fn seen<'a>(&self, x: Features<'a>) -> Features<'a> {
        let one = self.learners.first().filter(|learner| !learner.about().accepts.plain);
        one.map_or(x, |learner| x.views(learner.problem().features).0)
    }

    /// The forecast of the learner at `place`.
    fn forecast(&mut self, place: usize, x: Features<'_>) -> f64 {
        self.learners[place].predict(x, &mut self.at[place]);
        self.at[place].probabilities[1]
    }

    /// The mean of all labels so far; one half before the first round.
    fn mean(&self) -> f64 {
        let [count, total] = self.earned.iter().fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        (total + 0.5) / (count + 1.0)
    }

    /// The candidates' forecasts for `label`, given the mean of all labels and the forecast of the learner
    /// for all.
    fn candidates(
        &mut self,
        x: Features<'_>,
        label: usize,
        mean: f64,
        joint: f64,
    ) -> [f64; CANDIDATES.len()] {
        let [count, total] = self.earned[label];
        let [weak, middle, strong] = STRENGTHS.map(|strength| (total + strength * mean) / (count + strength));
        let odds = |p: f64| p / (1.0 - p);
        let [joint, mean] = [joint, mean].map(inside);
        let moved = odds(joint) * odds(inside(middle)) / odds(mean);
        let own = self.forecast(label, x);
        [mean, weak, middle, strong, joint, moved / (1.0 + moved), own].map(inside)
    }

    /// The weights of the candidates, of sum 1.
    fn weights(&self) -> [f64; CANDIDATES.len()] {
        let most = self.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = self.log_weights.map(|weight| (weight - most).exp());
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }

    /// Writes the estimates for `x` to `out`: those of the labels that are `wanted`, and the least reward for
    /// all others, since each costs a forecast.
    pub fn estimate(&mut self, x: Features<'_>, wanted: impl Fn(usize) -> bool, out: &mut Vec<f64>) {
        let x = self.seen(x);
        out.clear();
        let (mean, weights, labels) = (self.mean(), self.weights(), self.earned.len());
        let joint = self.forecast(labels, x);
        for label in 0..labels {
            if !wanted(label) {
                out.push(self.low);
                continue;
            }
            let forecasts = self.candidates(x, label, mean, joint);
            let share: f64 = weights.iter().zip(forecasts).map(|(weight, p)| weight * p).sum();
            out.push(self.low + (self.high - self.low) * share);
        }
    }

    /// Learns that `label` earned `reward` for `x`.
    pub fn learn(&mut self, x: Features<'_>, label: usize, reward: f64) {
        let x = self.seen(x);
        let share = if self.high > self.low { (reward - self.low) / (self.high - self.low) } else { 1.0 };
        let (mean, labels) = (self.mean(), self.earned.len());
        let joint = self.forecast(labels, x);
        let forecasts = self.candidates(x, label, mean, joint);
        for (weight, p) in self.log_weights.iter_mut().zip(forecasts) {
            *weight += share * p.ln() + (1.0 - share) * (1.0 - p).ln();
        }
        self.earned[label][0] += 1.0;
        self.earned[label][1] += share;
        for place in [label, labels] {
            // Both have been asked for this row above.
            let (learner, at) = (&mut self.learners[place], &self.at[place]);
            if share == 0.0 || share == 1.0 {
                learner.update(x, Target::class(share as usize), at);
            } else {
                learner.update(x, Target::distribution(&[1.0 - share, share]), at);
            }
        }
    }
}

/// `p`, kept away from 0 and 1.
fn inside(p: f64) -> f64 {
    p.clamp(LEAST, 1.0 - LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two labels, the second of which earns in half of the rounds and the first never: after 100 rounds the
    /// estimates are near these rates, by a candidate with means of labels.
    #[test]
    fn the_best_candidate_is_taken() {
        let make = || reward_learner(None, Problem::new(2, 1).with_radius(1.0));
        let mut model = RewardModel::new(2, [0.0, 1.0], false, &make).expect("valid");
        let (x, mut out) = (Features::Dense(&[1.0]), Vec::new());
        model.estimate(x, |_| true, &mut out);
        assert!(out.iter().all(|share| (share - 0.5).abs() < 1e-12), "nothing is known: {out:?}");
        for round in 0..400 {
            model.learn(x, round % 2, f64::from(u8::from(round % 4 == 1)));
        }
        model.estimate(x, |_| true, &mut out);
        assert!(out[0] < 0.03 && (out[1] - 0.5).abs() < 0.06, "{out:?}");
        let second = out[1];
        model.estimate(x, |label| label == 1, &mut out);
        assert_eq!(out, [0.0, second], "only what is wanted is forecast");
        assert!(model.best().contains("each label"), "{}", model.best());
    }
}
