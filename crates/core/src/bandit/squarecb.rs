//! # SquareCB: contextual bandits by inverse gap weighting
//!
//! An oracle forecasts the loss of each label, and a label is played with a probability inverse to its gap to
//! the best one. The regret is bounded by the oracle's, which for second-order logistic learners is
//! logarithmic, and known after each round.
//!
//! ## Reference
//!
//! Dylan J. Foster, Alexander Rakhlin, *Beyond UCB: Optimal and Efficient Contextual Bandits with Regression
//! Oracles*, ICML 2020, arXiv:2002.04926: Algorithm 1, Theorem 1. `references.bib`: `foster2020squarecb`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\hat y_{t,a}$ | 1 - `forecast` | forecast loss of label $a$; `scores` are the log-odds of its reward |
//! | $\gamma$ | `gamma` | exploration scale $\gamma_t$, never falling |
//! | $\mathrm{Reg}$ | [`Oracle`](super::oracle) | the oracle's regret in log loss, summed over its learners |
//! | $K$, $\mu$ | `problem` | labels that can be played |
//!
//! With $b = \arg\min_a \hat y_a$ and gaps $g_a = \hat y_a - \hat y_b$,
//!
//! $$ p_a = \frac{1}{K + \gamma_t g_a}\ (a \ne b), \qquad p_b = 1 - \textstyle\sum_{a \ne b} p_a, \tag{1} $$
//! $$ \gamma_t = \max\big(\gamma_{t-1},\ 4 \sqrt{(K-1)\ t/C_{t-1}}\big), \tag{2} $$
//!
//! where $C_t$ bounds the oracle's regret after $t$ rounds: its certificate; with the printed schedule, its
//! theorem's closed form in $\gamma_t = \max(\gamma_{t-1}, \sqrt{Kt/C_{t-1}})$. For all mean losses $f$ and
//! every label $*$, $\sum_a p_a (f_a - f_*) \le 2(K-1)/\gamma + \frac\gamma4 \sum_a p_a (\hat y_a - f_a)^2$,
//! and the oracle's log loss bounds the last sum. If an oracle of the ball forecasts the mean rewards
//! (*realizability*), then with probability $1 - \delta$, in all rounds at once (theory: gap-weighting 1.4),
//!
//! $$ \mathrm{Regret} \le \sum_t \frac{2(K-1)}{\gamma_t} + \frac{\gamma_T}{4} (C_T + 2 \ln(1/\delta)),
//!    \tag{3} $$
//!
//! where the regret is the sum of the rounds' expected ones, given the rounds before.
//!
//! ## Deviations
//!
//! * The oracle's loss is the log loss, not the squared loss; the constants are those of the exact
//!   maximisation of a round's inequality, which is tight.
//! * $\gamma_t$ depends on the certificate and needs no horizon. It is random, as is everything on the right
//!   of (3): therefore (3) holds with high probability, while the paper bounds an expectation.
//! * The default is what the theorem allows, nearly uniform play on short streams; `schedule = root` uses
//!   $\gamma_t = c\sqrt{Kt}$, which has smaller losses in practice and no theorem. `auto` learns the scale.
//! * Labels that are not on offer are not played: $K$ is then the number of labels on offer, and in (2) the
//!   largest number so far.
//! * Late feedback is learnt as if the row had come together with it.
//!
//! ## Cost
//!
//! $K$ forecasts of the oracle and one update.

use super::gaps::{GapLearner, GapRule, Setting};
use super::oracle::Schedule;
use crate::algorithm::{About, Forecast, Paper};
use crate::bounds;
use crate::kernel::inverse_gap;
use crate::learner::{Accepts, Classes};
use crate::state::Tensor;

/// See the [module](self).
pub type SquareCb = GapLearner<SquareRule>;

/// SquareCB's probabilities and exploration scale.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquareRule {
    /// $\sum_t 2(K_t-1)/\gamma_t$.
    exploration_sum: f64,
}

impl GapRule for SquareRule {
    const ABOUT: About = About {
        name: "squarecb",
        summary: "plays a label by the inverse of its gap to the best one, as forecast by an oracle",
        paper: Paper { key: "foster2020squarecb", place: "Algorithm 1, Theorem 1" },
        guarantee: "with probability 0.95, regret <= sum of 2 (K - 1) / gamma_t + gamma_T (R + 6) / 4, R the oracle's, if some oracle is right",
        cost: "K forecasts of the oracle, one update",
        memory: "K times the oracle's",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn scheduled(&self, Setting { schedule, labels: k, round: t, regret, .. }: Setting) -> f64 {
        match schedule {
            Schedule::Certificate => 4.0 * ((k - 1.0) * t / regret).sqrt(), // eq. (2)
            Schedule::Printed => (k * t / regret).sqrt(),
            Schedule::Root => (k * t).sqrt(),
        }
    }

    fn play(losses: &[f64], best: usize, offered: Option<&[u32]>, gamma: f64, out: &mut [f64]) {
        inverse_gap::square(losses, best, offered, gamma, out); // eq. (1)
    }

    fn learn(&mut self, choices: f64, _loss: f64, gamma: f64) {
        self.exploration_sum += 2.0 * (choices - 1.0) / gamma;
    }

    /// Equation (3).
    fn bound(&self, gamma: f64, regret: f64, miss: f64) -> f64 {
        bounds::squarecb(self.exploration_sum, gamma, regret, miss)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::number("exploration_sum", &mut self.exploration_sum)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::example::Features;
    use crate::guarantee::Guarantee;
    use crate::learner::BanditLearner as _;
    use crate::loss::logistic::sigmoid;
    use crate::param::ParamError;
    use crate::prediction::{Decision, Reward};
    use crate::problem::Problem;
    use crate::testing::{assert_close, values};

    fn learner(set: &str, problem: Problem) -> Result<SquareCb, ParamError> {
        SquareCb::new(crate::registry::LEARNERS.read("squarecb", &values(set))?, problem, 0)
    }

    /// K = 2, d = 1, AIOLI with B = R = 1: each certificate is 1 before the first round, so γ = 4 √(1/2), and
    /// p = (½, ½). Label 0 is right at x = 1: its certificate is 1 + 1/17, and its log-odds s solve s +
    /// (8/17) tanh(s/2) = 4/17.
    #[test]
    fn two_rounds_by_hand() {
        let mut learner = learner("oracle.norm=1 oracle.radius=1", Problem::new(2, 1)).expect("valid");
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        learner.predict(x, &mut at);
        assert_eq!((&at.distribution[..], at.greedy), (&[0.5, 0.5][..], 0));
        assert_close(learner.gamma(), 8f64.sqrt(), 1e-14, "the first scale");
        (at.label, at.probability) = (0, 0.5);
        learner.learn(x, &at, Reward::RIGHT);
        learner.predict(x, &mut at);
        let gamma = 4.0 * (2.0 / (2.0 + 1.0 / 17.0f64)).sqrt();
        assert_close(learner.gamma(), gamma, 1e-14, "the second scale");
        let s = at.scores[0];
        assert_close(s + 8.0 / 17.0 * (0.5 * s).tanh(), 4.0 / 17.0, 1e-14, "the forecast");
        assert_close(at.distribution[1], 1.0 / (2.0 + gamma * (sigmoid(s) - 0.5)), 1e-14, "the other label");
        let Some(Guarantee::PolicyRegret { bound: Ok(bound) }) = learner.guarantee() else {
            panic!("it holds")
        };
        // 2(K-1)/γ_1 + γ_1 (2 + 1/17 + 2 ln 20)/4.
        let want = 2.0 / 8f64.sqrt() + 8f64.sqrt() * (2.0 + 1.0 / 17.0 + 2.0 * 20f64.ln()) / 4.0;
        assert_close(bound, want, 1e-12, "the bound");
    }

    /// One model for all labels, K = 2, d = 1, AIOLI with B = 1 and R = √2: its certificate is 1 before the
    /// first round, so γ = 4. At x = 1 label 0 has the row φ = (1, 1, 0) and is right. With the curvature
    /// κ = 1/(2(1 + √2)) and c = κ/4, the residual ½ gives A = I + c φφ' and b = φ/4. For label 0
    /// m = φ'A⁻¹φ/4 = ½/(1 + 2c) and v = 2/(1 + 2c); for label 1, whose row has the first entry in common,
    /// m = ¼/(1 + 2c) and v = 2 - c/(1 + 2c). The certificate is 1 + b'A⁻¹b = 1 + ⅛/(1 + 2c).
    #[test]
    fn a_joint_model_by_hand() {
        let set = format!("models=joint oracle.norm=1 oracle.radius={}", std::f64::consts::SQRT_2);
        let mut learner = learner(&set, Problem::new(2, 1)).expect("valid");
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        learner.predict(x, &mut at);
        assert_eq!(&at.distribution[..], &[0.5, 0.5]);
        assert_close(learner.gamma(), 4.0, 1e-14, "the first scale");
        (at.label, at.probability) = (0, 0.5);
        learner.learn(x, &at, Reward::RIGHT);
        learner.predict(x, &mut at);
        let c = 0.125 / (1.0 + 2f64.sqrt());
        let all = 1.0 / (1.0 + 2.0 * c);
        for (s, m, v) in [(at.scores[0], 0.5 * all, 2.0 * all), (at.scores[1], 0.25 * all, 2.0 - c * all)] {
            assert_close(s + 0.5 * v * (0.5 * s).tanh(), m, 1e-14, "the forecast");
        }
        assert_close(learner.gamma(), 4.0 * (2.0 / (1.0 + 0.125 * all)).sqrt(), 1e-14, "the second scale");
        assert!(!learner.grow(2, 2), "the number of features is the distance of the labels' columns");
        assert!(learner.grow(3, 1));
        let before = at.scores.clone();
        learner.predict(x, &mut at);
        assert_close(at.scores[0], before[0], 1e-12, "a new label changes no other");
        assert_close(at.scores[2], before[1], 1e-12, "it begins with what all labels have in common");
    }

    /// Labels that are not on offer are not played, and the formulas apply to the labels on offer.
    #[test]
    fn labels_on_offer() {
        let learner = learner("", Problem::new(3, 1).with_radius(1.0)).expect("valid");
        let mut at = Decision::default();
        assert!(learner.predict_among(Features::Dense(&[1.0]), &[0, 2], &mut at));
        assert_eq!(
            (&at.distribution[..], &at.offered[..], at.exploration),
            (&[0.5, 0.0, 0.5][..], &[0, 2][..], 1.0)
        );
        at.draw(0.25);
        assert_eq!((at.label, at.probability, at.check(3)), (0, 0.5, Ok(())));
        at.label = 1;
        at.probability = 0.5;
        let error = at.check(3).expect_err("not on offer").to_string();
        assert_eq!(error, "the decision's label is 1: must be one of those on offer");
    }
}
