//! A requested learner with its settings.

use noregret::learner::Feedback;
use noregret::open_classes::FEWEST;
use noregret::param::{ParamValue as _, Value};
use noregret::problem::Problem;
use noregret::registry::{Entry, of_offers};
use noregret_stream::Offers;

use crate::choices::FeedbackChoice;
use crate::failure::Failure;
use crate::settings::Settings;

/// A requested learner with its settings.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) entry: &'static Entry,
    pub(crate) settings: Settings,
    /// Number of copies of its state.
    pub(crate) copies: usize,
    /// Whether classes may be added during the run, if their number is not declared.
    pub(crate) open_classes: bool,
    /// Whether somebody has named it; else another one may suit the data better.
    pub(crate) named: bool,
}

impl Wanted {
    /// Whether it hears no more than what the label that it played earned.
    pub(crate) fn is_bandit(&self) -> bool {
        self.settings.is_bandit(self.entry)
    }

    /// The columns of a block, for labels on offer that have features of their own.
    pub(crate) fn block(&self) -> Result<u32, Failure> {
        // Other learners have a parameter of this name with another meaning.
        let other = self.named && !self.entry.takes_blocks();
        let Some(asked) = self.settings.params.get("width").filter(|_| !other) else {
            return Ok(Offers::WIDTH);
        };
        let width = u64::from_value(asked).and_then(|width| u32::try_from(width).ok());
        width.filter(|width| *width > 0).ok_or_else(|| {
            Failure::usage(format!("width = {asked}: must be a whole number from 1 to {}", u32::MAX))
        })
    }

    /// The learner of labels on offer with features of their own, in blocks of `width` columns.
    pub(crate) fn for_blocks(&self, width: u32) -> Result<Self, Failure> {
        let entry = of_offers();
        let known = self.entry.takes_blocks() && self.entry.feedback == Feedback::Bandit;
        if self.named && !known {
            let able = entry.about.name;
            return Err(Failure::Learner(
                self.entry.about.name,
                format!("does not learn from labels on offer with features of their own; {able} does"),
            ));
        }
        let mut wanted = Self { entry, ..self.clone() };
        wanted.settings.params.remove("mode");
        wanted.settings.params.insert("width".to_owned(), Value::from(u64::from(width)));
        Ok(wanted)
    }

    /// Whether the smallest learner of its kind can make room for so many classes and features.
    pub(crate) fn grows(&self, classes: usize, features: usize) -> Result<bool, Failure> {
        let smallest = Problem::new(FEWEST, 1).with_radius(1.0);
        Ok(self.entry.grows(&self.settings.params, smallest, classes, features)?)
    }

    /// Rejects a learner that cannot add classes.
    pub(crate) fn check_growth(&self) -> Result<(), Failure> {
        if self.grows(FEWEST + 1, 1)? && !self.is_bandit() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--set classes=K: must be given for a pipe, which cannot be read twice: {} cannot add classes during a run",
            self.entry.about.name
        )))
    }

    /// Sets the feedback of `--feedback`, if the learner can learn from it.
    pub(crate) fn set_feedback(&mut self, asked: Option<FeedbackChoice>) -> Result<(), Failure> {
        let name = self.entry.about.name;
        match (asked, self.entry.feedback) {
            (Some(FeedbackChoice::Bandit), Feedback::Full | Feedback::Experts) => {
                return Err(Failure::usage(format!(
                    "--feedback bandit: {name} learns from the label; use auto (omit --learner), or a learner that `noregret list` marks with bandit"
                )));
            }
            (Some(FeedbackChoice::Full), Feedback::Bandit) => {
                return Err(Failure::usage(format!(
                    "--feedback full: {name} learns from whether the played label was right, not from the label"
                )));
            }
            (Some(FeedbackChoice::Bandit), Feedback::Either) => {
                self.settings.params.insert("mode".to_owned(), Value::Text("bandit".to_owned()));
            }
            _ => {}
        }
        Ok(())
    }
}
