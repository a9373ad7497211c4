//! The copies of a weak learner, and what they are made from.

use crate::algorithm::{Forecast, Model};
use crate::boosting::adapter::Adapter;
use crate::boosting::linear_cost::{LinearCost, LinearCostParams};
use crate::boosting::mixed;
use crate::boosting::stump::{BestStump, BestStumpParams, StumpParams};
use crate::boosting::tree::{TreeParams, Trees};
use crate::boosting::weak::WeakModel;
use crate::entry::{Entry, Learners};
use crate::example::Features;
use crate::learner::Feedback;
use crate::param::{ParamError, Params, Values, nearest, suggestion};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State as _, Tensor};

/// All copies of a weak learner.
#[derive(Clone)]
pub(crate) enum Copies {
    /// Trees share the rows that they keep.
    Trees(Box<Trees>),
    /// Other weak learners share nothing.
    Separate(Vec<Box<dyn WeakModel>>),
}

impl Copies {
    /// The parameters in use, by name.
    pub(crate) fn values(&self) -> Values {
        match self {
            Self::Trees(trees) => trees.values(),
            Self::Separate(copies) => copies[0].values(),
        }
    }

    /// The buffers of all copies for [`Copies::predict`].
    pub(crate) fn rooms(&self, count: usize) -> Vec<Prediction> {
        match self {
            Self::Trees(_) => vec![Prediction::default(); count],
            Self::Separate(copies) => copies.iter().map(|copy| copy.room()).collect(),
        }
    }

    /// Writes the class that each copy predicts for `x` to `named`. Changes nothing.
    pub(crate) fn predict(&self, x: Features<'_>, named: &mut [u32], rooms: &mut [Prediction]) {
        match self {
            Self::Trees(trees) => trees.predict(x, named, rooms),
            Self::Separate(copies) => {
                for ((copy, named), room) in copies.iter().zip(named).zip(rooms) {
                    *named = copy.predict(x, room) as u32;
                }
            }
        }
    }

    /// Starts a round: all copies learn the row `x` of class `y` next.
    pub(crate) fn start(&mut self, x: Features<'_>, y: usize) {
        if let Self::Trees(trees) = self {
            trees.keep(x, y);
        }
    }

    /// Copy number `copy` learns the costs of the round; `room` is its buffer of the prediction.
    pub(crate) fn update(
        &mut self,
        copy: usize,
        x: Features<'_>,
        y: usize,
        costs: &[f64],
        room: &Prediction,
    ) {
        match self {
            Self::Trees(trees) => trees.update(copy, x, costs, room),
            Self::Separate(copies) => copies[copy].update(x, y, costs, room),
        }
    }

    /// The state.
    pub(crate) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        match self {
            Self::Trees(trees) => trees.tensors(),
            Self::Separate(copies) => {
                let mut tensors = Vec::new();
                for (at, copy) in copies.iter_mut().enumerate() {
                    let prefix = format!("copy/{at}");
                    tensors.extend(copy.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
                }
                tensors
            }
        }
    }

    /// See [`State::restored`].
    pub(crate) fn restored(&mut self) -> bool {
        match self {
            Self::Trees(trees) => trees.restored(),
            Self::Separate(copies) => copies.iter_mut().all(|copy| copy.restored()),
        }
    }
}

/// The prefix of the weak learner's parameters.
pub(crate) const PREFIX: &str = "weak.";

/// The name of the boosting, which is not its own weak learner.
pub(crate) const BOOSTING: &str = "adaboost-olm";

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

/// The error of a weak learner's parameter.
fn of_weak(error: ParamError) -> ParamError {
    error.within(PREFIX)
}

impl Weak {
    /// The weak learner called `name`, one of these or of `learners`; `values` are its parameters without the
    /// prefix `weak.`.
    pub(crate) fn find(name: &str, values: &Values, learners: Learners) -> Result<Self, ParamError> {
        Ok(match name {
            "tree" => Self::Tree(TreeParams::from_values(name, values).map_err(of_weak)?),
            "best-stump" => Self::BestStump(BestStumpParams::from_values(name, values).map_err(of_weak)?),
            "stump" => Self::Stump(StumpParams::from_values(name, values).map_err(of_weak)?),
            "linear-cost" => Self::LinearCost(LinearCostParams::from_values(name, values).map_err(of_weak)?),
            _ => {
                let entry = learners.find(name).ok();
                let usable = |entry: &&Entry| {
                    matches!(entry.feedback, Feedback::Full | Feedback::Either)
                        && entry.about.forecast != Forecast::Value
                        && entry.about.name != BOOSTING
                        && !entry.is_mixture()
                };
                let Some(entry) = entry.filter(usable) else {
                    let near = suggestion(nearest(name, NAMES));
                    let need = format!(
                        "one of {}, or a learner that sees the label and is no mixture{near}",
                        NAMES.join(", ")
                    );
                    return Err(ParamError::invalid("weak", name, need));
                };
                entry.check_names(values).map_err(of_weak)?;
                Self::Learner(entry, values.clone())
            }
        })
    }

    /// `count` copies, with the seed `seed`.
    pub(crate) fn make(&self, problem: &Problem, seed: u64, count: u64) -> Result<Copies, ParamError> {
        type Made = Result<Box<dyn WeakModel>, ParamError>;
        let own = |copy| mixed(seed, copy);
        let separate = |make: &dyn Fn(u64) -> Made| {
            Ok(Copies::Separate((0..count).map(make).collect::<Result<_, _>>()?))
        };
        let copies = match self {
            Self::Tree(params) => {
                Trees::new(params, problem, (0..count).map(own)).map(|trees| Copies::Trees(Box::new(trees)))
            }
            Self::BestStump(params) => {
                separate(&|copy| Ok(Box::new(BestStump::new(params, problem, own(copy), copy)?)))
            }
            Self::Stump(params) => {
                separate(&|copy| Ok(Box::new(BestStump::new(&params.single(), problem, own(copy), copy)?)))
            }
            Self::LinearCost(params) => separate(&|_| Ok(Box::new(LinearCost::new(params, problem)?))),
            Self::Learner(entry, values) => separate(&|copy| {
                let learner: Box<dyn Model> = entry.make(values, problem.clone(), own(copy))?;
                Ok(Box::new(Adapter::new(learner, own(copy))))
            }),
        };
        copies.map_err(of_weak)
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
