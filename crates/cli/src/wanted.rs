//! A learner that is wanted, and what was set for it.

use noregret::algorithm::AnyModel;
use noregret::learner::Feedback;
use noregret::open_classes::FEWEST;
use noregret::param::Value;
use noregret::problem::Problem;
use noregret::registry::Entry;

use crate::choices::FeedbackChoice;
use crate::failure::Failure;
use crate::settings::Settings;

/// A learner that is wanted, and what was set for it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) entry: &'static Entry,
    pub(crate) settings: Settings,
    /// How many copies of its state will be kept.
    pub(crate) copies: usize,
    /// Whether it may be given classes as they come up, where their number is not declared.
    pub(crate) open_classes: bool,
}

impl Wanted {
    /// Whether the columns are experts, and what stands there their votes.
    pub(crate) fn votes(&self) -> bool {
        self.entry.feedback == Feedback::Experts
    }

    /// Whether the features are best left as they are: their units make no difference, or all of it.
    pub(crate) fn scale_free(&self) -> Result<bool, Failure> {
        Ok(self.votes() || self.entry.scale_free(&self.settings.params)?)
    }

    /// Refuses a learner that cannot take in a class that appears later.
    pub(crate) fn check_growth(&self) -> Result<(), Failure> {
        let smallest = Problem::new(FEWEST, 1).with_radius(1.0);
        if let AnyModel::Full(mut learner) = self.entry.make_any(&self.settings.params, smallest, 0)?
            && learner.grow(FEWEST + 1, 1)
        {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--set classes=K: must be given for a pipe, which cannot be read twice: {} takes in no classes as they come up",
            self.entry.about.name
        )))
    }

    /// Sets the feedback that `--feedback` asks for, if the learner can learn from it.
    pub(crate) fn set_feedback(&mut self, asked: Option<FeedbackChoice>) -> Result<(), Failure> {
        let name = self.entry.about.name;
        match (asked, self.entry.feedback) {
            (Some(FeedbackChoice::Bandit), Feedback::Full | Feedback::Experts) => {
                return Err(Failure::usage(format!(
                    "--feedback bandit: {name} learns from the label; without --learner, auto learns from right or wrong, as do the learners that `noregret list` marks with bandit"
                )));
            }
            (Some(FeedbackChoice::Full), Feedback::Bandit) => {
                return Err(Failure::usage(format!(
                    "--feedback full: {name} learns from whether the label that it played was right, not from the label"
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
