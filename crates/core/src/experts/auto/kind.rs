//! What the mixture knows of a kind of member. A new kind is a file that implements [`Kind`] beside its
//! [`Member`], and a line of [`KINDS`](super::kinds::KINDS).

use crate::param::ParamError;
use crate::problem::Problem;

use super::member::Member;
use super::row::View;

/// The numbers that follow the name of a kind, as in `shared@0.1:0.001`: positive, and 0 for one that is not
/// given. Each kind says what they mean.
pub(super) type Settings = [f64; 2];

/// What all members of a kind have in common.
pub(super) struct Traits {
    /// The name that precedes the numbers.
    pub(super) name: &'static str,
    /// The form of the rows that the member takes.
    pub(super) view: View,
    /// Whether the heads are so alike that none of them is much better than the others.
    pub(super) similar_heads: bool,
    /// The part of the budget that the member may cost at most to be chosen.
    pub(super) affordable: f64,
    /// The part of the budget up to which the member is never dropped.
    pub(super) tolerated: f64,
    /// The same for the best member that is within it.
    pub(super) tolerated_once: f64,
    /// Whether the member may be worth much after thousands of rows though it is worth nothing after the
    /// first thousand, as trees may that find interactions: it is judged when all members are within the
    /// budget.
    pub(super) learns_late: bool,
    /// Whether the member draws random numbers.
    pub(super) draws: bool,
    /// Whether the member uses the labels only.
    pub(super) counts_labels: bool,
    /// Whether the member consists of heads that share one matrix.
    pub(super) is_family: bool,
    /// Whether the member consists of linear learners with diagonal matrices.
    pub(super) is_diagonal: bool,
    /// Whether members that do not forget form a grid of regularizations, the first number, which is extended
    /// where its best value is at its edge.
    pub(super) has_grid: bool,
    /// Whether forecasts of many rows at once take less time than row by row, see [`Member::batch`].
    pub(super) works_in_batches: bool,
    /// Whether the member depends on all rounds so far, unless it forgets.
    pub(super) keeps_all: bool,
}

impl Traits {
    /// Those of most kinds, with this `name`.
    pub(super) const fn usual(name: &'static str) -> Self {
        Self {
            name,
            view: View::Scaled,
            similar_heads: true,
            affordable: 1.0,
            tolerated: 0.02,
            tolerated_once: 0.0,
            learns_late: false,
            draws: false,
            counts_labels: false,
            is_family: false,
            is_diagonal: false,
            has_grid: false,
            works_in_batches: false,
            keeps_all: true,
        }
    }
}

/// A kind of member. The methods with a body are right for most kinds.
pub(super) trait Kind: Send + Sync {
    /// What all its members have in common.
    fn traits(&self) -> &'static Traits;

    /// Reads the numbers that follow the name; by default there are none.
    fn read(&self, first: Option<&str>, second: Option<&str>) -> Option<Settings> {
        (first.is_none() && second.is_none()).then_some([0.0; 2])
    }

    /// A description in English, for the table of weights.
    fn title(&self, settings: Settings) -> String;

    /// The members of this kind that may be chosen for `problem`, in order of preference.
    fn candidates(&self, _problem: &Problem) -> Vec<Settings> {
        vec![[0.0; 2]]
    }

    /// Makes the member for `problem`, whose rows are in multiples of the unit; `seed` determines its random
    /// draws.
    fn make(&self, settings: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError>;

    /// The number of heads: the forecasts that the member makes.
    fn heads(&self, settings: Settings) -> usize;

    /// The number of columns that a stack has for the member: by default one, for the mixture of its heads;
    /// otherwise one for each head.
    fn columns(&self, _settings: Settings) -> usize {
        1
    }

    /// The time of a round with a dense row, in multiply-adds; a processor core performs five in a
    /// nanosecond. Measured with announced rows: a wide matrix product performs three of its operations in
    /// the time of one such multiply-add, and work that is not a matrix product (exponentials, small systems,
    /// cache misses) is counted by its time.
    fn work(&self, settings: Settings, problem: &Problem) -> f64;

    /// 8-byte numbers of state at most.
    fn numbers(&self, settings: Settings, problem: &Problem) -> usize;

    /// The part of [`Kind::numbers`] that is allocated before the first row.
    fn numbers_at_first(&self, settings: Settings, problem: &Problem) -> usize {
        self.numbers(settings, problem)
    }

    /// Whether the member is useful for `problem`, however large the budget is.
    fn suits(&self, _problem: &Problem) -> bool {
        true
    }

    /// What of a member was made smaller to keep within the limits, in English.
    fn made_smaller(&self, _settings: Settings, _problem: &Problem) -> Vec<String> {
        Vec::new()
    }
}

/// Sparse rows with more features than this usually hold words or categories, where most pairs of features
/// never occur together: a matrix over all pairs then costs far more time and memory than it gains over a
/// diagonal one.
const MOST_PAIRS_OF_SPARSE: usize = 1024;

/// Whether rows are sparse, and too wide for matrices over pairs of features.
pub(super) fn is_wide_and_sparse(problem: &Problem) -> bool {
    problem.sparse && problem.features > MOST_PAIRS_OF_SPARSE
}

/// The number of non-zero entries assumed for a sparse row, since it is not known in advance.
const STORED: f64 = 64.0;

/// The number of entries of a row that cost time: of sparse rows only the non-zero ones.
pub(super) fn stored(problem: &Problem) -> f64 {
    let features = problem.features as f64;
    if problem.sparse { features.min(STORED) } else { features }
}

/// Reads a number of an ordinary size.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| (1e-9..=1e9).contains(x))
}

/// Reads a whole number from 1 to `most`.
pub(super) fn count(text: &str, most: usize) -> Option<f64> {
    text.parse().ok().filter(|count: &usize| (1..=most).contains(count)).map(|count| count as f64)
}
