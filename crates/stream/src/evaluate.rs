//! Off-policy evaluation of a log: what would another policy have earned?
//!
//! Two passes: the first learns the labels, the columns and the range of rewards, the second evaluates. Estimates of rewards are
//! progressive, see [`RewardModel`].

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use noregret::algorithm::{Forecast, Model};
use noregret::example::Label;
use noregret::learner::{Accepts, Classes};
use noregret::param::ParamError;
use noregret::prediction::{Decision, Prediction, argmax};
use noregret::problem::Problem;
use serde::Serialize;

use crate::decision_reader::{Event, LoggedDecision};
use crate::encode::{Encoder, Example, LargeRow};
use crate::examples::BadRows;
use crate::labels::Labels;
use crate::logged::Logged;
use crate::off_policy::{Estimates, Mean, OffPolicy, Round};
use crate::pending::Pending;
use crate::read_error::ReadError;
use crate::reward_model::RewardModel;
use crate::row::Row;
use crate::saved::Frozen;
use crate::scale::Scaler;
use crate::survey::suitable;

/// More features than this are a mistake.
const MOST_COLUMNS: usize = 1 << 27;

/// The policy that is evaluated.
pub enum Policy {
    /// Every label of the log with equal probability.
    Uniform,
    /// Always this label.
    Constant(String),
    /// The one that took the decisions.
    Logged,
    /// The label to which the logged distribution gives most: the logging policy without exploration.
    Greedy,
    /// The distribution that every line gives as `evaluation`.
    Given,
    /// A saved model as it plays; if `greedy`, always the label with its best score.
    Model {
        /// The model.
        model: Box<Frozen>,
        /// Whether it explores no more.
        greedy: bool,
    },
}

/// How a log is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct EvaluateOptions {
    /// Weights beyond this are clipped to it.
    pub clip: Option<f64>,
    /// Of the intervals, in (0, 1).
    pub confidence: f64,
    /// Whether a decision that was never answered counts as wrong; else it is left out.
    pub missing_is_wrong: bool,
    /// How many bad lines are passed over.
    pub bad_rows: BadRows,
    /// How many decisions may wait for feedback at one time.
    pub pending: usize,
}

/// Makes a learner of two classes for a problem, to estimate rewards.
pub type MakeLearner<'a> = &'a dyn Fn(Problem) -> Result<Box<dyn Model>, ParamError>;

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Decisions in the log.
    pub decisions: u64,
    /// Decisions that were never answered.
    pub missing: u64,
    /// Lines that were passed over.
    pub bad_rows: u64,
    /// What was wrong with the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad_row: Option<String>,
    /// Labels, those of the model included.
    pub labels: usize,
    /// What the logging policy earned: the mean of the rewards.
    pub logged_reward: f64,
    /// Of the mean reward.
    pub logged_reward_standard_error: f64,
    /// The share of the policy's probability that is on labels which the log could not have played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<f64>,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// What is suspicious, in sentences.
    pub warnings: Vec<String>,
}

/// Why a log cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A line is bad.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The learner of rewards cannot be made.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// There is nothing to evaluate.
    #[error("no decision of the log was answered")]
    Nothing,
    /// The policy plays a label that does not exist.
    #[error("the log has no label {label:?}; there are {known}")]
    NoLabel {
        /// The label.
        label: String,
        /// The labels of the log.
        known: String,
    },
    /// One wild number should not take all memory.
    #[error("the log has {0} features; at most {MOST_COLUMNS} can be learnt from")]
    TooManyColumns(usize),
}

/// What the first pass finds.
struct Facts {
    labels: Labels,
    columns: usize,
    rewards: [f64; 2],
    whole: bool,
}

fn survey(log: &mut Logged, bad_rows: BadRows) -> Result<Facts, ReadError> {
    let mut row = Row::new();
    let (mut rewards, mut whole, mut bad) = ([f64::INFINITY, f64::NEG_INFINITY], true, 0);
    loop {
        let reward = match log.next(&mut row) {
            Ok(None) => break,
            Ok(Some(Event::Header(_))) => None,
            Ok(Some(Event::Decision(taken))) => taken.reward,
            Ok(Some(Event::Feedback { reward, .. })) => reward,
            Err(error) if error.is_row_error() && bad_rows.allow(bad + 1) => {
                bad += 1;
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(reward) = reward {
            rewards = [rewards[0].min(reward), rewards[1].max(reward)];
            whole &= reward == 0.0 || reward == 1.0;
        }
    }
    // Right and wrong are 1 and 0 whichever came up.
    let rewards = if whole { [0.0, 1.0] } else { rewards };
    Ok(Facts { labels: log.labels().clone(), columns: log.columns().count() as usize, rewards, whole })
}

/// A decision that waits for its reward.
struct Waiting {
    example: Example,
    label: usize,
    probability: f64,
    evaluation: Vec<f64>,
    estimates: Option<Vec<f64>>,
    largest_weight: Option<f64>,
    uncovered: Option<f64>,
    support: Option<usize>,
}

/// Evaluates `policy` on the log that `open` opens, twice; rewards are estimated by learners that `make` makes, if it is given and
/// the log does not estimate them itself.
///
/// # Errors
/// What cannot be read, or is no decision.
pub fn evaluate(
    open: &dyn Fn() -> Result<Logged, ReadError>,
    policy: &mut Policy,
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    let mut log = open()?;
    let facts = survey(&mut log, options.bad_rows)?;
    if facts.columns > MOST_COLUMNS {
        return Err(EvaluateError::TooManyColumns(facts.columns));
    }
    let mut labels = facts.labels.clone();
    if let Policy::Model { model, .. } = policy {
        for name in model.encoder.labels.iter() {
            labels.intern(name);
        }
    }
    if let Policy::Constant(label) = policy
        && labels.find(label).is_none()
    {
        let known = labels.iter().take(20).collect::<Vec<_>>().join(", ");
        return Err(EvaluateError::NoLabel { label: label.clone(), known });
    }
    let mut encoder = own_encoder(&facts);
    let problem = match policy {
        Policy::Model { model, .. } => Problem { classes: 2, ..model.predictor.problem().clone() },
        _ => Problem::new(2, encoder.features()).with_radius(encoder.radius).with_sparse(encoder.sparse),
    };
    let mut model = make
        .map(|make| RewardModel::new(labels.len(), facts.rewards, !facts.whole, &|| make(problem.clone())))
        .transpose()?;
    let mut bench = Bench {
        labels,
        options,
        sums: OffPolicy::new(options.clip, facts.whole.then_some([0.0, 1.0])),
        rewards: Mean::default(),
        uncovered: Some(Mean::default()),
        logged_weights: Mean::default(),
        room: (Prediction::default(), Decision::default()),
    };
    if let Policy::Model { model, .. } = policy {
        bench.room.0 = model.predictor.prediction();
    }
    let mut pending = Pending::<Waiting>::new(options.pending);
    let mut seen = HashSet::new();
    let (mut row, mut decisions, mut missing, mut bad, mut first_bad) = (Row::new(), 0, 0, 0, None);
    let mut log = open()?;
    loop {
        let event = log.next(&mut row);
        let done = event.and_then(|event| match event {
            None => Ok(false),
            Some(Event::Header(_)) => Ok(true),
            Some(Event::Decision(taken)) => {
                let mut hash = DefaultHasher::new();
                taken.id.hash(&mut hash);
                if !seen.insert(hash.finish()) {
                    return Err(
                        log.error(&row, format!("the id {:?} was that of an earlier decision", taken.id))
                    );
                }
                let (id, reward) = (taken.id.clone(), taken.reward);
                let waiting = bench
                    .weigh(*taken, &row, &log, policy, &mut encoder, model.as_mut())
                    .map_err(|what| log.error(&row, what))?;
                decisions += 1;
                if let Some(reward) = reward {
                    bench.settle(waiting, reward, model.as_mut());
                } else if let Some(forgotten) =
                    pending.insert(&id, waiting).map_err(|error| log.error(&row, error.to_string()))?
                {
                    missing += 1;
                    bench.give_up(forgotten, model.as_mut());
                }
                Ok(true)
            }
            Some(Event::Feedback { id, reward }) => {
                let waiting = pending.take(&id).map_err(|error| log.error(&row, error.to_string()))?;
                match reward {
                    Some(reward) => bench.settle(waiting, reward, model.as_mut()),
                    None => {
                        missing += 1;
                        bench.give_up(waiting, model.as_mut());
                    }
                }
                Ok(true)
            }
        });
        match done {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.is_row_error() && options.bad_rows.allow(bad + 1) => {
                bad += 1;
                first_bad.get_or_insert_with(|| error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    for (_, waiting) in pending.into_waiting() {
        missing += 1;
        bench.give_up(waiting, model.as_mut());
    }
    if bench.sums.rounds() == 0 {
        return Err(EvaluateError::Nothing);
    }
    let estimates = bench.sums.estimates(options.confidence);
    let uncovered = bench.uncovered.map(|mean| mean.value());
    let warnings = bench.warnings(&estimates, uncovered, missing, decisions);
    Ok(Evaluation {
        decisions,
        missing,
        bad_rows: bad,
        first_bad_row: first_bad,
        labels: bench.labels.len(),
        logged_reward: bench.rewards.value(),
        logged_reward_standard_error: bench.rewards.standard_error(),
        uncovered,
        estimates,
        warnings,
    })
}

/// What turns the log's rows into examples where no model does.
fn own_encoder(facts: &Facts) -> Encoder {
    let scaling = suitable(facts.columns);
    let accepts = Accepts { classes: Classes::Two, soft_labels: true, weights: false };
    let sparse = facts.columns > 4096;
    let radius = scaling.radius(facts.columns.max(1)).unwrap_or(1.0);
    Encoder {
        labels: Labels::default(),
        classes: 0,
        scaler: Scaler::new(scaling),
        intercept: true,
        sparse,
        columns: facts.columns,
        accepts,
        large_row: LargeRow::Warn,
        radius: (radius * radius + 1.0).sqrt(),
        large_rows: 0,
    }
}

/// The second pass.
struct Bench<'a> {
    labels: Labels,
    options: &'a EvaluateOptions,
    sums: OffPolicy,
    rewards: Mean,
    /// The policy's probability on labels that could not be played; `None` once a line does not say.
    uncovered: Option<Mean>,
    /// 1 / (p n) over the n labels that could be played: of mean 1 if labels were drawn as the log says.
    logged_weights: Mean,
    room: (Prediction, Decision),
}

impl Bench<'_> {
    /// What is known of a decision before its reward.
    fn weigh(
        &mut self,
        taken: LoggedDecision,
        row: &Row,
        log: &Logged,
        policy: &mut Policy,
        own: &mut Encoder,
        model: Option<&mut RewardModel>,
    ) -> Result<Waiting, String> {
        let mut example = Example::default();
        match policy {
            Policy::Model { model, .. } => {
                log.columns().check_row(row.indices(), model.encoder.columns)?;
                model.encoder.encode_frozen(row, &mut example)?;
            }
            _ if model.is_some() => own.encode(row, &mut example)?,
            _ => {}
        }
        let mut logged = taken.distribution;
        if logged.len() > self.labels.len() {
            return Err(format!("there are {} probabilities for {} labels", logged.len(), self.labels.len()));
        }
        let distributed = !logged.is_empty();
        logged.resize(self.labels.len(), 0.0);
        let evaluation = self.evaluation(policy, &example, &logged, distributed, taken.evaluation)?;
        let estimates = match (taken.estimates.len(), model) {
            (0, None) => None,
            (0, Some(model)) => {
                let mut estimates = Vec::new();
                model.estimate(example.features(), &mut estimates);
                Some(estimates)
            }
            (given, _) if given == self.labels.len() => Some(taken.estimates),
            (given, _) => {
                return Err(format!("there are {given} estimates for {} labels", self.labels.len()));
            }
        };
        let pairs = || evaluation.iter().zip(&logged);
        Ok(Waiting {
            example,
            label: taken.label as usize,
            probability: taken.probability,
            largest_weight: distributed
                .then(|| pairs().filter(|(_, p)| **p > 0.0).map(|(e, p)| e / p).fold(0.0, f64::max)),
            uncovered: distributed.then(|| pairs().filter(|(_, p)| **p == 0.0).map(|(e, _)| e).sum()),
            support: distributed.then(|| logged.iter().filter(|p| **p > 0.0).count()),
            evaluation,
            estimates,
        })
    }

    /// The distribution that the policy would have played.
    fn evaluation(
        &mut self,
        policy: &Policy,
        example: &Example,
        logged: &[f64],
        distributed: bool,
        mut given: Vec<f64>,
    ) -> Result<Vec<f64>, String> {
        let count = self.labels.len();
        let one = |label: usize| {
            let mut distribution = vec![0.0; count];
            distribution[label] = 1.0;
            distribution
        };
        Ok(match policy {
            Policy::Uniform => vec![1.0 / count as f64; count],
            Policy::Constant(label) => one(self.labels.find(label).expect("checked before").index()),
            Policy::Logged | Policy::Greedy if !distributed => {
                return Err("the decision has no distribution \"p\", which the policy is made of".to_owned());
            }
            Policy::Logged => logged.to_vec(),
            Policy::Greedy => one(argmax(logged)),
            Policy::Given if given.is_empty() => {
                return Err(
                    "the decision has no \"evaluation\"; name a policy or a model to be evaluated".to_owned()
                );
            }
            Policy::Given => {
                given.resize(count, 0.0);
                given
            }
            Policy::Model { model, greedy } => {
                let (at, room) = &mut self.room;
                model.predictor.predict(example.features(), at, room);
                if !at.is_finite() {
                    return Err("the model's scores are not finite".to_owned());
                }
                let mut distribution = vec![0.0; count];
                let mut give = |class: usize, p: f64| -> Result<(), String> {
                    let name = model.encoder.labels.name(Label::from(class));
                    match self.labels.find(&name) {
                        Some(label) => distribution[label.index()] += p,
                        None if p > 0.0 => {
                            return Err(format!("the model plays its class {name}, which has no name yet"));
                        }
                        None => {}
                    }
                    Ok(())
                };
                if *greedy || model.predictor.about().forecast != Forecast::RandomisedLabel {
                    give(argmax(&at.scores), 1.0)?;
                } else {
                    for (class, p) in at.probabilities.iter().enumerate() {
                        give(class, *p)?;
                    }
                }
                distribution
            }
        })
    }

    /// The reward of a decision has come.
    fn settle(&mut self, waiting: Waiting, reward: f64, model: Option<&mut RewardModel>) {
        self.sums.add(&Round {
            label: waiting.label,
            reward,
            probability: waiting.probability,
            evaluation: &waiting.evaluation,
            estimates: waiting.estimates.as_deref(),
            largest_weight: waiting.largest_weight,
        });
        self.rewards.add(reward);
        match (&mut self.uncovered, waiting.uncovered) {
            (Some(mean), Some(uncovered)) => mean.add(uncovered),
            _ => self.uncovered = None,
        }
        if let Some(support) = waiting.support {
            self.logged_weights.add(1.0 / (waiting.probability * support as f64));
        }
        if let Some(model) = model {
            model.learn(waiting.example.features(), waiting.label, reward);
        }
    }

    /// The reward of a decision will never come.
    fn give_up(&mut self, waiting: Waiting, model: Option<&mut RewardModel>) {
        if self.options.missing_is_wrong {
            self.settle(waiting, 0.0, model);
        }
    }

    fn warnings(
        &self,
        estimates: &Estimates,
        uncovered: Option<f64>,
        missing: u64,
        decisions: u64,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        let off = |mean: f64, error: f64, want: f64| (mean - want).abs() > 4.0 * error + 1e-9;
        let logged = &self.logged_weights;
        if logged.value() > 0.0 && off(logged.value(), logged.standard_error(), 1.0) {
            warnings.push(format!(
                "1/p of the labels played is {:.4} times its expectation on average: they were not drawn with the logged probabilities",
                logged.value()
            ));
        }
        let covered = 1.0 - uncovered.unwrap_or(0.0);
        let (mean, error) = (estimates.mean_weight, estimates.mean_weight_standard_error);
        if estimates.clipped == 0 && off(mean, error, covered) {
            warnings.push(format!(
                "the mean importance weight is {mean:.4}, not {covered:.4}: probabilities are wrong, or the policy plays labels that the log could not"
            ));
        }
        if let Some(share) = uncovered.filter(|share| *share > 1e-9) {
            warnings.push(format!(
                "{:.2} % of the policy's probability is on labels that the log could not have played: ips takes them for worthless, dr for what is estimated",
                100.0 * share
            ));
        }
        let rounds = estimates.rounds as f64;
        if estimates.effective_sample_size < 0.01 * rounds {
            warnings.push(format!(
                "the rounds are worth {:.1} of the policy's own: intervals by the central limit mean little",
                estimates.effective_sample_size
            ));
        }
        if estimates.clipped > 0 {
            warnings.push(format!("{} weights were clipped, which biases all but dm", estimates.clipped));
        }
        if missing > 0 {
            let what = if self.options.missing_is_wrong { "count as 0" } else { "are left out" };
            warnings.push(format!("{missing} of {decisions} decisions were never answered and {what}"));
        }
        warnings
    }
}
