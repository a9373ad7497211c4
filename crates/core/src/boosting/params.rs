//! Parameters of AdaBoost.OLM++: its own, and those of its weak learner with the prefix `weak.`.

use crate::boosting::copies::{PREFIX, Weak};
use crate::boosting::regression::Horizon;
use crate::boosting::stump::Candidates;
use crate::entry::{Learners, Wraps};
use crate::param::{Kind, ParamError, ParamInfo, ParamValue, Params, Value, Values, prefixed};
use crate::{param_words, params};

/// Default number of copies.
const COPIES: u64 = 30;

param_words! {
    /// What is played.
    pub enum Answer {
        /// The label of a prefix drawn by eq. (2).
        Hedge = "hedge",
        /// The logits of the prefix with the fewest mistakes so far.
        Best = "best",
        /// The logits of the whole chain.
        Last = "last",
        /// The mean forecast of all prefixes, weighted by their log losses.
        Mixture = "mixture",
        /// How many copies name each class, whatever their regressions forecast.
        Vote = "vote",
    }
}

/// The name of a weak learner; whether it exists is checked with the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakName(pub String);

impl ParamValue for WeakName {
    const KIND: Kind = Kind::Text;

    const WORDS: &'static [&'static str] = &["tree", "best-stump", "stump", "linear-cost", "ogd"];

    const NEED: &'static str = "the name of a weak learner";

    fn from_value(value: &Value) -> Option<Self> {
        Some(Self(value.to_string()))
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

params! {
    /// Parameters of [`AdaBoostOlm`](super::adaboost_olm::AdaBoostOlm), those of its weak learner apart.
    pub struct BoosterParams {
        /// Weak learner: `tree`, `best-stump`, `stump`, `linear-cost`, or a learner that sees the label, as
        /// in `ogd`; its parameters as weak.grace=8 and so on.
        weak: WeakName = "tree",
        /// Number $N$ of copies, from 1 to 10000.
        copies: u64 = "30",
        /// Number of rounds $T$, or `anytime`.
        horizon: Horizon = "the stream's, if known; 1000000",
        /// `hedge` draws a prefix as in the theorem; `best`, `last`, `mixture` and `vote` are
        /// deterministic and outside it.
        play: Answer = "hedge",
        /// Stumps to choose from, for stumps only: [[[feature, threshold], ...], ...], a list for every copy.
        candidates: Candidates = "found while rows come",
    }
}

/// Parameters of [`AdaBoostOlm`](super::adaboost_olm::AdaBoostOlm).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaBoostOlmParams {
    /// Its own.
    pub own: BoosterParams,
    /// Those of the weak learner, without the prefix `weak.`.
    pub weak_values: Values,
    /// The learners that can be weak learners.
    pub learners: Learners,
}

impl Params for AdaBoostOlmParams {
    const FIELDS: &'static [ParamInfo] = BoosterParams::FIELDS;

    const PREFIX: Option<&'static str> = Some(PREFIX);

    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        self.own.set(name, value)
    }

    fn values(&self) -> Values {
        self.own.values().into_iter().chain(prefixed(PREFIX, &self.weak_values)).collect()
    }

    fn set_inner(&mut self, name: &str, value: &Value) {
        self.weak_values.insert(name.to_owned(), value.clone());
    }

    fn check(&self) -> Result<(), ParamError> {
        self.weak().map(drop)
    }
}

impl Wraps for AdaBoostOlmParams {
    fn among(self, learners: Learners) -> Self {
        Self { learners, ..self }
    }
}

impl AdaBoostOlmParams {
    /// The weak learner.
    pub(crate) fn weak(&self) -> Result<Weak, ParamError> {
        let name = self.own.weak.as_ref().map_or("tree", |name| &name.0);
        let mut weak = Weak::find(name, &self.weak_values, self.learners)?;
        match (&mut weak, &self.own.candidates) {
            (Weak::BestStump(params), Some(given)) => params.candidates = Some(given.clone()),
            (Weak::Stump(params), Some(given)) => params.candidates = Some(given.clone()),
            (_, Some(given)) => {
                let need = format!("unset: {name} has no candidates");
                return Err(ParamError::invalid("candidates", given.to_value(), need));
            }
            (_, None) => {}
        }
        Ok(weak)
    }

    pub(crate) fn copies(&self) -> u64 {
        self.own.copies.unwrap_or(COPIES)
    }
}
