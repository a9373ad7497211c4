//! Traces of bandit learners: every round of an independent reference implementation, replayed to 1e-9.

use noregret::example::Features;
use noregret::param::{Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry::find;
use noregret::rng::Uniforms;
use noregret_testdata::{number, numbers, vector};
use serde_json::Value as Json;

/// A vector, the learner that must reproduce it, and the names of its parameters in the vector.
type Trace = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const GAPTRON: &[(&str, &str)] = &[("rate", "eta"), ("exploration", "gamma"), ("norm", "D"), ("radius", "X")];
const NEWTRON: &[(&str, &str)] = &[
    ("exploration", "gamma"),
    ("alpha", "alpha"),
    ("beta", "beta"),
    ("norm", "D"),
    ("projection", "projection"),
    ("centre", "centre"),
];
const SOBA: &[(&str, &str)] = &[("regularization", "a"), ("exploration", "gamma")];
const SOBA_SKETCH: &[(&str, &str)] = &[("regularization", "a"), ("exploration", "gamma"), ("rank", "rank")];
const CONFIDIT: &[(&str, &str)] = &[("width", "eta"), ("alpha", "alpha")];
const REDUCTION: &[(&str, &str)] = &[
    ("exploration", "gamma"),
    ("loss_eta", "eta"),
    ("radius", "X"),
    ("norm", "D"),
    ("ons_rate", "ons_b"),
    ("ons_regularization", "ons_eps"),
];

const TRACES: &[Trace] = &[
    ("banditron_gauss", "banditron", &[("exploration", "gamma")]),
    ("soba_full_gauss", "soba", SOBA),
    ("soba_adaptive_gauss", "soba", SOBA),
    ("soba_diag_gauss", "soba-diag", SOBA),
    ("soba_sketch_gauss", "soba-sketch", SOBA_SKETCH),
    ("soba_sketch_adaptive_gauss", "soba-sketch", SOBA_SKETCH),
    ("soba_reduction_gauss", "soba-reduction", REDUCTION),
    ("gaptron_bandit_logistic_gauss", "gaptron-logistic", GAPTRON),
    ("gaptron_bandit_hinge_gauss", "gaptron-hinge", GAPTRON),
    ("gaptron_bandit_smooth_gauss", "gaptron-smooth", GAPTRON),
    ("gaptron_bandit_theory_logistic_gauss", "gaptron-logistic", GAPTRON),
    ("gaptron_bandit_theory_hinge_gauss", "gaptron-hinge", GAPTRON),
    ("gaptron_bandit_theory_smooth_gauss", "gaptron-smooth", GAPTRON),
    ("newtron_full_exact_gauss", "newtron", NEWTRON),
    ("newtron_diag_exact_gauss", "pnewtron", NEWTRON),
    ("newtron_diag_scale_gauss", "pnewtron", NEWTRON),
    ("newtron_diag_none_gauss", "pnewtron", NEWTRON),
    ("confidit_full_gauss", "confidit", CONFIDIT),
    ("confidit_diag_gauss", "confidit-diag", CONFIDIT),
];

/// Always returns the number of the trace.
struct Given(f64);

impl Uniforms for Given {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

#[test]
fn learners_reproduce_their_references() {
    for (name, learner, params) in TRACES {
        let reference = vector(name);
        let value = |key: &str| match &reference["params"][key] {
            Json::String(text) => Value::parse(text),
            Json::Null => Value::from("adaptive"),
            number => Value::parse(&number.to_string()),
        };
        let values: Values = params.iter().map(|(name, key)| ((*name).to_owned(), value(key))).collect();
        let dimension = |key: &str| number(&reference[key]) as usize;
        let problem = Problem::new(dimension("K"), dimension("d"));
        let made = find(learner).and_then(|entry| entry.make_bandit(&values, problem, 0));
        let mut learner = made.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut at = Decision::default();
        let rounds = reference["rounds"].as_array().expect("rounds");
        assert!(rounds.len() >= 80, "{name}: {} rounds", rounds.len());
        for (t, round) in rounds.iter().enumerate() {
            let row = numbers(&reference["x"][t]);
            let x = Features::Dense(&row);
            learner.act(x, &mut Given(number(&reference["u"][t])), &mut at);
            let what = format!("{name}, round {}", t + 1);
            assert_eq!(f64::from(at.label), number(&round["played"]), "{what}: played");
            let check = |kind: &str, got: &[f64], want: &[f64]| {
                for (got, want) in got.iter().zip(want) {
                    assert!(
                        (got - want).abs() <= 1e-9 * (1.0 + want.abs()),
                        "{what}: {kind} {got} for {want}"
                    );
                }
            };
            check("probability", &at.distribution, &numbers(&round["p"]));
            learner.learn(x, &at, (f64::from(at.label) == number(&reference["y"][t])).into());
            if !name.starts_with("confidit") {
                // The scores of Confidit are upper confidence bounds, those of the reference are not.
                learner.predict(x, &mut at);
                check("score", &at.scores, &numbers(&round["scores_after"]));
            }
        }
    }
}
