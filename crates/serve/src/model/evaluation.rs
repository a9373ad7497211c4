//! Evaluates policies on the log of a model, restricted to the labels on offer in each round:
//! simple policies, and learners that learn from the log.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;

use noregret::prediction::Decision;
use noregret_stream::Fault;
use noregret_stream::decisions::log::Header;
use noregret_stream::encode::labels::Labels;
use noregret_stream::evaluate::off_policy::Round;
use noregret_stream::evaluate::{Evaluation, Support, Tally};

use super::engine::Engine;
use super::event::{Decide, Event, Offered, Outcome};
use super::spec::RowKind;
use crate::store::{self, Span};

/// A policy that needs no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    /// The logging policy.
    Logged,
    /// The label that is played without a learner: see [`baseline_of`].
    Baseline,
    /// Every label on offer with equal probability.
    Uniform,
    /// The logging policy without exploration: the label with the learner's best score, or the one that was
    /// imposed.
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

    /// Its distribution for the decision `taken`, for which `baseline` is played without a learner.
    fn distribution(self, taken: &Decision, baseline: u32) -> Vec<f64> {
        let classes = taken.distribution.len();
        let mut p = vec![0.0; classes];
        match self {
            Self::Logged => p.clone_from(&taken.distribution),
            Self::Baseline => p[baseline as usize] = 1.0,
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
    fn distribution(&mut self, id: &str, taken: &Decision, baseline: u32) -> Option<Vec<f64>> {
        match self {
            Self::Simple(simple) => Some(simple.distribution(taken, baseline)),
            Self::Learner(engine) => engine.waiting.get_mut(id).map(|waits| waits.taken.distribution.clone()),
        }
    }
}

/// The class that is played without a learner in a slot: that of the label that it names, else of the first
/// on offer, of those that may be played. `labels` are those of the model then, for rows with columns.
pub(super) fn baseline_of(
    decide: &Decide,
    slot: usize,
    taken: &Decision,
    kind: RowKind,
    labels: &Labels,
) -> u32 {
    let class_of = |at: usize, offered: &Offered| match kind {
        RowKind::Offers(_) => Some(at as u32),
        RowKind::Columns => labels.find_as(&offered.label.text, offered.label.of).map(|label| label.0),
    };
    let on_offer: Vec<(&str, u32)> = match &decide.labels {
        Some(named) => (named.iter().enumerate())
            .filter_map(|(at, offered)| Some((&*offered.label.text, class_of(at, offered)?)))
            .collect(),
        None => labels.iter().zip(0u32..).collect(),
    };
    let own = decide.slots.get(slot).and_then(|slot| slot.baseline.as_deref());
    let first = on_offer.iter().filter(|(name, _)| Some(*name) == own).chain(&on_offer);
    // A log that is read over several segments may have been written with fewer labels.
    let may_be_played = |class: &u32| match &*taken.offered {
        [] => (*class as usize) < taken.distribution.len(),
        offered => offered.binary_search(class).is_ok(),
    };
    first.map(|(_, class)| *class).find(may_be_played).unwrap_or(taken.label)
}

/// Estimates the reward of `policy` from the decisions with feedback, with the sums and warnings of the
/// command line: from those in the last segment of the log, or from all that were taken at a time `within`
/// and are kept. A learner learns from the others too. Rewards are not estimated.
/// Fails if reading fails.
pub(crate) fn evaluate(
    folder: &Path,
    kind: RowKind,
    mut policy: Candidate,
    within: Option<&RangeInclusive<i64>>,
    confidence: f64,
) -> Result<Evaluation, Fault> {
    let mut tally = Tally::new(None, [0.0, 1.0]);
    // Decisions, with the labels that are played without a learner.
    let mut waiting: HashMap<String, (Decision, u32)> = HashMap::new();
    let (mut seq, mut decisions) = (0u64, 0u64);
    // That of the segment: a model that was made again from a file may have had other labels.
    let header = RefCell::new(None::<Header>);
    // Those that were on offer.
    let mut labels = BTreeSet::<u32>::new();
    let mut begin = |segment: &store::Segment| -> Result<(), Fault> {
        let found: Header = serde_json::from_str(&segment.header).map_err(|error| error.to_string())?;
        *header.borrow_mut() = Some(found);
        Ok(())
    };
    let mut each = |at: i64, event: Event, outcome: Outcome| -> Result<bool, Fault> {
        let header = header.borrow();
        let Some(header) = &*header else { return Err("the log has no beginning".into()) };
        seq += 1;
        for (id, reward) in &outcome.heard {
            let (Some((taken, baseline)), Some(reward)) = (waiting.remove(id), *reward) else { continue };
            let Some(evaluation) = policy.distribution(id, &taken, baseline) else { continue };
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
        let counts = within.is_none_or(|times| times.contains(&at));
        if let (Event::Decide(decide), true) = (&event, counts) {
            for (slot, taken) in outcome.taken.iter().enumerate() {
                decisions += 1;
                match taken.offered.is_empty() {
                    true => labels.extend(0..taken.distribution.len() as u32),
                    false => labels.extend(taken.offered.iter().copied()),
                }
                let baseline = baseline_of(decide, slot, taken, kind, &header.labels);
                let mut taken = taken.clone();
                if outcome.imposed {
                    taken.greedy = taken.label;
                }
                waiting.insert(decide.id_of(slot), (taken, baseline));
            }
        }
        if let Candidate::Learner(engine) = &mut policy {
            let told = Event::Followed { seq, of: Box::new(event), outcome: Box::new(outcome) };
            engine.apply(at, &told).map_err(|refusal| refusal.to_string())?;
        }
        Ok(true)
    };
    let span = if within.is_some() { Span::Kept } else { Span::LastSegment };
    store::read_log(folder, span, &mut begin, &mut each)?;
    let missing = decisions.saturating_sub(tally.rounds());
    let found = tally.evaluation(confidence, labels.len()).of_decisions(decisions, missing, 0, None);
    Ok(Evaluation { learnt_meanwhile: header.into_inner().map(|header| header.learner), ..found })
}
