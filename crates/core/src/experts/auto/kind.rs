//! What the mixture knows of a kind of member. A new kind is a file that implements [`Kind`] beside its
//! [`Member`], and a line of [`KINDS`](super::kinds::KINDS).

use crate::param::ParamError;
use crate::problem::Problem;

use super::member::Member;
use super::row::View;

/// The numbers that follow the name of a kind, as in `shared@0.1:0.001`: positive, and 0 for one that is not
/// given. Each kind says what they mean.
pub(super) type Settings = [f64; 2];

/// A kind of member. The methods with a body are right for most kinds.
pub(super) trait Kind: Send + Sync {
    /// The name that precedes the numbers.
    fn name(&self) -> &'static str;

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

    /// Whether the heads are so alike that none of them is much better than the others.
    fn has_similar_heads(&self) -> bool {
        true
    }

    /// The number of columns that a stack has for the member: by default one, for the mixture of its heads;
    /// otherwise one for each head.
    fn columns(&self, _settings: Settings) -> usize {
        1
    }

    /// The form of the rows that the member takes.
    fn view(&self) -> View {
        View::Scaled
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

    /// The part of the budget that the member may cost at most to be chosen.
    fn affordable(&self) -> f64 {
        1.0
    }

    /// The part of the budget up to which the member is never dropped.
    fn tolerated(&self) -> f64 {
        0.02
    }

    /// The same for the best member that is within it.
    fn tolerated_once(&self) -> f64 {
        0.0
    }

    /// What of a member was made smaller to keep within the limits, in English.
    fn made_smaller(&self, _settings: Settings, _problem: &Problem) -> Vec<String> {
        Vec::new()
    }

    /// Whether the member draws random numbers.
    fn draws(&self) -> bool {
        false
    }

    /// Whether the member uses the labels only.
    fn counts_labels(&self) -> bool {
        false
    }

    /// Whether the member consists of heads that share one matrix.
    fn is_family(&self) -> bool {
        false
    }

    /// Whether the member consists of linear learners with diagonal matrices.
    fn is_diagonal(&self) -> bool {
        false
    }

    /// Whether members that do not forget form a grid of regularizations, the first number, which is extended
    /// where its best value is at its edge.
    fn has_grid(&self) -> bool {
        false
    }

    /// Whether forecasts of many rows at once take less time than row by row, see [`Member::batch`].
    fn works_in_batches(&self) -> bool {
        false
    }

    /// Whether the member depends on all rounds so far, unless it forgets.
    fn keeps_all(&self) -> bool {
        true
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
