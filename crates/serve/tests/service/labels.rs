//! Labels that are added to a model of decisions and retired while it goes on.

use noregret::model::Archive;
use serde_json::{Value, json};

use super::bandit::replayed;
use super::support::Service;
use super::years::copy;

fn decide(service: &Service, t: u64) -> Value {
    let body = json!({"x": {"v": t % 3, "kind": if t.is_multiple_of(2) { "p" } else { "q" }}, "id": format!("d{t}")});
    service.post("/v1/models/m/decide", &body).ok(200)
}

fn answer(service: &Service, t: u64, reward: f64) {
    service.post("/v1/models/m/feedback", &json!({"id": format!("d{t}"), "reward": reward})).ok(200);
}

/// Decides and answers at once; only one label earns. Returns how often it was played.
fn play(service: &Service, rounds: std::ops::Range<u64>, best: &str) -> u64 {
    let mut right = 0;
    for t in rounds {
        let is_right = decide(service, t)["label"] == best;
        right += u64::from(is_right);
        answer(service, t, f64::from(u8::from(is_right)));
    }
    right
}

fn model(service: &Service) -> Archive {
    Archive::from_bytes(&service.get("/v1/models/m/model").bytes).expect("a model file")
}

fn forecast(service: &Service) -> Value {
    service.post("/v1/models/m/predict", &json!({"x": {"v": 1, "kind": "q"}})).ok(200)
}

fn change(service: &Service, add: &Value, retire: &Value) -> Value {
    service.post("/v1/models/m/labels", &json!({"add": add, "retire": retire})).ok(200)
}

/// A label is added and one is retired while decisions wait; the process dies between the change and the
/// answers. What waited is answered, the new label is learnt, the retired one is never played and comes back
/// with what was learnt of it, and log and snapshots make the same model.
#[test]
fn labels_come_and_go_while_decisions_wait() {
    for learner in ["auto", "squarecb", "banditron", "soba-diag"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut service = Service::start(folder.path());
        let spec = json!({"feedback": "bandit", "learner": learner, "labels": ["a", "b", "c"], "params": {"seed": 7}});
        service.put("/v1/models/m", &spec).ok(201);
        play(&service, 0..60, "a");
        let waiting: Vec<Value> = (60..72).map(|t| decide(&service, t)["label"].clone()).collect();
        let about = change(&service, &json!(["d"]), &json!(["a"]));
        assert_eq!(
            (&about["labels"], &about["retired"]),
            (&json!(["b", "c", "d"]), &json!(["a"])),
            "{learner}"
        );
        assert_eq!((&about["classes"], &about["scores"]["waiting"]), (&json!(4), &json!(12)), "{learner}");
        let at_change = model(&service);
        // The files as they are when the process is killed.
        let killed = tempfile::tempdir().expect("a folder");
        copy(&folder.path().join("models"), &killed.path().join("models"));
        let mut again = Service::start(killed.path());
        assert_eq!(model(&again).digest(), at_change.digest(), "{learner}");
        for service in [&service, &again] {
            assert!(waiting.contains(&json!("a")), "{learner}: {waiting:?}");
            for (t, label) in (60..).zip(&waiting).take(8) {
                answer(service, t, f64::from(u8::from(*label == "b")));
            }
            let p = forecast(service)["p"].clone();
            let p = p.as_object().expect("probabilities");
            assert!(p.contains_key("d") && !p.contains_key("a"), "{learner}: {p:?}");
            let refused = service.post("/v1/models/m/decide", &json!({"x": {}, "labels": ["a", "b"]}));
            assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("labels[0]")), "{refused:?}");
        }
        let right = [&service, &again].map(|service| play(service, 72..222, "d"));
        assert!(right[0] > 25 && right[0] == right[1], "{learner}: the new label was played {right:?} times");
        assert_eq!(model(&again).digest(), model(&service).digest(), "{learner}");
        // What waits still is answered now, and the exported log makes the same model.
        (68..72).for_each(|t| answer(&service, t, 1.0));
        let log = service.get("/v1/models/m/log").bytes;
        assert_eq!(replayed(log, Some(&at_change)).digest(), model(&service).digest(), "{learner}");
        // The log is not started again for a label that comes back.
        let about = change(&service, &json!(["a"]), &json!([]));
        assert_eq!((&about["labels"], &about["retired"]), (&json!(["a", "b", "c", "d"]), &json!([])));
        service.stop();
        service = Service::start(folder.path());
        play(&service, 222..242, "a");
        assert!(forecast(&service)["p"]["a"].as_f64() > Some(0.0), "{learner}");
        let log = service.get("/v1/models/m/log").bytes;
        assert_eq!(replayed(log, Some(&at_change)).digest(), model(&service).digest(), "{learner}");
        // It goes back to the beginning, and the labels stay.
        let about = change(&service, &json!([]), &json!(["c"]));
        service.post("/v1/models/m/rollback", &json!({"version": 0})).ok(200);
        let back = service.get("/v1/models/m").ok(200);
        assert_eq!(
            (&back["labels"], &back["retired"], &back["rounds"]),
            (&about["labels"], &json!(["c"]), &json!(0))
        );
        again.stop();
        again = Service::start(folder_without_snapshots(killed.path()));
        let now = again.get("/v1/models/m").ok(200);
        assert_eq!((&now["labels"], &now["retired"]), (&json!(["b", "c", "d"]), &json!(["a"])), "{learner}");
        assert_eq!((&now["rounds"], &now["scores"]["waiting"]), (&json!(218), &json!(4)), "{learner}: {now}");
        answer(&again, 70, 1.0);
    }
}

/// The folder, with states that nobody can read.
fn folder_without_snapshots(folder: &std::path::Path) -> &std::path::Path {
    for kind in ["snapshots", "marks"] {
        for entry in std::fs::read_dir(folder.join("models/m").join(kind)).into_iter().flatten() {
            std::fs::write(entry.expect("an entry").path(), "another format").expect("writable");
        }
    }
    folder
}

/// Shadows of before and after a change have the labels of their model; one takes over. A copy has them, too.
#[test]
fn shadows_have_the_labels_of_their_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "learner": "banditron", "labels": ["a", "b", "c"]});
    service.put("/v1/models/m", &spec).ok(201);
    service.put("/v1/models/before", &json!({"shadow_of": "m", "learner": "squarecb"})).ok(201);
    service.put("/v1/models/fixed", &json!({"shadow_of": "m", "learner": "confidit"})).ok(201);
    play(&service, 0..40, "a");
    (40..44).for_each(|t| drop(decide(&service, t)));
    change(&service, &json!(["d"]), &json!(["a"]));
    service.put("/v1/models/after", &json!({"shadow_of": "m", "learner": "squarecb"})).ok(201);
    (40..44).for_each(|t| answer(&service, t, 0.0));
    play(&service, 44..100, "d");
    service.stop();
    service = Service::start(folder.path());
    for name in ["before", "after"] {
        let shadow = super::shadow::caught_up(&service, "m", name);
        assert_eq!(
            (&shadow["labels"], &shadow["retired"]),
            (&json!(["b", "c", "d"]), &json!(["a"])),
            "{name}"
        );
        assert_eq!((&shadow["rounds"], &shadow["scores"]["answered"]), (&json!(100), &json!(100)), "{name}");
    }
    // It could not grow, and does not take over.
    super::shadow::caught_up(&service, "m", "fixed");
    let refused = service.post("/v1/models/m/promote", &json!({"shadow": "fixed"}));
    assert_eq!((refused.status, &refused.json()["field"]), (409, &json!("shadow")), "{refused:?}");
    let refused = service.post("/v1/models/before/labels", &json!({"add": ["e"]}));
    assert_eq!(refused.status, 409, "{refused:?}");
    service.post("/v1/models/m/promote", &json!({"shadow": "before"})).ok(200);
    let right = play(&service, 100..200, "d");
    assert!(right > 20, "{right} of 100");
    let copied = service.post("/v1/models/m/copy", &json!({"to": "copied"})).ok(201);
    assert_eq!((&copied["labels"], &copied["retired"]), (&json!(["b", "c", "d"]), &json!(["a"])));
}

/// Another label makes `auto` too expensive for all of its members. A state that is saved before the next
/// answer goes on to the bit: a killed service is recovered from it.
#[test]
fn members_that_leave_leave_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": {"features": 200}});
    service.put("/v1/models/m", &spec).ok(201);
    let play = |rounds: std::ops::Range<u64>| {
        for t in rounds {
            let body = json!({"x": {"hour": t % 5, "city": format!("c{t}")}, "id": format!("d{t}")});
            service.post("/v1/models/m/decide", &body).ok(200);
            let reward = (t * 7919 % 101) as f64 / 101.0;
            service.post("/v1/models/m/feedback", &json!({"id": format!("d{t}"), "reward": reward})).ok(200);
        }
    };
    play(0..20);
    service.post("/v1/models/m/labels", &json!({"add": ["d"]})).ok(200);
    // A snapshot, and a log that begins with it.
    service.delete("/v1/models/m/log").ok(204);
    play(20..120);
    service.stop();
    let snapshot = super::support::newest_snapshot(folder.path(), "m");
    std::fs::remove_file(snapshot).expect("removable");
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 120);
}

/// What cannot be done is refused with a sentence and changes nothing; learners that cannot grow take labels
/// within the room that they were made with.
#[test]
fn changes_of_labels_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let make = |name: &str, spec: Value| service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    let bandit = |learner: &str, params: Value| json!({"feedback": "bandit", "learner": learner, "labels": ["a", "b"], "params": params});
    make("m", bandit("squarecb", json!({"floor": 0.4})));
    make("full", json!({"learner": "ogd", "labels": ["a", "b"]}));
    make("news", json!({"feedback": "bandit"}));
    make("all", bandit("newtron", json!({})));
    make("fixed", bandit("confidit", json!({})));
    make("roomy", bandit("confidit", json!({"classes": 3})));
    for (model, body, status, field, part) in [
        ("m", json!({}), 422, json!("add"), "nothing to add"),
        ("m", json!({"add": ["c"], "more": 1}), 422, json!("more"), "no field of this request"),
        ("m", json!({"add": ["c", "c"]}), 422, json!("add[1]"), "added twice"),
        ("m", json!({"add": [""]}), 422, json!("add[0]"), "label"),
        ("m", json!({"add": ["c"]}), 422, json!("add"), "the floor under the probabilities is 0.4"),
        ("m", json!({"add": ["a"], "retire": ["a"]}), 422, json!("add[0]"), "added and retired at once"),
        ("m", json!({"retire": ["z"]}), 422, json!("retire[0]"), "none of the model's"),
        ("m", json!({"retire": ["a", "b"]}), 422, json!("retire"), "no label would be left"),
        ("full", json!({"add": ["c"]}), 409, Value::Null, "added by the first row that has it"),
        ("full", json!({"retire": ["a"]}), 409, Value::Null, "give predict the labels on offer"),
        ("news", json!({"add": ["c"]}), 409, Value::Null, "come and go with every decision"),
        ("all", json!({"retire": ["a"]}), 409, Value::Null, "decides among all labels"),
        ("fixed", json!({"add": ["c"]}), 422, json!("add"), "params.classes"),
        ("roomy", json!({"add": ["c", "d"]}), 422, json!("add"), "cannot grow from 3 labels to 4"),
    ] {
        let before = service.get(&format!("/v1/models/{model}")).ok(200);
        let refused = service.post(&format!("/v1/models/{model}/labels"), &body);
        assert_eq!(
            (refused.status, &refused.json()["field"]),
            (status, &field),
            "{model} {body}: {refused:?}"
        );
        let what = refused.json()["detail"].to_string();
        assert!(what.contains(part), "{model} {body}: {what}");
        let after = service.get(&format!("/v1/models/{model}")).ok(200);
        assert_eq!((&after["labels"], &after["version"]), (&before["labels"], &before["version"]));
    }
    let about = service.post("/v1/models/roomy/labels", &json!({"add": ["c"], "retire": ["a"]})).ok(200);
    assert_eq!((&about["labels"], &about["classes"]), (&json!(["b", "c"]), &json!(3)));
    let decision = service.post("/v1/models/roomy/decide", &json!({"x": {"v": 1}})).ok(200);
    assert!(decision["p"].as_object().is_some_and(|p| !p.contains_key("a")), "{decision}");
    // The body that makes the model is repeated: with its labels of now, and with those of before.
    let again =
        json!({"feedback": "bandit", "learner": "confidit", "labels": ["b", "c"], "params": {"classes": 3}});
    service.put("/v1/models/roomy", &again).ok(200);
    let refused = service.put("/v1/models/roomy", &bandit("confidit", json!({"classes": 3})));
    assert!(refused.json()["detail"].to_string().contains("/v1/models/roomy/labels"), "{refused:?}");
}

fn sum(p: &Value) -> f64 {
    p.as_object().expect("probabilities").values().filter_map(Value::as_f64).sum()
}

/// Forecasts among the labels on offer: those of a decision in the same state, and for models that learn from
/// labels their probabilities given that one of these is right.
#[test]
fn forecasts_are_among_the_labels_on_offer() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service
        .put("/v1/models/m", &json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b", "c"]}))
        .ok(201);
    service
        .put(
            "/v1/models/all",
            &json!({"feedback": "bandit", "learner": "newtron", "labels": ["a", "b", "c"]}),
        )
        .ok(201);
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    service.put("/v1/models/full", &json!({"learner": "ogd", "labels": [1, 2, 3]})).ok(201);
    service.put("/v1/models/real", &json!({"learner": "vaw"})).ok(201);
    play(&service, 0..40, "a");
    for t in 0..30 {
        service.post("/v1/models/full/learn", &json!({"x": {"v": t % 3}, "y": 1 + t % 3})).ok(200);
    }
    let x = json!({"v": 1, "kind": "q"});
    let body = json!({"x": x, "labels": ["c", "b"]});
    let forecast = service.post("/v1/models/m/predict", &body).ok(200);
    // A decision counts its row in the scaling.
    let alike = |p: &Value, other: &Value| {
        let (p, other) = (p.as_object().expect("probabilities"), other.as_object().expect("probabilities"));
        let near =
            |name: &String| (p[name].as_f64().expect("p") - other[name].as_f64().expect("p")).abs() < 1e-3;
        p.len() == other.len() && p.keys().all(near)
    };
    let decision = service.post("/v1/models/m/decide", &body).ok(200);
    assert!(alike(&forecast["p"], &decision["p"]), "{forecast} {decision}");
    assert!(forecast["p"].get("a").is_none() && (sum(&forecast["p"]) - 1.0).abs() < 1e-9, "{forecast}");
    assert_ne!(forecast["label"], "a");
    // A learner that decides among all labels only forecasts among some, as on the command line.
    let forecast = service.post("/v1/models/all/predict", &body).ok(200);
    assert!(forecast["p"].get("a").is_none() && (sum(&forecast["p"]) - 1.0).abs() < 1e-9, "{forecast}");
    assert_eq!(service.post("/v1/models/all/decide", &body).status, 422);
    for labels in [json!(["sport", "art"]), json!({"sport": {"words": 3}, "art": {"likes": "x"}})] {
        let body = json!({"x": {"user": "u"}, "labels": labels});
        let forecast = service.post("/v1/models/news/predict", &body).ok(200);
        let decision = service.post("/v1/models/news/decide", &body).ok(200);
        assert!(alike(&forecast["p"], &decision["p"]), "{forecast} {decision}");
        assert!(forecast["label"].is_string(), "{forecast}");
    }
    let all = service.post("/v1/models/full/predict", &json!({"x": {"v": 1}})).ok(200)["p"].clone();
    let some = service.post("/v1/models/full/predict", &json!({"x": {"v": 1}, "labels": [3, 2]})).ok(200);
    let given = |label: &str| all[label].as_f64().expect("a probability");
    let share = given("2") / (given("2") + given("3"));
    assert!((some["p"]["2"].as_f64().expect("p") - share).abs() < 1e-12, "{some} of {all}");
    assert_eq!((some["p"].as_object().map(serde_json::Map::len), &some["label"]), (Some(2), &json!(2)));
    // The last line is answered, too.
    let lines = "{\"x\":{\"v\":1},\"labels\":[4]}\n{\"x\":{\"v\":1},\"labels\":[1]}\n";
    let told =
        service.send("POST", "/v1/models/full/predict", "application/x-ndjson", lines.as_bytes()).lines();
    assert_eq!(
        (&told[0]["error"]["field"], &told[1]["p"]),
        (&json!("labels[0]"), &json!({"1": 1.0})),
        "{told:?}"
    );
    for (model, body, field) in [
        ("full", json!({"x": {}, "labels": []}), "labels"),
        ("full", json!({"x": {}, "labels": [1, 1]}), "labels"),
        ("full", json!({"x": {}, "labels": [1, 2], "id": "r"}), "labels"),
        ("full", json!({"x": {}, "labels": [{"label": 1, "x": {"v": 1}}]}), "labels[0].x"),
        ("real", json!({"x": {}, "labels": [1, 2]}), "labels"),
        ("news", json!({"x": {}}), "labels"),
        ("news", json!({"x": {}, "labels": [{"id": "a", "features": [{"v": 1}]}]}), "labels[0]"),
        ("m", json!({"x": {}, "labels": ["z"]}), "labels[0]"),
    ] {
        let refused = service.post(&format!("/v1/models/{model}/predict"), &body);
        assert_eq!(
            (refused.status, &refused.json()["field"]),
            (422, &json!(field)),
            "{model} {body}: {refused:?}"
        );
        // Personalizer's form of an action is another one.
        let way_out = r#"or a label with its features, as in {"label": "a", "x": {"topic": "art"}}"#;
        let said = refused.json()["detail"].as_str().is_some_and(|detail| detail.ends_with(way_out));
        assert_eq!(said, body["labels"][0].get("id").is_some(), "{body}: {refused:?}");
    }
}

/// Whole numbers beyond 64 bits, of which JSON's readers keep the first digits, are refused with the way out,
/// and two of them are two labels.
#[test]
fn numbers_beyond_64_bits_are_labels_as_texts_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/told", &json!({"learner": "ogd"})).ok(201);
    service.put("/v1/models/site", &json!({"feedback": "bandit", "labels": ["a", "b"]})).ok(201);
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    let (one, other) = ("18446744073709551616", "18446744073709551617");
    for (method, path, body, field) in [
        ("POST", "told/learn", format!(r#"{{"x": {{"v": 1}}, "y": {one}}}"#), "y"),
        ("POST", "told/learn", r#"{"x": {"v": 1}, "y": -9223372036854775809}"#.to_owned(), "y"),
        ("PUT", "new", format!(r#"{{"labels": ["a", {one}]}}"#), "labels"),
        ("POST", "site/decide", format!(r#"{{"labels": ["a", {one}]}}"#), "labels[1]"),
        (
            "POST",
            "news/decide",
            format!(r#"{{"labels": [{{"label": {one}, "x": {{"v": 1}}}}, 2]}}"#),
            "labels[0]",
        ),
        ("POST", "news/decide", format!(r#"{{"labels": [1, 2], "exclude": [{one}]}}"#), "exclude[0]"),
        ("POST", "site/labels", format!(r#"{{"add": [{one}]}}"#), "add[0]"),
    ] {
        let refused =
            service.send(method, &format!("/v1/models/{path}"), "application/json", body.as_bytes());
        let said = refused.json();
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(refused.status == 422 && said["field"] == field, "{body}: {said}");
        assert!(detail.ends_with("write such labels as texts, in quotation marks"), "{body}: {said}");
    }
    for label in [one, other] {
        service.post("/v1/models/told/learn", &json!({"x": {"v": 1}, "y": label})).ok(200);
    }
    service.post("/v1/models/told/learn", &json!({"x": {"v": 1}, "y": u64::MAX})).ok(200);
    assert_eq!(service.get("/v1/models/told").ok(200)["labels"], json!([one, other, u64::MAX]));
}
