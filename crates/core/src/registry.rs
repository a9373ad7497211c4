//! The one list of algorithms. The command line, help, tables, bindings and law tests all read it.

use crate::algorithm::{About, Algorithm, Model, check_problem};
use crate::full::aggregating::Aggregating;
use crate::full::aioli::Aioli;
use crate::full::folklore::Folklore;
use crate::full::folklore_diag::FolkloreDiag;
use crate::full::ftrl::Ftrl;
use crate::full::gaf::Gaf;
use crate::full::gaptron::{Gaptron, Hinge, Logistic, Smooth};
use crate::full::kernel_aioli::KernelAioli;
use crate::full::ogd::Ogd;
use crate::full::ons::Ons;
use crate::full::ons_diag::OnsDiag;
use crate::full::perceptron::Perceptron;
use crate::full::second_order_perceptron::SecondOrderPerceptron;
use crate::full::vaw::Vaw;
use crate::kernel::second_order_margin::{DiagonalMetric, FullMetric};
use crate::param::{ParamError, ParamInfo, Params, Values, nearest};
use crate::problem::Problem;

/// Every algorithm, in the order in which people are shown them.
pub static ALGORITHMS: &[Entry] = &[
    Entry::full::<Folklore>(),
    Entry::full::<FolkloreDiag>(),
    Entry::full::<Aioli>(),
    Entry::full::<KernelAioli>(),
    Entry::full::<Gaf>(),
    Entry::full::<Vaw>(),
    Entry::full::<Ogd>(),
    Entry::full::<Ons>(),
    Entry::full::<OnsDiag>(),
    Entry::full::<Ftrl>(),
    Entry::full::<Aggregating>(),
    Entry::full::<Perceptron>(),
    Entry::full::<SecondOrderPerceptron<FullMetric>>(),
    Entry::full::<SecondOrderPerceptron<DiagonalMetric>>(),
    Entry::full::<Gaptron<Logistic>>(),
    Entry::full::<Gaptron<Hinge>>(),
    Entry::full::<Gaptron<Smooth>>(),
];

/// A learner, or why there is none.
type Made = Result<Box<dyn Model>, ParamError>;

/// An algorithm of the registry: plain data, and the function that makes its learner.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it says of itself.
    pub about: &'static About,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    make: fn(&Values, Problem, u64) -> Made,
    check_names: fn(&Values) -> Result<(), ParamError>,
    numbers: fn(&Problem) -> usize,
}

impl Entry {
    /// An algorithm that learns from full information.
    const fn full<L: Algorithm + Model + 'static>() -> Self {
        Self {
            about: const { &L::ABOUT },
            params: L::Params::FIELDS,
            make: |values, problem, seed| {
                let params = L::Params::from_values(L::ABOUT.name, values)?;
                Ok(Box::new(L::new(params, problem, seed)?))
            },
            check_names: |values| L::Params::from_values(L::ABOUT.name, values).map(drop),
            numbers: L::numbers,
        }
    }

    /// Makes a learner for `problem` with the parameters `values`; names not given take the theorem's default.
    pub fn make(&self, values: &Values, problem: Problem, seed: u64) -> Result<Box<dyn Model>, ParamError> {
        check_problem(self.about, &problem)?;
        (self.make)(values, problem, seed)
    }

    /// Checks the names and types of `values` alone, before the problem is known.
    pub fn check_names(&self, values: &Values) -> Result<(), ParamError> {
        (self.check_names)(values)
    }

    /// Checks the dimensions of `problem` alone, before a long first pass over data.
    pub fn check_problem(&self, problem: &Problem) -> Result<(), ParamError> {
        check_problem(self.about, problem)
    }

    /// How many 8-byte numbers the state of a learner for `problem` takes.
    pub fn numbers(&self, problem: &Problem) -> usize {
        (self.numbers)(problem)
    }

    /// The field `name` of the parameters, if there is one.
    pub fn param(&self, name: &str) -> Option<&'static ParamInfo> {
        self.params.iter().find(|param| param.name == name)
    }
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
