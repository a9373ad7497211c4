//! Golden traces: every round of an independent reference implementation, replayed to 1e-9.
//!
//! The references (`testdata/vectors`) come from a dense program that shares no trick with this crate.

use noregret::algorithm::Forecast;
use noregret::example::{Features, Target};
use noregret::learner::OnlineLearner;
use noregret::loss::logistic;
use noregret::param::{Value, Values};
use noregret::prediction::draw;
use noregret::problem::Problem;
use noregret::registry::find;
use noregret_testdata::{count, is_close, items, number, numbers, vector};
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

const FOLKLORE_SKETCH: &[(&str, &str)] =
    &[("norm", "B"), ("radius", "R"), ("regularization", "lam"), ("curvature", "gamma"), ("rank", "rank")];

const ONS_SKETCH: &[(&str, &str)] =
    &[("norm", "B"), ("radius", "R"), ("rate", "gam"), ("regularization", "eps"), ("rank", "rank")];

const FORECASTERS: &[Trace] = &[
    Trace { vector: "folklore_T50_d3_K2", learner: "folklore", params: FOLKLORE, set: &[] },
    Trace { vector: "folklore_T60_d5_K4_safe", learner: "folklore", params: FOLKLORE, set: &[] },
    Trace {
        vector: "folklore_counterexample_printed",
        learner: "folklore",
        params: FOLKLORE,
        set: &[("curvature", "paper")],
    },
    Trace { vector: "folklore_counterexample_safe", learner: "folklore", params: FOLKLORE, set: &[] },
    Trace { vector: "folklore_sketch_K2", learner: "folklore-sketch", params: FOLKLORE_SKETCH, set: &[] },
    Trace { vector: "folklore_sketch_mean", learner: "folklore-sketch", params: FOLKLORE_SKETCH, set: &[] },
    Trace {
        vector: "folklore_sketch_least",
        learner: "folklore-sketch",
        params: FOLKLORE_SKETCH,
        set: &[("eigenvalue", "least")],
    },
    Trace {
        vector: "aioli_T60_d5",
        learner: "aioli",
        params: &[
            ("norm", "B"),
            ("radius", "R"),
            ("regularization", "lam"),
            ("curvature", "kappa"),
            ("improper_weight", "weight"),
        ],
        set: &[],
    },
    Trace {
        vector: "kernel_aioli_rbf",
        learner: "kernel-aioli",
        params: &[("norm", "B"), ("radius", "R"), ("regularization", "lam")],
        set: &[("kernel", "rbf"), ("length_scale", "1")],
    },
    Trace {
        vector: "kernel_aioli_rbf",
        learner: "kernel-aioli-landmarks",
        params: &[("norm", "B"), ("radius", "R"), ("regularization", "lam")],
        set: &[("kernel", "rbf"), ("length_scale", "1"), ("tolerance", "1e-6")],
    },
    Trace {
        vector: "gaf_K3_practical",
        learner: "gaf",
        params: &[
            ("norm", "B"),
            ("radius", "R"),
            ("regularization", "lam"),
            ("curvature", "beta"),
            ("smoothing", "mu"),
        ],
        set: &[],
    },
    Trace {
        vector: "ogd_fro_sqrt",
        learner: "ogd",
        params: &[("norm", "B"), ("radius", "R"), ("rate", "eta0")],
        set: &[("schedule", "sqrt"), ("ball", "frobenius")],
    },
    Trace {
        vector: "ons_unprojected",
        learner: "ons",
        params: &[("norm", "B"), ("radius", "R"), ("rate", "gam"), ("regularization", "eps")],
        set: &[("projection", "false")],
    },
    Trace {
        vector: "ons_sketch_unprojected",
        learner: "ons-sketch",
        params: ONS_SKETCH,
        set: &[("projection", "false")],
    },
    Trace { vector: "ons_sketch_projected", learner: "ons-sketch", params: ONS_SKETCH, set: &[] },
    Trace { vector: "ftrl_lam1", learner: "ftrl", params: &[("regularization", "lam")], set: &[] },
    Trace {
        vector: "aggregating_d1_B4",
        learner: "aggregating",
        params: &[("norm", "B"), ("smoothing", "mu")],
        set: &[],
    },
];

const GAPTRON: &[(&str, &str)] = &[("rate", "eta"), ("exploration", "gamma"), ("norm", "D"), ("radius", "X")];
const SECOND_ORDER_PERCEPTRON: &[(&str, &str)] =
    &[("regularization", "a"), ("margin_updates", "margin_updates")];

const PLAYERS: &[Trace] = &[
    Trace { vector: "perceptron_gauss", learner: "perceptron", params: &[], set: &[] },
    Trace {
        vector: "sop_full_gauss",
        learner: "second-order-perceptron",
        params: SECOND_ORDER_PERCEPTRON,
        set: &[],
    },
    Trace {
        vector: "sop_diag_gauss",
        learner: "second-order-perceptron-diag",
        params: SECOND_ORDER_PERCEPTRON,
        set: &[],
    },
    Trace { vector: "gaptron_full_logistic_gauss", learner: "gaptron-logistic", params: GAPTRON, set: &[] },
    Trace { vector: "gaptron_full_hinge_gauss", learner: "gaptron-hinge", params: GAPTRON, set: &[] },
    Trace { vector: "gaptron_full_smooth_gauss", learner: "gaptron-smooth", params: GAPTRON, set: &[] },
];

impl Trace {
    /// The learner with the reference's parameters, for `classes` classes and `features` features.
    fn learner(&self, reference: &Json, classes: usize, features: usize) -> Box<dyn OnlineLearner> {
        let value = |key: &str| match &reference["params"][key] {
            // No ball is one without end.
            Json::Null => "inf".to_owned(),
            value => value.to_string(),
        };
        let named = self.params.iter().map(|(name, key)| (*name, value(key)));
        // The later of two values of a name counts.
        let set = self.set.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let values: Values =
            named.chain(set).map(|(name, value)| (name.to_owned(), Value::parse(value.as_str()))).collect();
        let entry = find(self.learner).unwrap_or_else(|error| panic!("{}: {error}", self.vector));
        entry
            .make(&values, Problem::new(classes, features), 0)
            .unwrap_or_else(|error| panic!("{}: {error}", self.vector))
    }

    /// Panics unless `got` are the numbers `want`.
    #[track_caller]
    fn check(&self, round: usize, what: &str, got: &[f64], want: &[f64]) {
        let close = got.len() == want.len() && got.iter().zip(want).all(|(&g, &w)| is_close(g, w, 1e-9));
        assert!(close, "{}, round {round}: {what} {got:?} for {want:?}", self.vector);
    }
}

/// The class that a label names: an index, or -1 and 1 for the classes 0 and 1.
fn class(label: &Json) -> usize {
    label.as_i64().unwrap_or_else(|| panic!("{label} is not a label")).max(0) as usize
}

#[test]
fn forecasters_reproduce_their_references() {
    let mut certificates = 0;
    for trace in FORECASTERS {
        let reference = vector(trace.vector);
        let (data, expected) = (&reference["data"], &reference["expected"]);
        let rounds = items(&data["y"]).len();
        assert!(rounds >= 40, "{}: {rounds} rounds", trace.vector);
        let classes = reference["params"]["K"].as_u64().map_or(2, |k| k as usize);
        let mut learner = trace.learner(&reference, classes, numbers(&data["x"][0]).len());
        assert_eq!(find(trace.learner).expect("listed").about.forecast, Forecast::Probabilities);
        let mut at = learner.prediction();
        let mut total = 0.0;
        for t in 0..rounds {
            let (x, y) = (numbers(&data["x"][t]), class(&data["y"][t]));
            learner.predict(Features::Dense(&x), &mut at);
            let loss = logistic::loss(&at.scores, y);
            // Learners of two classes have a reference in the difference of their logits.
            let difference = [at.scores[1] - at.scores[0]];
            for (what, key, got) in [
                ("scores", "logits", &at.scores[..]),
                ("logit", "logit", &difference),
                ("probabilities", "probs", &at.probabilities),
                ("probability", "p_plus", &at.probabilities[1..2]),
                ("loss", "loss", &[loss]),
            ] {
                if let Some(want) = expected.get(key) {
                    trace.check(t + 1, what, got, &numbers(&want[t]));
                }
            }
            total += loss;
            learner.update(Features::Dense(&x), Target::class(y), &at);
            if let (Some(want), Some(Ok(got))) = (expected.get("certificate"), learner.certificate()) {
                trace.check(t + 1, "certificate", &[got], &numbers(&want[t]));
                certificates += 1;
            }
        }
        trace.check(rounds, "total loss", &[total], &numbers(&reference["summary"]["total_loss"]));
    }
    assert!(certificates >= 140, "{certificates} certificates were compared");
}

#[test]
fn players_reproduce_their_references() {
    for trace in PLAYERS {
        let reference = vector(trace.vector);
        let rounds = items(&reference["rounds"]);
        assert!(rounds.len() >= 80, "{}: {} rounds", trace.vector, rounds.len());
        let mut learner = trace.learner(&reference, count(&reference["K"]), count(&reference["d"]));
        let mut at = learner.prediction();
        for (t, round) in rounds.iter().enumerate() {
            let (row, y) = (numbers(&reference["x"][t]), class(&reference["y"][t]));
            let x = Features::Dense(&row);
            learner.predict(x, &mut at);
            trace.check(t + 1, "probabilities", &at.probabilities, &numbers(&round["p"]));
            let played = draw(&at.probabilities, number(&reference["u"][t]));
            assert_eq!(played.0 as usize, count(&round["played"]), "{}, round {}", trace.vector, t + 1);
            learner.update(x, Target::class(y), &at);
            learner.predict(x, &mut at);
            trace.check(t + 1, "scores after it", &at.scores, &numbers(&round["scores_after"]));
        }
        // Scores are linear in the row: those of the unit vectors are the weights.
        let features = count(&reference["d"]);
        for i in 0..features {
            let unit: Vec<f64> = (0..features).map(|j| f64::from(u8::from(i == j))).collect();
            learner.predict(Features::Dense(&unit), &mut at);
            let weights = numbers(&reference["final_W"]);
            let column: Vec<f64> = weights.iter().skip(i).step_by(features).copied().collect();
            trace.check(rounds.len(), "weights", &at.scores, &column);
        }
    }
}

/// Four learners on the stream that makes every proper learner pay (theory: aioli 3.3).
#[test]
fn the_adversarial_stream_of_the_reference() {
    let name = "adversarial_d1_n100";
    let reference = vector(name);
    let of = |key: &str| number(&reference["params"][key]).to_string();
    let norm = number(&reference["params"]["B"]);
    let aioli = |regularization: f64| {
        vec![("norm", of("B")), ("radius", of("R")), ("regularization", regularization.to_string())]
    };
    for (key, learner, values) in [
        ("aioli_lam_1overB2", "aioli", aioli(1.0 / (norm * norm))),
        ("aioli_lam_1", "aioli", aioli(1.0)),
        // The reference regularises w_1 - w_0: twice as much for w_0 and w_1 each.
        ("ftrl_lam_1", "ftrl", vec![("regularization", "2".to_owned())]),
        ("aggregating", "aggregating", vec![("norm", of("B"))]),
    ] {
        let values: Values =
            values.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value.as_str()))).collect();
        let entry = find(learner).expect("listed");
        let mut learner = entry.make(&values, Problem::new(2, 1), 0).expect("valid");
        let (data, expected) = (&reference["data"], &reference["expected"][key]);
        let mut at = learner.prediction();
        let (mut total, mut logits) = (0.0, Vec::new());
        for (x, y) in items(&data["x"]).iter().zip(items(&data["y"])) {
            let (row, y) = (numbers(x), class(y));
            learner.predict(Features::Dense(&row), &mut at);
            total += logistic::loss(&at.scores, y);
            logits.push(at.scores[1] - at.scores[0]);
            learner.update(Features::Dense(&row), Target::class(y), &at);
        }
        let want = number(&expected["total_loss"]);
        assert!(is_close(total, want, 1e-9), "{name}, {key}: loss {total} for {want}");
        let last = numbers(&expected["last_logits"]);
        for (got, want) in logits[logits.len() - last.len()..].iter().zip(&last) {
            assert!(is_close(*got, *want, 1e-8), "{name}, {key}: logit {got} for {want}");
        }
    }
}
