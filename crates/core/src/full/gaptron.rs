//! # Gaptron: randomised classification that exploits the surrogate gap
//!
//! Online gradient descent on a surrogate loss. The best class is played, mixed with a uniformly random one
//! at a rate that depends on the scores (the gap map). The number of expected mistakes beyond the
//! comparator's surrogate loss is then bounded by a constant, for every $T$.
//!
//! ## Reference
//!
//! Dirk van der Hoeven, *Exploiting the Surrogate Gap in Online Multiclass Classification*, NeurIPS 2020,
//! arXiv:2007.12618: Algorithm 1, Theorems 1 to 3. `references.bib`: `vanderhoeven2020gaptron`; theory:
//! gaptron 1.1, 2.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `weights` | $K \times d$, starts at 0 |
//! | $\eta$ | `rate` | learning rate |
//! | $\gamma$ | `exploration` | least rate of uniform play |
//! | $a(W, x)$ | [`Surrogate::gap`] | gap map |
//! | $\mathcal W$, $D$ | `norm` | the ball that $W$ is projected to, and its radius |
//! | $X$ | `radius` | bound on $\lVert x \rVert_2$ |
//! | $p'_t$ | `probabilities` | the distribution that the played class is drawn from |
//!
//! $$ s = W_t x_t, \quad \hat y = \arg\max_k s_k, \quad
//!    p' = (1 - \max(a, \gamma))\ e_{\hat y} + \max(a, \gamma)\ \tfrac1K 1, \tag{1} $$
//! $$ W_{t+1} = \Pi\big(W_t - \eta\ c_t x_t^\top\big), \quad c_t = \nabla_s \ell(s, y_t). \tag{2} $$
//!
//! With $\eta$ at most [`Surrogate::full_information_rate`], for every $U$ in the ball:
//! $\mathbb{E} M \le \sum_t \ell_t(U) + \lVert U \rVert_F^2/(2\eta) + \gamma T(K-1)/K$, where $\mathbb{E} M =
//! \sum_t 1 - p'_t(y_t)$: the guarantee needs the randomisation, although all labels are revealed. It holds
//! without the expectation for the sum of the probabilities, and hence for the mistakes of the labels drawn
//! with high probability, [`crate::bounds::drawn_mistakes`] (theory: gaptron 3.2).
//!
//! ## Deviations
//!
//! * The paper's table prints $1/(2KX^2)$ for the smooth hinge loss, which violates the guarantee; the
//!   default is the theorem's $1/(4KX^2)$.
//! * The gap map of the hinge loss is clamped at 0, see [`crate::loss::gap`].
//! * With full information no ball is needed: `norm` is infinite by default.
//! * A `rate` above the theorem's is accepted, without a guarantee; tuned rates have fewer mistakes in
//!   practice.
//! * With bandit feedback (`mode = bandit`) see [`crate::bandit::gaptron`].
//! * Late feedback takes the gradient at the scores of the prediction, and steps from the current weights.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `update`, including the projection; memory $Kd$ numbers,
//! allocated only for features that occur.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{Guarantee, MISS, MistakeBound, Reference, reference_norm, setting};
use crate::kernel::weights::Weights;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, grow, own};
use crate::loss::gap::Surrogate;
use crate::loss::hinge::hinge;
use crate::loss::smooth_hinge::smooth_hinge;
use crate::param::exploration::Exploration;
pub use crate::param::mode::Mode;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::{Prediction, argmax, mix};
use crate::problem::Problem;
use crate::state::state;

params! {
    /// Parameters of [`Gaptron`].
    pub struct GaptronParams {
        /// Learning rate $\eta$, > 0; the guarantee holds up to the default.
        rate: f64 = "logistic: ln 2 / (2 K radius^2); hinge: (K - 1) / (K radius)^2; smooth: 1 / (4 K radius^2), K = classes; with mode = bandit times exploration / K (logistic: at least (K - 1) / (K - 1 + exp(sqrt(2) norm radius)) / K)",
        /// Least rate $\gamma$ of uniform play: a number in [0, 1], or with mode = bandit also `adaptive`,
        /// which falls as $1/\sqrt t$.
        exploration: Exploration = "0; with mode = bandit min(1, c / sqrt(horizon)), c = K radius norm times 1 / sqrt(ln 2) (logistic), K / (sqrt(2) (K - 1)) (hinge), sqrt(2) (smooth); adaptive if the horizon is unknown",
        /// Radius $D$ of the ball that the weights are projected to, > 0; `inf` for no projection.
        norm: f64 = "inf; with mode = bandit 10 / radius",
        /// Bound $X$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Number of rounds $T$, >= 1, for the default exploration of mode = bandit.
        horizon: u64 = "the stream's, if known",
        /// What is revealed of a round: `full` for the label, `bandit` for whether the played label was
        /// right.
        mode: Mode = "full",
    }
}

/// A surrogate loss as a type, so that every variant of [`Gaptron`] has its own description.
pub trait Loss: Clone + Debug + Send + Sync + 'static {
    /// The loss and its gap map.
    const SURROGATE: Surrogate;
    /// The description of Gaptron with this loss.
    const ABOUT: About;

    /// The total loss of the predictor $U$ in all rounds.
    fn total(u: &Reference<'_>) -> f64 {
        match Self::SURROGATE {
            Surrogate::Logistic => u.log_loss / std::f64::consts::LN_2,
            Surrogate::Hinge => u.total(hinge),
            Surrogate::Smooth => u.total(smooth_hinge),
        }
    }
}

/// Logistic loss in bits.
#[derive(Clone, Debug)]
pub enum Logistic {}

/// Multiclass hinge loss.
#[derive(Clone, Debug)]
pub enum Hinge {}

/// Smooth multiclass hinge loss.
#[derive(Clone, Debug)]
pub enum Smooth {}

impl Loss for Logistic {
    const SURROGATE: Surrogate = Surrogate::Logistic;
    const ABOUT: About = About {
        name: "gaptron-logistic",
        summary: "gradient descent on logistic loss, played with as much chance as the surrogate gap pays for",
        paper: Paper { key: "vanderhoeven2020gaptron", place: "Algorithm 1, Theorem 1" },
        guarantee: "expected mistakes <= logistic loss (bits) of U + K X^2 |U|^2 / ln 2, for every U",
        cost: "4 K nnz(x) flops a round",
        memory: "K d numbers; sparse rows: K a feature seen",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };
}

impl Loss for Hinge {
    const SURROGATE: Surrogate = Surrogate::Hinge;
    const ABOUT: About = About {
        name: "gaptron-hinge",
        summary: "gradient descent on hinge loss, played with as much chance as the surrogate gap pays for",
        paper: Paper { key: "vanderhoeven2020gaptron", place: "Algorithm 1, Theorem 2" },
        guarantee: "expected mistakes <= hinge loss of U + K^2 X^2 |U|^2 / (2 (K - 1)), for every U",
        ..Logistic::ABOUT
    };
}

impl Loss for Smooth {
    const SURROGATE: Surrogate = Surrogate::Smooth;
    const ABOUT: About = About {
        name: "gaptron-smooth",
        summary: "gradient descent on smooth hinge loss, played with as much chance as the surrogate gap pays for",
        paper: Paper { key: "vanderhoeven2020gaptron", place: "Algorithm 1, Theorem 3" },
        guarantee: "expected mistakes <= smooth hinge loss of U + 2 K X^2 |U|^2, for every U",
        ..Logistic::ABOUT
    };
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Gaptron<L> {
    problem: Problem,
    rate: f64,
    exploration: f64,
    norm: f64,
    radius: f64,
    weights: Weights,
    rounds: u64,
    step: Vec<f64>,
    loss: PhantomData<L>,
}

impl<L: Loss> Algorithm for Gaptron<L> {
    type Params = GaptronParams;

    const ABOUT: About = L::ABOUT;

    fn new(params: GaptronParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        if params.mode == Some(Mode::Bandit) {
            let need = "full where every label is revealed: bandit feedback is for bandit learners";
            return Err(ParamError::invalid("mode", "bandit", need));
        }
        let exploration = match params.exploration.unwrap_or(Exploration::Rate(0.0)).check()? {
            Exploration::Rate(rate) => rate,
            Exploration::Adaptive => {
                let need = "a number in [0, 1] where every label is revealed";
                return Err(ParamError::invalid("exploration", "adaptive", need));
            }
        };
        let radius = problem.resolve_radius(params.radius)?;
        let norm = match params.norm {
            None | Some(f64::INFINITY) => f64::INFINITY,
            Some(norm) => positive("norm", norm)?,
        };
        let rate = params.rate.unwrap_or_else(|| L::SURROGATE.full_information_rate(k, radius));
        Ok(Self {
            rate: positive("rate", rate)?,
            exploration,
            norm,
            radius,
            weights: Weights::new(k, d, problem.sparse),
            rounds: 0,
            step: vec![0.0; k],
            problem: Problem { radius: Some(radius), ..problem },
            loss: PhantomData,
        })
    }

    fn params(&self) -> GaptronParams {
        GaptronParams {
            rate: Some(self.rate),
            exploration: Some(Exploration::Rate(self.exploration)),
            norm: Some(self.norm),
            radius: Some(self.radius),
            horizon: None,
            mode: Some(Mode::Full),
        }
    }

    own! { weights }
}

impl<L: Loss> Predictor for Gaptron<L> {
    own! { problem, prediction }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.weights.scores(x, &mut out.scores);
        let rate = L::SURROGATE.gap(&out.scores).max(self.exploration);
        mix(argmax(&out.scores), rate, &mut out.probabilities); // eq. (1)
        out.stamp = Some(self.rounds);
    }
}

impl<L: Loss> OnlineLearner for Gaptron<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let scores = at.is_fresh(self.rounds).then_some(&at.scores[..]);
        self.rounds += 1;
        L::SURROGATE.gradient(&at.scores, y.class_index(), &mut self.step);
        for step in &mut self.step {
            *step *= -self.rate;
        }
        self.weights.add(&self.step, x, scores);
        self.weights.project(self.norm); // eq. (2)
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let norm = reference_norm(&self.problem).min(self.norm);
        let largest = L::SURROGATE.full_information_rate(self.problem.classes, self.radius);
        if self.rate > largest * (1.0 + 1e-12) {
            let why = || "the rate is larger than the theorem's".into();
            return Some(Guarantee::Mistakes { norm, bound: Err(why()), drawn: Some(Err(why())) });
        }
        let expected = move |u: &Reference<'_>| {
            let setting = setting(&self.problem, u.norm, self.rounds);
            L::total(u) + bounds::gaptron(&setting, self.rate, self.exploration)
        };
        let drawn: MistakeBound<'_> = Box::new(move |u| bounds::drawn_mistakes(expected(u), MISS));
        Some(Guarantee::Mistakes { norm, bound: Ok(Box::new(expected)), drawn: Some(Ok(drawn)) })
    }

    grow! { weights, step }
}

state! { Gaptron<L>, L: Loss; weights; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_all_close, round, unit_rows};

    fn gaptron<L: Loss>(params: GaptronParams, problem: Problem) -> Gaptron<L> {
        Gaptron::new(params, problem, 0).expect("valid parameters")
    }

    /// K = 2, X = 1, d = 1. Smooth: η = 1/8. At W = 0 the margin is 0, a = 1, play is uniform; m = 0, h = 2,
    /// so that at x = 1 with y = 0, W = η·2·(1, -1) = (1/4, -1/4). Then s = (1/4, -1/4), the margin is 1/2, a
    /// = (1/2)² = 1/4, p = (7/8, 1/8); with y = 1, m = -1/2, h = 2: W = 0 again.
    #[test]
    fn smooth_by_hand() {
        let mut learner = gaptron::<Smooth>(GaptronParams::default(), Problem::new(2, 1));
        assert_eq!(round(&mut learner, &[1.0], 0).probabilities, [0.5, 0.5]);
        let second = round(&mut learner, &[1.0], 1);
        assert_eq!((second.scores, second.probabilities), (vec![0.25, -0.25], vec![0.875, 0.125]));
        assert_eq!(round(&mut learner, &[1.0], 1).scores, [0.0, 0.0]);
    }

    /// K = 3, X = 2, d = 1. Hinge: η = 2/(9·4) = 1/18. At x = 2, y = 2: a = 1; the best other class at W = 0
    /// is class 0, c = e_0 - e_2, W = (-1/9, 0, 1/9). At x = 2: s = (-2/9, 0, 2/9), margin 2/9 <= 1/3: a =
    /// 7/9, p = (7, 7, 13)/27. The label is 2 and the margin small, so that there is a step: c = e_1 - e_2, W
    /// = (-1/9, -1/9, 2/9). At x = 2 the margin is 2/3 > 1/3: a = 0, and for y = 2 no step.
    #[test]
    fn hinge_by_hand() {
        let mut learner = gaptron::<Hinge>(GaptronParams::default(), Problem::new(3, 1).with_radius(2.0));
        assert_eq!(round(&mut learner, &[2.0], 2).scores, [0.0; 3]);
        let second = round(&mut learner, &[2.0], 2);
        assert_all_close(&second.scores, &[-2.0 / 9.0, 0.0, 2.0 / 9.0], 1e-14, "scores");
        assert_all_close(&second.probabilities, &[7.0 / 27.0, 7.0 / 27.0, 13.0 / 27.0], 1e-14, "p");
        for _ in 0..2 {
            let later = round(&mut learner, &[2.0], 2);
            assert_all_close(&later.scores, &[-2.0 / 9.0, -2.0 / 9.0, 4.0 / 9.0], 1e-14, "scores");
            assert_eq!(later.probabilities, [0.0, 0.0, 1.0]);
        }
    }

    /// K = 2, X = 1, d = 1. Logistic: at W = 0, P = (1/2, 1/2) and a = 1/2, so that p = (3/4, 1/4), or
    /// uniform if the exploration is 1. With η = ln 2 / 4 and y = 0, c = (P - e_y)/ln 2 = (-1/2, 1/2)/ln 2: W
    /// = (1/8, -1/8). Then a = 1 - σ(1/4) = 0.438, p_0 = 1 - a/2; with exploration 1/2, p = (3/4, 1/4). The
    /// projection to a ball of radius 1/8 (the norm is √2/8) scales W by 1/√2.
    #[test]
    fn logistic_by_hand() {
        let a = 1.0 / (1.0 + 0.25f64.exp());
        let params = |exploration: Option<f64>, norm| {
            let exploration = exploration.map(Exploration::Rate);
            GaptronParams { exploration, norm, ..Default::default() }
        };
        for (params, first, scores, p) in [
            (params(None, None), 0.75, 0.125, 1.0 - a / 2.0),
            (params(Some(0.5), Some(1.0)), 0.75, 0.125, 0.75),
            (params(Some(1.0), Some(0.125)), 0.5, 0.125 / 2f64.sqrt(), 0.5),
        ] {
            let mut learner = gaptron::<Logistic>(params, Problem::new(2, 1));
            assert_eq!(round(&mut learner, &[1.0], 0).probabilities, [first, 1.0 - first]);
            let second = round(&mut learner, &[1.0], 0);
            assert_all_close(&second.scores, &[scores, -scores], 1e-14, "scores");
            assert_all_close(&second.probabilities, &[p, 1.0 - p], 1e-14, "p");
        }
    }

    /// Weights with a lazy scale factor, in both storage orders, equal plain gradient descent with active
    /// projections.
    #[test]
    fn follows_the_plain_recursion() {
        fn check<L: Loss>(sparse: bool) {
            let (k, d, rate, norm) = (4, 5, 0.7, 1.5);
            let params = GaptronParams::new().rate(rate).norm(norm);
            let mut learner = gaptron::<L>(params, Problem::new(k, d).with_sparse(sparse));
            let (mut plain, mut projections) = (vec![0.0; k * d], 0);
            for (t, x) in unit_rows(5, 400, d).iter().enumerate() {
                let dot = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                let scores: Vec<f64> = plain.chunks_exact(d).map(dot).collect();
                let label = (t * t + t / 7) % k;
                assert_all_close(&round(&mut learner, x, label).scores, &scores, 1e-14, "scores");
                let mut c = vec![0.0; k];
                L::SURROGATE.gradient(&scores, label, &mut c);
                for (row, c) in plain.chunks_exact_mut(d).zip(&c) {
                    row.iter_mut().zip(x).for_each(|(w, x)| *w -= rate * c * x);
                }
                let length = plain.iter().map(|w| w * w).sum::<f64>().sqrt();
                if length > norm {
                    plain.iter_mut().for_each(|w| *w *= norm / length);
                    projections += 1;
                }
            }
            assert!((10..400).contains(&projections), "{projections}");
        }
        for sparse in [false, true] {
            check::<Logistic>(sparse);
            check::<Hinge>(sparse);
            check::<Smooth>(sparse);
        }
    }

    #[test]
    fn late_feedback_uses_the_scores_that_were_played() {
        let mut learner = gaptron::<Smooth>(GaptronParams::default(), Problem::new(2, 1));
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[1.0]), &mut at);
        for _ in 0..2 {
            learner.update(Features::Dense(&[1.0]), Target::class(0), &at);
        }
        // Both steps use h = 2, the slope at scores 0: W = 2 · (1/4, -1/4).
        learner.predict(Features::Dense(&[1.0]), &mut at);
        assert_eq!(at.scores, [0.5, -0.5]);
        assert_eq!(learner.weights.norms_squared(), [0.25, 0.25]);
    }

    #[test]
    fn the_mode_of_bandit_feedback_is_refused() {
        let params = GaptronParams::new().mode(Mode::Bandit);
        let error = Gaptron::<Hinge>::new(params, Problem::new(3, 2), 0).expect_err("the other mode");
        assert!(error.to_string().starts_with("mode = bandit: must be full where every label is revealed"));
    }
}
