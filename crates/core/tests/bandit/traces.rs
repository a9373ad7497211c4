//! Traces of bandit learners: every round of an independent reference implementation, replayed to 1e-9.

use noregret::example::Features;
use noregret::param::{Value, Values};
use noregret::prediction::{Decision, Reward};
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

const OF_ORACLE: &[(&str, &str)] = &[
    ("oracle.norm", "norm"),
    ("oracle.radius", "radius"),
    ("schedule", "schedule"),
    ("factor", "scale"),
    ("models", "models"),
];
const OF_FOLKLORE: &[(&str, &str)] = &[
    ("exploration", "gamma"),
    ("base.norm", "B"),
    ("base.radius", "R"),
    ("base.regularization", "lam"),
    ("base.curvature", "coef"),
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
    ("squarecb_gauss", "squarecb", OF_ORACLE),
    ("squarecb_root_gauss", "squarecb", OF_ORACLE),
    ("squarecb_joint_gauss", "squarecb", OF_ORACLE),
    ("fastcb_gauss", "fastcb", OF_ORACLE),
    ("bandit_reduction_gauss", "bandit-reduction", OF_FOLKLORE),
];

/// Always returns the numbers of the trace: that of the label, and that of the coin, if one is tossed.
struct Given(f64, f64);

impl Uniforms for Given {
    fn uniform(&mut self) -> f64 {
        self.0
    }

    fn coin(&mut self) -> f64 {
        self.1
    }
}

#[test]
fn learners_reproduce_their_references() {
    for (name, learner, params) in TRACES {
        let reference = vector(name);
        let of = reference.get("params").unwrap_or(&reference);
        let value = |(name, key): &(&str, &str)| {
            let value = match of.get(key)? {
                Json::String(text) => Value::parse(text),
                Json::Null => Value::from("adaptive"),
                number => Value::parse(&number.to_string()),
            };
            Some(((*name).to_owned(), value))
        };
        let values: Values = params.iter().filter_map(value).collect();
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
            let u = number(&reference["u"][t]);
            let coin = reference.get("u_explore").map_or(u, |coins| number(&coins[t]));
            learner.act(x, &mut Given(u, coin), &mut at);
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
            if let Some(explored) = round.get("explored") {
                assert_eq!(at.explored, explored.as_bool(), "{what}: explored");
            }
            let reward = match round.get("reward") {
                Some(reward) => Reward::new(number(reward)).expect("in [0, 1]"),
                None => (f64::from(at.label) == number(&reference["y"][t])).into(),
            };
            learner.learn(x, &at, reward);
            // The scores of Confidit are upper confidence bounds, those of the reference are not.
            if let Some(scores) = round.get("scores_after").filter(|_| !name.starts_with("confidit")) {
                learner.predict(x, &mut at);
                check("score", &at.scores, &numbers(scores));
            }
        }
    }
}
