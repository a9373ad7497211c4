//! Guarantees: a learner's theorem, evaluated for the rounds that it has learnt.

use std::borrow::Cow;

pub use crate::bounds::Ball;
use crate::bounds::Setting;
use crate::problem::Problem;

/// The probability with which a bound that holds with high probability may fail.
pub const MISS: f64 = 0.05;

/// A bound, a number or [`MistakeBound`], or why there is none.
pub type Promise<Bound = f64> = Result<Bound, Void>;

/// Why a theorem promises nothing, as part of a sentence: "the curvature is larger than any valid one".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Void(Cow<'static, str>);

impl From<&'static str> for Void {
    fn from(why: &'static str) -> Self {
        Self(why.into())
    }
}

impl From<String> for Void {
    fn from(why: String) -> Self {
        Self(why.into())
    }
}

/// What bounds the rounding errors of a certificate (theory: second-order 5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The sum of the absolute values of the terms that the certificate is the sum of.
    pub size: f64,
    /// $\lambda$, the least eigenvalue of the learner's matrix.
    pub regularization: f64,
    /// What a row of norm 1 and weight 1 adds at most to its largest eigenvalue.
    pub growth: f64,
    /// A bound on the largest eigenvalue, where it does not follow from the rows' norms.
    pub largest: Option<f64>,
    /// Whether the certificate holds with importance weights.
    pub weights: bool,
}

impl Terms {
    /// Those of the sum of two learners' certificates.
    pub(crate) fn and(self, other: Self) -> Self {
        let largest = match (self.largest, other.largest) {
            (Some(own), Some(other)) => Some(own.max(other)),
            (own, other) => own.or(other),
        };
        Self {
            size: self.size + other.size,
            regularization: self.regularization.min(other.regularization),
            growth: self.growth.max(other.growth),
            largest,
            weights: self.weights && other.weights,
        }
    }

    /// `certificate` with a margin for rounding errors, after `rounds` rounds of total `energy`; or why it is
    /// withheld: it would change by more than a thousandth.
    pub(crate) fn with_margin(&self, certificate: f64, energy: f64, rounds: u64) -> Promise {
        const SAFETY: f64 = 40.0;
        let condition = 1.0 + self.largest.unwrap_or(self.growth * energy) / self.regularization;
        let margin = SAFETY * f64::EPSILON * condition * (rounds as f64).sqrt() * self.size;
        if margin <= 1e-3 * certificate.abs() {
            return Ok(certificate + margin);
        }
        Err(format!(
            "rounding errors may be as large as what is left of its terms: beside the rows, the regularization {:e} is too small",
            self.regularization
        )
        .into())
    }
}

/// "1 row was", "2 rows were".
pub(crate) fn were(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun} was") } else { format!("{count} {noun}s were") }
}

/// A radius or a norm with four decimals, or with as many of its digits where those would show too few of
/// them.
pub fn digits_of(radius: f64) -> String {
    if (0.01..1e6).contains(&radius) { format!("{radius:.4}") } else { format!("{radius:.4e}") }
}

/// A number and the limit that it is beyond, with as many of their digits as show that it is.
pub fn digits_beyond(value: f64, limit: f64) -> [String; 2] {
    let shown = [value, limit].map(digits_of);
    if shown[0] == shown[1] { [value, limit].map(|number| format!("{number:e}")) } else { shown }
}

/// Whether a row with this squared norm is beyond `radius`, with a tolerance for rounding.
pub(crate) fn is_beyond(norm_squared: f64, radius: f64) -> bool {
    norm_squared.sqrt() > radius * (1.0 + 1e-9)
}

/// The default norm of comparators for theorems without a norm: logits of the largest row are within $\pm$
/// this.
const REFERENCE_LOGIT: f64 = 10.0;

/// A theorem evaluated for a learner in its present state. It assumes rows within the learner's
/// radius and immediate labels, which [`RunFacts`](crate::facts::RunFacts) checks.
#[non_exhaustive]
pub enum Guarantee<'a> {
    /// Total log loss minus that of the best linear predictor of a ball.
    Regret {
        /// The ball; `None` for comparators that are not linear predictors of the rows.
        ball: Option<Ball>,
        /// Its radius $B$.
        norm: f64,
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Promise,
    },
    /// Total squared loss minus that of the best $\theta$ with $\lVert\theta\rVert_2 \le$ `norm`.
    SquaredRegret {
        /// The radius $B$ of the ball.
        norm: f64,
        /// $Y$: the theorem holds for targets of at most this absolute value.
        target_bound: Option<f64>,
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Promise,
    },
    /// Total log loss minus that of the best linear predictor of a ball, in all rounds and in every interval.
    IntervalRegret {
        /// The ball.
        ball: Ball,
        /// Its radius $B$.
        norm: f64,
        /// The bound for all rounds learnt together, or why the theorem does not hold.
        bound: Promise,
        /// The bound for every interval within them, against the predictor that is best in it.
        every: Promise,
    },
    /// Total log loss in any interval of rounds from the second on, minus that of any member of a mixture
    /// that is active from the round before to the end of the interval; for all intervals and members.
    AdaptiveRegret {
        /// The bound for all intervals within the rounds learnt, or why the theorem does not hold.
        bound: Promise,
        /// The bound for all rounds together, for members active in all of them, or why there is none.
        total: Promise,
    },
    /// Expected mistakes, given the rows and labels, against the best of the learner's own experts.
    ExpertMistakes {
        /// That expert in words, with its mistakes if the learner knows them.
        expert: String,
        /// Whether the bound is on the mistakes beyond those of that expert, since the learner does not know
        /// them; otherwise it is on the mistakes themselves.
        beyond: bool,
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Promise,
    },
    /// Mistakes, expected ones for a learner that draws its labels, against *every* linear predictor.
    Mistakes {
        /// The Frobenius norm of relevant comparators.
        norm: f64,
        /// The bound, given the predictor; or why the theorem does not hold.
        bound: Promise<MistakeBound<'a>>,
        /// A bound on the mistakes of the labels that are drawn, which fails with probability [`MISS`] at
        /// most; or why the theorem does not hold. `None` without such a theorem.
        drawn: Option<Promise<MistakeBound<'a>>>,
    },
    /// Expected mistakes, or missing rewards, beyond those of the best policy, with high probability,
    /// provided that the forecasts of some comparator in the oracle's ball are the mean rewards.
    PolicyRegret {
        /// The bound after the rounds learnt, or why the theorem does not hold.
        bound: Promise,
    },
}

impl Guarantee<'_> {
    /// The bound on the regret, for theorems about regret.
    pub fn regret_bound(&self) -> Option<Promise> {
        match self {
            Guarantee::Regret { bound, .. }
            | Guarantee::SquaredRegret { bound, .. }
            | Guarantee::IntervalRegret { bound, .. }
            | Guarantee::AdaptiveRegret { bound, .. }
            | Guarantee::PolicyRegret { bound } => Some(bound.clone()),
            Guarantee::Mistakes { .. } | Guarantee::ExpertMistakes { .. } => None,
        }
    }

    /// Replaces every bound by `why` there is none.
    pub(crate) fn withdraw(&mut self, why: &Void) {
        match self {
            Guarantee::Regret { bound, .. }
            | Guarantee::SquaredRegret { bound, .. }
            | Guarantee::ExpertMistakes { bound, .. }
            | Guarantee::PolicyRegret { bound } => withdraw(bound, why),
            Guarantee::IntervalRegret { bound, every: other, .. }
            | Guarantee::AdaptiveRegret { bound, total: other } => {
                withdraw(bound, why);
                withdraw(other, why);
            }
            Guarantee::Mistakes { bound, drawn, .. } => {
                withdraw(bound, why);
                drawn.iter_mut().for_each(|drawn| withdraw(drawn, why));
            }
        }
    }
}

/// Replaces a bound by `why` there is none.
fn withdraw<Bound>(promise: &mut Promise<Bound>, why: &Void) {
    if promise.is_ok() {
        *promise = Err(why.clone());
    }
}

/// The bound on mistakes against a given predictor.
pub type MistakeBound<'a> = Box<dyn Fn(&Reference<'_>) -> f64 + 'a>;

/// A linear predictor $U$ with its losses on the rounds.
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

/// The default norm of comparators for a learner without a bound on it.
pub(crate) fn reference_norm(problem: &Problem) -> f64 {
    REFERENCE_LOGIT / problem.radius.unwrap_or(1.0)
}

/// `bound` if `holds`, else `why` it does not apply.
pub(crate) fn provided(holds: bool, why: &'static str, bound: impl FnOnce() -> f64) -> Promise {
    if holds { Ok(bound()) } else { Err(why.into()) }
}

/// `promise` if `curvature` is at most `largest`, the largest value for which surrogates are lower bounds of
/// the loss, as certificates and bounds require.
pub(crate) fn curved(curvature: f64, largest: f64, promise: impl FnOnce() -> Promise) -> Promise {
    if curvature <= largest * (1.0 + 1e-9) {
        promise()
    } else {
        let [curvature, largest] = digits_beyond(curvature, largest);
        Err(format!("the curvature {curvature} is larger than any valid one: at most {largest} was needed")
            .into())
    }
}

#[cfg(test)]
mod tests;
