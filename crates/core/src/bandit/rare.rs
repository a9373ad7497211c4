//! What [`auto`](super::auto) adds, above all where rewards are rare: the forecasts of the
//! [pooled](super::pooled) model, Thompson sampling, and whether the two mixtures still earn their time.
//!
//! The pooled model learns in every round. At rounds 512, 1024, 2048 and so on it *joins* if it has lost at
//! least 5 nats less than the two mixtures together, where the mean reward so far is below 0.05, and 10 nats
//! less elsewhere. From then on its forecasts $s$ count, by the log losses of all rounds so far,
//!
//! $$ \hat f_a \leftarrow w\ \hat f_a + (1 - w)\ s_a, \tag{1} $$
//!
//! and at that round and the later ones of the list a mixture is dropped, for good, that has lost 20 nats
//! more than the best part in all rounds, and 3 nats more since the round of the list before: it takes most
//! of the time, and rare rewards teach it little. Where rewards are common, these are 50 and 10 nats. Before
//! the pooled model joins, nothing of this changes a bit of what is played.
//!
//! From then on, too, decisions are made by Thompson sampling, which explores what is uncertain, and not all
//! that is close. Where rewards are rare its share is the weight $1 - w$. Elsewhere the pooled model need not
//! be the best one: with a weight of 0.05 or more all decisions are its own, with 0.005 or less none, and in
//! proportion between. A label is played with the probability of being the best one, if the log-odds are
//! independent and normal with the means $z_a$ of the pooled model and $0.3$ times its standard deviations
//! $\sqrt{n_a}$, or $0.5$ times where rewards are common. With less than 1 the decision explores less than a
//! Bayesian would who had all the time of the world: with few rewards no policy sees the end of its
//! exploration. The constants, that of the prior below and those of the challenger were chosen on worlds
//! drawn as `generate clicks` draws them, and are reported on others (`results/rare-clicks.md`). A share of
//! 0.002 plays uniformly, so that importance weights are bounded.
//!
//! **After a change** of the rewards the pooled model is confident and wrong. A challenger, which begins
//! anew at the rate so far whenever a fifth of the rounds has passed, learns beside it, and takes its place
//! when it has lost 8 nats less since then: if the rewards do not change, a model that is right for them is
//! left with a probability of at most $e^{-8}$ for each challenger.
//!
//! **With a prior** the pooled model, the only part that can begin at a given rate, takes part from the first
//! round on, with weights as if it had just earned the lead that it needs where rewards are rare.
//!
//! In the rounds from the one in which the pooled model joins, (1) loses at most $2 \ln 2$ nats more than it.

use crate::example::{Features, LEAST_PROBABILITY};
use crate::experts::mixture::Mixture;
use crate::kernel::best_of_normals;
use crate::kernel::inverse_gap::indices;
use crate::loss::logistic::sigmoid;
use crate::param::prior::Prior;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::Tensor;

use super::pooled::Pooled;

/// The indices of the parts: a mixture over all labels, a mixture for each label, and the pooled model.
pub(super) const COUPLED: usize = 0;
pub(super) const SEPARATE: usize = 1;
pub(super) const POOLED: usize = 2;

/// The number of parts.
pub(super) const PARTS: usize = 3;

/// The first round in which the losses are compared.
const FIRST_CHECK: u64 = 512;

/// Rewards can be rare if their mean is below this one.
const RARE: f64 = 0.05;

/// How many nats less the pooled model has to have lost to join where rewards can be rare, and elsewhere.
const LEAD: f64 = 5.0;
const LEAD_OF_COMMON: f64 = 10.0;

/// Where rewards are common, the weight of the pooled model from which it plays alone; below the other one it
/// does not play.
const AS_GOOD: f64 = 0.05;
const WORSE: f64 = 0.005;

/// How many nats more than the best part a mixture has to have lost to be dropped, in all rounds and since
/// the last comparison; and where rewards are common.
const DROP_ABOVE: [f64; 2] = [20.0, 3.0];
const DROP_ABOVE_OF_COMMON: [f64; 2] = [50.0, 10.0];

/// The standard deviations of the pooled model's common weights before the first round. They are narrow: what
/// all labels have in common does not tell which one is best, and takes from what the labels' own weights
/// learn. With three times these, on worlds of other seeds, a hundredth less of what could be earned was.
const COMMON: [f64; 2] = [0.1, 0.2];

/// What the standard deviations of the log-odds are multiplied with in Thompson sampling where rewards are
/// rare, and elsewhere.
const WIDTH: f64 = 0.3;
const WIDTH_OF_COMMON: f64 = 0.5;

/// The share of its decision that is uniform.
const UNIFORM: f64 = 0.002;

/// A challenger begins anew after one of so many rounds, of which there were [`MORE`] before the first.
const FRACTION: u64 = 5;
const MORE: u64 = 1000;

/// It begins at the rate so far, as if this were that of so many rounds.
const AS_ROUNDS: u64 = 50;

/// How many nats less than the pooled model it has to have lost.
const CHALLENGE: f64 = 8.0;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Rare {
    prior: Option<Prior>,
    pooled: Pooled,
    challenger: Pooled,
    /// Rounds that the challenger has learnt, and how many nats less than the pooled model it has lost in
    /// them.
    age: u64,
    lead: f64,
    rounds: u64,
    /// The sum of all rewards.
    rewards: f64,
    /// Weights of the two mixtures together, and of the pooled model.
    weights: Mixture,
    /// 1 if the pooled model has joined, otherwise 0.
    found: u64,
    /// For each part 1 if it was dropped, otherwise 0.
    dropped: [u64; PARTS],
    /// The log losses of the parts in all rounds, and since the last comparison.
    losses: [f64; PARTS],
    latest: [f64; PARTS],
    /// The log loss of the two mixtures together.
    together: f64,
}

impl Rare {
    pub(super) fn new(problem: &Problem, prior: Option<Prior>) -> Self {
        let pooled = Pooled::with_prior(problem.classes, problem.features, COMMON).beginning_at(prior);
        let of_mixtures = if prior.is_some() { (-LEAD).exp() } else { 1.0 };
        Self {
            prior,
            challenger: pooled.clone(),
            pooled,
            age: 0,
            lead: 0.0,
            rounds: 0,
            rewards: 0.0,
            weights: Mixture::new(&[of_mixtures, 1.0]),
            found: u64::from(prior.is_some()),
            dropped: [0; PARTS],
            losses: [0.0; PARTS],
            latest: [0.0; PARTS],
            together: 0.0,
        }
    }

    /// The prior that was given.
    pub(super) fn prior(&self) -> Option<Prior> {
        self.prior
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(problem: &Problem) -> usize {
        Pooled::numbers(problem).saturating_mul(2)
    }

    /// Whether `part` still learns and forecasts.
    pub(super) fn keeps(&self, part: usize) -> bool {
        self.dropped[part] == 0
    }

    /// Writes the pooled model's forecasts for `classes` labels to `out.probabilities`, and their log-odds to
    /// `out.scores`.
    pub(super) fn forecast(&self, x: Features<'_>, classes: usize, out: &mut Prediction) {
        let (mut rewards, mut scores) =
            (std::mem::take(&mut out.probabilities), std::mem::take(&mut out.scores));
        rewards.resize(classes, 0.0);
        scores.resize(classes, 0.0);
        self.pooled.forecast(x, out, &mut scores, &mut rewards);
        (out.probabilities, out.scores) = (rewards, scores);
    }

    /// Thompson sampling takes its share of the decision `p` among the labels on offer; `at` was written by
    /// [`Rare::forecast`].
    pub(super) fn play(&self, x: Features<'_>, offered: Option<&[u32]>, at: &mut Prediction, p: &mut [f64]) {
        if self.found == 0 {
            return;
        }
        let [mut deviations, mut room] = [&mut at.kept, &mut at.probabilities].map(std::mem::take);
        self.pooled.deviations(x, at, &mut deviations);
        let width = if self.are_rare() { WIDTH } else { WIDTH_OF_COMMON };
        deviations.iter_mut().for_each(|deviation| *deviation *= width);
        let mut best = std::mem::take(&mut at.scratch);
        best.resize(p.len(), 0.0);
        best_of_normals::probabilities(&at.scores, &deviations, offered, &mut room, &mut best);
        let share = self.share();
        let choices = indices(p.len(), offered).count() as f64;
        for label in indices(p.len(), offered) {
            let own = (1.0 - UNIFORM) * best[label] + UNIFORM / choices;
            p[label] = (1.0 - share) * p[label] + share * own;
        }
        room.clear();
        room.extend(at.scores.iter().map(|score| sigmoid(*score)));
        (at.kept, at.probabilities, at.scratch) = (deviations, room, best);
    }

    /// Whether rewards are rare so far, and by the prior.
    fn are_rare(&self) -> bool {
        let [rewards, rounds] =
            self.prior.map_or([0.0; 2], |prior| [prior.rate * prior.rounds, prior.rounds]);
        self.rewards + rewards < RARE * (self.rounds as f64 + rounds)
    }

    /// The share of a decision that plays by Thompson sampling.
    fn share(&self) -> f64 {
        let weight = self.weights.weights()[1];
        if self.are_rare() { weight } else { ((weight - WORSE) / (AS_GOOD - WORSE)).clamp(0.0, 1.0) }
    }

    /// Equation (1) for the forecast `together` of the two mixtures and `pooled` of the pooled model.
    pub(super) fn joined(&self, together: f64, pooled: f64) -> f64 {
        if self.found == 0 {
            return together;
        }
        let weights = self.weights.weights();
        weights[0] * together + weights[1] * pooled
    }

    /// Learns the reward of `label`, the log losses of the parts for it, and that of the two mixtures
    /// `together`, whose weights are `pair`.
    pub(super) fn learn(
        &mut self,
        x: Features<'_>,
        (label, reward): (usize, f64),
        losses: [f64; PARTS],
        together: f64,
        pair: &mut Mixture,
    ) {
        self.rounds += 1;
        self.rewards += reward;
        if self.found > 0 {
            self.challenge(x, (label, reward), losses[POOLED]);
        }
        self.pooled.learn(x, label, reward);
        if self.keeps(COUPLED) || self.keeps(SEPARATE) {
            self.weights.update(&[together, losses[POOLED]]);
        }
        for (sums, loss) in self.losses.iter_mut().zip(&mut self.latest).zip(losses) {
            *sums.0 += loss;
            *sums.1 += loss;
        }
        self.together += together;
        let rounds = self.rounds;
        if rounds >= FIRST_CHECK && rounds.is_power_of_two() {
            let rare = self.are_rare();
            let lead = if rare { LEAD } else { LEAD_OF_COMMON };
            self.found |= u64::from(self.losses[POOLED] + lead < self.together);
            if self.found > 0 {
                self.drop_worse(if rare { DROP_ABOVE } else { DROP_ABOVE_OF_COMMON }, pair);
            }
            self.latest = [0.0; PARTS];
        }
    }

    /// The challenger learns a round, in which the pooled model has lost `loss`; it takes its place, or
    /// begins anew.
    fn challenge(&mut self, x: Features<'_>, (label, reward): (usize, f64), loss: f64) {
        if self.age == 0 {
            self.challenger = self.pooled.anew(AS_ROUNDS, COMMON);
            self.lead = 0.0;
        }
        let score = self.challenger.score(x, label);
        let log = |score: f64| sigmoid(score).max(LEAST_PROBABILITY).ln();
        self.lead += loss + reward * log(score) + (1.0 - reward) * log(-score);
        self.challenger.learn(x, label, reward);
        self.age += 1;
        if self.lead > CHALLENGE {
            std::mem::swap(&mut self.pooled, &mut self.challenger);
            self.age = 0;
        } else if FRACTION * self.age >= self.rounds + MORE {
            self.age = 0;
        }
    }

    /// Drops mixtures that have lost so many nats more than the best part, in all rounds and since the last
    /// comparison.
    fn drop_worse(&mut self, [in_all, latest]: [f64; 2], pair: &mut Mixture) {
        let least = [&self.losses, &self.latest].map(|losses| {
            let kept = (0..PARTS).filter(|part| self.keeps(*part));
            kept.map(|part| losses[part]).fold(f64::INFINITY, f64::min)
        });
        for part in [COUPLED, SEPARATE] {
            let above = [self.losses[part] - least[0], self.latest[part] - least[1]];
            if !self.keeps(part) || above[0] < in_all || above[1] < latest {
                continue;
            }
            self.dropped[part] = 1;
            if self.keeps(COUPLED) || self.keeps(SEPARATE) {
                pair.retire(part);
            } else {
                self.weights.retire(0);
            }
        }
    }

    pub(super) fn grow(&mut self, classes: usize, features: usize) {
        self.pooled.grow(classes, features);
        self.challenger.grow(classes, features);
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = vec![
            Tensor::count("found", &mut self.found),
            Tensor::counts("dropped", &mut self.dropped),
            Tensor::vector("losses", &mut self.losses),
            Tensor::vector("latest", &mut self.latest),
            Tensor::number("together", &mut self.together),
            Tensor::count("rounds", &mut self.rounds),
            Tensor::number("rewards", &mut self.rewards),
            Tensor::count("age", &mut self.age),
            Tensor::number("lead", &mut self.lead),
        ];
        tensors.extend(self.challenger.tensors().into_iter().map(|tensor| tensor.within("challenger")));
        tensors.extend(self.pooled.tensors().into_iter().map(|tensor| tensor.within("pooled")));
        tensors.extend(self.weights.tensors().into_iter().map(|tensor| tensor.within("weights")));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        let flags = self.found <= 1 && self.dropped.iter().all(|dropped| *dropped <= 1);
        flags
            && self.dropped[POOLED] == 0
            && [&mut self.pooled, &mut self.challenger].into_iter().all(Pooled::restored)
            && self.weights.restored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms as _};
    use crate::testing::assert_close;

    /// Rounds of one label and the row 1, with a reward in every `every`-th one; the mixtures lose what is
    /// given.
    fn learnt(rounds: u64, every: u64, coupled: f64, separate: f64) -> (Rare, Mixture) {
        let (mut rare, mut pair) = (Rare::new(&Problem::new(2, 1), None), Mixture::new(&[1.0, 1.0]));
        for round in 0..rounds {
            let losses = [coupled, separate, 0.1];
            pair.update(&losses[..2]);
            let reward = if round % every == 0 { 1.0 } else { 0.0 };
            let together = coupled.min(separate);
            rare.learn(Features::Dense(&[1.0]), (0, reward), losses, together, &mut pair);
        }
        (rare, pair)
    }

    /// Nothing is found before round 512, where rewards are common, or where the mixtures are as good.
    #[test]
    fn rare_rewards_are_found_by_rate_and_losses() {
        let at = |(rare, _): &(Rare, Mixture)| (rare.found, rare.joined(0.2, 0.4));
        assert_eq!(at(&learnt(511, 100, 0.2, 0.2)), (0, 0.2));
        assert_eq!(at(&learnt(512, 19, 0.119, 0.119)), (0, 0.2), "common: 9.7 nats");
        assert_eq!(at(&learnt(512, 100, 0.11, 0.109)), (0, 0.2), "as good: 4.6 nats");
        let (found, joined) = at(&learnt(512, 100, 0.11, 0.11));
        assert_eq!(found, 1, "5.1 nats");
        assert!(joined > 0.38 && joined < 0.4, "{joined}");
    }

    /// With a prior the pooled model takes part in the first forecast, with a weight of 1/(1 + e^-5), and the
    /// rate decides whether rewards count as rare.
    #[test]
    fn a_prior_needs_no_rounds_to_be_found() {
        let weight = 1.0 / (1.0 + (-5f64).exp());
        for (rate, is_rare, share) in [(0.01, true, weight), (0.2, false, 1.0)] {
            let rare = Rare::new(&Problem::new(2, 1), Prior::of(Some(rate), None).expect("valid"));
            assert_eq!((rare.found, rare.are_rare()), (1, is_rare), "{rate}");
            assert_close(rare.share(), share, 1e-12, "the share of the decisions");
            assert_close(rare.joined(0.5, rate), weight * rate + (1.0 - weight) * 0.5, 1e-12, "the forecast");
        }
    }

    /// Half of the rewards are common: 10 nats are needed, where 5 suffice if rewards are rare, and 50 to be
    /// dropped.
    #[test]
    fn common_rewards_need_a_clear_lead() {
        assert_eq!(learnt(512, 2, 0.119, 0.119).0.found, 0, "9.7 nats");
        let (rare, _) = learnt(512, 2, 0.19, 0.19);
        assert_eq!((rare.found, rare.dropped), (1, [0, 0, 0]), "46 nats");
        assert_eq!(learnt(512, 2, 0.2, 0.14).0.dropped, [1, 0, 0], "51 and 20 nats");
    }

    /// Where rewards are common, the pooled model plays alone while its weight is a twentieth or more, and
    /// not at all from 1/200 down; where they are rare, by its weight.
    #[test]
    fn the_pooled_model_plays_where_it_is_about_as_good() {
        let share_at = |weight: f64, every: u64| {
            let (mut rare, _) = learnt(512, every, 0.14, 0.14);
            rare.weights = Mixture::new(&[1.0 - weight, weight]);
            rare.share()
        };
        for (weight, share) in [(0.9, 1.0), (0.05, 1.0), (0.0275, 0.5), (0.005, 0.0), (0.001, 0.0)] {
            assert_close(share_at(weight, 2), share, 1e-12, "the share");
        }
        assert_close(share_at(0.3, 100), 0.3, 1e-12, "rare rewards");
    }

    /// Thompson sampling has its share of the decision, and a five-hundredth of it is uniform.
    #[test]
    fn labels_are_played_as_often_as_they_may_be_the_best() {
        let x = Features::Dense(&[1.0]);
        let play = |rare: &Rare, offered: Option<&[u32]>| {
            let (mut at, mut p) = (Prediction::default(), [1.0, 0.0]);
            rare.forecast(x, 2, &mut at);
            rare.play(x, offered, &mut at, &mut p);
            (at, p)
        };
        let (mut rare, _) = learnt(511, 100, 0.2, 0.2);
        assert_eq!(play(&rare, None).1, [1.0, 0.0], "nothing is found");
        (rare, _) = learnt(2048, 100, 0.3, 0.3);
        let (at, p) = play(&rare, None);
        let mut deviations = Vec::new();
        rare.pooled.deviations(x, &mut Prediction::default(), &mut deviations);
        let gap = (at.scores[1] - at.scores[0]) / (WIDTH * f64::hypot(deviations[0], deviations[1]));
        let best = 0.5 * libm::erfc(-gap / std::f64::consts::SQRT_2);
        assert_close(p[1], 0.998 * best + 0.001, 0.02, "Φ of the gap");
        assert_close(p[0] + p[1], 1.0, 1e-12, "a distribution");
        assert!(p[1] >= 0.001, "{p:?}");
        assert_eq!(at.probabilities, at.scores.iter().map(|score| sigmoid(*score)).collect::<Vec<_>>());
        let (_, p) = play(&rare, Some(&[0]));
        assert_close(p[0], 1.0, 1e-12, "the only label on offer");
        assert_eq!(p[1], 0.0);
    }

    /// Label 0 earns in 4 of 100 rounds, and after `change` in one of 1000: a challenger takes over within
    /// 2500 rounds. Without a change, none does.
    #[test]
    fn a_challenger_takes_over_after_a_change() {
        let ages = [5000, u64::MAX].map(|change| {
            let (mut rare, mut pair) = (Rare::new(&Problem::new(2, 1), None), Mixture::new(&[1.0, 1.0]));
            let (x, mut at, mut rng) = (Features::Dense(&[1.0]), Prediction::default(), Rng::new(8, 0));
            for round in 0..7500 {
                rare.forecast(x, 2, &mut at);
                let p = at.probabilities[0];
                let reward = f64::from(u8::from(rng.uniform() < if round < change { 0.04 } else { 0.001 }));
                let loss = -reward * p.ln() - (1.0 - reward) * (-p).ln_1p();
                let losses = [loss + 0.02, loss + 0.02, loss];
                rare.learn(x, (0, reward), losses, losses[0], &mut pair);
            }
            rare.pooled.rounds()
        });
        assert!(ages[0] < 3500, "{ages:?}");
        assert_eq!(ages[1], 7500);
    }

    /// Per round 0.05 nats are 25.6 in 512 rounds, and 0.03 are 15.4, and 30.7 in 1024.
    #[test]
    fn mixtures_far_behind_are_dropped() {
        let (rare, pair) = learnt(512, 100, 0.15, 0.13);
        assert_eq!(rare.dropped, [1, 0, 0]);
        assert_close(pair.weights()[SEPARATE], 1.0, 1e-12, "what is left");
        let (rare, _) = learnt(1024, 100, 0.15, 0.13);
        assert_eq!(rare.dropped, [1, 1, 0]);
        assert_close(rare.joined(0.9, 0.4), 0.4, 1e-12, "the pooled model alone");
        let (rare, _) = learnt(512, 19, 0.15, 0.13);
        assert_eq!(rare.dropped, [0, 0, 0], "common");
    }
}
