//! The list of algorithms, used by the command line, help, tables, bindings and law tests.

use crate::algorithm::{About, Algorithm, AnyModel, BanditModel, ExpertModel, Model, check_problem};
use crate::bandit::auto::BanditAuto;
use crate::bandit::banditron::Banditron;
use crate::bandit::confidit::{Confidit, DiagonalRidge, FullRidge};
use crate::bandit::exp4::Exp4;
use crate::bandit::fastcb::FastCb;
use crate::bandit::gaptron::BanditGaptron;
use crate::bandit::newtron::Newtron;
use crate::bandit::offers::Offers;
use crate::bandit::reduction::BanditReduction;
use crate::bandit::soba::Soba;
use crate::bandit::soba_reduction::SobaReduction;
use crate::bandit::soba_sketch::SobaSketch;
use crate::bandit::squarecb::SquareCb;
use crate::boosting::adaboost_olm::AdaBoostOlm;
use crate::experts::abstention::AdaHedgeAbstain;
use crate::experts::adahedge::AdaHedge;
use crate::experts::auto::Auto;
use crate::experts::votes::Votes;
use crate::full::aggregating::Aggregating;
use crate::full::aioli::Aioli;
use crate::full::folklore::Folklore;
use crate::full::folklore_diag::FolkloreDiag;
use crate::full::folklore_sketch::FolkloreSketch;
use crate::full::ftrl::Ftrl;
use crate::full::gaf::Gaf;
use crate::full::gaptron::{Gaptron, Hinge, Logistic, Smooth};
use crate::full::kernel_aioli::KernelAioli;
use crate::full::label_tree::LabelTree;
use crate::full::ogd::Ogd;
use crate::full::ons::Ons;
use crate::full::ons_diag::OnsDiag;
use crate::full::ons_sketch::OnsSketch;
use crate::full::perceptron::Perceptron;
use crate::full::second_order_perceptron::SecondOrderPerceptron;
use crate::full::vaw::Vaw;
use crate::kernel::quadratic_leader::{DiagonalLeader, FullLeader};
use crate::kernel::second_order_margin::{DiagonalMetric, FullMetric};
use crate::learner::{Classes, ExpertLearner, Feedback};
use crate::param::{ParamError, ParamInfo, Params, Value, Values, nearest};
use crate::problem::Problem;
use crate::state::State;

/// Every algorithm, in display order.
pub static ALGORITHMS: &[Entry] = &[
    Entry::either::<Auto, BanditAuto>(),
    Entry::full::<Folklore>(),
    Entry::full::<FolkloreDiag>(),
    Entry::full::<FolkloreSketch>(),
    Entry::full::<Aioli>(),
    Entry::full::<KernelAioli>(),
    Entry::full::<LabelTree>(),
    Entry::full::<Gaf>().in_practice(
        "regularization=1",
        "on 2,000 rows of segment the log-loss is 1.94, which is that of guessing, and 0.42 with it",
    ),
    Entry::full::<Vaw>(),
    Entry::full::<Ogd>(),
    Entry::full::<Ons>().in_practice(
        "rate=0.3 regularization=1",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.74 with it",
    ),
    Entry::full::<OnsDiag>().in_practice(
        "rate=0.3 regularization=1",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.79 with it",
    ),
    Entry::full::<OnsSketch>().in_practice(
        "rate=0.3 regularization=1 rank=30",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.85 with it",
    ),
    Entry::full::<Ftrl>(),
    Entry::full::<Aggregating>(),
    Entry::full::<Perceptron>(),
    Entry::full::<SecondOrderPerceptron<FullMetric>>(),
    Entry::full::<SecondOrderPerceptron<DiagonalMetric>>(),
    Entry::either::<Gaptron<Logistic>, BanditGaptron<Logistic>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.81 of the labels are wrong, and 0.18 with it"),
    Entry::either::<Gaptron<Hinge>, BanditGaptron<Hinge>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.48 of the labels are wrong, and 0.17 with it"),
    Entry::either::<Gaptron<Smooth>, BanditGaptron<Smooth>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.59 of the labels are wrong, and 0.16 with it"),
    Entry::bandit::<Banditron>(),
    Entry::bandit::<Newtron<FullLeader>>(),
    Entry::bandit::<Newtron<DiagonalLeader>>(),
    Entry::bandit::<Soba<FullMetric>>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.42 with it",
    ),
    Entry::bandit::<Soba<DiagonalMetric>>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.47 with it",
    ),
    Entry::bandit::<SobaSketch>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment 0.55 of the labels are wrong, and 0.45 with it",
    ),
    Entry::bandit::<SobaReduction>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.53 with it",
    ),
    Entry::bandit::<Confidit<FullRidge>>(),
    Entry::bandit::<Confidit<DiagonalRidge>>(),
    Entry::bandit::<BanditReduction>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.85 are wrong, and 0.66 with it",
    ),
    Entry::bandit::<SquareCb>(),
    Entry::bandit::<FastCb>(),
    Entry::bandit::<Offers>(),
    Entry::bandit::<Exp4>(),
    Entry::full::<AdaBoostOlm>(),
    Entry::experts::<AdaHedge>(),
    Entry::experts::<AdaHedgeAbstain>(),
];

/// Practical settings for learners whose theorem's defaults learn too slowly for streams of ordinary length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Practice {
    /// Settings for standardised data, `name=value` separated by spaces. The theorem does not hold for them.
    pub settings: &'static str,
    /// The measurement that supports them.
    pub why: &'static str,
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
    make: fn(&Values, Problem, u64) -> Made,
    make_experts: Option<fn(&Values, Problem, u64) -> MadeExperts>,
    check_names: fn(&Values) -> Result<(), ParamError>,
    numbers: fn(&Values, &Problem) -> Result<usize, ParamError>,
    numbers_at_first: fn(&Values, &Problem) -> Result<usize, ParamError>,
    scale_free: fn(&Values) -> Result<bool, ParamError>,
}

impl Entry {
    /// Whether it is a mixture of learners, which is no part of another learner: its predictions consist of
    /// those of its members.
    pub fn is_mixture(&self) -> bool {
        self.about.name == Auto::ABOUT.name
    }

    /// An algorithm that learns from full information.
    const fn full<L: Algorithm + Model + 'static>() -> Self {
        Self {
            feedback: Feedback::Full,
            make: |values, problem, seed| {
                let params = L::Params::from_values(L::ABOUT.name, values)?;
                Ok(AnyModel::Full(Box::new(L::new(params, problem, seed)?)))
            },
            ..Self::described::<L>()
        }
    }

    /// An algorithm that learns from bandit feedback.
    const fn bandit<L: Algorithm + BanditModel + 'static>() -> Self {
        Self {
            feedback: Feedback::Bandit,
            make: |values, problem, seed| {
                let params = L::Params::from_values(L::ABOUT.name, values)?;
                Ok(AnyModel::Bandit(Box::new(L::new(params, problem, seed)?)))
            },
            ..Self::described::<L>()
        }
    }

    /// An algorithm that weights experts, given by the columns of a stream or by their losses.
    const fn experts<L: Algorithm + ExpertLearner + State + Clone + 'static>() -> Self {
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
    const fn either<F, B>() -> Self
    where
        F: Algorithm + Model + 'static,
        B: Algorithm<Params = F::Params> + BanditModel + 'static,
    {
        Self {
            feedback: Feedback::Either,
            make: |values, problem, seed| {
                let params = F::Params::from_values(F::ABOUT.name, values)?;
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
    const fn described<L: Algorithm>() -> Self {
        Self {
            about: const { &L::ABOUT },
            params: L::Params::FIELDS,
            feedback: Feedback::Full,
            prefix: L::Params::PREFIX,
            practice: None,
            make: |_, _, _| unreachable!("replaced by the constructors, which know the feedback"),
            make_experts: None,
            check_names: |values| L::Params::from_values(L::ABOUT.name, values).map(drop),
            numbers: |values, problem| {
                Ok(L::numbers_for(&L::Params::from_values(L::ABOUT.name, values)?, problem))
            },
            numbers_at_first: |values, problem| {
                Ok(L::numbers_at_first(&L::Params::from_values(L::ABOUT.name, values)?, problem))
            },
            scale_free: |values| Ok(L::scale_free(&L::Params::from_values(L::ABOUT.name, values)?)),
        }
    }

    /// The entry with practical settings, and the measurement that supports them.
    const fn in_practice(self, settings: &'static str, why: &'static str) -> Self {
        Self { practice: Some(Practice { settings, why }), ..self }
    }

    /// Makes a learner for `problem` with the parameters `values`, for the kind of feedback that they select;
    /// parameters that are not given have the theorem's defaults.
    pub fn make_any(&self, values: &Values, problem: Problem, seed: u64) -> Made {
        check_problem(self.about, &problem)?;
        (self.make)(values, problem, seed)
    }

    /// As [`Entry::make_any`], for a learner that learns from labels.
    ///
    /// # Errors Also if the algorithm learns from bandit feedback only.
    pub fn make(&self, values: &Values, problem: Problem, seed: u64) -> Result<Box<dyn Model>, ParamError> {
        self.make_any(values, problem, seed)?.full()
    }

    /// As [`Entry::make_any`], for a learner with bandit feedback; `mode = bandit` need not be given.
    ///
    /// # Errors Also if the algorithm needs labels.
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
    /// # Errors Also if the algorithm does not weight experts.
    pub fn make_experts(&self, values: &Values, problem: Problem, seed: u64) -> MadeExperts {
        check_problem(self.about, &problem)?;
        let need = || ParamError::invalid("learner", self.about.name, "one that follows experts");
        self.make_experts.ok_or_else(need)?(values, problem, seed)
    }

    /// Checks the names and types of `values` alone, before the problem is known.
    pub fn check_names(&self, values: &Values) -> Result<(), ParamError> {
        (self.check_names)(values)
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

    /// Whether it knows labels by features of their own, which stand in blocks of columns.
    pub fn takes_blocks(&self) -> bool {
        self.about.name == Offers::ABOUT.name
    }

    /// Whether its columns are the votes of experts.
    pub fn takes_votes(&self) -> bool {
        self.feedback == Feedback::Experts
    }

    /// Whether results are independent of the features' units with the parameters `values`.
    pub fn scale_free(&self, values: &Values) -> Result<bool, ParamError> {
        (self.scale_free)(values)
    }

    /// The number of 8-byte numbers of state of a learner for `problem` with the parameters `values`, at
    /// most.
    pub fn numbers(&self, values: &Values, problem: &Problem) -> Result<usize, ParamError> {
        (self.numbers)(values, problem)
    }

    /// As [`Entry::numbers`], before the first row.
    pub fn numbers_at_first(&self, values: &Values, problem: &Problem) -> Result<usize, ParamError> {
        (self.numbers_at_first)(values, problem)
    }

    /// The field `name` of the parameters, if there is one.
    pub fn param(&self, name: &str) -> Option<&'static ParamInfo> {
        self.params.iter().find(|param| param.name == name)
    }
}

/// The default estimator of rewards: with a full matrix if there are few features.
pub fn of_rewards(features: usize) -> &'static Entry {
    const MOST_FEATURES_WITH_MATRIX: usize = 64;
    static FULL: Entry = Entry::full::<Folklore>();
    static DIAGONAL: Entry = Entry::full::<FolkloreDiag>();
    if features <= MOST_FEATURES_WITH_MATRIX { &FULL } else { &DIAGONAL }
}

/// The learner for labels with features, which change from round to round.
pub fn of_offers() -> &'static Entry {
    static OFFERS: Entry = Entry::bandit::<Offers>();
    &OFFERS
}

/// The algorithm called `name`.
pub fn find(name: &str) -> Result<&'static Entry, ParamError> {
    let names = || ALGORITHMS.iter().map(|entry| entry.about.name);
    ALGORITHMS.iter().find(|entry| entry.about.name == name).ok_or_else(|| ParamError::UnknownLearner {
        name: name.to_owned(),
        near: nearest(name, names()).map(str::to_owned),
        known: names().collect::<Vec<_>>().join(", "),
    })
}
