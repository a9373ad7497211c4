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

/// Estimates the reward of every label for a row: the probability of the second class of a
/// two-class learner, mapped to the range of rewards.
///
/// The estimates are progressive: each round is predicted before it is learnt, so they depend on
/// earlier rounds only. This makes the doubly robust estimator unbiased, also if the logging policy
/// learnt during the log, for which cross-fitting is not valid.
pub struct RewardModel {
    learners: Vec<Box<dyn Model>>,
    at: Prediction,
    low: f64,
    high: f64,
}

impl RewardModel {
    /// Makes a learner by `make` for each of `labels` labels, for rewards from `low` to `high`.
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
        let learners = (0..labels).map(|_| make()).collect::<Result<Vec<_>, _>>()?;
        if let Some(about) = learners.first().map(|learner| learner.about()) {
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
        }
        let at = learners.first().map_or_else(Prediction::default, |learner| learner.prediction());
        Ok(Self { learners, at, low, high })
    }

    /// The part of a row with two views that the learners take: rows may be encoded for another learner.
    fn seen<'a>(&self, x: Features<'a>) -> Features<'a> {
        let one = self.learners.first().filter(|learner| !learner.about().accepts.plain);
        one.map_or(x, |learner| x.views(learner.problem().features).0)
    }

    /// Writes the estimates for `x` to `out`.
    pub fn estimate(&mut self, x: Features<'_>, out: &mut Vec<f64>) {
        let x = self.seen(x);
        out.clear();
        for learner in &self.learners {
            learner.predict(x, &mut self.at);
            out.push(self.low + (self.high - self.low) * self.at.probabilities[1]);
        }
    }

    /// Learns that `label` earned `reward` for `x`.
    pub fn learn(&mut self, x: Features<'_>, label: usize, reward: f64) {
        let x = self.seen(x);
        let learner = &mut self.learners[label];
        learner.predict(x, &mut self.at);
        let share = if self.high > self.low { (reward - self.low) / (self.high - self.low) } else { 1.0 };
        if share == 0.0 || share == 1.0 {
            learner.update(x, Target::class(share as usize), &self.at);
        } else {
            learner.update(x, Target::distribution(&[1.0 - share, share]), &self.at);
        }
    }
}
