//! # The second-order Perceptron, multiclass
//!
//! The Perceptron on features that are whitened by the rows of its updates: SOBA with full information. It
//! updates on mistakes, and on right predictions with a small margin as long as the sum of $n_s m_s$ permits
//! this.
//!
//! ## Reference
//!
//! Alina Beygelzimer, Francesco Orabona, Chicheng Zhang, *Efficient Online Bandit Multiclass Learning with
//! Õ(√T) Regret*, ICML 2017, Algorithm 1 and Theorem 2 with the label revealed every round; after Nicolò
//! Cesa-Bianchi, Alex Conconi, Claudio Gentile, *A Second-Order Perceptron Algorithm*, SIAM J. Comput. 34,
//! 2005. `references.bib`: `beygelzimer2017soba`, `cesabianchi2005sop`; theory: baselines 4.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t = A_t^{-1}\theta_t$ | `model` | [`SecondOrderMargin`] with $p = 1$ |
//! | $a$ | `regularization` | $A_0 = aI$ |
//! | $n_t$ | `margin_updates` | whether round $t$ updates |
//! | $\bar y_t$ | | best class other than $y_t$ |
//! | $z_t$ | | $(e_{\bar y_t} - e_{y_t}) \otimes x_t$ |
//! | $X$ | `radius` | bound on $\lVert x \rVert_2$ |
//!
//! $$ \hat y_t = \arg\max_k (W_t x_t)_k, \tag{1} $$
//! $$ m_t = \frac{\langle W_t, z_t \rangle^2 + 2\langle W_t, z_t \rangle}{1 + z_t^\top A_{t-1}^{-1} z_t},
//!    \qquad
//!    n_t = 1 \text{ iff } \textstyle\sum_{s<t} n_s m_s + m_t \ge 0, \tag{2} $$
//! $$ A_t = A_{t-1} + n_t z_t z_t^\top, \qquad \theta_{t+1} = \theta_t - n_t z_t. \tag{3} $$
//!
//! For every $U$ and every $0 < \eta \le \min(1, 2/(2X\max_k \lVert U_k \rVert + 1))$, with $L_\eta$ its
//! total $\eta$-loss ([`crate::loss::hinge::eta_loss`]), the mistakes satisfy $M \le L_\eta +
//! \frac{a\eta}{2-\eta}\lVert U \rVert^2 + \frac{1}{\eta(2-\eta)}\sum_t n_t z_t^\top A_t^{-1} z_t$, and the
//! last sum is at most $dK\ln(1 + 2X^2T'/(adK))$ after $T'$ updates. The algorithm depends neither on $\eta$
//! nor on $U$.
//!
//! ## Deviations
//!
//! * `margin_updates = false` updates on mistakes only; the bound holds as well.
//! * The binary algorithm of Cesa-Bianchi et al. includes the coming row in the whitening; this one does not.
//! * `second-order-perceptron-diag` keeps the diagonal of $A$ and has no theorem.
//! * Late feedback is learnt as if the row came now: $\bar y$, $m$ and $z$ with the current weights, so that
//!   $\sum n m \ge 0$ remains true.
//!
//! ## Cost
//!
//! `predict` $2K\ \mathrm{nnz}(x)$ flops. `update`, full: $4Kd^2$ for $m$ and $K^2d^2$ (with delayed updates
//! of the matrix) to learn, memory $K^2d^2$ numbers. Diagonal: $O(K + \mathrm{nnz}(x))$, memory $3Kd$
//! numbers, allocated only for features that occur.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::full::second_order_margin::{PlainMetric, SecondOrderMargin};
use crate::guarantee::{Guarantee, MistakeBound, reference_norm};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, grow, own};
use crate::loss::hinge::eta_loss;
use crate::param::{ParamError, invertible};
use crate::params;
use crate::prediction::{Prediction, argmax};
use crate::problem::Problem;
use crate::state::state;

params! {
    /// Parameters of [`SecondOrderPerceptron`].
    pub struct SecondOrderPerceptronParams {
        /// Bound $X$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Start $a$ of the diagonal of $A$, > 0.
        regularization: f64 = "radius^2",
        /// Whether right predictions with a small margin may be learnt from.
        margin_updates: bool = "true",
    }
}

/// The description of the learner with the full matrix.
const FULL: About = About {
    name: "second-order-perceptron",
    summary: "the Perceptron on whitened features: SOBA with full information",
    paper: Paper { key: "beygelzimer2017soba", place: "Algorithm 1, Theorem 2, with full information" },
    guarantee: "mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K ln(1 + 2 X^2 T/(a d K))/(eta (2 - eta)), every U",
    cost: "4 K d^2 + K^2 d^2 flops a round",
    memory: "K^2 d^2 numbers",
    forecast: Forecast::Label,
    accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
};

/// The same with its diagonal.
const DIAGONAL: About = About {
    name: "second-order-perceptron-diag",
    summary: "the second-order Perceptron with a diagonal matrix, for many features",
    guarantee: "none: the theorem is about the full matrix",
    cost: "2 K nnz(x) flops a round",
    memory: "3 K d numbers",
    ..FULL
};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SecondOrderPerceptron<M> {
    problem: Problem,
    radius: f64,
    regularization: f64,
    margin_updates: bool,
    model: SecondOrderMargin<M>,
    rounds: u64,
    /// Buffer for the current scores, if the prediction is outdated.
    scores: Vec<f64>,
}

impl<M> SecondOrderPerceptron<M> {
    /// The weights and the sums that the bound needs.
    pub fn model(&self) -> &SecondOrderMargin<M> {
        &self.model
    }
}

impl<M: PlainMetric> Algorithm for SecondOrderPerceptron<M> {
    type Params = SecondOrderPerceptronParams;

    const ABOUT: About = if M::HAS_THEOREM { FULL } else { DIAGONAL };

    fn new(params: Self::Params, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let regularization = params.regularization.unwrap_or(radius * radius);
        // The diagonal form divides by sums of squares one by one.
        let full = if M::HAS_THEOREM { radius } else { 0.0 };
        let regularization = invertible("regularization", regularization, full)?;
        Ok(Self {
            problem: Problem { radius: Some(radius), ..problem },
            radius,
            regularization,
            margin_updates: params.margin_updates.unwrap_or(true),
            model: SecondOrderMargin::new(k, d, regularization),
            rounds: 0,
            scores: vec![0.0; k],
        })
    }

    fn params(&self) -> Self::Params {
        SecondOrderPerceptronParams {
            radius: Some(self.radius),
            regularization: Some(self.regularization),
            margin_updates: Some(self.margin_updates),
        }
    }

    fn numbers(problem: &Problem) -> usize {
        M::numbers(problem.classes, problem.features)
    }

    fn numbers_at_first(_params: &Self::Params, problem: &Problem) -> usize {
        M::numbers_at_first(problem.classes, problem.features)
    }
}

impl<M: PlainMetric> Predictor for SecondOrderPerceptron<M> {
    own! { problem, prediction }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.model.scores(x, &mut out.scores);
        out.probabilities.fill(0.0);
        out.probabilities[argmax(&out.scores)] = 1.0; // eq. (1)
        out.stamp = Some(self.rounds);
    }
}

impl<M: PlainMetric> OnlineLearner for SecondOrderPerceptron<M> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let scores = if at.is_fresh(self.rounds) {
            &at.scores
        } else {
            self.model.scores(x, &mut self.scores);
            &self.scores
        };
        self.rounds += 1;
        let label = y.class_index();
        if self.margin_updates || argmax(scores) != label {
            self.model.learn(x, scores, label, 1.0); // eq. (2), (3)
        }
    }

    own! { rounds }

    /// The theorem at its largest $\eta$ for the predictor, with the stream's own
    /// $\sum_t n_t z_t^\top A_t^{-1} z_t$.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        if !M::HAS_THEOREM {
            return None;
        }
        let bound: MistakeBound<'_> = Box::new(move |u| {
            let eta = bounds::second_order_perceptron_eta(u.largest_row, self.radius);
            let loss = u.total(|margin| eta_loss(margin, eta));
            bounds::second_order_perceptron(loss, eta, self.regularization, u.norm, self.model.quadratics())
        });
        Some(Guarantee::Mistakes { norm: reference_norm(&self.problem), bound: Ok(bound), drawn: None })
    }

    grow! { model, scores }
}

state! { SecondOrderPerceptron<M>, M: PlainMetric; model; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::second_order_margin::{DiagonalMetric, FullMetric};
    use crate::testing::assert_close;

    fn learner<M: PlainMetric>(params: SecondOrderPerceptronParams) -> SecondOrderPerceptron<M> {
        SecondOrderPerceptron::new(params, Problem::new(2, 1), 0).expect("valid parameters")
    }

    fn round<M: PlainMetric>(learner: &mut SecondOrderPerceptron<M>, x: f64, y: usize) -> f64 {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[x]), &mut at);
        learner.update(Features::Dense(&[x]), Target::class(y), &at);
        assert_eq!(at.scores[0], -at.scores[1]);
        at.scores[1]
    }

    /// K = 2, d = 1, a = 1. Round 1, x = 1, y = 1: W = 0, so that class 0 is played, a mistake; z = (1, -1),
    /// Q = 2, θ = -z. Full: A = I + zz', A^{-1}z = z/3, W = (-1/3, 1/3). Diagonal: A = 2I, W = (-1/2, 1/2).
    /// m_1 = 0, so Σm = 0. Round 2, x = 1, y = 1: right, δ = -2/3 (or -1), δ(δ + 2) < 0: no update. Round 3,
    /// x = 1, y = 0: a mistake, θ = 0 again: W = 0.
    #[test]
    fn by_hand() {
        fn check<M: PlainMetric>(weight: f64) {
            for margin_updates in [true, false] {
                let params = SecondOrderPerceptronParams::new().margin_updates(margin_updates);
                let mut learner = learner::<M>(params);
                assert_eq!(round(&mut learner, 1.0, 1), 0.0);
                assert_close(round(&mut learner, 1.0, 1), weight, 1e-15, "after a mistake");
                assert_close(round(&mut learner, 1.0, 0), weight, 1e-15, "after a right guess");
                assert_close(round(&mut learner, 1.0, 0), 0.0, 1e-15, "after the opposite mistake");
            }
        }
        check::<FullMetric>(1.0 / 3.0);
        check::<DiagonalMetric>(0.5);
    }

    /// After the three rounds above Σm = δ(δ + 2)/(1 + Q) with δ = 2/3 and Q = z'A^{-1}z = 2/3: (16/9)/(5/3)
    /// = 16/15 > 0. A right guess with W = 0 (but for rounding) has m = 0: there is an update, except with
    /// `margin_updates = false`.
    #[test]
    fn margin_updates_are_optional() {
        for (margin_updates, updates) in [(true, 3), (false, 2)] {
            let params = SecondOrderPerceptronParams::new().margin_updates(margin_updates);
            let mut learner = learner::<FullMetric>(params);
            for y in [1, 1, 0] {
                round(&mut learner, 1.0, y);
            }
            assert_close(learner.model().margins(), 16.0 / 15.0, 1e-14, "Σm");
            let mut at = learner.prediction();
            learner.predict(Features::Dense(&[1.0]), &mut at);
            learner.update(Features::Dense(&[1.0]), Target::class(at.top()), &at);
            assert_eq!(learner.model().updates(), updates);
        }
    }

    /// A prediction of an earlier round is learnt with the current weights, whatever its scores are.
    #[test]
    fn late_feedback_uses_the_current_weights() {
        let mut late = learner::<FullMetric>(Default::default());
        let mut prompt = late.clone();
        let mut at = late.prediction();
        late.predict(Features::Dense(&[0.5]), &mut at);
        round(&mut late, 1.0, 1);
        late.update(Features::Dense(&[0.5]), Target::class(0), &at);
        round(&mut prompt, 1.0, 1);
        round(&mut prompt, 0.5, 0);
        assert_eq!(round(&mut late, 1.0, 0), round(&mut prompt, 1.0, 0));
    }

    #[test]
    fn the_default_is_the_square_of_the_radius() {
        let problem = Problem::new(2, 1).with_radius(3.0);
        let learner = SecondOrderPerceptron::<FullMetric>::new(Default::default(), problem, 0);
        assert_eq!(learner.expect("defaults").params().regularization, Some(9.0));
    }
}
