//! # Relative gaps: inverse gap weighting for rare rewards
//!
//! As SquareCB, but gaps are measured relative to the best label's forecast reward. Where one round in a
//! hundred has a reward, gaps are of that size, and exploration by their absolute values is nearly uniform.
//! The regret is of the order of the square root of the reward of the best policy, in place of the number of
//! rounds.
//!
//! ## Reference
//!
//! None: theory: gap-weighting 4.1. The method is that of Dylan J. Foster, Akshay Krishnamurthy, *Efficient
//! First-Order Contextual Bandits*, NeurIPS 2021 (`foster2021fastcb`), for small rewards in place of small
//! losses.
//!
//! ## Symbols
//!
//! | theory | here | meaning |
//! |---|---|---|
//! | $\hat r_{t,a}$ | `forecast` | forecast reward of label $a$; `scores` are its log-odds |
//! | $\gamma$ | `gamma` | exploration scale $\gamma_t$, never falling |
//! | $C_t$ | [`Oracle`](super::oracle) | a bound on the oracle's regret in log loss |
//! | $R_t$ | `rewards` | 1 + the rewards so far |
//!
//! With $b = \arg\max_a \hat r_a$,
//!
//! $$ p_a = \frac{1}{K + \gamma_t\ (\hat r_b - \hat r_a)/\hat r_b}\ (a \ne b), \qquad p_b = 1 - \textstyle\sum_{a \ne b} p_a, \tag{1} $$
//! $$ \gamma_t = \max\big(\gamma_{t-1},\ 5K,\ \sqrt{3 K R_{t-1}/(4 C_{t-1})}\big), \tag{2} $$
//!
//! and with `schedule = root` $c \sqrt{K R_{t-1}}$ in place of the root. If an oracle of the ball forecasts
//! the mean rewards (*realizability*), then with probability $1 - \delta$, in all rounds at once
//! (theory: gap-weighting 4.3),
//!
//! $$ \mathrm{Regret} \le \frac{12}5 \Big(\sum_t \frac{K r_t}{\gamma_t} + \ln\frac2\delta\Big) + \frac{20}7\ \gamma_T
//!    \Big(C_T + 2 \ln\frac2\delta\Big), \tag{3} $$
//!
//! with the rewards $r_t$ that were earned, where the regret is the sum of the rounds' expected ones, given
//! the rounds before: $O(\sqrt{K R^* C} + KC)$ with the reward $R^*$ of the best policy.
//!
//! ## Deviations
//!
//! * The default oracle is `pooled`, which has no bound on its regret: with it the schedule is `root`.
//!   Oracles with bounds, such as `aioli`, need thousands of rewards before they are of use.
//! * Labels that are not on offer are not played: $K$ is then the number of labels on offer, and in (2) the
//!   largest number so far.
//! * Late feedback is learnt as if the row had come together with it.
//!
//! ## Cost
//!
//! $K$ forecasts of the oracle and one update.

use super::gaps::{GapLearner, GapRule, Setting};
use super::oracle::{POOLED, Schedule};
use crate::algorithm::{About, Forecast, Paper};
use crate::bounds;
use crate::kernel::inverse_gap;
use crate::learner::{Accepts, Classes};
use crate::state::Tensor;

/// See the [module](self).
pub type RelativeGaps = GapLearner<RelativeRule>;

/// The probabilities and the exploration scale of relative gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelativeRule {
    /// $\sum_t K_t r_t/\gamma_t$.
    reward_sum: f64,
    /// $\sum_t r_t$.
    rewards: f64,
}

impl GapRule for RelativeRule {
    const ABOUT: About = About {
        name: "relative-gaps",
        summary: "SquareCB for rare rewards: gaps are relative to the best label's forecast reward",
        paper: Paper { key: "foster2021fastcb", place: "for rewards in place of losses" },
        guarantee: "with probability 0.95, regret <= 2.4 sum of K reward_t / gamma_t + 2.9 gamma_T (R + 7.4) + 8.9, R the oracle's, if some oracle is right",
        cost: "K forecasts of the oracle, one update",
        memory: "K times the oracle's",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    const ORACLE: &'static str = POOLED;

    const ROOT_FACTOR: f64 = 10.0;

    fn scheduled(&self, Setting { schedule, labels: k, regret, .. }: Setting) -> f64 {
        let earned = 1.0 + self.rewards;
        match schedule {
            Schedule::Certificate | Schedule::Printed => (0.75 * k * earned / regret).sqrt(), // eq. (2)
            Schedule::Root => (k * earned).sqrt(),
        }
    }

    fn least(labels: f64) -> f64 {
        5.0 * labels
    }

    fn play(losses: &[f64], best: usize, offered: Option<&[u32]>, gamma: f64, out: &mut [f64]) {
        inverse_gap::relative(losses, best, offered, gamma, out); // eq. (1)
    }

    fn learn(&mut self, choices: f64, loss: f64, gamma: f64) {
        self.reward_sum += choices * (1.0 - loss) / gamma;
        self.rewards += 1.0 - loss;
    }

    /// Equation (3).
    fn bound(&self, gamma: f64, regret: f64, miss: f64) -> f64 {
        bounds::relative_gaps(self.reward_sum, gamma, regret, miss)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::number("reward_sum", &mut self.reward_sum), Tensor::number("rewards", &mut self.rewards)]
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
    use crate::prediction::{Decision, Reward};
    use crate::problem::Problem;
    use crate::testing::{assert_close, values};

    fn learner(set: &str) -> RelativeGaps {
        let params = crate::registry::LEARNERS.read("relative-gaps", &values(set)).expect("known");
        RelativeGaps::new(params, Problem::new(2, 1), 0).expect("valid")
    }

    /// K = 2, d = 1, AIOLI with B = R = 1: γ_1 = 5K = 10 and p = (½, ½). Label 0 has the reward 1 at x = 1:
    /// with s from s + (8/17) tanh(s/2) = 4/17, the other label has the probability 1/(2 + 10 (σ(s) -
    /// ½)/σ(s)). The bound is 2.4 (2/10 + ln 40) + (20/7) 10 (2 + 1/17 + 2 ln 40).
    #[test]
    fn two_rounds_by_hand() {
        let mut learner = learner("oracle=aioli oracle.norm=1 oracle.radius=1");
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        learner.predict(x, &mut at);
        assert_eq!((&at.distribution[..], learner.gamma()), (&[0.5, 0.5][..], 10.0));
        (at.label, at.probability) = (0, 0.5);
        learner.learn(x, &at, Reward::RIGHT);
        learner.predict(x, &mut at);
        let s = at.scores[0];
        assert_close(s + 8.0 / 17.0 * (0.5 * s).tanh(), 4.0 / 17.0, 1e-14, "the forecast");
        let best = sigmoid(s);
        assert_close(at.distribution[1], 1.0 / (2.0 + 10.0 * (best - 0.5) / best), 1e-14, "the other label");
        let Some(Guarantee::PolicyRegret { bound: Ok(bound) }) = learner.guarantee() else {
            panic!("it holds")
        };
        let log = 40f64.ln();
        let want = 2.4 * (0.2 + log) + 200.0 / 7.0 * (2.0 + 1.0 / 17.0 + 2.0 * log);
        assert_close(bound, want, 1e-11, "the bound");
    }

    /// By default γ = 10 √(K (1 + rewards so far)), whatever the number of rounds.
    #[test]
    fn the_scale_follows_the_rewards() {
        let mut learner = learner("");
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        for round in 0..50 {
            learner.predict(x, &mut at);
            at.draw(f64::from(round) / 50.0);
            learner.learn(x, &at, if round % 10 == 3 { Reward::RIGHT } else { Reward::WRONG });
        }
        assert_close(learner.gamma(), 10.0 * 12f64.sqrt(), 1e-12, "five rewards");
        assert!(matches!(learner.guarantee(), Some(Guarantee::PolicyRegret { bound: Err(_) })));
    }
}
