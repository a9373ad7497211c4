//! Boosted trees as a member: what no function of products says, thresholds say.
//!
//! One chain of [`AdaBoostOlm`], two heads: the prefixes' forecasts mixed by their log losses, and the share
//! of the copies that name each class. A soft label teaches a class that is drawn from it, and a weighted row
//! counts once: trees keep rows.

use crate::algorithm::Algorithm as _;
use crate::boosting::adaboost_olm::{AdaBoostOlm, AdaBoostOlmParams, Answer, BoosterParams};
use crate::boosting::mixed_uniform;
use crate::boosting::regression::Horizon;
use crate::example::{Features, Target, Truth};
use crate::learner::{OnlineLearner, Predictor};
use crate::param::{ParamError, ParamValue as _, Values};
use crate::prediction::{Prediction, draw};
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::member::Member;

/// Copies.
const COPIES: u64 = 30;

/// Numbers that a tree may take to keep rows, 4 MiB: a tree that has used them up no longer grows.
const MEMORY: u64 = 1 << 19;

/// More splits to choose from cost more than they gain.
const MOST_TRIES: u64 = 32;

/// How much of the mixture is uniform: trees are sure too early.
const UNIFORM: f64 = 1e-2;

/// Soft labels are drawn by this and the round.
const SOFT: u64 = 0x50F7;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Trees(AdaBoostOlm);

impl Trees {
    /// Heads.
    pub(super) const HEADS: usize = 2;

    pub(super) fn new(problem: &Problem, seed: u64) -> Result<Self, ParamError> {
        let (copies, horizon) = (Some(COPIES), Some(Horizon::Anytime));
        let own = BoosterParams { copies, horizon, play: Some(Answer::Mixture), ..BoosterParams::default() };
        let values = [("memory", MEMORY), ("tries", Self::tries(problem))];
        let weak_values = values.map(|(name, value)| (name.to_owned(), value.to_value()));
        let weak_values = Values::from(weak_values);
        AdaBoostOlm::new(AdaBoostOlmParams { own, weak_values }, problem.clone(), seed).map(Self)
    }

    /// Splits that are tried at a time.
    fn tries(problem: &Problem) -> u64 {
        (2 * problem.features as u64).clamp(16, MOST_TRIES)
    }

    /// Multiply-adds that take as long as a round: for forecasts and costs, and for the cache lines of the
    /// rows that splits are tried on.
    pub(super) fn work(problem: &Problem) -> f64 {
        let (k, d) = (problem.classes as f64, problem.features as f64);
        let touched = (d + k).min(8.0 * Self::tries(problem) as f64);
        COPIES as f64 * (7500.0 + 100.0 * k + 60.0 * touched + 4.0 * d)
    }

    /// Numbers of state before the first row; rows that are kept come on top.
    pub(super) fn numbers(problem: &Problem) -> usize {
        let own = BoosterParams { copies: Some(COPIES), ..BoosterParams::default() };
        AdaBoostOlm::numbers_for(&AdaBoostOlmParams { own, ..AdaBoostOlmParams::default() }, problem)
    }
}

impl Member for Trees {
    fn prediction(&self) -> Prediction {
        let classes = self.0.problem().classes;
        let members = vec![self.0.prediction(), Prediction::sized(classes, 0)];
        Prediction { members, ..Prediction::sized(classes, 0) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let [mixture, votes] = &mut out.members[..] else { return };
        self.0.predict(x, mixture);
        let uniform = 1.0 / mixture.probabilities.len() as f64;
        // One more vote, split evenly.
        votes.probabilities.fill(uniform);
        for named in &mixture.indices {
            votes.probabilities[*named as usize] += 1.0;
        }
        votes.probabilities.iter_mut().for_each(|p| *p /= COPIES as f64 + 1.0);
        votes.set_scores_to_logarithms();
        if OnlineLearner::rounds(&self.0) == 0 {
            // Leaves that know nothing name the first class.
            votes.probabilities.fill(uniform);
            mixture.probabilities.fill(uniform);
            votes.set_scores_to_logarithms();
        }
        mixture.probabilities.iter_mut().for_each(|p| *p += UNIFORM * (uniform - *p));
        mixture.set_scores_to_logarithms();
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let class = match y.truth {
            Truth::Class(label) => label.index(),
            Truth::Distribution(shares) => {
                draw(shares, mixed_uniform(SOFT, OnlineLearner::rounds(&self.0))).index()
            }
            Truth::Value(_) => return,
        };
        self.0.update(x, Target::class(class), &at.members[0]);
    }

    /// Which features trees draw depends on how many there are.
    fn grow(&mut self, _: usize, _: usize) -> bool {
        false
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Trees {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.0.tensors()
    }

    fn restored(&mut self) -> bool {
        self.0.restored()
    }
}
