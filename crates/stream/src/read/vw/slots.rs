//! Rounds with several decisions (`ccb`): every slot chooses an action, and becomes a row of its own.
//!
//! On offer are the actions that the slot allows and that no earlier slot has chosen. What a slot without a
//! label has chosen is unknown: it takes nothing away. The features of a slot are the round's, its own, whose
//! names begin with `slot.`, and `slot=0` for its position, since an action may earn more in one slot than in
//! another.

use std::collections::VecDeque;

use super::{is_blank, tag};
use crate::fault::{Fault, fault};
use crate::read::columns::ColumnMap;
use crate::read::error::shown;
use crate::read::ndjson::offers::room;
use crate::read::offer::Round;
use crate::read::round::Described;
use crate::read::row::Row;
use crate::words::counted;

/// Before the names of a slot's features.
pub(super) const PREFIX: &str = "slot";

/// A slot as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub(super) tag: String,
    pub(super) line: u64,
    pub(super) features: Described,
    /// What the chosen action cost.
    pub(super) cost: Option<f64>,
    /// The chosen action and others, from 0, with their probabilities.
    pub(super) choices: Vec<(usize, Option<f64>)>,
    /// The actions that it may choose, from 0; all if it names none.
    pub(super) allowed: Vec<usize>,
}

impl Slot {
    /// Parses `[action:cost:probability[,action:probability…]] [action,…]` and a tag, as they are between
    /// `ccb slot` and the first bar.
    pub(super) fn parse(head: &str) -> Result<Self, Fault> {
        let tag = tag(head);
        let mut slot = Self {
            tag: tag.map_or("", |tag| tag.strip_prefix('\'').unwrap_or(tag)).to_owned(),
            ..Self::default()
        };
        let words: Vec<&str> = head.split(is_blank).filter(|word| !word.is_empty()).collect();
        for word in &words[..words.len() - usize::from(tag.is_some())] {
            if !word.contains(':') {
                slot.allowed = word.split(',').map(action).collect::<Result<_, _>>()?;
                continue;
            }
            if !slot.choices.is_empty() {
                return Err(fault!("{} is a second choice of the slot", shown(*word)));
            }
            let (chosen, others) =
                word.split_once(',').map_or((*word, None), |(chosen, rest)| (chosen, Some(rest)));
            let [first, cost, probability] = parts(chosen, "action:cost:probability")?;
            slot.cost = Some(number(cost)?);
            slot.choices.push((action(first)?, Some(number(probability)?)));
            for other in others.into_iter().flat_map(|rest| rest.split(',')) {
                let [other, probability] = parts(other, "action:probability")?;
                slot.choices.push((action(other)?, Some(number(probability)?)));
            }
        }
        slot.check()
    }

    /// The slot, if its probabilities are some.
    pub(super) fn check(self) -> Result<Self, Fault> {
        let wrong = |p: &f64| !(0.0..=1.0).contains(p);
        match self.choices.iter().filter_map(|(_, p)| *p).find(wrong) {
            Some(p) => {
                Err(fault!("the probability of an action is {p}; a number between 0 and 1 was needed"))
            }
            None => Ok(self),
        }
    }
}

/// The parts of `word` between colons.
fn parts<'a, const N: usize>(word: &'a str, form: &str) -> Result<[&'a str; N], Fault> {
    let parts: Vec<&str> = word.split(':').collect();
    parts.try_into().map_err(|_| fault!("{} is not {form}", shown(word)))
}

fn action(text: &str) -> Result<usize, Fault> {
    text.parse().map_err(|_| fault!("{} is not the number of an action, from 0", shown(text)))
}

fn number(text: &str) -> Result<f64, Fault> {
    fast_float2::parse::<f64, _>(text)
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(|| fault!("{} is not a finite number", shown(text)))
}

/// The rows of the `slots` of a round, each action with a block of `width` columns.
pub(super) fn rows(
    round: &Round,
    slots: &[Slot],
    width: u32,
    columns: &mut ColumnMap,
) -> Result<VecDeque<Row>, Fault> {
    let count = round.len();
    if slots.is_empty() {
        return Err("the round has no slot".into());
    }
    if slots.len() > count {
        return Err(fault!(
            "the round has {} and {}; every slot chooses another action",
            counted(slots.len() as u64, "slot"),
            counted(count as u64, "action")
        ));
    }
    let mut chosen = vec![false; count];
    let (mut rows, mut most) = (VecDeque::new(), 0);
    for (at, slot) in slots.iter().enumerate() {
        let wrong = |what: Fault| fault!("slot {at} (from 0) {what}");
        let named = slot.allowed.iter().chain(slot.choices.iter().map(|(action, _)| action));
        if let Some(action) = named.into_iter().find(|action| **action >= count) {
            return Err(wrong(fault!("names the action {action}, and the last one is {}", count - 1)));
        }
        let allows = |action: &usize| slot.allowed.is_empty() || slot.allowed.contains(action);
        let offered: Vec<usize> = (0..count).filter(|action| allows(action) && !chosen[*action]).collect();
        let mut besides = slot.features.clone();
        besides.push((format!("{PREFIX}={at}"), 1.0));
        let mut row = Row::new();
        let filled = round.part(&besides, &offered).fill(width, &mut row);
        filled.map_err(|what| wrong(fault!("cannot choose: {what}")))?;
        most = most.max(offered.len());
        (row.line, row.tag) = (slot.line, slot.tag.clone());
        for (rank, (action, probability)) in slot.choices.iter().enumerate() {
            let Some(position) = offered.iter().position(|one| one == action) else {
                // A distribution may name all actions.
                if rank > 0 && probability.is_none_or(|p| p == 0.0) {
                    continue;
                }
                let why = if chosen[*action] { "an earlier slot has chosen" } else { "it does not allow" };
                return Err(wrong(fault!("chooses or may choose the action {action}, which {why}")));
            };
            if slot.cost.is_some() {
                row.push_cost(&position.to_string(), slot.cost.filter(|_| rank == 0), *probability);
            }
        }
        if let Some((first, _)) = slot.choices.first() {
            chosen[*first] = true;
        }
        rows.push_back(row);
    }
    room(most, width, columns).map_err(|kind| kind.to_string())?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_its_choice_and_what_it_allows() {
        let slot = |text| Slot::parse(text).expect("a slot");
        let choices = vec![(1, Some(0.75)), (0, Some(0.25))];
        let want = Slot { cost: Some(-0.5), choices, allowed: vec![0, 1, 3], ..Slot::default() };
        assert_eq!(slot(" 1:-0.5:0.75,0:0.25 0,1,3 "), want);
        assert_eq!(slot(" 0,1,3 1:-0.5:0.75,0:0.25 'here"), Slot { tag: "here".to_owned(), ..want });
        assert_eq!(slot(" "), Slot::default());
        assert_eq!(slot(" 2 "), Slot { allowed: vec![2], ..Slot::default() });
        for (text, what) in [
            (" 1:0.5 ", "\"1:0.5\" is not action:cost:probability"),
            (" 1:0.5:0.5,0:1:1 ", "\"0:1:1\" is not action:probability"),
            (" 1:0.5:2 ", "the probability of an action is 2; a number between 0 and 1 was needed"),
            (" 1:x:0.5 ", "\"x\" is not a finite number"),
            (" -1:0:0.5 ", "\"-1\" is not the number of an action, from 0"),
            (" 1:0:0.5 2:0:0.5 ", "\"2:0:0.5\" is a second choice of the slot"),
        ] {
            assert_eq!(Slot::parse(text), Err(what.into()), "{text}");
        }
    }
}
