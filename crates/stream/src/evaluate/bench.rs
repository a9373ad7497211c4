//! The second pass over a log: computes weights and estimates for a decision, and adds its reward
//! when it arrives.

use noregret::algorithm::Forecast;
use noregret::example::Label;
use noregret::prediction::{Decision, Prediction, argmax};

use super::drawn::Drawn;
use super::learning::{Decided, Learns};
use super::question::{EvaluateOptions, Policy};
use super::tally::{Support, Tally};
use crate::decisions::event::LoggedDecision;
use crate::decisions::logged::Logged;
use crate::encode::labels::Labels;
use crate::encode::{Encoder, Example};
use crate::evaluate::off_policy::Round;
use crate::evaluate::reward_model::RewardModel;
use crate::fault::{Fault, fault};
use crate::read::row::Row;
use crate::save::{Frozen, best_of};

/// A decision without reward so far.
pub(super) struct Waiting {
    example: Example,
    label: usize,
    probability: f64,
    /// `None` if the policy does not apply, because its constant label was not on offer.
    evaluation: Option<Vec<f64>>,
    estimates: Option<Vec<f64>>,
    support: Option<Support>,
    /// Of a policy that learns.
    decided: Option<Decided>,
}

/// The second pass.
pub(super) struct Bench<'a> {
    pub(super) labels: Labels,
    pub(super) options: &'a EvaluateOptions,
    pub(super) tally: Tally,
    /// The plays of the log, as far as it has whole distributions.
    pub(super) drawn: Drawn,
    /// The least reward that is possible.
    pub(super) least: f64,
    pub(super) room: (Prediction, Decision),
    /// Rounds to which the policy did not apply.
    pub(super) not_offered: u64,
    /// The terms of `ips`, and what those of `dr` have in addition, for each round in the order of the
    /// rewards; NaN if the policy did not apply.
    pub(super) terms: Vec<[f64; 2]>,
    /// The learner, if the policy learns.
    pub(super) learns: Option<Learns>,
}

impl Bench<'_> {
    /// Adds a decision.
    pub(super) fn weigh(
        &mut self,
        taken: LoggedDecision,
        row: &Row,
        log: &Logged,
        policy: &mut Policy,
        own: &mut Encoder,
        model: Option<&mut RewardModel>,
    ) -> Result<Waiting, Fault> {
        let own = model.is_some().then_some(own);
        let example = self.encoded(row, log, policy, own)?;
        let mut logged = taken.distribution;
        if logged.len() > self.labels.len() {
            return Err(fault!("there are {} probabilities for {} labels", logged.len(), self.labels.len()));
        }
        let distributed = !logged.is_empty();
        logged.resize(self.labels.len(), 0.0);
        let offered: Vec<usize> = match taken.offered.len() {
            0 => (0..self.labels.len()).collect(),
            _ => taken.offered.iter().map(|label| *label as usize).collect(),
        };
        let played = (taken.label as usize, taken.probability);
        if distributed {
            self.drawn.add(&logged, played.0);
        }
        let known = distributed.then_some(&logged[..]);
        let (evaluation, decided) = match &mut self.learns {
            Some(learns) => {
                // A list that names all labels restricts nothing.
                let some = Some(&taken.offered[..])
                    .filter(|offered| (1..self.labels.len()).contains(&offered.len()));
                let (distribution, decided) =
                    learns.decide(example.features(), some, (taken.label, taken.probability))?;
                (Some(distribution), Some(decided))
            }
            None => {
                let (given, best) = (taken.evaluation, taken.own.map(|own| own.greedy as usize));
                (self.evaluation(policy, &example, (known, best), played, &offered, given)?, None)
            }
        };
        // The mean forecast needs the whole distribution.
        let whole = distributed || !matches!(policy, Policy::Logged);
        // Labels that the policy does not play count for nothing, but for the one that was played.
        let estimates = match &evaluation {
            Some(own) if whole => {
                let wanted = |label: usize| own[label] > 0.0 || label == played.0;
                self.estimates(taken.estimates, &example, model, wanted)?
            }
            _ => None,
        };
        Ok(Waiting {
            example,
            label: taken.label as usize,
            probability: taken.probability,
            support: evaluation.as_ref().filter(|_| distributed).map(|own| Support::of(own, &logged)),
            evaluation,
            estimates,
            decided,
        })
    }

    /// The features of a row as the policy takes them; if it takes none, as `own` has them for a model of the
    /// rewards.
    fn encoded(
        &mut self,
        row: &Row,
        log: &Logged,
        policy: &mut Policy,
        own: Option<&mut Encoder>,
    ) -> Result<Example, Fault> {
        let mut example = Example::default();
        match (policy, own) {
            (Policy::Learning(_), _) => {
                let learns = self.learns.as_mut().expect("made for the policy");
                learns.saved().encoder.encode(row, &mut example)?;
            }
            (Policy::Model { model, .. }, _) => {
                log.columns().check_row(row.indices(), model.encoder.columns())?;
                model.encoder.encode_frozen(row, &mut example)?;
            }
            (_, Some(own)) => own.encode(row, &mut example)?,
            (_, None) => {}
        }
        Ok(example)
    }

    /// The estimated rewards of all labels: those `given` in the log, else those of a model, as far as they
    /// are `wanted`.
    fn estimates(
        &self,
        given: Vec<f64>,
        example: &Example,
        model: Option<&mut RewardModel>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Option<Vec<f64>>, Fault> {
        match (given.len(), model) {
            (0, None) => Ok(None),
            (0, Some(model)) => {
                let mut estimates = Vec::new();
                model.estimate(example.features(), wanted, &mut estimates);
                Ok(Some(estimates))
            }
            (count, _) if count == self.labels.len() => Ok(Some(given)),
            (count, _) => Err(fault!("there are {count} estimates for {} labels", self.labels.len())),
        }
    }

    /// The policy's distribution over the labels on offer, beside the distribution that was `logged` and the
    /// label that the logging learner held to be the best, as far as they are known. `None` for a constant
    /// policy whose label was not on offer.
    fn evaluation(
        &mut self,
        policy: &Policy,
        example: &Example,
        (logged, best): (Option<&[f64]>, Option<usize>),
        played: (usize, f64),
        offered: &[usize],
        mut given: Vec<f64>,
    ) -> Result<Option<Vec<f64>>, Fault> {
        let count = self.labels.len();
        let one = |label: usize| {
            let mut distribution = vec![0.0; count];
            distribution[label] = 1.0;
            distribution
        };
        Ok(Some(match policy {
            Policy::Uniform => {
                let mut distribution = vec![0.0; count];
                offered.iter().for_each(|label| distribution[*label] = 1.0 / offered.len() as f64);
                distribution
            }
            Policy::Constant(label) => {
                let label = self.labels.find(label).expect("checked before").index();
                if !offered.contains(&label) {
                    return Ok(None);
                }
                one(label)
            }
            Policy::Logged => match logged {
                Some(logged) => logged.to_vec(),
                None => {
                    // Nothing else is known of it, and the weight needs nothing else.
                    let mut distribution = vec![0.0; count];
                    distribution[played.0] = played.1;
                    distribution
                }
            },
            Policy::Greedy => match best.filter(|label| *label < count).or_else(|| logged.map(argmax)) {
                Some(best) => one(best),
                None => {
                    let what = "the decision has no distribution \"p\", whose best label the policy plays; \"logged\" needs the \
                                probability of the played label only";
                    return Err(what.into());
                }
            },
            Policy::Best | Policy::Learning(_) => {
                unreachable!("a label is found first, and a learner decides")
            }
            Policy::Given if given.is_empty() => {
                let what = "the decision has no \"evaluation\"; name a policy or a model to be evaluated: best, logged and learner:auto \
                            show whether learning is worth it";
                return Err(what.into());
            }
            Policy::Given => {
                given.resize(count, 0.0);
                given
            }
            Policy::Model { model, greedy } => return self.of_model(model, *greedy, example, offered),
        }))
    }

    /// The distribution of a saved model over the labels on offer. `None` if it knows none of them.
    fn of_model(
        &mut self,
        model: &Frozen,
        greedy: bool,
        example: &Example,
        offered: &[usize],
    ) -> Result<Option<Vec<f64>>, Fault> {
        let count = self.labels.len();
        let names = model.encoder.labels();
        // In the order of the log's labels, without labels that are not on offer.
        let known = |class: usize| self.labels.find(&names.name(Label::from(class)));
        let classes = 0..model.predictor.problem().classes;
        let on_offer = |class: &usize| known(*class).is_some_and(|at| offered.contains(&at.index()));
        let own: Vec<u32> = match offered.len() < count {
            true => classes.filter(on_offer).map(|class| class as u32).collect(),
            false => vec![],
        };
        if own.is_empty() && offered.len() < count {
            return Ok(None);
        }
        let (at, room) = &mut self.room;
        model.predictor.predict_among(example.features(), &own, at, room);
        if !at.is_finite() {
            return Err("the model's scores are not finite".into());
        }
        let mut distribution = vec![0.0; count];
        if greedy || model.predictor.about().forecast != Forecast::RandomisedLabel {
            let named: Vec<u32> = (0u32..).zip(names.iter()).map(|(class, _)| class).collect();
            let best = best_of(at, if own.is_empty() { &named } else { &own });
            let label = known(best.index()).expect("the log's labels include the model's");
            distribution[label.index()] = 1.0;
        } else {
            for (class, p) in at.probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                let Some(label) = known(class) else {
                    let name = names.name(Label::from(class));
                    return Err(fault!("the model plays its class {name}, which has no name yet"));
                };
                distribution[label.index()] += p;
            }
        }
        Ok(Some(distribution))
    }

    /// Adds the reward of a decision.
    pub(super) fn settle(&mut self, waiting: Waiting, reward: f64, model: Option<&mut RewardModel>) {
        let term = match &waiting.evaluation {
            Some(evaluation) => {
                let round = Round {
                    label: waiting.label,
                    reward,
                    probability: waiting.probability,
                    evaluation,
                    estimates: waiting.estimates.as_deref(),
                    possible: waiting.support.map(|support| support.possible),
                };
                let term = self.tally.add(&round, waiting.support);
                [term.ips, term.control.unwrap_or(0.0)]
            }
            None => {
                self.not_offered += 1;
                [f64::NAN; 2]
            }
        };
        self.terms.push(term);
        if let Some(model) = model {
            model.learn(waiting.example.features(), waiting.label, reward);
        }
        if let (Some(learns), Some(decided)) = (&mut self.learns, waiting.decided) {
            learns.learn(waiting.example.features(), decided, reward);
        }
    }

    /// Removes a decision that will never get a reward.
    pub(super) fn give_up(&mut self, waiting: Waiting, model: Option<&mut RewardModel>) {
        if self.options.missing_is_wrong {
            self.settle(waiting, self.least, model);
        }
    }
}
