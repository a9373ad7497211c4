//! Late feedback: what a round teaches arrives some rounds later.

use std::collections::VecDeque;

use noregret::learner::{BanditLearner, OnlineLearner};
use noregret::prediction::{Decision, Prediction};

use crate::encode::Example;

/// Rounds that wait for their feedback, each with what the learner needs to learn from it. Written once for all
/// learners: they keep no table of their own.
#[derive(Debug, Default)]
pub struct Delay<K> {
    rounds: usize,
    waiting: VecDeque<(Example, K)>,
    free: Vec<(Example, K)>,
}

impl<K: Default> Delay<K> {
    /// Feedback arrives `rounds` rounds late; 0 is at once.
    pub fn new(rounds: usize) -> Self {
        Self { rounds, waiting: VecDeque::new(), free: Vec::new() }
    }

    /// Puts a round in the queue; `keep` copies what is needed of it.
    fn hold(&mut self, example: &Example, keep: impl FnOnce(&mut K)) {
        let (mut kept, mut needed) = self.free.pop().unwrap_or_default();
        kept.copy_from(example);
        keep(&mut needed);
        self.waiting.push_back((kept, needed));
    }

    /// Teaches the rounds beyond the last `late` ones.
    fn release(&mut self, late: usize, mut teach: impl FnMut(&Example, &K)) {
        while self.waiting.len() > late {
            let (example, needed) = self.waiting.pop_front().expect("the queue is longer than 0");
            teach(&example, &needed);
            self.free.push((example, needed));
        }
    }
}

impl Delay<Prediction> {
    /// Round `example`, for which `at` was predicted, is over: teaches the learner what has become known.
    pub fn update<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L, example: &Example, at: &Prediction) {
        if self.rounds == 0 {
            return teach(learner, example, at);
        }
        self.hold(example, |kept| kept.keep(at));
        self.release(self.rounds, |example, at| teach(learner, example, at));
    }

    /// The stream is over: the labels that are still missing arrive.
    pub fn drain<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        self.release(0, |example, at| teach(learner, example, at));
    }
}

fn teach<L: OnlineLearner + ?Sized>(learner: &mut L, example: &Example, at: &Prediction) {
    if let Some(target) = example.target() {
        learner.update(example.features(), target, at);
    }
}

impl Delay<Decision> {
    /// Round `example`, in which `taken` was played, is over: tells the learner whether what has become known was right.
    pub fn learn<L: BanditLearner + ?Sized>(&mut self, learner: &mut L, example: &Example, taken: &Decision) {
        if self.rounds == 0 {
            return tell(learner, example, taken);
        }
        self.hold(example, |kept| kept.clone_from(taken));
        self.release(self.rounds, |example, taken| tell(learner, example, taken));
    }

    /// The stream is over: the feedback that is still missing arrives.
    pub fn finish<L: BanditLearner + ?Sized>(&mut self, learner: &mut L) {
        self.release(0, |example, taken| tell(learner, example, taken));
    }
}

/// Right or wrong is all that is told; of an unlabelled example, nothing.
fn tell<L: BanditLearner + ?Sized>(learner: &mut L, example: &Example, taken: &Decision) {
    if let Some(label) = example.target().and_then(|target| target.label()) {
        learner.learn(example.features(), taken, label.0 == taken.label);
    }
}
