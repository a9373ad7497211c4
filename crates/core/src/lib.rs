//! Online multiclass learning with regret guarantees.
//!
//! A learner meets rows one at a time: it predicts, sees the truth, and learns. Its regret is its cumulative
//! loss minus that of the best fixed linear predictor in hindsight, and a theorem bounds it on *every*
//! stream.
//!
//! ```
//! use noregret::{Features, Problem, Target, find};
//!
//! // 3 classes, 2 features, rows of norm at most 1.
//! let problem = Problem::new(3, 2).with_radius(1.0);
//! let mut learner = find("auto")?.make(&Default::default(), problem, 0)?;
//! let mut prediction = learner.prediction();
//! for (x, y) in [([0.6, 0.8], 0), ([-1.0, 0.0], 2), ([0.6, 0.8], 0)] {
//!     let x = Features::Dense(&x);
//!     learner.predict(x, &mut prediction);
//!     learner.update(x, Target::class(y), &prediction);
//! }
//! assert!(prediction.probabilities[0] > 1.0 / 3.0);
//! # Ok::<(), noregret::ParamError>(())
//! ```
//!
//! # The map
//!
//! * [`problem`], [`example`], [`prediction`]: what is known of a stream, a round's input, a round's output.
//! * [`learner`]: the traits. [`full`]: learners that see the truth of every round, one file each;
//!   [`bandit`]: learners that see whether the played label was right; [`boosting`]: weak learners made strong;
//!   [`experts`]: learners that follow experts, and learners made of learners, the default
//!   among them.
//! * [`registry`]: the one list of algorithms; [`algorithm`] and [`param`]: the description of each, and its
//!   parameters.
//! * [`state`] and [`model`]: what is learnt, and model files; [`merge`]: sums of it.
//! * [`loss`]: losses of scores. [`bounds`]: the theorems' right-hand sides;
//!   [`guarantee`]: a theorem applied to a learner as it stands.
//! * [`batch`]: the best predictor in hindsight; predictors for rows to come.
//! * [`rng`]: the seeded generator; [`parallel`]: threads that are lent.
//!
//! # Features
//!
//! * `model`, on by default: learners as bytes, [`model`].
//! * `suggestions`, on by default: "did you mean" in errors.
//!
//! Learners cannot fail and check nothing twice: parameters are checked when a learner is made, rows where
//! they enter (see [`Features`]).

pub mod algorithm;
pub mod bandit;
pub mod batch;
pub mod boosting;
pub mod bounds;
pub mod example;
pub mod experts;
pub mod full;
pub mod guarantee;
#[doc(hidden)]
pub mod kernel;
pub mod learner;
pub mod loss;
pub mod merge;
#[cfg(feature = "model")]
pub mod model;
pub mod open_classes;
pub mod parallel;
pub mod param;
pub mod prediction;
pub mod problem;
pub mod registry;
pub mod rng;
pub mod state;

#[cfg(test)]
mod testing;

pub use algorithm::{Algorithm, AnyModel, BanditModel, Model};
pub use example::{Features, Label, Target};
pub use learner::{BanditLearner, ExpertLearner, OnlineLearner, Predictor};
pub use param::{ParamError, Value, Values};
pub use prediction::{Decision, Prediction, Reward};
pub use problem::Problem;
pub use registry::{ALGORITHMS, find};

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;
