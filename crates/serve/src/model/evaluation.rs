//! Evaluates policies on the log of a model, restricted to the labels on offer in each round:
//! simple policies, and learners that learn from the log.

use std::collections::HashMap;
use std::path::Path;

use noregret::prediction::Decision;
use noregret_stream::Fault;
use noregret_stream::evaluate::off_policy::{Estimates, OffPolicy, Round};
use serde::Serialize;

use super::engine::Engine;
use super::event::Event;
use crate::store;

/// A policy that needs no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    /// The logging policy.
    Logged,
    /// The first label on offer that may be played.
    Baseline,
    /// Every label on offer with equal probability.
    Uniform,
    /// The label with the learner's best score.
    Greedy,
}

impl Simple {
    /// The policy called `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "logged" => Self::Logged,
            "baseline" => Self::Baseline,
            "uniform" => Self::Uniform,
            "greedy" => Self::Greedy,
            _ => return None,
        })
    }

    /// Its distribution for the decision `taken`.
    fn distribution(self, taken: &Decision) -> Vec<f64> {
        let classes = taken.distribution.len();
        let mut p = vec![0.0; classes];
        let first = taken.offered.first().copied().unwrap_or(0) as usize;
        match self {
            Self::Logged => p.clone_from(&taken.distribution),
            Self::Baseline => p[first] = 1.0,
            Self::Greedy => p[taken.greedy as usize] = 1.0,
            Self::Uniform if taken.offered.is_empty() => p.fill(1.0 / classes as f64),
            Self::Uniform => {
                for label in &taken.offered {
                    p[*label as usize] = 1.0 / taken.offered.len() as f64;
                }
            }
        }
        p
    }
}

/// A policy on a log.
pub(crate) enum Candidate {
    /// A simple policy.
    Simple(Simple),
    /// A new shadow, which decides and then learns every round.
    Learner(Box<Engine>),
}

impl Candidate {
    /// Its distribution for the decision `id`, `taken` in the log; `None` if it cannot decide.
    fn distribution(&mut self, id: &str, taken: &Decision) -> Option<Vec<f64>> {
        match self {
            Self::Simple(simple) => Some(simple.distribution(taken)),
            Self::Learner(engine) => engine.waiting.get_mut(id).map(|waits| waits.taken.distribution.clone()),
        }
    }
}

/// What a policy would have earned on the log of a model.
#[derive(Debug, Serialize)]
pub(crate) struct OnLog {
    #[serde(flatten)]
    pub(crate) estimates: Estimates,
    /// Decisions in the log.
    decisions: u64,
    /// Decisions without feedback.
    missing: u64,
    /// The mean reward of the logging policy; none if no decision has feedback.
    logged_reward: Option<f64>,
}

/// Estimates the reward of `policy` from the decisions with feedback in the last segment of the
/// log.
///
/// # Errors
/// If reading fails.
pub(crate) fn evaluate(folder: &Path, mut policy: Candidate, confidence: f64) -> Result<OnLog, Fault> {
    let mut sums = OffPolicy::new(None, [0.0, 1.0]);
    let mut waiting: HashMap<String, Decision> = HashMap::new();
    let (mut seq, mut decisions, mut earned) = (0u64, 0u64, 0.0);
    store::read_log(folder, &mut |_| Ok(()), &mut |at, event, outcome| {
        seq += 1;
        for (id, reward) in &outcome.heard {
            let (Some(taken), Some(reward)) = (waiting.remove(id), *reward) else { continue };
            let Some(evaluation) = policy.distribution(id, &taken) else { continue };
            earned += reward;
            sums.add(&Round {
                label: taken.label as usize,
                reward,
                probability: taken.probability,
                evaluation: &evaluation,
                estimates: None,
                possible: None,
            });
        }
        if let Event::Decide(decide) = &event {
            for (slot, taken) in outcome.taken.iter().enumerate() {
                decisions += 1;
                waiting.insert(decide.id_of(slot), taken.clone());
            }
        }
        if let Candidate::Learner(engine) = &mut policy {
            let told = Event::Followed { seq, of: Box::new(event), outcome: Box::new(outcome) };
            engine.apply(at, &told).map_err(|refusal| refusal.to_string())?;
        }
        Ok(true)
    })?;
    let rounds = sums.rounds();
    Ok(OnLog {
        estimates: sums.estimates(confidence, 0.0),
        decisions,
        missing: decisions.saturating_sub(rounds),
        logged_reward: (rounds > 0).then(|| earned / rounds as f64),
    })
}
