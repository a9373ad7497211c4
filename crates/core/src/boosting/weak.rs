//! The interface of weak learners: predict a class, then learn the costs of all classes (theory: boosting
//! 1.1).

use std::any::Any;

use crate::algorithm::{Algorithm as _, Forecast, Model};
use crate::boosting::adaboost_olm::AdaBoostOlm;
use crate::boosting::adapter::Adapter;
use crate::boosting::linear_cost::{LinearCost, LinearCostParams};
use crate::boosting::stump::{BestStump, BestStumpParams, StumpParams};
use crate::boosting::tree::{Tree, TreeParams};
use crate::example::Features;
use crate::learner::Feedback;
use crate::param::{ParamError, Params, Values, nearest};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::registry::{self, Entry};
use crate::state::State;

/// Predicts a class for a row, and learns from the costs of the classes.
///
/// Its loss in a round is the cost of the class that it predicted. Costs are those of
/// [`costs`](super::costs): the true class has cost 0, and the costs of all classes sum to at most 1. A weak
/// learner has edge $g$ and excess $S$ if its total loss is at most $(1 - g)$ times that of a uniformly
/// random class, plus $S$.
pub trait WeakLearner: Send + Sync {
    /// The parameters in use, by name.
    fn values(&self) -> Values;

    /// Buffers for [`WeakLearner::predict`]. Most weak learners need none.
    fn room(&self) -> Prediction {
        Prediction::default()
    }

    /// The class that it predicts for `x`. Changes nothing.
    fn predict(&self, x: Features<'_>, room: &mut Prediction) -> usize;

    /// Learns that class `y` was true, and that predicting class `l` would have cost `costs[l]`. `at` is the
    /// buffer that `predict` wrote for `x`, possibly some rounds ago.
    fn update(&mut self, x: Features<'_>, y: usize, costs: &[f64], at: &Prediction);
}

/// A weak learner with state, as boosting stores it.
pub trait WeakModel: WeakLearner + State {
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn WeakModel>;

    /// The tree, if it is one: boosting follows the paths of all its trees at once.
    fn as_tree(&self) -> Option<&Tree>;
}

impl<W: WeakLearner + State + Clone + 'static> WeakModel for W {
    fn boxed_clone(&self) -> Box<dyn WeakModel> {
        Box::new(self.clone())
    }

    fn as_tree(&self) -> Option<&Tree> {
        (self as &dyn Any).downcast_ref()
    }
}

impl Clone for Box<dyn WeakModel> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// The prefix of the weak learner's parameters.
pub(crate) const PREFIX: &str = "weak.";

/// The weak learners that are not in the registry.
const NAMES: [&str; 4] = ["tree", "best-stump", "stump", "linear-cost"];

/// A weak learner with its parameters, from which the copies are made.
#[derive(Clone, Debug)]
pub(crate) enum Weak {
    Tree(TreeParams),
    BestStump(BestStumpParams),
    Stump(StumpParams),
    LinearCost(LinearCostParams),
    Learner(&'static Entry, Values),
}

/// The error of a weak learner's parameter, with the prefix of its name.
fn prefixed(error: ParamError) -> ParamError {
    match error {
        ParamError::Invalid { name, value, need } => {
            ParamError::Invalid { name: format!("{PREFIX}{name}"), value, need }
        }
        error => error,
    }
}

impl Weak {
    /// The weak learner called `name`; `values` are its parameters without the prefix `weak.`.
    pub(crate) fn find(name: &str, values: &Values) -> Result<Self, ParamError> {
        Ok(match name {
            "tree" => Self::Tree(TreeParams::from_values(name, values).map_err(prefixed)?),
            "best-stump" => Self::BestStump(BestStumpParams::from_values(name, values).map_err(prefixed)?),
            "stump" => Self::Stump(StumpParams::from_values(name, values).map_err(prefixed)?),
            "linear-cost" => Self::LinearCost(LinearCostParams::from_values(name, values).map_err(prefixed)?),
            _ => {
                let entry = registry::ALGORITHMS.iter().find(|entry| entry.about.name == name);
                let usable = |entry: &&Entry| {
                    matches!(entry.feedback, Feedback::Full | Feedback::Either)
                        && entry.about.forecast != Forecast::Value
                        && entry.about.name != AdaBoostOlm::ABOUT.name
                };
                let Some(entry) = entry.filter(usable) else {
                    let near = nearest(name, NAMES)
                        .map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
                    let need = format!("one of {}, or a learner that sees the label{near}", NAMES.join(", "));
                    return Err(ParamError::invalid("weak", name, need));
                };
                entry.check_names(values).map_err(prefixed)?;
                Self::Learner(entry, values.clone())
            }
        })
    }

    /// Copy number `copy`, with the seed `seed`.
    pub(crate) fn make(
        &self,
        problem: &Problem,
        seed: u64,
        copy: u64,
    ) -> Result<Box<dyn WeakModel>, ParamError> {
        let own = crate::boosting::mixed(seed, copy);
        let made: Result<Box<dyn WeakModel>, ParamError> = match self {
            Self::Tree(params) => Tree::new(params, problem, own).map(|weak| Box::new(weak) as _),
            Self::BestStump(params) => {
                BestStump::new(params, problem, own, copy).map(|weak| Box::new(weak) as _)
            }
            Self::Stump(params) => {
                BestStump::new(&params.single(), problem, own, copy).map(|weak| Box::new(weak) as _)
            }
            Self::LinearCost(params) => LinearCost::new(params, problem).map(|weak| Box::new(weak) as _),
            Self::Learner(entry, values) => {
                let learner: Result<Box<dyn Model>, _> = entry.make(values, problem.clone(), own);
                learner.map(|learner| Box::new(Adapter::new(learner, own)) as _)
            }
        };
        made.map_err(prefixed)
    }

    /// 8-byte numbers of a copy before its first row.
    pub(crate) fn numbers(&self, problem: &Problem) -> usize {
        match self {
            Self::Tree(_) => problem.classes,
            Self::BestStump(params) => BestStump::numbers(params, problem),
            Self::Stump(params) => BestStump::numbers(&params.single(), problem),
            Self::LinearCost(_) => problem.classes.saturating_mul(problem.features),
            Self::Learner(entry, values) => entry.numbers(values, problem).unwrap_or(0),
        }
    }
}
