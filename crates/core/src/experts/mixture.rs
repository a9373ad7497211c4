//! Vovk's aggregation for log loss, with and without fixed share (theory: mixtures 1).
//!
//! $M$ members forecast probabilities $p^i_t$. The mixture plays $\sum_i w^i_t p^i_t$, and every member's
//! weight is multiplied by the probability that it gave to the truth. The total loss is then *exactly*
//!
//! $$ L_T = -\ln \sum_i \pi_i e^{-L^i_T} \le \min_i\ (L^i_T - \ln \pi_i), \tag{1} $$
//!
//! with the prior $\pi$: $\ln M$ more than the best member for a uniform one (Vovk 1990: *Aggregating
//! Strategies*, COLT; theory: mixtures 1.1, 1.2). After a drift another member may be best. *Fixed share*
//! (Herbster, Warmuth 1998) lets weight $\alpha_t$ flow to the others after round $t$; with
//! $\alpha_t = 1/(t+1)$, which needs no horizon, against any sequence of members that changes after the
//! rounds of a set $\mathcal S$
//!
//! $$ L_T \le L^{i_1, \dots, i_T}_T - \ln \pi_{i_1} + \ln T + \textstyle\sum_{t \in \mathcal S}
//!    \ln(t\ (M-1)). \tag{2} $$
//!
//! (Staying costs $-\ln(1-\alpha_t)$, which adds up to $\ln T$; a change $\ln((M-1)/\alpha_t)$ instead;
//! theory: mixtures 1.3, 1.4.) [`Mixture`] does not choose: it is the mixture, with half the prior each, of
//! both, so that (1) and (2) hold with $\ln 2$ added (theory: mixtures 1.5). All of it is one set of weights,
//! since a mixture of mixtures is a mixture.
//!
//! Soft labels keep both, by Hölder's inequality, with cross-entropy for the loss. So do importance weights
//! up to 1; a larger weight counts as it is, without guarantee.

use crate::state::Tensor;

/// The weight in logarithms of a member that has left: its share of the forecast is 0.
const GONE: f64 = -1e12;

/// The least weight, in logarithms, of a member that has not left.
const LEAST_LOG_WEIGHT: f64 = -1e11;

/// Weights over members, see the [module](self).
#[derive(Clone, Debug)]
pub struct Mixture {
    /// Logarithms of (1)'s weights, normalised.
    fixed: Vec<f64>,
    /// (2)'s weights, normalised.
    tracking: Vec<f64>,
    /// $\ln$ of the two parts' own weights, normalised: (1)'s, then (2)'s.
    parts: [f64; 2],
    rounds: u64,
    /// What forecasts are weighted with; follows from the above.
    weights: Vec<f64>,
}

impl Mixture {
    /// A mixture with the prior weights `prior`, each > 0, of any sum.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(prior: &[f64]) -> Self {
        assert!(!prior.is_empty(), "a mixture needs at least one member");
        let total: f64 = prior.iter().sum();
        let tracking: Vec<f64> = prior.iter().map(|weight| weight / total).collect();
        let fixed = tracking.iter().map(|weight| weight.ln()).collect();
        let parts = [0.5f64.ln(); 2];
        let mut mixture = Self { fixed, weights: tracking.clone(), tracking, parts, rounds: 0 };
        mixture.refresh();
        mixture
    }

    /// The weights of the members' probabilities in the next forecast: non-negative, of sum 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The member of the largest weight.
    pub fn leader(&self) -> usize {
        crate::prediction::argmax(&self.weights)
    }

    /// The logarithm of the weight of `member` without sharing: what it has shown in all rounds.
    pub(super) fn log_weight(&self, member: usize) -> f64 {
        self.fixed[member]
    }

    /// Learns that the members had the log losses `losses`, times the importance weight of the round: finite,
    /// or infinite for a member that has left.
    pub fn update(&mut self, losses: &[f64]) {
        let present = self.fixed.iter().zip(losses).filter(|(fixed, _)| **fixed > GONE);
        let least = present.map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
        // Both parts' own losses, less `least` as the members'.
        let (mut fixed_likelihood, mut tracking_likelihood) = (0.0, 0.0);
        let weights = self.fixed.iter_mut().zip(&mut self.tracking);
        for ((fixed, tracking), loss) in weights.zip(losses).filter(|((fixed, _), _)| **fixed > GONE) {
            let likelihood = (least - loss).exp();
            fixed_likelihood += fixed.exp() * likelihood;
            *fixed += least - loss;
            *tracking *= likelihood;
            tracking_likelihood += *tracking;
        }
        // A part that had given the best member nothing at all keeps its direction.
        let floor = |likelihood: f64| likelihood.max(1e-300).ln();
        self.parts[0] += floor(fixed_likelihood);
        self.parts[1] += floor(tracking_likelihood);
        self.normalise();
        let top = self.parts[0].max(self.parts[1]);
        let log_sum = top + self.parts.iter().map(|part| (part - top).exp()).sum::<f64>().ln();
        self.parts.iter_mut().for_each(|part| *part = (*part - log_sum).max(LEAST_LOG_WEIGHT));
        self.rounds += 1;
        self.share(tracking_likelihood);
        self.refresh();
    }

    /// Makes the weights without sharing sum to 1, however small they are.
    fn normalise(&mut self) {
        let top = self.fixed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = top + self.fixed.iter().map(|fixed| (fixed - top).exp()).sum::<f64>().ln();
        for fixed in self.fixed.iter_mut().filter(|fixed| **fixed > GONE) {
            *fixed = (*fixed - log_sum).max(LEAST_LOG_WEIGHT);
        }
    }

    /// Fixed share among the members that are still there.
    fn share(&mut self, likelihood: f64) {
        let present = self.fixed.iter().filter(|fixed| **fixed > GONE).count();
        let alpha = if present > 1 { 1.0 / (self.rounds as f64 + 1.0) } else { 0.0 };
        for (tracking, fixed) in self.tracking.iter_mut().zip(&self.fixed) {
            let posterior = if likelihood > 0.0 {
                *tracking / likelihood
            } else {
                f64::from(*fixed > GONE) / present as f64
            };
            let others = alpha * (1.0 - posterior) / (present.max(2) - 1) as f64;
            *tracking = if *fixed > GONE { (1.0 - alpha) * posterior + others } else { 0.0 };
        }
    }

    /// Lets `member` leave (theory: mixtures 1.6): the others' weights only grow, so that (1) and (2) go on
    /// to hold against all that stay.
    pub fn retire(&mut self, member: usize) {
        self.fixed[member] = GONE;
        self.tracking[member] = 0.0;
        // Beside the one that leaves, the others may have had next to nothing.
        self.normalise();
        let total: f64 = self.tracking.iter().sum();
        if total > 0.0 {
            self.tracking.iter_mut().for_each(|tracking| *tracking /= total);
        }
        self.refresh();
    }

    /// Lets `count` members join, which share the weight `share` in (0, 1) equally; the others' weights
    /// shrink by $1 -$ `share`.
    ///
    /// With $1/(j+1)^2$ for the $j$-th joining, all of them together cost every member at most $\ln 2$, since
    /// $\prod_{m \ge 2} (1 - 1/m^2) = 1/2$: half of the prior is held back for them. A member that joins has
    /// (1) from that round on, with the mixture's loss in place of its own up to then, and
    /// $2 \ln(j+1) + \ln(\text{count})$ for $-\ln \pi$.
    pub(super) fn join(&mut self, count: usize, share: f64) {
        let own = share / count as f64;
        for fixed in self.fixed.iter_mut().filter(|fixed| **fixed > GONE) {
            *fixed = (*fixed + (-share).ln_1p()).max(LEAST_LOG_WEIGHT);
        }
        self.tracking.iter_mut().for_each(|tracking| *tracking *= 1.0 - share);
        self.fixed.extend(std::iter::repeat_n(own.ln(), count));
        self.tracking.extend(std::iter::repeat_n(own, count));
        self.weights.extend(std::iter::repeat_n(0.0, count));
        self.refresh();
    }

    /// Computes the weights of the forecast.
    fn refresh(&mut self) {
        let [fixed_part, tracking_part] = self.parts.map(f64::exp);
        for ((weight, fixed), tracking) in self.weights.iter_mut().zip(&self.fixed).zip(&self.tracking) {
            *weight = fixed_part * fixed.exp() + tracking_part * tracking;
        }
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// The state.
    pub fn tensors(&mut self) -> [Tensor<'_>; 4] {
        [
            Tensor::vector("fixed", &mut self.fixed),
            Tensor::vector("tracking", &mut self.tracking),
            Tensor::vector("parts", &mut self.parts),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    /// Recomputes what follows from the state. False if the weights are not a distribution.
    pub fn restored(&mut self) -> bool {
        let valid = self.tracking.iter().all(|weight| (0.0..=1.0 + 1e-9).contains(weight))
            && self.fixed.iter().chain(&self.parts).all(|log| *log <= 1e-9)
            && (self.tracking.iter().sum::<f64>() - 1.0).abs() < 1e-6;
        if valid {
            self.refresh();
        }
        valid
    }
}

/// The right-hand side of (2), less the sequence's loss and with the $\ln 2$ of [`Mixture`]: how much more
/// than a sequence of members it may lose over `rounds` rounds, `prior` being that of the first member and
/// `changes` the rounds after which the member changes, among `members` in all.
pub fn tracking_bound(members: usize, prior: f64, rounds: u64, changes: &[u64]) -> f64 {
    let change = |round: &u64| (*round as f64 * (members - 1) as f64).ln();
    2f64.ln() - prior.ln() + (rounds.max(1) as f64).ln() + changes.iter().map(change).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms};

    /// Plays members whose probability of the truth is `truth(t, i)`; the mixture's loss and the members' by
    /// round.
    fn play(
        mixture: &mut Mixture,
        rounds: usize,
        truth: impl Fn(usize, usize) -> f64,
    ) -> (f64, Vec<Vec<f64>>) {
        let (mut total, mut members) = (0.0, Vec::new());
        for t in 0..rounds {
            let p: Vec<f64> = (0..mixture.weights().len()).map(|i| truth(t, i)).collect();
            total -= mixture.weights().iter().zip(&p).map(|(w, p)| w * p).sum::<f64>().ln();
            let losses: Vec<f64> = p.iter().map(|p| -p.ln()).collect();
            mixture.update(&losses);
            members.push(losses);
        }
        (total, members)
    }

    fn random(seed: u64) -> impl Fn(usize, usize) -> f64 {
        move |t, i| Rng::new(seed, (1000 * t + i) as u64).uniform().max(1e-6)
    }

    /// Two members, prior ½ each, p = (0.8, 0.2) and then again: round 1 plays ½; all weights are then (0.8,
    /// 0.2), but α = ½ makes the tracking ones ½ each. Both parts had probability ½ of the truth, so that
    /// they weigh the same: (0.65, 0.35).
    #[test]
    fn a_round_by_hand() {
        let mut mixture = Mixture::new(&[1.0, 1.0]);
        assert_eq!(mixture.weights(), [0.5, 0.5]);
        mixture.update(&[-(0.8f64.ln()), -(0.2f64.ln())]);
        for (weight, want) in mixture.weights().iter().zip([0.65, 0.35]) {
            assert!((weight - want).abs() < 1e-15, "{weight} instead of {want}");
        }
        // The fixed part gives 0.8·0.8 + 0.2·0.2 = 0.68 to the truth, the tracking one ½.
        mixture.update(&[-(0.8f64.ln()), -(0.2f64.ln())]);
        let parts = mixture.parts.map(f64::exp);
        assert!((parts[0] - 0.68 / 1.18).abs() < 1e-15, "{parts:?}");
    }

    #[test]
    fn the_loss_is_that_of_the_formula() {
        // The fixed part alone has (1) with equality; the whole is within ln 2 of it.
        for members in [1, 2, 7] {
            let prior: Vec<f64> = (1..=members).map(f64::from).collect();
            let total: f64 = prior.iter().sum();
            let mut mixture = Mixture::new(&prior);
            let (loss, rounds) = play(&mut mixture, 300, random(3));
            let by_member: Vec<f64> =
                (0..members as usize).map(|i| rounds.iter().map(|losses| losses[i]).sum()).collect();
            let least = by_member.iter().copied().fold(f64::INFINITY, f64::min);
            let sum: f64 =
                by_member.iter().zip(&prior).map(|(loss, prior)| prior / total * (least - loss).exp()).sum();
            let exact = least - sum.ln();
            assert!(loss <= exact + 2f64.ln() + 1e-9, "{members} members: {loss} against {exact}");
            for (loss_i, prior) in by_member.iter().zip(&prior) {
                assert!(loss <= loss_i - (prior / total).ln() + 2f64.ln() + 1e-9);
            }
        }
    }

    #[test]
    fn drift_is_tracked_within_the_bound() {
        // Member t / 100 mod 3 is right, the others are badly wrong.
        let mut mixture = Mixture::new(&[1.0; 3]);
        let truth = |t: usize, i: usize| if t / 100 % 3 == i { 0.9 } else { 0.01 };
        let (loss, rounds) = play(&mut mixture, 1000, truth);
        let sequence: f64 = (0..1000).map(|t| rounds[t][t / 100 % 3]).sum();
        let changes: Vec<u64> = (1..10).map(|segment| 100 * segment).collect();
        let bound = tracking_bound(3, 1.0 / 3.0, 1000, &changes);
        assert!(loss - sequence <= bound, "{} beyond {bound}", loss - sequence);
        assert!(loss - sequence > 0.5 * bound, "the bound is not vacuous: {} of {bound}", loss - sequence);
    }

    /// The others had e^-5000 of the weight of the one that leaves.
    #[test]
    fn the_only_good_member_may_leave() {
        let mut mixture = Mixture::new(&[1.0; 3]);
        (0..5000).for_each(|_| mixture.update(&[0.0, 1.0, 1.5]));
        mixture.retire(0);
        let total: f64 = mixture.weights().iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "{:?}", mixture.weights());
        assert!(mixture.weights()[1] > 0.5 && mixture.weights()[0] == 0.0, "{:?}", mixture.weights());
    }

    #[test]
    fn who_leaves_costs_nobody_anything() {
        let mut mixture = Mixture::new(&[1.0; 4]);
        let (before, first) = play(&mut mixture, 100, random(1));
        mixture.retire(2);
        assert_eq!(mixture.weights()[2], 0.0);
        let (after, second) = play(&mut mixture, 100, random(2));
        assert_eq!(mixture.weights()[2], 0.0);
        assert!((mixture.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for i in [0, 1, 3] {
            let member: f64 = first.iter().chain(&second).map(|losses| losses[i]).sum();
            assert!(before + after <= member + 8f64.ln() + 1e-9);
        }
    }

    /// Members join after every 20 rounds: all of them cost a member at most ln 2, and each is followed once
    /// it is there.
    #[test]
    fn who_joins_costs_the_others_at_most_ln_2() {
        let mut mixture = Mixture::new(&[1.0; 2]);
        let (mut total, mut known) = (0.0, [0.0; 2]);
        for joined in 1..=9u32 {
            let before = total;
            let (loss, rounds) = play(&mut mixture, 20, random(u64::from(joined)));
            total += loss;
            for round in &rounds {
                known.iter_mut().zip(round).for_each(|(sum, loss)| *sum += loss);
            }
            let shares: f64 = mixture.fixed.iter().map(|fixed| fixed.exp()).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{shares}");
            if joined > 1 {
                let newest: f64 = rounds.iter().map(|round| round[round.len() - 1]).sum();
                let bound = 2.0 * f64::from(joined).ln() + 3f64.ln() + 4f64.ln();
                assert!(total <= before + newest + bound, "{total} against {before} + {newest} + {bound}");
            }
            mixture.join(3, 1.0 / f64::from((joined + 1) * (joined + 1)));
        }
        for known in known {
            assert!(total <= known + 2f64.ln() + 4f64.ln() + 1e-9, "{total} against {known}");
        }
        assert!(mixture.restored() && mixture.weights().len() == 2 + 27);
    }

    #[test]
    fn hopeless_rounds_leave_weights() {
        let mut mixture = Mixture::new(&[1.0; 3]);
        let mut total = [0.0; 3];
        for losses in [[700.0, 690.0, 1e5], [1e9, 1e9 + 1.0, 0.0], [0.0, 1e9, 1e9], [1e-300, 1.0, 5.0]] {
            (0..50).for_each(|_| mixture.update(&losses));
            total.iter_mut().zip(losses).for_each(|(total, loss)| *total += 50.0 * loss);
            // Without sharing, weights are e^-loss, normalised: their logarithms show it where they
            // themselves are 0.
            let least = total.iter().copied().fold(f64::INFINITY, f64::min);
            for (i, total) in total.iter().enumerate() {
                let (log, want) = (mixture.log_weight(i), least - total);
                assert!((log - want).abs() <= 1e-9 * (1.0 + want.abs()), "member {i}: {log} for {want}");
            }
            // With sharing, the member that is best in these rounds is followed, whatever was before.
            let best = crate::prediction::argmax(&losses.map(|loss| -loss));
            let tracking = &mixture.tracking;
            assert!(tracking[best] > 0.9 && tracking.iter().all(|weight| *weight > 0.0), "{tracking:?}");
        }
        assert!(mixture.restored());
    }
}
