//! Online multiclass learning with regret guarantees.
//!
//! A learner processes rows one at a time: it predicts, receives the label, and learns. Its regret
//! is its cumulative loss minus that of the best fixed linear predictor in hindsight; a theorem
//! bounds it for *every* stream.
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
//! # Modules
//!
//! * [`problem`], [`example`], [`prediction`]: the problem (classes, features, radius), a round's
//!   input, a round's output.
//! * [`learner`]: the traits; [`capability`]: those of what only some learners can. [`full`]:
//!   full-information learners, one file each; [`bandit`]: bandit learners; [`boosting`]: boosting of weak
//!   learners; [`experts`]: prediction with expert advice, and mixtures of learners, including the default.
//! * [`registry`]: the list of algorithms, each an `entry`; [`algorithm`] and [`param`]: their descriptions
//!   and parameters.
//! * [`state`] and [`model`]: the state of learners, and model files; [`merge`]: merging of
//!   learners.
//! * [`loss`]: losses of scores. [`bounds`]: the theorems' right-hand sides; [`guarantee`]: a
//!   theorem evaluated for a learner in its present state; [`facts`]: whether a run is as it assumes.
//! * [`batch`]: the best predictor in hindsight; online-to-batch conversion.
//! * [`open_classes`]: classes that appear during a run.
//! * [`rng`]: the seeded generator; [`parallel`]: work on threads of the caller; `kernel`: mathematics that
//!   learners share; `hand_on`: methods of wrappers.
//!
//! # Features
//!
//! * `model`, on by default: model files, [`model`].
//! * `suggestions`, on by default: "did you mean" in errors.
//!
//! Learners are infallible: parameters are checked when a learner is made, rows where they are read
//! (see [`Features`]).

pub mod algorithm;
pub mod bandit;
pub mod batch;
pub mod boosting;
pub mod bounds;
pub mod capability;
mod entry;
pub mod example;
pub mod experts;
pub mod facts;
pub mod full;
pub mod guarantee;
mod hand_on;
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
