//! # The bandit reduction: any online logistic regression with bandit feedback
//!
//! In every round a coin is tossed: with probability $\gamma$ a uniformly random class is played, and the
//! base learner learns from a right guess; otherwise a class is drawn from the base learner's forecast, and
//! nothing is learnt.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: Algorithm 2, Theorem 4.1. `references.bib`: `agarwal2022folklore`; theory:
//! bandit 6.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\mathcal A$ | `base` | online logistic regression of regret $R(T)$ |
//! | $\gamma$ | `exploration` | probability of uniform play |
//! | $\sigma(z_t)$ | `forecast` | $q$, the base learner's forecast |
//! | $Z_t$ | `explored` | result of the coin, 1 for uniform play |
//!
//! $$ Z \sim \text{Bernoulli}(\gamma), \quad \tilde y \sim \text{uniform if } Z \text{ else } q, \qquad
//!    p = (1 - \gamma)\ q + \tfrac\gamma K 1, \tag{1} $$
//! $$ \text{if } Z \text{ and } \tilde y = y: \quad \mathcal A \text{ learns } (x, y). \tag{2} $$
//!
//! For every $U$ in the ball of $\mathcal A$, with log losses in nats: $\mathbb E M \le \sum_t \ell_t(U) +
//! \tfrac K\gamma R(T) + \gamma T$ ([`crate::bounds::bandit_reduction`]); with $\gamma = \min(1,
//! \sqrt{KR/T})$ the right-hand side is $\sum_t \ell_t(U) + 2\sqrt{KTR}$.
//!
//! ## Deviations
//!
//! * The printed theorem lacks the factor 2 and the bound $\gamma \le 1$.
//! * $R(T)$ depends on the base learner; the default rate uses $R = Kd\ln(1 + T)$, the order of the regrets
//!   of FOLKLORE and online Newton steps, and is 0.1 if $T$ is unknown.
//! * The base learner learns from the scores and the forecast of the decision, so that late feedback is as
//!   exact as for the base learner itself.
//!
//! ## Cost
//!
//! That of the base learner, which learns in about $\gamma T/K$ rounds.

use std::f64::consts::SQRT_2;
use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast, Model, Paper};
use crate::bounds;
use crate::entry::{Entry, Learners};
use crate::example::{Features, Target};
use crate::full::folklore::Folklore;
use crate::guarantee::{Ball, Guarantee, MistakeBound, Promise, reference_norm, setting};
use crate::learner::{Accepts, BanditLearner, Classes, Feedback, own};
use crate::param::{ParamError, fraction};
use crate::params;
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::rng::Uniforms;
use crate::state::{State, Tensor};

/// The prefix of parameters of the base learner.
const PREFIX: &str = "base.";

params! {
    /// Parameters of [`BanditReduction`].
    pub struct BanditReductionParams wraps PREFIX as base_values {
        /// Name of the base learner, one of probabilities; its parameters as base.norm=2 and so on.
        base: String = "folklore",
        /// Probability $\gamma$ of uniform play, in [0, 1].
        exploration: f64 = "min(1, sqrt(classes R / horizon)), R = classes features ln(1 + horizon); 0.1 if the horizon is unknown",
        /// Number of rounds $T$, >= 1, for the default exploration.
        horizon: u64 = "the stream's, if known",
    }
}

impl BanditReductionParams {
    fn check_wrapped(&self) -> Result<(), ParamError> {
        base_entry(self)?.check_names(&self.base_values)
    }
}

/// The entry of the base learner.
fn base_entry(params: &BanditReductionParams) -> Result<&'static Entry, ParamError> {
    static DEFAULT: Entry = Entry::full::<Folklore>();
    let name = params.base.as_deref().unwrap_or(DEFAULT.about.name);
    if name == DEFAULT.about.name {
        return Ok(&DEFAULT);
    }
    let entry = params.learners.find(name)?;
    let probabilities = entry.feedback != Feedback::Bandit && entry.about.forecast == Forecast::Probabilities;
    if !probabilities || entry.is_mixture() {
        let need =
            "a learner that forecasts probabilities and learns from labels, and is no mixture of learners";
        return Err(ParamError::invalid("base", name, need));
    }
    Ok(entry)
}

/// See the [module](self).
pub struct BanditReduction {
    exploration: f64,
    horizon: Option<u64>,
    base: Box<dyn Model>,
    learners: Learners,
    rounds: u64,
    /// The scores and the forecast of a decision, in the form that the base learner takes.
    at: Prediction,
}

impl BanditReduction {
    /// The base learner.
    pub fn base(&self) -> &dyn Model {
        self.base.as_ref()
    }

    /// A bound on the base learner's regret in the number $m$ of rounds that it learns in expectation, from
    /// its
    /// `bound` $R(n)$ for the $n$ rounds that it has learnt; or why there is none.
    ///
    /// $n$ is random, and $\mathbb{E} R(n) \le R(m)$ for the closed forms of the theorems, which are concave
    /// and do not fall. Therefore $R(m) \le \frac{m-1}{n-1} R(n)$ for $1 < n < m$, and $R(m) \le R(n)$ for $n
    /// \ge m$ (theory: bandit 6.3).
    fn expected_regret(&self, bound: f64) -> Promise {
        let expected = self.exploration * self.rounds as f64 / self.problem().classes as f64;
        let learnt = self.base.rounds() as f64;
        if learnt <= 1.0 && learnt < expected {
            let base = self.base.about().name;
            return Err(format!("{base} has learnt {learnt} rounds: at least 2 are needed").into());
        }
        Ok(if learnt < expected { bound * (expected - 1.0) / (learnt - 1.0) } else { bound })
    }
}

impl Clone for BanditReduction {
    fn clone(&self) -> Self {
        Self { base: self.base.boxed_clone(), at: self.at.clone(), ..*self }
    }
}

impl fmt::Debug for BanditReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BanditReduction")
            .field("exploration", &self.exploration)
            .field("base", &self.base.about().name)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Algorithm for BanditReduction {
    type Params = BanditReductionParams;

    const ABOUT: About = About {
        name: "bandit-reduction",
        summary: "any online logistic regression with bandit feedback: it learns where exploration was right",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 2, Theorem 4.1" },
        guarantee: "expected mistakes <= log loss of U + K R / gamma + gamma T, R the base learner's regret",
        cost: "that of the base learner",
        memory: "that of the base learner",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: BanditReductionParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes as f64, problem.features as f64);
        let horizon = params.horizon.or(problem.horizon);
        let theory = horizon.map(|t| {
            let t = t.max(1) as f64;
            (k * k * d * t.ln_1p() / t).sqrt().min(1.0)
        });
        let exploration = fraction("exploration", params.exploration.or(theory).unwrap_or(0.1))?;
        let base = base_entry(&params)?.make(&params.base_values, problem, seed);
        let base = base.map_err(|error| error.within(PREFIX))?;
        Ok(Self {
            exploration,
            horizon,
            base,
            learners: params.learners,
            rounds: 0,
            at: Prediction::default(),
        })
    }

    fn params(&self) -> BanditReductionParams {
        BanditReductionParams {
            base: Some(self.base.about().name.to_owned()),
            exploration: Some(self.exploration),
            horizon: self.horizon,
            base_values: self.base.values(),
            learners: self.learners,
        }
    }

    /// Without parameters the base learner is unknown; every learner of probabilities has at least this size.
    fn numbers(problem: &Problem) -> usize {
        problem.features
    }

    fn numbers_for(params: &BanditReductionParams, problem: &Problem) -> usize {
        let base = base_entry(params).and_then(|entry| entry.numbers(&params.base_values, problem));
        base.unwrap_or_else(|_| Self::numbers(problem))
    }

    fn numbers_at_first(params: &BanditReductionParams, problem: &Problem) -> usize {
        let base = base_entry(params).and_then(|entry| entry.numbers_at_first(&params.base_values, problem));
        base.unwrap_or(0)
    }
}

impl BanditLearner for BanditReduction {
    fn problem(&self) -> &Problem {
        self.base.problem()
    }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        if offered.is_some() {
            return false;
        }
        out.start(self.problem().classes, self.rounds + 1);
        if out.work.0.scores.len() != out.scores.len() {
            out.work.0 = self.base.prediction();
        }
        self.base.predict(x, &mut out.work.0);
        out.scores.copy_from_slice(&out.work.0.scores);
        out.forecast.extend_from_slice(&out.work.0.probabilities);
        out.explore_forecast(self.exploration);
        true
    }

    fn play(&self, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        let coin = uniforms.coin();
        out.toss_and_draw(coin, uniforms.uniform()); // eq. (1)
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        if reward.is_right() && taken.explored == Some(true) {
            self.at.scores.clone_from(&taken.scores);
            self.at.probabilities.clone_from(&taken.forecast);
            self.base.update(x, Target::class(taken.label as usize), &self.at); // eq. (2)
        }
    }

    fn learns_of_others(&self) -> bool {
        false
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.base.grow(classes, features)
    }

    /// Theorem 4.1. The number of rounds that the base learner has learnt is random, and the theorem has the
    /// expectation of its bound; see `expected_regret`.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let base = self.base.about().name;
        let has = |param: &str| self.base.values().contains_key(param);
        let (norm, bound) = match self.base.guarantee() {
            // Kernels' bounds are no functions of the number of rounds, and whether nodes are near enough to
            // each other is found out from the rows.
            Some(_) if has("kernel") || has("nodes") => (
                f64::NAN,
                Err(format!(
                    "the bound of {base}, the base learner, depends on the rows that it has learnt, which are drawn at random"
                )
                .into()),
            ),
            Some(_) if has("samples") => (
                f64::NAN,
                Err(format!(
                    "the bound of {base}, the base learner, holds with high probability where it draws samples, and not in expectation"
                )
                .into()),
            ),
            // The norm of a difference of two rows is at most √2 times the norm of the matrix.
            Some(Guarantee::Regret { ball: Some(Ball::Euclidean), norm, bound }) => (norm / SQRT_2, bound),
            // A matrix in the Frobenius ball has rows of at most that norm.
            Some(Guarantee::Regret { ball: Some(Ball::Frobenius | Ball::Rows), norm, bound }) => {
                (norm, bound)
            }
            Some(_) => (
                f64::NAN,
                Err(format!("{base}, the base learner, competes with others than linear predictors").into()),
            ),
            None => (f64::NAN, Err(format!("{base}, the base learner, has no theorem").into())),
        };
        let norm = if norm.is_finite() { norm } else { reference_norm(self.problem()) };
        let bound: Promise<MistakeBound<'_>> = match bound {
            _ if self.exploration == 0.0 => Err("exploration is 0".into()),
            Err(why) => Err(why),
            Ok(regret) => self.expected_regret(regret).map(|regret| -> MistakeBound<'_> {
                Box::new(move |u| {
                    let setting = setting(self.problem(), u.norm, self.rounds);
                    u.log_loss + bounds::bandit_reduction(&setting, regret, self.exploration)
                })
            }),
        };
        Some(Guarantee::Mistakes { norm, bound, drawn: None })
    }
}

impl State for BanditReduction {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.base.tensors().into_iter().map(|tensor| tensor.within("base")).collect();
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.base.restored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::folklore::FolkloreParams;
    use crate::learner::{OnlineLearner, Predictor};
    use crate::loss::curvature::Curvature;
    use crate::testing::{assert_all_close, values};

    struct Given(f64, f64);

    impl Uniforms for Given {
        fn uniform(&mut self) -> f64 {
            self.1
        }

        fn coin(&mut self) -> f64 {
            self.0
        }
    }

    /// The base learner learns exactly the explored right guesses.
    #[test]
    fn the_base_learner_learns_explored_right_guesses_only() {
        let problem = || Problem::new(3, 2).with_radius(1.0);
        let values = values("exploration=0.5 base.norm=2 base.curvature=0.1");
        let params = crate::registry::LEARNERS.read("bandit-reduction", &values).expect("known");
        let mut learner = BanditReduction::new(params, problem(), 0).expect("valid");
        let params = FolkloreParams::new().norm(2.0).curvature(Curvature::Value(0.1));
        let mut alone = Folklore::new(params, problem(), 0).expect("valid");
        let mut at = Decision::default();
        let mut prediction = alone.prediction();
        for (t, x) in crate::testing::unit_rows(4, 60, 2).iter().enumerate() {
            let x = Features::Dense(x);
            let (coin, uniform) = ([0.2, 0.8][t % 2], (t as f64 * 0.618).fract());
            learner.act(x, &mut Given(coin, uniform), &mut at);
            alone.predict(x, &mut prediction);
            assert_all_close(&at.scores, &prediction.scores, 1e-12, "score");
            let correct = t % 3 != 0;
            learner.learn(x, &at, correct.into());
            if correct && t % 2 == 0 {
                alone.update(x, Target::class(at.label as usize), &prediction);
            }
        }
        assert_eq!(learner.base().rounds(), 20);
    }

    /// A bound that is about the rows that were drawn, or fails with some probability, bounds no expectation.
    #[test]
    fn what_bounds_no_expectation_is_withheld() {
        let bound = |settings: &str, classes: usize| {
            let values = values(&format!("exploration=0.5 {settings}"));
            let params = crate::registry::LEARNERS.read("bandit-reduction", &values).expect("known");
            let problem = Problem::new(classes, 1).with_radius(1.0);
            let mut learner = BanditReduction::new(params, problem, 0).expect("valid");
            let mut at = Decision::default();
            for _ in 0..20 {
                learner.act(Features::Dense(&[1.0]), &mut Given(0.2, 0.1), &mut at);
                learner.learn(Features::Dense(&[1.0]), &at, true.into());
            }
            match learner.guarantee() {
                Some(Guarantee::Mistakes { bound, .. }) => bound.map(drop).map_err(|why| why.to_string()),
                _ => panic!("it has a theorem about mistakes"),
            }
        };
        assert_eq!(bound("base=gaf", 3), Ok(()), "quadrature");
        let why = bound("base=gaf base.samples=20000 base.smoothing=0.5", 3).expect_err("samples");
        assert!(why.ends_with("where it draws samples, and not in expectation"), "{why}");
        let why = bound("base=aggregating base.norm=1", 2).expect_err("nodes");
        assert!(why.contains("depends on the rows that it has learnt"), "{why}");
    }
}
