//! What is said of logs of decisions: the columns of another program's, and what is made of our own.

use crate::fault::{Fault, fault};
use crate::read::costs::Costs;

/// Smallest probability: the square of its inverse, an importance weight, is finite.
const LEAST_PROBABILITY: f64 = 1e-100;

/// How a log is read whose columns have other names.
pub(crate) const NAMED: &str =
    "; the options decision, probability and reward name the columns of another program's log";

/// What is the probability where nobody has written it.
pub(crate) const SHARES: &str = "; where labels were drawn with fixed shares, as in an A/B test, add it: the share of the label that was played";

/// How rows are read whose labels are right ones, where a log was looked for because of the labels on offer.
const RIGHT: &str = "; if the labels are the right ones, and not those that were played, a run is told so by the option label, which names them";

/// What takes a log that is none of ours, which `replay` does not.
pub(crate) const OTHERS: &str = "; another program's log is for `noregret run` and `noregret evaluate`, whose options decision, \
                                   probability and reward name its columns";

/// The columns of a log of decisions. All other columns are features, unless they tell rows apart or say at
/// which moment a decision was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// The label that was played.
    pub decision: String,
    /// The probability with which it was played, in (0, 1].
    pub probability: String,
    /// Its reward: a number, or true and false. If it is absent, the decision has no feedback.
    pub reward: String,
    /// The labels that were on offer: a list, or names separated by spaces. If it is `None` or absent, all
    /// labels were.
    pub offered: Option<String>,
    /// If it is given, the column of the reward has costs in this range.
    pub costs: Option<Costs>,
    /// If it is given, rewards are in this range, and become rewards from 0 to 1.
    pub rewards: Option<Costs>,
    /// The range in which the rows have costs: its least for the reward 1, its largest for 0.
    pub into: Costs,
}

/// The names of our own logs.
impl Default for Keys {
    fn default() -> Self {
        let [decision, probability, reward] = ["label", "probability", "reward"].map(str::to_owned);
        let (offered, costs, rewards) = (None, None, None);
        Self { decision, probability, reward, offered, costs, rewards, into: Costs::default() }
    }
}

impl Keys {
    /// The given names of decision, probability, reward and labels on offer, and our own for the first three
    /// if they are not given; `None` if none is given.
    pub fn named(given: [&Option<String>; 4]) -> Option<Self> {
        let ours = Self::default();
        let or = |key: &Option<String>, ours: String| key.clone().unwrap_or(ours);
        let [decision, probability, reward, offered] = given;
        given.iter().any(|key| key.is_some()).then(|| Self {
            decision: or(decision, ours.decision),
            probability: or(probability, ours.probability),
            reward: or(reward, ours.reward),
            offered: offered.clone(),
            ..Self::default()
        })
    }

    /// The end of a sentence on a column that is not there, if only that of the labels on offer was named.
    pub(crate) fn or_right(&self) -> &'static str {
        let ours = Self::default();
        let named = self.decision != ours.decision || self.probability != ours.probability;
        if self.offered.is_none() || named { "" } else { RIGHT }
    }
}

/// What is made of a log of decisions in our own format.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LogUse {
    /// It is refused: a label that was played is not the right one.
    #[default]
    Refused,
    /// Decisions are learnt from when their rewards arrive.
    Learnt {
        /// The range of the rewards; from 0 to 1 if `None`.
        rewards: Option<Costs>,
        /// The range of costs of the model, in which the rows have them.
        costs: Costs,
    },
    /// Decisions are rows without labels, to predict.
    Predicted,
}

impl LogUse {
    /// Refuses data with labels where a range of rewards says that a log was meant.
    pub(crate) fn check_data(self) -> Result<(), Fault> {
        match self {
            Self::Learnt { rewards: Some(_), .. } => Err("is no log of decisions with rewards, whose range the option rewards states: Vowpal Wabbit's files have costs, \
                                          whose range the option costs states (rewards up to 50 are costs = -50..0); decision, \
                                          probability and reward name the columns of another program's log"
                .into()),
            _ => Ok(()),
        }
    }
}

/// Checks a probability with which a label was played: in (0, 1], and large enough to divide by.
pub(crate) fn check_probability(probability: f64) -> Result<(), Fault> {
    if !(probability > 0.0 && probability <= 1.0) {
        let way_out = if probability >= 2.0 {
            "; percents are divided by 100, and the inverse of a probability is inverted"
        } else if probability < 0.0 {
            "; if it is a logarithm, its exponential is the probability"
        } else {
            ""
        };
        return Err(fault!("was played with probability {probability}: must be in (0, 1]{way_out}"));
    }
    if probability < LEAST_PROBABILITY {
        return Err(fault!(
            "was played with probability {probability:e}; at least {LEAST_PROBABILITY:e} is required"
        ));
    }
    Ok(())
}
