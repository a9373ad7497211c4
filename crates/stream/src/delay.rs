//! Late feedback: the label of a round arrives some rounds later.

use std::collections::VecDeque;

use noregret::learner::OnlineLearner;
use noregret::prediction::Prediction;

use crate::encode::Example;

/// Rounds that wait for their label. Written once for all learners: they keep no table of their own.
#[derive(Debug, Default)]
pub struct Delay {
    rounds: usize,
    waiting: VecDeque<(Example, Prediction)>,
    free: Vec<(Example, Prediction)>,
}

impl Delay {
    /// Labels arrive `rounds` rounds late; 0 is at once.
    pub fn new(rounds: usize) -> Self {
        Self { rounds, ..Self::default() }
    }

    /// Round `example`, for which `at` was predicted, is over: teaches the learner what has become known.
    pub fn update<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L, example: &Example, at: &Prediction) {
        if self.rounds == 0 {
            teach(learner, example, at);
            return;
        }
        let (mut kept, mut prediction) = self.free.pop().unwrap_or_default();
        kept.copy_from(example);
        prediction.keep(at);
        self.waiting.push_back((kept, prediction));
        if self.waiting.len() > self.rounds {
            self.release(learner);
        }
    }

    /// The stream is over: the labels that are still missing arrive.
    pub fn drain<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        while !self.waiting.is_empty() {
            self.release(learner);
        }
    }

    fn release<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L) {
        let (example, prediction) = self.waiting.pop_front().expect("only called when a round waits");
        teach(learner, &example, &prediction);
        self.free.push((example, prediction));
    }
}

fn teach<L: OnlineLearner + ?Sized>(learner: &mut L, example: &Example, at: &Prediction) {
    if let Some(target) = example.target() {
        learner.update(example.features(), target, at);
    }
}
