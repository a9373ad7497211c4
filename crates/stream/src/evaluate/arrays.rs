//! Evaluation of logged rounds in memory.

use super::question::Evaluation;
use super::survey::{possible, supposed};
use super::tally::{Support, Tally};
use crate::decisions::line::check_distribution;
use crate::evaluate::off_policy::Round;
use crate::fault::{Fault, fault};
use crate::read::logs::check_probability;

/// Logged rounds and the policy to evaluate: one number or $K$ numbers per round, row-major.
#[derive(Clone, Copy, Debug)]
pub struct LoggedArrays<'a> {
    /// $K$.
    pub classes: usize,
    /// The labels that were played, below $K$.
    pub labels: &'a [i64],
    /// Their rewards, finite.
    pub rewards: &'a [f64],
    /// The probabilities with which they were played, in (0, 1], or the whole distributions, $K$
    /// numbers per round.
    pub probabilities: &'a [f64],
    /// The distributions of the policy to evaluate, $K$ numbers per round.
    pub evaluation: &'a [f64],
    /// Estimated rewards of all labels, $K$ numbers per round, for `dm` and `dr`; may be absent.
    pub estimates: Option<&'a [f64]>,
}

impl LoggedArrays<'_> {
    /// Evaluates the rounds, with importance weights clipped at `clip` > 0, and intervals of
    /// `confidence` in (0, 1).
    ///
    /// # Errors
    /// If a round is invalid, or there are none.
    pub fn evaluate(&self, clip: Option<f64>, confidence: f64) -> Result<Evaluation, Fault> {
        let (rounds, classes) = (self.labels.len(), self.classes);
        let distributed = classes > 1 && self.probabilities.len() == rounds * classes;
        let lengths = [
            ("rewards", self.rewards.len(), rounds),
            ("probabilities", self.probabilities.len(), if distributed { rounds * classes } else { rounds }),
            ("policy", self.evaluation.len(), rounds * classes),
            ("estimates", self.estimates.map_or(rounds * classes, <[f64]>::len), rounds * classes),
        ];
        if let Some((name, found, needed)) = lengths.iter().find(|(_, found, needed)| found != needed) {
            return Err(fault!(
                "{name}: {found} numbers for {rounds} rounds and {classes} labels; {needed} were needed"
            ));
        }
        if rounds == 0 {
            return Err("there are no rounds to evaluate".into());
        }
        let range =
            possible([f64::min, f64::max].map(|of| self.rewards.iter().copied().reduce(of).unwrap_or(0.0)));
        let mut tally = Tally::new(clip, range);
        for at in 0..rounds {
            let span = at * classes..(at + 1) * classes;
            let refuse = |what: Fault| fault!("round {at}: {what}");
            let label = usize::try_from(self.labels[at]).ok().filter(|label| *label < classes);
            let label = label.ok_or_else(|| {
                refuse(fault!("the label is {}: must be from 0 to {}", self.labels[at], classes - 1))
            })?;
            let logged = distributed.then(|| &self.probabilities[span.clone()]);
            let probability = logged.map_or_else(|| self.probabilities[at], |logged| logged[label]);
            check_probability(probability).map_err(|what| refuse(fault!("the label {what}")))?;
            let evaluation = &self.evaluation[span.clone()];
            check_distribution("policy", evaluation).map_err(refuse)?;
            check_distribution("probabilities", logged.unwrap_or_default()).map_err(refuse)?;
            let estimates = self.estimates.map(|estimates| &estimates[span]);
            for (name, numbers) in
                [("reward", &self.rewards[at..=at]), ("estimate", estimates.unwrap_or_default())]
            {
                if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                    return Err(refuse(fault!("the {name} is {number}: must be a finite number")));
                }
            }
            let support = logged.map(|logged| Support::of(evaluation, logged));
            let possible = support.map(|support| support.possible);
            let reward = self.rewards[at];
            tally.add(&Round { label, reward, probability, evaluation, estimates, possible }, support);
        }
        let mut found = tally.evaluation(confidence, classes);
        found.warnings.extend(supposed(range));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: LoggedArrays<'static> = LoggedArrays {
        classes: 2,
        labels: &[0, 1],
        rewards: &[1.0, 0.0],
        probabilities: &[0.25, 0.5],
        evaluation: &[0.5, 0.5, 0.75, 0.25],
        estimates: Some(&[0.6, 0.2, 0.6, 0.2]),
    };

    /// The two rounds of the estimators' own test; with whole distributions it is known what could be played.
    #[test]
    fn arrays_are_rounds() {
        let found = ROUNDS.evaluate(None, 0.95).expect("good rounds");
        let values: Vec<f64> = found.estimates.estimates.iter().map(|estimate| estimate.value).collect();
        assert!(values.iter().zip([1.0, 0.8, 0.45, 0.8]).all(|(a, b)| (a - b).abs() < 1e-15), "{values:?}");
        assert_eq!((found.decisions, found.labels, found.uncovered, found.logged_reward), (2, 2, None, 0.5));
        let whole = LoggedArrays { probabilities: &[0.25, 0.75, 0.5, 0.5], ..ROUNDS };
        let whole = whole.evaluate(None, 0.95).expect("good rounds");
        assert_eq!(whole.estimates.estimates[0].value, found.estimates.estimates[0].value);
        assert_eq!(whole.uncovered, Some(0.0));
    }

    /// The first round's weight is 0.5 / 0.2 = 2.5 and earns 1, the second one's earns 0: ips is 1.25. dr is
    /// the mean of 0.4 + 2.5 (1 - 0.6) and 0.5 - 0.5 · 0.2, which is 0.9.
    #[test]
    fn estimates_that_no_mean_reward_can_be_are_told() {
        let outside = |arrays: &LoggedArrays<'_>| {
            let found = arrays.evaluate(None, 0.95).expect("good rounds");
            let told = found.warnings.into_iter().filter(|warning| warning.contains("outside"));
            told.collect::<Vec<String>>()
        };
        let told = outside(&LoggedArrays { probabilities: &[0.2, 0.5], ..ROUNDS });
        let [one] = &told[..] else { panic!("{told:?}") };
        assert!(one.starts_with("ips 1.2500: outside the interval, or outside [0, 1], where all"), "{one}");
        assert_eq!(outside(&ROUNDS), [""; 0]);
    }

    /// Rewards that were not seen may come: the interval of rewards that were all 1/2 is not that number, and
    /// it is said of a revenue up to 90 that there may be no larger one.
    #[test]
    fn rewards_may_be_others_than_those_that_were_seen() {
        let found = |reward: f64| {
            let whole =
                LoggedArrays { rewards: &[reward; 2], probabilities: &[0.25, 0.75, 0.5, 0.5], ..ROUNDS };
            let found = whole.evaluate(None, 0.95).expect("good rounds");
            (found.estimates.estimates[0].sequence.expect("a log that is right"), found.warnings)
        };
        let ([low, high], _) = found(0.5);
        assert!(low < 0.25 && high > 0.75, "[{low}, {high}]");
        let ([low, high], said) = found(90.0);
        assert!(low < 45.0 && high > 80.0, "[{low}, {high}]");
        let of_range = said.iter().filter(|warning| warning.contains("below 0 or above 90"));
        assert_eq!(of_range.count(), 1, "{said:?}");
    }

    #[test]
    fn bad_rounds_are_named() {
        for (arrays, sentence) in [
            (LoggedArrays { labels: &[0, 2], ..ROUNDS }, "round 1: the label is 2: must be from 0 to 1"),
            (LoggedArrays { labels: &[-1, 1], ..ROUNDS }, "round 0: the label is -1: must be from 0 to 1"),
            (
                LoggedArrays { rewards: &[1.0, f64::NAN], ..ROUNDS },
                "round 1: the reward is NaN: must be a finite number",
            ),
            (
                LoggedArrays { probabilities: &[0.0, 0.5], ..ROUNDS },
                "round 0: the label was played with probability 0: must be in (0, 1]",
            ),
            (
                LoggedArrays { probabilities: &[0.5, 0.4, 0.5, 0.5], ..ROUNDS },
                "round 0: the probabilities of \"probabilities\" sum to 0.9, not to 1",
            ),
            (
                LoggedArrays { evaluation: &[0.5, 0.5, 0.75], ..ROUNDS },
                "policy: 3 numbers for 2 rounds and 2 labels; 4 were needed",
            ),
            (
                LoggedArrays { labels: &[], ..ROUNDS },
                "rewards: 2 numbers for 0 rounds and 2 labels; 0 were needed",
            ),
        ] {
            assert_eq!(arrays.evaluate(None, 0.95).expect_err("bad").to_string(), sentence);
        }
    }
}
