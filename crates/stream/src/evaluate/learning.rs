//! Policies that learn during the log.
//!
//! `learner:NAME` learns from every round of the log after it was evaluated on it: what it would earn if it
//! took over now, after so many rounds of the policy that has logged. Its importance weights are those of
//! the log.
//!
//! `alone:NAME` learns only from rounds that it might have played itself: what it would have earned from the
//! beginning, had it run in place of the policy that has logged. If it plays the label $a$ of a round with
//! probability $\pi(a)$, and the log with $p(a)$, the round is taken into its own history with probability
//! $c\ \pi(a)/p(a)$, where $c$ is the least probability of the log. This is rejection sampling: rows and
//! labels of the rounds that were taken are distributed as in a run of its own, if the rounds of the log are
//! independent (Li, Chu, Langford and Wang 2011, for a log that is uniform; Dudík, Erhan, Langford and Li
//! 2012). Of $T$ rounds about $c\,T$ are taken. All rounds estimate what the learner of that time is worth,
//! also those that were not taken.

use noregret::algorithm::AnyModel;
use noregret::example::Features;
use noregret::learner::Feedback;
use noregret::prediction::{Decision, Reward};
use noregret::registry::Entry;
use noregret::rng::{Rng, Uniforms as _};
use serde::Serialize;

use super::survey::{EvaluateError, Facts as LogFacts};
use crate::encode::survey::suitable;
use crate::fault::Fault;
use crate::mean::Mean;
use crate::save::Saved;
use crate::setup::{Asked, Facts, Norm};

/// A policy that learns during the log.
#[derive(Clone, Copy, Debug)]
pub struct Learning {
    /// The learner, with the parameters that it has by itself.
    pub entry: &'static Entry,
    /// Whether it learns only from rounds that it might have played itself.
    pub alone: bool,
}

/// What a policy that learns has earned while it learnt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learnt {
    /// The rounds that it has learnt.
    pub rounds: u64,
    /// Its reward after so many rounds: 0 to 127, 128 to 255, 256 to 511 and so on.
    pub stages: Vec<Stage>,
    /// What exploring has cost in a decision: the estimated reward of its best label minus its own, and the
    /// standard error.
    pub exploration: [f64; 2],
}

impl Learnt {
    /// The rounds that it had learnt from which on every stage has earned more than `reward`; `None` if the
    /// last has not.
    pub(super) fn more_from(&self, reward: f64) -> Option<u64> {
        let more = self.stages.iter().rev().take_while(|stage| stage.reward > reward);
        more.last().map(|stage| stage.from)
    }

    /// The mean reward from the stage on that begins with `from` rounds, and its standard error.
    pub fn since(&self, from: u64) -> [f64; 2] {
        let (mut rounds, mut sum, mut square) = (0.0, 0.0, 0.0);
        for stage in self.stages.iter().filter(|stage| stage.from >= from) {
            let count = (stage.to - stage.from + 1) as f64;
            rounds += count;
            sum += count * stage.reward;
            square += (count * stage.standard_error).powi(2);
        }
        [sum / rounds, square.sqrt() / rounds]
    }
}

/// The estimated reward of a learner that has learnt so many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The rounds that it had learnt at the start.
    pub from: u64,
    /// And at the end.
    pub to: u64,
    /// The mean of the rounds' terms, see [`Difference`](super::Difference).
    pub reward: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
}

/// Largest size of a learner's state.
const MOST_BYTES: usize = 1 << 32;

/// The first stage ends with so many rounds.
const FIRST_STAGE: u64 = 128;

/// A learner with what it has decided and learnt.
pub(super) struct Learns {
    saved: Saved,
    alone: bool,
    /// $c$.
    least: f64,
    /// The range of rewards.
    rewards: [f64; 2],
    rng: Rng,
    rounds: u64,
    /// For each term its stage.
    stages: Vec<usize>,
    exploration: Mean,
}

/// A decision of a learner for a round of the log.
pub(super) struct Decided {
    /// To be learnt, unless it was rejected.
    taken: Option<Decision>,
    stage: usize,
    /// The weight of its best label, minus that of its own play.
    explored: f64,
}

impl Learns {
    /// The learner before the first round.
    pub(super) fn new(learning: Learning, facts: &LogFacts) -> Result<Self, EvaluateError> {
        let labels = facts.labels.clone();
        let shape = Facts {
            scaling: suitable(facts.columns),
            norm: Norm::OfScaling,
            intercept: true,
            sparse: facts.columns > 4096,
            logged: true,
            ..Facts::unnamed(labels.len(), facts.columns)
        };
        let asked = Asked { feedback: Some(Feedback::Bandit), memory: MOST_BYTES, ..Asked::default() };
        let saved = Facts { labels, ..shape }.make(learning.entry, &asked)?;
        if let AnyModel::Bandit(learner) = &saved.learner
            && !facts.whole
            && !learner.takes_rewards()
        {
            return Err(EvaluateError::Rewards(learning.entry.about.name));
        }
        Ok(Self {
            saved,
            alone: learning.alone,
            least: facts.least,
            rewards: facts.rewards,
            rng: Rng::new(0, 0),
            rounds: 0,
            stages: Vec::new(),
            exploration: Mean::default(),
        })
    }

    /// The learner with its encoder.
    pub(super) fn saved(&mut self) -> &mut Saved {
        &mut self.saved
    }

    /// The learner's distribution over the labels `offered`, of which the log has played `label` with
    /// `probability`.
    pub(super) fn decide(
        &mut self,
        x: Features<'_>,
        offered: Option<&[u32]>,
        (label, probability): (u32, f64),
    ) -> Result<(Vec<f64>, Decided), Fault> {
        let AnyModel::Bandit(learner) = &self.saved.learner else {
            unreachable!("made with bandit feedback")
        };
        let mut decision = Decision::default();
        if !learner.decide(x, offered, &mut decision) {
            return Err(
                "not all labels were on offer, and the learner cannot play some of its labels only; auto can"
                    .into(),
            );
        }
        let distribution = decision.distribution.clone();
        if !distribution.iter().all(|p| p.is_finite()) {
            return Err("the learner's probabilities are not finite".into());
        }
        let own = distribution[label as usize];
        let takes = !self.alone || self.rng.uniform() * probability < self.least * own;
        let best = if decision.greedy == label { 1.0 / probability } else { 0.0 };
        decision.label = label;
        decision.probability = if self.alone { own } else { probability };
        let stage = (self.rounds / FIRST_STAGE).checked_ilog2().map_or(0, |power| power as usize + 1);
        let decided = Decided { taken: takes.then_some(decision), stage, explored: best - own / probability };
        Ok((distribution, decided))
    }

    /// Learns the `reward` of a round; its term is the next of the evaluation.
    pub(super) fn learn(&mut self, x: Features<'_>, decided: Decided, reward: f64) {
        self.stages.push(decided.stage);
        self.exploration.add(decided.explored * reward);
        let Some(taken) = decided.taken else { return };
        let [low, high] = self.rewards;
        let share = if high > low { (reward - low) / (high - low) } else { 1.0 };
        let AnyModel::Bandit(learner) = &mut self.saved.learner else { return };
        learner.learn(x, &taken, Reward::new(share.clamp(0.0, 1.0)).unwrap_or(Reward::WRONG));
        self.rounds += 1;
    }

    /// What it has earned, by the terms of its rounds.
    pub(super) fn learnt(&self, terms: &[f64]) -> Learnt {
        let mut stages = Vec::<Mean>::new();
        for (term, stage) in terms.iter().zip(&self.stages) {
            stages.resize(stages.len().max(stage + 1), Mean::default());
            stages[*stage].add(*term);
        }
        let stage = |(at, mean): (usize, &Mean)| {
            let end = FIRST_STAGE << at;
            let (from, to) = (if at == 0 { 0 } else { end / 2 }, (end - 1).min(self.rounds));
            Stage { from, to, reward: mean.value(), standard_error: mean.standard_error() }
        };
        let explored = [self.exploration.value(), self.exploration.standard_error()];
        Learnt {
            rounds: self.rounds,
            stages: stages.iter().enumerate().filter(|(_, mean)| mean.count() > 0.0).map(stage).collect(),
            exploration: explored,
        }
    }
}

#[cfg(test)]
mod tests {
    use noregret::registry;

    use super::*;
    use crate::encode::Example;
    use crate::encode::labels::Labels;
    use crate::read::row::Row;

    /// What was earned by chance at first does not count.
    #[test]
    fn more_is_earned_from_where_it_stays_so() {
        let stage =
            |at: u64, reward: f64| Stage { from: 128 * at, to: 128 * at + 127, reward, standard_error: 0.1 };
        let learnt = |rewards: [f64; 4]| {
            let stages = (0..).zip(rewards).map(|(at, reward)| stage(at, reward)).collect();
            Learnt { rounds: 512, stages, exploration: [0.0; 2] }
        };
        assert_eq!(learnt([0.6, 0.4, 0.7, 0.6]).more_from(0.5), Some(256));
        assert_eq!(learnt([0.6, 0.7, 0.7, 0.6]).more_from(0.5), Some(0));
        assert_eq!(learnt([0.6, 0.7, 0.7, 0.5]).more_from(0.5), None);
        // Two stages of the same length, each with the error 0.1.
        let [reward, error] = learnt([0.6, 0.4, 0.7, 0.6]).since(256);
        assert!((reward - 0.65).abs() < 1e-12 && (error - 0.1 / 2f64.sqrt()).abs() < 1e-12);
    }

    /// With a log that prefers some labels: rounds are taken with the probability $c\ \pi(a)$ for each label,
    /// so that the differences are martingales, whose sums stay below four of their standard deviations.
    #[test]
    fn rounds_that_are_taken_are_those_of_a_run_of_its_own() {
        let log = [0.6, 0.3, 0.1];
        let facts = LogFacts {
            labels: Labels::numbered(3),
            columns: 1,
            rewards: [0.0, 1.0],
            whole: true,
            least: 0.1,
        };
        let learning = Learning { entry: registry::find("squarecb").unwrap(), alone: true };
        let mut learns = Learns::new(learning, &facts).unwrap_or_else(|error| panic!("{error}"));
        let (mut row, mut example, mut rng) = (Row::new(), Example::default(), Rng::new(1, 0));
        let (mut off, mut taken, rounds) = ([0.0; 3], 0, 4000);
        for _ in 0..rounds {
            row.clear();
            row.push(0, rng.uniform());
            learns.saved().encoder.encode(&row, &mut example).unwrap();
            let coin = rng.uniform();
            let label = if coin < 0.6 { 0 } else { 1 + u32::from(coin > 0.9) };
            let played = (label, log[label as usize]);
            let (own, decided) = learns.decide(example.features(), None, played).unwrap();
            off.iter_mut().zip(&own).for_each(|(off, p)| *off -= 0.1 * p);
            if decided.taken.is_some() {
                off[label as usize] += 1.0;
                taken += 1;
            }
            let reward = f64::from(rng.uniform() < [0.2, 0.3, 0.6][label as usize]);
            learns.learn(example.features(), decided, reward);
        }
        let most = 4.0 * (f64::from(rounds) * 0.1 * 0.9).sqrt();
        assert!(off.iter().all(|off| off.abs() < most), "{off:?} beside {most}");
        assert!(taken > 300 && learns.learnt(&vec![0.0; rounds as usize]).rounds == taken, "{taken}");
    }
}
