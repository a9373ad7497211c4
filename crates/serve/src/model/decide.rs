//! Decisions: one label, or one for each slot.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::example::Features;
use noregret::prediction::Decision;
use noregret_stream::encode::Example;
use noregret_stream::run::bandit::decides_among;

use super::answers::Waits;
use super::engine::{Answer, Chosen, Done, Engine};
use super::event::{Decide, Outcome};
use super::rows;
use super::spec::{Feedback, Mode, RowKind, label_name, shown};
use crate::refusal::Refusal;

/// The labels that may be played in a slot, by position, and the first of them.
struct Choice {
    allowed: Vec<u32>,
    baseline: u32,
}

impl Engine {
    pub(super) fn decide(&mut self, at: i64, decide: &Decide) -> Done {
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
        let names: Vec<String> = match &decide.labels {
            Some(labels) => {
                let mut names = Vec::with_capacity(labels.len());
                for (at, offered) in labels.iter().enumerate() {
                    names.push(label_name(&format!("labels[{at}]"), &offered.label)?);
                }
                names
            }
            None if matches!(self.kind, RowKind::Offers(_)) => {
                let what = "the model has no fixed labels: give the labels on offer";
                return Err(Refusal::invalid("labels", what));
            }
            None => self.encoder.labels().iter().map(str::to_owned).collect(),
        };
        let classes = self.learner.problem().classes;
        if names.is_empty() || names.len() > classes {
            let what = format!("{} labels are on offer; from 1 to {classes} were needed", names.len());
            return Err(Refusal::invalid("labels", what));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::invalid(
                "labels",
                format!("the label {} is on offer twice", shown(pair[0])),
            ));
        }
        // The learner's indices of the labels: their positions, or the model's classes.
        let numbers: Vec<u32> = match self.kind {
            RowKind::Offers(_) => (0..names.len() as u32).collect(),
            RowKind::Columns => {
                let mut numbers = Vec::with_capacity(names.len());
                for (at, name) in names.iter().enumerate() {
                    let Some(label) = self.encoder.labels().find(name) else {
                        let what = format!("the label {} is none of the model's", shown(name));
                        return Err(Refusal::invalid(&format!("labels[{at}]"), what));
                    };
                    numbers.push(label.0);
                }
                numbers
            }
        };
        let choices = choices(decide, &names)?;
        for (at, slot) in decide.slots.iter().enumerate() {
            slot.x.check(&format!("slots[{at}].x"), &self.limits)?;
        }
        let some_only =
            decide.labels.is_some() || choices.iter().any(|choice| choice.allowed.len() < names.len());
        if matches!(self.kind, RowKind::Columns) {
            let described = decide.labels.iter().flatten().position(|label| !label.x.is_null());
            let described = described.map(|at| format!("labels[{at}].x"));
            let slot = decide.slots.iter().position(|slot| !slot.x.is_null());
            if let Some(field) = described.or_else(|| slot.map(|at| format!("slots[{at}].x"))) {
                let what = "the model has fixed labels; features of labels and slots need a model that was made without labels";
                return Err(Refusal::invalid(&field, what));
            }
            if some_only && names.len() < classes && !self.decides_among() {
                let what =
                    format!("{} cannot decide among some of its labels only", self.learner.about().name);
                return Err(Refusal::invalid("labels", what));
            }
            decide.x.check("x", &self.limits)?;
            self.make_room(&decide.x, 0)?;
            self.row.clear();
            rows::fill(&mut self.schema.columns, &decide.x, &mut self.row)
                .map_err(|refusal| self.break_off(refusal.detail))?;
        }
        let (mut outcome, mut chosen) = (Outcome::default(), Vec::new());
        let imposed = self.spec.service.mode != Mode::Online;
        outcome.imposed = imposed;
        let mut played: Vec<usize> = Vec::new();
        for (slot, choice) in choices.iter().enumerate() {
            if let RowKind::Offers(width) = self.kind {
                self.row.clear();
                let labels = decide.labels.as_deref().unwrap_or_default();
                let own = decide.slots.get(slot).map(|slot| &slot.x);
                rows::fill_offer(&decide.x, own, labels, width, &self.limits, &mut self.row)
                    .map_err(|refusal| if slot == 0 { refusal } else { self.break_off(refusal.detail) })?;
            }
            if let Err(what) = self.encoder.encode(&self.row, &mut self.example) {
                return Err(self.break_off(what));
            }
            let allowed: Vec<usize> =
                choice.allowed.iter().map(|at| *at as usize).filter(|at| !played.contains(at)).collect();
            if allowed.is_empty() {
                return Err(self.break_off(format!("there is no label left for slot {}", slot + 1)));
            }
            let mut offered: Vec<u32> = allowed.iter().map(|at| numbers[*at]).collect();
            offered.sort_unstable();
            let mut taken = Decision::default();
            let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
            if offered.len() == classes {
                learner.predict(self.example.features(), &mut taken);
            } else if !learner.predict_among(self.example.features(), &offered, &mut taken) {
                return Err(self.break_off("the learner cannot decide among some of its labels"));
            }
            if !taken.scores.iter().all(|score| score.is_finite()) {
                return Err(self.break_off("the scores are not finite: values are too large"));
            }
            self.play.draw(learner.as_ref(), &mut taken);
            let best = allowed.iter().copied().find(|at| numbers[*at] == taken.greedy).unwrap_or(allowed[0]);
            let first = if allowed.contains(&(choice.baseline as usize)) {
                choice.baseline as usize
            } else {
                allowed[0]
            };
            self.standing.compared += 1;
            self.standing.agreed += u64::from(best == first);
            if imposed {
                taken.label = numbers[first];
                taken.distribution.fill(0.0);
                taken.distribution[taken.label as usize] = 1.0;
                (taken.probability, taken.explored) = (1.0, None);
            }
            self.standing.explored += 1.0 - taken.distribution[taken.greedy as usize].min(1.0);
            self.standing.decisions += 1;
            let at_played = allowed.iter().copied().find(|at| numbers[*at] == taken.label).unwrap_or(first);
            played.push(at_played);
            let id = decide.id_of(slot);
            let p = allowed.iter().map(|at| (names[*at].clone(), taken.distribution[numbers[*at] as usize]));
            chosen.push(Chosen { id: id.clone(), label: names[at_played].clone(), p: p.collect() });
            let waits = Waits {
                example: self.kept(&taken),
                taken: taken.clone(),
                since: at,
                active: !decide.deferred,
                heard: None,
            };
            match self.waiting.insert(&id, Arc::new(waits)) {
                Ok(None) => {}
                Ok(Some((old, _))) => {
                    self.standing.forgotten += 1;
                    outcome.heard.push((old, None));
                }
                Err(error) => return Err(self.break_off(error.to_string())),
            }
            outcome.taken.push(taken);
        }
        Ok((Answer::Chosen(chosen), outcome))
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

    /// Whether the learner can be restricted to some of its labels.
    pub(super) fn decides_among(&self) -> bool {
        let AnyModel::Bandit(learner) = &self.learner else { return false };
        decides_among(learner.as_ref())
    }
}

/// The labels allowed in each slot.
fn choices(decide: &Decide, names: &[String]) -> Result<Vec<Choice>, Refusal> {
    let position = |field: &str, name: &str| {
        let name = label_name(field, name)?;
        names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| Refusal::invalid(field, format!("the label {} is not on offer", shown(&name))))
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
