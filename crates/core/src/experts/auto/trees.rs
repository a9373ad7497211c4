//! Boosted trees as a member: they represent thresholds, which functions of products represent poorly.
//!
//! One chain of [`AdaBoostOlm`] with two heads: the mixture of the prefixes' forecasts by their log losses,
//! and the fraction of the copies that predict each class. A soft label is replaced by a class drawn from it,
//! and importance weights are ignored, since trees store rows.

use crate::algorithm::Algorithm as _;
use crate::boosting::adaboost_olm::{AdaBoostOlm, AdaBoostOlmParams, Answer, BoosterParams};
use crate::boosting::mixed_uniform;
use crate::boosting::regression::Horizon;
use crate::example::{Features, Target, Truth};
use crate::learner::{OnlineLearner, Predictor};
use crate::param::{ParamError, ParamValue as _, Values};
use crate::prediction::{Prediction, draw};
use crate::problem::Problem;
use crate::state::state;

use super::kind::{Kind, Settings, Traits};
use super::member::Member;
use super::row::View;

/// Number of copies of the weak learner.
const COPIES: u64 = 30;

/// 8-byte numbers for the rows that all copies share, 64 MiB.
const ROWS: u64 = 1 << 23;

/// The same for sparse rows, 8 MiB: they are stored with their zeros, and more rows hardly reduce the loss.
const SPARSE_ROWS: u64 = 1 << 20;

/// Limit on the number of candidate splits; more cost more time than they reduce the loss.
const MOST_TRIES: u64 = 32;

/// Weight of the uniform distribution in the first head, since boosted trees are overconfident in early
/// rounds.
const UNIFORM: f64 = 1e-2;

/// Seed, with the round, of the draw of a class from a soft label.
const SOFT: u64 = 0x50F7;

/// Left out if they cost more than this part of the budget: rows are then so wide that the families make
/// better use of the time.
const MOST_OF_BUDGET: f64 = 0.6;

pub(super) struct TreesKind;

impl Kind for TreesKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            view: View::Plain,
            affordable: MOST_OF_BUDGET,
            learns_late: true,
            draws: true,
            ..Traits::usual("trees")
        };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "boosted trees".to_owned()
    }

    fn make(&self, _: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Trees::new(problem, seed)?))
    }

    /// The mixture of the prefixes, and the votes of the copies.
    fn heads(&self, _: Settings) -> usize {
        2
    }

    /// Forecasts, costs, and the cache misses of the rows on which splits are evaluated.
    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        let (k, d) = (problem.classes as f64, problem.features as f64);
        let touched = (d + k).min(8.0 * Trees::tries(problem) as f64);
        COPIES as f64 * (5000.0 + 40.0 * k + 10.0 * touched + 2.0 * d)
    }

    /// Before the first row; leaves and stored rows are not included.
    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        let own = BoosterParams { copies: Some(COPIES), ..BoosterParams::default() };
        AdaBoostOlm::numbers_for(&AdaBoostOlmParams { own, ..AdaBoostOlmParams::default() }, problem)
    }
}

/// See the [module](self).
#[derive(Clone)]
struct Trees(AdaBoostOlm);

impl Trees {
    fn new(problem: &Problem, seed: u64) -> Result<Self, ParamError> {
        let (copies, horizon) = (Some(COPIES), Some(Horizon::Anytime));
        let own = BoosterParams { copies, horizon, play: Some(Answer::Mixture), ..BoosterParams::default() };
        let rows = if problem.sparse { SPARSE_ROWS } else { ROWS };
        let values = [("rows", rows), ("tries", Self::tries(problem))];
        let weak_values = values.map(|(name, value)| (name.to_owned(), value.to_value()));
        let weak_values = Values::from(weak_values);
        AdaBoostOlm::new(
            AdaBoostOlmParams { own, weak_values, ..AdaBoostOlmParams::default() },
            problem.clone(),
            seed,
        )
        .map(Self)
    }

    /// The number of candidate splits.
    fn tries(problem: &Problem) -> u64 {
        (2 * problem.features as u64).clamp(16, MOST_TRIES)
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
        // One additional vote is divided equally among the classes.
        votes.probabilities.fill(uniform);
        for named in &mixture.indices {
            votes.probabilities[*named as usize] += 1.0;
        }
        votes.probabilities.iter_mut().for_each(|p| *p /= COPIES as f64 + 1.0);
        votes.set_scores_to_logarithms();
        if OnlineLearner::rounds(&self.0) == 0 {
            // Untrained leaves predict the first class.
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

    /// False: the features that trees draw depend on the number of features.
    fn grow(&mut self, _: usize, _: usize) -> bool {
        false
    }
}

state! { Trees; 0; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::auto::tests::check_saved;

    #[test]
    fn a_saved_member_continues() {
        let fresh = |seed| Trees::new(&Problem::new(3, 2), seed).expect("valid");
        check_saved(fresh, |trees: &mut Trees, rounds| {
            let mut at = trees.prediction();
            rounds
                .map(|t| {
                    let x = [(t * 7 % 23) as f64, (t * 5 % 17) as f64];
                    trees.predict(Features::Dense(&x), &mut at);
                    trees.update(Features::Dense(&x), Target::class(t % 23 / 8), &at);
                    at.members[0].probabilities.clone()
                })
                .collect::<Vec<_>>()
        });
    }
}
