//! Off-policy evaluation of a log.
//!
//! Two passes: the first finds the labels, the columns and the range of rewards, the second
//! evaluates. Estimates of rewards are progressive, see [`RewardModel`].

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use noregret::algorithm::Model;
use noregret::example::Label;
use noregret::learner::{Accepts, Classes};
use noregret::param::ParamError;
use noregret::prediction::{Decision, Prediction};
use noregret::problem::Problem;

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::logged::Logged;
use crate::decisions::pending::{ONE_ANSWER, Pending};
use crate::encode::Encoder;
use crate::encode::labels::Labels;
use crate::encode::scale::Scaler;
use crate::encode::survey::{look_alike, suitable};
use crate::evaluate::reward_model::RewardModel;
use crate::fault::{Fault, fault};
use crate::mean::Mean;
use crate::read::error::ReadError;
use crate::read::row::Row;

use super::bench::{Bench, Waiting};
use super::drawn::Drawn;
use super::learning::Learns;
use super::place::Place;
use super::question::{EvaluateOptions, Evaluation, Policy, of_all};
use super::survey::{EvaluateError, Facts, supposed, survey};
use super::tally::Tally;

/// Makes a learner of two classes for a problem, to estimate rewards.
pub type MakeLearner<'a> = &'a dyn Fn(Problem) -> Result<Box<dyn Model>, ParamError>;

/// What a second pass does with the decisions of a log and their rewards.
pub(super) trait Listener {
    /// What is kept of a decision until its reward arrives.
    type Waiting;

    /// A decision, whose features are in `row`.
    fn decided(&mut self, taken: LoggedDecision, row: &Row, log: &Logged) -> Result<Self::Waiting, Fault>;

    /// The reward of a decision; `None` if there will never be one.
    fn answered(&mut self, waiting: Self::Waiting, reward: Option<f64>) -> Result<(), Fault>;
}

/// What a second pass has met.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) decisions: u64,
    pub(super) missing: u64,
    /// The name of the logging learner, if it learnt during the log.
    pub(super) learner: Option<String>,
    pub(super) bad: u64,
    pub(super) first_bad: Option<String>,
}

/// A second pass under way.
struct Walk<'a, L: Listener> {
    listener: &'a mut L,
    /// The decisions without a reward so far.
    pending: Pending<L::Waiting>,
    /// The hashes of the ids of all decisions.
    seen: HashSet<u64>,
    /// Whether decisions of before the log may be answered in it.
    continues: bool,
    walked: Walked,
}

impl<L: Listener> Walk<'_, L> {
    /// Takes an event; the features of a decision are in `row`.
    fn event(&mut self, event: Event, row: &Row, log: &Logged) -> Result<(), Fault> {
        match event {
            Event::Header(header) => {
                self.continues = header.continues.is_some();
                self.walked.learner = Some(header.learner);
                Ok(())
            }
            Event::Decision(taken) => self.decision(*taken, row, log),
            Event::Feedback { id, .. } if self.continues && !self.seen.contains(&hash(&id)) => Ok(()),
            Event::Feedback { id, reward } => {
                let waiting = self.pending.take(&id).map_err(|what| fault!("{what}{ONE_ANSWER}"))?;
                self.walked.missing += u64::from(reward.is_none());
                self.listener.answered(waiting, reward)
            }
        }
    }

    /// Takes a decision, which may have its reward.
    fn decision(&mut self, taken: LoggedDecision, row: &Row, log: &Logged) -> Result<(), Fault> {
        if !taken.id.is_empty() && !self.seen.insert(hash(&taken.id)) {
            return Err(fault!(
                "the id {:?} was that of an earlier decision; a decision has an id of its own, and is written once",
                taken.id
            ));
        }
        let (id, reward) = (taken.id.clone(), taken.reward);
        let waiting = self.listener.decided(taken, row, log)?;
        self.walked.decisions += 1;
        if reward.is_some() {
            return self.listener.answered(waiting, reward);
        }
        let Some((_, waiting)) = self.pending.insert(&id, waiting)? else { return Ok(()) };
        self.walked.missing += 1;
        self.listener.answered(waiting, None)
    }
}

/// By which an id is known again.
fn hash(id: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    id.hash(&mut hash);
    hash.finish()
}

/// The second pass: every decision of `log`, and its reward when it arrives.
pub(super) fn walk<L: Listener>(
    log: &mut Logged,
    options: &EvaluateOptions,
    listener: &mut L,
) -> Result<Walked, EvaluateError> {
    let (pending, seen) = (Pending::new(options.pending), HashSet::new());
    let mut walk = Walk { listener, pending, seen, continues: false, walked: Walked::default() };
    let mut row = Row::new();
    loop {
        let done = match log.next(&mut row) {
            Ok(None) => break,
            Ok(Some(event)) => walk.event(event, &row, log).map_err(|what| log.error(&row, what)),
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => {}
            Err(error) if error.is_row_error() && options.bad_rows.allow(walk.walked.bad + 1) => {
                walk.walked.bad += 1;
                walk.walked.first_bad.get_or_insert_with(|| error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    let Walk { listener, pending, mut walked, .. } = walk;
    for (_, waiting) in pending.into_waiting() {
        walked.missing += 1;
        listener.answered(waiting, None).map_err(|what| log.error(&row, what))?;
    }
    Ok(walked)
}

/// The evaluation of a policy.
struct Run<'a> {
    bench: Bench<'a>,
    policy: &'a mut Policy,
    encoder: Encoder,
    model: Option<RewardModel>,
    /// That of a constant label.
    place: Option<Place>,
}

impl Listener for Run<'_> {
    type Waiting = Waiting;

    fn decided(&mut self, taken: LoggedDecision, row: &Row, log: &Logged) -> Result<Waiting, Fault> {
        if let Some(place) = &mut self.place {
            place.see(row);
        }
        self.bench.weigh(taken, row, log, self.policy, &mut self.encoder, self.model.as_mut())
    }

    fn answered(&mut self, waiting: Waiting, reward: Option<f64>) -> Result<(), Fault> {
        match reward {
            Some(reward) => self.bench.settle(waiting, reward, self.model.as_mut()),
            None => self.bench.give_up(waiting, self.model.as_mut()),
        }
        Ok(())
    }
}

/// Evaluates `policy` on a log, which `open` opens twice. Rewards are estimated by learners made by
/// `make`, if it is given and the log contains no estimates.
///
/// # Errors
/// If reading fails or a line is invalid.
pub fn evaluate(
    open: &dyn Fn() -> Result<Logged, ReadError>,
    policy: &mut Policy,
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    with_terms(open, policy, make, options).map(|(evaluation, _)| evaluation)
}

/// [`evaluate`], also returning the term of every answered round.
pub(super) fn with_terms(
    open: &dyn Fn() -> Result<Logged, ReadError>,
    policy: &mut Policy,
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<(Evaluation, Vec<f64>), EvaluateError> {
    let facts = survey(&mut open()?, options.bad_rows)?;
    let best = match policy {
        Policy::Best => Some(best_label(&mut open()?, &facts, options)?),
        _ => None,
    };
    let constant = &mut best.clone().map_or(Policy::Best, Policy::Constant);
    let policy = if best.is_some() { constant } else { policy };
    let labels = labels_of(&facts, policy)?;
    let mut learns = match policy {
        Policy::Learning(learning) => Some(Learns::new(*learning, &facts)?),
        _ => None,
    };
    let encoder = own_encoder(&facts);
    let problem = problem_of(learns.as_mut(), policy, &encoder);
    let model = make
        .map(|make| RewardModel::new(labels.len(), facts.rewards, !facts.whole, &|| make(problem.clone())))
        .transpose()?;
    let mut bench = Bench {
        labels,
        options,
        tally: Tally::new(options.clip, facts.range()),
        drawn: Drawn::default(),
        least: facts.range()[0],
        room: (Prediction::default(), Decision::default()),
        not_offered: 0,
        terms: Vec::new(),
        learns,
    };
    if let Policy::Model { model, .. } = policy {
        bench.room.0 = model.predictor.prediction();
    }
    let mut log = open()?;
    let place = match &*policy {
        Policy::Constant(label) => Place::of(label),
        _ => None,
    };
    let mut run = Run { bench, policy, encoder, model, place };
    let Walked { decisions, missing, learner, bad, first_bad } = walk(&mut log, options, &mut run)?;
    let Run { bench, model, place, .. } = run;
    if bench.tally.rounds() == 0 {
        return Err(EvaluateError::Nothing);
    }
    let counts_as = options.missing_is_wrong.then_some(facts.range()[0]);
    let labels = bench.labels.len();
    let confidence = if best.is_some() { of_all(options.confidence, labels) } else { options.confidence };
    let evaluation = bench.tally.evaluation(confidence, labels);
    let mut evaluation = evaluation.of_decisions(decisions, missing, bench.not_offered, counts_as);
    evaluation.warnings.extend(bench.drawn.warning(&bench.labels));
    evaluation.warnings.extend(place.and_then(|place| place.warning()));
    evaluation.warnings.extend(supposed(facts.range()));
    evaluation.warnings.extend(look_alike(&facts.labels));
    evaluation.warnings.extend(log.remarks());
    evaluation.warnings.extend(log.left_out());
    let share = bench.tally.share();
    let terms: Vec<f64> = bench.terms.iter().map(|[ips, control]| ips + share * control).collect();
    let whole = Evaluation {
        learnt_meanwhile: learner,
        bad_rows: bad,
        first_bad_row: first_bad,
        reward_model: model.map(|model| model.best()),
        best_label: best,
        learnt: bench.learns.as_ref().map(|learns| learns.learnt(&terms)),
        ..evaluation
    };
    Ok((whole, terms))
}

/// The problem of the learners that estimate rewards: that of the policy's learner or model, else that of the
/// log's rows as `encoder` has them.
fn problem_of(learns: Option<&mut Learns>, policy: &Policy, encoder: &Encoder) -> Problem {
    match (learns, policy) {
        (Some(learns), _) => Problem { classes: 2, ..learns.saved().learner.problem().clone() },
        (None, Policy::Model { model, .. }) => Problem { classes: 2, ..model.predictor.problem().clone() },
        _ => {
            Problem::new(2, encoder.features()).with_radius(encoder.radius()).with_sparse(encoder.is_sparse())
        }
    }
}

/// The labels of the log, with those of a model.
fn labels_of(facts: &Facts, policy: &Policy) -> Result<Labels, EvaluateError> {
    let mut labels = facts.labels.clone();
    if let Policy::Model { model, .. } = policy {
        for (name, of) in model.encoder.labels().typed() {
            labels.intern_as(name, of);
        }
    }
    if let Policy::Constant(label) = policy
        && labels.find(label).is_none()
    {
        let known = labels.iter().take(20).collect::<Vec<_>>().join(", ");
        return Err(fault!("the log has no label {label:?}; there are {known}").into());
    }
    Ok(labels)
}

/// The rewards of the labels, for [`Policy::Best`].
struct Earnings {
    /// For each label $\sum 1/p$, $\sum 1/p^2$ and $\sum r/p$ over the rounds in which it was played.
    labels: Vec<[f64; 3]>,
    rewards: Mean,
    /// The reward of a decision that was never answered; `None` if it is left out.
    unanswered: Option<f64>,
}

impl Listener for Earnings {
    type Waiting = (usize, f64);

    fn decided(&mut self, taken: LoggedDecision, _: &Row, _: &Logged) -> Result<Self::Waiting, Fault> {
        Ok((taken.label as usize, taken.probability))
    }

    fn answered(&mut self, (label, p): Self::Waiting, reward: Option<f64>) -> Result<(), Fault> {
        if let Some(reward) = reward.or(self.unanswered) {
            let sums = [1.0 / p, 1.0 / (p * p), reward / p];
            self.labels[label].iter_mut().zip(sums).for_each(|(sum, term)| *sum += term);
            self.rewards.add(reward);
        }
        Ok(())
    }
}

/// By how many rounds the mean reward of a label is shrunk to that of all.
const SHRUNK_BY: f64 = 100.0;

/// The label that has earned most.
fn best_label(log: &mut Logged, facts: &Facts, options: &EvaluateOptions) -> Result<String, EvaluateError> {
    let labels = vec![[0.0; 3]; facts.labels.len()];
    let unanswered = options.missing_is_wrong.then(|| facts.range()[0]);
    let mut earnings = Earnings { labels, rewards: Mean::default(), unanswered };
    walk(log, options, &mut earnings)?;
    let mean = |[weights, squares, earned]: [f64; 3]| {
        let rounds = if squares > 0.0 { weights * weights / squares } else { 0.0 };
        let own = if weights > 0.0 { earned / weights } else { 0.0 };
        (rounds * own + SHRUNK_BY * earnings.rewards.value()) / (rounds + SHRUNK_BY)
    };
    let means = earnings.labels.iter().map(|sums| mean(*sums));
    let best = means.enumerate().reduce(|best, one| if one.1 > best.1 { one } else { best });
    let (best, _) = best.ok_or(EvaluateError::Nothing)?;
    Ok(facts.labels.name(Label::from(best)).into_owned())
}

/// The encoder of the log's rows, if the policy is not a model.
fn own_encoder(facts: &Facts) -> Encoder {
    let scaling = suitable(facts.columns);
    let accepts = Accepts { classes: Classes::Two, soft_labels: true, weights: false, plain: false };
    let radius = scaling.radius(facts.columns.max(1)).unwrap_or(1.0);
    Encoder::new(facts.columns, accepts)
        .with_scaler(Scaler::new(scaling))
        .with_intercept(true)
        .with_sparse(facts.columns > 4096)
        .with_radius(Some((radius * radius + 1.0).sqrt()))
}
