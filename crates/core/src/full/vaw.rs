//! # VAW: the forecaster of Vovk, Azoury and Warmuth for squared loss
//!
//! Ridge regression that already counts the coming row, with target 0. It is what GAF becomes for squared
//! loss, where the surrogates are exact; the regret is logarithmic in $T$, and nothing but $\lambda$ is to be
//! chosen.
//!
//! ## Reference
//!
//! Volodya Vovk, *Competitive On-line Statistics*, International Statistical Review 69 (2001), and Katy
//! Azoury, Manfred Warmuth, *Relative Loss Bounds for On-line Density Estimation with the Exponential Family
//! of Distributions*, Machine Learning 43 (2001); as GAF: Rémi Jézéquel, Pierre Gaillard, Alessandro Rudi,
//! *Mixability made efficient*, NeurIPS 2021, section 4.1. `references.bib`: `vovk2001vaw`; theory: gaf 3.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $d, T$ | `problem` | features, rounds |
//! | $B, R$ | `norm`, `radius` | bounds on $\lVert \theta \rVert_2$ of the comparator and on $\lVert x \rVert_2$ |
//! | $Y$ | `target_bound` | bound on $\lvert y \rvert$ |
//! | $\lambda$ | `regularization` | weight of $\lVert \theta \rVert^2$ |
//! | $A_t^{-1}$ | `inverse` | $A_t = \lambda I + \sum_{s \le t} x_s x_s^\top$ |
//! | $b_t$ | `b` | $\sum_{s \le t} y_s x_s$ |
//! | $\hat y_t$ | `scores` | the forecast; there are no probabilities |
//!
//! $$ w = A_{t-1}^{-1} x_t, \quad v = x_t^\top w, \quad \hat y_t = x_t^\top (A_{t-1} + x_t x_t^\top)^{-1}
//!    b_{t-1} = \frac{w^\top b}{1+v}, \tag{1} $$
//! $$ b \mathrel{+}= y_t x_t, \qquad A^{-1} \mathrel{-}= \tfrac{1}{1+v}\ ww^\top. \tag{2} $$
//!
//! For every $\lVert \theta \rVert \le B$, data-dependent and, for $\lvert y_t \rvert \le Y$, at its worst:
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 + \textstyle\sum_t (\hat y_t^2 - 2\hat y_t y_t) + b_T^\top
//!    A_T^{-1} b_T \tag{3} $$
//! $$ \phantom{\mathrm{Regret}(\theta)} \le \lambda B^2 + dY^2 \ln(1 + TR^2/(\lambda d)). \tag{4} $$
//!
//! ## Deviations
//!
//! * GAF's section 4.1 counts $\lambda\lVert\theta\rVert^2$ twice and drops a square; equation (1) is the
//!   standard forecaster.
//! * $B$ and $Y$ have no theoretical defaults: `norm` is $30/R$ as for the other learners, and $Y$ is
//!   unknown, taken as 1 in the default of $\lambda$. A $Y$ that is given also clips the forecasts, which the
//!   guarantee allows and does not need.
//! * An importance weight multiplies a round's loss once it is known; the forecast counts the coming row with
//!   weight 1.
//!
//! ## Cost
//!
//! `predict` $2d^2$ flops, `update` $d^2$ (amortised by the blocked engine); memory $d^2$ numbers.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Batch, Features, Target, Truth};
use crate::guarantee::{Guarantee, Promise, setting};
use crate::kernel::second_order::{Lesson, SecondOrder};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor};
use crate::merge::{self, Merge, MergeError};
use crate::parallel::Workers;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Vaw`].
    pub struct VawParams {
        /// Bound $B$ on the Euclidean norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared norm, > 0.
        regularization: f64 = "(target_bound / norm)^2, or 1 / norm^2 without a target_bound",
        /// Bound $Y$ on the absolute value of the targets, > 0; forecasts are clipped to it.
        target_bound: f64 = "unknown: nothing is clipped",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Vaw {
    params: VawParams,
    problem: Problem,
    /// $\lambda$.
    regularization: f64,
    /// $A^{-1}$ and $b$.
    state: SecondOrder,
    /// $\sum_t \hat y_t^2 - 2 \hat y_t y_t$.
    slack: f64,
    rounds: u64,
    /// Learners that were merged into this one, itself included: 1 if none were.
    parts: u64,
    /// The scratch of rounds whose prediction is outgrown.
    spare: Vec<f64>,
}

impl Algorithm for Vaw {
    type Params = VawParams;

    const ABOUT: About = About {
        name: "vaw",
        summary: "online regression for squared loss that counts the coming row: Vovk-Azoury-Warmuth",
        paper: Paper { key: "vovk2001vaw", place: "section 3; GAF: section 4.1" },
        guarantee: "regret <= lambda B^2 + d Y^2 ln(1 + T R^2/(lambda d)), norm(theta) <= B, targets in [-Y, Y]",
        cost: "3 d^2 flops a round",
        memory: "d^2 numbers",
        forecast: Forecast::Value,
        accepts: Accepts { classes: Classes::Real, soft_labels: false, weights: true },
    };

    fn new(params: VawParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let d = problem.features;
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let target_bound = params.target_bound.map(|bound| positive("target_bound", bound)).transpose()?;
        let default = (target_bound.unwrap_or(1.0) / norm).powi(2);
        let regularization = positive("regularization", params.regularization.unwrap_or(default))?;
        let mut learner = Self {
            params: VawParams {
                norm: Some(norm),
                radius: Some(radius),
                regularization: Some(regularization),
                target_bound,
            },
            problem: Problem { radius: Some(radius), ..problem },
            regularization,
            state: SecondOrder::new(1, d, regularization),
            slack: 0.0,
            rounds: 0,
            parts: 1,
            spare: Vec::new(),
        };
        learner.spare = vec![0.0; learner.state.scratch_len()];
        Ok(learner)
    }

    fn params(&self) -> VawParams {
        self.params.clone()
    }

    fn numbers(problem: &Problem) -> usize {
        SecondOrder::numbers(1, problem.features)
    }

    /// $A$, $b$, slack and rounds add up.
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        merge::by_statistics(parts, how)
    }

    fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        merge::statistics(&self.state, [self.slack, self.rounds as f64, self.parts as f64])
    }

    fn with_statistics(
        &self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        problem: Problem,
    ) -> Result<Self, MergeError> {
        let regularization = Some(how.regularization(self.regularization, parts));
        let mut merged = Self::new(VawParams { regularization, ..self.params() }, problem, 0)?;
        let [slack, rounds, models] =
            merge::restore(&mut merged.state, sum, parts, how, self.regularization)?;
        (merged.slack, merged.rounds, merged.parts) = (slack, rounds as u64, models as u64);
        Ok(merged)
    }
}

impl Predictor for Vaw {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn prediction(&self) -> Prediction {
        Prediction { probabilities: Vec::new(), ..Prediction::sized(1, self.state.scratch_len()) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let projection = self.state.project(x, &mut out.scratch);
        let forecast = projection.image[0] / (1.0 + projection.gram[0]); // eq. (1)
        out.scores[0] = self.params.target_bound.map_or(forecast, |bound| forecast.clamp(-bound, bound));
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Vaw {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let Truth::Value(value) = y.truth else {
            panic!("a regression was given the class target {:?}", y.truth)
        };
        // Of a prediction from an earlier state only the forecast is still true: w and v are redone.
        let by_products = self.state.by_products(x, at, self.rounds, &mut self.spare);
        let v = self.state.gram(by_products)[0];
        let forecast = at.scores[0];
        self.slack += y.weight * (forecast * forecast - 2.0 * forecast * value);
        let mix = (y.weight / (1.0 + y.weight * v)).sqrt(); // eq. (2)
        self.state.absorb(x, by_products, Lesson { coefficients: &[y.weight * value], mix: &[mix] });
        self.rounds += 1;
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let norm = self.params.norm.expect("resolved");
        let bound = match self.params.target_bound {
            _ if self.parts > 1 => Err(merge::NO_CLOSED_FORM.to_owned()),
            Some(target_bound) => {
                let setting = setting(&self.problem, norm, self.rounds);
                Ok(bounds::vaw(&setting, self.regularization, target_bound))
            }
            None => Err("it needs a target_bound".to_owned()),
        };
        Some(Guarantee::SquaredRegret { norm, bound })
    }

    fn lookahead(&self) -> usize {
        self.state.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        self.state.prepare(coming);
    }

    fn set_workers(&mut self, workers: Workers) {
        self.state.set_workers(workers);
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes != 1 || features < self.problem.features {
            return false;
        }
        self.state.grow(1, features, self.regularization);
        self.problem.features = features;
        self.spare = vec![0.0; self.state.scratch_len()];
        true
    }

    /// Equation (3).
    fn certificate(&self) -> Option<Promise> {
        let norm = self.params.norm.expect("resolved");
        Some(Ok(self.regularization * norm * norm + self.slack + self.state.square()))
    }
}

impl State for Vaw {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.state.tensors("b");
        tensors.push(Tensor::number("slack", &mut self.slack));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::count("parts", &mut self.parts));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.state.is_consistent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;
    use crate::testing::{assert_close, items, number, numbers, quadratic, vector};

    fn vaw(params: VawParams, features: usize) -> Vaw {
        Vaw::new(params, Problem::new(1, features), 0).expect("valid")
    }

    fn round(learner: &mut Vaw, x: &[f64], y: f64) -> f64 {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(x), &mut at);
        learner.update(Features::Dense(x), Target::value(y), &at);
        at.scores[0]
    }

    #[test]
    fn parameters_are_checked_and_resolved() {
        let bad = VawParams { target_bound: Some(0.0), ..Default::default() };
        let error = Vaw::new(bad, Problem::new(1, 2), 0).expect_err("bad").to_string();
        assert_eq!(error, "target_bound = 0: must be a finite number > 0");
        let params = VawParams { target_bound: Some(3.0), norm: Some(2.0), ..Default::default() };
        assert_eq!(vaw(params, 2).params().regularization, Some(2.25));
        assert!(vaw(VawParams::default(), 2).prediction().probabilities.is_empty());
    }

    /// d = 1, λ = 1. Round 1: x = 1, forecast 0, y = 2: A = 2, b = 2. Round 2: x = 2: ŷ = x b / (A + x²) =
    /// 4/6. After y = 1: A = 6, b = 4; certificate λB² + (ŷ² - 2ŷ) + 16/6 with B = 30.
    #[test]
    fn two_rounds_by_hand() {
        let mut learner = vaw(VawParams { regularization: Some(1.0), ..Default::default() }, 1);
        assert_eq!(round(&mut learner, &[1.0], 2.0), 0.0);
        assert_close(round(&mut learner, &[2.0], 1.0), 2.0 / 3.0, 1e-15, "forecast");
        let want = 900.0 + (4.0 / 9.0 - 4.0 / 3.0) + 16.0 / 6.0;
        assert_close(learner.certificate().expect("has one").expect("holds"), want, 1e-14, "certificate");
    }

    #[test]
    fn forecasts_are_clipped_to_the_bound() {
        let params = VawParams { target_bound: Some(0.5), regularization: Some(1e-3), ..Default::default() };
        let mut learner = vaw(params, 1);
        for y in [3.0, 3.0] {
            round(&mut learner, &[1.0], y);
        }
        assert_eq!(round(&mut learner, &[1.0], 3.0), 0.5);
    }

    #[test]
    fn follows_the_reference_and_stays_within_its_certificate() {
        let reference = vector("vaw_T60_d4");
        let of = |name: &str| number(&reference["params"][name]);
        let theta = numbers(&reference["comparator"]["theta"]);
        let norm = dot(&theta, &theta).sqrt();
        let params = VawParams { norm: Some(norm), regularization: Some(of("lam")), ..Default::default() };
        let mut learner = vaw(params, 4);
        let targets = numbers(&reference["data"]["y"]);
        let forecasts = numbers(&reference["expected"]["prediction"]);
        let mut regret = 0.0;
        let (mut a, mut b) = (vec![0.0; 16], vec![0.0; 4]);
        (0..4).for_each(|i| a[5 * i] = of("lam"));
        for ((row, y), want) in items(&reference["data"]["x"]).iter().zip(targets).zip(forecasts) {
            let row = numbers(row);
            let forecast = round(&mut learner, &row, y);
            assert_close(forecast, want, 1e-12, "forecast");
            regret += (forecast - y).powi(2) - (dot(&theta, &row) - y).powi(2);
            (0..16).for_each(|at| a[at] += row[at / 4] * row[at % 4]);
            (0..4).for_each(|i| b[i] += y * row[i]);
        }
        assert_close(regret, number(&reference["summary"]["regret"]), 1e-9, "regret");
        let certificate = learner.certificate().expect("has one").expect("holds");
        let dense = of("lam") * norm * norm + learner.slack + quadratic(&a, &b);
        assert_close(certificate, dense, 1e-12, "certificate");
        assert!(regret <= certificate && certificate <= number(&reference["summary"]["bound"]));
    }
}
