//! # OGD: online gradient descent on the multiclass logistic loss
//!
//! The baseline of all papers here: one matrix of weights, a gradient step, and a projection to the ball of
//! comparators.
//!
//! ## Reference
//!
//! Martin Zinkevich, *Online Convex Programming and Generalized Infinitesimal Gradient Ascent*, ICML 2003,
//! Theorem 1, for the logistic loss. `references.bib`: `zinkevich2003ogd`; theory: baselines 1.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `weights` | $K \times d$, starts at 0 |
//! | $B$ | `norm` | radius of the ball of comparators |
//! | $G_o$ | | bound $\sqrt2 R$ on the gradient's Frobenius norm |
//! | $\eta_t$ | `rate`, `schedule` | step size |
//!
//! $$ z_t = W_t x_t, \quad p = \sigma(z_t), \tag{1} $$
//! $$ W_{t+1} = \Pi\big(W_t - \eta_t (p - y)\ x_t^\top\big), \quad \eta_t = \eta_0/\sqrt t \ \text{or}\
//!    \eta_0. \tag{2} $$
//!
//! Frobenius ball: $\eta_0 = 2B/G_o$ gives $\mathrm{Regret} \le 3BG_o\sqrt T$; the constant
//! $\eta_0 = B/(G_o\sqrt T)$ gives $BG_o\sqrt T$. Row ball: the same with $B\sqrt K$ for $B$.
//!
//! ## Deviations
//!
//! * The theory has no default for $B$: `norm` is $30/R$, as for the other learners.
//! * An importance weight multiplies the gradient, which for weights above 1 is taken where as many rounds of
//!   weight 1 would lead (theory: extensions 1.3). The step-size schedule counts rounds, not weight.
//! * Late feedback takes the gradient at the scores of the prediction, and steps from the current weights.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `update`; memory $Kd$ numbers, allocated only for features
//! that occur.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{self, Guarantee, provided, setting};
use crate::kernel::softmax::quick_softmax;
use crate::kernel::weights::Weights;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, grow, own};
use crate::loss::heavy;
use crate::param::{ParamError, UNSET, positive};
use crate::prediction::Prediction;
use crate::problem::{Problem, resolve_norm};
use crate::state::state;
use crate::{param_words, params};

param_words! {
    /// The set that the weights are projected to.
    pub enum OgdBall {
        /// $\lVert W \rVert_F \le B$.
        Frobenius = "frobenius",
        /// $\lVert w_k \rVert_2 \le B$ for every row.
        Rows = "rows",
        /// No projection.
        None = "none",
    }
}

param_words! {
    /// How the step size changes from round to round.
    pub enum Schedule {
        /// $\eta_0 / \sqrt t$.
        Sqrt = "sqrt",
        /// $\eta_0$.
        Constant = "constant",
    }
}

params! {
    /// Parameters of [`Ogd`].
    pub struct OgdParams {
        /// Radius $B$ of the ball of comparators, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Step size $\eta_0$, > 0.
        rate: f64 = "sqrt: 2 N / (sqrt(2) radius); constant: N / (sqrt(2) radius sqrt(horizon)), N = norm, or norm sqrt(classes) for ball = rows",
        /// `sqrt` or `constant` (which needs a horizon or a rate).
        schedule: Schedule = "sqrt",
        /// `frobenius`, `rows` or `none`.
        ball: OgdBall = "frobenius",
        /// Number of rounds $T$, for the constant schedule, >= 1.
        horizon: u64 = "the stream's, if known",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ogd {
    params: OgdParams,
    problem: Problem,
    norm: f64,
    rate: f64,
    schedule: Schedule,
    ball: OgdBall,
    weights: Weights,
    rounds: u64,
    step: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

impl Algorithm for Ogd {
    type Params = OgdParams;

    const ABOUT: About = About {
        name: "ogd",
        summary: "online gradient descent on the logistic loss",
        paper: Paper { key: "zinkevich2003ogd", place: "Theorem 1" },
        guarantee: "regret <= 3 sqrt(2) B R sqrt(T) in the Frobenius ball; rows: times sqrt(K)",
        cost: "4 K nnz(x) flops a round",
        memory: "K d numbers; sparse rows: K a feature seen",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: OgdParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let norm = resolve_norm(params.norm, radius)?;
        let schedule = params.schedule.unwrap_or(Schedule::Sqrt);
        let ball = params.ball.unwrap_or(OgdBall::Frobenius);
        let horizon = params.horizon.or(problem.horizon);
        let gradient = std::f64::consts::SQRT_2 * radius;
        let diameter = if ball == OgdBall::Rows { norm * (k as f64).sqrt() } else { norm };
        let rate = match (params.rate, schedule, horizon) {
            (Some(rate), _, _) => rate,
            (None, Schedule::Sqrt, _) => 2.0 * diameter / gradient,
            (None, Schedule::Constant, Some(horizon)) if horizon > 0 => {
                diameter / (gradient * (horizon as f64).sqrt())
            }
            (None, Schedule::Constant, _) => {
                let need = "given when schedule = constant and the number of rounds (horizon) is unknown";
                return Err(ParamError::invalid("rate", UNSET, need));
            }
        };
        let rate = positive("rate", rate)?;
        Ok(Self {
            params: OgdParams {
                norm: Some(norm),
                radius: Some(radius),
                rate: Some(rate),
                schedule: Some(schedule),
                ball: Some(ball),
                horizon,
            },
            problem: Problem { radius: Some(radius), ..problem.clone() },
            norm,
            rate,
            schedule,
            ball,
            weights: Weights::new(k, d, problem.sparse),
            rounds: 0,
            step: vec![0.0; k],
            ahead: Prediction::default(),
        })
    }

    own! { params, weights }
}

impl Ogd {
    /// $\Pi$: scales weights outside the ball back to its boundary.
    fn project(&mut self) {
        let factor = |norm_squared: f64| {
            let norm = norm_squared.sqrt();
            (norm > self.norm).then(|| self.norm / norm)
        };
        let classes = self.problem.classes;
        match self.ball {
            OgdBall::None => {}
            OgdBall::Frobenius => {
                if let Some(factor) = factor(self.weights.norms_squared().iter().sum()) {
                    (0..classes).for_each(|class| self.weights.shrink_row(class, factor));
                }
            }
            OgdBall::Rows => {
                for class in 0..classes {
                    if let Some(factor) = factor(self.weights.norms_squared()[class]) {
                        self.weights.shrink_row(class, factor);
                    }
                }
            }
        }
    }
}

impl Predictor for Ogd {
    own! { problem, prediction }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.weights.scores(x, &mut out.scores); // eq. (1)
        quick_softmax(&out.scores, &mut out.probabilities);
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Ogd {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.rounds += 1;
        let rate = match self.schedule {
            Schedule::Sqrt => self.rate / (self.rounds as f64).sqrt(),
            Schedule::Constant => self.rate,
        };
        let linearised = if y.weight > 1.0 {
            heavy::diagonal(|a| a.fill(rate * x.norm_squared()), y, at, &mut self.ahead)
        } else {
            at
        };
        self.step.copy_from_slice(&linearised.probabilities);
        y.truth.subtract_from(&mut self.step);
        for step in &mut self.step {
            *step *= -rate * y.weight;
        }
        let scores = at.is_fresh(self.rounds - 1).then_some(&at.scores[..]);
        self.weights.add(&self.step, x, scores); // eq. (2)
        self.project();
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let ball = match self.ball {
            OgdBall::Frobenius => guarantee::Ball::Frobenius,
            OgdBall::Rows => guarantee::Ball::Rows,
            OgdBall::None => return None,
        };
        let mut setting = setting(&self.problem, self.norm, self.rounds);
        if self.ball == OgdBall::Rows {
            setting = setting.rows_in_frobenius_ball();
        }
        let gradient = std::f64::consts::SQRT_2 * setting.radius;
        let bound = match (self.schedule, self.params.horizon) {
            (Schedule::Sqrt, _) => {
                let theorem = 2.0 * setting.norm / gradient;
                provided(self.rate == theorem, "the rate is not the theorem's", || {
                    bounds::ogd_square_root(&setting)
                })
            }
            (Schedule::Constant, horizon) => {
                let rounds = horizon.unwrap_or(0) as f64;
                let theorem = setting.norm / (gradient * rounds.sqrt());
                let holds = self.rate == theorem && setting.rounds <= rounds;
                provided(holds, "the rate is not the theorem's for the number of rounds", || {
                    bounds::ogd_constant(&bounds::Setting { rounds, ..setting })
                })
            }
        };
        Some(Guarantee::Regret { ball: Some(ball), norm: self.norm, bound })
    }

    grow! { weights, step }
}

state! { Ogd; weights; count rounds }

#[cfg(test)]
mod tests {
    use super::*;

    /// B = R = 1, so η_0 = √2. Round 1, x = (1, 0), y = 0: p = 1/3 each, W = √2 (2/3, -1/3, -1/3) of norm
    /// √(4/3), scaled by √3/2 to the ball: √6/6 (2, -1, -1). Round 2, x = (1/2, 1): z = √6/12 (2, -1, -1).
    #[test]
    fn two_rounds_by_hand() {
        let params = OgdParams::new().norm(1.0);
        let mut ogd = Ogd::new(params, Problem::new(3, 2).with_radius(1.0), 0).expect("valid parameters");
        let mut at = ogd.prediction();
        ogd.predict(Features::Dense(&[1.0, 0.0]), &mut at);
        assert_eq!(at.scores, [0.0; 3]);
        ogd.update(Features::Dense(&[1.0, 0.0]), Target::class(0), &at);
        ogd.predict(Features::Dense(&[0.5, 1.0]), &mut at);
        for (score, factor) in at.scores.iter().zip([2.0, -1.0, -1.0]) {
            assert!((score - factor * 6f64.sqrt() / 12.0).abs() < 1e-15, "{:?}", at.scores);
        }
    }

    #[test]
    fn a_constant_rate_needs_a_horizon_or_a_rate() {
        let new = |params: OgdParams, problem| Ogd::new(params, problem, 0).map(|ogd| ogd.rate);
        let constant = OgdParams::new().schedule(Schedule::Constant).norm(1.0);
        let problem = || Problem::new(2, 1).with_radius(2.0);
        assert!(new(constant.clone(), problem()).is_err());
        let rate = new(constant.clone(), problem().with_horizon(50)).expect("the stream's horizon");
        assert!((rate - 0.05).abs() < 1e-15, "B / (√2 R √T) = 1 / 20, not {rate}");
        assert_eq!(new(OgdParams { horizon: Some(50), ..constant.clone() }, problem()), Ok(rate));
        assert_eq!(new(OgdParams { rate: Some(3.0), ..constant }, problem()), Ok(3.0));
    }
}
