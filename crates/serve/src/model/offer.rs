//! What is on offer in a round: the labels that a request names, or all that are not retired.

use noregret::algorithm::AnyModel;
use noregret::registry::{self, Entry};
use noregret_stream::GivenLabel;
use noregret_stream::encode::Encoder;

use super::event::Decide;
use super::spec::{RowKind, check_label};
use crate::refusal::{Refusal, shown};

/// The labels of a model.
pub(super) struct Offering<'a> {
    pub(super) kind: RowKind,
    pub(super) learner: &'a AnyModel,
    pub(super) encoder: &'a Encoder,
    /// Those that are no longer on offer, ascending.
    pub(super) retired: &'a [u32],
}

impl Offering<'_> {
    /// The names of the labels on offer.
    pub(super) fn names(&self, decide: &Decide) -> Result<Vec<GivenLabel>, Refusal> {
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
        if names.is_empty() {
            return Err(Refusal::invalid("labels", "0 labels are on offer; at least one was needed"));
        }
        if names.len() > classes {
            let more =
                if self.kind == RowKind::Columns { "" } else { ": params.classes makes a model for more" };
            let what = format!("{} labels are on offer; at most {classes} were needed{more}", names.len());
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
    pub(super) fn numbers(&self, names: &[GivenLabel]) -> Result<Vec<u32>, Refusal> {
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

    /// Refuses features of labels and slots for a model with fixed labels.
    pub(super) fn check_undescribed(&self, decide: &Decide) -> Result<(), Refusal> {
        let described = decide.labels.iter().flatten().position(|label| !label.x.is_null());
        let described = described.map(|at| format!("labels[{at}].x"));
        let slot = decide.slots.iter().position(|slot| !slot.x.is_null());
        if let Some(field) = described.or_else(|| slot.map(|at| format!("slots[{at}].x"))) {
            let what = "the model has fixed labels; features of labels and slots need a model that was made without labels";
            return Err(Refusal::invalid(&field, what));
        }
        Ok(())
    }

    /// Refuses a choice of labels for a learner that decides among all of them.
    pub(super) fn check_choice(&self) -> Result<(), Refusal> {
        if !registry::find(self.learner.about().name).is_ok_and(Entry::decides_among) {
            let what = format!("{} cannot decide among some of its labels only", self.learner.about().name);
            return Err(Refusal::invalid("labels", what));
        }
        Ok(())
    }

    /// The labels on offer where a decision names none, by class; `None` for all classes of the learner.
    pub(super) fn by_default(&self) -> Option<Vec<u32>> {
        let known = self.encoder.labels().len();
        let all = self.retired.is_empty() && known == self.learner.problem().classes;
        if self.kind != RowKind::Columns || all {
            return None;
        }
        let is_offered = |at: &u32| self.retired.binary_search(at).is_err();
        Some((0u32..).take(known).filter(is_offered).collect())
    }
}
