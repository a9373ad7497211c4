//! Off-policy estimators: the reward of a policy estimated from decisions of another policy, as
//! pure sums over logged rounds.
//!
//! In round $t$ of the log, label $a_t$ was played with probability $p_t > 0$, and its reward was $r_t$. The
//! policy to be evaluated gives label $a$ the probability $\pi_t(a)$; $w_t = \pi_t(a_t) / p_t$ is its
//! importance weight, and $q_t(a)$ an estimate of the reward of label $a$.
//!
//! | estimator | value | unbiased |
//! |---|---|---|
//! | `ips` | mean of $w_t r_t$ | if every label that $\pi$ plays could be played |
//! | `snips` | $\sum_t w_t r_t / \sum_t w_t$ | as the log grows |
//! | `dm` (direct method) | mean of $\sum_a \pi_t(a) q_t(a)$ | if $q$ is right |
//! | `dr` (doubly robust) | mean of $\sum_a \pi_t(a) q_t(a) + w_t (r_t - q_t(a_t))$ | as `ips`, for every $q_t$ that does not depend on round $t$'s label and reward |
//!
//! The values are those of Open Bandit Pipeline (Saito et al. 2021); the estimators are Horvitz and
//! Thompson's (1952), Swaminathan and Joachims' (2015), and Dudík, Langford and Li's (2011).
//!
//! There are two kinds of intervals: `normal`, from the terms' standard error (for `snips` by the
//! delta method), which is asymptotic; and `bernstein`, the empirical Bernstein bound of Maurer and
//! Pontil (2009), Theorem 4, on both sides, which holds for any number of independent rounds, and
//! is wide if weights can be large. Neither accounts for bias, from a wrong $q$ in `dm` or from
//! clipping.

use serde::Serialize;

use crate::mean::Mean;

/// Smallest probability: the square of its inverse, an importance weight, is finite.
const LEAST_PROBABILITY: f64 = 1e-100;

/// Checks that a probability > 0 is large enough to divide by.
pub(crate) fn check_weight(probability: f64) -> Result<(), String> {
    if probability < LEAST_PROBABILITY {
        return Err(format!(
            "was played with probability {probability:e}; at least {LEAST_PROBABILITY:e} is required"
        ));
    }
    Ok(())
}

/// A logged round, with the policy to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The label that was played, below $K$.
    pub label: usize,
    /// Its reward.
    pub reward: f64,
    /// The probability with which it was played, in (0, 1].
    pub probability: f64,
    /// $\pi_t$, of length $K$.
    pub evaluation: &'a [f64],
    /// $q_t$, of length $K$, or `None`.
    pub estimates: Option<&'a [f64]>,
    /// The largest possible weight of any label in this round; `None` if only the played label's
    /// probability is known.
    pub largest_weight: Option<f64>,
}

/// The sums of the estimators.
#[derive(Clone, Debug)]
pub struct OffPolicy {
    clip: f64,
    ips: Mean,
    direct: Mean,
    robust: Mean,
    weights: Mean,
    /// Sums of w r, w², w² r, w² r².
    sums: [f64; 4],
    clipped: u64,
    /// The largest possible weight, and whether it is known for all rounds.
    possible: f64,
    known: bool,
    observed: f64,
    /// The range of rewards and estimates.
    range: [f64; 2],
    estimated: u64,
}

/// An estimate of the policy's mean reward.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// `ips`, `snips`, `dm` or `dr`.
    pub estimator: &'static str,
    /// The estimate.
    pub value: f64,
    /// Standard error of the value.
    pub standard_error: f64,
    /// The normal interval.
    pub normal: [f64; 2],
    /// The empirical Bernstein interval, for means of bounded terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bernstein: Option<[f64; 2]>,
}

/// The terms of one round, from which paired differences of policies are computed.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// $w_t r_t$.
    pub ips: f64,
    /// $\sum_a \pi_t(a) q_t(a) + w_t (r_t - q_t(a_t))$, if the round has estimates.
    pub robust: Option<f64>,
}

/// All estimates, and diagnostics of the weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimates {
    /// Rounds evaluated.
    pub rounds: u64,
    /// One for each estimator; `dm` and `dr` only if all rounds had estimates.
    pub estimates: Vec<Estimate>,
    /// $(\sum w)^2 / \sum w^2$: the number of rounds played by the policy itself that would be as
    /// informative.
    pub effective_sample_size: f64,
    /// The mean importance weight: 1 in expectation, if the logging policy plays every label of the
    /// policy.
    pub mean_weight: f64,
    /// Standard error of the mean weight.
    pub mean_weight_standard_error: f64,
    /// The largest weight.
    pub largest_weight: f64,
    /// Whether the largest possible weight is known for every round; otherwise the Bernstein
    /// intervals use the observed range.
    pub weights_known: bool,
    /// Number of rounds whose weight was clipped.
    pub clipped: u64,
    /// The range of the rewards, as far as it is known.
    #[serde(skip)]
    pub range: [f64; 2],
}

impl OffPolicy {
    /// Sums over no rounds. Weights are clipped at `clip` > 0, which reduces variance and adds
    /// bias. `range` is that of the rewards, as far as it is known; observed values extend it.
    pub fn new(clip: Option<f64>, range: Option<[f64; 2]>) -> Self {
        Self {
            clip: clip.unwrap_or(f64::INFINITY),
            ips: Mean::default(),
            direct: Mean::default(),
            robust: Mean::default(),
            weights: Mean::default(),
            sums: [0.0; 4],
            clipped: 0,
            possible: 0.0,
            known: true,
            observed: 0.0,
            range: range.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]),
            estimated: 0,
        }
    }

    /// Adds a round, and returns its terms.
    ///
    /// # Panics
    /// If a list has no entry for the label.
    pub fn add(&mut self, round: &Round<'_>) -> Term {
        let full = round.evaluation[round.label] / round.probability;
        let (weight, reward) = (full.min(self.clip), round.reward);
        self.clipped += u64::from(full > self.clip);
        self.observed = self.observed.max(weight);
        self.possible = self.possible.max(round.largest_weight.unwrap_or(full).min(self.clip));
        self.known &= round.largest_weight.is_some();
        self.ips.add(weight * reward);
        self.weights.add(weight);
        let square = weight * weight;
        for (sum, term) in
            self.sums.iter_mut().zip([weight * reward, square, square * reward, square * reward * reward])
        {
            *sum += term;
        }
        self.widen(reward);
        let robust = round.estimates.map(|q| {
            let direct: f64 = round.evaluation.iter().zip(q).map(|(p, q)| p * q).sum();
            let robust = direct + weight * (reward - q[round.label]);
            self.direct.add(direct);
            self.robust.add(robust);
            q.iter().for_each(|q| self.widen(*q));
            self.estimated += 1;
            robust
        });
        Term { ips: weight * reward, robust }
    }

    fn widen(&mut self, value: f64) {
        self.range = [self.range[0].min(value), self.range[1].max(value)];
    }

    /// Number of rounds added.
    pub fn rounds(&self) -> u64 {
        self.weights.count() as u64
    }

    /// The estimates, with intervals of `confidence` in (0, 1).
    ///
    /// `uncovered` in [0, 1] is the share $u$ of the policy's probability on labels that could not
    /// be played. Of their rewards only the range $[l, h]$ is known, so intervals are widened: that
    /// of `ips` by $[u l, u h]$, that of `snips` likewise after scaling by $1 - u$, and that of
    /// `dr` by $u (h - l)$ on both sides. Those of `dm` are unchanged, since they assume that its
    /// estimates are right.
    pub fn estimates(&self, confidence: f64, uncovered: f64) -> Estimates {
        let miss = 1.0 - confidence;
        let quantile = normal_quantile(1.0 - 0.5 * miss);
        let interval = |value: f64, half: f64| [value - half, value + half];
        let (low, high) = (self.range[0], self.range[1]);
        let of_mean = |estimator, mean: &Mean, width: Option<f64>| Estimate {
            estimator,
            value: mean.value(),
            standard_error: mean.standard_error(),
            normal: interval(mean.value(), quantile * mean.standard_error()),
            bernstein: width.filter(|width| mean.count() >= 2.0 && width.is_finite()).map(|width| {
                let logarithm = (4.0 / miss).ln();
                let slow = (2.0 * mean.variance() * logarithm / mean.count()).sqrt();
                interval(mean.value(), slow + 7.0 * width * logarithm / (3.0 * (mean.count() - 1.0)))
            }),
        };
        // w r is between w·low and w·high, or 0.
        let ips = self.possible * (high.max(0.0) - low.min(0.0));
        let mut estimates = vec![of_mean("ips", &self.ips, Some(ips)), self.self_normalised(quantile)];
        if self.estimated == self.rounds() && self.estimated > 0 {
            estimates.push(of_mean("dm", &self.direct, None));
            estimates.push(of_mean("dr", &self.robust, Some((1.0 + 2.0 * self.possible) * (high - low))));
        }
        for estimate in estimates.iter_mut().filter(|_| uncovered > 0.0) {
            let (scale, below, above) = match estimate.estimator {
                "ips" => (1.0, uncovered * low, uncovered * high),
                "snips" => (1.0 - uncovered, uncovered * low, uncovered * high),
                "dr" => (1.0, -uncovered * (high - low), uncovered * (high - low)),
                _ => continue,
            };
            for [from, to] in std::iter::once(&mut estimate.normal).chain(&mut estimate.bernstein) {
                (*from, *to) = (scale * *from + below, scale * *to + above);
            }
        }
        let total = self.weights.value() * self.weights.count();
        Estimates {
            rounds: self.rounds(),
            estimates,
            effective_sample_size: if total > 0.0 { total * total / self.sums[1] } else { 0.0 },
            mean_weight: self.weights.value(),
            mean_weight_standard_error: self.weights.standard_error(),
            largest_weight: self.observed,
            weights_known: self.known,
            clipped: self.clipped,
            range: self.range,
        }
    }

    fn self_normalised(&self, quantile: f64) -> Estimate {
        let [earned, squares, linear, quadratic] = self.sums;
        let total = self.weights.value() * self.weights.count();
        let value = if total > 0.0 { earned / total } else { 0.0 };
        // Σ w²(r - value)² / (Σ w)².
        let spread = (quadratic - 2.0 * value * linear + value * value * squares).max(0.0);
        let error = if total > 0.0 { spread.sqrt() / total } else { 0.0 };
        Estimate {
            estimator: "snips",
            value,
            standard_error: error,
            normal: [value - quantile * error, value + quantile * error],
            bernstein: None,
        }
    }
}

/// The standard normal distribution's quantile at `p` in (0, 1), to nine digits: Acklam's rational
/// approximation. No dependency of the project has this function.
pub(super) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.383_577_518_672_69e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    };
    if p < 0.02425 {
        tail(p)
    } else if p > 1.0 - 0.02425 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        q * horner(&A, q * q) / horner(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use noregret::rng::{Rng, Uniforms};

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959963985), (0.995, 2.575829304), (0.001, -3.090232306)] {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}: {}", normal_quantile(p));
        }
    }

    /// Two rounds by hand: w = (1/2)/(1/4) = 2 with r = 1, and w = (1/4)/(1/2) = 1/2 with r = 0. IPS (2 +
    /// 0)/2, SNIPS 2/2.5; with q = (0.6, 0.2), direct 0.5·0.6 + 0.5·0.2 = 0.4 and 0.75·0.6 + 0.25·0.2 = 0.5,
    /// robust 0.4 + 2(1 - 0.6) = 1.2 and 0.5 + 0.5(0 - 0.2) = 0.4.
    #[test]
    fn two_rounds_by_hand() {
        let mut sums = OffPolicy::new(None, Some([0.0, 1.0]));
        let q = [0.6, 0.2];
        for (label, reward, probability, evaluation) in
            [(0, 1.0, 0.25, [0.5, 0.5]), (1, 0.0, 0.5, [0.75, 0.25])]
        {
            let (estimates, largest_weight) = (Some(&q[..]), None);
            sums.add(&Round {
                label,
                reward,
                probability,
                evaluation: &evaluation,
                estimates,
                largest_weight,
            });
        }
        let report = sums.estimates(0.95, 0.0);
        let values: Vec<f64> = report.estimates.iter().map(|estimate| estimate.value).collect();
        for (value, want) in values.iter().zip([1.0, 0.8, 0.45, 0.8]) {
            assert!((value - want).abs() < 1e-15, "{values:?}");
        }
        assert_eq!((report.mean_weight, report.largest_weight), (1.25, 2.0));
        assert!((report.effective_sample_size - 6.25 / 4.25).abs() < 1e-15);
        assert!(!report.weights_known);
        let mut clipped = OffPolicy::new(Some(1.0), None);
        clipped.add(&Round {
            label: 0,
            reward: 1.0,
            probability: 0.25,
            evaluation: &[0.5, 0.5],
            estimates: None,
            largest_weight: None,
        });
        let report = clipped.estimates(0.95, 0.0);
        assert_eq!((report.clipped, report.estimates.len(), report.estimates[0].value), (1, 2, 1.0));
    }

    /// The reward of a label that the log never played may be anything from 0 to 1: the intervals
    /// contain both ends.
    #[test]
    fn what_the_log_cannot_cover_widens_the_intervals() {
        let mut sums = OffPolicy::new(None, Some([0.0, 1.0]));
        for _ in 0..10_000 {
            let (estimates, largest_weight) = (Some(&[0.5, 0.0][..]), Some(0.6));
            sums.add(&Round {
                label: 0,
                reward: 0.5,
                probability: 1.0,
                evaluation: &[0.6, 0.4],
                estimates,
                largest_weight,
            });
        }
        let report = sums.estimates(0.95, 0.4);
        for (estimate, [low, high]) in
            report.estimates.iter().zip([[0.3, 0.7], [0.3, 0.7], [0.3, 0.3], [-0.1, 0.7]])
        {
            let [from, to] = estimate.normal;
            assert!((from - low).abs() < 1e-9 && (to - high).abs() < 1e-9, "{estimate:?}");
        }
    }

    /// Over many logs with known truth, the estimators are unbiased, and the intervals have their
    /// nominal coverage.
    #[test]
    fn intervals_hold_the_truth() {
        let (logging, policy, truth) = ([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.3, 0.5, 0.9]);
        let q = [0.4, 0.4, 0.7];
        let value: f64 = policy.iter().zip(truth).map(|(p, r)| p * r).sum();
        let logs = 400;
        let mut held = [[0; 2]; 4];
        let mut means = [0.0; 4];
        for seed in 0..logs {
            let mut rng = Rng::new(seed, 0);
            let mut sums = OffPolicy::new(None, Some([0.0, 1.0]));
            for _ in 0..400 {
                let label = noregret::prediction::draw(&logging, rng.uniform()).index();
                let reward = f64::from(u8::from(rng.uniform() < truth[label]));
                sums.add(&Round {
                    label,
                    reward,
                    probability: logging[label],
                    evaluation: &policy,
                    estimates: Some(&q),
                    largest_weight: Some(3.0),
                });
            }
            for (at, estimate) in sums.estimates(0.9, 0.0).estimates.iter().enumerate() {
                let holds = |[low, high]: [f64; 2]| u32::from((low..=high).contains(&value));
                held[at][0] += holds(estimate.normal);
                held[at][1] += estimate.bernstein.map_or(0, holds);
                means[at] += estimate.value / logs as f64;
            }
        }
        for at in [0, 1, 3] {
            assert!((means[at] - value).abs() < 0.006, "{means:?}");
            assert!((338..=384).contains(&held[at][0]), "of 400 at 90 %: {held:?}");
        }
        assert!(held[0][1] >= 396 && held[3][1] >= 396, "{held:?}");
        assert!((means[2] - value).abs() > 0.1, "the direct method is biased by its estimates");
    }
}
