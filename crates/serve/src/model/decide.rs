//! Decisions: one label, or one for each slot.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::example::Features;
use noregret::prediction::Decision;
use noregret::registry::{self, Entry};
use noregret_stream::GivenLabel;
use noregret_stream::encode::{Example, Unscaled};

use super::engine::{Answer, Chosen, Done, Engine, check_scores};
use super::event::{Decide, Outcome};
use super::rows;
use super::spec::{Feedback, Mode, RowKind, check_label, shown};
use super::waiting::Waits;
use crate::refusal::Refusal;

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
                return Err(Refusal { field: Some("id".to_owned()), ..Refusal::conflict(what) });
            }
        }
        let names = self.names_on_offer(decide)?;
        let numbers = self.numbers_of(&names)?;
        let choices = choices(decide, &names)?;
        for (at, slot) in decide.slots.iter().enumerate() {
            slot.x.check(&format!("slots[{at}].x"), &self.limits)?;
        }
        if matches!(self.kind, RowKind::Columns) {
            let some_only =
                decide.labels.is_some() || choices.iter().any(|choice| choice.allowed.len() < names.len());
            self.check_columns(decide, some_only && names.len() < self.learner.problem().classes)?;
        }
        Ok(Wanted { names, numbers, choices })
    }

    /// The names of the labels on offer.
    fn names_on_offer(&self, decide: &Decide) -> Result<Vec<GivenLabel>, Refusal> {
        let names: Vec<GivenLabel> = match &decide.labels {
            Some(labels) => {
                let mut names = Vec::with_capacity(labels.len());
                for (at, offered) in labels.iter().enumerate() {
                    check_label(&format!("labels[{at}]"), &offered.label.text)?;
                    names.push(offered.label.clone());
                }
                names
            }
            None if matches!(self.kind, RowKind::Offers(_)) => {
                let what = "the model has no fixed labels: give the labels on offer";
                return Err(Refusal::invalid("labels", what));
            }
            None => {
                let is_offered = |at: &u32| self.retired.binary_search(at).is_err();
                let named = (0u32..).zip(self.encoder.labels().given());
                named.filter(|(at, _)| is_offered(at)).map(|(_, label)| label).collect()
            }
        };
        let classes = self.learner.problem().classes;
        if names.is_empty() || names.len() > classes {
            let what = format!("{} labels are on offer; from 1 to {classes} were needed", names.len());
            return Err(Refusal::invalid("labels", what));
        }
        let mut sorted: Vec<&str> = names.iter().map(|label| &*label.text).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::invalid(
                "labels",
                format!("the label {} is on offer twice", shown(pair[0])),
            ));
        }
        Ok(names)
    }

    /// The learner's indices of the labels: their positions, or the model's classes.
    fn numbers_of(&self, names: &[GivenLabel]) -> Result<Vec<u32>, Refusal> {
        if let RowKind::Offers(_) = self.kind {
            return Ok((0..names.len() as u32).collect());
        }
        let number = |(at, label): (usize, &GivenLabel)| {
            let found = self.encoder.labels().find_as(&label.text, label.of).map(|label| label.0);
            let refused = |what: &str| {
                let what = format!("the label {} {what}", shown(&label.text));
                Refusal::invalid(&format!("labels[{at}]"), what)
            };
            match found {
                None => Err(refused("is none of the model's")),
                Some(at) if self.retired.binary_search(&at).is_ok() => {
                    Err(refused("is retired: it has to be added again before it is on offer"))
                }
                Some(at) => Ok(at),
            }
        };
        names.iter().enumerate().map(number).collect()
    }

    /// Checks a decision of a model with fixed labels; `some_only`: among some of them.
    fn check_columns(&self, decide: &Decide, some_only: bool) -> Result<(), Refusal> {
        let described = decide.labels.iter().flatten().position(|label| !label.x.is_null());
        let described = described.map(|at| format!("labels[{at}].x"));
        let slot = decide.slots.iter().position(|slot| !slot.x.is_null());
        if let Some(field) = described.or_else(|| slot.map(|at| format!("slots[{at}].x"))) {
            let what = "the model has fixed labels; features of labels and slots need a model that was made without labels";
            return Err(Refusal::invalid(&field, what));
        }
        if some_only && !registry::find(self.learner_name()).is_ok_and(Entry::decides_among) {
            let what = format!("{} cannot decide among some of its labels only", self.learner.about().name);
            return Err(Refusal::invalid("labels", what));
        }
        Ok(())
    }

    /// Fills the row of a model with fixed labels.
    pub(super) fn fill_round(&mut self, decide: &Decide) -> Result<(), Refusal> {
        decide.x.check("x", &self.limits)?;
        self.make_room(&decide.x, 0)?;
        self.row.clear();
        rows::fill(&mut self.schema.columns, &decide.x, self.most, &mut self.row)
    }

    /// The learner's decision for a slot, not yet drawn: among the labels `offered`, or all.
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
        let mut taken = Decision::default();
        let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
        if !learner.decide(self.example.features(), offered, &mut taken) {
            let what = "the learner cannot decide among some of its labels";
            return Err(Refusal::invalid("labels", what));
        }
        check_scores(&taken)?;
        Ok(taken)
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
            let what =
                format!("{} labels are allowed in slot {at}, and {at} may be taken", choice.allowed.len());
            return Err(Refusal::invalid(&format!("slots[{at}]"), what));
        }
    }
    Ok(choices)
}
