//! Decisions: one label, or one for each slot.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::example::Features;
use noregret::prediction::Decision;
use noregret_stream::GivenLabel;
use noregret_stream::encode::{Example, Unscaled};

use super::engine::{Answer, Chosen, Done, Engine, check_scores};
use super::event::{Decide, Outcome};
use super::rows;
use super::spec::{Feedback, Mode, RowKind, check_label};
use super::waiting::Waits;
use crate::refusal::{Refusal, shown};

/// The labels that may be played in a slot, by position, and the first of them.
struct Choice {
    allowed: Vec<u32>,
    baseline: u32,
}

/// A decision that is asked for, checked.
struct Wanted {
    /// The labels on offer.
    names: Vec<GivenLabel>,
    /// Their indices for the learner.
    numbers: Vec<u32>,
    /// One for each slot.
    choices: Vec<Choice>,
}

/// The decision for a slot, not yet counted or stored. Labels are positions among those on offer.
struct Round {
    example: Example,
    unscaled: Option<Unscaled>,
    taken: Decision,
    allowed: Vec<usize>,
    played: usize,
    /// Whether the learner's best label is the one played without a learner.
    agrees: bool,
}

impl Engine {
    pub(super) fn decide(&mut self, at: i64, decide: &Decide) -> Done {
        let wanted = self.wanted(decide)?;
        self.remember();
        if matches!(self.kind, RowKind::Columns) {
            self.fill_round(decide)?;
        }
        let mut rounds: Vec<Round> = Vec::with_capacity(wanted.choices.len());
        for slot in 0..wanted.choices.len() {
            let round = self.round(decide, slot, &wanted, &rounds)?;
            rounds.push(round);
        }
        // From here on nothing is refused.
        Ok(self.keep_waiting(at, decide, &wanted, rounds))
    }

    /// What is asked for, checked. Nothing changes.
    fn wanted(&self, decide: &Decide) -> Result<Wanted, Refusal> {
        if self.spec.feedback == Feedback::Full {
            let what = "the model learns from labels and does not decide: use predict, or make a model with bandit feedback";
            return Err(Refusal::conflict(what));
        }
        for slot in 0..decide.wanted() {
            if self.waiting.contains(&decide.id_of(slot)) {
                let what = format!("a decision with the id {} is pending already", shown(&decide.id));
                return Err(Refusal::conflict(what).about("id"));
            }
        }
        let offering = self.offering();
        let names = offering.names(decide)?;
        let numbers = offering.numbers(&names)?;
        let choices = choices(decide, &names)?;
        for (at, slot) in decide.slots.iter().enumerate() {
            slot.x.check(&format!("slots[{at}].x"), &self.limits)?;
        }
        if matches!(self.kind, RowKind::Columns) {
            let some_only =
                decide.labels.is_some() || choices.iter().any(|choice| choice.allowed.len() < names.len());
            offering.check_undescribed(decide)?;
            if some_only && names.len() < self.learner.problem().classes {
                offering.check_choice()?;
            }
        }
        Ok(Wanted { names, numbers, choices })
    }

    /// Fills the row of a model with fixed labels.
    pub(super) fn fill_round(&mut self, decide: &Decide) -> Result<(), Refusal> {
        // A shadow of a model with a table reads what that has made of the row.
        let x = decide.row.as_ref().unwrap_or(&decide.x);
        x.check("x", &self.limits)?;
        self.make_room(x, 0)?;
        self.row.clear();
        rows::fill(&mut self.schema.columns, x, self.most, &mut self.row)
    }

    /// The learner's decision for a slot, not yet drawn: among the labels `offered`, or all. The learner's
    /// scratch memory, which can be larger than all the rest, stays for the next decision.
    pub(super) fn predicted(
        &mut self,
        decide: &Decide,
        slot: usize,
        offered: Option<&[u32]>,
    ) -> Result<Decision, Refusal> {
        if let RowKind::Offers(width) = self.kind {
            self.row.clear();
            let labels = decide.labels.as_deref().unwrap_or_default();
            let own = decide.slots.get(slot).map(|slot| &slot.x);
            rows::fill_offer(&decide.x, own, labels, width, &self.limits, &mut self.row)?;
        }
        self.encode()?;
        if let Some(taken) = self.ahead.take(&self.example, offered) {
            check_scores(&taken)?;
            return Ok(taken);
        }
        let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
        if !learner.decide(self.example.features(), offered, &mut self.decision) {
            self.decision = Decision::default();
            let what = "the learner cannot decide among some of its labels";
            return Err(Refusal::invalid("labels", what));
        }
        self.decided.clone_from(&self.example);
        check_scores(&self.decision)?;
        Ok(self.decision.clone())
    }

    /// The decision for a slot, after those for the slots before.
    fn round(
        &mut self,
        decide: &Decide,
        slot: usize,
        wanted: &Wanted,
        before: &[Round],
    ) -> Result<Round, Refusal> {
        let (choice, numbers) = (&wanted.choices[slot], &wanted.numbers);
        let is_free = |at: &usize| before.iter().all(|round| round.played != *at);
        let allowed: Vec<usize> = choice.allowed.iter().map(|at| *at as usize).filter(is_free).collect();
        if allowed.is_empty() {
            let what = format!("there is no label left for slot {}", slot + 1);
            return Err(Refusal::invalid(&format!("slots[{slot}]"), what));
        }
        let mut offered: Vec<u32> = allowed.iter().map(|at| numbers[*at]).collect();
        offered.sort_unstable();
        let all = offered.len() == self.learner.problem().classes;
        let mut taken = self.predicted(decide, slot, (!all).then_some(&*offered))?;
        let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
        self.play.draw(learner.as_ref(), &mut taken);
        let best = allowed.iter().copied().find(|at| numbers[*at] == taken.greedy).unwrap_or(allowed[0]);
        let first =
            if allowed.contains(&(choice.baseline as usize)) { choice.baseline as usize } else { allowed[0] };
        if self.spec.service.mode != Mode::Online {
            taken.label = numbers[first];
            taken.distribution.fill(0.0);
            taken.distribution[taken.label as usize] = 1.0;
            (taken.probability, taken.explored) = (1.0, None);
        }
        let played = allowed.iter().copied().find(|at| numbers[*at] == taken.label).unwrap_or(first);
        let unscaled = self.unscaled(&taken);
        Ok(Round { example: self.kept(&taken), unscaled, taken, allowed, played, agrees: best == first })
    }

    /// Counts the decisions, and stores them until their feedback.
    fn keep_waiting(
        &mut self,
        at: i64,
        decide: &Decide,
        wanted: &Wanted,
        rounds: Vec<Round>,
    ) -> (Answer, Outcome) {
        let imposed = self.spec.service.mode != Mode::Online;
        let (mut outcome, mut chosen) = (Outcome { imposed, ..Outcome::default() }, Vec::new());
        for (slot, round) in rounds.into_iter().enumerate() {
            let Round { example, unscaled, taken, allowed, played, agrees } = round;
            self.standing.compared += 1;
            self.standing.agreed += u64::from(agrees);
            self.standing.explored += 1.0 - taken.distribution[taken.greedy as usize].min(1.0);
            self.standing.decisions += 1;
            let id = decide.id_of(slot);
            let p = |at: &usize| {
                (wanted.names[*at].text.clone(), taken.distribution[wanted.numbers[*at] as usize])
            };
            let label = wanted.names[played].clone();
            chosen.push(Chosen { id: id.clone(), label, p: allowed.iter().map(p).collect() });
            let waits = Waits::new(example, &taken, at, !decide.deferred).with_row(unscaled);
            let forgotten = self.waiting.insert(&id, Arc::new(waits)).expect("no other has the id");
            if let Some((old, _)) = forgotten {
                self.standing.forgotten += 1;
                outcome.heard.push((old, None));
            }
            outcome.taken.push(taken);
        }
        (Answer::Chosen(chosen), outcome)
    }

    /// The part of the present row that is learnt from, before scaling.
    pub(super) fn unscaled(&self, taken: &Decision) -> Option<Unscaled> {
        self.encoder.scales_when_learnt().then(|| self.encoder.late(&self.row, taken.label))
    }

    /// The part of the example that is learnt from: with blocks for labels, only that of the played
    /// label.
    pub(super) fn kept(&self, taken: &Decision) -> Example {
        let RowKind::Offers(width) = self.kind else { return self.example.clone() };
        let Features::Sparse { indices, values } = self.example.features() else {
            return self.example.clone();
        };
        let (from, to) = (taken.label * width, (taken.label + 1) * width);
        let at = |column: u32| indices.partition_point(|index| *index < column);
        let span = at(from)..at(to);
        Example::of(Features::Sparse { indices: &indices[span.clone()], values: &values[span] })
    }
}

/// The labels allowed in each slot.
fn choices(decide: &Decide, names: &[GivenLabel]) -> Result<Vec<Choice>, Refusal> {
    let position = |field: &str, name: &str| {
        check_label(field, name)?;
        names
            .iter()
            .position(|known| known.text == name)
            .ok_or_else(|| Refusal::invalid(field, format!("the label {} is not on offer", shown(name))))
    };
    let mut excluded = Vec::new();
    for (at, name) in decide.exclude.iter().enumerate() {
        excluded.push(position(&format!("exclude[{at}]"), name)?);
    }
    let wanted = decide.wanted();
    let mut choices = Vec::with_capacity(wanted);
    for at in 0..wanted {
        let mut mine = excluded.clone();
        let slot = decide.slots.get(at);
        for (one, name) in slot.iter().flat_map(|slot| &slot.exclude).enumerate() {
            mine.push(position(&format!("slots[{at}].exclude[{one}]"), name)?);
        }
        let allowed: Vec<u32> =
            (0..names.len()).filter(|at| !mine.contains(at)).map(|at| at as u32).collect();
        let Some(first) = allowed.first().copied() else {
            let mine = slot.is_some_and(|slot| !slot.exclude.is_empty());
            let field = if mine { format!("slots[{at}].exclude") } else { "exclude".to_owned() };
            return Err(Refusal::invalid(&field, "every label on offer is excluded; one was needed"));
        };
        let baseline = match slot.and_then(|slot| slot.baseline.as_deref()) {
            None => first,
            Some(name) => position(&format!("slots[{at}].baseline"), name)? as u32,
        };
        choices.push(Choice { allowed, baseline });
    }
    let same = |at: &usize| decide.slots[..*at].iter().any(|one| one.id == decide.slots[*at].id);
    if let Some(at) = (0..decide.slots.len()).find(same) {
        let what = format!("two slots have the id {}", shown(&decide.slots[at].id));
        return Err(Refusal::invalid(&format!("slots[{at}].id"), what));
    }
    // Each slot must have a label left, whatever the earlier ones take.
    for (at, choice) in choices.iter().enumerate() {
        if choice.allowed.len() < at + 1 {
            let allowed = choice.allowed.len();
            let labels = if allowed == 1 { "label" } else { "labels" };
            let what = format!(
                "slot {at} (from 0) allows {allowed} {labels}, and the slots before it may take {at}; at least {} \
                 were needed",
                at + 1
            );
            return Err(Refusal::invalid(&format!("slots[{at}]"), what));
        }
    }
    Ok(choices)
}
