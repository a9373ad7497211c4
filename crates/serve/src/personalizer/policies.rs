//! Policies: `--learner NAME --PARAMETER VALUE …`, or a command line of Vowpal Wabbit as Personalizer exports
//! it, as far as a loop has what it says.

use noregret::registry;
use serde_json::{Map, Value};

use crate::refusal::{Refusal, shown};

/// What a policy asks for.
#[derive(Debug, PartialEq)]
pub(super) struct Policy {
    pub(super) learner: String,
    pub(super) params: Map<String, Value>,
    /// The share of ranks whose action is drawn uniformly, if the policy has one.
    pub(super) explore: Option<f64>,
}

/// Words of Vowpal Wabbit for what the learner of a loop is.
const IS_SO: [&str; 6] = ["--cb_explore_adf", "--cb_adf", "--squarecb", "--json", "--dsjson", "--quiet"];

/// Words with a value for which it has no setting: it pairs the features of context and action anyway, and
/// learns its rates.
const LEARNT: [&str; 16] = [
    "-q",
    "--quadratic",
    "--cubic",
    "--interactions",
    "--cb_type",
    "-l",
    "--learning_rate",
    "--power_t",
    "--initial_t",
    "--l1",
    "--l2",
    "-b",
    "--bit_precision",
    "--gamma_scale",
    "--gamma_exponent",
    "--random_seed",
];

/// The share of actions that Vowpal Wabbit draws uniformly.
const EPSILON: &str = "--epsilon";

/// Reads the arguments of a policy.
/// Refused with 501 if they ask for what a loop does not have.
pub(super) fn policy(arguments: &str) -> Result<Policy, Refusal> {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    if words.contains(&"--learner") { ours(&words) } else { of_vowpal_wabbit(&words) }
}

fn ours(words: &[&str]) -> Result<Policy, Refusal> {
    let wrong = |what: String| Refusal::invalid("arguments", what);
    let mut params = Map::new();
    for pair in words.chunks(2) {
        let (Some(name), Some(value)) = (pair[0].strip_prefix("--"), pair.get(1)) else {
            return Err(wrong(format!("{} is no --PARAMETER with a VALUE", shown(pair[0]))));
        };
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| (*value).into());
        params.insert(name.to_owned(), value);
    }
    match params.shift_remove("learner") {
        Some(Value::String(learner)) => Ok(Policy { learner, params, explore: None }),
        _ => Err(wrong("--learner has no NAME".to_owned())),
    }
}

fn of_vowpal_wabbit(words: &[&str]) -> Result<Policy, Refusal> {
    let mut explore: Option<f64> = None;
    let mut left = words.iter().copied();
    while let Some(word) = left.next() {
        let (name, value) = parts(word);
        let has_value = LEARNT.contains(&name) || name == EPSILON;
        let value = if has_value { value.or_else(|| left.next()) } else { value };
        let is_known = value.is_some() == has_value && (has_value || IS_SO.contains(&name));
        if !is_known {
            let what = format!(
                "the policy has {}; a loop has a counterpart of {}, {EPSILON}, {}",
                shown(word),
                IS_SO.join(", "),
                LEARNT.join(", ")
            );
            return Err(Refusal::not_offered(what));
        }
        if let (EPSILON, Some(value)) = (name, value) {
            explore = value.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
            if explore.is_none() {
                let what = format!("{EPSILON} is {}; a number from 0 to 1 was needed", shown(value));
                return Err(Refusal::invalid("arguments", what));
            }
        }
    }
    if !words.iter().any(|word| IS_SO[..2].contains(word)) {
        let what = "a policy has --learner NAME --PARAMETER VALUE …, or --cb_explore_adf";
        return Err(Refusal::invalid("arguments", what));
    }
    Ok(Policy { learner: registry::of_offers().about.name.to_owned(), params: Map::new(), explore })
}

/// The name of an argument, and the value that is written together with it, as in `--epsilon=0.2` and `-q::`.
fn parts(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    }
    match word.char_indices().nth(2) {
        Some((end, _)) => (&word[..end], Some(&word[end..])),
        None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read() {
        let offers = |explore| Policy {
            learner: registry::of_offers().about.name.to_owned(),
            params: Map::new(),
            explore,
        };
        // As Personalizer exports them.
        let exported = "--cb_explore_adf --epsilon 0.2 --power_t 0 -l 0.001 --cb_type mtr -q ::";
        for (arguments, explore) in [
            (exported, Some(0.2)),
            ("--cb_explore_adf --epsilon=0 -l0.5 -q:: --squarecb --gamma_scale 100", Some(0.0)),
            ("--cb_adf --interactions CA --interactions CCA", None),
        ] {
            assert_eq!(policy(arguments), Ok(offers(explore)), "{arguments}");
        }
        let narrow = policy("--learner squarecb --width 64 --schedule fixed").expect("ours");
        assert_eq!((narrow.learner.as_str(), narrow.params["width"].as_u64()), ("squarecb", Some(64)));
        assert_eq!(narrow.params["schedule"], "fixed");
        for (arguments, status, part) in [
            ("", 422, "--learner NAME"),
            ("--epsilon 0.2", 422, "--cb_explore_adf"),
            ("--cb_explore_adf --epsilon 2", 422, "--epsilon is \"2\""),
            ("--cb_explore_adf --epsilon", 501, "the policy has \"--epsilon\""),
            ("--cb_explore_adf --bag 5", 501, "the policy has \"--bag\""),
            ("--cb_explore_adf=1", 501, "the policy has \"--cb_explore_adf=1\""),
            ("--cb_explore_adf words", 501, "the policy has \"words\""),
            ("--learner", 422, "\"--learner\" is no --PARAMETER"),
            ("--learner 3", 422, "--learner has no NAME"),
        ] {
            let refusal = policy(arguments).expect_err(arguments);
            assert_eq!(refusal.status, status, "{arguments}: {refusal}");
            assert!(refusal.detail.contains(part), "{arguments}: {refusal}");
        }
    }
}
