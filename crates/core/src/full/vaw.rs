//! # VAW: the forecaster of Vovk, Azoury and Warmuth for squared loss
//!
//! Ridge regression that includes the coming row with target 0. It is GAF for the squared loss, which is its
//! own surrogate; the regret is logarithmic in $T$, and $\lambda$ is the only parameter of the algorithm.
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
//! For every $\lVert \theta \rVert \le B$, in terms of the data and, for $\lvert y_t \rvert \le Y$, in the
//! worst case:
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 + \textstyle\sum_t (\hat y_t^2 - 2\hat y_t y_t) + b_T^\top
//!    A_T^{-1} b_T \tag{3} $$
//! $$ \phantom{\mathrm{Regret}(\theta)} \le \lambda B^2 + dY^2 \ln(1 + TR^2/(\lambda d)). \tag{4} $$
//!
//! ## Deviations
//!
//! * GAF's section 4.1 counts $\lambda\lVert\theta\rVert^2$ twice and drops a square; equation (1) is the
//!   standard forecaster.
//! * The theory has no defaults for $B$ and $Y$: `norm` is $30/R$ as for the other learners, and an unknown
//!   $Y$ is taken as 1 in the default of $\lambda$. If $Y$ is given, forecasts are clipped to it, which the
//!   guarantee permits and does not need.
//! * An importance weight multiplies a round's loss when it is known; the forecast includes the coming row
//!   with weight 1.
//!
//! ## Cost
//!
//! `predict` $2d^2$ flops, `update` $d^2$ (with delayed updates of the matrix); memory $d^2$ numbers.

use super::second_order::{Described, Row, SecondOrderLearner, Sums, Surrogate};
use crate::algorithm::{About, Forecast, Paper};
use crate::bounds;
use crate::example::{Target, Truth};
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::kernel::second_order::RoundUpdate;
use crate::learner::{Accepts, Classes};
use crate::param::{ParamError, invertible, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};

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
pub type Vaw = SecondOrderLearner<VawSurrogate>;

/// The squared loss, which is its own surrogate, with the parameters in use.
#[derive(Clone, Copy, Debug)]
pub struct VawSurrogate {
    norm: f64,
    radius: f64,
    /// $\lambda$.
    regularization: f64,
    /// $Y$, if given.
    target_bound: Option<f64>,
}

impl Described for VawSurrogate {
    type Params = VawParams;

    const ABOUT: About = About {
        name: "vaw",
        summary: "online regression for squared loss that counts the coming row: Vovk-Azoury-Warmuth",
        paper: Paper { key: "vovk2001vaw", place: "section 3; GAF: section 4.1" },
        guarantee: "regret <= lambda B^2 + d Y^2 ln(1 + T R^2/(lambda d)), norm(theta) <= B, targets in [-Y, Y]",
        cost: "3 d^2 flops a round",
        memory: "d^2 numbers",
        forecast: Forecast::Value,
        accepts: Accepts { classes: Classes::Real, soft_labels: false, weights: true, plain: false },
    };

    fn resolve(params: VawParams, problem: &Problem, _seed: u64) -> Result<Self, ParamError> {
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let target_bound = params.target_bound.map(|bound| positive("target_bound", bound)).transpose()?;
        let default = (target_bound.unwrap_or(1.0) / norm).powi(2);
        let regularization = params.regularization.unwrap_or(default);
        let regularization = invertible("regularization", regularization, radius)?;
        Ok(Self { norm, radius, regularization, target_bound })
    }

    fn params(&self) -> VawParams {
        VawParams {
            norm: Some(self.norm),
            radius: Some(self.radius),
            regularization: Some(self.regularization),
            target_bound: self.target_bound,
        }
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

impl Surrogate for VawSurrogate {
    const VECTOR: &'static str = "b";

    fn blocks(&self) -> usize {
        1
    }

    fn outputs(&self) -> (usize, usize) {
        (1, 0)
    }

    fn regularization(&self) -> f64 {
        self.regularization
    }

    fn work_len(&self) -> usize {
        2
    }

    fn forecast(&self, row: Row<'_>, _: &mut [f64], scores: &mut [f64], _: &mut [f64]) {
        let forecast = row.image[0] / (1.0 + row.gram[0]); // eq. (1)
        scores[0] = self.target_bound.map_or(forecast, |bound| forecast.clamp(-bound, bound));
    }

    /// For an outdated prediction, only the forecast is used.
    fn learn<'w>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        _: &[f64],
        gram: &[f64],
        sums: &mut Sums,
        work: &'w mut [f64],
    ) -> RoundUpdate<'w> {
        let Truth::Value(value) = y.truth else {
            panic!("a regression was given the class target {:?}", y.truth)
        };
        let (v, forecast) = (gram[0], at.scores[0]);
        sums.slack += y.weight * (forecast * forecast - 2.0 * forecast * value);
        work[0] = y.weight * value;
        work[1] = (y.weight / (1.0 + y.weight * v)).sqrt(); // eq. (2)
        let (coefficients, mix) = work.split_at(1);
        RoundUpdate { coefficients, mix }
    }

    fn grow(&mut self, classes: usize) -> bool {
        classes == 1
    }

    /// Equation (4).
    fn guarantee(learner: &Vaw) -> Option<Guarantee<'_>> {
        let Self { norm, regularization, target_bound, .. } = learner.surrogate;
        let bound = learner.closed_form(norm, |setting| {
            let bound = target_bound.ok_or("it needs a target_bound")?;
            Ok(bounds::vaw(setting, regularization, bound))
        });
        Some(Guarantee::SquaredRegret { norm, target_bound, bound })
    }

    /// Equation (3).
    fn certificate(learner: &Vaw) -> Option<Promise> {
        let Self { norm, regularization, .. } = learner.surrogate;
        Some(Ok(regularization * norm * norm + learner.sums.slack + learner.state.square()))
    }

    fn certificate_terms(learner: &Vaw) -> Option<Terms> {
        let Self { norm, regularization, .. } = learner.surrogate;
        Some(learner.terms(regularization * norm * norm, learner.state.square(), 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::example::Features;
    use crate::kernel::vector::dot;
    use crate::learner::{OnlineLearner as _, Predictor as _};
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
    fn parameters_are_resolved() {
        let params = VawParams::new().target_bound(3.0).norm(2.0);
        assert_eq!(vaw(params, 2).params().regularization, Some(2.25));
        assert!(vaw(VawParams::default(), 2).prediction().probabilities.is_empty());
    }

    /// d = 1, λ = 1. Round 1: x = 1, forecast 0, y = 2: A = 2, b = 2. Round 2: x = 2: ŷ = x b / (A + x²) =
    /// 4/6. After y = 1: A = 6, b = 4; certificate λB² + (ŷ² - 2ŷ) + 16/6 with B = 30.
    #[test]
    fn two_rounds_by_hand() {
        let mut learner = vaw(VawParams::new().regularization(1.0), 1);
        assert_eq!(round(&mut learner, &[1.0], 2.0), 0.0);
        assert_close(round(&mut learner, &[2.0], 1.0), 2.0 / 3.0, 1e-15, "forecast");
        let want = 900.0 + (4.0 / 9.0 - 4.0 / 3.0) + 16.0 / 6.0;
        assert_close(learner.certificate().expect("has one").expect("holds"), want, 1e-14, "certificate");
    }

    #[test]
    fn forecasts_are_clipped_to_the_bound() {
        let params = VawParams::new().target_bound(0.5).regularization(1e-3);
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
        let params = VawParams::new().norm(norm).regularization(of("lam"));
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
        let dense = of("lam") * norm * norm + learner.sums.slack + quadratic(&a, &b);
        assert_close(certificate, dense, 1e-12, "certificate");
        assert!(regret <= certificate && certificate <= number(&reference["summary"]["bound"]));
    }
}
