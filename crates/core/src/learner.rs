//! The traits of learners.
//!
//! All are object-safe and infallible: dimensions, finiteness and ranges are checked where data are
//! read, parameters when the learner is made. Programmer errors (a row of the wrong length) panic.
//!
//! The methods are what every learner has; what only some can is a trait of its own, in
//! [`capability`](crate::capability), which a method leads to.

use crate::capability::{Abstain, Divided, FewLabels, Inside, LookAhead, Settle, Together};
use crate::example::{Batch, Features, Target};
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::hand_on;
use crate::parallel::Workers;
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::rng::Uniforms;

/// The prediction part of a learner.
pub trait Predictor: Send + Sync {
    /// The problem that the learner was made for, with the values in use.
    fn problem(&self) -> &Problem;

    /// Buffers of the right sizes for [`Predictor::predict`], to be reused from round to round.
    fn prediction(&self) -> Prediction;

    /// Writes scores and probabilities for `x` to `out`.
    ///
    /// Does not change the learner, so that rows need not be learnt afterwards, and several threads
    /// may predict at once, each with its own `out`.
    fn predict(&self, x: Features<'_>, out: &mut Prediction);

    /// Predicts all of `rows`, and calls `each` with the row's index and its prediction, in order;
    /// `out` is a buffer. Scores and probabilities are those of [`Predictor::predict`] up to
    /// rounding. Predictions lack the by-products that `update` reuses. Learners with matrices read
    /// them once for all rows.
    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        for at in 0..rows.len() {
            self.predict(rows.features(at), out);
            each(at, out);
        }
    }

    /// Some labels alone, for learners that find them much faster than all if there are very many.
    fn few_labels(&self) -> Option<&dyn FewLabels> {
        None
    }
}

/// Learns from the target of every round (full information).
pub trait OnlineLearner: Predictor {
    /// Learns the target `y` of row `x`, for which `at` was predicted.
    ///
    /// `at` must come from this learner's `predict` for the same `x`. If nothing was learnt in
    /// between, its by-products are reused; otherwise they are recomputed from its scores, so that
    /// late feedback is exact: the round's loss is linearised at the predicted scores.
    ///
    /// # Panics
    /// If the kind of target is not among those of [`Accepts`], or dimensions do not match: programmer
    /// errors.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction);

    /// Number of rounds learnt so far.
    fn rounds(&self) -> u64;

    /// Gives the learner threads for large computations, for speed only: forecasts are bit-equal.
    /// By default everything runs in the calling thread.
    fn set_workers(&mut self, _workers: Workers) {}

    /// Appends classes and features, as if they had always existed, with features of 0. Returns
    /// false, without a change, if the learner does not support it.
    fn grow(&mut self, _classes: usize, _features: usize) -> bool {
        false
    }

    /// The guarantee of the learner's theorem for the rounds so far, if it has one, under the
    /// theorem's assumptions. To check these as well, use
    /// [`RunFacts::guarantee`](crate::facts::RunFacts::guarantee).
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        None
    }

    /// The certificate: a data-dependent upper bound on the regret so far against every comparator
    /// of the theorem's ball, or the reason why there is none; `None` for learners that compute
    /// none. To check its assumptions as well, use
    /// [`RunFacts::certificate`](crate::facts::RunFacts::certificate).
    fn certificate(&self) -> Option<Promise> {
        None
    }

    /// What bounds the rounding errors of the [certificate](OnlineLearner::certificate), for learners that
    /// compute one by cancelling terms.
    fn certificate_terms(&self) -> Option<Terms> {
        None
    }

    // What only some learners can:

    /// Look-ahead, for learners that are faster if they know the features of coming rows.
    fn look_ahead(&mut self) -> Option<&mut dyn LookAhead> {
        None
    }

    /// Rounds together, for learners that can work at several at once.
    fn together(&mut self) -> Option<&mut dyn Together> {
        None
    }

    /// A better fit at the end, for learners that fit parts of themselves to a part of the rows.
    fn settling(&mut self) -> Option<&mut dyn Settle> {
        None
    }

    /// The members of a mixture that can be divided among processes. `None` for other learners.
    fn divided(&mut self) -> Option<&mut dyn Divided> {
        None
    }

    /// The bound of learners that abstain by themselves; others always answer.
    fn abstaining(&self) -> Option<&dyn Abstain> {
        None
    }

    /// What is inside, for learners with members or with figures of their own.
    fn inside(&self) -> Option<&dyn Inside> {
        None
    }
}

impl<P: Predictor + ?Sized> Predictor for Box<P> {
    hand_on! { (**self);
        fn problem(&self) -> &Problem;
        fn prediction(&self) -> Prediction;
        fn predict(&self, x: Features<'_>, out: &mut Prediction);
        fn predict_batch(
            &self,
            rows: &dyn Batch,
            out: &mut Prediction,
            each: &mut dyn FnMut(usize, &Prediction)
        );
        fn few_labels(&self) -> Option<&dyn FewLabels>;
    }
}

impl<L: OnlineLearner + ?Sized> OnlineLearner for Box<L> {
    hand_on! { (**self);
        fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction);
        fn rounds(&self) -> u64;
        fn set_workers(&mut self, workers: Workers);
        fn grow(&mut self, classes: usize, features: usize) -> bool;
        fn guarantee(&self) -> Option<Guarantee<'_>>;
        fn certificate(&self) -> Option<Promise>;
        fn certificate_terms(&self) -> Option<Terms>;
        fn look_ahead(&mut self) -> Option<&mut dyn LookAhead>;
        fn together(&mut self) -> Option<&mut dyn Together>;
        fn settling(&mut self) -> Option<&mut dyn Settle>;
        fn divided(&mut self) -> Option<&mut dyn Divided>;
        fn abstaining(&self) -> Option<&dyn Abstain>;
        fn inside(&self) -> Option<&dyn Inside>;
    }
}

/// Learns from the reward of the played label, usually whether it was right (bandit feedback).
///
/// A round is three calls: [`predict`](BanditLearner::predict), [`play`](BanditLearner::play) and
/// [`learn`](BanditLearner::learn). The [`Decision`] is plain data; the learner stores no pending
/// ones. [`crate::bandit`] describes the effects of late, reordered and lost feedback.
pub trait BanditLearner: Send + Sync {
    /// The problem that the learner was made for, with the values in use.
    fn problem(&self) -> &Problem;

    /// Writes scores, distribution, greedy class, exploration rate and round for `x` to `out`,
    /// whose buffers are resized. Does not change the learner.
    ///
    /// `offered` restricts the decision to some labels: a non-empty, strictly increasing list of
    /// classes, which becomes [`Decision::offered`]. Returns false, with unspecified content of
    /// `out`, if there is such a list and the learner does not support it; the registry knows which
    /// do ([`Entry::decides_among`](crate::registry::Entry::decides_among)).
    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool;

    /// [`BanditLearner::decide`] among all labels.
    fn predict(&self, x: Features<'_>, out: &mut Decision) {
        self.decide(x, None, out);
    }

    /// [`BanditLearner::decide`] among the labels `offered`.
    fn predict_among(&self, x: Features<'_>, offered: &[u32], out: &mut Decision) -> bool {
        self.decide(x, Some(offered), out)
    }

    /// Draws the label of `out`, written by [`BanditLearner::predict`]: first the explore coin, for
    /// learners that have one ([`Uniforms::coin`]), then the label ([`Uniforms::uniform`]).
    fn play(&self, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        out.draw(uniforms.uniform());
    }

    /// Predicts and plays.
    fn act(&self, x: Features<'_>, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        self.predict(x, out);
        self.play(uniforms, out);
    }

    /// Whether it learns from labels that another policy has played, given that policy's
    /// probabilities. `false` for learners that learn only in rounds of their own random exploration.
    fn learns_of_others(&self) -> bool {
        true
    }

    /// Whether it learns from any reward in [0, 1]; otherwise only from 0 and 1, and the caller
    /// must reject others.
    fn takes_rewards(&self) -> bool {
        false
    }

    /// Learns the reward of the label of `taken` for `x`: right or wrong, or any reward for
    /// learners that [accept it](BanditLearner::takes_rewards); other learners treat a reward below
    /// 1 as wrong. Feedback may be late and out of order; importance weights are those of the
    /// decision.
    ///
    /// # Panics
    /// If dimensions do not match: a programmer error. Decisions from outside are checked by
    /// [`Decision::check`].
    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward);

    /// Number of rounds learnt so far.
    fn rounds(&self) -> u64;

    /// Gives the learner threads for large computations, for speed only: decisions are bit-equal.
    /// By default everything runs in the calling thread.
    fn set_workers(&mut self, _workers: Workers) {}

    /// Appends features, as if they had always existed with value 0, and classes, in their initial
    /// state. With new classes, earlier decisions are learnt from after [`Decision::widen`], by learners that
    /// decide among some of their labels. Returns false, without a change, if the learner does not support
    /// it.
    fn grow(&mut self, _classes: usize, _features: usize) -> bool {
        false
    }

    /// The guarantee of the learner's theorem for the rounds so far, if it has one: a bound on the
    /// expected mistakes of labels drawn from the learner's own distribution, with immediate
    /// feedback.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        None
    }
}

/// Weights experts, and learns from their losses.
pub trait ExpertLearner: Send + Sync {
    /// The problem that the learner was made for; its features are the experts.
    fn problem(&self) -> &Problem;

    /// The weights of the experts, a probability vector.
    fn weights(&self) -> &[f64];

    /// Learns the losses of all experts, finite numbers in [0, 1].
    fn learn(&mut self, losses: &[f64]);

    /// Number of rounds learnt so far.
    fn rounds(&self) -> u64;

    /// Bound on the total of $\langle w, l\rangle$ so far minus the total loss of the best expert.
    fn bound(&self) -> f64;

    /// The total loss of every expert so far.
    fn losses(&self) -> &[f64];

    /// See [`Abstain::abstention_bound`]; `None` for learners that always answer.
    fn abstention_bound(&self, _cost: f64) -> Option<Promise> {
        None
    }

    /// The abstaining decision for experts that vote in [-1, 1], for learners that abstain.
    fn verdict(&self, _votes: &[f64]) -> Option<Verdict> {
        None
    }
}

/// The decision of an abstaining learner, between two classes -1 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The weighted vote, in [-1, 1].
    pub vote: f64,
    /// The class to answer: the sign of the vote, 1 for 0.
    pub sign: i8,
    /// The probability of no answer: $1 - |\text{vote}|$.
    pub abstain_probability: f64,
}

impl Verdict {
    /// The answer by the uniform number `u` in [0, 1): the sign, or 0 for none.
    pub fn play(&self, u: f64) -> i8 {
        if u < 1.0 - self.abstain_probability { self.sign } else { 0 }
    }

    /// The expected loss if the label is `y` and abstaining costs `cost`.
    pub fn expected_loss(&self, y: i8, cost: f64) -> f64 {
        let wrong = if self.sign == y { 0.0 } else { 1.0 };
        (1.0 - self.abstain_probability) * wrong + self.abstain_probability * cost
    }
}

/// The kind of feedback of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The target: [`OnlineLearner`].
    Full,
    /// Whether the played label was right: [`BanditLearner`].
    Bandit,
    /// Either, selected by the parameter `mode`.
    Either,
    /// The losses of experts: [`ExpertLearner`].
    Experts,
}

/// The targets that a learner can learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// The number of classes.
    pub classes: Classes,
    /// Probability vectors as targets (soft labels).
    pub soft_labels: bool,
    /// Importance weights other than 1.
    pub weights: bool,
    /// Whether rows may have a second view behind the scaled one ([`Features::views`]).
    pub plain: bool,
}

/// The number of classes that a learner accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// Two or more.
    Any,
    /// Exactly two.
    Two,
    /// None: the target is a real number.
    Real,
}

/// Methods of learners that return the field of the same name; with `numbers` the size for parameters that
/// nobody has set, with `weights` that of a learner that stores little but such a matrix; and with
/// `prediction` buffers for scores and probabilities.
macro_rules! own {
    ($($what:ident),+) => {
        $($crate::learner::own! { @$what })+
    };
    (@params) => {
        fn params(&self) -> Self::Params {
            self.params.clone()
        }
    };
    (@numbers) => {
        fn numbers(problem: &$crate::problem::Problem) -> usize {
            Self::numbers_for(&Self::Params::default(), problem)
        }
    };
    (@weights) => {
        fn numbers(problem: &$crate::problem::Problem) -> usize {
            problem.classes.saturating_mul(problem.features)
        }

        fn numbers_at_first(_params: &Self::Params, problem: &$crate::problem::Problem) -> usize {
            let (classes, features) = (problem.classes, problem.features);
            $crate::kernel::weights::Weights::numbers_at_first(classes, features, problem.sparse)
        }
    };
    (@problem) => {
        fn problem(&self) -> &$crate::problem::Problem {
            &self.problem
        }
    };
    (@prediction) => {
        fn prediction(&self) -> $crate::prediction::Prediction {
            $crate::prediction::Prediction::sized(self.problem.classes, 0)
        }
    };
    (@rounds) => {
        fn rounds(&self) -> u64 {
            self.rounds
        }
    };
}
pub(crate) use own;

/// The method `grow` of learners with a part that grows, and a vector of a number for each class.
macro_rules! grow {
    ($part:ident, $vector:ident) => {
        fn grow(&mut self, classes: usize, features: usize) -> bool {
            let Some(problem) = self.problem.grown(classes, features) else { return false };
            self.$part.grow(classes, features);
            self.$vector.resize(classes, 0.0);
            self.problem = problem;
            true
        }
    };
}
pub(crate) use grow;
