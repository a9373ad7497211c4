//! The second pass over a log: what is known of a decision before its reward, and what its reward says.

use noregret::algorithm::Forecast;
use noregret::example::Label;
use noregret::prediction::{Decision, Prediction, argmax};

use super::question::{EvaluateOptions, Policy};
use super::tally::{Support, Tally};
use crate::decisions::event::LoggedDecision;
use crate::decisions::logged::Logged;
use crate::encode::labels::Labels;
use crate::encode::{Encoder, Example};
use crate::evaluate::off_policy::Round;
use crate::evaluate::reward_model::RewardModel;
use crate::read::row::Row;

/// A decision that waits for its reward.
pub(super) struct Waiting {
    example: Example,
    label: usize,
    probability: f64,
    evaluation: Vec<f64>,
    estimates: Option<Vec<f64>>,
    support: Option<Support>,
}

/// The second pass.
pub(super) struct Bench<'a> {
    pub(super) labels: Labels,
    pub(super) options: &'a EvaluateOptions,
    pub(super) tally: Tally,
    pub(super) room: (Prediction, Decision),
}

impl Bench<'_> {
    /// What is known of a decision before its reward.
    pub(super) fn weigh(
        &mut self,
        taken: LoggedDecision,
        row: &Row,
        log: &Logged,
        policy: &mut Policy,
        own: &mut Encoder,
        model: Option<&mut RewardModel>,
    ) -> Result<Waiting, String> {
        let mut example = Example::default();
        match policy {
            Policy::Model { model, .. } => {
                log.columns().check_row(row.indices(), model.encoder.columns)?;
                model.encoder.encode_frozen(row, &mut example)?;
            }
            _ if model.is_some() => own.encode(row, &mut example)?,
            _ => {}
        }
        let mut logged = taken.distribution;
        if logged.len() > self.labels.len() {
            return Err(format!("there are {} probabilities for {} labels", logged.len(), self.labels.len()));
        }
        let distributed = !logged.is_empty();
        logged.resize(self.labels.len(), 0.0);
        let evaluation = self.evaluation(policy, &example, &logged, distributed, taken.evaluation)?;
        let estimates = match (taken.estimates.len(), model) {
            (0, None) => None,
            (0, Some(model)) => {
                let mut estimates = Vec::new();
                model.estimate(example.features(), &mut estimates);
                Some(estimates)
            }
            (given, _) if given == self.labels.len() => Some(taken.estimates),
            (given, _) => {
                return Err(format!("there are {given} estimates for {} labels", self.labels.len()));
            }
        };
        Ok(Waiting {
            example,
            label: taken.label as usize,
            probability: taken.probability,
            support: distributed.then(|| Support::of(&evaluation, &logged)),
            evaluation,
            estimates,
        })
    }

    /// The distribution that the policy would have played.
    fn evaluation(
        &mut self,
        policy: &Policy,
        example: &Example,
        logged: &[f64],
        distributed: bool,
        mut given: Vec<f64>,
    ) -> Result<Vec<f64>, String> {
        let count = self.labels.len();
        let one = |label: usize| {
            let mut distribution = vec![0.0; count];
            distribution[label] = 1.0;
            distribution
        };
        Ok(match policy {
            Policy::Uniform => vec![1.0 / count as f64; count],
            Policy::Constant(label) => one(self.labels.find(label).expect("checked before").index()),
            Policy::Logged | Policy::Greedy if !distributed => {
                return Err("the decision has no distribution \"p\", which the policy is made of".to_owned());
            }
            Policy::Logged => logged.to_vec(),
            Policy::Greedy => one(argmax(logged)),
            Policy::Given if given.is_empty() => {
                return Err(
                    "the decision has no \"evaluation\"; name a policy or a model to be evaluated".to_owned()
                );
            }
            Policy::Given => {
                given.resize(count, 0.0);
                given
            }
            Policy::Model { model, greedy } => {
                let (at, room) = &mut self.room;
                model.predictor.predict(example.features(), at, room);
                if !at.is_finite() {
                    return Err("the model's scores are not finite".to_owned());
                }
                let mut distribution = vec![0.0; count];
                let mut give = |class: usize, p: f64| -> Result<(), String> {
                    let name = model.encoder.labels.name(Label::from(class));
                    match self.labels.find(&name) {
                        Some(label) => distribution[label.index()] += p,
                        None if p > 0.0 => {
                            return Err(format!("the model plays its class {name}, which has no name yet"));
                        }
                        None => {}
                    }
                    Ok(())
                };
                if *greedy || model.predictor.about().forecast != Forecast::RandomisedLabel {
                    give(argmax(&at.scores), 1.0)?;
                } else {
                    for (class, p) in at.probabilities.iter().enumerate() {
                        give(class, *p)?;
                    }
                }
                distribution
            }
        })
    }

    /// The reward of a decision has come.
    pub(super) fn settle(&mut self, waiting: Waiting, reward: f64, model: Option<&mut RewardModel>) {
        let round = Round {
            label: waiting.label,
            reward,
            probability: waiting.probability,
            evaluation: &waiting.evaluation,
            estimates: waiting.estimates.as_deref(),
            largest_weight: waiting.support.map(|support| support.largest_weight),
        };
        self.tally.add(&round, waiting.support);
        if let Some(model) = model {
            model.learn(waiting.example.features(), waiting.label, reward);
        }
    }

    /// The reward of a decision will never come.
    pub(super) fn give_up(&mut self, waiting: Waiting, model: Option<&mut RewardModel>) {
        if self.options.missing_is_wrong {
            self.settle(waiting, 0.0, model);
        }
    }
}
