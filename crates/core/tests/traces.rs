//! Golden traces: every round of an independent reference implementation, replayed to 1e-9.
//!
//! The references (`testdata/vectors`) come from a dense program that shares no trick with this crate.

use noregret::algorithm::Forecast;
use noregret::example::{Features, Target};
use noregret::loss::logistic;
use noregret::param::{Value, Values};
use noregret::problem::Problem;
use noregret::registry::find;
use serde_json::Value as Json;

/// A reference, and the learner that must reproduce it.
struct Trace {
    vector: &'static str,
    learner: &'static str,
    /// Parameters of the learner, and the names of their values among the reference's `params`.
    params: &'static [(&'static str, &'static str)],
    /// Parameters whose values the reference does not name.
    set: &'static [(&'static str, &'static str)],
}

const FOLKLORE: &[(&str, &str)] = &[
    ("norm", "B"),
    ("radius", "R"),
    ("regularization", "lam"),
    ("curvature", "gamma"),
    ("linear_term", "bias"),
];

const TRACES: &[Trace] = &[
    Trace { vector: "folklore_T50_d3_K2", learner: "folklore", params: FOLKLORE, set: &[] },
    Trace { vector: "folklore_T60_d5_K4_safe", learner: "folklore", params: FOLKLORE, set: &[] },
    Trace {
        vector: "ogd_fro_sqrt",
        learner: "ogd",
        params: &[("norm", "B"), ("radius", "R"), ("rate", "eta0")],
        set: &[("schedule", "sqrt"), ("ball", "frobenius")],
    },
];

fn vector(name: &str) -> Json {
    let path = format!("{}/../../testdata/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A number or a list of numbers.
fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap_or_else(|| panic!("{other} is no number"))],
    }
}

fn count(json: &Json) -> usize {
    json.as_u64().unwrap_or_else(|| panic!("{json} is no count")) as usize
}

fn close(got: &[f64], want: &[f64]) -> bool {
    let close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-9 * (1.0 + want.abs());
    got.len() == want.len() && got.iter().zip(want).all(close)
}

#[test]
fn learners_reproduce_their_references() {
    for trace in TRACES {
        let reference = vector(trace.vector);
        let params = &reference["params"];
        let named = trace.params.iter().map(|(name, key)| (*name, params[key].to_string()));
        let set = trace.set.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let values: Values =
            named.chain(set).map(|(name, value)| (name.to_owned(), Value::parse(value.as_str()))).collect();
        let problem = Problem::new(count(&params["K"]), count(&params["d"]));
        let entry = find(trace.learner).unwrap_or_else(|error| panic!("{}: {error}", trace.vector));
        assert_eq!(entry.about.forecast, Forecast::Probabilities, "{}", trace.vector);
        let mut learner =
            entry.make(&values, problem, 0).unwrap_or_else(|error| panic!("{}: {error}", trace.vector));

        let (data, expected) = (&reference["data"], &reference["expected"]);
        let rounds = data["y"].as_array().expect("labels").len();
        assert!(rounds >= 50, "{}: {rounds} rounds", trace.vector);
        let mut at = learner.prediction();
        let mut total = 0.0;
        for t in 0..rounds {
            let (x, y) = (numbers(&data["x"][t]), count(&data["y"][t]));
            learner.predict(Features::Dense(&x), &mut at);
            let loss = logistic::loss(&at.scores, y);
            for (what, got, want) in [
                ("scores", &at.scores[..], &expected["logits"][t]),
                ("probabilities", &at.probabilities, &expected["probs"][t]),
                ("loss", &[loss], &expected["loss"][t]),
            ] {
                let want = numbers(want);
                assert!(close(got, &want), "{}, round {}: {what} {got:?} for {want:?}", trace.vector, t + 1);
            }
            total += loss;
            learner.update(Features::Dense(&x), Target::class(y), &at);
        }
        assert!(close(&[total], &numbers(&reference["summary"]["total_loss"])), "{}: {total}", trace.vector);
    }
}
