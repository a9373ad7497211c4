//! Vovk's aggregation for log loss, with and without fixed share (theory: mixtures 1).
//!
//! $M$ members forecast probabilities $p^i_t$. The mixture plays $\sum_i w^i_t p^i_t$, and every member's
//! weight is multiplied by the probability that the member gave to the label. The total loss is then
//! *exactly*
//!
//! $$ L_T = -\ln \sum_i \pi_i e^{-L^i_T} \le \min_i\ (L^i_T - \ln \pi_i), \tag{1} $$
//!
//! with the prior $\pi$; for a uniform prior the bound is $\ln M$ more than the loss of the best member (Vovk
//! 1990: *Aggregating Strategies*, COLT; theory: mixtures 1.1, 1.2). After a drift another member may be
//! best. *Fixed share* (Herbster, Warmuth 1998) moves a part $\alpha_t$ of each weight to the others after
//! round $t$. With $\alpha_t = 1/(t+1)$, which needs no horizon, for any sequence of members that changes
//! after the rounds of a set $\mathcal S$
//!
//! $$ L_T \le L^{i_1, \dots, i_T}_T - \ln \pi_{i_1} + \ln T + \textstyle\sum_{t \in \mathcal S}
//!    \ln(t\ (M-1)). \tag{2} $$
//!
//! (A round without a change costs $-\ln(1-\alpha_t)$, in total $\ln T$; a change costs $\ln((M-1)/\alpha_t)$
//! instead; theory: mixtures 1.3, 1.4.) [`Mixture`] is a mixture of the two methods, so that (1) holds with
//! $\ln 2$ added and (2) with $\ln 4$ (theory: mixtures 1.5). It needs only one list of weights, since a
//! mixture of mixtures is a mixture of the members.
//!
//! In every interval of rounds $[r, s]$ with $r \ge 2$, and for every member $i$ that is active from round
//! $r - 1$ on, the loss is at most
//!
//! $$ \textstyle\sum_{t=r}^s L^i_t + 2 \ln(r + 1) + \ln(s (M-1)), \tag{3} $$
//!
//! whatever came before ([`adaptive_regret`](crate::bounds::adaptive_regret); theory: mixtures 1.7), since
//! the method with sharing never has less weight than $1/(r + 1)^2$: after round $t$ the other method gives
//! $\beta_t = 1/(t+2)^2$ of its weight to it.
//!
//! After label $y$ the weights of both methods are multiplied by the likelihoods, and those of the second are
//! shared:
//!
//! $$ w^i \leftarrow w^i p^i_y \Big/ \textstyle\sum_j w^j p^j_y, \tag{4} $$
//! $$ w^i \leftarrow (1 - \alpha_t)\ w^i + \tfrac{\alpha_t}{M-1} (1 - w^i), \tag{5} $$
//!
//! and the weights $v$ of the method without sharing and $v'$ of the other, at first ¾ and ¼, are multiplied
//! by the probabilities that the methods gave to the label, and then
//!
//! $$ v' \leftarrow v' + \beta_t v, \qquad v \leftarrow (1 - \beta_t)\ v. \tag{6} $$
//!
//! For soft labels the bounds hold with cross-entropy as the loss, by Hölder's inequality, and for
//! importance weights up to 1 with weighted losses. Larger importance weights are accepted, without a
//! guarantee.

use crate::kernel::softmax::quick_exponentials;
use crate::kernel::vector::{dot, sum};
use crate::state::Tensor;

/// The logarithmic weight of a dropped member; its share in the forecast is 0.
const DROPPED: f64 = -1e12;

/// The least logarithmic weight of an active member.
const LEAST_LOG_WEIGHT: f64 = -1e11;

/// Weights over members, see the [module](self).
#[derive(Clone, Debug)]
pub struct Mixture {
    /// Logarithms of the weights without sharing, normalised.
    fixed: Vec<f64>,
    /// The weights with fixed share, normalised.
    tracking: Vec<f64>,
    /// Logarithms of the weights of the two parts, `fixed` and `tracking`, normalised.
    parts: [f64; 2],
    rounds: u64,
    /// The weights without sharing: the exponentials of `fixed`.
    unshared: Vec<f64>,
    /// The weights in the next forecast, computed from the fields above.
    weights: Vec<f64>,
    /// In an update, the members' likelihoods relative to that of the best member.
    likelihoods: Vec<f64>,
}

impl Mixture {
    /// A mixture with the prior weights `prior`, each > 0, of any sum.
    ///
    /// # Panics
    /// If `prior` is empty.
    pub fn new(prior: &[f64]) -> Self {
        assert!(!prior.is_empty(), "a mixture needs at least one member");
        let total: f64 = prior.iter().sum();
        let tracking: Vec<f64> = prior.iter().map(|weight| weight / total).collect();
        let fixed = tracking.iter().map(|weight| weight.ln()).collect();
        let parts = [0.75f64.ln(), 0.25f64.ln()];
        let (unshared, weights, likelihoods) = (tracking.clone(), tracking.clone(), tracking.clone());
        let mut mixture = Self { fixed, tracking, parts, rounds: 0, unshared, weights, likelihoods };
        mixture.exponentiate();
        mixture.refresh();
        mixture
    }

    /// The weights of the members' probabilities in the next forecast: non-negative, of sum 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The index of the member with the largest weight.
    pub fn leader(&self) -> usize {
        crate::prediction::argmax(&self.weights)
    }

    /// The logarithm of the weight of `member` without sharing: minus its total loss, up to a constant that
    /// is the same for all members.
    pub(super) fn log_weight(&self, member: usize) -> f64 {
        self.fixed[member]
    }

    /// Learns the members' log losses in a round, multiplied by its importance weight: finite, or infinite
    /// for dropped members.
    pub fn update(&mut self, losses: &[f64]) {
        let present = self.fixed.iter().zip(losses).filter(|(fixed, _)| **fixed > DROPPED);
        let least = present.map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
        for ((likelihood, fixed), loss) in self.likelihoods.iter_mut().zip(&self.fixed).zip(losses) {
            *likelihood = if *fixed > DROPPED { least - loss } else { f64::NEG_INFINITY };
        }
        // eq. (4): the logarithms are added, and the weights multiplied.
        for (fixed, logarithm) in
            self.fixed.iter_mut().zip(&self.likelihoods).filter(|(fixed, _)| **fixed > DROPPED)
        {
            *fixed += logarithm;
        }
        quick_exponentials(&mut self.likelihoods);
        // The likelihoods of both parts, relative to that of the best member.
        let fixed_likelihood = dot(&self.unshared, &self.likelihoods);
        for (tracking, likelihood) in self.tracking.iter_mut().zip(&self.likelihoods) {
            *tracking *= likelihood;
        }
        let tracking_likelihood = self.tracking.iter().sum::<f64>();
        // The direction of the weights is kept even if the best member has weight 0 in a part.
        let floor = |likelihood: f64| likelihood.max(1e-300).ln();
        self.parts[0] += floor(fixed_likelihood);
        self.parts[1] += floor(tracking_likelihood);
        self.normalise();
        let top = self.parts[0].max(self.parts[1]);
        let log_sum = top + self.parts.iter().map(|part| (part - top).exp()).sum::<f64>().ln();
        self.parts.iter_mut().for_each(|part| *part = (*part - log_sum).max(LEAST_LOG_WEIGHT));
        self.rounds += 1;
        self.give();
        self.share(tracking_likelihood);
        self.refresh();
    }

    /// Normalises the weights without sharing, in logarithms.
    fn normalise(&mut self) {
        let top = self.fixed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (weight, fixed) in self.unshared.iter_mut().zip(&self.fixed) {
            *weight = fixed - top;
        }
        quick_exponentials(&mut self.unshared);
        let log_sum = top + sum(&self.unshared).ln();
        for fixed in self.fixed.iter_mut().filter(|fixed| **fixed > DROPPED) {
            *fixed = (*fixed - log_sum).max(LEAST_LOG_WEIGHT);
        }
        // Not from the exponentials above: after loading, the weights must be the same to the last bit.
        self.exponentiate();
    }

    /// Computes the weights without sharing from their logarithms.
    fn exponentiate(&mut self) {
        self.unshared.clone_from(&self.fixed);
        quick_exponentials(&mut self.unshared);
    }

    /// Gives a part of the weight of the method without sharing to the other one.
    fn give(&mut self) {
        let given = (self.rounds as f64 + 2.0).powi(-2);
        let [without, sharing] = self.parts.map(f64::exp);
        self.parts[1] = (sharing + given * without).ln(); // eq. (6)
        self.parts[0] += (-given).ln_1p(); // eq. (6)
    }

    /// Fixed share among the active members.
    fn share(&mut self, likelihood: f64) {
        let present = self.fixed.iter().filter(|fixed| **fixed > DROPPED).count();
        let alpha = if present > 1 { 1.0 / (self.rounds as f64 + 1.0) } else { 0.0 };
        for (tracking, fixed) in self.tracking.iter_mut().zip(&self.fixed) {
            let posterior = if likelihood > 0.0 {
                *tracking / likelihood
            } else {
                f64::from(*fixed > DROPPED) / present as f64
            };
            let others = alpha * (1.0 - posterior) / (present.max(2) - 1) as f64;
            *tracking = if *fixed > DROPPED { (1.0 - alpha) * posterior + others } else { 0.0 }; // eq. (5)
        }
    }

    /// Drops `member` (theory: mixtures 1.6). The other weights increase, so that (1), (2) and (3) remain
    /// valid for all active members.
    pub fn retire(&mut self, member: usize) {
        self.fixed[member] = DROPPED;
        self.tracking[member] = 0.0;
        // The remaining weights may be tiny compared with that of the dropped member.
        self.normalise();
        let total: f64 = self.tracking.iter().sum();
        if total > 0.0 {
            self.tracking.iter_mut().for_each(|tracking| *tracking /= total);
        }
        self.refresh();
    }

    /// Adds `count` members, which divide the weight `share` in (0, 1) equally; the other weights are
    /// multiplied by $1 -$ `share`.
    ///
    /// With the share $1/(j+1)^2$ for the $j$-th call, all calls together increase the bound for every member
    /// by at most $\ln 2$, since $\prod_{m \ge 2} (1 - 1/m^2) = 1/2$: half of the prior is reserved for added
    /// members. For an added member, (1) holds from that round on, with the mixture's loss in place of the
    /// member's own up to then, and $2 \ln(j+1) + \ln(\text{count})$ in place of $-\ln \pi$.
    pub(super) fn join(&mut self, count: usize, share: f64) {
        let own = share / count as f64;
        for fixed in self.fixed.iter_mut().filter(|fixed| **fixed > DROPPED) {
            *fixed = (*fixed + (-share).ln_1p()).max(LEAST_LOG_WEIGHT);
        }
        self.tracking.iter_mut().for_each(|tracking| *tracking *= 1.0 - share);
        self.fixed.extend(std::iter::repeat_n(own.ln(), count));
        self.tracking.extend(std::iter::repeat_n(own, count));
        self.weights.extend(std::iter::repeat_n(0.0, count));
        self.likelihoods.extend(std::iter::repeat_n(0.0, count));
        self.exponentiate();
        self.refresh();
    }

    /// Computes the weights in the forecast.
    fn refresh(&mut self) {
        let [fixed_part, tracking_part] = self.parts.map(f64::exp);
        for ((weight, unshared), tracking) in self.weights.iter_mut().zip(&self.unshared).zip(&self.tracking)
        {
            *weight = fixed_part * unshared + tracking_part * tracking;
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
            self.exponentiate();
            self.refresh();
        }
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::adaptive_regret;
    use crate::rng::{Rng, Uniforms};

    /// Plays members that give the probability `truth(t, i)` to the label. Returns the mixture's total loss
    /// and the members' losses by round.
    fn play(
        mixture: &mut Mixture,
        rounds: usize,
        truth: impl Fn(usize, usize) -> f64,
    ) -> (f64, Vec<Vec<f64>>) {
        let (played, members) = by_round(mixture, 0..rounds, truth);
        (played.iter().sum(), members)
    }

    /// The same, with the mixture's loss by round.
    fn by_round(
        mixture: &mut Mixture,
        rounds: std::ops::Range<usize>,
        truth: impl Fn(usize, usize) -> f64,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let of_round = |t| {
            let p: Vec<f64> = (0..mixture.weights().len()).map(|i| truth(t, i)).collect();
            let played = -mixture.weights().iter().zip(&p).map(|(w, p)| w * p).sum::<f64>().ln();
            let losses: Vec<f64> = p.iter().map(|p| -p.ln()).collect();
            mixture.update(&losses);
            (played, losses)
        };
        rounds.map(of_round).unzip()
    }

    fn random(seed: u64) -> impl Fn(usize, usize) -> f64 {
        move |t, i| Rng::new(seed, (1000 * t + i) as u64).uniform().max(1e-6)
    }

    /// Two members, prior ½ each, which give the probabilities (0.8, 0.2) to the label in both rounds. After
    /// round 1 the weights are (0.8, 0.2), but α = ½ makes the tracking weights ½ each. Both parts gave ½ to
    /// the label, so that their weights are still (¾, ¼); then the first gives a ninth of its own to the
    /// second, and they are (2/3, 1/3): (0.7, 0.3).
    #[test]
    fn a_round_by_hand() {
        let mut mixture = Mixture::new(&[1.0, 1.0]);
        assert_eq!(mixture.weights(), [0.5, 0.5]);
        mixture.update(&[-(0.8f64.ln()), -(0.2f64.ln())]);
        for (weight, want) in mixture.weights().iter().zip([0.7, 0.3]) {
            assert!((weight - want).abs() < 1e-15, "{weight} instead of {want}");
        }
        // The fixed part gives the label 0.8·0.8 + 0.2·0.2 = 0.68, the tracking part ½; then the fixed part
        // gives a sixteenth.
        mixture.update(&[-(0.8f64.ln()), -(0.2f64.ln())]);
        let parts = mixture.parts.map(f64::exp);
        assert!((parts[0] - 15.0 / 16.0 * 1.36 / 1.86).abs() < 1e-15, "{parts:?}");
    }

    #[test]
    fn the_loss_is_that_of_the_formula() {
        // The fixed part alone satisfies (1) with equality; the mixture is within ln 2 of it.
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

    /// The right-hand side of (2) without the loss of the sequence, plus the ln 4 of the mixture.
    #[test]
    fn drift_is_tracked_within_the_bound() {
        // Member t / 100 mod 3 predicts well, the others badly.
        let mut mixture = Mixture::new(&[1.0; 3]);
        let truth = |t: usize, i: usize| if t / 100 % 3 == i { 0.9 } else { 0.01 };
        let (loss, rounds) = play(&mut mixture, 1000, truth);
        let sequence: f64 = (0..1000).map(|t| rounds[t][t / 100 % 3]).sum();
        let changes = (1..10).map(|segment| (100.0 * f64::from(segment) * 2.0).ln());
        let bound = 4f64.ln() + 3f64.ln() + 1000f64.ln() + changes.sum::<f64>();
        assert!(loss - sequence <= bound, "{} beyond {bound}", loss - sequence);
        assert!(loss - sequence > 0.5 * bound, "the bound is not vacuous: {} of {bound}", loss - sequence);
    }

    /// Equation (3) in many intervals of streams on which members change places: the best member loses 0.1
    /// nats a round and the others 4.6. Before a change the part without sharing has nearly all weight, so
    /// that most of the bound is used up; it is below the loss of a coin.
    #[test]
    fn the_loss_of_every_interval_is_within_the_bound() {
        let switched = |t: usize, i: usize| if t / 700 % 3 == i { 0.9 } else { 0.01 };
        let mut largest: f64 = 0.0;
        for seed in 0..4 {
            let mut mixture = Mixture::new(&[1.0, 2.0, 1.0]);
            let (played, members) = match seed {
                0 => by_round(&mut mixture, 0..2100, switched),
                _ => by_round(&mut mixture, 0..2100, random(seed)),
            };
            for_intervals(&played, &members, |first, last, regret| {
                let bound = adaptive_regret(3, first, last);
                assert!(regret <= bound, "{regret} beyond {bound} in [{first}, {last}] of stream {seed}");
                if bound < 0.5 * 2f64.ln() * (last - first) as f64 {
                    largest = largest.max(regret / bound);
                }
            });
        }
        assert!(largest > 0.55, "the bound is not vacuous: at most {largest} of it was needed");
    }

    /// Member after member is the best and is dropped. Fixed share then searches the next best one, which the
    /// part without sharing has already found: without eq. (6), fixed share has the weight e^-30 in the end,
    /// and the last member, the worst so far, is found far too late.
    #[test]
    fn the_bound_of_intervals_holds_after_members_were_dropped() {
        let mut mixture = Mixture::new(&[1.0; 14]);
        let nested = |_: usize, i: usize| 0.9 * 0.7f64.powi(i as i32);
        for dropped in 0..12 {
            by_round(&mut mixture, 0..50, nested);
            mixture.retire(dropped);
        }
        by_round(&mut mixture, 0..50, nested);
        let (before, rounds) = (mixture.rounds, 60);
        let last_is_best = |_: usize, i: usize| if i == 13 { 0.9 } else { 1e-4 };
        let (played, _) = by_round(&mut mixture, 0..rounds, last_is_best);
        let regret = played.iter().sum::<f64>() + rounds as f64 * 0.9f64.ln();
        let bound = adaptive_regret(2, before + 1, before + rounds as u64);
        assert!(regret <= bound && regret > 0.6 * bound, "{regret} against {bound}");
    }

    /// Calls `check` with first and last round of many intervals, and with the loss in them minus that of the
    /// best of `members`.
    fn for_intervals(played: &[f64], members: &[Vec<f64>], mut check: impl FnMut(u64, u64, f64)) {
        for first in (1..played.len()).step_by(28).skip(1) {
            let (mut own, mut best) = (0.0, vec![0.0; members[0].len()]);
            for last in first..=played.len() {
                own += played[last - 1];
                best.iter_mut().zip(&members[last - 1]).for_each(|(sum, loss)| *sum += loss);
                let least = best.iter().copied().fold(f64::INFINITY, f64::min);
                check(first as u64, last as u64, own - least);
            }
        }
    }

    /// The others had e^-5000 times the weight of the dropped member.
    #[test]
    fn the_only_good_member_may_be_dropped() {
        let mut mixture = Mixture::new(&[1.0; 3]);
        (0..5000).for_each(|_| mixture.update(&[0.0, 1.0, 1.5]));
        mixture.retire(0);
        let total: f64 = mixture.weights().iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "{:?}", mixture.weights());
        assert!(mixture.weights()[1] > 0.5 && mixture.weights()[0] == 0.0, "{:?}", mixture.weights());
    }

    #[test]
    fn dropping_a_member_keeps_the_bounds_of_the_others() {
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

    /// Members are added after every 20 rounds: all of them together cost a member at most ln 2, and the
    /// bound for each added member holds from then on.
    #[test]
    fn added_members_cost_the_others_at_most_ln_2() {
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
    fn extreme_losses_leave_valid_weights() {
        let mut mixture = Mixture::new(&[1.0; 3]);
        let mut total = [0.0; 3];
        for losses in [[700.0, 690.0, 1e5], [1e9, 1e9 + 1.0, 0.0], [0.0, 1e9, 1e9], [1e-300, 1.0, 5.0]] {
            (0..50).for_each(|_| mixture.update(&losses));
            total.iter_mut().zip(losses).for_each(|(total, loss)| *total += 50.0 * loss);
            // The weights without sharing are e^-loss, normalised; where they underflow, their logarithms are
            // still exact.
            let least = total.iter().copied().fold(f64::INFINITY, f64::min);
            for (i, total) in total.iter().enumerate() {
                let (log, want) = (mixture.log_weight(i), least - total);
                assert!((log - want).abs() <= 1e-9 * (1.0 + want.abs()), "member {i}: {log} for {want}");
            }
            // With sharing, the member that is best in the latest rounds has the largest weight, whatever
            // came before.
            let best = crate::prediction::argmax(&losses.map(|loss| -loss));
            let tracking = &mixture.tracking;
            assert!(tracking[best] > 0.9 && tracking.iter().all(|weight| *weight > 0.0), "{tracking:?}");
        }
        assert!(mixture.restored());
    }
}
