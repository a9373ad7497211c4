//! The shell of learners that play labels by the inverse of their gaps to the best one, as an oracle
//! forecasts it: [SquareCB](super::squarecb) and [FastCB](super::fastcb), which differ by a [`GapRule`].

use std::fmt;

use super::oracle::{Oracle, OracleParams, Schedule};
use crate::algorithm::{About, Algorithm};
use crate::example::Features;
use crate::guarantee::Guarantee;
use crate::kernel::inverse_gap;
use crate::learner::BanditLearner;
use crate::param::ParamError;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// What the exploration scale depends on.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How the scale follows from the rounds so far.
    pub schedule: Schedule,
    /// What the scheduled scale is multiplied with, > 0.
    pub factor: f64,
    /// $K$.
    pub labels: f64,
    /// $t$, the round.
    pub round: f64,
    /// $C_{t-1}$: what the oracle can have lost more than the best of its ball.
    pub regret: f64,
}

/// What distinguishes one learner of this kind from another: how the gaps make probabilities, and how the
/// exploration scale follows.
pub trait GapRule: Clone + Default + Send + Sync + 'static {
    /// Its description.
    const ABOUT: About;

    /// The scheduled exploration scale, before the factor.
    fn scheduled(&self, setting: Setting) -> f64;

    /// The least exploration scale for $K$ labels.
    fn least(_labels: f64) -> f64 {
        0.0
    }

    /// Writes the probabilities of labels with the forecast `losses`, the label `best` having the least, for
    /// the exploration scale `gamma`; `offered` are those that can be played, `None`: all.
    fn play(losses: &[f64], best: usize, offered: Option<&[u32]>, gamma: f64, out: &mut [f64]);

    /// Adds a round, in which one of `choices` labels was played with the exploration scale `gamma` and lost
    /// `loss`, to the sums of the bound.
    fn learn(&mut self, choices: f64, loss: f64, gamma: f64);

    /// The bound after the rounds of `setting`, whose `regret` is the least that the oracle's can be; `gamma`
    /// is the last exploration scale, and `regret` what the oracle can have lost by then.
    fn bound(&self, setting: Setting, gamma: f64, regret: f64) -> f64;

    /// The sums, to be saved.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// See the [module](self).
#[derive(Clone)]
pub struct GapLearner<R> {
    problem: Problem,
    oracle: Oracle,
    /// $\gamma_t$ of the round before.
    gamma: f64,
    rule: R,
}

impl<R: GapRule> fmt::Debug for GapLearner<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(R::ABOUT.name)
            .field("oracle", &self.oracle.name())
            .field("gamma", &self.gamma)
            .field("rounds", &self.oracle.rounds())
            .finish_non_exhaustive()
    }
}

impl<R: GapRule> GapLearner<R> {
    /// $\gamma_t$ of the coming round, equation (2) of the algorithms.
    pub fn gamma(&self) -> f64 {
        let round = self.oracle.rounds() as f64 + 1.0;
        let setting = self.setting(round, self.oracle.regret());
        let scheduled = self.oracle.factor() * self.rule.scheduled(setting);
        self.gamma.max(scheduled).max(R::least(setting.labels))
    }

    fn setting(&self, round: f64, regret: f64) -> Setting {
        Setting {
            schedule: self.oracle.schedule(),
            factor: self.oracle.factor(),
            labels: self.problem.classes as f64,
            round,
            regret,
        }
    }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) {
        out.start(self.problem.classes, self.oracle.rounds() + 1);
        let mut losses = std::mem::take(&mut out.forecast);
        losses.resize(self.problem.classes, 0.0);
        self.oracle.forecast(x, &mut out.work.0, &mut out.scores, &mut losses);
        losses.iter_mut().for_each(|reward| *reward = 1.0 - *reward);
        let best = inverse_gap::largest(&out.scores, offered);
        R::play(&losses, best, offered, self.gamma(), &mut out.distribution);
        losses.clear();
        out.forecast = losses;
        out.offer(offered);
        out.explores_around(best);
    }
}

impl<R: GapRule> Algorithm for GapLearner<R> {
    type Params = OracleParams;

    const ABOUT: About = R::ABOUT;

    fn new(params: OracleParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let oracle = Oracle::new(&params, &problem, seed)?;
        Ok(Self { problem, oracle, gamma: 0.0, rule: R::default() })
    }

    fn params(&self) -> OracleParams {
        self.oracle.params()
    }

    fn numbers(problem: &Problem) -> usize {
        problem.features
    }

    fn numbers_for(params: &OracleParams, problem: &Problem) -> usize {
        params.numbers(problem)
    }

    fn numbers_at_first(params: &OracleParams, problem: &Problem) -> usize {
        params.numbers_at_first(problem)
    }
}

impl<R: GapRule> BanditLearner for GapLearner<R> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn predict(&self, x: Features<'_>, out: &mut Decision) {
        self.decide(x, None, out);
    }

    fn predict_among(&self, x: Features<'_>, offered: &[u32], out: &mut Decision) -> bool {
        self.decide(x, Some(offered), out);
        true
    }

    fn takes_rewards(&self) -> bool {
        self.oracle.takes_rewards()
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.gamma = self.gamma();
        self.rule.learn(taken.choices() as f64, 1.0 - reward.value(), self.gamma);
        self.oracle.learn(x, taken.label as usize, reward, &taken.work.0);
    }

    fn rounds(&self) -> u64 {
        self.oracle.rounds()
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let known = (self.problem.classes, self.problem.features);
        if classes < known.0 || features < known.1 || !self.oracle.grow(classes, features, &self.problem) {
            return false;
        }
        self.problem = Problem { classes, features, ..self.problem.clone() };
        true
    }

    /// Equation (3) of the algorithms, as long as no schedule without a theorem is used.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = match self.oracle.schedule() {
            Schedule::Root => Err("schedule = root has no theorem".to_owned()),
            Schedule::Certificate | Schedule::Printed => self.oracle.bound().map(|regret| {
                let setting = self.setting(self.oracle.rounds() as f64, self.oracle.least_regret());
                self.rule.bound(setting, self.gamma, regret)
            }),
        };
        Some(Guarantee::PolicyRegret { bound })
    }
}

impl<R: GapRule> State for GapLearner<R> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.oracle.tensors();
        tensors.push(Tensor::number("gamma", &mut self.gamma));
        tensors.extend(self.rule.tensors());
        tensors
    }

    fn restored(&mut self) -> bool {
        self.oracle.restored() && self.gamma >= 0.0
    }
}
