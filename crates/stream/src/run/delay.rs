//! Late feedback.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use noregret::learner::{BanditLearner, OnlineLearner};
use noregret::prediction::{Decision, Prediction, Reward};
use noregret::rng::{Rng, Uniforms};

use serde::{Deserialize, Serialize};

use crate::encode::Example;
use crate::fault::{Fault, fault};
use crate::words::counted;

/// The generator's stream for delays.
const DELAY: u64 = 3;

/// The delay of feedback, in rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lateness {
    /// This many rounds; 0 is immediate.
    Fixed(u64),
    /// A geometric number of rounds 0, 1, 2, … with this mean, drawn for each round, so that
    /// feedback may be out of order.
    Geometric(f64),
    /// A number drawn uniformly from 0 to this.
    Uniform(u64),
}

/// Longest delay, since pending rounds are in memory.
const LONGEST: u64 = 100_000_000;

impl Default for Lateness {
    fn default() -> Self {
        Lateness::Fixed(0)
    }
}

impl Lateness {
    /// Whether feedback is always immediate.
    pub fn is_none(self) -> bool {
        self == Lateness::Fixed(0)
    }

    /// Description, as in "labels were delayed by 1 round".
    pub fn describe(self) -> String {
        match self {
            Lateness::Fixed(rounds) => format!("delayed by {}", counted(rounds, "round")),
            Lateness::Geometric(mean) => format!("delayed by a geometric number of rounds of mean {mean}"),
            Lateness::Uniform(most) => {
                format!("delayed by a uniform number of up to {}", counted(most, "round"))
            }
        }
    }

    /// The delay of a round.
    fn draw(self, rng: &mut Rng) -> u64 {
        match self {
            Lateness::Fixed(rounds) => rounds,
            Lateness::Uniform(most) => rng.below(most + 1),
            // P(delay >= n) = (mean / (mean + 1))^n. 1 - u is in (0, 1], so no delay exceeds 37 (mean + 1).
            Lateness::Geometric(mean) => ((-rng.uniform()).ln_1p() / (mean / (mean + 1.0)).ln()) as u64,
        }
    }
}

impl FromStr for Lateness {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let rounds = |text: &str| text.parse().ok().filter(|rounds| *rounds <= LONGEST);
        let mean =
            |text: &str| text.parse().ok().filter(|mean| *mean > 0.0 && *mean <= LONGEST as f64 / 37.0);
        let read = match text.split_once(':') {
            None => rounds(text).map(Lateness::Fixed),
            Some(("uniform", most)) => rounds(most).map(Lateness::Uniform),
            Some(("geometric", of)) => mean(of).map(Lateness::Geometric),
            Some(_) => None,
        };
        read.ok_or_else(|| {
            fault!(
                "{text:?} is none of ROUNDS, geometric:MEAN and uniform:MAX, with at most {LONGEST} rounds"
            )
        })
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lateness::Fixed(rounds) => rounds.fmt(f),
            Lateness::Geometric(mean) => write!(f, "geometric:{mean}"),
            Lateness::Uniform(most) => write!(f, "uniform:{most}"),
        }
    }
}

/// Pending rounds, each with the data needed to learn from it. Common to all learners. Memory is
/// proportional to the number of pending rounds.
#[derive(Debug)]
pub struct Delay<K> {
    lateness: Lateness,
    rng: Rng,
    /// Rounds so far.
    now: u64,
    /// Due time, round, and slot; ordered by due time, then by round.
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    slots: Vec<(Example, K)>,
    free: Vec<usize>,
    came_late: u64,
}

/// The pending rounds of a [`Delay`], for saving.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waiting<K> {
    lateness: String,
    generator: [u64; 4],
    now: u64,
    /// Due time, round, example, and the data kept for it.
    pub(crate) rounds: Vec<(u64, u64, Example, K)>,
}

impl<K: Default + Clone> Delay<K> {
    /// The state to be saved.
    pub(crate) fn waiting(&self) -> Waiting<K> {
        let mut order: Vec<_> = self.waiting.iter().map(|Reverse(entry)| *entry).collect();
        order.sort_unstable();
        let round = |(due, round, slot): (u64, u64, usize)| {
            let (example, kept) = &self.slots[slot];
            (due, round, example.clone(), kept.clone())
        };
        Waiting {
            lateness: self.lateness.to_string(),
            generator: self.rng.state(),
            now: self.now,
            rounds: order.into_iter().map(round).collect(),
        }
    }

    /// Restores a saved state, if it fits `lateness`; `came_late` labels of the run were late.
    pub(crate) fn of(waiting: Waiting<K>, lateness: Lateness, came_late: u64) -> Option<Self> {
        if waiting.lateness != lateness.to_string() {
            return None;
        }
        let mut delay = Self::new(lateness, 0);
        (delay.rng, delay.now) = (Rng::from_state(waiting.generator), waiting.now);
        delay.came_late = came_late;
        for (slot, (due, round, example, kept)) in waiting.rounds.into_iter().enumerate() {
            delay.waiting.push(Reverse((due, round, slot)));
            delay.slots.push((example, kept));
        }
        Some(delay)
    }
}

impl<K: Default> Delay<K> {
    /// Feedback with delays of `lateness`, drawn by `seed`.
    pub fn new(lateness: Lateness, seed: u64) -> Self {
        Self {
            lateness,
            rng: Rng::new(seed, DELAY),
            now: 0,
            waiting: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            came_late: 0,
        }
    }

    /// Number of pending rounds.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Number of labelled rounds whose feedback came after later rows had been predicted.
    pub fn came_late(&self) -> u64 {
        self.came_late
    }

    /// Whether no round is pending.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds round `now`; `keep` copies the needed data.
    fn hold(&mut self, example: &Example, keep: impl FnOnce(&mut K)) {
        let due = self.now + self.lateness.draw(&mut self.rng);
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(Default::default());
        }
        let (kept, needed) = &mut self.slots[slot];
        kept.copy_from(example);
        keep(needed);
        self.waiting.push(Reverse((due, self.now, slot)));
    }

    /// Removes the rounds that are due at `until` and passes them on.
    fn release<E>(
        &mut self,
        until: u64,
        mut teach: impl FnMut(u64, &Example, &K) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(&Reverse((due, round, slot))) = self.waiting.peek() {
            if due > until {
                break;
            }
            self.waiting.pop();
            self.free.push(slot);
            let (example, needed) = &self.slots[slot];
            let labelled =
                example.target().is_some() || example.reward(0).is_some() || example.logged().is_some();
            self.came_late += u64::from(round < self.now && labelled);
            teach(round, example, needed)?;
        }
        Ok(())
    }
}

impl Delay<Prediction> {
    /// Adds the round of `example` with prediction `at`, and lets the learner learn all labels that
    /// are due.
    pub fn update<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L, example: &Example, at: &Prediction) {
        if self.lateness.is_none() {
            return teach(learner, example, at);
        }
        self.now += 1;
        self.hold(example, |kept| kept.keep(at));
        self.release_all(self.now, learner);
    }

    /// At the end of the stream: lets the learner learn all pending labels.
    pub fn drain<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        self.release_all(u64::MAX, learner);
    }

    fn release_all<L: OnlineLearner + ?Sized>(&mut self, until: u64, learner: &mut L) {
        let done: Result<(), std::convert::Infallible> = self.release(until, |_, example, at| {
            teach(learner, example, at);
            Ok(())
        });
        let Ok(()) = done;
    }
}

fn teach<L: OnlineLearner + ?Sized>(learner: &mut L, example: &Example, at: &Prediction) {
    if let Some(target) = example.target() {
        learner.update(example.features(), target, at);
    }
}

impl Delay<Decision> {
    /// Adds the round of `example` with decision `taken`, lets the learner learn all feedback that
    /// is due, and calls `heard` with each reward and its round, from 1.
    ///
    /// # Errors
    /// Those of `heard`.
    pub fn learn<L: BanditLearner + ?Sized, E>(
        &mut self,
        learner: &mut L,
        example: &Example,
        taken: &Decision,
        mut heard: impl FnMut(u64, Reward) -> Result<(), E>,
    ) -> Result<(), E> {
        self.now += 1;
        if self.lateness.is_none() {
            return tell(learner, self.now, example, taken, &mut heard);
        }
        self.hold(example, |kept| kept.clone_from(taken));
        let now = self.now;
        self.release(now, |round, example, taken| tell(learner, round, example, taken, &mut heard))
    }

    /// At the end of the stream: delivers all pending feedback.
    ///
    /// # Errors
    /// Those of `heard`.
    pub fn finish<L: BanditLearner + ?Sized, E>(
        &mut self,
        learner: &mut L,
        mut heard: impl FnMut(u64, Reward) -> Result<(), E>,
    ) -> Result<(), E> {
        self.release(u64::MAX, |round, example, taken| tell(learner, round, example, taken, &mut heard))
    }
}

/// The feedback: the reward of the label of `taken`, if it is known.
pub fn earned(example: &Example, taken: &Decision) -> Option<Reward> {
    match example.logged() {
        Some(logged) => Reward::new(logged.reward),
        None => example.reward(taken.label),
    }
}

fn tell<L: BanditLearner + ?Sized, E>(
    learner: &mut L,
    round: u64,
    example: &Example,
    taken: &Decision,
    heard: &mut impl FnMut(u64, Reward) -> Result<(), E>,
) -> Result<(), E> {
    let Some(reward) = earned(example, taken) else { return Ok(()) };
    learner.learn(example.features(), taken, reward);
    heard(round, reward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_delays() {
        for text in ["0", "100", "geometric:2.5", "uniform:7"] {
            assert_eq!(text.parse::<Lateness>().expect("fine").to_string(), text);
        }
        for text in ["-1", "", "geometric", "geometric:0", "geometric:nan", "uniform:-1", "normal:3", "1e9"] {
            assert!(text.parse::<Lateness>().is_err(), "{text}");
        }
    }

    /// Delays have the stated mean and range; the same seed draws the same delays.
    #[test]
    fn delays_have_their_distribution() {
        let draw = |lateness: Lateness| {
            let mut rng = Rng::new(5, DELAY);
            (0..20_000).map(|_| lateness.draw(&mut rng)).collect::<Vec<_>>()
        };
        let mean = |delays: &[u64]| delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        let geometric = draw(Lateness::Geometric(20.0));
        assert!((mean(&geometric) - 20.0).abs() < 0.6, "{}", mean(&geometric));
        let at_once = geometric.iter().filter(|delay| **delay == 0).count() as f64 / 20_000.0;
        assert!((at_once - 1.0 / 21.0).abs() < 0.006, "{at_once}");
        let uniform = draw(Lateness::Uniform(4));
        assert!((mean(&uniform) - 2.0).abs() < 0.05 && uniform.iter().all(|delay| *delay <= 4));
        assert_eq!(geometric, draw(Lateness::Geometric(20.0)));
    }

    /// Every round is delivered once, at its time, and slots are reused.
    #[test]
    fn slots_are_reused() {
        let mut late = Delay::<u64>::new(Lateness::Uniform(30), 1);
        let mut seen = Vec::new();
        for round in 1..=5000 {
            late.now = round;
            late.hold(&Example::default(), |kept| *kept = round);
            let taken: Result<(), ()> = late.release(round, |of, _, kept| {
                assert!(of == *kept && round - of <= 30);
                seen.push(of);
                Ok(())
            });
            assert_eq!(taken, Ok(()));
        }
        assert!(late.slots.len() <= 31 && late.len() <= 31, "{}", late.slots.len());
        assert!(!seen.is_sorted(), "later rounds may come first");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len() + late.len(), 5000);
    }
}
