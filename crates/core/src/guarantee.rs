//! What a learner's theorem promises about the rounds that it has learnt.

use crate::bounds::Setting;
use crate::problem::Problem;

pub use crate::batch::comparator::Ball;

/// Comparators of learners that have no norm of their own: logits of the largest row are within $\pm$ this.
const REFERENCE_LOGIT: f64 = 10.0;

/// A theorem, applied to a learner as it stands. It is about streams that keep to the learner's radius, whose labels
/// arrive before the next row.
#[non_exhaustive]
pub enum Guarantee<'a> {
    /// Total log loss minus that of the best linear predictor of a ball.
    Regret {
        /// The ball; `None` for comparators that are no linear predictors of the rows.
        ball: Option<Ball>,
        /// Its radius $B$.
        norm: f64,
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Result<f64, String>,
    },
    /// Total squared loss minus that of the best $\theta$ with $\lVert\theta\rVert_2 \le$ `norm`.
    SquaredRegret {
        /// The radius $B$ of the ball.
        norm: f64,
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Result<f64, String>,
    },
    /// Mistakes, expected ones for a learner that draws its labels, against *every* linear predictor.
    Mistakes {
        /// The Frobenius norm of predictors that are worth a comparison.
        norm: f64,
        /// The bound, given the predictor; or why the theorem does not hold.
        bound: Result<MistakeBound<'a>, String>,
    },
    /// Expected mistakes, or missing rewards, beyond those of the best policy, where the forecasts of some comparator of the
    /// oracle's ball are the mean rewards.
    PolicyRegret {
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Result<f64, String>,
    },
}

impl Guarantee<'_> {
    /// The bound on the regret, if the theorem is about regret and holds.
    pub fn regret_bound(&self) -> Option<f64> {
        match self {
            Guarantee::Regret { bound, .. }
            | Guarantee::SquaredRegret { bound, .. }
            | Guarantee::PolicyRegret { bound } => bound.clone().ok(),
            Guarantee::Mistakes { .. } => None,
        }
    }
}

/// The bound on mistakes against a given predictor.
pub type MistakeBound<'a> = Box<dyn Fn(&Reference<'_>) -> f64 + 'a>;

/// A linear predictor $U$, and how it fares on the rounds.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// $\lVert U \rVert_F$.
    pub norm: f64,
    /// $\max_k \lVert U_k \rVert_2$.
    pub largest_row: f64,
    /// Its total log loss in nats.
    pub log_loss: f64,
    /// Its margin in every round: the true class's score minus the best other one.
    pub margins: &'a [f64],
}

impl Reference<'_> {
    /// The sum of `loss` over the margins.
    pub fn total(&self, loss: impl Fn(f64) -> f64) -> f64 {
        self.margins.iter().map(|margin| loss(*margin)).sum()
    }
}

/// The setting of a theorem for `problem`, after `rounds` rounds.
pub(crate) fn setting(problem: &Problem, norm: f64, rounds: u64) -> Setting {
    let radius = problem.radius.unwrap_or(1.0);
    Setting { classes: problem.classes, features: problem.features, radius, norm, rounds: rounds as f64 }
}

/// The norm of comparators for a learner that bounds none.
pub(crate) fn reference_norm(problem: &Problem) -> f64 {
    REFERENCE_LOGIT / problem.radius.unwrap_or(1.0)
}

/// `bound` if `holds`, else `why` it does not apply.
pub(crate) fn provided(holds: bool, why: &str, bound: impl FnOnce() -> f64) -> Result<f64, String> {
    if holds { Ok(bound()) } else { Err(why.to_owned()) }
}
