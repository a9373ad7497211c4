//! An algorithm of the registry, and how its learner is made.

use std::fmt;

use crate::algorithm::{
    About, Algorithm, AnyModel, BanditModel, ExpertModel, Forecast, Model, check_problem,
};
use crate::experts::votes::Votes;
use crate::learner::{Classes, ExpertLearner, Feedback};
use crate::param::{ParamError, ParamInfo, Params, Value, Values};
use crate::problem::Problem;
use crate::state::State;

/// Where a wrapper finds the learner that it wraps. The registry lists wrappers, too: therefore they do not
/// ask it, but are given its learners.
#[derive(Clone, Copy, Default)]
pub struct Learners(Option<Find>);

/// Finds the algorithm of a name.
type Find = fn(&str) -> Result<&'static Entry, ParamError>;

impl Learners {
    /// Those that `find` finds.
    pub const fn found_by(find: fn(&str) -> Result<&'static Entry, ParamError>) -> Self {
        Self(Some(find))
    }

    /// The algorithm called `name`.
    ///
    /// # Errors
    /// If there is none, as always if no learners were given.
    pub fn find(self, name: &str) -> Result<&'static Entry, ParamError> {
        let none = || ParamError::UnknownLearner {
            name: name.to_owned(),
            near: None,
            known: "none, since no learners were given to the wrapper".to_owned(),
        };
        self.0.ok_or_else(none)?(name)
    }

    /// The parameters `values` of the learner called `learner`; a wrapper wraps one of these learners.
    ///
    /// # Errors
    /// If a name or a value is not valid.
    pub fn read<P: Wraps>(self, learner: &str, values: &Values) -> Result<P, ParamError> {
        P::default().among(self).filled(learner, values)
    }
}

impl fmt::Debug for Learners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Learners(some)" } else { "Learners(none)" })
    }
}

/// Parameters are equal if their values are.
impl PartialEq for Learners {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Parameters of a learner that may wrap another one.
pub trait Wraps: Params {
    /// The same parameters, for wrappers with these learners to choose from.
    #[must_use]
    fn among(self, _learners: Learners) -> Self {
        self
    }
}

/// Practical settings for learners whose theorem's defaults learn too slowly for streams of ordinary length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Practice {
    /// Settings for standardised data, `name=value` separated by spaces. The theorem does not hold for them.
    pub settings: &'static str,
    /// The measurement that supports them.
    pub why: &'static str,
}

/// What to do with long streams, for learners whose rounds cost the more, the more rounds there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slowing {
    /// A learner whose rounds cost the same, however many there were.
    pub instead: &'static str,
    /// The parameter that bounds the number of rounds that count, if there is one.
    pub bound: Option<&'static str>,
}

/// A learner, or the error.
type Made = Result<AnyModel, ParamError>;

/// As [`Made`], for a learner that weights experts.
type MadeExperts = Result<Box<dyn ExpertModel>, ParamError>;

/// An algorithm of the registry: plain data, and the function that makes its learner.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its description.
    pub about: &'static About,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// The kind of feedback.
    pub feedback: Feedback,
    /// The prefix of the parameters of a wrapped learner, see [`Params::PREFIX`].
    pub prefix: Option<&'static str>,
    /// Practical settings, if the theorem's defaults are too cautious.
    pub practice: Option<Practice>,
    /// What to do with long streams, if a round costs the more, the more rounds there were.
    pub slowing: Option<Slowing>,
    mixture: bool,
    blocks: bool,
    all_labels: bool,
    /// What a wrapper can wrap.
    learners: Learners,
    make: fn(Learners, &Values, Problem, u64) -> Made,
    make_experts: Option<fn(&Values, Problem, u64) -> MadeExperts>,
    check_names: fn(Learners, &Values) -> Result<(), ParamError>,
    numbers: fn(Learners, &Values, &Problem) -> Result<usize, ParamError>,
    numbers_at_first: fn(Learners, &Values, &Problem) -> Result<usize, ParamError>,
    scale_free: fn(Learners, &Values) -> Result<bool, ParamError>,
    draws: fn(Learners, &Values) -> Result<bool, ParamError>,
}

impl Entry {
    /// Whether it is a mixture of learners, which is no part of another learner: its predictions consist of
    /// those of its members.
    pub fn is_mixture(&self) -> bool {
        self.mixture
    }

    /// An algorithm that learns from full information.
    pub(crate) const fn full<L: Algorithm<Params: Wraps> + Model + 'static>() -> Self {
        Self {
            feedback: Feedback::Full,
            make: |learners, values, problem, seed| {
                let params = learners.read::<L::Params>(L::ABOUT.name, values)?;
                Ok(AnyModel::Full(Box::new(L::new(params, problem, seed)?)))
            },
            ..Self::described::<L>()
        }
    }

    /// An algorithm that learns from bandit feedback.
    pub(crate) const fn bandit<L: Algorithm<Params: Wraps> + BanditModel + 'static>() -> Self {
        Self {
            feedback: Feedback::Bandit,
            make: |learners, values, problem, seed| {
                let params = learners.read::<L::Params>(L::ABOUT.name, values)?;
                Ok(AnyModel::Bandit(Box::new(L::new(params, problem, seed)?)))
            },
            ..Self::described::<L>()
        }
    }

    /// An algorithm that weights experts, given by the columns of a stream or by their losses.
    pub(crate) const fn experts<L>() -> Self
    where
        L: Algorithm<Params: Wraps> + ExpertLearner + State + Clone + 'static,
    {
        Self {
            feedback: Feedback::Experts,
            make_experts: Some(|values, problem, seed| {
                let params = L::Params::from_values(L::ABOUT.name, values)?;
                Ok(Box::new(L::new(params, problem, seed)?))
            }),
            ..Self::full::<Votes<L>>()
        }
    }

    /// An algorithm that learns from full information as `F`, and with `mode = bandit` from bandit feedback
    /// as `B`.
    pub(crate) const fn either<F, B>() -> Self
    where
        F: Algorithm<Params: Wraps> + Model + 'static,
        B: Algorithm<Params = F::Params> + BanditModel + 'static,
    {
        Self {
            feedback: Feedback::Either,
            make: |learners, values, problem, seed| {
                let params = learners.read::<F::Params>(F::ABOUT.name, values)?;
                if values.get("mode") == Some(&Value::from("bandit")) {
                    Ok(AnyModel::Bandit(Box::new(B::new(params, problem, seed)?)))
                } else {
                    Ok(AnyModel::Full(Box::new(F::new(params, problem, seed)?)))
                }
            },
            ..Self::described::<F>()
        }
    }

    /// The part that does not depend on the feedback.
    const fn described<L: Algorithm<Params: Wraps>>() -> Self {
        Self {
            about: const { &L::ABOUT },
            params: L::Params::FIELDS,
            feedback: Feedback::Full,
            prefix: L::Params::PREFIX,
            practice: None,
            slowing: None,
            mixture: false,
            blocks: false,
            all_labels: false,
            learners: Learners(None),
            make: |_, _, _, _| unreachable!("replaced by the constructors, which know the feedback"),
            make_experts: None,
            check_names: |learners, values| learners.read::<L::Params>(L::ABOUT.name, values).map(drop),
            numbers: |learners, values, problem| {
                Ok(L::numbers_for(&learners.read::<L::Params>(L::ABOUT.name, values)?, problem))
            },
            numbers_at_first: |learners, values, problem| {
                Ok(L::numbers_at_first(&learners.read::<L::Params>(L::ABOUT.name, values)?, problem))
            },
            scale_free: |learners, values| {
                Ok(L::scale_free(&learners.read::<L::Params>(L::ABOUT.name, values)?))
            },
            draws: |learners, values| Ok(L::draws(&learners.read::<L::Params>(L::ABOUT.name, values)?)),
        }
    }

    /// The entry of a wrapper, which wraps one of `learners`.
    pub(crate) const fn wrapping(self, learners: Learners) -> Self {
        Self { learners, ..self }
    }

    /// The entry of a mixture of learners.
    pub(crate) const fn mixture(self) -> Self {
        Self { mixture: true, ..self }
    }

    /// The entry of a learner that knows labels by features of their own.
    pub(crate) const fn in_blocks(self) -> Self {
        Self { blocks: true, ..self }
    }

    /// The entry of a bandit learner that needs all labels on offer in every round.
    pub(crate) const fn among_all_labels(self) -> Self {
        Self { all_labels: true, ..self }
    }

    /// The entry with practical settings, and the measurement that supports them.
    pub(crate) const fn in_practice(self, settings: &'static str, why: &'static str) -> Self {
        Self { practice: Some(Practice { settings, why }), ..self }
    }

    /// The entry of a learner whose rounds cost the more, the more there were, unlike those of `instead`.
    pub(crate) const fn slowing(self, instead: &'static str, bound: Option<&'static str>) -> Self {
        Self { slowing: Some(Slowing { instead, bound }), ..self }
    }

    /// Makes a learner for `problem` with the parameters `values`, for the kind of feedback that they select;
    /// parameters that are not given have the theorem's defaults.
    pub fn make_any(&self, values: &Values, problem: Problem, seed: u64) -> Made {
        check_problem(self.about, &problem)?;
        (self.make)(self.learners, values, problem, seed)
            .map_err(|error| error.explained(values, self.params))
    }

    /// As [`Entry::make_any`], for a learner that learns from labels.
    ///
    /// # Errors
    /// Also if the algorithm learns from bandit feedback only.
    pub fn make(&self, values: &Values, problem: Problem, seed: u64) -> Result<Box<dyn Model>, ParamError> {
        self.make_any(values, problem, seed)?.full()
    }

    /// As [`Entry::make_any`], for a learner with bandit feedback; `mode = bandit` need not be given.
    ///
    /// # Errors
    /// Also if the algorithm needs labels.
    pub fn make_bandit(
        &self,
        values: &Values,
        problem: Problem,
        seed: u64,
    ) -> Result<Box<dyn BanditModel>, ParamError> {
        let mut values = values.clone();
        if self.feedback == Feedback::Either {
            values.entry("mode".to_owned()).or_insert_with(|| Value::from("bandit"));
        }
        self.make_any(&values, problem, seed)?.bandit()
    }

    /// Makes a learner that weights experts by their losses, `problem.features` of them.
    ///
    /// # Errors
    /// Also if the algorithm does not weight experts.
    pub fn make_experts(&self, values: &Values, problem: Problem, seed: u64) -> MadeExperts {
        check_problem(self.about, &problem)?;
        let need = || ParamError::invalid("learner", self.about.name, "one that follows experts");
        self.make_experts.ok_or_else(need)?(values, problem, seed)
    }

    /// Whether a learner with the parameters `values`, made for `problem`, can make room for so many classes
    /// and features: tried with a new one, as growing takes as long as a learner is large.
    pub fn grows(
        &self,
        values: &Values,
        problem: Problem,
        classes: usize,
        features: usize,
    ) -> Result<bool, ParamError> {
        Ok(self.make_any(values, problem, 0)?.grow(classes, features))
    }

    /// Checks the names and types of `values` alone, before the problem is known.
    pub fn check_names(&self, values: &Values) -> Result<(), ParamError> {
        (self.check_names)(self.learners, values)
    }

    /// Checks names, types and values before the problem is known: rejects values that are invalid
    /// for several very different problems.
    pub fn check_values(&self, values: &Values) -> Result<(), ParamError> {
        self.check_names(values)?;
        let probe = |scale: usize| {
            let classes = match self.about.accepts.classes {
                Classes::Any => scale + 1,
                Classes::Two => 2,
                Classes::Real => 1,
            };
            let problem = Problem::new(classes, scale).with_radius(scale as f64 / 3.0).with_horizon(100);
            self.make_any(values, problem, 0).err()
        };
        match (probe(1), probe(9)) {
            (Some(first), Some(second)) if first == second => Err(first),
            _ => Ok(()),
        }
    }

    /// Checks the dimensions of `problem` alone, before a long first pass over data.
    pub fn check_problem(&self, problem: &Problem) -> Result<(), ParamError> {
        check_problem(self.about, problem)
    }

    /// Whether it learns from rounds that were played, in which only some labels may be on offer.
    pub fn decides_among(&self) -> bool {
        matches!(self.feedback, Feedback::Bandit | Feedback::Either) && !self.all_labels
    }

    /// Whether it knows labels by features of their own, which stand in blocks of columns.
    pub fn takes_blocks(&self) -> bool {
        self.blocks
    }

    /// Whether its columns are the votes of experts.
    pub fn takes_votes(&self) -> bool {
        self.feedback == Feedback::Experts
    }

    /// Whether results are independent of the features' units with the parameters `values`.
    pub fn scale_free(&self, values: &Values) -> Result<bool, ParamError> {
        (self.scale_free)(self.learners, values)
    }

    /// Whether a learner with the parameters `values` draws random numbers, which its seed determines.
    pub fn draws(&self, values: &Values) -> Result<bool, ParamError> {
        (self.draws)(self.learners, values)
    }

    /// Whether the results of a run with the parameters `values` depend on its seed: labels are drawn, or the
    /// learner draws random numbers.
    pub fn depends_on_seed(&self, values: &Values) -> Result<bool, ParamError> {
        Ok(self.about.forecast == Forecast::RandomisedLabel || self.draws(values)?)
    }

    /// The number of 8-byte numbers of state of a learner for `problem` with the parameters `values`, at
    /// most.
    pub fn numbers(&self, values: &Values, problem: &Problem) -> Result<usize, ParamError> {
        (self.numbers)(self.learners, values, problem)
    }

    /// As [`Entry::numbers`], before the first row.
    pub fn numbers_at_first(&self, values: &Values, problem: &Problem) -> Result<usize, ParamError> {
        (self.numbers_at_first)(self.learners, values, problem)
    }

    /// The field `name` of the parameters, if there is one.
    pub fn param(&self, name: &str) -> Option<&'static ParamInfo> {
        self.params.iter().find(|param| param.name == name)
    }
}
