//! Labels of a model of decisions that are added and retired while it goes on.
//!
//! A retired label keeps its class, and what was learnt of it; it is not on offer. New labels are classes
//! behind the others, and decisions of before are decisions among those that there were.

use noregret::Label;
use noregret::algorithm::AnyModel;
use noregret::registry::{self, Entry};
use noregret_stream::GivenLabel;

use super::engine::{Answer, Done, Engine};
use super::event::Outcome;
use super::offer::Offering;
use super::rows;
use super::spec::{Feedback, RowKind, Spec, check_label};
use crate::refusal::{Refusal, shown};

/// A change of labels, checked.
struct Change {
    new: Vec<GivenLabel>,
    /// All labels that are retired then, ascending.
    retired: Vec<u32>,
}

impl Engine {
    /// Adds labels, and retires some. What has no effect is no error.
    pub(super) fn change_labels(&mut self, add: &[GivenLabel], retire: &[GivenLabel]) -> Done {
        self.may_change_labels()?;
        let Change { new, retired } = self.checked_labels(add, retire)?;
        let known = self.encoder.labels().len();
        let outcome = Outcome { known: Some(known as u32), ..Outcome::default() };
        self.remember();
        self.make_classes(known + new.len())?;
        // From here on nothing is refused.
        for label in &new {
            self.encoder.labels_mut().intern_as(&label.text, label.of);
        }
        self.spec.labels = Some(self.encoder.labels().given().collect());
        self.set_retired(retired);
        Ok((Answer::Done, outcome))
    }

    /// A change of the labels of the model that this one shadows. Labels that it does not have cannot be
    /// retired.
    pub(super) fn follow_labels(&mut self, add: &[GivenLabel], retire: &[GivenLabel]) -> Result<(), Refusal> {
        let labels = self.encoder.labels();
        let known = |label: &&GivenLabel| labels.find_as(&label.text, label.of).is_some();
        let retire: Vec<GivenLabel> = retire.iter().filter(known).cloned().collect();
        self.change_labels(add, &retire).map(drop)
    }

    /// Retires the labels called `names` and no others. Names that it does not have are passed over, and one
    /// label stays on offer.
    pub(crate) fn retire(&mut self, names: &[String]) {
        let find = |name: &String| self.encoder.labels().find(name).map(|label| label.0);
        let mut retired: Vec<u32> = names.iter().filter_map(find).collect();
        retired.sort_unstable();
        retired.dedup();
        if retired.is_empty() || retired.len() < self.encoder.labels().len() {
            self.set_retired(retired);
        }
    }

    fn set_retired(&mut self, retired: Vec<u32>) {
        let name = |at: &u32| self.encoder.labels().name(Label(*at)).into_owned();
        self.spec.retired = retired.iter().map(name).collect();
        self.retired = retired;
    }

    /// Adds the labels that a later state with the settings `later` has, to a state of before.
    /// Fails if there is no room for them.
    pub(crate) fn catch_up_with(&mut self, later: &Spec) -> Result<(), Refusal> {
        let (Some(mine), Some(theirs)) = (&self.spec.labels, &later.labels) else { return Ok(()) };
        let same = mine.iter().zip(theirs).all(|(mine, theirs)| mine.text == theirs.text);
        if !same || mine.len() >= theirs.len() || self.spec.feedback == Feedback::Full {
            return Ok(());
        }
        let missing = theirs[mine.len()..].to_vec();
        let done = self.change_labels(&missing, &[]).map(drop);
        match done {
            Ok(()) => self.before = None,
            Err(_) => self.take_back(),
        }
        done
    }

    /// What may be on offer.
    pub(super) fn offering(&self) -> Offering<'_> {
        Offering { kind: self.kind, learner: &self.learner, encoder: &self.encoder, retired: &self.retired }
    }

    fn may_change_labels(&self) -> Result<(), Refusal> {
        let refused = |what: String| Err(Refusal::conflict(what));
        if self.spec.feedback == Feedback::Full {
            return refused(
                "the model learns from labels: a new one is added by the first row that has it; to leave some out of a forecast, give predict the labels on offer"
                    .to_owned(),
            );
        }
        if self.kind != RowKind::Columns {
            return refused(
                "the model was made without labels: those on offer come and go with every decision"
                    .to_owned(),
            );
        }
        let name = self.learner_name();
        if !registry::find(name).is_ok_and(Entry::decides_among) {
            return refused(format!(
                "{name} always decides among all labels that it was made with: {WAY_OUT}"
            ));
        }
        Ok(())
    }

    fn checked_labels(&self, add: &[GivenLabel], retire: &[GivenLabel]) -> Result<Change, Refusal> {
        let labels = self.encoder.labels();
        let mut retired = self.retired.clone();
        let mut new: Vec<GivenLabel> = Vec::new();
        for (at, label) in retire.iter().enumerate() {
            let field = format!("retire[{at}]");
            check_label(&field, &label.text)?;
            let Some(found) = labels.find_as(&label.text, label.of) else {
                let what = format!("the label {} is none of the model's", shown(&label.text));
                return Err(Refusal::invalid(&field, what));
            };
            retired.push(found.0);
        }
        retired.sort_unstable();
        retired.dedup();
        for (at, label) in add.iter().enumerate() {
            let field = format!("add[{at}]");
            check_label(&field, &label.text)?;
            if let Some(why) = labels.clash(&label.text, label.of) {
                return Err(Refusal::invalid(&field, why));
            }
            let both =
                |what: &str| Refusal::invalid(&field, format!("the label {} is {what}", shown(&label.text)));
            match labels.find_as(&label.text, label.of) {
                Some(found) if retire.iter().any(|one| labels.find_as(&one.text, one.of) == Some(found)) => {
                    return Err(both("added and retired at once"));
                }
                Some(found) => retired.retain(|at| *at != found.0),
                None if new.iter().any(|one| one.text == label.text) => return Err(both("added twice")),
                None => new.push(label.clone()),
            }
        }
        let all = labels.len() + new.len();
        if all == retired.len() {
            return Err(Refusal::invalid("retire", "no label would be left on offer; one was needed"));
        }
        if all > self.limits.labels {
            let what = format!(
                "the model would have {all} labels, retired ones included; the limit is {} (--labels)",
                self.limits.labels
            );
            return Err(Refusal::invalid("add", what));
        }
        Ok(Change { new, retired })
    }

    /// Makes room for `classes` classes.
    fn make_classes(&mut self, classes: usize) -> Result<(), Refusal> {
        let (now, name) = (self.learner.problem().classes, self.learner_name());
        if classes <= now {
            return Ok(());
        }
        let floor = self.play.floor;
        if floor * classes as f64 > 1.0 {
            let what = format!(
                "the floor under the probabilities is {floor}, which is too much for {classes} labels: make a model with a lower one"
            );
            return Err(Refusal::invalid("add", what));
        }
        let Some(most) = self.most_with(classes) else {
            let what = format!("{name} cannot grow from {now} labels to {classes}: {WAY_OUT}");
            return Err(Refusal::invalid("add", what));
        };
        let columns = self.encoder.columns();
        if self.bytes(classes, most.unwrap_or(columns)) > self.limits.model_bytes {
            let what = format!(
                "with {classes} labels {name} would take more than {} MiB, which is the limit (--memory)",
                self.limits.model_bytes >> 20
            );
            return Err(Refusal::invalid("add", what));
        }
        self.grow(classes, columns)?;
        self.most = most;
        Ok(())
    }

    /// The largest number of columns with so many classes: less than now, if the learner can no longer grow
    /// as far. It follows from the learner alone, so that the event has the same effect when it is applied
    /// again.
    /// `None` if there is no room for the classes.
    fn most_with(&self, classes: usize) -> Option<Option<usize>> {
        if !matches!(self.learner, AnyModel::Bandit(_)) {
            return None;
        }
        let fits = |columns: usize| self.can_grow(classes, columns);
        let now = self.encoder.columns();
        let Some(mut most) = self.most else { return fits(now).then_some(None) };
        while !fits(most) {
            most /= 2;
            if most < now || !rows::leaves_room(&self.schema.columns, most) {
                return None;
            }
        }
        Some(Some(most))
    }
}

/// What to do where the labels of a model cannot change.
const WAY_OUT: &str = "make a model with room for more (params.classes) of a learner that takes labels that come \
                       and go, such as auto or squarecb; as a shadow of this one it learns its log first";
