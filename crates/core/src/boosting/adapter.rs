//! Any learner that learns from labels, as a weak learner.
//!
//! It predicts its most probable class, and learns $(x, y)$ with importance $\sum_l C(y, l) = 1 - \sigma_y$
//! (theory: boosting 1.2): rows that the previous copies classify well have small weights. A learner without
//! importance weights learns each row with that probability instead, by a seeded random number.

use crate::algorithm::Model;
use crate::boosting::mixed_uniform;
use crate::boosting::weak::WeakLearner;
use crate::example::{Features, Target};
use crate::param::Values;
use crate::prediction::Prediction;
use crate::state::{State, Tensor};

/// See the [module](self).
#[derive(Clone)]
pub struct Adapter {
    learner: Box<dyn Model>,
    /// Seed of the random numbers.
    seed: u64,
    rounds: u64,
}

impl Adapter {
    /// `learner`, of two or more classes, as a weak learner whose random numbers have the seed `seed`.
    pub fn new(learner: Box<dyn Model>, seed: u64) -> Self {
        Self { learner, seed, rounds: 0 }
    }
}

impl WeakLearner for Adapter {
    fn values(&self) -> Values {
        self.learner.values()
    }

    fn room(&self) -> Prediction {
        self.learner.prediction()
    }

    fn predict(&self, x: Features<'_>, room: &mut Prediction) -> usize {
        self.learner.predict(x, room);
        room.top().index()
    }

    fn update(&mut self, x: Features<'_>, y: usize, costs: &[f64], at: &Prediction) {
        let weight: f64 = costs.iter().sum();
        self.rounds += 1;
        let target = Target::class(y);
        if self.learner.about().accepts.weights {
            // If the logits are certain of the label, the weight is 0, and there is nothing to learn.
            if weight > 0.0 {
                self.learner.update(x, target.weighted(weight), at);
            }
        } else if mixed_uniform(self.seed, self.rounds) < weight {
            self.learner.update(x, target, at);
        }
    }
}

impl State for Adapter {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.learner.tensors().into_iter().map(|tensor| tensor.within("learner")).collect();
        tensors.push(Tensor::count("coin", &mut self.seed));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.learner.restored()
    }
}
