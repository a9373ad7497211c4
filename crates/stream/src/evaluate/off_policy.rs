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
//! A control variate keeps `dr` from being less precise than `ips`: where its terms vary more, it is
//! $\mathrm{ips} + \beta (\mathrm{dr} - \mathrm{ips})$ with the $\beta$ in [0, 1] of least variance.
//!
//! There are two kinds of intervals, for `ips` and `dr`: `sequence`, a confidence sequence (`sequence.rs`),
//! which holds for any number of rounds, at every time, and also if the logging policy learnt during the log,
//! provided that the logged probabilities are right; it is that of lower bounds of the mean of $w_t r_t$ and
//! of
//! $w_t (1 - r_t)$, for rewards in [0, 1], and stays within their range. And `normal`, from the terms'
//! standard error (for `snips` by the delta method), which is approximate and only computed if rewards and
//! missing rewards were both observed often enough. Clipping makes a confidence sequence wider and not wrong.
//! `dm` has no interval, since nothing bounds its error.

use serde::Serialize;

use super::sequence::{Lower, SHIFTS};
use crate::mean::Mean;
use crate::words::named;

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
    /// What the probabilities of all labels promise; `None` if only the played label's is known: the
    /// confidence sequence of `dr` is then that of `ips`.
    pub possible: Option<Possible>,
}

/// The weights that labels may have in a round, before one of them is played.
#[derive(Clone, Copy, Debug)]
pub struct Possible {
    /// The largest.
    pub largest: f64,
    /// The expectation of the square, $\sum_a \pi_t(a)^2 / p_t(a)$.
    pub square: f64,
}

impl Possible {
    /// By the policies' probabilities, of which the second are those of the log.
    pub fn of(evaluation: &[f64], logged: &[f64]) -> Self {
        let weights = || evaluation.iter().zip(logged).filter(|(_, p)| **p > 0.0).map(|(e, p)| (*e, e / p));
        Self {
            largest: weights().map(|(_, weight)| weight).fold(0.0, f64::max),
            square: weights().map(|(e, weight)| e * weight).sum(),
        }
    }
}

/// The sums of the estimators.
#[derive(Clone, Debug)]
pub struct OffPolicy {
    clip: f64,
    ips: Mean,
    direct: Mean,
    robust: Mean,
    /// Terms of `dr` minus those of `ips`.
    control: Mean,
    weights: Mean,
    /// Sums of w r, w², w² r, w² r².
    sums: [f64; 4],
    /// For rewards scaled to [0, 1]: w r and w (1 - r), and their squares.
    earned: [f64; 2],
    missed: [f64; 2],
    /// Sum of the expected squares of weights, of the rounds in which they are known.
    expected: f64,
    clipped: u64,
    /// Whether the possible weights are known for all rounds.
    known: bool,
    observed: f64,
    /// The range of rewards.
    range: [f64; 2],
    estimated: u64,
    /// Lower bounds for the scaled rewards and for what is missing to 1, without estimates and with them.
    plain: [Lower; 2],
    helped: [Lower; 2],
    /// The estimate of the played label minus its reward.
    off: Mean,
}

named! {
    /// How a policy's mean reward is estimated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Estimator {
        /// By importance weights.
        Ips = "ips",
        /// By importance weights, divided by their mean.
        Snips = "snips",
        /// By forecasts of the rewards alone.
        Dm = "dm",
        /// By forecasts of the rewards, corrected by importance weights.
        Dr = "dr",
    }
}

/// An estimate of the policy's mean reward.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// How it is made.
    pub estimator: Estimator,
    /// The estimate.
    pub value: f64,
    /// Standard error of the value; none for `dm`, whose error is not that of a mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The confidence sequence: it holds at every time, also if the logging policy learnt. None for `snips`
    /// and `dm`, and where the log contradicts its probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<[f64; 2]>,
    /// The normal interval, which is approximate; none if too few rewards, or too few missing ones, were
    /// observed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 2]>,
    /// The confidence sequence at half the miss, for a difference of two of them.
    #[serde(skip)]
    pub(super) stricter: Option<[f64; 2]>,
    /// For `dr`, the share $\beta$ < 1 of the control variate if its terms varied more than those of `ips`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl Estimate {
    /// An estimate of which no error is known.
    fn of(estimator: Estimator, value: f64) -> Self {
        let (sequence, normal, stricter) = (None, None, None);
        Self { estimator, value, standard_error: None, sequence, normal, stricter, share: None }
    }

    /// Widens the normal interval by what labels that could not be played might have earned, see
    /// [`OffPolicy::estimates`].
    fn widen(&mut self, uncovered: f64, [low, high]: [f64; 2]) {
        let (scale, below, above) = match self.estimator {
            Estimator::Ips => (1.0, uncovered * low, uncovered * high),
            Estimator::Snips => (1.0 - uncovered, uncovered * low, uncovered * high),
            Estimator::Dm | Estimator::Dr => (1.0, -uncovered * (high - low), uncovered * (high - low)),
        };
        if let Some([from, to]) = &mut self.normal {
            (*from, *to) = (scale * *from + below, scale * *to + above);
        }
    }
}

/// The least effective number of observed rewards, and of observed missing ones, for a normal interval.
const LEAST_EFFECTIVE: f64 = 10.0;

/// The terms of one round, from which paired differences of policies are computed.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// $w_t r_t$.
    pub ips: f64,
    /// $\sum_a \pi_t(a) q_t(a) - w_t q_t(a_t)$, if the round has estimates: what the terms of `dr` have in
    /// addition.
    pub control: Option<f64>,
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
    /// The mean of the estimates of the rewards of the played labels minus these rewards, with its standard
    /// error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_error: Option<[f64; 2]>,
    /// Number of rounds whose weight was clipped.
    pub clipped: u64,
    /// The range of the rewards.
    #[serde(skip)]
    pub range: [f64; 2],
}

impl Estimates {
    /// The estimator by which policies are compared: `dr` if rewards were estimated, else `ips`.
    pub fn compared_by(&self) -> Estimator {
        if self.by(Estimator::Dr).is_some() { Estimator::Dr } else { Estimator::Ips }
    }

    /// That of an estimator, if it was computed.
    pub fn by(&self, estimator: Estimator) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.estimator == estimator)
    }
}

impl OffPolicy {
    /// Sums over no rounds. Weights are clipped at `clip` > 0, which reduces variance and adds
    /// bias. `range` is that of the rewards: the least and the largest that may come.
    pub fn new(clip: Option<f64>, range: [f64; 2]) -> Self {
        Self {
            clip: clip.unwrap_or(f64::INFINITY),
            ips: Mean::default(),
            direct: Mean::default(),
            robust: Mean::default(),
            control: Mean::default(),
            weights: Mean::default(),
            sums: [0.0; 4],
            earned: [0.0; 2],
            missed: [0.0; 2],
            expected: 0.0,
            clipped: 0,
            known: true,
            observed: 0.0,
            range,
            estimated: 0,
            plain: [Lower::new(&[0.0]), Lower::new(&[0.0])],
            helped: [Lower::new(&SHIFTS), Lower::new(&SHIFTS)],
            off: Mean::default(),
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
        self.known &= round.possible.is_some();
        self.expected += round.possible.map_or(0.0, |possible| possible.square);
        self.ips.add(weight * reward);
        self.weights.add(weight);
        let square = weight * weight;
        for (sum, term) in
            self.sums.iter_mut().zip([weight * reward, square, square * reward, square * reward * reward])
        {
            *sum += term;
        }
        let scaled = self.scaled(reward);
        for (sums, share) in [(&mut self.earned, scaled), (&mut self.missed, 1.0 - scaled)] {
            sums[0] += weight * share;
            sums[1] += square * share * share;
        }
        self.plain[0].add(|_| weight * scaled);
        self.plain[1].add(|_| weight * (1.0 - scaled));
        let control = round.estimates.map(|q| {
            let direct: f64 = round.evaluation.iter().zip(q).map(|(p, q)| p * q).sum();
            let control = direct - weight * q[round.label];
            self.direct.add(direct);
            self.robust.add(direct + weight * (reward - q[round.label]));
            self.control.add(control);
            self.off.add(q[round.label] - reward);
            self.estimated += 1;
            self.add_helped(round, q, weight, scaled);
            control
        });
        Term { ips: weight * reward, control }
    }

    /// The reward as a share of the range.
    fn scaled(&self, reward: f64) -> f64 {
        let [low, high] = self.range;
        if high > low { ((reward - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Adds the doubly robust terms of a round for the confidence sequence: estimates are at most k / W, W
    /// being the largest possible weight, so that terms are at least -k.
    fn add_helped(&mut self, round: &Round<'_>, q: &[f64], weight: f64, scaled: f64) {
        let Some(Possible { largest: possible, .. }) = round.possible else { return };
        let estimates: Vec<f64> = q.iter().map(|q| self.scaled(*q)).collect();
        let term = |reward: f64, of: &dyn Fn(f64) -> f64, shift: f64| {
            let most = if shift == 0.0 { 0.0 } else { shift / possible };
            let own = |a: usize| of(estimates[a]).min(most);
            let direct: f64 = round.evaluation.iter().enumerate().map(|(a, p)| p * own(a)).sum();
            direct + weight * (reward - own(round.label))
        };
        let [earned, missed] = &mut self.helped;
        earned.add(|shift| term(scaled, &|q| q, shift));
        missed.add(|shift| term(1.0 - scaled, &|q| 1.0 - q, shift));
    }

    /// The share of the control variate with which `dr` is computed: 1 unless its terms vary more than those
    /// of
    /// `ips`.
    pub(super) fn share(&self) -> f64 {
        let [robust, ips, control] = [self.robust, self.ips, self.control].map(|mean| mean.variance());
        if robust <= ips || control == 0.0 {
            return 1.0;
        }
        let covariance = 0.5 * (robust - ips - control);
        (-covariance / control).clamp(0.0, 1.0)
    }

    /// The interval of the lower bounds `of` rewards and of what is missing to 1. `None` if they contradict
    /// each other, which the logged probabilities then do, too.
    fn sequence(&self, of: &[Lower; 2], miss: f64) -> Option<[f64; 2]> {
        let [low, high] = self.range;
        let [least, missing] = [0, 1].map(|side| of[side].bound(0.5 * miss));
        (least <= 1.0 - missing).then_some([low + (high - low) * least, low + (high - low) * (1.0 - missing)])
    }

    /// The standard error of the mean weight that the logged probabilities promise, if it is `mean`; 0 if
    /// they are not known for all labels. That of the weights seen is 0 where the policy's label was never
    /// played.
    pub(super) fn promised_error(&self, mean: f64) -> f64 {
        let rounds = self.weights.count();
        if self.known { ((self.expected / rounds - mean * mean).max(0.0) / rounds).sqrt() } else { 0.0 }
    }

    /// Whether rewards and missing rewards were both observed often enough for a normal interval. Their
    /// squares are at least those that the logged probabilities promise for the estimated mean: a log that
    /// plays a label often at some times, and hardly ever at others, may have seen no reward at these.
    fn is_normal(&self) -> bool {
        let effective = |[sum, squares]: [f64; 2]| {
            let squares = squares.max(self.expected * sum / self.weights.count());
            if squares > 0.0 { sum * sum / squares } else { 0.0 }
        };
        effective(self.earned).min(effective(self.missed)) >= LEAST_EFFECTIVE
    }

    /// Number of rounds added.
    pub fn rounds(&self) -> u64 {
        self.weights.count() as u64
    }

    /// The estimates, with intervals of `confidence` in (0, 1).
    ///
    /// `uncovered` in [0, 1] is the share $u$ of the policy's probability on labels that could not
    /// be played. Of their rewards only the range $[l, h]$ is known, so normal intervals are widened: that
    /// of `ips` by $[u l, u h]$, that of `snips` likewise after scaling by $1 - u$, and that of
    /// `dr` by $u (h - l)$ on both sides, unless that of `ips` is narrower. Confidence sequences hold as they
    /// are.
    pub fn estimates(&self, confidence: f64, uncovered: f64) -> Estimates {
        let miss = 1.0 - confidence;
        let quantile = normal_quantile(1.0 - 0.5 * miss);
        let with_error = |estimator, (value, error): (f64, f64)| Estimate {
            standard_error: Some(error),
            normal: self.is_normal().then_some([value - quantile * error, value + quantile * error]),
            ..Estimate::of(estimator, value)
        };
        let of_mean = |estimator, mean: (f64, f64), terms: &[Lower; 2]| Estimate {
            sequence: self.sequence(terms, miss),
            stricter: self.sequence(terms, 0.5 * miss),
            ..with_error(estimator, mean)
        };
        let plain = of_mean(Estimator::Ips, (self.ips.value(), self.ips.standard_error()), &self.plain);
        let mut estimates = vec![plain, with_error(Estimator::Snips, self.self_normalised())];
        let estimated = self.estimated == self.rounds() && self.estimated > 0;
        if estimated {
            estimates.push(Estimate::of(Estimator::Dm, self.direct.value()));
            let helped = self.known && uncovered == 0.0 && self.clipped == 0;
            let terms = if helped { &self.helped } else { &self.plain };
            let share = self.share();
            let of_both = of_mean(Estimator::Dr, self.doubly_robust(share), terms);
            estimates.push(Estimate { share: (share < 1.0).then_some(share), ..of_both });
        }
        if uncovered > 0.0 {
            estimates.iter_mut().for_each(|estimate| estimate.widen(uncovered, self.range));
            narrow(&mut estimates);
        }
        let total = self.weights.value() * self.weights.count();
        Estimates {
            rounds: self.rounds(),
            estimates,
            effective_sample_size: if total > 0.0 { total * total / self.sums[1] } else { 0.0 },
            mean_weight: self.weights.value(),
            mean_weight_standard_error: self.weights.standard_error(),
            largest_weight: self.observed,
            model_error: estimated.then(|| [self.off.value(), self.off.standard_error()]),
            clipped: self.clipped,
            range: self.range,
        }
    }

    /// The value of `dr` and its standard error, with this share of the control variate.
    fn doubly_robust(&self, share: f64) -> (f64, f64) {
        let [robust, ips, control] = [self.robust, self.ips, self.control].map(|mean| mean.variance());
        let error = |variance: f64| (variance.max(0.0) / self.ips.count()).sqrt();
        if share == 1.0 {
            return (self.robust.value(), error(robust));
        }
        let value = self.ips.value() + share * self.control.value();
        (value, error(ips + share * (robust - ips - (1.0 - share) * control)))
    }

    /// The value of `snips` and its standard error.
    fn self_normalised(&self) -> (f64, f64) {
        let [earned, squares, linear, quadratic] = self.sums;
        let total = self.weights.value() * self.weights.count();
        let value = if total > 0.0 { earned / total } else { 0.0 };
        // Σ w²(r - value)² / (Σ w)².
        let spread = (quadratic - 2.0 * value * linear + value * value * squares).max(0.0);
        (value, if total > 0.0 { spread.sqrt() / total } else { 0.0 })
    }
}

/// Of labels that could not be played, `ips` supposes any reward in the range, and `dr` a forecast that may
/// be wrong by the whole range either way: where that makes its normal interval the wider one, it has that of
/// `ips`.
fn narrow(estimates: &mut [Estimate]) {
    let plain = estimates[0].normal;
    let robust = estimates.iter_mut().find(|one| one.estimator == Estimator::Dr);
    if let (Some([low, high]), Some(robust)) = (plain, robust)
        && let Some([from, to]) = robust.normal
        && high - low < to - from
        && (low - 1e-9..=high + 1e-9).contains(&robust.value)
    {
        robust.normal = plain;
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
mod tests;
