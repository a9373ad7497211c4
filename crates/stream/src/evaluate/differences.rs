//! Several policies on one log: the estimated reward of each, and paired differences to the first.

use serde::Serialize;
use serde_json::Value;

use super::passes::{MakeLearner, with_terms};
use super::question::{EvaluateOptions, Evaluation, Policy};
use super::survey::EvaluateError;
use crate::decisions::logged::Logged;
use crate::evaluate::off_policy::{Estimator, normal_quantile};
use crate::mean::Mean;
use crate::read::error::ReadError;
use crate::read::options::Schema;

/// A comparison of policies.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// One for each policy, in their order.
    pub evaluations: Vec<Evaluation>,
    /// One for each policy but the first.
    pub differences: Vec<Difference>,
}

impl Compared {
    /// What the policies, asked for as `names`, are called: of the best label, it is said which one that is.
    pub fn called(&self, names: Vec<String>) -> Vec<String> {
        let called = |(name, evaluation): (String, &Evaluation)| match &evaluation.best_label {
            Some(label) => format!("{name}, constant:{label}"),
            None => name,
        };
        names.into_iter().zip(&self.evaluations).map(called).collect()
    }

    /// An object for each evaluation, and one for each difference, of policies that are called `names`.
    pub fn objects(&self, names: &[String], confidence: f64) -> [Vec<Value>; 2] {
        let object = |kind: &str, name: &String, numbers: serde_json::Result<Value>| {
            let mut value = numbers.expect("plain numbers");
            value["type"] = kind.into();
            value["policy"] = name.as_str().into();
            value
        };
        let evaluations = self.evaluations.iter().zip(names).map(|(evaluation, name)| {
            let mut value = object("evaluation", name, serde_json::to_value(evaluation));
            value["confidence"] = confidence.into();
            value
        });
        let differences = self.differences.iter().zip(names.iter().skip(1)).map(|(difference, name)| {
            let mut value = object("difference", name, serde_json::to_value(difference));
            value["against"] = names[0].as_str().into();
            value["confidence"] = confidence.into();
            value["verdict"] = difference.verdict(confidence).into();
            value
        });
        [evaluations.collect(), differences.collect()]
    }

    /// Warnings, each with the places of the policies that it is about.
    pub fn warnings(&self) -> Vec<(&str, Vec<usize>)> {
        let mut all: Vec<(&str, Vec<usize>)> = Vec::new();
        for (at, evaluation) in self.evaluations.iter().enumerate() {
            for warning in &evaluation.warnings {
                match all.iter_mut().find(|(known, _)| known == warning) {
                    Some((_, places)) => places.push(at),
                    None => all.push((warning.as_str(), vec![at])),
                }
            }
        }
        all
    }
}

/// The difference between the rewards of a policy and the first one.
///
/// Both are estimated on the same rounds: the interval is that of the mean of the rounds'
/// differences, and usually much narrower than those of the two estimates. It is widened by what the log
/// cannot cover of the two policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// `dr` if rewards were estimated, else `ips`.
    pub estimator: Estimator,
    /// Rounds to which both policies apply.
    pub rounds: u64,
    /// The mean difference; positive if the policy earns more than the first.
    pub value: f64,
    /// Standard error of the value.
    pub standard_error: f64,
    /// The normal interval; if the log is too thin for one, that of two confidence sequences.
    pub normal: [f64; 2],
    /// Whether the log is too thin for a normal interval of one of the two policies, see
    /// [`Evaluation::thin`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thin: bool,
    /// For a policy that learns, the rounds that it had learnt from which on it earned more than the first
    /// policy in every stage, see [`Learnt`](super::Learnt); none if it did not in the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_from: Option<u64>,
    /// Whether the log hardly plays what one of the two policies chooses.
    #[serde(skip)]
    few: bool,
}

/// A log that is worth fewer rounds of a policy than this, or than one in a hundred, hardly plays its labels.
const LEAST_PLAYED: f64 = 10.0;

/// Terms that differ by less than this part of the larger one differ by rounding alone.
const ROUNDING: f64 = 1e-12;

impl Difference {
    /// The same, widened by what the log cannot cover of the policy and the first one.
    fn widened(mut self, policy: &Evaluation, first: &Evaluation, confidence: f64) -> Self {
        let slack = |evaluation: &Evaluation| {
            let of = evaluation.estimates.by(self.estimator);
            let of = of.and_then(|one| Some((one.value, one.standard_error?, one.normal?)));
            of.map_or([0.0; 2], |(value, error, normal)| {
                let half = normal_quantile(0.5 + 0.5 * evaluation.own_confidence(confidence)) * error;
                [(value - half - normal[0]).max(0.0), (normal[1] - value - half).max(0.0)]
            })
        };
        let uncovered = |evaluation: &Evaluation| evaluation.uncovered.is_some_and(|share| share > 0.0);
        if uncovered(policy) || uncovered(first) {
            let ([below, above], [first_below, first_above]) = (slack(policy), slack(first));
            self.normal[0] -= below + first_above;
            self.normal[1] += above + first_below;
        }
        let against = first.estimates.by(self.estimator).map(|of| of.value);
        self.more_from =
            policy.learnt.as_ref().zip(against).and_then(|(learnt, reward)| learnt.more_from(reward));
        self.thin = policy.thin || first.thin;
        self.few = [policy, first].iter().any(|evaluation| {
            let found = &evaluation.estimates;
            found.effective_sample_size < LEAST_PLAYED.max(0.01 * found.rounds as f64)
        });
        if self.thin {
            let sure = |evaluation: &Evaluation| {
                let found = &evaluation.estimates;
                found.by(self.estimator).and_then(|one| one.stricter).unwrap_or(found.range)
            };
            let ([low, high], [first_low, first_high]) = (sure(policy), sure(first));
            self.normal = [low - first_high, high - first_low];
        }
        self
    }

    /// From terms of the same rounds; NaN terms are omitted. What rounding alone may make of equal terms is
    /// no difference.
    pub(super) fn of(terms: &[f64], first: &[f64], estimator: Estimator, confidence: f64) -> Self {
        let mut mean = Mean::default();
        let pairs = terms.iter().zip(first).map(|(term, first)| {
            let difference = term - first;
            if difference.abs() <= ROUNDING * term.abs().max(first.abs()) { 0.0 } else { difference }
        });
        pairs.filter(|difference| !difference.is_nan()).for_each(|difference| mean.add(difference));
        let half = normal_quantile(0.5 + 0.5 * confidence) * mean.standard_error();
        Self {
            estimator,
            rounds: mean.count() as u64,
            value: mean.value(),
            standard_error: mean.standard_error(),
            normal: [mean.value() - half, mean.value() + half],
            thin: false,
            more_from: None,
            few: false,
        }
    }

    /// The verdict in words: better, worse, or undecided. A normal interval has about its confidence.
    pub fn verdict(&self, confidence: f64) -> String {
        let [low, high] = self.normal;
        let percent = (1e6 * confidence).round() / 1e4;
        let about = if self.thin { "" } else { "about " };
        let range = |from: f64, to: f64| format!("{about}{percent} % between {from:.4} and {to:.4}");
        if self.rounds < 2 {
            "no two rounds to which both policies apply".to_owned()
        } else if low == 0.0 && high == 0.0 {
            "the same in every round".to_owned()
        } else if low > 0.0 {
            format!("better by {:.4}, {}", self.value, range(low, high))
        } else if high < 0.0 {
            format!("worse by {:.4}, {}", -self.value, range(-high, -low))
        } else if self.thin && self.few {
            "undecided: the log plays too few of the labels that the policies choose".to_owned()
        } else if self.thin {
            format!(
                "undecided: {}, by confidence sequences; the log has too few rewards, or too few missing ones, for a narrower interval",
                range(low, high)
            )
        } else {
            format!("undecided: {}", range(low, high))
        }
    }
}

/// Evaluates `policies` on the log; `open` opens it, with a model's columns if the policy is a
/// model. See [`evaluate`](super::evaluate()).
///
/// # Errors
/// If reading fails or a line is invalid; with the index of the policy.
pub fn compare(
    open: &dyn Fn(Option<&Schema>) -> Result<Logged, ReadError>,
    policies: &mut [Policy],
    make: Option<MakeLearner<'_>>,
    options: &EvaluateOptions,
) -> Result<Compared, (usize, EvaluateError)> {
    let mut compared = Compared { evaluations: Vec::new(), differences: Vec::new() };
    let mut first = Vec::new();
    for (at, policy) in policies.iter_mut().enumerate() {
        let schema = policy.schema().cloned();
        let opened = || open(schema.as_ref());
        let (evaluation, terms) = with_terms(&opened, policy, make, options).map_err(|error| (at, error))?;
        if at == 0 {
            first = terms;
        } else {
            let estimator = evaluation.estimates.compared_by();
            let against = &compared.evaluations[0];
            let own = |evaluation: &Evaluation| evaluation.own_confidence(options.confidence);
            let confidence = own(&evaluation).max(own(against));
            let difference = Difference::of(&terms, &first, estimator, confidence);
            compared.differences.push(difference.widened(&evaluation, against, options.confidence));
        }
        compared.evaluations.push(evaluation);
    }
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences 1, 2 and 3 have mean 2 and variance 1; a pair with a missing term is omitted: 2 ± 1.96/√3.
    #[test]
    fn three_pairs_by_hand() {
        let difference =
            Difference::of(&[2.0, 4.0, f64::NAN, 6.0], &[1.0, 2.0, 5.0, 3.0], Estimator::Ips, 0.95);
        assert_eq!((difference.rounds, difference.value), (3, 2.0));
        let half = 1.959963985 / 3.0_f64.sqrt();
        assert!((difference.normal[0] - (2.0 - half)).abs() < 1e-8, "{difference:?}");
        assert_eq!(difference.verdict(0.95), "better by 2.0000, about 95 % between 0.8684 and 3.1316");
        let same = Difference::of(&[1.0, 1.0], &[1.0, 1.0], Estimator::Ips, 0.95);
        assert_eq!(same.verdict(0.95), "the same in every round");
        let rounded = Difference::of(&[0.1 + 0.2, 1.0], &[0.3, 1.0], Estimator::Ips, 0.95);
        assert_eq!((rounded.value, rounded.verdict(0.95).as_str()), (0.0, "the same in every round"));
        let thin = Difference { thin: true, normal: [0.5, 1.0], ..rounded };
        assert!(thin.verdict(0.95).ends_with(", 95 % between 0.5000 and 1.0000"), "{thin:?}");
        let open = Difference::of(&[1.0, 0.0, 1.0], &[0.0, 1.0, 0.0], Estimator::Ips, 0.9);
        assert!(open.verdict(0.9).starts_with("undecided: about 90 % between -"), "{open:?}");
        assert!(open.verdict(0.57).starts_with("undecided: about 57 % between -"), "{open:?}");
    }
}
