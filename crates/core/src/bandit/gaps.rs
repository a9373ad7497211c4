//! The common part of [SquareCB](super::squarecb), [FastCB](super::fastcb) and
//! [relative gaps](super::relative_gaps): learners that draw labels by
//! the inverse of their gaps to the best label in the forecast of an oracle. They differ by a [`GapRule`].

use std::fmt;

use super::oracle::{Oracle, OracleParams, ROOT_FACTOR, Schedule};
use crate::algorithm::{About, Algorithm};
use crate::example::Features;
use crate::guarantee::{Guarantee, MISS};
use crate::kernel::inverse_gap;
use crate::learner::{BanditLearner, own};
use crate::param::ParamError;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// The quantities that determine the exploration scale.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How the scale depends on the rounds so far.
    pub schedule: Schedule,
    /// The factor of the scheduled scale, > 0.
    pub factor: f64,
    /// $K$, the number of labels.
    pub labels: f64,
    /// $t$, the number of the round.
    pub round: f64,
    /// $C_{t-1}$: a bound on the oracle's regret against the best predictor of its ball.
    pub regret: f64,
}

/// The difference between learners of this kind: how the gaps determine the probabilities, and the rounds so
/// far the exploration scale.
pub trait GapRule: Clone + Default + Send + Sync + 'static {
    /// The description of the learner.
    const ABOUT: About;

    /// The oracle, if none is named.
    const ORACLE: &'static str = "aioli";

    /// The factor of the schedule `root`, if none is given.
    const ROOT_FACTOR: f64 = ROOT_FACTOR;

    /// The exploration scale before it is multiplied by the factor.
    fn scheduled(&self, setting: Setting) -> f64;

    /// The least exploration scale for $K$ labels.
    fn least(_labels: f64) -> f64 {
        0.0
    }

    /// Writes the probabilities of the labels. `losses` are the forecast losses, `best` is the label with the
    /// least one, `gamma` is the exploration scale, and `offered` are the labels that can be played (`None`:
    /// all).
    fn play(losses: &[f64], best: usize, offered: Option<&[u32]>, gamma: f64, out: &mut [f64]);

    /// Completes a decision whose scores are written. `losses` are the forecast losses; their memory is kept
    /// in it for the next round.
    fn complete(mut losses: Vec<f64>, offered: Option<&[u32]>, gamma: f64, out: &mut Decision) {
        let best = inverse_gap::largest(&out.scores, offered);
        Self::play(&losses, best, offered, gamma, &mut out.distribution);
        losses.clear();
        out.forecast = losses;
        out.offer(offered);
        out.explores_around(best);
    }

    /// Adds a round to the sums of the bound: `choices` labels were on offer, and the played one had the loss
    /// `loss`.
    fn learn(&mut self, choices: f64, loss: f64, gamma: f64);

    /// The bound on the regret that holds with probability 1 - `miss`; `gamma` is the last exploration scale,
    /// and `regret` a bound on the oracle's regret after the rounds so far.
    fn bound(&self, gamma: f64, regret: f64, miss: f64) -> f64;

    /// The sums, as state.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// See the [module](self).
#[derive(Clone)]
pub struct GapLearner<R> {
    problem: Problem,
    oracle: Oracle,
    /// $\gamma_t$ of the previous round.
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
    /// $\gamma_t$ of the next round, equation (2) of the algorithms.
    pub fn gamma(&self) -> f64 {
        let round = self.oracle.rounds() as f64 + 1.0;
        let setting = self.setting(round, self.oracle.regret());
        let scheduled = self.oracle.factor() * self.rule.scheduled(setting);
        self.gamma.max(scheduled).max(R::least(setting.labels))
    }

    /// The parameters with the oracle of the rule, if none is named.
    fn with_oracle(params: &OracleParams) -> OracleParams {
        let oracle = params.oracle.clone().or_else(|| Some(R::ORACLE.to_owned()));
        OracleParams { oracle, ..params.clone() }
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
}

impl<R: GapRule> Algorithm for GapLearner<R> {
    type Params = OracleParams;

    const ABOUT: About = R::ABOUT;

    fn new(params: OracleParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let oracle = Oracle::new(&Self::with_oracle(&params), &problem, seed, R::ROOT_FACTOR)?;
        // The oracle's theorem is about rows within its own radius.
        let problem = Problem { radius: oracle.radius(&problem), ..problem };
        Ok(Self { problem, oracle, gamma: 0.0, rule: R::default() })
    }

    fn params(&self) -> OracleParams {
        self.oracle.params()
    }

    fn numbers(problem: &Problem) -> usize {
        problem.features
    }

    fn numbers_for(params: &OracleParams, problem: &Problem) -> usize {
        Self::with_oracle(params).numbers(problem)
    }

    fn numbers_at_first(params: &OracleParams, problem: &Problem) -> usize {
        Self::with_oracle(params).numbers_at_first(problem)
    }
}

impl<R: GapRule> BanditLearner for GapLearner<R> {
    own! { problem }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.oracle.rounds() + 1);
        let mut losses = std::mem::take(&mut out.forecast);
        losses.resize(self.problem.classes, 0.0);
        self.oracle.forecast(x, &mut out.work.0, &mut out.scores, &mut losses);
        losses.iter_mut().for_each(|reward| *reward = 1.0 - *reward);
        R::complete(losses, offered, self.gamma(), out);
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

    /// Equation (3) of the algorithms, unless the schedule has no theorem.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = match self.oracle.schedule() {
            Schedule::Root => Err("schedule = root has no theorem".into()),
            Schedule::Certificate | Schedule::Printed => {
                self.oracle.bound().map(|regret| self.rule.bound(self.gamma, regret, MISS))
            }
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
