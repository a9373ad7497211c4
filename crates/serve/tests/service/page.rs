//! The page of models, and what it says of a loop that is no better than chance.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::support::Service;

/// Plays `rounds` decisions between two labels, whose reward is by `earns` of the round and whether the first
/// was played.
fn play(service: &Service, model: &str, rounds: std::ops::Range<u64>, earns: impl Fn(u64, bool) -> f64) {
    let lines =
        |lines: Vec<Value>| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").into_bytes();
    let send = |request: &str, body: Vec<u8>| {
        service.send("POST", &format!("/v1/models/{model}/{request}"), "application/x-ndjson", &body).lines()
    };
    let ids: Vec<u64> = rounds.collect();
    for some in ids.chunks(100) {
        let asked = some.iter().map(|t| json!({"id": format!("r{t}"), "x": {"v": t % 5}})).collect();
        let decisions = send("decide", lines(asked));
        let told = some.iter().zip(&decisions).map(
            |(t, decision)| json!({"id": decision["id"], "reward": earns(*t, decision["label"] == "a")}),
        );
        assert_eq!(send("feedback", lines(told.collect())).len(), some.len());
    }
}

/// Rewards that do not depend on the label: after 1,000 answers the state says that the loop is no better
/// than chance, and the page shows what the state says. A loop whose rewards do depend on it is not warned
/// of.
#[test]
fn a_loop_that_is_no_better_than_chance_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    for name in ["blind", "seeing"] {
        let spec =
            json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "params": {"seed": 1}});
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    }
    let scores = |service: &Service, model: &str| {
        service.get(&format!("/v1/models/{model}")).ok(200)["scores"].clone()
    };
    let of_round = |t: u64, _: bool| f64::from(u8::from(t * 104_729 % 1009 < 300));
    play(&service, "blind", 0..900, of_round);
    assert_eq!(scores(&service, "blind")["warning"], Value::Null, "too early");
    service.stop();
    service = Service::start(folder.path());
    play(&service, "blind", 900..1200, of_round);
    play(&service, "seeing", 0..1200, |_, is_first| f64::from(u8::from(is_first)));
    let blind = scores(&service, "blind");
    let warning = blind["warning"].as_str().expect("a warning");
    assert!(warning.starts_with("no better than chance so far: in 1"), "{warning}");
    let (better, error) = (&blind["chance"]["better_by"], &blind["chance"]["standard_error"]);
    assert!(
        better.as_f64().zip(error.as_f64()).is_some_and(|(better, error)| better <= 2.0 * error),
        "{blind}"
    );
    let seeing = scores(&service, "seeing");
    assert!(seeing["warning"].is_null() && seeing["chance"]["better_by"].as_f64() > Some(0.2), "{seeing}");
    // The page shows the sentence of the state, as text, where a refusal would stand.
    let page = String::from_utf8(service.get("/").bytes).expect("text");
    assert!(page.contains(r#"place.warning.textContent = scores.warning || "";"#), "{page}");
    assert!(page.contains(r#"["better than chance by", shown((scores.chance || {}).better_by)]"#), "{page}");
}

/// The page of evaluations asks for verdicts, and reads what the answer has; that of models has cautions.
#[test]
fn pages_show_verdicts_and_cautions() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    service.put("/v1/models/live", &spec).ok(201);
    assert!(service.get("/v1/models").ok(200)["models"][0]["cautions"][0].is_string());
    let page = String::from_utf8(service.get("/").bytes).expect("text");
    assert!(page.contains(r#"place.cautions.textContent = (model.cautions || []).join("; ");"#), "{page}");
    play(&service, "live", 0..100, |_, is_first| f64::from(u8::from(is_first)));
    let page = String::from_utf8(service.get("/evaluation").bytes).expect("text");
    assert!(page.contains("await asked({ policies: compared })") && page.contains(".verdict"), "{page}");
    let body = json!({"policies": ["logged", "uniform", "constant:a"]});
    let told = service.post("/v1/models/live/evaluate", &body).ok(200);
    assert_eq!(told["evaluations"].as_array().map(Vec::len), Some(3), "{told}");
    for key in ["estimates", "decisions", "missing", "effective_sample_size"] {
        assert!(!told["evaluations"][0][key].is_null(), "{key}: {told}");
    }
    let verdicts = told["differences"].as_array().expect("differences");
    assert!(verdicts.len() == 2 && verdicts.iter().all(|one| one["verdict"].is_string()), "{told}");
}

/// The page reads nothing from the state of a model that no model has.
#[test]
fn what_the_page_reads_is_in_the_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/rows", &json!({"labels": ["a", "b"], "learner": "ogd"})).ok(201);
    service
        .put("/v1/models/live", &json!({"feedback": "bandit", "labels": ["a", "b"], "learner": "squarecb"}))
        .ok(201);
    service.put("/v1/models/beside", &json!({"shadow_of": "live", "learner": "squarecb"})).ok(201);
    let states = service.get("/v1/models").ok(200)["models"].clone();
    let mut known = BTreeSet::from(["failed".to_owned(), "busy".to_owned()]);
    for state in states.as_array().expect("models") {
        let of = |value: &Value| {
            value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        known.extend(of(state));
        known.extend(of(&state["scores"]).into_iter().map(|key| format!("scores.{key}")));
    }
    let page = String::from_utf8(service.get("/").bytes).expect("text");
    for (start, prefix) in [("model.", ""), ("scores.", "scores.")] {
        for part in page.split(start).skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            // Maps and numbers of the page's own.
            if ["buckets", "sum", "count", "get", "set"].contains(&&*name) {
                continue;
            }
            assert!(known.contains(&format!("{prefix}{name}")), "{start}{name} is in no state: {known:?}");
        }
    }
}

/// A proxy may have the pages under a prefix: nothing in them has a path from the root.
#[test]
fn pages_have_no_absolute_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for path in ["/", "/evaluation"] {
        let page = String::from_utf8(service.get(path).bytes).expect("text");
        assert!(page.contains("href=\"") && page.contains("ask(\"v1/models\")"), "{path}");
        for absolute in ["href=\"/", "src=\"/", "ask(\"/", "ask(`/", "fetch(\"/"] {
            assert!(!page.contains(absolute), "{path}: {absolute}");
        }
    }
}
