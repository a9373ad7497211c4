//! The description of every algorithm, and how it is made.

use std::any::Any;

use crate::batch::passes::{Coordinates, Quadratic};
use crate::capability::Inside;
use crate::guarantee::Guarantee;
use crate::learner::{Accepts, BanditLearner, ExpertLearner, OnlineLearner};
use crate::merge::how::{Merge, MergeError};
use crate::parallel::Workers;
use crate::param::{ParamError, Params, Values};
pub use crate::prediction::Forecast;
use crate::problem::Problem;
use crate::state::State;

/// Where an algorithm was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Key in `references.bib`.
    pub key: &'static str,
    /// Where in the paper: algorithm, section, theorem.
    pub place: &'static str,
}

/// An algorithm's description, used by the registry, help, tables and law tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name everywhere, kebab-case.
    pub name: &'static str,
    /// One line, no final stop.
    pub summary: &'static str,
    /// The publication.
    pub paper: Paper,
    /// The guarantee in one line, with its theorem; or a sentence that begins with "none".
    pub guarantee: &'static str,
    /// Time of a round.
    pub cost: &'static str,
    /// Memory.
    pub memory: &'static str,
    /// What its output means.
    pub forecast: Forecast,
    /// What it learns from.
    pub accepts: Accepts,
}

/// An algorithm: a learner that can be made from parameters and a problem.
pub trait Algorithm: Sized {
    /// Its parameters.
    type Params: Params;

    /// Its description.
    const ABOUT: About;

    /// Its description with the parameters in use, for algorithms whose guarantee or output depends on them.
    fn about(&self) -> &'static About {
        const { &Self::ABOUT }
    }

    /// Whether results are independent of the features' units with these parameters, as with thresholds that
    /// are chosen from the data. For such a learner, unscaled features are better than a scaling that changes
    /// during the stream.
    fn scale_free(_params: &Self::Params) -> bool {
        false
    }

    /// Whether a learner with these parameters draws random numbers, so that its results depend on the seed.
    fn draws(_params: &Self::Params) -> bool {
        false
    }

    /// Makes the learner; every check of parameters happens here, so that an invalid learner cannot exist.
    ///
    /// `seed` feeds the learner's internal randomness, if it has any.
    fn new(params: Self::Params, problem: Problem, seed: u64) -> Result<Self, ParamError>;

    /// Makes the learner without the registry: [`Algorithm::new`], with a check of the dimensions of
    /// `problem`.
    ///
    /// ```
    /// use noregret::{Algorithm as _, Problem};
    /// use noregret::full::folklore::{Folklore, FolkloreParams};
    ///
    /// let params = FolkloreParams::new().norm(3.0).linear_term(false);
    /// let learner = Folklore::build(params, Problem::new(3, 2).with_radius(1.0), 0)?;
    /// assert_eq!(learner.params().regularization, Some(2.0 / 3.0));
    /// # Ok::<(), noregret::ParamError>(())
    /// ```
    ///
    /// # Errors
    /// If a parameter or a dimension is outside the range of the algorithm.
    fn build(params: Self::Params, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        check_problem(&Self::ABOUT, &problem)?;
        params.check()?;
        Self::new(params, problem, seed)
    }

    /// The parameters in use: every `None` replaced by its value.
    fn params(&self) -> Self::Params;

    /// The number of 8-byte numbers of state of a learner for `problem`, at most. It is checked before memory
    /// is allocated.
    fn numbers(problem: &Problem) -> usize;

    /// As [`Algorithm::numbers`], for algorithms whose size depends on their parameters.
    fn numbers_for(_params: &Self::Params, problem: &Problem) -> usize {
        Self::numbers(problem)
    }

    /// The part of them that is allocated before the first row, which is smaller for learners that allocate
    /// memory when features occur. It protects against model files that claim a huge size.
    fn numbers_at_first(params: &Self::Params, problem: &Problem) -> usize {
        Self::numbers_for(params, problem)
    }

    /// The sufficient statistics as a list of numbers. The lists of learners with equal parameters, classes
    /// and features can be added entry by entry, in any order; [`with_statistics`](Self::with_statistics)
    /// makes a learner from the sum. Their length depends only on classes and features.
    ///
    /// # Errors
    /// By default always, since the algorithm has no such statistics; also if they were lost by rounding.
    fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        Err(MergeError::Unsupported(Self::ABOUT.name))
    }

    /// The learner for `problem`, with the parameters of this one, whose statistics are `sum`: the sum of
    /// [`statistics`](Self::statistics) of `parts` learners, each of which includes this one's regulariser.
    ///
    /// # Errors
    /// By default always; if `sum` has another length, or is not a sum of statistics.
    fn with_statistics(
        &self,
        _sum: &[f64],
        _parts: usize,
        _how: Merge,
        _problem: Problem,
    ) -> Result<Self, MergeError> {
        Err(MergeError::Unsupported(Self::ABOUT.name))
    }

    /// The coordinates of the quadratic from which this learner forecasts, if it is one of linear predictors
    /// for the logistic loss.
    fn coordinates(&self) -> Option<Coordinates> {
        None
    }

    /// The learner with the parameters of this one that forecasts from `quadratic`, with its own regulariser
    /// at the same centre, as if that were what is left of `rounds` rounds, see
    /// [`passes`](crate::batch::passes).
    ///
    /// # Errors
    /// By default always; if `quadratic` has other coordinates, or is not positive definite.
    fn with_quadratic(&self, _quadratic: &Quadratic, _rounds: u64) -> Result<Self, MergeError> {
        Err(MergeError::Unsupported(Self::ABOUT.name))
    }

    /// The learner with the added-up sufficient statistics of `parts`, see [`merge`](crate::merge).
    ///
    /// # Errors
    /// If the parts do not match; by default always, since the algorithm has no such statistics.
    fn merge(_parts: &[&Self], _how: Merge) -> Result<Self, MergeError> {
        Err(MergeError::Unsupported(Self::ABOUT.name))
    }
}

/// What front ends need of every learner, whatever it learns from: a description, and a state to save.
pub trait Registered: State + Any {
    /// The description of its algorithm.
    fn about(&self) -> &'static About;

    /// The parameters in use, by name.
    fn values(&self) -> Values;
}

impl<L: Algorithm + State + 'static> Registered for L {
    fn about(&self) -> &'static About {
        Algorithm::about(self)
    }

    fn values(&self) -> Values {
        self.params().values()
    }
}

/// A learner of labels as front ends use it.
pub trait Model: OnlineLearner + Registered {
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Model>;

    /// Merges this learner and `others`, see [`merge`](crate::merge::merge).
    ///
    /// # Errors
    /// If they do not match, or the algorithm has no sufficient statistics.
    fn merge_with(&self, others: &[&dyn Model], how: Merge) -> Result<Box<dyn Model>, MergeError>;

    /// See [`Algorithm::statistics`].
    ///
    /// # Errors
    /// If the algorithm has no sufficient statistics, or they were lost by rounding.
    fn statistics(&self) -> Result<Vec<f64>, MergeError>;

    /// See [`Algorithm::with_statistics`].
    ///
    /// # Errors
    /// If the algorithm has no sufficient statistics, or `sum` is not a sum of them.
    fn with_statistics(
        &self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        problem: Problem,
    ) -> Result<Box<dyn Model>, MergeError>;

    /// See [`Algorithm::coordinates`].
    fn coordinates(&self) -> Option<Coordinates>;

    /// See [`Algorithm::with_quadratic`].
    ///
    /// # Errors
    /// If the algorithm keeps no such quadratic, or `quadratic` is none.
    fn with_quadratic(&self, quadratic: &Quadratic, rounds: u64) -> Result<Box<dyn Model>, MergeError>;
}

impl<L: Algorithm + OnlineLearner + State + Clone + 'static> Model for L {
    fn boxed_clone(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn merge_with(&self, others: &[&dyn Model], how: Merge) -> Result<Box<dyn Model>, MergeError> {
        let others = others.iter().map(|other| (*other as &dyn Any, other.about().name));
        Ok(Box::new(merged(self, others, how)?))
    }

    fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        Algorithm::statistics(self)
    }

    fn with_statistics(
        &self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        problem: Problem,
    ) -> Result<Box<dyn Model>, MergeError> {
        Ok(Box::new(Algorithm::with_statistics(self, sum, parts, how, problem)?))
    }

    fn coordinates(&self) -> Option<Coordinates> {
        Algorithm::coordinates(self)
    }

    fn with_quadratic(&self, quadratic: &Quadratic, rounds: u64) -> Result<Box<dyn Model>, MergeError> {
        Ok(Box::new(Algorithm::with_quadratic(self, quadratic, rounds)?))
    }
}

/// Merges `first` and `others`, given with their names, which must be learners of the same type.
fn merged<'a, L: Algorithm + 'static>(
    first: &'a L,
    others: impl Iterator<Item = (&'a dyn Any, &'static str)>,
    how: Merge,
) -> Result<L, MergeError> {
    let mut parts = vec![first];
    for (part, (other, name)) in (1..).zip(others) {
        parts.push(other.downcast_ref().ok_or_else(|| MergeError::Mismatch {
            part,
            what: "learner".to_owned(),
            found: name.to_owned(),
            needed: L::ABOUT.name.to_owned(),
        })?);
    }
    L::merge(&parts, how)
}

impl Clone for Box<dyn Model> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// A bandit learner as front ends use it.
pub trait BanditModel: BanditLearner + Registered {
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn BanditModel>;

    /// Merges this learner and `others`, see [`merge_bandits`](crate::merge::merge_bandits).
    ///
    /// # Errors
    /// If they do not match, or what the algorithm learns does not add up.
    fn merge_with(&self, others: &[&dyn BanditModel], how: Merge)
    -> Result<Box<dyn BanditModel>, MergeError>;
}

impl<L: Algorithm + BanditLearner + State + Clone + 'static> BanditModel for L {
    fn boxed_clone(&self) -> Box<dyn BanditModel> {
        Box::new(self.clone())
    }

    fn merge_with(
        &self,
        others: &[&dyn BanditModel],
        how: Merge,
    ) -> Result<Box<dyn BanditModel>, MergeError> {
        let others = others.iter().map(|other| (*other as &dyn Any, other.about().name));
        Ok(Box::new(merged(self, others, how)?))
    }
}

/// A learner that weights experts, as front ends use it.
pub trait ExpertModel: ExpertLearner + Registered {}

impl<L: Algorithm + ExpertLearner + State + 'static> ExpertModel for L {}

/// A learner for either kind of feedback.
pub enum AnyModel {
    /// It learns from labels.
    Full(Box<dyn Model>),
    /// It learns from the reward of the played label.
    Bandit(Box<dyn BanditModel>),
}

impl Clone for AnyModel {
    fn clone(&self) -> Self {
        match self {
            AnyModel::Full(model) => AnyModel::Full(model.boxed_clone()),
            AnyModel::Bandit(model) => AnyModel::Bandit(model.boxed_clone()),
        }
    }
}

/// What is done with the learner, of whichever kind it is.
macro_rules! either {
    ($any:expr, $model:ident => $what:expr) => {
        match $any {
            AnyModel::Full($model) => $what,
            AnyModel::Bandit($model) => $what,
        }
    };
}

impl AnyModel {
    /// The learner, if it learns from labels.
    pub fn full(self) -> Result<Box<dyn Model>, ParamError> {
        match self {
            AnyModel::Full(model) => Ok(model),
            AnyModel::Bandit(model) => {
                let need = "one that learns from the label, not from bandit feedback";
                Err(ParamError::invalid("learner", model.about().name, need))
            }
        }
    }

    /// The learner, if it learns from bandit feedback.
    pub fn bandit(self) -> Result<Box<dyn BanditModel>, ParamError> {
        match self {
            AnyModel::Bandit(model) => Ok(model),
            AnyModel::Full(model) => {
                let need = "one that learns from bandit feedback, such as auto or confidit";
                Err(ParamError::invalid("learner", model.about().name, need))
            }
        }
    }

    /// The learner, whatever it learns from.
    fn registered(&self) -> &dyn Registered {
        either!(self, model => model.as_ref())
    }

    /// The description of its algorithm.
    pub fn about(&self) -> &'static About {
        self.registered().about()
    }

    /// The parameters in use, by name.
    pub fn values(&self) -> Values {
        self.registered().values()
    }

    /// The problem it was made for.
    pub fn problem(&self) -> &Problem {
        either!(self, model => model.problem())
    }

    /// What is inside, see [`OnlineLearner::inside`].
    pub fn inside(&self) -> Option<&dyn Inside> {
        match self {
            AnyModel::Full(model) => model.inside(),
            AnyModel::Bandit(_) => None,
        }
    }

    /// Its [`Inside::figures`], if it has any.
    pub fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.inside().map(Inside::figures).unwrap_or_default()
    }

    /// Its [`Inside::weights`], if it has any.
    pub fn weights(&self) -> Vec<(String, f64)> {
        self.inside().map(Inside::weights).unwrap_or_default()
    }

    /// Rounds learnt so far.
    pub fn rounds(&self) -> u64 {
        either!(self, model => model.rounds())
    }

    /// Gives it threads for large computations, for speed only.
    pub fn set_workers(&mut self, workers: Workers) {
        either!(self, model => model.set_workers(workers));
    }

    /// Makes room for more classes and features; returns whether it can.
    pub fn grow(&mut self, classes: usize, features: usize) -> bool {
        either!(self, model => model.grow(classes, features))
    }

    /// The guarantee of its theorem for the rounds so far, if it has one.
    pub fn guarantee(&self) -> Option<Guarantee<'_>> {
        either!(self, model => model.guarantee())
    }

    /// Its state.
    pub fn state(&mut self) -> &mut dyn State {
        either!(self, model => model.as_mut())
    }
}

/// Checks the dimensions of `problem` against those that `about` accepts.
pub(crate) fn check_problem(about: &About, problem: &Problem) -> Result<(), ParamError> {
    use crate::learner::Classes;
    let (classes, features) = (problem.classes, problem.features);
    match about.accepts.classes {
        Classes::Any if classes < 2 => {
            return Err(ParamError::invalid("classes", classes, "at least 2"));
        }
        Classes::Two if classes != 2 => {
            return Err(ParamError::invalid("classes", classes, format!("2: {} is binary", about.name)));
        }
        Classes::Real if classes != 1 => {
            let need = format!("1: the target of {} is a real number", about.name);
            return Err(ParamError::invalid("classes", classes, need));
        }
        _ => {}
    }
    if u32::try_from(classes).is_err() {
        return Err(ParamError::invalid("classes", classes, "at most 2^32 - 1"));
    }
    if features == 0 || u32::try_from(features).is_err() {
        return Err(ParamError::invalid("features", features, "between 1 and 2^32 - 1"));
    }
    if let Some(radius) = problem.radius {
        crate::param::positive("radius", radius)?;
    }
    Ok(())
}
