//! Evaluates policies on the log of a model, restricted to the labels on offer in each round:
//! simple policies, and learners that learn from the log.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use noregret::prediction::Decision;
use noregret_stream::Fault;
use noregret_stream::decisions::log::Header;
use noregret_stream::evaluate::off_policy::Round;
use noregret_stream::evaluate::{Evaluation, Support, Tally};

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

/// Estimates the reward of `policy` from the decisions with feedback in the last segment of the
/// log, with the sums and warnings of the command line. Rewards are not estimated.
///
/// # Errors
/// If reading fails.
pub(crate) fn evaluate(folder: &Path, mut policy: Candidate, confidence: f64) -> Result<Evaluation, Fault> {
    let mut tally = Tally::new(None, [0.0, 1.0]);
    let mut waiting: HashMap<String, Decision> = HashMap::new();
    let (mut seq, mut decisions, mut learner) = (0u64, 0u64, None);
    // Those that were on offer.
    let mut labels = BTreeSet::<u32>::new();
    let mut begin = |segment: &store::Segment| -> Result<(), Fault> {
        let header: Header = serde_json::from_str(&segment.header).map_err(|error| error.to_string())?;
        learner = Some(header.learner);
        Ok(())
    };
    store::read_log(folder, &mut begin, &mut |at, event, outcome| {
        seq += 1;
        for (id, reward) in &outcome.heard {
            let (Some(taken), Some(reward)) = (waiting.remove(id), *reward) else { continue };
            let Some(evaluation) = policy.distribution(id, &taken) else { continue };
            let support = Support::of(&evaluation, &taken.distribution);
            let round = Round {
                label: taken.label as usize,
                reward,
                probability: taken.probability,
                evaluation: &evaluation,
                estimates: None,
                possible: Some(support.possible),
            };
            tally.add(&round, Some(support));
        }
        if let Event::Decide(decide) = &event {
            for (slot, taken) in outcome.taken.iter().enumerate() {
                decisions += 1;
                match taken.offered.is_empty() {
                    true => labels.extend(0..taken.distribution.len() as u32),
                    false => labels.extend(taken.offered.iter().copied()),
                }
                waiting.insert(decide.id_of(slot), taken.clone());
            }
        }
        if let Candidate::Learner(engine) = &mut policy {
            let told = Event::Followed { seq, of: Box::new(event), outcome: Box::new(outcome) };
            engine.apply(at, &told).map_err(|refusal| refusal.to_string())?;
        }
        Ok(true)
    })?;
    let missing = decisions.saturating_sub(tally.rounds());
    let found = tally.evaluation(confidence, labels.len()).of_decisions(decisions, missing, 0, None);
    Ok(Evaluation { learnt_meanwhile: learner, ..found })
}
