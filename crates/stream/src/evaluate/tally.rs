//! Sums over logged rounds, and warnings about them.

use super::question::Evaluation;
use crate::evaluate::off_policy::{Estimate, Estimates, OffPolicy, Possible, Round, Term};
use crate::mean::Mean;

/// Facts about a round from its whole logged distribution.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// The weights that were possible.
    pub possible: Possible,
    /// The policy's probability on labels that could not be played.
    uncovered: f64,
    /// Number of labels that could be played.
    labels: usize,
    /// The expectation of 1 / (p n)² for n of them, of the label that is played.
    square: f64,
}

impl Support {
    /// By the policies' probabilities, of which the second are those of the log.
    pub fn of(evaluation: &[f64], logged: &[f64]) -> Self {
        let pairs = || evaluation.iter().zip(logged);
        let playable = || logged.iter().filter(|p| **p > 0.0);
        let labels = playable().count();
        Self {
            possible: Possible::of(evaluation, logged),
            uncovered: pairs().filter(|(_, p)| **p == 0.0).map(|(e, _)| e).sum(),
            labels,
            square: playable().map(|p| 1.0 / p).sum::<f64>() / (labels * labels) as f64,
        }
    }
}

/// The sums.
pub struct Tally {
    sums: OffPolicy,
    rewards: Mean,
    least_reward: f64,
    /// The policy's probability on labels that could not be played; `None` after a round without a
    /// distribution.
    uncovered: Option<Mean>,
    /// 1 / (p n) for n playable labels: its expectation is 1 if labels were drawn with the logged
    /// probabilities.
    logged_weights: Mean,
    /// The sum of the expectations of their squares.
    logged_squares: f64,
    /// How much the weights of both kinds may be off because probabilities were rounded when they were
    /// written.
    rounding: [Mean; 2],
}

/// The least number of rounds for warnings about means.
const LEAST_ROUNDS: u64 = 10;

/// How much a logged probability may differ from the true one, relative to it: by half a unit of its last
/// decimal, or of single precision.
fn rounding(probability: f64) -> f64 {
    if f64::from(probability as f32) == probability {
        return f64::from(f32::EPSILON);
    }
    // The shortest decimals that read back to the number.
    let text = format!("{probability:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let last = exponent.parse::<i32>().unwrap_or(0) - (digits.len() as i32 - 2).max(0);
    0.5 * 10f64.powi(last) / probability
}

/// Two numbers with as many decimals, from four on, as show that they differ.
fn apart(a: f64, b: f64) -> (String, String) {
    let shown = |digits: usize| (format!("{a:.digits$}"), format!("{b:.digits$}"));
    (4..12).map(shown).find(|(a, b)| a != b).unwrap_or_else(|| shown(4))
}

/// A warning about estimates that no mean reward can be, or that are outside their own intervals.
fn outside(estimates: &Estimates) -> Option<String> {
    let beyond = |one: &&Estimate| {
        let [low, high] = one.sequence.unwrap_or(estimates.range);
        one.value < low - 1e-9 || one.value > high + 1e-9
    };
    let named = |one: &Estimate| format!("{} {:.4}", one.estimator.name(), one.value);
    let found: Vec<String> = estimates.estimates.iter().filter(beyond).map(named).collect();
    let [low, high] = estimates.range;
    (high > low && !found.is_empty()).then(|| {
        format!(
            "{}: outside the interval, or outside [{low}, {high}], where all rewards are, since few rounds with large importance weights \
             (for dm: forecasts of rewards) decide; the interval holds all the same, and its nearest end is nearer to the truth",
            found.join(", ")
        )
    })
}

impl Tally {
    /// Sums over no rounds. Weights are clipped at `clip`; `range` is that of the rewards.
    pub fn new(clip: Option<f64>, range: [f64; 2]) -> Self {
        Self {
            sums: OffPolicy::new(clip, range),
            rewards: Mean::default(),
            least_reward: f64::INFINITY,
            uncovered: Some(Mean::default()),
            logged_weights: Mean::default(),
            logged_squares: 0.0,
            rounding: [Mean::default(); 2],
        }
    }

    /// Number of rounds added.
    pub fn rounds(&self) -> u64 {
        self.sums.rounds()
    }

    /// Adds a round, and returns its terms; `support` if the whole logged distribution is known.
    ///
    /// # Panics
    /// As [`OffPolicy::add`].
    pub fn add(&mut self, round: &Round<'_>, support: Option<Support>) -> Term {
        let term = self.sums.add(round);
        self.rewards.add(round.reward);
        self.least_reward = self.least_reward.min(round.reward);
        match (&mut self.uncovered, support) {
            (Some(mean), Some(support)) => mean.add(support.uncovered),
            _ => self.uncovered = None,
        }
        let rounded = rounding(round.probability);
        self.rounding[0].add(rounded * round.evaluation[round.label] / round.probability);
        if let Some(support) = support {
            let weight = 1.0 / (round.probability * support.labels as f64);
            self.logged_weights.add(weight);
            self.logged_squares += support.square;
            self.rounding[1].add(rounded * weight);
        }
        term
    }

    /// See [`OffPolicy::share`].
    pub(super) fn share(&self) -> f64 {
        self.sums.share()
    }

    /// The estimates, with intervals of `confidence`, and warnings about them.
    pub fn evaluation(&self, confidence: f64, labels: usize) -> Evaluation {
        let uncovered = self.uncovered.map(|mean| mean.value());
        let estimates = self.sums.estimates(confidence, uncovered.unwrap_or(0.0));
        let (thin, warnings) = self.warnings(&estimates, uncovered);
        Evaluation {
            decisions: self.rounds(),
            missing: 0,
            not_offered: 0,
            learnt_meanwhile: None,
            bad_rows: 0,
            first_bad_row: None,
            labels,
            logged_reward: self.rewards.value(),
            logged_reward_standard_error: self.rewards.standard_error(),
            least_reward: self.least_reward,
            uncovered,
            thin,
            reward_model: None,
            best_label: None,
            learnt: None,
            estimates,
            warnings,
        }
    }

    /// Whether the log is too thin for the normal intervals, and all warnings.
    fn warnings(&self, estimates: &Estimates, uncovered: Option<f64>) -> (bool, Vec<String>) {
        let (mut thin, mut warnings) =
            (estimates.estimates.iter().all(|one| one.normal.is_none()), Vec::new());
        // In few rounds, equal weights say nothing about the error of their mean.
        let enough = self.rounds() >= LEAST_ROUNDS;
        let off = |mean: f64, error: f64, rounded: &Mean, want: f64| {
            enough && (mean - want).abs() > 4.0 * error + 1.01 * rounded.value() + 1e-9
        };
        let logged = &self.logged_weights;
        // Where a rare label was never played, the weights that were seen are nearly equal, and say too
        // little of their error: it is at least the one that the probabilities promise.
        let count = logged.count().max(1.0);
        let promised = ((self.logged_squares / count - 1.0).max(0.0) / count).sqrt();
        let error = logged.standard_error().max(promised);
        if logged.value() > 0.0 && off(logged.value(), error, &self.rounding[1], 1.0) {
            warnings.push(format!(
                "1/p of the labels played is {} times its expectation on average: they were not drawn with the logged probabilities",
                apart(logged.value(), 1.0).0
            ));
        }
        let covered = 1.0 - uncovered.unwrap_or(0.0);
        let (mean, error) = (estimates.mean_weight, estimates.mean_weight_standard_error);
        let error = error.max(self.sums.promised_error(covered));
        let never = mean == 0.0 && covered > 1e-9;
        if never && enough {
            warnings.push(format!(
                "none of the labels that the policy plays was played in {} rounds: ips and snips know nothing of them",
                self.rounds()
            ));
        }
        // A log that does not say how likely they were may play them hardly ever, or never.
        let unsaid = never && uncovered.is_none();
        thin |= unsaid;
        if !unsaid && estimates.clipped == 0 && off(mean, error, &self.rounding[0], covered) {
            thin = true;
            let (mean, covered) = apart(mean, covered);
            warnings.push(format!(
                "the mean importance weight is {mean}, not {covered}: probabilities are wrong, or the policy plays labels that the log could not"
            ));
        }
        if let Some(share) = uncovered.filter(|share| *share > 1e-9) {
            warnings.push(format!(
                "{:.2} % of the policy's probability is on labels that the log could not have played: ips counts them as 0, dr uses the estimate, and the intervals hold for any reward",
                100.0 * share
            ));
        }
        let rounds = estimates.rounds as f64;
        if estimates.effective_sample_size < 0.01 * rounds {
            thin = true;
        }
        if thin {
            warnings.push(format!(
                "the effective sample size is {:.1}, or nearly all observed rewards are equal: too little for normal intervals",
                estimates.effective_sample_size
            ));
        }
        if estimates.estimates[0].sequence.is_none() {
            thin = true;
            warnings.push("the log has earned what its probabilities rule out: they are wrong".to_owned());
        }
        if let Some([off, error]) =
            estimates.model_error.filter(|[off, error]| enough && off.abs() > 4.0 * error + 1e-9)
        {
            warnings.push(format!(
                "the estimated rewards of the labels played are {:.4} too {} on average (+- {error:.4}): dm is as wrong",
                off.abs(),
                if off > 0.0 { "high" } else { "low" }
            ));
        }
        if estimates.clipped > 0 {
            warnings.push(format!("{} weights were clipped, which biases all but dm", estimates.clipped));
        }
        warnings.extend(outside(estimates));
        (thin, warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label of probability 0.002 is not played in 1000 rounds of one log in seven, which is no fault of
    /// the probabilities; of one of probability 0.2 it is.
    #[test]
    fn a_label_that_was_never_played_may_be_a_rare_one() {
        for (p, known, wrong) in [(0.002, true, false), (0.2, true, true), (0.2, false, false)] {
            let (evaluation, logged) = ([1.0, 0.0], [p, 1.0 - p]);
            let support = known.then(|| Support::of(&evaluation, &logged));
            let mut tally = Tally::new(None, [0.0, 1.0]);
            for t in 0..1000 {
                let (label, reward, probability) = (1, f64::from(t % 2), logged[1]);
                let possible = support.map(|support| support.possible);
                let (evaluation, estimates) = (&evaluation[..], None);
                tally.add(&Round { label, reward, probability, evaluation, estimates, possible }, support);
            }
            let found = tally.evaluation(0.95, 2);
            let told = |part: &str| found.warnings.iter().any(|warning| warning.contains(part));
            assert!(found.thin && told("was played in 1000 rounds"), "{:?}", found.warnings);
            for part in ["the mean importance weight is", "they were not drawn with the logged"] {
                assert_eq!(told(part), wrong, "{p} {known} {part}: {:?}", found.warnings);
            }
        }
    }

    #[test]
    fn what_was_written_with_few_digits_may_be_off() {
        for (probability, half) in
            [(0.3333, 0.5e-4), (0.167, 0.5e-3), (0.333333, 0.5e-6), (0.05, 0.5e-2), (1e-3, 0.5e-3)]
        {
            assert!((rounding(probability) * probability - half).abs() < 1e-12, "{probability}");
        }
        assert!(rounding(1.0 / 3.0) < 1e-15);
        assert!(rounding(f64::from(0.05_f32)) < 2e-7 && rounding(0.5) < 2e-7 && rounding(1.0) < 2e-7);
        assert_eq!(apart(1.000004, 1.0), ("1.000004".to_owned(), "1.000000".to_owned()));
        assert_eq!(apart(0.5, 1.0), ("0.5000".to_owned(), "1.0000".to_owned()));
    }
}
