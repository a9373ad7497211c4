//! The common part of SquareCB, FastCB and relative gaps: the oracle that forecasts every label's reward, and
//! the parameters.
//!
//! The oracle is a two-class learner for each label, which forecasts whether the label is right, and learns
//! in the rounds in which its label was played; or one such learner for all labels (`models = joint`), of the
//! row $\phi(x, a) = (x, e_a \otimes x)$: the features once for all labels, and once more for the label; or
//! the logistic model of `pooled.rs`, for rewards that are rare. A reward $r$ is learnt as the
//! soft label $(1 - r, r)$.

use std::f64::consts::SQRT_2;

use crate::algorithm::{Algorithm as _, Forecast, Model};
use crate::entry::{Entry, Learners};
use crate::example::{Features, Target};
use crate::experts::auto::{Auto, AutoParams};
use crate::facts::RunFacts;
use crate::full::aioli::Aioli;
use crate::guarantee::{Promise, Void};
use crate::learner::{Classes, Feedback};
use crate::parallel::Workers;
use crate::param::prior::Prior;
use crate::param::{ParamError, ParamValue as _, Params as _, Values};
use crate::prediction::{Prediction, Reward};
use crate::problem::Problem;
use crate::state::{Slot, Tensor};
use crate::{param_words, params};

use super::pooled::Pooled;

/// The least bound on the regret of a label's learner that a schedule uses: what a forecast of ½ loses in its
/// first round. Some learners have the bound 0 before it, with which the exploration scale would be infinite.
pub(super) const LEAST_REGRET: f64 = std::f64::consts::LN_2;

/// The factor of the schedule `root` of most learners.
pub(super) const ROOT_FACTOR: f64 = 30.0;

/// The name of the oracle of [`Pooled`], which is no learner of the registry.
pub(super) const POOLED: &str = "pooled";

/// The prefix of parameters of the oracle.
pub(super) const PREFIX: &str = "oracle.";

param_words! {
    /// How the exploration scale $\gamma_t$ follows from the rounds so far.
    pub enum Schedule {
        /// By the oracle's own certificate, a bound on its regret after the rounds so far.
        Certificate = "certificate",
        /// By the closed form of the oracle's theorem and the constants of the paper.
        Printed = "printed",
        /// As $\sqrt{Kt}$, without a theorem: what short streams can afford.
        Root = "root",
    }
}

param_words! {
    /// The learners that an oracle consists of.
    pub enum Models {
        /// One for each label.
        Separate = "separate",
        /// One for all labels.
        Joint = "joint",
    }
}

params! {
    /// Parameters of [`SquareCb`](super::squarecb::SquareCb), [`FastCb`](super::fastcb::FastCb) and
    /// [`RelativeGaps`](super::relative_gaps::RelativeGaps).
    pub struct OracleParams wraps PREFIX as oracle_values {
        /// Name of the learner that forecasts a label's reward, one of probabilities of two classes; its
        /// parameters as oracle.norm=2 and so on. Or `pooled`, a logistic model of what labels have in common
        /// and of their deviations, which begins at the rate of rewards so far; of their intercepts alone if
        /// classes (features + 1)^2 is above 2,000,000.
        oracle: String = "aioli; for relative-gaps pooled",
        /// `separate`, a learner for each label; or `joint`, one for all labels, whose rows have the features
        /// once for all labels and once more for the label: its regret bound is that of classes + 1 times as
        /// many features.
        models: Models = "separate",
        /// How the exploration scale follows from the rounds so far: `certificate`, by the oracle's own bound
        /// on its regret; `printed`, by its theorem and the paper's constants; or `root`, as sqrt(classes t),
        /// without a theorem.
        schedule: Schedule = "certificate; root for an oracle that has none",
        /// What the schedule's exploration scale is multiplied with, > 0; larger ones explore less.
        factor: f64 = "1; with schedule = root 30, for relative-gaps 10",
        /// With oracle = pooled, the mean reward that is expected before the first round, above 0 and below
        /// 1: all labels' forecasts begin at it.
        prior: f64 = "the rate of rewards so far alone",
        /// As of how many rounds the prior counts, > 0.
        prior_rounds: f64 = "50",
    }
}

impl OracleParams {
    fn check_wrapped(&self) -> Result<(), ParamError> {
        if self.is_pooled() {
            return self.check_pooled();
        }
        self.entry()?.check_names(&self.oracle_values)
    }

    /// The entry of the oracle.
    fn entry(&self) -> Result<&'static Entry, ParamError> {
        static KNOWN: [Entry; 2] = [Entry::full::<Aioli>(), Entry::full::<Auto>().mixture()];
        let name = self.oracle.as_deref().unwrap_or(KNOWN[0].about.name);
        if let Some(entry) = KNOWN.iter().find(|entry| entry.about.name == name) {
            return Ok(entry);
        }
        let entry = forecaster(self.learners, name)?;
        if entry.takes_blocks() {
            let need = "a learner of rows without blocks of columns; offers takes this one, where labels have features of their own";
            return Err(ParamError::invalid("oracle", name, need));
        }
        Ok(entry)
    }

    fn is_pooled(&self) -> bool {
        self.oracle.as_deref() == Some(POOLED)
    }

    /// Refuses parameters of learners.
    fn check_pooled(&self) -> Result<(), ParamError> {
        let need = "left out with oracle = pooled, which is one model for all labels without parameters";
        if let Some(models) = self.models {
            return Err(ParamError::invalid("models", models.to_value(), need));
        }
        match self.oracle_values.iter().next() {
            Some((name, value)) => Err(ParamError::invalid(&format!("{PREFIX}{name}"), value.clone(), need)),
            None => Ok(()),
        }
    }

    /// The problem of a learner, and the number of learners.
    fn parts(&self, problem: &Problem) -> (Problem, usize) {
        match self.models.unwrap_or(Models::Separate) {
            Models::Separate => (Problem { classes: 2, ..problem.clone() }, problem.classes),
            Models::Joint => {
                let features = joint_features(problem.classes, problem.features);
                let radius = problem.radius.map(|radius| radius * SQRT_2);
                (Problem { classes: 2, features, radius, sparse: true, ..problem.clone() }, 1)
            }
        }
    }

    /// 8-byte numbers of state for `problem`.
    pub(super) fn numbers(&self, problem: &Problem) -> usize {
        if self.is_pooled() {
            return Pooled::numbers(problem);
        }
        let (two, count) = self.parts(problem);
        let one = self.entry().and_then(|entry| entry.numbers(&self.oracle_values, &two));
        one.unwrap_or(two.features).saturating_mul(count)
    }

    /// How many of them are taken before the first row.
    pub(super) fn numbers_at_first(&self, problem: &Problem) -> usize {
        if self.is_pooled() {
            return Pooled::numbers(problem);
        }
        let (two, count) = self.parts(problem);
        let one = self.entry().and_then(|entry| entry.numbers_at_first(&self.oracle_values, &two));
        one.unwrap_or(0).saturating_mul(count)
    }
}

/// The learner `name`, if it can forecast the reward of a label.
pub(super) fn forecaster(learners: Learners, name: &str) -> Result<&'static Entry, ParamError> {
    let entry = learners.find(name)?;
    let about = entry.about;
    let full = matches!(entry.feedback, Feedback::Full | Feedback::Either);
    if !full || about.forecast != Forecast::Probabilities || about.accepts.classes == Classes::Real {
        let need = "a learner that forecasts probabilities of two classes and learns from labels";
        return Err(ParamError::invalid("oracle", name, need));
    }
    Ok(entry)
}

/// Whether this is `auto`.
pub(super) fn is_auto(entry: &Entry) -> bool {
    entry.about == const { &Auto::ABOUT }
}

/// The learner of `entry` for the problem `two` of two classes.
pub(super) fn made(
    entry: &Entry,
    values: &Values,
    two: Problem,
    seed: u64,
) -> Result<Box<dyn Model>, ParamError> {
    let made: Result<Box<dyn Model>, ParamError> = if is_auto(entry) {
        // The parameters have one list of members, for the learners of all labels: no members join.
        AutoParams::from_values(entry.about.name, values)
            .and_then(|params| Ok(Box::new(Auto::fixed(params, two, seed)?) as Box<dyn Model>))
    } else {
        entry.make(values, two, seed)
    };
    made.map_err(|error| error.within(PREFIX))
}

/// A bound on the regret of `model` after all rounds, if there is one: the closed form of its theorem or its
/// certificate, whichever is less. Its rows were within `radius`, and had no weights.
pub(super) fn regret_bound(model: &dyn Model, radius: Option<f64>) -> Option<f64> {
    let closed = model.guarantee().and_then(|guarantee| guarantee.regret_bound()?.ok());
    let facts = RunFacts {
        rounds: model.rounds(),
        energy: model.rounds() as f64 * radius.unwrap_or(1.0).powi(2),
        ..RunFacts::default()
    };
    let certificate = model.certificate().and(facts.certificate(model)).and_then(Result::ok);
    closed.into_iter().chain(certificate).reduce(f64::min)
}

/// Why there is no bound if the oracle `name` has none.
pub(super) fn no_valid_bound(name: &str) -> Void {
    format!("the oracle {name} has no valid bound on its regret").into()
}

/// The number of entries of $\phi(x, a)$ for $K$ labels and $d$ features.
fn joint_features(classes: usize, features: usize) -> usize {
    features.saturating_mul(classes.saturating_add(1))
}

/// Writes $\phi(x, a)$ for the label $a$ and $d$ features: the entries of $x$ at $j$ and at $(a + 1) d + j$.
fn write_joint(
    x: Features<'_>,
    label: usize,
    features: usize,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) {
    indices.clear();
    values.clear();
    for start in [0, (label + 1) * features] {
        for (column, value) in x.iter() {
            indices.push((start + column) as u32);
            values.push(value);
        }
    }
}

/// The two-class learners, or the pooled model.
#[derive(Clone)]
pub(super) struct Oracle {
    /// The learner; `None` for the pooled model.
    entry: Option<&'static Entry>,
    params: OracleParams,
    /// One for each label, or one for all; none beside the pooled model.
    models: Vec<Box<dyn Model>>,
    pooled: Option<Pooled>,
    joint: bool,
    classes: usize,
    features: usize,
    seed: u64,
    /// A bound on the regret of each learner, according to the schedule and at least `least`;
    /// computed from the learners.
    regrets: Vec<f64>,
    /// The bound before the first round.
    least: f64,
    schedule: Schedule,
    factor: f64,
    rounds: u64,
    at: Prediction,
    /// Buffer for a row of a joint learner.
    row: (Vec<u32>, Vec<f64>),
    workers: Workers,
}

impl Oracle {
    /// `root_factor` is the factor of the schedule `root`, if none is given.
    pub(super) fn new(
        params: &OracleParams,
        problem: &Problem,
        seed: u64,
        root_factor: f64,
    ) -> Result<Self, ParamError> {
        let pooled = params.is_pooled().then(|| Pooled::new(problem.classes, problem.features));
        let entry = if pooled.is_some() { None } else { Some(params.entry()?) };
        if let Some(entry) = entry {
            let name = entry.about.name;
            let why =
                format!("with oracle = {name}, which begins at 1/2; oracle = pooled begins at any rate");
            Prior::refuse(params.prior, params.prior_rounds, &why)?;
        } else {
            params.check_pooled()?;
        }
        let prior = Prior::of(params.prior, params.prior_rounds)?;
        let joint = params.models == Some(Models::Joint);
        if joint && u32::try_from(joint_features(problem.classes, problem.features)).is_err() {
            let need = "separate: the columns of all labels together do not fit in 32 bits";
            return Err(ParamError::invalid("models", "joint", need));
        }
        let mut oracle = Self {
            entry,
            params: OracleParams { prior_rounds: prior.map(|prior| prior.rounds), ..params.clone() },
            models: Vec::new(),
            pooled: pooled.map(|pooled| pooled.beginning_at(prior)),
            joint,
            classes: problem.classes,
            features: problem.features,
            seed,
            regrets: Vec::new(),
            least: 0.0,
            schedule: Schedule::Root,
            factor: 1.0,
            rounds: 0,
            at: Prediction::default(),
            row: Default::default(),
            workers: Workers::none(),
        };
        let learners = if oracle.pooled.is_some() { 0 } else { params.parts(problem).1 };
        for label in 0..learners {
            let model = oracle.model(label, problem)?;
            oracle.models.push(model);
        }
        let of_first = |schedule| match oracle.models.first() {
            Some(first) => regret(first.as_ref(), schedule),
            None => (schedule == Schedule::Root).then_some(f64::INFINITY),
        };
        let has = |schedule| of_first(schedule).is_some();
        let known = [Schedule::Certificate, Schedule::Root].into_iter().find(|schedule| has(*schedule));
        let schedule = params.schedule.or(known).unwrap_or(Schedule::Root);
        if !has(schedule) {
            let need = format!("root, since the oracle {} has no such bound on its regret", oracle.name());
            return Err(ParamError::invalid("schedule", schedule.to_value(), need));
        }
        let factor = if schedule == Schedule::Root { root_factor } else { 1.0 };
        let first = of_first(schedule).unwrap_or(f64::INFINITY);
        oracle.factor = crate::param::positive("factor", params.factor.unwrap_or(factor))?;
        oracle.least = first.max(LEAST_REGRET);
        oracle.schedule = schedule;
        oracle.refresh();
        Ok(oracle)
    }

    /// The learner of `label`, or that of all.
    fn model(&self, label: usize, problem: &Problem) -> Result<Box<dyn Model>, ParamError> {
        let entry = self.entry.expect("the pooled model has no learners");
        let (two, _) = self.params.parts(problem);
        made(entry, &self.params.oracle_values, two, self.seed.wrapping_add(label as u64))
    }

    pub(super) fn params(&self) -> OracleParams {
        let models = if self.joint { Models::Joint } else { Models::Separate };
        OracleParams {
            oracle: Some(self.name().to_owned()),
            models: self.entry.map(|_| models),
            schedule: Some(self.schedule),
            factor: Some(self.factor),
            prior: self.params.prior,
            prior_rounds: self.params.prior_rounds,
            oracle_values: self.models.first().map(|model| model.values()).unwrap_or_default(),
            learners: self.params.learners,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.entry.map_or(POOLED, |entry| entry.about.name)
    }

    pub(super) fn schedule(&self) -> Schedule {
        self.schedule
    }

    pub(super) fn factor(&self) -> f64 {
        self.factor
    }

    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// A bound on the sum of the learners' regrets, according to the schedule; $\infty$ if there is none.
    pub(super) fn regret(&self) -> f64 {
        if self.schedule == Schedule::Root { f64::INFINITY } else { self.regrets.iter().sum() }
    }

    /// The bound on the norm of rows for which the theorems of the learners hold.
    pub(super) fn radius(&self, problem: &Problem) -> Option<f64> {
        let radius = self.models.first().map_or(problem.radius, |model| model.problem().radius);
        // A joint learner's rows have every feature twice.
        if self.joint { radius.map(|radius| radius / SQRT_2) } else { radius }
    }

    /// The bound after all rounds, by the certificate if there is one; or why there is no bound.
    pub(super) fn bound(&self) -> Promise {
        let bounds = self.models.iter().map(|model| regret_bound(model.as_ref(), model.problem().radius));
        bounds.sum::<Option<f64>>().ok_or_else(|| no_valid_bound(self.name()))
    }

    /// Writes the forecast rewards of all labels to `rewards` and their log-odds to `scores`.
    pub(super) fn forecast(
        &self,
        x: Features<'_>,
        work: &mut Prediction,
        scores: &mut [f64],
        rewards: &mut [f64],
    ) {
        work.stamp = Some(self.rounds);
        if let Some(pooled) = &self.pooled {
            return pooled.forecast(x, work, scores, rewards);
        }
        self.make_room(work);
        let labels = work.members.iter_mut().zip(scores).zip(rewards);
        if !self.joint {
            self.helpers().each(labels.zip(&self.models), |(((at, score), reward), model)| {
                model.predict(x, at);
                (*score, *reward) = (at.scores[1] - at.scores[0], at.probabilities[1]);
            });
            return;
        }
        let (indices, values) = (&mut work.indices, &mut work.scratch);
        for (label, ((at, score), reward)) in labels.enumerate() {
            write_joint(x, label, self.features, indices, values);
            self.models[0].predict(Features::Sparse { indices, values }, at);
            (*score, *reward) = (at.scores[1] - at.scores[0], at.probabilities[1]);
        }
    }

    /// As [`Oracle::forecast`], for the learning of `label` by a learner of its own: the other labels are
    /// left out.
    pub(super) fn forecast_one(
        &self,
        x: Features<'_>,
        label: usize,
        work: &mut Prediction,
        rewards: &mut [f64],
    ) {
        debug_assert!(!self.joint && self.pooled.is_none(), "every label has a learner");
        work.stamp = Some(self.rounds);
        self.make_room(work);
        self.models[label].predict(x, &mut work.members[label]);
        rewards[label] = work.members[label].probabilities[1];
    }

    /// Makes `work` a buffer for the forecasts of all labels.
    fn make_room(&self, work: &mut Prediction) {
        if work.members.len() != self.classes || work.members[0].scores.len() != 2 {
            work.members = (0..self.classes).map(|label| self.of(label).prediction()).collect();
        }
    }

    /// Gives the learners threads, for speed only.
    pub(super) fn set_workers(&mut self, workers: &Workers) {
        self.models.iter_mut().for_each(|model| model.set_workers(workers.clone()));
        self.workers = workers.clone();
    }

    /// The threads among which the labels of a round are divided: none if their learners cost less than the
    /// division.
    fn helpers(&self) -> &Workers {
        /// In multiply-adds, about 60 microseconds.
        const WORTH_SHARING: usize = 300_000;
        /// Those of a learner beside its matrices, of which a mixture has four.
        const CALLS: usize = 50_000;
        const NONE: &Workers = &Workers::none();
        let matrices = self.features.saturating_mul(self.features).saturating_mul(4);
        let work = CALLS.saturating_add(matrices).saturating_mul(self.classes);
        if work < WORTH_SHARING { NONE } else { &self.workers }
    }

    /// The learner of `label`.
    fn of(&self, label: usize) -> &dyn Model {
        self.models[if self.joint { 0 } else { label }].as_ref()
    }

    /// Learns the reward of `label`; `work` was written by [`Oracle::forecast`]. If rounds were learnt in
    /// between, the row is learnt as if it came now.
    pub(super) fn learn(&mut self, x: Features<'_>, label: usize, reward: Reward, work: &Prediction) {
        if let Some(pooled) = &mut self.pooled {
            pooled.learn(x, label, reward.value());
            self.rounds += 1;
            return;
        }
        let fresh = work.is_fresh(self.rounds) && work.members.len() == self.classes;
        let model = &mut self.models[if self.joint { 0 } else { label }];
        let (indices, values) = &mut self.row;
        let x = if self.joint {
            write_joint(x, label, self.features, indices, values);
            Features::Sparse { indices, values }
        } else {
            x
        };
        let at = if fresh {
            &work.members[label]
        } else {
            if self.at.scores.len() != 2 {
                self.at = model.prediction();
            }
            model.predict(x, &mut self.at);
            &self.at
        };
        if reward.is_verdict() {
            model.update(x, Target::class(usize::from(reward.is_right())), at);
        } else {
            model.update(x, Target::distribution(&[1.0 - reward.value(), reward.value()]), at);
        }
        self.rounds += 1;
        self.regrets[if self.joint { 0 } else { label }] =
            regret(model.as_ref(), self.schedule).map_or(f64::INFINITY, |r| r.max(self.least));
    }

    /// Whether soft labels can be learnt.
    pub(super) fn takes_rewards(&self) -> bool {
        self.entry.is_none_or(|entry| entry.about.accepts.soft_labels)
    }

    /// Recomputes what is derived from the learners.
    fn refresh(&mut self) {
        let (schedule, least) = (self.schedule, self.least);
        let of = |model: &dyn Model| regret(model, schedule).map_or(f64::INFINITY, |r| r.max(least));
        self.regrets = self.models.iter().map(|model| of(model.as_ref())).collect();
    }

    /// Increases the numbers of labels and features. A joint learner keeps the features, whose number is the
    /// distance of the labels' columns.
    pub(super) fn grow(&mut self, classes: usize, features: usize, problem: &Problem) -> bool {
        if let Some(pooled) = &mut self.pooled {
            pooled.grow(classes, features);
            (self.classes, self.features) = (classes, features);
            return true;
        }
        let mut models = self.models.clone();
        let wide = Problem { classes, features, ..problem.clone() };
        let (two, count) = self.params.parts(&wide);
        if self.joint && (features != self.features || u32::try_from(two.features).is_err()) {
            return false;
        }
        if !models.iter_mut().all(|model| model.grow(2, two.features)) {
            return false;
        }
        for label in models.len()..count {
            match self.model(label, &wide) {
                Ok(mut model) => {
                    model.set_workers(self.workers.clone());
                    models.push(model);
                }
                Err(_) => return false,
            }
        }
        self.models = models;
        (self.classes, self.features) = (classes, features);
        self.at = Prediction::default();
        self.refresh();
        true
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (label, model) in self.models.iter_mut().enumerate() {
            let prefix = format!("label/{label}");
            tensors.extend(model.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        if let Some(pooled) = &mut self.pooled {
            tensors.extend(pooled.tensors().into_iter().map(|tensor| tensor.within(POOLED)));
        }
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        if self.pooled.as_mut().is_some_and(|pooled| !pooled.restored()) {
            return false;
        }
        let consistent = self.models.iter_mut().all(|model| model.restored());
        if consistent {
            // Learners of labels that are added later draw as if nothing had been saved.
            if let Some(seed) = self.models.first_mut().and_then(|model| seed_of(model.as_mut())) {
                self.seed = seed;
            }
            self.refresh();
        }
        consistent
    }
}

/// The seed of a learner that draws, if it keeps it.
fn seed_of(model: &mut dyn Model) -> Option<u64> {
    let seed = model.tensors().into_iter().find(|tensor| tensor.name == "seed")?;
    match seed.slot {
        Slot::Count(seed) => seed.first().copied(),
        _ => None,
    }
}

/// A bound on the regret of `model` against the best predictor of its ball.
fn regret(model: &dyn Model, schedule: Schedule) -> Option<f64> {
    match schedule {
        Schedule::Certificate => model.certificate()?.ok(),
        Schedule::Printed => model.guarantee()?.regret_bound()?.ok(),
        Schedule::Root => Some(f64::INFINITY),
    }
}
