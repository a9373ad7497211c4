//! # EXP4: exponential weights over policies
//!
//! Weights a fixed set of policies by estimates of their losses, computed from the played labels. The
//! policies are random linear predictors, among which good ones are exponentially rare: an example for tests
//! and teaching.
//!
//! ## Reference
//!
//! Peter Auer, Nicolò Cesa-Bianchi, Yoav Freund, Robert E. Schapire, *The Nonstochastic Multiarmed Bandit
//! Problem*, SIAM Journal on Computing 32, 2002: section 7, in its form for losses. `references.bib`:
//! `auer2002exp4`; theory: bandit 5.1, 5.2.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\xi^i(t)$ | `policies` | $\pi_i(x) = \arg\max_k (U_i x)_k$, with $U_i$ of independent standard normals |
//! | $L_i$ | `losses` | estimated losses |
//! | $\eta$ | `rate` | learning rate |
//! | $\gamma$ | `exploration` | rate of uniform play |
//!
//! $$ q_k = \sum_{i: \pi_i(x) = k} e^{-\eta L_i} \Big/ \sum_i e^{-\eta L_i}, \quad p = (1 - \gamma)\ q +
//!    \tfrac\gamma K 1, \tag{1} $$
//! $$ \text{if } \tilde y \ne y: \quad L_i \mathrel{+}= 1/p_{\tilde y} \text{ for every } i \text{ with }
//!    \pi_i(x) = \tilde y. \tag{2} $$
//!
//! With $M$ policies, $\gamma = 0$ and $\eta = \sqrt{2\ln M/(KT)}$ the expected mistakes exceed those of the
//! best policy by at most $\sqrt{2KT\ln M}$ ([`crate::bounds::exp4`]), and with the rates for an unknown
//! $T$ by at most $2\sqrt{KT\ln M}$.
//!
//! ## Deviations
//!
//! * Losses in place of rewards, for which no exploration is necessary: $\gamma$ is 0 by default.
//! * If $T$ is unknown, the rate decreases as $\eta_t = \sqrt{\ln M/(Kt)}$.
//! * Late feedback uses the probability of the decision; the policies do not change.
//!
//! ## Cost
//!
//! $O(MK\ \mathrm{nnz}(x))$ for `predict` and for `learn` after a wrong guess; memory $MKd$ numbers.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::Features;
use crate::guarantee::{Guarantee, provided, reference_norm, setting};
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::param::{ParamError, fraction, positive};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::rng::Rng;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Exp4`].
    pub struct Exp4Params {
        /// Number $M$ of policies, from 2 to 10000.
        policies: u64 = "100",
        /// Rate $\gamma$ of uniform play, in [0, 1].
        exploration: f64 = "0",
        /// Learning rate $\eta$, > 0.
        rate: f64 = "sqrt(2 ln(policies) / (classes horizon)); sqrt(ln(policies) / (classes t)) if the horizon is unknown",
        /// Number of rounds $T$, >= 1, for the default rate.
        horizon: u64 = "the stream's, if known",
    }
}

/// The default number of policies.
const POLICIES: u64 = 100;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Exp4 {
    problem: Problem,
    exploration: f64,
    /// $\eta$; `None`: decreasing.
    rate: Option<f64>,
    horizon: Option<u64>,
    /// The matrices $U_i$ one after another, by class.
    policies: Vec<f64>,
    /// $L_i$.
    losses: Vec<f64>,
    rounds: u64,
}

impl Exp4 {
    /// $\pi_i(x)$ for every policy.
    fn recommended(&self, x: Features<'_>) -> impl Iterator<Item = usize> {
        let features = self.problem.features;
        self.policies.chunks_exact(self.problem.classes * features).map(move |policy| {
            let (mut best, mut top) = (0, f64::NEG_INFINITY);
            for (class, row) in policy.chunks_exact(features).enumerate() {
                let score = x.dot(row);
                if score > top {
                    (best, top) = (class, score);
                }
            }
            best
        })
    }

    /// $\eta_t$ of round `round`.
    fn rate(&self, round: u64) -> f64 {
        let logarithm = (self.losses.len() as f64).ln();
        self.rate.unwrap_or_else(|| (logarithm / (self.problem.classes as f64 * round as f64)).sqrt())
    }
}

impl Algorithm for Exp4 {
    type Params = Exp4Params;

    const ABOUT: About = About {
        name: "exp4",
        summary: "exponential weights over random linear policies, toy-sized, for tests and teaching",
        paper: Paper { key: "auer2002exp4", place: "section 7" },
        guarantee: "expected mistakes <= those of the best of M policies + sqrt(2 K T ln M); T unknown: + 2 sqrt(K T ln M)",
        cost: "2 M K nnz(x) flops a round",
        memory: "M K d numbers",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: Exp4Params, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let policies = params.policies.unwrap_or(POLICIES);
        if !(2..=10_000).contains(&policies) {
            return Err(ParamError::invalid("policies", policies, "from 2 to 10000"));
        }
        let horizon = params.horizon.or(problem.horizon);
        let (k, logarithm) = (problem.classes as f64, (policies as f64).ln());
        let theory = horizon.map(|t| (2.0 * logarithm / (k * t.max(1) as f64)).sqrt());
        let rate = params.rate.or(theory).map(|rate| positive("rate", rate)).transpose()?;
        let mut rng = Rng::new(seed, 0);
        let numbers = policies as usize * problem.classes * problem.features;
        Ok(Self {
            exploration: fraction("exploration", params.exploration.unwrap_or(0.0))?,
            rate,
            horizon,
            policies: (0..numbers).map(|_| rng.normal()).collect(),
            losses: vec![0.0; policies as usize],
            problem,
            rounds: 0,
        })
    }

    fn params(&self) -> Exp4Params {
        Exp4Params {
            policies: Some(self.losses.len() as u64),
            exploration: Some(self.exploration),
            rate: self.rate,
            horizon: self.horizon,
        }
    }

    own! { numbers }

    fn numbers_for(params: &Exp4Params, problem: &Problem) -> usize {
        let policies = params.policies.unwrap_or(POLICIES) as usize;
        policies.saturating_mul(problem.classes).saturating_mul(problem.features)
    }
}

impl BanditLearner for Exp4 {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        if offered.is_some() {
            return false;
        }
        out.start(self.problem.classes, self.rounds + 1);
        let (rate, least) = (self.rate(out.round), self.losses.iter().copied().fold(f64::INFINITY, f64::min));
        out.scores.fill(0.0);
        let mut total = 0.0;
        for (class, loss) in self.recommended(x).zip(&self.losses) {
            let weight = (-rate * (loss - least)).exp();
            out.scores[class] += weight;
            total += weight;
        }
        out.scores.iter_mut().for_each(|score| *score /= total);
        out.forecast.extend_from_slice(&out.scores);
        out.explore_forecast(self.exploration); // eq. (1)
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        if reward.is_right() {
            return;
        }
        let mut losses = std::mem::take(&mut self.losses);
        for (class, loss) in self.recommended(x).zip(&mut losses) {
            if class == taken.label as usize {
                *loss += 1.0 / taken.probability; // eq. (2)
            }
        }
        self.losses = losses;
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let policies = self.losses.len();
        let setting = setting(&self.problem, reference_norm(&self.problem), self.rounds);
        let bound = provided(self.exploration < 1.0, "every label is drawn at random", || match self.rate {
            Some(rate) => bounds::exp4(&setting, policies, rate, self.exploration),
            None => bounds::exp4_any_horizon(&setting, policies, self.exploration),
        });
        let expert = format!("the best of the learner's own {policies} policies");
        Some(Guarantee::ExpertMistakes { expert, beyond: true, bound })
    }
}

impl State for Exp4 {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let (k, d, policies) = (self.problem.classes, self.problem.features, self.losses.len());
        vec![
            Tensor::real("policies", vec![policies, k, d], &mut self.policies),
            Tensor::vector("losses", &mut self.losses),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Outcomes, assert_close, unit_rows};

    /// The mean of a policy's estimated loss over the played label is 1 if the policy is wrong, else 0.
    #[test]
    fn the_estimate_is_unbiased() {
        let params = Exp4Params { policies: Some(7), exploration: Some(0.2), ..Default::default() };
        let mut learner = Exp4::new(params, Problem::new(3, 2), 5).expect("valid parameters");
        for (t, x) in unit_rows(3, 40, 2).iter().enumerate() {
            let (x, y) = (Features::Dense(x), t % 3);
            let (change, mut outcomes) = Outcomes::of(&learner, x, y, |after| after.losses.clone());
            for (change, class) in change.iter().zip(learner.recommended(x)) {
                assert_close(*change, f64::from(u8::from(class != y)), 1e-12, &format!("round {t}"));
            }
            learner = outcomes.played((t * 2) % 3);
        }
    }

    /// If the labels are those of policy 3, its weight becomes the largest.
    #[test]
    fn weight_goes_to_the_best_policy() {
        let problem = Problem::new(3, 2).with_horizon(3000);
        let params = Exp4Params { policies: Some(7), ..Default::default() };
        let mut learner = Exp4::new(params, problem, 5).expect("valid parameters");
        let mut at = Decision::default();
        let mut wrong = 0.0;
        for (t, x) in unit_rows(3, 3000, 2).iter().enumerate() {
            let x = Features::Dense(x);
            let y = learner.recommended(x).nth(3).expect("7 policies");
            learner.predict(x, &mut at);
            at.draw((t as f64 * 0.618_033_988_749).fract());
            wrong += 1.0 - at.distribution[y];
            learner.learn(x, &at, (at.label as usize == y).into());
        }
        assert_eq!(learner.losses[3], 0.0);
        assert!(wrong <= (2.0 * 3.0 * 3000.0 * 7f64.ln()).sqrt(), "{wrong}");
    }

    /// The promise is about the rounds so far, with the constants of theory: bandit 5.1 and 5.2; the labels
    /// are those of a policy, so that the mistakes are all beyond its own.
    #[test]
    fn what_is_promised_holds_with_and_without_a_horizon() {
        for (horizon, exploration) in [(Some(3000), 0.0), (Some(3000), 0.1), (None, 0.0), (None, 0.1)] {
            let problem = Problem::new(3, 2);
            let problem = horizon.map_or(problem.clone(), |rounds| problem.with_horizon(rounds));
            let params =
                Exp4Params { policies: Some(20), exploration: Some(exploration), ..Default::default() };
            let mut learner = Exp4::new(params, problem, 5).expect("valid parameters");
            let mut at = Decision::default();
            let mut wrong = 0.0;
            for (t, x) in unit_rows(3, 3000, 2).iter().enumerate() {
                let x = Features::Dense(x);
                let y = learner.recommended(x).nth(3).expect("20 policies");
                learner.predict(x, &mut at);
                at.draw((t as f64 * 0.618_033_988_749).fract());
                wrong += 1.0 - at.distribution[y];
                learner.learn(x, &at, (at.label as usize == y).into());
            }
            let Some(Guarantee::ExpertMistakes { beyond: true, bound: Ok(bound), .. }) = learner.guarantee()
            else {
                panic!("it has a bound");
            };
            let root = (3.0 * 3000.0 * 20f64.ln()).sqrt();
            let want = match (horizon, exploration) {
                (Some(_), gamma) => root * 0.5f64.sqrt() * (1.0 + 1.0 / (1.0 - gamma)) + gamma * 3000.0,
                (None, gamma) => root * (1.0 + 1.0 / (1.0 - gamma)) + gamma * 3000.0,
            };
            assert_close(bound, want, 1e-9, "bound");
            assert!(wrong <= bound && bound < 3000.0, "{wrong} beyond {bound}");
        }
        let params = Exp4Params { exploration: Some(1.0), ..Default::default() };
        let learner = Exp4::new(params, Problem::new(3, 2), 5).expect("valid parameters");
        assert!(matches!(learner.guarantee(), Some(Guarantee::ExpertMistakes { bound: Err(_), .. })));
    }
}
